// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/receive.c - the receiving side of a detailed NIC: buffer, pause, costs, DMA
// writes.
//
// A packet waits in the receive buffer until its processing unit is through with it. A NIC that is
// slower than its link fills the buffer and pauses the link, class by class of what arrives
// (802.1Qbb): to the network it is a slow receiver.
#include "nic/device/rnic/receive.h"
#include "nic/device/rnic/lookup.h"
#include "nic/device/rnic/rnic.h"
#include "nic/device/rnic/send.h"
#include "nic/device/rnic/unit.h"

#define PAUSE_QUANTA 0xffffu

// -- the buffer

static void pause_link(nic_t *nic, uint8_t classes)
{
    nic_rnic_t *const rnic = nic__rnic(nic);
    sim_node_t *const node = nic__device_node(nic);
    rnic->pausing |= classes;
    rnic->counters.pauses_sent++;
    nic_device_pause(nic, classes, PAUSE_QUANTA);
    if (!sim_timer_armed(&rnic->pause_timer)) {
        const sim_time_t pause_ps = nic_device_pause_ps(nic, PAUSE_QUANTA);
        sim_timer_arm(node, &rnic->pause_timer, node->now_ps + pause_ps / 2);
    }
}

void nic__rnic_pause_fired(sim_node_t *node, sim_timer_t *timer)
{
    nic_rnic_t *const rnic = SIM_CONTAINER_OF(timer, nic_rnic_t, pause_timer);
    sim_upkeep(node);
    if (rnic->pausing != 0) {
        nic_device_pause(rnic->nic, rnic->pausing, PAUSE_QUANTA);
        const sim_time_t pause_ps = nic_device_pause_ps(rnic->nic, PAUSE_QUANTA);
        sim_timer_arm(node, timer, node->now_ps + pause_ps / 2);
    }
}

static void release(nic_t *nic, uint32_t bytes)
{
    nic_rnic_t *const rnic = nic__rnic(nic);
    SIM_CHECK(rnic->buffered_bytes >= bytes);
    rnic->buffered_bytes -= bytes;
    if (SIM_UNLIKELY(rnic->pausing != 0) && rnic->buffered_bytes <= rnic->detail.resume_bytes) {
        nic_device_pause(nic, rnic->pausing, 0);
        rnic->pausing = 0;
        sim_timer_cancel(nic__device_node(nic), &rnic->pause_timer);
    }
}

// -- the processing unit's part

// Bits that describe a packet: the class of its operation, and its properties.
enum {
    PACKET_CLASS = 7,
    PACKET_BEGINS = 8,     // it is the first of a request
    PACKET_ADDRESSED = 16, // and says where its payload goes
    PACKET_MORE = 32       // when it is served, more is to be done than the protocol has to do
};
static inline uint32_t classify(uint8_t opcode)
{
    static const uint8_t classes[ROCE_OPERATION_MASK + 1] = {
        [ROCE_SEND_FIRST] = NIC_IS_SEND | PACKET_MORE | PACKET_BEGINS,
        [ROCE_SEND_MIDDLE] = NIC_IS_SEND | PACKET_MORE,
        [ROCE_SEND_LAST] = NIC_IS_SEND | PACKET_MORE,
        [ROCE_SEND_LAST_IMM] = NIC_IS_SEND | PACKET_MORE,
        [ROCE_SEND_ONLY] = NIC_IS_SEND | PACKET_MORE | PACKET_BEGINS,
        [ROCE_SEND_ONLY_IMM] = NIC_IS_SEND | PACKET_MORE | PACKET_BEGINS,
        [ROCE_WRITE_FIRST] = NIC_IS_WRITE | PACKET_BEGINS | PACKET_ADDRESSED,
        [ROCE_WRITE_MIDDLE] = NIC_IS_WRITE,
        [ROCE_WRITE_LAST] = NIC_IS_WRITE,
        [ROCE_WRITE_LAST_IMM] = NIC_IS_WRITE,
        [ROCE_WRITE_ONLY] = NIC_IS_WRITE | PACKET_BEGINS | PACKET_ADDRESSED,
        [ROCE_WRITE_ONLY_IMM] = NIC_IS_WRITE | PACKET_BEGINS | PACKET_ADDRESSED,
        [ROCE_READ_REQUEST] = NIC_IS_READ | PACKET_BEGINS,
        [ROCE_READ_RESPONSE_FIRST] = NIC_IS_RESPONSE,
        [ROCE_READ_RESPONSE_MIDDLE] = NIC_IS_RESPONSE,
        [ROCE_READ_RESPONSE_LAST] = NIC_IS_RESPONSE,
        [ROCE_READ_RESPONSE_ONLY] = NIC_IS_RESPONSE,
        [ROCE_ATOMIC_ACKNOWLEDGE] = NIC_IS_RESPONSE,
        [ROCE_ACKNOWLEDGE] = NIC_IS_ACK,
        [ROCE_COMPARE_SWAP] = NIC_IS_ATOMIC | PACKET_MORE | PACKET_BEGINS,
        [ROCE_FETCH_ADD] = NIC_IS_ATOMIC | PACKET_MORE | PACKET_BEGINS,
    };
    return SIM_UNLIKELY(opcode == ROCE_CNP) ? NIC_IS_ACK : classes[opcode & ROCE_OPERATION_MASK];
}

