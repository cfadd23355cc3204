// SPDX-License-Identifier: Apache-2.0
// apps/programs/verbs/foresight.h - calls that the library answers itself, since it was told what
// comes next.
#ifndef APPS_PROGRAMS_VERBS_FORESIGHT_H
#define APPS_PROGRAMS_VERBS_FORESIGHT_H

#include "apps/programs/process_verbs.h"

typedef struct app__foresight app__foresight_t;

// Tells the thread, with its answer, what comes next if it only posts receives and waits.
void app__foresight_tell(app__pr_thread_t *thread);

// The thread has made a call, or is gone, as `turn` says. If the library has answered calls before,
// puts the first of them in the place of that call. Returns what is to be done now.
app__turn_t app__foresight_begin(app__pr_thread_t *thread, app__turn_t turn);
// A call was put in the place of another one. Returns what is to be done now.
app__turn_t app__foresight_turn(app__pr_thread_t *thread);

// A call of the thread is to be answered. If the library has answered it, puts the next call in its
// place and returns true.
bool app__foresight_next(app__pr_thread_t *thread);

// Returns true if the call is one that the library has answered: the process is further on.
bool app__foresight_repeats(const app__program_t *program);

void app__foresight_destroy(app__program_t *program);

#endif // APPS_PROGRAMS_VERBS_FORESIGHT_H
