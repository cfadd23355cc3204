// SPDX-License-Identifier: Apache-2.0
// nic/transport/receive.c - receiving a packet: finding its queue pair, noticing marks, passing it
// on to the transport.
//
// This is DCQCN's notification point: a data packet marked CE causes a CNP to its sender, at most
// one per flow and cnp_interval (Zhu et al., SIGCOMM 2015, section 3.2; IBA annex A17.9.3).
#include "nic/cc/control.h"
#include "nic/host/listen.h"
#include "nic/host/packets.h"
#include "nic/objects/numbers.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/rail.h"
#include "nic/objects/region.h"
#include "nic/path/repath.h"
#include "nic/path/spray.h"
#include "nic/schedule/eligible.h"
#include "nic/transport/entry.h"
#include "nic/transport/operation_internal.h"

// -- notification point

#define FIRST_CNP_SLOTS 16u

static nic_cnp_slot_t *find_slot(nic_cnp_slot_t *slots, uint32_t capacity, uint32_t interface)
{
    uint32_t i = (uint32_t)sim_mix64(interface) & (capacity - 1);
    while (slots[i].interface != 0 && slots[i].interface != interface + 1) {
        i = (i + 1) & (capacity - 1);
    }
    return &slots[i];
}

static void grow_slots(nic_t *nic)
{
    const uint32_t capacity =
        nic->cnp_slot_capacity == 0 ? FIRST_CNP_SLOTS : nic->cnp_slot_capacity * 2;
    nic_cnp_slot_t *const slots = sim_alloc_array(capacity, sizeof(*slots));
    for (uint32_t i = 0; i < nic->cnp_slot_capacity; i++) {
        if (nic->cnp_slots[i].interface != 0) {
            *find_slot(slots, capacity, nic->cnp_slots[i].interface - 1) = nic->cnp_slots[i];
        }
    }
    sim_free(nic->cnp_slots);
    nic->cnp_slots = slots;
    nic->cnp_slot_capacity = capacity;
}

// Returns where the time is kept before which this packet's flow gets no further CNP.
static sim_time_t *next_cnp(nic_t *nic, nic_qp_t *qp, uint32_t source)
{
    switch ((nic_cnp_scope_t)nic->host->config->cnp_scope) {
    case NIC_CNP_PER_QP:
        break;
    case NIC_CNP_PER_PORT:
        return &nic->cnp_next_ps;
    case NIC_CNP_PER_DESTINATION:
        if (nic->cnp_slot_count * 2 >= nic->cnp_slot_capacity) {
            grow_slots(nic);
        }
        nic_cnp_slot_t *const slot = find_slot(nic->cnp_slots, nic->cnp_slot_capacity, source);
        nic->cnp_slot_count += slot->interface == 0;
        slot->interface = source + 1;
        return &slot->next_ps;
    }
    return &qp->cnp_next_ps;
}

static void send_cnp(nic_t *nic, const nic_qp_t *qp, const net_packet_t *marked)
{
    net_packet_t *const cnp =
        nic__new_packet(nic, qp, nic->cnp_priority, NET_ECN_NOT_ECT, ROCE_CNP_RESERVED_BYTES);
    cnp->route = nic->odd_answers ? qp->answer_route : qp->path.route;
    if (qp->transport == ROCE_UD) {
        cnp->destination = marked->source;
        cnp->destination_qp = net_packet_aside(marked)->deth.source_qp;
        cnp->flow_hash =
            net_flow_hash(nic->host->node.net, cnp->source, cnp->destination, cnp->udp_source_port);
    }
    cnp->opcode = ROCE_CNP;
    cnp->becn = true;
    cnp->dscp = nic->cnp_dscp & 63u;
    nic->counters.np_cnp_sent++;
    nic__trace(nic, qp, NIC_TRACE_CNP_SENT, 0, 0);
    nic__send(nic, cnp);
}

// Returns true if a marked packet causes no CNP, because the last one was sent too recently. Its
// ACK may still report the mark.
static inline bool stays_silent(const nic_t *nic, const nic_qp_t *qp, const net_packet_t *packet)
{
    const nic_cnp_scope_t scope = (nic_cnp_scope_t)nic->host->config->cnp_scope;
    const sim_time_t next_ps = scope == NIC_CNP_PER_QP     ? qp->cnp_next_ps
                               : scope == NIC_CNP_PER_PORT ? nic->cnp_next_ps
                                                           : 0;
    return packet->echo_ecn || nic__node(nic)->now_ps < next_ps;
}