void nic__rnic_set_costs(nic_rnic_t *rnic)
{
    for (uint32_t class = 0; class < NIC_PACKET_CLASS_COUNT; class ++) {
        rnic->rx_cost_ps[class] = rnic->detail.rx_request_ps;
    }
    rnic->rx_cost_ps[NIC_IS_WRITE] = rnic->detail.rx_put_ps;
    rnic->rx_cost_ps[NIC_IS_ACK] = rnic->detail.rx_ack_ps;
    rnic->rx_cost_ps[NIC_IS_RESPONSE] = rnic->detail.rx_response_ps;
    rnic->rx_cost_ps[NIC_IS_ATOMIC] = rnic->detail.rx_atomic_ps;
}

static bool goes_inline(const nic_rnic_t *rnic, const net_packet_t *packet)
{
    const uint8_t operation = packet->opcode & ROCE_OPERATION_MASK;
    return packet->payload_bytes <= rnic->detail.recv_inline_bytes &&
           (operation == ROCE_SEND_ONLY || operation == ROCE_SEND_ONLY_IMM);
}

static uint64_t lines_of(uint64_t bytes)
{
    return (bytes + NIC_PCIE_LINE_BYTES - 1) / NIC_PCIE_LINE_BYTES;
}

// Returns the extra time of host memory for a word that is not in the processor's cache.
static sim_time_t beyond_cache_ps(const nic_t *nic, uint32_t rkey)
{
    const nic_detail_t *const detail = &nic__rnic(nic)->detail;
    nic_device_region_t region = {0};
    (void)nic_device_find_region(nic, rkey, &region);
    return region.length_bytes > detail->memory_cache_bytes ? detail->memory_latency_ps : 0;
}

// Takes the lock that the low bits of an atomic's address select, in order, from turn_ps on. The
// lock is held until the word was read, changed and written. Returns that time, at which the unit
// is free.
// A read does not pass a write (PCI Express, 2.4.1), and the write of a word that is not cached
// ends only after its line was fetched.
static sim_time_t take_lock(nic_t *nic, const net_packet_t *packet, sim_time_t turn_ps)
{
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    const uint64_t address = aside->atomic.address;
    nic_rnic_t *const rnic = nic__rnic(nic);
    const nic_detail_t *const detail = &rnic->detail;
    const sim_time_t now_ps = nic__device_now_ps(nic);
    sim_time_t *const free_ps = &rnic->lock_free_ps[address & (detail->atomic_locks - 1)];
    const sim_time_t granted_ps = nic__later(*free_ps, turn_ps);
    const sim_time_t read_ps = nic_pcie_read(&rnic->pcie, now_ps, 8, NIC_PCIE_ATOMIC_READ);
    rnic->counters.atomics_waited += granted_ps > turn_ps;
    const sim_time_t issued_ps = nic__later(granted_ps, rnic->written_ps);
    *free_ps = issued_ps + (read_ps - now_ps) + beyond_cache_ps(nic, aside->atomic.rkey) +
               detail->atomic_hold_ps;
    if (detail->atomic_stalls != 0) {
        rnic->rx_free_ps = nic__later(rnic->rx_free_ps, *free_ps);
    }
    return *free_ps;
}

