// SPDX-License-Identifier: Apache-2.0
// cli/what_if/runs_internal.h - what runs.c does for warm.c, and warm.c for it.
#ifndef CLI_WHAT_IF_RUNS_INTERNAL_H
#define CLI_WHAT_IF_RUNS_INTERNAL_H

#include "cli/what_if/runs.h"
#include "results/runner.h"

#include <sys/types.h>

#define CLI__WHAT_IF_NO_ROW SIZE_MAX

typedef struct cli__what_if_slot {
    pid_t process; // 0: this place is free
    size_t row;
} cli__what_if_slot_t;

// The processes that run.
typedef struct cli__what_if_pool {
    const cli_what_if_runs_t *runs;
    cli__what_if_slot_t *slots; // runs->jobs
    unsigned busy;
    size_t wanted; // rows
    size_t done;
    double begin_s; // wall time
    double shown_s;
} cli__what_if_pool_t;

const cli_change_t *cli__what_if_change(const cli_what_if_runs_t *runs, size_t row);
// Forks a process for each row whose effect is not known, up to runs->jobs at a time; `warm`: only
// for rows that cli__what_if_is_warm. Returns the row in the process of that row, and
// CLI__WHAT_IF_NO_ROW in the first process when all have ended.
size_t cli__what_if_run_all(cli__what_if_pool_t *pool, bool warm);
void cli__what_if_run_cold(const cli_what_if_runs_t *runs, size_t row);
void cli__what_if_leave(const cli_what_if_runs_t *runs, size_t row, const results_run_t *run,
                        const char *folder);

// warm.c
// Returns whether the row can be a copy of a run that has begun: a part fails, or nothing changes.
bool cli__what_if_is_warm(const cli_what_if_runs_t *runs, size_t row);
// Runs these rows. A row that cannot be run in this way is left unknown.
void cli__what_if_run_warm(cli__what_if_pool_t *pool);

#endif // CLI_WHAT_IF_RUNS_INTERNAL_H
