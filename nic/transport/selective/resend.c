// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/resend.c - the queue of retransmissions, and the state of each packet.
#include "nic/transport/selective/resend.h"

#include "nic/compare_internal.h"
#include "nic/host/packets.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/wqe.h"
#include "nic/transport/requester_internal.h"

#define FIRST_CAPACITY 256u
#define FIRST_ITEMS 16u
#define ROUND_BYTES 4u // in a retransmission: its round and index
#define DONE ((uint32_t)NIC_SENT_HELD | (uint32_t)NIC_SENT_ANSWERED)

void nic__resend_init(nic_resend_t *resend)
{
    *resend = (nic_resend_t){0};
}

void nic__resend_fini(nic_resend_t *resend)
{
    sim_free(resend->sent);
    sim_free(resend->items);
    nic__fetch_fini(&resend->fetch);
    nic__resend_init(resend);
}

void nic__resend_grow(nic_resend_t *resend, const nic_qp_t *qp, uint64_t end_psn)
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
    resend->waiting += item->count;
    const uint32_t items = resend->item_end - resend->item_first;
    resend->items_max = SIM_MAX(items, resend->items_max);
}

static bool is_full(const nic_resend_t *resend)
{
    return resend->item_limit != 0 && resend->item_end - resend->item_first >= resend->item_limit;
}

void nic__resend_add(nic_resend_t *resend, const nic_qp_t *qp, uint64_t psn, uint32_t count,
                     uint8_t round, uint32_t index)
{
    uint64_t end_psn = psn + count;
    end_psn = SIM_MIN(qp->next_psn, end_psn);
    psn = SIM_MAX(qp->una_psn, psn);
    while (psn < end_psn) {
        if ((*nic__resend_of(resend, psn) & (NIC_SENT_QUEUED | DONE)) != 0) {
            psn++;
            continue;
        }
        if (SIM_UNLIKELY(is_full(resend))) {
            resend->refused += end_psn - psn;
            return;
        }
        nic_resend_item_t item = {.psn = psn, .index = index, .round = round};
        while (psn < end_psn && (*nic__resend_of(resend, psn) & (NIC_SENT_QUEUED | DONE)) == 0) {
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

bool nic__is_gone(const nic_qp_t *qp, uint32_t silent, sim_time_t quiet_ps)
{
    const sim_time_t quiet_for_ps = nic__node(qp->nic)->now_ps - quiet_ps;
    return silent > qp->retry_count && qp->timeout != 0 &&
           quiet_for_ps / nic__timeout_ps(qp) >= qp->retry_count;
}

void nic__resend_oldest(nic_resend_t *resend, const nic_qp_t *qp, uint32_t silent, uint8_t round)
{
    const uint64_t end_psn = qp->una_psn + nic__resend_wide(silent);
    for (uint64_t psn = qp->una_psn; psn < end_psn && psn < qp->next_psn; psn++) {
        nic__resend_probe(resend, qp, psn, round);
    }
}

const struct nic_wqe *nic__resend_wqe(const nic_qp_t *qp, uint64_t psn, uint64_t *begin_psn,
                                      uint64_t *end_psn)
{
    const nic_wqe_t *const wqe = nic__wqe(qp, nic__find_wqe(qp, psn, begin_psn));
    *end_psn = nic__wqe_end(wqe, psn);
    return wqe;
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
    resend->rounds_max = SIM_MAX(round, resend->rounds_max);
}

// Returns true if the PSN at the head of the queue need not be sent: it is acknowledged or held.
static inline bool is_stale(const nic_resend_t *resend, const nic_qp_t *qp, uint64_t psn)
{
    return psn < qp->una_psn || (*nic__resend_of(resend, psn) & DONE) != 0;
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
            resend->waiting--;
            resend->left_out++;
        }
        if (item->count != 0) {
            return;
        }
        resend->item_first++;
    }
}

void nic__resend_clear(nic_resend_t *resend, const nic_qp_t *qp)
{
    for (; resend->item_first != resend->item_end; resend->item_first++) {
        const nic_resend_item_t *const item =
            &resend->items[resend->item_first & (resend->item_capacity - 1)];
        for (uint64_t psn = item->psn; psn < item->psn + item->count; psn++) {
            if (psn >= qp->una_psn) {
                *nic__resend_of(resend, psn) &= (uint8_t)~NIC_SENT_QUEUED;
            }
        }
    }
    resend->waiting = 0;
}

// Takes PSNs of a READ or atomic out of the item, as many as one request asks for, which begins at
// *psn; a part of a READ is so many packets. 0: it is not one of those.
static uint32_t take_fetch(nic_resend_t *resend, const nic_qp_t *qp, nic_resend_item_t *item,
                           uint64_t *psn)
{
    uint64_t begin_psn = 0;
    uint64_t end_psn = 0;
    if (!nic__is_fetch(nic__resend_wqe(qp, *psn, &begin_psn, &end_psn)->opcode)) {
        return 0;
    }
    const uint32_t count = nic__fetch_stretch(resend, qp, psn, *psn + 1 + item->count);
    while (item->count != 0 && item->psn < *psn + count) {
        *nic__resend_of(resend, item->psn++) &= (uint8_t)~NIC_SENT_QUEUED;
        item->count--;
        resend->waiting--;
    }
    return count;
}

net_packet_t *nic__resend_next(nic_resend_t *resend, nic_qp_t *qp, nic_resend_item_t *told)
{
    net_packet_t *packet = NULL;
    while (packet == NULL && nic__resend_waits(resend)) {
        nic_resend_item_t *const item =
            &resend->items[resend->item_first & (resend->item_capacity - 1)];
        uint64_t psn = item->psn++;
        item->count--;
        resend->waiting--;
        *nic__resend_of(resend, psn) &= (uint8_t)~NIC_SENT_QUEUED;
        uint32_t part = 0;
        if (SIM_UNLIKELY(qp->reads_outstanding != 0)) {
            part = take_fetch(resend, qp, item, &psn);
        }
        *told = *item;
        told->psn = psn;
        packet = nic_transport_repeat_packet(qp, psn, NIC_PACKET_ADDRESSED);
        if (packet != NULL) {
            note_again(resend, psn);
            packet->addressed = true;
            nic__grow_frame(qp->nic, packet, ROUND_BYTES);
            if (packet->opcode == ROCE_READ_REQUEST) {
                uint32_t *const length = &net_packet_aside(packet)->reth.length;
                *length = nic__min(*length, part * qp->mtu_bytes);
            }
        }
        nic__resend_trim(resend, qp);
    }
    return packet;
}
