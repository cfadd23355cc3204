// SPDX-License-Identifier: Apache-2.0
// Goal: apps.csv has each value that summary.json has of an application, once, in the same order,
// with its unit: plain values, distributions, objects, lists of objects and lists within them.
// Method: runs of several kinds of applications; apps[] of the summary flattened here from its
// JSON, against the file, row by row.
// Does not pin: what the values are.
#include "results/csv.h"
#include "results/runner.h"

#include "tests/check_main.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOP "topology: {star: {hosts: 4, rate: 100Gbps, delay: 1us}}\n"

static const char *const scenarios[] = {
    TOP "traffic:\n"
        "  - herd: {server: host0, clients-on: 'host[1-3]', clients: 6, workers: 3, keys: 500,\n"
        "           requests: 200, series: 20us, log: on}\n"
        "  - herd: {server: host1, clients-on: host2, clients: 2, workers: 1, keys: 50,\n"
        "           requests: 10, system: pilaf, preset: sigcomm-2014}\n",
    TOP "nic: {model: detailed}\n"
        "traffic:\n"
        "  - contexts: {tokens: 4, pattern: scan, operations: 40, warm-up: 4}\n"
        "  - verbs-rate: {from: host0, to: 'host[1-3]', threads-per-machine: 1, measure: 20us}\n",
};

typedef struct reader {
    results_csv_t *csv;
    const json_t *units;
    size_t app;
    size_t rows;
    size_t units_seen;
} reader_t;

enum { APP, KIND, LIST, ITEM, FIELD, VALUE, UNIT, COLUMN_COUNT };
static const char *const names[] = {"app", "kind", "list", "item", "field", "value", "unit"};

static void compare(reader_t *reader, const char *list, const char *item, const char *field,
                    const json_t *value)
{
    world_error_t error;
    bool end = true;
    ck_assert_int_eq(results_csv_next(reader->csv, &end, &error), SIM_OK);
    ck_assert_msg(!end, "%s %s %s has no row", list, item, field);
    reader->rows++;
    ck_assert_int_eq(atoi(results_csv_text(reader->csv, APP)), (int)reader->app);
    ck_assert_str_eq(results_csv_text(reader->csv, LIST), list);
    ck_assert_str_eq(results_csv_text(reader->csv, ITEM), item);
    ck_assert_str_eq(results_csv_text(reader->csv, FIELD), field[0] != '\0' ? field : "value");
    const char *const text = results_csv_text(reader->csv, VALUE);
    if (json_is_string(value)) {
        ck_assert_str_eq(text, json_string_value(value));
    } else if (json_is_boolean(value)) {
        ck_assert_str_eq(text, json_is_true(value) ? "true" : "false");
    } else if (json_is_null(value)) {
        ck_assert_str_eq(text, "");
    } else {
        const double number = json_number_value(value);
        ck_assert_double_le(fabs(strtod(text, NULL) - number), 1e-11 * fabs(number));
    }
    // The units of the summary are by path without indices.
    char *const path = sim_format("%s%s%s", list, list[0] != '\0' ? "[]." : "", field);
    const char *const unit = json_string_value(json_object_get(reader->units, path));
    if (unit != NULL) {
        ck_assert_str_eq(results_csv_text(reader->csv, UNIT), unit);
        reader->units_seen++;
    }
    sim_free(path);
}

static void walk(reader_t *reader, const char *list, const char *item, const char *path,
                 const json_t *value)
{
    if (json_is_object(value)) {
        const char *key;
        json_t *inner;
        json_object_foreach((json_t *)(uintptr_t)value, key, inner)
        {
            char *const below = sim_format("%s%s%s", path, path[0] != '\0' ? "." : "", key);
            walk(reader, list, item, below, inner);
            sim_free(below);
        }
    } else if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            char *const index = sim_format("%zu", i);
            char *const below = sim_format("%s[%zu]", path, i);
            const bool outer = list[0] == '\0';
            walk(reader, outer ? path : list, outer ? index : item, outer ? "" : below,
                 json_array_get(value, i));
            sim_free(below);
            sim_free(index);
        }
    } else {
        compare(reader, list, item, path, value);
    }
}

// Returns whether the summary has this key for every application, besides its own report.
static bool is_of_all(const char *key)
{
    static const char *const of_all[] = {"kind", "transfers_done", "transfers_planned", "units",
                                         "flows"};
    for (size_t i = 0; i < SIM_COUNT_OF(of_all); i++) {
        if (strcmp(key, of_all[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void compare_all(const results_run_t *run, reader_t *reader)
{
    const json_t *const apps = json_object_get(results_json(run), "apps");
    for (; reader->app < json_array_size(apps); reader->app++) {
        const json_t *const app = json_array_get(apps, reader->app);
        reader->units = json_object_get(app, "units");
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)(uintptr_t)app, key, value)
        {
            if (!is_of_all(key)) {
                walk(reader, "", "", key, value);
                ck_assert_str_eq(results_csv_text(reader->csv, KIND),
                                 json_string_value(json_object_get(app, "kind")));
            }
        }
    }
}

START_TEST(rows_are_the_values_of_the_summary)
{
    char folder[] = "/tmp/test_table_apps.XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    char *const file = sim_format("%s/scenario.yaml", folder);
    char *const out = sim_format("%s/out", folder);
    char *const table = sim_format("%s/out/apps.csv", folder);
    FILE *const stream = fopen(file, "w");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_ge(fputs(scenarios[_i], stream), 0);
    ck_assert_int_eq(fclose(stream), 0);
    world_scenario_t *scenario = NULL;
    world_error_t error;
    ck_assert_msg(world_scenario_load(NULL, file, NULL, 0, &scenario, &error) == SIM_OK, "%s",
                  error.text);
    const results_options_t options = {.folder = out};
    results_run_t *run = NULL;
    ck_assert_msg(results_execute(scenario, &options, &run, &error) == SIM_OK, "%s", error.text);
    ck_assert(results_files_whole(run));
    reader_t reader = {0};
    ck_assert_int_eq(results_csv_open(table, names, COLUMN_COUNT, &reader.csv, &error), SIM_OK);
    compare_all(run, &reader);
    bool end = false;
    ck_assert_int_eq(results_csv_next(reader.csv, &end, &error), SIM_OK);
    ck_assert_msg(end, "a row that the summary does not have");
    ck_assert_uint_gt(reader.rows, 15);
    ck_assert_uint_gt(reader.units_seen, 3);
    results_csv_close(reader.csv);
    results_run_destroy(run);
    world_scenario_destroy(scenario);
    char *const command = sim_format("rm -r %s", folder);
    ck_assert_int_eq(system(command), 0); // NOLINT(cert-env33-c)
    sim_free(command);
    sim_free(table);
    sim_free(out);
    sim_free(file);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(rows_are_the_values_of_the_summary, 0, SIM_COUNT_OF(scenarios)))
