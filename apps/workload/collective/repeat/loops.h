// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/repeat/loops.h - skips calls of a loop that has no rest between them.
#ifndef APPS_WORKLOAD_COLLECTIVE_REPEAT_LOOPS_H
#define APPS_WORKLOAD_COLLECTIVE_REPEAT_LOOPS_H

#include "apps/skips.h"
#include "apps/workload/workload.h"

typedef struct app__loops app__loops_t;

// Begins to watch for calls that repeat without a rest between them, before the run. NULL: windows
// cannot be split.
app__loops_t *app__loops_create(app__workload_t *workload, app_skips_t *skips);
void app__loops_destroy(app__loops_t *loops); // NULL is allowed

#endif // APPS_WORKLOAD_COLLECTIVE_REPEAT_LOOPS_H
