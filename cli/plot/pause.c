// SPDX-License-Identifier: Apache-2.0
// cli/plot/pause.c - draws when PFC stopped which port: one bar per pause, one row per port and
// class.
//
// If single pauses cannot be seen, time is cut into columns, and the colour of a column shows for
// which share of its time the port was stopped. If events.csv does not hold all pauses, the columns
// are the bins of pauses.csv.
#include "cli/plot/figure.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS 600u
#define WIDTH 860u
#define PIXELS 700u
#define ROW_HEIGHT 17u
#define FEW_ROWS 6u // higher ones, so that the scale has room
#define PANEL_MARGIN 92u
#define LABEL_MARGIN 42u // of the time axis
#define EXACT_MAX 3000u  // bars that are drawn one by one
#define ROWS_MAX 40u
#define LEVELS 10u

typedef struct row {
    char *port;
    unsigned priority;
    sim_time_t since_ps; // begin of the open pause
    bool open;
    sim_time_t total_ps;
    struct bar {
        sim_time_t from_ps;
        sim_time_t to_ps;
    } * bars;
    size_t bar_count;
    size_t bar_capacity;
} row_t;

typedef struct chart {
    row_t *rows;
    size_t count;
    size_t capacity;
    sim_time_t origin_ps; // of cli_plot_t
    sim_time_t end_ps;
    sim_time_t event_ps; // of the event that was read last
    sim_time_t bin_ps;   // bin width of pauses.csv; 0: bars are single pauses of events.csv
} chart_t;

static row_t *row_of(chart_t *chart, const char *port, unsigned priority)
{
    for (size_t i = 0; i < chart->count; i++) {
        if (chart->rows[i].priority == priority && strcmp(chart->rows[i].port, port) == 0) {
            return &chart->rows[i];
        }
    }
    SIM_GROW(chart->rows, chart->count, &chart->capacity);
    chart->rows[chart->count] = (row_t){.port = sim_strdup(port), .priority = priority};
    return &chart->rows[chart->count++];
}

static void close_bar(row_t *row, sim_time_t time_ps)
{
    if (!row->open) {
        return;
    }
    row->open = false;
    SIM_GROW(row->bars, row->bar_count, &row->bar_capacity);
    row->bars[row->bar_count].from_ps = row->since_ps;
    row->bars[row->bar_count++].to_ps = time_ps;
    row->total_ps += time_ps - row->since_ps;
}

static sim_err_t take_event(const results_csv_t *csv, void *ctx, world_error_t *error)
{
    chart_t *const chart = ctx;
    const bool paused = strcmp(results_csv_text(csv, 1), "paused") == 0;
    if (!paused && strcmp(results_csv_text(csv, 1), "resumed") != 0) {
        return SIM_OK;
    }
    uint64_t priority = 0;
    sim_err_t result = results_csv_time(csv, 0, &chart->event_ps, error);
    if (result == SIM_OK) {
        result = results_csv_number(csv, 3, 1, &priority, error);
    }
    if (result != SIM_OK) {
        return result;
    }
    chart->event_ps = cli_plot_time(chart->event_ps, chart->origin_ps);
    row_t *const row = row_of(chart, results_csv_text(csv, 2), (unsigned)(priority & 7));
    if (!paused) {
        close_bar(row, chart->event_ps);
    } else if (!row->open) {
        row->open = true;
        row->since_ps = chart->event_ps;
    }
    chart->end_ps = SIM_MAX(chart->event_ps, chart->end_ps);
    return SIM_OK;
}

// Takes a bin of pauses.csv. The bar of a bin is as long as its class was stopped in it.
static sim_err_t take_bin(const results_csv_t *csv, void *ctx, world_error_t *error)
{
    chart_t *const chart = ctx;
    uint64_t priority = 0;
    sim_time_t times_ps[3] = {0}; // from, to, stopped
    sim_err_t result = results_csv_number(csv, 1, 1, &priority, error);
    for (size_t i = 0; i < SIM_COUNT_OF(times_ps) && result == SIM_OK; i++) {
        result = results_csv_time(csv, i + 2, &times_ps[i], error);
    }
    if (result != SIM_OK) {
        return result;
    }
    const sim_time_t width_ps = times_ps[1] - times_ps[0];
    chart->bin_ps = SIM_MAX(width_ps, chart->bin_ps);
    row_t *const row = row_of(chart, results_csv_text(csv, 0), (unsigned)(priority & 7));
    SIM_GROW(row->bars, row->bar_count, &row->bar_capacity);
    const sim_time_t from_ps = cli_plot_time(times_ps[0], chart->origin_ps);
    row->bars[row->bar_count++] = (struct bar){from_ps, from_ps + times_ps[2]};
    row->total_ps += times_ps[2];
    const sim_time_t to_ps = cli_plot_time(times_ps[1], chart->origin_ps);
    chart->end_ps = SIM_MAX(to_ps, chart->end_ps);
    return SIM_OK;
}

