// SPDX-License-Identifier: Apache-2.0
// results/tables/write.c - writes the CSV files of a run from their tables of columns.
#include "net/ports.h"
#include "results/tables/end_rows.h"
#include "results/tables/event_rows.h"
#include "results/tables/operations.h"
#include "results/tables/tables.h"

#include <string.h>

const results_table_t *const results_tables[] = {&results_flow_table,      &results_app_table,
                                                 &results_port_table,      &results_nic_table,
                                                 &results_event_table,     &results_pause_table,
                                                 &results_series_table,    &results_hop_table,
                                                 &results_operation_table, NULL};

// -- columns

static bool is_by_class(const net_port_metric_t *counter)
{
    return counter->column != NULL && strstr(counter->column, "%u") != NULL;
}

// Returns the next counter that the column stands for, from that row of net_port_metrics on.
static const net_port_metric_t *find_counter(const results_column_t *column,
                                             const net_port_metric_t *from)
{
    for (; from->name != NULL; from++) {
        if (from->total.group != NULL && strcmp(from->total.group, column->name) == 0 &&
            (!column->per_class || is_by_class(from))) {
            return from;
        }
    }
    return NULL;
}

// Returns the unit of a counter in ports.csv, whose times are nanoseconds.
static const char *counter_unit(const net_port_metric_t *counter)
{
    return strcmp(counter->unit, "ps") == 0 ? "ns" : counter->unit;
}

static void describe(results_file_column_t *at)
{
    const net_port_metric_t *const counter = at->counter;
    const bool by_class = counter != NULL && at->column->per_class;
    at->name = counter == NULL                                               ? at->column->name
               : counter->column != NULL && is_by_class(counter) == by_class ? counter->column
                                                                             : counter->name;
    at->unit = counter == NULL ? at->column->unit : counter_unit(counter);
    at->help = counter == NULL ? at->column->help : counter->help;
}

bool results_table_next(const results_table_t *table, results_file_column_t *at)
{
    if (at->column != NULL && at->column->per_class && at->priority + 1 < NET_PRIORITIES) {
        at->priority++;
        return true;
    }
    at->priority = 0;
    at->counter = at->column != NULL && at->counter != NULL
                      ? find_counter(at->column, at->counter + 1)
                      : NULL;
    while (at->counter == NULL) {
        at->column = at->column == NULL ? table->columns : at->column + 1;
        if (at->column == table->columns + table->count) {
            return false;
        }
        if (at->column->kind != RESULTS_COLUMN_COUNTERS) {
            break;
        }
        at->counter = find_counter(at->column, net_port_metrics);
    }
    describe(at);
    return true;
}

char *results_file_column_name(const results_file_column_t *at, const char *priority)
{
    const char *const mark = at->column->per_class ? strstr(at->name, "%u") : NULL;
    return mark == NULL
               ? sim_strdup(at->name)
               : sim_format("%.*s%s%s", (int)(mark - at->name), at->name, priority, mark + 2);
}

// -- writing

static void put_header(const results_table_t *table, results_file_t *file)
{
    const char *separator = "";
    for (results_file_column_t at = {0}; results_table_next(table, &at); separator = ",") {
        const char class[] = {(char)('0' + at.priority), '\0'};
        char *const name = results_file_column_name(&at, class);
        results_file_put(file, separator);
        results_file_put(file, name);
        sim_free(name);
    }
    results_file_put(file, "\n");
}

// Returns the unsigned integer of 1, 2, 4 or 8 bytes that a column is about.
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

// `object`: what the fields of the row's table are of.
static inline void put_column(results_file_t *file, const results_column_t *column,
                              const void *object, const void *row, unsigned priority)
{
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
    case RESULTS_COLUMN_MADE:
        column->put(file, row);
        break;
    case RESULTS_COLUMN_COUNTERS:
        SIM_CHECKF(false, "counters of %s", column->name);
        break;
    }
}

#define ZEROS_BY_CLASS ",0,0,0,0,0,0,0,0"
static_assert(sizeof(ZEROS_BY_CLASS) == 2 * NET_PRIORITIES + 1, "one for each class");

// The counters that the columns of a table stand for, found once for all rows.
typedef struct results_counter_columns {
    struct {
        const results_column_t *column;
        const net_port_metric_t *counter;
    } items[2 * NET_PORT_METRICS_MAX];
    size_t count;
} results_counter_columns_t;

static void find_counters(const results_table_t *table, results_counter_columns_t *counters)
{
    counters->count = 0;
    for (results_file_column_t at = {0}; results_table_next(table, &at);) {
        if (at.counter != NULL && at.priority == 0) {
            SIM_CHECK(counters->count < SIM_COUNT_OF(counters->items));
            counters->items[counters->count].column = at.column;
            counters->items[counters->count++].counter = at.counter;
        }
    }
}

