// SPDX-License-Identifier: Apache-2.0
// results/read/comparison_rows.c - from the summary of a run to rows of the comparison.
#include "results/comparison.h"
#include "results/runner.h"
#include "results/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PORTS_SHOWN 3u
#define ITEMS_MAX 64u // of a list, beyond which it is not compared item by item
#define PATH_SIZE_MAX 256u

// -- rows

results_comparison_row_t *results_comparison_row(results_comparison_table_t *table,
                                                 results_comparison_unit_t unit, const char *key,
                                                 const char *label)
{
    for (size_t i = 0; i < table->row_count; i++) {
        const size_t at = (table->cursor + i) % table->row_count;
        if (strcmp(table->rows[at].key, key) == 0) {
            results_comparison_row_t *const found = &table->rows[at];
            table->cursor = SIM_MAX(at + 1, table->cursor);
            if (found->label == NULL && label != NULL) {
                found->label = sim_strdup(label);
            }
            return found;
        }
    }
    SIM_GROW(table->rows, table->row_count, &table->row_capacity);
    const size_t at = SIM_MIN(table->cursor, table->row_count);
    memmove(&table->rows[at + 1], &table->rows[at], (table->row_count - at) * sizeof(*table->rows));
    table->row_count++;
    table->cursor = at + 1;
    results_comparison_row_t *const row = &table->rows[at];
    *row = (results_comparison_row_t){.key = sim_strdup(key), .unit = unit};
    row->label = label != NULL ? sim_strdup(label) : NULL;
    if (unit == RESULTS_COMPARISON_TEXT) {
        row->texts = sim_alloc_array(table->run_count, sizeof(*row->texts));
        memset(row->texts, 0, table->run_count * sizeof(*row->texts));
        return row;
    }
    row->values = sim_alloc_array(table->run_count, sizeof(*row->values));
    for (size_t i = 0; i < table->run_count; i++) {
        row->values[i] = RESULTS_COMPARISON_NONE;
    }
    return row;
}

static void put_value(results_comparison_row_t *row, size_t run, double value)
{
    SIM_CHECK(row->values != NULL);
    row->values[run] = value;
}

void results_comparison_put_text(results_comparison_row_t *row, size_t run, const char *text)
{
    SIM_CHECK(row->texts != NULL);
    sim_free(row->texts[run]);
    row->texts[run] = sim_strdup(text);
}

// -- filling them

typedef struct taker {
    results_comparison_table_t *table;
    size_t run;
    const json_t *summary;
    const results_summary_field_t *fields;
    size_t field_count;
} taker_t;

static void put(const taker_t *taker, results_comparison_unit_t unit, const char *key,
                const char *label, double value)
{
    put_value(results_comparison_row(taker->table, unit, key, label), taker->run, value);
}

static void put_json(const taker_t *taker, results_comparison_unit_t unit, const char *key,
                     const char *label, const json_t *value)
{
    put(taker, unit, key, label,
        json_is_number(value) ? json_number_value(value) : RESULTS_COMPARISON_NONE);
}

static void put_path(const taker_t *taker, results_comparison_unit_t unit, const char *path,
                     const char *label)
{
    put_json(taker, unit, path, label, results_json_at(taker->summary, path));
}

static void put_text(const taker_t *taker, const char *key, const char *label, const char *text)
{
    if (text != NULL) {
        results_comparison_row_t *const row =
            results_comparison_row(taker->table, RESULTS_COMPARISON_TEXT, key, label);
        results_comparison_put_text(row, taker->run, text);
    }
}

static void put_text_path(const taker_t *taker, const char *path, const char *label)
{
    put_text(taker, path, label, json_string_value(results_json_at(taker->summary, path)));
}

// Puts the names of the plug-ins with the first digits of their hashes.
static void put_plugins(const taker_t *taker)
{
    const json_t *const plugins = json_object_get(taker->summary, "plugins");
    char *text = NULL;
    for (size_t i = 0; i < json_array_size(plugins); i++) {
        const json_t *const plugin = json_array_get(plugins, i);
        const char *const name = json_string_value(json_object_get(plugin, "name"));
        const char *const hash = json_string_value(json_object_get(plugin, "sha256"));
        char *const longer =
            sim_format("%s%s%s %.8s", text != NULL ? text : "", text != NULL ? ", " : "",
                       name != NULL ? name : "", hash != NULL ? hash : "");
        sim_free(text);
        text = longer;
    }
    if (text != NULL) {
        put_text(taker, "plugins", "plug-ins", text);
    }
    sim_free(text);
}