static void notice_congestion(nic_t *nic, nic_qp_t *qp, const net_packet_t *packet)
{
    const sim_time_t now_ps = nic__node(nic)->now_ps;
    sim_time_t *const next_ps = next_cnp(nic, qp, packet->source);
    if (now_ps >= *next_ps) {
        *next_ps = now_ps + nic->host->config->cnp_interval_ps;
        send_cnp(nic, qp, packet);
    }
}

// -- reaction point

static void receive_cnp(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    nic_cc_t *const cc = nic__cc(qp);
    const bool handled = (qp->flags & NIC_QP_ACTIVE) != 0 && cc->ops->cnp != NULL;
    nic__trace(nic, qp, NIC_TRACE_CNP_RECEIVED, handled, 0);
    nic__repath_cnp(qp);
    if (handled) {
        nic->counters.rp_cnp_handled++;
        cc->ops->cnp(cc);
        nic__cc_sync(qp);
    } else {
        nic->counters.rp_cnp_ignored++;
    }
    nic__consume(nic, packet);
}

// -- reception

static inline bool is_response(uint8_t opcode)
{
    return (opcode >= ROCE_READ_RESPONSE_FIRST && opcode <= ROCE_READ_RESPONSE_ONLY) ||
           opcode == ROCE_ATOMIC_ACKNOWLEDGE;
}

// Returns true if the QP takes this packet: it is connected, and the packet is of its transport and
// from its peer (9.6.1).
static inline bool is_for(const nic_qp_t *qp, const net_packet_t *packet)
{
    return (packet->opcode & ROCE_TRANSPORT_MASK) == qp->transport &&
           (packet->source == qp->path.destination || qp->transport == ROCE_UD);
}

static inline bool is_answer(const net_packet_t *packet)
{
    const uint8_t opcode =
        packet->opcode >= ROCE_MRC ? packet->opcode & ROCE_OPERATION_MASK : packet->opcode;
    return opcode == ROCE_CNP || opcode == ROCE_ACKNOWLEDGE || opcode == ROCE_UET_CREDIT ||
           opcode == ROCE_MRC_SACK || opcode == ROCE_MRC_NACK || is_response(opcode);
}

// Gives the program a whole frame (nic/ethernet.h).
static void take_ethernet(nic_t *nic, net_packet_t *packet)
{
    uint8_t *const bytes = net_packet_aside(packet)->payload;
    net_ethernet_mark(bytes, packet->payload_bytes, packet->ecn, packet->ttl);
    nic->ethernet(nic, bytes, packet->payload_bytes, nic->ethernet_ctx);
    nic__consume(nic, packet);
}

// Handles a packet for a QP that does not exist. For a request, the program may create and return
// the QP. An answer to a destroyed QP is counted as late. Returns NULL if the packet is freed.
static nic_qp_t *receive_unknown(nic_t *nic, net_packet_t *packet)
{
    const bool addressed = packet->destination == nic->interface;
    if (packet->opcode == ROCE_ETHERNET && nic->ethernet != NULL) {
        take_ethernet(nic, packet);
        return NULL;
    }
    if (addressed && is_answer(packet)) {
        if (nic__qp_is_gone(nic, packet->destination_qp)) {
            nic->counters.late_answers++;
            nic__consume(nic, packet);
            return NULL;
        }
    } else if (addressed && nic->accept != NULL) {
        nic_qp_t *const qp = nic->accept(nic, packet->destination_qp, nic->accept_ctx);
        if (SIM_UNLIKELY(nic->rail != NULL)) {
            nic__rail_accepted(nic, packet->destination_qp);
        }
        if (qp != NULL) {
            return qp;
        }
    }
    net_port_drop(nic->port, packet, NET_DROP_HOST);
    return NULL;
}

static inline void take(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    const nic_transport_ops_t *const ops = qp->ops;
    if (packet->opcode == ROCE_ACKNOWLEDGE) {
        ops->acknowledged(nic, qp, packet);
    } else if (SIM_UNLIKELY(is_response(packet->opcode))) {
        ops->responded(nic, qp, packet);
    } else {
        ops->request(nic, qp, packet);
    }
}

