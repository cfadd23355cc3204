// SPDX-License-Identifier: Apache-2.0
// apps/workload/results/exposed.c - measures computation and exposed communication of the ranks.
//
// The time of a rank between two computations is exposed. Walking back from the second computation
// over the predecessors that ended last, each part of that time belongs to the operation that ran
// then: a collective from its call to its result, a receive from its posting to its message.
#include "apps/workload/results/exposed.h"
#include "apps/workload/op_queue.h"
#include "apps/workload/rank.h"

#include <stdlib.h>

bool app__has_dimensions(const app__schedule_t *schedule)
{
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        const app__rank_ops_t *const ops = &schedule->ranks[r];
        for (uint32_t i = 0; i < ops->count; i++) {
            if (ops->ops[i].dimension != APP__DIM_NONE) {
                return true;
            }
        }
    }
    return false;
}

// -- bytes

static double matrix_bytes(const uint64_t *matrix, uint32_t count)
{
    double bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < count; j++) {
            bytes += i == j ? 0 : (double)matrix[(size_t)i * count + j];
        }
    }
    return bytes;
}

double app__call_bytes(const app__schedule_t *schedule, const app__call_t *call)
{
    const double count = schedule->groups[call->group].count;
    const double bytes = (double)call->bytes;
    switch ((app__coll_kind_t)call->kind) {
    case APP__COLL_ALL_REDUCE:
        return 2 * (count - 1) * bytes;
    case APP__COLL_REDUCE_SCATTER:
    case APP__COLL_ALL_GATHER:
    case APP__COLL_BROADCAST:
    case APP__COLL_REDUCE:
        return (count - 1) * bytes;
    case APP__COLL_ALL_TO_ALL:
        return call->matrix != NULL
                   ? matrix_bytes(call->matrix, schedule->groups[call->group].count)
                   : (count - 1) * bytes;
    case APP__COLL_BARRIER:
    case APP__COLL_COUNT:
        break;
    }
    return 0;
}

void app__dimension_bytes(const app__schedule_t *schedule, double bytes[APP__DIM_COUNT])
{
    for (size_t i = 0; i < schedule->call_count; i++) {
        bytes[schedule->calls[i].dimension] += app__call_bytes(schedule, &schedule->calls[i]);
    }
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        const app__rank_ops_t *const ops = &schedule->ranks[r];
        for (uint32_t i = 0; i < ops->count; i++) {
            if (ops->ops[i].type == APP__OP_SEND) {
                bytes[ops->ops[i].dimension] += (double)ops->ops[i].size;
            }
        }
    }
}

// -- time

// The operations before each operation of a rank.
typedef struct before {
    const app__rank_t *rank;
    uint32_t *first; // by operation, in list; one more at the end
    uint32_t *list;
    sim_time_t counted_ps; // up to here all time has its kind
} before_t;

static void before_init(before_t *before, const app__rank_t *rank)
{
    const app__rank_ops_t *const ops = rank->ops;
    *before = (before_t){.rank = rank};
    before->first = sim_alloc_array((size_t)ops->count + 2, sizeof(*before->first));
    before->list = sim_alloc_array((size_t)ops->next_count + 1, sizeof(*before->list));
    for (uint32_t i = 0; i < ops->next_count; i++) {
        before->first[ops->next[i] + 2]++;
    }
    for (uint32_t i = 2; i < ops->count + 2; i++) {
        before->first[i] += before->first[i - 1];
    }
    for (uint32_t i = 0; i < ops->count; i++) {
        const app__op_t *const op = &ops->ops[i];
        const uint32_t count = op->required_count + op->irequired_count;
        for (uint32_t n = 0; n < count; n++) {
            before->list[before->first[ops->next[op->required_first + n] + 1]++] = i;
        }
    }
}

static void before_fini(before_t *before)
{
    sim_free(before->first);
    sim_free(before->list);
}

