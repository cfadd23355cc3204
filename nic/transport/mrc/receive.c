// SPDX-License-Identifier: Apache-2.0
// nic/transport/mrc/receive.c - the receiver: takes packets in any order, and answers with SACKs,
// NACKs for trimmed packets, and a transport ACK for each message.
#include "nic/transport/mrc/mrc.h"

#include "net/wire/mrc.h"
#include "nic/host/packets.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/transport/mrc/repair.h"
#include "nic/transport/responder_internal.h"

// The probe that an answer answers has a number, too.
typedef struct cause {
    nic_sack_cause_t packet;
    bool probe;
    uint32_t number;
} cause_t;

// -- answers

// Returns where the bitmap of a SACK begins: at the oldest gap. Where that does not reach the
// newest packet, bitmaps that show the packet that caused them take turns with those that go from
// the oldest gap on, a length further each time.
static uint64_t base_of(nic_mrc_t *mrc, const cause_t *cause)
{
    const nic_early_t *const kept = &mrc->held.kept;
    if (kept->end_psn <= kept->first_psn + NIC_SACK_BITS) {
        return kept->first_psn;
    }
    mrc->turn = !mrc->turn && !cause->probe;
    if (mrc->turn && cause->packet.psn >= kept->first_psn + NIC_SACK_BITS / 2) {
        return cause->packet.psn - NIC_SACK_BITS / 2;
    }
    if (mrc->shown_psn < kept->first_psn || mrc->shown_psn >= kept->end_psn) {
        mrc->shown_psn = kept->first_psn;
    }
    const uint64_t base_psn = mrc->shown_psn;
    mrc->shown_psn += NIC_SACK_BITS;
    return base_psn;
}

static void send_sack(nic_mrc_t *mrc, const cause_t *cause)
{
    nic_qp_t *const qp = mrc->held.base.qp;
    const nic_early_t *const kept = &mrc->held.kept;
    const uint64_t base_psn = base_of(mrc, cause);
    net_packet_t *const answer =
        nic_transport_answer(qp, kept->first_psn - 1, nic__ack_aeth(qp->msn) >> 24, 0, NULL);
    net_packet_aside_t *const aside = net_packet_aside(answer);
    answer->opcode = ROCE_MRC_SACK;
    answer->sent_ps = cause->packet.sent_ps;
    answer->becn = cause->packet.marked;
    aside->mrc.flags = cause->probe ? NET_MRC_PROBE_ANSWER : 0;
    aside->sack.base_psn = (uint32_t)base_psn & ROCE_PSN_MASK;
    aside->sack.cause_psn =
        cause->probe ? cause->number : (uint32_t)cause->packet.psn & ROCE_PSN_MASK;
    aside->sack.bits = nic__sack_bits(kept, base_psn);
    aside->sack.arrived_bytes = mrc->sack.taken_bytes;
    aside->sack.range_packets = mrc->range_packets;
    aside->sack.ahead_packets = kept->packets;
    nic__mrc_dress(qp, answer, cause->packet.port);
    mrc->sack.quiet_bytes = 0;
    nic__mrc_shared(mrc)->sacks++;
    nic_transport_send(qp, answer);
}

static void send_nack(nic_mrc_t *mrc, const cause_t *cause, uint8_t reason)
{
    nic_qp_t *const qp = mrc->held.base.qp;
    net_packet_t *const answer = nic_transport_answer(qp, cause->packet.psn, 0, 0, NULL);
    net_packet_aside_t *const aside = net_packet_aside(answer);
    answer->opcode = ROCE_MRC_NACK;
    answer->sent_ps = cause->packet.sent_ps;
    answer->becn = cause->packet.marked;
    aside->nack_psn = (uint32_t)cause->packet.psn & ROCE_PSN_MASK;
    aside->mrc.reason = reason;
    nic__mrc_dress(qp, answer, cause->packet.port);
    nic__mrc_shared(mrc)->nacks++;
    nic_transport_send(qp, answer);
}

// Sends the transport ACK of RC if messages have been executed since the last one, or again if
// `always`: the last one may be lost.
static void send_transport_ack(nic_mrc_t *mrc, const cause_t *cause, bool always)
{
    nic_qp_t *const qp = mrc->held.base.qp;
    if (qp->msn == mrc->told_msn && !always) {
        return;
    }
    mrc->told_msn = qp->msn;
    net_packet_t *const answer = nic_transport_answer(qp, mrc->held.kept.first_psn - 1,
                                                      nic__ack_aeth(qp->msn) >> 24, 0, NULL);
    net_packet_aside(answer)->mrc.flags = 0;
    nic__mrc_dress(qp, answer, cause->packet.port);
    nic_transport_send(qp, answer);
}

// -- packets

static void take_trimmed(nic_mrc_t *mrc, const cause_t *cause, bool last_hop)
{
    if (nic__early_has(&mrc->held.kept, cause->packet.psn)) {
        send_sack(mrc, cause); // it was sent needlessly
        return;
    }
    nic__mrc_shared(mrc)->trimmed++;
    send_nack(mrc, cause, last_hop ? MRC_NACK_TRIMMED_LAST_HOP : MRC_NACK_TRIMMED);
}

static void take_data(nic_mrc_t *mrc, net_packet_t *packet, const cause_t *cause)
{
    nic_qp_t *const qp = mrc->held.base.qp;
    const uint32_t payload_bytes = cause->packet.payload_bytes;
    const uint32_t bytes = payload_bytes == 0 ? 0 : nic__flight_frame_bytes(qp, payload_bytes);
    const nic_arrival_t arrival = nic__single_acks_take(&mrc->held, packet, mrc->range_packets);
    if (arrival.refused || !qp->transport_open) {
        return;
    }
    const bool again = arrival.news == NIC_KEPT_AGAIN;
    const bool first = nic__sack_count(&mrc->sack, bytes, again);
    const bool whole = nic__early_empty(&mrc->held.kept);
    if (nic__sack_due(&mrc->sack, &cause->packet, first || again, whole, mrc->config->ack_bytes)) {
        send_sack(mrc, cause);
    }
    send_transport_ack(mrc, cause, again && cause->packet.ack_request && whole);
}

void nic__mrc_request(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    nic_mrc_t *const mrc = nic__mrc_of(qp);
    const net_config_t *const network = net_get_config(nic->host->node.net);
    if (packet->opcode == ROCE_MRC_SACK || packet->opcode == ROCE_MRC_NACK) {
        (packet->opcode == ROCE_MRC_SACK ? nic__mrc_take_sack : nic__mrc_take_nack)(mrc, packet);
        nic_transport_consume(qp, packet);
        return;
    }
    cause_t cause = {.packet = nic__sack_cause(packet, mrc->held.kept.first_psn)};
    if (SIM_UNLIKELY(packet->opcode == ROCE_MRC_PROBE)) {
        cause.packet.psn = mrc->held.kept.first_psn;
        cause.probe = true;
        cause.number = net_packet_aside(packet)->sack.cause_psn;
        nic_transport_consume(qp, packet);
        send_sack(mrc, &cause);
    } else if (SIM_UNLIKELY(net_packet_trimmed(network, packet))) {
        const bool last_hop = packet->dscp == network->trim_last_hop_dscp;
        nic_transport_consume(qp, packet);
        take_trimmed(mrc, &cause, last_hop);
    } else {
        take_data(mrc, packet, &cause);
    }
}
