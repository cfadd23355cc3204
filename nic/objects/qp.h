// SPDX-License-Identifier: Apache-2.0
// nic/objects/qp.h - the queue pair.
//
// Its fields are sorted by cache line, so that each step of a packet reads few lines. Within a line
// each group of fields says which part of nic/ writes it. The scheduler's and the device's state
// lie before the struct, congestion control's and the transport's behind it.
#ifndef NIC_OBJECTS_QP_H
#define NIC_OBJECTS_QP_H

#include "kernel/event.h"
#include "nic/congestion.h"
#include "nic/objects/wqe.h"
#include "nic/transport.h"

#define NIC_MESSAGE_BYTES_MAX (UINT64_C(1) << 31)
// Largest number of outstanding PSNs: half of the 24-bit space, so that comparisons are unambiguous
// (9.7.5).
#define NIC_PSN_WINDOW (UINT64_C(1) << 23)
#define NIC_FOREVER 7 // rnr_retry: no limit

// A READ or atomic to be answered.
typedef struct nic_read {
    uint64_t next_psn;
    uint64_t address; // address of the next byte to be sent
    uint32_t left_bytes;
    uint32_t msn;
    uint32_t key;        // of its region
    bool started;        // the first response is sent
    bool retransmission; // repeats an earlier READ or atomic
    bool atomic;
    uint64_t original; // an atomic's word before the operation
} nic_read_t;

// An atomic that was executed. If the requester asks again, it is answered again, but not executed
// again (9.4.5).
typedef struct nic_atomic_done {
    uint64_t psn;
    uint64_t original;
} nic_atomic_done_t;

// The addresses and header fields that every packet of a QP carries.
typedef struct nic_path {
    uint64_t route;       // net_packet_t.route; 0 for a UD queue pair
    uint32_t destination; // interface
    uint32_t flow_hash;
    uint32_t destination_qp;
    uint16_t udp_source_port;
    uint8_t dscp;
    uint8_t ecn; // ECN field of data packets
} nic_path_t;

enum {
    NIC_QP_READY = 1 << 0,      // the QP has joined the scheduler: it can send a packet now
    NIC_QP_PACING = 1 << 1,     // the QP waits for pace_timer
    NIC_QP_PACED = 1 << 2,      // the QP's rate is below the port's
    NIC_QP_CC_SENT = 1 << 3,    // the algorithm wants to hear of each packet sent
    NIC_QP_ACTIVE = 1 << 4,     // the algorithm was started
    NIC_QP_RNR_WAIT = 1 << 5,   // retry_timer holds back the send queue
    NIC_QP_SQ_STOPPED = 1 << 6, // the WQE at sq_send failed locally; its error waits for its turn
    NIC_QP_TURN = 1 << 7,       // READ responses had the last turn
    NIC_QP_DEAD = 1 << 8,       // destroyed; its memory is freed at the end of the event
    NIC_QP_UNRELIABLE = 1 << 9,
    NIC_QP_CLOSED = 1 << 10,    // the send queue does not work: the state is not RTS
    NIC_QP_READS = 1 << 11,     // READs wait to be answered
    NIC_QP_FEEDBACK = 1 << 12,  // packets say how they want to be answered
    NIC_QP_OVERSHOOT = 1 << 13, // a packet may start while less than the window is in flight
    NIC_QP_FETCHING = 1 << 14,  // the device still fetches what is to be sent next
    NIC_QP_HOST_TOLD = 1 << 15, // ACKs report the time in the peer's NIC
};

// Value of nic_qp_t.transport for queue pairs that take no packets: no transport's opcode bits.
#define NIC_NO_TRANSPORT 0xff

typedef enum nic_rx_kind {
    NIC_RX_NONE,
    NIC_RX_SEND,
    NIC_RX_WRITE,
    NIC_RX_REVOKED_SEND, // the region of the message was deregistered
    NIC_RX_REVOKED_WRITE,
} nic_rx_kind_t;

enum {
    NIC_RX_STOPPED = 1 << 0, // a fatal NAK waits behind READ responses
    NIC_RX_HELD = 1 << 1,    // held_aeth waits behind READ responses
    NIC_RX_READS = 1 << 2,   // there were READs: answers keep to the class of data
    NIC_RX_GRH = 1 << 3,     // UD: receives begin with room for the header
};

