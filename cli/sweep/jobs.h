// SPDX-License-Identifier: Apache-2.0
// cli/sweep/jobs.h - starts the runs of a sweep.
#ifndef CLI_SWEEP_JOBS_H
#define CLI_SWEEP_JOBS_H

#include "cli/sweep/sweep.h"

// Loads the run's summary if its folder holds its results.
void cli_sweep_look(cli_sweep_run_t *run);
// Starts all unfinished runs, at most `jobs` at a time. Returns the number of failed runs. Sets
// *interrupted if a signal ended the sweep before all runs were done.
size_t cli_sweep_work(cli_sweep_t *sweep, unsigned jobs, bool quiet, bool *interrupted);

#endif // CLI_SWEEP_JOBS_H
