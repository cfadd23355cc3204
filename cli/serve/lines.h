// SPDX-License-Identifier: Apache-2.0
// cli/serve/lines.h - lines in and out of two file descriptors.
#ifndef CLI_SERVE_LINES_H
#define CLI_SERVE_LINES_H

#include "kernel/base.h"

typedef struct serve_lines {
    int in;
    int out;
    char *input; // bytes that were read
    size_t input_count;
    size_t input_capacity;
    size_t taken; // bytes at its beginning that have been returned as lines
    char *output; // bytes to write
    size_t output_count;
    size_t output_capacity;
    uint64_t idle_ms; // longest wait for input; 0: any
    bool ended;       // nothing more comes in
    bool broken;      // the client does not take what is written
    bool too_long;    // a line was longer than SERVE_LINE_BYTES_MAX
    bool unread;      // more than SERVE_UNREAD_BYTES_MAX came while the client took no answer
} serve_lines_t;

// Returns the next line without its end, NULL at the end of the input. Writes what waits before it
// blocks. The line is valid until the next call.
char *serve_line(serve_lines_t *lines, size_t *size);
void serve_put(serve_lines_t *lines, const char *text, size_t size);
void serve_flush(serve_lines_t *lines);
void serve_lines_fini(serve_lines_t *lines);

#endif // CLI_SERVE_LINES_H
