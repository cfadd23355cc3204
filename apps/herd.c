// SPDX-License-Identifier: Apache-2.0
// apps/herd.c - the HERD key-value cache on its remote procedure calls (Kalia et al., USENIX ATC
// 2016, 4.3; docs/models/guidelines.md): the time its operations take, not its contents.
#include "apps/rpc_internal.h"

#define PREFIX "traffic.herd"

typedef enum herd_kind { HERD_GET, HERD_PUT } herd_kind_t;

typedef struct herd_config {
    uint64_t put_percent;
    uint64_t key_bytes;
    uint64_t value_bytes;
    sim_time_t operation_ps;
    sim_time_t memory_ps;
    uint64_t overlapped;
    app__rpc_config_t rpc;
    app__span_t span;
} herd_config_t;

// clang-format off
static const sim_attr_t attrs[] = {
    {PREFIX ".put-percent", SIM_ATTR_COUNT, false, offsetof(herd_config_t, put_percent), "5", "0",
     "100", NULL, "how many of a hundred operations are PUTs"},
    {PREFIX ".key", SIM_ATTR_BYTES, false, offsetof(herd_config_t, key_bytes), "16", "1", "64",
     NULL, "size of a key"},
    {PREFIX ".value", SIM_ATTR_BYTES, false, offsetof(herd_config_t, value_bytes), "32", "1",
     "128", NULL, "size of a value"},
    {PREFIX ".cpu.operation", SIM_ATTR_TIME, false, offsetof(herd_config_t, operation_ps), "24ns",
     "0ps", "1us", NULL, "worker: instructions of an operation: hash, compare, copy"},
    {PREFIX ".cpu.memory", SIM_ATTR_TIME, false, offsetof(herd_config_t, memory_ps), "80ns", "0ps",
     "1us", NULL, "a miss to memory; an operation has two, bucket and entry, prefetched for the "
     "whole batch"},
    {PREFIX ".cpu.overlapped", SIM_ATTR_COUNT, false, offsetof(herd_config_t, overlapped), "10",
     "1", "64", NULL, "misses that a core has under way at a time (its line fill buffers)"},
    APP__RPC_ATTRS(PREFIX, herd_config_t, "1", "128"),
    APP__SPAN_ATTRS(PREFIX, herd_config_t),
};
// clang-format on

static const sim_attr_table_t attr_table = {PREFIX,
                                            "application",
                                            sizeof(herd_config_t),
                                            attrs,
                                            SIM_COUNT_OF(attrs)};

typedef struct herd {
    app_t app; // first
    app__rpc_t rpc;
    uint64_t put_percent;
    uint32_t key_bytes;
    uint32_t value_bytes;
    sim_time_t operation_ps;
    sim_time_t memory_ps;
    uint64_t overlapped;
    uint64_t gets; // served
    uint64_t puts;
} herd_t;

static app__rpc_request_t draw(const app__rpc_t *rpc, uint64_t index, sim_random_t *random)
{
    (void)index;
    const herd_t *const herd = rpc->program;
    const uint32_t worker = (uint32_t)sim_random_below(random, rpc->worker_count);
    const bool put = sim_random_below(random, 100) < herd->put_percent;
    // A GET is opcode and key; a PUT has a length and the value too.
    const uint32_t bytes = herd->key_bytes + 1 + (put ? 1 + herd->value_bytes : 0);
    return (app__rpc_request_t){worker, (uint16_t)bytes, put ? HERD_PUT : HERD_GET};
}

// Two misses for each operation, those of a batch beside each other as far as the core can.
static void serve(app__rpc_t *rpc, uint32_t worker, app__rpc_call_t *calls, uint32_t count)
{
    herd_t *const herd = rpc->program;
    const uint64_t beside = count < herd->overlapped ? count : herd->overlapped;
    const sim_time_t misses_ps = 2 * herd->memory_ps * count / beside;
    nic_core_t *const core = rpc->workers[worker].thread.core;
    nic_core_wait(core, misses_ps);
    nic_core_spend(core, count * herd->operation_ps);
    for (uint32_t i = 0; i < count; i++) {
        const bool put = calls[i].kind == HERD_PUT;
        calls[i].bytes = put ? 0 : herd->value_bytes;
        calls[i].imm = worker;
        herd->puts += put;
        herd->gets += !put;
    }
}

static void answered(app__rpc_t *rpc, uint32_t client, uint32_t imm)
{
    (void)client;
    SIM_CHECKF(imm < rpc->worker_count, "answered by worker %u", imm);
}

static const app__rpc_ops_t rpc_ops = {draw, serve, answered};

static sim_err_t herd_create(const app_context_t *context,
                             const void *config_void,
                             app_t **app,
                             sim_message_t *message)
{
    const herd_config_t *const config = config_void;
    herd_t *const herd = sim_alloc(sizeof(*herd));
    herd->app = (app_t){&app_herd, context->net, context->index};
    herd->put_percent = config->put_percent;
    herd->key_bytes = (uint32_t)config->key_bytes;
    herd->value_bytes = (uint32_t)config->value_bytes;
    herd->operation_ps = config->operation_ps;
    herd->memory_ps = config->memory_ps;
    herd->overlapped = config->overlapped;
    const sim_err_t error =
        app__rpc_init(&herd->rpc, context, &config->rpc, &config->span, &rpc_ops, herd, message);
    if (error != SIM_OK) {
        sim_free(herd);
        return error;
    }
    *app = &herd->app;
    return SIM_OK;
}

static void herd_destroy(app_t *app)
{
    herd_t *const herd = (herd_t *)(void *)app;
    app__rpc_fini(&herd->rpc);
    sim_free(herd);
}

static void herd_progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    app__rpc_progress(&((const herd_t *)(const void *)app)->rpc, done, planned);
}

static void herd_values(const app_t *app, app_value_fn fn, void *ctx)
{
    const herd_t *const herd = (const herd_t *)(const void *)app;
    app__rpc_values(&herd->rpc, fn, ctx);
    const app_value_t values[] = {
        {"gets", "", (double)herd->gets},
        {"puts", "", (double)herd->puts},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(values); i++) {
        fn(&values[i], ctx);
    }
}

const app_ops_t app_herd = {
    .name = "herd",
    .help = "the HERD key-value cache: WRITE requests, SEND responses (detailed NIC)",
    .attrs = &attr_table,
    .create = herd_create,
    .destroy = herd_destroy,
    .progress = herd_progress,
    .values = herd_values,
};