// Looks up key and page of the first address to which a payload is written.
static inline nic_cost_t translate_at(nic_rnic_t *rnic, const nic_place_t *place, uint64_t offset,
                                      nic_cost_t cost)
{
    if (SIM_LIKELY(place->list == NULL)) {
        return nic__rnic_translate(rnic, place->key, place->address, cost);
    }
    uint64_t end = 0;
    for (uint32_t i = 0; i < place->count; i++) {
        end += place->list[i].length;
        if (end > offset) {
            return nic__rnic_translate(rnic, place->list[i].lkey, place->list[i].addr, cost);
        }
    }
    return cost;
}

// Looks up what a SEND needs besides its QP's context: the receive WQE and its memory.
static nic_cost_t look_up_receive(nic_rnic_t *rnic, const nic_qp_t *qp, nic_cost_t cost)
{
    uint64_t shared;
    if (nic__device_shares_receives(qp, &shared)) {
        // Numbers of CQs are smaller, so the keys differ.
        const uint64_t key = nic__cache_key(NIC_STORE_CQ, shared << 32);
        uint32_t slot = nic_cache_set(rnic->held[NIC_STORE_CQ], key);
        return nic__rnic_lookup(rnic, NIC_STORE_CQ, &slot, key, cost);
    }
    if (!nic__device_has_receive(qp)) {
        return cost;
    }
    const nic_place_t place = nic__device_receive_place(qp);
    return translate_at(rnic, &place, nic__device_received_bytes(qp), cost);
}

// Returns the extra time of a response that one PCIe write cannot carry: a second piece of work.
static inline sim_time_t second_piece_ps(const nic_detail_t *detail, uint32_t bytes)
{
    if (SIM_LIKELY(bytes <= detail->payload_max_bytes)) {
        return 0;
    }
    return detail->rx_long_ps +
           lines_of(bytes - detail->payload_max_bytes) * detail->rx_long_line_ps;
}

// Looks up the WQE that a packet answers. If it must be read again, only its completion waits.
// Returns the time until which it waits; *cost is the cost of the packet.
static SIM_ALWAYS_INLINE sim_time_t look_up_answered(nic_rnic_t *rnic, const nic_qp_t *qp,
                                                     sim_time_t now_ps, nic_cost_t *cost)
{
    if (qp == NULL || nic__device_oldest(qp) == nic__rnic_qp(qp)->sq_ready) {
        return now_ps;
    }
    const nic_cost_t found =
        nic__rnic_lookup_wqe(rnic, qp, nic__device_wqe(qp, nic__device_oldest(qp)),
                             nic__device_oldest(qp), (nic_cost_t){cost->stall_ps, now_ps});
    cost->stall_ps = found.stall_ps;
    return found.ready_ps;
}