static int compare_rows(const void *a, const void *b)
{
    const row_t *const x = a;
    const row_t *const y = b;
    if (x->total_ps != y->total_ps) {
        return x->total_ps > y->total_ps ? -1 : 1;
    }
    const int order = strcmp(x->port, y->port);
    return order != 0 ? order : (x->priority > y->priority) - (x->priority < y->priority);
}

static bool any_open(const chart_t *chart)
{
    bool open = false;
    for (size_t i = 0; i < chart->count; i++) {
        open = open || chart->rows[i].open;
    }
    return open;
}

// Reads all single pauses from events.csv.
static sim_err_t load_events(const cli_plot_run_t *run, chart_t *chart, world_error_t *error)
{
    static const char *const names[] = {"time_ns", "event", "port", "priority"};
    const sim_err_t result = results_csv_rows(run->folder, "events.csv", names, SIM_COUNT_OF(names),
                                              take_event, chart, error);
    // If all pauses end before the run does, the axis ends with them, which makes bars wider.
    if (any_open(chart) && run->end_ps > chart->end_ps) {
        chart->end_ps = run->end_ps;
    }
    for (size_t i = 0; i < chart->count; i++) {
        close_bar(&chart->rows[i], chart->end_ps);
    }
    return result;
}

static sim_err_t load(const cli_plot_run_t *run, chart_t *chart, world_error_t *error)
{
    static const char *const names[] = {"port", "priority", "from_ns", "to_ns", "stopped_ns"};
    const json_t *const events = json_object_get(run->summary, "events_csv");
    sim_err_t result = SIM_OK;
    if (json_integer_value(json_object_get(events, "left_out")) == 0) {
        result = load_events(run, chart, error);
    } else {
        result = results_csv_rows(run->folder, "pauses.csv", names, SIM_COUNT_OF(names), take_bin,
                                  chart, error);
    }
    if (chart->count > 0) {
        qsort(chart->rows, chart->count, sizeof(row_t), compare_rows);
    }
    return result;
}

static void chart_fini(chart_t *chart)
{
    for (size_t i = 0; i < chart->count; i++) {
        sim_free(chart->rows[i].port);
        sim_free(chart->rows[i].bars);
    }
    sim_free(chart->rows);
}

// -- the script

static void print_box(const cli_figure_t *figure, double from, double to, size_t row, double share)
{
    cli_figure_row(figure, "%.7g %.7g %.0f %.3g", from, to, (double)row, share);
}

// Prints the bars of a row. A pause shorter than a pixel is drawn one pixel wide.
static void print_bars(const cli_figure_t *figure, const row_t *row, size_t number,
                       sim_time_t end_ps, double one)
{
    const sim_time_t pixel_ps = end_ps / PIXELS;
    for (size_t i = 0; i < row->bar_count; i++) {
        const sim_time_t from_ps = row->bars[i].from_ps;
        const sim_time_t to_ps = row->bars[i].to_ps;
        const sim_time_t shown_ps = to_ps - from_ps < pixel_ps ? from_ps + pixel_ps : to_ps;
        print_box(figure, (double)from_ps / one, (double)shown_ps / one, number, 1);
    }
}

