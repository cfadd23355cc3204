// SPDX-License-Identifier: Apache-2.0
// cli/plot/app.c - draws lists of applications in summary.json: bandwidth over time, with the times
// at which links went down and up, and distributions of times.
//
// An application is drawn if its report has a list "bandwidth" of {time_us, gbytes_per_s}, or lists
// of {percent, ms} whose names end in "_cdf".
#include "cli/plot/figure.h"

#include <math.h>
#include <string.h>

#define MARKS_MAX 32u

typedef struct mark {
    sim_time_t time_ps;
    bool up;
} mark_t;

static size_t app_count(const cli_plot_t *plot, size_t run)
{
    return json_array_size(json_object_get(plot->runs[run].summary, "apps"));
}

// Draws a curve with its title: "run", "app 1" or "run, app 1", as much as distinguishes the
// curves.
static void print_line(const cli_figure_t *figure, const cli_plot_t *plot, size_t run, size_t app,
                       size_t number, size_t first, const char *with)
{
    const char *const name = plot->runs[run].name;
    char *title = NULL;
    if (app_count(plot, run) > 1) {
        title =
            plot->run_count > 1 ? sim_format("%s, app %zu", name, app) : sim_format("app %zu", app);
    } else {
        title = sim_strdup(name);
    }
    const cli_block_t block = {"c", number, 0};
    cli_figure_line(figure, number == first, block, with, cli_figure_color(number - first), title);
    sim_free(title);
}

static const json_t *list_of(const cli_plot_t *plot, size_t run, size_t app, const char *name)
{
    const json_t *const apps = json_object_get(plot->runs[run].summary, "apps");
    return json_object_get(json_array_get(apps, app), name);
}

static sim_err_t not_numbers(const cli_plot_t *plot, size_t run, const char *list,
                             world_error_t *error)
{
    world_shown_t shown;
    return world_fail(error, SIM_ERR_INVALID, NULL,
                      "%s/summary.json: apps: '%s' is not what it should be, expected a list of "
                      "objects with numbers",
                      plot->runs[run].folder, world_show(&shown, list));
}

// Writes the rows of a list as a data block. Sets *count to their number.
static sim_err_t print_rows(const cli_figure_t *figure, const cli_plot_t *plot, size_t run,
                            const json_t *list, const char *const names[2], const double ones[2],
                            world_error_t *error)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *const x = json_object_get(json_array_get(list, i), names[0]);
        const json_t *const y = json_object_get(json_array_get(list, i), names[1]);
        if (!json_is_number(x) || !json_is_number(y)) {
            return not_numbers(plot, run, names[1], error);
        }
        cli_figure_row(figure, "%.9g %.9g", json_number_value(x) / ones[0],
                       json_number_value(y) / ones[1]);
    }
    return SIM_OK;
}

// -- bandwidth over time

typedef struct marks {
    mark_t marks[MARKS_MAX];
    size_t count;
} marks_t;

// Takes the time at which a link of the first run went down or up.
static sim_err_t take_mark(const results_csv_t *csv, void *ctx, world_error_t *error)
{
    marks_t *const marks = ctx;
    mark_t mark = {.up = strcmp(results_csv_text(csv, 1), "link_up") == 0};
    if (marks->count == MARKS_MAX ||
        (!mark.up && strcmp(results_csv_text(csv, 1), "link_down") != 0)) {
        return SIM_OK;
    }
    const sim_err_t result = results_csv_time(csv, 0, &mark.time_ps, error);
    // The two ports of a link report the same change.
    const mark_t *const last = marks->count > 0 ? &marks->marks[marks->count - 1] : NULL;
    if (last == NULL || last->time_ps != mark.time_ps || last->up != mark.up) {
        marks->marks[marks->count++] = mark;
    }
    return result;
}

