// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/policy/list.c - policies whose memory is an order of slots: lru, fifo,
// sieve, random (docs/models/tiered-cache.md).
//
// SIEVE: Zhang et al., "SIEVE is Simpler than LRU", NSDI 2024: a queue in the order of coming, a
// bit that a use sets, and a hand that moves from the oldest to the newest, clears bits, and stops
// at the first slot without one.
#include "nic/cache_policy.h"

typedef struct link {
    uint32_t newer;
    uint32_t older;
} link_t;

typedef struct order {
    link_t *links; // by slot; the last one is the ring's anchor
    uint32_t anchor;
    uint32_t hand;
    bool *used;
} order_t;

static void *order_create(const nic_policy_place_t *place)
{
    SIM_CHECK(place->capacity >= 1 && place->capacity < UINT32_MAX);
    order_t *const order = sim_alloc(sizeof(*order));
    order->anchor = place->capacity;
    order->hand = place->capacity;
    order->links = sim_alloc_array((size_t)place->capacity + 1, sizeof(*order->links));
    order->used = sim_alloc_array((size_t)place->capacity + 1, sizeof(*order->used));
    order->links[order->anchor] = (link_t){order->anchor, order->anchor};
    return order;
}

static void order_destroy(void *policy)
{
    order_t *const order = policy;
    SIM_FREE_ALL(order->links, order->used, order);
}

static void push(order_t *order, uint32_t slot)
{
    const uint32_t newest = order->links[order->anchor].older;
    order->links[slot] = (link_t){.newer = order->anchor, .older = newest};
    order->links[newest].newer = slot;
    order->links[order->anchor].older = slot;
}

static void take_out(order_t *order, uint32_t slot)
{
    const link_t link = order->links[slot];
    order->links[link.older].newer = link.newer;
    order->links[link.newer].older = link.older;
}

static void order_insert(void *policy, uint32_t slot, uint32_t handle, uint64_t uses)
{
    (void)handle;
    (void)uses;
    order_t *const order = policy;
    push(order, slot);
    order->used[slot] = false;
}

static void order_remove(void *policy, uint32_t slot)
{
    order_t *const order = policy;
    if (order->hand == slot) {
        order->hand = order->links[slot].newer;
    }
    take_out(order, slot);
}

static uint32_t oldest(void *policy)
{
    const order_t *const order = policy;
    const uint32_t slot = order->links[order->anchor].newer;
    return slot == order->anchor ? NIC_POLICY_NONE : slot;
}

// -- lru

static void lru_use(void *policy, uint32_t slot, uint64_t uses)
{
    (void)uses;
    order_t *const order = policy;
    take_out(order, slot);
    push(order, slot);
}

static const nic_policy_ops_t lru = {
    .name = "lru",
    .help = "evicts the token whose last use is the longest ago",
    .installs_on_miss = true,
    .create = order_create,
    .destroy = order_destroy,
    .insert = order_insert,
    .use = lru_use,
    .victim = oldest,
    .remove = order_remove,
};

// -- fifo

static void fifo_use(void *policy, uint32_t slot, uint64_t uses)
{
    (void)policy;
    (void)slot;
    (void)uses;
}

static const nic_policy_ops_t fifo = {
    .name = "fifo",
    .help = "evicts the token that came first",
    .installs_on_miss = true,
    .create = order_create,
    .destroy = order_destroy,
    .insert = order_insert,
    .use = fifo_use,
    .victim = oldest,
    .remove = order_remove,
};

// -- sieve

static void sieve_use(void *policy, uint32_t slot, uint64_t uses)
{
    (void)uses;
    order_t *const order = policy;
    order->used[slot] = true;
}

static uint32_t sieve_victim(void *policy)
{
    order_t *const order = policy;
    if (order->links[order->anchor].newer == order->anchor) {
        return NIC_POLICY_NONE;
    }
    uint32_t slot = order->hand;
    while (slot == order->anchor || order->used[slot]) {
        order->used[slot] = false;
        slot = order->links[slot].newer;
    }
    order->hand = slot; // its removal moves the hand on
    return slot;
}

static const nic_policy_ops_t sieve = {
    .name = "sieve",
    .help = "a hand moves around the tokens and evicts the first one that was not used since its "
            "last visit",
    .installs_on_miss = true,
    .create = order_create,
    .destroy = order_destroy,
    .insert = order_insert,
    .use = sieve_use,
    .victim = sieve_victim,
    .remove = order_remove,
};

// -- random

typedef struct lot {
    sim_random_t random;
    uint32_t *slots; // those held, in any order
    uint32_t *place; // of each in slots
    uint32_t count;
} lot_t;

static void *random_create(const nic_policy_place_t *place)
{
    lot_t *const lot = sim_alloc(sizeof(*lot));
    sim_random_init(&lot->random, place->seed, 0, "cache policy random");
    lot->slots = sim_alloc_array(place->capacity, sizeof(*lot->slots));
    lot->place = sim_alloc_array(place->capacity, sizeof(*lot->place));
    return lot;
}

static void random_destroy(void *policy)
{
    lot_t *const lot = policy;
    SIM_FREE_ALL(lot->slots, lot->place, lot);
}

static void random_insert(void *policy, uint32_t slot, uint32_t handle, uint64_t uses)
{
    (void)handle;
    (void)uses;
    lot_t *const lot = policy;
    lot->place[slot] = lot->count;
    lot->slots[lot->count++] = slot;
}

static void random_remove(void *policy, uint32_t slot)
{
    lot_t *const lot = policy;
    const uint32_t last = lot->slots[--lot->count];
    lot->slots[lot->place[slot]] = last;
    lot->place[last] = lot->place[slot];
}

static uint32_t random_victim(void *policy)
{
    lot_t *const lot = policy;
    return lot->count == 0 ? NIC_POLICY_NONE
                           : lot->slots[sim_random_below(&lot->random, lot->count)];
}

static const nic_policy_ops_t at_random = {
    .name = "random",
    .help = "evicts a random token",
    .installs_on_miss = true,
    .create = random_create,
    .destroy = random_destroy,
    .insert = random_insert,
    .use = fifo_use,
    .victim = random_victim,
    .remove = random_remove,
};

extern const nic_policy_ops_t nic__policy_hybrid;
extern const nic_policy_ops_t nic__policy_lfu;
const nic_policy_ops_t *const nic_policy_all[] = {
    &nic__policy_hybrid, &lru, &nic__policy_lfu, &fifo, &sieve, &at_random, NULL};
