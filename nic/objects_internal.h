// SPDX-License-Identifier: Apache-2.0
// nic/objects_internal.h - the structs of hosts, NICs, queue pairs and what belongs to them.
#ifndef NIC_OBJECTS_INTERNAL_H
#define NIC_OBJECTS_INTERNAL_H

#include "net/port.h"
#include "nic/device.h"
#include "nic/fabric.h"
#include "nic/frames.h"
#include "nic/host.h"
#include "nic/memory.h"
#include "nic/scheduler.h"
#include "nic/store.h"
#include "nic/trace.h"
#include "nic/transport.h"

#define NIC_MESSAGE_BYTES_MAX (UINT64_C(1) << 31)
// Outstanding PSNs at most: half of the 24-bit space, so that comparisons are unambiguous (9.7.5).
#define NIC_PSN_WINDOW (UINT64_C(1) << 23)
#define NIC_QP_PAGE_BITS 6
#define NIC_QP_PAGE (1u << NIC_QP_PAGE_BITS)
#define NIC_FOREVER 7 // rnr_retry: no limit
#define NIC_TTL 64

typedef struct nic_host nic_host_t;
typedef struct nic_core nic_core_t;

// -- work requests as the NIC keeps them

// A line each, in rings on lines.
typedef struct nic_wqe {
    _Alignas(SIM_CACHE_LINE) uint64_t wr_id;
    uint64_t local_address;  // NIC_WQE_LIST: of the list of places, whose number is lkey
    uint64_t remote_address; // UD: interface << 32 | QP number
    uint32_t length;
    uint32_t lkey;
    uint32_t rkey; // UD: Q_Key
    uint32_t immediate;
    uint32_t end_psn;     // first PSN after it, low 32 bits; valid once it began to be sent
    uint8_t opcode;       // nic_wr_opcode_t
    uint8_t flags;        // NIC_SEND_ bits, NIC_WQE_HELD, NIC_WQE_LIST
    uint16_t device_slot; // where the device's cache has it
} nic_wqe_t;

// Posted before or while the send queue drains: it does not begin before the state is RTS again.
#define NIC_WQE_HELD 0x80u
#define NIC_WQE_LIST 0x40u // it has several places

// What few work requests have, in the same place of a ring of its own: the operands of an atomic,
// and an inline payload that is not all zeros.
typedef struct nic_wqe_more {
    uint64_t compare_add;
    uint64_t swap;
    uint8_t *inlined;       // room for inlined_room bytes, kept for the next one in this place
    uint32_t inlined_bytes; // 0: there is none
    uint32_t inlined_room;
    nic_sge_t *list; // NULL: one place
} nic_wqe_more_t;

// Where a message lies in a host's memory: one place, or several.
typedef struct nic_place {
    uint64_t address;
    uint32_t key;
    uint32_t count;
    const nic_sge_t *list; // NULL: address and key say it
} nic_place_t;

static inline nic_place_t nic__wqe_place(const nic_wqe_t *wqe)
{
    if (SIM_LIKELY((wqe->flags & NIC_WQE_LIST) == 0)) {
        return (nic_place_t){.address = wqe->local_address, .key = wqe->lkey, .count = 1};
    }
    return (nic_place_t){.count = wqe->lkey,
                         .list = (const nic_sge_t *)(uintptr_t)wqe->local_address};
}

static inline bool nic__is_atomic(uint8_t opcode)
{
    return opcode >= NIC_WR_ATOMIC_CMP_AND_SWP;
}
// READ or atomic: answered with data, one by one, and limited in number.
static inline bool nic__is_fetch(uint8_t opcode)
{
    return opcode >= NIC_WR_RDMA_READ;
}

typedef struct nic_recv_wqe {
    uint64_t wr_id;
    uint64_t address;
    uint32_t length; // of all places
    uint32_t lkey;
    nic_sge_t *list; // NULL: one place
    uint32_t list_count;
} nic_recv_wqe_t;

static inline nic_place_t nic__receive_place(const nic_recv_wqe_t *receive)
{
    return (nic_place_t){.address = receive->address,
                         .key = receive->lkey,
                         .count = receive->list == NULL ? 1 : receive->list_count,
                         .list = receive->list};
}

