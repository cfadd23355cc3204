// SPDX-License-Identifier: Apache-2.0
// apps/workload/matrices/schedule.c - turns patterns into operations of ranks.
//
// The order is that of kvbench: first each pattern runs alone, then all of them in their order. A
// rank takes part in the patterns in which it sends or uses storage; these ranks meet in a barrier
// before each. Then each of them reads from storage, sleeps, sends to all its peers at once while
// it writes to storage, waits for both, and sleeps again. Ranks that only receive never wait.
// Receivers notify senders, since a send finishes when its message is handed to the NIC.
#include "apps/workload/matrices/matrices.h"
#include "apps/workload/matrices/tags.h"
#include "apps/workload/op_queue.h"

#include <string.h>

#define REQUEST_BYTES 64u

// The operations of a rank while they are collected.
typedef struct maker {
    app__dependency_t *order;
    size_t count;
    size_t capacity;
    uint32_t last; // operation after which the next pattern begins; APP__NO_OP: none
} maker_t;

typedef struct making {
    const app__patterns_t *patterns;
    const app__pattern_options_t *options;
    app__schedule_t *schedule;
    maker_t *makers; // by rank
    uint32_t *members;
    bool *marks; // of ranks, all false between uses
} making_t;

static uint32_t add(making_t *making, uint32_t rank, const app__op_t *op, uint32_t after)
{
    maker_t *const maker = &making->makers[rank];
    const uint32_t index = app__schedule_add(making->schedule, rank, op);
    if (after != APP__NO_OP) {
        SIM_APPEND(maker->order, maker->count, maker->capacity,
                   (app__dependency_t){.after = index, .before = after});
    }
    return index;
}

static void add_need(making_t *making, uint32_t rank, uint32_t index, uint32_t after)
{
    maker_t *const maker = &making->makers[rank];
    if (after != APP__NO_OP) {
        SIM_APPEND(maker->order, maker->count, maker->capacity,
                   (app__dependency_t){.after = index, .before = after});
    }
}

// Adds a message that one rank sends after an operation of its own. Returns its receive.
static uint32_t add_message(making_t *making, uint32_t from, uint32_t to, uint64_t bytes,
                            uint32_t tag, uint32_t after)
{
    const app__op_t send = {.type = APP__OP_SEND, .peer = to, .size = bytes, .tag = tag};
    const app__op_t recv = {.type = APP__OP_RECV, .peer = from, .size = bytes, .tag = tag};
    (void)add(making, from, &send, after);
    return add(making, to, &recv, APP__NO_OP);
}

// Adds a message and the peer's answer to it. Returns the receive of the answer.
static uint32_t add_exchange(making_t *making, uint32_t rank, uint32_t peer, uint64_t bytes,
                             uint32_t tag, uint64_t answer_bytes, uint32_t answer_tag,
                             uint32_t after)
{
    const uint32_t asked = add_message(making, rank, peer, bytes, tag, after);
    return add_message(making, peer, rank, answer_bytes, answer_tag, asked);
}

static uint32_t add_calc(making_t *making, uint32_t rank, uint64_t ns, uint8_t cpu, uint32_t after)
{
    const app__op_t op = {.type = APP__OP_CALC, .size = ns, .cpu = cpu};
    return add(making, rank, &op, after);
}

// -- who takes part

// Marks the ranks that send or use storage in a pattern.
static void mark_active(making_t *making, const app__pattern_t *pattern, bool storage)
{
    for (size_t i = 0; i < pattern->count; i++) {
        making->marks[pattern->transfers[i].source] = true;
    }
    for (size_t i = 0; i < pattern->stored_count && storage; i++) {
        making->marks[pattern->stored[i].rank] = true;
    }
}

// Puts the marked ranks into making->members, in order, and removes the marks.
static uint32_t take_marked(making_t *making)
{
    uint32_t count = 0;
    for (uint32_t r = 0; r < making->patterns->ranks; r++) {
        if (making->marks[r]) {
            making->members[count++] = r;
            making->marks[r] = false;
        }
    }
    return count;
}

