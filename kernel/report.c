// SPDX-License-Identifier: Apache-2.0
// kernel/report.c - walks tables of rows over the structs that they describe.
#include "kernel/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 8u // levels of tables within tables

static void read_field(sim_report_kind_t kind, const sim_report_table_t *table, const void *field,
                       sim_report_value_t *value)
{
    switch (kind) {
    case SIM_REPORT_U64:
        value->whole = *(const uint64_t *)field;
        return;
    case SIM_REPORT_U32:
        value->whole = *(const uint32_t *)field;
        return;
    case SIM_REPORT_REAL:
        value->real = *(const double *)field;
        return;
    case SIM_REPORT_BOOL:
        value->yes = *(const bool *)field;
        return;
    case SIM_REPORT_STRING:
        value->text = *(const char *const *)field;
        return;
    case SIM_REPORT_OBJECT:
        value->part = (sim_report_part_t){table, field};
        return;
    case SIM_REPORT_PART:
        value->part = *(const sim_report_part_t *)field;
        return;
    case SIM_REPORT_LIST:
        value->list = *(const sim_report_list_t *)field;
        return;
    }
    SIM_CHECKF(false, "kind %d", (int)kind);
}

// Reads the value of a row. False: the row is left out.
static bool read_row(const sim_report_row_t *row, const void *object, sim_report_value_t *value)
{
    const char *const bytes = object;
    *value = (sim_report_value_t){0};
    if (row->given != 0 && !*(const bool *)(bytes + row->given)) {
        return false;
    }
    if (row->count != 0) {
        memcpy(&value->list.items, bytes + row->offset, sizeof(value->list.items));
        memcpy(&value->list.count, bytes + row->count, sizeof(value->list.count));
    } else if (row->get == NULL) {
        read_field(row->kind, row->table, bytes + row->offset, value);
    } else if (!row->get(object, value)) {
        return false;
    }
    if (row->kind == SIM_REPORT_OBJECT) {
        value->part.table = row->table;
    }
    return (row->kind != SIM_REPORT_PART || value->part.table != NULL) &&
           (!row->optional || value->list.items != NULL);
}

static size_t item_bytes(const sim_report_row_t *row)
{
    static const size_t bytes[] = {
        [SIM_REPORT_U64] = sizeof(uint64_t),  [SIM_REPORT_U32] = sizeof(uint32_t),
        [SIM_REPORT_REAL] = sizeof(double),   [SIM_REPORT_BOOL] = sizeof(bool),
        [SIM_REPORT_STRING] = sizeof(char *),
    };
    if (row->of == SIM_REPORT_OBJECT) {
        return row->table->fill != NULL ? row->table->object_bytes : row->table->bytes;
    }
    SIM_CHECKF(row->of < SIM_COUNT_OF(bytes), "%s: a list has no items of this kind", row->name);
    return bytes[row->of];
}

static void visit_table(const sim_report_table_t *table, const void *object,
                        const sim_report_visitor_t *visitor, unsigned depth);

static void visit_value(const sim_report_row_t *row, sim_report_kind_t kind,
                        const sim_report_value_t *value, const sim_report_visitor_t *visitor,
                        unsigned depth)
{
    if (kind == SIM_REPORT_OBJECT || kind == SIM_REPORT_PART) {
        visitor->begin_object(row, visitor->ctx);
        visit_table(value->part.table, value->part.object, visitor, depth + 1);
        visitor->end_object(row, visitor->ctx);
        return;
    }
    visitor->value(row, kind, value, visitor->ctx);
}

static void visit_list(const sim_report_row_t *row, const sim_report_list_t *list,
                       const sim_report_visitor_t *visitor, unsigned depth)
{
    const size_t bytes = item_bytes(row);
    visitor->begin_list(row, list->count, visitor->ctx);
    for (size_t i = 0; i < list->count; i++) {
        sim_report_value_t item = {0};
        read_field(row->of, row->table, (const char *)list->items + i * bytes, &item);
        visit_value(row, row->of, &item, visitor, depth);
    }
    visitor->end_list(row, visitor->ctx);
}

