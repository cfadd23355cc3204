// SPDX-License-Identifier: Apache-2.0
// results/manifest.h - manifest.json: the files of a result folder and the run they are from.
#ifndef RESULTS_MANIFEST_H
#define RESULTS_MANIFEST_H

#include "results/results.h"

#include <time.h>

SIM_C_BEGIN

typedef struct results_clock {
    time_t begun; // of the day
    time_t ended;
} results_clock_t;

// Returns the manifest of the run and of the files that are in folder now. Free it with sim_free.
char *results_manifest_text(const world_t *world,
                            const results_t *results,
                            const char *folder,
                            const results_clock_t *clock);

SIM_C_END

#endif // RESULTS_MANIFEST_H
