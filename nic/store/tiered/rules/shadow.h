// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/rules/shadow.h - miniature L1s that hold no data: each tries one way to choose
// what L1 takes in and gives up, on a sample of the tokens (docs/models/tiered-cache.md).
//
// Waldspurger et al., "Cache modeling and optimization using miniature simulations", USENIX ATC
// 2017: a cache of 1/n of the entries that sees 1/n of the objects has the hit rate of the whole.
#ifndef NIC_STORE_TIERED_RULES_SHADOW_H
#define NIC_STORE_TIERED_RULES_SHADOW_H

#include "nic/cache_policy.h"

SIM_C_BEGIN

// The ways, from the one that moves most to the one that moves least.
typedef enum nic_shadow_way {
    NIC_SHADOW_RECENCY,   // takes everything in; what was not used for longest gives way
    NIC_SHADOW_SIEVE,     // takes everything in; a hand chooses
    NIC_SHADOW_FREQUENCY, // takes in what is used more often than what gives way
    NIC_SHADOW_STILL,     // takes nothing in where something must give way
    NIC_SHADOW_WAYS
} nic_shadow_way_t;

typedef struct nic_shadow {
    const nic_policy_ops_t *policy;
    void *ranks;
    uint32_t *held;  // object by slot; NIC_POLICY_NONE: free
    uint64_t *uses;  // of what is held
    uint32_t *slots; // by object + 1 as far as it is known; 0: not held, else slot + 1
    uint32_t filled;
    uint64_t misses;
    uint64_t moves; // objects taken in where another one had to give way
} nic_shadow_t;

typedef struct nic_shadows {
    nic_shadow_t ways[NIC_SHADOW_WAYS];
    uint32_t capacity; // of each
    uint32_t sample;   // one object in this many is seen
    uint32_t objects;  // size of the arrays by object
} nic_shadows_t;

// Initialises miniatures of an L1 of `capacity` entries.
void nic_shadows_init(nic_shadows_t *shadows, uint32_t capacity, uint64_t seed);
void nic_shadows_fini(nic_shadows_t *shadows);
const nic_policy_ops_t *nic_shadow_policy(nic_shadow_way_t way);
const char *nic_shadow_name(nic_shadow_way_t way);
// Shows an access to them. `uses`: of the object within the window.
void nic_shadows_use(nic_shadows_t *shadows, uint32_t object, uint64_t uses);
void nic_shadows_age(nic_shadows_t *shadows); // all counts of uses were halved
// Returns the way that costs least, or `now` if no other is 5 % cheaper, and halves all counts of
// misses. The cost is the number of misses; where the link is full, it is the time that the busier
// direction of the link takes: read_lines for a miss, write_lines for a move.
nic_shadow_way_t nic_shadows_best(nic_shadows_t *shadows, nic_shadow_way_t now, bool link_is_full,
                                  uint32_t read_lines, uint32_t write_lines);

SIM_C_END

#endif // NIC_STORE_TIERED_RULES_SHADOW_H
