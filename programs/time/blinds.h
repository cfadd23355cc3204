// SPDX-License-Identifier: Apache-2.0
// programs/time/blinds.h - blinds: while they are closed, a program sees nothing but clocks.
//
// A program that looks at a clock again and again lets the simulation catch up now and then.
// Otherwise it would not see what came meanwhile: by a call, by a system call, or in memory that
// the NIC writes to. With closed blinds each of these opens them first, and the simulation catches
// up then (turn_settle()). So looks cost no changes of processes, and the program sees the same.
#ifndef PROGRAMS_TIME_BLINDS_H
#define PROGRAMS_TIME_BLINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// True while the blinds are closed.
extern volatile bool blinds_on;

// Prepares the handler of the signal of system calls. In valgrind, which makes system calls of its
// own, blinds cannot close.
void blinds_begin(bool in_valgrind);

// Adds registered memory that the NIC may write to, and removes it.
void blinds_add(uint32_t handle, uintptr_t address, size_t length);
void blinds_remove(uint32_t handle);

// Closes the blinds, if they are open. Returns false if that is not possible on this machine, or
// with this memory.
bool blinds_close(void);

void blinds_open(void);

// The thread was refused to touch memory. Opens the blinds and returns true if they are the reason.
bool blinds_touched(uintptr_t address);

#endif // PROGRAMS_TIME_BLINDS_H
