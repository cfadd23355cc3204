// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/mooncake_bench.c - the engine's benchmark program (docs/models/mooncake.md):
// threads that submit batches of blocks to one target, each as soon as the last one is done.
//
// A thread has two halves of a buffer and takes them in turn, so that the peer can look at one
// while the other is written. Bytes are those of slices that complete within the time measured.
#include <stdio.h>
#include <string.h>

#include "apps/mooncake/mooncake_app.h"

#define PREFIX "traffic.mooncake-bench"
#define BUFFER_ADDRESS (UINT64_C(1) << 40)
#define FILE_NAME "bench.file"

typedef struct config {
    char *from;
    char *to;
    char *metadata_host;
    char *matrix;
    char *source_location;
    char *target_location;
    uint64_t threads;
    uint64_t batch;
    uint64_t block_bytes;
    uint32_t operation; // app_mooncake_opcode_t
    sim_time_t start_ps;
    sim_time_t warm_ps;
    sim_time_t duration_ps;
    uint64_t total_bytes; // SIM_AUTO: for duration
    uint64_t file_bytes;  // 0: the target is memory
    bool verify;
    sim_time_t interval_ps;
    sim_time_t crash_ps;
    sim_time_t unregister_ps;
    app_mooncake_drive_config_t drive;
    app_mooncake_metadata_config_t metadata;
    app_mooncake_config_t engine;
} config_t;

// clang-format off
static const sim_attr_t attrs[] = {
    {PREFIX ".from", SIM_ATTR_STRING, false, offsetof(config_t, from), "host0", NULL, NULL, NULL,
     "host that submits"},
    {PREFIX ".to", SIM_ATTR_STRING, false, offsetof(config_t, to), "host1", NULL, NULL, NULL,
     "hosts that are the targets; threads take them in turn"},
    {PREFIX ".metadata.host", SIM_ATTR_STRING, false, offsetof(config_t, metadata_host), "host2",
     NULL, NULL, NULL, "host that keeps the metadata"},
    {PREFIX ".matrix", SIM_ATTR_STRING, false, offsetof(config_t, matrix), "auto", NULL, NULL, NULL,
     "NIC priority matrix of all hosts, JSON; auto: all NICs are preferred for cpu:0 and cuda:0"},
    {PREFIX ".source-location", SIM_ATTR_STRING, false, offsetof(config_t, source_location),
     "cpu:0", NULL, NULL, NULL, "where the blocks lie here"},
    {PREFIX ".target-location", SIM_ATTR_STRING, false, offsetof(config_t, target_location),
     "cpu:0", NULL, NULL, NULL, "where they lie there"},
    {PREFIX ".threads", SIM_ATTR_COUNT, false, offsetof(config_t, threads), "12", "1", "4096", NULL,
     "threads that submit"},
    {PREFIX ".batch", SIM_ATTR_COUNT, false, offsetof(config_t, batch), "128", "1", "65536", NULL,
     "requests of a batch"},
    {PREFIX ".block", SIM_ATTR_BYTES, false, offsetof(config_t, block_bytes), "64KiB", "64",
     "1024GiB", NULL, "size of a request"},
    {PREFIX ".operation", SIM_ATTR_ENUM, false, offsetof(config_t, operation), "read", NULL, NULL,
     "read|write", "what requests do"},
    {PREFIX ".start", SIM_ATTR_TIME, false, offsetof(config_t, start_ps), "1ms", "0s", "1000s",
     NULL, "when the target is looked up; threads begin with the answer"},
    {PREFIX ".warm-up", SIM_ATTR_TIME, false, offsetof(config_t, warm_ps), "1ms", "0s", "1000s",
     NULL, "time from then on that is not measured"},
    {PREFIX ".duration", SIM_ATTR_TIME, false, offsetof(config_t, duration_ps), "5ms", "1us",
     "1000s", NULL, "time that is measured; then threads stop"},
    {PREFIX ".total", SIM_ATTR_BYTES, true, offsetof(config_t, total_bytes), "auto", "64", "1000000GB",
     NULL, "move this much and measure all of it; auto: as much as goes in warm-up and duration"},
    {PREFIX ".file", SIM_ATTR_BYTES, false, offsetof(config_t, file_bytes), "0", "0", "8192GiB", NULL,
     "the target is a file of this size on a storage node; 0: it is memory"},
    {PREFIX ".drive.queue-depth", SIM_ATTR_COUNT, false, offsetof(config_t, drive.queue_depth),
     "64", "1", "65536", NULL, "commands the drive takes at a time"},
    {PREFIX ".drive.latency", SIM_ATTR_TIME, false, offsetof(config_t, drive.latency_ps), "80us",
     "0ps", "1s", NULL, "of a command, besides its transfer"},
    {PREFIX ".drive.rate", SIM_ATTR_RATE, false, offsetof(config_t, drive.rate_bps), "56Gbps",
     "1bps", "100Tbps", NULL, "of the drive, for all commands together"},
    {PREFIX ".verify", SIM_ATTR_BOOL, false, offsetof(config_t, verify), "on", NULL, NULL, NULL,
     "look at everything that arrives"},
    {PREFIX ".interval", SIM_ATTR_TIME, false, offsetof(config_t, interval_ps), "never", "1us",
     NULL, NULL, "report the bandwidth of each interval of this length"},
    {PREFIX ".crash-at", SIM_ATTR_TIME, false, offsetof(config_t, crash_ps), "never", "0ps", NULL,
     NULL, "the first target loses power"},
    {PREFIX ".unregister-at", SIM_ATTR_TIME, false, offsetof(config_t, unregister_ps), "never",
     "0ps", NULL, NULL, "the first target unregisters its buffer"},
    APP__MC_METADATA_ATTRS(PREFIX, config_t, metadata),
    APP_MOONCAKE_ATTRS(PREFIX ".engine", config_t, engine),
};
// clang-format on

