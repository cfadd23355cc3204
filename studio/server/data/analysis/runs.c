// SPDX-License-Identifier: Apache-2.0
// studio/server/data/analysis/runs.c - runs as rows, and the comparison of `rocesim compare`.
#include "results/spread.h"
#include "studio/server/data/analysis/analysis_internal.h"

#include "results/comparison.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FIELDS_MAX 400u

static sim_err_t open_comparison(studio_work_t *work, const results_comparison_options_t *options,
                                 results_comparison_table_t *table, const char ***folders)
{
    const studio_sources_t *const sources = work->analysis->sources;
    world_error_t error;
    *table = (results_comparison_table_t){.options = options};
    *folders = sim_alloc_array(sources->count, sizeof(**folders));
    for (size_t i = 0; i < sources->count; i++) {
        (*folders)[i] = sources->sources[i].result;
        for (size_t j = 0; j < i; j++) {
            if (sources->sources[j].run == sources->sources[i].run) {
                return studio__step_fail(work, "run %" PRId64 " is there twice",
                                         sources->sources[i].run);
            }
        }
    }
    if (results_comparison_open(table, *folders, sources->count, &error) != SIM_OK) {
        return studio__step_fail(work, "%.400s", error.text);
    }
    return SIM_OK;
}

// Returns whether all texts of a row are numbers, as in the row nic.qps.
static bool all_numbers(const results_comparison_table_t *table,
                        const results_comparison_row_t *row)
{
    for (size_t i = 0; i < table->run_count; i++) {
        double number = 0;
        if (row->texts[i] != NULL && row->texts[i][0] != '\0' &&
            (strspn(row->texts[i], "0123456789.-") != strlen(row->texts[i]) ||
             !studio_number_in(row->texts[i], "", &number))) {
            return false;
        }
    }
    return true;
}

static void fill_runs(studio_work_t *work, const results_comparison_table_t *table,
                      studio_frame_t *frame)
{
    const studio_sources_t *const sources = work->analysis->sources;
    bool *const numbers = sim_alloc(table->row_count);
    studio__frame_add_column(frame, "run", "", STUDIO_NUMBER);
    studio__frame_add_column(frame, "run_name", "", STUDIO_TEXT);
    studio__frame_add_column(frame, "seed", "", STUDIO_NUMBER);
    for (size_t i = 0; i < table->row_count; i++) {
        const results_comparison_row_t *const row = &table->rows[i];
        numbers[i] = row->texts == NULL || all_numbers(table, row);
        if (strcmp(row->key, "seed") != 0) {
            studio__frame_add_column(frame, row->key, "", numbers[i] ? STUDIO_NUMBER : STUDIO_TEXT);
        }
    }
    for (size_t run = 0; run < table->run_count; run++) {
        studio_slot_t *const out = studio__frame_add_row(frame);
        SIM_CHECK(out != NULL);
        out[0].number = (double)sources->sources[run].run;
        out[1].text = studio__analysis_text(work->analysis, sources->sources[run].name);
        out[2].number = (double)table->runs[run].seed;
        for (size_t i = 0, at = 3; i < table->row_count; i++) {
            const results_comparison_row_t *const row = &table->rows[i];
            if (strcmp(row->key, "seed") == 0) {
                continue;
            }
            const char *const text = row->texts != NULL ? row->texts[run] : NULL;
            if (!numbers[i]) {
                out[at++].text = text != NULL ? studio__analysis_text(work->analysis, text) : NULL;
                continue;
            }
            double value = row->texts == NULL ? row->values[run] : (double)NAN;
            if (text != NULL && !studio_number_in(text, "", &value)) {
                value = (double)NAN;
            }
            out[at++].number = value;
        }
    }
    sim_free(numbers);
}

sim_err_t studio__choose_runs(studio_work_t *work, studio_step_result_t *result)
{
    const results_comparison_options_t options = {.csv = true};
    results_comparison_table_t table;
    const char **folders = NULL;
    const sim_err_t code = open_comparison(work, &options, &table, &folders);
    if (code == SIM_OK) {
        fill_runs(work, &table, &result->frame);
    }
    results_comparison_close(&table);
    sim_free(folders);
    return code;
}

// -- compare

static bool is_wanted(const results_comparison_row_t *row, const json_t *fields)
{
    if (!json_is_array(fields) || json_array_size(fields) == 0) {
        return row->label != NULL;
    }
    for (size_t i = 0; i < json_array_size(fields); i++) {
        const char *const pattern = json_string_value(json_array_get(fields, i));
        // The brackets of "flows.by_size[0-10KB]" are no pattern.
        if (pattern != NULL && (strcmp(pattern, row->key) == 0 ||
                                (strchr(pattern, '[') == NULL && studio_glob(pattern, row->key)))) {
            return true;
        }
    }
    return false;
}

