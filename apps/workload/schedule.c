// SPDX-License-Identifier: Apache-2.0
// apps/workload/schedule.c - builds schedules, orders their operations, and counts them.
#include "apps/workload/schedule.h"
#include "apps/workload/ideal/loggp.h"

#include <stdlib.h>
#include <string.h>

app__schedule_t *app__schedule_create(uint32_t rank_count)
{
    app__schedule_t *const schedule = sim_alloc(sizeof(*schedule));
    schedule->rank_count = rank_count;
    schedule->ranks = sim_alloc_array((size_t)rank_count + 1, sizeof(*schedule->ranks));
    return schedule;
}

void app__schedule_destroy(app__schedule_t *schedule)
{
    if (schedule == NULL) {
        return;
    }
    for (uint32_t i = 0; i < schedule->rank_count; i++) {
        if (schedule->ranks[i].peers == NULL) {
            sim_free(schedule->ranks[i].ops);
            sim_free(schedule->ranks[i].next);
        }
        sim_free(schedule->ranks[i].peers);
    }
    for (size_t i = 0; i < schedule->group_count; i++) {
        sim_free(schedule->groups[i].ranks);
    }
    sim_free_each(schedule->kept, schedule->kept_count);
    sim_free_each(schedule->notes, schedule->note_count);
    SIM_FREE_ALL(schedule->groups, schedule->calls, schedule->kept, schedule->notes);
    for (size_t i = 0; i < schedule->fact_count; i++) {
        sim_free(schedule->facts[i].text);
    }
    sim_free(schedule->facts);
    app__schedule_destroy(schedule->typical);
    SIM_FREE_ALL(schedule->typical_of, schedule->refusal, schedule->flaw, schedule->ranks,
                 schedule->absent_rank, schedule);
}

uint32_t app__schedule_add(app__schedule_t *schedule, uint32_t rank, const app__op_t *op)
{
    SIM_CHECK(rank < schedule->rank_count);
    app__rank_ops_t *const ops = &schedule->ranks[rank];
    size_t capacity = ops->capacity;
    SIM_GROW(ops->ops, ops->count, &capacity);
    ops->capacity = (uint32_t)capacity;
    ops->ops[ops->count] = *op;
    return ops->count++;
}

void app__schedule_share(app__schedule_t *schedule, uint32_t rank, uint32_t owner, uint32_t *peers)
{
    app__rank_ops_t *const ops = &schedule->ranks[rank];
    SIM_CHECK(ops->ops == NULL && peers != NULL && schedule->ranks[owner].peers == NULL);
    *ops = schedule->ranks[owner];
    ops->peers = peers;
}

uint32_t app__schedule_group(app__schedule_t *schedule, const uint32_t *ranks, uint32_t count)
{
    app__group_t group = {sim_alloc_array((size_t)count + 1, sizeof(*group.ranks)), count};
    for (uint32_t i = 0; i < count; i++) {
        SIM_CHECK(ranks[i] < schedule->rank_count);
        group.ranks[i] = ranks[i];
    }
    SIM_GROW(schedule->groups, schedule->group_count, &schedule->group_capacity);
    schedule->groups[schedule->group_count] = group;
    return (uint32_t)schedule->group_count++;
}

uint32_t app__schedule_call(app__schedule_t *schedule, const app__call_t *call)
{
    SIM_CHECK(call->group < schedule->group_count && call->kind < APP__COLL_COUNT);
    SIM_GROW(schedule->calls, schedule->call_count, &schedule->call_capacity);
    schedule->calls[schedule->call_count] = *call;
    return (uint32_t)schedule->call_count++;
}

void *app__schedule_keep(app__schedule_t *schedule, void *block)
{
    SIM_APPEND(schedule->kept, schedule->kept_count, schedule->kept_capacity, block);
    return block;
}

void app__schedule_note(app__schedule_t *schedule, char *text)
{
    SIM_APPEND(schedule->notes, schedule->note_count, schedule->note_capacity, text);
}

static void add_fact(app__schedule_t *schedule, const app__fact_t *fact)
{
    SIM_APPEND(schedule->facts, schedule->fact_count, schedule->fact_capacity, *fact);
}

void app__schedule_fact(app__schedule_t *schedule, const char *name, uint64_t number)
{
    const app__fact_t fact = {.name = name, .number = number};
    add_fact(schedule, &fact);
}

