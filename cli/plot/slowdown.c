// SPDX-License-Identifier: Apache-2.0
// cli/plot/slowdown.c - draws slowdowns (FCT over ideal FCT) by flow size.
//
// It follows the published analysis of HPCC (Li et al., SIGCOMM 2019). Flows are sorted by size and
// cut into bins of equally many. Each bin shows the median, p95 and p99: the element at floor(n x
// p)
// of its sorted slowdowns. A slowdown below 1 counts as 1. So an x position is a share of the
// flows, and its label is the largest size of the bin. If runs have different sizes, the bins are
// size ranges of all their flows. Each kind of traffic has its own panel.
#include "cli/plot/figure.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BINS_MAX 20u
#define BIN_FLOWS_MIN 20u
#define SLOWDOWN_ONE UINT64_C(1000000)
#define PERCENTILES 3u
#define KINDS_MAX 4u // of traffic: rows of panels

static const struct {
    unsigned percent;
    const char *name;
} percentiles[PERCENTILES] = {{50, "median"}, {95, "95th percentile"}, {99, "99th percentile"}};

typedef struct flow {
    uint64_t bytes;
    uint64_t slowdown; // in millionths
    size_t order;      // row number in the file
} flow_t;

typedef struct flows {
    flow_t *flows; // finished flows, by size, then by row number
    size_t count;
    size_t capacity;
    size_t unfinished;
} flows_t;

// The flows of one kind of traffic, per run.
typedef struct kind {
    const char *name; // NULL: all kinds of traffic together
    flows_t flows[CLI_PLOT_RUNS_MAX];
    size_t with_flows; // number of runs that have such flows
    size_t most;       // largest number of finished flows in one run
} kind_t;

typedef struct kinds {
    char *names[KINDS_MAX];
    size_t count;
    bool more; // there are more kinds than KINDS_MAX
} kinds_t;

typedef struct bins {
    size_t count;
    size_t wanted; // number of bins asked for; above count if many flows have one size
    bool by_rank;  // true: bins of equally many flows, false: bins by size
    uint64_t bytes_max[BINS_MAX];
} bins_t;

static int compare_flows(const void *a, const void *b)
{
    const flow_t *const x = a;
    const flow_t *const y = b;
    return 2 * SIM_COMPARE(x->bytes, y->bytes) + SIM_COMPARE(x->order, y->order);
}

static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// Reads the slowdown of a row. An invalid time means that the row is damaged.
static sim_err_t read_flow(const results_csv_t *csv, flow_t *flow, world_error_t *error)
{
    uint64_t fct_ps = 0;
    sim_err_t result = results_csv_number(csv, 0, 1, &flow->bytes, error);
    if (result == SIM_OK) {
        result = results_csv_number(csv, 1, SLOWDOWN_ONE, &flow->slowdown, error);
    }
    if (result == SIM_OK) {
        result = results_csv_number(csv, 3, SIM_PS_PER_NS, &fct_ps, error);
    }
    flow->slowdown = SIM_MAX(SLOWDOWN_ONE, flow->slowdown);
    return result;
}

// The application whose flows are read, and the list that they are added to.
typedef struct reading {
    const char *app; // NULL: all
    flows_t *flows;
} reading_t;

static sim_err_t take_flow(const results_csv_t *csv, void *ctx, world_error_t *error)
{
    const reading_t *const reading = ctx;
    flows_t *const flows = reading->flows;
    if (reading->app != NULL && strcmp(results_csv_text(csv, 2), reading->app) != 0) {
        return SIM_OK;
    }
    if (results_csv_text(csv, 1)[0] == '\0') {
        flows->unfinished++;
        return SIM_OK;
    }
    flow_t flow = {.order = flows->count};
    const sim_err_t result = read_flow(csv, &flow, error);
    if (result == SIM_OK) {
        SIM_APPEND(flows->flows, flows->count, flows->capacity, flow);
    }
    return result;
}

static bool has_flows(const cli_plot_run_t *run)
{
    char *const path = sim_format("%s/flows.csv", run->folder);
    const bool there = access(path, R_OK) == 0;
    sim_free(path);
    return there;
}

// Loads the flows of a run; none if the run wrote no flows.csv.
static sim_err_t load(const cli_plot_run_t *run, const char *app, flows_t *flows,
                      world_error_t *error)
{
    static const char *const names[] = {"bytes", "slowdown", "app", "fct_ns"};
    reading_t reading = {app, flows};
    const sim_err_t result = results_csv_rows(run->folder, "flows.csv", names, SIM_COUNT_OF(names),
                                              take_flow, &reading, error);
    if (result == SIM_OK && flows->count > 0) {
        qsort(flows->flows, flows->count, sizeof(flow_t), compare_flows);
    }
    return result;
}

