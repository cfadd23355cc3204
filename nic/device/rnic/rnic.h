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

typedef struct nic_item nic_item_t;
typedef struct nic_item_block nic_item_block_t;
typedef struct nic_tx_unit nic_tx_unit_t;
typedef struct nic_rx_unit nic_rx_unit_t;

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
    sim_time_t tx_free_ps;   // the sending side is busy until
    sim_time_t rx_free_ps;   // the receiving side is busy until
    sim_time_t at_ps;        // time of what happens in the NIC: now, or that of a WQE's arrival
    nic_item_t *coming_look; // a look at WQEs that have come by MMIO
    sim_time_t look_ps;      // when that is booked; NEVER
    nic_tx_unit_t *tx_units;
    nic_rx_unit_t *rx_units;
    nic_expected_t expected[NIC_EXPECTED]; // in the order in which they come
    nic_item_t *free_items;
    nic_item_block_t *item_blocks;
    nic_cache_t *held[NIC_CACHE_COUNT]; // the memory of each kind: one and the same if shared
    nic_cache_t caches[NIC_CACHE_COUNT];
    nic_store_t *store;
    uint32_t answered;    // 1 << nic_store_kind_t: kinds that the store answers for, not the caches
    uint64_t lookups;     // that the store answered, in dear builds
    bool waits;           // a lookup of what is being served does not know yet when it is over
    bool keeps_positions; // the store is informed when PSNs move
    bool asynchronous;    // contexts to send with keep their queue pair waiting, not the unit
    nic_cache_t uc_contexts; // of unreliable connections, if they lie apart
    nic_cache_t near[2];     // contexts of RC queue pairs next to the units, by side
    nic_page_place_t pages[NIC_PAGES_KNOWN];
    bool looks_up_keys;
    bool wqes_know; // the slots where they are in the cache: all have small numbers
    uint64_t stall_ps[NIC_CACHE_COUNT];
    uint64_t rx_cost_ps[NIC_PACKET_CLASS_COUNT]; // of a packet, on the receiving side
    sim_time_t *lock_free_ps;                    // atomic_locks of them
    nic_posting_t posting;                       // of requests that no core of a program posts
    sim_time_t *poster_free_ps; // of each group of a GPU's threads, or of each core of the proxy
    uint64_t posters;
    sim_time_t gpu_read_ps; // additional latency of payload: it lies in GPU memory
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
#endif // NIC_DEVICE_RNIC_RNIC_H
