// SPDX-License-Identifier: Apache-2.0
// cli/compare/command.c - `rocesim compare`: prints the table of several runs.
#include "cli/compare/compare.h"
#include "results/spread.h"

#include "world/format.h"

#include <math.h>
#include <string.h>

#define LABEL_WIDTH_MIN 34
#define COLUMN_WIDTH_MIN 10
#define TEXT_SHOWN_MAX 24
#define GOODPUTS_DIFFER 0.01 // share from which on a note says why

// -- cells

static void print_value(world_text_t *text, results_comparison_unit_t unit, double x)
{
    const double bounded = x < 0 ? 0 : SIM_MIN(9e18, x);
    switch (unit) {
    case RESULTS_COMPARISON_BYTES:
        world_format_bytes(text, (uint64_t)bounded);
        break;
    case RESULTS_COMPARISON_PS:
        world_format_time(text, (uint64_t)bounded);
        break;
    case RESULTS_COMPARISON_US:
        world_format_time(text, (uint64_t)(bounded < 9e12 ? bounded * 1e6 : 9e18));
        break;
    case RESULTS_COMPARISON_RATIO:
        snprintf(text->text, sizeof(text->text), "%.2f", x);
        break;
    case RESULTS_COMPARISON_SHARE:
        world_format_percent(text, x);
        break;
    case RESULTS_COMPARISON_REAL:
        // Five digits, but no exponent in what is a number of things.
        snprintf(text->text, sizeof(text->text), fabs(x) < 1e5 || fabs(x) >= 1e15 ? "%.5g" : "%.0f",
                 x);
        break;
    case RESULTS_COMPARISON_COUNT:
    case RESULTS_COMPARISON_TEXT:
        snprintf(text->text, sizeof(text->text), "%.*f", x < 100 && fabs(x - floor(x)) > 0 ? 1 : 0,
                 x);
        break;
    }
}

// Appends the half width of the confidence interval (" +-2.3 %"), or nothing if there is none.
static void print_half(world_text_t *text, const results_spread_t *spread)
{
    text->text[0] = '\0';
    if (spread->count > 1 && fabs(spread->mean) > 0) {
        const double percent = 100 * spread->half / fabs(spread->mean);
        snprintf(text->text, sizeof(text->text), " +-%.*f %%", percent < 9.95 ? 1 : 0, percent);
    }
}

static char *number_cell(const results_comparison_table_t *table,
                         const results_comparison_row_t *row, size_t column)
{
    const results_spread_t spread = results_comparison_spread(table, row, column);
    if (spread.count == 0) {
        return sim_strdup("-");
    }
    world_text_t value;
    world_text_t half = {""};
    print_value(&value, row->unit, spread.mean);
    if (!table->options->seeds) {
        return sim_strdup(value.text);
    }
    print_half(&half, &spread);
    const results_spread_t difference = results_comparison_difference(table, row, column, 0);
    const bool differs = column > 0 && results_spread_is_not_zero(&difference);
    return sim_format("%s%s%s", value.text, half.text, differs ? " *" : "  ");
}

// Returns the text that all runs of a column have in common, "" if they differ, NULL if none has a
// text.
static const char *common_text(const results_comparison_row_t *row,
                               const results_comparison_column_t *column)
{
    const char *const first = row->texts[column->runs[0]];
    for (size_t i = 1; i < column->count; i++) {
        const char *const text = row->texts[column->runs[i]];
        if ((text == NULL) != (first == NULL) || (text != NULL && strcmp(text, first) != 0)) {
            return "";
        }
    }
    return first;
}

static char *text_cell(const results_comparison_table_t *table, const results_comparison_row_t *row,
                       size_t column)
{
    const char *const text = common_text(row, &table->columns[column]);
    const bool several = table->columns[column].count > 1;
    // Names come from files; their control characters must not reach the terminal.
    world_shown_t shown;
    world_show(&shown, text == NULL ? "-" : text[0] == '\0' && several ? "(differ)" : text);
    const bool cut = strlen(shown.text) > TEXT_SHOWN_MAX;
    return sim_format("%.*s%s%s", cut ? TEXT_SHOWN_MAX - 3 : TEXT_SHOWN_MAX, shown.text,
                      cut ? "..." : "", table->options->seeds ? "  " : "");
}

static char *cell(const results_comparison_table_t *table, const results_comparison_row_t *row,
                  size_t column)
{
    return row->texts != NULL ? text_cell(table, row, column) : number_cell(table, row, column);
}

// -- the table for people

static bool is_other_than_zero(double value)
{
    return !isnan(value) && fabs(value) > 0;
}

static bool any_above_zero(const results_comparison_table_t *table, const char *key)
{
    for (size_t i = 0; i < table->row_count; i++) {
        for (size_t run = 0; strcmp(table->rows[i].key, key) == 0 && run < table->run_count;
             run++) {
            if (is_other_than_zero(table->rows[i].values[run])) {
                return true;
            }
        }
    }
    return false;
}

