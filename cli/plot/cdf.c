// SPDX-License-Identifier: Apache-2.0
// cli/plot/cdf.c - draws the share of time during which a queue was at most as long as x.
//
// A value is weighted by the time until the next row of its path, the last value by the time until
// the end of the run. So equidistant samples have equal weights.
#include "cli/plot/curves.h"
#include "cli/plot/figure.h"

#include <stdlib.h>
#include <string.h>

#define POINTS_MAX 1500u

typedef struct share {
    uint64_t value;
    uint64_t time_ps;
} share_t;

static int compare_shares(const void *a, const void *b)
{
    const share_t *const x = a;
    const share_t *const y = b;
    return (x->value > y->value) - (x->value < y->value);
}

static bool is_queue(const char *name)
{
    return strcmp(name, "queue_bytes") == 0;
}

// Prints the rows of a data block: value, share of time at or below it. Points closer than a step
// in value and in share are left out.
static void print_curve(const cli_figure_t *figure, const cli_curve_t *curve, size_t number,
                        sim_time_t end_ps, const cli_plot_unit_t *unit, uint64_t most)
{
    share_t *const shares = sim_alloc_array(curve->count, sizeof(*shares));
    double total_ps = 0;
    for (size_t i = 0; i < curve->count; i++) {
        const sim_time_t from_ps = curve->times_ps[i];
        const sim_time_t to_ps = i + 1 < curve->count ? curve->times_ps[i + 1] : end_ps;
        shares[i] = (share_t){curve->values[i], to_ps > from_ps ? to_ps - from_ps : 0};
        total_ps += (double)shares[i].time_ps;
    }
    if (total_ps <= 0) {
        total_ps = 1;
        shares[0].time_ps = 1;
    }
    qsort(shares, curve->count, sizeof(*shares), compare_shares);
    cli_figure_block_begin(figure, (cli_block_t){"c", number, 0});
    cli_figure_row(figure, "%.6g %.6g", 0.0, 0.0);
    double below_ps = 0;
    double kept_value = -1;
    double kept_share = -1;
    for (size_t i = 0; i < curve->count; i++) {
        below_ps += (double)shares[i].time_ps;
        const bool last = i + 1 == curve->count;
        if (!last && shares[i + 1].value == shares[i].value) {
            continue;
        }
        const double value = (double)shares[i].value;
        const double share = below_ps / total_ps;
        if (last || kept_value < 0 || value - kept_value > (double)most / POINTS_MAX ||
            share - kept_share > 1.0 / POINTS_MAX) {
            cli_figure_row(figure, "%.6g %.6g", value / unit->one, share);
            kept_value = value;
            kept_share = share;
        }
    }
    cli_figure_row(figure, "%.6g %.6g", (double)most / unit->one, 1.0);
    cli_figure_block_end(figure);
    sim_free(shares);
}

static void draw(const cli_plot_t *plot, const cli_curves_t *curves, cli_figure_t *figure)
{
    // Queues of all entities and classes share one chart, so that their lengths can be compared.
    bool *const chosen = sim_alloc_array(curves->count, sizeof(*chosen));
    size_t shown = 0;
    uint64_t most = 1;
    for (size_t n = 0; n < curves->count && n < CLI_PLOT_CURVES_MAX; n++) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < curves->count; i++) {
            if (!chosen[i] &&
                (best == SIZE_MAX || curves->curves[i].most > curves->curves[best].most)) {
                best = i;
            }
        }
        chosen[best] = true;
        most = SIM_MAX(curves->curves[best].most, most);
        shown++;
    }
    if (shown < curves->count) {
        (void)snprintf(figure->note, sizeof(figure->note), "the highest %zu of %zu curves", shown,
                       curves->count);
    }
    if (curves->cut) {
        (void)snprintf(figure->note, sizeof(figure->note), "%s", CLI_CURVES_CUT(curves));
    }
    const cli_plot_unit_t unit = cli_plot_bytes_unit((double)most);
    cli_figure_begin(figure, 640, 420);
    fputs("set lmargin 9\nset rmargin 3\n", figure->script);
    cli_figure_range(figure, "xrange", 0, (double)most * 1.02 / unit.one);
    cli_figure_range(figure, "yrange", 0, 1);
    cli_figure_label(figure, "ylabel", "share of time at or below (CDF)", "");
    const char *const entity = cli_curves_entity(curves);
    char *const label = entity != NULL ? sim_format("queue of %s (%s)", entity, unit.name)
                                       : sim_format("queue length (%s)", unit.name);
    cli_figure_label(figure, "xlabel", label, "");
    sim_free(label);
    size_t number = 0;
    for (size_t i = 0; i < curves->count; i++) {
        if (chosen[i]) {
            const sim_time_t end_ps = curves->end_ps[curves->curves[i].run];
            print_curve(figure, &curves->curves[i], number++, end_ps, &unit, most);
        }
    }
    number = 0;
    for (size_t i = 0; i < curves->count; i++) {
        if (chosen[i]) {
            char *const title = cli_curve_title(plot, curves, &curves->curves[i]);
            cli_figure_line(figure, number == 0, (cli_block_t){"c", number, 0}, "steps linewidth 2",
                            cli_figure_color(number), title);
            sim_free(title);
            number++;
        }
    }
    cli_figure_panel_end(figure);
    sim_free(chosen);
}

static sim_err_t plot_queue_cdf(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error)
{
    cli_curves_t curves;
    const sim_err_t result = cli_curves_load(plot, is_queue, &curves, error);
    if (result == SIM_OK && curves.count > 0) {
        draw(plot, &curves, figure);
        figure->what = sim_format("distribution of queue lengths, %zu series", curves.count);
    } else {
        cli_figure_nothing(figure,
                           "no queue in series.csv of %s, expected observe: [{series: "
                           "\"port[leaf0->host5].queue_bytes\"}]",
                           plot->runs[0].folder);
    }
    cli_curves_fini(&curves);
    return result;
}

const cli_plot_kind_t cli_plot_queue_cdf = {"queue-cdf", "series.csv", "series_csv.rows",
                                            plot_queue_cdf};
