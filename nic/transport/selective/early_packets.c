// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/early_packets.c - the ring of packets that came ahead of their turn.
#include "nic/transport/selective/early_packets.h"

#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/transport/responder_internal.h"

#define FIRST_CAPACITY 64u

void nic__early_init(nic_early_t *kept, uint64_t first_psn)
{
    *kept = (nic_early_t){.first_psn = first_psn, .end_psn = first_psn};
}

static inline bool is_packet(uint64_t slot)
{
    return (slot & NIC_EARLY_TAG) == 0 || (slot & NIC_EARLY_TAG) == NIC_EARLY_PLACED;
}

static inline net_packet_t *packet_of(uint64_t slot)
{
    return (net_packet_t *)(uintptr_t)(slot & ~(uint64_t)NIC_EARLY_TAG);
}

void nic__early_fini(nic_early_t *kept, nic_qp_t *qp)
{
    for (uint64_t psn = kept->first_psn; psn < kept->end_psn; psn++) {
        const uint64_t slot = *nic__early_slot(kept, psn);
        if (is_packet(slot)) {
            nic_transport_consume(qp, packet_of(slot));
        }
    }
    sim_free(kept->slots);
    nic__repeated_fini(&kept->again);
    nic__early_init(kept, kept->first_psn);
}

static void resize(nic_early_t *kept, uint64_t capacity)
{
    uint64_t *const slots = sim_alloc_array(capacity, sizeof(*slots));
    for (uint64_t psn = kept->first_psn; psn < kept->end_psn; psn++) {
        slots[psn & (capacity - 1)] = *nic__early_slot(kept, psn);
    }
    sim_free(kept->slots);
    kept->slots = slots;
    kept->capacity = capacity;
}

static void reserve(nic_early_t *kept, uint64_t end_psn)
{
    uint64_t capacity = kept->capacity == 0 ? FIRST_CAPACITY : kept->capacity;
    while (end_psn - kept->first_psn > capacity) {
        capacity *= 2;
    }
    if (capacity != kept->capacity) {
        resize(kept, capacity);
    }
}

uint64_t nic__early_bits(const nic_early_t *kept, uint64_t base_psn, uint32_t count)
{
    SIM_ASSERT(count <= 64);
    const uint64_t mask = kept->capacity - 1;
    const uint64_t known = kept->end_psn > base_psn ? kept->end_psn - base_psn : 0;
    const uint32_t end = known < count ? (uint32_t)known : count;
    const uint64_t before = kept->first_psn > base_psn ? kept->first_psn - base_psn : 0;
    const uint32_t first = before < end ? (uint32_t)before : end;
    uint64_t bits = first == 64 ? UINT64_MAX : (UINT64_C(1) << first) - 1; // all of those have come
    for (uint32_t i = first; i < end; i++) {
        bits |=
            (uint64_t)((kept->slots[(base_psn + i) & mask] & NIC_EARLY_TAG) != NIC_EARLY_MISSING)
            << i;
    }
    return bits;
}

// Notes that a missing PSN has come.
static void note_repair(nic_early_t *kept, uint64_t psn, sim_time_t now_ps)
{
    const uint64_t slot = *nic__early_slot(kept, psn);
    if ((slot & NIC_EARLY_TAG) == NIC_EARLY_MISSING) {
        const uint64_t waited_ps = now_ps - (slot >> 2);
        kept->missing--;
        kept->repaired++;
        kept->repair_ps += waited_ps;
        kept->repair_ps_max = SIM_MAX(waited_ps, kept->repair_ps_max);
    }
}

static void extend(nic_early_t *kept, uint64_t psn, uint32_t span, sim_time_t now_ps)
{
    reserve(kept, psn + span);
    while (kept->end_psn < psn) {
        *nic__early_slot(kept, kept->end_psn++) = now_ps << 2 | NIC_EARLY_MISSING;
        kept->missing++;
    }
}