// Prints the columns of a row. Neighbouring columns of the same level become one box.
static void print_shares(const cli_figure_t *figure, const row_t *row, size_t number,
                         const chart_t *chart, double one)
{
    sim_time_t stopped_ps[COLUMNS] = {0};
    const sim_time_t exact_ps = chart->end_ps / COLUMNS + 1;
    const sim_time_t column_ps = SIM_MAX(chart->bin_ps, exact_ps);
    for (size_t i = 0; i < row->bar_count; i++) {
        sim_time_t from_ps = row->bars[i].from_ps;
        while (from_ps < row->bars[i].to_ps) {
            const size_t column = (size_t)(from_ps / column_ps);
            const sim_time_t border_ps = (column + 1) * column_ps;
            const sim_time_t to_ps = SIM_MIN(border_ps, row->bars[i].to_ps);
            stopped_ps[column < COLUMNS ? column : COLUMNS - 1] += to_ps - from_ps;
            from_ps = to_ps;
        }
    }
    unsigned levels[COLUMNS + 1];
    for (size_t c = 0; c < COLUMNS; c++) {
        // The level is rounded up, so that any pause shows.
        levels[c] = (unsigned)((stopped_ps[c] * LEVELS + column_ps - 1) / column_ps);
    }
    levels[COLUMNS] = LEVELS + 1;
    size_t first = 0;
    for (size_t c = 1; c <= COLUMNS; c++) {
        if (levels[c] != levels[first]) {
            if (levels[first] > 0) {
                print_box(figure, (double)(first * column_ps) / one, (double)(c * column_ps) / one,
                          number, (double)levels[first] / LEVELS);
            }
            first = c;
        }
    }
}

static void draw_chart(const cli_figure_t *figure, const chart_t *chart, size_t run, bool classes,
                       bool exact, double one)
{
    const size_t shown = SIM_MIN(chart->count, ROWS_MAX);
    const cli_block_t block = {"run", run, 0};
    cli_figure_block_begin(figure, block);
    for (size_t i = 0; i < shown; i++) {
        if (exact) {
            print_bars(figure, &chart->rows[i], i + 1, chart->end_ps, one);
        } else {
            print_shares(figure, &chart->rows[i], i + 1, chart, one);
        }
    }
    cli_figure_block_end(figure);
    cli_figure_tics_begin(figure, "ytics", "");
    for (size_t i = 0; i < shown; i++) {
        char *const label =
            classes ? sim_format("%s [%u]", chart->rows[i].port, chart->rows[i].priority)
                    : sim_strdup(chart->rows[i].port);
        cli_figure_tic(figure, i == 0, label, (double)(i + 1));
        sim_free(label);
    }
    cli_figure_tics_end(figure);
    cli_figure_range(figure, "yrange", (double)shown + 0.5, 0.5);
    fprintf(figure->script,
            "plot $run%zu using 1:3:1:2:($3-0.38):($3+0.38):4 with boxxyerror fillstyle solid 1.0 "
            "noborder linecolor palette notitle",
            run);
    static const cli_using_t use[] = {{1, 0}, {1, 0}, {2, 0}, {3, -0.38}, {3, 0.38}, {4, 0}};
    cli_figure_curve(figure, block, "boxes", "palette", "", use, SIM_COUNT_OF(use));
    cli_figure_panel_end(figure);
}

// The layout that the charts of all runs share.
typedef struct layout {
    size_t panels;
    sim_time_t end_ps;
    cli_plot_unit_t unit;
    size_t bars;
    size_t rows; // rows that are shown
    size_t all_rows;
    size_t largest; // index of the run with the largest number of rows
    size_t name_size;
    unsigned classes; // one bit per class
    bool binned;
    bool exact; // every pause has its own bar
    size_t row_height;
    double height;
} layout_t;

static size_t rows_shown(const chart_t *chart)
{
    return SIM_MIN(chart->count, ROWS_MAX);
}

static bool several_classes(const layout_t *layout)
{
    return (layout->classes & (layout->classes - 1)) != 0;
}

static void lay_out(const cli_plot_t *plot, const chart_t *charts, layout_t *layout)
{
    *layout = (layout_t){.end_ps = 1, .name_size = 8};
    for (size_t r = 0; r < plot->run_count; r++) {
        const chart_t *const chart = &charts[r];
        if (chart->count == 0) {
            continue;
        }
        layout->panels++;
        layout->end_ps = SIM_MAX(chart->end_ps, layout->end_ps);
        layout->binned = layout->binned || chart->bin_ps > 0;
        layout->all_rows += chart->count;
        layout->largest = chart->count > charts[layout->largest].count ? r : layout->largest;
        layout->rows += rows_shown(chart);
        for (size_t i = 0; i < chart->count; i++) {
            layout->classes |= 1u << chart->rows[i].priority;
            layout->bars += chart->rows[i].bar_count;
            const size_t size = strlen(chart->rows[i].port);
            layout->name_size = SIM_MAX(size, layout->name_size);
        }
    }
    layout->exact = layout->bars <= EXACT_MAX && !layout->binned;
    layout->unit = cli_plot_time_unit((double)layout->end_ps);
    const size_t few = FEW_ROWS * layout->panels;
    layout->row_height =
        !layout->exact && layout->rows < few ? ROW_HEIGHT * few / layout->rows : ROW_HEIGHT;
    layout->height =
        (double)(PANEL_MARGIN * layout->panels + LABEL_MARGIN + layout->rows * layout->row_height);
}