void app__schedule_fact_text(app__schedule_t *schedule, const char *name, char *text)
{
    const app__fact_t fact = {.name = name, .text = text};
    add_fact(schedule, &fact);
}

void app__schedule_refuse(app__schedule_t *schedule, char *text)
{
    SIM_CHECK(schedule->refusal == NULL);
    schedule->refusal = text;
}

const char *app__dimension_name(app__dimension_t dimension)
{
    static const char *const names[APP__DIM_COUNT] = {
        [APP__DIM_NONE] = "none",   [APP__DIM_TP] = "tp", [APP__DIM_PP] = "pp",
        [APP__DIM_DP] = "dp",       [APP__DIM_EP] = "ep", [APP__DIM_CP] = "cp",
        [APP__DIM_DP_EP] = "dp-ep",
    };
    SIM_CHECK(dimension < APP__DIM_COUNT);
    return names[dimension];
}

const char *app__coll_kind_name(app__coll_kind_t kind)
{
    static const char *const names[APP__COLL_COUNT] = {
        [APP__COLL_ALL_REDUCE] = "all-reduce", [APP__COLL_REDUCE_SCATTER] = "reduce-scatter",
        [APP__COLL_ALL_GATHER] = "all-gather", [APP__COLL_BROADCAST] = "broadcast",
        [APP__COLL_REDUCE] = "reduce",         [APP__COLL_ALL_TO_ALL] = "all-to-all",
        [APP__COLL_BARRIER] = "barrier",
    };
    SIM_CHECK(kind < APP__COLL_COUNT);
    return names[kind];
}

void app__schedule_order(app__schedule_t *schedule, uint32_t rank, const app__dependency_t *list,
                         size_t count)
{
    app__rank_ops_t *const ops = &schedule->ranks[rank];
    SIM_CHECK(ops->next == NULL);
    ops->next = sim_alloc_array(count + 1, sizeof(*ops->next));
    ops->next_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        SIM_CHECK(list[i].before < ops->count && list[i].after < ops->count);
        app__op_t *const before = &ops->ops[list[i].before];
        *(list[i].started ? &before->irequired_count : &before->required_count) += 1;
        ops->ops[list[i].after].needs++;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < ops->count; i++) {
        app__op_t *const op = &ops->ops[i];
        op->required_first = at;
        op->irequired_first = at + op->required_count;
        at = op->irequired_first + op->irequired_count;
        op->required_count = 0; // counted again below
        op->irequired_count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        app__op_t *const before = &ops->ops[list[i].before];
        const uint32_t place = list[i].started ? before->irequired_first + before->irequired_count++
                                               : before->required_first + before->required_count++;
        ops->next[place] = list[i].after;
    }
}

// -- counting

// A message or a receive with one source, destination and tag; sorted to find partners.
typedef struct half {
    uint32_t source;
    uint32_t destination;
    uint32_t tag;
    bool sends;
    uint64_t op; // number among the operations of all ranks
} half_t;

