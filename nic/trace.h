// SPDX-License-Identifier: Apache-2.0
// nic/trace.h - the moments of a NIC and its queue pairs that a program can listen to.
//
// Listening works as with net_port_listen (net/port.h): a callback per NIC or per queue pair runs
// in the event in which the moment happens, by the thread that runs the host. Listeners only read;
// results and digests are the same with and without them. Where nobody listens a moment costs a
// branch on a bit that lies in a cache line the NIC has loaded anyway.
#ifndef NIC_TRACE_H
#define NIC_TRACE_H

#include "nic/verbs.h"

SIM_C_BEGIN

// The points in a NIC's work. Each says what nic_trace_t.value and before mean there; they are 0
// where it says nothing.
typedef enum nic_trace_point {
    // A work request was posted and its doorbell rung. value: its bytes; wr: itself.
    NIC_TRACE_POST = 1 << 0,
    // A packet of the QP (request or READ response) starts on the wire. value: its payload bytes.
    NIC_TRACE_SEND = 1 << 1,
    // A RoCE packet was taken in and everything it caused is done. qp: NULL, it may be gone.
    NIC_TRACE_RECEIVE = 1 << 2,
    // A work request is done. wc: its completion; NULL where it made none (success, unsignaled).
    NIC_TRACE_COMPLETION = 1 << 3,
    // The notification point sends a CNP to the QP's peer.
    NIC_TRACE_CNP_SENT = 1 << 4,
    // A CNP arrived; congestion control hears of it next. value: 1, or 0 where it will be ignored.
    NIC_TRACE_CNP_RECEIVED = 1 << 5,
    // The responder sends a NAK. value: syndrome (AETH, 8 bits).
    NIC_TRACE_NAK_SENT = 1 << 6,
    // The requester got a NAK and acts on it next. value: syndrome.
    NIC_TRACE_NAK_RECEIVED = 1 << 7,
    // An ACK, NAK or READ response acknowledged something; congestion control hears of it next.
    // value: round trip of the packet that caused it, in ps; 0 where unknown: it was sent again
    // (Karn's rule), or this is a READ response.
    NIC_TRACE_ACK = 1 << 8,
    // The requester goes back to the oldest PSN not acknowledged. value: PSNs to be sent again.
    NIC_TRACE_RETRANSMIT = 1 << 9,
    // The retransmission timer expired. value: retries used before it.
    NIC_TRACE_TIMEOUT = 1 << 10,
    // The pacing rate changed. value: bit/s; before: 0 when the QP is connected.
    NIC_TRACE_RATE = 1 << 11,
    // The window changed. value: bytes (NIC_WINDOW_UNLIMITED: none); before: 0 when connected.
    NIC_TRACE_WINDOW = 1 << 12,
    // Congestion control was called: what its metrics show may have changed.
    NIC_TRACE_CONTROL = 1 << 13,
    // The QP's state changed. value and before: nic_qp_state_t. When it is connected, this is the
    // last point reported: rate, window and congestion control are set.
    NIC_TRACE_STATE = 1 << 14,
    // A QP was created, or is to be destroyed. value: 1 created, 0 to be destroyed.
    NIC_TRACE_LIFE = 1 << 15,
    // A detailed NIC with a tiered cache looked a context up. value: the way it took, 0 L1 (hot
    // inline), 1 L2 (prefetched batch), 2 the host (on-demand expand); before: ps until the context
    // is there, 0 where it joined a batch.
    NIC_TRACE_CACHE = 1 << 16,
    // A queue pair's token moved from one tier of the cache to another, or its changes were written
    // back. The next lookup, which replays due moves, reports it. value: from * 4 + to, each 1 to 3
    // (NIC_TRACE_TIER_WRITTEN: written back); before: ps that it took.
    NIC_TRACE_TIER = 1 << 17,
    // A READ or an atomic is to be answered by this QP. value: bytes of its responses.
    NIC_TRACE_ANSWER = 1 << 18,
    // The IOMMU refused the context of an object that the QP's work needs, so the QP fails. qp:
    // NULL if it is gone. value: nic_iommu_kind_t; before: the object's number.
    NIC_TRACE_REFUSED = 1 << 19,
} nic_trace_point_t;

#define NIC_TRACE_TIER_WRITTEN 16u // bit in values of NIC_TRACE_TIER

typedef struct nic_trace {
    nic_trace_point_t point;
    sim_time_t time_ps;
    const nic_t *nic;
    const nic_qp_t *qp; // NULL where said
    uint64_t value;
    uint64_t before;
    const nic_wc_t *wc;      // COMPLETION
    const nic_send_wr_t *wr; // POST
} nic_trace_t;

// Called while the host runs, by its thread, and before the run for moments of the set-up. It must
// only read: it may not post, poll, connect or destroy. trace is valid during the call.
typedef void (*nic_trace_fn)(const nic_trace_t *trace, void *ctx);

// Calls fn at the points of the mask, for all QPs of the NIC. A NIC may have several listeners,
// which are called in the order of listening and kept until the NIC is destroyed.
void nic_listen(nic_t *nic, uint32_t points, nic_trace_fn fn, void *ctx);

// Calls fn at the points of the mask, for one QP, until the QP is destroyed. RECEIVE has no QP and
// cannot be asked for.
void nic_qp_listen(nic_qp_t *qp, uint32_t points, nic_trace_fn fn, void *ctx);

SIM_C_END

#endif // NIC_TRACE_H
