// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/bench.c - the engine's benchmark program: threads that submit batches of
// blocks to one target, each as soon as the last one is done (docs/models/mooncake.md).
//
// A thread uses the two halves of its buffer in turn: the peer verifies one while the other is
// written. Bytes are those of slices that complete within the measured time.
#include "apps/mooncake/programs/bench.h"

#include <stdio.h>
#include <string.h>

#include "apps/app_internal.h"
#include "apps/mooncake/engine/control/metadata.h"
#include "apps/mooncake_memory.h"

// Returns the bytes of completed requests. A file on the submitting host is served by its engine,
// whose own copies are not requests of the benchmark.
static uint64_t completed_bytes(const app__mc_bench_t *bench)
{
    const app_mooncake_counters_t *const counters = &bench->engine->counters;
    return counters->bytes - (bench->config.file_bytes > 0 ? counters->copied_bytes : 0);
}

static uint64_t bytes_now(const app__mc_bench_t *bench)
{
    if (bench->config.file_bytes > 0) {
        return completed_bytes(bench); // the NICs of other engines move them
    }
    uint64_t bytes = bench->engine->counters.copied_bytes;
    for (uint32_t i = 0; i < bench->engine->context_count; i++) {
        bytes += bench->engine->contexts[i].bytes;
    }
    return bytes;
}

static void next_batch(app__mc_bench_thread_t *thread);

static void batch_done(app_mooncake_batch_id_t batch_id, void *ctx)
{
    app__mc_bench_thread_t *const thread = ctx;
    app__mc_bench_t *const bench = thread->bench;
    const int64_t count = app_mooncake_get_transfer_status(bench->engine, batch_id, bench->statuses,
                                                           bench->config.batch);
    bool good = true;
    for (int64_t i = 0; i < count; i++) {
        const bool completed = bench->statuses[i].s == APP_MOONCAKE_COMPLETED;
        bench->completed += completed;
        bench->failed += !completed;
        good = good && completed;
    }
    const sim_time_t now_ps = bench->node->now_ps;
    if (good && (bench->measuring || bench->config.total_bytes != SIM_AUTO)) {
        sim_sample_set_add(&bench->batches_ps, now_ps - thread->since_ps);
    }
    bench->ended_ps = now_ps;
    if (good && now_ps - bench->last_ps > bench->gap_ps) {
        bench->gap_ps = now_ps - bench->last_ps;
    }
    bench->last_ps = good ? now_ps : bench->last_ps;
    // A thread whose batch fails stops: there is nobody to send to.
    if (good) {
        next_batch(thread);
    } else {
        bench->running--;
    }
}

static void batch_seen(app_mooncake_batch_id_t batch_id, void *ctx)
{
    app__mc_bench_thread_t *const thread = ctx;
    const int freed = app_mooncake_free_batch_id(thread->bench->engine, batch_id);
    SIM_CHECK(freed == SIM_OK);
    const uint32_t half = thread->submitted[0] == batch_id ? 0 : 1;
    SIM_CHECK(thread->submitted[half] == batch_id);
    thread->submitted[half] = APP__MC_BENCH_NONE;
    if (thread->waits && thread->half == half) {
        thread->waits = false;
        next_batch(thread);
    }
}

static bool is_over(const app__mc_bench_t *bench)
{
    return bench->stopped || (bench->config.total_bytes != SIM_AUTO &&
                              bench->submitted_bytes >= bench->config.total_bytes);
}

// Returns the length of the next request: a block. The last two share the rest of the total, so
// that neither is too short to hold a mark.
static uint64_t next_length(const app__mc_bench_t *bench)
{
    if (bench->config.total_bytes == SIM_AUTO) {
        return bench->config.block_bytes;
    }
    const uint64_t left = bench->config.total_bytes - bench->submitted_bytes;
    if (left >= 2 * bench->config.block_bytes) {
        return bench->config.block_bytes;
    }
    return left <= bench->config.block_bytes ? left : (left + 1) / 2;
}

static void next_batch(app__mc_bench_thread_t *thread)
{
    app__mc_bench_t *const bench = thread->bench;
    if (is_over(bench)) {
        bench->running--;
        return;
    }
    const uint32_t half = thread->half;
    if (thread->submitted[half] != APP__MC_BENCH_NONE) {
        thread->waits = true; // the data sent to it has not been verified yet
        return;
    }
    thread->half = 1 - half;
    const uint64_t half_bytes = bench->config.batch * bench->config.block_bytes;
    const uint64_t first = (thread->index * 2 + half) * half_bytes;
    uint64_t count = 0;
    for (; count < bench->config.batch && !is_over(bench); count++) {
        const uint64_t at = first + count * bench->config.block_bytes;
        bench->requests[count] = (app_mooncake_request_t){
            .opcode = (app_mooncake_opcode_t)bench->config.operation,
            .source = thread->source + at,
            .target_id = bench->targets[thread->index % bench->target_count].id,
            .target_offset =
                bench->config.file_bytes > 0 ? at % bench->config.file_bytes : thread->target + at,
            .length = next_length(bench),
        };
        bench->submitted_bytes += bench->requests[count].length;
    }
    thread->since_ps = bench->node->now_ps;
    const app_mooncake_batch_id_t batch_id =
        app_mooncake_submit(bench->engine, bench->requests, count);
    if (batch_id < 0) {
        bench->running--;
        bench->failed += count;
        return;
    }
    thread->submitted[half] = batch_id;
    (void)app_mooncake_on_transfers(bench->engine, batch_id, batch_done, thread);
    (void)app_mooncake_on_batch(bench->engine, batch_id, batch_seen, thread);
}

