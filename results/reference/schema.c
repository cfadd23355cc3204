// SPDX-License-Identifier: Apache-2.0
// results/reference/schema.c - the tables of attributes, columns, fields and reports as JSON.
#include "results/schema.h"
#include "world/series.h"

#include "nic/reports.h"
#include "results/reference/pages.h"
#include "results/summary.h"
#include "results/tables/json_text.h"
#include "results/tables/tables.h"
#include "world/attributes.h"
#include "world/choices.h"
#include "world/scenario.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 8u

// Adds a string to an object, unless it is empty.
static void put(results_json_text_t *object, const char *key, const char *text)
{
    if (text != NULL && text[0] != '\0') {
        results_json_text_add(object, key, text);
    }
}

// Returns the text as a tree and frees it.
static json_t *tree_of(results_json_text_t *json)
{
    json_error_t error;
    char *const text = results_json_text_finish(json);
    json_t *const tree = json_loads(text, 0, &error);
    SIM_CHECKF(tree != NULL, "the schema is not JSON: %s", error.text);
    sim_free(text);
    return tree;
}

// -- parameters

static const char *type_name(sim_attr_type_t type)
{
    static const char *const names[] = {
        [SIM_ATTR_BOOL] = "bool",       [SIM_ATTR_COUNT] = "count",
        [SIM_ATTR_BYTES] = "bytes",     [SIM_ATTR_TIME] = "time",
        [SIM_ATTR_RATE] = "rate",       [SIM_ATTR_RATIO] = "ratio",
        [SIM_ATTR_ENUM] = "enum",       [SIM_ATTR_STRING] = "string",
        [SIM_ATTR_NAME] = "name",       [SIM_ATTR_PRIORITIES] = "priorities",
        [SIM_ATTR_WEIGHTS] = "weights", [SIM_ATTR_PROFILES] = "profiles",
    };
    return names[type];
}

static void put_words(results_json_text_t *object, const char *key, const char *words)
{
    results_json_text_begin(object, key, '[');
    for (const char *p = words; *p != '\0';) {
        const size_t size = strcspn(p, "|");
        results_json_text_add_part(object, NULL, p, size);
        p += size + (p[size] == '|');
    }
    results_json_text_end(object, ']');
}

json_t *results_words_json(const char *words)
{
    results_json_text_t json = {0};
    put_words(&json, NULL, words);
    return tree_of(&json);
}

// Adds the names of the parts that an attribute chooses from, if it names a part.
static void put_names(results_json_text_t *object, const char *key,
                      const world_registry_t *registry, const char *path, const char *default_text)
{
    const char **names = NULL;
    const size_t count = world_choices(registry, path, default_text, &names);
    if (count > 0) {
        results_json_text_begin(object, key, '[');
        for (size_t i = 0; i < count; i++) {
            results_json_text_add(object, NULL, names[i]);
        }
        results_json_text_end(object, ']');
    }
    sim_free((void *)names);
}

json_t *results_names_json(const world_registry_t *registry, const char *path,
                           const char *default_text)
{
    results_json_text_t json = {0};
    put_names(&json, NULL, registry, path, default_text);
    return json.text != NULL ? tree_of(&json) : NULL;
}

static void put_attr(results_json_text_t *list, const world_registry_t *registry,
                     const sim_attr_table_t *table, const sim_attr_t *attr)
{
    results_json_text_begin(list, NULL, '{');
    put(list, "path", attr->path);
    put(list, "type", type_name(attr->type));
    put(list, "scope", table->scope);
    if (attr->default_text != NULL) {
        results_json_text_add(list, "default", attr->default_text);
    }
    put(list, "min", attr->min_text);
    put(list, "max", attr->max_text);
    if (attr->choices != NULL) {
        put_words(list, "choices", attr->choices);
    } else {
        put_names(list, "choices", registry, attr->path, attr->default_text);
    }
    if (attr->auto_ok) {
        results_json_text_add_raw(list, "auto", "true");
    }
    put(list, "help", attr->help);
    results_json_text_end(list, '}');
}

