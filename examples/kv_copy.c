// SPDX-License-Identifier: Apache-2.0
// examples/kv_copy.c - your own program on Mooncake's Transfer Engine.
//
// The application "kv-copy" in a registry: it creates an engine on each of two hosts, registers
// memory with both, opens the other's segment by name, submits a batch of WRITEs and reads its
// status at the end. It measures how fast 64 MiB go over two NICs of 100 Gbps.
//     kv_copy [SCENARIO.yaml]      a scenario with host0 to host2, and kv-copy in its traffic
#include "apps/mooncake.h"
#include "results/runner.h"

#include <stdio.h>
#include <string.h>

#define MEMORY (UINT64_C(1) << 40)
#define BLOCK_BYTES (UINT64_C(8) << 20)
#define BLOCKS 8u

typedef struct config {
    app_mooncake_config_t engine;
} config_t;

static const sim_attr_t attrs[] = {APP_MOONCAKE_ATTRS("traffic.kv-copy.engine", config_t, engine)};
static const sim_attr_table_t table = {"traffic.kv-copy", "application", sizeof(config_t), attrs,
                                       SIM_COUNT_OF(attrs)};

typedef struct copy {
    app_t app; // first
    app_mooncake_cluster_t *cluster;
    app_mooncake_t *engines[2];
    sim_timer_t timer;
    sim_time_t begun_ps;
    sim_time_t ended_ps;
    uint64_t bytes; // bytes that arrived
} copy_t;

static void done(app_mooncake_batch_id_t batch, void *ctx)
{
    copy_t *const copy = ctx;
    app_mooncake_status_t status[BLOCKS];
    bool freed = false;
    const int64_t count = app_mooncake_get_status(copy->engines[0], batch, status, BLOCKS, &freed);
    for (int64_t i = 0; i < count; i++) {
        printf("block %d: %s, %.0f bytes\n", (int)i, app_mooncake_task_status_text(status[i].s),
               (double)status[i].transferred);
        copy->bytes += status[i].transferred;
    }
    copy->ended_ps = app_mooncake_host(copy->engines[0])->sim.now_ps;
}

static void opened(app_mooncake_segment_id_t segment, void *ctx)
{
    copy_t *const copy = ctx;
    app_mooncake_request_t requests[BLOCKS];
    for (uint32_t i = 0; i < BLOCKS; i++) {
        requests[i] = (app_mooncake_request_t){
            .opcode = APP_MOONCAKE_WRITE,
            .source = MEMORY + i * BLOCK_BYTES,
            .target_id = segment,
            .target_offset = MEMORY + i * BLOCK_BYTES,
            .length = BLOCK_BYTES,
        };
    }
    copy->begun_ps = app_mooncake_host(copy->engines[0])->sim.now_ps;
    const app_mooncake_batch_id_t batch =
        segment < 0 ? segment : app_mooncake_submit(copy->engines[0], requests, BLOCKS);
    if (batch >= 0) {
        (void)app_mooncake_on_batch(copy->engines[0], batch, done, copy);
    }
}

static void begin(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    copy_t *const copy = SIM_CONTAINER_OF(timer, copy_t, timer);
    app_mooncake_get_segment_id(copy->engines[0], "host1", opened, copy);
}

static void copy_destroy(app_t *app)
{
    copy_t *const copy = (copy_t *)(void *)app;
    app_mooncake_cluster_destroy(copy->cluster);
    sim_free(copy);
}

static void copy_progress(const app_t *app, uint64_t *done_count, uint64_t *planned)
{
    *done_count = ((const copy_t *)(const void *)app)->ended_ps > 0;
    *planned = 1;
}

static bool get_rate(const void *object, sim_report_value_t *value)
{
    const copy_t *const copy = object;
    const double seconds = (double)(copy->ended_ps - copy->begun_ps) / 1e12;
    value->real = copy->bytes == 0 ? 0.0 : (double)copy->bytes / 1e9 / seconds;
    return true;
}

static const sim_report_row_t rows[] = {
    {.name = "gbytes_per_s",
     .kind = SIM_REPORT_REAL,
     .unit = "GB/s",
     .help = "payload per second, from the first request to the last "
             "arrival",
     .get = get_rate,
     .shown = true}};
static const sim_report_table_t report = {.rows = rows,
                                          .count = SIM_COUNT_OF(rows),
                                          .bytes = sizeof(copy_t)};