// A READ or atomic being answered.
typedef struct nic_read {
    uint64_t next_psn;
    uint64_t address; // of what comes next
    uint32_t left_bytes;
    uint32_t msn;
    bool started;        // its first response is sent
    bool retransmission; // it repeats an earlier READ or atomic
    bool atomic;
    uint64_t original; // of an atomic
} nic_read_t;

// An atomic that was executed: asked for again it is answered again, not executed (9.4.5).
typedef struct nic_atomic_done {
    uint64_t psn;
    uint64_t original;
} nic_atomic_done_t;

// What every packet of a QP carries.
typedef struct nic_path {
    uint64_t route;       // net_packet_t.route; 0: of a UD queue pair
    uint32_t destination; // interface
    uint32_t flow_hash;
    uint32_t destination_qp;
    uint16_t udp_source_port;
    uint8_t dscp;
    uint8_t ecn; // of data
} nic_path_t;

// -- queue pair

enum {
    NIC_QP_READY = 1 << 0,      // it has joined the scheduler: it can send a packet now
    NIC_QP_PACING = 1 << 1,     // waits for pace_timer
    NIC_QP_PACED = 1 << 2,      // slower than the port
    NIC_QP_CC_SENT = 1 << 3,    // the algorithm wants to hear of each packet
    NIC_QP_ACTIVE = 1 << 4,     // the algorithm was started
    NIC_QP_RNR_WAIT = 1 << 5,   // retry_timer holds back the send queue
    NIC_QP_SQ_STOPPED = 1 << 6, // the WQE at sq_send failed locally; its error waits for its turn
    NIC_QP_TURN = 1 << 7,       // READ responses had the last turn
    NIC_QP_DEAD = 1 << 8,       // destroyed, memory held until the end of the event
    NIC_QP_UNRELIABLE = 1 << 9,
    NIC_QP_CLOSED = 1 << 10,    // the send queue does not work: the state is not RTS
    NIC_QP_READS = 1 << 11,     // READs are to be answered
    NIC_QP_FEEDBACK = 1 << 12,  // packets say how they are to be answered
    NIC_QP_OVERSHOOT = 1 << 13, // a packet may start while less than the window is in flight
    NIC_QP_FETCHING = 1 << 14,  // detailed NIC: what is to be sent next is on its way through it
};

// Opcode bits of no transport, for QPs that take no packets.
#define NIC_NO_TRANSPORT 0xff

typedef enum nic_rx_kind { NIC_RX_NONE, NIC_RX_SEND, NIC_RX_WRITE } nic_rx_kind_t;

enum {
    NIC_RX_STOPPED = 1 << 0, // a fatal NAK waits behind READ responses
    NIC_RX_HELD = 1 << 1,    // held_aeth waits behind READ responses
    NIC_RX_READS = 1 << 2,   // there were READs: answers keep to the class of data
};

struct nic_qp {
    // line 0: what sending needs
    alignas(SIM_CACHE_LINE) nic_qp_t *ready_next; // ring of the class; of the dead: the next one
    nic_qp_t *ready_previous;
    nic_wqe_t *sq; // ring of nic__sq_capacity
    uint64_t next_psn;
    uint64_t in_flight_bytes; // payload in [una_psn, next_psn)
    uint64_t window_bytes;
    uint32_t sq_send;     // WQE being sent; the sq_ indices run freely
    uint32_t send_offset; // bytes of it sent
    uint16_t flags;       // NIC_QP_
    uint16_t mtu_bytes;
    uint16_t ack_countdown; // packets until the next AckReq
    uint8_t priority;
    uint8_t transport; // ROCE_RC... of the packets it takes; NIC_NO_TRANSPORT

    // line 1: what sending and acknowledgements need
    uint64_t una_psn;
    uint64_t max_psn; // first PSN never sent
    const nic_transport_ops_t *ops;
    uint32_t sq_posted;  // end of the queue
    uint32_t sq_done;    // oldest WQE not completed
    uint32_t una_offset; // bytes of it acknowledged
    uint32_t sq_mask;    // of places in sq, 2^n - 1; 0 before the first post
    nic_path_t path;

