// SPDX-License-Identifier: Apache-2.0
// nic/transport/uec/receive.c - the receiver of a PDC: takes packets, in any order or only in their
// own, and answers with ACKs that carry a bitmap, and NACKs.
#include "nic/transport/uec/uec.h"

#include "net/wire/uet.h"
#include "nic/host/packets.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/transport/responder_internal.h"
#include "nic/transport/uec/credit.h"

// Gives a packet its port, and the route of that: ports of this end are kept first, then those of
// answers, which the peer chose.
static inline void take_path(nic_uec_t *uec, const nic_qp_t *qp, net_packet_t *packet,
                             uint16_t port)
{
    const uint32_t count = uec->paths.count;
    const uint32_t half = nic__entropy_of_port(qp, port) < count ? 0 : count;
    const uint32_t places = qp->nic->planes == NULL ? 2 * count : 0; // any value takes any plane
    nic__take_route(&uec->routes, qp, packet, port,
                    &(nic_route_place_t){(port & (count - 1)) + half, places, 2 * count});
}

void nic__uec_dress(nic_qp_t *qp, net_packet_t *packet, uint16_t port)
{
    nic_t *const nic = qp->nic;
    nic_uec_t *const uec = nic__uec_of(qp);
    net_packet_aside_t *const aside = net_packet_aside(packet);
    if (!uec->rod) {
        take_path(uec, qp, packet, port);
    }
    aside->uet.pdc = qp->number;
    const uint32_t operation = packet->opcode & ROCE_OPERATION_MASK;
    if (operation != ROCE_ACKNOWLEDGE) {
        aside->uet.flags =
            (uint8_t)((aside->uet.flags & NET_UET_AGAIN) | (uec->rod ? NET_UET_ORDERED : 0) |
                      (uec->config->congestion_state || uec->credited ? NET_UET_STATE : 0));
    }
    packet->opcode = (uint8_t)(operation | ROCE_UET);
    if (nic->body_bytes == NULL && nic->ack_bytes == 0) {
        const net_config_t *const network = net_get_config(nic->host->node.net);
        nic__resize_frame(nic, packet, net_uet_frame_bytes(packet, network->tagged, network->ipv6));
    }
}

// -- answers

// The length of the header as net_uet_of_packet takes it from `round`; 0: ACK_CC.
static const uint8_t ccx_bytes[] = {[NIC_UEC_ACK_CC] = 0,
                                    [NIC_UEC_ACK_CCX_32] = UET_ACK_CC_BYTES,
                                    [NIC_UEC_ACK_CCX_40] = UET_ACK_CCX_LONG_BYTES};

static void send_ack(nic_uec_t *uec, const nic_sack_cause_t *cause)
{
    nic_qp_t *const qp = uec->held.base.qp;
    const nic_early_t *const kept = &uec->held.kept;
    // The bitmap begins half of its length before the packet that caused it.
    uint64_t base_psn = kept->first_psn;
    if (cause->psn > base_psn + NIC_SACK_BITS - 1) {
        base_psn = cause->psn - NIC_SACK_BITS / 2;
    }
    net_packet_t *const answer =
        nic_transport_answer(qp, kept->first_psn - 1, nic__ack_aeth(qp->msn) >> 24, 0, NULL);
    net_packet_aside_t *const aside = net_packet_aside(answer);
    answer->psn = (uint32_t)(kept->first_psn - 1);
    answer->sent_ps = cause->sent_ps;
    answer->becn = cause->marked;
    aside->uet.ccx_bytes = ccx_bytes[uec->config->ack_header];
    aside->sack.base_psn = (uint32_t)base_psn;
    aside->sack.cause_psn = (uint32_t)cause->psn;
    aside->sack.bits = nic__sack_bits(kept, base_psn);
    aside->sack.arrived_bytes = uec->sack.taken_bytes;
    aside->sack.granted_bytes = uec->grants != NULL ? uec->grants->granted_bytes : 0;
    aside->sack.ahead_packets = kept->packets;
    nic__uec_dress(qp, answer, cause->port);
    uec->sack.quiet_bytes = 0;
    nic__uec_shared(uec)->sacks++;
    nic_transport_send(qp, answer);
}