static void visit_table(const sim_report_table_t *table, const void *object,
                        const sim_report_visitor_t *visitor, unsigned depth)
{
    SIM_CHECK(depth < DEPTH_MAX);
    void *report = NULL;
    if (table->fill != NULL) {
        report = sim_alloc(table->bytes);
        table->fill(object, report);
        object = report;
    }
    for (size_t i = 0; i < table->count; i++) {
        const sim_report_row_t *const row = &table->rows[i];
        sim_report_value_t value;
        if (!read_row(row, object, &value)) {
            continue;
        }
        if (row->kind == SIM_REPORT_LIST) {
            visit_list(row, &value.list, visitor, depth);
        } else {
            visit_value(row, row->kind, &value, visitor, depth);
        }
    }
    if (report != NULL && table->fini != NULL) {
        table->fini(report);
    }
    sim_free(report);
}

static void replay(const sim_report_table_t *table, const void *object,
                   const sim_report_visitor_t *visitor);

void sim_report_visit(const sim_report_table_t *table, const void *object,
                      const sim_report_visitor_t *visitor)
{
    if (table->recorded) {
        replay(table, object, visitor);
    } else {
        visit_table(table, object, visitor, 0);
    }
}

// -- recordings: the calls that a visitor gets, one after the other
//
//     u32 call, u32 row of the table that the call is about, and for
//     VALUE: u32 kind; u64 size and the text, or the value
//     BEGIN_LIST: u64 count

enum { VALUE, BEGIN_OBJECT, END_OBJECT, BEGIN_LIST, END_LIST, END };

typedef struct recording {
    sim_report_table_t table; // that of the report, but for `recorded`
    size_t size;
    unsigned char bytes[];
} recording_t;

// Follows the tables of nested objects, to which rows belong.
typedef struct recorder {
    const sim_report_table_t *tables[2 * DEPTH_MAX];
    size_t depth;
    sim_buffer_t bytes;
} recorder_t;

static void put_call(recorder_t *recorder, unsigned call, const sim_report_row_t *row)
{
    sim_buffer_put_u32(&recorder->bytes, call);
    sim_buffer_put_u32(&recorder->bytes, (uint32_t)(row - recorder->tables[recorder->depth]->rows));
}

static void enter(const sim_report_table_t **tables, size_t *depth, const sim_report_row_t *row)
{
    SIM_CHECKF(row->table != NULL && *depth + 1 < 2 * DEPTH_MAX, "%s", row->name);
    tables[++*depth] = row->table;
}

static void record_value(const sim_report_row_t *row, sim_report_kind_t kind,
                         const sim_report_value_t *value, void *ctx)
{
    recorder_t *const recorder = ctx;
    put_call(recorder, VALUE, row);
    sim_buffer_put_u32(&recorder->bytes, kind);
    if (kind == SIM_REPORT_STRING) {
        const uint64_t size = value->text == NULL ? 0 : strlen(value->text) + 1;
        sim_buffer_put_u64(&recorder->bytes, size);
        sim_buffer_put(&recorder->bytes, value->text, size);
    } else {
        sim_buffer_put(&recorder->bytes, value, sizeof(*value));
    }
}

static void record_object(const sim_report_row_t *row, void *ctx)
{
    recorder_t *const recorder = ctx;
    put_call(recorder, BEGIN_OBJECT, row);
    enter(recorder->tables, &recorder->depth, row);
}

static void record_object_end(const sim_report_row_t *row, void *ctx)
{
    recorder_t *const recorder = ctx;
    recorder->depth--;
    put_call(recorder, END_OBJECT, row);
}

static void record_list(const sim_report_row_t *row, size_t count, void *ctx)
{
    recorder_t *const recorder = ctx;
    put_call(recorder, BEGIN_LIST, row);
    sim_buffer_put_u64(&recorder->bytes, count);
}

static void record_list_end(const sim_report_row_t *row, void *ctx)
{
    put_call(ctx, END_LIST, row);
}

static void replay_value(const sim_report_row_t *row, sim_reader_t *bytes,
                         const sim_report_visitor_t *visitor)
{
    const sim_report_kind_t kind = sim_reader_u32(bytes);
    sim_report_value_t value = {0};
    if (kind == SIM_REPORT_STRING) {
        const size_t size = (size_t)sim_reader_u64(bytes);
        value.text = size == 0 ? NULL : (const char *)bytes->at;
        bytes->at += size;
        bytes->left -= size;
    } else {
        sim_reader_get(bytes, &value, sizeof(value));
    }
    visitor->value(row, kind, &value, visitor->ctx);
}

