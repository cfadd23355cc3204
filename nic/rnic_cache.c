// SPDX-License-Identifier: Apache-2.0
// nic/rnic_cache.c - a set-associative cache: sets are short arrays in the order of use.
#include "nic/rnic_cache.h"

#include <string.h>

void nic_cache_init(nic_cache_t *cache,
                    uint64_t entries,
                    uint64_t ways,
                    bool at_random,
                    uint64_t seed)
{
    SIM_CHECK(entries >= 1 && ways >= 1);
    const uint64_t used_ways = ways < entries ? ways : entries;
    *cache = (nic_cache_t){
        .sets = entries / used_ways,
        .ways = used_ways,
        .at_random = at_random,
        .state = seed,
    };
    cache->keys = sim_alloc_array(cache->sets * used_ways, sizeof(*cache->keys));
}

void nic_cache_fini(nic_cache_t *cache)
{
    sim_free(cache->keys);
    cache->keys = NULL;
}

static uint64_t *set_of(const nic_cache_t *cache, uint64_t key)
{
    __extension__ typedef unsigned __int128 wide_t;
    const uint64_t hash = sim_mix64(key * UINT64_C(0x9e3779b97f4a7c15));
    return &cache->keys[(uint64_t)(((wide_t)hash * cache->sets) >> 64) * cache->ways];
}

static uint64_t victim(nic_cache_t *cache, const uint64_t *set)
{
    const uint64_t last = cache->ways - 1;
    if (!cache->at_random || set[last] == 0) {
        return last; // an empty way, if there is one, is behind the used ones
    }
    cache->state += UINT64_C(0x9e3779b97f4a7c15);
    return sim_mix64(cache->state) % cache->ways;
}

bool nic_cache_insert(nic_cache_t *cache, uint64_t key)
{
    SIM_ASSERT(key != 0);
    uint64_t *const set = set_of(cache, key);
    if (SIM_LIKELY(set[0] == key)) {
        return true;
    }
    uint64_t way = 1;
    while (way < cache->ways && set[way] != key) {
        way++;
    }
    const bool hit = way < cache->ways;
    if (!hit) {
        way = victim(cache, set);
    }
    memmove(&set[1], &set[0], way * sizeof(*set));
    set[0] = key;
    return hit;
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
    uint64_t *const set = set_of(cache, key);
    for (uint64_t way = 0; way < cache->ways; way++) {
        if (set[way] == key) {
            memmove(&set[way], &set[way + 1], (cache->ways - 1 - way) * sizeof(*set));
            set[cache->ways - 1] = 0;
            return;
        }
    }
}
