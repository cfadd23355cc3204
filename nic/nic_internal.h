// SPDX-License-Identifier: Apache-2.0
// nic/nic_internal.h - what the files of nic/ share: the structs of hosts, NICs and queue pairs.
//
// The steps of a work request are functions of their own, so that a NIC whose steps cost something
// has places to put it. In the ideal NIC each takes no time:
//
//     sending                                       receiving
//     nic__doorbell          post to NIC            nic__receive           packet to NIC
//     nic__fetch_wqe         WQE from host memory   nic__find_qp           QP number to QP
//     nic__requester_ready   QP state               nic__write_payload     payload to host memory
//     nic__read_payload      payload from memory    nic__write_cqe         CQE to host memory
//     transmit_qp            packet to the port
//
// Packet sequence numbers are 64 bits inside and their low 24 bits on the wire. Half-open ranges:
// una_psn is the first PSN not acknowledged, next_psn the next one to be sent.
#ifndef NIC_NIC_INTERNAL_H
#define NIC_NIC_INTERNAL_H

#include "net/port.h"
#include "nic/device.h"
#include "nic/host.h"
#include "nic/memory.h"
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

typedef struct nic_wqe {
    uint64_t wr_id;
    uint64_t local_address;  // NIC_WQE_LIST: of the list of places, whose number is lkey
    uint64_t remote_address; // UD: interface << 32 | QP number
    uint32_t length;
    uint32_t lkey;
    uint32_t rkey; // UD: Q_Key
    uint32_t immediate;
    uint32_t end_psn; // first PSN after it, low 32 bits; valid once it began to be sent
    uint8_t opcode;   // nic_wr_opcode_t
    uint8_t flags;    // NIC_SEND_ bits, NIC_WQE_HELD, NIC_WQE_LIST
} nic_wqe_t;

// Posted before or while the send queue drains: it does not begin before the state is RTS again.
#define NIC_WQE_HELD 0x80u
#define NIC_WQE_LIST 0x40u // it has several places