static void put_parameters(results_json_text_t *json, const char *key,
                           const world_registry_t *registry)
{
    const sim_attr_table_t **tables = NULL;
    const size_t count = world_attr_tables(registry, &tables);
    results_json_text_begin(json, key, '[');
    for (size_t t = 0; t < count; t++) {
        for (size_t i = 0; i < tables[t]->count; i++) {
            put_attr(json, registry, tables[t], &tables[t]->attrs[i]);
        }
    }
    results_json_text_end(json, ']');
    sim_free((void *)tables);
}

json_t *results_parameters_json(const world_registry_t *registry)
{
    results_json_text_t json = {0};
    put_parameters(&json, NULL, registry);
    return tree_of(&json);
}

// -- tables

static void put_table(results_json_text_t *json, const results_table_t *table)
{
    results_json_text_begin(json, table->file_name, '{');
    put(json, "help", table->help);
    results_json_text_begin(json, "columns", '[');
    for (results_file_column_t at = {0}; results_table_next(table, &at);) {
        const char class[] = {(char)('0' + at.priority), '\0'};
        char *const name = results_file_column_name(&at, class);
        char *const help = at.column->per_class ? sim_format("%s; class %s alone", at.help, class)
                                                : sim_strdup(at.help);
        results_json_text_begin(json, NULL, '{');
        put(json, "name", name);
        put(json, "unit", at.unit);
        put(json, "help", help);
        results_json_text_end(json, '}');
        sim_free(name);
        sim_free(help);
    }
    results_json_text_end(json, ']');
    results_json_text_end(json, '}');
}

// -- summary.json, as a JSON Schema

// Begins an object that describes a value; the caller adds to it and ends it.
static void begin_described(results_json_text_t *json, const char *key, const char *type,
                            const char *unit, const char *help)
{
    results_json_text_begin(json, key, '{');
    put(json, "type", type);
    put(json, "unit", unit);
    put(json, "description", help);
}

// Begins the description of a value that has one of two types.
static void begin_either(results_json_text_t *json, const char *key, const char *types,
                         const char *unit, const char *help)
{
    begin_described(json, key, NULL, unit, help);
    put_words(json, "type", types);
}

static void begin_kind(results_json_text_t *json, const char *key, sim_report_kind_t kind,
                       const char *unit, const char *help)
{
    switch (kind) {
    case SIM_REPORT_U64:
    case SIM_REPORT_U32:
        begin_either(json, key, "integer|string", unit, help); // as text beyond 2^63
        return;
    case SIM_REPORT_REAL:
        begin_either(json, key, "number|null", unit, help);
        return;
    case SIM_REPORT_BOOL:
        begin_described(json, key, "boolean", unit, help);
        return;
    case SIM_REPORT_STRING:
        begin_either(json, key, "string|null", unit, help);
        return;
    case SIM_REPORT_OBJECT:
    case SIM_REPORT_PART:
        begin_described(json, key, "object", unit, help);
        return;
    case SIM_REPORT_LIST:
        begin_described(json, key, "array", unit, help);
        return;
    }
    begin_described(json, key, NULL, unit, help);
}

static void put_report(results_json_text_t *json, const char *key, const sim_report_table_t *table,
                       unsigned depth)
{
    SIM_CHECK(depth < DEPTH_MAX);
    results_json_text_begin(json, key, '{');
    for (size_t i = 0; i < table->count; i++) {
        const sim_report_row_t *const row = &table->rows[i];
        begin_kind(json, row->name, row->kind, row->unit, row->help);
        if (row->kind == SIM_REPORT_LIST) {
            begin_kind(json, "items", row->of, "", "");
        }
        if (row->table != NULL) {
            put_report(json, "properties", row->table, depth + 1);
        }
        if (row->kind == SIM_REPORT_LIST) {
            results_json_text_end(json, '}');
        }
        results_json_text_end(json, '}');
    }
    results_json_text_end(json, '}');
}

// Returns the length of a path's group ("packets" of "packets.created"), 0 if it has none.
static size_t group_size(const char *path)
{
    const char *const dot = strchr(path, '.');
    return dot != NULL ? (size_t)(dot - path) : 0;
}

static bool same_group(const char *a, const char *b)
{
    return group_size(a) == group_size(b) && strncmp(a, b, group_size(a)) == 0;
}

