// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/items.h - what is on its way inside a detailed NIC: WQEs, payloads, answers and
// CQEs.
#ifndef NIC_DEVICE_RNIC_ITEMS_H
#define NIC_DEVICE_RNIC_ITEMS_H

#include "nic/device/rnic/rnic.h"

typedef enum nic_item_kind {
    NIC_ITEM_POSTING,  // WQEs that a GPU or its proxy is writing
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
        struct nic_item *next; // in a list
        struct {               // a WQE written by MMIO, on its way
            nic_pcie_write_t write;
            uint32_t set; // of the cache
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

void nic__rnic_item_fired(sim_node_t *node, sim_timer_t *timer);
void nic__rnic_item_step(nic_step_t *step);
void nic__rnic_data_step(nic_step_t *step);

#endif // NIC_DEVICE_RNIC_ITEMS_H
