// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/peers/endpoint_store.c - the endpoint store of a context, with a limited
// number of endpoints (docs/models/mooncake.md).
//
// FIFO evicts the oldest entry. SIEVE (Zhang et al., "SIEVE is simpler than LRU", NSDI 2024) keeps
// the same queue, but a hand moves from the oldest towards the newest entry and evicts the first
// that was not used since the hand last passed; entries that it passes lose their mark and keep
// their place. After the newest it continues at the oldest. Both skip pinned entries, unless all
// are pinned.
#include "apps/mooncake/engine/peers/endpoint_store.h"

#include <string.h>

static uint64_t hash_of(const char *key)
{
    return sim_map_hash(key, strlen(key));
}

void app__mc_store_init(app__mc_endpoint_store_t *store, uint32_t policy, uint64_t capacity)
{
    SIM_CHECK(capacity >= 1);
    *store = (app__mc_endpoint_store_t){.policy = policy, .capacity = capacity};
}

void app__mc_store_fini(app__mc_endpoint_store_t *store)
{
    sim_map_fini(&store->by_key);
}

app__mc_stored_t *app__mc_store_find(app__mc_endpoint_store_t *store, const char *key)
{
    SIM_MAP_EACH (value, &store->by_key, hash_of(key)) {
        app__mc_stored_t *const entry = (app__mc_stored_t *)(uintptr_t)value;
        if (strcmp(entry->key, key) == 0) {
            entry->visited = true;
            return entry;
        }
    }
    return NULL;
}

static bool may_leave(const app__mc_endpoint_store_t *store, const app__mc_stored_t *entry)
{
    return !entry->pinned || store->pinned_count == store->count;
}

// Returns the entry to evict.
static app__mc_stored_t *victim_of(app__mc_endpoint_store_t *store)
{
    const bool sieve = store->policy == APP_MOONCAKE_STORE_SIEVE;
    app__mc_stored_t *hand =
        sieve && store->hand != NULL ? store->hand : app__mc_store_oldest(store);
    SIM_CHECK(hand != NULL); // a full store has entries
    while (!may_leave(store, hand) || (sieve && hand->visited)) {
        hand->visited = hand->visited && !may_leave(store, hand);
        app__mc_stored_t *const newer = app__mc_store_newer(hand);
        hand = newer != NULL ? newer : app__mc_store_oldest(store);
        SIM_CHECK(hand != NULL);
    }
    store->hand = hand;
    return hand;
}

void app__mc_store_pin(app__mc_endpoint_store_t *store, app__mc_stored_t *entry, bool pinned)
{
    store->pinned_count += (uint64_t)pinned - (uint64_t)entry->pinned;
    entry->pinned = pinned;
}

bool app__mc_store_has_room(const app__mc_endpoint_store_t *store)
{
    return store->count < store->capacity || store->pinned_count < store->count;
}

app__mc_stored_t *app__mc_store_insert(app__mc_endpoint_store_t *store, app__mc_stored_t *entry)
{
    app__mc_stored_t *victim = NULL;
    if (store->count == store->capacity) {
        victim = victim_of(store);
        app__mc_store_remove(store, victim);
        store->evictions++;
    }
    entry->visited = false;
    sim_list_push_last(&store->order, &entry->link);
    sim_map_add(&store->by_key, hash_of(entry->key), (uint64_t)(uintptr_t)entry);
    store->count++;
    return victim;
}

void app__mc_store_remove(app__mc_endpoint_store_t *store, app__mc_stored_t *entry)
{
    const bool found =
        sim_map_remove(&store->by_key, hash_of(entry->key), (uint64_t)(uintptr_t)entry);
    SIM_CHECK(found);
    app__mc_store_pin(store, entry, false);
    if (store->hand == entry) {
        store->hand = app__mc_store_newer(entry);
    }
    sim_list_remove(&store->order, &entry->link);
    store->count--;
}
