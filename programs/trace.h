// SPDX-License-Identifier: Apache-2.0
// programs/trace.h - a line for each call of verbs and of the connection manager.
//
// The file is that of `rocesim run --program-trace`. A line has the program's time in us, the
// number of the thread, the call with its arguments, and its result, as ltrace prints them.
#ifndef PROGRAMS_TRACE_H
#define PROGRAMS_TRACE_H

#include <stdbool.h>

#include "programs/protocol.h"

extern bool trace_on;

// Opens the file that the simulator asks for, if it asks.
void trace_begin(void);

// Writes a line. The format has neither the time nor the end of the line.
void trace_write(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Writes the line of a post, with what follows the record, or of a completion.
void trace_post(const program_post_t *record, const void *rest);
void trace_completion(uint32_t cq, const program_completion_t *completion);

#define TRACE(...)                    \
    do {                              \
        if (trace_on) {               \
            trace_write(__VA_ARGS__); \
        }                             \
    } while (0)

#endif // PROGRAMS_TRACE_H
