// SPDX-License-Identifier: Apache-2.0
// results/runner.h - runs a scenario and keeps its results, in memory and in a folder.
//
//     world_scenario_t *scenario;      // world/scenario.h
//     results_run_t *run;
//     world_error_t error;
//     const results_options_t options = {.folder = "out"};
//     if (results_execute(scenario, &options, &run, &error) == SIM_OK) {
//         double p99;
//         results_number(run, "flows.slowdown.p99", &p99);
//         results_run_destroy(run);
//     }
//
// Files are written to FOLDER/.unfinished and replace those of an earlier run when all of them are
// complete. A run that is killed leaves the earlier results untouched and its own part in
// .unfinished, which the next run clears.
#ifndef RESULTS_RUNNER_H
#define RESULTS_RUNNER_H

#include "kernel/ranks.h"
#include "results/results.h"

#include <jansson.h>

SIM_C_BEGIN

typedef struct results_run results_run_t;

// Folders and callbacks of a run. All may be NULL; callbacks get ctx last.
typedef struct results_options {
    const char *folder;        // for the files of docs/formats/outputs.md; NULL: none are written
    const char *scenario_file; // that the folder must not hold
    // The ranks that run the scenario together, all of them with equal options; NULL: this process
    // alone. Rank 0 writes all files and has the results; the other ranks have none (results_of).
    const sim_ranks_t *ranks;
    bool limited; // the process has a limit of memory of its own, and may start no thread
    bool brief;   // schema.json, topology.json and manifest.json are left out
    // Simulates by steps and returns how the simulation ended (sim_last_step); NULL: sim_run does.
    sim_ended_t (*drive)(world_t *world, void *ctx);
    // The world is built; nothing is written yet. An error ends the run, as a wrong scenario does.
    sim_err_t (*built)(world_t *world, void *ctx, world_error_t *error);
    // Listeners and further output files, in `folder` (NULL: none), where the others are being
    // written; an error is that of the run. end is called for each begin that succeeded, after the
    // run.
    sim_err_t (*begin)(world_t *world, const char *folder, void *ctx, world_error_t *error);
    sim_err_t (*end)(world_t *world, void *ctx, world_error_t *error);
    // The scenario's warnings, before sim_run; the list goes on to the results.
    void (*warned)(const world_warnings_t *warnings, void *ctx);
    // Right before and after sim_run; in ranks, after rank 0 has taken what the others did.
    void (*started)(world_t *world, void *ctx);
    void (*stopped)(world_t *world, void *ctx);
    // A file could not be written whole: a message for each.
    void (*file_failed)(const char *message, void *ctx);
    void *ctx;
} results_options_t;

// Runs the scenario. SIM_OK: the run took place, however it ended (results_of), even if files are
// incomplete (results_files_whole). Otherwise nothing was run, and error says why: the world cannot
// be built, or the folder cannot be used. In ranks, all ranks fail together: the text of error is
// empty at those that another one lets down. The scenario must outlive the run.
SIM_MUST_CHECK sim_err_t results_execute(world_scenario_t *scenario,
                                         const results_options_t *options, results_run_t **run,
                                         world_error_t *error);
void results_run_destroy(results_run_t *run);

// Lets all ranks go on or fail together, and returns what this one should do. A rank that another
// one lets down gets an empty text in error; the lowest one that failed keeps its own. ranks NULL:
// returns result.
SIM_MUST_CHECK sim_err_t results_together(const sim_ranks_t *ranks, sim_err_t result,
                                          world_error_t *error);

const world_t *results_world(const results_run_t *run);
results_t *results_of(results_run_t *run); // sample sets are sorted when first asked
const json_t *results_json(const results_run_t *run);
const char *results_text(const results_run_t *run); // of summary.json
bool results_files_whole(const results_run_t *run);
const char *results_error(const results_run_t *run); // of the first file that is not

// Reads the number at a path of summary.json: "flows.slowdown.p99", "apps[0].goodput_gbps",
// "flows.by_size[3].slowdown.p50", "flows.by_size[0-10KB].slowdown.p50". Returns false if there is
// none.
bool results_number(const results_run_t *run, const char *path, double *number);
// Returns the value at a dotted path of an object, NULL where there is none. A list's element is
// identified by its number or by its size, name, kind or port.
const json_t *results_json_at(const json_t *object, const char *path);

SIM_C_END

#endif // RESULTS_RUNNER_H
