// SPDX-License-Identifier: Apache-2.0
// cli/sweep/sweep.h - `rocesim sweep`: one scenario over a grid of parameters and seeds.
//
// plan.c reads a sweep and lists its runs, points.c makes its points, columns.c checks the columns,
// duplicates.c refuses duplicates, jobs.c starts the runs, table.c writes the tables, command.c is
// the command. Each run is a process with its own result folder: a failed run does not disturb the
// others, and the folders show which runs are finished. docs/formats/sweep.md
#ifndef CLI_SWEEP_SWEEP_H
#define CLI_SWEEP_SWEEP_H

#include "cli/args.h"
#include "results/lock.h"
#include "world/scenario.h"
#include "world/yaml_tree.h"

#include <jansson.h>
#include <stdio.h>

#define CLI_SWEEP_RUNS_MAX 100000u

// A point: one combination of values.
typedef struct cli_sweep_point {
    char **values;                // one per parameter, in the order of cli_sweep_t.parameters
    const world_place_t **places; // where the values stand in the file
    char *scenario;               // file of this point alone; NULL: that of the sweep
    const char *const *settings;  // "PATH=VALUE" for this point alone, ended by NULL; NULL: none
} cli_sweep_point_t;

typedef struct cli_sweep_run {
    size_t point;
    uint64_t seed;
    char *name;      // "p001-s7"
    char *folder;    // DIR/runs/p001-s7
    char *failure;   // the reason of a failure, in one line; NULL: the run did not fail
    json_t *summary; // NULL: the run has no results yet
} cli_sweep_run_t;

typedef struct cli_sweep {
    const char *file_name;
    world_document_t *document;
    char *scenario;    // path of the scenario's file
    char **parameters; // attribute paths, as for --set
    size_t parameter_count;
    size_t parameter_capacity;
    char **settings; // "PATH=VALUE" for every run
    size_t setting_count;
    size_t setting_capacity;
    const world_place_t **setting_places; // where they stand in the file
    bool quick;                           // the file's shorter form is wanted
    const char ***variants;               // settings of each variant, ended by NULL
    size_t variant_count;                 // above 0: the first parameter is the variant's name
    size_t variant_capacity;
    cli_sweep_point_t *points;
    size_t point_count;
    size_t point_capacity;
    uint64_t *seeds;
    size_t seed_count;
    size_t seed_capacity;
    char **columns; // paths in summary.json
    size_t column_count;
    size_t column_capacity;
    const world_tree_t *column_list; // in the file; NULL: the usual columns
    cli_sweep_run_t *runs;           // point by point, seed by seed
    size_t run_count;
    const char *folder;
    unsigned ranks;              // of each run; 1: a run is one process
    world_override_t *overrides; // of the command line, for every run; texts are borrowed
    size_t override_count;
    size_t override_capacity;
    bool starts_programs; // every run starts the programs of its scenario
    bool plugin_limits;   // of every run; points are not checked before: that would load plug-ins
    char *identity;       // what the folder must hold to go on with; NULL: the scenario's sum
} cli_sweep_t;

// Reads the sweep that the command line names, for the folder, checks each point as a scenario, and
// checks that at least one point can be built. Borrows args. Call cli_sweep_fini afterwards, also
// on error.
SIM_MUST_CHECK sim_err_t cli_sweep_load(const cli_args_t *args, const char *folder, unsigned ranks,
                                        cli_sweep_t *sweep, world_error_t *error);
void cli_sweep_fini(cli_sweep_t *sweep);

// Returns what identifies the scenario: its file and the sum of its bytes. NULL: it cannot be read.
// The caller frees it.
char *cli_sweep_identity(const cli_sweep_t *sweep, world_error_t *error);
// Creates the sweep's folder and locks it until the sweep's work is done. A folder with something
// else in it is refused. The caller releases *lock, also on error.
SIM_MUST_CHECK sim_err_t cli_sweep_take_folder(const cli_sweep_t *sweep, results_lock_t **lock,
                                               world_error_t *error);
// Reads the option -j; without it, *jobs stays what it is.
SIM_MUST_CHECK sim_err_t cli_sweep_take_jobs(const cli_args_t *args, unsigned *jobs,
                                             world_error_t *error);

// Returns the arguments of a run's process, ended by NULL. Free with cli_sweep_arguments_free.
char **cli_sweep_arguments(const cli_sweep_t *sweep, const cli_sweep_run_t *run);
void cli_sweep_arguments_free(char **arguments);

// Returns a command line for a shell. Free it with sim_free.
char *cli_sweep_line(char *const *arguments);
// Returns the run as a command line for a shell. Free with sim_free.
char *cli_sweep_command(const cli_sweep_t *sweep, const cli_sweep_run_t *run);

int cli_command_sweep(const cli_args_t *args);

#endif // CLI_SWEEP_SWEEP_H