// Returns whether a row is printed. Rows without information are left out: size classes without
// flows, values that no run counted, and digests if a column has several runs.
static bool is_shown(const results_comparison_table_t *table, const results_comparison_row_t *row)
{
    if (row->label == NULL || (table->options->seeds && strcmp(row->key, "digest") == 0)) {
        return false;
    }
    const bool of_app = strncmp(row->key, "apps[", 5) == 0 || strncmp(row->key, "nics[*].", 8) == 0;
    const bool of_size = strncmp(row->key, "flows.by_size", 13) == 0;
    if (strncmp(row->key, "flows.", 6) == 0 && !of_size) {
        return any_above_zero(table, "flows.count");
    }
    for (size_t i = 0; (of_app || of_size) && i < table->run_count; i++) {
        if (of_app ? is_other_than_zero(row->values[i]) : !isnan(row->values[i])) {
            return true;
        }
    }
    return !of_app && !of_size;
}

typedef struct layout {
    int label_width;
    int *column_widths;
} layout_t;

static void widen(int *width, const char *text)
{
    const int size = (int)strlen(text);
    *width = SIM_MAX(size, *width);
}

static void measure(const results_comparison_table_t *table, layout_t *layout)
{
    layout->label_width = LABEL_WIDTH_MIN;
    for (size_t c = 0; c < table->column_count; c++) {
        world_shown_t shown;
        layout->column_widths[c] = COLUMN_WIDTH_MIN;
        widen(&layout->column_widths[c], world_show(&shown, table->columns[c].name));
    }
    for (size_t i = 0; i < table->row_count; i++) {
        if (!is_shown(table, &table->rows[i])) {
            continue;
        }
        world_shown_t shown;
        widen(&layout->label_width, world_show(&shown, table->rows[i].label));
        for (size_t c = 0; c < table->column_count; c++) {
            char *const text = cell(table, &table->rows[i], c);
            widen(&layout->column_widths[c], text);
            sim_free(text);
        }
    }
}

static void print_names(const results_comparison_table_t *table, const layout_t *layout, FILE *out)
{
    world_shown_t shown;
    const char *const end = table->options->seeds ? "  " : "";
    fprintf(out, "%-*s", layout->label_width, "");
    for (size_t c = 0; c < table->column_count; c++) {
        const int width = layout->column_widths[c] - (int)strlen(end);
        fprintf(out, "  %*s%s", width, world_show(&shown, table->columns[c].name), end);
    }
    fputc('\n', out);
    if (table->options->seeds) {
        fprintf(out, "%-*s", layout->label_width, "runs");
        for (size_t c = 0; c < table->column_count; c++) {
            const int width = layout->column_widths[c] - (int)strlen(end);
            fprintf(out, "  %*zu%s", width, table->columns[c].count, end);
        }
        fputc('\n', out);
    }
}

static double sum_of(const results_comparison_table_t *table, const char *key, size_t column)
{
    double sum = 0;
    for (size_t i = 0; i < table->row_count; i++) {
        const results_comparison_row_t *const row = &table->rows[i];
        for (size_t r = 0; strcmp(row->key, key) == 0 && r < table->columns[column].count; r++) {
            const double value = row->values[table->columns[column].runs[r]];
            sum += isnan(value) ? 0 : value;
        }
    }
    return sum;
}

// Prints a note about runs with unfinished flows. Unfinished flows are mostly long ones, so the
// percentiles of such a run look better than they are.
static void note_unfinished(const results_comparison_table_t *table, FILE *out)
{
    for (size_t c = 0; c < table->column_count; c++) {
        const double count = sum_of(table, "flows.count", c);
        const double completed = sum_of(table, "flows.completed", c);
        if (completed < count) {
            world_shown_t shown;
            fprintf(out,
                    "note: FCT and slowdown of %s are those of the %.0f flows that completed, "
                    "of %.0f\n",
                    world_show(&shown, table->columns[c].name), completed, count);
        }
    }
}

// Says why several goodputs of one run differ, where they do: where transfers go on after the last
// of them has started.
static void note_goodput(const results_comparison_table_t *table, FILE *out)
{
    for (size_t c = 0; c < table->column_count; c++) {
        const double starting = sum_of(table, "rates.goodput_gbps", c);
        const double all = sum_of(table, "rates.run_goodput_gbps", c);
        if (fabs(starting - all) > GOODPUTS_DIFFER * starting) {
            fputs(
                "note: \"goodput while transfers start\" leaves out the time after the last start, "
                "in which the last\n      transfers end; \"goodput to the end of the run\" and "
                "goodput_gbps of an application include it\n",
                out);
            return;
        }
    }
}

// Prints each kind of warning once, with the runs that have it.
static void print_warnings(const results_comparison_table_t *table, FILE *out)
{
    for (size_t i = 0; i < table->warnings.count; i++) {
        const results_warning_kind_t *const warning = &table->warnings.items[i];
        fprintf(out, "warning: in %zu of %zu runs, first in %s: %s\n", warning->runs,
                table->run_count, table->runs[warning->first].name, warning->text);
    }
}

