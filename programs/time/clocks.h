// SPDX-License-Identifier: Apache-2.0
// programs/time/clocks.h - which clocks there are, and where they begin.
#ifndef PROGRAMS_TIME_CLOCKS_H
#define PROGRAMS_TIME_CLOCKS_H

#include <stdint.h>
#include <time.h>

enum { CLOCKS_NONE, CLOCKS_UNIX, CLOCKS_MONOTONIC, CLOCKS_PROCESSOR };

// Notes when the program began.
void clocks_begin(void);

// Returns the kind of a clock.
int clocks_kind(clockid_t clock);

// Returns the program's time in ps at which a clock of this kind shows `time`.
uint64_t clocks_to_ps(int kind, const struct timespec *time);

#endif // PROGRAMS_TIME_CLOCKS_H
