// SPDX-License-Identifier: Apache-2.0
// cli/ranks/ranks.h - one run in several processes: joins those that mpirun started, or starts it.
#ifndef CLI_RANKS_RANKS_H
#define CLI_RANKS_RANKS_H

#include "cli/args.h"
#include "kernel/ranks.h"
#include "world/world.h"

#include <stdio.h>

// -- mpi.c; in a build without MPI only cli_ranks_processes says anything

typedef struct cli_ranks cli_ranks_t;

// Returns the version of the MPI library, such as "Open MPI 4.1.4"; NULL: the build has none. The
// caller frees it with sim_free.
char *cli_ranks_library(void);
// Returns how many processes mpirun or srun started together with this one; 1: this one alone.
unsigned cli_ranks_processes(void);
// Joins the other processes. SIM_ERR_STATE: this build has no MPI.
SIM_MUST_CHECK sim_err_t cli_ranks_join(cli_ranks_t **ranks, world_error_t *error);
const sim_ranks_t *cli_ranks_of(const cli_ranks_t *ranks); // NULL of NULL
// Returns for how long in all this rank got no processor while it waited for others.
double cli_ranks_away_s(const sim_ranks_t *ranks);
// Waits for the other processes to leave, and frees the struct. NULL is allowed.
void cli_ranks_leave(cli_ranks_t *ranks);

// -- launch.c

// Reads the number of --ranks. SIM_ERR_RANGE: it is none from 1 to SIM_RANKS_MAX; SIM_ERR_STATE:
// this build has no MPI.
SIM_MUST_CHECK sim_err_t cli_ranks_wanted(const cli_args_t *args, unsigned *count,
                                          world_error_t *error);
// Copies the words of the command line behind the program, without those about ranks, and returns
// their number. words has room for all.
size_t cli_ranks_words(const cli_args_t *args, const char **words);
// Starts this command line in `count` ranks on this machine with mpirun, waits for them, and
// returns the exit status. Ctrl-C ends the run as it does in one process.
int cli_ranks_launch(const cli_args_t *args, unsigned count);
// Reports to the launcher that this rank has begun.
void cli_ranks_begin(void);
// Returns the descriptor of the terminal on which rank 0 shows its progress; -1: none. mpirun gives
// ranks no terminal, so the launcher names its own.
int cli_ranks_terminal(void);
// Returns the exit status of this rank for that of the run, which rank 0 reports to the launcher.
int cli_ranks_status(const sim_ranks_t *ranks, int status);

#endif // CLI_RANKS_RANKS_H
