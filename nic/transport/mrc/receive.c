// SPDX-License-Identifier: Apache-2.0
// nic/transport/mrc/receive.c - the receiver: takes packets in any order, and answers with SACKs,
// NACKs for trimmed packets, and a transport ACK for each message.
#include "nic/transport/mrc/mrc.h"

#include "net/wire/mrc.h"
#include "nic/host/packets.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/transport/responder_internal.h"

// cause_t keeps the fields of a packet that the answer to it needs.
typedef struct cause {
    uint64_t psn;
    sim_time_t sent_ps;
    uint32_t entropy;
    uint32_t payload_bytes;
    bool marked;
    bool ack_request;
    bool probe;
    uint32_t number; // of the probe
} cause_t;

// -- answers

// Returns where the bitmap of a SACK begins: at the oldest gap. Where that does not reach the
// newest packet, bitmaps that show the packet that caused them take turns with those that go from
// the oldest gap on, a length further each time.
static uint64_t base_of(nic_mrc_t *mrc, const cause_t *cause)
{
    const nic_kept_t *const kept = &mrc->held.kept;
    if (kept->end_psn <= kept->first_psn + NIC_SACK_BITS) {
        return kept->first_psn;
    }
    mrc->turn = !mrc->turn && !cause->probe;
    if (mrc->turn && cause->psn >= kept->first_psn + NIC_SACK_BITS / 2) {
        return cause->psn - NIC_SACK_BITS / 2;
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
    const nic_kept_t *const kept = &mrc->held.kept;
    const uint64_t base_psn = base_of(mrc, cause);
    net_packet_t *const answer =
        nic_transport_answer(qp, kept->first_psn - 1, nic__ack_aeth(qp->msn) >> 24, 0, NULL);
    net_packet_aside_t *const aside = net_packet_aside(answer);
    answer->opcode = ROCE_MRC_SACK;
    answer->sent_ps = cause->sent_ps;
    answer->becn = cause->marked;
    aside->selective.round = cause->probe ? NET_MRC_PROBE_ANSWER : 0;
    aside->map.first_psn = (uint32_t)base_psn & ROCE_PSN_MASK;
    aside->map.length = cause->probe ? cause->number : (uint32_t)cause->psn & ROCE_PSN_MASK;
    aside->map.bits[0] = nic__sack_bits(kept, base_psn);
    aside->map.bits[1] = mrc->taken_bytes;
    aside->map.bits[2] = mrc->range_packets;
    aside->map.bits[3] = kept->packets;
    nic__mrc_dress(qp, answer, cause->entropy);
    mrc->quiet_bytes = 0;
    nic__mrc_shared(mrc)->sacks++;
    nic_transport_send(qp, answer);
}

static void send_nack(nic_mrc_t *mrc, const cause_t *cause, uint8_t reason)
{
    nic_qp_t *const qp = mrc->held.base.qp;
    net_packet_t *const answer = nic_transport_answer(qp, cause->psn, 0, 0, NULL);
    net_packet_aside_t *const aside = net_packet_aside(answer);
    answer->opcode = ROCE_MRC_NACK;
    answer->sent_ps = cause->sent_ps;
    answer->becn = cause->marked;
    aside->map.first_psn = (uint32_t)cause->psn & ROCE_PSN_MASK;
    aside->selective.round = reason;
    nic__mrc_dress(qp, answer, cause->entropy);
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
    net_packet_t *const answer = nic_transport_answer(qp,
                                                      mrc->held.kept.first_psn - 1,
                                                      nic__ack_aeth(qp->msn) >> 24,
                                                      0,
                                                      NULL);
    net_packet_aside(answer)->selective.round = 0;
    nic__mrc_dress(qp, answer, cause->entropy);
    nic_transport_send(qp, answer);
}

// -- packets

static void take_trimmed(nic_mrc_t *mrc, const cause_t *cause, bool last_hop)
{
    if (nic__kept_has(&mrc->held.kept, cause->psn)) {
        send_sack(mrc, cause); // it was sent needlessly
        return;
    }
    nic__mrc_shared(mrc)->trimmed++;
    send_nack(mrc, cause, last_hop ? MRC_NACK_TRIMMED_LAST_HOP : MRC_NACK_TRIMMED);
}

static cause_t cause_of(const nic_mrc_t *mrc, const net_packet_t *packet)
{
    const bool probe = packet->opcode == ROCE_MRC_PROBE;
    const uint64_t first_psn = mrc->held.kept.first_psn;
    return (cause_t){
        .psn = probe ? first_psn : nic_transport_psn(packet->psn, first_psn),
        .sent_ps = packet->sent_ps,
        .entropy = (uint32_t)packet->udp_source_port - ROCE_SOURCE_PORT_MIN,
        .payload_bytes = packet->payload_bytes,
        .marked = packet->ecn == NET_ECN_CE,
        .ack_request = packet->ack_request,
        .probe = probe,
        .number = probe ? net_packet_aside(packet)->map.length : 0,
    };
}

static void take_data(nic_mrc_t *mrc, net_packet_t *packet, const cause_t *cause)
{
    nic_qp_t *const qp = mrc->held.base.qp;
    if (cause->payload_bytes != 0) {
        const uint32_t bytes = nic__flight_frame_bytes(qp, cause->payload_bytes);
        mrc->taken_bytes += bytes;
        mrc->quiet_bytes += bytes;
    }
    const bool first = !mrc->any;
    mrc->any = true;
    const nic_arrival_t arrival = nic__held_take(&mrc->held, packet, mrc->range_packets);
    if (arrival.refused || !qp->transport_open) {
        return;
    }
    // An ACK that was asked for while something is missing comes again when nothing is.
    mrc->asked |= cause->ack_request;
    const bool whole = nic__kept_empty(&mrc->held.kept);
    const bool again = arrival.news == NIC_KEPT_AGAIN;
    if (first || cause->marked || cause->ack_request || (mrc->asked && whole) || again ||
        mrc->quiet_bytes >= mrc->config->ack_bytes) {
        mrc->asked = mrc->asked && !whole;
        send_sack(mrc, cause);
    }
    send_transport_ack(mrc, cause, again && cause->ack_request && whole);
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
    const cause_t cause = cause_of(mrc, packet);
    if (SIM_UNLIKELY(cause.probe)) {
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