static void replay(const sim_report_table_t *table, const void *object,
                   const sim_report_visitor_t *visitor)
{
    const recording_t *const recording = object;
    sim_reader_t bytes = {recording->bytes, recording->size};
    const sim_report_table_t *tables[2 * DEPTH_MAX] = {table};
    size_t depth = 0;
    for (unsigned call = sim_reader_u32(&bytes); call != END; call = sim_reader_u32(&bytes)) {
        depth -= call == END_OBJECT;
        SIM_CHECK(depth < 2 * DEPTH_MAX && tables[depth] != NULL);
        const sim_report_row_t *const row = &tables[depth]->rows[sim_reader_u32(&bytes)];
        switch (call) {
        case VALUE:
            replay_value(row, &bytes, visitor);
            break;
        case BEGIN_OBJECT:
            visitor->begin_object(row, visitor->ctx);
            enter(tables, &depth, row);
            break;
        case END_OBJECT:
            visitor->end_object(row, visitor->ctx);
            break;
        case BEGIN_LIST:
            visitor->begin_list(row, (size_t)sim_reader_u64(&bytes), visitor->ctx);
            break;
        default:
            SIM_CHECKF(call == END_LIST, "call %u", call);
            visitor->end_list(row, visitor->ctx);
        }
    }
}

void *sim_report_carry(sim_report_part_t *part, sim_carry_t *carry)
{
    if (sim_carry_leaves(carry)) {
        recorder_t recorder = {.tables = {part->table}};
        const sim_report_visitor_t visitor = {record_value, record_object,   record_object_end,
                                              record_list,  record_list_end, &recorder};
        sim_report_visit(part->table, part->object, &visitor);
        sim_buffer_put_u32(&recorder.bytes, END);
        sim_buffer_put_u64(carry->to, recorder.bytes.count);
        sim_buffer_put(carry->to, recorder.bytes.bytes, recorder.bytes.count);
        sim_free(recorder.bytes.bytes);
        return NULL;
    }
    const size_t size = (size_t)sim_reader_u64(carry->from);
    recording_t *const made = sim_alloc(sizeof(*made) + size);
    made->table = *part->table;
    made->table.recorded = true;
    made->size = size;
    sim_reader_get(carry->from, made->bytes, size);
    *part = (sim_report_part_t){&made->table, made};
    return made;
}

bool sim_report_can_carry(const sim_report_table_t *table)
{
    bool can = true;
    for (size_t i = 0; i < table->count; i++) {
        const sim_report_row_t *const row = &table->rows[i];
        can = can && row->kind != SIM_REPORT_PART &&
              (row->table == NULL || sim_report_can_carry(row->table));
    }
    return can;
}

// -- one number of a report

typedef struct level {
    const char *rest; // of the path, inside this level; NULL: the path is not here
    bool is_list;
    size_t next; // item of the list
} level_t;

typedef struct seeker {
    level_t levels[2 * DEPTH_MAX];
    size_t depth;
    double number;
    bool found;
} seeker_t;

// Returns the part of the path behind this row or item; NULL: the path does not go through it.
static const char *step(level_t *level, const char *name)
{
    if (level->is_list) {
        const size_t index = level->next++;
        char item[32];
        const int size = snprintf(item, sizeof(item), "[%zu]", index);
        if (level->rest == NULL || strncmp(level->rest, item, (size_t)size) != 0) {
            return NULL;
        }
        return level->rest + size + (level->rest[size] == '.');
    }
    const size_t size = strlen(name);
    if (level->rest == NULL || strncmp(level->rest, name, size) != 0) {
        return NULL;
    }
    const char after = level->rest[size];
    return after == '\0' || after == '[' ? level->rest + size
           : after == '.'                ? level->rest + size + 1
                                         : NULL;
}

static void push(seeker_t *seeker, const char *name, bool is_list)
{
    SIM_CHECK(seeker->depth + 1 < SIM_COUNT_OF(seeker->levels));
    const char *const rest = step(&seeker->levels[seeker->depth], name);
    seeker->levels[++seeker->depth] = (level_t){rest, is_list, 0};
}

static void seek_value(const sim_report_row_t *row, sim_report_kind_t kind,
                       const sim_report_value_t *value, void *ctx)
{
    seeker_t *const seeker = ctx;
    const char *const rest = step(&seeker->levels[seeker->depth], row->name);
    if (rest == NULL || *rest != '\0' || kind == SIM_REPORT_STRING) {
        return;
    }
    seeker->number = kind == SIM_REPORT_REAL   ? value->real
                     : kind == SIM_REPORT_BOOL ? (double)value->yes
                                               : (double)value->whole;
    seeker->found = true;
}

