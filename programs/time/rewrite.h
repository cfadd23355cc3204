// SPDX-License-Identifier: Apache-2.0
// programs/time/rewrite.h - replaces instructions that read the time stamp counter by ud2.
#ifndef PROGRAMS_TIME_REWRITE_H
#define PROGRAMS_TIME_REWRITE_H

#include <stdbool.h>
#include <stdint.h>

// Returns true if instructions of this process are replaced, those of libraries loaded later, too.
bool rewrite_needed(void);

// Replaces the instructions in all objects that are loaded, and not rewritten yet.
void rewrite_all(void);

// Returns the length of the instruction that was replaced at `code`, or 0.
unsigned rewrite_length(const uint8_t *code);

#endif // PROGRAMS_TIME_REWRITE_H