static int compare(const void *a, const void *b)
{
    const half_t *const one = a;
    const half_t *const two = b;
    const uint64_t keys[5][2] = {{one->destination, two->destination},
                                 {one->source, two->source},
                                 {one->tag, two->tag},
                                 {one->sends, two->sends},
                                 {one->op, two->op}};
    for (size_t i = 0; i < SIM_COUNT_OF(keys); i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return 0;
}

static void count_op(app__schedule_counts_t *counts, const app__op_t *op)
{
    counts->sends += op->type == APP__OP_SEND;
    counts->recvs += op->type == APP__OP_RECV;
    counts->calcs += op->type == APP__OP_CALC;
    counts->colls += op->type == APP__OP_COLL;
    counts->bytes += op->type == APP__OP_SEND ? op->size : 0;
    counts->calc_ns += op->type == APP__OP_CALC ? op->size : 0;
    counts->requires += op->required_count;
    counts->irequires += op->irequired_count;
    counts->cpu_max = SIM_MAX(op->cpu, counts->cpu_max);
    counts->nic_max = SIM_MAX(op->nic, counts->nic_max);
}

// The operations of all ranks as one graph.
typedef struct graph {
    const app__schedule_t *schedule;
    uint64_t *base;     // per rank: number of its first operation
    uint64_t *receiver; // per operation: 1 + the receive that gets a send's message; 0: unknown
    uint32_t *left;     // per operation: those that it waits for
    uint32_t *depth;
    bool *taken;      // per operation: a receive with a wildcard has its message
    bool *reached;    // per operation: it can end
    uint32_t *absent; // per call: ranks of the group that have not called
    uint64_t *caller; // per call: 1 + the last operation that called; 0: none
    uint64_t *other;  // per operation: 1 + the one that called before it; 0: none
    uint64_t count;
    uint64_t mismatches; // messages and receives of different sizes
    // -- to find the longest path
    const app__loggp_t *loggp; // NULL: paths have no times
    const sim_time_t *call_ps; // per call
    sim_time_t *time_ps;       // per operation: when it can start
    sim_time_t end_ps;
} graph_t;

static uint64_t size_of(const graph_t *graph, uint32_t rank, uint64_t number)
{
    return graph->schedule->ranks[rank].ops[number - graph->base[rank]].size;
}

static void join(graph_t *graph, const half_t *send, const half_t *receive)
{
    graph->receiver[send->op] = receive->op + 1;
    graph->left[receive->op]++;
    graph->mismatches +=
        size_of(graph, send->source, send->op) != size_of(graph, receive->destination, receive->op);
}

// Pairs the messages of one source, destination and tag with their receives, in their order.
// Returns how many pairs there are.
static size_t pair_exactly(graph_t *graph, const half_t *halves, size_t receives, size_t count)
{
    size_t pairs = 0;
    while (pairs < receives && receives + pairs < count) {
        join(graph, &halves[receives + pairs], &halves[pairs]);
        pairs++;
    }
    return pairs;
}

static bool has_wildcard(const half_t *half)
{
    return half->source == APP__ANY || half->tag == APP__ANY;
}

// Finds a receive with a wildcard for a message that is left over. The receives of its rank stand
// anywhere among the halves of the rank.
static bool pair_with_wildcard(graph_t *graph, const half_t *halves, size_t begin, size_t end,
                               const half_t *send)
{
    for (size_t i = begin; i < end; i++) {
        const half_t *const receive = &halves[i];
        if (!receive->sends && has_wildcard(receive) && !graph->taken[receive->op] &&
            (receive->source == APP__ANY || receive->source == send->source) &&
            (receive->tag == APP__ANY || receive->tag == send->tag)) {
            graph->taken[receive->op] = true;
            join(graph, send, receive);
            return true;
        }
    }
    return false;
}

// Pairs the messages to one rank with its receives: by exact source and tag first; what is left
// over meets receives with wildcards.
static void match_rank(graph_t *graph, app__schedule_counts_t *counts, const half_t *halves,
                       size_t begin, size_t end)
{
    uint64_t wildcards = 0;
    for (size_t i = begin; i < end;) {
        const half_t first = halves[i];
        const size_t from = i;
        size_t receives = 0;
        for (; i < end && halves[i].source == first.source && halves[i].tag == first.tag; i++) {
            receives += !halves[i].sends;
        }
        if (has_wildcard(&first)) {
            wildcards += receives;
            continue;
        }
        const size_t pairs = pair_exactly(graph, halves + from, receives, i - from);
        counts->unmatched_recvs += receives - pairs;
    }
    for (size_t i = begin; i < end; i++) {
        if (!halves[i].sends || graph->receiver[halves[i].op] != 0) {
            continue;
        }
        if (wildcards > 0 && pair_with_wildcard(graph, halves, begin, end, &halves[i])) {
            wildcards--;
        } else {
            counts->unmatched_sends++;
        }
    }
    counts->unmatched_recvs += wildcards;
}

static void match_halves(graph_t *graph, app__schedule_counts_t *counts, half_t *halves,
                         size_t count)
{
    qsort(halves, count, sizeof(*halves), compare);
    for (size_t begin = 0; begin < count;) {
        size_t end = begin;
        while (end < count && halves[end].destination == halves[begin].destination) {
            end++;
        }
        match_rank(graph, counts, halves, begin, end);
        begin = end;
    }
}

// Collects the messages and the receives of all ranks, and pairs them.
static void match_all(graph_t *graph, app__schedule_counts_t *counts)
{
    const app__schedule_t *const schedule = graph->schedule;
    half_t *const halves =
        sim_alloc_array((size_t)(counts->sends + counts->recvs) + 1, sizeof(*halves));
    size_t count = 0;
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        for (uint32_t i = 0; i < schedule->ranks[r].count; i++) {
            const app__op_t *const op = &schedule->ranks[r].ops[i];
            const uint64_t number = graph->base[r] + i;
            if (op->type == APP__OP_SEND) {
                const uint32_t peer = app__peer_of(&schedule->ranks[r], op);
                halves[count++] = (half_t){r, peer, op->tag, true, number};
            } else if (op->type == APP__OP_RECV) {
                const uint32_t peer = app__peer_of(&schedule->ranks[r], op);
                halves[count++] = (half_t){peer, r, op->tag, false, number};
            }
        }
    }
    match_halves(graph, counts, halves, count);
    sim_free(halves);
}

