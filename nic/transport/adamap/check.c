// SPDX-License-Identifier: Apache-2.0
// nic/transport/adamap/check.c - invariants between events, and the NIC's counters by name.
#include "nic/transport/adamap/adamap_internal.h"

#include "nic/objects/qp.h"

#define LOOK_MAX 2048u // a longer stretch is looked at in part

static bool table_misses(const nic_adamap_state_t *state, uint64_t psn)
{
    for (uint32_t i = state->entry_first; i != state->entry_end; i++) {
        const nic_adamap_entry_t *const entry = &state->entries[i & (state->entry_capacity - 1)];
        if (entry->live && nic__adamap_covers(&entry->map, psn) &&
            !nic__adamap_has(&entry->map, (uint32_t)(psn - entry->map.first_psn))) {
            return true;
        }
    }
    return false;
}

static bool misses(const nic_adamap_t *map, uint64_t psn)
{
    const uint64_t offset = psn - map->first_psn;
    return nic__adamap_covers(map, psn) &&
           (offset >= NIC_ADAMAP_BITS_MAX || !nic__adamap_has(map, (uint32_t)offset));
}

static bool list_misses(const nic_adamap_state_t *state, uint64_t psn)
{
    const uint32_t size = (uint32_t)nic__adamap_config(state)->cached;
    for (uint32_t i = 0; i < state->cached_count; i++) {
        if (misses(&state->cached[(state->cached_first + i) % size], psn)) {
            return true;
        }
    }
    const nic_knitting_t *const knitting = &nic__adamap_shared(state)->knitting;
    for (uint32_t block = state->chain.head; block != NIC_KNITTING_NONE;) {
        const nic_knitting_block_t *const at = nic__knitting_at(knitting, block);
        if (misses(&at->map, psn)) {
            return true;
        }
        block = at->next;
    }
    return false;
}

// Checks that every missing packet is in exactly one map, except the expected packet, which may
// have been refused when it came; and that blocks add up.
void nic__adamap_check(const nic_qp_t *qp)
{
    const nic_adamap_state_t *const state =
        (const nic_adamap_state_t *)(const void *)nic_transport_of_const(qp);
    const nic_kept_t *const kept = &state->kept;
    SIM_CHECK(kept->first_psn == qp->expected_psn);
    const uint64_t begin_psn =
        kept->end_psn - kept->first_psn > LOOK_MAX ? kept->end_psn - LOOK_MAX : kept->first_psn;
    for (uint64_t psn = begin_psn; psn < kept->end_psn; psn++) {
        const uint32_t maps = (uint32_t)misses(&state->open.map, psn) + list_misses(state, psn) +
                              table_misses(state, psn);
        SIM_CHECK(maps <= 1);
        SIM_CHECK(maps == !nic__kept_has(kept, psn) || psn == kept->first_psn);
    }
    uint64_t pieces = 0;
    const uint32_t bits = state->open.bits;
    const uint32_t size = (uint32_t)nic__adamap_config(state)->cached;
    for (uint32_t i = 0; i < state->cached_count; i++) {
        pieces += (state->cached[(state->cached_first + i) % size].length + bits - 1) / bits;
    }
    uint32_t count = 0;
    const nic_knitting_t *const knitting = &nic__adamap_shared(state)->knitting;
    for (uint32_t block = state->chain.head; block != NIC_KNITTING_NONE; count++) {
        const nic_knitting_block_t *const at = nic__knitting_at(knitting, block);
        SIM_CHECK(at->used);
        pieces += (at->map.length + bits - 1) / bits;
        block = at->next;
    }
    SIM_CHECK(count == nic__chain_count(&state->chain));
    SIM_CHECK(state->arriving <= nic__chain_count(&state->chain));
    SIM_CHECK(pieces == state->list_pieces);
    nic__knitting_check(knitting);
}

#define COUNTER(field, help_)                                                                   \
    {                                                                                           \
        .name = #field, .help = help_, .offset = offsetof(nic_adamap_shared_t, counters.field), \
    }
const nic_counter_info_t nic__adamap_counter_infos[] = {
    COUNTER(nodes_closed, "maps closed"),
    COUNTER(requests, "requests for what a map misses, of all rounds"),
    COUNTER(prefetch_hits, "first retransmissions whose map was on the NIC"),
    COUNTER(prefetch_stalls, "first retransmissions whose map was still in the host"),
    COUNTER(prefetches, "reads of the next maps ahead of their use"),
    COUNTER(dma_reads, "reads of the knitting buffer"),
    COUNTER(dma_writes, "writes to it"),
    COUNTER(table_entries, "pieces of maps put into look-up tables"),
    COUNTER(table_hits, "entries found on the NIC"),
    COUNTER(duplicates, "packets that had come before"),
    COUNTER(late_dropped, "packets that no map knew"),
    COUNTER(no_block_dropped, "packets dropped for want of blocks"),
    COUNTER(probes, "time-outs of senders"),
    {.name = NULL},
};