// Puts a number of flows.by_size as a row for each size and one for all; `what` begins their
// labels, NULL: only the CSV has them.
static void put_by_size(const taker_t *taker, const json_t *flows, results_comparison_unit_t unit,
                        const char *path, const char *what)
{
    const json_t *const sizes = json_object_get(flows, "by_size");
    for (size_t i = 0; i < json_array_size(sizes); i++) {
        const json_t *const bin = json_array_get(sizes, i);
        const char *const size = json_string_value(json_object_get(bin, "size"));
        if (size == NULL) {
            continue;
        }
        char *const key = sim_format("flows.by_size[%s].%s", size, path);
        char *const label = what != NULL ? sim_format("%s, flows of %s", what, size) : NULL;
        put_json(taker, unit, key, label, results_json_at(bin, path));
        sim_free(key);
        sim_free(label);
    }
    char *const key = sim_format("flows.%s", path);
    char *const label = what != NULL ? sim_format("%s, all flows", what) : NULL;
    put_json(taker, unit, key, label, results_json_at(flows, path));
    sim_free(key);
    sim_free(label);
}

// Returns how a field's value is shown: as its unit says, else as the number it is.
static results_comparison_unit_t unit_of_field(const results_summary_field_t *field)
{
    static const struct {
        const char *unit;
        results_comparison_unit_t shown;
    } units[] = {{"bytes", RESULTS_COMPARISON_BYTES},
                 {"ps", RESULTS_COMPARISON_PS},
                 {"us", RESULTS_COMPARISON_US}};
    for (size_t i = 0; i < SIM_COUNT_OF(units); i++) {
        if (strcmp(field->unit, units[i].unit) == 0) {
            return units[i].shown;
        }
    }
    return field->kind == RESULTS_FIELD_WHOLE ? RESULTS_COMPARISON_COUNT : RESULTS_COMPARISON_REAL;
}

// Puts a row for each field of summary.json that comparisons print in this section.
static void take_section(const taker_t *taker, results_section_t section)
{
    for (size_t i = 0; i < taker->field_count; i++) {
        const results_summary_field_t *const field = &taker->fields[i];
        const bool told = field->kind != RESULTS_FIELD_INSIDE || field->label != NULL;
        if (field->section == section && told) {
            const json_t *const value = results_json_at(taker->summary, field->path);
            const bool is_left_out = field->rare && !(json_number_value(value) > 0);
            put_json(taker, unit_of_field(field), field->path, is_left_out ? NULL : field->label,
                     value);
        }
    }
}

static void take_flows(const taker_t *taker, const json_t *flows)
{
    take_section(taker, RESULTS_SECTION_FLOWS);
    take_section(taker, RESULTS_SECTION_RATES);
    take_section(taker, RESULTS_SECTION_TIMES);
    put_by_size(taker, flows, RESULTS_COMPARISON_RATIO, "slowdown.p50", "slowdown p50");
    put_by_size(taker, flows, RESULTS_COMPARISON_RATIO, "slowdown.p99", "slowdown p99");
    static const char *const others[] = {"mean", "p90", "max"};
    for (size_t i = 0; i < SIM_COUNT_OF(others); i++) {
        char *const path = sim_format("slowdown.%s", others[i]);
        put_by_size(taker, flows, RESULTS_COMPARISON_RATIO, path, NULL);
        sim_free(path);
    }
    static const char *const times[] = {"p50", "p99", "mean", "p90", "max"};
    for (size_t i = 0; i < SIM_COUNT_OF(times); i++) {
        char *const path = sim_format("fct_us.%s", times[i]);
        put_by_size(taker, flows, RESULTS_COMPARISON_US, path, NULL);
        sim_free(path);
    }
    put_by_size(taker, flows, RESULTS_COMPARISON_COUNT, "count", NULL);
    put_by_size(taker, flows, RESULTS_COMPARISON_COUNT, "completed", NULL);
}

static void take_network(const taker_t *taker)
{
    take_section(taker, RESULTS_SECTION_NETWORK);
    const json_t *const ports = json_object_get(taker->summary, "hottest_ports");
    for (size_t rank = 0; rank < PORTS_SHOWN; rank++) {
        const json_t *const port = json_array_get(ports, rank);
        char *const key = sim_format("hottest_ports[%zu].port", rank);
        char *const label = sim_format("hottest port %zu", rank + 1);
        put_text(taker, key, label, json_string_value(json_object_get(port, "port")));
        sim_free(key);
        sim_free(label);
        char *const queue = sim_format("hottest_ports[%zu].queue_bytes_max", rank);
        put_json(taker, RESULTS_COMPARISON_BYTES, queue, "  longest queue",
                 json_object_get(port, "queue_bytes_max"));
        sim_free(queue);
    }
}