static void print_marks(FILE *script, const mark_t *marks, size_t count, double one)
{
    for (size_t i = 0; i < count; i++) {
        const double x = (double)marks[i].time_ps / one;
        fprintf(script,
                "set arrow from %.9g, graph 0 to %.9g, graph 1 nohead dashtype 2 linecolor '%s'\n"
                "set label '%s' at %.9g, graph 0.97 rotate by 90 right offset -0.4,0 textcolor "
                "'%s'\n",
                x, x, marks[i].up ? "#009E73" : "#D55E00", marks[i].up ? "up" : "down", x,
                marks[i].up ? "#009E73" : "#D55E00");
    }
}

static sim_err_t plot_app_rate(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error)
{
    size_t curves = 0;
    double most_us = 0;
    for (size_t r = 0; r < plot->run_count; r++) {
        for (size_t a = 0; a < app_count(plot, r); a++) {
            const json_t *const list = list_of(plot, r, a, "bandwidth");
            const size_t rows = json_array_size(list);
            const json_t *const last = json_array_get(list, rows == 0 ? 0 : rows - 1);
            const double time_us = json_number_value(json_object_get(last, "time_us"));
            curves += rows > 0;
            most_us = SIM_MAX(time_us, most_us);
        }
    }
    if (curves == 0) {
        cli_figure_nothing(figure,
                           "no application of %s tells its bandwidth over time, expected one with "
                           "an interval: mooncake-bench: {interval: 500us}",
                           plot->runs[0].folder);
        return SIM_OK;
    }
    static const char *const events[] = {"time_ns", "event"};
    marks_t marks = {.count = 0};
    sim_err_t result = results_csv_rows(plot->runs[0].folder, "events.csv", events,
                                        SIM_COUNT_OF(events), take_mark, &marks, error);
    const cli_plot_unit_t unit = cli_plot_time_unit(most_us * 1e6);
    cli_figure_begin(figure, 760, 420);
    FILE *const script = figure->script;
    fputs("set lmargin 9\nset rmargin 3\n", script);
    cli_figure_range(figure, "xrange", 0, most_us * 1e6 / unit.one);
    cli_figure_range(figure, "yrange", 0, (double)NAN);
    cli_figure_label(figure, "ylabel", "payload that arrived (GB/s)", "");
    char label[32];
    (void)snprintf(label, sizeof(label), "time (%s)", unit.name);
    cli_figure_label(figure, "xlabel", label, "");
    print_marks(script, marks.marks, marks.count, unit.one);
    static const char *const names[2] = {"time_us", "gbytes_per_s"};
    const double ones[2] = {unit.one / 1e6, 1};
    size_t number = 0;
    for (size_t r = 0; r < plot->run_count; r++) {
        for (size_t a = 0; a < app_count(plot, r) && result == SIM_OK; a++) {
            const json_t *const list = list_of(plot, r, a, "bandwidth");
            if (json_array_size(list) > 0 && number < CLI_PLOT_CURVES_MAX) {
                cli_figure_block_begin(figure, (cli_block_t){"c", number++, 0});
                result = print_rows(figure, plot, r, list, names, ones, error);
                cli_figure_block_end(figure);
            }
        }
    }
    number = 0;
    for (size_t r = 0; r < plot->run_count; r++) {
        for (size_t a = 0; a < app_count(plot, r); a++) {
            if (json_array_size(list_of(plot, r, a, "bandwidth")) > 0 &&
                number < CLI_PLOT_CURVES_MAX) {
                print_line(figure, plot, r, a, number++, 0, "fsteps linewidth 2");
            }
        }
    }
    cli_figure_panel_end(figure);
    if (number < curves) {
        (void)snprintf(figure->note, sizeof(figure->note), "the first %zu of %zu curves", number,
                       curves);
    }
    figure->what =
        sim_format("bandwidth of applications over time, %zu curve%s", number, sim_plural(number));
    return result;
}

const cli_plot_kind_t cli_plot_app_rate = {"app-rate", NULL, NULL, plot_app_rate};

