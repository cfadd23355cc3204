// SPDX-License-Identifier: Apache-2.0
// studio/server/data/texts.c - a set of texts.
#include "studio/server/data/texts.h"

#include <string.h>

void studio_texts_fini(studio_texts_t *texts)
{
    sim_free_each(texts->texts, texts->count);
    sim_free(texts->texts);
    sim_map_fini(&texts->map);
}

const char *studio_texts_put(studio_texts_t *texts, const char *text, size_t bytes_max)
{
    const size_t length = strlen(text);
    const uint64_t hash = sim_map_hash(text, length);
    SIM_MAP_EACH (index, &texts->map, hash) {
        if (strcmp(texts->texts[index], text) == 0) {
            return texts->texts[index];
        }
    }
    if (texts->bytes + length + 1 > bytes_max) {
        return NULL;
    }
    texts->bytes += length + 1;
    sim_map_add(&texts->map, hash, texts->count);
    SIM_APPEND(texts->texts, texts->count, texts->capacity, sim_strdup(text));
    return texts->texts[texts->count - 1];
}