static void put_count(results_file_t *file, bool is_time, uint64_t value)
{
    results_file_put_char(file, ',');
    if (is_time) {
        results_file_put_ns(file, value);
    } else {
        results_file_put_u64(file, value);
    }
}

// Writes the counters of a column, beginning with counters->items[next], each behind a comma.
// Returns the next item.
static size_t put_counters(results_file_t *file, const results_column_t *column,
                           const results_port_row_t *row, size_t next, bool idle)
{
    // Only rows of ports have such columns.
    // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign)
    const results_counter_columns_t *const counters = row->counters;
    for (; next < counters->count && counters->items[next].column == column; next++) {
        const net_port_metric_t *const counter = counters->items[next].counter;
        const bool is_time = counter->unit[0] == 'p' && counter->unit[1] == 's';
        uint64_t values[NET_PRIORITIES];
        if (!column->per_class) {
            put_count(file, is_time,
                      idle ? 0 : net_port_metric_read(counter, row->port, UINT8_MAX, row->end_ps));
        } else if (idle || !net_port_metric_read_classes(counter, row->port, row->end_ps, values)) {
            results_file_put(file, ZEROS_BY_CLASS);
        } else {
            for (unsigned p = 0; p < NET_PRIORITIES; p++) {
                put_count(file, is_time, values[p]);
            }
        }
    }
    return next;
}

void results_table_put_row(const results_table_t *table, results_file_t *file, const void *row)
{
    const bool idle = table->classes_idle != NULL && table->classes_idle(row);
    const void *const object = table->object != NULL ? table->object(row) : row;
    const results_column_t *const end = table->columns + table->count;
    size_t next = 0;
    for (const results_column_t *column = table->columns; column < end; column++) {
        if (!column->per_class && column->kind != RESULTS_COLUMN_COUNTERS) { // most columns
            if (column > table->columns) {
                results_file_put_char(file, ',');
            }
            put_column(file, column, object, row, 0);
            continue;
        }
        if (column->kind == RESULTS_COLUMN_COUNTERS) {
            next = put_counters(file, column, row, next, idle);
            continue;
        }
        if (idle) {
            results_file_put(file, ZEROS_BY_CLASS);
            continue;
        }
        for (unsigned p = 0; p < NET_PRIORITIES; p++) {
            results_file_put_char(file, ',');
            put_column(file, column, object, row, p);
        }
    }
    results_file_put_char(file, '\n');
}

sim_err_t results_table_open(const results_table_t *table, const char *folder,
                             results_file_t **file, world_error_t *error)
{
    char *const path = sim_format("%s/%s", folder, table->file_name);
    const sim_err_t result = results_file_open(path, file, error);
    sim_free(path);
    if (result == SIM_OK) {
        put_header(table, *file);
    }
    return result;
}

typedef struct flow_writer {
    const world_t *world;
    const results_t *results;
    results_file_t *file;
} flow_writer_t;

static void write_flow(const app_flow_result_t *flow, void *ctx)
{
    const flow_writer_t *const writer = ctx;
    const app_flow_result_t timed = app_flow_timed(flow);
    const results_flow_row_t row = {writer->world, &timed, writer->results->reordering};
    results_table_put_row(&results_flow_table, writer->file, &row);
}

sim_err_t results_write_flows(const world_t *world, const results_t *results, const char *folder,
                              world_error_t *error)
{
    flow_writer_t writer = {world, results, NULL};
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

sim_err_t results_write_ports(const world_t *world, const results_t *results, const char *folder,
                              world_error_t *error)
{
    results_file_t *file = NULL;
    const sim_err_t result = results_table_open(&results_port_table, folder, &file, error);
    if (result != SIM_OK) {
        return result;
    }
    results_counter_columns_t counters;
    find_counters(&results_port_table, &counters);
    net_port_labels_t *const labels = net_port_labels_create(world->net);
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        net_node_t gone;
        const net_node_t *const node = net_node_view(world->net, i, &gone);
        for (uint32_t p = 0; p < node->port_count; p++) {
            net_port_t idle;
            const results_port_row_t row = {
                world,     net_port_look(node, p, &idle), results->sim_time_ps, results->span,
                &counters, net_port_label(labels, i, p)};
            results_table_put_row(&results_port_table, file, &row);
        }
    }
    net_port_labels_destroy(labels);
    return results_file_close(file, error);
}

sim_err_t results_write_nics(const world_t *world, const char *folder, world_error_t *error)
{
    static const nic_counters_t none;
    results_file_t *file = NULL;
    const sim_err_t result = results_table_open(&results_nic_table, folder, &file, error);
    if (result != SIM_OK) {
        return result;
    }
    for (size_t i = 0; i < world->nic_count; i++) {
        const world_nic_t *const nic = &world->nics[i];
        const results_nic_row_t row = {
            world, (uint32_t)i,
            world_nic_exists(world, nic) ? nic_get_counters(world_nic_of(world, nic)) : &none};
        results_table_put_row(&results_nic_table, file, &row);
    }
    return results_file_close(file, error);
}
