// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/peers/endpoint_store.h - a limited number of entries with names, one of
// which is evicted for another.
//
// Whoever inserts an entry owns it and its key. Every operation costs O(1) on average, but for the
// search for the entry to evict.
#ifndef APPS_MOONCAKE_ENGINE_PEERS_ENDPOINT_STORE_H
#define APPS_MOONCAKE_ENGINE_PEERS_ENDPOINT_STORE_H

#include "apps/mooncake_config.h"
#include "kernel/list.h"
#include "kernel/map.h"

typedef struct app__mc_stored {
    const char *key;
    sim_link_t link;
    bool visited; // found since the hand passed
    bool pinned;  // evicted only if all others are pinned, too
} app__mc_stored_t;

typedef struct app__mc_endpoint_store {
    app_mooncake_endpoint_store_t policy;
    uint64_t capacity;
    uint64_t count;
    uint64_t pinned_count;
    sim_list_t order;       // in order of insertion
    app__mc_stored_t *hand; // SIEVE: the next entry to examine; NULL: the oldest
    sim_map_t by_key;       // entries by the hash of their key
    uint64_t evictions;
} app__mc_endpoint_store_t;

void app__mc_store_init(app__mc_endpoint_store_t *store, uint32_t policy, uint64_t capacity);
void app__mc_store_fini(app__mc_endpoint_store_t *store);
// Finds an entry, which counts as a use; NULL: not there.
app__mc_stored_t *app__mc_store_find(app__mc_endpoint_store_t *store, const char *key);
// Inserts an entry whose key is not there yet. Returns the entry that was evicted for it, or NULL.
app__mc_stored_t *app__mc_store_insert(app__mc_endpoint_store_t *store, app__mc_stored_t *entry);
void app__mc_store_pin(app__mc_endpoint_store_t *store, app__mc_stored_t *entry, bool pinned);
// Returns whether an entry can be inserted without evicting a pinned one.
bool app__mc_store_has_room(const app__mc_endpoint_store_t *store);
void app__mc_store_remove(app__mc_endpoint_store_t *store, app__mc_stored_t *entry);

// Return the oldest entry, and the one inserted after another; NULL: there is none.
static inline app__mc_stored_t *app__mc_store_oldest(const app__mc_endpoint_store_t *store)
{
    return SIM_LIST_FIRST(&store->order, app__mc_stored_t, link);
}
static inline app__mc_stored_t *app__mc_store_newer(const app__mc_stored_t *entry)
{
    return SIM_LIST_NEXT(entry, app__mc_stored_t, link);
}

#endif // APPS_MOONCAKE_ENGINE_PEERS_ENDPOINT_STORE_H
