// SPDX-License-Identifier: Apache-2.0
// nic/transport/transmit.c - which packet leaves a NIC next, and when a queue pair may send.
//
// Data packets do not exist before the moment they are sent: a QP that could send one now has
// joined the scheduler, and the port draws from it. So a scheduler knows exactly the QPs with work,
// window and rate to send; whatever changes that calls nic__schedule or nic__unschedule. ACKs, NAKs
// and CNPs are built at once and wait in the port's queues when they must.
//
// Order: PFC frames; the CNPs' class; the other classes by deficit round robin. Within a class:
// waiting ACKs, NAKs and CNPs in order, then QPs as the scheduler says.
//
// The steps are written once. `ring` says at compile time that the scheduler is the ring: then it
// is compiled in; else it is called through its table.
#include "nic/schedule/ring.h"

#include "nic/cc/control.h"
#include "nic/host/listen.h"
#include "nic/host/steps.h"
#include "nic/objects/calls.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/queues.h"
#include "nic/objects/wqe.h"
#include "nic/schedule/turn.h"
#include "nic/transport/entry.h"

static inline uint8_t candidates(const nic_t *nic)
{
    return (uint8_t)((nic->port->waiting | nic->ready_classes) & ~nic->port->paused);
}

static inline bool something_waits(const nic_t *nic)
{
    return candidates(nic) != 0 || nic->port->controlled;
}

// -- joining and leaving

static SIM_ALWAYS_INLINE void join(nic_t *nic, nic_qp_t *qp, const bool ring)
{
    qp->flags |= NIC_QP_READY;
    if (ring) {
        nic__ring_join(nic, qp);
        return;
    }
    nic->joined[qp->priority]++;
    nic->ready_classes |= (uint8_t)(1u << qp->priority);
    nic->scheduler->join(nic, qp);
}

static SIM_ALWAYS_INLINE void leave(nic_t *nic, nic_qp_t *qp, const bool ring)
{
    qp->flags &= (uint16_t)~NIC_QP_READY;
    if (ring) {
        nic__ring_leave(nic, qp);
        return;
    }
    SIM_CHECK(nic->joined[qp->priority] > 0);
    nic->joined[qp->priority]--;
    if (nic->joined[qp->priority] == 0) {
        nic->ready_classes &= (uint8_t) ~(1u << qp->priority);
    }
    nic->scheduler->leave(nic, qp);
}

void nic__unschedule(nic_qp_t *qp)
{
    if ((qp->flags & NIC_QP_READY) == 0) {
        return;
    }
    if (SIM_LIKELY(qp->nic->ring)) {
        leave(qp->nic, qp, true);
    } else {
        leave(qp->nic, qp, false);
    }
}

static void wait_for_pace(nic_qp_t *qp)
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
        wait_for_pace(qp);
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
    qp->flags &= (uint16_t)~NIC_QP_PACING;
    nic__schedule(qp);
}

// Packets of a burst follow each other; the next burst may start when this one would end at the
// QP's own rate. After a rest as long as that a burst is new, although it was not used up.
static void pace_burst(nic_qp_t *qp, nic_cc_t *cc, sim_time_t now_ps, uint32_t bytes)
{
    SIM_CHECK(cc->burst_bytes <= NIC_CC_BURST_BYTES_MAX);
    const uint64_t sent_bytes = cc->burst_sent_bytes;
    if (now_ps >= cc->burst_start_ps + sent_bytes * 8 * SIM_PS_PER_S / cc->rate_bps) {
        cc->burst_start_ps = now_ps;
        cc->burst_sent_bytes = 0;
    }
    cc->burst_sent_bytes += bytes;
    qp->next_send_ps = now_ps;
    qp->pace_remainder = 0;
    qp->pace_bps = cc->rate_bps;
    if (cc->burst_sent_bytes >= cc->burst_bytes) {
        const uint64_t burst_bytes = cc->burst_sent_bytes;
        qp->next_send_ps = cc->burst_start_ps + burst_bytes * 8 * SIM_PS_PER_S / cc->rate_bps;
        cc->burst_sent_bytes = 0;
    }
}

