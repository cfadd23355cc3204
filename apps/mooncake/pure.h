// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/pure.h - the parts of the engine that know neither time nor network:
// slicing, choice of NICs, which endpoints stay, which blocks of a prompt are cached, traces.
#ifndef APPS_MOONCAKE_PURE_H
#define APPS_MOONCAKE_PURE_H

#include "apps/mooncake.h"
#include "apps/mooncake/engine/chain.h"

// -- slices (apps/mooncake/engine/slice.c)

// Slices of slice_bytes; a tail shorter than fragment_bytes joins the last of them.
uint64_t app__mooncake_slice_count(uint64_t length, uint64_t slice_bytes, uint64_t fragment_bytes);
uint64_t app__mooncake_slice_length(uint64_t length,
                                    uint64_t slice_bytes,
                                    uint64_t fragment_bytes,
                                    uint64_t index);

// How many NICs the two lists of a location name.
typedef struct app__mooncake_choice {
    uint32_t preferred;
    uint32_t available;
} app__mooncake_choice_t;
// Position of a NIC in the two lists, one behind the other: the first time any of the first list
// (of the second, where the first is empty); at each retry another one than before, the rest of the
// first list before the second. `first` is what the first time gave.
uint32_t app__mooncake_choose(const app__mooncake_choice_t *choice,
                              uint32_t retry,
                              uint64_t random,
                              uint32_t first);
// Which NIC of its host a name means: the number it ends with.
bool app__mooncake_nic_index(const char *name, uint32_t *index);

const app_mooncake_priority_t *app__mooncake_priority(const app_mooncake_matrix_t *matrix,
                                                      const char *location);
void app__mooncake_matrix_copy(app_mooncake_matrix_t *to, const app_mooncake_matrix_t *from);
void app__mooncake_buffer_fini(app_mooncake_buffer_t *buffer);
// The buffer that holds all of the range; NULL: none does.
const app_mooncake_buffer_t *app__mooncake_buffer_of(const app_mooncake_segment_desc_t *desc,
                                                     uint64_t address,
                                                     uint64_t length);

// -- which endpoints a context keeps (apps/mooncake/engine/keep.c)

// An entry is owned by whoever put it in, as is its key.
typedef struct app__mooncake_kept app__mooncake_kept_t;
struct app__mooncake_kept {
    const char *key;
    app__mc_link_t link;
    app__mooncake_kept_t *next_of_hash;
    bool visited; // since the hand came by
    bool pinned;  // leaves only when all others are pinned, too
};

typedef struct app__mooncake_keep {
    uint32_t policy; // app_mooncake_endpoint_store_t
    uint64_t capacity;
    uint64_t count;
    uint64_t pinned_count;
    app__mc_chain_t order; // of insertion
    app__mc_link_t *hand;  // SIEVE: who is looked at next; NULL: the oldest
    app__mooncake_kept_t **table;
    size_t table_size; // a power of two
    uint64_t evictions;
} app__mooncake_keep_t;

// NULL: none.
static inline app__mooncake_kept_t *app__mooncake_kept_of(app__mc_link_t *link)
{
    return link == NULL ? NULL : SIM_CONTAINER_OF(link, app__mooncake_kept_t, link);
}
static inline app__mooncake_kept_t *app__mooncake_oldest(const app__mooncake_keep_t *keep)
{
    return app__mooncake_kept_of(keep->order.oldest);
}
static inline app__mooncake_kept_t *app__mooncake_newer(const app__mooncake_kept_t *entry)
{
    return app__mooncake_kept_of(entry->link.newer);
}
void app__mooncake_keep_init(app__mooncake_keep_t *keep, uint32_t policy, uint64_t capacity);
void app__mooncake_keep_fini(app__mooncake_keep_t *keep);
// NULL: not there. Finding counts as use.
app__mooncake_kept_t *app__mooncake_keep_find(app__mooncake_keep_t *keep, const char *key);
// The key is not there yet. Returns who has to leave for it and is no longer in, or NULL.
app__mooncake_kept_t *app__mooncake_keep_insert(app__mooncake_keep_t *keep,
                                                app__mooncake_kept_t *entry);