// -- times

static void warm_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    app__mc_bench_t *const bench = SIM_CONTAINER_OF(timer, app__mc_bench_t, warm_timer);
    bench->measuring = true;
    bench->warm_bytes = bytes_now(bench);
}

static void stop_fired(sim_node_t *node, sim_timer_t *timer)
{
    app__mc_bench_t *const bench = SIM_CONTAINER_OF(timer, app__mc_bench_t, stop_timer);
    bench->measuring = false;
    bench->stopped = true;
    bench->end_bytes = bytes_now(bench);
    sim_progress(node);
}

static void interval_fired(sim_node_t *node, sim_timer_t *timer)
{
    app__mc_bench_t *const bench = SIM_CONTAINER_OF(timer, app__mc_bench_t, interval_timer);
    const uint64_t bytes = bytes_now(bench);
    SIM_GROW(bench->moments, bench->moment_count, &bench->moment_capacity);
    bench->moments[bench->moment_count++] = (app__mc_moment_t){
        .time_us = (double)node->now_ps / (double)SIM_PS_PER_US,
        .gbytes_per_s =
            (double)(bytes - bench->interval_bytes) * 1e3 / (double)bench->config.interval_ps,
    };
    bench->interval_bytes = bytes;
    const bool room = bench->moment_count < APP__MC_MOMENTS_MAX;
    if (room && !bench->stopped && bench->running > 0) {
        sim_timer_arm(node, timer, node->now_ps + bench->config.interval_ps);
    }
}

static void opened(app_mooncake_segment_id_t id, void *ctx)
{
    app__mc_bench_target_t *const target = ctx;
    app__mc_bench_t *const bench = target->bench;
    target->id = id;
    if (++bench->opened < bench->target_count) {
        return;
    }
    for (uint32_t i = 0; i < bench->target_count; i++) {
        if (bench->targets[i].id < 0) {
            bench->failed += bench->thread_count * bench->config.batch;
            bench->stopped = true;
            return;
        }
    }
    const sim_time_t now_ps = bench->node->now_ps;
    bench->begun_ps = now_ps;
    bench->last_ps = now_ps;
    bench->running = bench->thread_count;
    if (bench->config.total_bytes == SIM_AUTO) {
        sim_timer_arm(bench->node, &bench->warm_timer, now_ps + bench->config.warm_ps);
        sim_timer_arm(bench->node, &bench->stop_timer,
                      now_ps + bench->config.warm_ps + bench->config.duration_ps);
    }
    if (bench->config.interval_ps != SIM_TIME_NEVER) {
        sim_timer_arm(bench->node, &bench->interval_timer, now_ps + bench->config.interval_ps);
    }
    for (uint32_t i = 0; i < bench->thread_count; i++) {
        next_batch(&bench->threads[i]);
    }
}

static void start_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    app__mc_bench_t *const bench = SIM_CONTAINER_OF(timer, app__mc_bench_t, start_timer);
    for (uint32_t i = 0; i < bench->target_count; i++) {
        app__mc_bench_target_t *const target = &bench->targets[i];
        app_mooncake_get_segment_id(
            bench->engine,
            bench->config.file_bytes > 0 ? APP__MC_BENCH_FILE : app_mooncake_name(target->engine),
            opened, target);
    }
}

void app__mc_bench_init(app__mc_bench_t *bench)
{
    bench->begun_ps = SIM_TIME_NEVER;
    sim_sample_set_init(&bench->batches_ps);
    sim_timer_init(&bench->start_timer, start_fired);
    sim_timer_init(&bench->warm_timer, warm_fired);
    sim_timer_init(&bench->stop_timer, stop_fired);
    sim_timer_init_background(&bench->interval_timer, interval_fired);
}

static void bench_progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    const app__mc_bench_t *const bench = (const app__mc_bench_t *)(const void *)app;
    *planned = bench->thread_count;
    *done = bench->begun_ps == SIM_TIME_NEVER ? 0 : bench->thread_count - bench->running;
}

// -- results

static void bench_carry(app_t *app, sim_carry_t *carry)
{
    app__mc_bench_t *const bench = (app__mc_bench_t *)(void *)app;
    app__mc_server_carry(bench->cluster->server, carry);
    if (app__mc_carry_engine(bench->engine, carry)) {
        SIM_CARRY_FIELDS(carry, bench, begun_ps, running);
        sim_sample_set_carry(&bench->batches_ps, carry);
        SIM_CARRY_LIST(carry, bench->moments, bench->moment_count, bench->moment_capacity);
    }
    for (uint32_t i = 0; i < bench->target_count; i++) {
        if (bench->targets[i].engine != bench->engine) {
            (void)app__mc_carry_engine(bench->targets[i].engine, carry);
        }
    }
}

