// SPDX-License-Identifier: Apache-2.0
// programs/process/streams.h - standard streams that are pipes.
#ifndef PROGRAMS_PROCESS_STREAMS_H
#define PROGRAMS_PROCESS_STREAMS_H

// Replaces the standard streams that are pipes.
void streams_begin(void);

#endif // PROGRAMS_PROCESS_STREAMS_H
