// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/resend.c - the queue of retransmissions, and what became of each packet.
#include "nic/transport/selective/resend.h"

#include "nic/nic_internal.h"

#define FIRST_CAPACITY 256u
#define FIRST_ITEMS 16u
#define ROUND_BYTES 4u // in a retransmission: its round and index

void nic__resend_init(nic_resend_t *resend)
{
    *resend = (nic_resend_t){0};
}

void nic__resend_fini(nic_resend_t *resend)
{
    sim_free(resend->sent);
    sim_free(resend->items);
    nic__resend_init(resend);
}

static void grow_sent(nic_resend_t *resend, const nic_qp_t *qp, uint64_t end_psn)
{
    uint64_t capacity = resend->capacity == 0 ? FIRST_CAPACITY : resend->capacity;
    while (end_psn - qp->una_psn > capacity) {
        capacity *= 2;
    }
    if (capacity == resend->capacity) {
        return;
    }
    uint8_t *const sent = sim_alloc_array(capacity, 1);
    for (uint64_t psn = qp->una_psn; resend->capacity != 0 && psn < qp->next_psn; psn++) {
        sent[psn & (capacity - 1)] = *nic__resend_of(resend, psn);
    }
    sim_free(resend->sent);
    resend->sent = sent;
    resend->capacity = capacity;
}

void nic__resend_note_new(nic_resend_t *resend, const nic_qp_t *qp, uint64_t psn, uint64_t end_psn)
{
    if (SIM_UNLIKELY(end_psn - qp->una_psn > resend->capacity)) {
        grow_sent(resend, qp, end_psn);
    }
    for (; psn < end_psn; psn++) {
        *nic__resend_of(resend, psn) = 0;
    }
}

static void push(nic_resend_t *resend, const nic_resend_item_t *item)
{
    if (resend->item_end - resend->item_first == resend->item_capacity) {
        const uint32_t capacity =
            resend->item_capacity == 0 ? FIRST_ITEMS : resend->item_capacity * 2;
        nic_resend_item_t *const items = sim_alloc_array(capacity, sizeof(*items));
        for (uint32_t i = resend->item_first; i != resend->item_end; i++) {
            items[i & (capacity - 1)] = resend->items[i & (resend->item_capacity - 1)];
        }
        sim_free(resend->items);
        resend->items = items;
        resend->item_capacity = capacity;
    }
    resend->items[resend->item_end++ & (resend->item_capacity - 1)] = *item;
}

void nic__resend_add(nic_resend_t *resend,
                     const nic_qp_t *qp,
                     uint64_t psn,
                     uint32_t count,
                     uint8_t round,
                     uint32_t index)
{
    uint64_t end_psn = psn + count;
    end_psn = end_psn > qp->next_psn ? qp->next_psn : end_psn;
    psn = psn < qp->una_psn ? qp->una_psn : psn;
    while (psn < end_psn) {
        if ((*nic__resend_of(resend, psn) & (NIC_SENT_QUEUED | NIC_SENT_HELD)) != 0) {
            psn++;
            continue;
        }
        nic_resend_item_t item = {.psn = psn, .index = index, .round = round};
        while (psn < end_psn &&
               (*nic__resend_of(resend, psn) & (NIC_SENT_QUEUED | NIC_SENT_HELD)) == 0) {
            *nic__resend_of(resend, psn) |= NIC_SENT_QUEUED;
            item.count++;
            psn++;
        }
        push(resend, &item);
    }
}

void nic__resend_probe(nic_resend_t *resend, const nic_qp_t *qp, uint64_t psn, uint8_t round)
{
    *nic__resend_of(resend, psn) &= (uint8_t)~NIC_SENT_HELD;
    nic__resend_add(resend, qp, psn, 1, round, 0);
}

