// SPDX-License-Identifier: Apache-2.0
// nic/transport/requester_internal.h - steps of the requester that reliable transports are made of.
//
// The position to send from is (sq_send, send_offset, next_psn): nic__cursor_ready and
// nic__cursor_packet look at it and move it. What is acknowledged is (sq_done, una_offset,
// una_psn): nic__advance and nic__accept_response move that, and complete what they pass.
#ifndef NIC_TRANSPORT_REQUESTER_INTERNAL_H
#define NIC_TRANSPORT_REQUESTER_INTERNAL_H

#include "nic/device/calls.h"
#include "nic/host/listen.h"
#include "nic/host/objects.h"
#include "nic/schedule/turn.h"
#include "nic/transport/entry.h"
#include "nic/verbs/qp.h"
#include "nic/verbs/wqe.h"

static inline bool nic__is_write(const nic_wqe_t *wqe)
{
    return wqe->opcode == NIC_WR_RDMA_WRITE || wqe->opcode == NIC_WR_RDMA_WRITE_WITH_IMM;
}

// requester.c
bool nic__cursor_ready(const nic_qp_t *qp);
net_packet_t *nic__cursor_packet(nic_t *nic, nic_qp_t *qp); // NULL: the WQE failed
// The work request that a PSN under way belongs to, and the PSN it begins with.
uint32_t nic__find_wqe(const nic_qp_t *qp, uint64_t psn, uint64_t *first_psn);
// A packet of a WRITE, `offset` bytes into it, gets a RETH of its own where it has none.
void nic__address_packet(const nic_qp_t *qp,
                         net_packet_t *packet,
                         const nic_wqe_t *wqe,
                         uint32_t offset);

// What one packet from the peer acknowledged.
typedef struct nic_progress {
    uint64_t bytes; // payload of SENDs and WRITEs
    bool blocked;   // a READ without all its responses stands in the way
    bool gone;      // the application destroyed the QP, or it failed
} nic_progress_t;

// acknowledge.c
// Everything before end_psn has arrived at the peer, as far as SENDs and WRITEs go: completes what
// that finishes.
nic_progress_t nic__advance(nic_t *nic, nic_qp_t *qp, uint64_t end_psn);
// The response of the oldest PSN, which is a READ's or an atomic's.
void nic__accept_response(nic_t *nic, nic_qp_t *qp, const net_packet_t *packet, bool placed);
// Whether a packet can be the response at this offset of a READ or atomic. Of a part of a READ the
// last one says LAST, wherever it ends.
bool nic__response_fits(const nic_qp_t *qp,
                        const nic_wqe_t *wqe,
                        uint32_t offset,
                        const net_packet_t *packet);
// The response of the oldest PSN fits and was placed before; original: of an atomic.
void nic__accept_placed(nic_t *nic, nic_qp_t *qp, uint64_t original);
// What holds after any acknowledgement: the failed WQE may have its turn, the rest may go on.
void nic__settle(nic_qp_t *qp);
// The receiver was not ready: the send queue stands still for the time that its code says. False:
// it does already, or the queue pair failed because it did too often.
bool nic__rnr_wait(nic_qp_t *qp, uint32_t code);
// A NAK that says more than that something is missing: the queue pair fails.
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

// sent_ps: of the packet that caused the acknowledgement; NEVER: unknown.
static inline void nic__trace_ack(nic_t *nic, const nic_qp_t *qp, sim_time_t sent_ps)
{
    nic__trace(nic,
               qp,
               NIC_TRACE_ACK,
               sent_ps == SIM_TIME_NEVER ? 0 : nic__node(nic)->now_ps - sent_ps,
               0);
}

// The position to send from cannot be behind what is acknowledged.
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