// Adds a field by its last name. Its label and words are there for programs that show it.
static void put_field(results_json_text_t *json, const char *key,
                      const results_summary_field_t *field)
{
    begin_described(json, key, NULL, field->unit, field->help);
    put(json, "label", field->label);
    put(json, "words", field->words);
    results_json_text_end(json, '}');
}

// Adds the group of a field with all its fields, unless a field before it was of that group.
static void put_group(results_json_text_t *json, const results_summary_field_t *fields,
                      size_t count, size_t first)
{
    const char *const path = fields[first].path;
    for (size_t i = 0; i < first; i++) {
        if (same_group(fields[i].path, path)) {
            return;
        }
    }
    const size_t size = group_size(path);
    char *const group = sim_format("%.*s", (int)size, path);
    begin_described(json, group, "object", "", "");
    results_json_text_begin(json, "properties", '{');
    for (size_t i = first; i < count; i++) {
        if (fields[i].kind != RESULTS_FIELD_INSIDE && same_group(fields[i].path, path)) {
            put_field(json, fields[i].path + size + 1, &fields[i]);
        }
    }
    results_json_text_end(json, '}');
    results_json_text_end(json, '}');
    sim_free(group);
}

static void put_fields(results_json_text_t *json)
{
    size_t count = 0;
    results_summary_field_t *const fields = results_summary_fields(&count);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].kind == RESULTS_FIELD_INSIDE) {
            continue;
        }
        if (group_size(fields[i].path) > 0) {
            put_group(json, fields, count, i);
        } else {
            put_field(json, fields[i].path, &fields[i]);
        }
    }
    sim_free(fields);
}

static void put_summary(results_json_text_t *json, const world_registry_t *registry)
{
    begin_described(json, "summary", "object", "",
                    "the object in summary.json, the totals of a run");
    results_json_text_begin(json, "properties", '{');
    put_fields(json);
    results_json_text_end(json, '}');
    results_json_text_begin(json, "apps_by_kind", '{');
    for (const app_ops_t *const *ops = world_registry_apps(registry); *ops != NULL; ops++) {
        if ((*ops)->report != NULL) {
            put_report(json, (*ops)->name, (*ops)->report, 0);
        }
    }
    results_json_text_end(json, '}');
    results_json_text_begin(json, "nics_detailed", '{');
    for (const nic_counter_info_t *info = nic_rnic_counter_infos; info->name != NULL; info++) {
        begin_described(json, info->name, NULL, info->unit, info->help);
        results_json_text_end(json, '}');
    }
    results_json_text_end(json, '}');
    results_json_text_begin(json, "nics_by_part", '{');
    for (const nic_report_info_t *info = nic_report_infos; info->name != NULL; info++) {
        put_report(json, info->name, info->table, 0);
    }
    results_json_text_end(json, '}');
    results_json_text_end(json, '}');
}

// -- pages

static void put_values(results_json_text_t *json, const char *key,
                       const results_page_value_t *values)
{
    results_json_text_begin(json, key, '[');
    for (size_t i = 0; i < RESULTS_PAGE_VALUES_MAX && values[i].label != NULL; i++) {
        results_json_text_begin(json, NULL, '{');
        results_json_text_add(json, "path", values[i].path);
        results_json_text_add(json, "label", values[i].label);
        results_json_text_end(json, '}');
    }
    results_json_text_end(json, ']');
}

static void put_chart(results_json_text_t *json, const results_page_chart_t *chart)
{
    results_json_text_begin(json, NULL, '{');
    put(json, "kind", chart->kind);
    put(json, "title", chart->title);
    put(json, "help", chart->help);
    put(json, "rows", chart->rows);
    put(json, "x", chart->x);
    put(json, "x_label", chart->x_label);
    put(json, "by", chart->by);
    put(json, "log", chart->log);
    put(json, "record", chart->record);
    put_values(json, "values", chart->values);
    results_json_text_end(json, '}');
}

