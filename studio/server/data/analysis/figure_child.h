// SPDX-License-Identifier: Apache-2.0
// studio/server/data/analysis/figure_child.h - the process that draws: confined before it becomes
// rocesim.
//
// What rocesim and gnuplot read is what somebody's run has written.
#ifndef STUDIO_SERVER_DATA_ANALYSIS_FIGURE_CHILD_H
#define STUDIO_SERVER_DATA_ANALYSIS_FIGURE_CHILD_H

#include "studio/server/studio.h"

#include <sys/types.h>

#define STUDIO_FIGURE_RUNS_MAX 16u
#define STUDIO_FIGURE_BYTES_MAX (UINT64_C(64) << 20)

typedef struct studio_figure_order {
    const char *program;                             // rocesim
    const char *folder;                              // may be written to; the process works there
    const char *message;                             // file below it, for what the program says
    const char *results[STUDIO_FIGURE_RUNS_MAX + 1]; // folders that may be read, NULL at the end
    const char *const *arguments;                    // of the program, NULL at the end
} studio_figure_order_t;

// Begins the process; -1 with errno.
pid_t studio_figure_spawn(const studio_figure_order_t *order);
// In the process of its own: FOLDER PROGRAM RESULT... -- ARGUMENT...; returns only where it fails.
int studio_figure_child_main(const char *const *arguments);

#endif // STUDIO_SERVER_DATA_ANALYSIS_FIGURE_CHILD_H
