// SPDX-License-Identifier: Apache-2.0
// programs/process/streams.h - standard streams that are pipes.
#ifndef PROGRAMS_PROCESS_STREAMS_H
#define PROGRAMS_PROCESS_STREAMS_H

#include <stdbool.h>
#include <stdio.h>

// Replaces the standard streams that are pipes.
void streams_begin(void);

// Returns true if the stream has taken the place of a standard stream.
bool streams_is_own(const FILE *stream);

#endif // PROGRAMS_PROCESS_STREAMS_H
