// SPDX-License-Identifier: Apache-2.0
// nic/cache_policy.h - which entry of a full L1 gives way: policies of the tiered store, by name
// and from a program of one's own (docs/models/tiered-cache.md).
//
// A policy ranks slots. The store tells it which slot was filled, used, emptied, and asks for a
// victim when it needs a slot; what is pinned is never told to it. All calls are made in the order
// of the NIC's accesses, and may not call back.
#ifndef NIC_CACHE_POLICY_H
#define NIC_CACHE_POLICY_H

#include "kernel/base.h"
#include "kernel/random.h"

SIM_C_BEGIN

#define NIC_POLICY_NONE UINT32_MAX

typedef struct nic_policy_place {
    uint32_t capacity; // slots are 0..capacity - 1
    uint64_t seed;
    sim_ratio_t alpha; // weight of the recency rank, of policies that have one
} nic_policy_place_t;

typedef struct nic_policy_ops {
    const char *name;
    const char *help;
    // Every object that missed gets a slot. False: the store's thresholds say which do
    // (nic.cache.promote-*).
    bool installs_on_miss;
    // Uses before an object had its slot count: its count is kept while it is not in L1.
    bool remembers;
    void *(*create)(const nic_policy_place_t *place);
    void (*destroy)(void *policy);
    // The slot holds this object now, which was used so often.
    void (*insert)(void *policy, uint32_t slot, uint32_t handle, uint64_t uses);
    // It was used again: so often now.
    void (*use)(void *policy, uint32_t slot, uint64_t uses);
    // The slot that is to give way; NIC_POLICY_NONE: it has none.
    uint32_t (*victim)(void *policy);
    // The slot is empty from now on.
    void (*remove)(void *policy, uint32_t slot);
    // All counts of uses were halved. NULL: they do not matter to it.
    void (*age)(void *policy);
} nic_policy_ops_t;

// "hybrid", "lru", "lfu", "fifo", "sieve", "random"; ends with NULL.
extern const nic_policy_ops_t *const nic_policy_all[];
const nic_policy_ops_t *nic_policy_find(const char *name);

// Belady's bound: how many of accesses[from..count) a cache of `capacity` equal entries that knows
// the future, and need not take everything, finds. Entries are numbers below `objects`.
// O(count log capacity).
uint64_t nic_belady_hits(const uint32_t *accesses,
                         size_t count,
                         size_t from,
                         uint32_t objects,
                         uint32_t capacity);

SIM_C_END

#endif // NIC_CACHE_POLICY_H
