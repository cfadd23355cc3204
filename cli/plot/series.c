// SPDX-License-Identifier: Apache-2.0
// cli/plot/series.c - draws series over time (queues, rates, any other), one panel per metric.
//
// A value holds until the next row of its path, so curves are steps. If a curve has more rows than
// a figure has pixels, each pixel column keeps its first, lowest, highest and last value. So no
// peak is lost.
#include "cli/plot/curves.h"
#include "cli/plot/figure.h"

#include <math.h>
#include <string.h>

#define COLUMNS 900u
#define PANELS_MAX 6u
#define WIDTH 760u
#define PANEL_HEIGHT 250u
#define SINGLE_HEIGHT 400u

typedef struct panel {
    const char *metric;
    cli_plot_unit_t unit;
    size_t curve_count; // number of curves of this metric
    bool *chosen;       // one per curve: whether it is shown
} panel_t;

typedef struct panels {
    panel_t panels[PANELS_MAX];
    size_t count;
    size_t left_out; // number of metrics without a panel
} panels_t;

static bool is_rate(const char *name)
{
    return strcmp(name, "rate_bps") == 0;
}

static bool is_other(const char *name)
{
    return !is_rate(name) && !cli_metric_is_queue(name);
}

static void find_panels(const cli_curves_t *curves, panels_t *panels)
{
    for (size_t i = 0; i < curves->count; i++) {
        const char *const metric = curves->curves[i].metric;
        size_t p = 0;
        while (p < panels->count && strcmp(panels->panels[p].metric, metric) != 0) {
            p++;
        }
        if (p < panels->count) {
            continue;
        }
        if (panels->count == PANELS_MAX) {
            panels->left_out++;
            continue;
        }
        panel_t *const panel = &panels->panels[panels->count++];
        panel->metric = metric;
        panel->chosen = sim_alloc_array(curves->count, sizeof(*panel->chosen));
        panel->curve_count = cli_curves_choose(curves, metric, panel->chosen);
        uint64_t most = 0;
        for (size_t c = 0; c < curves->count; c++) {
            most =
                panel->chosen[c] && curves->curves[c].most > most ? curves->curves[c].most : most;
        }
        switch (curves->curves[i].measure) {
        case CLI_MEASURE_BYTES:
            panel->unit = cli_plot_bytes_unit((double)most);
            break;
        case CLI_MEASURE_TIME:
            panel->unit = cli_plot_time_unit((double)most);
            break;
        case CLI_MEASURE_RATE:
            panel->unit = (cli_plot_unit_t){"Gbit/s", 1e9};
            break;
        case CLI_MEASURE_SHARE:
            panel->unit = (cli_plot_unit_t){"", 1e6};
            break;
        case CLI_MEASURE_PLAIN:
            panel->unit = (cli_plot_unit_t){"", 1};
            break;
        }
    }
}

// -- data

static void print_point(const cli_figure_t *figure, const cli_curve_t *curve, size_t i,
                        double time_one, double one)
{
    cli_figure_row(figure, "%.9g %.9g", (double)curve->times_ps[i] / time_one,
                   (double)curve->values[i] / one);
}

// Prints the first, lowest, highest and last of the rows [first, end), which share a pixel column.
static void print_column(const cli_figure_t *figure, const cli_curve_t *curve, size_t first,
                         size_t end, double time_one, double one)
{
    size_t low = first;
    size_t high = first;
    for (size_t i = first; i < end; i++) {
        low = curve->values[i] < curve->values[low] ? i : low;
        high = curve->values[i] > curve->values[high] ? i : high;
    }
    const size_t kept[] = {first, SIM_MIN(low, high), SIM_MAX(high, low), end - 1};
    for (size_t k = 0; k < SIM_COUNT_OF(kept); k++) {
        if (k == 0 || kept[k] != kept[k - 1]) {
            print_point(figure, curve, kept[k], time_one, one);
        }
    }
}

