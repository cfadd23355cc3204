// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/rnic.h - the inside of a detailed NIC, and where the protocol of nic/
// calls it.
//
//     sending                                       receiving
//     nic__rnic_post       MMIO or Doorbell         nic__rnic_arrive      into the receive buffer
//       item on its way    lines, or a DMA read       processing unit     costs and cache misses
//       processing unit    costs and cache misses   nic_device_receive    the protocol's turn
//       payload            a DMA read               nic__rnic_payload     a DMA write
//     make_ready           the WQE may be sent      nic__rnic_cqe         a DMA write, seen later
//     nic__rnic_sent       next packet's payload    nic__rnic_respond     a DMA read, then sent
//
// A processing unit serves its queue in order. When it begins with something it books all that this
// needs, at that moment: its own time, the side of the NIC that all units share, PCIe. Every such
// server is a time until which it is busy, so one event ends the service, whatever it took.
#ifndef NIC_DEVICE_RNIC_RNIC_H
#define NIC_DEVICE_RNIC_RNIC_H

#include "nic/device_view_internal.h"
#include "nic/iommu.h"
#include "nic/pcie.h"
#include "nic/store.h"
#include "nic/store/flat/set_cache.h"

typedef enum nic_item_kind {
    NIC_ITEM_DOORBELL, // on its way to the NIC
    NIC_ITEM_WQE,      // WQEs on their way into the queue of their processing unit, or in it
    NIC_ITEM_READY,    // a WQE whose payload is on its way
    NIC_ITEM_SEGMENT,  // the payload of the next packet of a message
    NIC_ITEM_RESPONSE, // the data of a READ or atomic to be answered
    NIC_ITEM_ANSWER,   // an ACK or NAK that waits for the sending side
    NIC_ITEM_CQE,      // a CQE on its way to a queue that nobody polls
    NIC_ITEM_WRITE,    // a WRITE on its way to memory that someone looks at
    NIC_ITEM_COMING,   // a look at the WQEs that come by MMIO; one for each NIC
} nic_item_kind_t;

typedef struct nic_item {
    // Cache line 0: the fields for WQEs and for data that are sent.
    _Alignas(SIM_CACHE_LINE) nic_t *nic;
    union {
        nic_step_t step;
        struct { // while it is in a list instead
            struct nic_item *next;
            sim_time_t arrives_ps; // WQEs written by MMIO
            uint32_t set;          // set of the cache for the first of these WQEs
        };
    };
    nic_qp_t *qp;   // NULL: it was destroyed or reset
    uint32_t first; // WQE
    uint32_t count;
    uint8_t kind; // nic_item_kind_t
    bool fetched; // by Doorbell
    uint16_t lap; // of the send queue of its QP

    _Alignas(SIM_CACHE_LINE) sim_timer_t timer; // where its step has no lane
    nic_cq_t *cq;
    union {
        nic_wc_t wc;
        uint64_t address;     // of a WRITE
        net_packet_t *packet; // an ACK or NAK
    };
} nic_item_t;
static_assert(offsetof(nic_item_t, timer) == SIM_CACHE_LINE, "one line of an item is in use");

// The number of items that are allocated at a time.
#define NIC_ITEM_BLOCK 64u
typedef struct nic_item_block {
    struct nic_item_block *next;
    nic_item_t items[NIC_ITEM_BLOCK];
} nic_item_block_t;

// A processing unit of the sending side. The fields of every step come first.
typedef struct nic_tx_unit {
    _Alignas(SIM_CACHE_LINE) nic_step_t step;
    nic_t *nic;
    nic_item_t *head;
    sim_time_t here_ps; // the WQE being served is on the NIC
    bool busy;
    bool carries; // that WQE has a payload to be read

    nic_item_t *tail;
    sim_timer_t timer; // where the step has no lane, or its time is not known
} nic_tx_unit_t;

