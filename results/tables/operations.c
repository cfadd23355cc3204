// SPDX-License-Identifier: Apache-2.0
// results/tables/operations.c - operations.csv: what the ranks of workloads did, and when.
#include "results/tables/operations.h"
#include "results/tables/columns.h"
#include "results/tables/tables.h"
#include "world/names.h"

static const void *operation_object(const void *row)
{
    return ((const results_operation_row_t *)row)->operation;
}

static void operation_app(results_file_t *file, const void *row)
{
    results_file_put_u64(file, ((const results_operation_row_t *)row)->app);
}

static void operation_host(results_file_t *file, const void *row)
{
    const results_operation_row_t *const operation = row;
    results_file_put_csv(file,
                         world_interface_name(operation->world, operation->operation->interface));
}

static void operation_peer(results_file_t *file, const void *row)
{
    const results_operation_row_t *const operation = row;
    if (operation->operation->peer != UINT32_MAX) {
        results_file_put_u64(file, operation->operation->peer);
    }
}

// clang-format off
static const results_column_t operation_columns[] = {
    MADE("app", "", "number of the traffic entry", operation_app),
    WHOLE("rank", "", "rank of the workload", app_operation_t, rank),
    MADE("host", "", "host (or HOST/nicN) of the rank", operation_host),
    WHOLE("cpu", "", "processor, or stream, of the rank", app_operation_t, cpu),
    WHOLE("number", "", "number of the operation among those of the rank", app_operation_t, number),
    TEXT("kind", "", "calc, send, recv, or the kind of a collective: all-reduce...", app_operation_t, kind),
    TEXT("dimension", "", "parallelism that the communication is for: tp, pp, dp, ep, cp, dp-ep; none: unknown", app_operation_t, dimension),
    TEXT("name", "", "name of a collective; empty: it has none", app_operation_t, name),
    WHOLE("bytes", "bytes", "size of a message, or of the buffer of a collective", app_operation_t, bytes),
    MADE("peer", "", "rank at the other end of a message; empty: none, or any", operation_peer),
    TIME("start_ns", "simulated time at which the operation started: a send is handed to the NIC, a receive is posted", app_operation_t, start_ps, SIM_TIME_NEVER),
    TIME("end_ns", "simulated time at which the operation ended: a send is acknowledged, a receive has its message; empty: it has not", app_operation_t, end_ps, SIM_TIME_NEVER),
};
const results_table_t results_operation_table = {
    "operations.csv", "A row per operation of a workload that started, by traffic entry, rank and number. Written "
    "if `outputs.operations-max`, the maximum number of rows, is not 0: the first operations of each rank.",
    operation_columns, SIM_COUNT_OF(operation_columns), operation_object, NULL};
// clang-format on

typedef struct writer {
    const world_t *world;
    results_file_t *file; // NULL: rows are only counted
    size_t app;
    uint64_t rows;
} writer_t;

static void take_operation(const app_operation_t *operation, void *ctx)
{
    writer_t *const writer = ctx;
    const results_operation_row_t row = {writer->world, writer->app, operation};
    writer->rows++;
    if (writer->file != NULL) {
        results_table_put_row(&results_operation_table, writer->file, &row);
    }
}

// Goes through the operations that the file holds; returns how many have started.
static uint64_t take_all(writer_t *writer)
{
    const uint64_t most = writer->world->scenario->outputs.operations_max;
    uint64_t started = 0;
    for (size_t i = 0; i < writer->world->app_count; i++) {
        const app_t *const app = writer->world->apps[i];
        writer->app = i;
        if (app->ops->operations != NULL) {
            started += app->ops->operations(app, most - writer->rows, take_operation, writer);
        }
    }
    return started;
}

uint64_t results_operations_left_out(const world_t *world)
{
    writer_t writer = {.world = world};
    return world->scenario->outputs.operations_max == 0 ? 0 : take_all(&writer) - writer.rows;
}

sim_err_t results_write_operations(const world_t *world, const char *folder, world_error_t *error)
{
    writer_t writer = {.world = world};
    const sim_err_t result =
        results_table_open(&results_operation_table, folder, &writer.file, error);
    if (result != SIM_OK) {
        return result;
    }
    (void)take_all(&writer);
    return results_file_close(writer.file, error);
}