static void draw_panels(const cli_figure_t *figure, const cli_plot_t *plot, const chart_t *charts,
                        const layout_t *layout)
{
    FILE *const script = figure->script;
    size_t panel = 0;
    double top = 1;
    for (size_t r = 0; r < plot->run_count; r++) {
        if (charts[r].count == 0) {
            continue;
        }
        const bool last = ++panel == layout->panels;
        const size_t pixels =
            PANEL_MARGIN + rows_shown(&charts[r]) * layout->row_height + (last ? LABEL_MARGIN : 0);
        const double share = (double)pixels / layout->height;
        top -= share;
        // One colour scale is enough; the chart with the largest number of rows has room for it.
        fputs(!layout->exact && r == layout->largest ? "set colorbox\n" : "unset colorbox\n",
              script);
        if (layout->panels > 1) {
            fprintf(script, "set size 1,%.5f\nset origin 0,%.5f\n", share, SIM_MAX(top, 0));
        }
        cli_plot_run_title(figure, plot, r);
        if (last) {
            cli_plot_time_label(figure, plot, layout->unit);
            fputs("set bmargin 5\n", script); // leaves a line below the label for the figure's note
        }
        draw_chart(figure, &charts[r], r, several_classes(layout), layout->exact, layout->unit.one);
    }
}

static void draw(const cli_plot_t *plot, const chart_t *charts, cli_figure_t *figure)
{
    layout_t layout;
    lay_out(plot, charts, &layout);
    const bool left_out = layout.rows < layout.all_rows;
    (void)snprintf(figure->note, sizeof(figure->note), "%s",
                   left_out ? "the ports that were stopped longest" : "");
    cli_figure_begin(figure, WIDTH, (unsigned)layout.height);
    FILE *const script = figure->script;
    const size_t label_size = layout.name_size + (several_classes(&layout) ? 4 : 0);
    static const cli_color_stop_t stops[] = {{0, "#fdd49e"}, {0.5, "#ef6548"}, {1, "#7f0000"}};
    fprintf(script,
            "set lmargin at screen %.4f\nset rmargin at screen %.4f\n"
            "unset grid\nset grid xtics\nset ytics font 'sans-serif,11' scale 0\n",
            (double)(label_size * 7 + 20) / WIDTH, layout.exact ? 0.97 : 0.85);
    cli_figure_range(figure, "xrange", 0, (double)layout.end_ps / layout.unit.one);
    cli_figure_range(figure, "cbrange", 0, 1);
    cli_figure_label(figure, "cblabel", "share of time stopped", "");
    cli_figure_palette(figure, stops, SIM_COUNT_OF(stops));
    if (layout.panels > 1) {
        fputs("set multiplot\nset tmargin 2.5\n", script);
    }
    draw_panels(figure, plot, charts, &layout);
    if (layout.panels > 1) {
        fputs("unset multiplot\n", script);
    }
    figure->what = sim_format("PFC pauses, %zu of %zu ports and classes that were stopped",
                              layout.rows, layout.all_rows);
}

static sim_err_t plot_pause(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error)
{
    chart_t charts[CLI_PLOT_RUNS_MAX] = {{.rows = NULL}};
    sim_err_t result = SIM_OK;
    bool any = false;
    for (size_t r = 0; r < plot->run_count && result == SIM_OK; r++) {
        charts[r].origin_ps = plot->origin_ps;
        result = load(&plot->runs[r], &charts[r], error);
        any = any || charts[r].count > 0;
    }
    if (result == SIM_OK && any) {
        draw(plot, charts, figure);
    } else {
        cli_figure_nothing(figure, "no pause in events.csv of %s", plot->runs[0].folder);
    }
    for (size_t r = 0; r < plot->run_count; r++) {
        chart_fini(&charts[r]);
    }
    return result;
}

const cli_plot_kind_t cli_plot_pause = {"pause", "events.csv", "events_csv.rows", plot_pause};
