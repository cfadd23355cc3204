// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/flight.c - the packets that a sender of a sprayed transport has in
// flight.
#include "nic/transport/selective/flight.h"

#include "nic/cc/control.h"
#include "nic/transport/requester_internal.h"

#define FIRST_SENT 64u

void nic__flight_fini(nic_flight_t *flight)
{
    sim_free(flight->sent);
    *flight = (nic_flight_t){0};
}

void nic__flight_grow(nic_flight_t *flight, const nic_qp_t *qp, uint64_t end_psn)
{
    uint64_t capacity = flight->capacity == 0 ? FIRST_SENT : flight->capacity;
    while (end_psn - qp->una_psn > capacity) {
        capacity *= 2;
    }
    if (capacity == flight->capacity) {
        return;
    }
    nic_flight_sent_t *const sent = sim_alloc_array(capacity, sizeof(*sent));
    for (uint64_t psn = qp->una_psn; flight->capacity != 0 && psn < end_psn; psn++) {
        sent[psn & (capacity - 1)] = *nic__flight_of(flight, psn);
    }
    sim_free(flight->sent);
    flight->sent = sent;
    flight->capacity = capacity;
}

nic_flight_place_t nic__flight_place(const nic_qp_t *qp, uint64_t psn)
{
    uint64_t first_psn = 0;
    const uint32_t index = nic__find_wqe(qp, psn, &first_psn);
    return (nic_flight_place_t){index, (uint32_t)(psn - first_psn) * qp->mtu_bytes};
}

// Returns the frame of a packet that is not acknowledged yet, as windows count it.
static uint32_t frame_of(const nic_qp_t *qp, uint64_t psn)
{
    const nic_flight_place_t place = nic__flight_place(qp, psn);
    const uint32_t left_bytes = nic__wqe(qp, place.index)->length - place.offset;
    const uint32_t payload_bytes = SIM_MIN(left_bytes, qp->mtu_bytes);
    return nic__flight_frame_bytes(qp, payload_bytes);
}

uint32_t nic__flight_take_out(nic_flight_t *flight, const nic_qp_t *qp, uint64_t psn)
{
    nic_flight_sent_t *const sent = nic__flight_of(flight, psn);
    if (!sent->out) {
        return 0;
    }
    const uint32_t bytes = frame_of(qp, psn);
    sent->out = false;
    sent->taken = true;
    flight->bytes -= SIM_MIN(bytes, flight->bytes);
    return bytes;
}

// Counts a packet as in flight again that was taken out as lost, waits to be sent again, and has
// arrived after all: the count of arrived bytes takes it off once more.
static void count_again(nic_flight_t *flight, const nic_single_acks_t *held, uint64_t psn)
{
    const nic_flight_sent_t *const sent = nic__flight_of(flight, psn);
    const uint32_t state = *nic__resend_of(&held->resend, psn) & (NIC_SENT_QUEUED | NIC_SENT_HELD);
    if (SIM_UNLIKELY(state == NIC_SENT_QUEUED) && sent->taken) {
        flight->bytes += frame_of(held->base.qp, psn);
    }
}

void nic__flight_hold_first(nic_flight_t *flight, const nic_single_acks_t *held, uint64_t psn)
{
    count_again(flight, held, psn);
    *nic__resend_of(&held->resend, psn) |= NIC_SENT_HELD;
    nic__flight_of(flight, psn)->out = false;
}

void nic__flight_pass(nic_flight_t *flight, const nic_single_acks_t *held, uint64_t end_psn)
{
    const nic_qp_t *const qp = held->base.qp;
    if (SIM_LIKELY(!nic__resend_waits(&held->resend))) {
        return;
    }
    for (uint64_t psn = qp->una_psn; psn < end_psn && psn < qp->next_psn; psn++) {
        count_again(flight, held, psn);
    }
}

void nic__flight_pass_early(nic_flight_t *flight, const nic_single_acks_t *held, uint64_t end_psn)
{
    const nic_qp_t *const qp = held->base.qp;
    for (uint64_t psn = qp->una_psn; psn < end_psn && psn < qp->next_psn; psn++) {
        nic_flight_sent_t *const sent = nic__flight_of(flight, psn);
        const bool waits = (*nic__resend_of(&held->resend, psn) & NIC_SENT_QUEUED) != 0;
        if (!sent->out && (!waits || !sent->taken)) {
            continue;
        }
        const uint32_t bytes = frame_of(qp, psn);
        flight->early_bytes += bytes;
        if (sent->out) {
            sent->out = false;
            flight->bytes -= SIM_MIN(bytes, flight->bytes);
        }
    }
}

void nic__flight_settle(nic_flight_t *flight, const nic_qp_t *qp)
{
    for (uint64_t psn = qp->una_psn; psn < qp->next_psn; psn++) {
        if (nic__flight_of(flight, psn)->out) {
            return;
        }
    }
    flight->early_bytes += flight->bytes;
    flight->bytes = 0;
}

uint64_t nic__flight_arrived(nic_flight_t *flight, const nic_qp_t *qp, uint64_t arrived_bytes)
{
    const uint64_t more =
        arrived_bytes > flight->arrived_bytes ? arrived_bytes - flight->arrived_bytes : 0;
    const uint64_t early = SIM_MIN(more, flight->early_bytes);
    const uint64_t off = more - early;
    flight->arrived_bytes += more;
    flight->early_bytes -= early;
    flight->bytes -= SIM_MIN(off, flight->bytes);
    if (qp->una_psn == qp->next_psn) {
        flight->bytes = 0;
    }
    return more;
}