// Returns the rank that has an operation.
static uint32_t rank_of(const graph_t *graph, uint64_t op)
{
    uint32_t low = 0;
    uint32_t high = graph->schedule->rank_count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (graph->base[middle] <= op) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// A walk through the graph in an order that the operations allow.
typedef struct walk {
    graph_t *graph;
    uint64_t *ready;
    uint64_t filled;
} walk_t;

static void release(walk_t *walk, uint64_t before, uint64_t after, sim_time_t time_ps)
{
    graph_t *const graph = walk->graph;
    SIM_CHECK(after < graph->count && graph->left[after] > 0);
    if (graph->depth[before] > graph->depth[after]) {
        graph->depth[after] = graph->depth[before];
    }
    if (graph->loggp != NULL && time_ps > graph->time_ps[after]) {
        graph->time_ps[after] = time_ps;
    }
    if (--graph->left[after] == 0) {
        walk->ready[walk->filled++] = after;
    }
}

// Returns when an operation that starts at start_ps finishes if nothing is in its way.
static sim_time_t finish_of(const graph_t *graph, const app__op_t *op, sim_time_t start_ps)
{
    const app__loggp_t *const loggp = graph->loggp;
    switch (op->type) {
    case APP__OP_CALC:
        return start_ps + app__calc_ps(op->size, &loggp->calc_scale);
    case APP__OP_SEND:
        return start_ps + loggp->send_ps;
    case APP__OP_COLL:
        return start_ps + graph->call_ps[op->peer]; // typical ranks have peers of their own
    default:
        return start_ps; // a message has cost its receiver already, also if no receive was there
    }
}

// Releases what waits in its rank for an operation. Returns when the operation finishes.
static sim_time_t release_all(walk_t *walk, uint64_t number, uint32_t rank)
{
    graph_t *const graph = walk->graph;
    const app__rank_ops_t *const ops = &graph->schedule->ranks[rank];
    const app__op_t *const op = &ops->ops[number - graph->base[rank]];
    const uint32_t followers = op->required_count + op->irequired_count;
    const bool timed = graph->loggp != NULL;
    graph->reached[number] = true;
    const sim_time_t start_ps = timed ? graph->time_ps[number] : 0;
    const sim_time_t finish_ps = timed ? finish_of(graph, op, start_ps) : 0;
    for (uint32_t i = 0; i < followers; i++) {
        const uint64_t after = graph->base[rank] + ops->next[op->required_first + i];
        release(walk, number, after, i < op->required_count ? finish_ps : start_ps);
    }
    graph->end_ps = SIM_MAX(finish_ps, graph->end_ps);
    return finish_ps;
}

// Notes that a rank calls a collective. The last of its group releases what waits for any of them:
// their chains all go through the call.
static void visit_call(walk_t *walk, uint64_t number, uint32_t call)
{
    graph_t *const graph = walk->graph;
    uint32_t depth = 0;
    sim_time_t last_ps = 0;
    SIM_CHECK(graph->absent[call] > 0);
    graph->other[number] = graph->caller[call];
    graph->caller[call] = number + 1;
    if (--graph->absent[call] > 0) {
        return;
    }
    for (uint64_t at = graph->caller[call]; at != 0; at = graph->other[at - 1]) {
        depth = SIM_MAX(graph->depth[at - 1], depth);
        if (graph->loggp != NULL && graph->time_ps[at - 1] > last_ps) {
            last_ps = graph->time_ps[at - 1];
        }
    }
    for (uint64_t at = graph->caller[call]; at != 0; at = graph->other[at - 1]) {
        graph->depth[at - 1] = depth + 1;
        if (graph->loggp != NULL) {
            graph->time_ps[at - 1] = last_ps;
        }
        (void)release_all(walk, at - 1, rank_of(graph, at - 1));
    }
}

static void visit(walk_t *walk, uint64_t number)
{
    graph_t *const graph = walk->graph;
    const uint32_t rank = rank_of(graph, number);
    const app__op_t *const op = &graph->schedule->ranks[rank].ops[number - graph->base[rank]];
    if (op->type == APP__OP_COLL) {
        visit_call(walk, number, op->peer);
        return;
    }
    graph->depth[number] += op->type != APP__OP_RECV; // a message and its receive count once
    const sim_time_t finish_ps = release_all(walk, number, rank);
    if (graph->receiver[number] != 0) {
        const app__loggp_t *const loggp = graph->loggp;
        sim_time_t flight_ps = 0;
        if (loggp != NULL) {
            const uint32_t receiver = rank_of(graph, graph->receiver[number] - 1);
            const bool near = app__are_near(loggp, rank, receiver);
            flight_ps = app__latency_ps(loggp, near) + app__byte_gaps_ps(loggp, op->size, near) +
                        loggp->recv_ps;
        }
        release(walk, number, graph->receiver[number] - 1, finish_ps + flight_ps);
    }
}

// Walks through all operations; returns how many it could reach, and the longest chain.
static uint64_t walk_all(graph_t *graph, uint32_t *depth)
{
    walk_t walk = {graph, sim_alloc_array((size_t)graph->count + 1, sizeof(*walk.ready)), 0};
    for (uint64_t i = 0; i < graph->count; i++) {
        if (graph->left[i] == 0) {
            walk.ready[walk.filled++] = i;
        }
    }
    uint64_t at = 0;
    for (; at < walk.filled; at++) {
        visit(&walk, walk.ready[at]);
    }
    for (size_t i = 0; i < graph->schedule->call_count; i++) {
        const uint32_t count = graph->schedule->groups[graph->schedule->calls[i].group].count;
        at -= graph->absent[i] > 0 ? count - graph->absent[i] : 0; // called, without an end
    }
    for (uint64_t i = 0; i < graph->count; i++) {
        *depth = SIM_MAX(graph->depth[i], *depth);
    }
    sim_free(walk.ready);
    return at;
}

static void graph_init(graph_t *graph, const app__schedule_t *schedule)
{
    *graph = (graph_t){.schedule = schedule};
    graph->base = sim_alloc_array((size_t)schedule->rank_count + 1, sizeof(*graph->base));
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        graph->base[r] = graph->count;
        graph->count += schedule->ranks[r].count;
    }
    graph->receiver = sim_alloc_array((size_t)graph->count + 1, sizeof(*graph->receiver));
    graph->left = sim_alloc_array((size_t)graph->count + 1, sizeof(*graph->left));
    graph->depth = sim_alloc_array((size_t)graph->count + 1, sizeof(*graph->depth));
    graph->taken = sim_alloc_array((size_t)graph->count + 1, sizeof(*graph->taken));
    graph->reached = sim_alloc_array((size_t)graph->count + 1, sizeof(*graph->reached));
    graph->other = sim_alloc_array((size_t)graph->count + 1, sizeof(*graph->other));
    graph->absent = sim_alloc_array(schedule->call_count + 1, sizeof(*graph->absent));
    graph->caller = sim_alloc_array(schedule->call_count + 1, sizeof(*graph->caller));
    for (size_t i = 0; i < schedule->call_count; i++) {
        graph->absent[i] = schedule->groups[schedule->calls[i].group].count;
    }
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        for (uint32_t i = 0; i < schedule->ranks[r].count; i++) {
            graph->left[graph->base[r] + i] = schedule->ranks[r].ops[i].needs;
        }
    }
}