static void send_nack(nic_uec_t *uec, const nic_sack_cause_t *cause, uint64_t psn, uint8_t code)
{
    nic_qp_t *const qp = uec->held.base.qp;
    net_packet_t *const answer = nic_transport_answer(
        qp, uec->held.kept.first_psn, (uint32_t)ROCE_SYNDROME_NAK | ROCE_NAK_PSN_SEQUENCE, 0, NULL);
    net_packet_aside_t *const aside = net_packet_aside(answer);
    answer->psn = (uint32_t)uec->held.kept.first_psn;
    answer->addressed = true;
    answer->sent_ps = cause->sent_ps;
    answer->becn = cause->marked;
    aside->nack_psn = (uint32_t)psn;
    aside->uet.code = code;
    nic__uec_dress(qp, answer, cause->port);
    nic__uec_shared(uec)->nacks++;
    nic_transport_send(qp, answer);
}

// -- packets

static void take_trimmed(nic_uec_t *uec, const nic_sack_cause_t *cause, bool last_hop)
{
    if (nic__early_has(&uec->held.kept, cause->psn)) {
        send_ack(uec, cause); // it was sent needlessly
        return;
    }
    nic__uec_shared(uec)->trimmed++;
    send_nack(uec, cause, cause->psn, last_hop ? UET_NACK_TRIMMED_LAST_HOP : UET_NACK_TRIMMED);
}

// Returns true if ROD does not take a packet, because another is missing before it.
static bool out_of_order(nic_uec_t *uec, const nic_sack_cause_t *cause)
{
    const uint64_t expected_psn = uec->held.kept.first_psn;
    if (!uec->rod || cause->psn <= expected_psn) {
        return false;
    }
    if (uec->told_psn != expected_psn) {
        uec->told_psn = expected_psn;
        send_nack(uec, cause, expected_psn, UET_NACK_OUT_OF_ORDER);
    }
    return true;
}

void nic__uec_request(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    nic_uec_t *const uec = nic__uec_of(qp);
    const net_config_t *const network = net_get_config(nic->host->node.net);
    nic__prefetch(&nic__uec_shared(uec)->expect, nic__node(nic));
    const nic_sack_cause_t cause = nic__sack_cause(packet, uec->held.kept.first_psn);
    if (SIM_UNLIKELY(packet->opcode == ROCE_UET_CREDIT)) {
        nic__uec_take_credit(uec, net_packet_aside(packet)->sack.granted_bytes);
        nic__uec_show_control(qp);
        nic_transport_consume(qp, packet);
        nic_transport_schedule(qp);
        return;
    }
    if (SIM_UNLIKELY(packet->opcode == ROCE_UET_PROBE)) {
        nic_sack_cause_t probe = cause;
        probe.psn = uec->held.kept.first_psn - 1; // it asks about no packet
        nic_transport_consume(qp, packet);
        send_ack(uec, &probe);
        return;
    }
    if (SIM_UNLIKELY(net_packet_trimmed(network, packet))) {
        const bool last_hop = packet->dscp == network->trim_last_hop_dscp;
        nic__uec_note_fabric(uec, cause.marked, !last_hop);
        if (!nic__early_has(&uec->held.kept, cause.psn)) {
            nic__uec_owe_credit(uec, packet, nic__flight_frame_bytes(qp, qp->rx_mtu_bytes));
        }
        nic_transport_consume(qp, packet);
        take_trimmed(uec, &cause, last_hop);
        return;
    }
    if (out_of_order(uec, &cause)) {
        nic__uec_shared(uec)->held.dropped++;
        nic_transport_consume(qp, packet);
        return;
    }
    uint32_t bytes = 0;
    if (cause.payload_bytes != 0) {
        if (SIM_UNLIKELY(uec->credited)) {
            nic__uec_owe_credit(uec, packet, 0);
            nic__uec_note_fabric(uec, cause.marked, false);
        }
        bytes = nic__flight_frame_bytes(qp, cause.payload_bytes);
    }
    const nic_arrival_t arrival =
        nic__single_acks_take(&uec->held, packet, uec->config->range_packets);
    if (arrival.refused || !qp->transport_open) {
        return;
    }
    const bool again = arrival.news == NIC_KEPT_AGAIN;
    const bool at_once = nic__sack_count(&uec->sack, bytes, again) || again;
    const bool whole = nic__early_empty(&uec->held.kept);
    if (nic__sack_due(&uec->sack, &cause, at_once, whole, uec->config->ack_bytes)) {
        send_ack(uec, &cause);
    }
}
