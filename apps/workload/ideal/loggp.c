// SPDX-License-Identifier: Apache-2.0
// apps/workload/ideal/loggp.c - runs a schedule on an ideal network, one event after the other.
//
// An event is an operation that may start or a message that arrives. If its processor or its NIC is
// busy, it is put back at the time at which they are free, with its old place among equals.
#include "apps/workload/ideal/loggp.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

typedef struct event {
    sim_time_t time_ps;
    uint64_t order;   // among events of one time
    uint32_t rank;    // on which it happens
    uint32_t source;  // of a message: its sender; NONE: the operation itself
    uint32_t op;      // of the rank, or of the source
    uint32_t receive; // posted receive that a message found when it was put back; NONE: unknown
} event_t;

// A message without a receive.
typedef struct unexpected {
    uint32_t source;
    uint32_t op;
} unexpected_t;

typedef struct rank_state {
    const app__rank_ops_t *ops;
    app__loggp_rank_t *result;
    uint32_t *left;         // per operation: those that it waits for
    sim_time_t *ready_ps;   // per operation: when the last of them finished
    sim_time_t *cpu_ps;     // per processor: when it is free
    sim_time_t *send_ps;    // per NIC: when it may send
    sim_time_t *receive_ps; // per NIC: when it may receive
    uint32_t *posted;       // receives without a message, in the order in which they were posted
    size_t posted_count;
    size_t posted_capacity;
    unexpected_t *unexpected; // in order of arrival
    size_t unexpected_count;
    size_t unexpected_capacity;
} rank_state_t;

// An operation that has become free.
typedef struct freed {
    uint32_t rank;
    uint32_t op;
    uint32_t type;
    uint32_t order;
} freed_t;

typedef struct engine {
    const app__schedule_t *schedule;
    const app__loggp_t *loggp;
    rank_state_t *ranks;
    event_t *heap;
    size_t heap_count;
    size_t heap_capacity;
    freed_t *freed;
    size_t freed_count;
    size_t freed_capacity;
    uint64_t order;
} engine_t;

// -- the heap of events

static bool is_later(const engine_t *engine, const event_t *a, const event_t *b)
{
    if (a->time_ps != b->time_ps || engine->loggp->ties == APP__TIES_HEAP) {
        return a->time_ps > b->time_ps;
    }
    return a->order > b->order;
}

