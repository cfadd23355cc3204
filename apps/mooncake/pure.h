// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/pure.h - parts of the engine without time or network: slicing, choice of NICs, the
// endpoint store, the prefix cache.
#ifndef APPS_MOONCAKE_PURE_H
#define APPS_MOONCAKE_PURE_H

#include "apps/mooncake.h"
#include "apps/request_trace.h"
#include "kernel/list.h"
#include "kernel/ranks.h"

// -- slices (apps/mooncake/engine/slicing.c)

// Number of slices of slice_bytes; a tail shorter than fragment_bytes joins the last slice.
uint64_t app__mooncake_slice_count(uint64_t length, uint64_t slice_bytes, uint64_t fragment_bytes);
uint64_t app__mooncake_slice_length(uint64_t length, uint64_t slice_bytes, uint64_t fragment_bytes,
                                    uint64_t index);

// Number of NICs in the two lists of a location.
typedef struct app__mooncake_choice {
    uint32_t preferred;
    uint32_t available;
} app__mooncake_choice_t;
// Returns the position of a NIC in the two lists, one after the other. The first attempt takes a
// random one of the first list (of the second if the first is empty). Each retry takes another one,
// the rest of the first list before the second. `first` is the result of the first attempt.
uint32_t app__mooncake_choose(const app__mooncake_choice_t *choice, uint32_t retry, uint64_t random,
                              uint32_t first);
// Returns the index of the NIC that a name means: the number it ends with.
bool app__mooncake_nic_index(const char *name, uint32_t *index);

const app_mooncake_priority_t *app__mooncake_priority(const app_mooncake_matrix_t *matrix,
                                                      const char *location);
void app__mooncake_matrix_copy(app_mooncake_matrix_t *to, const app_mooncake_matrix_t *from);
void app__mooncake_buffer_fini(app_mooncake_buffer_t *buffer);
// Returns the buffer that holds the whole range, or NULL.
const app_mooncake_buffer_t *app__mooncake_buffer_of(const app_mooncake_segment_desc_t *desc,
                                                     uint64_t address, uint64_t length);

// -- the endpoint store of a context (apps/mooncake/engine/peers/endpoint_store.c)

// An entry of the store. Whoever inserts it owns it and its key.
typedef struct app__mooncake_kept app__mooncake_kept_t;
struct app__mooncake_kept {
    const char *key;
    sim_link_t link;
    app__mooncake_kept_t *next_of_hash;
    bool visited; // found since the hand passed
    bool pinned;  // evicted only if all others are pinned, too
};

typedef struct app__mooncake_keep {
    app_mooncake_endpoint_store_t policy;
    uint64_t capacity;
    uint64_t count;
    uint64_t pinned_count;
    sim_list_t order;           // in order of insertion
    app__mooncake_kept_t *hand; // SIEVE: the next entry to examine; NULL: the oldest
    app__mooncake_kept_t **table;
    size_t table_size; // a power of two
    uint64_t evictions;
} app__mooncake_keep_t;

// Return the oldest entry, and the one inserted after another; NULL: there is none.
static inline app__mooncake_kept_t *app__mooncake_oldest(const app__mooncake_keep_t *keep)
{
    return SIM_LIST_FIRST(&keep->order, app__mooncake_kept_t, link);
}
static inline app__mooncake_kept_t *app__mooncake_newer(const app__mooncake_kept_t *entry)
{
    return SIM_LIST_NEXT(entry, app__mooncake_kept_t, link);
}
void app__mooncake_keep_init(app__mooncake_keep_t *keep, uint32_t policy, uint64_t capacity);
void app__mooncake_keep_fini(app__mooncake_keep_t *keep);
// Finds an entry, which counts as a use; NULL: not there.
app__mooncake_kept_t *app__mooncake_keep_find(app__mooncake_keep_t *keep, const char *key);
// Inserts an entry whose key is not there yet. Returns the entry that was evicted for it, or NULL.
app__mooncake_kept_t *app__mooncake_keep_insert(app__mooncake_keep_t *keep,
                                                app__mooncake_kept_t *entry);
void app__mooncake_keep_pin(app__mooncake_keep_t *keep, app__mooncake_kept_t *entry, bool pinned);
// Returns whether an entry can be inserted without evicting a pinned one.
bool app__mooncake_keep_has_room(const app__mooncake_keep_t *keep);
void app__mooncake_keep_remove(app__mooncake_keep_t *keep, app__mooncake_kept_t *entry);

// -- the prefix cache (apps/mooncake/programs/prefix_cache.c)

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

#endif // APPS_MOONCAKE_PURE_H
