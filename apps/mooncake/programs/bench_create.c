// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/bench_create.c - attributes and creation of mooncake-bench
// (docs/models/mooncake.md).
#include "apps/app_internal.h"
#include "apps/hosts.h"
#include "apps/mooncake/programs/bench.h"
#include "apps/mooncake_memory.h"

#define PREFIX "traffic.mooncake-bench"

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(app__mc_bench_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(STRING, "from", from, "host0", "host that submits the requests"),
    ATTR(STRING, "to", to, "host1", "hosts that are the targets; threads take them in turn; the submitting host may be one: then engine.copy-rate limits it"),
    ATTR(STRING, "metadata.host", metadata_host, "host2", "host that keeps the metadata"),
    ATTR(STRING, "matrix", matrix, "auto", "NIC priority matrix of all hosts, in JSON; auto: the NICs nearest to each socket and GPU of nic.host are preferred, the others available"),
    ATTR(STRING, "source-location", source_location, "cpu:0", "location of the blocks on the submitting host; of several (cpu:0, cpu:1) threads take them in turn"),
    ATTR(STRING, "target-location", target_location, "cpu:0", "location of the blocks on the targets; of several threads take them in turn"),
    ATTR(COUNT, "threads", threads, "12", "1", "4096", "number of threads that submit requests"),
    ATTR(COUNT, "batch", batch, "128", "1", "65536", "number of requests in a batch"),
    ATTR(BYTES, "block", block_bytes, "64KiB", "64", "1024GiB", "bytes that one request moves"),
    ATTR(ENUM, "operation", operation, "read", "read|write", "direction of the requests; read: from the target; write: to the target"),
    ATTR(TIME, "start", start_ps, "1ms", "0s", "1000s", "time at which the target is looked up; threads begin with the answer"),
    ATTR(TIME, "warm-up", warm_ps, "1ms", "0s", "1000s", "time after the threads begin that is not measured"),
    ATTR(TIME, "duration", duration_ps, "5ms", "1us", "1000s", "time that is measured; then threads stop"),
    ATTR(BYTES, "total", total_bytes, "auto", "64", "1000000GB", "bytes to move, all of them measured; auto: as many as fit into warm-up and duration", .auto_ok = true),
    ATTR(BYTES, "file", file_bytes, "0", "0", "8192GiB", "size of the target file on a storage node; 0: the target is memory"),
    ATTR(COUNT, "drive.queue-depth", drive.queue_depth, "64", "1", "65536", "number of commands that the drive accepts at a time; the files of a node share them"),
    ATTR(COUNT, "drive.channels", drive.channels, "64", "1", "65536", "number of channels of the drive, not more than queue-depth; a command keeps one for its latency"),
    ATTR(TIME, "drive.latency", drive.latency_ps, "80us", "0ps", "1s", "time for which a READ of the drive keeps its channel"),
    ATTR(TIME, "drive.write-latency", drive.write_latency_ps, "0ps", "0ps", "1s", "time for which a WRITE of the drive keeps its channel; 0: the same as a READ"),
    ATTR(RATE, "drive.rate", drive.rate_bps, "56Gbps", "1bps", "100Tbps", "rate of the drive, for all commands together"),
    ATTR(BOOL, "verify", verify, "on", "on: the program verifies the contents of all data that arrives"),
    ATTR(TIME, "interval", interval_ps, "never", "1us", NULL, "length of the intervals whose bandwidth is reported; never: no intervals"),
    ATTR(TIME, "crash-at", crash_ps, "never", "0ps", NULL, "time at which the first target loses power"),
    ATTR(TIME, "unregister-at", unregister_ps, "never", "0ps", NULL, "time at which the first target unregisters its buffers"),
    APP__MC_METADATA_ATTRS(PREFIX, app__mc_bench_config_t, metadata),
    APP_MOONCAKE_ATTRS(PREFIX ".engine", app__mc_bench_config_t, engine),
};
// clang-format on

const sim_attr_table_t app__mc_bench_attrs =
    SIM_ATTR_TABLE(PREFIX, "application", app__mc_bench_config_t, attrs);

// -- failures of the first target

static void crash_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    app_mooncake_crash(SIM_CONTAINER_OF(timer, app__mc_bench_target_t, crash_timer)->engine);
}

static void unregister_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    app__mc_bench_target_t *const target =
        SIM_CONTAINER_OF(timer, app__mc_bench_target_t, unregister_timer);
    uint64_t address = target->address;
    while (app_mooncake_unregister_local_memory(target->engine, address, NULL, NULL) == SIM_OK) {
        address += APP__MC_BENCH_AREA_BYTES;
    }
}

// -- creation

