// SPDX-License-Identifier: Apache-2.0
// nic/transport/adamap/check.c - invariants between events, and the NIC's counters by name.
#include "nic/transport/adamap/list_internal.h"

#include "nic/objects/qp.h"

#define LOOK_MAX 2048u // a longer stretch is looked at in part

static bool misses(const nic_adamap_t *map, uint64_t psn)
{
    const uint64_t offset = psn - map->first_psn;
    return nic__adamap_covers(map, psn) &&
           (offset >= NIC_ADAMAP_BITS_MAX || !nic__adamap_has(map, (uint32_t)offset));
}

// Calls fn for each map of the list: on the NIC, in blocks, and on their way to the core.
typedef void (*map_fn)(const nic_adamap_state_t *state, const nic_adamap_t *map, void *ctx);
static void for_each_map(const nic_adamap_state_t *state, map_fn fn, void *ctx)
{
    for (uint32_t i = 0; i < state->cached_count; i++) {
        fn(state, nic__list_at(state, i), ctx);
    }
    const nic_adamap_shared_t *const shared = nic__adamap_shared(state);
    const nic_knitting_t *const knitting = &shared->knitting;
    bool on_nic = state->peeked;
    for (uint32_t block = state->chain.head; block != NIC_KNITTING_NONE;
         block = nic__knitting_next(knitting, block)) {
        SIM_CHECK(nic__knitting_is_used(knitting, block));
        if (!on_nic) {
            const nic_adamap_t map =
                nic__knitting_read(knitting, block, state->kept.first_psn, nic__adamap_now(state));
            fn(state, &map, ctx);
        }
        on_nic = false;
    }
    for (uint64_t i = shared->task_first; i != shared->task_end; i++) {
        const nic_adamap_task_t *const task = &shared->tasks[i & (shared->task_capacity - 1)];
        if (task->state == state && task->kind == NIC_ADAMAP_INSERT) {
            fn(state, &task->map, ctx);
        }
    }
}

// How many maps miss each of the packets that are looked at.
typedef struct look {
    uint64_t begin_psn;
    uint64_t end_psn;
    uint8_t maps_missing[LOOK_MAX];
    uint64_t maps;
    uint64_t pieces;
} look_t;

static void mark(look_t *look, const nic_adamap_t *map)
{
    const uint64_t map_end = map->first_psn + map->length;
    const uint64_t end = SIM_MIN(map_end, look->end_psn);
    uint64_t psn = SIM_MAX(map->first_psn, look->begin_psn);
    for (; psn < end; psn++) {
        look->maps_missing[psn - look->begin_psn] += misses(map, psn);
    }
}

static void add_map(const nic_adamap_state_t *state, const nic_adamap_t *map, void *ctx)
{
    look_t *const look = ctx;
    look->maps++;
    look->pieces += nic__list_pieces(state, map);
    mark(look, map);
}

// Checks that every missing packet is in exactly one map, except the expected packet, which may
// have been refused when it came; and that blocks add up.
void nic__adamap_check(const nic_qp_t *qp)
{
    const nic_adamap_state_t *const state =
        (const nic_adamap_state_t *)(const void *)nic_transport_of_const(qp);
    const nic_early_t *const kept = &state->kept;
    SIM_CHECK(kept->first_psn == qp->expected_psn);
    look_t look = {
        .begin_psn =
            kept->end_psn - kept->first_psn > LOOK_MAX ? kept->end_psn - LOOK_MAX : kept->first_psn,
        .end_psn = kept->end_psn,
    };
    for_each_map(state, add_map, &look);
    SIM_CHECK(look.maps == nic__adamap_list_count(state));
    SIM_CHECK(look.pieces == state->list_pieces);
    mark(&look, &state->open.map);
    for (uint32_t i = state->entry_first; i != state->entry_end; i++) {
        const nic_adamap_entry_t *const entry = nic__adamap_entry(state, i);
        if (entry->live) {
            mark(&look, &entry->map);
        }
    }
    for (uint64_t psn = look.begin_psn; psn < look.end_psn; psn++) {
        const uint8_t maps = look.maps_missing[psn - look.begin_psn];
        SIM_CHECK(maps <= 1);
        SIM_CHECK(maps == !nic__early_has(kept, psn) || psn == kept->first_psn);
    }
    SIM_CHECK(state->arriving <= nic__chain_count(&state->chain));
    SIM_CHECK(!state->peeked || state->cached_count > 0 || state->polling || state->asked != 0 ||
              nic__chain_count(&state->chain) > 1);
    nic__knitting_check(&nic__adamap_shared(state)->knitting);
}

#define COUNTER(field_, help_)                                          \
    {                                                                   \
        .name = #field_, .help = help_,                                 \
        .field.offset = offsetof(nic_adamap_shared_t, counters.field_), \
    }
const nic_counter_info_t nic__adamap_counter_infos[] = {
    COUNTER(nodes_closed, "maps closed"),
    COUNTER(requests, "requests for what a map misses, of all rounds"),
    COUNTER(prefetch_hits, "number of first retransmissions whose map was on the NIC"),
    COUNTER(prefetch_stalls, "number of first retransmissions whose map was still in the host"),
    COUNTER(prefetches, "reads of the next maps ahead of their use"),
    COUNTER(dma_reads, "reads of the knitting buffer"),
    COUNTER(dma_writes, "writes to it"),
    COUNTER(table_entries, "pieces of maps put into look-up tables"),
    COUNTER(table_hits, "entries found on the NIC"),
    COUNTER(duplicates, "packets that had come before"),
    COUNTER(late_dropped, "packets that no map knew"),
    COUNTER(no_block_dropped, "packets dropped for want of blocks"),
    COUNTER(resend_entries_max, "stretches that a queue pair kept to send again, at most"),
    COUNTER(resend_refused, "packets that a full queue of retransmissions left out"),
    COUNTER(late_max, "requests of a queue pair that waited for their maps to be stored, at most"),
    COUNTER(late_refused, "requests that were left out because too many waited"),
    COUNTER(rereads, "reads of a block's word that named no next block yet"),
    COUNTER(waiting_max, "packets that waited for maps or entries at the same time, at most"),
    {.name = "blocks_refused",
     .help = "times that a block was needed and none was left",
     .field.offset = offsetof(nic_adamap_shared_t, knitting.refused)},
    {.name = "chunks_grown",
     .help = "number of chunks by which the knitting buffer grew",
     .field.offset = offsetof(nic_adamap_shared_t, knitting.grown)},
    {.name = "chunks_shrunk",
     .help = "number of chunks that the knitting buffer gave back",
     .field.offset = offsetof(nic_adamap_shared_t, knitting.shrunk)},
    {.name = "pipeline_waited",
     .help = "number of packets that arrived while the receive pipeline stood",
     .field.offset = offsetof(nic_adamap_shared_t, gate.waited)},
    {.name = "pipeline_stood_ps",
     .help = "time for which the receive pipeline stood, in picoseconds",
     .field.offset = offsetof(nic_adamap_shared_t, gate.held_ps)},
    {.name = "pipeline_pauses",
     .help = "times that the NIC paused its link because its pipeline stood",
     .field.offset = offsetof(nic_adamap_shared_t, gate.pauses)},
    COUNTER(probes, "time-outs of senders"),
    {.name = NULL},
};