// Returns whether a number of a report is left to the CSV: the table for people does not show it.
static bool is_fine_print(const char *name)
{
    static const char *const names[] = {"count", "min", "p90", "p999"};
    for (size_t i = 0; i < SIM_COUNT_OF(names); i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return sim_ends_with(name, "_bytes") || strncmp(name, "transfers_", 10) == 0;
}

typedef struct numbers {
    const char *key;     // of the row: "apps[0]"
    const char *label;   // "0, poisson"
    const json_t *units; // by path; NULL: none
    const char *skip;    // an object at the top that is not the part's own; NULL: none
    void (*take)(const struct numbers *numbers, const char *path, const char *name,
                 const json_t *value, bool listed, void *ctx);
    void *ctx;
} numbers_t;

// Calls numbers->take for every number inside an object, by its path ("latency_us.p50",
// "fct_ns[3]").
static void each_number(const numbers_t *numbers, const json_t *object, const char *path,
                        bool listed)
{
    const bool too_deep = strlen(path) > PATH_SIZE_MAX;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        if (too_deep ||
            (*path == '\0' && numbers->skip != NULL && strcmp(name, numbers->skip) == 0)) {
            continue;
        }
        char *const inside = sim_format("%s%s%s", path, *path == '\0' ? "" : ".", name);
        if (json_is_number(value)) {
            numbers->take(numbers, inside, name, value, listed, numbers->ctx);
        }
        each_number(numbers, value, inside, listed);
        for (size_t i = 0; i < json_array_size(value) && i < ITEMS_MAX; i++) {
            char *const item = sim_format("%s[%zu]", inside, i);
            const json_t *const at = json_array_get(value, i);
            if (json_is_number(at)) {
                numbers->take(numbers, item, name, at, true, numbers->ctx);
            }
            each_number(numbers, at, item, true);
            sim_free(item);
        }
        sim_free(inside);
    }
}

// Returns the unit of the number, or of the innermost object around it that has one.
static const char *unit_of(const json_t *units, const char *path, const json_t *value)
{
    char *const at = sim_strdup(path);
    const char *unit = json_string_value(json_object_get(units, at));
    for (char *dot = strrchr(at, '.'); unit == NULL && dot != NULL && json_is_real(value);
         dot = strrchr(at, '.')) {
        *dot = '\0';
        unit = json_string_value(json_object_get(units, at));
    }
    sim_free(at);
    return unit;
}

static void take_app_number(const numbers_t *numbers, const char *path, const char *name,
                            const json_t *value, bool listed, void *ctx)
{
    const taker_t *const taker = ctx;
    char *const key = sim_format("%s.%s", numbers->key, path);
    const char *const unit = unit_of(numbers->units, path, value);
    char *const label = sim_format("%s: %s%s%s", numbers->label, path, unit != NULL ? ", " : "",
                                   unit != NULL ? unit : "");
    put_json(taker, RESULTS_COMPARISON_REAL, key, listed || is_fine_print(name) ? NULL : label,
             value);
    sim_free(key);
    sim_free(label);
}

// Puts the values that applications reported. Bytes, transfers and lists are in the CSV only.
static void take_apps(const taker_t *taker)
{
    const json_t *const apps = json_object_get(taker->summary, "apps");
    for (size_t i = 0; i < json_array_size(apps); i++) {
        const json_t *const app = json_array_get(apps, i);
        const char *const kind = json_string_value(json_object_get(app, "kind"));
        if (kind == NULL) {
            continue;
        }
        char *const key = sim_format("apps[%zu]", i);
        char *const label = sim_format("%zu, %s", i, kind);
        const numbers_t numbers = {key,     label,           json_object_get(app, "units"),
                                   "flows", take_app_number, (void *)(uintptr_t)taker};
        each_number(&numbers, app, "", false);
        sim_free(key);
        sim_free(label);
    }
}

// Numbers of the parts of NICs, all NICs added up as the summary on the terminal does.
typedef struct part_sum {
    char *path;
    bool whole;
    bool fine_print;
    double value;
    size_t count;
} part_sum_t;

