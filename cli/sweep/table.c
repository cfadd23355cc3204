// SPDX-License-Identifier: Apache-2.0
// cli/sweep/table.c - writes runs.csv and points.csv of a sweep.
//
// The tables depend on the results of the runs alone, not on the order in which runs ended or on
// how
// often the sweep was restarted.
#include "cli/sweep/table.h"
#include "cli/compare/compare.h"
#include "cli/sweep/columns.h"
#include "cli/sweep/sweep.h"
#include "results/file.h"
#include "results/runner.h"
#include "results/spread.h"
#include "results/warning_kinds.h"

#include <errno.h>
#include <math.h>
#include <string.h>

// Returns the number in a column of a run's summary, or NAN if the run has none.
static double value_of(const cli_sweep_run_t *run, const char *path)
{
    const json_t *const value = results_json_at(run->summary, path);
    if (json_is_number(value)) {
        return json_number_value(value);
    }
    return value == NULL && run->summary != NULL ? results_comparison_number(run->summary, path)
                                                 : (double)NAN;
}

static void put_number(results_file_t *file, double value)
{
    if (isnan(value) || isinf(value)) {
        results_file_put(file, ",");
    } else {
        results_file_print(file, ",%.12g", value);
    }
}

static void put_parameters(const cli_sweep_t *sweep, size_t point, results_file_t *file)
{
    for (size_t i = 0; i < sweep->parameter_count; i++) {
        results_file_put(file, ",");
        results_file_put_csv(file, sweep->points[point].values[i]);
    }
}

static void put_names(results_file_t *file, char *const *names, size_t count, bool intervals)
{
    for (size_t i = 0; i < count; i++) {
        results_file_put(file, ",");
        results_file_put_csv(file, names[i]);
        if (intervals) {
            char *const name = sim_format("%s_ci95", names[i]);
            results_file_put(file, ",");
            results_file_put_csv(file, name);
            sim_free(name);
        }
    }
}

static void write_runs(const cli_sweep_t *sweep, results_file_t *file)
{
    results_file_put(file, "run,point,seed");
    put_names(file, sweep->parameters, sweep->parameter_count, false);
    results_file_put(file, ",ended,digest");
    put_names(file, sweep->columns, sweep->column_count, false);
    results_file_put(file, ",failure\n");
    for (size_t i = 0; i < sweep->run_count; i++) {
        const cli_sweep_run_t *const run = &sweep->runs[i];
        results_file_print(file, "%s,%zu,%" PRIu64, run->name, run->point + 1, run->seed);
        put_parameters(sweep, run->point, file);
        static const char *const texts[] = {"ended", "digest"};
        for (size_t t = 0; t < SIM_COUNT_OF(texts); t++) {
            const char *const text = json_string_value(results_json_at(run->summary, texts[t]));
            results_file_put(file, ",");
            results_file_put_csv(file, text != NULL ? text : "");
        }
        for (size_t c = 0; c < sweep->column_count; c++) {
            put_number(file, value_of(run, sweep->columns[c]));
        }
        results_file_put(file, ",");
        results_file_put_csv(file, run->failure != NULL ? run->failure : "");
        results_file_put(file, "\n");
    }
}

static void write_point(const cli_sweep_t *sweep, size_t point, results_file_t *file)
{
    const cli_sweep_run_t *const runs = &sweep->runs[point * sweep->seed_count];
    double *const values = sim_alloc_array(sweep->seed_count, sizeof(*values));
    size_t failed = 0;
    for (size_t i = 0; i < sweep->seed_count; i++) {
        failed += runs[i].failure != NULL;
    }
    results_file_print(file, "%zu", point + 1);
    put_parameters(sweep, point, file);
    results_file_print(file, ",%zu,%zu", sweep->seed_count - failed, failed);
    for (size_t c = 0; c < sweep->column_count; c++) {
        size_t count = 0;
        for (size_t i = 0; i < sweep->seed_count; i++) {
            const double value = value_of(&runs[i], sweep->columns[c]);
            if (!isnan(value)) {
                values[count++] = value;
            }
        }
        const results_spread_t spread = results_spread(values, count);
        put_number(file, count > 0 ? spread.mean : (double)NAN);
        put_number(file, spread.half);
    }
    results_file_put(file, "\n");
    sim_free(values);
}

static void write_points(const cli_sweep_t *sweep, results_file_t *file)
{
    results_file_put(file, "point");
    put_names(file, sweep->parameters, sweep->parameter_count, false);
    results_file_put(file, ",runs,failed");
    put_names(file, sweep->columns, sweep->column_count, true);
    results_file_put(file, "\n");
    for (size_t p = 0; p < sweep->point_count; p++) {
        write_point(sweep, p, file);
    }
}

// Writes a table to a temporary file and renames it, so that a reader never sees a part.
static sim_err_t write_one(const cli_sweep_t *sweep, const char *name,
                           void (*write)(const cli_sweep_t *sweep, results_file_t *file),
                           world_error_t *error)
{
    char *const aside = sim_format("%s/.%s", sweep->folder, name);
    char *const path = sim_format("%s/%s", sweep->folder, name);
    results_file_t *file = NULL;
    sim_err_t result = results_file_open(aside, &file, error);
    if (result == SIM_OK) {
        write(sweep, file);
        result = results_file_close(file, error);
    }
    if (result == SIM_OK && rename(aside, path) != 0) {
        result =
            world_fail(error, SIM_ERR_IO, WORLD_FILE(path), "cannot replace: %s", strerror(errno));
    }
    sim_free(aside);
    sim_free(path);
    return result;
}

// Prints each kind of warning of the runs once, with how many runs have it.
static void tell_warnings(const cli_sweep_t *sweep, FILE *out)
{
    results_warning_kinds_t kinds = {0};
    for (size_t r = 0; r < sweep->run_count; r++) {
        results_warning_kinds_add(&kinds, r, sweep->runs[r].summary);
    }
    for (size_t i = 0; i < kinds.count; i++) {
        (void)fprintf(out, "warning: in %zu of %zu runs, first in %s: %s\n", kinds.items[i].runs,
                      sweep->run_count, sweep->runs[kinds.items[i].first].name,
                      kinds.items[i].text);
    }
    results_warning_kinds_fini(&kinds);
}

sim_err_t cli_sweep_write(const cli_sweep_t *sweep, world_error_t *error)
{
    tell_warnings(sweep, stderr);
    cli_sweep_tell_columns(sweep, stderr);
    const sim_err_t result = write_one(sweep, "runs.csv", write_runs, error);
    return result == SIM_OK ? write_one(sweep, "points.csv", write_points, error) : result;
}
