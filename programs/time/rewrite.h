// SPDX-License-Identifier: Apache-2.0
// programs/time/rewrite.h - replaces instructions that read the time stamp counter by ud2, and
// system calls of libraries that make them by themselves.
#ifndef PROGRAMS_TIME_REWRITE_H
#define PROGRAMS_TIME_REWRITE_H

#include <stdbool.h>
#include <stdint.h>

// Lets rewrite_all() replace instructions that read the counter.
void rewrite_counters(void);

// Replaces the instructions in all objects that are loaded, and not rewritten yet.
void rewrite_all(void);

// Returns the length of the instruction at `code` that read the counter and was replaced, or 0.
unsigned rewrite_length(const uint8_t *code);

// Returns true if the instruction that was replaced at `code` made a system call.
bool rewrite_is_call(const uint8_t *code);

#endif // PROGRAMS_TIME_REWRITE_H