    // line 2: what receiving needs
    uint64_t expected_psn;
    net_packet_t *queued_ack; // the last ACK that had to queue: may have left by now
    sim_time_t retry_base_ps; // the retransmission timer runs from here
    sim_time_t cnp_next_ps;   // no CNP before
    nic_t *nic;
    uint32_t msn;
    uint32_t rx_left_bytes; // of the WRITE being received
    uint32_t rx_bytes;      // of the message, so far
    uint32_t number;
    uint16_t rx_mtu_bytes;
    uint8_t rx_kind;
    uint8_t rx_flags; // NIC_RX_
    uint8_t ack_priority;
    uint8_t queued_ack_class;
    uint8_t read_count;       // READs to answer
    uint8_t retries_used : 4; // without progress
    uint8_t rnr_retries_used : 4;

    // line 3: pace and time-outs
    sim_time_t next_send_ps;
    uint64_t pace_remainder; // of the division by the rate
    uint64_t pace_bps;       // the rate that next_send_ps stands for
    sim_timer_t pace_timer;
    sim_timer_t retry_timer; // retransmission; while RNR_WAIT the RNR timer
    uint16_t read_first;
    uint16_t read_capacity; // power of two, 0 before the first READ
    uint8_t timeout;
    uint8_t retry_count;
    uint8_t rnr_retry;
    uint8_t reads_outstanding;

    // line 4: what posting, completing and answering need
    nic_cq_t *send_cq;
    nic_cq_t *recv_cq;
    nic_recv_wqe_t *rq;
    nic_read_t *reads;
    nic_pd_t *pd;
    uint32_t rq_posted;
    uint32_t rq_done;
    uint32_t rq_capacity;
    uint32_t send_wr_max;
    uint32_t access;
    uint8_t type;      // nic_qp_type_t
    uint8_t wqe_flags; // of all that is posted: NIC_SEND_SIGNALED, NIC_WQE_HELD
    uint8_t reads_max;
    uint8_t reads_accepted_max;

    // the rest
    nic_srq_t *srq;
    void *ctx;
    nic_write_fn on_write;
    void *on_write_ctx;
    uint64_t rx_address; // where the WRITE being received begins
    uint32_t recv_wr_max;
    uint32_t qkey;
    uint32_t first_psn; // sq_psn
    uint32_t held_psn;
    uint32_t held_aeth;
    sim_time_t held_sent_ps;
    uint64_t retransmitted_packets;
    uint64_t traced_rate_bps;   // that listeners were told; not kept while there are none
    nic_wqe_more_t *sq_more;    // parallel to sq; NULL before the first that needs it
    nic_atomic_done_t *atomics; // the last reads_accepted_max executed; NULL before the first
    uint8_t state;              // nic_qp_state_t
    uint8_t stopped_status;     // nic_wc_status_t of SQ_STOPPED
    uint8_t atomics_next;       // the oldest in atomics
    bool transport_open;
    uint32_t queued_ack_number; // low bits; a later one is newer
    uint32_t sq_failed;         // of those before sq_done: that failed, were flushed or forgotten
    uint16_t reads_ready;       // READs at the head of those to answer whose first data are there
    uint8_t min_rnr_timer;
    uint64_t answer_route; // of its answers, where nic_t.odd_answers; else path.route is
};

static_assert(offsetof(nic_qp_t, next_send_ps) == 3 * SIM_CACHE_LINE, "pace is line 3");
static_assert(offsetof(nic_qp_t, send_cq) == 4 * SIM_CACHE_LINE, "posting is line 4");
static_assert(sizeof(nic_qp_t) == 7 * SIM_CACHE_LINE, "seven lines, and what lies around it");
static_assert(offsetof(nic_qp_t, una_psn) == SIM_CACHE_LINE, "sending begins in line 0");
static_assert(offsetof(nic_qp_t, expected_psn) == 2 * SIM_CACHE_LINE, "receiving is line 2");
static_assert(NIC_PSN_WINDOW * 256 >= NIC_MESSAGE_BYTES_MAX, "any message fits in the PSN window");

