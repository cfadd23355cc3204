// SPDX-License-Identifier: Apache-2.0
// nic/transport/mrc/send.c - the sender: which packet leaves next, by which path, and probes.
#include "nic/transport/mrc/mrc.h"

#include "net/wire/mrc.h"
#include "nic/host/packets.h"
#include "nic/objects/objects.h"
#include "nic/objects/plane_set.h"
#include "nic/objects/qp.h"
#include "nic/transport/requester_internal.h"

// -- what may leave

static inline bool window_open(const nic_mrc_t *mrc)
{
    return !mrc->windowed || mrc->flight.bytes == 0 ||
           (double)mrc->flight.bytes + mrc->nscc.mtu_bytes <= mrc->nscc.window_bytes;
}

bool nic__mrc_any_path(const nic_mrc_t *mrc)
{
    for (uint32_t plane = 0; plane < mrc->evs.plane_count; plane++) {
        if (nic__evs_usable(&mrc->evs, plane)) {
            return true;
        }
    }
    return false;
}

bool nic__mrc_ready(const nic_qp_t *qp)
{
    const nic_mrc_t *const mrc = nic__state_const(qp);
    if (SIM_UNLIKELY(nic__repeated_waits(&mrc->held.kept.again))) {
        return (qp->flags & NIC_QP_CLOSED) == 0;
    }
    if (!window_open(mrc) || !nic__mrc_any_path(mrc)) {
        return false;
    }
    if (SIM_UNLIKELY(nic__resend_waits(&mrc->held.resend))) {
        return (qp->flags & (NIC_QP_RNR_WAIT | NIC_QP_CLOSED)) == 0;
    }
    return qp->next_psn - qp->una_psn < mrc->range_packets && nic__new_ready(qp);
}

// -- sending

// Returns a time that was given, or else the usual round trip, `own_ps` at least.
static sim_time_t at_least(const nic_mrc_t *mrc, sim_time_t given_ps, sim_time_t own_ps)
{
    const sim_time_t usual_ps = nic__rto_usual_ps(&mrc->held.resend.fetch.rto);
    return given_ps == SIM_AUTO && usual_ps > own_ps ? usual_ps : own_ps;
}

sim_time_t nic__mrc_rto_ps(const nic_mrc_t *mrc, uint32_t times)
{
    const uint32_t linear = (uint32_t)mrc->config->rto_linear;
    const uint32_t doublings = times > linear ? times - linear : 0;
    const sim_time_t least_ps = at_least(mrc, mrc->config->rto_ps, mrc->rto_ps);
    const sim_time_t max_ps = mrc->config->rto_max_ps;
    const sim_time_t most_ps = SIM_MAX(max_ps, least_ps);
    return doublings >= 63 || least_ps > most_ps >> doublings ? most_ps : least_ps << doublings;
}

sim_time_t nic__mrc_reorder_ps(const nic_mrc_t *mrc)
{
    return at_least(mrc, mrc->config->reorder_ps, mrc->reorder_ps);
}

void nic__mrc_arm(nic_mrc_t *mrc, sim_time_t due_ps)
{
    nic_qp_t *const qp = mrc->held.base.qp;
    if (qp->timeout == 0 || qp->sq_done == qp->sq_posted) {
        return;
    }
    const sim_time_t now_ps = nic__node(qp->nic)->now_ps;
    const sim_time_t probe_ps = nic__evs_probe_due_ps(&mrc->evs);
    const sim_time_t first_ps = SIM_MIN(probe_ps, due_ps);
    if (first_ps != SIM_TIME_NEVER) {
        nic_transport_timer_arm(qp, SIM_MAX(first_ps, now_ps));
    }
}

// Returns the length of a packet's frame.
static uint32_t frame_bytes(nic_mrc_t *mrc, const net_packet_t *packet)
{
    nic_mrc_frame_t *const last = &mrc->frame;
    const uint8_t flags = net_packet_aside(packet)->mrc.flags;
    if (last->opcode != packet->opcode || last->flags != flags ||
        last->payload_bytes != packet->payload_bytes) {
        const net_config_t *const network = net_get_config(mrc->held.base.nic->host->node.net);
        last->opcode = packet->opcode;
        last->flags = flags;
        last->payload_bytes = packet->payload_bytes;
        last->bytes = net_mrc_frame_bytes(packet, network->tagged, network->ipv6);
    }
    return last->bytes;
}

