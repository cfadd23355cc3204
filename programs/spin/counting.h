// SPDX-License-Identifier: Apache-2.0
// programs/spin/counting.h - loops that count while they wait for memory.
#ifndef PROGRAMS_SPIN_COUNTING_H
#define PROGRAMS_SPIN_COUNTING_H

#include <stdbool.h>
#include <stdint.h>

#include "programs/spin/iterations.h"

// Finds such loops in the program and in its own libraries, and plants an int3 at each jump back.
// Called again, it looks at those that were loaded or closed since.
void counting_begin(void);

// Returns true if a byte from `code` on is an int3 of these, or the beginning of their loops.
bool counting_overlaps(const uint8_t *code, unsigned length);

// The thread is behind an int3. Waits if the loop does nothing but count and look, and sets the
// registers to where the thread goes on. Returns false if the int3 is another one.
bool counting_visit(long long *registers);

// Makes counting_translate() possible. May not be called in a handler of a signal.
void counting_open(void);

// Translates the instructions at `places`, which a thread executes again and again in this order,
// into ITERATION_CODES_MAX codes at most, which begin at the place `first`. Returns their number;
// 0: some are unknown.
uint32_t counting_translate(const uintptr_t *places, uint32_t count, uintptr_t first,
                            iteration_code_t *codes);

#endif // PROGRAMS_SPIN_COUNTING_H
