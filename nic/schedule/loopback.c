// SPDX-License-Identifier: Apache-2.0
// nic/schedule/loopback.c - carrying packets of a NIC to itself.
#include "nic/schedule/loopback.h"

#include "nic/objects/plane_set.h"

bool nic__may_loop(const nic_t *nic)
{
    return nic->planes == NULL && nic->loop == NULL && !nic->draws &&
           nic->host->config->repath == NIC_REPATH_OFF && nic->transport == &nic_transport_gbn;
}

void nic__loopback_kick(const nic_t *nic)
{
    struct nic_loopback *const loopback = nic->loopback;
    if (loopback != NULL && loopback->ready != NULL && !loopback->stopped &&
        !sim_timer_armed(&loopback->turn)) {
        sim_node_t *const node = nic__node(nic);
        sim_timer_arm(node, &loopback->turn, SIM_MAX(loopback->free_ps, node->now_ps));
    }
}

// Takes the scheduler "ring" out of the files that it is compiled into: they count the queue pairs
// of a class that have joined.
static void leave_compiled_ring(nic_t *nic)
{
    nic->ring = false;
    for (uint32_t class = 0; class < NET_PRIORITIES; class ++) {
        const nic_qp_t *const first = nic->ready[class];
        const nic_qp_t *qp = first;
        while (qp != NULL) {
            nic->joined[class]++;
            qp = qp->ready_next == first ? NULL : qp->ready_next;
        }
    }
}

void nic__loopback_open(nic_t *nic)
{
    if (nic->loopback != NULL) {
        return;
    }
    SIM_CHECK(nic__may_loop(nic));
    struct nic_loopback *const loopback = sim_alloc(sizeof(*loopback));
    loopback->nic = nic;
    loopback->rate_bps = nic->device->loopback_bps != NULL ? nic->device->loopback_bps(nic)
                                                           : nic->port->line->rate_bps;
    sim_timer_init(&loopback->turn, nic__loopback_turn_fired);
    sim_timer_init(&loopback->arrival, nic__loopback_arrival_fired);
    nic->loopback = loopback;
    if (nic->ring) {
        leave_compiled_ring(nic);
    }
}

void nic__loopback_close(nic_t *nic)
{
    if (nic->loopback != NULL) {
        SIM_RING_FINI(&nic->loopback->packets);
        sim_free(nic->loopback);
    }
}

void nic__loopback_join(nic_qp_t *qp)
{
    struct nic_loopback *const loopback = qp->nic->loopback;
    nic_qp_t *const first = loopback->ready;
    qp->plane = NIC_PLANE_LOOPBACK;
    if (first == NULL) {
        loopback->ready = qp->ready_next = qp->ready_previous = qp;
    } else {
        qp->ready_next = first;
        qp->ready_previous = first->ready_previous;
        first->ready_previous->ready_next = qp;
        first->ready_previous = qp;
    }
    nic__loopback_kick(qp->nic);
}

void nic__loopback_leave(nic_qp_t *qp)
{
    struct nic_loopback *const loopback = qp->nic->loopback;
    qp->plane = 0;
    qp->ready_next->ready_previous = qp->ready_previous;
    qp->ready_previous->ready_next = qp->ready_next;
    if (loopback->ready == qp) {
        loopback->ready = qp->ready_next == qp ? NULL : qp->ready_next;
    }
}

sim_time_t nic__loopback_carry(nic_t *nic, net_packet_t *packet)
{
    struct nic_loopback *const loopback = nic->loopback;
    sim_node_t *const node = nic__node(nic);
    const bool back_to_back = loopback->free_ps >= node->now_ps;
    const uint64_t bytes = packet->frame_bytes + nic->overhead_bytes;
    const uint64_t work = bytes * (8 * SIM_PS_PER_S) + (back_to_back ? loopback->remainder : 0);
    loopback->free_ps = SIM_MAX(loopback->free_ps, node->now_ps) + work / loopback->rate_bps;
    loopback->remainder = work % loopback->rate_bps;
    const sim_time_t arrive_ps =
        loopback->free_ps - nic->port->line->gap_ps + NIC_LOOPBACK_DELAY_PS;
    if (SIM_RING_COUNT(&loopback->packets) == 0) {
        sim_timer_arm(node, &loopback->arrival, arrive_ps);
    }
    SIM_RING_PUSH(&loopback->packets, (nic_looped_t){packet, arrive_ps});
    nic->counters.loopback_packets++;
    return loopback->free_ps;
}

void nic__loopback_stop(const nic_t *nic, bool stopped)
{
    if (nic->loopback != NULL) {
        nic->loopback->stopped = stopped;
        nic__loopback_kick(nic);
    }
}