static sim_err_t take_kind(const results_csv_t *csv, void *ctx, world_error_t *error)
{
    (void)error;
    kinds_t *const kinds = ctx;
    const char *const name = results_csv_text(csv, 0);
    size_t k = 0;
    while (k < kinds->count && strcmp(kinds->names[k], name) != 0) {
        k++;
    }
    if (k == KINDS_MAX) {
        kinds->more = true;
    } else if (k == kinds->count) {
        kinds->names[kinds->count++] = sim_strdup(name);
    }
    return SIM_OK;
}

// Collects the kinds of traffic of all runs, in the order of their files.
static sim_err_t find_kinds(const cli_plot_t *plot, kinds_t *kinds, world_error_t *error)
{
    static const char *const names[] = {"app"};
    sim_err_t result = SIM_OK;
    for (size_t r = 0; r < plot->run_count && result == SIM_OK; r++) {
        result =
            results_csv_rows(plot->runs[r].folder, "flows.csv", names, 1, take_kind, kinds, error);
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
    return count < 1 ? 1 : SIM_MIN(BINS_MAX, count);
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

// Sets *first and *end to the range [*first, *end) of the flows of a bin.
static void flows_of(const flows_t *flows, const bins_t *bins, size_t bin, size_t *first,
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

static cli_block_t block_of(size_t kind, size_t run)
{
    return (cli_block_t){"run", run, kind};
}

// Prints the rows of a data block: the bin, then its percentiles.
static void print_data(const cli_figure_t *figure, size_t kind, size_t run, const flows_t *flows,
                       const bins_t *bins, double *most)
{
    uint64_t *const sorted = sim_alloc_array(flows->count + 1, sizeof(*sorted));
    cli_figure_block_begin(figure, block_of(kind, run));
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
        double slowdowns[PERCENTILES];
        for (size_t p = 0; p < PERCENTILES; p++) {
            const size_t position = count * percentiles[p].percent / 100;
            slowdowns[p] = (double)sorted[position] / (double)SLOWDOWN_ONE;
            *most = SIM_MAX(slowdowns[p], *most);
        }
        cli_figure_row(figure, "%.0f %.6g %.6g %.6g", (double)(b + 1), slowdowns[0], slowdowns[1],
                       slowdowns[2]);
    }
    cli_figure_block_end(figure);
    sim_free(sorted);
}

static void size_text(char text[16], uint64_t bytes)
{
    static const struct {
        double one;
        const char *unit;
    } units[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "K"}, {1, ""}};
    size_t unit = 0;
    while (unit + 1 < SIM_COUNT_OF(units) && (double)bytes < units[unit].one) {
        unit++;
    }
    (void)snprintf(text, 16, "%.3g%s", (double)bytes / units[unit].one, units[unit].unit);
}

// Returns the n-th number of 1, 2, 5, 10, 20, 50...
static uint64_t round_number(unsigned n)
{
    static const uint64_t digits[] = {1, 2, 5};
    uint64_t number = digits[n % 3];
    for (unsigned i = 0; i < n / 3 && i < 18; i++) {
        number *= 10;
    }
    return number;
}

static void print_axes(const cli_figure_t *figure, const bins_t *bins, double most,
                       size_t label_step)
{
    char text[32];
    cli_figure_tics_begin(figure, "xtics", " rotate by -45 font 'sans-serif,11'");
    for (size_t b = 0; b < bins->count; b++) {
        if ((bins->count - 1 - b) % label_step == 0) {
            size_text(text, bins->bytes_max[b]);
            cli_figure_tic(figure, b < label_step, text, (double)(b + 1));
        }
    }
    cli_figure_tics_end(figure);
    cli_figure_range(figure, "xrange", 0.5, (double)bins->count + 0.5);
    // The axis ends at the next round number above all values.
    uint64_t top = 2;
    for (unsigned n = 2; (double)top < most * 1.05; n++) {
        top = round_number(n);
    }
    cli_figure_log(figure, 'y');
    cli_figure_range(figure, "yrange", 1, (double)top);
    cli_figure_tics_begin(figure, "ytics", "");
    for (unsigned n = 0; round_number(n) <= top; n++) {
        (void)snprintf(text, sizeof(text), "%" PRIu64, round_number(n));
        cli_figure_tic(figure, n == 0, text, (double)round_number(n));
    }
    cli_figure_tics_end(figure);
}

// Returns the run's name in legends, with the flows that are not drawn; freed with sim_free.
static char *title_of(const cli_plot_t *plot, size_t run, const flows_t *flows)
{
    return flows->unfinished == 0 ? sim_strdup(plot->runs[run].name)
                                  : sim_format("%s (%zu of %zu flows)", plot->runs[run].name,
                                               flows->count, flows->count + flows->unfinished);
}

// Draws a percentile of a run; more: further options for gnuplot.
static void draw_curve(const cli_figure_t *figure, cli_block_t block, size_t percentile,
                       const char *more, const char *color, const char *title)
{
    FILE *const script = figure->script;
    const cli_using_t use[] = {{1, 0}, {percentile + 2, 0}};
    fputc(' ', script);
    cli_figure_block_name(script, block);
    fprintf(script, " using 1:%zu with linespoints linewidth 2%s linecolor '%s' title ",
            percentile + 2, more, color);
    cli_figure_quote(script, title);
    cli_figure_curve(figure, block, "linespoints", color, title, use, SIM_COUNT_OF(use));
}

// Draws one panel with the percentiles of one run.
static void draw_one(const cli_figure_t *figure, const cli_plot_t *plot, size_t run, size_t k,
                     const kind_t *kind)
{
    FILE *const script = figure->script;
    char *const title = title_of(plot, run, &kind->flows[run]);
    fputs("set key title ", script);
    cli_figure_quote(script, title);
    fputs(" left\n", script);
    sim_free(title);
    cli_figure_label(figure, "ylabel", "FCT slowdown", "");
    fputs("plot", script);
    for (size_t p = 0; p < PERCENTILES; p++) {
        fputs(p > 0 ? "," : "", script);
        draw_curve(figure, block_of(k, run), p, " pointtype 7 pointsize 0.5", cli_figure_color(p),
                   percentiles[p].name);
    }
    cli_figure_panel_end(figure);
}

// Draws three panels side by side, one per percentile. The very first panel has the legend.
static void draw_several(const cli_figure_t *figure, const cli_plot_t *plot, size_t k,
                         const kind_t *kind)
{
    FILE *const script = figure->script;
    for (size_t p = 0; p < PERCENTILES; p++) {
        char *const panel = kind->name == NULL || plot->app != NULL
                                ? sim_strdup(percentiles[p].name)
                                : sim_format("%s: %s", kind->name, percentiles[p].name);
        cli_figure_label(figure, "title", panel, " offset 0,-0.5");
        sim_free(panel);
        if (p == 0) {
            cli_figure_label(figure, "ylabel", "FCT slowdown", " offset 1,0");
        } else {
            cli_figure_no_label(figure, "ylabel");
        }
        fputs(p == 0 && k == 0 ? "set key at screen 0.055,0.985 left top Left reverse vertical "
                                 "samplen 2 maxcols 1\n"
                               : "unset key\n",
              script);
        const char *separator = "plot";
        for (size_t r = 0; r < plot->run_count; r++) {
            if (kind->flows[r].count == 0) {
                continue;
            }
            char *const title = title_of(plot, r, &kind->flows[r]);
            char more[64];
            (void)snprintf(more, sizeof(more), " dashtype %zu pointtype 7 pointsize 0.4",
                           r / CLI_PLOT_CURVES_MAX + 1);
            fputs(separator, script);
            draw_curve(figure, block_of(k, r), p, more, cli_figure_color(r), title);
            sim_free(title);
            separator = ",";
        }
        cli_figure_panel_end(figure);
    }
}

// Finds the bins. Returns true if all runs have the same flow sizes.
static bool find_bins(const cli_plot_t *plot, const kind_t *kind, bins_t *bins)
{
    *bins = (bins_t){.count = 0};
    const flows_t *const flows = kind->flows;
    size_t first = 0;
    while (flows[first].count == 0) {
        first++;
    }
    bool same = true;
    for (size_t r = first + 1; r < plot->run_count; r++) {
        same = same && (flows[r].count == 0 || same_sizes(&flows[first], &flows[r]));
    }
    // If all flows have one size, there is one bin.
    const flows_t *const any = &flows[first];
    if (same && any->flows[0].bytes != any->flows[any->count - 1].bytes) {
        bins_by_rank(&flows[first], bins);
    } else {
        bins_by_size(flows, plot->run_count, bins);
    }
    return same;
}

// Draws the row of panels of one kind of traffic.
static void draw_kind(const cli_plot_t *plot, size_t k, const kind_t *kind, const bins_t *bins,
                      bool several, const cli_figure_t *figure)
{
    double most = 1;
    size_t run = 0;
    for (size_t r = 0; r < plot->run_count; r++) {
        if (kind->flows[r].count > 0) {
            print_data(figure, k, r, &kind->flows[r], bins, &most);
            run = r;
        }
    }
    print_axes(figure, bins, most, several ? 2 : 1);
    cli_figure_label(figure, "xlabel", "flow size up to (bytes)", "");
    if (several) {
        draw_several(figure, plot, k, kind);
    } else {
        draw_one(figure, plot, run, k, kind);
    }
}

static void print_layout(FILE *script, bool several, unsigned rows, unsigned legend,
                         unsigned height)
{
    if (several) {
        fprintf(script,
                "set multiplot layout %u,3 margins 0.055,0.985,%.4g,%.4g spacing 0.045,%.4g\n",
                rows, 95.0 / height, 1 - (legend + 30.0) / height, rows > 1 ? 125.0 / height : 0.0);
    } else if (rows > 1) {
        fprintf(script, "set multiplot layout %u,1\n", rows);
    }
}

// Draws one row of panels per kind of traffic that has enough flows.
static void draw(const cli_plot_t *plot, const kind_t *kinds, size_t count, size_t few,
                 cli_figure_t *figure)
{
    bins_t bins[KINDS_MAX] = {{.count = 0}};
    size_t runs = 0;
    bool same = true;
    for (size_t k = 0; k < count; k++) {
        runs = SIM_MAX(kinds[k].with_flows, runs);
        const bool alike = find_bins(plot, &kinds[k], &bins[k]);
        same = k == 0 ? alike : same;
    }
    if (bins[0].count == bins[0].wanted && bins[0].count > 1) {
        (void)snprintf(figure->note, sizeof(figure->note), "a point: %s%.3g %% of the flows",
                       same ? "" : "about ", 100.0 / (double)bins[0].count);
    }
    if (few > 0) {
        const size_t used = strlen(figure->note);
        (void)snprintf(figure->note + used, sizeof(figure->note) - used,
                       "%sof %zu kind%s of traffic under %u flows",
                       used > 0 ? "; left out: " : "left out: ", few, few == 1 ? "" : "s",
                       BIN_FLOWS_MIN);
    }
    const bool several = runs > 1;
    const unsigned rows = (unsigned)count;
    const unsigned legend = 12 + 19 * (unsigned)runs;
    const unsigned height = several ? 360 * rows + legend : 440 * rows;
    cli_figure_begin(figure, several ? 1200 : 640, height);
    print_layout(figure->script, several, rows, legend, height);
    for (size_t k = 0; k < count; k++) {
        if (!several && rows > 1) {
            cli_figure_label(figure, "title", kinds[k].name, "");
        }
        draw_kind(plot, k, &kinds[k], &bins[k], several, figure);
    }
    if (several || rows > 1) {
        fputs("unset multiplot\n", figure->script);
    }
    figure->what = sim_format("FCT slowdown by flow size, %zu run%s%s", runs, runs == 1 ? "" : "s",
                              rows > 1 ? ", by traffic" : "");
}

static sim_err_t load_kind(const cli_plot_t *plot, kind_t *kind, world_error_t *error)
{
    sim_err_t result = SIM_OK;
    for (size_t r = 0; r < plot->run_count && result == SIM_OK; r++) {
        result = load(&plot->runs[r], kind->name, &kind->flows[r], error);
        kind->with_flows += kind->flows[r].count > 0;
        kind->most = SIM_MAX(kind->flows[r].count, kind->most);
    }
    return result;
}

static sim_err_t plot_slowdown(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error)
{
    kinds_t found = {.count = 0};
    kind_t *const kinds = sim_alloc_array(KINDS_MAX, sizeof(*kinds));
    sim_err_t result = plot->app == NULL ? find_kinds(plot, &found, error) : SIM_OK;
    // The flows share one row of panels if there is one kind, if --app chose one, or if there are
    // too many kinds.
    const bool apart = found.count > 1 && !found.more;
    size_t count = 0;
    size_t few = 0;
    size_t most = 0;
    for (size_t k = 0; k < (apart ? found.count : 1) && result == SIM_OK; k++) {
        kind_t *const kind = &kinds[count];
        *kind = (kind_t){.name = apart ? found.names[k] : plot->app};
        result = load_kind(plot, kind, error);
        most = SIM_MAX(kind->most, most);
        if (kind->most >= BIN_FLOWS_MIN) {
            count++;
        } else {
            few++;
            for (size_t r = 0; r < plot->run_count; r++) {
                sim_free(kind->flows[r].flows);
            }
        }
    }
    if (result == SIM_OK && count > 0) {
        draw(plot, kinds, count, few, figure);
    } else if (!has_flows(&plot->runs[0])) {
        cli_figure_nothing(figure, "no flows.csv in %s", plot->runs[0].folder);
    } else {
        cli_figure_nothing(figure,
                           "%zu finished flows%s%s in flows.csv of %s, expected at least %u", most,
                           plot->app != NULL ? " of " : "", plot->app != NULL ? plot->app : "",
                           plot->runs[0].folder, BIN_FLOWS_MIN);
    }
    for (size_t k = 0; k < count; k++) {
        for (size_t r = 0; r < plot->run_count; r++) {
            sim_free(kinds[k].flows[r].flows);
        }
    }
    sim_free_each(found.names, found.count);
    sim_free(kinds);
    return result;
}

const cli_plot_kind_t cli_plot_slowdown = {"slowdown", "flows.csv", "flows.completed",
                                           plot_slowdown};
