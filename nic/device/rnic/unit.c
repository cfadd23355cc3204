// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/unit.c - processing units: each serves WQEs or packets of its queue pairs in
// order.
//
// Queue pairs wait for a unit: WQEs that come while their queue pair waits for its turn
// to send are served in the same turn, one after the other, and so are packets.
//
// Sending and receiving have units apart, as many of each: on the card, a server's single queue
// pair takes more requests than one unit could if the responses went through it too (Spec-S0).
// A queue pair belongs to the units of its number: operations of one have an order to keep, so one
// queue pair cannot use more than one unit, and several can (Kalia et al., USENIX ATC 2016, 3.3).
#include "nic/device/rnic/unit.h"
#include "nic/device/rnic/items.h"
#include "nic/device/rnic/lookup.h"
#include "nic/device/rnic/payload.h"
#include "nic/device/rnic/post.h"
#include "nic/device/rnic/receive.h"
#include "nic/device/rnic/rnic.h"
#include "nic/device/rnic/send.h"
#include "nic/device/rnic/store_kinds.h"

static void tx_unit_fired(sim_node_t *node, sim_timer_t *timer);
static void tx_unit_step(nic_step_t *step);

void nic__units_create(nic_rnic_t *rnic)
{
    nic_t *const nic = rnic->nic;
    const uint64_t count = rnic->detail.pu_count;
    rnic->tx_units = sim_alloc_lines(count * sizeof(*rnic->tx_units));
    rnic->rx_units = sim_alloc_lines(count * sizeof(*rnic->rx_units));
    for (uint64_t i = 0; i < count; i++) {
        rnic->tx_units[i].nic = nic;
        rnic->rx_units[i].nic = nic;
        sim_timer_init(&rnic->tx_units[i].timer, tx_unit_fired);
        sim_timer_init(&rnic->rx_units[i].timer, nic__rx_unit_fired);
    }
    nic__device_serve_lane(nic, NIC_LANE_SEND, tx_unit_step);
    nic__device_serve_lane(nic, NIC_LANE_RECEIVE, nic__rx_unit_step);
    nic__device_serve_lane(nic, NIC_LANE_DATA, nic__rnic_data_step);
    nic__device_serve_lane(nic, NIC_LANE_HOST, nic__rnic_item_step);
}

// -- serving a WQE

static nic_cost_t translate_all(nic_rnic_t *rnic, const nic_wqe_t *wqe, nic_cost_t cost)
{
    const nic_place_t place = nic__wqe_place(wqe);
    if (SIM_LIKELY(place.list == NULL)) {
        return nic__rnic_translate(rnic, place.key, place.address, cost);
    }
    for (uint32_t i = 0; i < place.count; i++) {
        if (place.list[i].length != 0) {
            cost = nic__rnic_translate(rnic, place.list[i].lkey, place.list[i].addr, cost);
        }
    }
    return cost;
}

// Returns the time of the shared sending side for a request. One over RC costs as much as a READ,
// whatever it does: the NIC must keep what repeats it, and match its ACK.
static inline sim_time_t request_ps(const nic_detail_t *detail, const nic_qp_t *qp,
                                    const nic_wqe_t *wqe)
{
    return nic__wqe_fetches(wqe) || nic__device_type(qp) == NIC_QPT_RC ? detail->tx_request_ps
                                                                       : detail->tx_send_ps;
}

// Begins with the WQE item->first.
static SIM_ALWAYS_INLINE nic_service_t serve_wqe(const nic_item_t *item, const nic_qp_t *qp,
                                                 nic_wqe_t *wqe)
{
    nic_rnic_t *const rnic = nic__rnic(item->nic);
    const nic_detail_t *const detail = &rnic->detail;
    const sim_time_t now_ps = rnic->at_ps;
    if (nic__device_closed(qp) || item->lap != nic__rnic_qp(qp)->lap) {
        return (nic_service_t){now_ps, now_ps}; // it was flushed, or is sent again
    }
    sim_time_t data_ps = now_ps + (item->fetched ? detail->pu_send_fetched_ps : detail->pu_send_ps);
    sim_time_t here_ps = now_ps;
    sim_time_t *const context_ps = rnic->asynchronous ? &here_ps : &data_ps;
    nic_cost_t cost = {request_ps(detail, qp, wqe), *context_ps};
    // Only WQEs of datagrams and WQEs with inline payload take more than one line.
    if (!item->fetched &&
        (nic__device_type(qp) == NIC_QPT_UD || (wqe->flags & NIC_SEND_INLINE) != 0)) {
        cost.stall_ps = nic__later(cost.stall_ps, nic__rnic_lines_ps(rnic, qp, wqe));
    }
    cost = nic__rnic_context(rnic, qp, nic__device_number(qp), NIC_SIDE_SEND, true, cost);
    *context_ps = cost.ready_ps;
    // A WQE that must be read again delays its own queue pair, not the unit.
    cost.ready_ps = here_ps;
    cost = nic__rnic_lookup_wqe(rnic, qp, wqe, item->first, cost);
    here_ps = cost.ready_ps;
    cost.ready_ps = data_ps;
    if (nic__wqe_carries(wqe)) {
        cost = translate_all(rnic, wqe, cost);
        cost.stall_ps +=
            nic__part_ps(detail, wqe, 0, nic__min(wqe->length, nic__device_mtu_bytes(qp)));
    }
    rnic->tx_free_ps = nic__later(rnic->tx_free_ps, now_ps) + cost.stall_ps;
    const sim_time_t end_ps = nic__later(rnic->tx_free_ps, cost.ready_ps);
    const bool reads = nic__wqe_carries(wqe);
    return (nic_service_t){reads ? nic__later(end_ps, nic_pcie_ahead_ps(&rnic->pcie)) : end_ps,
                           here_ps};
}