struct nic_qp {
    // -- line 0: read by each packet sent
    // schedule: ring of the queue pairs of a class that can send; of dead ones: the next one
    alignas(SIM_CACHE_LINE) nic_qp_t *ready_next;
    nic_qp_t *ready_previous;
    // verbs
    nic_wqe_t *sq; // ring of nic__sq_capacity places; the sq_ indices run freely
    // transport: the position to send from
    uint64_t next_psn;
    uint64_t in_flight_bytes; // payload in [una_psn, next_psn)
    uint64_t window_bytes;    // cc
    uint32_t sq_send;         // WQE being sent
    uint32_t send_offset;     // bytes of it sent
    uint16_t flags;           // NIC_QP_; all parts
    uint16_t mtu_bytes;
    uint16_t ack_countdown; // packets until the next AckReq
    uint8_t priority;
    uint8_t transport; // opcode bits (ROCE_RC...) of the packets it takes; NIC_NO_TRANSPORT

    // -- line 1: also read by each acknowledgement
    // transport: the position acknowledged
    uint64_t una_psn;
    uint64_t max_psn; // first PSN never sent
    const nic_transport_ops_t *ops;
    uint32_t sq_posted;  // verbs: end of the send queue
    uint32_t sq_done;    // oldest WQE not completed
    uint32_t una_offset; // bytes of it acknowledged
    // verbs
    uint32_t sq_mask; // places in sq, 2^n, minus 1; 0 before the first post
    nic_path_t path;

    // -- line 2: read by each packet received
    // transport: the responder's position, and its answers
    uint64_t expected_psn;
    net_packet_t *queued_ack; // the last ACK that had to queue; it may have left by now
    sim_time_t retry_base_ps; // the retransmission timer runs from here
    sim_time_t cnp_next_ps;   // no CNP before this time
    nic_t *nic;               // verbs
    uint32_t msn;
    uint32_t rx_left_bytes; // rest of the WRITE being received
    uint32_t rx_bytes;      // received of the current message
    uint32_t number;        // verbs
    uint16_t rx_mtu_bytes;
    uint8_t rx_kind;  // nic_rx_kind_t
    uint8_t rx_flags; // NIC_RX_
    uint8_t ack_priority;
    uint8_t queued_ack_class;
    uint8_t read_count;       // READs to answer
    uint8_t retries_used : 4; // without progress
    uint8_t rnr_retries_used : 4;

    // -- line 3: pacing and time-outs
    // schedule
    sim_time_t next_send_ps;
    uint64_t pace_remainder; // remainder of the division by the rate
    uint64_t pace_bps;       // rate that next_send_ps was computed with
    sim_timer_t pace_timer;
    // transport
    sim_timer_t retry_timer; // retransmission; the RNR timer while RNR_WAIT is set
    uint16_t read_first;
    uint16_t read_capacity; // power of two, 0 before the first READ
    uint8_t timeout;        // exponent: see nic__timeout_ps
    uint8_t retry_count;
    uint8_t rnr_retry;
    uint8_t reads_outstanding;

    // -- line 4: posting, completing and answering READs
    // verbs
    nic_cq_t *send_cq;
    nic_cq_t *recv_cq;
    nic_recv_wqe_t *rq;
    nic_read_t *reads; // transport
    nic_pd_t *pd;
    uint32_t rq_posted;
    uint32_t rq_done;
    uint32_t rq_capacity;
    uint32_t send_wr_max;
    uint32_t access;
    uint8_t type;      // nic_qp_type_t
    uint8_t wqe_flags; // added to every WQE posted: NIC_SEND_SIGNALED, NIC_WQE_HELD
    uint8_t reads_max;
    uint8_t reads_accepted_max;

    // -- the rest is rarely read
    // verbs
    nic_srq_t *srq;
    void *ctx;
    nic_write_fn on_write;
    void *on_write_ctx;
    uint64_t rx_address; // transport: where the WRITE being received begins
    uint32_t recv_wr_max;
    union {
        uint32_t qkey;   // of UD
        uint32_t rx_key; // transport: of the WRITE being received
    };
    // transport
    uint32_t first_psn; // sq_psn as connected
    uint32_t held_psn;
    uint32_t held_aeth;
    sim_time_t held_sent_ps;
    uint64_t retransmitted_packets;
    uint64_t traced_rate_bps;   // host/trace.c: rate that listeners know; unused without listeners
    nic_wqe_more_t *sq_more;    // verbs: parallel to sq; NULL until a WQE needs it
    nic_atomic_done_t *atomics; // the last reads_accepted_max executed; NULL before the first
    uint8_t state;              // verbs: nic_qp_state_t
    uint8_t stopped_status;     // verbs: nic_wc_status_t that belongs to SQ_STOPPED
    uint8_t atomics_next;       // the oldest in atomics
    bool transport_open;
    uint32_t queued_ack_number; // low bits; a later one is newer
    uint32_t sq_failed;         // verbs: WQEs before sq_done that failed, were flushed or forgotten
    uint16_t reads_ready; // device: READs at the head of `reads` whose first data are on the NIC
    uint8_t min_rnr_timer;
    // schedule: of its next packet, or of all (nic/schedule/planes.h, nic/schedule/loopback.h)
    uint8_t plane;
    uint64_t answer_route; // route of its answers where nic_t.odd_answers is set; else path.route
};