// A processing unit of the receiving side.
typedef struct nic_rx_unit {
    _Alignas(SIM_CACHE_LINE) nic_step_t step;
    nic_t *nic;
    net_packet_t *head;
    nic_qp_t *qp; // of the packet being served; NULL: none, or gone
    bool busy;
    uint8_t kind; // of that packet

    sim_time_t here_ps; // the WQE that it answers is on the NIC
    net_packet_t *tail;
    sim_timer_t timer;
} nic_rx_unit_t;

typedef enum nic_packet_class {
    NIC_IS_SEND,
    NIC_IS_WRITE,
    NIC_IS_READ,
    NIC_IS_ATOMIC,
    NIC_IS_RESPONSE,
    NIC_IS_ACK, // NAK, CNP
    NIC_PACKET_CLASS_COUNT
} nic_packet_class_t;

// Kinds that have a flat cache; protection domains have none.
#define NIC_CACHE_COUNT 5u
static_assert(NIC_STORE_KEY + 1 == NIC_CACHE_COUNT, "kinds with a cache come first");

// Pages whose place in the cache of translations is known.
#define NIC_PAGES_KNOWN 8u
typedef struct nic_page_place {
    uint64_t key; // 0: none
    uint32_t slot;
} nic_page_place_t;

// The place of a queue pair's contexts.
typedef enum nic_contexts {
    NIC_CONTEXTS_NEAR, // in the flat cache, and next to the units: of a reliable connection
    NIC_CONTEXTS_FLAT, // in the flat cache
    NIC_CONTEXTS_ELSEWHERE,
} nic_contexts_t;

// The detailed NIC's state of a queue pair. It lies in memory directly before the nic_qp_t.
typedef struct nic_rnic_qp {
    _Alignas(SIM_CACHE_LINE) nic_item_t *early; // WQEs here before others posted sooner, by index
    sim_time_t ready_ps;                        // of the last WQE with a payload on its way
    sim_time_t response_ps;                     // of the last READ to be answered
    nic_item_t *waiting;                        // its WQEs in the queue of its processing unit
    net_packet_t *waiting_packet;               // its last packet there
    uint32_t sq_ready;                          // end of the WQEs that are through the NIC
    uint32_t sq_here;         // end of the WQEs that have arrived on the NIC, in order
    uint32_t context_slot[2]; // where its context was in the cache, by side
    uint16_t near_slot[2];    // where its context was among those at hand, by side
    uint8_t unit;             // its processing units
    uint8_t contexts;         // nic_contexts_t
    uint16_t lap; // of its send queue: what passed the NIC before it was rewound is void
} nic_rnic_qp_t;
static_assert(sizeof(nic_rnic_qp_t) == SIM_CACHE_LINE, "one line");
static inline nic_rnic_qp_t *nic__rnic_qp(const nic_qp_t *qp)
{
    return (nic_rnic_qp_t *)(uintptr_t)qp - 1;
}

// The number of next packets whose queue pairs are known in advance, for prefetching.
#define NIC_EXPECTED 3u
typedef struct nic_expected {
    nic_qp_t *qp; // NULL: not known, or gone
    uint32_t number;
} nic_expected_t;

