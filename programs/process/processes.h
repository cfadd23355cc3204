// SPDX-License-Identifier: Apache-2.0
// programs/process/processes.h - the numbers of processes.
#ifndef PROGRAMS_PROCESS_PROCESSES_H
#define PROGRAMS_PROCESS_PROCESSES_H

#include <sys/types.h>

// Returns this machine's number of a process of the program; 0 is the calling one. Returns -1 for
// another one: a program reaches no other process of this machine.
pid_t processes_real(pid_t pid);

#endif // PROGRAMS_PROCESS_PROCESSES_H
