// SPDX-License-Identifier: Apache-2.0
// cli/plot/load_time.c - draws the load of links over time as a map, one row per port.
//
// A sample of a utilisation series covers the time since the sample before. If there are more
// samples than pixel columns, a column shows their mean, weighted by time.
#include "cli/plot/curves.h"
#include "cli/plot/figure.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 48u
#define COLUMNS 500u
#define ROW_HEIGHT 17u
#define FEW_ROWS 6u // higher ones, so that the scale has room
#define PANEL_MARGIN 92u
#define LABEL_MARGIN 24u // of the time axis

static bool is_load(const char *name)
{
    return strcmp(name, "utilisation") == 0;
}

static double mean_of(const cli_curve_t *curve)
{
    double sum = 0;
    for (size_t i = 0; i < curve->count; i++) {
        sum += (double)curve->values[i];
    }
    return sum / (double)curve->count;
}

static sim_time_t since_ps(const cli_curve_t *curve, size_t i)
{
    if (i > 0) {
        return curve->times_ps[i - 1];
    }
    const sim_time_t period_ps =
        curve->count > 1 ? curve->times_ps[1] - curve->times_ps[0] : curve->times_ps[0];
    return curve->times_ps[0] > period_ps ? curve->times_ps[0] - period_ps : 0;
}

static void print_row(const cli_figure_t *figure, const cli_curve_t *curve, size_t row,
                      sim_time_t end_ps, double one)
{
    const sim_time_t column_ps = end_ps / COLUMNS + 1;
    for (size_t i = 0; i < curve->count;) {
        const sim_time_t from_ps = since_ps(curve, i);
        double sum = 0;
        sim_time_t to_ps = from_ps;
        do {
            sum += (double)curve->values[i] * (double)(curve->times_ps[i] - to_ps);
            to_ps = curve->times_ps[i];
            i++;
        } while (i < curve->count && to_ps - from_ps < column_ps);
        if (to_ps > from_ps) {
            cli_figure_row(figure, "%.7g %.7g %.0f %.4g", (double)from_ps / one,
                           (double)to_ps / one, (double)row, sum / (double)(to_ps - from_ps) / 1e4);
        }
    }
}

// Marks the busiest curves of a run and returns their number.
static size_t choose(const cli_curves_t *curves, size_t run, bool *chosen)
{
    for (size_t n = 0;; n++) {
        size_t best = SIZE_MAX;
        double best_mean = -1;
        for (size_t i = 0; n < ROWS_MAX && i < curves->count; i++) {
            const cli_curve_t *const curve = &curves->curves[i];
            if (curve->run == run && !chosen[i] && mean_of(curve) > best_mean) {
                best = i;
                best_mean = mean_of(curve);
            }
        }
        if (best == SIZE_MAX) {
            return n;
        }
        chosen[best] = true;
    }
}

static void draw_map(const cli_figure_t *figure, const cli_curves_t *curves, size_t run,
                     const bool *chosen, sim_time_t end_ps, double one)
{
    size_t row = 0;
    const cli_block_t block = {"run", run, 0};
    cli_figure_block_begin(figure, block);
    for (size_t i = 0; i < curves->count; i++) {
        if (chosen[i] && curves->curves[i].run == run) {
            print_row(figure, &curves->curves[i], ++row, end_ps, one);
        }
    }
    cli_figure_block_end(figure);
    cli_figure_tics_begin(figure, "ytics", "");
    row = 0;
    for (size_t i = 0; i < curves->count; i++) {
        if (chosen[i] && curves->curves[i].run == run) {
            row++;
            cli_figure_tic(figure, row == 1, curves->curves[i].entity, (double)row);
        }
    }
    cli_figure_tics_end(figure);
    cli_figure_range(figure, "yrange", (double)row + 0.5, 0.5);
    fprintf(figure->script,
            "plot $run%zu using 1:3:1:2:($3-0.46):($3+0.46):4 with boxxyerror fillstyle solid 1.0 "
            "noborder linecolor palette notitle",
            run);
    static const cli_using_t use[] = {{1, 0}, {1, 0}, {2, 0}, {3, -0.46}, {3, 0.46}, {4, 0}};
    cli_figure_curve(figure, block, "boxes", "palette", "", use, SIM_COUNT_OF(use));
    cli_figure_panel_end(figure);
}