typedef struct nic_rnic nic_rnic_t;
struct nic_rnic {
    nic_detail_t detail;
    nic_pcie_t pcie;
    sim_time_t tx_free_ps; // the sending side is busy until
    sim_time_t rx_free_ps; // the receiving side is busy until
    sim_time_t at_ps;      // time of what happens in the NIC: now, or that of a WQE's arrival
    sim_time_t coming_ps;  // when the first of those arrives; NEVER if none is on its way
    nic_item_t *coming;    // WQEs on their way by MMIO, in order of arrival
    nic_item_t *coming_last;
    nic_item_t *coming_look; // at those
    bool looks;              // that is booked
    nic_tx_unit_t *tx_units;
    nic_rx_unit_t *rx_units;
    nic_expected_t expected[NIC_EXPECTED]; // in the order in which they come
    nic_item_t *free_items;
    nic_item_block_t *item_blocks;
    nic_cache_t *held[NIC_CACHE_COUNT]; // the memory of each kind: one and the same if shared
    nic_cache_t caches[NIC_CACHE_COUNT];
    nic_store_t *store;
    uint32_t answered; // 1 << nic_store_kind_t: kinds that the store answers for, not the caches
    uint64_t lookups;  // that the store answered, in dear builds
    bool waits;        // a lookup of what is being served does not know yet when it is over
    bool asynchronous; // contexts to send with keep their queue pair waiting, not the unit
    nic_cache_t uc_contexts; // of unreliable connections, if they lie apart
    nic_cache_t near[2];     // contexts of RC queue pairs next to the units, by side
    nic_page_place_t pages[NIC_PAGES_KNOWN];
    bool looks_up_keys;
    bool wqes_know; // the slots where they are in the cache: all have small numbers
    uint64_t stall_ps[NIC_CACHE_COUNT];
    uint64_t rx_cost_ps[NIC_PACKET_CLASS_COUNT]; // of a packet, on the receiving side
    sim_time_t *lock_free_ps;                    // atomic_locks of them
    sim_time_t granted_ps;  // of the atomic being executed: its lock is held until
    sim_time_t written_ps;  // words that atomics wrote are in host memory: reads wait for that
    sim_time_t payload_ps;  // the last payload written is seen
    sim_time_t wqe_here_ps; // that of the response being received is on the NIC
    bool inline_receive;    // the packet being received goes into its CQE
    uint64_t page_shift;
    uint64_t buffered_bytes;
    uint8_t pausing;         // classes that the link was asked to pause
    sim_timer_t pause_timer; // refreshes the pause
    nic_t *nic;
    net_port_t *port;
    bool tells_arrivals; // nic_device_tells_arrivals
    bool bound;          // its host has limits (nic/fabric.h)
    bool slow_memory;    // that, or an IOMMU translates payloads
    nic_rnic_counters_t counters;
};
static inline nic_rnic_t *nic__rnic(const nic_t *nic)
{
    return nic__device_state(nic);
}

// Names a WQE among those that can meet in the cache; and a key among those of the first four
// kinds.
static inline uint64_t nic__wqe_key(const nic_qp_t *qp, uint32_t index)
{
    return (uint64_t)nic__device_number(qp) << 32 | index;
}
static inline uint64_t nic__cache_key(uint32_t cache, uint64_t key)
{
    return (key << 2 | cache) + 4;
}

