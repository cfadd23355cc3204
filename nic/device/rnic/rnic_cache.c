// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/rnic_cache.c - a set-associative cache: sets are short arrays in the order of
// use.
#include "nic/device/rnic/rnic_cache.h"

#include <string.h>

void nic_cache_init(nic_cache_t *cache,
                    uint64_t entries,
                    uint64_t ways,
                    bool at_random,
                    uint64_t seed)
{
    SIM_CHECK(entries >= 1 && entries <= UINT32_MAX && ways >= 1);
    const uint64_t used_ways = ways < entries ? ways : entries;
    *cache = (nic_cache_t){
        .sets = entries / used_ways,
        .ways = used_ways,
        .at_random = at_random,
        .state = seed,
    };
    cache->keys = sim_alloc_lines(cache->sets * used_ways * sizeof(*cache->keys));
}

void nic_cache_fini(nic_cache_t *cache)
{
    sim_free(cache->keys);
    cache->keys = NULL;
}

uint32_t nic_cache_set(const nic_cache_t *cache, uint64_t key)
{
    __extension__ typedef unsigned __int128 wide_t;
    const uint64_t hash = sim_mix64(key * UINT64_C(0x9e3779b97f4a7c15));
    return (uint32_t)((uint64_t)(((wide_t)hash * cache->sets) >> 64) * cache->ways);
}

// Any way but an empty one gives way.
static bool use_at_random(nic_cache_t *cache, uint64_t *set, uint64_t key)
{
    uint64_t way = 1;
    while (way < cache->ways && set[way] != key) {
        way++;
    }
    const bool hit = way < cache->ways;
    if (!hit) {
        way = cache->ways - 1;
        if (set[way] != 0) { // an empty way, if there is one, is behind the used ones
            cache->state += UINT64_C(0x9e3779b97f4a7c15);
            way = sim_mix64(cache->state) % cache->ways;
        }
    }
    memmove(&set[1], &set[0], way * sizeof(*set));
    set[0] = key;
    return hit;
}

bool nic__cache_use(nic_cache_t *cache, uint64_t *set, uint64_t key)
{
    SIM_ASSERT(key != 0);
    if (SIM_UNLIKELY(cache->at_random)) {
        return use_at_random(cache, set, key);
    }
    // Each makes room for the one before it, up to where the key was, or the last one leaves.
    uint64_t before = set[0];
    set[0] = key;
    for (uint64_t way = 1; way < cache->ways; way++) {
        const uint64_t here = set[way];
        set[way] = before;
        if (here == key) {
            return true;
        }
        if (here == 0) {
            return false;
        }
        before = here;
    }
    return false;
}

bool nic_cache_insert(nic_cache_t *cache, uint64_t key)
{
    return nic_cache_use(cache, nic_cache_set(cache, key), key);
}

bool nic_cache_touch(nic_cache_t *cache, uint64_t key)
{
    const bool hit = nic_cache_insert(cache, key);
    cache->hits += hit;
    cache->misses += !hit;
    return hit;
}

void nic_cache_remove(nic_cache_t *cache, uint64_t key)
{
    uint64_t *const set = &cache->keys[nic_cache_set(cache, key)];
    for (uint64_t way = 0; way < cache->ways; way++) {
        if (set[way] == key) {
            memmove(&set[way], &set[way + 1], (cache->ways - 1 - way) * sizeof(*set));
            set[cache->ways - 1] = 0;
            return;
        }
    }
}
