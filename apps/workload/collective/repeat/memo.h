// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/repeat/memo.h - remembers how collectives changed the network, and
// repeats it.
#ifndef APPS_WORKLOAD_COLLECTIVE_REPEAT_MEMO_H
#define APPS_WORKLOAD_COLLECTIVE_REPEAT_MEMO_H

#include "apps/skips.h"
#include "apps/workload/rank.h"
#include "kernel/fast_forward.h"

typedef struct app__memo app__memo_t;

// Begins to watch the collectives of a workload, before the run.
app__memo_t *app__memo_create(app__workload_t *workload, struct app_skips *skips);
void app__memo_destroy(app__memo_t *memo); // NULL is allowed

// A rank calls a collective. Returns true if the call is repeated from memory: it then ends at its
// time, without messages.
bool app__memo_called(app__memo_t *memo, app__rank_t *rank, uint32_t op);
// A rank's call has ended.
void app__memo_ended(app__memo_t *memo, const app__rank_t *rank);
// A timer of a rank's processor has fired.
void app__memo_ran(app__memo_t *memo, const app__rank_t *rank);

// -- state.c

// Lists the state of the network and of the collectives. *rest_ps becomes the time for which they
// must have rested.
void app__memo_list(const app__workload_t *workload, sim_state_t *list, sim_time_t *rest_ps);

#endif // APPS_WORKLOAD_COLLECTIVE_REPEAT_MEMO_H
