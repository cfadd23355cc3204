// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/lookup.h - looks contexts, WQEs, keys and pages up in a detailed NIC's caches.
#ifndef NIC_DEVICE_RNIC_LOOKUP_H
#define NIC_DEVICE_RNIC_LOOKUP_H

#include "nic/device/rnic/rnic.h"

// A cost: how long an operation occupies its side of the NIC, and from when on its data are there.
typedef struct nic_cost {
    sim_time_t stall_ps;
    sim_time_t ready_ps;
} nic_cost_t;
// Completes a look-up whose key was not in the expected slot.
nic_cost_t nic__rnic_look_further(nic_rnic_t *rnic, uint32_t cache, uint32_t *slot, uint64_t key,
                                  nic_cost_t cost);
// Looks a key up, first in *slot, which becomes where it is, and adds to the cost.
static SIM_ALWAYS_INLINE nic_cost_t nic__rnic_lookup(nic_rnic_t *rnic, uint32_t cache,
                                                     uint32_t *slot, uint64_t key, nic_cost_t cost)
{
    nic_cache_t *const held = rnic->held[cache];
    nic_cache_slot_t *const here = &held->slots[*slot];
    if (SIM_LIKELY(here->key == key)) {
        here->used = ++held->clock;
        rnic->caches[cache].hits++;
        return cost;
    }
    return nic__rnic_look_further(rnic, cache, slot, key, cost);
}
// Returns a slot of a WQE's set, if possible the one that holds the WQE. The WQE is on the NIC.
static inline uint32_t nic__rnic_wqe_slot(const nic_rnic_t *rnic, const nic_wqe_t *wqe,
                                          uint64_t key)
{
    return SIM_LIKELY(rnic->wqes_know) ? wqe->device_slot
                                       : nic_cache_set(rnic->held[NIC_STORE_WQE], key);
}
static inline nic_cost_t nic__rnic_lookup_wqe(nic_rnic_t *rnic, const nic_qp_t *qp, nic_wqe_t *wqe,
                                              uint32_t index, nic_cost_t cost)
{
    const uint64_t key = nic__cache_key(NIC_STORE_WQE, nic__wqe_key(qp, index));
    uint32_t slot = nic__rnic_wqe_slot(rnic, wqe, key);
    cost = nic__rnic_lookup(rnic, NIC_STORE_WQE, &slot, key, cost);
    wqe->device_slot = (uint16_t)slot;
    return cost;
}
nic_cost_t nic__rnic_look_up_key(nic_rnic_t *rnic, uint32_t key, nic_cost_t cost);
// Looks up key and page of an address. key 0: uses the key of the look-up before.
static inline nic_cost_t nic__rnic_translate(nic_rnic_t *rnic, uint32_t key, uint64_t address,
                                             nic_cost_t cost)
{
    if (SIM_UNLIKELY(rnic->looks_up_keys) && key != 0) {
        cost = nic__rnic_look_up_key(rnic, key, cost);
    }
    const uint64_t page = address >> rnic->page_shift;
    const uint64_t name = nic__cache_key(NIC_STORE_TRANSLATION, page);
    nic_page_place_t *const place = &rnic->pages[page % NIC_PAGES_KNOWN];
    if (SIM_UNLIKELY(place->key != name)) {
        *place = (nic_page_place_t){name, nic_cache_set(rnic->held[NIC_STORE_TRANSLATION], name)};
    }
    return nic__rnic_lookup(rnic, NIC_STORE_TRANSLATION, &place->slot, name, cost);
}
typedef enum nic_side { NIC_SIDE_SEND, NIC_SIDE_RECEIVE } nic_side_t;
static inline uint64_t nic__context_key(uint32_t number, nic_side_t side)
{
    return nic__cache_key(NIC_STORE_CONTEXT, (uint64_t)number << 1 | side);
}
// Looks up a context that the flat cache does not have, or that belongs to no queue pair.
nic_cost_t nic__rnic_context_elsewhere(nic_rnic_t *rnic, const nic_qp_t *qp, uint32_t number,
                                       nic_side_t side, bool begins, nic_cost_t cost);
// Looks up the context of a queue pair for one side of the NIC. qp may be NULL.
static SIM_ALWAYS_INLINE nic_cost_t nic__rnic_context(nic_rnic_t *rnic, const nic_qp_t *qp,
                                                      uint32_t number, nic_side_t side,
                                                      bool begins, // an operation does
                                                      nic_cost_t cost)
{
    if (SIM_UNLIKELY(qp == NULL)) {
        return nic__rnic_context_elsewhere(rnic, qp, number, side, begins, cost);
    }
    nic_rnic_qp_t *const state = nic__rnic_qp(qp);
    if (SIM_LIKELY(state->contexts == NIC_CONTEXTS_NEAR)) {
        // Only this code inserts the key, so if it is not in its last slot, it is not cached.
        nic_cache_t *const near = &rnic->near[side];
        nic_cache_slot_t *const slot = &near->slots[state->near_slot[side]];
        if (SIM_LIKELY(slot->key == number)) {
            slot->used = ++near->clock;
        } else {
            cost.stall_ps += rnic->detail.near_stall_ps;
            state->near_slot[side] =
                (uint16_t)nic__cache_take_in(near, state->near_slot[side], number);
        }
    } else if (SIM_UNLIKELY(state->contexts == NIC_CONTEXTS_ELSEWHERE)) {
        return nic__rnic_context_elsewhere(rnic, qp, number, side, begins, cost);
    }
    return nic__rnic_lookup(rnic, NIC_STORE_CONTEXT, &state->context_slot[side],
                            nic__context_key(number, side), cost);
}

#endif // NIC_DEVICE_RNIC_LOOKUP_H