// Prints a curve. Its last value holds until until_ps; the axis ends at end_ps.
static void print_curve(const cli_figure_t *figure, const cli_curve_t *curve, sim_time_t until_ps,
                        sim_time_t end_ps, double time_one, double one)
{
    const sim_time_t column_ps = end_ps / COLUMNS + 1;
    for (size_t i = 0; i < curve->count;) {
        size_t end = i + 1;
        if (curve->count > (size_t)COLUMNS * 4) {
            const sim_time_t column = curve->times_ps[i] / column_ps;
            while (end < curve->count && curve->times_ps[end] / column_ps == column) {
                end++;
            }
        }
        print_column(figure, curve, i, end, time_one, one);
        i = end;
    }
    if (until_ps > curve->times_ps[curve->count - 1]) {
        cli_figure_row(figure, "%.9g %.9g", (double)until_ps / time_one,
                       (double)curve->values[curve->count - 1] / one);
    }
    cli_figure_block_end(figure);
}

// -- the script

// Prints the label of a panel: "queue, class 3 (KB)" for queue_bytes[3], with the entity's name if
// there is only one.
static void print_label(const cli_figure_t *figure, const cli_curves_t *curves,
                        const panel_t *panel)
{
    char text[160];
    (void)snprintf(text, sizeof(text), "%.*s", (int)strcspn(panel->metric, "["), panel->metric);
    static const char *const ends[] = {"_bytes", "_bps", "_ps"};
    for (size_t i = 0; i < SIM_COUNT_OF(ends); i++) {
        const size_t size = strlen(text);
        const size_t end = strlen(ends[i]);
        if (size > end && strcmp(text + size - end, ends[i]) == 0) {
            text[size - end] = '\0';
        }
    }
    for (char *p = text; *p != '\0'; p++) {
        *p = *p == '_' ? ' ' : *p;
    }
    const char *const entity = cli_curves_entity(curves);
    const bool one = entity != NULL && strlen(entity) < 30;
    const char *const bracket = strchr(panel->metric, '[');
    char *const label =
        sim_format("%s%s%s%s%.*s%s%s%s", text, one ? " of " : "", one ? entity : "",
                   bracket != NULL ? ", class " : "", bracket != NULL ? 1 : 0,
                   bracket != NULL ? bracket + 1 : "", panel->unit.name[0] != '\0' ? " (" : "",
                   panel->unit.name, panel->unit.name[0] != '\0' ? ")" : "");
    cli_figure_label(figure, "ylabel", label, "");
    sim_free(label);
}

static void draw_panel(const cli_figure_t *figure, const cli_plot_t *plot,
                       const cli_curves_t *curves, const panel_t *panel, size_t *number, bool last,
                       cli_plot_unit_t time_unit)
{
    const size_t first = *number;
    for (size_t i = 0; i < curves->count; i++) {
        if (panel->chosen[i]) {
            const cli_curve_t *const curve = &curves->curves[i];
            const sim_time_t end_ps = plot->runs[curve->run].end_ps;
            const sim_time_t until_ps = cli_curve_end_ps(curves, curve, end_ps);
            cli_figure_block_begin(figure, (cli_block_t){"c", (*number)++, 0});
            print_curve(figure, curve, until_ps, end_ps, time_unit.one, panel->unit.one);
        }
    }
    print_label(figure, curves, panel);
    fputs(plot->run_count == 1 && curves->count == 1 ? "unset key\n" : "", figure->script);
    if (last) {
        cli_plot_time_label(figure, plot, time_unit);
    }
    size_t n = first;
    for (size_t i = 0; i < curves->count; i++) {
        if (!panel->chosen[i]) {
            continue;
        }
        char *const title = cli_curve_title(plot, curves, &curves->curves[i]);
        cli_figure_line(figure, n == first, (cli_block_t){"c", n, 0}, "steps linewidth 1.5",
                        cli_figure_color(n - first), title);
        sim_free(title);
        n++;
    }
    cli_figure_panel_end(figure);
}

