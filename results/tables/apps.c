// SPDX-License-Identifier: Apache-2.0
// results/tables/apps.c - apps.csv: what applications report (kernel/report.h), a row per value.
//
// One table holds the values of all kinds of applications and the items of their lists.
#include "results/tables/columns.h"
#include "results/tables/end_rows.h"
#include "results/tables/tables.h"

#include <math.h>

#define DEPTH_MAX 16u
#define DIGITS 12 // of reals, as in summary.json

static void put_item(results_file_t *file, const void *row)
{
    results_file_put(file, ((const results_app_row_t *)row)->item);
}

// clang-format off
static const results_column_t app_columns[] = {
    WHOLE("app", "", "number of the application, as in apps[] of summary.json", results_app_row_t, app),
    TEXT("kind", "", "kind of the application: herd, mooncake-bench, perftest...", results_app_row_t, kind),
    TEXT("list", "", "list that the value stands in, by dotted path (workers, series, latency_cdf); empty: none", results_app_row_t, list),
    MADE("item", "", "index of the item in the list, from 0; empty: the value is in no list", put_item),
    TEXT("field", "", "dotted path of the value, within the item; lists inside of items have their index in brackets; value: the item itself", results_app_row_t, field),
    TEXT("value", "", "value as in summary.json, texts without quotes; empty: there is none", results_app_row_t, value),
    TEXT("unit", "", "unit of the value; empty for plain numbers and texts", results_app_row_t, unit),
};
// clang-format on

const results_table_t results_app_table = {
    "apps.csv",
    "A row per value that an application reports (by kind: summary.json above), in their order: "
    "those of its report, then by list and item.",
    app_columns,
    SIM_COUNT_OF(app_columns),
    NULL,
    NULL,
};

// An object or a list that the walk is inside of.
typedef struct level {
    char *path;       // of what is in it, with the dot, from the item of the outermost list on
    const char *unit; // of reals in it
    size_t index;     // of the next item, where it is a list
    bool list;
} level_t;

typedef struct walker {
    results_file_t *file;
    results_app_row_t row;
    level_t levels[DEPTH_MAX];
    size_t depth;
    size_t outermost; // the level of the list that `row` names; 0: none
} walker_t;

// Returns the path of a value, object or list. The caller frees it.
static char *path_of(const walker_t *walker, const sim_report_row_t *row)
{
    const level_t *const level = &walker->levels[walker->depth];
    if (!level->list) {
        return sim_format("%s%s", level->path, row->name);
    }
    return walker->depth == walker->outermost ? sim_strdup("")
                                              : sim_format("%s[%zu]", level->path, level->index);
}

static void count_item(walker_t *walker)
{
    level_t *const level = &walker->levels[walker->depth];
    if (level->list) {
        if (walker->depth == walker->outermost) {
            snprintf(walker->row.item, sizeof(walker->row.item), "%zu", level->index);
        }
        level->index++;
    }
}

static const char *text_of(sim_report_kind_t kind, const sim_report_value_t *value, char *text,
                           size_t size)
{
    text[0] = '\0';
    switch (kind) {
    case SIM_REPORT_U64:
    case SIM_REPORT_U32:
        snprintf(text, size, "%" PRIu64, value->whole);
        return text;
    case SIM_REPORT_REAL:
        if (isfinite(value->real)) {
            snprintf(text, size, "%.*g", DIGITS, value->real);
        }
        return text;
    case SIM_REPORT_BOOL:
        return value->yes ? "true" : "false";
    case SIM_REPORT_STRING:
        return value->text != NULL ? value->text : "";
    case SIM_REPORT_OBJECT:
    case SIM_REPORT_PART:
    case SIM_REPORT_LIST:
        break;
    }
    SIM_CHECKF(false, "kind %d", (int)kind);
    return NULL;
}

static const char *unit_of(const walker_t *walker, const sim_report_row_t *row)
{
    return row->unit[0] != '\0' ? row->unit : walker->levels[walker->depth].unit;
}

static void put_value(const sim_report_row_t *row, sim_report_kind_t kind,
                      const sim_report_value_t *value, void *ctx)
{
    walker_t *const walker = ctx;
    char text[32];
    char *const path = path_of(walker, row);
    count_item(walker);
    walker->row.field = path[0] != '\0' ? path : "value";
    walker->row.value = text_of(kind, value, text, sizeof(text));
    walker->row.unit = kind == SIM_REPORT_REAL ? unit_of(walker, row) : row->unit;
    results_table_put_row(&results_app_table, walker->file, &walker->row);
    sim_free(path);
}

static level_t *push(walker_t *walker, const sim_report_row_t *row, char *path)
{
    const char *const unit = unit_of(walker, row);
    SIM_CHECK(walker->depth + 1 < DEPTH_MAX);
    level_t *const level = &walker->levels[++walker->depth];
    *level = (level_t){.path = path, .unit = unit};
    return level;
}

static void begin_object(const sim_report_row_t *row, void *ctx)
{
    walker_t *const walker = ctx;
    char *const path = path_of(walker, row);
    count_item(walker);
    (void)push(walker, row, path[0] != '\0' ? sim_format("%s.", path) : sim_strdup(""));
    sim_free(path);
}

static void begin_list(const sim_report_row_t *row, size_t count, void *ctx)
{
    (void)count;
    walker_t *const walker = ctx;
    char *const path = path_of(walker, row);
    count_item(walker);
    push(walker, row, path)->list = true;
    if (walker->outermost == 0) {
        walker->outermost = walker->depth;
        walker->row.list = path;
    }
}

static void end(const sim_report_row_t *row, void *ctx)
{
    (void)row;
    walker_t *const walker = ctx;
    if (walker->depth == walker->outermost) {
        walker->outermost = 0;
        walker->row.list = "";
        walker->row.item[0] = '\0';
    }
    sim_free(walker->levels[walker->depth--].path);
}

sim_err_t results_write_apps(const world_t *world, const char *folder, world_error_t *error)
{
    results_file_t *file = NULL;
    const sim_err_t result = results_table_open(&results_app_table, folder, &file, error);
    if (result != SIM_OK) {
        return result;
    }
    for (size_t i = 0; i < world->app_count; i++) {
        const app_t *const app = world->apps[i];
        char top[] = "";
        walker_t walker = {
            .file = file,
            .row = {.app = i, .kind = app->ops->name, .list = ""},
            .levels = {{.path = top, .unit = ""}},
        };
        const sim_report_visitor_t visitor = {put_value,  begin_object, end,
                                              begin_list, end,          &walker};
        if (app->ops->report != NULL) {
            sim_report_visit(app->ops->report, app, &visitor);
        }
    }
    return results_file_close(file, error);
}
