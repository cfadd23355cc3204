// SPDX-License-Identifier: Apache-2.0
// cli/plot/curves.h - the series of several runs, as curves of a figure.
#ifndef CLI_PLOT_CURVES_H
#define CLI_PLOT_CURVES_H

#include "cli/plot/plot.h"

// How values of a metric are shown.
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
    uint64_t *values;     // each holds until the next time
    size_t count;
    size_t capacity;
    uint64_t most;
} cli_curve_t;

typedef struct cli_curves {
    cli_curve_t *curves; // by run, then by path
    size_t count;
    size_t capacity;
    sim_time_t origin_ps; // cli_plot_t's: times are after it
    // Until when the runs have values: their ends, or where a series.csv that was cut stops.
    sim_time_t end_ps[CLI_PLOT_RUNS_MAX];
    bool cut; // one of them was (outputs.series-max)
} cli_curves_t;

// What the figure says where a series.csv was cut; "" where none was.
#define CLI_CURVES_CUT(curves) \
    ((curves)->cut ? "series.csv is cut (outputs.series-max): curves stop where it does" : "")

// Whether a metric, by its name without class, belongs to the figure.
typedef bool (*cli_metric_fn)(const char *name);

// Those series of all runs. No curve where the runs have none of them. Free with cli_curves_fini,
// also on error.
SIM_MUST_CHECK sim_err_t cli_curves_load(const cli_plot_t *plot,
                                         cli_metric_fn wanted,
                                         cli_curves_t *curves,
                                         world_error_t *error);
void cli_curves_fini(cli_curves_t *curves);

bool cli_metric_is_queue(const char *name);

// Which curves of one metric to show: at most CLI_PLOT_CURVES_MAX, equally many of each run, those
// that went highest (of equal ones those with most rows), in the order of the curves. Returns how
// many there are of that metric; chosen[i] is set.
size_t cli_curves_choose(const cli_curves_t *curves, const char *metric, bool *chosen);

// Until when the last value holds: to the end, but for a queue pair that is sampled no more, for it
// is gone.
sim_time_t cli_curve_end_ps(const cli_curves_t *curves,
                            const cli_curve_t *curve,
                            sim_time_t end_ps);

// What all curves are of; NULL where they are of several.
const char *cli_curves_entity(const cli_curves_t *curves);

// A name in the legend: the run where there are several runs, the entity where there are several.
void cli_curve_title(FILE *script,
                     const cli_plot_t *plot,
                     const cli_curves_t *curves,
                     const cli_curve_t *curve);

#endif // CLI_PLOT_CURVES_H
