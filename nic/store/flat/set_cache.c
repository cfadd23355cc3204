// SPDX-License-Identifier: Apache-2.0
// nic/store/flat/set_cache.c - a set-associative cache: sets are short arrays whose slots say
// when they were used.
#include "nic/store/flat/set_cache.h"

// Marks the first slot of a set that has one slot less than others. Its time of use is later than
// any real use, so it is never evicted.
#define CLOSED UINT64_MAX

void nic_cache_init(nic_cache_t *cache, uint64_t entries, uint64_t ways, bool at_random,
                    uint64_t seed)
{
    SIM_CHECK(entries >= 1 && entries <= UINT32_MAX && ways >= 1);
    const uint64_t sets = (entries + ways - 1) / ways;
    const uint64_t used_ways = (entries + sets - 1) / sets;
    *cache = (nic_cache_t){
        .sets = sets,
        .ways = used_ways,
        .at_random = at_random,
        .state = seed,
    };
    cache->slots = sim_alloc_lines(sets * used_ways * sizeof(*cache->slots));
    for (uint64_t set = 0; set < sets * used_ways - entries; set++) {
        cache->slots[set * used_ways] = (nic_cache_slot_t){CLOSED, UINT64_MAX};
    }
}

void nic_cache_fini(nic_cache_t *cache)
{
    sim_free(cache->slots);
    cache->slots = NULL;
}

uint32_t nic_cache_set(const nic_cache_t *cache, uint64_t key)
{
    const uint64_t hash = sim_mix64(key * UINT64_C(0x9e3779b97f4a7c15));
    return (uint32_t)((uint64_t)(((sim_wide_t)hash * cache->sets) >> 64) * cache->ways);
}

// Returns the way of a full set whose last use has the given rank: 0 is the most recent use.
static uint64_t way_by_rank(const nic_cache_slot_t *set, uint64_t ways, uint64_t rank)
{
    for (uint64_t way = 0; way < ways; way++) {
        uint64_t later = 0;
        for (uint64_t other = 0; other < ways; other++) {
            later += set[other].used > set[way].used;
        }
        if (later == rank) {
            return way;
        }
    }
    return 0;
}

static SIM_ALWAYS_INLINE uint64_t least_recent(const nic_cache_slot_t *set, uint64_t ways)
{
    uint64_t least = 0;
    uint64_t used = set[0].used;
#pragma GCC unroll 8
    for (uint64_t way = 1; way < ways; way++) {
        const bool longer = set[way].used < used;
        least = longer ? way : least;
        used = longer ? set[way].used : used;
    }
    return least;
}

// Returns the way of a full set that is evicted. Most sets have 8 ways.
static inline uint64_t victim(nic_cache_t *cache, const nic_cache_slot_t *set)
{
    const uint64_t ways = cache->ways;
    if (SIM_UNLIKELY(cache->at_random)) {
        const uint64_t closed = set[0].key == CLOSED; // its rank is 0
        cache->state += UINT64_C(0x9e3779b97f4a7c15);
        return way_by_rank(set, ways, closed + sim_mix64(cache->state) % (ways - closed));
    }
    return SIM_LIKELY(ways == 8) ? least_recent(set, 8) : least_recent(set, ways);
}

bool nic__cache_use(nic_cache_t *cache, uint32_t *slot, uint64_t key)
{
    SIM_ASSERT(key != 0 && key != CLOSED);
    const uint32_t ways = (uint32_t)cache->ways;
    const uint32_t first = nic__cache_first(cache, *slot);
    for (uint32_t i = first; i < first + ways; i++) {
        const uint64_t there = cache->slots[i].key;
        if (there == key || there == 0) {
            cache->slots[i] = (nic_cache_slot_t){key, ++cache->clock};
            *slot = i;
            return there == key;
        }
    }
    *slot = nic__cache_take_in(cache, first, key);
    return false;
}

uint32_t nic__cache_take_in(nic_cache_t *cache, uint32_t slot, uint64_t key)
{
    const uint32_t ways = (uint32_t)cache->ways;
    const uint32_t first = nic__cache_first(cache, slot);
    nic_cache_slot_t *const set = &cache->slots[first];
    uint32_t way = 0;
    if (SIM_LIKELY(set[ways - 1].key != 0)) {
        way = (uint32_t)victim(cache, set);
    } else {
        while (set[way].key != 0) {
            way++;
        }
    }
    set[way] = (nic_cache_slot_t){key, ++cache->clock};
    return first + way;
}

bool nic_cache_insert(nic_cache_t *cache, uint64_t key)
{
    uint32_t slot = nic_cache_set(cache, key);
    return nic_cache_use(cache, &slot, key);
}

void nic_cache_remove(nic_cache_t *cache, uint64_t key)
{
    const uint32_t first = nic_cache_set(cache, key);
    const uint32_t end = first + (uint32_t)cache->ways;
    for (uint32_t slot = first; slot < end; slot++) {
        if (cache->slots[slot].key == key) {
            nic__cache_remove_at(cache, slot);
            return;
        }
    }
}