// Begins with a packet; the WQE is what it answers. qp may be NULL.
static SIM_ALWAYS_INLINE nic_service_t serve_packet(nic_t *nic, const net_packet_t *packet,
                                                    const nic_qp_t *qp, uint32_t kind)
{
    nic_rnic_t *const rnic = nic__rnic(nic);
    const sim_time_t now_ps = nic__device_now_ps(nic);
    const nic_packet_class_t class = (nic_packet_class_t)(kind & PACKET_CLASS);
    const uint32_t bytes = packet->payload_bytes;
    sim_time_t here_ps = now_ps;
    nic_cost_t cost = {rnic->rx_cost_ps[class], now_ps + rnic->detail.pu_receive_ps};
    // The sending and the receiving side each cache their own part of a context.
    const bool begins = (kind & PACKET_BEGINS) != 0;
    cost = nic__rnic_context(rnic, qp, packet->destination_qp, NIC_SIDE_RECEIVE, begins, cost);
    switch (class) {
    case NIC_IS_READ:
    case NIC_PACKET_CLASS_COUNT:
        break;
    case NIC_IS_RESPONSE:
        cost.stall_ps += second_piece_ps(&rnic->detail, bytes);
        if (qp != NULL && nic__device_oldest(qp) != nic__device_posted(qp)) {
            const nic_place_t place = nic__wqe_place(nic__device_wqe(qp, nic__device_oldest(qp)));
            cost = translate_at(rnic, &place, nic__device_acked_bytes(qp), cost);
        }
        here_ps = look_up_answered(rnic, qp, now_ps, &cost);
        break;
    case NIC_IS_ACK:
        here_ps = look_up_answered(rnic, qp, now_ps, &cost);
        break;
    case NIC_IS_WRITE:
        cost.stall_ps += lines_of(bytes) * rnic->detail.rx_put_line_ps;
        if ((kind & PACKET_ADDRESSED) != 0) {
            const net_packet_aside_t *const aside = net_packet_aside(packet);
            cost = nic__rnic_translate(rnic, aside->reth.rkey, aside->reth.address, cost);
        }
        break;
    case NIC_IS_SEND:
        cost.stall_ps += bytes == 0 || goes_inline(rnic, packet) ? 0 : rnic->detail.rx_write_ps;
        if (qp != NULL) {
            cost = look_up_receive(rnic, qp, cost);
        }
        break;
    case NIC_IS_ATOMIC: {
        const net_packet_aside_t *const aside = net_packet_aside(packet);
        cost = nic__rnic_translate(rnic, aside->atomic.rkey, aside->atomic.address, cost);
        break;
    }
    }
    rnic->rx_free_ps = nic__later(rnic->rx_free_ps, now_ps) + cost.stall_ps;
    sim_time_t data_ps = nic__later(cost.ready_ps, rnic->rx_free_ps);
    if (bytes != 0) {
        // The payload is written to host memory. If PCIe is behind, the payload waits in the
        // buffer.
        data_ps = nic__later(data_ps, nic_pcie_room_ps(&rnic->pcie));
        if (SIM_UNLIKELY(rnic->bound)) {
            data_ps = nic__later(data_ps, nic_device_dma_room_ps(nic, rnic->detail.posted_bytes));
        }
    }
    if (SIM_UNLIKELY(class == NIC_IS_ATOMIC)) {
        data_ps = nic__later(data_ps, take_lock(nic, packet, rnic->rx_free_ps));
    }
    return (nic_service_t){data_ps, here_ps};
}

// Receives are read from host memory some at a time, ahead of their use.
static void count_receive(nic_t *nic, const net_packet_t *packet)
{
    nic_rnic_t *const rnic = nic__rnic(nic);
    const nic_qp_t *const qp = nic__device_find_qp(nic, packet->destination_qp);
    if (qp == NULL) {
        return;
    }
    uint32_t done;
    if (nic__device_receives(qp, &done) && done % rnic->detail.recv_fetch_count == 0) {
        (void)nic_pcie_read(&rnic->pcie, nic__device_now_ps(nic),
                            rnic->detail.recv_fetch_count * rnic->detail.recv_wqe_bytes,
                            NIC_PCIE_WQE_READ);
    }
}

// Prefetches the memory that the protocol will read for a SEND or an atomic.
static void prepare_turn(nic_t *nic, const net_packet_t *packet, nic_packet_class_t class)
{
    nic_rnic_t *const rnic = nic__rnic(nic);
    if (class == NIC_IS_SEND) {
        rnic->inline_receive = goes_inline(rnic, packet);
        count_receive(nic, packet);
    } else {
        const uint64_t lock = net_packet_aside(packet)->atomic.address;
        rnic->granted_ps = rnic->lock_free_ps[lock & (rnic->detail.atomic_locks - 1)];
    }
}

static inline void packet_served(const nic_rx_unit_t *unit, net_packet_t *packet)
{
    nic_t *const nic = unit->nic;
    nic_rnic_t *const rnic = nic__rnic(nic);
    rnic->wqe_here_ps = unit->here_ps;
    const uint32_t bytes = packet->frame_bytes;
    const uint32_t number = packet->destination_qp;
    if ((unit->kind & PACKET_MORE) != 0) {
        prepare_turn(nic, packet, (nic_packet_class_t)(unit->kind & PACKET_CLASS));
    }
    if (SIM_UNLIKELY(rnic->tells_arrivals)) {
        nic_device_arrived(nic, net_packet_aside(packet)->overlay);
    }
    nic__store_moved(rnic, number, false);
    if (SIM_LIKELY(unit->qp != NULL)) {
        nic_device_receive_for(unit->qp, packet);
    } else {
        nic_device_receive(nic, packet);
    }
    rnic->inline_receive = false;
    nic__store_moved(rnic, number, true);
    release(nic, bytes);
}

// -- the unit: packets that come while their queue pair waits for its turn are served in it

