// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/rules/shadow.c - miniature L1s (docs/models/tiered-cache.md).
#include "nic/store/tiered/rules/shadow.h"

// Miniatures have at least this many entries, so that chance does not decide.
#define ENTRIES_LEAST 64u
#define SAMPLE_MOST 16u

typedef struct way {
    const char *name;
    const char *policy;
} way_t;

static const way_t ways[NIC_SHADOW_WAYS] = {
    [NIC_SHADOW_RECENCY] = {"recency", "lru"},
    [NIC_SHADOW_SIEVE] = {"sieve", "sieve"},
    [NIC_SHADOW_FREQUENCY] = {"frequency", "hybrid"},
    [NIC_SHADOW_STILL] = {"still", "hybrid"},
};

const nic_policy_ops_t *nic_shadow_policy(nic_shadow_way_t way)
{
    return nic_policy_find(ways[way].policy);
}

const char *nic_shadow_name(nic_shadow_way_t way)
{
    return ways[way].name;
}

void nic_shadows_init(nic_shadows_t *shadows, uint32_t capacity, uint64_t seed)
{
    *shadows = (nic_shadows_t){.sample = 1};
    while (shadows->sample < SAMPLE_MOST && capacity / (2 * shadows->sample) >= ENTRIES_LEAST) {
        shadows->sample *= 2;
    }
    shadows->capacity = capacity / shadows->sample;
    for (uint32_t way = 0; way < NIC_SHADOW_WAYS; way++) {
        nic_shadow_t *const shadow = &shadows->ways[way];
        shadow->policy = nic_shadow_policy((nic_shadow_way_t)way);
        const nic_policy_place_t place = {shadows->capacity, seed, {1, 1}, shadow->policy};
        shadow->ranks = shadow->policy->create(&place);
        shadow->held = sim_alloc_array(shadows->capacity, sizeof(*shadow->held));
        shadow->uses = sim_alloc_array(shadows->capacity, sizeof(*shadow->uses));
    }
}

void nic_shadows_fini(nic_shadows_t *shadows)
{
    for (uint32_t way = 0; way < NIC_SHADOW_WAYS; way++) {
        nic_shadow_t *const shadow = &shadows->ways[way];
        shadow->policy->destroy(shadow->ranks);
        SIM_FREE_ALL(shadow->held, shadow->uses, shadow->slots);
    }
}

static void know(nic_shadows_t *shadows, uint32_t object)
{
    if (object < shadows->objects) {
        return;
    }
    const uint32_t objects = 2 * object + 64;
    for (uint32_t way = 0; way < NIC_SHADOW_WAYS; way++) {
        nic_shadow_t *const shadow = &shadows->ways[way];
        shadow->slots = sim_realloc_array(shadow->slots, objects, sizeof(*shadow->slots));
        for (uint32_t i = shadows->objects; i < objects; i++) {
            shadow->slots[i] = 0;
        }
    }
    shadows->objects = objects;
}

static void put(nic_shadow_t *shadow, uint32_t slot, uint32_t object, uint64_t uses)
{
    shadow->held[slot] = object;
    shadow->uses[slot] = uses;
    shadow->slots[object] = slot + 1;
    shadow->policy->insert(shadow->ranks, slot, object, uses);
}

static void miss(nic_shadow_t *shadow, nic_shadow_way_t way, uint32_t capacity, uint32_t object,
                 uint64_t uses)
{
    shadow->misses++;
    if (shadow->filled < capacity) {
        put(shadow, shadow->filled++, object, uses);
        return;
    }
    if (way == NIC_SHADOW_STILL) {
        return;
    }
    const uint32_t slot = shadow->policy->victim(shadow->ranks);
    SIM_CHECK(slot != NIC_POLICY_NONE);
    if (way == NIC_SHADOW_FREQUENCY && shadow->uses[slot] >= uses) {
        return;
    }
    shadow->moves++;
    shadow->slots[shadow->held[slot]] = 0;
    shadow->policy->remove(shadow->ranks, slot);
    put(shadow, slot, object, uses);
}

void nic_shadows_use(nic_shadows_t *shadows, uint32_t object, uint64_t uses)
{
    if (sim_mix64(object) % shadows->sample != 0) {
        return;
    }
    know(shadows, object);
    for (uint32_t way = 0; way < NIC_SHADOW_WAYS; way++) {
        nic_shadow_t *const shadow = &shadows->ways[way];
        const uint32_t slot = shadow->slots[object];
        if (slot == 0) {
            miss(shadow, (nic_shadow_way_t)way, shadows->capacity, object, uses);
        } else {
            shadow->policy->use(shadow->ranks, slot - 1, ++shadow->uses[slot - 1]);
        }
    }
}

void nic_shadows_age(nic_shadows_t *shadows)
{
    for (uint32_t way = 0; way < NIC_SHADOW_WAYS; way++) {
        nic_shadow_t *const shadow = &shadows->ways[way];
        for (uint32_t slot = 0; slot < shadow->filled; slot++) {
            shadow->uses[slot] >>= 1;
        }
        if (shadow->policy->age != NULL) {
            shadow->policy->age(shadow->ranks);
        }
    }
}

nic_shadow_way_t nic_shadows_best(nic_shadows_t *shadows, nic_shadow_way_t now, bool link_is_full,
                                  uint32_t read_lines, uint32_t write_lines)
{
    uint64_t cost[NIC_SHADOW_WAYS];
    nic_shadow_way_t best = now;
    for (uint32_t way = 0; way < NIC_SHADOW_WAYS; way++) {
        nic_shadow_t *const shadow = &shadows->ways[way];
        const uint64_t read = shadow->misses * read_lines;
        const uint64_t written = shadow->moves * write_lines;
        cost[way] = link_is_full && written > read ? written : read;
        shadow->misses /= 2;
        shadow->moves /= 2;
    }
    for (uint32_t way = 0; way < NIC_SHADOW_WAYS; way++) {
        if (cost[way] < cost[best]) {
            best = (nic_shadow_way_t)way;
        }
    }
    return cost[best] * 20 < cost[now] * 19 ? best : now;
}