// Registers memory of a host from an address on: each location has room for all threads.
static sim_err_t add_memory(app_mooncake_t *engine, uint64_t address,
                            const app__mc_bench_config_t *config, const char *locations,
                            sim_message_t *message)
{
    const uint64_t blocks = config->threads * 2 * config->batch;
    if (blocks > APP__MC_BENCH_AREA_BYTES / config->block_bytes) {
        return sim_fail_about(message, SIM_ERR_RANGE, "threads",
                              " x batch x block x 2 is above 64 TiB, expected less");
    }
    for (uint32_t i = 0; i < app__mc_location_count(locations); i++) {
        const sim_err_t error =
            app__mc_register_location(engine, locations, i, address + i * APP__MC_BENCH_AREA_BYTES,
                                      blocks * config->block_bytes, message);
        if (error != SIM_OK) {
            return error;
        }
    }
    return SIM_OK;
}

static sim_err_t make_engine(app__mc_bench_t *bench, const app__mc_bench_config_t *config,
                             uint32_t interface, const char *locations, app_mooncake_t **engine,
                             sim_message_t *message)
{
    net_node_t *const host = nic_node(nic_of_interface(bench->app.net, interface));
    char *const matrix = app__mc_matrix(host, config->matrix);
    app_mooncake_config_t settings = config->engine;
    if (settings.verify_stride_bytes == SIM_AUTO) {
        uint64_t least = SIM_MIN(config->block_bytes, settings.slice_bytes);
        // AUTO is the largest value
        least = SIM_MIN(config->total_bytes, least);
        settings.verify_stride_bytes = SIM_MIN(least / 4, 16384);
    }
    const sim_err_t error =
        app_mooncake_create(bench->cluster, host, app__host_name(bench->app.net, interface), matrix,
                            &settings, engine, message);
    sim_free(matrix);
    if (error != SIM_OK) {
        return error;
    }
    (*engine)->verify = config->verify;
    return add_memory(*engine, app__mc_bench_address(bench->app.index), config, locations, message);
}

// Makes the submitting engine a target, too. Its target blocks lie behind its source blocks.
static sim_err_t share_engine(app__mc_bench_t *bench, const app__mc_bench_config_t *config,
                              app__mc_bench_target_t *target, sim_message_t *message)
{
    const uint64_t skipped_bytes =
        app__mc_location_count(config->source_location) * APP__MC_BENCH_AREA_BYTES;
    target->engine = bench->engine;
    target->address += skipped_bytes;
    for (uint32_t i = 0; i < bench->thread_count; i++) {
        if (&bench->targets[i % bench->target_count] == target) {
            bench->threads[i].target += skipped_bytes;
        }
    }
    return add_memory(bench->engine, target->address, config, config->target_location, message);
}

static sim_err_t make_targets(app__mc_bench_t *bench, const app__mc_bench_config_t *config,
                              const app__places_t *to, sim_message_t *message)
{
    SIM_CHECK(to->host_count > 0);
    const uint32_t nics = (uint32_t)(to->list.count / to->host_count);
    for (uint32_t i = 0; i < bench->target_count; i++) {
        app__mc_bench_target_t *const target = &bench->targets[i];
        const uint32_t interface = to->list.interfaces[i * nics];
        const net_node_t *const host = nic_node(nic_of_interface(bench->app.net, interface));
        target->bench = bench;
        target->address = app__mc_bench_address(bench->app.index);
        const sim_err_t error = host == app_mooncake_host(bench->engine)
                                    ? share_engine(bench, config, target, message)
                                    : make_engine(bench, config, interface, config->target_location,
                                                  &target->engine, message);
        if (error != SIM_OK) {
            return error;
        }
        if (config->file_bytes > 0) {
            const int served = app_mooncake_serve_file(
                target->engine, APP__MC_BENCH_FILE, config->file_bytes, &config->drive, NULL, NULL);
            if (served != SIM_OK) {
                return sim_fail_about(message, SIM_ERR_INVALID, "drive",
                                      " of %s differs from what another application says, or it "
                                      "has 60 files, expected one drive for the files of a host",
                                      host->sim.name);
            }
        }
    }
    app__mc_bench_target_t *const first = &bench->targets[0];
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

static sim_err_t find_hosts(const app_context_t *context, const app__mc_bench_config_t *config,
                            uint32_t *from, uint32_t *metadata, app__places_t *to,
                            sim_message_t *message)
{
    const sim_time_t span_ps = config->warm_ps + config->duration_ps;
    if (config->total_bytes == SIM_AUTO && span_ps / config->interval_ps > APP__MC_MOMENTS_MAX) {
        return sim_fail_about(message, SIM_ERR_RANGE, "interval",
                              ": warm-up and duration contain more than %u intervals, expected a "
                              "longer interval",
                              APP__MC_MOMENTS_MAX);
    }
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
        error = sim_fail_about(message, SIM_ERR_INVALID, "to",
                               " names several hosts, expected one, since a file has one server");
    }
    if (error == SIM_OK && context->mooncake_codec == NULL) {
        error = sim_fail_about(message, SIM_ERR_INVALID, "from",
                               ": this program has no codec for Mooncake's descriptions, expected "
                               "one in app_context_t");
    }
    return error;
}

