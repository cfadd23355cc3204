// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/report.c - the report of the applications on the Transfer Engine
// (docs/models/mooncake.md).
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "apps/mooncake/programs/programs.h"

// clang-format off
#define SHARE(name_, kind_, unit_, help_, field_) \
    {name_, SIM_REPORT_##kind_, unit_, help_, .offset = offsetof(app__mc_share_t, field_)}
static const sim_report_row_t share_rows[] = {
    SHARE("engine", STRING, "", "name of the engine that owns the NIC", engine),
    SHARE("nic", U64, "", "number of the NIC in its host", nic),
    SHARE("bytes", U64, "bytes", "payload of completed slices that the NIC carried", bytes),
};
static const sim_report_table_t share_table = {
    .rows = share_rows, .count = SIM_COUNT_OF(share_rows), .bytes = sizeof(app__mc_share_t)};

#define MOMENT(name_, unit_, help_) \
    {#name_, SIM_REPORT_REAL, unit_, help_, .offset = offsetof(app__mc_moment_t, name_)}
static const sim_report_row_t moment_rows[] = {
    MOMENT(time_us, "us", "time at which the interval ends"),
    MOMENT(gbytes_per_s, "GB/s", "payload per second of slices that completed in the interval"),
};
static const sim_report_table_t moment_table = {
    .rows = moment_rows, .count = SIM_COUNT_OF(moment_rows), .bytes = sizeof(app__mc_moment_t)};

#define POINT(name_, unit_, help_) \
    {#name_, SIM_REPORT_REAL, unit_, help_, .offset = offsetof(app__mc_point_t, name_)}
static const sim_report_row_t point_rows[] = {
    POINT(percent, "%", "percentage of samples that are at most `ms`"),
    POINT(ms, "ms", "value that this percentage of samples does not exceed"),
};
static const sim_report_table_t point_table = {
    .rows = point_rows, .count = SIM_COUNT_OF(point_rows), .bytes = sizeof(app__mc_point_t)};

#define PART(name_, kind_, unit_, help_) \
    {#name_, SIM_REPORT_##kind_, unit_, help_, .offset = offsetof(app__mc_part_t, name_)}
static const sim_report_row_t part_rows[] = {
    PART(engine, STRING, "", "name of the engine on the host of this part"),
    PART(part, STRING, "", "a part of nic.host (cpu:0, switch:1 up), or a worker thread of a NIC"),
    PART(gbytes_per_s, REAL, "GB/s", "rate that the part can carry; for a worker thread, its "
                                     "bytes divided by its busy time"),
    PART(bytes, U64, "bytes", "payload that went through the part; for a worker thread, payload of "
                              "the slices that it posted or saw completed"),
    PART(busy_percent, REAL, "%", "share of the time from the first transfer to the last in which "
                                  "the part was busy"),
};
static const sim_report_table_t part_table = {
    .rows = part_rows, .count = SIM_COUNT_OF(part_rows), .bytes = sizeof(app__mc_part_t)};

#define PROMPT(name_, kind_, unit_, help_) \
    {#name_, SIM_REPORT_##kind_, unit_, help_, .offset = offsetof(app__mc_told_prompt_t, name_)}
static const sim_report_row_t prompt_rows[] = {
    PROMPT(prompt, U64, "", "number of the prompt in the trace, from 0"),
    PROMPT(prefill, STRING, "", "prefill node that computed the prompt"),
    PROMPT(decode, STRING, "", "decode node that received the prompt's KV data"),
    PROMPT(input_tokens, U64, "", "number of input tokens of the prompt"),
    PROMPT(cached_tokens, REAL, "", "number of input tokens that were cached and not computed again"),
    PROMPT(admitted_ms, REAL, "ms", "time of the prompt's admission, since the beginning of the "
                                    "run"),
    PROMPT(wait_ms, REAL, "ms", "time from admission until it was computed: earlier prompts, and "
                                "fetching its blocks"),
    PROMPT(compute_ms, REAL, "ms", "time to compute the prompt"),
    PROMPT(send_ms, REAL, "ms", "time from the end of computing until the decode node knew that "
                                "all KV data had arrived"),
    PROMPT(ttft_ms, REAL, "ms", "time to the first token: wait_ms, compute_ms, send_ms and a "
                                "decoding step"),
};
static const sim_report_table_t prompt_table = {
    .rows = prompt_rows, .count = SIM_COUNT_OF(prompt_rows), .bytes = sizeof(app__mc_told_prompt_t)};

static const sim_report_row_t record_rows[] = {
    {"key", SIM_REPORT_STRING, "",
     "key of the record: mooncake/ and the name", .offset = offsetof(app__mc_record_t, key)},
    {"value", SIM_REPORT_STRING, "",
     "contents of the record, in JSON", .offset = offsetof(app__mc_record_t, value)},
    {"change", SIM_REPORT_STRING, "",
     "written: the run wrote it; unchanged: it is as metadata.records had it; removed: the run "
     "removed it from metadata.records", .offset = offsetof(app__mc_record_t, change)},
};
static const sim_report_table_t record_table = {
    .rows = record_rows, .count = SIM_COUNT_OF(record_rows), .bytes = sizeof(app__mc_record_t)};

static bool get_records(const void *object, sim_report_value_t *value)
{
    const app__mc_report_t *const report = object;
    value->list = (sim_report_list_t){report->records, report->record_count};
    return true;
}

static bool get_shares(const void *object, sim_report_value_t *value)
{
    const app__mc_report_t *const report = object;
    value->list = (sim_report_list_t){report->shares, report->share_count};
    return true;
}

static bool get_parts(const void *object, sim_report_value_t *value)
{
    const app__mc_report_t *const report = object;
    value->list = (sim_report_list_t){report->parts, report->part_count};
    return true;
}

static bool get_ttft(const void *object, sim_report_value_t *value)
{
    const app__mc_points_t *const points = &((const app__mc_report_t *)object)->ttft;
    value->list = (sim_report_list_t){points->points, points->count};
    return points->count > 0;
}

static bool get_transfer(const void *object, sim_report_value_t *value)
{
    const app__mc_points_t *const points = &((const app__mc_report_t *)object)->transfer;
    value->list = (sim_report_list_t){points->points, points->count};
    return points->count > 0;
}

static bool get_prompts(const void *object, sim_report_value_t *value)
{
    const app__mc_report_t *const report = object;
    value->list = (sim_report_list_t){report->prompts, report->prompt_count};
    return report->prompt_count > 0;
}

static bool get_moments(const void *object, sim_report_value_t *value)
{
    const app__mc_report_t *const report = object;
    value->list = (sim_report_list_t){report->moments, report->moment_count};
    return report->moment_count > 0;
}

#define ROW(name_, kind_, unit_, shown_, help_) \
    {#name_, SIM_REPORT_##kind_, unit_, help_, .offset = offsetof(app__mc_report_t, name_), .shown = shown_}
// The rows of both applications. trace_: whether rows that only mooncake-trace fills are shown.
#define ROWS(trace_) \
    ROW(gbytes_per_s, REAL, "GB/s", true, "payload that arrived, divided by the time it took"), \
    ROW(requests, U64, "", true, "number of requests that were completed"),                        \
    ROW(token_hit_rate, REAL, "", trace_, "share of all input tokens whose blocks were cached"), \
    ROW(block_hit_rate, REAL, "", trace_, "share of all blocks that were cached"), \
    ROW(verified_bytes, U64, "bytes", true, "bytes that arrived with the contents that were sent"), \
    ROW(unverified_bytes, U64, "bytes", true, \
     "bytes that arrived with wrong contents, or could not be checked"), \
    ROW(failed, U64, "", true, "number of requests that failed after all retries"),                \
    ROW(unanswered, U64, "", false, "number of failed prompts whose prefill node did not answer (client-ttl: never)"), \
    ROW(placed_again, U64, "", false, "number of times that a prompt was placed on other nodes, since its own were lost or failed"), \
    ROW(nodes_lost, U64, "", false, "number of times that a node did not answer the conductor for client-ttl"), \
    ROW(blocks_lost, U64, "", false, "number of cached blocks whose last copy was on a lost node"), \
    ROW(retried, U64, "", true, "number of retries of slices, each on other NICs"),                \
    {"ttft_ms", SIM_REPORT_OBJECT, "ms", "time from the arrival of a prompt to its first token", \
     .offset = offsetof(app__mc_report_t, ttft_ms), .table = &sim_report_percentiles, .shown = trace_}, \
    {"transfer_ms", SIM_REPORT_OBJECT, "ms", \
     "bench: time of a batch; trace: time in which KV data of a prompt is in flight", \
     .offset = offsetof(app__mc_report_t, transfer_ms), .table = &sim_report_percentiles, .shown = true}, \
    ROW(wait_ms, REAL, "ms", trace_, "mean part of ttft_ms before a prompt is computed: earlier " \
                                    "prompts, and fetching its blocks"), \
    ROW(compute_ms, REAL, "ms", trace_, "mean part of ttft_ms in which a prompt is computed"), \
    ROW(send_ms, REAL, "ms", trace_, "mean part of ttft_ms until the decode node knows that all KV " \
                                    "data has arrived"), \
    ROW(decode_ms, REAL, "ms", trace_, "mean part of ttft_ms for a decoding step"), \
    ROW(seconds, REAL, "s", false, "time over which gbytes_per_s is computed"), \
    ROW(bytes, U64, "bytes", false, "payload from which gbytes_per_s is computed"), \
    ROW(token_hits, U64, "", false, "number of input tokens whose blocks were cached"),            \
    ROW(tokens, U64, "", false, "number of input tokens of all admitted prompts"),                 \
    ROW(block_hits, U64, "", false, "number of leading blocks of prompts that were cached"),       \
    ROW(blocks, U64, "", false, "number of blocks of all admitted prompts"),                       \
    ROW(evictions, U64, "", false, "number of blocks that were evicted for others"),               \
    ROW(fetched_blocks, U64, "", false, "number of blocks read from another node's store"),        \
    ROW(copied_bytes, U64, "bytes", false, \
     "payload of copies within hosts, at engine.copy-rate: cached blocks of the node itself, or a " \
     "target on the submitting host"), \
    ROW(fetches_failed, U64, "", false, \
     "number of prompts computed in full because fetching their blocks failed"),                   \
    ROW(reused_tokens, U64, "", false, "number of tokens of token_hits that were not computed again"), \
    ROW(late, U64, "", false, "number of prompts with a timestamp before an earlier one's; they "  \
                              "are admitted right after it"),                                      \
    ROW(slices, U64, "", false, "number of work requests that were posted"),                       \
    ROW(handshakes, U64, "", false, "number of endpoints that were connected, both sides counted"), \
    ROW(endpoints_evicted, U64, "", false, "number of endpoints that were evicted for others"),    \
    ROW(endpoints_disconnected, U64, "", false, "number of connections that were given up"),       \
    ROW(rails_paused, U64, "", false, "number of times that a pair of NICs was paused after failures"), \
    ROW(timed_out, U64, "", false, "number of requests with a slice that exceeded the timeout"),    \
    ROW(invalid, U64, "", false, "number of requests outside of registered memory"),               \
    ROW(metadata_failures, U64, "", false, "number of requests that the metadata node did not serve"), \
    ROW(memory_bytes_max, U64, "bytes", false, \
     "highest size of the simulated memory contents of hosts, summed over the hosts"), \
    ROW(recovery_ms, REAL, "ms", false, "longest time in which nothing arrived"), \
    {"nics", SIM_REPORT_LIST, "", \
     "bytes that each NIC " \
     "carried", .get = get_shares, .of = SIM_REPORT_OBJECT, .table = &share_table}, \
    {"ttft_cdf", SIM_REPORT_LIST, "", \
     "distribution of ttft_ms over all " \
     "prompts", .get = get_ttft, .of = SIM_REPORT_OBJECT, .table = &point_table}, \
    {"transfer_cdf", SIM_REPORT_LIST, "", \
     "distribution of transfer_ms over all " \
     "transfers", .get = get_transfer, .of = SIM_REPORT_OBJECT, .table = &point_table}, \
    {"parts", SIM_REPORT_LIST, "", \
     "utilisation of the hosts' parts and of the engines' " \
     "threads", .get = get_parts, .of = SIM_REPORT_OBJECT, .table = &part_table}, \
    {"records", SIM_REPORT_LIST, "", \
     "records of the metadata node at the end of the " \
     "run", .get = get_records, .of = SIM_REPORT_OBJECT, .table = &record_table}, \
    {"prompts", SIM_REPORT_LIST, "", \
     "each prompt that was admitted, if log is " \
     "on", .get = get_prompts, .of = SIM_REPORT_OBJECT, .table = &prompt_table}, \
    {"bandwidth", SIM_REPORT_LIST, "", \
     "bandwidth over time, if interval is " \
     "set", .get = get_moments, .of = SIM_REPORT_OBJECT, .table = &moment_table}
const sim_report_row_t app__mc_bench_rows[APP__MC_REPORT_ROWS] = {ROWS(false)};
const sim_report_row_t app__mc_trace_rows[APP__MC_REPORT_ROWS] = {ROWS(true)};
// clang-format on

void app__mc_report_fini(void *report_void)
{
    app__mc_report_t *const report = report_void;
    sim_free(report->shares);
    sim_free(report->moments);
    sim_free(report->ttft.points);
    sim_free(report->transfer.points);
    for (size_t i = 0; i < report->part_count; i++) {
        sim_free(report->parts[i].part);
    }
    sim_free(report->parts);
    for (size_t i = 0; i < report->record_count; i++) {
        sim_free(report->records[i].key);
        sim_free(report->records[i].value);
    }
    sim_free(report->records);
    sim_free(report->prompts);
}

void app__mc_report_points(app__mc_points_t *points, sim_sample_set_t *samples_ps)
{
    static const uint64_t thousandths[] = {995, 999, 1000}; // after 0, 1... 99 per cent
    if (samples_ps->count == 0) {
        return;
    }
    points->count = 100 + SIM_COUNT_OF(thousandths);
    points->points = sim_alloc_array(points->count, sizeof(*points->points));
    for (size_t i = 0; i < points->count; i++) {
        const uint64_t share = i < 100 ? i * 10 : thousandths[i - 100];
        points->points[i] = (app__mc_point_t){
            (double)share / 10.0,
            (double)sim_sample_set_percentile(samples_ps, share, 1000) / (double)SIM_PS_PER_MS,
        };
    }
}

static void take_record(const char *key, const char *value, size_t size,
                        app_mooncake_change_t change, void *ctx)
{
    static const char *const changes[] = {"unchanged", "written", "removed"};
    app__mc_report_t *const report = ctx;
    report->records =
        sim_realloc_array(report->records, report->record_count + 1, sizeof(app__mc_record_t));
    report->records[report->record_count++] =
        (app__mc_record_t){sim_strdup(key), sim_format("%.*s", (int)size, value), changes[change]};
}

void app__mc_report_records(app__mc_report_t *report, const app_mooncake_cluster_t *cluster)
{
    app_mooncake_changes(cluster, take_record, report);
}

typedef struct import {
    app_mooncake_cluster_t *cluster;
} import_t;

static void import_record(const char *key, const char *value, size_t size, void *ctx)
{
    app_mooncake_import_record(((const import_t *)ctx)->cluster, key, value, size);
}

sim_err_t app__mc_import(const app_context_t *context, const char *file,
                         app_mooncake_cluster_t *cluster, sim_message_t *message)
{
    char *text = NULL;
    size_t size = 0;
    if (file[0] == '\0') {
        return SIM_OK;
    }
    if (context->mooncake_codec->read_records == NULL) {
        return sim_fail_about(message, SIM_ERR_INVALID, "metadata.records",
                              ": this program's codec reads no files of records");
    }
    sim_err_t error = context->read_file(file, &text, &size, message, context->ctx);
    if (error != SIM_OK) {
        const sim_message_t why = *message;
        return sim_fail_about(message, error, "metadata.records", ": %s", why.text);
    }
    import_t import = {cluster};
    error = context->mooncake_codec->read_records(text, size, import_record, &import, message);
    sim_free(text);
    if (error != SIM_OK) {
        const sim_message_t why = *message;
        return sim_fail(message, error, "%s: %s", file, why.text);
    }
    return SIM_OK;
}

void app__mc_report_peer_nics(app__mc_report_t *report, const app_mooncake_t *engine)
{
    report->endpoints_lost += engine->counters.endpoints_evicted;
    report->retries = engine->config.retry_count;
    const uint64_t peer_nics = app__mc_peer_nics_max(engine);
    report->peer_nics_max = SIM_MAX(peer_nics, report->peer_nics_max);
}

void app__mc_report_warn(const app__mc_report_t *report, void (*write)(const char *text, void *ctx),
                         void *ctx)
{
    char line[256];
    if (report->endpoints_lost > 0) {
        snprintf(line, sizeof(line),
                 "warning: %" PRIu64 " endpoint%s evicted, and what a peer had in flight there "
                 "was lost: expected engine.max-endpoints of at least %" PRIu64
                 ", the number of NICs that a NIC talks to\n",
                 report->endpoints_lost, report->endpoints_lost == 1 ? " was" : "s were",
                 report->peer_nics_max);
        write(line, ctx);
    }
    if (report->retried > 0 && report->failed > 0) {
        snprintf(line, sizeof(line),
                 "warning: slices were retried %" PRIu64 " time%s (engine.retries: %" PRIu64
                 " each), and %" PRIu64 " request%s failed\n",
                 report->retried, sim_plural(report->retried), report->retries, report->failed,
                 sim_plural(report->failed));
        write(line, ctx);
    }
    if (report->unanswered > 0) {
        snprintf(line, sizeof(line),
                 "warning: %" PRIu64 " prompt%s sent to prefill nodes that did not answer: "
                 "with client-ttl: never the conductor does not learn that a node is lost\n",
                 report->unanswered, report->unanswered == 1 ? " was" : "s were");
        write(line, ctx);
    }
    if (report->nodes_lost > 0) {
        snprintf(line, sizeof(line),
                 "warning: nodes were lost %" PRIu64 " time%s, since they did not answer for "
                 "client-ttl; prompts were placed again %" PRIu64 " time%s\n",
                 report->nodes_lost, sim_plural(report->nodes_lost), report->placed_again,
                 sim_plural(report->placed_again));
        write(line, ctx);
    }
}

void app__mc_report_engine(app__mc_report_t *report, const app_mooncake_t *engine)
{
    app__mc_report_peer_nics(report, engine);
    const app_mooncake_counters_t *const counters = app_mooncake_get_counters(engine);
    report->verified_bytes += counters->verified_bytes;
    report->unverified_bytes += counters->unverified_bytes;
    report->retried += counters->retried;
    report->memory_bytes_max += engine->memory_bytes_max;
    report->slices += counters->slices;
    report->copied_bytes += counters->copied_bytes;
    report->handshakes += counters->handshakes;
    report->endpoints_evicted += counters->endpoints_evicted;
    report->endpoints_disconnected += counters->endpoints_disconnected;
    report->rails_paused += counters->rails_paused;
    report->timed_out += counters->timed_out;
    report->invalid += counters->invalid;
    report->metadata_failures += counters->metadata_failures;
    for (uint32_t n = 0; n < engine->context_count; n++) {
        report->shares =
            sim_realloc_array(report->shares, report->share_count + 1, sizeof(app__mc_share_t));
        report->shares[report->share_count++] = (app__mc_share_t){
            engine->name, engine->contexts[n].nic_index, engine->contexts[n].bytes};
    }
}
