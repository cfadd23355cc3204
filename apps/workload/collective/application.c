// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/application.c - the application `collective`: one collective, called
// again and again by all ranks. docs/models/collectives.md
#include "apps/app_internal.h"
#include "apps/workload/applications.h"
#include "apps/workload/collective/collectives.h"
#include "apps/workload/results/times.h"
#include "apps/workload/run_options.h"
#include "apps/workload/workload.h"

#define PREFIX "traffic.collective"
#define KIND_SEND_RECV APP__COLL_COUNT

typedef struct collective_config {
    uint32_t kind; // app__coll_kind_t, or KIND_SEND_RECV
    uint64_t ranks;
    uint64_t bytes;
    uint64_t repeat;
    sim_time_t compute_ps;
    uint64_t root;
    char *matrix;
    app__workload_options_t options;
} collective_config_t;

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(collective_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(ENUM, "kind", kind, "all-reduce", "all-reduce|reduce-scatter|all-gather|broadcast|reduce|all-to-all|barrier|send-recv", "the collective; send-recv: each rank sends to the next one"),
    ATTR(COUNT, "ranks", ranks, "auto", "1", "1000000", "number of ranks that call the collective; auto: one for each place of the hosts", .auto_ok = true),
    ATTR(BYTES, "bytes", bytes, "16MiB", "0", "1000TiB", "the buffer; all-gather: a rank's result; reduce-scatter: its input; all-to-all: what it sends to all; send-recv: one message"),
    ATTR(COUNT, "repeat", repeat, "1", "1", "1000000", "number of calls of the collective, one after the other"),
    ATTR(TIME, "compute", compute_ps, "0s", "0s", "1000s", "time that each rank computes before each call except the first, in whole ns"),
    ATTR(COUNT, "root", root, "0", "0", "1000000", "rank that a broadcast starts from, and that a reduce ends at"),
    ATTR(STRING, "matrix", matrix, "", "file with the bytes of an all-to-all: a line for each rank, with its bytes for each rank; empty: equal parts"),
    APP__WORKLOAD_ATTRS(PREFIX, collective_config_t, options),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "application", collective_config_t, attrs);

// Makes each rank call the collective again and again, and compute between calls.
static void add_calls(const collective_config_t *config, app__schedule_t *schedule,
                      const app__call_t *call)
{
    const uint32_t repeat = (uint32_t)config->repeat;
    const uint64_t compute_ns = config->compute_ps / SIM_PS_PER_NS;
    const uint32_t each = compute_ns > 0 ? 2 : 1; // operations of a call
    const uint32_t all = each * repeat - (each - 1);
    app__dependency_t *const order = sim_alloc_array(all, sizeof(*order));
    for (uint32_t i = 0; i < all; i++) {
        const bool calc = i % each == 1;
        const uint32_t made = calc ? 0 : app__schedule_call(schedule, call);
        const app__op_t op = {.type = calc ? APP__OP_CALC : APP__OP_COLL,
                              .size = calc ? compute_ns : 0,
                              .peer = made};
        for (uint32_t r = 0; r < schedule->rank_count; r++) {
            (void)app__schedule_add(schedule, r, &op);
        }
        order[i] = (app__dependency_t){.after = i, .before = i > 0 ? i - 1 : 0};
    }
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        app__schedule_order(schedule, r, order + 1, all - 1);
    }
    sim_free(order);
}

// Makes each rank send to the next one and receive from the one before.
static void add_messages(const collective_config_t *config, app__schedule_t *schedule)
{
    const uint32_t n = schedule->rank_count;
    const uint32_t repeat = (uint32_t)config->repeat;
    app__dependency_t *const order = sim_alloc_array(4 * (size_t)repeat, sizeof(*order));
    size_t count = 0;
    for (uint32_t i = 1; i < repeat; i++) {
        for (uint32_t k = 0; k < 4; k++) {
            order[count++] = (app__dependency_t){2 * i + k / 2, 2 * i - 2 + k % 2, false};
        }
    }
    for (uint32_t r = 0; r < n; r++) {
        for (uint32_t i = 0; i < repeat; i++) {
            (void)app__schedule_add(
                schedule, r,
                &(app__op_t){.type = APP__OP_SEND, .size = config->bytes, .peer = (r + 1) % n});
            (void)app__schedule_add(
                schedule, r,
                &(app__op_t){.type = APP__OP_RECV, .size = config->bytes, .peer = (r + n - 1) % n});
        }
        app__schedule_order(schedule, r, order, count);
    }
    sim_free(order);
}