typedef struct part_sums {
    part_sum_t *sums;
    size_t count;
    size_t capacity;
} part_sums_t;

static void add_part_number(const numbers_t *numbers, const char *path, const char *name,
                            const json_t *value, bool listed, void *ctx)
{
    part_sums_t *const sums = ctx;
    if (listed || strchr(path, '.') == NULL) { // the NIC's own counters are taken by themselves
        return;
    }
    (void)numbers;
    size_t i = 0;
    while (i < sums->count && strcmp(sums->sums[i].path, path) != 0) {
        i++;
    }
    if (i == sums->count) {
        SIM_APPEND(sums->sums, sums->count, sums->capacity,
                   (part_sum_t){.path = sim_strdup(path),
                                .whole = json_is_integer(value),
                                .fine_print = is_fine_print(name)});
    }
    part_sum_t *const sum = &sums->sums[i];
    const double number = json_number_value(value);
    sum->count++;
    sum->value = !sim_ends_with(name, "_max")             ? sum->value + number
                 : sum->count == 1 || number > sum->value ? number
                                                          : sum->value;
    sum->whole = sum->whole || sim_ends_with(name, "_max");
}

static void take_nic_parts(const taker_t *taker)
{
    const json_t *const nics = json_object_get(taker->summary, "nics");
    part_sums_t sums = {0};
    const numbers_t numbers = {"nics[*]", "NICs", NULL, NULL, add_part_number, &sums};
    for (size_t i = 0; i < json_array_size(nics); i++) {
        each_number(&numbers, json_array_get(nics, i), "", false);
    }
    for (size_t i = 0; i < sums.count; i++) {
        const part_sum_t *const sum = &sums.sums[i];
        char *const key = sim_format("nics[*].%s", sum->path);
        char *const label = sim_format("NICs: %s", sum->path);
        put(taker, RESULTS_COMPARISON_REAL, key, sum->fine_print ? NULL : label,
            sum->whole ? sum->value : sum->value / (double)sum->count);
        SIM_FREE_ALL(key, label, sum->path);
    }
    sim_free(sums.sums);
}

static double sum_of(const json_t *nics, const char *name)
{
    double sum = 0;
    for (size_t i = 0; i < json_array_size(nics); i++) {
        sum += json_number_value(json_object_get(json_array_get(nics, i), name));
    }
    return sum;
}

#define HITS "_hits"
#define MISSES "_misses"

// Puts the share of hits of a cache whose counter of hits has a label.
static void put_hit_share(const taker_t *taker, const json_t *nics, const nic_counter_info_t *info)
{
    const size_t size = strlen(info->name) - strlen(HITS);
    char *const misses = sim_format("%.*s" MISSES, (int)size, info->name);
    char *const key = sim_format("nics.%.*s_hit_share", (int)size, info->name);
    const double hits = sum_of(nics, info->name);
    const double all = hits + sum_of(nics, misses);
    put(taker, RESULTS_COMPARISON_SHARE, key, info->total.label,
        all > 0 ? hits / all : RESULTS_COMPARISON_NONE);
    sim_free(misses);
    sim_free(key);
}

// Puts a counter of detailed NICs, summed over all of them: as a sum, or per operation.
static void put_nic_counter(const taker_t *taker, const json_t *nics,
                            const nic_counter_info_t *info, double operations)
{
    const bool sum = strcmp(info->total.group, "sum") == 0;
    char *const key = sim_format("nics.%s%s", info->name, sum ? "" : "_per_operation");
    const double value = sum_of(nics, info->name);
    put(taker, sum ? RESULTS_COMPARISON_COUNT : RESULTS_COMPARISON_REAL, key, info->total.label,
        sum ? value : value / operations);
    sim_free(key);
}

// Puts the counters of detailed NICs that have a label: sums, per operation, and shares of hits.
static void take_nics(const taker_t *taker)
{
    const json_t *const nics = json_object_get(taker->summary, "nics");
    const double operations = json_number_value(json_object_get(taker->summary, "operations"));
    if (json_array_size(nics) == 0 || operations < 1) {
        return;
    }
    put_path(taker, RESULTS_COMPARISON_COUNT, "operations", "NIC operations");
    put_path(taker, RESULTS_COMPARISON_REAL, "events_per_operation", NULL);
    for (const nic_counter_info_t *info = nic_rnic_counter_infos; info->name != NULL; info++) {
        if (info->total.label != NULL && sim_ends_with(info->name, HITS)) {
            put_hit_share(taker, nics, info);
        } else if (info->total.label != NULL) {
            put_nic_counter(taker, nics, info, operations);
        }
    }
}

