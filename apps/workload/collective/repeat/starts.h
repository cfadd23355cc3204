// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/repeat/starts.h - whether a rank may send within its host before a call
// is over.
#ifndef APPS_WORKLOAD_COLLECTIVE_REPEAT_STARTS_H
#define APPS_WORKLOAD_COLLECTIVE_REPEAT_STARTS_H

#include "apps/workload/collective/engine.h"

typedef struct app__starts app__starts_t; // memory for the questions of one host

// A call of a rank that is known: it may begin later.
typedef struct app__started {
    uint32_t op;        // of the call
    sim_time_t rest_ps; // from the call's end to the time in question
    bool records;       // the rank has room for rows of flows.csv, which another call would fill
} app__started_t;

// Returns whether the questions can be answered for a workload.
bool app__starts_knows(const app__workload_t *workload);
app__starts_t *app__starts_create(const app__workload_t *workload);
void app__starts_destroy(app__starts_t *starts); // NULL is allowed
// Returns whether a rank surely begins no other call or send within its host until rest_ps after
// the end of a call. Whatever is under way may end at any time.
bool app__starts_nothing(app__starts_t *starts,
                         const app__rank_t *rank,
                         const app__started_t *call);

#endif // APPS_WORKLOAD_COLLECTIVE_REPEAT_STARTS_H