static sim_err_t make_cluster(app__mc_bench_t *bench, const app_context_t *context,
                              const app__mc_bench_config_t *config, const uint32_t *ends,
                              const app__places_t *to, sim_message_t *message)
{
    net_node_t **const hosts = sim_alloc_array(bench->target_count + 2u, sizeof(net_node_t *));
    SIM_CHECK(to->host_count > 0);
    const uint32_t nics = (uint32_t)(to->list.count / to->host_count);
    size_t count = 0;
    hosts[count++] = nic_node(nic_of_interface(context->net, ends[0]));
    for (uint32_t i = 0; i < bench->target_count; i++) {
        net_node_t *const host =
            nic_node(nic_of_interface(context->net, to->list.interfaces[i * nics]));
        hosts[count] = host;
        count += host != hosts[0];
    }
    net_node_t *const metadata = nic_node(nic_of_interface(context->net, ends[1]));
    bool known = false;
    for (size_t i = 0; i < count; i++) {
        known = known || hosts[i] == metadata;
    }
    hosts[count] = metadata;
    count += !known;
    SIM_CHECK(count <= bench->target_count + 2u);
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
    return error != SIM_OK ? error
                           : app__mc_import(context, config->records, bench->cluster, message);
}

static app__mc_bench_t *bench_new(const app_context_t *context,
                                  const app__mc_bench_config_t *config, uint32_t targets)
{
    app__mc_bench_t *const bench = sim_alloc(sizeof(*bench));
    bench->app = (app_t){&app_mooncake_bench, context->net, context->index};
    bench->config = *config;
    bench->target_count = targets;
    bench->targets = sim_alloc_array(targets, sizeof(*bench->targets));
    bench->thread_count = (uint32_t)config->threads;
    bench->threads = sim_alloc_array(bench->thread_count, sizeof(*bench->threads));
    for (uint32_t i = 0; i < bench->thread_count; i++) {
        const uint64_t address = app__mc_bench_address(context->index);
        const uint32_t source = i % app__mc_location_count(config->source_location);
        const uint32_t target = i % app__mc_location_count(config->target_location);
        bench->threads[i] = (app__mc_bench_thread_t){
            .bench = bench,
            .index = i,
            .submitted = {APP__MC_BENCH_NONE, APP__MC_BENCH_NONE},
            .source = address + source * APP__MC_BENCH_AREA_BYTES,
            .target = address + target * APP__MC_BENCH_AREA_BYTES,
        };
    }
    if (bench->config.interval_ps != SIM_TIME_NEVER) {
        sim_expect_background(net_sim(context->net)); // its first interval begins during the run
    }
    bench->requests = sim_alloc_array(config->batch, sizeof(*bench->requests));
    bench->statuses = sim_alloc_array(config->batch, sizeof(*bench->statuses));
    app__mc_bench_init(bench);
    return bench;
}

// Checks a target file. Each write that may be in flight needs its own place in it, since of two
// writes to the same place neither can be verified.
static sim_err_t check_file(const app__mc_bench_config_t *config, sim_message_t *message)
{
    const double batch_bytes = (double)config->batch * (double)config->block_bytes;
    const bool one = (double)config->total_bytes <= batch_bytes;
    const double places_bytes =
        one ? (double)config->total_bytes : 2.0 * (double)config->threads * batch_bytes;
    if (config->file_bytes == 0) {
        return SIM_OK;
    }
    if (config->file_bytes % config->block_bytes != 0) {
        return sim_fail_about(message, SIM_ERR_INVALID, "file",
                              " is not a multiple of block, expected one");
    }
    if (config->verify && config->operation == APP_MOONCAKE_WRITE &&
        (double)config->file_bytes < places_bytes) {
        return sim_fail_about(message, SIM_ERR_RANGE, "file",
                              " is smaller than the data written at a time, two batches of each "
                              "thread: expected at least %.0f bytes, or verify: off",
                              places_bytes);
    }
    return SIM_OK;
}

sim_err_t app__mc_bench_create(const app_context_t *context, const void *config_void, app_t **app,
                               sim_message_t *message)
{
    const app__mc_bench_config_t *const config = config_void;
    uint32_t ends[2] = {0, 0};
    app__places_t to = {.host_count = 0};
    sim_err_t error = check_file(config, message);
    if (error == SIM_OK) {
        error = find_hosts(context, config, &ends[0], &ends[1], &to, message);
    }
    if (error != SIM_OK) {
        return error;
    }
    app__mc_bench_t *const bench = bench_new(context, config, to.host_count);
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
        app__mc_bench_destroy(&bench->app);
        return error;
    }
    bench->node = &app_mooncake_host(bench->engine)->sim;
    sim_timer_arm(bench->node, &bench->start_timer, config->start_ps);
    *app = &bench->app;
    return SIM_OK;
}

void app__mc_bench_destroy(app_t *app)
{
    app__mc_bench_t *const bench = (app__mc_bench_t *)(void *)app;
    app_mooncake_cluster_destroy(bench->cluster);
    sim_sample_set_fini(&bench->batches_ps);
    SIM_FREE_ALL(bench->targets, bench->threads, bench->requests, bench->statuses, bench->moments,
                 bench);
}