// Finds the flows of the run, or those of the traffic entry that --app asks for.
static sim_err_t find_flows(const taker_t *taker, const json_t **flows, world_error_t *error)
{
    const char *const wanted = taker->table->options->app;
    *flows = json_object_get(taker->summary, "flows");
    if (wanted == NULL) {
        return SIM_OK;
    }
    const json_t *const apps = json_object_get(taker->summary, "apps");
    char *end = NULL;
    const unsigned long number = strtoul(wanted, &end, 10);
    const bool is_number = end != wanted && *end == '\0';
    const json_t *found = NULL;
    size_t matches = 0;
    for (size_t i = 0; i < json_array_size(apps); i++) {
        const json_t *const app = json_array_get(apps, i);
        const char *const kind = json_string_value(json_object_get(app, "kind"));
        if (is_number ? i == number : kind != NULL && strcmp(kind, wanted) == 0) {
            found = json_object_get(app, "flows");
            matches++;
        }
    }
    *flows = found;
    if (matches == 1 && found != NULL) {
        return SIM_OK;
    }
    world_shown_t shown;
    return world_fail(
        error, SIM_ERR_INVALID, NULL,
        "rocesim compare: --app %s matches %zu of the %zu traffic entries of %s, expected %s",
        world_show(&shown, wanted), matches, json_array_size(apps),
        taker->table->runs[taker->run].folder,
        matches > 1    ? "a number: 0, 1..."
        : matches == 0 ? "a kind (poisson, incast...) or a number"
                       : "one that has flows, in a summary.json that tells them apart");
}

static sim_err_t take_all(const taker_t *taker, world_error_t *error)
{
    const json_t *flows = NULL;
    const sim_err_t result = find_flows(taker, &flows, error);
    if (result != SIM_OK) {
        return result;
    }
    put_text_path(taker, "scenario", "scenario");
    put_text_path(taker, "congestion_control", "congestion control");
    put_plugins(taker);
    put_text_path(taker, "ended", "ended");
    take_section(taker, RESULTS_SECTION_HEAD);
    take_flows(taker, flows);
    take_network(taker);
    take_apps(taker);
    take_nics(taker);
    take_nic_parts(taker);
    put_text_path(taker, "digest", "digest");
    put_text_path(taker, "version", NULL);
    return SIM_OK;
}

sim_err_t results_comparison_take(results_comparison_table_t *table, size_t run,
                                  const json_t *summary, world_error_t *error)
{
    size_t count = 0;
    results_summary_field_t *const fields = results_summary_fields(&count);
    const taker_t taker = {table, run, summary, fields, count};
    const sim_err_t result = take_all(&taker, error);
    sim_free(fields);
    return result;
}

double results_comparison_number(const json_t *summary, const char *key)
{
    static const results_comparison_options_t options = {.csv = true};
    results_comparison_table_t table = {.options = &options};
    table.runs = sim_alloc_array(1, sizeof(*table.runs));
    table.runs[0] = (results_comparison_run_t){.folder = "", .name = sim_strdup("")};
    table.run_count = 1;
    world_error_t ignored;
    double number = RESULTS_COMPARISON_NONE;
    if (results_comparison_take(&table, 0, summary, &ignored) == SIM_OK) {
        for (size_t i = 0; i < table.row_count; i++) {
            if (table.rows[i].texts == NULL && strcmp(table.rows[i].key, key) == 0) {
                number = table.rows[i].values[0];
            }
        }
    }
    results_comparison_close(&table);
    return number;
}

bool results_comparison_has_nic_key(const char *key)
{
    for (const nic_counter_info_t *info = nic_rnic_counter_infos; info->name != NULL; info++) {
        const char *const name = info->name;
        const bool hits = sim_ends_with(name, HITS);
        const bool sum = info->total.label != NULL && strcmp(info->total.group, "sum") == 0;
        const size_t size = strlen(name) - (hits ? strlen(HITS) : 0);
        char *const own = sim_format("nics.%.*s%s", (int)size, name,
                                     hits  ? "_hit_share"
                                     : sum ? ""
                                           : "_per_operation");
        const bool same = info->total.label != NULL && strcmp(own, key) == 0;
        sim_free(own);
        if (same) {
            return true;
        }
    }
    return false;
}
