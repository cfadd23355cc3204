// SPDX-License-Identifier: Apache-2.0
// nic/objects/objects.h - the structs of a host and of a NIC, and how a host is found.
#ifndef NIC_OBJECTS_OBJECTS_H
#define NIC_OBJECTS_OBJECTS_H

#include "nic/device.h"
#include "nic/ethernet.h"
#include "nic/fabric.h"
#include "nic/frames.h"
#include "nic/memory.h"
#include "nic/scheduler.h"
#include "nic/trace.h"
#include "nic/transport.h"

#define NIC_TTL 64

typedef struct nic_host nic_host_t;
typedef struct nic_steps nic_steps_t; // nic/host/steps.h
typedef struct nic_fabric nic_fabric_t;
typedef struct nic_iommu nic_iommu_t;
typedef struct nic_page_slot nic_page_slot_t;
typedef struct nic_spare_page nic_spare_page_t;
typedef struct nic_fill nic_fill_t;
typedef struct nic_map nic_map_t;

// The time at which a destination may get its next CNP (nic.cnp-scope: destination).
typedef struct nic_cnp_slot {
    uint32_t interface; // plus 1; 0: free
    sim_time_t next_ps;
} nic_cnp_slot_t;

// The state that all queue pairs of one transport on a NIC share.
struct nic_transport_share {
    const nic_transport_ops_t *ops;
    void *state;
    struct nic_transport_share *next;
    // Totals of a NIC that another rank ran (nic/carry.h); NULL: this rank runs it. Pointers in the
    // state of another rank mean nothing here.
    nic_transport_totals_t *carried;
};

#define NIC_KICKED 1u
#define NIC_HAS_PLANES 2u

struct nic {
    alignas(SIM_CACHE_LINE) net_port_t *port;
    nic_host_t *host;
    // verbs: by (number - ROCE_QPN_GSI) >> NIC_QP_PAGE_BITS; NULL: no QP of that page
    nic_qp_t ***qp_pages;
    // transport: the QP that the last ACK [1], or the last other packet [0] was for, and likely the
    // next one; NULL: gone
    nic_qp_t *latest[2];
    uint32_t latest_numbers[2];
    uint32_t qp_page_count;
    uint8_t ready_classes; // classes in which queue pairs have joined the scheduler
    uint8_t kicked;        // NIC_KICKED: it is in the host's list; NIC_HAS_PLANES: planes is set
    uint8_t cnp_priority;
    uint8_t cnp_dscp;
    uint16_t header_bytes; // of a frame without extension headers, ICRC included
    uint16_t ack_bytes;    // of the frame of an ACK or NAK; 0: as its headers are
    uint16_t frame_bytes_min;
    uint16_t overhead_bytes; // on the link, for each frame
    bool ring;               // the scheduler is nic_scheduler_ring, which is compiled in
    uint16_t ack_interval;
    uint32_t trace_points; // union of the listeners' points
    uint32_t interface;
    bool detailed; // its device has operations: it is not the ideal one
    bool contents; // payloads are looked at: the host's memory has contents, or limits
    bool bound;    // the host has limits: nic/fabric.h
    bool refuses;  // it may not touch some pages of its host: nic/iommu.h
    bool plain;    // packets go straight to the protocol: no device, no loop of a scheduler
    bool served;   // packets go to its device
    bool shifts;   // peers name bytes of some region by other addresses than the host does
    bool gated;    // packets that arrive wait: nic/transport/stalled_pipeline.h
    bool any_mtu;
    bool odd_answers;  // answers use routes or queues of their own
    uint32_t state_at; // the transport's state begins so far behind the start of a queue pair
    nic_t *next_kicked;
    struct nic_planes *planes; // nic/schedule/planes.h; NULL: the NIC has one port
    // Length of frames that differ from the standard's (nic/frames.h); NULL: extension headers,
    // payload and pad.
    uint32_t (*body_bytes)(uint32_t extension_bytes, uint32_t payload_bytes);
    const nic_schedule_loop_t *loop; // of the scheduler; NULL: that of nic/transport/transmit.c
    nic_qp_t *ready[NET_PRIORITIES]; // of the ring: whose turn it is
    nic_counters_t counters;
    struct nic_carried *carried; // of a NIC that another rank ran; else NULL
    // ACKs, NAKs and CNPs that had to wait, by class: how many came, and how many have left.
    // Both numbers run freely.
    uint32_t queue_pushed[NET_PRIORITIES];
    uint32_t queue_popped[NET_PRIORITIES];
    sim_time_t cnp_next_ps; // nic.cnp-scope: port
    sim_time_t arrived_ps;  // when the packet that is served now came (nic_cc_ops_t.hears_hosts)