static const sim_attr_table_t attr_table = {PREFIX,
                                            "application",
                                            sizeof(config_t),
                                            attrs,
                                            SIM_COUNT_OF(attrs)};

typedef struct bench bench_t;

typedef struct thread {
    bench_t *bench;
    uint32_t index;
    uint64_t turn;
    sim_time_t since_ps;
} thread_t;

typedef struct target {
    bench_t *bench;
    app_mooncake_t *engine;
    app_mooncake_segment_id_t id;
    sim_timer_t crash_timer;
    sim_timer_t unregister_timer;
} target_t;

struct bench {
    app_t app; // first
    app_mooncake_cluster_t *cluster;
    app_mooncake_t *engine;
    target_t *targets;
    uint32_t target_count;
    uint32_t opened;
    thread_t *threads;
    uint32_t thread_count;
    uint64_t batch;
    uint64_t block_bytes;
    uint32_t operation;
    sim_time_t warm_ps;
    sim_time_t duration_ps;
    uint64_t total_bytes;
    uint64_t submitted_bytes;
    uint64_t file_bytes;
    app_mooncake_drive_config_t drive;
    app_mooncake_request_t *requests;
    app_mooncake_status_t *statuses;
    sim_node_t *node;
    sim_timer_t start_timer;
    sim_timer_t warm_timer;
    sim_timer_t stop_timer;
    sim_timer_t interval_timer;
    sim_time_t interval_ps;
    sim_time_t begun_ps; // NEVER: not yet
    sim_time_t ended_ps; // of the last batch
    sim_time_t last_ps;  // when something arrived
    sim_time_t gap_ps;   // longest in which nothing did
    bool measuring;
    bool stopped;
    uint64_t warm_bytes;
    uint64_t end_bytes;
    uint64_t interval_bytes;
    uint64_t completed;
    uint64_t failed;
    uint64_t running; // threads
    sim_sample_set_t batches_ps;
    app__mc_moment_t *moments;
    size_t moment_count;
    size_t moment_capacity;
};

static uint64_t bytes_now(const bench_t *bench)
{
    if (bench->file_bytes > 0) {
        return bench->engine->counters.bytes; // other engines' NICs move them
    }
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < bench->engine->context_count; i++) {
        bytes += bench->engine->contexts[i].bytes;
    }
    return bytes;
}

static void next_batch(thread_t *thread);