// Returns the operation before `op` that ended last; APP__NO_OP: there is none.
static uint32_t last_before(const before_t *before, uint32_t op)
{
    uint32_t last = APP__NO_OP;
    for (uint32_t i = before->first[op]; i < before->first[op + 1]; i++) {
        const uint32_t one = before->list[i];
        const sim_time_t end_ps = before->rank->states[one].end_ps;
        if (end_ps != SIM_TIME_NEVER &&
            (last == APP__NO_OP || end_ps > before->rank->states[last].end_ps)) {
            last = one;
        }
    }
    return last;
}

// Gives the time from counted_ps to end_ps to the operations that ran then; `op` is the one that
// ended at end_ps.
static void give(before_t *before, uint32_t op, sim_time_t end_ps, sim_time_t *waits_ps)
{
    const app__rank_t *const rank = before->rank;
    const sim_time_t begin_ps = before->counted_ps;
    before->counted_ps = SIM_MAX(end_ps, begin_ps);
    while (op != APP__NO_OP && end_ps > begin_ps && rank->ops->ops[op].type != APP__OP_CALC) {
        const sim_time_t start_ps = rank->states[op].start_ps;
        if (start_ps >= end_ps) {
            op = last_before(before, op);
            continue;
        }
        const sim_time_t from_ps = SIM_MAX(start_ps, begin_ps);
        waits_ps[rank->ops->ops[op].dimension] += end_ps - from_ps;
        end_ps = from_ps;
        op = last_before(before, op);
    }
    waits_ps[APP__DIM_NONE] += end_ps > begin_ps ? end_ps - begin_ps : 0;
}

typedef struct span {
    sim_time_t start_ps;
    sim_time_t end_ps;
    uint32_t op;
} span_t;

static int compare_spans(const void *a, const void *b)
{
    const span_t *const one = a;
    const span_t *const two = b;
    return 2 * SIM_COMPARE(one->start_ps, two->start_ps) + SIM_COMPARE(one->op, two->op);
}

// Lists the computations of a rank that have ended, in the order of their starts. *last is the
// operation of any kind that ended last.
static span_t *computations(const app__rank_t *rank, size_t *count, uint32_t *last)
{
    span_t *const spans = sim_alloc_array((size_t)rank->ops->count + 1, sizeof(*spans));
    *count = 0;
    *last = APP__NO_OP;
    for (uint32_t i = 0; i < rank->ops->count; i++) {
        const app__op_state_t *const state = &rank->states[i];
        if (!state->finished || state->end_ps == SIM_TIME_NEVER ||
            rank->ops->ops[i].type == APP__OP_SEND) {
            continue;
        }
        if (rank->ops->ops[i].type == APP__OP_CALC) {
            spans[(*count)++] = (span_t){state->start_ps, state->end_ps, i};
        }
        if (*last == APP__NO_OP || state->end_ps >= rank->states[*last].end_ps) {
            *last = i;
        }
    }
    qsort(spans, *count, sizeof(*spans), compare_spans);
    return spans;
}

// Adds the times of a rank. Computations that run side by side count once.
static void add_rank(const app__rank_t *rank, sim_time_t *compute_ps, sim_time_t *waits_ps)
{
    size_t count;
    uint32_t last;
    span_t *const spans = computations(rank, &count, &last);
    before_t before;
    before_init(&before, rank);
    before.counted_ps = rank->workload->options.start_ps;
    for (size_t i = 0; i < count; i++) {
        if (spans[i].start_ps > before.counted_ps) {
            give(&before, last_before(&before, spans[i].op), spans[i].start_ps, waits_ps);
        }
        if (spans[i].end_ps > before.counted_ps) {
            *compute_ps += spans[i].end_ps - before.counted_ps;
            before.counted_ps = spans[i].end_ps;
        }
    }
    if (last != APP__NO_OP && rank->states[last].end_ps > before.counted_ps) {
        give(&before, last, rank->states[last].end_ps, waits_ps);
    }
    before_fini(&before);
    sim_free(spans);
}

static app__rank_share_t share_of(sim_time_t compute_ps, const sim_time_t *waits_ps, double one)
{
    app__rank_share_t share = {.compute_ms = (double)compute_ps / one};
    for (uint32_t i = 0; i < APP__DIM_COUNT; i++) {
        share.waits_ms[i] = (double)waits_ps[i] / one;
    }
    return share;
}

