// SPDX-License-Identifier: Apache-2.0
// programs/process/random.h - random bytes that are the same in every run.
#ifndef PROGRAMS_PROCESS_RANDOM_H
#define PROGRAMS_PROCESS_RANDOM_H

#include <stddef.h>
#include <sys/types.h>

// Fills memory with random bytes that follow from the program's seed.
void random_fill(void *bytes, size_t count);

// Replaces the random bytes that the kernel gave the program.
void random_begin(void);

// Returns the number of the process that the program sees.
pid_t random_pid(void);

#endif // PROGRAMS_PROCESS_RANDOM_H