// What few work requests have, in the same place of a ring of its own: the operands of an atomic,
// and an inline payload that is not all zeros.
typedef struct nic_wqe_more {
    uint64_t compare_add;
    uint64_t swap;
    uint8_t *inlined; // NULL: none
    uint32_t inlined_bytes;
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

// The same of a completion.
static inline bool nic__is_fetched(nic_wc_opcode_t opcode)
{
    return opcode == NIC_WC_RDMA_READ || opcode == NIC_WC_COMP_SWAP || opcode == NIC_WC_FETCH_ADD;
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
    uint32_t source; // interfaces
    uint32_t destination;
    uint32_t flow_hash;
    uint32_t destination_qp;
    uint16_t udp_source_port;
    uint8_t dscp;
    uint8_t ecn; // of data
} nic_path_t;

// -- queue pair

enum {
    NIC_QP_READY = 1 << 0,      // in the ring of its class: it can send a packet now
    NIC_QP_PACING = 1 << 1,     // waits for pace_timer
    NIC_QP_PACED = 1 << 2,      // slower than the port
    NIC_QP_CC_SENT = 1 << 3,    // the algorithm wants to hear of each packet
    NIC_QP_ACTIVE = 1 << 4,     // the algorithm was started
    NIC_QP_RNR_WAIT = 1 << 5,   // retry_timer holds back the send queue
    NIC_QP_SQ_STOPPED = 1 << 6, // the WQE at sq_send failed locally; its error waits for its turn
    NIC_QP_RECOVERING = 1 << 7, // a READ was issued again and has not progressed yet
    NIC_QP_TURN = 1 << 8,       // READ responses had the last turn
    NIC_QP_DEAD = 1 << 9,       // destroyed, memory held until the end of the event
    NIC_QP_UNRELIABLE = 1 << 10,
    NIC_QP_CLOSED = 1 << 11,    // the send queue does not work: the state is not RTS
    NIC_QP_READS = 1 << 12,     // READs are to be answered
    NIC_QP_FEEDBACK = 1 << 13,  // packets say how they are to be answered
    NIC_QP_OVERSHOOT = 1 << 14, // a packet may start while less than the window is in flight
    NIC_QP_FETCHING = 1 << 15,  // detailed NIC: what is to be sent next is on its way through it
};

// Opcode bits of no transport, for QPs that take no packets.
#define NIC_NO_TRANSPORT 0xff

typedef enum nic_rx_kind { NIC_RX_NONE, NIC_RX_SEND, NIC_RX_WRITE } nic_rx_kind_t;

enum {
    NIC_RX_NAK_SENT = 1 << 0, // for expected_psn, which has not come since
    NIC_RX_STOPPED = 1 << 1,  // a fatal NAK waits behind READ responses
    NIC_RX_HELD = 1 << 2,     // held_aeth waits behind READ responses
    NIC_RX_READS = 1 << 3,    // there were READs: answers keep to the class of data
    NIC_RX_LISTED = 1 << 4,   // in the list of nic/schedule/scan.h
};

struct nic_qp {
    // line 0: what sending needs
    nic_qp_t *ready_next; // ring of the class; of the dead: the next one
    nic_qp_t *ready_previous;
    nic_wqe_t *sq; // ring of sq_capacity
    uint64_t next_psn;
    uint64_t in_flight_bytes; // payload in [una_psn, next_psn)
    uint64_t window_bytes;
    uint32_t sq_send;     // WQE being sent; the sq_ indices run freely
    uint32_t send_offset; // bytes of it sent
    uint16_t flags;       // NIC_QP_
    uint16_t mtu_bytes;
    uint16_t ack_countdown; // packets until the next AckReq
    uint8_t priority;

    // line 1: what sending and acknowledgements need
    uint64_t una_psn;
    uint64_t max_psn; // first PSN never sent
    const nic_transport_ops_t *ops;
    uint32_t sq_posted;   // end of the queue
    uint32_t sq_done;     // oldest WQE not completed
    uint32_t una_offset;  // bytes of it acknowledged
    uint32_t sq_capacity; // power of two, 0 before the first post
    nic_path_t path;
    uint8_t retries_used; // without progress
    uint8_t rnr_retries_used;
    uint8_t reads_outstanding;
    uint8_t transport; // ROCE_RC... of the packets it takes; NIC_NO_TRANSPORT

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
    uint8_t read_count; // READs to answer

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
    uint8_t min_rnr_timer;

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
    uint32_t last_frame_bytes; // of the last packet sent; kept with nic/schedule/scan.h only
    sim_time_t held_sent_ps;
    uint64_t retransmitted_packets;
    uint64_t traced_rate_bps; // that listeners were told; not kept while there are none
    sim_time_t nak_ps;
    nic_wqe_more_t *sq_more;    // parallel to sq; NULL before the first that needs it
    nic_atomic_done_t *atomics; // the last reads_accepted_max executed; NULL before the first
    uint8_t state;              // nic_qp_state_t
    uint8_t stopped_status;     // nic_wc_status_t of SQ_STOPPED
    uint8_t atomics_next;       // the oldest in atomics
    bool transport_open;
    uint32_t queued_ack_number; // low bits; a later one is newer
    uint16_t reads_ready;       // READs at the head of those to answer whose first data are there
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
    uint32_t capacity : 30;
    uint32_t overflowed : 1;
    uint32_t noted : 1; // its program is to be told
    uint32_t first;
    uint32_t count;
    uint32_t number;
    uint32_t context_set; // as of a QP

    nic_cq_fn fn;
    void *ctx;
    nic_cq_t *next;
    nic_cq_t *next_of_core;
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
    nic_qp_t *latest;     // that a packet came for, likely the next one too; NULL: gone
    uint32_t latest_number;
    uint32_t qp_page_count;
    uint8_t ready_classes; // classes whose ring is not empty
    bool kicked;           // in the host's list
    uint8_t cnp_priority;
    uint8_t cnp_dscp;
    uint16_t header_bytes; // of a frame without extension headers, ICRC included
    uint16_t ack_bytes;    // of the frame of an ACK or NAK; 0: as its headers are
    uint16_t frame_bytes_min;
    uint16_t overhead_bytes; // on the link, for each frame
    bool bare;               // frames are payload and header_bytes, without more headers or pad
    bool receiving;          // a packet is being looked at; kept with nic/schedule/scan.h only
    uint16_t ack_interval;
    uint32_t trace_points; // union over listeners
    uint32_t interface;
    bool detailed; // its device has operations: it is not the ideal one
    bool contents; // the host's memory has some
    bool plain;    // packets go straight to the protocol: neither detailed nor scan
    nic_t *next_kicked;
    struct nic_scan *scan;           // NULL: the scheduler of nic/schedule/scheduler.c
    nic_qp_t *ready[NET_PRIORITIES]; // who is next
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
    uint64_t went_back; // sequence NAKs after which a requester went back
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
    struct nic_report *reports; // of its parts (nic/reports.h)
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

struct nic_host {
    net_node_t node; // first
    nic_t *nics;     // port_count of them
    nic_t *kicked;   // NICs that may have something to send, looked at when the event is over
    nic_qp_t *dead;  // destroyed QPs, freed when the event is over
    bool in_event;
    bool ending;               // packets go with their network
    uint8_t warm_class;        // the class most packets are expected in
    const nic_qp_t *sent_last; // only to be prefetched: they may be gone
    const nic_qp_t *received_last;
    nic_core_t *core; // whose step is running
    nic_core_t *cores;
    uint32_t cores_started;
    uint32_t core_slow_permille; // 1000: at the clock rate that costs are given for
    nic_memory_t memory;
    nic_notice_t *notices; // in order
    uint32_t notice_count;
    uint32_t notice_capacity;
    nic_config_t config;
};

static inline sim_node_t *nic__node(const nic_t *nic)
{
    return &nic->host->node.sim;
}

// trace.c
void nic__trace_tell(const nic_trace_t *trace);
void nic__trace_value(const nic_t *nic,
                      const nic_qp_t *qp,
                      nic_trace_point_t point,
                      uint64_t value,
                      uint64_t before);
void nic__trace_control(nic_qp_t *qp, uint64_t window_before_bytes);
// Frees the listeners of a QP; of the NIC and all its QPs where qp is NULL.
void nic__trace_forget(nic_t *nic, const nic_qp_t *qp);
static inline bool nic__traced(const nic_t *nic, uint32_t points)
{
    return SIM_UNLIKELY((nic->trace_points & points) != 0);
}
static inline void nic__trace(const nic_t *nic,
                              const nic_qp_t *qp,
                              nic_trace_point_t point,
                              uint64_t value,
                              uint64_t before)
{
    if (nic__traced(nic, point)) {
        nic__trace_value(nic, qp, point, value, before);
    }
}

static inline uint32_t nic__min(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

// A packet of a QP, complete but for opcode, PSN, payload and extension headers, which take
// `body_bytes` together (pad included).
static inline net_packet_t *nic__new_packet(nic_t *nic,
                                            const nic_qp_t *qp,
                                            uint8_t priority,
                                            uint8_t ecn,
                                            uint32_t body_bytes)
{
    const uint32_t bytes = nic->header_bytes + body_bytes;
    const uint32_t frame_bytes = bytes < nic->frame_bytes_min ? nic->frame_bytes_min : bytes;
    net_packet_t *const packet = net_packet_new(&nic->host->node, frame_bytes);
    *packet = (net_packet_t){
        .source = qp->path.source,
        .destination = qp->path.destination,
        .flow_hash = qp->path.flow_hash,
        .frame_bytes = (uint16_t)frame_bytes,
        .udp_source_port = qp->path.udp_source_port,
        .kind = NET_PACKET_ROCE,
        .priority = priority,
        .dscp = qp->path.dscp,
        .ecn = ecn,
        .ttl = NIC_TTL,
        .destination_qp = qp->path.destination_qp,
        .sent_ps = nic__node(nic)->now_ps,
    };
    return packet;
}

// The packet collects telemetry from here on, or brings back what another collected: `from`.
void nic__add_telemetry(nic_t *nic,
                        net_packet_t *packet,
                        net_telemetry_t kind,
                        const net_packet_t *from);

// Whether a packet's ACK is to say more than that it arrived.
static inline bool nic__wants_feedback(const net_packet_t *packet)
{
    return packet->telemetry != NET_TELEMETRY_NONE || packet->acked_alone || packet->echo_ecn;
}

// The local ACK timeout (9.7.6.1.3): the standard allows up to four times this.
static inline sim_time_t nic__timeout_ps(const nic_qp_t *qp)
{
    return UINT64_C(4096000) << qp->timeout;
}

// transport.c: the round trip of the idle path: propagation, a full frame there and an ACK back on
// each link.
sim_time_t nic__idle_rtt_ps(const nic_qp_t *qp);

// How far a wire PSN is from a 64-bit one, within half of the 24-bit space.
static inline int64_t nic__psn_distance(uint32_t wire_psn, uint64_t psn)
{
    return (int32_t)((wire_psn - (uint32_t)psn) << 8) >> 8;
}

static inline nic_wqe_t *nic__wqe(const nic_qp_t *qp, uint32_t index)
{
    return &qp->sq[index & (qp->sq_capacity - 1)];
}

// The end of a WQE as a 64-bit PSN; `near_psn` is any PSN within 2^31 of it.
static inline uint64_t nic__wqe_end(const nic_wqe_t *wqe, uint64_t near_psn)
{
    return near_psn + (uint64_t)(int64_t)(int32_t)(wqe->end_psn - (uint32_t)near_psn);
}

// A message of no bytes is one packet.
static inline uint32_t nic__packet_count(const nic_qp_t *qp, uint32_t length_bytes)
{
    return length_bytes == 0 ? 1 : (length_bytes + qp->mtu_bytes - 1) / qp->mtu_bytes;
}

// host.c
// Something may be ready to be sent: it will be when this event is over, or when the port is free.
void nic__kick(nic_t *nic);

// scheduler.c
void nic__schedule(nic_qp_t *qp); // the QP may have become able to send
void nic__unschedule(nic_qp_t *qp);
void nic__repace(nic_qp_t *qp); // the rate changed: what is left of the wait goes at the new one
void nic__transmit(nic_t *nic); // the port is free: send what is next
void nic__send(nic_t *nic, net_packet_t *packet);           // an ACK, NAK or CNP, now or when free
void nic__pace_fired(sim_node_t *node, sim_timer_t *timer); // a sim_timer_fn

void nic__transmit_queued(nic_t *nic, uint32_t priority); // the first that waits in a class
void nic__packet_left(nic_qp_t *qp, bool response);       // what follows from sending a packet

// scan.c
void nic__scan_add(nic_qp_t *qp); // it has something to do
void nic__scan_forget(nic_qp_t *qp);
void nic__scan_repace(nic_qp_t *qp);
void nic__scan_transmit(nic_t *nic); // the port is free: look for something to send

// -- what the queue pair's transport does

static inline bool nic__requester_ready(const nic_qp_t *qp)
{
    return qp->ops->ready(qp);
}
static inline bool nic__can_send(const nic_qp_t *qp)
{
    return (qp->flags & NIC_QP_READS) != 0 || nic__requester_ready(qp);
}
static inline net_packet_t *nic__build_request(nic_t *nic, nic_qp_t *qp) // NULL: the WQE failed
{
    return qp->ops->next_packet(nic, qp);
}
// transport.c
size_t nic__transport_qp_bytes(const nic_t *nic, const nic_transport_ops_t *ops);
void nic__transport_open(nic_qp_t *qp);
void nic__transport_close(nic_qp_t *qp);
void nic__transports_free(nic_t *nic);
// unreliable.c
extern const nic_transport_ops_t nic__transport_uc;
extern const nic_transport_ops_t nic__transport_ud;

// acknowledge.c
void nic__retry_fired(sim_node_t *node, sim_timer_t *timer); // a sim_timer_fn
void nic__rest(nic_qp_t *qp); // stops timers if nothing is left to do, when programs were told
void nic__rest_now(nic_qp_t *qp);

// receive.c: takes the packet
void nic__receive(nic_t *nic, net_packet_t *packet);

// responses.c: READs and atomics to be answered
net_packet_t *nic__build_response(nic_t *nic, nic_qp_t *qp);
// answer.c
void nic__responses_sent(nic_qp_t *qp); // the last response of all is on its way
bool nic__ack_still_queued(const nic_qp_t *qp);

// receive_queue.c
bool nic__take_shared(nic_qp_t *qp); // false: none is there
void nic__free_receives(nic_recv_wqe_t *ring, uint32_t capacity);
void nic__srqs_free(nic_t *nic);
// Whether a message that begins finds a receive: the QP's oldest is it then.
static inline bool nic__receive_posted(nic_qp_t *qp)
{
    return SIM_LIKELY(qp->rq_done != qp->rq_posted) || (qp->srq != NULL && nic__take_shared(qp));
}

static inline const nic_recv_wqe_t *nic__oldest_receive(const nic_qp_t *qp)
{
    return &qp->rq[qp->rq_done & (qp->rq_capacity - 1)];
}
// Where the message being received goes.
static inline nic_place_t nic__rx_place(const nic_qp_t *qp, nic_rx_kind_t kind)
{
    return kind == NIC_RX_SEND ? nic__receive_place(nic__oldest_receive(qp))
                               : (nic_place_t){.address = qp->rx_address, .count = 1};
}

// Frees a packet that reached its end.
static inline void nic__consume(nic_t *nic, net_packet_t *packet)
{
    net_packet_deliver(&nic->host->node, packet);
}

static inline void nic__consume_empty(nic_t *nic, net_packet_t *packet)
{
    net_packet_deliver_empty(&nic->host->node, packet);
}

// qp_check.c: each aborts where something does not hold
void nic__qp_check(const nic_qp_t *qp);
void nic__cq_check(const nic_cq_t *cq);
void nic__check(const nic_t *nic);       // all of it
void nic__check_after_event(nic_t *nic); // a part

// notice.c
void nic__notice(nic_host_t *host, const nic_notice_t *notice);
void nic__hand_over(nic_host_t *host);         // at the end of an event
void nic__hand_over_outside(nic_host_t *host); // of a call before the run

// completion.c
// The queue pair fails if the queue overflows: look at the state afterwards.
void nic__write_cqe(nic_qp_t *qp, nic_cq_t *cq, const nic_wc_t *wc);
void nic__complete_send(nic_qp_t *qp, const nic_wqe_t *wqe, nic_wc_status_t status);
void nic__complete_fetch(nic_qp_t *qp, const nic_wqe_t *wqe, uint64_t original); // success

// memory.c
bool nic__access_ok(const nic_pd_t *pd,
                    uint32_t key,
                    uint64_t address,
                    uint64_t length_bytes,
                    uint32_t access);
// The region of a key; NULL: there is none.
nic_mr_t *nic__region(const nic_t *nic, uint32_t key);
bool nic__list_ok(const nic_pd_t *pd, const nic_sge_t *list, uint32_t count, uint32_t access);
// The number of the protection domain of a key; 0: there is no such key.
uint32_t nic__pd_number(const nic_t *nic, uint32_t key);

// gather.c: work requests with several places
nic_sge_t *nic__copy_list(const nic_sge_t *list, uint32_t count);
// The whole length; false: too many places, or too long.
bool nic__list_length(const nic_sge_t *sge, const nic_sge_t *list, uint32_t count, uint64_t *bytes);
static inline bool nic__place_ok(const nic_pd_t *pd,
                                 const nic_place_t *place,
                                 uint64_t length_bytes,
                                 uint32_t access)
{
    return SIM_LIKELY(place->list == NULL)
               ? nic__access_ok(pd, place->key, place->address, length_bytes, access)
               : nic__list_ok(pd, place->list, place->count, access);
}
// The first piece of at most `bytes` bytes that is in one place, from `offset` on.
nic_sge_t nic__first_piece(const nic_place_t *place, uint64_t offset, uint64_t bytes);

// contents.c
void nic__memory_fini(nic_memory_t *memory);
// host.c
void nic__note_contents(nic_memory_t *memory); // from now on there are some

// payload.c: contents of a packet, taken from memory and put there
void nic__carry(nic_t *nic, net_packet_t *packet, uint64_t address);
void nic__carry_request(nic_qp_t *qp, uint32_t index, uint32_t offset, net_packet_t *packet);
// From `offset` on of a place.
void nic__keep(nic_t *nic, const net_packet_t *packet, const nic_place_t *place, uint64_t offset);
// Of a request: they go where its message goes if it is accepted, and the packet has none left.
void nic__take_contents(const nic_qp_t *qp,
                        net_packet_t *packet,
                        nic_rx_kind_t kind,
                        bool accepted);
static inline bool nic__keeps(const nic_t *nic, const net_packet_t *packet)
{
    return SIM_UNLIKELY((packet->contents | nic->contents) != 0);
}
// What a work request has besides its WQE.
void nic__set_more(nic_qp_t *qp, uint32_t index, const nic_send_wr_t *wr);
void nic__grow_more(nic_qp_t *qp, uint32_t capacity);
void nic__free_more(nic_qp_t *qp);
static inline bool nic__needs_more(const nic_qp_t *qp, const nic_send_wr_t *wr)
{
    return SIM_UNLIKELY(qp->sq_more != NULL) || SIM_UNLIKELY(nic__is_atomic((uint8_t)wr->opcode)) ||
           (SIM_UNLIKELY(qp->nic->contents) && (wr->send_flags & NIC_SEND_INLINE) != 0) ||
           SIM_UNLIKELY(wr->num_sge > 1);
}

// qp.c
// Whether a QP of this number existed and does not exist any more.
bool nic__qp_is_gone(const nic_t *nic, uint32_t number);
static inline nic_qp_t *nic__find_qp(const nic_t *nic, uint32_t number) // NULL: there is none
{
    const uint32_t index = number - ROCE_QPN_FIRST;
    const uint32_t page = index >> NIC_QP_PAGE_BITS;
    if (SIM_UNLIKELY(page >= nic->qp_page_count || nic->qp_pages[page] == NULL)) {
        return NULL;
    }
    return nic->qp_pages[page][index & (NIC_QP_PAGE - 1)];
}
void nic__free_dead(nic_host_t *host);
void nic__qp_free(nic_qp_t *qp);
void nic__flush_late(nic_qp_t *qp); // what was posted in an error completes as flushed, a bit later
void nic__flush(nic_qp_t *qp);      // now
// The oldest work request fails with status, and the QP with it.
void nic__fail_request(nic_qp_t *qp, nic_wc_status_t status);

// congestion.c
void nic__cc_create(nic_qp_t *qp, uint64_t line_bps, uint64_t window_bytes);
void nic__cc_sync(nic_qp_t *qp); // after an operation: the QP follows rate and window
void nic__cc_start(nic_qp_t *qp);
void nic__cc_stop(nic_qp_t *qp);
void nic__cc_ack(nic_qp_t *qp, const net_packet_t *packet, uint64_t acked_bytes, bool nak);
// An ACK of what is acknowledged already: another path was shorter. end_psn: what it says.
void nic__cc_late_ack(nic_qp_t *qp, const net_packet_t *packet, uint64_t end_psn);

// -- the device (nic/device.h)

// Calls an operation of it, if it has that one.
#define NIC_DEVICE(nic_, operation, ...)                                           \
    do {                                                                           \
        if (SIM_UNLIKELY((nic_)->detailed) && (nic_)->device->operation != NULL) { \
            (nic_)->device->operation(__VA_ARGS__);                                \
        }                                                                          \
    } while (0)
// device.c
void nic__device_create(nic_t *nic);
void nic__device_destroy(nic_t *nic);
// completion.c: into the queue, now or to be seen later
void nic__add_completion(nic_qp_t *qp, nic_cq_t *cq, const nic_wc_t *wc, sim_time_t seen_ps);

// core.c
void nic__core_notice(nic_core_t *core, sim_time_t seen_ps);
void nic__cores_free(nic_host_t *host);

// The payload of a packet goes to host memory.
static inline void nic__write_payload(nic_t *nic, uint32_t bytes)
{
    nic->counters.rx_data_bytes += bytes;
    NIC_DEVICE(nic, payload, nic, bytes);
}

// A WRITE lies whole in memory.
static inline void nic__tell_write(nic_qp_t *qp)
{
    const nic_t *const nic = qp->nic;
    if (SIM_UNLIKELY(nic->detailed) && nic->device->wrote != NULL) {
        nic->device->wrote(qp, qp->rx_address, qp->rx_bytes);
    } else {
        nic__notice(nic->host,
                    &(nic_notice_t){.qp = qp, .address = qp->rx_address, .bytes = qp->rx_bytes});
    }
}

// extra.c
void nic__extras_copy(nic_config_t *to, const nic_config_t *from); // NULL: defaults
void nic__extras_fini(nic_config_t *config);
// The algorithm of a config with its own config; NULL: unknown.
const nic_cc_ops_t *nic__config_cc(const nic_config_t *config, const void **cc_config);
const nic_transport_ops_t *nic__config_transport(const nic_config_t *config); // NULL: unknown
// The config of a row that a program added; NULL: it has none.
const void *nic__extra_config_of(const nic_config_t *config, const void *ops);

#endif // NIC_NIC_INTERNAL_H