// The algorithm's state lies behind the QP, and the transport's behind that; the device's before
// it.
#define NIC_QP_BYTES sizeof(nic_qp_t)
static inline nic_cc_t *nic__cc(nic_qp_t *qp)
{
    return (nic_cc_t *)(void *)((char *)qp + NIC_QP_BYTES);
}
static inline const nic_cc_t *nic__cc_const(const nic_qp_t *qp)
{
    return (const nic_cc_t *)(const void *)((const char *)qp + NIC_QP_BYTES);
}
static inline nic_qp_t *nic__cc_qp(nic_cc_t *cc)
{
    return (nic_qp_t *)(void *)((char *)cc - NIC_QP_BYTES);
}

// -- protection domains, memory regions, completion queues

struct nic_pd {
    nic_t *nic;
    uint32_t number; // from 1
    nic_pd_t *next;
};

struct nic_mr {
    nic_pd_t *pd;
    uint64_t address;
    uint64_t length_bytes;
    uint32_t access;
    uint32_t key;
};

struct nic_srq {
    nic_pd_t *pd;
    nic_recv_wqe_t *ring;
    uint32_t capacity; // power of two, 0 before the first receive
    uint32_t posted;   // both run freely
    uint32_t done;
    uint32_t wr_max;
    uint32_t limit; // fewer are told of; 0: none
    nic_srq_limit_fn limit_fn;
    void *limit_ctx;
    uint64_t number;
    nic_srq_t *next;
};

struct nic_cq {
    // line 0: what completing and polling need
    nic_t *nic;
    nic_wc_t *ring;
    sim_time_t *seen_ps;     // parallel to ring, with a core: from when on it finds the completion
    nic_core_t *core;        // that polls it; NULL: none
    sim_time_t last_seen_ps; // of its last completion, by a detailed NIC
    uint32_t ring_capacity;  // power of two, grows up to what `capacity` needs
    uint32_t room;           // so many it takes as it is; 0 where it has overflowed
    uint32_t first;
    uint32_t count;
    uint32_t number;
    uint32_t context_slot; // as of a QP

    nic_cq_fn fn;
    void *ctx;
    nic_cq_t *next;
    nic_cq_t *next_of_core;
    uint32_t capacity;
    bool overflowed;
    bool noted; // its program is to be told
};

static_assert(offsetof(nic_cq_t, fn) == SIM_CACHE_LINE, "a poll needs one line of a CQ");

typedef struct nic_cnp_slot {
    uint32_t interface; // plus 1; 0: free
    sim_time_t next_ps;
} nic_cnp_slot_t;

// -- NIC and host

struct nic {
    alignas(SIM_CACHE_LINE) net_port_t *port;
    nic_host_t *host;
    nic_qp_t ***qp_pages; // by (number - ROCE_QPN_FIRST) >> NIC_QP_PAGE_BITS; NULL: none there
    // That an ACK [1], or any other packet [0] came for, likely the next one too; NULL: gone.
    nic_qp_t *latest[2];
    uint32_t latest_numbers[2];
    uint32_t qp_page_count;
    uint8_t ready_classes; // classes in which queue pairs have joined the scheduler
    bool kicked;           // in the host's list
    uint8_t cnp_priority;
    uint8_t cnp_dscp;
    uint16_t header_bytes; // of a frame without extension headers, ICRC included
    uint16_t ack_bytes;    // of the frame of an ACK or NAK; 0: as its headers are
    uint16_t frame_bytes_min;
    uint16_t overhead_bytes; // on the link, for each frame
    bool ring;               // the scheduler is nic_scheduler_ring, which is compiled in
    uint16_t ack_interval;
    uint32_t trace_points; // union over listeners
    uint32_t interface;
    bool detailed; // its device has operations: it is not the ideal one
    bool contents; // payloads are looked at: the host's memory has contents, or limits
    bool bound;    // limits: nic/fabric.h
    bool plain;    // packets go straight to the protocol: neither detailed nor a loop
    bool served;   // they go to its device
    uint32_t quantum_bytes[NET_PRIORITIES]; // of its port's scheduler
    nic_t *next_kicked;
    // Of other frames than the standard's (nic/frames.h); NULL: extension headers, payload and pad.
    uint32_t (*body_bytes)(uint32_t extension_bytes, uint32_t payload_bytes);
    bool any_mtu;
    bool odd_answers; // they do not go as requests do: by routes or queues of their own
    const nic_schedule_loop_t *loop; // of the scheduler; NULL: that of nic/schedule/scheduler.c
    nic_qp_t *ready[NET_PRIORITIES]; // of the ring: whose turn it is
    nic_counters_t counters;
    // ACKs, NAKs and CNPs that had to wait, by class: how many came and left.
    uint64_t queue_pushed[NET_PRIORITIES];
    uint64_t queue_popped[NET_PRIORITIES];
    sim_time_t cnp_next_ps; // scope: port

