// SPDX-License-Identifier: Apache-2.0
// cli/plot/sweep.c - draws the points of a sweep (docs/formats/sweep.md): means with their 95 %
// confidence intervals, one curve for each combination of the parameters that are not along x.
// Values along x that are no numbers, such as names of controls, have points without lines.
#include "cli/plot/figure.h"

#include "kernel/attribute.h"
#include "kernel/parse.h"
#include "results/csv.h"
#include "world/yaml_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_BYTES_MAX ((size_t)64 << 20)
#define BESIDE 0.5 // part of the way between two names over which their points are spread

typedef struct table {
    char *text;   // the file, cut into cells
    char **cells; // row by row, the header first
    size_t count;
    size_t capacity;
    size_t width; // cells of a row
} table_t;

// Splits a row into cells and adds them to the table. Returns false if it has not as many as the
// rows before.
static bool add_row(table_t *table, char *row, size_t size)
{
    size_t most = table->width;
    if (most == 0) {
        most = 1;
        for (size_t i = 0; i < size; i++) {
            most += row[i] == ',';
        }
    }
    results_csv_cell_t *const cells = sim_alloc_array(most, sizeof(*cells));
    const size_t count = results_csv_split(row, size, cells, most);
    const bool fits = count <= most && (table->width == 0 || count == table->width);
    for (size_t i = 0; fits && i < count; i++) {
        cells[i].text[cells[i].size] = '\0';
        SIM_APPEND(table->cells, table->count, table->capacity, cells[i].text);
    }
    table->width = fits ? count : table->width;
    sim_free(cells);
    return fits;
}

static bool read_table(const char *path, table_t *table)
{
    size_t size = 0;
    world_error_t ignored;
    *table = (table_t){0};
    if (world_read_file(path, TABLE_BYTES_MAX, &table->text, &size, &ignored) != SIM_OK) {
        return false;
    }
    for (char *row = table->text; *row != '\0';) {
        const size_t row_size = strcspn(row, "\n");
        const bool last = row[row_size] == '\0';
        if (!add_row(table, row, row_size)) {
            return false;
        }
        row += row_size + !last;
    }
    return table->width > 0;
}

static void table_fini(table_t *table)
{
    sim_free(table->cells);
    sim_free(table->text);
}

static const char *cell(const table_t *table, size_t row, size_t column)
{
    return table->cells[row * table->width + column];
}

static size_t find(const table_t *table, const char *name)
{
    size_t column = 0;
    while (column < table->width && strcmp(cell(table, 0, column), name) != 0) {
        column++;
    }
    return column;
}

// Returns a value as a number in its base unit, or NAN if it is no number.
static double number_of(const char *text)
{
    sim_message_t message;
    uint64_t whole = 0;
    sim_ratio_t ratio;
    if (sim_parse_ratio(text, &ratio, &message) == SIM_OK) {
        return (double)ratio.num / (double)ratio.den;
    }
    if (sim_parse_bytes(text, &whole, &message) == SIM_OK) {
        return (double)whole;
    }
    if (sim_parse_rate(text, &whole, &message) == SIM_OK) {
        return (double)whole / 1e9; // Gbps
    }
    if (sim_parse_time(text, &whole, &message) == SIM_OK) {
        return (double)whole / 1e6; // us
    }
    return (double)NAN;
}

static const char *unit_of(const char *text)
{
    sim_message_t message;
    uint64_t whole = 0;
    sim_ratio_t ratio;
    return sim_parse_ratio(text, &ratio, &message) == SIM_OK   ? ""
           : sim_parse_bytes(text, &whole, &message) == SIM_OK ? " (bytes)"
           : sim_parse_rate(text, &whole, &message) == SIM_OK  ? " (Gbps)"
           : sim_parse_time(text, &whole, &message) == SIM_OK  ? " (us)"
                                                               : "";
}

typedef struct layout {
    size_t x;
    size_t y; // column along y; the next column is its interval
    size_t parameters_end;
    bool numbers; // the values along x are numbers
} layout_t;

static bool has_values(const table_t *table, size_t column, bool numbers)
{
    bool differ = false;
    for (size_t row = 1; row * table->width < table->count; row++) {
        differ = differ || strcmp(cell(table, row, column), cell(table, 1, column)) != 0;
        if (numbers && isnan(number_of(cell(table, row, column)))) {
            return false;
        }
    }
    return differ;
}