static_assert(offsetof(nic_qp_t, next_send_ps) == 3 * SIM_CACHE_LINE, "pace is line 3");
static_assert(offsetof(nic_qp_t, send_cq) == 4 * SIM_CACHE_LINE, "posting is line 4");
static_assert(sizeof(nic_qp_t) == 7 * SIM_CACHE_LINE, "seven lines, and what lies around it");
static_assert(offsetof(nic_qp_t, una_psn) == SIM_CACHE_LINE, "sending begins in line 0");
static_assert(offsetof(nic_qp_t, expected_psn) == 2 * SIM_CACHE_LINE, "receiving is line 2");
static_assert(NIC_PSN_WINDOW * 256 >= NIC_MESSAGE_BYTES_MAX, "any message fits in the PSN window");

// Returns the number of the random sequences of a connected queue pair. It depends on what a
// program chooses (the ends, the port, the first PSN) and not on QP numbers, which depend on when a
// queue pair was made: equal transfers draw equal numbers.
uint64_t nic__qp_stream(const nic_qp_t *qp);

// Return the UDP source port of an entropy value of a sprayed packet, and back. The values of a
// queue pair count from its own port, so that queue pairs between the same interfaces take other
// paths: switches hash addresses and ports only.
#define NIC_ENTROPY_MASK (UINT32_C(0xffff) - ROCE_SOURCE_PORT_MIN)
static inline uint16_t nic__entropy_port(const nic_qp_t *qp, uint32_t entropy)
{
    return (uint16_t)(ROCE_SOURCE_PORT_MIN |
                      ((qp->path.udp_source_port ^ entropy) & NIC_ENTROPY_MASK));
}
static inline uint32_t nic__entropy_of_port(const nic_qp_t *qp, uint16_t port)
{
    return (uint32_t)(port ^ qp->path.udp_source_port) & NIC_ENTROPY_MASK;
}

// Congestion control's state begins this far behind the start of the queue pair.
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

static inline nic_wqe_t *nic__wqe(const nic_qp_t *qp, uint32_t index)
{
    return &qp->sq[index & qp->sq_mask];
}
// Returns the number of places in the ring of the send queue; 0 before the first post.
static inline uint32_t nic__sq_capacity(const nic_qp_t *qp)
{
    return qp->sq_mask + (qp->sq_mask != 0);
}

// Returns the end of a WQE as a 64-bit PSN; `near_psn` is any PSN within 2^31 of it.
static inline uint64_t nic__wqe_end(const nic_wqe_t *wqe, uint64_t near_psn)
{
    return near_psn + (uint64_t)(int64_t)(int32_t)(wqe->end_psn - (uint32_t)near_psn);
}

// Returns how many packets a message takes. A message without payload is one packet.
static inline uint32_t nic__packet_count(const nic_qp_t *qp, uint32_t length_bytes)
{
    return SIM_LIKELY(length_bytes <= qp->mtu_bytes)
               ? 1
               : (length_bytes + qp->mtu_bytes - 1) / qp->mtu_bytes;
}

// Returns the local ACK timeout (9.7.6.1.3). The standard allows up to four times this.
static inline sim_time_t nic__timeout_ps(const nic_qp_t *qp)
{
    return UINT64_C(4096000) << qp->timeout;
}

// Returns true if the transport has a packet of a request to send.
static inline bool nic__requester_ready(const nic_qp_t *qp)
{
    return qp->ops->ready(qp);
}
// Returns true if a packet of the queue pair could leave now: of a request, or of an answer to a
// READ.
static inline bool nic__can_send(const nic_qp_t *qp)
{
    return (qp->flags & NIC_QP_READS) != 0 || nic__requester_ready(qp);
}

#endif // NIC_OBJECTS_QP_H
