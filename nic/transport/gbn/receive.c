// SPDX-License-Identifier: Apache-2.0
// nic/transport/gbn/receive.c - go-back-N, the receiving side: the expected packet is taken, no
// other.
//
// A packet behind a gap is dropped, and the gap is reported: by one NAK a gap, or one each
// nic.nak-interval. A packet that came before is acknowledged, or answered, again. Source: IBA vol.
// 1, 9.7.4.1 (sequence errors), 9.7.5.1.2 (duplicates).
#include "nic/cc/control.h"
#include "nic/host/packets.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/transport/entry.h"
#include "nic/transport/gbn/gbn_internal.h"
#include "nic/transport/operation_internal.h"
#include "nic/transport/responder_internal.h"

// Gives up the part of the message (or chunk) that came before the gap, where the sender goes back
// to zero.
static void restart_message(nic_t *nic, nic_qp_t *qp)
{
    if (qp->rx_kind == NIC_RX_NONE) {
        return;
    }
    const uint32_t packets = qp->rx_bytes / qp->rx_mtu_bytes;
    const uint32_t kept = nic__packets_kept(nic, qp->rx_mtu_bytes, packets);
    const uint32_t lost_bytes = (packets - kept) * qp->rx_mtu_bytes;
    qp->expected_psn -= packets - kept;
    qp->rx_bytes -= lost_bytes;
    qp->rx_left_bytes += lost_bytes;
    nic->counters.rx_restarted_bytes += lost_bytes;
    if (kept == 0) {
        qp->rx_kind = NIC_RX_NONE;
    }
}

// Notes that a NAK of the expected packet was sent.
static void note_nak(nic_qp_t *qp)
{
    nic_gbn_t *const gbn = nic__gbn(qp);
    gbn->nak_psn = qp->expected_psn;
    gbn->nak_ps = nic__node(qp->nic)->now_ps;
}

// Notes the gap that a packet leaves which was refused for lack of a receive.
void nic__gbn_not_ready(nic_qp_t *qp)
{
    note_nak(qp);
}

static void receive_ahead(nic_t *nic, nic_qp_t *qp, const net_packet_t *packet)
{
    nic->counters.out_of_sequence++;
    const nic_gbn_t *const gbn = nic__gbn_const(qp);
    const sim_time_t interval_ps = nic->host->config->nak_interval_ps;
    // Perhaps no packet follows the end of a longer message, and so none would cause the next NAK.
    const uint32_t operation = nic__operations[packet->opcode & ROCE_OPERATION_MASK];
    const bool last = nic->host->config->nak_ends && (operation & (IS_FIRST | IS_LAST)) == IS_LAST;
    if (gbn->nak_psn == qp->expected_psn && !last &&
        (interval_ps == 0 || nic__node(nic)->now_ps < gbn->nak_ps + interval_ps)) {
        return;
    }
    restart_message(nic, qp);
    note_nak(qp);
    nic__refuse(qp, (uint32_t)ROCE_SYNDROME_NAK | ROCE_NAK_PSN_SEQUENCE, packet->sent_ps,
                nic__wants_feedback(packet) ? packet : NULL);
}

static void receive_again(nic_t *nic, nic_qp_t *qp, const net_packet_t *packet, uint64_t psn)
{
    nic->counters.duplicate_request++;
    const uint32_t operation = nic__operations[packet->opcode & ROCE_OPERATION_MASK];
    if ((operation & (IS_READ | IS_ATOMIC)) != 0) {
        const bool again = (operation & IS_READ) != 0 ? nic__repeat_read(qp, packet, psn)
                                                      : nic__repeat_atomic(qp, packet, psn);
        if (again) {
            // A gap that is still there when the rest has come again causes another NAK.
            nic__gbn(qp)->nak_psn = NIC_GBN_NO_PSN;
        }
    } else if (packet->ack_request && nic->host->config->ack_duplicates) {
        nic__acknowledge(qp, 0, nic__wants_feedback(packet) ? packet : NULL);
    }
}

// Not inlined, so that the path of the expected packet is a leaf function.
static SIM_NOINLINE void receive_unexpected(nic_t *nic, nic_qp_t *qp, net_packet_t *packet,
                                            int64_t distance)
{
    if ((qp->rx_flags & NIC_RX_STOPPED) != 0) {
        // The queue pair fails when its NAK is out.
    } else if (distance < 0) {
        receive_again(nic, qp, packet, qp->expected_psn + (uint64_t)distance);
    } else {
        receive_ahead(nic, qp, packet);
    }
    nic__consume(nic, packet);
}

void nic__gbn_request(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    const int64_t distance = nic__psn_distance(packet->psn, qp->expected_psn);
    if (SIM_UNLIKELY(distance != 0 || (qp->rx_flags & NIC_RX_STOPPED) != 0)) {
        receive_unexpected(nic, qp, packet, distance);
    } else {
        nic__execute(nic, qp, packet);
    }
}
