// SPDX-License-Identifier: Apache-2.0
// cli/error.h - the one message a person gets about bad input: where, what, what was expected.
//
// The first failure fills the message and travels up as a sim_err_t; nothing prints on the way.
#ifndef CLI_ERROR_H
#define CLI_ERROR_H

#include "kernel/base.h"

#define CLI_ERROR_BYTES 4096u

typedef struct cli_error {
    char text[CLI_ERROR_BYTES]; // "FILE:LINE:COLUMN: what is wrong, what was expected"
} cli_error_t;

// A place in what the user wrote. origin is a file name, or "--set PATH=VALUE" with line 0.
typedef struct cli_place {
    const char *origin;
    int line;   // from 1; 0: the origin has no lines
    int column; // from 1, in characters
} cli_place_t;

// Writes "PLACE: message" (truncating it) and returns code. place may be NULL: no prefix.
sim_err_t cli_fail(cli_error_t *error,
                   sim_err_t code,
                   const cli_place_t *place,
                   const char *format,
                   ...) SIM_PRINTF(4, 5);

// Adds text to the message where there is room.
void cli_error_add(cli_error_t *error, const char *format, ...) SIM_PRINTF(2, 3);

// Adds ", did you mean 'x'?" when one of the names is near to text, else nothing. Returns whether
// it did.
bool cli_error_add_nearest(cli_error_t *error,
                           const char *text,
                           const char *const *names,
                           size_t count);

// Adds ", expected one of a, b": of many the first 8, then where all are listed, a command such as
// "rocesim params nic".
void cli_error_add_names(cli_error_t *error,
                         const char *const *names,
                         size_t count,
                         const char *where);

// text as it may stand in a message: control characters and broken UTF-8 replaced, cut after some
// 60 characters. buffer is the caller's and is returned.
typedef struct cli_shown {
    char text[128];
} cli_shown_t;
const char *cli_show(cli_shown_t *buffer, const char *text);

#endif // CLI_ERROR_H
