// SPDX-License-Identifier: Apache-2.0
// cli/plot/plot_slowdown.c - the figure of slowdowns: FCT over the ideal FCT, by flow size.
//
// As the field draws it (HPCC, Li et al., SIGCOMM 2019, and its published analysis): flows
// in order of size, cut into bins of equally many, and of each bin the median, the 95th and the
// 99th percentile, the element at floor(n x p) of its sorted slowdowns; a slowdown below 1 is 1.
// An x position therefore is a share of the flows, not a size; its label is the largest size of the
// bin.
// Runs whose flows differ in size have the bins of all their flows together, by size.
#include "cli/plot/plot.h"

#include <stdlib.h>
#include <string.h>

#define BINS_MAX 20u
#define BIN_FLOWS_MIN 20u
#define SLOWDOWN_ONE UINT64_C(1000000)
#define PERCENTILES 3u

static const struct {
    unsigned percent;
    const char *name;
} percentiles[PERCENTILES] = {{50, "median"}, {95, "95th percentile"}, {99, "99th percentile"}};

typedef struct flow {
    uint64_t bytes;
    uint64_t slowdown; // millionths
    size_t order;      // in the file
} flow_t;

typedef struct flows {
    flow_t *flows; // finished ones, by size, then as in the file
    size_t count;
    size_t capacity;
    size_t unfinished;
} flows_t;

typedef struct bins {
    size_t count;
    size_t wanted; // more than count where many flows have the same size
    bool by_rank;  // else by size
    uint64_t bytes_max[BINS_MAX];
} bins_t;

static int compare_flows(const void *a, const void *b)
{
    const flow_t *const x = a;
    const flow_t *const y = b;
    if (x->bytes != y->bytes) {
        return x->bytes < y->bytes ? -1 : 1;
    }
    return (x->order > y->order) - (x->order < y->order);
}

static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static sim_err_t read_flows(results_csv_t *csv,
                            const char *app,
                            flows_t *flows,
                            world_error_t *error)
{
    for (;;) {
        bool end = false;
        sim_err_t result = results_csv_next(csv, &end, error);
        if (result != SIM_OK || end) {
            return result;
        }
        if (app != NULL && strcmp(results_csv_text(csv, 2), app) != 0) {
            continue;
        }
        if (results_csv_text(csv, 1)[0] == '\0') {
            flows->unfinished++;
            continue;
        }
        flow_t flow = {.order = flows->count};
        result = results_csv_number(csv, 0, 1, &flow.bytes, error);
        if (result == SIM_OK) {
            result = results_csv_number(csv, 1, SLOWDOWN_ONE, &flow.slowdown, error);
        }
        if (result != SIM_OK) {
            return result;
        }
        flow.slowdown = flow.slowdown < SLOWDOWN_ONE ? SLOWDOWN_ONE : flow.slowdown;
        SIM_GROW(flows->flows, flows->count, &flows->capacity);
        flows->flows[flows->count++] = flow;
    }
}

// Leaves flows empty where the run wrote no flows.csv.
static sim_err_t load(const cli_plot_run_t *run,
                      const char *app,
                      flows_t *flows,
                      world_error_t *error)
{
    static const char *const names[] = {"bytes", "slowdown", "app"};
    results_csv_t *csv = NULL;
    sim_err_t result = cli_plot_open(run, "flows.csv", names, SIM_COUNT_OF(names), &csv, error);
    if (csv != NULL) {
        result = read_flows(csv, app, flows, error);
        results_csv_close(csv);
    }
    if (result == SIM_OK && flows->count > 0) {
        qsort(flows->flows, flows->count, sizeof(flow_t), compare_flows);
    }
    return result;
}

// -- bins

static bool same_sizes(const flows_t *a, const flows_t *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++) {
        same = a->flows[i].bytes == b->flows[i].bytes;
    }
    return same;
}

static size_t bin_count(size_t flow_count)
{
    const size_t count = flow_count / BIN_FLOWS_MIN;
    return count < 1 ? 1 : count > BINS_MAX ? BINS_MAX : count;
}

static void bins_by_rank(const flows_t *flows, bins_t *bins)
{
    bins->by_rank = true;
    bins->count = bins->wanted = bin_count(flows->count);
    for (size_t b = 0; b < bins->count; b++) {
        bins->bytes_max[b] = flows->flows[(b + 1) * flows->count / bins->count - 1].bytes;
    }
}

static void bins_by_size(const flows_t *flows, size_t run_count, bins_t *bins)
{
    size_t total = 0;
    size_t least = SIZE_MAX;
    for (size_t r = 0; r < run_count; r++) {
        total += flows[r].count;
        least = flows[r].count > 0 && flows[r].count < least ? flows[r].count : least;
    }
    uint64_t *const sizes = sim_alloc_array(total, sizeof(*sizes));
    size_t next = 0;
    for (size_t r = 0; r < run_count; r++) {
        for (size_t i = 0; i < flows[r].count; i++) {
            sizes[next++] = flows[r].flows[i].bytes;
        }
    }
    qsort(sizes, total, sizeof(*sizes), compare_u64);
    bins->wanted = bin_count(least);
    for (size_t b = 0; b < bins->wanted; b++) {
        const uint64_t bytes = sizes[(b + 1) * total / bins->wanted - 1];
        if (bins->count == 0 || bins->bytes_max[bins->count - 1] < bytes) {
            bins->bytes_max[bins->count++] = bytes;
        }
    }
    sim_free(sizes);
}