static void put_pages(results_json_text_t *json)
{
    results_json_text_begin(json, "pages", '[');
    for (size_t i = 0; i < results_page_count; i++) {
        const results_page_t *const page = &results_pages[i];
        results_json_text_begin(json, NULL, '{');
        put(json, "name", page->name);
        put(json, "title", page->title);
        put(json, "of", page->of);
        if (page->kinds != NULL) {
            put_words(json, "kinds", page->kinds);
        }
        put(json, "needs", page->needs);
        results_json_text_add_raw(json, "first", page->first ? "true" : "false");
        put_values(json, "facts", page->facts);
        results_json_text_begin(json, "charts", '[');
        for (size_t c = 0; c < RESULTS_PAGE_CHARTS_MAX && page->charts[c].kind != NULL; c++) {
            put_chart(json, &page->charts[c]);
        }
        results_json_text_end(json, ']');
        results_json_text_end(json, '}');
    }
    results_json_text_end(json, ']');
}

// -- metrics of series

typedef void (*metric_fn)(const char *of, const char *name, const char *unit, const char *help,
                          bool per_class, void *ctx);

static void each_metric(metric_fn fn, void *ctx)
{
    for (const net_port_metric_t *m = net_port_metrics; m->name != NULL; m++) {
        fn("port", m->name, m->unit, m->help, m->per_priority, ctx);
    }
    for (const world_switch_metric_t *m = world_switch_metrics; m->name != NULL; m++) {
        fn("switch", m->name, m->unit, m->help, false, ctx);
    }
    for (const nic_counter_info_t *m = nic_counter_infos; m->name != NULL; m++) {
        fn("nic", m->name, m->unit, m->help, false, ctx);
    }
    for (const nic_cache_metric_t *m = nic_cache_metrics; m->name != NULL; m++) {
        fn("nic", m->name, m->unit, m->help, false, ctx);
    }
    for (const nic_qp_metric_t *m = nic_qp_metrics; m->name != NULL; m++) {
        fn("qp", m->name, m->unit, m->help, false, ctx);
    }
}

static void add_metric(const char *of, const char *name, const char *unit, const char *help,
                       bool per_class, void *ctx)
{
    results_json_text_t *const json = ctx;
    results_json_text_begin(json, NULL, '{');
    put(json, "of", of);
    put(json, "name", name);
    put(json, "unit", unit);
    put(json, "help", help);
    if (per_class) {
        results_json_text_add_raw(json, "per_class", "true");
    }
    results_json_text_end(json, '}');
}

typedef struct wanted_unit {
    const char *metric;
    size_t size; // without the class
    const char *unit;
} wanted_unit_t;

static void take_unit(const char *of, const char *name, const char *unit, const char *help,
                      bool per_class, void *ctx)
{
    wanted_unit_t *const wanted = ctx;
    (void)of;
    (void)help;
    (void)per_class;
    if (strlen(name) == wanted->size && strncmp(name, wanted->metric, wanted->size) == 0) {
        wanted->unit = unit;
    }
}

const char *results_metric_unit(const char *metric)
{
    wanted_unit_t wanted = {metric, strcspn(metric, "["), ""};
    each_metric(take_unit, &wanted);
    return wanted.unit;
}

// Writes the whole schema; the caller finishes it.
static results_json_text_t schema_of(const world_registry_t *registry)
{
    results_json_text_t json = {0};
    results_json_text_begin(&json, NULL, '{');
    put(&json, "$schema", "https://json-schema.org/draft/2020-12/schema");
    put(&json, "title", "results of rocesim");
    put(&json, "version", ROCESIM_VERSION);
    put_summary(&json, registry);
    put_pages(&json);
    results_json_text_begin(&json, "tables", '{');
    for (size_t i = 0; results_tables[i] != NULL; i++) {
        put_table(&json, results_tables[i]);
    }
    results_json_text_end(&json, '}');
    results_json_text_begin(&json, "metrics", '[');
    each_metric(add_metric, &json);
    results_json_text_end(&json, ']');
    put_parameters(&json, "parameters", registry);
    results_json_text_end(&json, '}');
    return json;
}

json_t *results_schema_json(const world_registry_t *registry)
{
    results_json_text_t json = schema_of(registry);
    return tree_of(&json);
}

char *results_schema_text(const world_registry_t *registry)
{
    results_json_text_t json = schema_of(registry);
    return results_json_text_finish(&json);
}