// inside.c
extern const sim_fields_t nic__rnic_counter_fields; // of nic_rnic_counters_t
nic_rnic_t *nic__rnic_create(nic_t *nic);
void nic__rnic_destroy(nic_t *nic);
void nic__rnic_place(nic_qp_t *qp); // a new QP
void nic__rnic_place_cq(nic_cq_t *cq);
void nic__rnic_check_qp(const nic_qp_t *qp);
bool nic__rnic_conserved(const nic_t *nic);
uint32_t nic__rnic_inline_max(const nic_t *nic);
// Books a read or a write of host memory from now on. Returns its end.
sim_time_t nic__rnic_host_read(nic_t *nic, uint64_t address, uint32_t bytes);
sim_time_t nic__rnic_host_write(nic_t *nic, uint64_t address, uint32_t bytes);
// Books a piece of a payload that is read, in memory behind a fabric with limits or an IOMMU.
// Returns when it has arrived. qp: whose READ it answers; NULL: the piece's key says the domain.
sim_time_t nic__rnic_from_memory_ps(nic_t *nic, const nic_qp_t *qp, const nic_sge_t *piece);
nic_item_t *nic__items_grow(nic_rnic_t *rnic); // none is free; returns the first that is now
void nic__items_forget(nic_rnic_t *rnic, const nic_qp_t *qp); // it is destroyed or reset
static inline nic_item_t *nic__item_new(nic_t *nic, nic_item_kind_t kind, const nic_qp_t *qp)
{
    nic_rnic_t *const rnic = nic__rnic(nic);
    nic_item_t *item = rnic->free_items;
    if (SIM_UNLIKELY(item == NULL)) {
        item = nic__items_grow(rnic);
    }
    rnic->free_items = item->next;
    item->next = NULL;
    item->kind = (uint8_t)kind;
    item->qp = (nic_qp_t *)(uintptr_t)qp;
    item->lap = nic__rnic_qp(qp)->lap;
    return item;
}
static inline void nic__item_free(nic_item_t *item)
{
    nic_rnic_t *const rnic = nic__rnic(item->nic);
    item->next = rnic->free_items;
    rnic->free_items = item;
}
static inline nic_lane_index_t nic__lane_of(nic_item_kind_t kind)
{
    return kind == NIC_ITEM_RESPONSE || kind == NIC_ITEM_READY || kind == NIC_ITEM_SEGMENT
               ? NIC_LANE_DATA
               : NIC_LANE_HOST;
}
static inline void nic__item_at(nic_item_t *item, sim_time_t time_ps) // its step happens then
{
    nic_t *const nic = item->nic;
    const nic_lane_index_t lane = nic__lane_of((nic_item_kind_t)item->kind);
    if (!nic__device_step_at(nic, lane, &item->step, time_ps)) {
        sim_timer_arm(nic__device_node(nic), &item->timer, time_ps);
    }
}
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

// store.c: kinds that a store answers for
void nic__store_create(nic_rnic_t *rnic);
void nic__store_destroy(nic_rnic_t *rnic);
// Objects that a store knows come and go.
void nic__store_add(nic_t *nic, nic_store_kind_t kind, uint64_t key);
void nic__store_change(nic_t *nic, nic_store_kind_t kind, uint64_t key);
void nic__store_remove(nic_t *nic, nic_store_kind_t kind, uint64_t key);
void nic__store_look_up(nic_t *nic, nic_store_lookup_t *lookup);
// Returns when the context of a queue pair that waits for it alone is there; 0: the NIC knows.
static inline sim_time_t nic__rnic_context_here_ps(nic_rnic_t *rnic, uint32_t number)
{
    nic_store_t *const store = rnic->store;
    if (SIM_LIKELY(!rnic->asynchronous) || store->ops->here == NULL) {
        return 0;
    }
    return store->ops->here(store, NIC_STORE_CONTEXT, number, rnic->at_ps);
}
// Makes the current service wait for a look-up; the timer is armed when the look-up ends.
void nic__store_wait(nic_rnic_t *rnic, sim_timer_t *timer, sim_time_t least_ps);

// unit.c: the processing units
void nic__units_create(nic_rnic_t *rnic);
void nic__tx_unit_push(nic_item_t *item, nic_qp_t *qp);
void nic__rnic_wqes_arrive(nic_item_t *item, nic_qp_t *qp);
// Arms the timer for the end of the service, or for the store's answer if the service waits for it.
static inline void nic__unit_arm(nic_t *nic, nic_lane_index_t lane, nic_step_t *step,
                                 sim_timer_t *timer, sim_time_t end_ps)
{
    if (SIM_UNLIKELY(nic__rnic(nic)->waits)) {
        nic__store_wait(nic__rnic(nic), timer, end_ps);
    } else if (!nic__device_step_at(nic, lane, step, end_ps)) {
        sim_timer_arm(nic__device_node(nic), timer, end_ps);
    }
}

void nic__rnic_take_coming(nic_t *nic);