// -- the critical path
//
// The path is walked back from the operation that ended last. The operation before it is the
// predecessor at the same rank that ended last; for a collective, it is the one of the rank that
// called last; for a message, that of its sender. The parts of the path add up to the time of the
// run.

#define LOOKS_MAX UINT64_C(200000000) // operations that are compared before the walk gives up

typedef struct place {
    uint32_t rank;
    uint32_t op; // APP__NO_OP: none
} place_t;

typedef struct walk {
    const app__workload_t *workload;
    before_t *before; // by rank; rank NULL: not yet made
    place_t *callers; // by call: the rank that called last
    uint64_t looks;
} walk_t;

static const app__op_state_t *state_at(const walk_t *walk, place_t place)
{
    return &walk->workload->ranks[place.rank].states[place.op];
}

// Finds the last caller of each collective.
static void find_callers(walk_t *walk)
{
    const app__schedule_t *const schedule = walk->workload->schedule;
    walk->callers = sim_alloc_array(schedule->call_count + 1, sizeof(*walk->callers));
    for (size_t i = 0; i < schedule->call_count; i++) {
        walk->callers[i].op = APP__NO_OP;
    }
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        const app__rank_t *const rank = &walk->workload->ranks[r];
        for (uint32_t i = 0; i < rank->ops->count; i++) {
            const app__op_t *const op = &rank->ops->ops[i];
            if (op->type != APP__OP_COLL || rank->states[i].start_ps == SIM_TIME_NEVER) {
                continue;
            }
            place_t *const last = &walk->callers[app__peer_of(rank->ops, op)];
            if (last->op == APP__NO_OP ||
                rank->states[i].start_ps > state_at(walk, *last)->start_ps) {
                *last = (place_t){r, i};
            }
        }
    }
}

// Returns the send of a message that a receive got: messages with one tag keep their order.
static place_t sender_of(walk_t *walk, place_t receive)
{
    const app__rank_ops_t *const own = walk->workload->ranks[receive.rank].ops;
    const app__op_t *const op = &own->ops[receive.op];
    const uint32_t peer = app__peer_of(own, op);
    uint32_t number = 0;
    if (peer >= walk->workload->schedule->rank_count || op->tag == APP__ANY) {
        return (place_t){0, APP__NO_OP};
    }
    for (uint32_t i = 0; i < receive.op; i++) {
        const app__op_t *const one = &own->ops[i];
        number +=
            one->type == APP__OP_RECV && one->tag == op->tag && app__peer_of(own, one) == peer;
    }
    const app__rank_ops_t *const other = walk->workload->ranks[peer].ops;
    walk->looks += receive.op + other->count;
    for (uint32_t i = 0; i < other->count; i++) {
        const app__op_t *const one = &other->ops[i];
        if (one->type == APP__OP_SEND && one->tag == op->tag &&
            app__peer_of(other, one) == receive.rank && number-- == 0) {
            return (place_t){peer, i};
        }
    }
    return (place_t){0, APP__NO_OP};
}

// Returns the operation from whose start on the time until the end of `place` counts.
static place_t origin_of(walk_t *walk, place_t place)
{
    const app__rank_ops_t *const ops = walk->workload->ranks[place.rank].ops;
    const app__op_t *const op = &ops->ops[place.op];
    place_t origin = {0, APP__NO_OP};
    if (op->type == APP__OP_COLL) {
        origin = walk->callers[app__peer_of(ops, op)];
    } else if (op->type == APP__OP_RECV) {
        origin = sender_of(walk, place);
    }
    const bool known = origin.op != APP__NO_OP &&
                       state_at(walk, origin)->start_ps <= state_at(walk, place)->end_ps;
    return known ? origin : place;
}

static place_t before_of(walk_t *walk, place_t place)
{
    before_t *const before = &walk->before[place.rank];
    if (before->rank == NULL) {
        before_init(before, &walk->workload->ranks[place.rank]);
    }
    return (place_t){place.rank, last_before(before, place.op)};
}

