// SPDX-License-Identifier: Apache-2.0
// programs/process/processes.h - the numbers of processes.
#ifndef PROGRAMS_PROCESS_PROCESSES_H
#define PROGRAMS_PROCESS_PROCESSES_H

#include <sys/types.h>

// Returns this machine's number of a process of the program; 0 is the calling one. Returns -1 for
// another one: a program reaches no other process of this machine.
pid_t processes_real(pid_t pid);

// Returns the number that the program sees of the calling process, its parent or a child, of which
// `real` is this machine's number. Returns 0 for another process.
pid_t processes_shown(pid_t real);

// Returns this machine's number of a thread of the calling process, or -1.
pid_t processes_real_thread(pid_t tid);

// Returns the number that the program sees of a thread of the calling process, or -1.
pid_t processes_shown_thread(pid_t real);

// Returns the number of the first process of the program from `pid` on, which may be 0, that lives;
// -1: there is none. The caller asks for all of them, from 0 on.
pid_t processes_next(pid_t pid);

#endif // PROGRAMS_PROCESS_PROCESSES_H
