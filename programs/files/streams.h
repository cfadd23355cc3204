// SPDX-License-Identifier: Apache-2.0
// programs/files/streams.h - streams of pipes and sockets.
#ifndef PROGRAMS_FILES_STREAMS_H
#define PROGRAMS_FILES_STREAMS_H

#include <stdbool.h>
#include <stdio.h>

// Replaces the streams of pipes and sockets.
void streams_begin(void);

// Returns a stream that reads and writes a descriptor by this library's functions, or NULL with
// ENOMEM or EINVAL. The stream closes the descriptor with itself.
FILE *streams_open(int descriptor, const char *mode);

// Returns true if the stream is one of those.
bool streams_is_own(const FILE *stream);

#endif // PROGRAMS_FILES_STREAMS_H
