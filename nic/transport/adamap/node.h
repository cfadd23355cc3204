// SPDX-License-Identifier: Apache-2.0
// nic/transport/adamap/node.h - an Adamap: which packets of a stretch came, in a few bytes.
//
// A map covers `length` packets from first_psn on. Each of the first b packets (nic.adamap.bits)
// has a bit that says whether it came; a longer map ends in a run of losses, for which only the
// length is kept. With b bits a map of single losses is closed b packets after its first one, so
// that maps begin 1 / p + b packets apart where each packet is lost with probability p.
// Source: OmniDMA (APNet 2025) and the description of its context management; docs/models/adamap.md
#ifndef NIC_TRANSPORT_ADAMAP_NODE_H
#define NIC_TRANSPORT_ADAMAP_NODE_H

#include "kernel/base.h"

#define NIC_ADAMAP_BITS_MAX 256u
#define NIC_ADAMAP_WORDS (NIC_ADAMAP_BITS_MAX / 64)

typedef struct nic_adamap {
    uint64_t first_psn;
    uint32_t length;
    uint32_t id;
    sim_time_t touched_ps; // when it was closed, or a packet of it came last: for the timers
    uint64_t bits[NIC_ADAMAP_WORDS]; // offset o came: bit o % 64 of word o / 64
} nic_adamap_t;

// Returns the bytes of a map in memory and on the wire: first PSN, length, round and index (id),
// bitmap.
static inline uint32_t nic__adamap_bytes(uint32_t bits)
{
    return 12 + (bits + 7) / 8;
}

static inline bool nic__adamap_has(const nic_adamap_t *map, uint32_t offset)
{
    return offset < NIC_ADAMAP_BITS_MAX && (map->bits[offset / 64] >> (offset % 64) & 1) != 0;
}

static inline void nic__adamap_set(nic_adamap_t *map, uint32_t offset)
{
    SIM_ASSERT(offset < NIC_ADAMAP_BITS_MAX);
    map->bits[offset / 64] |= UINT64_C(1) << (offset % 64);
}

static inline bool nic__adamap_covers(const nic_adamap_t *map, uint64_t psn)
{
    return psn >= map->first_psn && psn - map->first_psn < map->length;
}

// Returns the first offset from `from` on that is missing (came: false) or that came (true);
// `length` if there is none.
static inline uint32_t nic__adamap_find(const nic_adamap_t *map, uint32_t from, bool came)
{
    while (from < map->length && from < NIC_ADAMAP_BITS_MAX) {
        const uint64_t word = came ? map->bits[from / 64] : ~map->bits[from / 64];
        const uint64_t rest = word >> (from % 64);
        if (rest != 0) {
            from += (uint32_t)__builtin_ctzll(rest);
            return SIM_MIN(from, map->length);
        }
        from = (from / 64 + 1) * 64;
    }
    if (came || from >= map->length) {
        return map->length;
    }
    return from;
}

// Finds the next stretch of missing packets at or after `from`. Returns false if there is none.
static inline bool nic__adamap_gap(const nic_adamap_t *map, uint32_t from, uint32_t *first,
                                   uint32_t *count)
{
    *first = nic__adamap_find(map, from, false);
    *count = nic__adamap_find(map, *first, true) - *first;
    return *count != 0;
}

static inline bool nic__adamap_full(const nic_adamap_t *map)
{
    return nic__adamap_find(map, 0, false) == map->length;
}

// Drops the first `packets` of the map. Packets beyond the map's bits are all missing.
static inline void nic__adamap_slide(nic_adamap_t *map, uint32_t packets)
{
    SIM_ASSERT(packets <= map->length);
    map->first_psn += packets;
    map->length -= packets;
    for (uint32_t w = 0; w < NIC_ADAMAP_WORDS; w++) {
        const uint32_t from = w + packets / 64;
        const uint64_t low = from < NIC_ADAMAP_WORDS ? map->bits[from] : 0;
        const uint64_t high = from + 1 < NIC_ADAMAP_WORDS ? map->bits[from + 1] : 0;
        map->bits[w] = packets % 64 == 0 ? low : low >> packets % 64 | high << (64 - packets % 64);
    }
}

// Returns the first `packets` of the map, as a map of its own.
static inline nic_adamap_t nic__adamap_head(const nic_adamap_t *map, uint32_t packets)
{
    nic_adamap_t head = *map;
    head.length = SIM_MIN(packets, map->length);
    for (uint32_t w = 0; w < NIC_ADAMAP_WORDS; w++) {
        const uint32_t first = w * 64;
        if (first + 64 > head.length) {
            const uint32_t keep = head.length > first ? head.length - first : 0;
            head.bits[w] &= keep == 0 ? 0 : UINT64_MAX >> (64 - keep);
        }
    }
    return head;
}

// -- the map being filled, of b bits

typedef struct nic_adamap_open {
    nic_adamap_t map; // length: up to the newest packet that came, that one included
    uint32_t bits;    // b
} nic_adamap_open_t;

static inline void nic__adamap_open(nic_adamap_open_t *open, uint32_t bits, uint64_t first_psn)
{
    *open = (nic_adamap_open_t){.map = {.first_psn = first_psn}, .bits = bits};
}

// Returns true if the map is empty: every packet before its first PSN came, or is in an older map.
static inline bool nic__adamap_idle(const nic_adamap_open_t *open)
{
    return open->map.length == 0;
}

typedef enum nic_adamap_verdict {
    NIC_ADAMAP_TAKEN,  // the map knows the packet now
    NIC_ADAMAP_BEHIND, // before the map: an older one may know it
    NIC_ADAMAP_BEYOND, // the map has to be closed before it can be taken
} nic_adamap_verdict_t;

// Notes a packet that takes `span` PSNs from psn on (one but for READs).
static inline nic_adamap_verdict_t nic__adamap_arrive(nic_adamap_open_t *open, uint64_t psn,
                                                      uint32_t span)
{
    nic_adamap_t *const map = &open->map;
    if (psn < map->first_psn) {
        return NIC_ADAMAP_BEHIND;
    }
    if (nic__adamap_idle(open) && psn == map->first_psn) {
        map->first_psn += span;
        return NIC_ADAMAP_TAKEN;
    }
    const uint64_t last = psn - map->first_psn + span - 1;
    if (last >= open->bits) {
        return NIC_ADAMAP_BEYOND;
    }
    for (uint64_t offset = psn - map->first_psn; offset <= last; offset++) {
        nic__adamap_set(map, (uint32_t)offset);
    }
    if (last + 1 > map->length) {
        map->length = (uint32_t)last + 1;
    }
    // Packets that were only late leave no gap.
    const uint32_t gap = nic__adamap_find(map, 0, false);
    if (gap != 0) {
        nic__adamap_slide(map, gap);
    }
    return NIC_ADAMAP_TAKEN;
}

// Closes the map before psn, which begins the next one; psn itself has come, with its span.
static inline nic_adamap_t nic__adamap_close(nic_adamap_open_t *open, uint64_t psn, uint32_t span)
{
    nic_adamap_t closed = open->map;
    closed.length = (uint32_t)(psn - closed.first_psn);
    nic__adamap_open(open, open->bits, psn + span);
    return closed;
}

#endif // NIC_TRANSPORT_ADAMAP_NODE_H
