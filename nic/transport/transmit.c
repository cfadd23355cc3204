// SPDX-License-Identifier: Apache-2.0
// nic/transport/transmit.c - sending: which packet leaves a NIC next.
//
// Data packets do not exist before the moment they are sent: the free port draws one from the QP
// whose turn it is (nic/schedule).
//
// Order: PFC frames; the CNPs' class; the other classes by deficit round robin. Within a class:
// waiting ACKs, NAKs and CNPs in order, then QPs as the scheduler says.
//
// The steps are written once. `ring` says at compile time that the scheduler is the ring: then it
// is compiled in; else it is called through its table.
#include "net/port_control.h"
#include "net/port_queue.h"
#include "nic/cc/control.h"
#include "nic/host/listen.h"
#include "nic/host/steps.h"
#include "nic/objects/calls.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/wqe.h"
#include "nic/path/spray.h"
#include "nic/schedule/eligible.h"
#include "nic/schedule/loopback.h"
#include "nic/schedule/planes.h"
#include "nic/schedule/ring.h"
#include "nic/transport/entry.h"
#include "nic/transport/finish.h"

// -- pacing

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
// QP's own rate.
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
static SIM_ALWAYS_INLINE const net_packet_t *start(nic_t *nic, nic_qp_t *qp, bool *response,
                                                   uint32_t *frame_bytes, uint32_t *payload_bytes,
                                                   const bool ring)
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
    if (!ring && nic__sprays(qp)) {
        nic__spray_packet(qp, packet, !*response);
    }
    if (!ring && nic->planes != NULL) {
        nic__planes_address(nic, packet, (uint32_t)(nic->port - nic->planes->ports));
    }
    if (!ring && qp->plane == NIC_PLANE_LOOPBACK) {
        nic->port->busy_until_ps = nic__loopback_carry(nic, packet);
    } else {
        net_port_transmit(nic->port, packet);
    }
    if (SIM_UNLIKELY(*response)) {
        qp->flags |= NIC_QP_TURN;
    } else if (SIM_UNLIKELY((qp->flags & NIC_QP_TURN) != 0)) {
        qp->flags &= (uint16_t)~NIC_QP_TURN;
    }
    return packet;
}

// Returns the time by which the next packet of a queue pair must be due for it to keep its turn.
// Another plane of the NIC may be free before this one.
static SIM_ALWAYS_INLINE sim_time_t may_follow_ps(const nic_t *nic, const bool ring)
{
    return !ring && nic->planes != NULL ? nic__node(nic)->now_ps : nic->port->busy_until_ps;
}

// Moves a queue pair whose next datagram goes to the NIC itself, while the one before did not, or
// the other way round.
static SIM_NOINLINE void change_way(nic_qp_t *qp)
{
    if ((qp->flags & NIC_QP_READY) != 0 && nic__loops(qp) != (qp->plane == NIC_PLANE_LOOPBACK)) {
        nic__unschedule(qp);
        nic__schedule(qp);
    }
}

static SIM_ALWAYS_INLINE bool transmit_qp(nic_t *nic, nic_qp_t *qp, const bool ring)
{
    bool response;
    uint32_t frame_bytes;
    uint32_t payload_bytes;
    const sim_time_t now_ps = nic__node(nic)->now_ps;
    if (SIM_UNLIKELY(start(nic, qp, &response, &frame_bytes, &payload_bytes, ring) == NULL)) {
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
            nic__leave(nic, qp, ring);
        }
    } else if ((qp->flags & NIC_QP_PACED) != 0 && qp->next_send_ps > may_follow_ps(nic, ring)) {
        nic__unschedule(qp);
        nic__wait_for_pace(qp);
    } else if (ring) {
        nic__ring_turn(nic, qp);
    } else if (qp->plane == NIC_PLANE_LOOPBACK) {
        nic->loopback->ready = qp->ready_next;
    } else if (nic->scheduler->sent != NULL) {
        nic->scheduler->sent(nic, qp, bytes);
    }
    packet_left(qp, response);
    if (!ring && nic->loopback != NULL) {
        change_way(qp);
    }
    return true;
}

