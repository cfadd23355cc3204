// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/repeat/inside.h - periods that lie within calls: loops of chunks, and
// steps of a ring.
#ifndef APPS_WORKLOAD_COLLECTIVE_REPEAT_INSIDE_H
#define APPS_WORKLOAD_COLLECTIVE_REPEAT_INSIDE_H

#include "apps/workload/collective/collectives.h"
#include "kernel/fast_forward_notes.h"

// The part of a call that lies between two moments.
typedef enum app__unit { APP__CALLS, APP__CHUNKS, APP__STEPS, APP__UNITS } app__unit_t;

// Where a block of a call is at a moment.
typedef struct app__reach {
    app__coll_run_t *run;
    uint32_t block;
    app__place_t at;
    app__place_t permit;
} app__reach_t;
typedef struct app__reaches {
    app__reach_t *items;
    size_t count;
    size_t capacity;
} app__reaches_t;

// Notes the loops and steps of a block.
void app__reach_note(app__reaches_t *reaches, app__unit_t unit, sim_notes_t *notes,
                     app__coll_run_t *run, uint32_t block);
// Returns how many periods more all blocks that move on do so by loops or steps that are alike.
uint64_t app__reach_most(app__unit_t unit, const app__reaches_t *before, const app__reaches_t *now);
// Moves what app__reach_note did not note.
void app__reach_jump(app__unit_t unit, const app__reaches_t *before, const app__reaches_t *now,
                     uint64_t count, sim_time_t period_ps);
// Returns the time in which all calls that run take so many loops or steps; 0: there is none.
// known_ps is taken for calls that have not made as many steps before; 0: there is none.
sim_time_t app__inside_period_ps(const app__workload_t *workload, app__unit_t unit, uint32_t apart,
                                 sim_time_t known_ps);

#endif // APPS_WORKLOAD_COLLECTIVE_REPEAT_INSIDE_H