// Returns the group of the first `count` members; equal groups are made once.
static uint32_t group_of(making_t *making, uint32_t count)
{
    const app__schedule_t *const schedule = making->schedule;
    for (uint32_t g = 0; g < schedule->group_count; g++) {
        if (schedule->groups[g].count == count &&
            memcmp(schedule->groups[g].ranks, making->members, count * sizeof(uint32_t)) == 0) {
            return g;
        }
    }
    return app__schedule_group(making->schedule, making->members, count);
}

// Lets the first `count` members wait for each other.
static void add_barrier(making_t *making, uint32_t count)
{
    if (count < 2) {
        return;
    }
    const app__call_t call = {.group = group_of(making, count), .kind = APP__COLL_BARRIER};
    const uint32_t made = app__schedule_call(making->schedule, &call);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t rank = making->members[i];
        const app__op_t op = {.type = APP__OP_COLL, .peer = made};
        making->makers[rank].last = add(making, rank, &op, making->makers[rank].last);
    }
}

// -- a pattern

static uint64_t storage_ns(const app__pattern_options_t *options, uint64_t bytes)
{
    return options->storage_ps / SIM_PS_PER_NS +
           (uint64_t)((double)bytes * 8e9 / (double)options->storage_bps + 0.5);
}

static uint32_t storage_rank(const making_t *making, uint32_t rank)
{
    return making->patterns->ranks + rank % (uint32_t)making->options->storage_ranks;
}

// Adds what a rank reads from storage before it sleeps.
static void add_read(making_t *making, const app__stored_t *stored, uint32_t phase)
{
    maker_t *const maker = &making->makers[stored->rank];
    if (stored->read_bytes == 0) {
        return;
    }
    if (making->options->storage_ranks == 0) {
        const uint64_t ns = storage_ns(making->options, stored->read_bytes);
        maker->last = add_calc(making, stored->rank, ns, 0, maker->last);
    } else {
        maker->last =
            add_exchange(making, stored->rank, storage_rank(making, stored->rank), REQUEST_BYTES,
                         app__kv_tag(phase, APP__KV_STORAGE_REQUEST), stored->read_bytes,
                         app__kv_tag(phase, APP__KV_STORAGE_READ), maker->last);
    }
}

// Adds what a rank writes to storage beside its transfers; `join` waits for it.
static void add_write(making_t *making, const app__stored_t *stored, uint32_t phase, uint32_t after,
                      uint32_t join)
{
    if (stored->write_bytes == 0) {
        return;
    }
    if (making->options->storage_ranks == 0) {
        const uint64_t ns = storage_ns(making->options, stored->write_bytes);
        add_need(making, stored->rank, join, add_calc(making, stored->rank, ns, 1, after));
    } else {
        const uint32_t done =
            add_exchange(making, stored->rank, storage_rank(making, stored->rank),
                         stored->write_bytes, app__kv_tag(phase, APP__KV_STORAGE_WRITE),
                         REQUEST_BYTES, app__kv_tag(phase, APP__KV_STORAGE_DONE), after);
        add_need(making, stored->rank, join, done);
    }
}

// Adds the transfers of a pattern; the joins of their ranks, in joins[], wait for them.
static void add_transfers(making_t *making, const app__pattern_t *pattern, uint32_t phase,
                          const uint32_t *starts, const uint32_t *joins)
{
    for (size_t i = 0; i < pattern->count; i++) {
        const app__transfer_t *const transfer = &pattern->transfers[i];
        const uint32_t rank = transfer->source;
        const uint32_t after = starts[rank];
        const bool reads = pattern->reads;
        const uint32_t done = add_exchange(
            making, rank, transfer->destination, reads ? REQUEST_BYTES : transfer->bytes,
            app__kv_tag(phase, reads ? APP__KV_REQUEST : APP__KV_WRITE),
            reads ? transfer->bytes : REQUEST_BYTES,
            app__kv_tag(phase, reads ? APP__KV_READ : APP__KV_DONE), after);
        add_need(making, rank, joins[rank], done);
    }
}