static void sift_up(engine_t *engine, size_t hole, event_t event)
{
    while (hole > 0 && is_later(engine, &engine->heap[(hole - 1) / 2], &event)) {
        engine->heap[hole] = engine->heap[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    engine->heap[hole] = event;
}

static void put(engine_t *engine, event_t event)
{
    SIM_GROW(engine->heap, engine->heap_count, &engine->heap_capacity);
    engine->heap_count++;
    sift_up(engine, engine->heap_count - 1, event);
}

// Takes the first event. The hole sinks to a leaf and the last event rises from there, as in the
// C++ standard library: APP__TIES_HEAP depends on it.
static event_t take(engine_t *engine)
{
    const event_t first = engine->heap[0];
    const event_t last = engine->heap[--engine->heap_count];
    const size_t count = engine->heap_count;
    size_t hole = 0;
    while (2 * hole + 2 < count) {
        size_t child = 2 * hole + 2;
        child -= is_later(engine, &engine->heap[child], &engine->heap[child - 1]);
        engine->heap[hole] = engine->heap[child];
        hole = child;
    }
    if (2 * hole + 2 == count) {
        engine->heap[hole] = engine->heap[count - 1];
        hole = count - 1;
    }
    if (count > 0) {
        sift_up(engine, hole, last);
    }
    return first;
}

// -- what a message costs

static uint64_t bytes_after_first(const app__op_t *op)
{
    return op->size > 0 ? op->size - 1 : 0; // an empty message has one byte
}

static sim_time_t byte_gaps_ps(const engine_t *engine, const app__op_t *op, bool near)
{
    return app__byte_gaps_ps(engine->loggp, op->size, near);
}

static sim_time_t overheads_ps(const engine_t *engine, const app__op_t *op)
{
    return bytes_after_first(op) * engine->loggp->byte_overhead_ps;
}

static sim_time_t later(sim_time_t a, sim_time_t b)
{
    return SIM_MAX(a, b);
}

// Keeps a processor until `until_ps`; `since_ps` is when it began to work.
static void occupy(rank_state_t *rank, uint8_t cpu, sim_time_t since_ps, sim_time_t until_ps)
{
    rank->cpu_ps[cpu] = until_ps;
    rank->result->busy_ps += until_ps - since_ps;
    rank->result->end_ps = later(rank->result->end_ps, until_ps);
}

// -- order of operations

static void release(engine_t *engine, uint32_t r, uint32_t first, uint32_t count, sim_time_t now_ps)
{
    rank_state_t *const rank = &engine->ranks[r];
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t op = rank->ops->next[first + i];
        rank->ready_ps[op] = later(rank->ready_ps[op], now_ps);
        SIM_CHECK(rank->left[op] > 0);
        if (--rank->left[op] == 0) {
            SIM_GROW(engine->freed, engine->freed_count, &engine->freed_capacity);
            engine->freed[engine->freed_count] =
                (freed_t){r, op, rank->ops->ops[op].type, (uint32_t)engine->freed_count};
            engine->freed_count++;
        }
    }
}

static void note_start(engine_t *engine, uint32_t r, uint32_t op, sim_time_t now_ps)
{
    const app__op_t *const at = &engine->ranks[r].ops->ops[op];
    engine->ranks[r].result->ops[op].start_ps = now_ps;
    release(engine, r, at->irequired_first, at->irequired_count, now_ps);
}

static void note_end(engine_t *engine, uint32_t r, uint32_t op, sim_time_t end_ps)
{
    const app__op_t *const at = &engine->ranks[r].ops->ops[op];
    engine->ranks[r].result->ops[op].end_ps = end_ps;
    engine->ranks[r].result->unfinished--;
    release(engine, r, at->required_first, at->required_count, end_ps);
}

static int compare_freed(const void *a, const void *b)
{
    const freed_t *const one = a;
    const freed_t *const two = b;
    return 4 * SIM_COMPARE(one->rank, two->rank) + 2 * SIM_COMPARE(one->type, two->type) +
           SIM_COMPARE(one->order, two->order);
}

// Puts the operations that have become free among the events: rank by rank, sends first.
static void start_freed(engine_t *engine)
{
    if (engine->freed_count > 0) {
        qsort(engine->freed, engine->freed_count, sizeof(*engine->freed), compare_freed);
    }
    for (size_t i = 0; i < engine->freed_count; i++) {
        const freed_t *const freed = &engine->freed[i];
        const rank_state_t *const rank = &engine->ranks[freed->rank];
        const app__op_t *const op = &rank->ops->ops[freed->op];
        sim_time_t time_ps = rank->ready_ps[freed->op];
        if (engine->loggp->semantics == APP__SEMANTICS_SPCL) {
            time_ps = later(time_ps, rank->cpu_ps[op->cpu]);
        }
        if (op->type == APP__OP_SEND) {
            time_ps = later(time_ps, rank->send_ps[op->nic]);
        }
        put(engine, (event_t){time_ps, engine->order++, freed->rank, NONE, freed->op, NONE});
    }
    engine->freed_count = 0;
}

static void put_back(engine_t *engine, event_t event, sim_time_t time_ps)
{
    event.time_ps = time_ps;
    put(engine, event);
}

// -- events

static void run_calc(engine_t *engine, const event_t *event, const app__op_t *op)
{
    rank_state_t *const rank = &engine->ranks[event->rank];
    const sim_time_t now_ps = event->time_ps;
    if (rank->cpu_ps[op->cpu] > now_ps) {
        put_back(engine, *event, rank->cpu_ps[op->cpu]);
        return;
    }
    const sim_time_t end_ps = now_ps + app__calc_ps(op->size, &engine->loggp->calc_scale);
    occupy(rank, op->cpu, now_ps, end_ps);
    note_start(engine, event->rank, event->op, now_ps);
    note_end(engine, event->rank, event->op, end_ps);
}

static void run_send(engine_t *engine, const event_t *event, const app__op_t *op)
{
    const app__loggp_t *const loggp = engine->loggp;
    rank_state_t *const rank = &engine->ranks[event->rank];
    const sim_time_t now_ps = event->time_ps;
    const sim_time_t free_ps = later(rank->cpu_ps[op->cpu], rank->send_ps[op->nic]);
    if (free_ps > now_ps) {
        put_back(engine, *event, free_ps);
        return;
    }
    const sim_time_t end_ps = now_ps + loggp->send_ps + overheads_ps(engine, op);
    note_start(engine, event->rank, event->op, now_ps);
    occupy(rank, op->cpu, now_ps, end_ps);
    const uint32_t peer = app__peer_of(rank->ops, op);
    const bool near =
        peer < engine->schedule->rank_count && app__are_near(loggp, event->rank, peer);
    rank->send_ps[op->nic] = now_ps + loggp->gap_ps + byte_gaps_ps(engine, op, near);
    if (peer >= engine->schedule->rank_count) {
        return; // nobody receives it: it never finishes
    }
    const sim_time_t latency_ps = app__latency_ps(loggp, near);
    const sim_time_t arrival_ps = loggp->semantics == APP__SEMANTICS_SPCL
                                      ? now_ps + loggp->send_ps + latency_ps
                                      : end_ps + latency_ps + byte_gaps_ps(engine, op, near);
    rank->result->ops[event->op].arrival_ps = arrival_ps;
    put(engine, (event_t){arrival_ps, engine->order++, peer, event->rank, event->op, NONE});
    if (op->size <= loggp->eager_max_bytes) {
        note_end(engine, event->rank, event->op, end_ps);
    }
}

// Ends a send that waited for its receive. Its processor and its NIC waited, too.
static void end_rendezvous(engine_t *engine, uint32_t source, uint32_t op, sim_time_t cpu_ps,
                           sim_time_t nic_ps)
{
    rank_state_t *const rank = &engine->ranks[source];
    const app__op_t *const send = &rank->ops->ops[op];
    if (send->size <= engine->loggp->eager_max_bytes) {
        return;
    }
    rank->cpu_ps[send->cpu] = later(rank->cpu_ps[send->cpu], cpu_ps);
    rank->send_ps[send->nic] = later(rank->send_ps[send->nic], nic_ps);
    rank->result->end_ps = later(rank->result->end_ps, cpu_ps);
    note_end(engine, source, op, cpu_ps);
}

static void run_receive(engine_t *engine, const event_t *event, const app__op_t *op)
{
    const app__loggp_t *const loggp = engine->loggp;
    rank_state_t *const rank = &engine->ranks[event->rank];
    const sim_time_t now_ps = event->time_ps;
    note_start(engine, event->rank, event->op, now_ps);
    size_t at = 0;
    while (at < rank->unexpected_count &&
           !app__op_allows(rank->ops, op, rank->unexpected[at].source,
                           engine->schedule->ranks[rank->unexpected[at].source]
                               .ops[rank->unexpected[at].op]
                               .tag)) {
        at++;
    }
    if (at == rank->unexpected_count) {
        SIM_APPEND(rank->posted, rank->posted_count, rank->posted_capacity, event->op);
        return;
    }
    const unexpected_t message = rank->unexpected[at];
    rank->unexpected_count--;
    memmove(&rank->unexpected[at], &rank->unexpected[at + 1],
            (rank->unexpected_count - at) * sizeof(*rank->unexpected));
    sim_time_t nic_ps = now_ps;
    sim_time_t cpu_ps = now_ps;
    if (loggp->semantics == APP__SEMANTICS_ATLAHS) {
        nic_ps =
            later(later(rank->receive_ps[op->nic], rank->cpu_ps[op->cpu]), now_ps) + loggp->gap_ps;
        cpu_ps = nic_ps + loggp->recv_ps + overheads_ps(engine, op);
        occupy(rank, op->cpu, nic_ps, cpu_ps);
        rank->receive_ps[op->nic] = nic_ps;
    }
    end_rendezvous(engine, message.source, message.op, cpu_ps, nic_ps);
    note_end(engine, event->rank, event->op, cpu_ps);
}

// Returns the place of the first posted receive that allows a message, or that of none.
static size_t find_posted(const rank_state_t *rank, uint32_t source, uint32_t tag)
{
    size_t at = 0;
    while (at < rank->posted_count &&
           !app__op_allows(rank->ops, &rank->ops->ops[rank->posted[at]], source, tag)) {
        at++;
    }
    return at;
}

static uint32_t take_posted(rank_state_t *rank, size_t at)
{
    const uint32_t op = rank->posted[at];
    rank->posted_count--;
    memmove(&rank->posted[at], &rank->posted[at + 1],
            (rank->posted_count - at) * sizeof(*rank->posted));
    return op;
}

static void keep_unexpected(rank_state_t *rank, const event_t *event)
{
    SIM_APPEND(rank->unexpected, rank->unexpected_count, rank->unexpected_capacity,
               (unexpected_t){event->source, event->op});
    if (rank->unexpected_count > rank->result->unexpected_peak) {
        rank->result->unexpected_peak = (uint32_t)rank->unexpected_count;
    }
}

static void arrive_spcl(engine_t *engine, const event_t *event, const app__op_t *send)
{
    const app__loggp_t *const loggp = engine->loggp;
    rank_state_t *const rank = &engine->ranks[event->rank];
    const sim_time_t now_ps = event->time_ps;
    const sim_time_t free_ps = later(rank->cpu_ps[send->cpu], rank->receive_ps[send->nic]);
    if (free_ps > now_ps) {
        put_back(engine, *event, free_ps);
        return;
    }
    const sim_time_t bytes_ps =
        byte_gaps_ps(engine, send, app__are_near(loggp, event->source, event->rank));
    const sim_time_t end_ps = now_ps + loggp->recv_ps + later(overheads_ps(engine, send), bytes_ps);
    occupy(rank, send->cpu, now_ps, end_ps);
    rank->receive_ps[send->nic] = now_ps + loggp->gap_ps + bytes_ps;
    engine->ranks[event->source].result->ops[event->op].arrival_ps = now_ps + bytes_ps;
    const size_t at = find_posted(rank, event->source, send->tag);
    if (at == rank->posted_count) {
        keep_unexpected(rank, event);
        return;
    }
    const uint32_t receive = take_posted(rank, at);
    end_rendezvous(engine, event->source, event->op, now_ps, now_ps);
    note_end(engine, event->rank, receive, end_ps);
}

static void arrive_atlahs(engine_t *engine, const event_t *event, const app__op_t *send)
{
    const app__loggp_t *const loggp = engine->loggp;
    rank_state_t *const rank = &engine->ranks[event->rank];
    const sim_time_t now_ps = event->time_ps;
    // Receives are posted behind those that wait, so the first that allows the message stays the
    // first until another message takes it.
    const bool known = event->receive != NONE && loggp->ties != APP__TIES_HEAP &&
                       rank->result->ops[event->receive].end_ps == SIM_TIME_NEVER;
    size_t at = 0;
    if (!known) {
        at = find_posted(rank, event->source, send->tag);
        if (at == rank->posted_count) {
            keep_unexpected(rank, event);
            return;
        }
    }
    event_t again = *event;
    again.receive = known ? event->receive : rank->posted[at];
    const app__op_t *const receive = &rank->ops->ops[again.receive];
    const sim_time_t free_ps = later(rank->cpu_ps[receive->cpu], rank->receive_ps[receive->nic]);
    if (free_ps > now_ps) {
        put_back(engine, again, free_ps);
        if (loggp->ties == APP__TIES_HEAP) { // the receive goes behind the others
            const uint32_t op = take_posted(rank, at);
            rank->posted[rank->posted_count++] = op;
        }
        return;
    }
    at = known ? find_posted(rank, event->source, send->tag) : at;
    const uint32_t op = take_posted(rank, at);
    const sim_time_t nic_ps = now_ps + loggp->gap_ps;
    const sim_time_t end_ps = nic_ps + loggp->recv_ps + overheads_ps(engine, send);
    occupy(rank, receive->cpu, nic_ps, end_ps);
    rank->receive_ps[receive->nic] = nic_ps;
    end_rendezvous(engine, event->source, event->op, end_ps, nic_ps);
    note_end(engine, event->rank, op, end_ps);
}

static void run_event(engine_t *engine, const event_t *event)
{
    const uint32_t owner = event->source == NONE ? event->rank : event->source;
    const app__op_t *const op = &engine->ranks[owner].ops->ops[event->op];
    if (event->source != NONE) {
        if (engine->loggp->semantics == APP__SEMANTICS_SPCL) {
            arrive_spcl(engine, event, op);
        } else {
            arrive_atlahs(engine, event, op);
        }
    } else if (op->type == APP__OP_CALC) {
        run_calc(engine, event, op);
    } else if (op->type == APP__OP_SEND) {
        run_send(engine, event, op);
    } else if (op->type == APP__OP_RECV) {
        run_receive(engine, event, op);
    }
}

// -- a run

static void init_rank(engine_t *engine, uint32_t r, app__loggp_rank_t *result)
{
    const app__rank_ops_t *const ops = &engine->schedule->ranks[r];
    const app__schedule_counts_t *const counts = &engine->schedule->counts;
    rank_state_t *const rank = &engine->ranks[r];
    *rank = (rank_state_t){.ops = ops, .result = result};
    result->unfinished = ops->count;
    rank->left = sim_alloc_array((size_t)ops->count + 1, sizeof(*rank->left));
    rank->ready_ps = sim_alloc_array((size_t)ops->count + 1, sizeof(*rank->ready_ps));
    rank->cpu_ps = sim_alloc_array((size_t)counts->cpu_max + 1, sizeof(*rank->cpu_ps));
    rank->send_ps = sim_alloc_array((size_t)counts->nic_max + 1, sizeof(*rank->send_ps));
    rank->receive_ps = sim_alloc_array((size_t)counts->nic_max + 1, sizeof(*rank->receive_ps));
    for (uint32_t op = 0; op < ops->count; op++) {
        result->ops[op] = (app__loggp_op_t){SIM_TIME_NEVER, SIM_TIME_NEVER, SIM_TIME_NEVER};
        rank->left[op] = ops->ops[op].needs;
        if (rank->left[op] == 0) {
            // ATLAHS takes the first operations in the order of the file.
            const uint32_t type =
                engine->loggp->semantics == APP__SEMANTICS_ATLAHS ? 0 : ops->ops[op].type;
            SIM_GROW(engine->freed, engine->freed_count, &engine->freed_capacity);
            engine->freed[engine->freed_count] =
                (freed_t){r, op, type, (uint32_t)engine->freed_count};
            engine->freed_count++;
        }
    }
}

static void fini_rank(rank_state_t *rank)
{
    SIM_FREE_ALL(rank->left, rank->ready_ps, rank->cpu_ps, rank->send_ps, rank->receive_ps,
                 rank->posted, rank->unexpected);
}

void app__loggp_run(const app__schedule_t *schedule, const app__loggp_t *loggp,
                    app__loggp_result_t *result)
{
    engine_t engine = {.schedule = schedule, .loggp = loggp};
    uint64_t ops = 0;
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        ops += schedule->ranks[r].count;
    }
    *result = (app__loggp_result_t){
        .ops = sim_alloc_array((size_t)ops + 1, sizeof(*result->ops)),
        .ranks = sim_alloc_array(schedule->rank_count, sizeof(*result->ranks)),
    };
    engine.ranks = sim_alloc_array(schedule->rank_count, sizeof(*engine.ranks));
    ops = 0;
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        result->ranks[r].ops = &result->ops[ops];
        ops += schedule->ranks[r].count;
        init_rank(&engine, r, &result->ranks[r]);
        start_freed(&engine);
    }
    for (uint64_t events = 0; engine.heap_count > 0 && !result->cut; events++) {
        const event_t event = take(&engine);
        result->cut = events + 1 == loggp->events_max;
        run_event(&engine, &event);
        start_freed(&engine);
    }
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        result->end_ps = later(result->end_ps, result->ranks[r].end_ps);
        result->unfinished += result->ranks[r].unfinished;
        fini_rank(&engine.ranks[r]);
    }
    SIM_FREE_ALL(engine.ranks, engine.heap, engine.freed);
}

void app__loggp_fini(app__loggp_result_t *result)
{
    sim_free(result->ops);
    sim_free(result->ranks);
}
