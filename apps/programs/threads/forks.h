// SPDX-License-Identifier: Apache-2.0
// apps/programs/threads/forks.h - processes that a program's processes have forked.
//
// They are threads of the program with memory of their own. The program ends with its first
// process, and all that it has forked ends with it.
#ifndef APPS_PROGRAMS_THREADS_FORKS_H
#define APPS_PROGRAMS_THREADS_FORKS_H

#include "apps/programs/threads/cores.h"

// Does PROGRAM_FORK: makes the first thread of a process. Returns an errno value.
int app__fork(app__program_t *program, program_call_t *call, int *descriptor);
// Does PROGRAM_FORKED: lets the process begin and notes its number of the kernel, or that there is
// none.
void app__fork_done(app__program_t *program, const program_call_t *call);
// Works on PROGRAM_PROCESS. Returns an errno value.
int app__fork_find(const app__program_t *program, program_call_t *call);
// Does PROGRAM_KILL: sends a signal to processes of the program other than the caller's, and waits
// until those that it kills are dead. Returns an errno value.
int app__fork_kill(app__program_t *program, const program_call_t *call);
// Ends the process of a thread, which another process has forked and which is about to end, or is
// gone. Wakes those that wait for its end.
void app__fork_end(app__pr_thread_t *thread);
// Unmaps the pages of all processes that were forked, and forgets the processes.
void app__forks_unmap(app__program_t *program);
void app__forks_destroy(app__program_t *program);

#endif // APPS_PROGRAMS_THREADS_FORKS_H
