// SPDX-License-Identifier: Apache-2.0
// cli/plot/plot.h - `rocesim plot`: what the kinds of figure share. cli/plot/command.c is the
// command,
// cli/plot_<kind>.c draw, cli/plot/gnuplot.c hands the script to gnuplot.
//
// A figure is a gnuplot script with its data inside, so that the same folders always give the same
// script. Times are simulated ones; nothing depends on the day, the machine or the locale.
#ifndef CLI_PLOT_PLOT_H
#define CLI_PLOT_PLOT_H

#include "results/csv.h"

#include <jansson.h>
#include <stdio.h>

#define CLI_PLOT_RUNS_MAX 16u
#define CLI_PLOT_CURVES_MAX 8u // in one panel: as many as a reader can tell apart

typedef struct cli_plot_run {
    const char *folder;
    char *name; // in legends
    json_t *summary;
    sim_time_t end_ps;  // after origin_ps
    sim_time_t from_ps; // the first flow's start, after origin_ps
} cli_plot_run_t;

typedef struct cli_plot {
    cli_plot_run_t runs[CLI_PLOT_RUNS_MAX];
    size_t run_count;
    sim_time_t origin_ps; // where axes of time begin: shortly before traffic that begins late, or 0
    const char *x;        // sweep: the parameter along x; NULL: the first with numbers
    const char *y;        // sweep: the column; NULL: the first
    const char *app;      // slowdown: only flows of this kind of traffic; NULL: all
} cli_plot_t;

typedef enum cli_plot_format {
    CLI_PLOT_SVG,
    CLI_PLOT_PNG,
    CLI_PLOT_PDF,
    CLI_PLOT_SCRIPT // no drawing: the script itself
} cli_plot_format_t;

typedef struct cli_figure {
    FILE *script;
    cli_plot_format_t format;
    bool drawn;
    char *what;    // drawn: what it shows, in a few words; else: what the folders lack
    char note[96]; // what is not shown, under the figure
    char *missing; // runs of which nothing is shown, as their file is not there; NULL: none
} cli_figure_t;

// Each reads what it needs of the runs and writes the script, or leaves figure->drawn false and
// says in figure->what why there is nothing to draw.
typedef struct cli_plot_kind {
    const char *name; // "slowdown"
    const char *file; // of a run, that it needs; NULL: it says itself what is missing
    const char *rows; // path in summary.json: how many rows that has; NULL: it always has some
    sim_err_t (*draw)(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error);
} cli_plot_kind_t;

sim_err_t cli_plot_slowdown(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error);
sim_err_t cli_plot_queue(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error);
sim_err_t cli_plot_queue_cdf(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error);
sim_err_t cli_plot_rate(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error);
sim_err_t cli_plot_series(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error);
sim_err_t cli_plot_pause(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error);
sim_err_t cli_plot_load_time(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error);
sim_err_t cli_plot_sweep(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error);
sim_err_t cli_plot_app_rate(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error);
sim_err_t cli_plot_app_cdf(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error);
sim_err_t cli_plot_load(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error);

// Opens a table of a run's folder, as results_csv_open. *csv is NULL where the run wrote none.
SIM_MUST_CHECK sim_err_t cli_plot_open(const cli_plot_run_t *run,
                                       const char *file,
                                       const char *const *names,
                                       size_t name_count,
                                       results_csv_t **csv,
                                       world_error_t *error);

// -- scripts (cli/plot/gnuplot.c)

// Utilisation in percent, from 0 to 100.
#define CLI_PLOT_LOAD_PALETTE                                                           \
    "set palette defined (0 '#f1f1ee', 0.2 '#fee391', 0.5 '#fe9929', 0.8 '#cc4c02', 1 " \
    "'#662506')\n"

// Begins the script of a figure of that many pixels.
void cli_figure_begin(cli_figure_t *figure, unsigned width, unsigned height);
// The line of a curve: colours tell the first eight apart, for colour-blind readers too.
const char *cli_figure_color(size_t index);
// Text as a gnuplot string, whatever is in it.
void cli_figure_quote(FILE *script, const char *text);
// The same in a label of an axis, where percent signs mean something.
void cli_figure_quote_tic(FILE *script, const char *text);
void cli_figure_nothing(cli_figure_t *figure, const char *format, ...) SIM_PRINTF(2, 3);

// A file without a name in $TMPDIR, or /tmp; NULL with errno.
FILE *cli_plot_temporary(void);

// Draws the script into the file at path, through gnuplot. SIM_ERR_IO: no gnuplot, it failed, or
// the file could not be written whole.
SIM_MUST_CHECK sim_err_t cli_figure_write(const cli_figure_t *figure,
                                          const char *path,
                                          world_error_t *error);

// On the axis of time: what was before it is at its beginning.
static inline sim_time_t cli_plot_time(sim_time_t time_ps, sim_time_t origin_ps)
{
    return time_ps > origin_ps ? time_ps - origin_ps : 0;
}

// A unit that suits values up to `most`: its name and how many of what is counted it is.
typedef struct cli_plot_unit {
    const char *name;
    double one;
} cli_plot_unit_t;
cli_plot_unit_t cli_plot_time_unit(double most_ps);
cli_plot_unit_t cli_plot_bytes_unit(double most_bytes);
// The run's name above its panel, where there are several runs.
void cli_plot_run_title(FILE *script, const cli_plot_t *plot, size_t run);
// Labels the axis of time: "time (us)", "time after 2 s (us)".
void cli_plot_time_label(FILE *script, const cli_plot_t *plot, cli_plot_unit_t unit);

#endif // CLI_PLOT_PLOT_H
