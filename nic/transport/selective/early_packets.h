// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/early_packets.h - packets that came ahead of their turn, by PSN, and
// since when each missing packet is missed.
//
// A NIC that places data out of order keeps a few bits of such a packet; the simulator keeps the
// packet, since executing it in order needs its opcode and addresses. Which bits a NIC keeps, and
// where, is each transport's own.
// Invariant: nothing is known of PSNs from end_psn on; the slots of [first_psn, end_psn) describe
// the others; the slot of first_psn is missing or the ring is empty (first_psn == end_psn).
// Cost: O(1) amortised each. Memory is the span from the oldest gap to the newest packet, 8 bytes
// a PSN, and shrinks with it.
#ifndef NIC_TRANSPORT_SELECTIVE_EARLY_PACKETS_H
#define NIC_TRANSPORT_SELECTIVE_EARLY_PACKETS_H

#include "nic/transport/entry.h"
#include "nic/transport/responder_internal.h"
#include "nic/transport/selective/repeated_answers.h"

typedef struct nic_early {
    uint64_t *slots; // by PSN; see early_packets.c
    uint64_t capacity;
    uint64_t first_psn; // == the QP's expected PSN
    uint64_t end_psn;
    uint64_t packets;   // kept
    uint64_t missing;   // PSNs in [first_psn, end_psn) that did not come
    uint64_t repair_ps; // sum over repaired gaps, of the time each was missed
    uint64_t repaired;
    uint64_t repair_ps_max;
    nic_repeated_t again; // answers to be given again
} nic_early_t;

typedef enum nic_early_news {
    NIC_KEPT_NEW,    // the first of this PSN
    NIC_KEPT_REPAIR, // and it was missed before
    NIC_KEPT_AGAIN,  // a duplicate
} nic_early_news_t;

void nic__early_init(nic_early_t *kept, uint64_t first_psn);
static inline void nic__early_gauges(const nic_early_t *kept, nic_transport_gauges_t *sums)
{
    sums->missing_packets += kept->missing;
    sums->ahead_packets += kept->packets;
    sums->again_stretches += kept->again.end - kept->again.first;
}

// Frees the ring and consumes the packets in it.
void nic__early_fini(nic_early_t *kept, nic_qp_t *qp);

static inline bool nic__early_empty(const nic_early_t *kept)
{
    return kept->first_psn == kept->end_psn;
}

// The low bits of a slot say what it holds: MISSING, the time since when its packet is missed; 0 or
// PLACED, a packet, whose payload is placed or not; COVERED, a PSN of the READ before it. Packets
// are aligned, so that their low bits are free.
enum { NIC_EARLY_MISSING = 1, NIC_EARLY_PLACED = 2, NIC_EARLY_COVERED = 3, NIC_EARLY_TAG = 3 };
static inline uint64_t *nic__early_slot(const nic_early_t *kept, uint64_t psn)
{
    return &kept->slots[psn & (kept->capacity - 1)];
}

// Returns true if this PSN has come. All below first_psn have.
static inline bool nic__early_has(const nic_early_t *kept, uint64_t psn)
{
    return psn < kept->first_psn || (psn < kept->end_psn && (*nic__early_slot(kept, psn) &
                                                             NIC_EARLY_TAG) != NIC_EARLY_MISSING);
}

// Returns which of the PSNs from base_psn on have come, the first in bit 0. count: at most 64.
uint64_t nic__early_bits(const nic_early_t *kept, uint64_t base_psn, uint32_t count);

// Adds a new packet ahead of first_psn; the ring owns it.
void nic__early_put(nic_early_t *kept, uint64_t psn, uint32_t span, net_packet_t *packet,
                    bool placed, sim_time_t now_ps);

// Moves first_psn past a packet, with its span, that was executed without having been kept.
void nic__early_pass(nic_early_t *kept, uint32_t span, sim_time_t now_ps);

// Executes the packets whose turn has come. Returns false if a request was refused.
bool nic__early_execute(nic_early_t *kept, nic_qp_t *qp);

// Returns the PSNs that a packet takes: one, or those of the responses to a READ.
uint32_t nic__read_span(const nic_qp_t *qp, const net_packet_t *packet);
static inline uint32_t nic__packet_span(const nic_qp_t *qp, const net_packet_t *packet)
{
    return SIM_LIKELY(packet->opcode != ROCE_READ_REQUEST) ? 1 : nic__read_span(qp, packet);
}

// A request as the receiving side of a selective transport sees it.
typedef struct nic_arrival {
    uint64_t psn;
    uint32_t span;
    nic_early_news_t news;
    bool refused; // or failed: nothing is to be acknowledged
} nic_arrival_t;

// Consumes a packet that has come before. READs and atomics are answered again.
void nic__early_duplicate(nic_early_t *kept, nic_qp_t *qp, net_packet_t *packet, uint64_t psn);
// Keeps a packet whose turn has not come.
void nic__early_keep(nic_early_t *kept, nic_qp_t *qp, net_packet_t *packet, uint64_t psn,
                     uint32_t span);

// Takes a request: executes it if its turn has come, with all that was kept behind it; keeps it
// otherwise; answers READs and atomics again. A PSN that lies too far ahead is consumed and is
// NIC_KEPT_AGAIN.
static inline nic_arrival_t nic__early_receive(nic_early_t *kept, nic_qp_t *qp,
                                               net_packet_t *packet)
{
    const uint64_t psn = nic__psn(packet->psn, kept->first_psn);
    const uint32_t span = nic__packet_span(qp, packet);
    nic_arrival_t arrival = {.psn = psn, .span = span, .news = NIC_KEPT_AGAIN};
    SIM_ASSERT(kept->first_psn == qp->expected_psn);
    if (SIM_UNLIKELY((qp->rx_flags & NIC_RX_STOPPED) != 0 ||
                     psn + span > kept->first_psn + NIC_PSN_WINDOW)) {
        arrival.refused = (qp->rx_flags & NIC_RX_STOPPED) != 0;
        nic_transport_consume(qp, packet);
    } else if (SIM_UNLIKELY(nic__early_has(kept, psn))) {
        nic__early_duplicate(kept, qp, packet, psn);
    } else {
        arrival.news = psn < kept->end_psn ? NIC_KEPT_REPAIR : NIC_KEPT_NEW;
        if (psn != kept->first_psn) {
            nic__early_keep(kept, qp, packet, psn, span);
        } else if (!nic__execute_next(qp, packet, false)) {
            arrival.refused = true;
        } else {
            nic__early_pass(kept, span, nic__node(qp->nic)->now_ps);
            arrival.refused = !nic__early_empty(kept) && !nic__early_execute(kept, qp);
        }
    }
    return arrival;
}

#endif // NIC_TRANSPORT_SELECTIVE_EARLY_PACKETS_H
