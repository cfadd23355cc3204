// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/repeat/inside.h - remembers the calls of groups whose ranks are all on
// one host, and repeats them.
#ifndef APPS_WORKLOAD_COLLECTIVE_REPEAT_INSIDE_H
#define APPS_WORKLOAD_COLLECTIVE_REPEAT_INSIDE_H

#include "apps/workload/collective/engine.h"

typedef struct app__inside app__inside_t;

// Begins to watch the groups of a workload that are within a host each, before the run.
void app__insides_create(app__workload_t *workload, const struct app_skips *skips);
void app__inside_destroy(app__inside_t *inside); // NULL is allowed

// A member calls a collective. Returns true if the call is repeated from memory: it then ends at
// its time, without messages.
bool app__inside_called(app__inside_t *inside, app__member_t *member, uint32_t op);
// The call of a member, which was simulated, has ended.
void app__inside_ended(app__inside_t *inside, const app__member_t *member);
// The repeated call of a member ends: it is the last one, maybe.
void app__inside_over(app__inside_t *inside);
// Adds what all groups of a workload have repeated, after the run.
void app__insides_count(const app__workload_t *workload, struct app_skips *skips);

#endif // APPS_WORKLOAD_COLLECTIVE_REPEAT_INSIDE_H
