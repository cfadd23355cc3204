// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/fetch.c - taking responses in any order, and asking for missing ones.
#include "nic/transport/selective/fetch.h"

#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/wqe.h"
#include "nic/transport/requester_internal.h"
#include "nic/transport/selective/resend.h"

#define FIRST_ASKED 16u

void nic__fetch_fini(nic_fetch_t *fetch)
{
    sim_free(fetch->asked);
    sim_free(fetch->originals);
    *fetch = (nic_fetch_t){0};
}

static inline uint64_t later(uint64_t a, uint64_t b)
{
    return SIM_MAX(a, b);
}

static inline bool is_answered(const nic_resend_t *resend, uint64_t psn)
{
    return (*nic__resend_of(resend, psn) & NIC_SENT_ANSWERED) != 0;
}

// -- asking

static nic_fetch_asked_t *asked_at(const nic_fetch_t *fetch, uint32_t index)
{
    return &fetch->asked[index & (fetch->asked_capacity - 1)];
}

static void note_asked(nic_fetch_t *fetch, uint64_t psn, uint64_t end_psn)
{
    if (fetch->asked_end - fetch->asked_first == fetch->asked_capacity) {
        const uint32_t capacity =
            fetch->asked_capacity == 0 ? FIRST_ASKED : fetch->asked_capacity * 2;
        nic_fetch_asked_t *const ring = sim_alloc_array(capacity, sizeof(*ring));
        for (uint32_t i = fetch->asked_first; i != fetch->asked_end; i++) {
            ring[i & (capacity - 1)] = *asked_at(fetch, i);
        }
        sim_free(fetch->asked);
        fetch->asked = ring;
        fetch->asked_capacity = capacity;
    }
    *asked_at(fetch, fetch->asked_end++) = (nic_fetch_asked_t){psn, end_psn};
}

static void ask(nic_resend_t *resend, const nic_qp_t *qp, uint64_t psn, uint64_t end_psn)
{
    if (resend->fetch.timed_psn < end_psn && resend->fetch.timed_psn >= psn) {
        resend->fetch.timed_ps = 0;
    }
    for (uint64_t at = psn; at < end_psn; at++) {
        *nic__resend_of(resend, at) &= (uint8_t)~NIC_SENT_HELD;
    }
    nic__resend_add(resend, qp, psn, (uint32_t)(end_psn - psn), 0, 0);
}

// Queues the stretches of [psn, end_psn) that belong to READs and atomics and are not answered.
static void ask_missing(nic_resend_t *resend, nic_qp_t *qp, uint64_t psn, uint64_t end_psn)
{
    psn = later(psn, qp->una_psn);
    while (psn < end_psn) {
        uint64_t begin_psn = 0;
        uint64_t wqe_end_psn = 0;
        const nic_wqe_t *const wqe = nic__resend_wqe(qp, psn, &begin_psn, &wqe_end_psn);
        const uint64_t stop_psn = SIM_MIN(wqe_end_psn, end_psn);
        if (!nic__is_fetch(wqe->opcode)) {
            psn = stop_psn;
        }
        while (psn < stop_psn) {
            uint64_t stretch_psn = psn;
            while (psn < stop_psn && !is_answered(resend, psn)) {
                psn++;
            }
            if (psn != stretch_psn) {
                ask(resend, qp, stretch_psn, psn);
                note_asked(&resend->fetch, stretch_psn, psn);
            }
            while (psn < stop_psn && is_answered(resend, psn)) {
                psn++;
            }
        }
    }
}

// Asks for all responses before end_psn that did not come: the peer has sent them, so they are
// lost.
static void look_before(nic_resend_t *resend, nic_qp_t *qp, uint64_t end_psn)
{
    nic_fetch_t *const fetch = &resend->fetch;
    const uint32_t asked = fetch->asked_end;
    const uint64_t seen_psn = later(fetch->seen_psn, qp->una_psn);
    if (end_psn > seen_psn) {
        fetch->seen_psn = end_psn;
        ask_missing(resend, qp, seen_psn, end_psn);
        qp->nic->counters.implied_nak_seq_err += fetch->asked_end != asked;
    }
}

