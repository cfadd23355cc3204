// SPDX-License-Identifier: Apache-2.0
// world/error.h - the one message about bad input: where it is, what is wrong, what was expected.
//
// The first failure fills the message and travels up as a sim_err_t; nothing prints on the way.
#ifndef WORLD_ERROR_H
#define WORLD_ERROR_H

#include "kernel/base.h"

SIM_C_BEGIN

#define WORLD_ERROR_BYTES 4096u

typedef struct world_error {
    char text[WORLD_ERROR_BYTES]; // "FILE:LINE:COLUMN: what is wrong, what was expected"
    char input[1024];             // path of an input file whose first lines are refused, or ""
} world_error_t;

// A place in what the user wrote. origin is a file name, or "--set PATH=VALUE" with line 0.
typedef struct world_place {
    const char *origin;
    int line;   // from 1; 0: the origin has no lines
    int column; // from 1, in characters
} world_place_t;

// Returns the place of a file as a whole, for world_fail.
#define WORLD_FILE(path) (&(const world_place_t){(path), 0, 0})

// Writes "PLACE: message" (truncating it) and returns code. place may be NULL: no prefix.
sim_err_t world_fail(world_error_t *error, sim_err_t code, const world_place_t *place,
                     const char *format, ...) SIM_PRINTF(4, 5);

// Notes that the message is about an input file, if it refuses one of its first lines: whoever
// prints the message can say what the file is. name is the file's name in the message.
void world_error_about(world_error_t *error, const char *name, const char *path);

// Adds text to the message where there is room.
void world_error_add(world_error_t *error, const char *format, ...) SIM_PRINTF(2, 3);

// Adds ", did you mean 'x'?" when one of the names is near to text, or when text is a word of the
// trade for one of them (world/registry/trade_words.h), else nothing. Returns whether it did.
bool world_error_add_nearest(world_error_t *error, const char *text, const char *const *names,
                             size_t count);

// Adds ", expected one of a, b", behind a question as a sentence of its own: of many the first 8,
// then where all are listed, a command such as "rocesim params nic".
void world_error_add_names(world_error_t *error, const char *const *names, size_t count,
                           const char *where);

// Adds ", expected " and a text, behind a question as a sentence of its own.
void world_error_add_expected(world_error_t *error, const char *what);

// Adds a list of names behind `before`.
void world_error_add_list(world_error_t *error, const char *before, const char *const *names,
                          size_t count, const char *where);

// Writes text to buffer as it may stand in a message: control characters and broken UTF-8 as \x1b,
// cut after some 60 characters. Returns the buffer's text.
typedef struct world_shown {
    char text[128];
} world_shown_t;
const char *world_show(world_shown_t *buffer, const char *text);

SIM_C_END

#endif // WORLD_ERROR_H
