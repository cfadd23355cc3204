// SPDX-License-Identifier: Apache-2.0
// nic/schedule/eligible.c - which queue pairs of a NIC may send, and when.
//
// A QP with work, window and rate to send has joined the scheduler. So a scheduler knows exactly
// the QPs that could send; whatever changes that calls nic__schedule or nic__unschedule. ACKs, NAKs
// and CNPs are built at once and wait in the port's queues when they must.
#include "nic/schedule/eligible.h"

#include "net/port_queue.h"
#include "nic/host/steps.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/schedule/planes.h"
#include "nic/schedule/ring.h"

static SIM_ALWAYS_INLINE void join(nic_t *nic, nic_qp_t *qp, const bool ring)
{
    qp->flags |= NIC_QP_READY;
    if (ring) {
        nic__ring_join(nic, qp);
        return;
    }
    if (nic__loops(qp)) {
        nic__loopback_join(qp);
        return;
    }
    nic->joined[qp->priority]++;
    nic->ready_classes |= (uint8_t)(1u << qp->priority);
    nic->scheduler->join(nic, qp);
}

void nic__unschedule(nic_qp_t *qp)
{
    if ((qp->flags & NIC_QP_READY) == 0) {
        return;
    }
    if (SIM_LIKELY(qp->nic->ring)) {
        nic__leave(qp->nic, qp, true);
    } else {
        nic__leave(qp->nic, qp, false);
    }
}

void nic__wait_for_pace(nic_qp_t *qp)
{
    qp->flags |= NIC_QP_PACING;
    sim_timer_arm(nic__node(qp->nic), &qp->pace_timer, qp->next_send_ps);
}

void nic__schedule(nic_qp_t *qp)
{
    if ((qp->flags & (NIC_QP_READY | NIC_QP_PACING)) != 0) {
        return;
    }
    if (!nic__can_send(qp)) {
        return;
    }
    nic_t *const nic = qp->nic;
    if (SIM_UNLIKELY(nic->loop != NULL)) {
        nic->loop->ready(qp);
        return;
    }
    if ((qp->flags & NIC_QP_PACED) != 0 && qp->next_send_ps > nic__node(nic)->now_ps) {
        nic__wait_for_pace(qp);
        return;
    }
    if (SIM_LIKELY(nic->ring)) {
        join(nic, qp, true);
    } else {
        join(nic, qp, false);
    }
    nic__kick(nic);
}

void nic__pace_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    nic_qp_t *const qp = SIM_CONTAINER_OF(timer, nic_qp_t, pace_timer);
    qp->nic->rail_events++;
    qp->flags &= (uint16_t)~NIC_QP_PACING;
    nic__schedule(qp);
}

// Applies a new rate to a waiting QP. A rate limiter is a bucket that fills at the current rate, so
// the rest of the wait passes at the new rate.
void nic__repace(nic_qp_t *qp)
{
    if (SIM_UNLIKELY(qp->nic->loop != NULL)) {
        qp->nic->loop->controlled(qp);
        return;
    }
    const nic_cc_t *const cc = nic__cc_const(qp);
    const sim_time_t now_ps = nic__node(qp->nic)->now_ps;
    if (qp->next_send_ps <= now_ps || qp->pace_bps == cc->rate_bps) {
        return;
    }
    const sim_wide_t left = (sim_wide_t)(qp->next_send_ps - now_ps) * qp->pace_bps;
    qp->next_send_ps = now_ps + (sim_time_t)((left + cc->rate_bps - 1) / cc->rate_bps);
    qp->pace_remainder = 0;
    qp->pace_bps = cc->rate_bps;
    if ((qp->flags & NIC_QP_PACING) != 0) {
        sim_timer_arm(nic__node(qp->nic), &qp->pace_timer, qp->next_send_ps);
    }
}

void nic__kick(nic_t *nic)
{
    if (nic->kicked == NIC_HAS_PLANES) {
        // Each plane is looked at when the event is over.
    } else if (nic->kicked != 0 || nic->port->wake_pending != NET_WAKE_NONE ||
               !nic__something_waits(nic)) {
        return;
    } else if (!net_port_idle(nic->port)) {
        nic__wake(nic);
        return;
    }
    nic->kicked |= NIC_KICKED;
    nic->next_kicked = nic->host->kicked;
    nic->host->kicked = nic;
    nic->host->unsettled = true;
}

// Sends a packet that was built before in a plane or to the NIC itself. Returns false if it goes by
// the only port.
static SIM_NOINLINE bool sent_otherwise(nic_t *nic, net_packet_t *packet)
{
    if (nic->planes != NULL) {
        nic__planes_send(nic, packet);
        return true;
    }
    if (nic->loopback != NULL && packet->destination == nic->interface) {
        nic->counters.tx_packets++;
        (void)nic__loopback_carry(nic, packet);
        return true;
    }
    return false;
}

void nic__send(nic_t *nic, net_packet_t *packet)
{
    if (SIM_UNLIKELY(!nic->ring) && sent_otherwise(nic, packet)) {
        return;
    }
    net_port_t *const port = nic->port;
    const uint32_t priority = packet->priority;
    if (net_port_idle(port) && !nic__something_waits(nic) && (port->paused & 1u << priority) == 0) {
        nic__transmit_built(nic, packet);
        return;
    }
    nic->queue_pushed[priority]++;
    net_queue_push(port, packet);
    nic__kick(nic);
}