// Paces a QP: its next packet may start when this one, of `bytes` on the link, would end at the
// QP's
// own rate.
static void pace(nic_qp_t *qp, sim_time_t now_ps, uint32_t bytes)
{
    nic_cc_t *const cc = nic__cc(qp);
    if ((qp->flags & NIC_QP_CC_SENT) != 0) {
        cc->ops->sent(cc, bytes);
        nic__cc_sync(qp);
    }
    if ((qp->flags & NIC_QP_PACED) != 0) {
        if (SIM_UNLIKELY(cc->burst_bytes != 0)) {
            pace_burst(qp, cc, now_ps, bytes);
            return;
        }
        const uint64_t work = bytes * 8 * SIM_PS_PER_S + qp->pace_remainder;
        qp->next_send_ps = now_ps + work / cc->rate_bps;
        qp->pace_remainder = work % cc->rate_bps;
        qp->pace_bps = cc->rate_bps;
    }
}

// Applies a new rate to a waiting QP. A rate limiter is a bucket that fills at the current rate,
// so the
// rest of the wait passes at the new rate.
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

// -- sending

// Completes a UC or UD message, which is done when its last packet is sent.
static void complete_unreliable(nic_qp_t *qp)
{
    const nic_wqe_t wqe = *nic__wqe(qp, qp->sq_done);
    qp->sq_done++;
    nic__rest_now(qp);
    nic__complete_send(qp, &wqe, NIC_WC_SUCCESS);
}

static SIM_ALWAYS_INLINE void packet_left(nic_qp_t *qp, bool response)
{
    if (SIM_UNLIKELY(response) && qp->read_count == 0) {
        nic__responses_sent(qp);
    } else if ((qp->flags & NIC_QP_UNRELIABLE) != 0 && qp->sq_done != qp->sq_send) {
        complete_unreliable(qp);
    }
}

// Builds the packet that the queue pair sends next and hands it to the port. NULL: none, because a
// work request failed. *response: it is data of a READ or atomic. The packet is no longer ours.
static SIM_ALWAYS_INLINE const net_packet_t *start(nic_t *nic,
                                                   nic_qp_t *qp,
                                                   bool *response,
                                                   uint32_t *frame_bytes,
                                                   uint32_t *payload_bytes)
{
    *response = (qp->flags & NIC_QP_READS) != 0 &&
                ((qp->flags & NIC_QP_TURN) == 0 || !nic__requester_ready(qp));
    net_packet_t *const packet =
        *response ? nic__build_response(nic, qp) : nic__build_request(nic, qp);
    if (SIM_UNLIKELY(packet == NULL)) {
        return NULL;
    }
    *frame_bytes = packet->frame_bytes;
    *payload_bytes = packet->payload_bytes;
    nic->host->sent_last = qp;
    nic->counters.tx_packets++;
    nic->counters.tx_data_bytes += *payload_bytes;
    net_port_transmit(nic->port, packet);
    if (SIM_UNLIKELY(*response)) {
        qp->flags |= NIC_QP_TURN;
    } else if (SIM_UNLIKELY((qp->flags & NIC_QP_TURN) != 0)) {
        qp->flags &= (uint16_t)~NIC_QP_TURN;
    }
    return packet;
}

static SIM_ALWAYS_INLINE bool transmit_qp(nic_t *nic, nic_qp_t *qp, const bool ring)
{
    bool response;
    uint32_t frame_bytes;
    uint32_t payload_bytes;
    const sim_time_t now_ps = nic__node(nic)->now_ps;
    if (SIM_UNLIKELY(start(nic, qp, &response, &frame_bytes, &payload_bytes) == NULL)) {
        if (!nic__can_send(qp)) {
            nic__unschedule(qp);
        }
        return false;
    }
    const uint32_t bytes = frame_bytes + nic->overhead_bytes;
    nic__trace(nic, qp, NIC_TRACE_SEND, payload_bytes, 0);
    NIC_DEVICE(nic, sent, nic, qp, response);
    if (SIM_UNLIKELY((qp->flags & (NIC_QP_PACED | NIC_QP_CC_SENT)) != 0)) {
        pace(qp, now_ps, bytes);
    }
    if (!nic__can_send(qp)) {
        if ((qp->flags & NIC_QP_READY) != 0) {
            leave(nic, qp, ring);
        }
    } else if ((qp->flags & NIC_QP_PACED) != 0 && qp->next_send_ps > nic->port->busy_until_ps) {
        nic__unschedule(qp);
        wait_for_pace(qp);
    } else if (ring) {
        nic__ring_turn(nic, qp);
    } else if (nic->scheduler->sent != NULL) {
        nic->scheduler->sent(nic, qp, bytes);
    }
    packet_left(qp, response);
    return true;
}

