// SPDX-License-Identifier: Apache-2.0
// apps/programs/turns.h - the turns of a process, and what wakes it.
#ifndef APPS_PROGRAMS_TURNS_H
#define APPS_PROGRAMS_TURNS_H

#include "apps/programs/guest.h"

// Lets the threads of the program look again at what they wait for, because `reason` (a PROGRAM_ON_
// bit) has happened.
void app__program_notice(app__program_t *program, uint32_t reason);
// Adds an event of a completion queue for the process that polls it, and notices that.
void app__program_completion(app__program_t *program, uint32_t handle);
// Adds an event for one of the program's processes.
void app__program_event_of(app__process_t *process, app__program_t *program, uint32_t kind,
                           uint32_t handle);
// Takes a turn of a thread: the step of its core.
bool app__program_take_turn(nic_core_t *core, void *ctx);
// Ends the process, if there is one, and all that it has made, now. `fault` (may be NULL) says why.
void app__program_end(app__program_t *program, const char *fault);

#endif // APPS_PROGRAMS_TURNS_H
