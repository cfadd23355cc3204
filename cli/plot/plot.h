// SPDX-License-Identifier: Apache-2.0
// cli/plot/plot.h - the types that all figures of `rocesim plot` share. command.c is the command,
// KIND.c draws a kind, gnuplot.c runs gnuplot.
//
// A figure is a gnuplot script with its data inside, so equal folders give equal scripts. Times are
// simulated times; nothing depends on the day, the machine or the locale.
#ifndef CLI_PLOT_PLOT_H
#define CLI_PLOT_PLOT_H

#include "cli/args.h"
#include "results/csv.h"

#include <jansson.h>
#include <stdio.h>

#define CLI_PLOT_RUNS_MAX 16u
#define CLI_PLOT_CURVES_MAX 8u // in one panel: as many as a reader can distinguish

typedef struct cli_plot_run {
    const char *folder;
    char *name; // the run's name in legends
    json_t *summary;
    sim_time_t end_ps;  // end of the run, relative to origin_ps
    sim_time_t from_ps; // start of the first flow, relative to origin_ps
} cli_plot_run_t;

typedef struct cli_plot {
    cli_plot_run_t runs[CLI_PLOT_RUNS_MAX];
    size_t run_count;
    sim_time_t origin_ps; // begin of time axes: 0, or shortly before traffic that begins late
    const char *x;        // sweep: the parameter along x; NULL: the first one with numbers
    const char *y;        // sweep: the column along y; NULL: the first one
    const char *app;      // slowdown: draw only flows of this traffic; NULL: all flows
} cli_plot_t;

typedef enum cli_plot_format {
    CLI_PLOT_SVG,
    CLI_PLOT_PNG,
    CLI_PLOT_PDF,
    CLI_PLOT_SCRIPT // no drawing: the script itself
} cli_plot_format_t;

// The contents of a figure, for --json (cli/plot/figure.h).
typedef struct cli_record cli_record_t;

typedef struct cli_figure {
    FILE *script;
    cli_record_t *record; // NULL: nobody asks for it
    cli_plot_format_t format;
    bool drawn;
    char *what;    // a few words: the content of a drawn figure, else the data that is missing
    char note[96]; // text below the figure that names what is not shown
    char *missing; // names of runs that are not shown, because their file is missing; NULL: none
} cli_figure_t;

// A kind of figure. `draw` reads the runs and writes the script, or leaves figure->drawn false and
// explains in figure->what why there is nothing to draw.
typedef struct cli_plot_kind {
    const char *name; // "slowdown"
    const char *file; // the file of a run that the kind needs; NULL: `draw` checks by itself
    const char *rows; // field of summary.json with the file's number of rows; NULL: never empty
    sim_err_t (*draw)(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error);
} cli_plot_kind_t;

extern const cli_plot_kind_t cli_plot_slowdown;
extern const cli_plot_kind_t cli_plot_queue;
extern const cli_plot_kind_t cli_plot_queue_cdf;
extern const cli_plot_kind_t cli_plot_rate;
extern const cli_plot_kind_t cli_plot_series;
extern const cli_plot_kind_t cli_plot_pause;
extern const cli_plot_kind_t cli_plot_load;
extern const cli_plot_kind_t cli_plot_load_time;
extern const cli_plot_kind_t cli_plot_app_rate;
extern const cli_plot_kind_t cli_plot_app_cdf;
extern const cli_plot_kind_t cli_plot_sweep;

// -- scripts (cli/plot/gnuplot.c)

// Begins the script of a figure of width x height pixels.
void cli_figure_begin(cli_figure_t *figure, unsigned width, unsigned height);
// Returns the colour of a curve. The first eight differ for colour-blind readers, too.
const char *cli_figure_color(size_t index);
// Writes any text as a gnuplot string.
void cli_figure_quote(FILE *script, const char *text);
// Writes any text as a gnuplot string for an axis label, in which percent signs are escaped.
void cli_figure_quote_tic(FILE *script, const char *text);
void cli_figure_nothing(cli_figure_t *figure, const char *format, ...) SIM_PRINTF(2, 3);

// Opens a file without a name in $TMPDIR or /tmp. Returns NULL and sets errno on failure.
FILE *cli_plot_temporary(void);

// Draws the script into the file at `path` with gnuplot. Returns SIM_ERR_IO if gnuplot is missing
// or fails, or if the file cannot be written completely.
SIM_MUST_CHECK sim_err_t cli_figure_write(const cli_figure_t *figure, const char *path,
                                          world_error_t *error);

// Returns a time relative to the origin of the time axis; an earlier time becomes 0.
static inline sim_time_t cli_plot_time(sim_time_t time_ps, sim_time_t origin_ps)
{
    return time_ps > origin_ps ? time_ps - origin_ps : 0;
}

// A unit for values up to a maximum: its name, and its size in the base unit.
typedef struct cli_plot_unit {
    const char *name;
    double one;
} cli_plot_unit_t;
cli_plot_unit_t cli_plot_time_unit(double most_ps);
cli_plot_unit_t cli_plot_bytes_unit(double most_bytes);
// Prints the run's name above its panel if there are several runs.
void cli_plot_run_title(const cli_figure_t *figure, const cli_plot_t *plot, size_t run);
// Prints the label of the time axis: "time (us)", "time after 2 s (us)".
void cli_plot_time_label(const cli_figure_t *figure, const cli_plot_t *plot, cli_plot_unit_t unit);
// Sets the colours for a utilisation of 0 to 100 percent.
void cli_plot_load_palette(const cli_figure_t *figure);

int cli_command_plot(const cli_args_t *args);

#endif // CLI_PLOT_PLOT_H
