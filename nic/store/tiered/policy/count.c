// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/policy/count.c - policies that count uses: lfu and hybrid; Belady's bound
// (docs/models/tiered-cache.md).
//
// hybrid gives up the least score = uses + alpha x recency rank, the rank being 0 for the slot that
// was not used for longest and 1 for the last used. Up to alpha 1 that is the least used one, the
// oldest among equals (a score cannot pass that of one use more), and a heap finds it. Beyond,
// slots are looked at from the oldest on until no later one can score less.
#include "nic/cache_policy.h"

#include <string.h>

typedef struct count_slot {
    uint64_t uses;
    uint64_t stamp; // of the last use, rising
    uint32_t place; // in the heap
    uint32_t newer; // by last use
    uint32_t older;
} count_slot_t;

typedef struct counts {
    count_slot_t *slots; // all slots, and behind them the anchor of the ring
    uint32_t *heap;
    uint32_t count;
    uint32_t anchor;
    uint64_t stamp;
    sim_ratio_t alpha;
} counts_t;

static void *counts_create(const nic_policy_place_t *place)
{
    SIM_CHECK(place->capacity >= 1 && place->capacity < UINT32_MAX && place->alpha.den != 0);
    counts_t *const counts = sim_alloc(sizeof(*counts));
    counts->slots = sim_alloc_array((size_t)place->capacity + 1, sizeof(*counts->slots));
    counts->heap = sim_alloc_array(place->capacity, sizeof(*counts->heap));
    counts->anchor = place->capacity;
    counts->alpha = place->alpha;
    counts->slots[counts->anchor].newer = counts->anchor;
    counts->slots[counts->anchor].older = counts->anchor;
    return counts;
}

static void counts_destroy(void *policy)
{
    counts_t *const counts = policy;
    SIM_FREE_ALL(counts->slots, counts->heap, counts);
}

// -- the heap: least uses first, of equals the one used longest ago

static inline bool before(const counts_t *counts, uint32_t a, uint32_t b)
{
    const count_slot_t *const left = &counts->slots[a];
    const count_slot_t *const right = &counts->slots[b];
    return left->uses != right->uses ? left->uses < right->uses : left->stamp < right->stamp;
}

static void put_at(counts_t *counts, uint32_t place, uint32_t slot)
{
    counts->heap[place] = slot;
    counts->slots[slot].place = place;
}

static void sift_up(counts_t *counts, uint32_t place)
{
    const uint32_t slot = counts->heap[place];
    while (place > 0 && before(counts, slot, counts->heap[(place - 1) / 2])) {
        put_at(counts, place, counts->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put_at(counts, place, slot);
}

static void sift_down(counts_t *counts, uint32_t place)
{
    const uint32_t slot = counts->heap[place];
    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child >= counts->count) {
            break;
        }
        if (child + 1 < counts->count &&
            before(counts, counts->heap[child + 1], counts->heap[child])) {
            child++;
        }
        if (!before(counts, counts->heap[child], slot)) {
            break;
        }
        put_at(counts, place, counts->heap[child]);
        place = child;
    }
    put_at(counts, place, slot);
}

// -- the order of last uses

static void push(counts_t *counts, uint32_t slot)
{
    const uint32_t newest = counts->slots[counts->anchor].older;
    counts->slots[slot].newer = counts->anchor;
    counts->slots[slot].older = newest;
    counts->slots[newest].newer = slot;
    counts->slots[counts->anchor].older = slot;
    counts->slots[slot].stamp = ++counts->stamp;
}

static void take_out(counts_t *counts, uint32_t slot)
{
    const count_slot_t *const at = &counts->slots[slot];
    counts->slots[at->older].newer = at->newer;
    counts->slots[at->newer].older = at->older;
}

// -- operations

static void counts_insert(void *policy, uint32_t slot, uint32_t handle, uint64_t uses)
{
    (void)handle;
    counts_t *const counts = policy;
    counts->slots[slot].uses = uses;
    push(counts, slot);
    put_at(counts, counts->count++, slot);
    sift_up(counts, counts->count - 1);
}

