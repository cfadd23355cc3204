// SPDX-License-Identifier: Apache-2.0
// nic/cache_policy.h - policies of the tiered store, by name and from a program of one's own: which
// entry a full L1 evicts (docs/models/tiered-cache.md).
//
// A policy ranks slots. The store reports to it which slot was filled, used or emptied, and asks
// for a victim when it needs a slot; it never reports pinned slots. All calls are made in the order
// of the NIC's accesses, and may not call back.
#ifndef NIC_CACHE_POLICY_H
#define NIC_CACHE_POLICY_H

#include "kernel/base.h"
#include "kernel/random.h"

SIM_C_BEGIN

#define NIC_POLICY_NONE UINT32_MAX

typedef struct nic_policy_ops nic_policy_ops_t;

typedef struct nic_policy_place {
    uint32_t capacity; // slots are 0..capacity - 1
    uint64_t seed;
    sim_ratio_t alpha;           // weight of the recency rank, of policies that have one
    const nic_policy_ops_t *ops; // of the policy that is created
} nic_policy_place_t;

struct nic_policy_ops {
    const char *name;
    const char *help;
    // True: every object that missed gets a slot. False: the store's thresholds say which do
    // (nic.cache.promote.*).
    bool installs_on_miss;
    // True: uses before an object had its slot count too: its count is kept while it is not in L1.
    bool remembers;
    void *(*create)(const nic_policy_place_t *place);
    void (*destroy)(void *policy);
    // Called when the slot was filled with this object, which was used `uses` times.
    void (*insert)(void *policy, uint32_t slot, uint32_t handle, uint64_t uses);
    // Called when the object in the slot was used again, `uses` times now.
    void (*use)(void *policy, uint32_t slot, uint64_t uses);
    // Returns the slot to evict, or NIC_POLICY_NONE if the policy has none.
    uint32_t (*victim)(void *policy);
    // Called when the slot was emptied.
    void (*remove)(void *policy, uint32_t slot);
    // Called when all counts of uses were halved. NULL: they do not matter to the policy.
    void (*age)(void *policy);
};

// The library's policies: "hybrid", "lru", "lfu", "fifo", "sieve", "random"; ends with NULL.
extern const nic_policy_ops_t *const nic_policy_all[];
const nic_policy_ops_t *nic_policy_find(const char *name);

// Returns Belady's bound: the hits among accesses[from..count) of a cache of `capacity` equal
// entries that knows the future, and need not take everything. Entries are numbers below `objects`.
// O(count log capacity).
uint64_t nic_belady_hits(const uint32_t *accesses, size_t count, size_t from, uint32_t objects,
                         uint32_t capacity);

SIM_C_END

#endif // NIC_CACHE_POLICY_H