// The work request that a PSN under way belongs to.
static const nic_wqe_t *find_wqe(const nic_qp_t *qp, uint64_t psn)
{
    uint32_t low = qp->sq_done;
    uint32_t high = qp->sq_send + (qp->send_offset != 0);
    while (high - low > 1) {
        // The last one whose predecessor ends at or before psn.
        const uint32_t middle = low + (high - low) / 2;
        if (nic__wqe_end(nic__wqe(qp, middle - 1), qp->una_psn) <= psn) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return nic__wqe(qp, low);
}

// A READ is asked for again as a whole, or for all of it that has not come.
static uint64_t begin_of_fetch(const nic_qp_t *qp, const nic_wqe_t *wqe)
{
    const uint64_t begin_psn = nic__wqe_end(wqe, qp->una_psn) - nic__packet_count(qp, wqe->length);
    return begin_psn < qp->una_psn ? qp->una_psn : begin_psn;
}

static void note_again(nic_resend_t *resend, uint64_t psn)
{
    uint8_t *const sent = nic__resend_of(resend, psn);
    const uint8_t times = *sent & NIC_SENT_TIMES;
    if (times < NIC_SENT_TIMES) {
        (*sent)++;
    }
    const uint32_t round = times + 1u;
    resend->by_round[round < NIC_RESEND_ROUNDS ? round - 1 : NIC_RESEND_ROUNDS - 1]++;
    resend->rounds_max = round > resend->rounds_max ? round : resend->rounds_max;
}

// Whether the PSN at the head of the queue need not be sent: it is acknowledged, or held.
static inline bool is_stale(const nic_resend_t *resend, const nic_qp_t *qp, uint64_t psn)
{
    return psn < qp->una_psn || (*nic__resend_of(resend, psn) & NIC_SENT_HELD) != 0;
}

void nic__resend_trim(nic_resend_t *resend, const nic_qp_t *qp)
{
    while (nic__resend_waits(resend)) {
        nic_resend_item_t *const item =
            &resend->items[resend->item_first & (resend->item_capacity - 1)];
        while (item->count != 0 && is_stale(resend, qp, item->psn)) {
            if (item->psn >= qp->una_psn) {
                *nic__resend_of(resend, item->psn) &= (uint8_t)~NIC_SENT_QUEUED;
            }
            item->psn++;
            item->count--;
            resend->left_out++;
        }
        if (item->count != 0) {
            return;
        }
        resend->item_first++;
    }
}

// Takes all of a READ out of the item that its request will repeat; returns where that begins.
static uint64_t take_fetch(const nic_resend_t *resend,
                           const nic_qp_t *qp,
                           nic_resend_item_t *item,
                           uint64_t psn)
{
    const nic_wqe_t *const wqe = find_wqe(qp, psn);
    if (!nic__is_fetch(wqe->opcode)) {
        return psn;
    }
    const uint64_t end_psn = nic__wqe_end(wqe, qp->una_psn);
    while (item->count != 0 && item->psn < end_psn) {
        *nic__resend_of(resend, item->psn++) &= (uint8_t)~NIC_SENT_QUEUED;
        item->count--;
    }
    return begin_of_fetch(qp, wqe);
}

net_packet_t *nic__resend_next(nic_resend_t *resend, nic_qp_t *qp, nic_resend_item_t *told)
{
    net_packet_t *packet = NULL;
    while (packet == NULL && nic__resend_waits(resend)) {
        nic_resend_item_t *const item =
            &resend->items[resend->item_first & (resend->item_capacity - 1)];
        uint64_t psn = item->psn++;
        item->count--;
        *nic__resend_of(resend, psn) &= (uint8_t)~NIC_SENT_QUEUED;
        if (SIM_UNLIKELY(qp->reads_outstanding != 0)) {
            psn = take_fetch(resend, qp, item, psn);
        }
        *told = *item;
        told->psn = psn;
        packet = nic_transport_repeat_packet(qp, psn, NIC_PACKET_ADDRESSED);
        if (packet != NULL) {
            note_again(resend, psn);
            packet->addressed = true;
            nic__grow_frame(qp->nic, packet, ROUND_BYTES);
        }
        nic__resend_trim(resend, qp);
    }
    return packet;
}

void nic__resend_fetches(nic_resend_t *resend, nic_qp_t *qp)
{
    for (uint32_t i = qp->sq_done; i != qp->sq_send; i++) {
        const nic_wqe_t *const wqe = nic__wqe(qp, i);
        if (nic__is_fetch(wqe->opcode)) {
            nic__resend_probe(resend, qp, begin_of_fetch(qp, wqe), 0);
        }
    }
    nic_transport_schedule(qp);
}

void nic__resend_responded(nic_resend_t *resend,
                           nic_qp_t *qp,
                           net_packet_t *packet,
                           uint64_t *recover_psn)
{
    const uint64_t psn = nic_transport_psn(packet->psn, qp->una_psn);
    if (nic_transport_look(qp).failed || psn < qp->una_psn || psn >= qp->next_psn) {
        nic_transport_consume(qp, packet);
        return;
    }
    nic_transport_advance(qp, psn, NULL, false);
    if (!nic_transport_look(qp).failed && psn == qp->una_psn &&
        nic_transport_expects_response(qp)) {
        nic_transport_accept(qp, packet, false);
        return;
    }
    nic_transport_consume(qp, packet);
    if (!nic_transport_look(qp).failed && psn > qp->una_psn && nic_transport_expects_response(qp) &&
        *recover_psn != qp->una_psn) {
        qp->nic->counters.implied_nak_seq_err++;
        *recover_psn = qp->una_psn;
        nic__resend_fetches(resend, qp);
    }
}