static size_t base_column(const results_comparison_table_t *table, const studio_work_t *work)
{
    const json_t *const base = json_object_get(work->step, "base");
    const studio_sources_t *const sources = work->analysis->sources;
    SIM_CHECK(table->runs != NULL && table->run_count == sources->count);
    for (size_t i = 0; i < sources->count && json_is_integer(base); i++) {
        if (sources->sources[i].run == json_integer_value(base)) {
            return table->runs[i].column;
        }
    }
    return 0;
}

// Returns the name of a column's first run; its number is added if another column has the same
// name.
static const char *name_of_column(studio_work_t *work, const results_comparison_table_t *table,
                                  size_t column)
{
    const studio_sources_t *const sources = work->analysis->sources;
    const studio_source_t *const first = &sources->sources[table->columns[column].runs[0]];
    for (size_t i = 0; i < table->column_count; i++) {
        const studio_source_t *const other = &sources->sources[table->columns[i].runs[0]];
        if (i != column && strcmp(first->name, other->name) == 0) {
            char *const text = sim_format("%s #%" PRId64, first->name, first->run);
            const char *const kept = studio__analysis_text(work->analysis, text);
            sim_free(text);
            return kept;
        }
    }
    return studio__analysis_text(work->analysis, first->name);
}

static void put_comparison(studio_work_t *work, const results_comparison_table_t *table,
                           const results_comparison_row_t *row, size_t base, studio_frame_t *frame)
{
    for (size_t column = 0; column < table->column_count; column++) {
        studio_slot_t *const out = studio__frame_add_row(frame);
        if (out == NULL) {
            return;
        }
        const results_comparison_column_t *const runs = &table->columns[column];
        out[0].text =
            studio__analysis_text(work->analysis, row->label != NULL ? row->label : row->key);
        out[1].text = studio__analysis_text(work->analysis, row->key);
        out[2].text = name_of_column(work, table, column);
        out[3].number = (double)runs->count;
        for (size_t i = 4; i < 8; i++) {
            out[i].number = (double)NAN;
        }
        out[8].text = studio__analysis_text(work->analysis, "");
        if (row->texts != NULL) {
            const char *const text = row->texts[runs->runs[0]];
            out[9].text = text != NULL ? studio__analysis_text(work->analysis, text) : NULL;
            continue;
        }
        out[9].text = NULL;
        const results_spread_t spread = results_comparison_spread(table, row, column);
        out[4].number = spread.count > 0 ? spread.mean : (double)NAN;
        out[5].number = spread.count > 1 ? spread.half : (double)NAN;
        if (column != base) {
            const results_spread_t difference =
                results_comparison_difference(table, row, column, base);
            out[6].number = difference.count > 0 ? difference.mean : (double)NAN;
            out[7].number = difference.count > 1 ? difference.half : (double)NAN;
            out[8].text = studio__analysis_text(work->analysis,
                                                results_spread_is_not_zero(&difference) ? "*" : "");
        }
    }
}

sim_err_t studio__step_compare(studio_work_t *work, studio_step_result_t *result)
{
    static const struct {
        const char *name;
        studio_type_t type;
    } columns[] = {
        {"field", STUDIO_TEXT},        {"key", STUDIO_TEXT},
        {"runs", STUDIO_TEXT},         {"count", STUDIO_NUMBER},
        {"mean", STUDIO_NUMBER},       {"interval", STUDIO_NUMBER},
        {"difference", STUDIO_NUMBER}, {"difference_interval", STUDIO_NUMBER},
        {"stars", STUDIO_TEXT},        {"text", STUDIO_TEXT},
    };
    const results_comparison_options_t options = {.seeds = true, .csv = true};
    results_comparison_table_t table;
    const char **folders = NULL;
    const sim_err_t code = open_comparison(work, &options, &table, &folders);
    if (code == SIM_OK) {
        const json_t *const fields = json_object_get(work->step, "fields");
        const size_t base = base_column(&table, work);
        for (size_t i = 0; i < SIM_COUNT_OF(columns); i++) {
            studio__frame_add_column(&result->frame, columns[i].name, "", columns[i].type);
        }
        for (size_t i = 0, shown = 0; i < table.row_count && shown < FIELDS_MAX; i++) {
            if (is_wanted(&table.rows[i], fields)) {
                put_comparison(work, &table, &table.rows[i], base, &result->frame);
                shown++;
            }
        }
        result->words = sim_format("%zu run(s) in %zu column(s), against %.100s", table.run_count,
                                   table.column_count, name_of_column(work, &table, base));
    }
    results_comparison_close(&table);
    sim_free(folders);
    return code;
}