static inline void wqe_served(const nic_tx_unit_t *unit, nic_qp_t *qp, uint32_t index)
{
    nic_t *const nic = unit->nic;
    if (nic__device_closed(qp)) {
        return;
    }
    if (SIM_UNLIKELY((int32_t)(index - nic__device_oldest(qp)) < 0)) {
        nic__rnic_make_ready(qp); // acknowledged while it was on its way again
        return;
    }
    const sim_time_t now_ps = nic__device_now_ps(nic);
    const sim_time_t here_ps = nic__later(
        unit->here_ps, nic__rnic_context_here_ps(nic__rnic(nic), nic__device_number(qp)));
    sim_time_t ready_ps = here_ps;
    if (unit->carries) {
        const nic_wqe_t *const wqe = nic__device_wqe(qp, index);
        const uint32_t bytes = nic__min(wqe->length, nic__device_mtu_bytes(qp));
        const sim_time_t late_ps = nic__later(here_ps, now_ps) - now_ps;
        ready_ps = late_ps + nic__read_payload_ps(nic, wqe, 0, bytes, false);
    }
    // WQEs are sent in order, so a WQE waits for the payload of the one before.
    nic__rnic_qp(qp)->ready_ps = nic__later(nic__rnic_qp(qp)->ready_ps, ready_ps);
    if (nic__rnic_qp(qp)->ready_ps <= now_ps) {
        nic__rnic_make_ready(qp);
    } else {
        nic__item_at(nic__item_new(nic, NIC_ITEM_READY, qp), nic__rnic_qp(qp)->ready_ps);
    }
}

// -- the queue

static SIM_ALWAYS_INLINE void tx_begin(nic_tx_unit_t *unit, nic_qp_t *qp)
{
    const nic_item_t *const item = unit->head;
    const sim_time_t now_ps = nic__rnic(unit->nic)->at_ps;
    nic_service_t service = {now_ps, now_ps};
    unit->carries = false;
    if (SIM_LIKELY(qp != NULL)) {
        nic_wqe_t *const wqe = nic__device_wqe(qp, item->first);
        if (nic__rnic_qp(qp)->waiting == item) {
            nic__rnic_qp(qp)->waiting = NULL; // its turn has come
        }
        service = serve_wqe(item, qp, wqe);
        unit->carries = nic__wqe_carries(wqe);
    }
    unit->here_ps = service.here_ps;
    unit->busy = true;
    nic__unit_arm(unit->nic, NIC_LANE_SEND, &unit->step, &unit->timer, service.end_ps);
}

static SIM_ALWAYS_INLINE void push(nic_item_t *item, nic_qp_t *qp)
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

void nic__tx_unit_push(nic_item_t *item, nic_qp_t *qp)
{
    push(item, qp);
}