void nic__mrc_dress(nic_qp_t *qp, net_packet_t *packet, uint16_t port)
{
    nic_t *const nic = qp->nic;
    nic_mrc_t *const mrc = nic__mrc_of(qp);
    net_packet_aside_t *const aside = net_packet_aside(packet);
    const uint32_t operation = packet->opcode & ROCE_OPERATION_MASK;
    const uint32_t evs = mrc->evs.block * mrc->evs.plane_count;
    const uint32_t ev = (uint32_t)port - ROCE_SOURCE_PORT_MIN;
    nic__take_route(&mrc->routes, qp, packet, port, &(nic_route_place_t){ev, evs, 3 * evs});
    aside->mrc.qp = qp->number;
    const bool request = operation <= ROCE_READ_REQUEST || operation == ROCE_COMPARE_SWAP ||
                         operation == ROCE_FETCH_ADD;
    if (request && mrc->config->times == NIC_MRC_HEADER) {
        aside->mrc.flags |= NET_MRC_STAMPED;
    }
    packet->opcode = (uint8_t)(operation | ROCE_MRC);
    if (nic->body_bytes == NULL && nic->ack_bytes == 0) {
        nic__resize_frame(nic, packet, frame_bytes(mrc, packet));
    }
}

// Returns the plane whose port is free now.
static uint32_t plane_now(const nic_t *nic)
{
    return nic->planes == NULL ? 0 : (uint32_t)(nic->port - nic->planes->ports);
}

// Writes into a packet the numbers of its message: the low 16 bits of its place in the send queue,
// and of the WRITEs with immediate before it.
static void number_message(nic_mrc_t *mrc, net_packet_t *packet, uint32_t index)
{
    const nic_qp_t *const qp = mrc->held.base.qp;
    uint32_t immediates = mrc->immediates;
    const uint32_t end = qp->sq_send + (qp->send_offset != 0);
    for (uint32_t i = index; i != end; i++) {
        immediates -= nic__wqe(qp, i)->opcode == NIC_WR_RDMA_WRITE_WITH_IMM;
    }
    packet->aeth = immediates << 16 | (index & UINT16_MAX);
}

// middle: nic__single_acks_middle; whether it is NULL is known where this function is compiled.
static SIM_ALWAYS_INLINE net_packet_t *next_packet(nic_t *nic, nic_qp_t *qp,
                                                   const nic_wqe_t *middle)
{
    nic_mrc_t *const mrc = nic__mrc_of(qp);
    const sim_time_t now_ps = nic__node(nic)->now_ps;
    const bool idle = middle == NULL && qp->una_psn == qp->next_psn;
    const uint32_t plane = plane_now(nic);
    const uint32_t index = qp->sq_send;
    const bool begins = qp->send_offset == 0;
    SIM_ASSERT(nic__mrc_ready(qp));
    if (SIM_UNLIKELY(!nic__evs_usable(&mrc->evs, plane)) &&
        !nic__repeated_waits(&mrc->held.kept.again)) {
        return NULL;
    }
    const nic_single_acks_sent_t sent = middle != NULL
                                            ? nic__single_acks_next_middle(&mrc->held, middle)
                                            : nic__single_acks_next(&mrc->held);
    if (sent.packet == NULL) {
        return NULL;
    }
    if (sent.answer) {
        nic__mrc_dress(qp, sent.packet, qp->path.udp_source_port);
        return sent.packet;
    }
    if (!sent.again && begins) {
        mrc->immediates += nic__wqe(qp, index)->opcode == NIC_WR_RDMA_WRITE_WITH_IMM;
    }
    const uint32_t ev = nic__evs_next(&mrc->evs, plane, now_ps);
    nic__flight_note(&mrc->flight, qp, &sent, ev, now_ps);
    nic__mrc_shared(mrc)->retransmitted += sent.again;
    number_message(mrc, sent.packet, sent.again ? nic__flight_place(qp, sent.psn).index : index);
    // The last packet of a message asks for an ACK, and what leaves the sender waiting for one.
    sent.packet->ack_request = sent.again || qp->send_offset == 0 || !window_open(mrc);
    if (idle) {
        nic_transport_timer_cancel(qp); // the first packet armed it with the standard's time
        mrc->held.active_ps = now_ps;
    }
    if (!sim_timer_armed(&qp->retry_timer)) {
        mrc->heard_ps = now_ps;
        nic__mrc_arm(mrc, now_ps + mrc->quiet_ps);
    }
    nic__mrc_dress(qp, sent.packet, (uint16_t)(ROCE_SOURCE_PORT_MIN + ev));
    return sent.packet;
}

static SIM_NOINLINE net_packet_t *next_other(nic_t *nic, nic_qp_t *qp)
{
    return next_packet(nic, qp, NULL);
}

net_packet_t *nic__mrc_next_packet(nic_t *nic, nic_qp_t *qp)
{
    const nic_wqe_t *const middle = nic__single_acks_middle(&nic__mrc_of(qp)->held);
    return SIM_LIKELY(middle != NULL) ? next_packet(nic, qp, middle) : next_other(nic, qp);
}
