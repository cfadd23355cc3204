// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/rnic_cache.h - a set-associative cache of the NIC: which keys its memory holds.
//
// Only presence is modelled: a key is a number that names a context, a page, a WQE. The set is a
// hash of the key, so whoever uses a key often keeps its set. Lookup and insertion cost O(ways);
// what was used last in its set, O(1).
#ifndef NIC_DEVICE_RNIC_RNIC_CACHE_H
#define NIC_DEVICE_RNIC_RNIC_CACHE_H

#include "kernel/base.h"
#include "kernel/random.h"

SIM_C_BEGIN

typedef struct nic_cache {
    uint64_t *keys; // sets x ways, most recently used first; 0: empty
    uint64_t sets;  // at least 1
    uint64_t ways;
    bool at_random; // which way gives way: any, not the least recently used
    uint64_t state; // of the choice
    uint64_t hits;
    uint64_t misses;
} nic_cache_t;

// entries >= 1 are spread over sets of `ways`; ways > entries: one set.
void nic_cache_init(nic_cache_t *cache,
                    uint64_t entries,
                    uint64_t ways,
                    bool at_random,
                    uint64_t seed);
void nic_cache_fini(nic_cache_t *cache);
// Where the set of a key begins in cache->keys. It stays the same.
uint32_t nic_cache_set(const nic_cache_t *cache, uint64_t key);
// What is left of nic_cache_use where the key was not the one used last.
bool nic__cache_use(nic_cache_t *cache, uint64_t *set, uint64_t key);
// Puts the key (not 0) of a set in without counting; whether it was there.
static inline bool nic_cache_use(nic_cache_t *cache, uint32_t set, uint64_t key)
{
    uint64_t *const keys = &cache->keys[set];
    return SIM_LIKELY(keys[0] == key) || nic__cache_use(cache, keys, key);
}
// Whether the key (not 0) was there; it is afterwards.
bool nic_cache_touch(nic_cache_t *cache, uint64_t key);
// Puts the key in without counting; whether it was there.
bool nic_cache_insert(nic_cache_t *cache, uint64_t key);
void nic_cache_remove(nic_cache_t *cache, uint64_t key);

SIM_C_END

#endif // NIC_DEVICE_RNIC_RNIC_CACHE_H
