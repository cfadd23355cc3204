// SPDX-License-Identifier: Apache-2.0
// nic/rnic_unit.c - processing units: each serves WQEs and packets of its queue pairs in order.
//
// A queue pair belongs to the unit of its number: operations of one have an order to keep, so one
// queue pair cannot use more than one unit, and several can (Kalia et al., USENIX ATC 2016, 3.3).
#include "nic/rnic_internal.h"

static void unit_fired(sim_node_t *node, sim_timer_t *timer);

void nic__pu_init(nic_t *nic)
{
    nic_rnic_t *const rnic = nic->rnic;
    rnic->pus = sim_alloc_array(rnic->detail.pu_count, sizeof(*rnic->pus));
    for (uint64_t i = 0; i < rnic->detail.pu_count; i++) {
        rnic->pus[i].nic = nic;
        sim_timer_init(&rnic->pus[i].timer, unit_fired);
    }
}

static void begin(nic_pu_t *pu)
{
    nic_item_t *const item = pu->head;
    const sim_time_t end_ps =
        item->kind == NIC_ITEM_WQE ? nic__rnic_serve_wqe(item) : nic__rnic_serve_packet(item);
    pu->busy = true;
    sim_timer_arm(nic__node(pu->nic), &pu->timer, end_ps);
}

void nic__pu_push(nic_item_t *item)
{
    nic_rnic_t *const rnic = item->nic->rnic;
    nic_pu_t *const pu = &rnic->pus[item->qp_number % rnic->detail.pu_count];
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
        item->first++;
        if (--item->count == 0) {
            pu->head = item->next;
            nic__item_free(item);
        }
        if (qp != NULL) {
            nic__rnic_wqe_served(nic, qp, index);
        }
    } else {
        net_packet_t *const packet = item->packet;
        pu->head = item->next;
        nic__item_free(item);
        nic__rnic_packet_served(nic, packet);
    }
    // What happened just now may have pushed more: the unit still counts as busy.
    pu->busy = false;
    if (pu->head != NULL) {
        begin(pu);
    }
}
