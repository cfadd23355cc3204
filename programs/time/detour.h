// SPDX-License-Identifier: Apache-2.0
// programs/time/detour.h - jumps in the place of instructions that read the time stamp counter.
#ifndef PROGRAMS_TIME_DETOUR_H
#define PROGRAMS_TIME_DETOUR_H

#include <stdbool.h>
#include <stdint.h>

// Notes where the code of the program is. Jumps are written into that code only.
void detour_begin(void);

// Replaces the instruction of `length` bytes at `code`, which reads the counter, and some that
// follow by a jump, so that it raises no signal any more. Returns false if that is not possible, or
// was not at an earlier time. May be called in a handler of a signal.
bool detour_make(const uint8_t *code, unsigned length);

// Returns what the instruction reads. The jumps lead here.
uint64_t detour_read(void);

#endif // PROGRAMS_TIME_DETOUR_H