static void batch_done(app_mooncake_batch_id_t batch_id, void *ctx)
{
    thread_t *const thread = ctx;
    bench_t *const bench = thread->bench;
    const int64_t count =
        app_mooncake_get_transfer_status(bench->engine, batch_id, bench->statuses, bench->batch);
    bool good = true;
    for (int64_t i = 0; i < count; i++) {
        const bool completed = bench->statuses[i].s == APP_MOONCAKE_COMPLETED;
        bench->completed += completed;
        bench->failed += !completed;
        good = good && completed;
    }
    const sim_time_t now_ps = bench->node->now_ps;
    if (good && (bench->measuring || bench->total_bytes != SIM_AUTO)) {
        sim_sample_set_add(&bench->batches_ps, now_ps - thread->since_ps);
    }
    bench->ended_ps = now_ps;
    if (good && now_ps - bench->last_ps > bench->gap_ps) {
        bench->gap_ps = now_ps - bench->last_ps;
    }
    bench->last_ps = good ? now_ps : bench->last_ps;
    const int freed = app_mooncake_free_batch_id(bench->engine, batch_id);
    SIM_CHECK(freed == SIM_OK);
    // Whoever is refused stops: there is no one to send to.
    if (good) {
        next_batch(thread);
    } else {
        bench->running--;
    }
}

static bool is_over(const bench_t *bench)
{
    return bench->stopped ||
           (bench->total_bytes != SIM_AUTO && bench->submitted_bytes >= bench->total_bytes);
}

static void next_batch(thread_t *thread)
{
    bench_t *const bench = thread->bench;
    if (is_over(bench)) {
        bench->running--;
        return;
    }
    const uint64_t half_bytes = bench->batch * bench->block_bytes;
    const uint64_t first = (thread->index * 2 + thread->turn++ % 2) * half_bytes;
    uint64_t count = 0;
    for (; count < bench->batch && !is_over(bench); count++) {
        const uint64_t left = bench->total_bytes == SIM_AUTO
                                  ? bench->block_bytes
                                  : bench->total_bytes - bench->submitted_bytes;
        const uint64_t at = first + count * bench->block_bytes;
        bench->requests[count] = (app_mooncake_request_t){
            .opcode = (app_mooncake_opcode_t)bench->operation,
            .source = BUFFER_ADDRESS + at,
            .target_id = bench->targets[thread->index % bench->target_count].id,
            .target_offset = bench->file_bytes > 0 ? at % bench->file_bytes : BUFFER_ADDRESS + at,
            .length = left < bench->block_bytes ? left : bench->block_bytes,
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
    (void)app_mooncake_on_batch(bench->engine, batch_id, batch_done, thread);
}

// -- times

static void warm_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    bench_t *const bench = SIM_CONTAINER_OF(timer, bench_t, warm_timer);
    bench->measuring = true;
    bench->warm_bytes = bytes_now(bench);
}

static void stop_fired(sim_node_t *node, sim_timer_t *timer)
{
    bench_t *const bench = SIM_CONTAINER_OF(timer, bench_t, stop_timer);
    bench->measuring = false;
    bench->stopped = true;
    bench->end_bytes = bytes_now(bench);
    sim_progress(node);
}

static void interval_fired(sim_node_t *node, sim_timer_t *timer)
{
    bench_t *const bench = SIM_CONTAINER_OF(timer, bench_t, interval_timer);
    const uint64_t bytes = bytes_now(bench);
    SIM_GROW(bench->moments, bench->moment_count, &bench->moment_capacity);
    bench->moments[bench->moment_count++] = (app__mc_moment_t){
        .time_us = (double)node->now_ps / (double)SIM_PS_PER_US,
        .gbytes_per_s = (double)(bytes - bench->interval_bytes) * 1e3 / (double)bench->interval_ps,
    };
    bench->interval_bytes = bytes;
    if (!bench->stopped && bench->running > 0) {
        sim_timer_arm(node, timer, node->now_ps + bench->interval_ps);
    }
}

static void opened(app_mooncake_segment_id_t id, void *ctx)
{
    target_t *const target = ctx;
    bench_t *const bench = target->bench;
    target->id = id;
    if (++bench->opened < bench->target_count) {
        return;
    }
    for (uint32_t i = 0; i < bench->target_count; i++) {
        if (bench->targets[i].id < 0) {
            bench->failed += bench->thread_count * bench->batch;
            bench->stopped = true;
            return;
        }
    }
    const sim_time_t now_ps = bench->node->now_ps;
    bench->begun_ps = now_ps;
    bench->last_ps = now_ps;
    bench->running = bench->thread_count;
    if (bench->total_bytes == SIM_AUTO) {
        sim_timer_arm(bench->node, &bench->warm_timer, now_ps + bench->warm_ps);
        sim_timer_arm(bench->node,
                      &bench->stop_timer,
                      now_ps + bench->warm_ps + bench->duration_ps);
    }
    if (bench->interval_ps != SIM_TIME_NEVER) {
        sim_timer_arm(bench->node, &bench->interval_timer, now_ps + bench->interval_ps);
    }
    for (uint32_t i = 0; i < bench->thread_count; i++) {
        next_batch(&bench->threads[i]);
    }
}

static void start_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    bench_t *const bench = SIM_CONTAINER_OF(timer, bench_t, start_timer);
    for (uint32_t i = 0; i < bench->target_count; i++) {
        target_t *const target = &bench->targets[i];
        app_mooncake_get_segment_id(bench->engine,
                                    bench->file_bytes > 0 ? FILE_NAME
                                                          : app_mooncake_name(target->engine),
                                    opened,
                                    target);
    }
}