// Chooses the class to send from, by the sizes of each class's next packet. A QP's next packet does
// not exist yet, so a full one is assumed: classes that compete for long mostly send full packets.
static uint32_t choose_class(nic_t *nic, uint8_t classes, const bool ring)
{
    net_port_t *const port = nic->port;
    uint32_t head_bytes[NET_PRIORITIES];
    for (uint32_t left = classes; left != 0; left &= left - 1) {
        const uint32_t p = (uint32_t)__builtin_ctz(left);
        if (port->classes[p]->bytes != 0) {
            head_bytes[p] = net_queue_head(port->classes[p])->frame_bytes;
        } else {
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

// Starts one packet. False: nothing was there to be sent.
static SIM_ALWAYS_INLINE bool transmit_next(nic_t *nic, const bool ring)
{
    net_port_t *const port = nic->port;
    if (SIM_UNLIKELY(port->controlled)) {
        net_port_transmit(port, net_port_take_control(port));
        return true;
    }
    for (;;) {
        const uint8_t classes = nic__sending_classes(nic);
        if (classes == 0) {
            return false;
        }
        const uint32_t priority = SIM_LIKELY((classes & (classes - 1)) == 0)
                                      ? (uint32_t)__builtin_ctz(classes)
                                      : choose_class(nic, classes, ring);
        if ((port->waiting & 1u << priority) != 0) {
            nic__transmit_built(nic, take_queued(nic, priority));
            return true;
        }
        nic_qp_t *const qp = ring ? nic->ready[priority] : nic->scheduler->next(nic, priority);
        if (SIM_LIKELY(transmit_qp(nic, qp, ring))) {
            return true;
        }
    }
}

// Not inlined, so that the function that chooses between the two needs no stack frame.
static SIM_NOINLINE void transmit_by_table(nic_t *nic)
{
    if (transmit_next(nic, false) && nic__something_waits(nic)) {
        nic__wake(nic);
    }
}

static SIM_NOINLINE void transmit_by_ring(nic_t *nic)
{
    if (transmit_next(nic, true) && nic__something_waits(nic)) {
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

// -- NICs that send to themselves

// While the packet is built, the port stands for the loopback: it is free when that is.
void nic__transmit_looped(nic_t *nic, nic_qp_t *qp, sim_time_t free_ps)
{
    const sim_time_t busy_until_ps = nic->port->busy_until_ps;
    const uint8_t kicked = nic->kicked;
    nic->port->busy_until_ps = free_ps;
    nic->kicked |= NIC_KICKED; // nobody looks at the port now
    (void)transmit_qp(nic, qp, false);
    nic->port->busy_until_ps = busy_until_ps;
    nic->kicked = kicked;
    nic__kick(nic);
}

// -- NICs with a port in each of several planes

// Starts one packet in a plane. Returns false if nothing may leave there. *left: the queue pair
// whose packet it was; else NULL.
static SIM_ALWAYS_INLINE bool transmit_in_plane(nic_t *nic, uint32_t plane, const nic_qp_t **left)
{
    net_port_t *const port = nic->port;
    *left = NULL;
    if (port->controlled) {
        net_port_transmit(port, net_port_take_control(port));
        return true;
    }
    for (;;) {
        nic_qp_t *qp = NULL;
        const uint8_t classes = nic__planes_classes(nic, plane, &qp);
        if (classes == 0) {
            return false;
        }
        const bool one = (classes & (classes - 1)) == 0;
        const uint32_t priority =
            one ? (uint32_t)__builtin_ctz(classes) : choose_class(nic, classes, false);
        if ((port->waiting & 1u << priority) != 0) {
            nic__transmit_built(nic, net_queue_pop(port, priority));
            return true;
        }
        qp = one && qp != NULL ? qp : nic__planes_next(nic, priority, plane);
        if (transmit_qp(nic, qp, false)) {
            nic__planes_left(qp, plane);
            *left = qp;
            return true;
        }
    }
}

// Returns whether a plane has more to send. left: the queue pair that sent there last, or NULL. As
// long as it can send, it may send there again, unless it takes planes in turn.
static SIM_ALWAYS_INLINE bool more_waits(const nic_t *nic, uint32_t plane, const nic_qp_t *left)
{
    nic_qp_t *next;
    return (left != NULL && (left->flags & NIC_QP_READY) != 0 &&
            nic->planes->choice != NIC_PLANES_ROUND_ROBIN) ||
           nic->port->controlled || nic__planes_classes(nic, plane, &next) != 0;
}

void nic__transmit_planes(nic_t *nic, const net_port_t *woken)
{
    net_port_t *const ports = nic->planes->ports;
    const uint32_t count = nic->planes->count;
    const bool in_turn = nic->planes->choice == NIC_PLANES_ROUND_ROBIN;
    for (bool more = true; more;) {
        more = false;
        net_port_t *port = ports;
        for (uint32_t plane = 0; plane < count; plane++, port++) {
            if (port->wake_pending != NET_WAKE_NONE) {
                continue; // it is busy, and looked at when it is free
            }
            const nic_qp_t *left = NULL;
            nic->port = port;
            if (net_port_idle(port) || port == woken) {
                woken = port == woken ? NULL : woken;
                const bool sent = transmit_in_plane(nic, plane, &left);
                // Where planes take turns, a packet lets another plane have the next one.
                more |= sent && (in_turn || (nic->kicked & NIC_KICKED) != 0);
            }
            if (!net_port_idle(port) && more_waits(nic, plane, left)) {
                nic__wake(nic);
            }
        }
    }
    nic->port = ports;
}

// -- for loops of schedulers (nic/scheduler.h)

bool nic_scheduler_transmit(nic_t *nic, nic_qp_t *qp)
{
    bool response;
    uint32_t frame_bytes;
    uint32_t payload_bytes;
    if (start(nic, qp, &response, &frame_bytes, &payload_bytes, false) == NULL) {
        return false;
    }
    nic->loop->sent(qp, frame_bytes);
    nic__trace(nic, qp, NIC_TRACE_SEND, payload_bytes, 0);
    packet_left(qp, response);
    return true;
}

void nic_scheduler_transmit_queued(nic_t *nic, uint32_t queue)
{
    nic__transmit_built(nic, take_queued(nic, queue));
}

void nic_scheduler_tell_sent(nic_qp_t *qp, uint32_t bytes)
{
    if ((qp->flags & NIC_QP_CC_SENT) != 0) {
        nic_cc_t *const cc = nic__cc(qp);
        cc->ops->sent(cc, bytes);
        nic__cc_sync(qp);
    }
}

void nic_scheduler_receive(nic_t *nic, net_packet_t *packet)
{
    nic__receive(nic, packet);
    nic__trace(nic, NULL, NIC_TRACE_RECEIVE, 0, 0);
}