static void tx_end(nic_tx_unit_t *unit)
{
    nic__rnic_begin(unit->nic);
    nic_item_t *const item = unit->head;
    nic_qp_t *const qp = item->qp;
    const uint32_t index = item->first;
    const uint16_t lap = item->lap;
    item->first++;
    if (--item->count == 0) {
        unit->head = item->next;
        nic__item_free(item);
    }
    if (qp != NULL && lap == nic__rnic_qp(qp)->lap) {
        wqe_served(unit, qp, index);
    }
    // The unit stays busy until here, because the calls above may have queued more work.
    unit->busy = false;
    if (unit->head != NULL) {
        tx_begin(unit, unit->head->qp);
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

// -- WQEs arriving

// Pushes a WQE in the order of its send queue. A WQE written by MMIO waits for earlier WQEs that
// the NIC still reads after a Doorbell.
static SIM_ALWAYS_INLINE void push_in_order(nic_item_t *item, nic_qp_t *qp)
{
    nic_rnic_qp_t *const state = nic__rnic_qp(qp);
    if (SIM_LIKELY(state->early == NULL) && SIM_LIKELY(item->first == state->sq_here)) {
        state->sq_here += item->count;
        push(item, qp);
        return;
    }
    nic_item_t **link = &state->early;
    while (*link != NULL && (int32_t)((*link)->first - item->first) < 0) {
        link = &(*link)->next;
    }
    item->next = *link;
    *link = item;
    while (nic__rnic_qp(qp)->early != NULL &&
           nic__rnic_qp(qp)->early->first == nic__rnic_qp(qp)->sq_here) {
        nic_item_t *const next = nic__rnic_qp(qp)->early;
        nic__rnic_qp(qp)->early = next->next;
        nic__rnic_qp(qp)->sq_here += next->count;
        push(next, qp);
    }
}

// Inserts an arrived WQE into its set of the cache.
static inline void keep(nic_rnic_t *rnic, const nic_qp_t *qp, uint32_t index, uint32_t set)
{
    const uint64_t key = nic__cache_key(NIC_STORE_WQE, nic__wqe_key(qp, index));
    nic_wqe_t *const wqe = nic__device_wqe(qp, index);
    if (SIM_UNLIKELY((rnic->answered >> NIC_STORE_WQE & 1) != 0)) {
        wqe->device_slot = 0;
        nic__store_add(rnic->nic, NIC_STORE_WQE, nic__wqe_key(qp, index));
        return;
    }
    wqe->device_slot = (uint16_t)nic__cache_put(rnic->held[NIC_STORE_WQE], set, key);
}

static inline bool was_flushed(const nic_item_t *item, const nic_qp_t *qp)
{
    return (int32_t)(item->first - nic__rnic_qp(qp)->sq_here) < 0;
}

// Passes the WQEs that were read after a Doorbell to the processing unit.
void nic__rnic_wqes_arrive(nic_item_t *item, nic_qp_t *qp)
{
    nic_rnic_t *const rnic = nic__rnic(item->nic);
    if (SIM_UNLIKELY(was_flushed(item, qp))) {
        nic__item_free(item);
        return;
    }
    for (uint32_t i = 0; i < item->count; i++) {
        const uint64_t key = nic__cache_key(NIC_STORE_WQE, nic__wqe_key(qp, item->first + i));
        keep(rnic, qp, item->first + i, nic_cache_set(rnic->held[NIC_STORE_WQE], key));
    }
    push_in_order(item, qp);
}

// Prefetches what the WQEs that come next will need, in steps: the item, then its queue pair, then
// the WQE and its set in the cache.
static SIM_ALWAYS_INLINE void expect_wqes(const nic_rnic_t *rnic)
{
    nic_pcie_write_t *const next = rnic->pcie.first;
    if (next == NULL) {
        return;
    }
    const nic_item_t *const first = SIM_CONTAINER_OF(next, nic_item_t, write);
    __builtin_prefetch(&rnic->held[NIC_STORE_WQE]->slots[first->set]);
    if (next->next == NULL) {
        return;
    }
    const nic_qp_t *const qp = SIM_CONTAINER_OF(next->next, nic_item_t, write)->qp;
    if (qp != NULL) {
        __builtin_prefetch(nic__rnic_qp(qp));
        nic__device_prefetch_sending(qp);
    }
    if (next->next->next != NULL) {
        __builtin_prefetch(SIM_CONTAINER_OF(next->next->next, nic_item_t, write));
    }
}

void nic__rnic_take_coming(nic_t *nic)
{
    nic_rnic_t *const rnic = nic__rnic(nic);
    const sim_time_t now_ps = nic__device_now_ps(nic);
    while (rnic->pcie.coming_ps <= now_ps) {
        nic_pcie_write_t *const write = nic_pcie_take_write(&rnic->pcie, now_ps);
        if (write == NULL) {
            continue; // it comes later
        }
        nic_item_t *const item = SIM_CONTAINER_OF(write, nic_item_t, write);
        rnic->at_ps = write->time_ps;
        expect_wqes(rnic);
        nic_qp_t *const qp = item->qp;
        if (SIM_UNLIKELY(qp == NULL || nic__device_closed(qp) || was_flushed(item, qp))) {
            nic__item_free(item);
            continue;
        }
        SIM_ASSERT(item->count == 1);
        keep(rnic, qp, item->first, item->set);
        push_in_order(item, qp);
    }
}