// The flows [*first, *end) of a bin.
static void flows_of(const flows_t *flows,
                     const bins_t *bins,
                     size_t bin,
                     size_t *first,
                     size_t *end)
{
    if (bins->by_rank) {
        *first = bin * flows->count / bins->count;
        *end = (bin + 1) * flows->count / bins->count;
        return;
    }
    *first = 0;
    while (bin > 0 && *first < flows->count &&
           flows->flows[*first].bytes <= bins->bytes_max[bin - 1]) {
        ++*first;
    }
    *end = *first;
    while (*end < flows->count && flows->flows[*end].bytes <= bins->bytes_max[bin]) {
        ++*end;
    }
}

// -- the script

// Rows of a data block: bin, then the percentiles.
static void print_data(FILE *script,
                       size_t run,
                       const flows_t *flows,
                       const bins_t *bins,
                       double *most)
{
    uint64_t *const sorted = sim_alloc_array(flows->count + 1, sizeof(*sorted));
    fprintf(script, "$run%zu << EOD\n", run);
    for (size_t b = 0; b < bins->count; b++) {
        size_t first = 0;
        size_t end = 0;
        flows_of(flows, bins, b, &first, &end);
        const size_t count = end - first;
        if (count == 0) {
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            sorted[i] = flows->flows[first + i].slowdown;
        }
        qsort(sorted, count, sizeof(*sorted), compare_u64);
        fprintf(script, "%zu", b + 1);
        for (size_t p = 0; p < PERCENTILES; p++) {
            const size_t position = count * percentiles[p].percent / 100;
            const double slowdown = (double)sorted[position] / (double)SLOWDOWN_ONE;
            *most = slowdown > *most ? slowdown : *most;
            fprintf(script, " %.6g", slowdown);
        }
        fputc('\n', script);
    }
    fputs("EOD\n", script);
    sim_free(sorted);
}

static void print_size(FILE *script, uint64_t bytes)
{
    static const struct {
        double one;
        const char *unit;
    } units[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "K"}};
    for (size_t i = 0; i < SIM_COUNT_OF(units); i++) {
        if ((double)bytes >= units[i].one) {
            fprintf(script, "'%.3g%s'", (double)bytes / units[i].one, units[i].unit);
            return;
        }
    }
    fprintf(script, "'%u'", (unsigned)bytes);
}

// 1, 2, 5, 10, 20, 50...
static uint64_t round_number(unsigned n)
{
    static const uint64_t digits[] = {1, 2, 5};
    uint64_t number = digits[n % 3];
    for (unsigned i = 0; i < n / 3 && i < 18; i++) {
        number *= 10;
    }
    return number;
}

static void print_axes(FILE *script, const bins_t *bins, double most, size_t label_step)
{
    fputs("set xtics rotate by -45 font 'sans-serif,11' (", script);
    for (size_t b = 0; b < bins->count; b++) {
        if ((bins->count - 1 - b) % label_step == 0) {
            fputs(b < label_step ? "" : ", ", script);
            print_size(script, bins->bytes_max[b]);
            fprintf(script, " %zu", b + 1);
        }
    }
    fputs(")\n", script);
    fprintf(script, "set xrange [0.5:%zu.5]\n", bins->count);
    // Up to the next 1, 2 or 5 above everything.
    uint64_t top = 2;
    for (unsigned n = 2; (double)top < most * 1.05; n++) {
        top = round_number(n);
    }
    fprintf(script, "set logscale y\nset yrange [1:%" PRIu64 "]\nset ytics (", top);
    for (unsigned n = 0; round_number(n) <= top; n++) {
        fprintf(script,
                "%s'%" PRIu64 "' %" PRIu64,
                n > 0 ? ", " : "",
                round_number(n),
                round_number(n));
    }
    fputs(")\n", script);
}

static void print_title(FILE *script, const cli_plot_t *plot, size_t run, const flows_t *flows)
{
    char *const title = flows->unfinished == 0 ? sim_strdup(plot->runs[run].name)
                                               : sim_format("%s (%zu of %zu flows)",
                                                            plot->runs[run].name,
                                                            flows->count,
                                                            flows->count + flows->unfinished);
    cli_figure_quote(script, title);
    sim_free(title);
}

