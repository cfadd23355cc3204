// SPDX-License-Identifier: Apache-2.0
// world/control_characters.h - streams to a terminal that show control characters instead of
// sending them.
//
// Names of scenarios, nodes and files come from other people. An escape sequence in one must not
// reach the terminal, so the program prints through a stream of this kind.
#ifndef WORLD_CONTROL_CHARACTERS_H
#define WORLD_CONTROL_CHARACTERS_H

#include "kernel/base.h"

#include <stdio.h>

SIM_C_BEGIN

typedef enum world_shown_kind {
    WORLD_SHOWN_TEXT, // control characters become \x1b or \u009b
    WORLD_SHOWN_JSON, // they become \u001b, as JSON has them
} world_shown_kind_t;

// Opens a stream that writes to the descriptor and shows all control characters but tabs and line
// ends, characters that change the direction of text, and bytes that are not UTF-8. The descriptor
// stays open. The stream is buffered by lines or in full. Returns NULL where memory lacks.
FILE *world_shown_open(int descriptor, world_shown_kind_t kind, bool by_lines);

// A decoded character. size is 0 where the bytes are not UTF-8.
typedef struct world_utf8 {
    uint32_t code_point;
    size_t size; // in bytes
} world_utf8_t;

// Decodes the first character of size bytes, at least one.
world_utf8_t world_utf8_decode(const unsigned char *bytes, size_t size);

// Returns whether a character must be shown instead of sent to a terminal: C0 and C1 controls but
// tab and line feed, line separators, and marks that reverse or hide text.
bool world_must_show(uint32_t code_point);

SIM_C_END

#endif // WORLD_CONTROL_CHARACTERS_H