static void note_left_out(const panels_t *panels, cli_figure_t *figure)
{
    size_t shown = 0;
    size_t there_are = 0;
    for (size_t p = 0; p < panels->count; p++) {
        const size_t count = panels->panels[p].curve_count;
        there_are += count;
        shown += SIM_MIN(count, CLI_PLOT_CURVES_MAX);
    }
    if (panels->left_out > 0) {
        (void)snprintf(figure->note, sizeof(figure->note), "%zu of %zu metrics%s", panels->count,
                       panels->count + panels->left_out, shown < there_are ? ", " : "");
    }
    const size_t used = strlen(figure->note);
    if (shown < there_are) {
        (void)snprintf(figure->note + used, sizeof(figure->note) - used,
                       "the highest %zu of %zu curves, at most %u a panel", shown, there_are,
                       CLI_PLOT_CURVES_MAX);
    }
}

static void draw(const cli_plot_t *plot, const cli_curves_t *curves, cli_figure_t *figure)
{
    panels_t panels = {.count = 0};
    find_panels(curves, &panels);
    note_left_out(&panels, figure);
    if (curves->cut) {
        (void)snprintf(figure->note, sizeof(figure->note), "%s", CLI_CURVES_CUT(curves));
    }
    sim_time_t end_ps = 0;
    for (size_t i = 0; i < curves->count; i++) {
        const cli_curve_t *const curve = &curves->curves[i];
        const sim_time_t last_ps = curve->times_ps[curve->count - 1];
        const sim_time_t run_ps = plot->runs[curve->run].end_ps;
        end_ps = SIM_MAX(run_ps, end_ps);
        end_ps = SIM_MAX(last_ps, end_ps);
    }
    const cli_plot_unit_t time_unit = cli_plot_time_unit((double)end_ps);
    const unsigned height =
        panels.count == 1 ? SINGLE_HEIGHT : PANEL_HEIGHT * (unsigned)panels.count;
    cli_figure_begin(figure, WIDTH, height);
    FILE *const script = figure->script;
    cli_figure_range(figure, "xrange", 0, (double)(end_ps > 0 ? end_ps : 1) / time_unit.one);
    cli_figure_range(figure, "yrange", 0, (double)NAN);
    fputs("set lmargin 11\nset rmargin 3\nset ylabel offset 1,0\nset offsets 0,0,graph 0.06,0\n",
          script);
    if (panels.count > 1) {
        fprintf(script, "set multiplot layout %zu,1\n", panels.count);
    }
    size_t number = 0;
    for (size_t p = 0; p < panels.count; p++) {
        draw_panel(figure, plot, curves, &panels.panels[p], &number, p + 1 == panels.count,
                   time_unit);
        sim_free(panels.panels[p].chosen);
    }
    if (panels.count > 1) {
        fputs("unset multiplot\n", script);
    }
}

static sim_err_t plot_series(const cli_plot_t *plot, cli_metric_fn wanted, const char *what,
                             const char *example, cli_figure_t *figure, world_error_t *error)
{
    cli_curves_t curves;
    const sim_err_t result = cli_curves_load(plot, wanted, &curves, error);
    if (result == SIM_OK && curves.count > 0) {
        draw(plot, &curves, figure);
        figure->what = sim_format("%s over time, %zu series", what, curves.count);
    } else {
        cli_figure_nothing(
            figure, "no such series in series.csv of %s, expected observe: [{series: \"%s\"}]",
            plot->runs[0].folder, example);
    }
    cli_curves_fini(&curves);
    return result;
}

static sim_err_t plot_queue(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error)
{
    return plot_series(plot, cli_metric_is_queue, "queues", "port[leaf0->host5].queue_bytes",
                       figure, error);
}

const cli_plot_kind_t cli_plot_queue = {"queue", "series.csv", "series_csv.rows", plot_queue};

static sim_err_t plot_rate(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error)
{
    return plot_series(plot, is_rate, "rates of queue pairs", "qp[*->host5].rate_bps", figure,
                       error);
}

const cli_plot_kind_t cli_plot_rate = {"rate", "series.csv", "series_csv.rows", plot_rate};

static sim_err_t plot_others(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error)
{
    return plot_series(plot, is_other, "other metrics", "qp[*->host5].rtt_ps", figure, error);
}

const cli_plot_kind_t cli_plot_series = {"series", "series.csv", "series_csv.rows", plot_others};