static void crash_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    app_mooncake_crash(SIM_CONTAINER_OF(timer, target_t, crash_timer)->engine);
}

static void unregister_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    target_t *const target = SIM_CONTAINER_OF(timer, target_t, unregister_timer);
    (void)app_mooncake_unregister_local_memory(target->engine, BUFFER_ADDRESS, NULL, NULL);
}

// -- creation

static sim_err_t make_engine(bench_t *bench,
                             const config_t *config,
                             uint32_t interface,
                             const char *location,
                             app_mooncake_t **engine,
                             sim_message_t *message)
{
    net_node_t *const host = nic_node(nic_of_interface(bench->app.net, interface));
    char *const matrix = app__mc_matrix(host, config->matrix);
    app_mooncake_config_t settings = config->engine;
    if (settings.verify_stride_bytes == SIM_AUTO) {
        const uint64_t least =
            config->block_bytes < settings.slice_bytes ? config->block_bytes : settings.slice_bytes;
        settings.verify_stride_bytes = least / 4 < 16384 ? least / 4 : 16384;
    }
    const sim_err_t error = app_mooncake_create(bench->cluster,
                                                host,
                                                app__host_name(bench->app.net, interface),
                                                matrix,
                                                &settings,
                                                engine,
                                                message);
    sim_free(matrix);
    if (error != SIM_OK) {
        return error;
    }
    (*engine)->verify = config->verify;
    const uint64_t size = config->threads * 2 * config->batch * config->block_bytes;
    const int result = app_mooncake_register_local_memory(*engine,
                                                          BUFFER_ADDRESS,
                                                          size,
                                                          location,
                                                          APP_MOONCAKE_ALL,
                                                          NULL,
                                                          NULL);
    if (result != SIM_OK) {
        return sim_fail(message, SIM_ERR_INVALID, "matrix has no location '%s'", location);
    }
    return SIM_OK;
}

static sim_err_t make_targets(bench_t *bench,
                              const config_t *config,
                              const app__places_t *to,
                              sim_message_t *message)
{
    const uint32_t nics = (uint32_t)(to->list.count / to->host_count);
    for (uint32_t i = 0; i < bench->target_count; i++) {
        target_t *const target = &bench->targets[i];
        target->bench = bench;
        const sim_err_t error = make_engine(bench,
                                            config,
                                            to->list.interfaces[i * nics],
                                            config->target_location,
                                            &target->engine,
                                            message);
        if (error != SIM_OK) {
            return error;
        }
        if (config->file_bytes > 0) {
            (void)app_mooncake_serve_file(target->engine,
                                          FILE_NAME,
                                          config->file_bytes,
                                          &config->drive,
                                          NULL,
                                          NULL);
        }
    }
    target_t *const first = &bench->targets[0];
    sim_node_t *const node = &app_mooncake_host(first->engine)->sim;
    sim_timer_init(&first->crash_timer, crash_fired);
    sim_timer_init(&first->unregister_timer, unregister_fired);
    if (config->crash_ps != SIM_TIME_NEVER) {
        sim_timer_arm(node, &first->crash_timer, config->crash_ps);
    }
    if (config->unregister_ps != SIM_TIME_NEVER) {
        sim_timer_arm(node, &first->unregister_timer, config->unregister_ps);
    }
    return SIM_OK;
}