    nic_accept_fn accept;
    void *accept_ctx;
    uint32_t next_qp_num;
    uint32_t qp_page_capacity;
    uint32_t active_qps; // QPs whose algorithm was started
    uint64_t *qp_gone;   // by page: a bit per number that a destroyed QP had
    nic_mr_t **mrs;      // by key >> 8, from 1
    uint32_t mr_count;
    size_t mr_capacity;
    uint32_t mr_free; // no slot before it is free, 0 apart
    uint32_t mr_generation;
    nic_pd_t *pds;
    nic_cq_t *cqs;
    nic_srq_t *srqs;
    const nic_cc_ops_t *cc_ops;
    const void *cc_config;
    nic_cnp_slot_t *cnp_slots; // scope: destination; open addressing
    uint32_t cnp_slot_count;
    uint32_t cnp_slot_capacity;
    struct nic_listener *listeners;
    const nic_device_ops_t *device;
    void *device_state;
    const nic_scheduler_ops_t *scheduler;
    void *scheduler_state;
    uint32_t joined[NET_PRIORITIES]; // of another scheduler than the ring: how many have joined
    struct nic_report *reports;      // of its parts (nic/reports.h)
    size_t report_count;
    size_t report_capacity;
    const nic_transport_ops_t *transport; // of RC queue pairs that do not say
    struct nic_transport_share *shares;
    uint32_t checked_index; // of the queue pair looked at last, with dear checks
};

// What the queue pairs of one transport share.
struct nic_transport_share {
    const nic_transport_ops_t *ops;
    void *state;
    struct nic_transport_share *next;
};

typedef struct nic_page nic_page_t;
typedef struct nic_page_slot {
    uint64_t number;
    nic_page_t *page; // NULL: free
} nic_page_slot_t;

typedef struct nic_fill nic_fill_t;

struct nic_memory {
    nic_page_slot_t *slots; // open addressing by number; NULL before the first page
    uint64_t slot_count;    // power of two
    uint64_t page_count;
    nic_fill_t *fills; // NULL: none
};

// What a program is to be told when the event is over: of a completion queue, of a shared receive
// queue, else of a WRITE to a queue pair; or that it is to be seen whether that has come to rest.
typedef struct nic_notice {
    nic_cq_t *cq;
    nic_srq_t *srq;
    nic_qp_t *qp;
    nic_srq_limit_fn limit_fn;
    void *ctx; // of limit_fn
    uint64_t address;
    uint32_t bytes;
    bool rests;
} nic_notice_t;

typedef struct nic_fabric nic_fabric_t;

// Of a host's cores, whatever NICs it has.
typedef struct nic_clock {
    uint64_t mhz; // up to two at work
    uint64_t all_mhz;
    uint64_t all_from; // so many; 0: the clock is the same for any number of them
} nic_clock_t;

typedef struct nic_steps nic_steps_t;
struct nic_host {
    net_node_t node; // first
    nic_t *nics;     // port_count of them
    nic_t *kicked;   // NICs that may have something to send, looked at when the event is over
    nic_qp_t *dead;  // destroyed QPs, freed when the event is over
    bool in_event;
    bool one_port;      // one port and no events but the node's: nic/host/node.c has a loop for it
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
    nic_clock_t clock;
    nic_memory_t memory;
    nic_fabric_t *fabric;
    nic_steps_t *steps;    // nic/steps_internal.h; NULL: timers do it all
    nic_steps_t *lanes;    // those, while the host runs
    nic_notice_t *notices; // in order
    uint32_t notice_count;
    uint32_t notice_capacity;
    const nic_config_t *config; // shared with hosts that have an equal one
};

static inline sim_node_t *nic__node(const nic_t *nic)
{
    return &nic->host->node.sim;
}

#endif // NIC_OBJECTS_INTERNAL_H
