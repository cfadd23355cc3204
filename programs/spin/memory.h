// SPDX-License-Identifier: Apache-2.0
// programs/spin/memory.h - the memory that a loop may change: all that is the process's own.
#ifndef PROGRAMS_SPIN_MEMORY_H
#define PROGRAMS_SPIN_MEMORY_H

#include <stddef.h>
#include <stdint.h>

// Finds where this library lies, whose variables do not count.
void memory_begin(void);

// Returns a sum over the process's memory, but for the unused part of the stack that has its end at
// `stack`, and for those bytes of this library that begin at `own`. Shared memory does not count.
uint64_t memory_sum(uintptr_t stack, const void *own, size_t own_bytes);

// Returns a sum over the registers for vectors and floating point, as FXSAVE has them.
uint64_t memory_sum_vectors(const void *vectors);

#endif // PROGRAMS_SPIN_MEMORY_H