// Returns the column to draw if none is asked for: the slowdown of the slowest hundredth where the
// sweep names no columns, otherwise the first whose values differ between points.
static size_t usual_column(const table_t *table, size_t first)
{
    const size_t slowdown = find(table, "flows.slowdown.p99");
    const bool named =
        first >= table->width || strcmp(cell(table, 0, first), "flows.completed") != 0;
    if (!named && slowdown < table->width && has_values(table, slowdown, true)) {
        return slowdown;
    }
    for (size_t c = first; c + 1 < table->width; c += 2) {
        if (has_values(table, c, false)) {
            return c;
        }
    }
    return first;
}

static bool choose(const cli_plot_t *plot, const table_t *table, layout_t *layout)
{
    layout->parameters_end = find(table, "runs");
    layout->y =
        plot->y != NULL ? find(table, plot->y) : usual_column(table, layout->parameters_end + 2);
    layout->x = plot->x != NULL ? find(table, plot->x) : layout->parameters_end;
    for (int pass = 0; pass < 2 && plot->x == NULL; pass++) {
        for (size_t c = 1; c < layout->parameters_end && layout->x == layout->parameters_end; c++) {
            layout->x = has_values(table, c, pass == 0) ? c : layout->x;
        }
    }
    if (layout->x == layout->parameters_end && plot->x == NULL) {
        layout->x = 1;
    }
    if (layout->x == 0 || layout->x >= layout->parameters_end ||
        layout->y < layout->parameters_end + 2 || layout->y + 1 >= table->width) {
        return false;
    }
    layout->numbers = true;
    for (size_t row = 1; row * table->width < table->count; row++) {
        layout->numbers = layout->numbers && !isnan(number_of(cell(table, row, layout->x)));
    }
    return true;
}

static bool same_curve(const table_t *table, const layout_t *layout, size_t a, size_t b)
{
    for (size_t c = 1; c < layout->parameters_end; c++) {
        if (c != layout->x && strcmp(cell(table, a, c), cell(table, b, c)) != 0) {
            return false;
        }
    }
    return true;
}

// Finds the first row of each curve, in order, and returns the number of curves.
static size_t find_curves(const table_t *table, const layout_t *layout, size_t *firsts)
{
    size_t count = 0;
    for (size_t row = 1; row * table->width < table->count; row++) {
        bool known = false;
        for (size_t i = 0; i < count && !known; i++) {
            known = same_curve(table, layout, firsts[i], row);
        }
        if (!known) {
            firsts[count++] = row;
        }
    }
    return count;
}

// Returns the x position of a value that is no number: its rank of first appearance.
static double place_of(const table_t *table, const layout_t *layout, size_t row)
{
    if (layout->numbers) {
        return number_of(cell(table, row, layout->x));
    }
    size_t place = 0;
    for (size_t r = 1; r <= row; r++) {
        bool first = true;
        for (size_t before = 1; before < r && first; before++) {
            first = strcmp(cell(table, before, layout->x), cell(table, r, layout->x)) != 0;
        }
        place += first;
        if (strcmp(cell(table, r, layout->x), cell(table, row, layout->x)) == 0) {
            break;
        }
    }
    return (double)place;
}

// Prints curve n of `count`, whose first row is `first`. Points above the same name stand side by
// side.
static void print_data(const cli_figure_t *figure, const table_t *table, const layout_t *layout,
                       size_t first, size_t n, size_t count)
{
    const double aside =
        layout->numbers ? 0 : BESIDE * ((double)n - (double)(count - 1) / 2) / (double)count;
    cli_figure_block_begin(figure, (cli_block_t){"c", n, 0});
    for (size_t row = first; row * table->width < table->count; row++) {
        const char *const mean = cell(table, row, layout->y);
        const char *const half = cell(table, row, layout->y + 1);
        if (same_curve(table, layout, first, row) && mean[0] != '\0') {
            cli_figure_row(figure, "%.9g %.15g %.15g", place_of(table, layout, row) + aside,
                           strtod(mean, NULL), half[0] != '\0' ? strtod(half, NULL) : 0);
        }
    }
    cli_figure_block_end(figure);
}

