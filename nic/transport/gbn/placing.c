// SPDX-License-Identifier: Apache-2.0
// nic/transport/gbn/placing.c - go-back-N whose receiver places packets out of order: nic.ooo
// place.
//
// A packet ahead of its turn is kept, up to nic.ooo-window packets ahead, and causes no NAK: it may
// only have been overtaken. A loss is found by the sender's time-out, or by a packet beyond the
// window. READ responses ahead are kept likewise. Page: docs/models/nic-ideal.md.
#include "nic/transport/gbn/placing.h"
#include "nic/host/packets.h"
#include "nic/objects/calls.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/transport/entry.h"
#include "nic/transport/gbn/gbn_internal.h"
#include "nic/transport/requester_internal.h"
#include "nic/transport/selective/acked_packet.h"

net_packet_t *nic__gbn_place_next(nic_t *nic, nic_qp_t *qp)
{
    (void)nic;
    return nic_transport_new_packet(qp, NIC_PACKET_ADDRESSED);
}

static void keep(nic_qp_t *qp, net_packet_t *packet, uint64_t psn, uint32_t span)
{
    nic_early_t *const kept = &nic__gbn_place(qp)->kept;
    if (nic__early_empty(kept)) {
        kept->first_psn = kept->end_psn = qp->expected_psn;
    }
    if (nic__early_has(kept, psn)) {
        qp->nic->counters.duplicate_request++;
        nic_transport_consume(qp, packet);
        return;
    }
    qp->nic->counters.out_of_sequence++;
    const bool placed = nic_transport_place(qp, packet);
    const bool sprayed = packet->sprayed;
    nic__early_put(kept, psn, span, packet, placed, nic__node(qp->nic)->now_ps);
    if (sprayed) {
        nic_transport_acknowledge(qp, NULL); // shows that its path works; it acknowledges no more
    }
}

// Executes the expected packet and all that are kept behind it, and acknowledges them.
static void close_gap(nic_qp_t *qp, net_packet_t *packet, uint32_t span)
{
    nic_early_t *const kept = &nic__gbn_place(qp)->kept;
    nic_acked_packet_t cause;
    nic__acked_packet_note(&cause, packet);
    if (!nic_transport_execute(qp, packet, false)) {
        return;
    }
    nic__early_pass(kept, span, nic__node(qp->nic)->now_ps);
    if (nic__early_execute(kept, qp)) {
        nic__acked_packet_acknowledge(qp, &cause);
    }
}

void nic__gbn_place_request(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    const int64_t distance = nic__psn_distance(packet->psn, qp->expected_psn);
    const bool gap = !nic__early_empty(&nic__gbn_place(qp)->kept);
    const uint32_t span = nic__packet_span(qp, packet);
    const uint64_t window = nic->host->config->ooo_window;
    if (distance < 0 || (qp->rx_flags & NIC_RX_STOPPED) != 0 ||
        (distance > 0 && (uint64_t)distance >= window)) {
        nic__gbn_request(nic, qp, packet);
    } else if (distance > 0) {
        keep(qp, packet, qp->expected_psn + (uint64_t)distance, span);
    } else if (gap) {
        close_gap(qp, packet, span);
    } else {
        nic__gbn_request(nic, qp, packet);
    }
}

// -- responses to READs

static net_packet_t **response_at(const nic_gbn_place_t *place, uint64_t psn)
{
    return &place->responses[psn & place->response_mask];
}

// Keeps a response that came ahead, unless it is beyond the window or there already.
static void keep_response(nic_t *nic, nic_qp_t *qp, net_packet_t *packet, uint64_t psn)
{
    nic_gbn_place_t *const place = nic__gbn_place(qp);
    const uint64_t window = nic->host->config->ooo_window;
    if (place->responses == NULL) {
        uint32_t places = 1;
        while (places < window) {
            places *= 2;
        }
        place->responses = sim_alloc_array(places, sizeof(net_packet_t *));
        place->response_mask = places - 1;
    }
    if (psn - qp->una_psn >= window || *response_at(place, psn) != NULL) {
        nic__consume(nic, packet);
        return;
    }
    *response_at(place, psn) = packet;
    place->response_count++;
}

// Takes the response of the oldest PSN. Returns NULL if it did not come yet.
static net_packet_t *take_response(nic_gbn_place_t *place, uint64_t psn)
{
    if (place->response_count == 0 || *response_at(place, psn) == NULL) {
        return NULL;
    }
    net_packet_t *const packet = *response_at(place, psn);
    *response_at(place, psn) = NULL;
    place->response_count--;
    return packet;
}

// Goes on as far as acknowledgements and kept responses allow.
static void go_on(nic_t *nic, nic_qp_t *qp)
{
    nic_gbn_place_t *const place = nic__gbn_place(qp);
    for (uint64_t before_psn = UINT64_MAX; before_psn != qp->una_psn;) {
        before_psn = qp->una_psn;
        if (place->acked_psn > qp->una_psn) {
            if (nic__advance(nic, qp, place->acked_psn).gone) {
                return;
            }
            if (qp->una_psn != before_psn) {
                nic__note_progress(nic, qp);
            }
        }
        net_packet_t *const packet = take_response(place, qp->una_psn);
        if (packet != NULL) {
            nic__accept_response(nic, qp, packet, false);
            nic__consume(nic, packet);
            if (!nic__still_alive(qp)) {
                return;
            }
        }
    }
    nic__settle(qp);
}

void nic__gbn_place_acknowledged(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    nic_gbn_place_t *const place = nic__gbn_place(qp);
    const bool positive = packet->aeth >> 29 == 0;
    const uint64_t end_psn = nic_transport_psn(packet->psn, qp->una_psn) + positive;
    if (end_psn > place->acked_psn && end_psn <= qp->max_psn) {
        place->acked_psn = end_psn;
    }
    nic__gbn_acknowledged(nic, qp, packet);
    if (nic__still_alive(qp) && (qp->flags & NIC_QP_CLOSED) == 0 &&
        (place->response_count != 0 || place->acked_psn > qp->una_psn)) {
        go_on(nic, qp);
    }
}

// A response acknowledges everything before its READ.
void nic__gbn_place_responded(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    nic_gbn_place_t *const place = nic__gbn_place(qp);
    const uint64_t psn = nic_transport_psn(packet->psn, qp->una_psn);
    if ((qp->flags & NIC_QP_CLOSED) != 0 || psn < qp->una_psn || psn >= qp->max_psn) {
        nic__consume(nic, packet);
        return;
    }
    place->acked_psn = SIM_MAX(psn, place->acked_psn);
    keep_response(nic, qp, packet, psn);
    go_on(nic, qp);
}

void nic__gbn_place_close(nic_qp_t *qp)
{
    nic_gbn_place_t *const place = nic__gbn_place(qp);
    nic__early_fini(&place->kept, qp);
    for (uint64_t i = 0; place->response_count != 0 && i <= place->response_mask; i++) {
        net_packet_t *const packet = take_response(place, i);
        if (packet != NULL) {
            nic_transport_consume(qp, packet);
        }
    }
    sim_free(place->responses);
    place->responses = NULL;
}

void nic__gbn_place_gauges(const nic_qp_t *qp, nic_transport_gauges_t *sums)
{
    const void *const state = nic_transport_of_const(qp);
    nic__early_gauges(&((const nic_gbn_place_t *)state)->kept, sums);
}