static void counts_use(void *policy, uint32_t slot, uint64_t uses)
{
    counts_t *const counts = policy;
    take_out(counts, slot);
    push(counts, slot);
    const bool more = uses >= counts->slots[slot].uses;
    counts->slots[slot].uses = uses;
    if (more) {
        sift_down(counts, counts->slots[slot].place);
    } else {
        sift_up(counts, counts->slots[slot].place);
    }
}

static void counts_remove(void *policy, uint32_t slot)
{
    counts_t *const counts = policy;
    take_out(counts, slot);
    const uint32_t place = counts->slots[slot].place;
    const uint32_t last = counts->heap[--counts->count];
    if (last != slot) {
        put_at(counts, place, last);
        sift_up(counts, place);
        sift_down(counts, counts->slots[last].place);
    }
}

static uint32_t least_used(void *policy)
{
    const counts_t *const counts = policy;
    return counts->count == 0 ? NIC_POLICY_NONE : counts->heap[0];
}

static void counts_age(void *policy)
{
    counts_t *const counts = policy;
    for (uint32_t i = 0; i < counts->count; i++) {
        counts->slots[counts->heap[i]].uses >>= 1;
    }
    // Halving makes some counts equal; those tokens are ordered by age from now on.
    for (uint32_t i = counts->count / 2; i-- > 0;) {
        sift_down(counts, i);
    }
}

static uint32_t hybrid_victim(void *policy)
{
    const counts_t *const counts = policy;
    if (counts->count <= 1 || counts->alpha.num <= counts->alpha.den) {
        return least_used(policy);
    }
    // Scores times (count - 1) x den are whole numbers.
    const sim_wide_t use = (sim_wide_t)(counts->count - 1) * counts->alpha.den;
    const sim_wide_t least = counts->slots[counts->heap[0]].uses * use;
    sim_wide_t best_score = 0;
    uint32_t best = NIC_POLICY_NONE;
    uint64_t rank = 0;
    for (uint32_t slot = counts->slots[counts->anchor].newer; slot != counts->anchor;
         slot = counts->slots[slot].newer) {
        const sim_wide_t behind = (sim_wide_t)rank * counts->alpha.num;
        if (best != NIC_POLICY_NONE && least + behind > best_score) {
            break;
        }
        const sim_wide_t score = counts->slots[slot].uses * use + behind;
        if (best == NIC_POLICY_NONE || score < best_score ||
            (score == best_score && counts->slots[slot].uses < counts->slots[best].uses)) {
            best = slot;
            best_score = score;
        }
        rank++;
    }
    return best;
}

extern const nic_policy_ops_t nic__policy_lfu;
const nic_policy_ops_t nic__policy_lfu = {
    .name = "lfu",
    .help = "evicts the token with the fewest uses; uses while it was not in L1 count, too",
    .installs_on_miss = true,
    .remembers = true,
    .create = counts_create,
    .destroy = counts_destroy,
    .insert = counts_insert,
    .use = counts_use,
    .victim = least_used,
    .remove = counts_remove,
};

extern const nic_policy_ops_t nic__policy_hybrid;
const nic_policy_ops_t nic__policy_hybrid = {
    .name = "hybrid",
    .help = "thresholds decide which tokens are promoted; aged counts of uses, then recency, "
            "decide which token is evicted",
    .installs_on_miss = false,
    .create = counts_create,
    .destroy = counts_destroy,
    .insert = counts_insert,
    .use = counts_use,
    .victim = hybrid_victim,
    .remove = counts_remove,
    .age = counts_age,
};

const nic_policy_ops_t *nic_policy_find(const char *name)
{
    for (size_t i = 0; nic_policy_all[i] != NULL; i++) {
        if (strcmp(nic_policy_all[i]->name, name) == 0) {
            return nic_policy_all[i];
        }
    }
    return NULL;
}
