// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/repeated_answers.c - the queue of answers that are given again.
#include "nic/transport/selective/repeated_answers.h"
#include "nic/objects/notices.h"

#include "nic/cc/control.h"
#include "nic/host/listen.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/queues.h"
#include "nic/transport/operation_internal.h"
#include "nic/transport/responder_internal.h"

#define FIRST_CAPACITY 8u

static inline nic_read_t *at(const nic_repeated_t *again, uint32_t index)
{
    return &again->ring[index & (again->capacity - 1)];
}

static void push(nic_repeated_t *again, const nic_read_t *read)
{
    if (again->end - again->first == again->capacity) {
        const uint32_t capacity = again->capacity == 0 ? FIRST_CAPACITY : again->capacity * 2;
        nic_read_t *const ring = sim_alloc_array(capacity, sizeof(*ring));
        for (uint32_t i = again->first; i != again->end; i++) {
            ring[i & (capacity - 1)] = *at(again, i);
        }
        sim_free(again->ring);
        again->ring = ring;
        again->capacity = capacity;
    }
    *at(again, again->end++) = *read;
}

// Cuts off the part that another waiting answer will bring. Returns false if nothing is left.
static bool trim(const nic_qp_t *qp, const nic_read_t *waiting, nic_read_t *read)
{
    const uint64_t end_psn = nic__read_end_psn(qp, read);
    if (waiting->next_psn >= end_psn || nic__read_end_psn(qp, waiting) < end_psn) {
        return true;
    }
    if (waiting->next_psn <= read->next_psn) {
        return false;
    }
    read->left_bytes = (uint32_t)(waiting->next_psn - read->next_psn) * qp->mtu_bytes;
    return true;
}

void nic__repeated_ask(nic_repeated_t *again, nic_qp_t *qp, const net_packet_t *packet,
                       uint64_t psn)
{
    const uint32_t operation = nic__operations[packet->opcode & ROCE_OPERATION_MASK];
    nic_read_t read;
    const bool found = ((operation & IS_READ) != 0 && nic__read_again(qp, packet, psn, &read)) ||
                       ((operation & IS_ATOMIC) != 0 && nic__atomic_again(qp, packet, psn, &read));
    if (!found || again->end - again->first >= NIC_AGAIN_MAX) {
        return;
    }
    for (uint32_t i = 0; i < qp->read_count; i++) {
        if (!trim(qp, nic__read_at(qp, i), &read)) {
            return;
        }
    }
    for (uint32_t i = again->first; i != again->end; i++) {
        if (!trim(qp, at(again, i), &read)) {
            return;
        }
    }
    push(again, &read);
    if ((qp->flags & NIC_QP_ACTIVE) == 0) {
        nic__cc_start(qp);
    }
    nic__trace(qp->nic, qp, NIC_TRACE_ANSWER, read.left_bytes, 0);
    nic_transport_schedule(qp);
}

net_packet_t *nic__repeated_next(nic_repeated_t *again, nic_qp_t *qp)
{
    if ((qp->flags & NIC_QP_ACTIVE) == 0) {
        nic__cc_start(qp);
    }
    bool last = false;
    net_packet_t *const packet = nic__build_part(qp, at(again, again->first), &last);
    if (last) {
        again->first++;
        if (!nic__repeated_waits(again)) {
            nic__notice(qp->nic->host, &(nic_notice_t){.qp = qp, .rests = true});
        }
    }
    return packet;
}

void nic__repeated_fini(nic_repeated_t *again)
{
    sim_free(again->ring);
    *again = (nic_repeated_t){0};
}
