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

// Returns true if this PSN has come. All below first_psn have.
bool nic__early_has(const nic_early_t *kept, uint64_t psn);

// Returns which of the PSNs from base_psn on have come, the first in bit 0. count: at most 64.
uint64_t nic__early_bits(const nic_early_t *kept, uint64_t base_psn, uint32_t count);

// Returns what a packet that begins at psn would be.
nic_early_news_t nic__early_look(const nic_early_t *kept, uint64_t psn);

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

// Takes a request: executes it if its turn has come, with all that was kept behind it; keeps it
// otherwise; answers READs and atomics again. The PSN must be within `limit` of expected_psn, else
// it is consumed and counts as news NIC_KEPT_AGAIN.
nic_arrival_t nic__early_receive(nic_early_t *kept, nic_qp_t *qp, net_packet_t *packet);

#endif // NIC_TRANSPORT_SELECTIVE_EARLY_PACKETS_H
