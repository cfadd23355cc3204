// SPDX-License-Identifier: Apache-2.0
// nic/transport/gbn/place.c - go-back-N whose receiver places packets out of order: nic.ooo place.
//
// A packet ahead of its turn is kept, up to nic.ooo-window packets ahead, and causes no NAK: it may
// only have been overtaken. A loss is found by the sender's time-out, or by a packet beyond the
// window. Page: docs/models/nic-ideal.md.
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/transport/entry.h"
#include "nic/transport/gbn/gbn_internal.h"
#include "nic/transport/selective/cause.h"

net_packet_t *nic__gbn_place_next(nic_t *nic, nic_qp_t *qp)
{
    (void)nic;
    return nic_transport_new_packet(qp, NIC_PACKET_ADDRESSED);
}

static void keep(nic_qp_t *qp, net_packet_t *packet, uint64_t psn, uint32_t span)
{
    nic_kept_t *const kept = &nic__gbn_place(qp)->kept;
    if (nic__kept_empty(kept)) {
        kept->first_psn = kept->end_psn = qp->expected_psn;
    }
    if (nic__kept_has(kept, psn)) {
        qp->nic->counters.duplicate_request++;
        nic_transport_consume(qp, packet);
        return;
    }
    qp->nic->counters.out_of_sequence++;
    const bool placed = nic_transport_place(qp, packet);
    const bool sprayed = packet->sprayed;
    nic__kept_put(kept, psn, span, packet, placed, nic__node(qp->nic)->now_ps);
    if (sprayed) {
        nic_transport_acknowledge(qp, NULL); // tells that its path works; it acknowledges no more
    }
}

// Executes the expected packet and all that are kept behind it, and acknowledges them.
static void close_gap(nic_qp_t *qp, net_packet_t *packet, uint32_t span)
{
    nic_kept_t *const kept = &nic__gbn_place(qp)->kept;
    nic_cause_t cause;
    nic__cause_note(&cause, packet);
    if (!nic_transport_execute(qp, packet, false)) {
        return;
    }
    nic__kept_pass(kept, span, nic__node(qp->nic)->now_ps);
    if (nic__kept_execute(kept, qp)) {
        nic__cause_acknowledge(qp, &cause);
    }
}

void nic__gbn_place_request(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    const int64_t distance = nic__psn_distance(packet->psn, qp->expected_psn);
    const bool gap = !nic__kept_empty(&nic__gbn_place(qp)->kept);
    const uint32_t span = nic__packet_span(qp, packet);
    const uint64_t window = nic->host->config->ooo_window;
    if (distance < 0 || (qp->rx_flags & NIC_RX_STOPPED) != 0 ||
        (distance > 0 && (uint64_t)distance + span > window)) {
        nic__gbn_request(nic, qp, packet);
    } else if (distance > 0) {
        keep(qp, packet, qp->expected_psn + (uint64_t)distance, span);
    } else if (gap) {
        close_gap(qp, packet, span);
    } else {
        nic__gbn_request(nic, qp, packet);
    }
}

void nic__gbn_place_close(nic_qp_t *qp)
{
    nic__kept_fini(&nic__gbn_place(qp)->kept, qp);
}

void nic__gbn_place_gauges(const nic_qp_t *qp, nic_transport_gauges_t *sums)
{
    const void *const state = nic_transport_of_const(qp);
    nic__kept_gauges(&((const nic_gbn_place_t *)state)->kept, sums);
}