// Takes a packet that is not RoCE, if the queue pair's transport is of its protocol.
static SIM_NOINLINE void take_foreign(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    const uint8_t wire = qp->ops->wire;
    const bool datagram = net_packet_is_uud(packet);
    if (wire == 0 || (packet->opcode & ROCE_TRANSPORT_MASK) != wire ||
        qp->transport != (datagram ? ROCE_UD : ROCE_RC) ||
        (!datagram && packet->source != qp->path.destination)) {
        nic__consume(nic, packet);
        return;
    }
    packet->opcode &= ROCE_OPERATION_MASK;
    take(nic, qp, packet);
}

// Handles rare packets: CNPs, and marked ones that must be reported.
static SIM_NOINLINE void take_rare(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    if (packet->opcode == ROCE_CNP) {
        receive_cnp(nic, qp, packet);
        return;
    }
    notice_congestion(nic, qp, packet);
    take(nic, qp, packet);
}

static SIM_ALWAYS_INLINE void take_any(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    if (SIM_UNLIKELY(packet->ecn == NET_ECN_CE) && packet->payload_bytes != 0) {
        nic->counters.np_ecn_marked_roce_packets++;
        if (!stays_silent(nic, qp, packet)) {
            take_rare(nic, qp, packet);
            return;
        }
    }
    take(nic, qp, packet);
}

static SIM_NOINLINE void take_sprayed(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    if (nic__sprays(qp)) {
        nic__spray_arrived(qp, packet);
    }
    take_any(nic, qp, packet);
}

static SIM_ALWAYS_INLINE void receive(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    if (SIM_UNLIKELY(!is_for(qp, packet)) && packet->opcode != ROCE_CNP) {
        take_foreign(nic, qp, packet);
        return;
    }
    if (SIM_UNLIKELY(packet->opcode == ROCE_CNP)) {
        take_rare(nic, qp, packet);
        return;
    }
    if (SIM_UNLIKELY(packet->sprayed)) {
        take_sprayed(nic, qp, packet);
        return;
    }
    take_any(nic, qp, packet);
}

static inline void remember(nic_t *nic, nic_qp_t *qp, const net_packet_t *packet)
{
    const bool ack = packet->opcode == ROCE_ACKNOWLEDGE;
    if (!ack) { // those go to what sent last, as a rule
        nic->host->received_last = qp;
    }
    nic->latest[ack] = qp;
    nic->latest_numbers[ack] = packet->destination_qp;
}

static SIM_NOINLINE void take_unknown(nic_t *nic, net_packet_t *packet)
{
    nic_qp_t *const qp = receive_unknown(nic, packet);
    if (qp != NULL) {
        remember(nic, qp, packet);
        receive(nic, qp, packet);
    }
}

static SIM_ALWAYS_INLINE void note_arrival(nic_t *nic, const net_packet_t *packet)
{
    nic->counters.rx_packets++;
    if (SIM_UNLIKELY(packet->telemetry == NET_TELEMETRY_INT)) {
        __builtin_prefetch(net_packet_telemetry(packet)); // read when the ACK is made or used
    }
}

// Every usual path ends in a tail call, so that the function needs no stack frame.
void nic__receive(nic_t *nic, net_packet_t *packet)
{
    note_arrival(nic, packet);
    const bool ack = packet->opcode == ROCE_ACKNOWLEDGE;
    nic_qp_t *qp = nic->latest[ack];
    if (qp == NULL || packet->destination_qp != nic->latest_numbers[ack]) {
        qp = nic__find_qp(nic, packet->destination_qp);
        if (SIM_UNLIKELY(qp == NULL)) {
            take_unknown(nic, packet);
            return;
        }
        remember(nic, qp, packet);
    }
    receive(nic, qp, packet);
}

void nic__receive_for(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    note_arrival(nic, packet);
    receive(nic, qp, packet);
}

void nic__shift_address(const nic_t *nic, net_packet_t *packet)
{
    if (packet->kind != NET_PACKET_ROCE) {
        return;
    }
    const uint32_t operation = nic__operations[packet->opcode & ROCE_OPERATION_MASK];
    net_packet_aside_t *const aside = net_packet_aside(packet);
    if ((operation & IS_ATOMIC) != 0) {
        const nic_mr_t *const mr = nic__region(nic, aside->atomic.rkey);
        aside->atomic.address += mr == NULL ? 0 : mr->shift;
    } else if ((operation & IS_READ) != 0 || ((operation & IS_WRITE) != 0 &&
                                              ((operation & IS_FIRST) != 0 || packet->addressed))) {
        const nic_mr_t *const mr = nic__region(nic, aside->reth.rkey);
        aside->reth.address += mr == NULL ? 0 : mr->shift;
    }
}
