// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/rnic_unit.c - processing units: each serves WQEs or packets of its queue pairs in
// order.
//
// What waits for a unit are queue pairs: WQEs that come while their queue pair waits for its turn
// to send are served in the same turn, one after the other, and so are packets.
//
// Sending and receiving have units apart, as many of each: on the card, a server's single queue
// pair takes more requests than one unit could if the responses went through it too (Spec-S0).
// A queue pair belongs to the units of its number: operations of one have an order to keep, so one
// queue pair cannot use more than one unit, and several can (Kalia et al., USENIX ATC 2016, 3.3).
#include "nic/device/rnic/rnic_internal.h"

static void tx_unit_fired(sim_node_t *node, sim_timer_t *timer);
static void tx_unit_step(nic_step_t *step);

void nic__units_create(nic_t *nic)
{
    nic_rnic_t *const rnic = nic__rnic(nic);
    const uint64_t count = rnic->detail.pu_count;
    rnic->tx_units = sim_alloc_array(count, sizeof(*rnic->tx_units));
    rnic->rx_units = sim_alloc_array(count, sizeof(*rnic->rx_units));
    for (uint64_t i = 0; i < count; i++) {
        rnic->tx_units[i].nic = nic;
        rnic->rx_units[i].nic = nic;
        sim_timer_init(&rnic->tx_units[i].timer, tx_unit_fired);
        sim_timer_init(&rnic->rx_units[i].timer, nic__rx_unit_fired);
    }
    nic__steps_create(nic->host);
    nic_steps_t *const steps = nic->host->steps;
    if (steps != NULL) {
        steps->lanes[NIC_LANE_SEND].fn = tx_unit_step;
        steps->lanes[NIC_LANE_RECEIVE].fn = nic__rx_unit_step;
        steps->lanes[NIC_LANE_DATA].fn = nic__rnic_item_step;
        steps->lanes[NIC_LANE_HOST].fn = nic__rnic_item_step;
    }
}

// -- sending

static void tx_begin(nic_tx_unit_t *unit, nic_qp_t *qp)
{
    const nic_item_t *const item = unit->head;
    if (qp != NULL && nic__rnic_qp(qp)->waiting == item) {
        nic__rnic_qp(qp)->waiting = NULL; // its turn has come
    }
    const nic_service_t service = nic__rnic_serve_wqe(item, qp);
    unit->here_ps = service.here_ps;
    unit->busy = true;
    nic__unit_arm(unit->nic, NIC_LANE_SEND, &unit->step, &unit->timer, service.end_ps);
}

void nic__tx_unit_push(nic_item_t *item, nic_qp_t *qp)
{
    nic_item_t *const waiting = nic__rnic_qp(qp)->waiting;
    if (waiting != NULL && waiting->fetched == item->fetched) {
        SIM_ASSERT(waiting->first + waiting->count == item->first);
        waiting->count += item->count;
        nic__item_free(item);
        return;
    }
    nic__rnic_qp(qp)->waiting = item;
    item->lap = nic__rnic_qp(qp)->lap;
    nic_tx_unit_t *const unit = &nic__rnic(item->nic)->tx_units[nic__rnic_qp(qp)->unit];
    item->next = NULL;
    if (unit->head == NULL) {
        unit->head = item;
    } else {
        unit->tail->next = item;
    }
    unit->tail = item;
    if (!unit->busy) {
        tx_begin(unit, qp);
    }
}

static void tx_end(nic_tx_unit_t *unit)
{
    nic__rnic_begin(unit->nic);
    nic_item_t *const item = unit->head;
    nic_qp_t *const qp = nic__item_qp(item);
    const uint32_t index = item->first;
    const uint16_t lap = item->lap;
    item->first++;
    if (--item->count == 0) {
        unit->head = item->next;
        nic__item_free(item);
    }
    if (qp != NULL && lap == nic__rnic_qp(qp)->lap) {
        nic__rnic_wqe_served(unit->nic, qp, index, unit->here_ps);
    }
    // What happened just now may have pushed more: the unit still counts as busy.
    unit->busy = false;
    if (unit->head != NULL) {
        tx_begin(unit, nic__item_qp(unit->head));
    }
}

static void tx_unit_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    tx_end(SIM_CONTAINER_OF(timer, nic_tx_unit_t, timer));
}

static void tx_unit_step(nic_step_t *step)
{
    tx_end(SIM_CONTAINER_OF(step, nic_tx_unit_t, step));
}