// Handles a response that was asked for: missing ones that were asked before it are lost again.
static void look_asked(nic_resend_t *resend, nic_qp_t *qp, uint64_t psn)
{
    nic_fetch_t *const fetch = &resend->fetch;
    uint32_t found = fetch->asked_first;
    while (found != fetch->asked_end &&
           (psn < asked_at(fetch, found)->psn || psn >= asked_at(fetch, found)->end_psn)) {
        found++;
    }
    if (found == fetch->asked_end) {
        return;
    }
    while (fetch->asked_first != found) {
        const nic_fetch_asked_t lost = *asked_at(fetch, fetch->asked_first++);
        ask_missing(resend, qp, lost.psn, lost.end_psn);
    }
    const nic_fetch_asked_t here = *asked_at(fetch, found);
    asked_at(fetch, found)->psn = psn + 1;
    fetch->asked_first += psn + 1 == here.end_psn;
    ask_missing(resend, qp, here.psn, psn);
}

void nic__fetch_all(nic_resend_t *resend, nic_qp_t *qp, uint32_t silent)
{
    nic_fetch_t *const fetch = &resend->fetch;
    fetch->wide = nic__resend_wide(silent);
    fetch->asked_first = fetch->asked_end;
    fetch->timed_ps = 0;
    uint64_t end_psn = 0;
    const uint64_t waiting = resend->waiting;
    for (uint64_t psn = qp->una_psn;
         psn < qp->next_psn && (silent < 2 || resend->waiting == waiting); psn = end_psn) {
        uint64_t begin_psn = 0;
        const nic_wqe_t *const wqe = nic__resend_wqe(qp, psn, &begin_psn, &end_psn);
        if (!nic__is_fetch(wqe->opcode)) {
            continue;
        }
        if (psn < fetch->seen_psn) {
            ask_missing(resend, qp, psn, SIM_MIN(end_psn, fetch->seen_psn));
        }
        if (fetch->seen_psn < end_psn) {
            const uint64_t rest_psn = later(psn, fetch->seen_psn);
            ask(resend, qp, rest_psn, rest_psn + 1); // which asks for all behind it
        }
    }
    nic_transport_schedule(qp);
}

uint32_t nic__fetch_stretch(const nic_resend_t *resend, const nic_qp_t *qp, uint64_t *psn,
                            uint64_t end_psn)
{
    uint64_t begin_psn = 0;
    uint64_t wqe_end_psn = 0;
    (void)nic__resend_wqe(qp, *psn, &begin_psn, &wqe_end_psn);
    if (*psn >= resend->fetch.seen_psn) {
        *psn = later(later(begin_psn, qp->una_psn), resend->fetch.seen_psn);
        return (uint32_t)(wqe_end_psn - *psn);
    }
    end_psn = SIM_MIN(end_psn, wqe_end_psn);
    uint64_t at = *psn;
    while (at < end_psn && !is_answered(resend, at)) {
        at++;
    }
    const uint64_t rest = wqe_end_psn - *psn;
    const uint64_t wide = SIM_MIN(resend->fetch.wide, rest);
    return (uint32_t)later(at - *psn, wide);
}

// -- taking

static void keep_original(nic_fetch_t *fetch, uint64_t psn, uint64_t value)
{
    SIM_APPEND(fetch->originals, fetch->original_count, fetch->original_capacity,
               (nic_fetch_original_t){psn, value});
}

// Returns an atomic's original value; 0 for a READ.
static uint64_t take_original(nic_fetch_t *fetch, uint64_t psn)
{
    for (size_t i = 0; i < fetch->original_count; i++) {
        if (fetch->originals[i].psn == psn) {
            const uint64_t value = fetch->originals[i].value;
            fetch->originals[i] = fetch->originals[--fetch->original_count];
            return value;
        }
    }
    return 0;
}