static sim_err_t find_hosts(const app_context_t *context,
                            const config_t *config,
                            uint32_t *from,
                            uint32_t *metadata,
                            app__places_t *to,
                            sim_message_t *message)
{
    app__places_t one;
    sim_err_t error = app__places_find(context, "from", config->from, &one, message);
    if (error != SIM_OK) {
        return error;
    }
    *from = one.list.interfaces[0];
    app__places_fini(&one);
    error = app__places_find(context, "metadata.host", config->metadata_host, &one, message);
    if (error != SIM_OK) {
        return error;
    }
    *metadata = one.list.interfaces[0];
    app__places_fini(&one);
    error = app__places_find(context, "to", config->to, to, message);
    if (error == SIM_OK && config->file_bytes > 0 && to->host_count != 1) {
        error = sim_fail(message, SIM_ERR_INVALID, "to names several hosts: a file has one");
    }
    if (error == SIM_OK && context->mooncake_codec == NULL) {
        error = sim_fail(message, SIM_ERR_INVALID, "from: there is no codec for descriptions");
    }
    return error;
}

static sim_err_t make_cluster(bench_t *bench,
                              const app_context_t *context,
                              const config_t *config,
                              const uint32_t *ends,
                              const app__places_t *to,
                              sim_message_t *message)
{
    net_node_t **const hosts = sim_alloc_array(bench->target_count + 2u, sizeof(net_node_t *));
    const uint32_t nics = (uint32_t)(to->list.count / to->host_count);
    size_t count = 0;
    hosts[count++] = nic_node(nic_of_interface(context->net, ends[0]));
    for (uint32_t i = 0; i < bench->target_count; i++) {
        hosts[count++] = nic_node(nic_of_interface(context->net, to->list.interfaces[i * nics]));
    }
    net_node_t *const metadata = nic_node(nic_of_interface(context->net, ends[1]));
    bool known = false;
    for (size_t i = 0; i < count; i++) {
        known = known || hosts[i] == metadata;
    }
    hosts[count] = metadata;
    count += !known;
    const app_mooncake_plan_t plan = {
        .net = context->net,
        .runtime = context->runtime,
        .index = context->index,
        .hosts = hosts,
        .host_count = count,
        .metadata_host = metadata,
        .codec = context->mooncake_codec,
        .metadata = config->metadata,
    };
    const sim_err_t error = app_mooncake_cluster_create(&plan, &bench->cluster, message);
    sim_free(hosts);
    return error;
}

static void bench_destroy(app_t *app);

static bench_t *bench_new(const app_context_t *context, const config_t *config, uint32_t targets)
{
    bench_t *const bench = sim_alloc(sizeof(*bench));
    bench->app = (app_t){&app_mooncake_bench, context->net, context->index};
    bench->target_count = targets;
    bench->targets = sim_alloc_array(targets, sizeof(*bench->targets));
    bench->thread_count = (uint32_t)config->threads;
    bench->threads = sim_alloc_array(bench->thread_count, sizeof(*bench->threads));
    for (uint32_t i = 0; i < bench->thread_count; i++) {
        bench->threads[i] = (thread_t){.bench = bench, .index = i};
    }
    bench->batch = config->batch;
    bench->block_bytes = config->block_bytes;
    bench->operation = config->operation;
    bench->warm_ps = config->warm_ps;
    bench->duration_ps = config->duration_ps;
    bench->total_bytes = config->total_bytes;
    bench->file_bytes = config->file_bytes;
    bench->interval_ps = config->interval_ps;
    bench->begun_ps = SIM_TIME_NEVER;
    bench->requests = sim_alloc_array(config->batch, sizeof(*bench->requests));
    bench->statuses = sim_alloc_array(config->batch, sizeof(*bench->statuses));
    sim_sample_set_init(&bench->batches_ps);
    sim_timer_init(&bench->start_timer, start_fired);
    sim_timer_init(&bench->warm_timer, warm_fired);
    sim_timer_init(&bench->stop_timer, stop_fired);
    sim_timer_init_background(&bench->interval_timer, interval_fired);
    return bench;
}

