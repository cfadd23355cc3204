// SPDX-License-Identifier: Apache-2.0
// cli/import/note.h - what became of a part of an imported file, for the report.
#ifndef CLI_IMPORT_NOTE_H
#define CLI_IMPORT_NOTE_H

#include "world/error.h"

typedef enum import_note_kind {
    IMPORT_BECAME,
    IMPORT_ASSUMED,
    IMPORT_IGNORED,
} import_note_kind_t;

typedef struct import_note {
    import_note_kind_t kind;
    char *text;
    world_place_t first; // where it was said first
    size_t count;
} import_note_t;

#endif // CLI_IMPORT_NOTE_H
