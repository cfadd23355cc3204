// SPDX-License-Identifier: Apache-2.0
// programs/system.h - system calls of this machine, which the library makes itself.
#ifndef PROGRAMS_SYSTEM_H
#define PROGRAMS_SYSTEM_H

#include <sys/syscall.h>

// Makes a system call as syscall() of the C library does. That one is simulated in a program.
long system_call(long number, ...);

#endif // PROGRAMS_SYSTEM_H
