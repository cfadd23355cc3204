// SPDX-License-Identifier: Apache-2.0
// cli/what_if/runs.h - runs the changes of `rocesim what-if`, several at a time.
//
// Each run is a process that this one forks. Where the scenario can go by steps, the runs in which
// a part fails are copies of one run that has come near the time of the failure, so that what
// happens before it is simulated once.
#ifndef CLI_WHAT_IF_RUNS_H
#define CLI_WHAT_IF_RUNS_H

#include "cli/what_if/effects.h"

typedef struct cli_what_if_runs {
    const char *scenario; // file
    const world_override_t *overrides;
    size_t override_count;
    cli_what_if_t *what_if; // its effects are filled in; known ones are not run
    const char *folder;     // absolute, for the files of runs
    unsigned jobs;          // at a time
    bool quiet;
    bool by_steps; // failures may be copies of one run
    // Called when the run of a row has ended; row 0 is the run without changes.
    void (*ended)(size_t row, const cli_effect_t *effect, void *ctx);
    void *ctx;
} cli_what_if_runs_t;

// Returns the effect of a row: 0 is the run without changes.
cli_effect_t *cli_what_if_effect(cli_what_if_t *what_if, size_t row);

// Runs all rows whose effects are not known. Returns false if a signal came first.
bool cli_what_if_work(const cli_what_if_runs_t *runs);

#endif // CLI_WHAT_IF_RUNS_H