static void rx_begin(nic_rx_unit_t *unit, nic_qp_t *qp)
{
    const net_packet_t *const packet = unit->head;
    if (qp != NULL && nic__rnic_qp(qp)->waiting_packet == packet) {
        nic__rnic_qp(qp)->waiting_packet = NULL;
    }
    if (packet->next != NULL) {
        __builtin_prefetch(packet->next);
    }
    const uint32_t kind = classify(packet->opcode);
    const nic_service_t service = serve_packet(unit->nic, packet, qp, kind);
    unit->kind = (uint8_t)kind;
    unit->qp = qp;
    unit->here_ps = service.here_ps;
    unit->busy = true;
    nic__unit_arm(unit->nic, NIC_LANE_RECEIVE, &unit->step, &unit->timer, service.end_ps);
}

static SIM_ALWAYS_INLINE void push(nic_t *nic, net_packet_t *packet, nic_qp_t *qp)
{
    nic_rnic_t *const rnic = nic__rnic(nic);
    nic_rx_unit_t *const unit =
        &rnic->rx_units[SIM_LIKELY(qp != NULL) ? nic__rnic_qp(qp)->unit
                                               : packet->destination_qp % rnic->detail.pu_count];
    net_packet_t *const waiting = qp == NULL ? NULL : nic__rnic_qp(qp)->waiting_packet;
    if (qp != NULL) {
        nic__rnic_qp(qp)->waiting_packet = packet;
    }
    if (waiting != NULL) {
        packet->next = waiting->next;
        waiting->next = packet;
        if (unit->tail == waiting) {
            unit->tail = packet;
        }
        return;
    }
    packet->next = NULL;
    if (unit->head == NULL) {
        unit->head = packet;
    } else {
        unit->tail->next = packet;
    }
    unit->tail = packet;
    if (!unit->busy) {
        rx_begin(unit, qp);
    }
}

static void rx_end(nic_rx_unit_t *unit)
{
    nic_t *const nic = unit->nic;
    nic__rnic_begin(nic);
    net_packet_t *const packet = unit->head;
    unit->head = packet->next;
    packet_served(unit, packet);
    unit->busy = false;
    if (unit->head != NULL) {
        rx_begin(unit, nic__device_find_qp(nic, unit->head->destination_qp));
    }
}

void nic__rx_unit_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    rx_end(SIM_CONTAINER_OF(timer, nic_rx_unit_t, timer));
}

void nic__rx_unit_step(nic_step_t *step)
{
    rx_end(SIM_CONTAINER_OF(step, nic_rx_unit_t, step));
}

void nic__rnic_forget_receiving(nic_rnic_t *rnic, const nic_qp_t *qp)
{
    for (uint64_t i = 0; i < rnic->detail.pu_count; i++) {
        if (rnic->rx_units[i].qp == qp) {
            rnic->rx_units[i].qp = NULL;
        }
    }
    for (uint32_t i = 0; i < NIC_EXPECTED; i++) {
        if (rnic->expected[i].qp == qp) {
            rnic->expected[i].qp = NULL;
        }
    }
}

// Prefetches what the packets that come next will need, in three steps; each step reads what the
// one before has brought: the queue pair, then its contexts and the WQE that a response answers,
// then where the cache has that. Always inline: to gcc a function that only prefetches does
// nothing, and calls of it go.
static SIM_ALWAYS_INLINE void expect(nic_t *nic, const sim_mail_t *mail)
{
    nic_rnic_t *const rnic = nic__rnic(nic);
    nic_expected_t *const expected = rnic->expected;
    expected[0] = expected[1];
    expected[1] = expected[2];
    expected[2] = (nic_expected_t){NULL, 0};
    // The host may have consumed packets since, so the expected ones need not be there.
    const bool one_more = mail[0].key != UINT64_MAX && mail[1].key != UINT64_MAX;
    if (one_more && mail[2].key != UINT64_MAX) {
        const uint32_t number = ((const net_packet_t *)mail[2].message)->destination_qp;
        nic_qp_t *const third = nic__device_find_qp(nic, number);
        if (third != NULL) {
            expected[2] = (nic_expected_t){third, number};
            nic__device_prefetch_receiving(third);
            __builtin_prefetch(nic__rnic_qp(third));
        }
    }
    const nic_qp_t *const second = expected[1].qp;
    if (second != NULL && one_more) {
        const nic_rnic_qp_t *const state = nic__rnic_qp(second);
        const nic_cache_slot_t *const contexts = rnic->held[NIC_STORE_CONTEXT]->slots;
        __builtin_prefetch(&contexts[state->context_slot[NIC_SIDE_RECEIVE]]);
        __builtin_prefetch(&rnic->near[NIC_SIDE_RECEIVE].slots[state->near_slot[NIC_SIDE_RECEIVE]]);
        __builtin_prefetch(net_packet_aside(mail[1].message));
        nic__device_prefetch_oldest(second);
    }
    const nic_qp_t *const first = expected[0].qp;
    if (first != NULL && rnic->wqes_know &&
        nic__device_oldest(first) != nic__device_posted(first)) {
        const uint32_t slot = nic__device_wqe(first, nic__device_oldest(first))->device_slot;
        __builtin_prefetch(&rnic->held[NIC_STORE_WQE]->slots[slot]);
    }
}