static void draw_one(FILE *script, const cli_plot_t *plot, size_t run, const flows_t *flows)
{
    fputs("set key title ", script);
    print_title(script, plot, run, flows);
    fputs(" left\nset ylabel 'FCT slowdown'\nplot", script);
    for (size_t p = 0; p < PERCENTILES; p++) {
        fprintf(script,
                "%s $run%zu using 1:%zu with linespoints linewidth 2 pointtype 7 pointsize 0.5 "
                "linecolor '%s' title '%s'",
                p > 0 ? "," : "",
                run,
                p + 2,
                cli_figure_color(p),
                percentiles[p].name);
    }
    fputc('\n', script);
}

// Three panels side by side, a legend of a line per run above them.
static void draw_several(FILE *script,
                         const cli_plot_t *plot,
                         const flows_t *flows,
                         unsigned legend,
                         unsigned height)
{
    fprintf(script,
            "set multiplot layout 1,3 margins 0.055,0.985,%.4g,%.4g spacing 0.045,0\n"
            "set ylabel 'FCT slowdown' offset 1,0\n",
            95.0 / height,
            1 - (legend + 30.0) / height);
    for (size_t p = 0; p < PERCENTILES; p++) {
        fprintf(script, "set title '%s' offset 0,-0.5\n", percentiles[p].name);
        fputs(p == 0 ? "set key at screen 0.055,0.985 left top Left reverse vertical samplen 2 "
                       "maxcols 1\n"
                     : "unset key\nunset ylabel\n",
              script);
        const char *separator = "plot";
        for (size_t r = 0; r < plot->run_count; r++) {
            if (flows[r].count == 0) {
                continue;
            }
            fprintf(script,
                    "%s $run%zu using 1:%zu with linespoints linewidth 2 dashtype %zu pointtype 7 "
                    "pointsize 0.4 linecolor '%s' title ",
                    separator,
                    r,
                    p + 2,
                    r / CLI_PLOT_CURVES_MAX + 1,
                    cli_figure_color(r));
            print_title(script, plot, r, &flows[r]);
            separator = ",";
        }
        fputc('\n', script);
    }
    fputs("unset multiplot\n", script);
}

static void draw(const cli_plot_t *plot,
                 const flows_t *flows,
                 size_t with_flows,
                 cli_figure_t *figure)
{
    bins_t bins = {.count = 0};
    size_t first = 0;
    while (flows[first].count == 0) {
        first++;
    }
    bool same = true;
    for (size_t r = first + 1; r < plot->run_count; r++) {
        same = same && (flows[r].count == 0 || same_sizes(&flows[first], &flows[r]));
    }
    // Flows of one size alone are one bin.
    const flows_t *const any = &flows[first];
    if (same && any->flows[0].bytes != any->flows[any->count - 1].bytes) {
        bins_by_rank(&flows[first], &bins);
    } else {
        bins_by_size(flows, plot->run_count, &bins);
    }
    if (bins.count == bins.wanted && bins.count > 1) {
        (void)snprintf(figure->note,
                       sizeof(figure->note),
                       "a point: %s%.3g %% of the flows",
                       same ? "" : "about ",
                       100.0 / (double)bins.count);
    }
    const unsigned legend = 12 + 19 * (unsigned)with_flows;
    const unsigned height = with_flows == 1 ? 440 : 360 + legend;
    cli_figure_begin(figure, with_flows == 1 ? 640 : 1200, height);
    FILE *const script = figure->script;
    double most = 1;
    for (size_t r = 0; r < plot->run_count; r++) {
        if (flows[r].count > 0) {
            print_data(script, r, &flows[r], &bins, &most);
        }
    }
    print_axes(script, &bins, most, with_flows == 1 ? 1 : 2);
    fputs("set xlabel 'flow size up to (bytes)'\n", script);
    if (with_flows == 1) {
        draw_one(script, plot, first, &flows[first]);
    } else {
        draw_several(script, plot, flows, legend, height);
    }
    figure->what =
        sim_format("FCT slowdown by flow size, %zu run%s", with_flows, with_flows == 1 ? "" : "s");
}

sim_err_t cli_plot_slowdown(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error)
{
    flows_t flows[CLI_PLOT_RUNS_MAX] = {{NULL, 0, 0, 0}};
    sim_err_t result = SIM_OK;
    size_t with_flows = 0;
    size_t most = 0;
    for (size_t r = 0; r < plot->run_count && result == SIM_OK; r++) {
        result = load(&plot->runs[r], plot->app, &flows[r], error);
        with_flows += flows[r].count > 0;
        most = flows[r].count > most ? flows[r].count : most;
    }
    if (result == SIM_OK && most >= BIN_FLOWS_MIN) {
        draw(plot, flows, with_flows, figure);
    } else {
        cli_figure_nothing(figure,
                           "%zu finished flows%s%s in flows.csv of %s, expected at least %u",
                           most,
                           plot->app != NULL ? " of " : "",
                           plot->app != NULL ? plot->app : "",
                           plot->runs[0].folder,
                           BIN_FLOWS_MIN);
    }
    for (size_t r = 0; r < plot->run_count; r++) {
        sim_free(flows[r].flows);
    }
    return result;
}
