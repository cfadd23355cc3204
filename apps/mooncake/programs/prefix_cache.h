// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/prefix_cache.h - cached blocks of prompts, by the hashes of their
// prefixes.
#ifndef APPS_MOONCAKE_PROGRAMS_PREFIX_CACHE_H
#define APPS_MOONCAKE_PROGRAMS_PREFIX_CACHE_H

#include "kernel/ranks.h"

typedef enum app__mooncake_policy {
    APP__MOONCAKE_LRU, // evicts the least recently used block
    // evicts the least frequently used block; for equal counts the least recently used
    APP__MOONCAKE_LFU,
    // like LFU, but for equal counts it evicts the block furthest back in its prompt
    APP__MOONCAKE_LENGTH,
} app__mooncake_policy_t;

#define APP__MOONCAKE_UNLIMITED UINT64_MAX

// Blocks by hash id, at most `capacity` different ones. Each block has a slot, a number below the
// highest number of blocks so far, and copies at some of `places` places.
typedef struct app__mooncake_prefix app__mooncake_prefix_t;
app__mooncake_prefix_t *app__mooncake_prefix_create(uint32_t policy, uint64_t capacity_blocks,
                                                    uint32_t places);
void app__mooncake_prefix_destroy(app__mooncake_prefix_t *prefix);
// Returns how many leading blocks are cached. Changes nothing.
size_t app__mooncake_prefix_match(const app__mooncake_prefix_t *prefix, const uint64_t *ids,
                                  size_t count);
// Inserts all blocks in order, newest last. Present blocks count one more use; the others come in,
// each after an eviction if there is no room. From now on `place` has a copy of each inserted block
// until it is evicted.
void app__mooncake_prefix_insert(app__mooncake_prefix_t *prefix, const uint64_t *ids, size_t count,
                                 uint32_t place);
// Finds the slot of a cached block.
bool app__mooncake_prefix_slot(const app__mooncake_prefix_t *prefix, uint64_t id, uint64_t *slot);
// Returns whether the place has a copy of the block in that slot.
bool app__mooncake_prefix_has(const app__mooncake_prefix_t *prefix, uint64_t slot, uint32_t place);
// Drops all copies at a place. Blocks without another copy leave the store, but are no evictions.
// Returns how many.
uint64_t app__mooncake_prefix_drop(app__mooncake_prefix_t *prefix, uint32_t place);
void app__mooncake_prefix_carry(app__mooncake_prefix_t *prefix, sim_carry_t *carry); // evictions
uint64_t app__mooncake_prefix_evictions(const app__mooncake_prefix_t *prefix);

#endif // APPS_MOONCAKE_PROGRAMS_PREFIX_CACHE_H