static void graph_fini(graph_t *graph)
{
    SIM_FREE_ALL(graph->base, graph->receiver, graph->left, graph->depth, graph->taken,
                 graph->reached, graph->other, graph->absent, graph->caller);
}

// Fills the counts from those of the typical ranks.
static void finish_alike(app__schedule_t *schedule)
{
    app__schedule_finish(schedule->typical);
    schedule->counts = schedule->typical->counts;
    app__schedule_counts_t *const counts = &schedule->counts;
    uint64_t *const sums[] = {
        &counts->sends,           &counts->recvs,           &counts->calcs,
        &counts->colls,           &counts->bytes,           &counts->calc_ns,
        &counts->requires,        &counts->irequires,       &counts->unmatched_sends,
        &counts->unmatched_recvs, &counts->size_mismatches, &counts->stuck};
    for (size_t i = 0; i < SIM_COUNT_OF(sums); i++) {
        *sums[i] *= schedule->alike;
    }
}

void app__schedule_finish(app__schedule_t *schedule)
{
    app__schedule_counts_t *const counts = &schedule->counts;
    graph_t graph;
    if (schedule->typical != NULL) {
        finish_alike(schedule);
        return;
    }
    *counts = (app__schedule_counts_t){.sends = 0};
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        for (uint32_t i = 0; i < schedule->ranks[r].count; i++) {
            count_op(counts, &schedule->ranks[r].ops[i]);
        }
    }
    graph_init(&graph, schedule);
    match_all(&graph, counts);
    counts->size_mismatches = graph.mismatches;
    counts->stuck = graph.count - walk_all(&graph, &counts->depth);
    graph_fini(&graph);
}

