// SPDX-License-Identifier: Apache-2.0
// programs/time/tsc.h - the time stamp counter shows simulated time.
#ifndef PROGRAMS_TIME_TSC_H
#define PROGRAMS_TIME_TSC_H

#include <stdbool.h>

// Makes the instructions rdtsc and rdtscp of the program come to this library.
void tsc_begin(void);

// Sets or ends the trap of the instructions, where the machine has one.
void tsc_trap(bool on);

#endif // PROGRAMS_TIME_TSC_H
