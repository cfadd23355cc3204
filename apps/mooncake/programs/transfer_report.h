// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/transfer_report.h - the report of the applications on the Transfer Engine.
#ifndef APPS_MOONCAKE_PROGRAMS_TRANSFER_REPORT_H
#define APPS_MOONCAKE_PROGRAMS_TRANSFER_REPORT_H

#include "apps/mooncake/engine/transfer_engine.h"
#include "apps/mooncake/programs/transfer_rows.h"
#include "kernel/report.h"

// trace_: whether the terminal shows the values that only mooncake-trace fills.
// clang-format off
#define APP__MC_ROWS(X, trace_) \
    X(gbytes_per_s, REAL, "GB/s", true, "payload that arrived, divided by the time it took") \
    X(requests, U64, "", true, "number of requests that were completed") \
    X(token_hit_rate, REAL, "", trace_, "share of all input tokens whose blocks were cached") \
    X(block_hit_rate, REAL, "", trace_, "share of all blocks that were cached") \
    X(verified_bytes, U64, "bytes", true, "bytes that arrived with the contents that were sent") \
    X(unverified_bytes, U64, "bytes", true, "bytes that arrived with wrong contents, or could not be checked") \
    X(failed, U64, "", true, "number of requests that failed after all retries") \
    X(unanswered, U64, "", false, "number of failed prompts whose prefill node did not answer (client-ttl: never)") \
    X(placed_again, U64, "", false, "number of times that a prompt was placed on other nodes, since its own were lost or failed") \
    X(nodes_lost, U64, "", false, "number of times that a node did not answer the conductor for client-ttl") \
    X(blocks_lost, U64, "", false, "number of cached blocks whose last copy was on a lost node") \
    X(retried, U64, "", true, "number of retries of slices, each on other NICs") \
    X(ttft_ms, TIMES, "ms", trace_, "time from the arrival of a prompt to its first token") \
    X(transfer_ms, TIMES, "ms", true, "bench: time of a batch; trace: time in which KV data of a prompt is in flight") \
    X(wait_ms, REAL, "ms", trace_, "mean part of ttft_ms before a prompt is computed: earlier prompts, and fetching its blocks") \
    X(compute_ms, REAL, "ms", trace_, "mean part of ttft_ms in which a prompt is computed") \
    X(send_ms, REAL, "ms", trace_, "mean part of ttft_ms until the decode node knows that all KV data has arrived") \
    X(decode_ms, REAL, "ms", trace_, "mean part of ttft_ms for a decoding step") \
    X(seconds, REAL, "s", false, "time over which gbytes_per_s is computed") \
    X(bytes, U64, "bytes", false, "payload from which gbytes_per_s is computed") \
    X(token_hits, U64, "", false, "number of input tokens whose blocks were cached") \
    X(tokens, U64, "", false, "number of input tokens of all admitted prompts") \
    X(block_hits, U64, "", false, "number of leading blocks of prompts that were cached") \
    X(blocks, U64, "", false, "number of blocks of all admitted prompts") \
    X(evictions, U64, "", false, "number of blocks that were evicted for others") \
    X(fetched_blocks, U64, "", false, "number of blocks read from another node's store") \
    X(copied_bytes, U64, "bytes", false, "payload of copies within hosts, at engine.copy-rate: cached blocks of the node itself, or a target on the submitting host") \
    X(fetches_failed, U64, "", false, "number of prompts computed in full because fetching their blocks failed") \
    X(reused_tokens, U64, "", false, "number of tokens of token_hits that were not computed again") \
    X(late, U64, "", false, "number of prompts with a timestamp before an earlier one's; they are admitted right after it") \
    X(slices, U64, "", false, "number of work requests that were posted") \
    X(handshakes, U64, "", false, "number of endpoints that were connected, both sides counted") \
    X(endpoints_evicted, U64, "", false, "number of endpoints that were evicted for others") \
    X(endpoints_disconnected, U64, "", false, "number of connections that were given up") \
    X(rails_paused, U64, "", false, "number of times that a pair of NICs was paused after failures") \
    X(timed_out, U64, "", false, "number of requests with a slice that exceeded the timeout") \
    X(invalid, U64, "", false, "number of requests outside of registered memory") \
    X(metadata_failures, U64, "", false, "number of requests that the metadata node did not serve") \
    X(memory_bytes_max, U64, "bytes", false, "highest size of the simulated memory contents of hosts, summed over the hosts") \
    X(recovery_ms, REAL, "ms", false, "longest time in which nothing arrived")
// clang-format on
typedef struct app__mc_report {
    APP__MC_ROWS(APP__MEMBER, true)
    // The next three are used for warnings only.
    uint64_t endpoints_lost; // endpoints evicted for others, at either end
    uint64_t peer_nics_max;  // most NICs that one NIC talked to
    uint64_t retries;        // retries that a slice may use
    app__mc_share_t *shares;
    size_t share_count;
    app__mc_moment_t *moments;
    size_t moment_count;
    sim_report_points_t ttft;
    sim_report_points_t transfer;
    app__mc_part_t *parts;
    size_t part_count;
    app__mc_record_t *records;
    size_t record_count;
    app__mc_told_prompt_t *prompts;
    size_t prompt_count;
} app__mc_report_t;
// Both tables describe all members of app__mc_report_t; they differ in the rows that the terminal
// shows.
#define APP__MC_REPORT_ROWS 47u
extern const sim_report_row_t app__mc_bench_rows[APP__MC_REPORT_ROWS];
extern const sim_report_row_t app__mc_trace_rows[APP__MC_REPORT_ROWS];
void app__mc_report_fini(void *report);
// Adds the counters of an engine and the shares of its NICs.
void app__mc_report_engine(app__mc_report_t *report, const app_mooncake_t *engine);
// Adds the values of an engine that warnings need; app__mc_report_engine calls it, too.
void app__mc_report_peer_nics(app__mc_report_t *report, const app_mooncake_t *engine);
// Writes a line for each problem that did not end the run: lost connections and slices, nodes that
// did not answer.
void app__mc_report_warn(const app__mc_report_t *report, void (*write)(const char *text, void *ctx),
                         void *ctx);

// Adds the parts of an engine's host and its threads. time_ps: from the first transfer to the last.
void app__mc_report_parts(app__mc_report_t *report, const app_mooncake_t *engine,
                          sim_time_t time_ps);
void app__mc_report_records(app__mc_report_t *report, const app_mooncake_cluster_t *cluster);

#endif // APPS_MOONCAKE_PROGRAMS_TRANSFER_REPORT_H
