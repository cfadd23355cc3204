// SPDX-License-Identifier: Apache-2.0
// nic/transport/requester_internal.h - steps of the requester that reliable transports are made of.
//
// The position to send from is (sq_send, send_offset, next_psn): nic__cursor_ready and
// nic__cursor_packet look at it and move it. The position acknowledged is (sq_done, una_offset,
// una_psn): nic__advance and nic__accept_response move it, and complete the WQEs that they pass.
#ifndef NIC_TRANSPORT_REQUESTER_INTERNAL_H
#define NIC_TRANSPORT_REQUESTER_INTERNAL_H

#include "nic/host/listen.h"
#include "nic/objects/calls.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/wqe.h"
#include "nic/schedule/eligible.h"
#include "nic/transport/entry.h"

static inline bool nic__is_write(const nic_wqe_t *wqe)
{
    return wqe->opcode == NIC_WR_RDMA_WRITE || wqe->opcode == NIC_WR_RDMA_WRITE_WITH_IMM;
}

// Writes the address of a request's packet, `offset` bytes into its work request.
static inline void nic__set_reth(net_packet_t *packet, const nic_wqe_t *wqe, uint32_t offset)
{
    net_packet_aside_t *const aside = net_packet_aside(packet);
    aside->reth.address = wqe->remote_address + offset;
    aside->reth.rkey = wqe->rkey;
    aside->reth.length = wqe->length - offset;
}

// requester.c
// Returns true if a READ, a fenced or a held request may be sent. Ordinary requests have no such
// limits (9.4.4, 10.8.3.3).
bool nic__special_ready(const nic_qp_t *qp, const nic_wqe_t *wqe);
// Returns whether the next new packet may leave.
static inline bool nic__new_ready(const nic_qp_t *qp)
{
    const uint32_t stopped = NIC_QP_RNR_WAIT | NIC_QP_SQ_STOPPED | NIC_QP_CLOSED | NIC_QP_FETCHING;
    if (qp->sq_send == qp->sq_posted || (qp->flags & stopped) != 0 ||
        qp->next_psn - qp->una_psn >= NIC_PSN_WINDOW) {
        return false;
    }
    const nic_wqe_t *const wqe = nic__wqe(qp, qp->sq_send);
    if (SIM_UNLIKELY(nic__is_fetch(wqe->opcode))) {
        return nic__special_ready(qp, wqe);
    }
    if (SIM_UNLIKELY((wqe->flags & (NIC_SEND_FENCE | NIC_WQE_HELD)) != 0) &&
        !nic__special_ready(qp, wqe)) {
        return false;
    }
    const uint32_t left_bytes = wqe->length - qp->send_offset;
    const uint32_t needed_bytes =
        (qp->flags & NIC_QP_OVERSHOOT) != 0 ? 1 : SIM_MIN(left_bytes, (uint32_t)qp->mtu_bytes);
    return qp->in_flight_bytes == 0 || qp->in_flight_bytes + needed_bytes <= qp->window_bytes;
}
bool nic__cursor_ready(const nic_qp_t *qp);                 // the same, for tables of operations
net_packet_t *nic__cursor_packet(nic_t *nic, nic_qp_t *qp); // NULL: the WQE failed
// Does the same, and gives each packet of a WRITE a RETH of its own.
net_packet_t *nic__cursor_addressed(nic_t *nic, nic_qp_t *qp);
// Returns the index of the work request that a PSN in flight belongs to, and the PSN it begins
// with.
uint32_t nic__find_wqe(const nic_qp_t *qp, uint64_t psn, uint64_t *first_psn);

// The progress that one packet from the peer has acknowledged.
typedef struct nic_progress {
    uint64_t bytes; // payload of SENDs and WRITEs
    bool blocked;   // a READ without all its responses stands in the way
    bool gone;      // the application destroyed the QP, or it failed
} nic_progress_t;

// acknowledge.c
// Acknowledges all SENDs and WRITEs before end_psn, and completes those that are finished.
nic_progress_t nic__advance(nic_t *nic, nic_qp_t *qp, uint64_t end_psn);
// Accepts the response of the oldest PSN, which is a READ's or an atomic's.
void nic__accept_response(nic_t *nic, nic_qp_t *qp, const net_packet_t *packet, bool placed);
// Returns true if a packet can be the response at this offset of a READ or atomic. The last
// response of a part of a READ says LAST, wherever it ends.
bool nic__response_fits(const nic_qp_t *qp, const nic_wqe_t *wqe, uint32_t offset,
                        const net_packet_t *packet);
// Accepts the response of the oldest PSN, which fits and was placed before; original: an atomic's
// value.
void nic__accept_placed(nic_t *nic, nic_qp_t *qp, uint64_t original);
// Goes on after an acknowledgement: a failed WQE may have its turn, and others may be sent.
void nic__settle(nic_qp_t *qp);
// Stops the send queue for the time that the code of an RNR NAK says. Returns false if it stands
// still already, or if the queue pair failed because no retry was left.
bool nic__rnr_wait(nic_qp_t *qp, uint32_t code);
// Fails the queue pair for a NAK other than a sequence error.
void nic__fatal_nak(nic_qp_t *qp, uint32_t code);

static inline bool nic__still_alive(const nic_qp_t *qp)
{
    return (qp->flags & NIC_QP_CLOSED) == 0;
}

static inline void nic__note_progress(nic_t *nic, nic_qp_t *qp)
{
    sim_node_t *const node = nic__node(nic);
    qp->retry_base_ps = node->now_ps;
    qp->retries_used = 0;
    qp->rnr_retries_used = 0;
    sim_progress(node);
}

// Reports an acknowledgement to listeners. sent_ps: when the packet that caused it was sent; NEVER:
// unknown.
static inline void nic__trace_ack(nic_t *nic, const nic_qp_t *qp, sim_time_t sent_ps)
{
    nic__trace(nic, qp, NIC_TRACE_ACK,
               sent_ps == SIM_TIME_NEVER ? 0 : nic__node(nic)->now_ps - sent_ps, 0);
}

// Moves the position to send from up to what is acknowledged, if it is behind.
static inline void nic__catch_up(nic_qp_t *qp)
{
    if (SIM_UNLIKELY(qp->una_psn > qp->next_psn)) {
        qp->next_psn = qp->una_psn;
        qp->sq_send = qp->sq_done;
        qp->send_offset = qp->una_offset;
        qp->in_flight_bytes = 0;
        qp->reads_outstanding = 0;
        NIC_DEVICE(qp->nic, moved, qp);
        if (!nic__can_send(qp)) {
            nic__unschedule(qp);
        }
    }
}

#endif // NIC_TRANSPORT_REQUESTER_INTERNAL_H
