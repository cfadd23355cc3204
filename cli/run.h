// SPDX-License-Identifier: Apache-2.0
// cli/run.h - simulates a scenario and prints its results.
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/args.h"
#include "world/world.h"

int cli_command_run(const cli_args_t *args);
// Functions that a command adds to a run: begin is called before the run (to attach listeners and
// open files), end after it, when the results are known. Each may be NULL. end is called exactly if
// begin returned SIM_OK.
typedef struct cli_run_extra {
    // folder: the folder in which the run's files are being written; NULL: no files are written.
    sim_err_t (*begin)(world_t *world, const char *folder, void *ctx, world_error_t *error);
    sim_err_t (*end)(world_t *world, void *ctx, world_error_t *error);
    void *ctx;
    // Simulates by steps, as results_options_t.drive. It handles signals by itself.
    sim_ended_t (*drive)(world_t *world, void *ctx);
    // Why programs that compute have to end, as app_programs_t.ends; NULL: signals end them.
    const char *(*ends)(const app_t *app, void *ctx);
} cli_run_extra_t;

// Builds the scenario's world, runs it, writes and prints the results as `rocesim run` does, and
// returns the exit status. args->operands[0] names the scenario's file.
int cli_run_scenario(const cli_args_t *args, world_scenario_t *scenario,
                     const cli_run_extra_t *extra);

#endif // CLI_RUN_H