sim_time_t app__schedule_path_ps(const app__schedule_t *schedule, const app__loggp_t *loggp,
                                 const sim_time_t *call_ps)
{
    graph_t graph;
    app__schedule_counts_t counts = schedule->counts;
    uint32_t depth = 0;
    SIM_CHECK(schedule->typical == NULL);
    graph_init(&graph, schedule);
    graph.loggp = loggp;
    graph.call_ps = call_ps;
    graph.time_ps = sim_alloc_array((size_t)graph.count + 1, sizeof(*graph.time_ps));
    match_all(&graph, &counts);
    (void)walk_all(&graph, &depth);
    sim_free(graph.time_ps);
    graph_fini(&graph);
    return graph.end_ps;
}

// -- what cannot come to an end

static char *number_or_any(uint32_t number, const char *before)
{
    return number == APP__ANY ? sim_format(" any%s", before) : sim_format("%s %u", before, number);
}

// Returns a message or a receive in words. The caller frees the text.
static char *half_text(const app__op_t *op)
{
    const bool sends = op->type == APP__OP_SEND;
    char *const peer = number_or_any(op->peer, " rank");
    char *const tag = number_or_any(op->tag, " tag");
    char *const text =
        sim_format("the %s of %" PRIu64 " bytes %s%s with%s", sends ? "send" : "receive", op->size,
                   sends ? "to" : "from", peer, tag);
    sim_free(tag);
    sim_free(peer);
    return text;
}

// Returns what is wrong with an operation; NULL: nothing. The caller frees the text.
static char *trouble_of(const graph_t *graph, uint32_t rank, uint32_t at, bool first)
{
    const app__schedule_t *const schedule = graph->schedule;
    const app__op_t *const op = &schedule->ranks[rank].ops[at];
    const uint64_t number = graph->base[rank] + at;
    const bool sends = op->type == APP__OP_SEND;
    const bool alone =
        sends ? graph->receiver[number] == 0 : op->type == APP__OP_RECV && !graph->taken[number];
    if (!alone && (graph->reached[number] || !first)) {
        return NULL;
    }
    char *const what =
        sends || op->type == APP__OP_RECV ? half_text(op)
        : op->type == APP__OP_CALC
            ? sim_strdup("a computation")
            : sim_strdup(app__coll_kind_name((app__coll_kind_t)schedule->calls[op->peer].kind));
    char *const text = sim_format("rank %u, operation %u: %s %s", rank, at, what,
                                  !alone  ? "waits for what never comes"
                                  : sends ? "has no receive"
                                          : "has no send");
    sim_free(what);
    return text;
}

void app__schedule_print_problems(const app__schedule_t *schedule, uint32_t most,
                                  void (*tell)(const char *text, void *ctx), void *ctx)
{
    graph_t graph;
    app__schedule_counts_t counts = schedule->counts;
    uint32_t depth = 0;
    uint32_t told = 0;
    SIM_CHECK(schedule->typical == NULL);
    graph_init(&graph, schedule);
    match_all(&graph, &counts);
    (void)walk_all(&graph, &depth);
    for (uint64_t i = 0; i < graph.count; i++) {
        if (graph.receiver[i] != 0) {
            graph.taken[graph.receiver[i] - 1] = true;
        }
    }
    for (uint32_t r = 0; r < schedule->rank_count && told < most; r++) {
        bool first = true; // the first of a rank that waits: the others wait for it
        for (uint32_t i = 0; i < schedule->ranks[r].count && told < most; i++) {
            char *const text = trouble_of(&graph, r, i, first);
            if (text != NULL) {
                tell(text, ctx);
                told++;
                first = first && graph.reached[graph.base[r] + i];
            }
            sim_free(text);
        }
    }
    graph_fini(&graph);
}