// Adds a pattern to its ranks, the first `count` members. `whole`: with storage and sleeps.
static void add_pattern(making_t *making, const app__pattern_t *pattern, uint32_t phase,
                        uint32_t count, bool whole, uint32_t *starts, uint32_t *joins)
{
    for (size_t i = 0; i < pattern->stored_count && whole; i++) {
        add_read(making, &pattern->stored[i], phase);
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t rank = making->members[i];
        maker_t *const maker = &making->makers[rank];
        if (whole && pattern->before_ns > 0) {
            maker->last = add_calc(making, rank, pattern->before_ns, 0, maker->last);
        }
        starts[rank] = maker->last;
        joins[rank] = add_calc(making, rank, whole ? pattern->after_ns : 0, 0, maker->last);
        maker->last = joins[rank];
    }
    add_transfers(making, pattern, phase, starts, joins);
    for (size_t i = 0; i < pattern->stored_count && whole; i++) {
        const uint32_t rank = pattern->stored[i].rank;
        add_write(making, &pattern->stored[i], phase, starts[rank], joins[rank]);
    }
}

// Adds every pattern once, alone or as a workload.
static void add_round(making_t *making, uint32_t round, bool whole, uint32_t *starts,
                      uint32_t *joins)
{
    const app__patterns_t *const patterns = making->patterns;
    for (size_t p = 0; p < patterns->count; p++) {
        const app__pattern_t *const pattern = &patterns->list[p];
        if (!whole && p > 0) { // alone: after all ranks of the pattern before
            mark_active(making, &patterns->list[p - 1], false);
        }
        mark_active(making, pattern, whole);
        add_barrier(making, take_marked(making));
        mark_active(making, pattern, whole);
        const uint32_t count = take_marked(making);
        const uint32_t phase = (uint32_t)(round * patterns->count + p);
        add_pattern(making, pattern, phase, count, whole, starts, joins);
    }
    for (size_t p = 0; p < patterns->count; p++) {
        mark_active(making, &patterns->list[p], true);
    }
    add_barrier(making, take_marked(making));
}

app__schedule_t *app__patterns_schedule(const app__patterns_t *patterns,
                                        const app__pattern_options_t *options)
{
    const uint32_t ranks = patterns->ranks + (uint32_t)options->storage_ranks;
    making_t making = {
        .patterns = patterns,
        .options = options,
        .schedule = app__schedule_create(ranks),
        .makers = sim_alloc_array(ranks, sizeof(maker_t)),
        .members = sim_alloc_array(ranks, sizeof(uint32_t)),
        .marks = sim_alloc_array(ranks, sizeof(bool)),
    };
    uint32_t *const starts = sim_alloc_array(ranks, sizeof(*starts));
    uint32_t *const joins = sim_alloc_array(ranks, sizeof(*joins));
    for (uint32_t r = 0; r < ranks; r++) {
        making.makers[r].last = APP__NO_OP;
    }
    const uint32_t isolated = (uint32_t)options->isolated;
    for (uint32_t i = 0; i < isolated + options->iterations; i++) {
        add_round(&making, i, i >= isolated, starts, joins);
    }
    app__schedule_fact(making.schedule, "patterns", patterns->count);
    app__schedule_fact(making.schedule, "isolated", options->isolated);
    app__schedule_fact(making.schedule, "iterations", options->iterations);
    for (uint32_t r = 0; r < ranks; r++) {
        app__schedule_order(making.schedule, r, making.makers[r].order, making.makers[r].count);
        sim_free(making.makers[r].order);
    }
    app__schedule_finish(making.schedule);
    SIM_FREE_ALL(joins, starts, making.marks, making.members, making.makers);
    return making.schedule;
}
