// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/report.c - the report of the applications on the Transfer Engine
// (docs/models/mooncake.md).
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "apps/mooncake/programs/programs.h"

// clang-format off
#define SHARE(...) APP__ROW(app__mc_share_t, __VA_ARGS__)
static const sim_report_row_t share_rows[] = {APP__MC_SHARE_ROWS(SHARE)};
static const sim_report_table_t share_table = APP__TABLE(share_rows, app__mc_share_t);
#define MOMENT(...) APP__ROW(app__mc_moment_t, __VA_ARGS__)
static const sim_report_row_t moment_rows[] = {APP__MC_MOMENT_ROWS(MOMENT)};
static const sim_report_table_t moment_table = APP__TABLE(moment_rows, app__mc_moment_t);
#define PROMPT(...) APP__ROW(app__mc_told_prompt_t, __VA_ARGS__)
static const sim_report_row_t prompt_rows[] = {APP__MC_PROMPT_ROWS(PROMPT)};
static const sim_report_table_t prompt_table = APP__TABLE(prompt_rows, app__mc_told_prompt_t);
#define PART(...) APP__ROW(app__mc_part_t, __VA_ARGS__)
static const sim_report_row_t part_rows[] = {
    PART(engine, STRING, "", false, "name of the engine on the host of this part")
    PART(part, STRING, "", false, "a part of nic.host (cpu:0, switch:1 up), or a worker thread of a NIC")
    PART(gbytes_per_s, REAL, "GB/s", false, "rate that the part can carry; for a worker thread, its bytes divided by its busy time")
    PART(bytes, U64, "bytes", false, "payload that went through the part; for a worker thread, payload of the slices that it posted or saw completed")
    PART(busy_percent, REAL, "%", false, "share of the time from the first transfer to the last in which the part was busy")
};
static const sim_report_table_t part_table = APP__TABLE(part_rows, app__mc_part_t);
#define RECORD(...) APP__ROW(app__mc_record_t, __VA_ARGS__)
static const sim_report_row_t record_rows[] = {
    RECORD(key, STRING, "", false, "key of the record: mooncake/ and the name")
    RECORD(value, STRING, "", false, "contents of the record, in JSON")
    RECORD(change, STRING, "", false, "written: the run wrote it; unchanged: it is as metadata.records had it; removed: the run removed it from metadata.records")
};
static const sim_report_table_t record_table = APP__TABLE(record_rows, app__mc_record_t);

#define ROW(...) APP__ROW(app__mc_report_t, __VA_ARGS__)
#define ROWS(trace_) \
    APP__MC_ROWS(ROW, trace_) \
    APP__ARRAY(app__mc_report_t, nics, shares, share_count, share_table, false, "bytes that each NIC carried") \
    APP__ARRAY(app__mc_report_t, ttft_cdf, ttft.points, ttft.count, sim_report_point_table, true, "distribution of ttft_ms over all prompts") \
    APP__ARRAY(app__mc_report_t, transfer_cdf, transfer.points, transfer.count, sim_report_point_table, true, "distribution of transfer_ms over all transfers") \
    APP__ARRAY(app__mc_report_t, parts, parts, part_count, part_table, false, "utilisation of the hosts' parts and of the engines' threads") \
    APP__ARRAY(app__mc_report_t, records, records, record_count, record_table, false, "records of the metadata node at the end of the run") \
    APP__ARRAY(app__mc_report_t, prompts, prompts, prompt_count, prompt_table, true, "each prompt that was admitted, if log is on") \
    APP__ARRAY(app__mc_report_t, bandwidth, moments, moment_count, moment_table, true, "bandwidth over time, if interval is set")
const sim_report_row_t app__mc_bench_rows[APP__MC_REPORT_ROWS] = {ROWS(false)};
const sim_report_row_t app__mc_trace_rows[APP__MC_REPORT_ROWS] = {ROWS(true)};
// clang-format on

void app__mc_report_fini(void *report_void)
{
    app__mc_report_t *const report = report_void;
    SIM_FREE_ALL(report->shares, report->moments, report->ttft.points, report->transfer.points);
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

static void import_record(const char *key, const char *value, size_t size, void *ctx)
{
    app_mooncake_import_record(ctx, key, value, size);
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
    error = context->mooncake_codec->read_records(text, size, import_record, cluster, message);
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
