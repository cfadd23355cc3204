// SPDX-License-Identifier: Apache-2.0
// studio/server/data/analysis/figure_child.h - the confined process that draws a figure.
//
// It reads files that somebody's run has written, so it is confined before it becomes rocesim.
#ifndef STUDIO_SERVER_DATA_ANALYSIS_FIGURE_CHILD_H
#define STUDIO_SERVER_DATA_ANALYSIS_FIGURE_CHILD_H

#include "studio/server/studio.h"

#include <sys/types.h>

#define STUDIO_FIGURE_RUNS_MAX 16u
#define STUDIO_FIGURE_BYTES_MAX (UINT64_C(64) << 20)

typedef struct studio_figure_order {
    const char *program; // path of rocesim
    const char *folder;  // the process works in this folder and may write to it
    const char *message; // file below the folder for the program's messages
    const char *output;  // file below the folder for what it prints; NULL: nowhere
    const char *results[STUDIO_FIGURE_RUNS_MAX + 1]; // folders it may read, ended by NULL
    const char *const *arguments;                    // of the program, ended by NULL
} studio_figure_order_t;

// Starts the process; returns -1 with errno on failure.
pid_t studio_figure_spawn(const studio_figure_order_t *order);
// Runs in that process. arguments: FOLDER PROGRAM RESULT... -- ARGUMENT... Returns only on failure.
int studio_figure_child_main(const char *const *arguments);

#endif // STUDIO_SERVER_DATA_ANALYSIS_FIGURE_CHILD_H