// Returns the operation that ended last.
static place_t last_of(const app__workload_t *workload)
{
    place_t last = {0, APP__NO_OP};
    sim_time_t last_ps = 0;
    for (uint32_t r = 0; r < workload->schedule->rank_count; r++) {
        const app__rank_t *const rank = &workload->ranks[r];
        for (uint32_t i = 0; i < rank->ops->count; i++) {
            const sim_time_t end_ps = rank->states[i].end_ps;
            if (end_ps != SIM_TIME_NEVER && rank->states[i].finished && end_ps > last_ps) {
                last = (place_t){r, i};
                last_ps = end_ps;
            }
        }
    }
    return last;
}

static void follow_critical(const app__workload_t *workload, sim_time_t *compute_ps,
                            sim_time_t *waits_ps)
{
    const uint32_t ranks = workload->schedule->rank_count;
    walk_t walk = {.workload = workload,
                   .before = sim_alloc_array((size_t)ranks + 1, sizeof(before_t))};
    find_callers(&walk);
    place_t place = last_of(workload);
    sim_time_t now_ps = place.op == APP__NO_OP ? 0 : state_at(&walk, place)->end_ps;
    while (place.op != APP__NO_OP && walk.looks < LOOKS_MAX) {
        const app__op_t *const op = &workload->ranks[place.rank].ops->ops[place.op];
        const sim_time_t end_ps = SIM_MIN(state_at(&walk, place)->end_ps, now_ps);
        const place_t origin = origin_of(&walk, place);
        const sim_time_t start_ps = SIM_MIN(state_at(&walk, origin)->start_ps, end_ps);
        waits_ps[APP__DIM_NONE] += now_ps - end_ps;
        *(op->type == APP__OP_CALC ? compute_ps : &waits_ps[op->dimension]) += end_ps - start_ps;
        now_ps = start_ps;
        place = before_of(&walk, origin);
        walk.looks++;
    }
    const sim_time_t begin_ps = workload->options.start_ps;
    waits_ps[APP__DIM_NONE] += now_ps > begin_ps ? now_ps - begin_ps : 0;
    for (uint32_t r = 0; r < ranks; r++) {
        if (walk.before[r].rank != NULL) {
            before_fini(&walk.before[r]);
        }
    }
    sim_free(walk.before);
    sim_free(walk.callers);
}

void app__exposed_measure(const app__workload_t *workload, app__exposed_t *exposed)
{
    const app__schedule_t *const schedule = workload->schedule;
    sim_time_t compute_ps = 0;
    sim_time_t waits_ps[APP__DIM_COUNT] = {0};
    sim_time_t end_ps = workload->options.start_ps;
    *exposed = (app__exposed_t){0};
    const double iterations = workload->iterations > 0 ? workload->iterations : 1;
    const double one = iterations * (double)SIM_PS_PER_MS;
    const double each = (double)schedule->rank_count * one;
    exposed->ranks = sim_alloc_array((size_t)schedule->rank_count + 1, sizeof(*exposed->ranks));
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        const app__rank_t *const rank = &workload->ranks[r];
        sim_time_t own_ps = 0;
        sim_time_t own_waits_ps[APP__DIM_COUNT] = {0};
        add_rank(rank, &own_ps, own_waits_ps);
        exposed->ranks[r] = share_of(own_ps, own_waits_ps, one);
        compute_ps += own_ps;
        for (uint32_t i = 0; i < APP__DIM_COUNT; i++) {
            waits_ps[i] += own_waits_ps[i];
        }
        end_ps = SIM_MAX(rank->end_ps, end_ps);
    }
    sim_time_t chain_ps = 0;
    sim_time_t chain_waits_ps[APP__DIM_COUNT] = {0};
    follow_critical(workload, &chain_ps, chain_waits_ps);
    exposed->critical = share_of(chain_ps, chain_waits_ps, one);
    exposed->iteration_ms =
        (double)(end_ps - workload->options.start_ps) / iterations / (double)SIM_PS_PER_MS;
    exposed->compute_ms = (double)compute_ps / each;
    app__dimension_bytes(schedule, exposed->bytes);
    for (uint32_t i = 0; i < APP__DIM_COUNT; i++) {
        exposed->waits_ms[i] = (double)waits_ps[i] / each;
        exposed->bytes[i] /= iterations;
    }
}
