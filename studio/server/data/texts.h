// SPDX-License-Identifier: Apache-2.0
// studio/server/data/texts.h - a set of texts, each kept once, that live as long as the set.
#ifndef STUDIO_SERVER_DATA_TEXTS_H
#define STUDIO_SERVER_DATA_TEXTS_H

#include "kernel/map.h"

// All zeros is an empty set. Free with studio_texts_fini.
typedef struct studio_texts {
    char **texts;
    size_t count;
    size_t capacity;
    size_t bytes;  // of all texts, with the 0 at their ends
    sim_map_t map; // from the hash of a text to its index
} studio_texts_t;

void studio_texts_fini(studio_texts_t *texts);
// Returns the set's copy of a text. Returns NULL if the text is new and the set would then hold
// more than bytes_max bytes.
const char *studio_texts_put(studio_texts_t *texts, const char *text, size_t bytes_max);

#endif // STUDIO_SERVER_DATA_TEXTS_H
