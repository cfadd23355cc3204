// SPDX-License-Identifier: Apache-2.0
// cli/sweep/jobs.h - starts the runs of a sweep.
#ifndef CLI_SWEEP_JOBS_H
#define CLI_SWEEP_JOBS_H

#include "cli/sweep/sweep.h"

// Loads the run's summary if its folder holds its results, and what it says of a failed program.
void cli_sweep_look(cli_sweep_run_t *run);
// Runs all unfinished runs, at most `jobs` at a time. Returns false if a signal ended the sweep
// before all runs were done.
bool cli_sweep_work(cli_sweep_t *sweep, unsigned jobs, bool quiet);

#endif // CLI_SWEEP_JOBS_H