static void draw(const cli_plot_t *plot, const cli_curves_t *curves, cli_figure_t *figure)
{
    bool *const chosen = sim_alloc_array(curves->count, sizeof(*chosen));
    size_t rows[CLI_PLOT_RUNS_MAX] = {0};
    size_t shown = 0;
    size_t panels = 0;
    for (size_t r = 0; r < plot->run_count; r++) {
        rows[r] = choose(curves, r, chosen);
        shown += rows[r];
        panels += rows[r] > 0;
    }
    sim_time_t end_ps = 1;
    size_t name_size = 8;
    for (size_t i = 0; i < curves->count; i++) {
        const cli_curve_t *const curve = &curves->curves[i];
        const sim_time_t last_ps = curve->times_ps[curve->count - 1];
        const sim_time_t run_ps = plot->runs[curve->run].end_ps;
        end_ps = SIM_MAX(last_ps, end_ps);
        end_ps = SIM_MAX(run_ps, end_ps);
        const size_t size = strlen(curve->entity);
        name_size = SIM_MAX(size, name_size);
    }
    if (shown < curves->count) {
        (void)snprintf(figure->note, sizeof(figure->note), "the busiest %zu of %zu ports", shown,
                       curves->count);
    }
    const cli_plot_unit_t unit = cli_plot_time_unit((double)end_ps);
    const size_t row_height =
        shown < FEW_ROWS * panels ? FEW_ROWS * ROW_HEIGHT * panels / shown : ROW_HEIGHT;
    const double height = (double)(PANEL_MARGIN * panels + LABEL_MARGIN + shown * row_height);
    cli_figure_begin(figure, 860, (unsigned)height);
    FILE *const script = figure->script;
    fprintf(script,
            "set lmargin %zu\nset rmargin 12\nunset grid\n"
            "set ytics font 'sans-serif,11' scale 0\n",
            name_size * 7 / 8 + 2);
    cli_figure_range(figure, "xrange", 0, (double)end_ps / unit.one);
    cli_figure_range(figure, "cbrange", 0, 100);
    cli_figure_label(figure, "cblabel", "utilisation (%)", "");
    cli_plot_load_palette(figure);
    fputs(panels > 1 ? "set multiplot\nset tmargin 2.5\n" : "", script);
    size_t panel = 0;
    double top = 1;
    for (size_t r = 0; r < plot->run_count; r++) {
        if (rows[r] == 0) {
            continue;
        }
        const bool last = ++panel == panels;
        const double share =
            (double)(PANEL_MARGIN + rows[r] * row_height + (last ? LABEL_MARGIN : 0)) / height;
        top -= share;
        if (panels > 1) {
            fprintf(script, "set size 1,%.5f\nset origin 0,%.5f\n", share, SIM_MAX(top, 0));
        }
        cli_plot_run_title(figure, plot, r);
        if (last) {
            cli_plot_time_label(figure, plot, unit);
        }
        draw_map(figure, curves, r, chosen, end_ps, unit.one);
    }
    fputs(panels > 1 ? "unset multiplot\n" : "", script);
    sim_free(chosen);
}

static sim_err_t plot_load_time(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error)
{
    cli_curves_t curves;
    const sim_err_t result = cli_curves_load(plot, is_load, &curves, error);
    if (result == SIM_OK && curves.count > 0) {
        draw(plot, &curves, figure);
        figure->what = sim_format("utilisation over time, %zu series", curves.count);
    } else {
        cli_figure_nothing(figure,
                           "no utilisation in series.csv of %s, expected observe: [{series: "
                           "\"port[leaf*->*].utilisation\", every: 10us}]",
                           plot->runs[0].folder);
    }
    cli_curves_fini(&curves);
    return result;
}

const cli_plot_kind_t cli_plot_load_time = {"load-time", "series.csv", "series_csv.rows",
                                            plot_load_time};
