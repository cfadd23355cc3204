// SPDX-License-Identifier: Apache-2.0
// kernel/ring.c - growth of rings.
#include "kernel/ring.h"

#include <string.h>

void *sim_ring_grow(void *items, size_t size_bytes, uint32_t first, uint32_t end,
                    uint32_t *capacity, uint32_t least)
{
    const uint32_t before = *capacity;
    const uint32_t after = before == 0 ? least : 2 * before;
    SIM_CHECKF(after > 0 && (after & (after - 1)) == 0, "%u elements after %u", after, before);
    char *const grown = sim_alloc_array(after, size_bytes);
    for (uint32_t number = first; number != end; number++) {
        memcpy(grown + (number & (after - 1)) * size_bytes,
               (const char *)items + (number & (before - 1)) * size_bytes, size_bytes);
    }
    sim_free(items);
    *capacity = after;
    return grown;
}