// -- distributions

#define NAMES_MAX 4u

static bool is_distribution(const char *name)
{
    const size_t size = strlen(name);
    return size > 4 && strcmp(name + size - 4, "_cdf") == 0;
}

// Collects the names of the lists, in the order of their first appearance.
static size_t find_names(const cli_plot_t *plot, const char *names[NAMES_MAX])
{
    size_t count = 0;
    for (size_t r = 0; r < plot->run_count; r++) {
        for (size_t a = 0; a < app_count(plot, r); a++) {
            const json_t *const apps = json_object_get(plot->runs[r].summary, "apps");
            const char *name = NULL;
            json_t *list = NULL;
            json_object_foreach(json_array_get(apps, a), name, list)
            {
                size_t known = 0;
                while (known < count && strcmp(names[known], name) != 0) {
                    known++;
                }
                if (is_distribution(name) && json_array_size(list) > 0 && known == count &&
                    count < NAMES_MAX) {
                    names[count++] = name;
                }
            }
        }
    }
    return count;
}

static sim_err_t draw_distribution(const cli_figure_t *figure, const cli_plot_t *plot,
                                   const char *name, size_t *number, world_error_t *error)
{
    static const char *const names[2] = {"ms", "percent"};
    static const double ones[2] = {1, 100};
    sim_err_t result = SIM_OK;
    const size_t first = *number;
    for (size_t r = 0; r < plot->run_count; r++) {
        for (size_t a = 0; a < app_count(plot, r) && result == SIM_OK; a++) {
            const json_t *const list = list_of(plot, r, a, name);
            if (json_array_size(list) > 0 && *number - first < CLI_PLOT_CURVES_MAX) {
                cli_figure_block_begin(figure, (cli_block_t){"c", (*number)++, 0});
                result = print_rows(figure, plot, r, list, names, ones, error);
                cli_figure_block_end(figure);
            }
        }
    }
    char *const label = sim_format("%.*s (ms)", (int)strlen(name) - 4, name);
    cli_figure_label(figure, "xlabel", label, "");
    sim_free(label);
    size_t n = first;
    for (size_t r = 0; r < plot->run_count; r++) {
        for (size_t a = 0; a < app_count(plot, r); a++) {
            if (json_array_size(list_of(plot, r, a, name)) > 0 && n < *number) {
                print_line(figure, plot, r, a, n++, first, "lines linewidth 2");
            }
        }
    }
    cli_figure_panel_end(figure);
    return result;
}

static sim_err_t plot_app_cdf(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error)
{
    const char *names[NAMES_MAX];
    const size_t count = find_names(plot, names);
    if (count == 0) {
        cli_figure_nothing(figure,
                           "no application of %s tells a distribution, expected one as "
                           "mooncake-trace does: ttft_cdf",
                           plot->runs[0].folder);
        return SIM_OK;
    }
    cli_figure_begin(figure, 460 * (unsigned)count + 40, 420);
    FILE *const script = figure->script;
    cli_figure_range(figure, "yrange", 0, 1);
    cli_figure_log(figure, 'x');
    fputs("set key bottom right\n", script);
    cli_figure_label(figure, "ylabel", "share of them at or below (CDF)", "");
    if (count > 1) {
        fprintf(script, "set multiplot layout 1,%zu\n", count);
    }
    sim_err_t result = SIM_OK;
    size_t number = 0;
    for (size_t i = 0; i < count && result == SIM_OK; i++) {
        result = draw_distribution(figure, plot, names[i], &number, error);
    }
    if (count > 1) {
        fputs("unset multiplot\n", script);
    }
    figure->what =
        sim_format("distributions of applications' times, %zu curve%s", number, sim_plural(number));
    return result;
}

const cli_plot_kind_t cli_plot_app_cdf = {"app-cdf", NULL, NULL, plot_app_cdf};
