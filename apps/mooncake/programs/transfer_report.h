// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/transfer_report.h - the report of the applications on the Transfer Engine.
#ifndef APPS_MOONCAKE_PROGRAMS_TRANSFER_REPORT_H
#define APPS_MOONCAKE_PROGRAMS_TRANSFER_REPORT_H

#include "apps/mooncake/engine/transfer_engine.h"
#include "apps/mooncake/programs/transfer_rows.h"
#include "kernel/report.h"

typedef struct app__mc_points {
    app__mc_point_t *points;
    size_t count;
} app__mc_points_t;

typedef struct app__mc_report {
    double gbytes_per_s;
    uint64_t requests;
    double token_hit_rate;
    double block_hit_rate;
    uint64_t verified_bytes;
    uint64_t unverified_bytes;
    uint64_t failed;
    uint64_t unanswered;
    uint64_t placed_again;
    uint64_t nodes_lost;
    uint64_t blocks_lost;
    uint64_t retried;
    sim_percentiles_t ttft_ms;
    sim_percentiles_t transfer_ms;
    double wait_ms; // this and the next three are 0 if no prompt was served
    double compute_ms;
    double send_ms;
    double decode_ms;
    double seconds;
    uint64_t bytes;
    uint64_t token_hits;
    uint64_t tokens;
    uint64_t block_hits;
    uint64_t blocks;
    uint64_t evictions;
    uint64_t fetched_blocks;
    uint64_t copied_bytes;
    uint64_t fetches_failed;
    uint64_t reused_tokens;
    uint64_t late;
    uint64_t slices;
    uint64_t handshakes;
    uint64_t endpoints_evicted;
    uint64_t endpoints_disconnected;
    uint64_t rails_paused;
    uint64_t timed_out;
    uint64_t invalid;
    uint64_t metadata_failures;
    uint64_t memory_bytes_max;
    double recovery_ms; // NaN: nothing was interrupted
    // The next three are used for warnings only.
    uint64_t endpoints_lost; // endpoints evicted for others, at either end
    uint64_t peer_nics_max;  // most NICs that one NIC talked to
    uint64_t retries;        // retries that a slice may use
    app__mc_share_t *shares;
    size_t share_count;
    app__mc_moment_t *moments;
    size_t moment_count;
    app__mc_points_t ttft;
    app__mc_points_t transfer;
    app__mc_part_t *parts;
    size_t part_count;
    app__mc_record_t *records;
    size_t record_count;
    app__mc_told_prompt_t *prompts;
    size_t prompt_count;
} app__mc_report_t;
#define APP__MC_REPORT_ROWS 47u
// Both tables describe all members of app__mc_report_t; they differ in the rows that the terminal
// shows.
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

// Fills a distribution; it stays empty without samples.
void app__mc_report_points(app__mc_points_t *points, sim_sample_set_t *samples_ps);
// Adds the parts of an engine's host and its threads. time_ps: from the first transfer to the last.
void app__mc_report_parts(app__mc_report_t *report, const app_mooncake_t *engine,
                          sim_time_t time_ps);
void app__mc_report_records(app__mc_report_t *report, const app_mooncake_cluster_t *cluster);

#endif // APPS_MOONCAKE_PROGRAMS_TRANSFER_REPORT_H
