// SPDX-License-Identifier: Apache-2.0
// cli/command.h - the commands of the program; each returns the exit status.
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/args.h"
#include "results/runner.h"
#include "world/world.h"

#define CLI_EXIT_DONE 0
#define CLI_EXIT_FAILED 1
#define CLI_EXIT_BAD_INPUT 2

// Does what the command line says. Prints one message on stderr for anything that fails.
int cli_main(int argc, const char *const *argv);

int cli_command_run(const cli_args_t *args);
int cli_command_check(const cli_args_t *args);
int cli_command_topo(const cli_args_t *args);
int cli_command_plot(const cli_args_t *args);
int cli_command_sweep(const cli_args_t *args);
int cli_command_calibrate(const cli_args_t *args);
int cli_command_hpcc(const cli_args_t *args);

// What a command adds to a run: begin before it (listeners, output files), end after it, when the
// results are known. Either may be NULL. end is called whenever begin returned SIM_OK.
typedef struct cli_run_extra {
    // folder: where the run's files are being written; NULL: none are.
    sim_err_t (*begin)(world_t *world, const char *folder, void *ctx, world_error_t *error);
    sim_err_t (*end)(world_t *world, void *ctx, world_error_t *error);
    void *ctx;
} cli_run_extra_t;

// Builds the scenario's world, runs it, writes and prints the results as `rocesim run` does;
// returns the exit status. args->operands[0] is the file it comes from.
int cli_run_scenario(const cli_args_t *args,
                     world_scenario_t *scenario,
                     const cli_run_extra_t *extra);

// Prints the message and returns the exit status for it.
int cli_report_failure(const world_error_t *error, int status);

#endif // CLI_COMMAND_H
