// SPDX-License-Identifier: Apache-2.0
// results/schema.c - the tables of attributes, columns, fields and reports as JSON.
#include "results/schema.h"

#include "nic/reports.h"
#include "results/summary.h"
#include "results/tables.h"
#include "world/attributes.h"
#include "world/choices.h"
#include "world/scenario.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 8u

static void put(json_t *object, const char *key, const char *text)
{
    if (text != NULL && text[0] != '\0') {
        json_object_set_new(object, key, json_string(text));
    }
}

// -- parameters

static const char *type_name(sim_attr_type_t type)
{
    switch (type) {
    case SIM_ATTR_BOOL:
        return "bool";
    case SIM_ATTR_COUNT:
        return "count";
    case SIM_ATTR_BYTES:
        return "bytes";
    case SIM_ATTR_TIME:
        return "time";
    case SIM_ATTR_RATE:
        return "rate";
    case SIM_ATTR_RATIO:
        return "ratio";
    case SIM_ATTR_ENUM:
        return "enum";
    case SIM_ATTR_STRING:
        return "string";
    case SIM_ATTR_NAME:
        return "name";
    case SIM_ATTR_PRIORITIES:
        return "priorities";
    case SIM_ATTR_WEIGHTS:
        return "weights";
    case SIM_ATTR_PROFILES:
        return "profiles";
    }
    return "";
}

json_t *results_words_json(const char *words)
{
    json_t *const list = json_array();
    for (const char *p = words; *p != '\0';) {
        const size_t size = strcspn(p, "|");
        json_array_append_new(list, json_stringn(p, size));
        p += size + (p[size] == '|');
    }
    return list;
}

json_t *results_names_json(const world_registry_t *registry,
                           const char *path,
                           const char *default_text)
{
    const char **names = NULL;
    const size_t count = world_choices(registry, path, default_text, &names);
    json_t *const list = count > 0 ? json_array() : NULL;
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, json_string(names[i]));
    }
    sim_free((void *)names);
    return list;
}

static json_t *attr_json(const world_registry_t *registry,
                         const sim_attr_table_t *table,
                         const sim_attr_t *attr)
{
    json_t *const object = json_object();
    put(object, "path", attr->path);
    put(object, "type", type_name(attr->type));
    put(object, "scope", table->scope);
    json_object_set_new(object, "default", json_string(attr->default_text));
    put(object, "min", attr->min_text);
    put(object, "max", attr->max_text);
    json_t *const choices = attr->choices != NULL
                                ? results_words_json(attr->choices)
                                : results_names_json(registry, attr->path, attr->default_text);
    if (choices != NULL) {
        json_object_set_new(object, "choices", choices);
    }
    if (attr->auto_ok) {
        json_object_set_new(object, "auto", json_true());
    }
    put(object, "help", attr->help);
    return object;
}

json_t *results_parameters_json(const world_registry_t *registry)
{
    const sim_attr_table_t **tables = NULL;
    const size_t count = world_attr_tables(registry, &tables);
    json_t *const list = json_array();
    for (size_t t = 0; t < count; t++) {
        for (size_t i = 0; i < tables[t]->count; i++) {
            json_array_append_new(list, attr_json(registry, tables[t], &tables[t]->attrs[i]));
        }
    }
    sim_free((void *)tables);
    return list;
}

// -- tables

static json_t *table_json(const results_table_t *table)
{
    json_t *const object = json_object();
    put(object, "help", table->help);
    json_t *const columns = json_array();
    for (size_t i = 0; i < table->count; i++) {
        const results_column_t *const column = &table->columns[i];
        for (unsigned p = 0; p < (column->per_class ? NET_PRIORITIES : 1); p++) {
            const char *const mark = column->per_class ? strstr(column->name, "%u") : NULL;
            char *const name =
                mark == NULL
                    ? sim_strdup(column->name)
                    : sim_format("%.*s%u%s", (int)(mark - column->name), column->name, p, mark + 2);
            json_t *const entry = json_object();
            put(entry, "name", name);
            put(entry, "unit", column->unit);
            put(entry, "help", column->help);
            json_array_append_new(columns, entry);
            sim_free(name);
        }
    }
    json_object_set_new(object, "columns", columns);
    return object;
}

// -- summary.json, as a JSON Schema

static json_t *described(const char *type, const char *unit, const char *help)
{
    json_t *const object = json_object();
    put(object, "type", type);
    put(object, "unit", unit);
    put(object, "description", help);
    return object;
}

static json_t *kind_json(sim_report_kind_t kind, const char *unit, const char *help)
{
    switch (kind) {
    case SIM_REPORT_U64:
    case SIM_REPORT_U32: {
        json_t *const object = described(NULL, unit, help); // as text beyond 2^63
        json_object_set_new(object, "type", json_pack("[ss]", "integer", "string"));
        return object;
    }
    case SIM_REPORT_REAL: {
        json_t *const object = described(NULL, unit, help);
        json_object_set_new(object, "type", json_pack("[ss]", "number", "null"));
        return object;
    }
    case SIM_REPORT_BOOL:
        return described("boolean", unit, help);
    case SIM_REPORT_STRING: {
        json_t *const object = described(NULL, unit, help);
        json_object_set_new(object, "type", json_pack("[ss]", "string", "null"));
        return object;
    }
    case SIM_REPORT_OBJECT:
    case SIM_REPORT_PART:
        return described("object", unit, help);
    case SIM_REPORT_LIST:
        return described("array", unit, help);
    }
    return described(NULL, unit, help);
}