static void seek_object(const sim_report_row_t *row, void *ctx)
{
    push(ctx, row->name, false);
}

static void seek_list(const sim_report_row_t *row, size_t count, void *ctx)
{
    (void)count;
    push(ctx, row->name, true);
}

static void seek_end(const sim_report_row_t *row, void *ctx)
{
    (void)row;
    ((seeker_t *)ctx)->depth--;
}

bool sim_report_number(const sim_report_table_t *table, const void *object, const char *path,
                       double *number)
{
    seeker_t seeker = {.levels = {{path, false, 0}}};
    const sim_report_visitor_t visitor = {seek_value, seek_object, seek_end,
                                          seek_list,  seek_end,    &seeker};
    sim_report_visit(table, object, &visitor);
    if (seeker.found) {
        *number = seeker.number;
    }
    return seeker.found;
}

// -- distributions

// clang-format off
#define ROW(name_, help_, shown_) \
    {#name_, SIM_REPORT_REAL, "", help_, .offset = offsetof(sim_percentiles_t, name_), .shown = shown_}
static const sim_report_row_t percentile_rows[] = {
    {"count", SIM_REPORT_U64, "", "number of values in this distribution", .offset = offsetof(sim_percentiles_t, count)},
    ROW(mean, "mean of all values", true),
    ROW(min, "smallest of all values", false),
    ROW(p50, "median: half of all values are at most this", true),
    ROW(p90, "90 % of all values are at most this", false),
    ROW(p99, "99 % of all values are at most this", true),
    ROW(p999, "99.9 % of all values are at most this", false),
    ROW(max, "largest of all values", true),
};
#undef ROW
const sim_report_table_t sim_report_percentiles = {
    .rows = percentile_rows, .count = SIM_COUNT_OF(percentile_rows), .bytes = sizeof(sim_percentiles_t)};
// clang-format on

sim_percentiles_t sim_percentiles(sim_sample_set_t *set, uint64_t one)
{
    SIM_CHECK(one > 0);
    if (set->count == 0) {
        const double none = (double)NAN;
        return (sim_percentiles_t){0, none, none, none, none, none, none, none};
    }
    const double unit = (double)one;
    return (sim_percentiles_t){
        .count = set->count,
        .mean = sim_sample_set_mean(set) / unit,
        .min = (double)sim_sample_set_percentile(set, 0, 1) / unit,
        .p50 = (double)sim_sample_set_percentile(set, 50, 100) / unit,
        .p90 = (double)sim_sample_set_percentile(set, 90, 100) / unit,
        .p99 = (double)sim_sample_set_percentile(set, 99, 100) / unit,
        .p999 = (double)sim_sample_set_percentile(set, 999, 1000) / unit,
        .max = (double)sim_sample_set_max(set) / unit,
    };
}

static const sim_report_row_t point_rows[] = {
    {"percent", SIM_REPORT_REAL, "%", "percentage of samples that are at most `ms`",
     .offset = offsetof(sim_report_point_t, percent)},
    {"ms", SIM_REPORT_REAL, "ms", "value that this percentage of samples does not exceed",
     .offset = offsetof(sim_report_point_t, ms)},
};
const sim_report_table_t sim_report_point_table = {.rows = point_rows,
                                                   .count = SIM_COUNT_OF(point_rows),
                                                   .bytes = sizeof(sim_report_point_t)};

sim_report_points_t sim_report_points(sim_sample_set_t *set_ps)
{
    static const uint64_t thousandths[] = {995, 999, 1000}; // after 0, 1... 99 per cent
    sim_report_points_t all = {NULL, 0};
    if (set_ps->count == 0) {
        return all;
    }
    all.count = 100 + SIM_COUNT_OF(thousandths);
    all.points = sim_alloc_array(all.count, sizeof(*all.points));
    for (size_t i = 0; i < all.count; i++) {
        const uint64_t share = i < 100 ? i * 10 : thousandths[i - 100];
        all.points[i] = (sim_report_point_t){
            (double)share / 10.0,
            (double)sim_sample_set_percentile(set_ps, share, 1000) / (double)SIM_PS_PER_MS,
        };
    }
    return all;
}