static sim_err_t make_schedule(const app_context_t *context, const collective_config_t *config,
                               uint32_t ranks, app__schedule_t **made, sim_message_t *message)
{
    app__schedule_t *const schedule = app__schedule_create(ranks);
    uint64_t *matrix = NULL;
    sim_err_t error = SIM_OK;
    if (config->matrix[0] != '\0') {
        error = app__coll_read_matrix(context, config->matrix, ranks, &matrix, message);
    }
    if (error != SIM_OK) {
        app__schedule_destroy(schedule);
        return error;
    }
    if (matrix != NULL) {
        (void)app__schedule_keep(schedule, matrix);
    }
    if (config->kind == KIND_SEND_RECV) {
        add_messages(config, schedule);
    } else {
        uint32_t *const all = sim_alloc_array(ranks, sizeof(*all));
        for (uint32_t i = 0; i < ranks; i++) {
            all[i] = i;
        }
        const app__call_t call = {
            .bytes = config->kind == APP__COLL_BARRIER ? 0 : config->bytes,
            .matrix = matrix,
            .group = app__schedule_group(schedule, all, ranks),
            .root = (uint32_t)config->root,
            .kind = (uint8_t)config->kind,
        };
        sim_free(all);
        add_calls(config, schedule, &call);
    }
    app__schedule_finish(schedule);
    *made = schedule;
    return SIM_OK;
}

// Refuses values that do not fit together.
static sim_err_t check_config(const collective_config_t *config, uint64_t ranks,
                              sim_message_t *message)
{
    if (ranks > APP__RANKS_MAX || ranks * config->repeat > UINT32_MAX / 4) {
        return sim_fail_about(message, SIM_ERR_RANGE, "repeat",
                              ": %" PRIu64 " calls of %" PRIu64
                              " ranks are too many, expected at most %u in all",
                              config->repeat, ranks, UINT32_MAX / 4);
    }
    if (config->root >= ranks) {
        return sim_fail_about(message, SIM_ERR_RANGE, "root",
                              ": there is no rank %" PRIu64 ", expected one below %" PRIu64,
                              config->root, ranks);
    }
    if (config->matrix[0] != '\0' && config->kind != APP__COLL_ALL_TO_ALL) {
        return sim_fail_about(message, SIM_ERR_INVALID, "matrix",
                              ": only all-to-all has a matrix, expected kind: all-to-all");
    }
    if (config->kind == KIND_SEND_RECV && ranks < 2) {
        return sim_fail_about(message, SIM_ERR_RANGE, "ranks",
                              ": 1 rank, expected at least 2 for send-recv");
    }
    return SIM_OK;
}

static sim_err_t collective_create(const app_context_t *context, const void *config_void,
                                   app_t **app, sim_message_t *message)
{
    const collective_config_t *const config = config_void;
    app__workload_options_t options = config->options;
    app__workload_t *workload = NULL;
    app__schedule_t *schedule = NULL;
    uint64_t ranks = config->ranks;
    sim_err_t error = SIM_OK;
    options.title = "the collective";
    if (ranks == SIM_AUTO) {
        uint32_t places = 0;
        error = app__ranks_count(context, &options, &places, message);
        ranks = places;
    }
    error = error == SIM_OK ? check_config(config, ranks, message) : error;
    if (error == SIM_OK) {
        error = make_schedule(context, config, (uint32_t)ranks, &schedule, message);
    }
    if (error == SIM_OK) {
        error =
            app__workload_create(context, &app_collective, &options, schedule, &workload, message);
    }
    if (error == SIM_OK) {
        *app = &workload->app;
    }
    return error;
}

const app_ops_t app_collective = {
    .name = "collective",
    .help = "a collective of many ranks, as NCCL does it: all-reduce, all-to-all and others",
    .attrs = &attr_table,
    .create = collective_create,
    .print = app__coll_print,
    .prints_rows = true,
    APP__WORKLOAD_OPS,
};