// Chooses the class to send from, by the sizes of each class's next packet. A QP's next packet
// does not
// exist yet, so a full one is assumed; classes that compete for long mostly send full packets.
static uint32_t choose_class(nic_t *nic, uint8_t classes, const bool ring)
{
    net_port_t *const port = nic->port;
    uint32_t head_bytes[NET_PRIORITIES] = {0};
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        if (port->classes[p]->bytes != 0) {
            head_bytes[p] = net_queue_head(port->classes[p])->frame_bytes;
        } else if ((nic->ready_classes & 1u << p) != 0) {
            const nic_qp_t *const qp = ring ? nic->ready[p] : nic->scheduler->next(nic, p);
            head_bytes[p] = nic->header_bytes + (uint32_t)qp->mtu_bytes;
        }
    }
    return net_port_choose(port, classes, head_bytes);
}

static net_packet_t *take_queued(nic_t *nic, uint32_t priority)
{
    nic->queue_popped[priority]++;
    return net_queue_pop(nic->port, priority);
}

static void transmit_built(nic_t *nic, net_packet_t *packet)
{
    nic->counters.tx_packets++;
    net_port_transmit(nic->port, packet);
}

// Starts one packet. False: nothing was there to be sent.
static SIM_ALWAYS_INLINE bool transmit_next(nic_t *nic, const bool ring)
{
    net_port_t *const port = nic->port;
    if (SIM_UNLIKELY(port->controlled)) {
        net_packet_t *const packet = port->control;
        net_port_set_control(port, packet->next);
        net_port_transmit(port, packet);
        return true;
    }
    for (;;) {
        const uint8_t classes = candidates(nic);
        if (classes == 0) {
            return false;
        }
        const uint32_t priority = SIM_LIKELY((classes & (classes - 1)) == 0)
                                      ? (uint32_t)__builtin_ctz(classes)
                                      : choose_class(nic, classes, ring);
        if ((port->waiting & 1u << priority) != 0) {
            transmit_built(nic, take_queued(nic, priority));
            return true;
        }
        nic_qp_t *const qp = ring ? nic->ready[priority] : nic->scheduler->next(nic, priority);
        if (SIM_LIKELY(transmit_qp(nic, qp, ring))) {
            return true;
        }
    }
}

// Not inlined, so that the function that chooses between the two needs no stack frame.
static __attribute__((noinline)) void transmit_by_table(nic_t *nic)
{
    if (transmit_next(nic, false) && something_waits(nic)) {
        nic__wake(nic);
    }
}

static __attribute__((noinline)) void transmit_by_ring(nic_t *nic)
{
    if (transmit_next(nic, true) && something_waits(nic)) {
        nic__wake(nic);
    }
}

void nic__transmit(nic_t *nic)
{
    if (SIM_LIKELY(nic->ring)) {
        transmit_by_ring(nic);
    } else if (nic->loop != NULL) {
        nic->loop->port_free(nic);
    } else {
        transmit_by_table(nic);
    }
}

bool nic_scheduler_transmit(nic_t *nic, nic_qp_t *qp)
{
    bool response;
    uint32_t frame_bytes;
    uint32_t payload_bytes;
    if (start(nic, qp, &response, &frame_bytes, &payload_bytes) == NULL) {
        return false;
    }
    nic->loop->sent(qp, frame_bytes);
    nic__trace(nic, qp, NIC_TRACE_SEND, payload_bytes, 0);
    packet_left(qp, response);
    return true;
}

void nic_scheduler_transmit_queued(nic_t *nic, uint32_t queue)
{
    transmit_built(nic, take_queued(nic, queue));
}

void nic__kick(nic_t *nic)
{
    if (nic->kicked || nic->port->wake_pending != NET_WAKE_NONE || !something_waits(nic)) {
        return;
    }
    if (!net_port_idle(nic->port)) {
        nic__wake(nic);
        return;
    }
    nic->kicked = true;
    nic->next_kicked = nic->host->kicked;
    nic->host->kicked = nic;
    nic->host->unsettled = true;
}

void nic__send(nic_t *nic, net_packet_t *packet)
{
    net_port_t *const port = nic->port;
    const uint32_t priority = packet->priority;
    if (net_port_idle(port) && !something_waits(nic) && (port->paused & 1u << priority) == 0) {
        transmit_built(nic, packet);
        return;
    }
    nic->queue_pushed[priority]++;
    net_queue_push(port, packet);
    nic__kick(nic);
}
