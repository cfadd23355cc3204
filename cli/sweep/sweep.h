// SPDX-License-Identifier: Apache-2.0
// cli/sweep/sweep.h - `rocesim sweep`: one scenario over a grid of parameters and seeds.
//
// plan.c reads a sweep and lists its runs, columns.c looks at the columns it asks for,
// twins.c at what is there twice, jobs.c runs them, several at a time,
// table.c makes runs.csv and points.csv of what they left, sweep.c is the command. A run is a
// process of its own with a result folder of its own, so that one that fails is not in the way of
// the others, and what is done is known by looking. docs/formats/sweep.md
#ifndef CLI_SWEEP_SWEEP_H
#define CLI_SWEEP_SWEEP_H

#include "world/yaml_tree.h"

#include <jansson.h>
#include <stdio.h>

// One combination of values.
typedef struct cli_sweep_point {
    char **values; // in the order of the sweep's parameters
} cli_sweep_point_t;

typedef struct cli_sweep_run {
    size_t point;
    uint64_t seed;
    char *name;      // "p001-s7"
    char *folder;    // DIR/runs/p001-s7
    char *failure;   // in a line; NULL: none
    json_t *summary; // NULL: there is none
} cli_sweep_run_t;

typedef struct cli_sweep {
    const char *file_name;
    world_document_t *document;
    char *scenario;    // path of its file
    char **parameters; // paths as of --set
    size_t parameter_count;
    size_t parameter_capacity;
    char **settings; // for all runs: "PATH=VALUE"
    size_t setting_count;
    size_t setting_capacity;
    cli_sweep_point_t *points;
    size_t point_count;
    size_t point_capacity;
    uint64_t *seeds;
    size_t seed_count;
    size_t seed_capacity;
    char **columns; // paths in summary.json
    size_t column_count;
    size_t column_capacity;
    cli_sweep_run_t *runs; // point by point, seed by seed
    size_t run_count;
    const char *folder;
} cli_sweep_t;

// Reads a sweep, checks each of its points as a scenario, and that one of them at least can be
// built. Free with cli_sweep_fini, also on error.
SIM_MUST_CHECK sim_err_t cli_sweep_load(const char *file_name,
                                        const char *folder,
                                        cli_sweep_t *sweep,
                                        world_error_t *error);
void cli_sweep_fini(cli_sweep_t *sweep);

// The arguments of a run, for a process: ends with NULL. Free with cli_sweep_arguments_free.
char **cli_sweep_arguments(const cli_sweep_t *sweep, const cli_sweep_run_t *run);
void cli_sweep_arguments_free(char **arguments);

// The run as a line for a shell; free with sim_free.
char *cli_sweep_command(const cli_sweep_t *sweep, const cli_sweep_run_t *run);

// Looks what is there: fills the run's summary if its folder holds its results.
void cli_sweep_look(cli_sweep_run_t *run);

// Runs what is not there yet, at most `jobs` at a time. Returns how many failed; *interrupted: by a
// signal, and runs are left.
size_t cli_sweep_work(cli_sweep_t *sweep, unsigned jobs, bool quiet, bool *interrupted);

// Fails at the first of the list (scalars) that summary.json cannot have.
SIM_MUST_CHECK sim_err_t cli_sweep_check_columns(const world_tree_t *list, world_error_t *error);

// Fails at the points, seeds or columns of the file (root) that are there twice, and at a path that
// is the seed.
SIM_MUST_CHECK sim_err_t cli_sweep_check_twins(const cli_sweep_t *sweep,
                                               const world_tree_t *root,
                                               world_error_t *error);

// A line for each column that no run's results have a number for, with the names that are there.
void cli_sweep_tell_columns(const cli_sweep_t *sweep, FILE *out);

// Writes DIR/runs.csv and DIR/points.csv, and tells on stderr which columns are empty.
SIM_MUST_CHECK sim_err_t cli_sweep_write(const cli_sweep_t *sweep, world_error_t *error);

#endif // CLI_SWEEP_SWEEP_H