void app__mooncake_keep_pin(app__mooncake_keep_t *keep, app__mooncake_kept_t *entry, bool pinned);
// Whether another entry can come without one that is pinned leaving.
bool app__mooncake_keep_has_room(const app__mooncake_keep_t *keep);
void app__mooncake_keep_remove(app__mooncake_keep_t *keep, app__mooncake_kept_t *entry);

// -- which blocks are cached (apps/mooncake/programs/prefix.c)

typedef enum app__mooncake_policy {
    APP__MOONCAKE_LRU,    // the block used longest ago leaves
    APP__MOONCAKE_LFU,    // used least often; among equals the one used longest ago
    APP__MOONCAKE_LENGTH, // as lfu, but among equals the one furthest back in its prompt
} app__mooncake_policy_t;

#define APP__MOONCAKE_UNLIMITED UINT64_MAX

// Blocks by hash id, at most `capacity` different ones. Each has a slot, a number below the most
// blocks there have ever been at a time, and copies at some of `places` places.
typedef struct app__mooncake_prefix app__mooncake_prefix_t;
app__mooncake_prefix_t *app__mooncake_prefix_create(uint32_t policy,
                                                    uint64_t capacity_blocks,
                                                    uint32_t places);
void app__mooncake_prefix_destroy(app__mooncake_prefix_t *prefix);
// How many of the leading blocks are there. Changes nothing.
size_t app__mooncake_prefix_match(const app__mooncake_prefix_t *prefix,
                                  const uint64_t *ids,
                                  size_t count);
// All blocks in order, newest last: those that are there are used once more, the others come in,
// each of them after another one left if there was no room. From now on `place` has a copy of each
// that is there, until it leaves.
void app__mooncake_prefix_insert(app__mooncake_prefix_t *prefix,
                                 const uint64_t *ids,
                                 size_t count,
                                 uint32_t place);
// The slot of a block that is there.
bool app__mooncake_prefix_slot(const app__mooncake_prefix_t *prefix, uint64_t id, uint64_t *slot);
// Whether the place has a copy of the block in that slot.
bool app__mooncake_prefix_has(const app__mooncake_prefix_t *prefix, uint64_t slot, uint32_t place);
uint64_t app__mooncake_prefix_blocks(const app__mooncake_prefix_t *prefix);
uint64_t app__mooncake_prefix_evictions(const app__mooncake_prefix_t *prefix);
// Slots handed out so far: none is this or above.
uint64_t app__mooncake_prefix_slots(const app__mooncake_prefix_t *prefix);

// -- traces (apps/mooncake/programs/trace.c)

typedef struct app__mooncake_prompt {
    uint64_t timestamp_ms;
    sim_time_t timestamp_rest_ps; // below 1 ms
    uint64_t input_tokens;
    uint64_t output_tokens;
    size_t first_id; // in ids
    size_t id_count;
} app__mooncake_prompt_t;

typedef struct app__mooncake_trace {
    app__mooncake_prompt_t *prompts;
    size_t count;
    size_t capacity;
    uint64_t *ids;
    size_t id_count;
    size_t id_capacity;
    size_t late; // prompts whose timestamp was before that of one above
} app__mooncake_trace_t;

// A JSON object a line, with timestamp (ms, or 12.5), input_length, output_length and hash_ids
// (below 2^64, in any order, perhaps more than once); other members are passed over, as are empty
// lines. At most prompts_max of them. Timestamps that fall are raised to the highest above them, so
// that prompts stay in the order of the trace. The message begins "NAME:LINE:COLUMN: ".
SIM_MUST_CHECK sim_err_t app__mooncake_trace_read(const char *name,
                                                  const char *text,
                                                  size_t size,
                                                  uint64_t prompts_max,
                                                  app__mooncake_trace_t *trace,
                                                  sim_message_t *message);
void app__mooncake_trace_fini(app__mooncake_trace_t *trace);

#endif // APPS_MOONCAKE_PURE_H
