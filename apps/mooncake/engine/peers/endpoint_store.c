// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/peers/endpoint_store.c - the endpoint store of a context, with a limited
// number of endpoints (docs/models/mooncake.md).
//
// FIFO evicts the oldest entry. SIEVE (Zhang et al., "SIEVE is simpler than LRU", NSDI 2024) keeps
// the same queue, but a hand moves from the oldest towards the newest entry and evicts the first
// that was not used since the hand last passed; entries that it passes lose their mark and keep
// their place. After the newest it continues at the oldest. Both skip pinned entries, unless all
// are pinned.
#include <string.h>

#include "apps/mooncake/pure.h"

static size_t hash_of(const char *key)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *c = key; *c != '\0'; c++) {
        hash = (hash ^ (uint8_t)*c) * UINT64_C(0x100000001b3);
    }
    return (size_t)sim_mix64(hash);
}

void app__mooncake_keep_init(app__mooncake_keep_t *keep, uint32_t policy, uint64_t capacity)
{
    SIM_CHECK(capacity >= 1);
    *keep = (app__mooncake_keep_t){.policy = policy, .capacity = capacity, .table_size = 64};
    keep->table = sim_alloc_array(keep->table_size, sizeof(app__mooncake_kept_t *));
}

void app__mooncake_keep_fini(app__mooncake_keep_t *keep)
{
    sim_free(keep->table);
}

app__mooncake_kept_t *app__mooncake_keep_find(app__mooncake_keep_t *keep, const char *key)
{
    app__mooncake_kept_t *entry = keep->table[hash_of(key) & (keep->table_size - 1)];
    while (entry != NULL && strcmp(entry->key, key) != 0) {
        entry = entry->next_of_hash;
    }
    if (entry != NULL) {
        entry->visited = true;
    }
    return entry;
}

static bool may_leave(const app__mooncake_keep_t *keep, const app__mooncake_kept_t *entry)
{
    return !entry->pinned || keep->pinned_count == keep->count;
}

static app__mooncake_kept_t *leaves(app__mooncake_keep_t *keep)
{
    const bool sieve = keep->policy == APP_MOONCAKE_STORE_SIEVE;
    app__mooncake_kept_t *hand =
        sieve && keep->hand != NULL ? keep->hand : app__mooncake_oldest(keep);
    while (!may_leave(keep, hand) || (sieve && hand->visited)) {
        hand->visited = hand->visited && !may_leave(keep, hand);
        app__mooncake_kept_t *const newer = app__mooncake_newer(hand);
        hand = newer != NULL ? newer : app__mooncake_oldest(keep);
    }
    keep->hand = hand;
    return hand;
}

void app__mooncake_keep_pin(app__mooncake_keep_t *keep, app__mooncake_kept_t *entry, bool pinned)
{
    keep->pinned_count += (uint64_t)pinned - (uint64_t)entry->pinned;
    entry->pinned = pinned;
}

bool app__mooncake_keep_has_room(const app__mooncake_keep_t *keep)
{
    return keep->count < keep->capacity || keep->pinned_count < keep->count;
}

static void grow(app__mooncake_keep_t *keep)
{
    sim_free(keep->table);
    keep->table_size *= 2;
    keep->table = sim_alloc_array(keep->table_size, sizeof(app__mooncake_kept_t *));
    for (app__mooncake_kept_t *entry = app__mooncake_oldest(keep); entry != NULL;
         entry = app__mooncake_newer(entry)) {
        app__mooncake_kept_t **const head =
            &keep->table[hash_of(entry->key) & (keep->table_size - 1)];
        entry->next_of_hash = *head;
        *head = entry;
    }
}

app__mooncake_kept_t *app__mooncake_keep_insert(app__mooncake_keep_t *keep,
                                                app__mooncake_kept_t *entry)
{
    app__mooncake_kept_t *victim = NULL;
    if (keep->count == keep->capacity) {
        victim = leaves(keep);
        app__mooncake_keep_remove(keep, victim);
        keep->evictions++;
    }
    if (keep->count >= keep->table_size) {
        grow(keep);
    }
    entry->visited = false;
    sim_list_push_last(&keep->order, &entry->link);
    app__mooncake_kept_t **const head = &keep->table[hash_of(entry->key) & (keep->table_size - 1)];
    entry->next_of_hash = *head;
    *head = entry;
    keep->count++;
    return victim;
}

void app__mooncake_keep_remove(app__mooncake_keep_t *keep, app__mooncake_kept_t *entry)
{
    app__mooncake_kept_t **at = &keep->table[hash_of(entry->key) & (keep->table_size - 1)];
    while (*at != entry) {
        SIM_CHECK(*at != NULL);
        at = &(*at)->next_of_hash;
    }
    *at = entry->next_of_hash;
    app__mooncake_keep_pin(keep, entry, false);
    if (keep->hand == entry) {
        keep->hand = app__mooncake_newer(entry);
    }
    sim_list_remove(&keep->order, &entry->link);
    keep->count--;
}