// Places a response in memory. Returns false if it does not belong to the request of this PSN.
static bool take(nic_resend_t *resend, nic_qp_t *qp, net_packet_t *packet, uint64_t psn)
{
    uint64_t begin_psn = 0;
    uint64_t end_psn = 0;
    const nic_wqe_t *const wqe = nic__resend_wqe(qp, psn, &begin_psn, &end_psn);
    const uint32_t offset = (uint32_t)(psn - begin_psn) * qp->mtu_bytes;
    if (!nic__is_fetch(wqe->opcode) || !nic__response_fits(qp, wqe, offset, packet)) {
        return false;
    }
    if (nic__is_atomic(wqe->opcode)) {
        keep_original(&resend->fetch, psn, net_packet_aside(packet)->atomic_original);
    } else {
        (void)nic_transport_place(qp, packet);
    }
    *nic__resend_of(resend, psn) |= NIC_SENT_ANSWERED;
    sim_progress(nic__node(qp->nic));
    return true;
}

// Completes the requests whose turn has come.
static void deliver(nic_resend_t *resend, nic_qp_t *qp)
{
    nic_fetch_t *const fetch = &resend->fetch;
    bool moved = true;
    while (moved && nic__still_alive(qp)) {
        moved = false;
        while (nic__still_alive(qp) && nic_transport_expects_response(qp) &&
               is_answered(resend, qp->una_psn)) {
            nic__accept_placed(qp->nic, qp, take_original(fetch, qp->una_psn));
            moved = true;
        }
        if (nic__still_alive(qp) && fetch->acked_psn > qp->una_psn &&
            !nic_transport_expects_response(qp)) {
            nic_transport_advance(qp, fetch->acked_psn, NULL, false);
            moved = true;
        }
    }
    if (nic__still_alive(qp)) {
        nic__settle(qp);
    }
}

// Notes that the peer has executed everything before end_psn, although READs hold una_psn back.
// Only responses are missing there.
static void note_executed(nic_resend_t *resend, const nic_qp_t *qp, uint64_t end_psn)
{
    nic_fetch_t *const fetch = &resend->fetch;
    for (uint64_t psn = later(fetch->acked_psn, qp->una_psn); psn < end_psn; psn++) {
        *nic__resend_of(resend, psn) |= NIC_SENT_HELD;
    }
    fetch->acked_psn = later(fetch->acked_psn, end_psn);
}

// Takes in a round trip, counted from the READ's sending or from the last answer before its own.
static void time_response(nic_fetch_t *fetch, uint64_t psn, sim_time_t now_ps)
{
    if (fetch->timed_ps == 0) {
        return;
    }
    if (psn < fetch->timed_psn) {
        fetch->timed_ps = now_ps;
        return;
    }
    if (psn == fetch->timed_psn) {
        nic__rto_measured(&fetch->rto, now_ps - fetch->timed_ps);
    }
    fetch->timed_ps = 0;
}

void nic__fetch_responded(nic_resend_t *resend, nic_qp_t *qp, net_packet_t *packet)
{
    const uint64_t psn = nic__psn(packet->psn, qp->una_psn);
    nic_fetch_t *const fetch = &resend->fetch;
    if (!nic__still_alive(qp) || psn < qp->una_psn || psn >= qp->next_psn ||
        is_answered(resend, psn)) {
        nic_transport_consume(qp, packet);
        return;
    }
    const bool fits = take(resend, qp, packet, psn);
    nic_transport_consume(qp, packet);
    if (!fits) {
        nic_transport_fail(qp, NIC_WC_BAD_RESP_ERR);
        return;
    }
    note_executed(resend, qp, psn);
    fetch->wide = 0;
    time_response(fetch, psn, nic__node(qp->nic)->now_ps);
    if (psn >= fetch->seen_psn) {
        look_before(resend, qp, psn);
        fetch->seen_psn = psn + 1;
    } else {
        look_asked(resend, qp, psn);
    }
    deliver(resend, qp);
}

void nic__fetch_acknowledged(nic_resend_t *resend, nic_qp_t *qp, uint64_t end_psn, bool passed)
{
    if (!nic__still_alive(qp)) {
        return;
    }
    note_executed(resend, qp, end_psn);
    if (passed && qp->una_psn < end_psn) {
        look_before(resend, qp, end_psn);
    }
    if (SIM_UNLIKELY(qp->reads_outstanding != 0) && qp->una_psn < qp->next_psn &&
        is_answered(resend, qp->una_psn)) {
        deliver(resend, qp);
    }
}