// send.c
// Every event of the NIC calls nic__rnic_begin first. A WQE written by MMIO schedules no event:
// WQEs arrive in order and have no visible effect for a while. So the next event processes all WQEs
// whose arrival time has passed.
static inline bool nic__rnic_has_coming(const nic_t *nic) // some that have arrived
{
    return nic__rnic(nic)->coming_ps <= nic__device_now_ps(nic);
}
static inline void nic__rnic_begin(nic_t *nic)
{
    nic_rnic_t *const rnic = nic__rnic(nic);
    const sim_time_t now_ps = nic__device_now_ps(nic);
    if (SIM_UNLIKELY(rnic->coming_ps <= now_ps)) {
        nic__rnic_take_coming(nic);
    }
    rnic->at_ps = now_ps;
}
// The times of a service: when the unit has done the first part, and when the WQE has arrived.
typedef struct nic_service {
    sim_time_t end_ps;
    sim_time_t here_ps;
} nic_service_t;
void nic__rnic_sent(nic_t *nic, nic_qp_t *qp, bool response);
void nic__rnic_forget_early(nic_qp_t *qp);
void nic__rnic_flushed(nic_qp_t *qp); // its send queue is empty
// Updates what the protocol may send, after sq_send or sq_done has moved.
static inline void nic__rnic_gate(nic_qp_t *qp)
{
    // A late ACK may move sq_send past a WQE that is being sent again.
    nic__device_gate(qp, (int32_t)(nic__rnic_qp(qp)->sq_ready - nic__device_sending(qp)) > 0);
}
// Makes a WQE ready: it has passed the NIC and may be sent.
static inline void nic__rnic_make_ready(nic_qp_t *qp)
{
    nic__rnic_qp(qp)->sq_ready++;
    nic__rnic_gate(qp);
    nic_device_schedule(qp);
}
void nic__rnic_rewound(nic_qp_t *qp); // back
void nic__rnic_respond(nic_qp_t *qp, uint64_t address, uint32_t bytes, bool atomic);
void nic__rnic_answer(nic_qp_t *qp, net_packet_t *packet);

// receive.c
void nic__rnic_arrive(nic_t *nic, net_packet_t *packet);
void nic__rnic_forget_receiving(nic_rnic_t *rnic, const nic_qp_t *qp); // it is destroyed
void nic__rnic_payload(nic_t *nic, uint32_t bytes);
void nic__rnic_lands(nic_t *nic, sim_time_t time_ps);
void nic__rnic_atomic_done(nic_t *nic, uint32_t rkey); // the word is written back
void nic__rnic_set_costs(nic_rnic_t *rnic);
void nic__rx_unit_fired(sim_node_t *node, sim_timer_t *timer);
void nic__rx_unit_step(nic_step_t *step);
void nic__rnic_pause_fired(sim_node_t *node, sim_timer_t *timer);

// post.c
void nic__rnic_post(nic_qp_t *qp, uint32_t count, bool doorbell); // the last `count` WQEs
void nic__rnic_post_receive(nic_t *nic, uint32_t count);
// Returns the time that the lines of a WQE take on PCIe if a core writes them. The sending side
// begins with the first line and is busy for at least this time.
sim_time_t nic__rnic_lines_ps(const nic_rnic_t *rnic, const nic_qp_t *qp, const nic_wqe_t *wqe);
void nic__rnic_look_for_coming(nic_rnic_t *rnic); // at the first WQE that comes by MMIO
void nic__rnic_doorbell_arrives(nic_item_t *item, const nic_qp_t *qp);

// complete.c
void nic__rnic_wqe_done(nic_qp_t *qp);                                     // the one before sq_done
void nic__rnic_completion(nic_qp_t *qp, nic_cq_t *cq, const nic_wc_t *wc); // the CQE is written
void nic__rnic_tell_write(nic_qp_t *qp, uint64_t address, uint32_t bytes);

// items.c
void nic__rnic_item_fired(sim_node_t *node, sim_timer_t *timer);
void nic__rnic_item_step(nic_step_t *step);
void nic__rnic_data_step(nic_step_t *step);

#endif // NIC_DEVICE_RNIC_RNIC_H
