// SPDX-License-Identifier: Apache-2.0
// cli/arena/arena.h - `rocesim arena`: congestion controls compete in many small scenarios.
//
// cells.c has the scenarios. command.c reads the options and starts the runs as a sweep does
// (cli/sweep/jobs.h). measure.c turns a run's folder into numbers, score.c compares the controls,
// health.c names what is wrong with one, store.c writes and reads arena.json, page.c and tables.c
// write the other forms. docs/arena.md
#ifndef CLI_ARENA_ARENA_H
#define CLI_ARENA_ARENA_H

#include "cli/arena/cells.h"
#include "cli/args.h"
#include "results/spread.h"

#include <stdio.h>

// The figures that are measured in a run, in the order of cli_arena_metrics.
typedef enum cli_arena_metric_id {
    CLI_ARENA_SHORT_P50,
    CLI_ARENA_SHORT_P99,
    CLI_ARENA_LONG_P50,
    CLI_ARENA_LONG_P99,
    CLI_ARENA_GOODPUT,
    CLI_ARENA_FAIRNESS,
    CLI_ARENA_QUEUE,
    CLI_ARENA_QUEUE_MAX,
    CLI_ARENA_PAUSED,
    CLI_ARENA_CONVERGE,
    CLI_ARENA_LOSSES,
    CLI_ARENA_UNENDED,
    CLI_ARENA_LATE_PAUSED,
    CLI_ARENA_LATE_LOSSES,
    CLI_ARENA_STARVED,
    CLI_ARENA_USED,
    CLI_ARENA_ASKED,
    CLI_ARENA_STANDING,
    CLI_ARENA_METRICS,
} cli_arena_metric_id_t;

typedef struct cli_arena_metric {
    const char *name; // in arena.json
    const char *head; // of a column
    const char *unit; // "": none
    const char *help;
    int better; // 1: larger values are better, -1: smaller ones, 0: it does not count for the score
    double equal; // values that differ by less than this, or by less than 1 %, count as equal
} cli_arena_metric_t;

extern const cli_arena_metric_t cli_arena_metrics[CLI_ARENA_METRICS];

// The runs of a control in a cell.
typedef struct cli_arena_result {
    double *values; // of metric m and seed s: [m * seed_count + s]; NAN: none
    char *failure;  // the reason of the first run that failed; NULL: none failed
    double score;   // 0 to 100, mean over seeds; NAN: nothing to compare with
} cli_arena_result_t;

typedef enum cli_arena_state {
    CLI_ARENA_SOUND,
    CLI_ARENA_NOTABLE,
    CLI_ARENA_ALARM,
} cli_arena_state_t;

typedef struct cli_arena_finding {
    const char *kind; // "runaway", "losses"...
    cli_arena_state_t state;
    size_t count; // number of cells
    size_t worst; // the cell with the largest value
    double value; // there
    char *text;   // a sentence
} cli_arena_finding_t;

#define CLI_ARENA_FINDINGS_MAX 10u

typedef struct cli_arena_control {
    char *name;
    bool known;                  // from a baseline: it did not run
    cli_arena_result_t *results; // by cell
    double *scores;              // by seed; NAN: nothing to compare with
    results_spread_t score;
    size_t place; // 1: the best
    cli_arena_finding_t findings[CLI_ARENA_FINDINGS_MAX];
    size_t finding_count;
    cli_arena_state_t state;
} cli_arena_control_t;

typedef struct cli_arena {
    const cli_arena_cell_t **cells;
    size_t cell_count;
    cli_arena_control_t *controls;
    size_t control_count;
    size_t control_capacity;
    uint64_t *seeds;
    size_t seed_count;
    const uint64_t *hidden; // NULL: the cells as they are
    char *suite;            // sum over cells, seeds and settings: results of equal suites compare
    json_t *plugins;        // [{name, sha256}]: of this arena, then of its baselines
} cli_arena_t;

// Returns the value of a metric, NAN if there is none.
static inline double cli_arena_value(const cli_arena_t *arena, const cli_arena_result_t *result,
                                     size_t metric, size_t seed)
{
    return result->values[metric * arena->seed_count + seed];
}

int cli_command_arena(const cli_args_t *args);

#endif // CLI_ARENA_ARENA_H
