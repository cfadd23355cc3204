// SPDX-License-Identifier: Apache-2.0
// cli/plot/curves.h - loads the series of several runs as curves of a figure.
#ifndef CLI_PLOT_CURVES_H
#define CLI_PLOT_CURVES_H

#include "cli/plot/plot.h"

// The kind of a metric's values, which decides the unit of the axis.
typedef enum cli_measure {
    CLI_MEASURE_PLAIN,
    CLI_MEASURE_BYTES,
    CLI_MEASURE_TIME, // ps
    CLI_MEASURE_RATE, // bit/s
    CLI_MEASURE_SHARE // millionths
} cli_measure_t;

typedef struct cli_curve {
    size_t run;
    char *path;   // port[leaf0->host5].queue_bytes[3]
    char *entity; // leaf0->host5
    char *metric; // queue_bytes[3]
    cli_measure_t measure;
    sim_time_t *times_ps; // rising
    uint64_t *values;     // values[i] holds from times_ps[i] until times_ps[i + 1]
    size_t count;
    size_t capacity;
    uint64_t most;
} cli_curve_t;

typedef struct cli_curves {
    cli_curve_t *curves; // by run, then by path
    size_t count;
    size_t capacity;
    sim_time_t origin_ps; // of cli_plot_t; times_ps are relative to it
    // The end of each run's values: the end of the run, or of a series.csv that was cut.
    sim_time_t end_ps[CLI_PLOT_RUNS_MAX];
    bool cut; // outputs.series-max cut the series.csv of at least one run
} cli_curves_t;

// The figure's note about a cut series.csv; "" if none was cut.
#define CLI_CURVES_CUT(curves) \
    ((curves)->cut ? "series.csv is cut (outputs.series-max): curves stop where it does" : "")

// Returns whether a metric, named without its class, belongs to the figure.
typedef bool (*cli_metric_fn)(const char *name);

// Loads the wanted series of all runs; there may be none. Call cli_curves_fini afterwards, also on
// error.
SIM_MUST_CHECK sim_err_t cli_curves_load(const cli_plot_t *plot, cli_metric_fn wanted,
                                         cli_curves_t *curves, world_error_t *error);
void cli_curves_fini(cli_curves_t *curves);

bool cli_metric_is_queue(const char *name);

// Chooses the curves of one metric to show: at most CLI_PLOT_CURVES_MAX, equally many per run,
// those with the highest maxima (then with the largest number of rows). Sets chosen[i]. Returns how
// many curves the metric has in all.
size_t cli_curves_choose(const cli_curves_t *curves, const char *metric, bool *chosen);

// Returns the time until which the last value of a curve holds: the end of the run, or the last
// sample of a queue pair that was destroyed earlier.
sim_time_t cli_curve_end_ps(const cli_curves_t *curves, const cli_curve_t *curve,
                            sim_time_t end_ps);

// Returns the entity that all curves share, or NULL if they are of several entities.
const char *cli_curves_entity(const cli_curves_t *curves);

// Returns a curve's title in the legend, freed with sim_free: the run's name if there are several
// runs, the entity's name if there are several entities.
char *cli_curve_title(const cli_plot_t *plot, const cli_curves_t *curves, const cli_curve_t *curve);

#endif // CLI_PLOT_CURVES_H
