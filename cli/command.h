// SPDX-License-Identifier: Apache-2.0
// cli/command.h - the commands of the program. Each command returns the exit status.
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/args.h"
#include "results/runner.h"
#include "world/world.h"

#define CLI_EXIT_DONE 0
#define CLI_EXIT_FAILED 1
#define CLI_EXIT_BAD_INPUT 2

// Runs the command that the command line names. Prints one message on stderr if it fails.
int cli_main(int argc, const char *const *argv);

int cli_command_run(const cli_args_t *args);
int cli_command_check(const cli_args_t *args);
int cli_command_topo(const cli_args_t *args);
int cli_command_plot(const cli_args_t *args);
int cli_command_sweep(const cli_args_t *args);
int cli_command_calibrate(const cli_args_t *args);
int cli_command_hpcc(const cli_args_t *args);

// Functions that a command adds to a run: begin is called before the run (to attach listeners and
// open files), end after it, when the results are known. Either may be NULL. end is called exactly
// if begin returned SIM_OK.
typedef struct cli_run_extra {
    // folder: the folder in which the run's files are being written; NULL: no files are written.
    sim_err_t (*begin)(world_t *world, const char *folder, void *ctx, world_error_t *error);
    sim_err_t (*end)(world_t *world, void *ctx, world_error_t *error);
    void *ctx;
} cli_run_extra_t;

// Builds the scenario's world, runs it, writes and prints the results as `rocesim run` does, and
// returns the exit status. args->operands[0] names the scenario's file.
int cli_run_scenario(const cli_args_t *args, world_scenario_t *scenario,
                     const cli_run_extra_t *extra);

// Prints the message and returns the exit status for it.
int cli_report_failure(const world_error_t *error, int status);

// Flushes the standard output and returns `status`. If a write has failed, it prints why and
// returns CLI_EXIT_FAILED.
int cli_finish_output(int status);

#endif // CLI_COMMAND_H
