// SPDX-License-Identifier: Apache-2.0
// results/report/part.c - reports as JSON and in the reference.
#include "results/report/part.h"

#include <math.h>
#include <string.h>

#define DEPTH_MAX 16u

json_t *results_json_whole(uint64_t value)
{
    // JSON of jansson is signed: what does not fit is written as text.
    if (value <= INT64_MAX) {
        return json_integer((json_int_t)value);
    }
    char *const text = sim_format("%" PRIu64, value);
    json_t *const string = json_string(text);
    sim_free(text);
    return string;
}

typedef struct level {
    json_t *into; // an object or a list
    char *path;   // of its rows, with the dot
} level_t;

typedef struct writer {
    level_t levels[DEPTH_MAX];
    size_t depth;
    json_t *units;
} writer_t;

static void put(writer_t *writer, const sim_report_row_t *row, json_t *value)
{
    json_t *const into = writer->levels[writer->depth].into;
    const int failed = json_is_array(into) ? json_array_append_new(into, value)
                                           : json_object_set_new(into, row->name, value);
    SIM_CHECKF(failed == 0, "%s", row->name);
}

// Notes the unit of a row. The unit of an object is that of the reals in it.
static void put_unit(const writer_t *writer, const sim_report_row_t *row)
{
    const level_t *const level = &writer->levels[writer->depth];
    if (writer->units == NULL || row->unit[0] == '\0' || json_is_array(level->into)) {
        return;
    }
    char *const path = sim_format("%s%s", level->path, row->name);
    json_object_set_new(writer->units, path, json_string(row->unit));
    sim_free(path);
}

static json_t *json_of(sim_report_kind_t kind, const sim_report_value_t *value)
{
    switch (kind) {
    case SIM_REPORT_U64:
    case SIM_REPORT_U32:
        return results_json_whole(value->whole);
    case SIM_REPORT_REAL:
        return isfinite(value->real) ? json_real(value->real) : json_null();
    case SIM_REPORT_BOOL:
        return json_boolean(value->yes);
    case SIM_REPORT_STRING:
        return value->text != NULL ? json_string(value->text) : json_null();
    case SIM_REPORT_OBJECT:
    case SIM_REPORT_PART:
    case SIM_REPORT_LIST:
        break;
    }
    SIM_CHECKF(false, "kind %d", (int)kind);
    return NULL;
}

static void write_value(const sim_report_row_t *row, sim_report_kind_t kind,
                        const sim_report_value_t *value, void *ctx)
{
    json_t *const json = json_of(kind, value);
    SIM_CHECKF(json != NULL, "%s is no UTF-8", row->name);
    put_unit(ctx, row);
    put(ctx, row, json);
}

static void push(writer_t *writer, const sim_report_row_t *row, json_t *into)
{
    SIM_CHECK(writer->depth + 1 < DEPTH_MAX);
    const level_t *const above = &writer->levels[writer->depth];
    const bool item = json_is_array(above->into);
    char *const path =
        item ? sim_strdup(above->path)
             : sim_format("%s%s%s", above->path, row->name, json_is_array(into) ? "[]." : ".");
    put_unit(writer, row);
    put(writer, row, into);
    writer->levels[++writer->depth] = (level_t){into, path};
}

static void write_object(const sim_report_row_t *row, void *ctx)
{
    push(ctx, row, json_object());
}

static void write_list(const sim_report_row_t *row, size_t count, void *ctx)
{
    (void)count;
    push(ctx, row, json_array());
}

static void write_end(const sim_report_row_t *row, void *ctx)
{
    (void)row;
    writer_t *const writer = ctx;
    sim_free(writer->levels[writer->depth--].path);
}

void results_part_json(const sim_report_table_t *table, const void *object, json_t *into,
                       json_t *units)
{
    char top[] = "";
    writer_t writer = {.levels = {{into, top}}, .units = units};
    const sim_report_visitor_t visitor = {write_value, write_object, write_end,
                                          write_list,  write_end,    &writer};
    sim_report_visit(table, object, &visitor);
}

// -- the reference

static void print_cell(const char *text, FILE *out)
{
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '|') {
            fputc('\\', out);
        }
        fputc(*p, out);
    }
}

void results_markdown_row(const char *name, const char *unit, const char *help, FILE *out)
{
    fprintf(out, "| `%s` | %s | ", name, unit);
    print_cell(help, out);
    fputs(" |\n", out);
}

// Tables inside of tables are few: the depth of the reports bounds it.
static void print_rows(const sim_report_table_t *table, const char *prefix, const char *unit,
                       FILE *out, unsigned depth)
{
    SIM_CHECK(depth < DEPTH_MAX);
    for (size_t i = 0; i < table->count; i++) {
        const sim_report_row_t *const row = &table->rows[i];
        const bool list = row->kind == SIM_REPORT_LIST;
        const bool whole = row->kind == SIM_REPORT_U64 || row->kind == SIM_REPORT_U32;
        char *const name = sim_format("%s%s%s", prefix, row->name, list ? "[]" : "");
        const char *const own = row->unit[0] != '\0' || whole ? row->unit : unit;
        if (row->table == &sim_report_percentiles) {
            char *const help = sim_format("%s; a distribution (below)", row->help);
            results_markdown_row(name, own, help, out);
            sim_free(help);
        } else {
            results_markdown_row(name, own, row->help, out);
        }
        if (row->table != NULL && row->table != &sim_report_percentiles) {
            char *const inside = sim_format("%s.", name);
            print_rows(row->table, inside, own, out, depth + 1);
            sim_free(inside);
        }
        sim_free(name);
    }
}

void results_part_markdown(const sim_report_table_t *table, const char *prefix, FILE *out)
{
    print_rows(table, prefix, "", out, 0);
}
