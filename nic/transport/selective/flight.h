// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/flight.h - the packets that a sender of a sprayed transport has in
// flight: when each was sent, on which path, and whether its bytes count against the window.
//
// A packet is in flight from its departure until the receiver counts its bytes, or until it is
// known to be lost. Ultra Ethernet and MRC share this part.
// Cost: O(1) a packet; 16 bytes for each PSN in [una_psn, next_psn).
#ifndef NIC_TRANSPORT_SELECTIVE_FLIGHT_H
#define NIC_TRANSPORT_SELECTIVE_FLIGHT_H

#include "nic/transport/selective/single_acks.h"

// The sender keeps these fields for each packet in flight.
typedef struct nic_flight_sent {
    sim_time_t sent_ps;
    uint16_t entropy; // its path
    bool out;         // it counts as in flight
    bool full;        // its payload is that of a full packet
    bool taken;       // it was taken out as lost
} nic_flight_sent_t;

typedef struct nic_flight {
    nic_flight_sent_t *sent; // by PSN, `capacity` of them
    uint64_t capacity;       // power of two; 0: nothing was sent
    uint64_t bytes;          // of frames in flight
    uint64_t arrived_bytes;  // as the peer reported
    uint64_t early_bytes;    // taken off although the peer has not counted them yet
} nic_flight_t;

static inline nic_flight_sent_t *nic__flight_of(const nic_flight_t *flight, uint64_t psn)
{
    return &flight->sent[psn & (flight->capacity - 1)];
}

void nic__flight_fini(nic_flight_t *flight);

// Returns the frame of a packet that carries so much payload, as windows count it.
static inline uint32_t nic__flight_frame_bytes(const nic_qp_t *qp, uint32_t payload_bytes)
{
    return nic__cc_const(qp)->overhead_bytes + payload_bytes;
}

// Makes room for packets before end_psn.
void nic__flight_grow(nic_flight_t *flight, const nic_qp_t *qp, uint64_t end_psn);
// Notes a packet that leaves now, again or for the first time, with its path.
static inline void nic__flight_note(nic_flight_t *flight, const nic_qp_t *qp,
                                    const nic_single_acks_sent_t *sent, uint32_t entropy,
                                    sim_time_t now_ps)
{
    const uint32_t payload_bytes = sent->packet->payload_bytes;
    if (SIM_UNLIKELY(sent->end_psn - qp->una_psn > flight->capacity)) {
        nic__flight_grow(flight, qp, sent->end_psn);
    }
    for (uint64_t psn = sent->psn; psn < sent->end_psn; psn++) {
        *nic__flight_of(flight, psn) = (nic_flight_sent_t){
            .sent_ps = now_ps,
            .entropy = (uint16_t)entropy,
            .out = payload_bytes != 0,
            .full = payload_bytes == qp->mtu_bytes,
        };
    }
    flight->bytes += payload_bytes != 0 ? nic__flight_frame_bytes(qp, payload_bytes) : 0;
}
// Takes a packet that was lost out of what is in flight. Returns the bytes of its frame; 0: it did
// not count.
uint32_t nic__flight_take_out(nic_flight_t *flight, const nic_qp_t *qp, uint64_t psn);
// Returns whether a packet that is not acknowledged yet is a full one.
static inline bool nic__flight_full(const nic_flight_t *flight, const nic_qp_t *qp, uint64_t psn)
{
    return psn >= qp->una_psn && psn < qp->next_psn && nic__flight_of(flight, psn)->full;
}
// Notes that the peer has everything before end_psn. To be called before una_psn moves there.
void nic__flight_pass(nic_flight_t *flight, const nic_single_acks_t *held, uint64_t end_psn);
// Takes off what the peer has, before end_psn, but has not counted yet: a NACK of a transport that
// takes packets in order carries no count. To be called before una_psn moves there.
void nic__flight_pass_early(nic_flight_t *flight, const nic_single_acks_t *held, uint64_t end_psn);
// Takes off all bytes if no packet in [una_psn, next_psn) is in flight: those of packets that NACKs
// acknowledged, whose count was lost.
void nic__flight_settle(nic_flight_t *flight, const nic_qp_t *qp);
// Returns those bits of a bitmap, whose lowest stands for base_psn, that stand for packets in
// [una_psn, next_psn).
static inline uint64_t nic__flight_known(const nic_qp_t *qp, uint64_t base_psn, uint64_t bits)
{
    const uint64_t before = qp->una_psn > base_psn ? qp->una_psn - base_psn : 0;
    const uint64_t end = qp->next_psn > base_psn ? qp->next_psn - base_psn : 0;
    const uint64_t late = end < 64 ? ~UINT64_C(0) << end : 0;
    return before < 64 ? bits & ~late & ~UINT64_C(0) << before : 0;
}
// Marks a packet in [una_psn, next_psn) that the peer holds.
void nic__flight_hold_first(nic_flight_t *flight, const nic_single_acks_t *held, uint64_t psn);
// Does so unless it was done before: bitmaps show most packets more than once.
static inline void nic__flight_hold(nic_flight_t *flight, const nic_single_acks_t *held,
                                    uint64_t psn)
{
    if ((*nic__resend_of(&held->resend, psn) & NIC_SENT_HELD) == 0 ||
        nic__flight_of(flight, psn)->out) {
        nic__flight_hold_first(flight, held, psn);
    }
}
// Takes off what has newly arrived, by the count of all received bytes that an ACK carries. To be
// called after una_psn has moved. Returns the new bytes.
uint64_t nic__flight_arrived(nic_flight_t *flight, const nic_qp_t *qp, uint64_t arrived_bytes);

// The place of a packet: its work request, and the bytes of it before the packet.
typedef struct nic_flight_place {
    uint32_t index;
    uint32_t offset;
} nic_flight_place_t;
nic_flight_place_t nic__flight_place(const nic_qp_t *qp, uint64_t psn);

#endif // NIC_TRANSPORT_SELECTIVE_FLIGHT_H