static sim_err_t bench_create(const app_context_t *context,
                              const void *config_void,
                              app_t **app,
                              sim_message_t *message)
{
    const config_t *const config = config_void;
    uint32_t ends[2] = {0, 0};
    app__places_t to;
    if (config->file_bytes > 0 && config->file_bytes % config->block_bytes != 0) {
        return sim_fail(message, SIM_ERR_INVALID, "file is not a multiple of block");
    }
    sim_err_t error = find_hosts(context, config, &ends[0], &ends[1], &to, message);
    if (error != SIM_OK) {
        return error;
    }
    bench_t *const bench = bench_new(context, config, to.host_count);
    error = make_cluster(bench, context, config, ends, &to, message);
    if (error == SIM_OK) {
        error =
            make_engine(bench, config, ends[0], config->source_location, &bench->engine, message);
    }
    if (error == SIM_OK) {
        error = make_targets(bench, config, &to, message);
    }
    app__places_fini(&to);
    if (error != SIM_OK) {
        bench_destroy(&bench->app);
        return error;
    }
    bench->node = &app_mooncake_host(bench->engine)->sim;
    sim_timer_arm(bench->node, &bench->start_timer, config->start_ps);
    *app = &bench->app;
    return SIM_OK;
}

static void bench_destroy(app_t *app)
{
    bench_t *const bench = (bench_t *)(void *)app;
    app_mooncake_cluster_destroy(bench->cluster);
    sim_sample_set_fini(&bench->batches_ps);
    sim_free(bench->targets);
    sim_free(bench->threads);
    sim_free(bench->requests);
    sim_free(bench->statuses);
    sim_free(bench->moments);
    sim_free(bench);
}

static void bench_progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    const bench_t *const bench = (const bench_t *)(const void *)app;
    *planned = bench->thread_count;
    *done = bench->begun_ps == SIM_TIME_NEVER ? 0 : bench->thread_count - bench->running;
}

// -- results

static void bench_fill(const void *object, void *report_void)
{
    const bench_t *const bench = object;
    app__mc_report_t *const report = report_void;
    app__mc_report_records(report, bench->cluster);
    app__mc_report_engine(report, bench->engine);
    for (uint32_t i = 0; i < bench->target_count; i++) {
        report->handshakes += bench->targets[i].engine->counters.handshakes;
        report->memory_bytes_max += bench->targets[i].engine->memory_bytes_max;
    }
    const bool whole = bench->total_bytes != SIM_AUTO;
    const bool begun = bench->begun_ps != SIM_TIME_NEVER;
    const sim_time_t time_ps = !begun  ? 0
                               : whole ? bench->ended_ps - bench->begun_ps
                                       : bench->duration_ps;
    report->bytes = whole ? bench->engine->counters.bytes : bench->end_bytes - bench->warm_bytes;
    report->seconds = (double)time_ps / 1e12;
    report->gbytes_per_s = time_ps == 0 ? 0.0 : (double)report->bytes * 1e3 / (double)time_ps;
    report->requests = bench->completed;
    report->failed = bench->failed;
    sim_sample_set_t batches = bench->batches_ps;
    report->transfer_ms = sim_percentiles(&batches, SIM_PS_PER_MS);
    sim_sample_set_t none;
    sim_sample_set_init(&none);
    report->ttft_ms = sim_percentiles(&none, SIM_PS_PER_MS);
    sim_sample_set_fini(&none);
    report->recovery_ms = (double)bench->gap_ps / (double)SIM_PS_PER_MS;
    report->moment_count = bench->moment_count;
    report->moments = sim_alloc_array(bench->moment_count + 1, sizeof(*report->moments));
    if (bench->moment_count > 0) {
        memcpy(report->moments, bench->moments, bench->moment_count * sizeof(*report->moments));
    }
}

static const sim_report_table_t report_table = {
    .rows = app__mc_report_rows,
    .count = APP__MC_REPORT_ROWS,
    .bytes = sizeof(app__mc_report_t),
    .fill = bench_fill,
    .fini = app__mc_report_fini,
};

// As transfer_engine_bench ends.
static void bench_print(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx)
{
    app__mc_report_t report = {0};
    bench_fill(app, &report);
    char line[160];
    snprintf(line,
             sizeof(line),
             "Test completed: duration %.4f s, requests %" PRIu64
             ", throughput %.2f GB/s, failed %" PRIu64 "\n",
             report.seconds,
             report.requests,
             report.gbytes_per_s,
             report.failed);
    write(line, ctx);
    app__mc_report_fini(&report);
}

const app_ops_t app_mooncake_bench = {
    .name = "mooncake-bench",
    .help = "Mooncake's Transfer Engine: threads that submit batches of blocks",
    .attrs = &attr_table,
    .create = bench_create,
    .destroy = bench_destroy,
    .progress = bench_progress,
    .report = &report_table,
    .print = bench_print,
};