void nic__early_put(nic_early_t *kept, uint64_t psn, uint32_t span, net_packet_t *packet,
                    bool placed, sim_time_t now_ps)
{
    SIM_ASSERT(psn > kept->first_psn && !nic__early_has(kept, psn));
    extend(kept, psn, span, now_ps);
    for (uint64_t at = psn; at < psn + span; at++) {
        if (at < kept->end_psn) {
            note_repair(kept, at, now_ps);
        } else {
            kept->end_psn = at + 1;
        }
        *nic__early_slot(kept, at) =
            at == psn ? (uint64_t)(uintptr_t)packet | (placed ? NIC_EARLY_PLACED : 0)
                      : NIC_EARLY_COVERED;
    }
    kept->packets++;
}

void nic__early_pass(nic_early_t *kept, uint32_t span, sim_time_t now_ps)
{
    const uint64_t end_psn = kept->first_psn + span;
    for (; kept->first_psn < end_psn; kept->first_psn++) {
        if (kept->first_psn == kept->end_psn) {
            kept->first_psn = kept->end_psn = end_psn;
            return;
        }
        note_repair(kept, kept->first_psn, now_ps);
    }
}

// Shrinks the ring when a long gap is over.
static void shrink(nic_early_t *kept)
{
    if (kept->capacity > 4096 && (kept->end_psn - kept->first_psn) * 8 < kept->capacity) {
        resize(kept, kept->capacity / 2);
    }
}

bool nic__early_execute(nic_early_t *kept, nic_qp_t *qp)
{
    while (kept->first_psn < kept->end_psn) {
        const uint64_t slot = *nic__early_slot(kept, kept->first_psn);
        if (!is_packet(slot)) {
            SIM_ASSERT((slot & NIC_EARLY_TAG) == NIC_EARLY_MISSING);
            break;
        }
        net_packet_t *const packet = packet_of(slot);
        const uint32_t span = nic__packet_span(qp, packet);
        if (kept->first_psn + 4 < kept->end_psn) {
            __builtin_prefetch(packet_of(*nic__early_slot(kept, kept->first_psn + 4)));
        }
        kept->packets--;
        const uint32_t placed_bytes =
            (slot & NIC_EARLY_TAG) == NIC_EARLY_PLACED ? packet->payload_bytes : 0;
        // If the packet is refused, it is missing again.
        *nic__early_slot(kept, kept->first_psn) =
            nic__node(qp->nic)->now_ps << 2 | NIC_EARLY_MISSING;
        if (!nic__execute_next(qp, packet, (slot & NIC_EARLY_TAG) == NIC_EARLY_PLACED)) {
            for (uint64_t at = 1; at < span; at++) {
                *nic__early_slot(kept, kept->first_psn + at) =
                    *nic__early_slot(kept, kept->first_psn);
            }
            kept->missing += span;
            qp->nic->counters.rx_restarted_bytes += placed_bytes; // it comes again
            return false;
        }
        kept->first_psn += span;
    }
    if (nic__early_empty(kept)) {
        kept->end_psn = kept->first_psn;
    }
    shrink(kept);
    return true;
}

uint32_t nic__read_span(const nic_qp_t *qp, const net_packet_t *packet)
{
    const uint32_t length = net_packet_aside(packet)->reth.length;
    return length > NIC_MESSAGE_BYTES_MAX ? 1 : nic__packet_count(qp, length);
}

void nic__early_duplicate(nic_early_t *kept, nic_qp_t *qp, net_packet_t *packet, uint64_t psn)
{
    qp->nic->counters.duplicate_request++;
    if (psn < kept->first_psn) {
        nic__repeated_ask(&kept->again, qp, packet, psn);
    }
    nic_transport_consume(qp, packet);
}

void nic__early_keep(nic_early_t *kept, nic_qp_t *qp, net_packet_t *packet, uint64_t psn,
                     uint32_t span)
{
    qp->nic->counters.out_of_sequence++;
    const bool placed = nic_transport_place(qp, packet);
    nic__early_put(kept, psn, span, packet, placed, nic__node(qp->nic)->now_ps);
}