static json_t *report_json(const sim_report_table_t *table, unsigned depth)
{
    SIM_CHECK(depth < DEPTH_MAX);
    json_t *const properties = json_object();
    for (size_t i = 0; i < table->count; i++) {
        const sim_report_row_t *const row = &table->rows[i];
        json_t *const entry = kind_json(row->kind, row->unit, row->help);
        json_t *items = entry;
        if (row->kind == SIM_REPORT_LIST) {
            items = kind_json(row->of, "", "");
            json_object_set_new(entry, "items", items);
        }
        if (row->table != NULL) {
            json_object_set_new(items, "properties", report_json(row->table, depth + 1));
        }
        json_object_set_new(properties, row->name, entry);
    }
    return properties;
}

static json_t *summary_json(const world_registry_t *registry)
{
    json_t *const properties = json_object();
    for (const results_summary_field_t *field = results_summary_fields; field->path != NULL;
         field++) {
        json_t *into = properties;
        const char *const dot = strchr(field->path, '.');
        if (dot != NULL) {
            char *const group = sim_format("%.*s", (int)(dot - field->path), field->path);
            json_t *object = json_object_get(properties, group);
            if (object == NULL) {
                object = described("object", "", "");
                json_object_set_new(object, "properties", json_object());
                json_object_set_new(properties, group, object);
            }
            into = json_object_get(object, "properties");
            sim_free(group);
        }
        const char *const key = dot != NULL ? dot + 1 : field->path;
        json_object_set_new(into, key, described(NULL, field->unit, field->help));
    }
    json_t *const apps = json_object();
    for (const app_ops_t *const *ops = world_registry_apps(registry); *ops != NULL; ops++) {
        if ((*ops)->report != NULL) {
            json_object_set_new(apps, (*ops)->name, report_json((*ops)->report, 0));
        }
    }
    json_t *const nics = json_object();
    for (const nic_report_info_t *info = nic_report_infos; info->name != NULL; info++) {
        json_object_set_new(nics, info->name, report_json(info->table, 0));
    }
    json_t *const schema = described("object", "", "summary.json");
    json_object_set_new(schema, "properties", properties);
    json_object_set_new(schema, "apps_by_kind", apps);
    json_object_set_new(schema, "nics_by_part", nics);
    return schema;
}

// -- metrics of series

typedef void (*metric_fn)(const char *of,
                          const char *name,
                          const char *unit,
                          const char *help,
                          bool per_class,
                          void *ctx);

// Counters of NICs have no unit in their table: their names end with it.
static const char *counter_unit(const char *name)
{
    static const char *const ends[][2] = {{"_packets", "packets"},
                                          {"_bytes", "bytes"},
                                          {"_ps", "ps"}};
    const size_t size = strlen(name);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        const size_t end = strlen(ends[i][0]);
        if (size > end && strcmp(name + size - end, ends[i][0]) == 0) {
            return ends[i][1];
        }
    }
    return "";
}

static void each_metric(metric_fn fn, void *ctx)
{
    for (const net_port_metric_t *m = net_port_metrics; m->name != NULL; m++) {
        fn("port", m->name, m->unit, m->help, m->per_priority, ctx);
    }
    for (const world_switch_metric_t *m = world_switch_metrics; m->name != NULL; m++) {
        fn("switch", m->name, m->unit, m->help, false, ctx);
    }
    for (const nic_counter_info_t *m = nic_counter_infos; m->name != NULL; m++) {
        fn("nic", m->name, counter_unit(m->name), m->help, false, ctx);
    }
    for (const nic_cache_metric_t *m = nic_cache_metrics; m->name != NULL; m++) {
        fn("nic", m->name, m->unit, m->help, false, ctx);
    }
    for (const nic_qp_metric_t *m = nic_qp_metrics; m->name != NULL; m++) {
        fn("qp", m->name, m->unit, m->help, false, ctx);
    }
}

static void add_metric(const char *of,
                       const char *name,
                       const char *unit,
                       const char *help,
                       bool per_class,
                       void *ctx)
{
    json_t *const entry = json_object();
    put(entry, "of", of);
    put(entry, "name", name);
    put(entry, "unit", unit);
    put(entry, "help", help);
    if (per_class) {
        json_object_set_new(entry, "per_class", json_true());
    }
    json_array_append_new(ctx, entry);
}

typedef struct wanted_unit {
    const char *metric;
    size_t size; // without the class
    const char *unit;
} wanted_unit_t;

static void take_unit(const char *of,
                      const char *name,
                      const char *unit,
                      const char *help,
                      bool per_class,
                      void *ctx)
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

json_t *results_schema_json(const world_registry_t *registry)
{
    json_t *const metrics = json_array();
    each_metric(add_metric, metrics);
    json_t *const tables = json_object();
    for (size_t i = 0; results_tables[i] != NULL; i++) {
        json_object_set_new(tables, results_tables[i]->file_name, table_json(results_tables[i]));
    }
    json_t *const schema = json_object();
    put(schema, "$schema", "https://json-schema.org/draft/2020-12/schema");
    put(schema, "title", "results of rocesim");
    put(schema, "version", ROCESIM_VERSION);
    json_object_set_new(schema, "summary", summary_json(registry));
    json_object_set_new(schema, "tables", tables);
    json_object_set_new(schema, "metrics", metrics);
    json_object_set_new(schema, "parameters", results_parameters_json(registry));
    return schema;
}

char *results_schema_text(const world_registry_t *registry)
{
    json_t *const schema = results_schema_json(registry);
    char *const dumped = json_dumps(schema, JSON_COMPACT);
    SIM_CHECK(dumped != NULL);
    char *const text = sim_format("%s\n", dumped);
    free(dumped);
    json_decref(schema);
    return text;
}