static void print_table(const results_comparison_table_t *table, FILE *out)
{
    layout_t layout = {0};
    layout.column_widths = sim_alloc_array(table->column_count, sizeof(*layout.column_widths));
    measure(table, &layout);
    print_names(table, &layout, out);
    for (size_t i = 0; i < table->row_count; i++) {
        const results_comparison_row_t *const row = &table->rows[i];
        if (!is_shown(table, row)) {
            continue;
        }
        world_shown_t shown;
        fprintf(out, "%-*s", layout.label_width, world_show(&shown, row->label));
        for (size_t c = 0; c < table->column_count; c++) {
            char *const text = cell(table, row, c);
            fprintf(out, "  %*s", layout.column_widths[c], text);
            sim_free(text);
        }
        fputc('\n', out);
    }
    sim_free(layout.column_widths);
    note_unfinished(table, out);
    note_goodput(table, out);
    print_warnings(table, out);
    if (table->options->seeds) {
        fprintf(
            out,
            "Means over seeds; +-: half the 95 %% interval of the mean (Student's t).\n"
            "*: differs from the first column, seed by seed, at 95 %% (chance gives one cell in 20 "
            "a star).\n");
    }
}

// -- CSV

static void put_csv_text(FILE *out, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            fputc('"', out);
        }
        fputc(*text, out);
    }
    fputc('"', out);
}

static void put_csv_number(FILE *out, double value)
{
    fputc(',', out);
    if (isfinite(value)) {
        // Counts are printed in full, measured values with the digits that a double surely holds.
        const bool whole = fabs(value) < 1e15 && fabs(value - floor(value)) <= 0;
        fprintf(out, whole ? "%.0f" : "%.12g", value);
    }
}

static void put_csv_header(const results_comparison_table_t *table, FILE *out)
{
    static const char *const spreads[] = {"", "_stddev", "_ci95", "_diff", "_diff_ci95"};
    fputs(table->options->seeds ? "run,runs" : "run,folder", out);
    for (size_t i = 0; i < table->row_count; i++) {
        const results_comparison_row_t *const row = &table->rows[i];
        const bool spread = table->options->seeds && row->texts == NULL;
        for (size_t s = 0; s < (spread ? SIM_COUNT_OF(spreads) : 1); s++) {
            char *const name = sim_format("%s%s", row->key, spreads[s]);
            fputc(',', out);
            put_csv_text(out, name);
            sim_free(name);
        }
    }
    fputc('\n', out);
}

static void put_csv_spread(const results_comparison_table_t *table,
                           const results_comparison_row_t *row, size_t column, FILE *out)
{
    const results_spread_t spread = results_comparison_spread(table, row, column);
    put_csv_number(out, spread.count > 0 ? spread.mean : RESULTS_COMPARISON_NONE);
    if (!table->options->seeds) {
        return;
    }
    put_csv_number(out, spread.count > 1 ? spread.deviation : RESULTS_COMPARISON_NONE);
    put_csv_number(out, spread.half);
    const results_spread_t difference = results_comparison_difference(table, row, column, 0);
    put_csv_number(out,
                   difference.count > 0 && column > 0 ? difference.mean : RESULTS_COMPARISON_NONE);
    put_csv_number(out, column > 0 ? difference.half : RESULTS_COMPARISON_NONE);
}

static void put_csv(const results_comparison_table_t *table, FILE *out)
{
    put_csv_header(table, out);
    for (size_t c = 0; c < table->column_count; c++) {
        const results_comparison_column_t *const column = &table->columns[c];
        put_csv_text(out, column->name);
        fputc(',', out);
        if (table->options->seeds) {
            fprintf(out, "%zu", column->count);
        } else {
            put_csv_text(out, table->runs[column->runs[0]].folder);
        }
        for (size_t i = 0; i < table->row_count; i++) {
            const results_comparison_row_t *const row = &table->rows[i];
            if (row->texts == NULL) {
                put_csv_spread(table, row, c, out);
                continue;
            }
            const char *const text = common_text(row, column);
            fputc(',', out);
            put_csv_text(out, text != NULL ? text : "");
        }
        fputc('\n', out);
    }
}

sim_err_t cli_compare(const char *const *folders, size_t count,
                      const cli_compare_options_t *options, FILE *out, world_error_t *error)
{
    if (count > RESULTS_COMPARISON_RUNS_MAX) {
        return world_fail(error, SIM_ERR_RANGE, NULL,
                          "rocesim compare: %zu folders, expected at most %u", count,
                          RESULTS_COMPARISON_RUNS_MAX);
    }
    results_comparison_table_t table = {.options = options};
    sim_err_t result = results_comparison_open(&table, folders, count, error);
    if (result == SIM_OK && !options->csv && table.column_count > CLI_COMPARE_COLUMNS_MAX) {
        result =
            world_fail(error, SIM_ERR_RANGE, NULL,
                       "rocesim compare: %zu columns, expected at most %u; --csv has a row per "
                       "run, --seeds a column for all runs that differ in their seed alone",
                       table.column_count, CLI_COMPARE_COLUMNS_MAX);
    }
    if (result == SIM_OK && options->csv) {
        put_csv(&table, out);
    } else if (result == SIM_OK) {
        print_table(&table, out);
    }
    results_comparison_close(&table);
    return result;
}