// Receives a packet that fills the buffer up to the XOFF threshold of its class.
static SIM_NOINLINE void pause_and_push(nic_t *nic, net_packet_t *packet, nic_qp_t *qp)
{
    const uint8_t class = (uint8_t)(1u << packet->priority);
    if ((nic__rnic(nic)->pausing & class) == 0) {
        pause_link(nic, class);
    }
    push(nic, packet, qp);
}

// Receives a packet after handling the WQEs that have arrived in the meantime.
static SIM_NOINLINE void arrive_when_come(nic_t *nic, net_packet_t *packet)
{
    nic__rnic_take_coming(nic);
    nic__rnic_arrive(nic, packet);
}

// Ends in tail calls, so that the usual path needs no stack frame.
void nic__rnic_arrive(nic_t *nic, net_packet_t *packet)
{
    nic_rnic_t *const rnic = nic__rnic(nic);
    if (SIM_UNLIKELY(nic__rnic_has_coming(nic))) {
        arrive_when_come(nic, packet);
        return;
    }
    rnic->at_ps = nic__device_now_ps(nic);
    const nic_expected_t came = rnic->expected[0];
    expect(nic, nic__device_node(nic)->mail);
    const uint64_t bytes = rnic->buffered_bytes + packet->frame_bytes;
    if (SIM_UNLIKELY(bytes > rnic->detail.buffer_bytes)) {
        net_port_drop(rnic->port, packet, NET_DROP_BUFFER_FULL);
        return;
    }
    if (SIM_UNLIKELY(rnic->tells_arrivals)) {
        net_packet_aside(packet)->overlay = nic__device_now_ps(nic); // switches do not need it here
    }
    rnic->buffered_bytes = bytes;
    if (bytes > rnic->counters.buffer_bytes_max) {
        rnic->counters.buffer_bytes_max = bytes;
    }
    nic_qp_t *const qp = SIM_LIKELY(came.qp != NULL && came.number == packet->destination_qp)
                             ? came.qp
                             : nic__device_find_qp(nic, packet->destination_qp);
    if (SIM_UNLIKELY(bytes >= rnic->detail.pause_bytes)) {
        pause_and_push(nic, packet, qp);
    } else {
        push(nic, packet, qp);
    }
}

// -- writes to host memory

void nic__rnic_payload(nic_t *nic, uint32_t bytes)
{
    nic_rnic_t *const rnic = nic__rnic(nic);
    if (bytes != 0 && !rnic->inline_receive) {
        const sim_time_t written_ps =
            nic_pcie_write(&rnic->pcie, nic__device_now_ps(nic), bytes, NIC_PCIE_PAYLOAD_WRITE);
        rnic->payload_ps = nic__later(rnic->payload_ps, written_ps);
    }
}

void nic__rnic_lands(nic_t *nic, sim_time_t time_ps)
{
    nic_rnic_t *const rnic = nic__rnic(nic);
    rnic->payload_ps = nic__later(rnic->payload_ps, time_ps);
}

void nic__rnic_atomic_done(nic_t *nic, uint32_t rkey)
{
    nic_rnic_t *const rnic = nic__rnic(nic);
    const sim_time_t now_ps = nic__device_now_ps(nic);
    rnic->counters.atomics++;
    rnic->written_ps = nic__later(rnic->written_ps, now_ps + beyond_cache_ps(nic, rkey));
    (void)nic_pcie_write(&rnic->pcie, now_ps, 8, NIC_PCIE_ATOMIC_WRITE);
}