// Returns the title of the curve of a row, freed with sim_free.
static char *title_of(const table_t *table, const layout_t *layout, size_t row)
{
    char *title = sim_strdup("");
    for (size_t c = 1; c < layout->parameters_end; c++) {
        if (c != layout->x && has_values(table, c, false)) {
            char *const longer =
                sim_format("%s%s%s", title, *title == '\0' ? "" : ", ", cell(table, row, c));
            sim_free(title);
            title = longer;
        }
    }
    return title;
}

// Returns whether some point has several runs, and so an interval.
static bool have_intervals(const table_t *table, const layout_t *layout)
{
    bool have = false;
    for (size_t row = 1; row * table->width < table->count; row++) {
        have = have || cell(table, row, layout->y + 1)[0] != '\0';
    }
    return have;
}

static void draw(const table_t *table, const layout_t *layout, cli_figure_t *figure)
{
    size_t *const firsts = sim_alloc_array(table->count / table->width, sizeof(*firsts));
    const size_t curves = find_curves(table, layout, firsts);
    const size_t shown = SIM_MIN(curves, CLI_PLOT_CURVES_MAX);
    if (shown < curves) {
        (void)snprintf(figure->note, sizeof(figure->note), "the first %zu of %zu curves", shown,
                       curves);
    }
    cli_figure_begin(figure, 640, 420);
    FILE *const script = figure->script;
    char *const x =
        sim_format("%s%s", cell(table, 0, layout->x), unit_of(cell(table, 1, layout->x)));
    char *const y = sim_format(have_intervals(table, layout) ? "%s, mean and 95 %% interval" : "%s",
                               cell(table, 0, layout->y));
    fputs("set lmargin 10\nset rmargin 3\nset offsets graph 0.04, graph 0.04, graph 0.04, graph 0\n"
          "set key left top\n",
          script);
    cli_figure_range(figure, "yrange", 0, (double)NAN);
    cli_figure_label(figure, "xlabel", x, "");
    cli_figure_label(figure, "ylabel", y, "");
    sim_free(x);
    sim_free(y);
    if (!layout->numbers) {
        cli_figure_tics_begin(figure, "xtics", "");
        for (size_t row = 1; row * table->width < table->count; row++) {
            const double place = place_of(table, layout, row);
            cli_figure_tic(figure, row == 1, cell(table, row, layout->x), place);
        }
        cli_figure_tics_end(figure);
    }
    for (size_t i = 0; i < shown; i++) {
        print_data(figure, table, layout, firsts[i], i, shown);
    }
    for (size_t i = 0; i < shown; i++) {
        fprintf(script,
                "%s $c%zu using 1:2:3 with %s linewidth 2 pointtype 7 pointsize %s "
                "linecolor '%s' title ",
                i == 0 ? "plot" : ",", i, layout->numbers ? "yerrorlines" : "yerrorbars",
                layout->numbers ? "0.6" : "1", cli_figure_color(i));
        char *const title = title_of(table, layout, firsts[i]);
        static const cli_using_t use[] = {{1, 0}, {2, 0}, {3, 0}};
        cli_figure_quote(script, title);
        cli_figure_curve(figure, (cli_block_t){"c", i, 0},
                         layout->numbers ? "linespoints" : "points", cli_figure_color(i), title,
                         use, SIM_COUNT_OF(use));
        sim_free(title);
    }
    cli_figure_panel_end(figure);
    figure->what = sim_format("%s by %s, %zu curve%s", cell(table, 0, layout->y),
                              cell(table, 0, layout->x), curves, sim_plural(curves));
    sim_free(firsts);
}

static sim_err_t plot_sweep(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error)
{
    (void)error;
    char *const path = sim_format("%s/points.csv", plot->runs[0].folder);
    table_t table;
    layout_t layout;
    const bool read = read_table(path, &table) && table.count > table.width;
    if (read && choose(plot, &table, &layout)) {
        draw(&table, &layout, figure);
    } else if (read) {
        cli_figure_nothing(
            figure, "%s has no such parameter (--x) or column (--y); its header has them", path);
    } else {
        cli_figure_nothing(figure, "%s is not the table of a sweep", path);
    }
    table_fini(&table);
    sim_free(path);
    return SIM_OK;
}

const cli_plot_kind_t cli_plot_sweep = {"sweep", NULL, NULL, plot_sweep};
