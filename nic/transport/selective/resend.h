// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/resend.h - the sending side that selective transports share: the state of
// each packet in [una_psn, next_psn), and a queue of retransmissions.
//
// A packet has a byte: how often it was sent again, whether the peer has it, whether it waits in
// the queue. A packet that is acknowledged before its turn comes is left out. For READs and atomics
// the queue asks for responses (nic/transport/selective/fetch.h).
// Cost: O(1) a packet; memory a byte for each in flight, and 24 for each stretch in the queue.
#ifndef NIC_TRANSPORT_SELECTIVE_RESEND_H
#define NIC_TRANSPORT_SELECTIVE_RESEND_H

#include "nic/transport/selective/fetch.h"

#define NIC_RESEND_ROUNDS 16u // retransmissions are counted by round, the last is "or more"

enum {
    NIC_SENT_TIMES = 0x1f,    // number of retransmissions, this at most
    NIC_SENT_ANSWERED = 0x20, // of a READ or atomic: the response has come
    NIC_SENT_QUEUED = 0x40,
    NIC_SENT_HELD = 0x80, // the peer has the packet; of a READ or atomic: its request
};

typedef struct nic_resend_item {
    uint64_t psn;
    uint32_t count;
    uint32_t index; // for the transport's own use
    uint8_t round;  // for the transport's own use
} nic_resend_item_t;

struct nic_resend {
    uint8_t *sent; // by PSN
    uint64_t capacity;
    nic_resend_item_t *items;
    uint32_t item_capacity; // power of two
    uint32_t item_first;    // both run freely
    uint32_t item_end;
    uint32_t item_limit; // stretches that the queue holds at most; 0: any number
    uint32_t items_max;  // stretches in the queue so far, at most
    uint64_t refused;    // packets that did not find room in the queue
    uint64_t waiting;    // packets in the queue
    uint64_t left_out;   // packets left out, since the peer had them when their turn came
    uint64_t by_round[NIC_RESEND_ROUNDS];
    uint32_t rounds_max;
    nic_fetch_t fetch; // responses
};

void nic__resend_init(nic_resend_t *resend);
void nic__resend_fini(nic_resend_t *resend);

static inline uint8_t *nic__resend_of(const nic_resend_t *resend, uint64_t psn)
{
    return &resend->sent[psn & (resend->capacity - 1)];
}

// Makes room for the states of packets before end_psn.
void nic__resend_grow(nic_resend_t *resend, const nic_qp_t *qp, uint64_t end_psn);
// Notes that a packet (or a READ's stretch of PSNs) was sent for the first time.
static inline void nic__resend_note_new(nic_resend_t *resend, const nic_qp_t *qp, uint64_t psn,
                                        uint64_t end_psn)
{
    if (SIM_UNLIKELY(end_psn - qp->una_psn > resend->capacity)) {
        nic__resend_grow(resend, qp, end_psn);
    }
    for (; psn < end_psn; psn++) {
        *nic__resend_of(resend, psn) = 0;
    }
}

// Queues [psn, psn + count), except PSNs that wait already, are held by the peer, or lie outside of
// [una_psn, next_psn). Those that do not find room in the queue are left out: the peer asks for
// them again, or the sender's time-out repeats them.
void nic__resend_add(nic_resend_t *resend, const nic_qp_t *qp, uint64_t psn, uint32_t count,
                     uint8_t round, uint32_t index);

// Queues one packet, whatever its state, so that the peer answers.
void nic__resend_probe(nic_resend_t *resend, const nic_qp_t *qp, uint64_t psn, uint8_t round);
// Queues the oldest packet after the first of `silent` time-outs in a row, and twice as many after
// each further one: a burst of losses that ends with the packets it takes would outlast the retries
// of a single packet.
void nic__resend_oldest(nic_resend_t *resend, const nic_qp_t *qp, uint32_t silent, uint8_t round);
// Returns how many packets those are.
static inline uint32_t nic__resend_wide(uint32_t silent)
{
    return silent < 2 ? 1 : 1u << SIM_MIN(silent - 1, 8);
}
// Returns true if a peer that was silent for `silent` time-outs in a row, since quiet_ps, is gone.
// The time-outs of these transports are for the idle path. On a path that is busy or paused, or
// that many queue pairs share, answers need longer: so the silence must also last as long as the
// standard's retries would.
bool nic__is_gone(const nic_qp_t *qp, uint32_t silent, sim_time_t quiet_ps);

static inline bool nic__resend_waits(const nic_resend_t *resend)
{
    return resend->item_first != resend->item_end;
}
// Removes packets from the head of the queue that need not be sent. To be called when una_psn moved
// or the peer was found to hold packets.
void nic__resend_trim(nic_resend_t *resend, const nic_qp_t *qp);

// Empties the queue.
void nic__resend_clear(nic_resend_t *resend, const nic_qp_t *qp);

// Builds the next packet of the queue, or returns NULL if nothing of it was left. item says why it
// was queued.
net_packet_t *nic__resend_next(nic_resend_t *resend, nic_qp_t *qp, nic_resend_item_t *item);

// Finds the work request that a PSN in flight belongs to, and the PSNs it takes.
const struct nic_wqe *nic__resend_wqe(const nic_qp_t *qp, uint64_t psn, uint64_t *begin_psn,
                                      uint64_t *end_psn);

#endif // NIC_TRANSPORT_SELECTIVE_RESEND_H