// Writes a matrix with all NICs of the host: "[[\"mlx5_0\", \"mlx5_1\"]]".
static void write_matrix(char *text, size_t size, uint32_t nics)
{
    size_t used = (size_t)snprintf(text, size, "{\"cpu:0\": [[");
    for (uint32_t i = 0; i < nics && used < size; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s\"mlx5_%u\"", i == 0 ? "" : ", ", i);
    }
    if (used < size) {
        (void)snprintf(text + used, size - used, "]]}");
    }
}

static sim_err_t make_engine(copy_t *copy, uint32_t index, net_node_t *host,
                             const app_mooncake_config_t *config, sim_message_t *message)
{
    char matrix[256];
    app_mooncake_t **const engine = &copy->engines[index];
    write_matrix(matrix, sizeof(matrix), nic_count(host));
    sim_err_t error = app_mooncake_create(copy->cluster, host, index == 0 ? "host0" : "host1",
                                          matrix, config, engine, message);
    if (error == SIM_OK &&
        app_mooncake_register_local_memory(*engine, MEMORY, BLOCKS * BLOCK_BYTES, "cpu:0",
                                           APP_MOONCAKE_ALL, NULL, NULL) != 0) {
        error =
            sim_fail(message, SIM_ERR_INVALID,
                     "the engine cannot register its memory, expected a host with location cpu:0");
    }
    return error;
}

static sim_err_t copy_create(const app_context_t *context, const void *config_void, app_t **app,
                             sim_message_t *message);

static const app_ops_t kv_copy = {.name = "kv-copy",
                                  .help = "copy 64 MiB from one host to another",
                                  .attrs = &table,
                                  .create = copy_create,
                                  .destroy = copy_destroy,
                                  .progress = copy_progress,
                                  .report = &report};

static sim_err_t copy_create(const app_context_t *context, const void *config_void, app_t **app,
                             sim_message_t *message)
{
    const config_t *const config = config_void;
    copy_t *const copy = sim_alloc(sizeof(*copy));
    copy->app = (app_t){&kv_copy, context->net, context->index};
    net_node_t *const hosts[3] = {net_node_find(context->net, "host0"),
                                  net_node_find(context->net, "host1"),
                                  net_node_find(context->net, "host2")};
    const app_mooncake_plan_t plan = {
        .net = context->net,
        .runtime = context->runtime,
        .index = context->index,
        .hosts = hosts,
        .host_count = 3,
        .metadata_host = hosts[2],
        .codec = context->mooncake_codec,
        .metadata = {.latency_ps = 100 * SIM_PS_PER_US,
                     .down_from_ps = SIM_TIME_NEVER,
                     .down_until_ps = SIM_TIME_NEVER},
    };
    sim_err_t error = app_mooncake_cluster_create(&plan, &copy->cluster, message);
    for (uint32_t i = 0; i < 2 && error == SIM_OK; i++) {
        error = make_engine(copy, i, hosts[i], &config->engine, message);
    }
    if (error != SIM_OK) {
        copy_destroy(&copy->app);
        return error;
    }
    sim_timer_init(&copy->timer, begin);
    sim_timer_arm(&hosts[0]->sim, &copy->timer, SIM_PS_PER_MS);
    *app = &copy->app;
    return SIM_OK;
}

static const char text[] = "topology: {star: {hosts: 3, nics-per-host: 2, rate: 100Gbps}}\n"
                           "nic: {mtu: 4096, congestion-control: none}\n"
                           "traffic: [kv-copy: {engine: {selection: round-robin}}]\n";

int main(int argc, char **argv)
{
    world_error_t error = {.text = ""};
    world_registry_t *const registry = world_registry_create();
    world_scenario_t *scenario = NULL;
    results_run_t *run = NULL;
    double rate = 0;
    sim_err_t result = world_registry_add_app(registry, &kv_copy, &error);
    if (result == SIM_OK && argc > 1) {
        result = world_scenario_load(registry, argv[1], NULL, 0, &scenario, &error);
    } else if (result == SIM_OK) {
        result = world_scenario_parse(registry, "text", text, strlen(text), &scenario, &error);
    }
    if (result == SIM_OK) {
        result = results_execute(scenario, &(results_options_t){.folder = NULL}, &run, &error);
    }
    const bool told = result == SIM_OK && results_number(run, "apps[0].gbytes_per_s", &rate);
    printf("%s%.2f GB/s\n", error.text, rate);
    results_run_destroy(run);
    world_scenario_destroy(scenario);
    world_registry_destroy(registry);
    // Two NICs of 100 Gbps, minus packet headers and a handshake.
    return told && (argc > 1 || (rate > 23.0 && rate < 25.0)) ? 0 : 1;
}