// Returns the time from the first batch to the end of the last one, or to the end of the run.
static sim_time_t active_ps(const app__mc_bench_t *bench)
{
    const sim_time_t end_ps =
        bench->running > 0 ? sim_end_time_ps(net_sim(bench->app.net)) : bench->ended_ps;
    return end_ps > bench->begun_ps ? end_ps - bench->begun_ps : 0;
}

// Returns the measured time, and in `bytes` the bytes that arrived in it.
static sim_time_t measured_ps(const app__mc_bench_t *bench, uint64_t *bytes)
{
    if (bench->begun_ps == SIM_TIME_NEVER) {
        *bytes = 0;
        return 0;
    }
    if (bench->config.total_bytes != SIM_AUTO) {
        *bytes = completed_bytes(bench);
        return active_ps(bench);
    }
    if (!bench->measuring) {
        *bytes = bench->end_bytes - bench->warm_bytes;
        return bench->stopped ? bench->config.duration_ps : 0;
    }
    *bytes = bytes_now(bench) - bench->warm_bytes;
    return sim_end_time_ps(net_sim(bench->app.net)) - bench->begun_ps - bench->config.warm_ps;
}

static void bench_fill(const void *object, void *report_void)
{
    const app__mc_bench_t *const bench = object;
    app__mc_report_t *const report = report_void;
    app__mc_report_records(report, bench->cluster);
    app__mc_report_engine(report, bench->engine);
    const sim_time_t busy_ps = bench->begun_ps == SIM_TIME_NEVER ? 0 : active_ps(bench);
    app__mc_report_parts(report, bench->engine, busy_ps);
    for (uint32_t i = 0; i < bench->target_count; i++) {
        if (bench->targets[i].engine == bench->engine) {
            continue; // a target on the submitting host
        }
        report->handshakes += bench->targets[i].engine->counters.handshakes;
        report->memory_bytes_max += bench->targets[i].engine->memory_bytes_max;
        app__mc_report_peer_nics(report, bench->targets[i].engine);
        app__mc_report_parts(report, bench->targets[i].engine, busy_ps);
    }
    const sim_time_t time_ps = measured_ps(bench, &report->bytes);
    report->seconds = (double)time_ps / 1e12;
    report->gbytes_per_s = time_ps == 0 ? 0.0 : (double)report->bytes * 1e3 / (double)time_ps;
    report->requests = bench->completed;
    report->failed = bench->failed;
    sim_sample_set_t batches;
    sim_sample_set_init(&batches);
    sim_sample_set_add_all(&batches, &bench->batches_ps);
    report->transfer_ms = sim_percentiles(&batches, SIM_PS_PER_MS);
    report->transfer = sim_report_points(&batches);
    sim_sample_set_fini(&batches);
    sim_sample_set_t none;
    sim_sample_set_init(&none);
    report->ttft_ms = sim_percentiles(&none, SIM_PS_PER_MS);
    sim_sample_set_fini(&none);
    report->recovery_ms = (double)bench->gap_ps / (double)SIM_PS_PER_MS;
    report->moment_count = bench->moment_count;
    if (bench->moment_count > 0) {
        report->moments = sim_alloc_array(bench->moment_count, sizeof(*report->moments));
        memcpy(report->moments, bench->moments, bench->moment_count * sizeof(*report->moments));
    }
}

static const sim_report_table_t report_table = {
    .rows = app__mc_bench_rows,
    .count = APP__MC_REPORT_ROWS,
    .bytes = sizeof(app__mc_report_t),
    .fill = bench_fill,
    .fini = app__mc_report_fini,
};

// Writes the last line of transfer_engine_bench, in its words.
static void bench_print(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx)
{
    app__mc_report_t report = {0};
    bench_fill(app, &report);
    char line[160];
    snprintf(line, sizeof(line),
             "Test completed: duration %.4f s, requests %" PRIu64
             ", throughput %.2f GB/s, failed %" PRIu64 "\n",
             report.seconds, report.requests, report.gbytes_per_s, report.failed);
    write(line, ctx);
    app__mc_report_fini(&report);
}

static void bench_warn(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx)
{
    app__mc_report_t report = {0};
    bench_fill(app, &report);
    app__mc_report_warn(&report, write, ctx);
    app__mc_report_fini(&report);
}

static const char *bench_failure(const app_t *app)
{
    const app__mc_bench_t *const bench = (const app__mc_bench_t *)(const void *)app;
    return bench->completed == 0 && bench->failed > 0 ? "none of its requests succeeded" : NULL;
}

const app_ops_t app_mooncake_bench = {
    .name = "mooncake-bench",
    .help = "Mooncake's Transfer Engine: threads that submit batches of blocks",
    .attrs = &app__mc_bench_attrs,
    .posts = "READs and SENDs",
    .failure = bench_failure,
    .create = app__mc_bench_create,
    .destroy = app__mc_bench_destroy,
    .progress = bench_progress,
    .carry = bench_carry,
    .report = &report_table,
    .print = bench_print,
    .prints_rows = true,
    .warn = bench_warn,
};
