// SPDX-License-Identifier: Apache-2.0
// results/manifest.h - manifest.json: the files of a result folder and the run they are from.
#ifndef RESULTS_MANIFEST_H
#define RESULTS_MANIFEST_H

#include "results/results.h"

#include <time.h>

SIM_C_BEGIN

// Version of result folders and of the files in them. It is raised when a reader of the version
// before would misread one; docs/compatibility.md says what may change without that.
#define RESULTS_FORMAT 1

typedef struct results_clock {
    time_t begun; // of the day
    time_t ended;
} results_clock_t;

// Returns the manifest of the run and of the files that are in folder now. Free it with sim_free.
char *results_manifest_text(const world_t *world, const results_t *results, const char *folder,
                            const results_clock_t *clock);

SIM_C_END

#endif // RESULTS_MANIFEST_H