    // verbs
    nic_accept_fn accept;
    void *accept_ctx;
    nic_ethernet_fn ethernet; // NULL: nobody takes whole frames
    void *ethernet_ctx;
    uint32_t next_qp_num;
    uint32_t qp_page_capacity;
    uint32_t active_qps; // cc: QPs whose algorithm was started
    uint8_t *qp_gone;    // by page: a bit for each number that a destroyed QP had
    nic_mr_t **mrs;      // by key >> 8, from 1
    uint32_t mr_count;
    uint32_t mr_capacity;
    uint32_t mr_free; // no slot before it is free, slot 0 apart
    uint32_t mr_generation;
    nic_pd_t *pds;
    nic_cq_t *cqs;
    nic_srq_t *srqs;
    // cc
    const nic_cc_ops_t *cc_ops;
    const void *cc_config;
    nic_cnp_slot_t *cnp_slots; // nic.cnp-scope: destination; open addressing
    uint32_t cnp_slot_count;
    uint32_t cnp_slot_capacity;
    struct nic_listener *listeners; // host/trace.c
    const nic_device_ops_t *device;
    void *device_state;
    // schedule
    const nic_scheduler_ops_t *scheduler;
    void *scheduler_state;
    uint32_t joined[NET_PRIORITIES]; // QPs that have joined a scheduler other than the ring
    struct nic_report *reports;      // of its parts (nic/reports.h)
    uint32_t report_count;
    uint32_t report_capacity;
    const nic_transport_ops_t *transport; // of RC queue pairs that name none
    struct nic_transport_share *shares;
    struct nic_gate *gate;         // NULL: no transport can make its pipeline stand
    uint32_t checked_index;        // queue pair checked last, in builds with dear checks
    bool exempt;                   // from congestion control: nic_exempt
    bool draws;                    // network.draws: packet
    uint64_t unlabelled;           // messages posted so far, with network.draws: packet
    struct nic_loopback *loopback; // nic/schedule/loopback.h; NULL: nothing was sent to itself
    struct nic_rail *rail;         // nic/objects/rail.h; NULL: the NIC is not on one of equal rails
    uint64_t rail_events;          // of the NIC: arrivals, wakes, timers
};

// The contents of a host's memory (nic/host/contents.c). Pages without an entry hold zeros, unless
// they lie in an area of somebody else.
struct nic_memory {
    nic_page_slot_t *slots; // open addressing by number; NULL before the first page
    uint64_t slot_count;    // power of two
    uint64_t page_count;
    nic_map_t *maps; // areas whose bytes belong to somebody else, by address
    size_t map_count;
    size_t map_capacity;
    size_t map_recent;       // of the last access
    nic_fill_t *fills;       // NULL: none
    nic_spare_page_t *spare; // pages that were removed; NULL: none
};

// The clock of a host's cores.
typedef struct nic_clock {
    uint32_t mhz; // with at most two cores at work
    uint32_t all_mhz;
    uint32_t all_from; // cores at work from which on it is all_mhz; 0: the clock is always the same
} nic_clock_t;

struct nic_host {
    net_node_t node; // first
    nic_t *nics;     // one for each port, or for node.planes consecutive ports
    uint32_t nic_count;
    nic_clock_t clock;
    nic_t *kicked;  // NICs that may have something to send; looked at when the event is over
    nic_qp_t *dead; // destroyed QPs, freed when the event is over
    bool in_event;
    bool one_port;      // one port and no events but the node's: nic/node.c has a loop for it
    bool one_stepping;  // like one_port, for a host whose NIC has steps
    bool unsettled;     // something of the event is left to be done
    bool ending;        // packets go with their network
    uint8_t warm_class; // the class most packets are expected in
    const nic_qp_t *sent_last; // only to be prefetched: they may be gone
    const nic_qp_t *received_last;
    nic_core_t *core; // whose step is running
    nic_core_t *cores;
    uint32_t cores_started;
    uint32_t core_slow_permille; // 1000: at the clock rate that costs are given for
    nic_memory_t memory;
    nic_message_fn message_fn; // nic_host_on_message; NULL: none come
    void *message_ctx;
    nic_fabric_t *fabric;
    nic_iommu_t *iommu;
    nic_steps_t *steps;         // NULL: timers do it all
    nic_steps_t *lanes;         // steps while the host runs, else NULL
    struct nic_notice *notices; // in order; nic/queue/notices.c
    uint32_t notice_count;
    uint32_t notice_capacity;
    const nic_config_t *config; // shared with hosts that have an equal one
};

// Returns the index in a host's NICs of the one that a port belongs to.
static inline uint32_t nic__index_in(uint32_t planes, uint32_t port_count, uint32_t port)
{
    if (planes <= 1) {
        return port;
    }
    const uint32_t whole = port_count / planes;
    return port < whole * planes ? port / planes : port - whole * planes + whole;
}
static inline uint32_t nic__index_of_port(const nic_host_t *host, uint32_t port)
{
    return host->nic_count == 1 ? 0 : nic__index_in(host->node.planes, host->node.port_count, port);
}

static inline sim_node_t *nic__node(const nic_t *nic)
{
    return &nic->host->node.sim;
}

// The kind of every host's node. Its address distinguishes a host from a program's own kind of
// node.
extern const char nic__host_kind[];
// Returns the host that a node is. Aborts if the node is no host.
nic_host_t *nic__host_of(const net_node_t *node);

#endif // NIC_OBJECTS_OBJECTS_H
