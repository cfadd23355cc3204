// SPDX-License-Identifier: Apache-2.0
// nic/rnic_unit.c - processing units: each serves WQEs and packets of its queue pairs in order.
//
// What waits for a unit are queue pairs: WQEs that come while their queue pair waits for its turn
// to send are served in the same turn, one after the other, and so are packets.
//
// Sending and receiving have units apart, as many of each: on the card, a server's single queue
// pair takes more requests than one unit could if the responses went through it too (Spec-S0).
// A queue pair belongs to the unit of its number: operations of one have an order to keep, so one
// queue pair cannot use more than one unit, and several can (Kalia et al., USENIX ATC 2016, 3.3).
#include "nic/rnic_internal.h"

static void unit_fired(sim_node_t *node, sim_timer_t *timer);

void nic__pu_init(nic_t *nic)
{
    nic_rnic_t *const rnic = nic->rnic;
    rnic->pus = sim_alloc_array(2 * rnic->detail.pu_count, sizeof(*rnic->pus));
    for (uint64_t i = 0; i < 2 * rnic->detail.pu_count; i++) {
        rnic->pus[i].nic = nic;
        sim_timer_init(&rnic->pus[i].timer, unit_fired);
    }
}

static nic_pu_t *unit_of(const nic_item_t *item)
{
    const nic_rnic_t *const rnic = item->nic->rnic;
    const uint64_t index = item->qp_number % rnic->detail.pu_count;
    return &rnic->pus[2 * index + (item->kind != NIC_ITEM_WQE)];
}

static void begin(nic_pu_t *pu)
{
    nic_item_t *const item = pu->head;
    nic_qp_t *const qp = nic__item_qp(item);
    if (qp != NULL && qp->waiting == item) {
        qp->waiting = NULL; // its turn has come
    }
    if (qp != NULL && qp->waiting_packet == item) {
        qp->waiting_packet = NULL;
    }
    const sim_time_t end_ps =
        item->kind == NIC_ITEM_WQE ? nic__rnic_serve_wqe(item) : nic__rnic_serve_packet(item);
    pu->busy = true;
    sim_timer_arm(nic__node(pu->nic), &pu->timer, end_ps);
}

void nic__pu_push_wqes(nic_item_t *item, nic_qp_t *qp)
{
    nic_item_t *const waiting = qp->waiting;
    if (waiting != NULL && waiting->fetched == item->fetched) {
        SIM_ASSERT(waiting->first + waiting->count == item->first);
        waiting->count += item->count;
        nic__item_free(item);
        return;
    }
    qp->waiting = item;
    nic__pu_push(item);
}

void nic__pu_push_packet(nic_item_t *item, nic_qp_t *qp)
{
    nic_item_t *const waiting = qp == NULL ? NULL : qp->waiting_packet;
    if (qp != NULL) {
        qp->waiting_packet = item;
    }
    if (waiting == NULL) {
        nic__pu_push(item);
        return;
    }
    nic_pu_t *const pu = unit_of(item);
    item->next = waiting->next;
    waiting->next = item;
    if (pu->tail == waiting) {
        pu->tail = item;
    }
}

void nic__pu_push(nic_item_t *item)
{
    nic_pu_t *const pu = unit_of(item);
    item->next = NULL;
    if (pu->head == NULL) {
        pu->head = item;
    } else {
        pu->tail->next = item;
    }
    pu->tail = item;
    if (!pu->busy) {
        begin(pu);
    }
}

static void unit_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    nic_pu_t *const pu = SIM_CONTAINER_OF(timer, nic_pu_t, timer);
    nic_item_t *const item = pu->head;
    nic_t *const nic = pu->nic;
    if (item->kind == NIC_ITEM_WQE) {
        nic_qp_t *const qp = nic__item_qp(item);
        const uint32_t index = item->first;
        const sim_time_t here_ps = item->here_ps;
        item->first++;
        if (--item->count == 0) {
            pu->head = item->next;
            nic__item_free(item);
        }
        if (qp != NULL) {
            nic__rnic_wqe_served(nic, qp, index, here_ps);
        }
    } else {
        net_packet_t *const packet = item->packet;
        const sim_time_t here_ps = item->here_ps;
        pu->head = item->next;
        nic__item_free(item);
        nic__rnic_packet_served(nic, packet, here_ps);
    }
    // What happened just now may have pushed more: the unit still counts as busy.
    pu->busy = false;
    if (pu->head != NULL) {
        begin(pu);
    }
}
