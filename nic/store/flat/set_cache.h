// SPDX-License-Identifier: Apache-2.0
// nic/store/flat/set_cache.h - a set-associative cache of the NIC: which keys its memory holds.
//
// Only presence is modelled: a key is a number that names a context, a page, a WQE. The set is a
// hash of the key. A key stays in the slot that it came into until it leaves, so whoever uses a key
// often keeps that: finding it there costs O(1), finding or inserting it elsewhere O(ways).
#ifndef NIC_STORE_FLAT_SET_CACHE_H
#define NIC_STORE_FLAT_SET_CACHE_H

#include "kernel/base.h"
#include "kernel/random.h"

SIM_C_BEGIN

typedef struct nic_cache_slot {
    uint64_t key;  // 0: empty, as are those behind it in its set
    uint64_t used; // when: of two, the later one has more
} nic_cache_slot_t;

typedef struct nic_cache {
    nic_cache_slot_t *slots; // sets x ways
    uint64_t clock;          // of `used`
    uint64_t sets;           // at least 1
    uint64_t ways;
    bool at_random; // which way gives way: any, not the least recently used
    uint64_t state; // of the choice
    uint64_t hits;
    uint64_t misses;
} nic_cache_t;

// Initialises a cache of `entries` >= 1 slots in the fewest sets of at most `ways` slots. If the
// number does not divide, some sets have one slot less. ways > entries makes one set.
void nic_cache_init(nic_cache_t *cache, uint64_t entries, uint64_t ways, bool at_random,
                    uint64_t seed);
void nic_cache_fini(nic_cache_t *cache);
// Returns the first slot of a key's set, the place to look if nothing else is known.
uint32_t nic_cache_set(const nic_cache_t *cache, uint64_t key);
static inline uint32_t nic__cache_first(const nic_cache_t *cache, uint32_t slot) // of its set
{
    const uint32_t ways = (uint32_t)cache->ways;
    return SIM_LIKELY((ways & (ways - 1)) == 0) ? slot & ~(ways - 1) : slot - slot % ways;
}
// Completes nic_cache_use if the key was not in the expected slot.
bool nic__cache_use(nic_cache_t *cache, uint32_t *slot, uint64_t key);
// Puts a key (not 0) in without counting; whether it was there. *slot is any slot of its set, best
// the one where it was last; afterwards it is the one where it is.
static inline bool nic_cache_use(nic_cache_t *cache, uint32_t *slot, uint64_t key)
{
    nic_cache_slot_t *const here = &cache->slots[*slot];
    if (SIM_LIKELY(here->key == key)) {
        here->used = ++cache->clock;
        return true;
    }
    return nic__cache_use(cache, slot, key);
}
// Puts a key in, which may be there, by the first slot of its set; returns where it is.
static inline uint32_t nic__cache_put(nic_cache_t *cache, uint32_t first, uint64_t key)
{
    nic_cache_slot_t *const here = &cache->slots[first];
    if (here->key == key || here->key == 0) {
        *here = (nic_cache_slot_t){key, ++cache->clock};
        return first;
    }
    (void)nic__cache_use(cache, &first, key);
    return first;
}
// Puts a key in that is not there. slot is any of its set; returns where it is.
uint32_t nic__cache_take_in(nic_cache_t *cache, uint32_t slot, uint64_t key);
// Puts the key in without counting; whether it was there.
bool nic_cache_insert(nic_cache_t *cache, uint64_t key);
void nic_cache_remove(nic_cache_t *cache, uint64_t key);
// Removes the key from a slot that holds one.
static inline void nic__cache_remove_at(nic_cache_t *cache, uint32_t slot)
{
    nic_cache_slot_t *const slots = cache->slots;
    const uint32_t ways = (uint32_t)cache->ways;
    const uint32_t end = nic__cache_first(cache, slot) + ways;
    uint32_t last = slot; // fills the gap
    while (last + 1 < end && slots[last + 1].key != 0) {
        last++;
    }
    slots[slot] = slots[last];
    slots[last] = (nic_cache_slot_t){0, 0};
}

SIM_C_END

#endif // NIC_STORE_FLAT_SET_CACHE_H
