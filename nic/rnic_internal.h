// SPDX-License-Identifier: Apache-2.0
// nic/rnic_internal.h - the inside of a detailed NIC, and where the protocol of nic/ calls it.
//
//     sending                                       receiving
//     nic__rnic_post       MMIO or Doorbell         nic__rnic_arrive      into the receive buffer
//       item on its way    lines, or a DMA read       processing unit     costs and cache misses
//       processing unit    costs and cache misses   nic__receive          the protocol's turn
//       payload            a DMA read               nic__rnic_payload     a DMA write
//     nic__rnic_ready      the WQE may be sent      nic__rnic_cqe         a DMA write, seen later
//     nic__rnic_sent       next packet's payload    nic__rnic_respond     a DMA read, then sent
//
// A processing unit serves its queue in order. When it begins with something it books all that this
// needs, at that moment: its own time, the side of the NIC that all units share, PCIe. Every such
// server is a time until which it is busy, so one event ends the service, whatever it took.
#ifndef NIC_RNIC_INTERNAL_H
#define NIC_RNIC_INTERNAL_H

#include "nic/core.h"
#include "nic/nic_internal.h"
#include "nic/pcie.h"
#include "nic/rnic_cache.h"

struct nic_core {
    sim_timer_t timer;
    nic_host_t *host;
    nic_core_fn step;
    void *ctx;
    sim_time_t free_ps;  // end of the last step
    sim_time_t spent_ps; // in the running one
    sim_time_t idle_ps;  // polls from here on...
    sim_time_t poll_ps;  // ...as often as this
    bool started;
    bool idle;
    bool woken; // since the last step began
    nic_cq_t *cqs;
    sim_time_t busy_ps;
    uint64_t steps;
    nic_core_t *next;
};

typedef enum nic_item_kind {
    NIC_ITEM_DOORBELL, // on its way to the NIC
    NIC_ITEM_WQE,      // WQEs on their way into the queue of their processing unit, or in it
    NIC_ITEM_PACKET,   // a packet in that queue
    NIC_ITEM_READY,    // a WQE whose payload is on its way
    NIC_ITEM_SEGMENT,  // the payload of the next packet of a message
    NIC_ITEM_RESPONSE, // the data of a READ or atomic to be answered
    NIC_ITEM_CQE,      // a CQE on its way to a queue that nobody polls
    NIC_ITEM_WRITE,    // a WRITE on its way to memory that someone looks at
} nic_item_kind_t;

typedef struct nic_item {
    sim_timer_t timer;
    struct nic_item *next;
    struct nic_item *next_live; // of all that are under way
    struct nic_item *previous_live;
    nic_t *nic;
    net_packet_t *packet;
    nic_cq_t *cq;
    nic_wc_t wc;
    uint64_t serial; // of the QP
    uint32_t qp_number;
    uint32_t first; // WQE
    uint32_t count;
    sim_time_t here_ps; // its first WQE is on the NIC
    uint8_t kind;       // nic_item_kind_t
    bool fetched;       // by Doorbell
} nic_item_t;

typedef struct nic_pu {
    sim_timer_t timer;
    nic_t *nic;
    nic_item_t *head;
    nic_item_t *tail;
    bool busy;
} nic_pu_t;

enum { NIC_CACHE_CONTEXT, NIC_CACHE_TRANSLATION, NIC_CACHE_WQE, NIC_CACHE_CQ, NIC_CACHE_COUNT };

struct nic_rnic {
    nic_detail_t detail;
    nic_pcie_t pcie;
    sim_time_t tx_free_ps; // the sending side is busy until
    sim_time_t rx_free_ps; // and the receiving side
    nic_pu_t *pus;
    nic_item_t *free_items;
    nic_item_t *live_items;
    nic_cache_t caches[NIC_CACHE_COUNT];
    nic_cache_t near[2]; // contexts of RC queue pairs next to the units, by side
    uint64_t stall_ps[NIC_CACHE_COUNT];
    sim_time_t *lock_free_ps; // atomic_locks of them
    sim_time_t granted_ps;    // of the atomic being executed: its lock is held until
    sim_time_t payload_ps;    // the last payload written is seen
    sim_time_t wqe_here_ps;   // that of the response being received is on the NIC
    bool inline_receive;      // the packet being received goes into its CQE
    uint64_t page_shift;
    uint64_t buffered_bytes;
    uint8_t pausing;         // classes that the link was asked to pause
    sim_timer_t pause_timer; // refreshes the pause
    nic_t *nic;
    nic_rnic_counters_t counters;
};

// rnic.c
void nic__rnic_create(nic_t *nic);
void nic__rnic_destroy(nic_t *nic);
nic_item_t *nic__item_new(nic_t *nic, nic_item_kind_t kind, const nic_qp_t *qp);
void nic__item_free(nic_item_t *item);
void nic__item_at(nic_item_t *item, sim_time_t time_ps); // its step happens then
nic_qp_t *nic__item_qp(const nic_item_t *item);          // NULL: it is gone
// Looks a key up; what a miss costs is added to *stall_ps, and *data_ps moves to when it is over.
void nic__rnic_lookup(nic_t *nic,
                      uint32_t cache,
                      uint64_t key,
                      sim_time_t *stall_ps,
                      sim_time_t *data_ps);
void nic__rnic_translate(nic_t *nic, uint64_t address, sim_time_t *stall_ps, sim_time_t *data_ps);
static inline sim_time_t nic__later(sim_time_t a_ps, sim_time_t b_ps)
{
    return a_ps > b_ps ? a_ps : b_ps;
}
// The time of the core that is posting, or of the event.
static inline sim_time_t nic__posting_ps(const nic_host_t *host)
{
    return host->node.sim.now_ps + (host->core != NULL ? host->core->spent_ps : 0);
}

// Names a WQE among those that can meet in the cache; and a key among those of all kinds.
static inline uint64_t nic__wqe_key(const nic_qp_t *qp, uint32_t index)
{
    return (uint64_t)qp->number << 32 | index;
}
static inline uint64_t nic__cache_key(uint32_t cache, uint64_t key)
{
    return (key << 2 | cache) + NIC_CACHE_COUNT;
}

// rnic_unit.c: the processing units
void nic__pu_init(nic_t *nic);
void nic__pu_push(nic_item_t *item); // its QP's unit takes it in turn
void nic__pu_push_wqes(nic_item_t *item, nic_qp_t *qp);
void nic__pu_push_packet(nic_item_t *item, nic_qp_t *qp); // qp may be NULL
// The context of a queue pair, for one side of the NIC (0: sending, 1: receiving).
void nic__rnic_context(nic_t *nic,
                       uint32_t number,
                       uint32_t side,
                       sim_time_t *stall_ps,
                       sim_time_t *data_ps);

// rnic_send.c
sim_time_t nic__rnic_serve_wqe(nic_item_t *item); // begins with item->first; when it is done
void nic__rnic_wqe_served(nic_t *nic, nic_qp_t *qp, uint32_t index, sim_time_t here_ps);
void nic__rnic_item_fired(sim_node_t *node, sim_timer_t *timer);

// rnic_receive.c
sim_time_t nic__rnic_serve_packet(nic_item_t *item);
void nic__rnic_packet_served(nic_t *nic, net_packet_t *packet, sim_time_t here_ps);
void nic__rnic_pause_fired(sim_node_t *node, sim_timer_t *timer);

#endif // NIC_RNIC_INTERNAL_H
