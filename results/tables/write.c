// SPDX-License-Identifier: Apache-2.0
// results/tables/write.c - writes the CSV files of a run from their tables of columns.
#include "results/tables.h"

#include <string.h>

const results_table_t *const results_tables[] = {&results_flow_table,
                                                 &results_app_table,
                                                 &results_port_table,
                                                 &results_event_table,
                                                 &results_pause_table,
                                                 &results_series_table,
                                                 NULL};

// -- writing

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put_column_name(results_file_t *file, const results_column_t *column, unsigned priority)
{
    if (column->per_class) {
        results_file_print(file, column->name, priority);
    } else {
        results_file_put(file, column->name);
    }
}
#pragma GCC diagnostic pop

void results_table_put_header(const results_table_t *table, results_file_t *file)
{
    for (size_t i = 0; i < table->count; i++) {
        const unsigned repeats = table->columns[i].per_class ? NET_PRIORITIES : 1;
        for (unsigned p = 0; p < repeats; p++) {
            if (i + p > 0) {
                results_file_put_char(file, ',');
            }
            put_column_name(file, &table->columns[i], p);
        }
    }
    results_file_put(file, "\n");
}

// Of an unsigned integer of so many bytes.
static uint64_t field_of(const void *object, const results_column_t *column, unsigned priority)
{
    const char *base = object;
    if (column->apart) {
        memcpy(&base, base + column->pointer, sizeof(base));
    }
    const char *const at = base + column->offset + priority * column->stride;
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (column->size) {
    case sizeof(one):
        memcpy(&one, at, sizeof(one));
        return one;
    case sizeof(two):
        memcpy(&two, at, sizeof(two));
        return two;
    case sizeof(four):
        memcpy(&four, at, sizeof(four));
        return four;
    default:
        SIM_CHECK(column->size == sizeof(eight));
        memcpy(&eight, at, sizeof(eight));
        return eight;
    }
}

static void put_column(results_file_t *file,
                       const results_table_t *table,
                       const results_column_t *column,
                       const void *row,
                       unsigned priority)
{
    const void *const object = table->object != NULL ? table->object(row) : row;
    const void *const at = (const char *)object + column->offset;
    switch (column->kind) {
    case RESULTS_COLUMN_WHOLE:
        results_file_put_u64(file, field_of(object, column, priority));
        break;
    case RESULTS_COLUMN_TIME: {
        const sim_time_t time_ps = field_of(object, column, priority);
        if (time_ps != column->none_ps) {
            results_file_put_ns(file, time_ps);
        }
        break;
    }
    case RESULTS_COLUMN_TEXT:
        results_file_put_csv(file, *(const char *const *)at);
        break;
    case RESULTS_COLUMN_PORT:
        results_file_put_csv(file, net_port_name(*(const net_port_t *const *)at));
        break;
    case RESULTS_COLUMN_METRIC:
        results_file_put_u64(file, net_port_metric_find(column->name)->read(object, 0xff, 0));
        break;
    case RESULTS_COLUMN_MADE:
        if (column->per_class) {
            column->put_class(file, row, priority);
        } else {
            column->put(file, row);
        }
        break;
    }
}

void results_table_put_row(const results_table_t *table, results_file_t *file, const void *row)
{
    static_assert(NET_PRIORITIES == 8, "as many as here");
    const bool idle = table->classes_idle != NULL && table->classes_idle(row);
    for (size_t i = 0; i < table->count; i++) {
        if (idle && table->columns[i].per_class) {
            results_file_put(file, ",0,0,0,0,0,0,0,0");
            continue;
        }
        const unsigned repeats = table->columns[i].per_class ? NET_PRIORITIES : 1;
        for (unsigned p = 0; p < repeats; p++) {
            if (i + p > 0) {
                results_file_put_char(file, ',');
            }
            put_column(file, table, &table->columns[i], row, p);
        }
    }
    results_file_put_char(file, '\n');
}

sim_err_t results_table_open(const results_table_t *table,
                             const char *folder,
                             results_file_t **file,
                             world_error_t *error)
{
    char *const path = sim_format("%s/%s", folder, table->file_name);
    const sim_err_t result = results_file_open(path, file, error);
    sim_free(path);
    if (result == SIM_OK) {
        results_table_put_header(table, *file);
    }
    return result;
}

typedef struct flow_writer {
    const world_t *world;
    results_file_t *file;
} flow_writer_t;

static void write_flow(const app_flow_result_t *flow, void *ctx)
{
    const flow_writer_t *const writer = ctx;
    const results_flow_row_t row = {writer->world, flow};
    results_table_put_row(&results_flow_table, writer->file, &row);
}

sim_err_t results_write_flows(const world_t *world, const char *folder, world_error_t *error)
{
    flow_writer_t writer = {world, NULL};
    const sim_err_t result = results_table_open(&results_flow_table, folder, &writer.file, error);
    if (result != SIM_OK) {
        return result;
    }
    for (size_t i = 0; i < world->app_count; i++) {
        const app_t *const app = world->apps[i];
        if (app->ops->flows != NULL) {
            app->ops->flows(app, write_flow, &writer);
        }
    }
    return results_file_close(writer.file, error);
}

sim_err_t results_write_ports(const world_t *world,
                              const results_t *results,
                              const char *folder,
                              world_error_t *error)
{
    results_file_t *file = NULL;
    const sim_err_t result = results_table_open(&results_port_table, folder, &file, error);
    if (result != SIM_OK) {
        return result;
    }
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const net_node_t *const node = net_node_at(world->net, i);
        for (uint32_t p = 0; p < node->port_count; p++) {
            const results_port_row_t row = {world,
                                            &node->ports[p],
                                            results->sim_time_ps,
                                            results->span};
            results_table_put_row(&results_port_table, file, &row);
        }
    }
    return results_file_close(file, error);
}
