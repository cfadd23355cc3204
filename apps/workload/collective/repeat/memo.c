// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/repeat/memo.c - remembers how collectives changed the network, and
// repeats it.
//
// A span begins when nothing is under way and every rank that goes on has one computation left
// before it calls a collective. So all that will happen until the network is at rest again follows
// from the state and the times of the calls. The first such span is simulated, and what it changed
// is kept. A later span with an equal state and equal calls is not: its changes are added, and each
// rank's call ends at its time. docs/models/fast-forward.md
#include "apps/workload/collective/repeat/memo.h"

#include "apps/skips.h"
#include "apps/workload/collective/collectives.h"
#include "apps/workload/op_queue.h"
#include "apps/workload/workload.h"
#include "nic/fast_forward.h"

#include <stdlib.h>
#include <string.h>

#define QUIET_PS (2 * SIM_REST_PS)      // windows so far apart are looked at
#define BYTES_MAX (UINT64_C(512) << 20) // of memory for spans

static const char flows_max[] = "flows-max"; // the reason that a span got no more rows of flows.csv

// The part of a rank in a span.
typedef struct part {
    const app__coll_plan_t *plan; // NULL: none
    uint32_t op;
    sim_time_t begin_ps; // after the span's begin
    sim_time_t end_ps;   // after the span's begin
    uint32_t turn;       // of the call among those of its host
    uint32_t end_turn;   // of its end, likewise
    bool spoiled;        // the rank made another call in the span
    size_t record_first; // of the rank, when the span began
    app__coll_record_t *records;
    size_t record_count;
} part_t;

// node_part_t counts the events of a node in a span.
typedef struct node_part {
    uint64_t events;
    uint64_t own; // events of ranks' processors among them
} node_part_t;

typedef struct span {
    sim_state_t list;
    char *start; // the state when it began
    char *end;
    sim_time_t begin_ps; // of the first call
    sim_time_t end_ps;   // of its last event, after the begin
    bool own_last;       // that may be an event of a rank's processor: the span was over before
    uint64_t hops;
    uint64_t failed;
    part_t *parts;      // by rank
    node_part_t *nodes; // by node
} span_t;

// The end of a rank's repeated call, and of a span.
typedef struct ending {
    sim_timer_t timer;
    app__rank_t *rank;
    uint32_t op;
    sim_time_t time_ps;
    uint32_t turn;     // among the ends of its host's calls
    bool due;          // the rank's next call is repeated
    bool judged;       // it was decided about the rank's next call
    uint64_t unjudged; // calls of which that is not so
} ending_t;

// A call that is to come, for the order of those of a host.
typedef struct turn {
    uint32_t node;
    uint32_t rank;
    sim_time_t time_ps;
    uint64_t number; // of its timer
} turn_t;

struct app__memo {
    app__workload_t *workload;
    app_skips_t *skips;
    sim_random_t random; // of audits
    sim_time_t before_ps;
    sim_time_t until_ps; // end of the span that is repeated
    span_t **spans;
    size_t span_count;
    size_t span_capacity;
    span_t *recorded;      // the span that is being simulated; NULL: none
    const span_t *audited; // it must do what this one did; NULL: any
    part_t *calls;         // by rank: the next ones
    ending_t *endings;     // by rank; then that of the span
    turn_t *turns;         // by host, in the order of the calls
    uint32_t *first_turn;  // by node: of its ranks in `turns`
    uint32_t *ended;       // by node: calls that have ended in the span
    uint64_t *own;         // by node: events of ranks' processors so far
    sim_time_t *own_ps;    // by node: when the last of them was
};

// -- spans

static uint32_t rank_count(const app__memo_t *memo)
{
    return memo->workload->schedule->rank_count;
}

static void span_free(const app__memo_t *memo, span_t *span)
{
    if (span == NULL) {
        return;
    }
    for (uint32_t r = 0; r < rank_count(memo); r++) {
        sim_free(span->parts[r].records);
    }
    sim_state_fini(&span->list);
    SIM_FREE_ALL(span->start, span->end, span->parts, span->nodes, span);
}

static const net_t *net_of(const app__memo_t *memo)
{
    return memo->workload->app.net;
}

static app__coll_rank_t *coll_rank(const app__memo_t *memo, uint32_t rank)
{
    return &memo->workload->collectives->ranks[rank];
}

// -- what comes next

// Returns the only operation that starts when this one has finished, and that is a collective;
// APP__NO_OP: there is none, or not only that.
static uint32_t next_call(const app__rank_t *rank, uint32_t op)
{
    const app__op_t *const at = &rank->ops->ops[op];
    uint32_t found = APP__NO_OP;
    for (uint32_t i = 0; i < at->required_count; i++) {
        const uint32_t next = rank->ops->next[at->required_first + i];
        if (rank->states[next].left > 1) {
            continue;
        }
        if (found != APP__NO_OP || rank->ops->ops[next].type != APP__OP_COLL ||
            rank->ops->ops[next].irequired_count != 0) {
            return APP__NO_OP;
        }
        found = next;
    }
    return found;
}

// Finds the call that a rank makes next, when its only computation ends. Returns NULL, or why it
// cannot be known.
static const char *find_call(const app__memo_t *memo, const app__rank_t *rank, part_t *call)
{
    const app__cpu_t *busy = NULL;
    *call = (part_t){.op = APP__NO_OP};
    if (rank->left == 0) {
        return NULL;
    }
    if (rank->ready.head != APP__NO_OP || rank->match.now != 0 || rank->granted_count != 0) {
        return "messages besides collectives";
    }
    for (uint32_t i = 0; i < rank->cpu_count; i++) {
        if (SIM_RING_COUNT(&rank->cpus[i].queue) != 0 || (rank->cpus[i].busy && busy != NULL)) {
            return "several computations";
        }
        busy = rank->cpus[i].busy ? &rank->cpus[i] : busy;
    }
    if (busy == NULL || busy->running == APP__NO_OP ||
        rank->ops->ops[busy->running].type != APP__OP_CALC) {
        return "no computation before it";
    }
    call->op = next_call(rank, busy->running);
    if (call->op == APP__NO_OP) {
        return "operations besides a collective";
    }
    const app__collectives_t *const all = memo->workload->collectives;
    call->plan = &all->plans[all->plan_of[rank->ops->ops[call->op].peer]];
    call->begin_ps = sim_timer_time_ps(rank->node, &busy->timer);
    return NULL;
}

static int compare_turns(const void *left, const void *right)
{
    const turn_t *const a = left;
    const turn_t *const b = right;
    return a->node != b->node         ? (a->node < b->node ? -1 : 1)
           : a->time_ps != b->time_ps ? (a->time_ps < b->time_ps ? -1 : 1)
           : a->number != b->number   ? (a->number < b->number ? -1 : 1)
                                      : 0;
}

// Finds in which order the ranks of each host call.
static void find_turns(app__memo_t *memo)
{
    for (uint32_t r = 0; r < rank_count(memo); r++) {
        const app__rank_t *const rank = &memo->workload->ranks[r];
        turn_t *const turn = &memo->turns[r];
        *turn = (turn_t){rank->node->index, r, SIM_TIME_NEVER, r};
        for (uint32_t i = 0; memo->calls[r].plan != NULL && i < rank->cpu_count; i++) {
            if (rank->cpus[i].busy) {
                turn->time_ps = sim_timer_time_ps(rank->node, &rank->cpus[i].timer);
                turn->number = sim_timer_number(rank->node, &rank->cpus[i].timer);
            }
        }
    }
    qsort(memo->turns, rank_count(memo), sizeof(*memo->turns), compare_turns);
    for (uint32_t i = 0; i < rank_count(memo); i++) {
        const turn_t *const turn = &memo->turns[i];
        if (i == 0 || turn[-1].node != turn->node) {
            memo->first_turn[turn->node] = i;
        }
        memo->calls[turn->rank].turn = i - memo->first_turn[turn->node];
    }
}

// Finds the calls of all ranks, and sets *begin_ps to the time of the first. Returns NULL, or why
// they cannot be known.
static const char *find_calls(app__memo_t *memo, sim_time_t *begin_ps)
{
    const app__schedule_t *const schedule = memo->workload->schedule;
    const net_t *const net = net_of(memo);
    uint32_t *const timers = sim_alloc_array(net_node_count(net) + 1, sizeof(*timers));
    uint32_t *const callers = sim_alloc_array(schedule->call_count + 1, sizeof(*callers));
    const char *why = NULL;
    *begin_ps = SIM_TIME_NEVER;
    for (uint32_t r = 0; r < schedule->rank_count && why == NULL; r++) {
        const app__rank_t *const rank = &memo->workload->ranks[r];
        part_t *const call = &memo->calls[r];
        why = find_call(memo, rank, call);
        if (call->plan != NULL) {
            timers[rank->node->index]++;
            callers[rank->ops->ops[call->op].peer]++;
            *begin_ps = SIM_MIN(call->begin_ps, *begin_ps);
        }
    }
    for (uint32_t r = 0; r < schedule->rank_count && why == NULL; r++) {
        const uint32_t op = memo->calls[r].op;
        const uint32_t call = op == APP__NO_OP ? 0 : memo->workload->ranks[r].ops->ops[op].peer;
        if (op != APP__NO_OP &&
            callers[call] != schedule->groups[schedule->calls[call].group].count) {
            why = "ranks that call later";
        }
        memo->calls[r].begin_ps -= op == APP__NO_OP ? 0 : *begin_ps;
    }
    for (size_t i = 0; i < net_node_count(net) && why == NULL; i++) {
        const sim_node_t *const node = &net_node_at(net, i)->sim;
        why = sim_timers_armed(node) != timers[i] ? "timers" : NULL;
    }
    sim_free(timers);
    sim_free(callers);
    if (why == NULL) {
        find_turns(memo);
    }
    return why != NULL ? why : *begin_ps == SIM_TIME_NEVER ? "no call" : NULL;
}

// Returns whether all nodes have rested for rest_ps when the first call begins.
static bool rested(const app__memo_t *memo, sim_time_t begin_ps, sim_time_t rest_ps)
{
    const net_t *const net = net_of(memo);
    for (size_t i = 0; i < net_node_count(net); i++) {
        if (net_node_at(net, i)->sim.now_ps + rest_ps > begin_ps) {
            return false;
        }
    }
    return true;
}

static bool same_calls(const app__memo_t *memo, const span_t *span)
{
    for (uint32_t r = 0; r < rank_count(memo); r++) {
        const part_t *const a = &memo->calls[r];
        const part_t *const b = &span->parts[r];
        if (a->plan != b->plan || a->begin_ps != b->begin_ps || a->turn != b->turn) {
            return false;
        }
    }
    return true;
}

static const span_t *find_span(const app__memo_t *memo, const sim_state_t *list,
                               sim_time_t begin_ps)
{
    for (size_t i = 0; i < memo->span_count; i++) {
        const span_t *const span = memo->spans[i];
        if (same_calls(memo, span) && sim_state_same_structs(list, &span->list) &&
            sim_state_equal(list, span->start, span->begin_ps, begin_ps)) {
            return span;
        }
    }
    return NULL;
}

// Returns whether a rank does nothing on the network before the end of a span, after its call.
// *goes_on becomes true if the rank computes beyond the end.
static bool stays_away(const app__rank_t *rank, const part_t *part, uint32_t op, sim_time_t end_ps,
                       bool *goes_on)
{
    const app__op_t *const at = &rank->ops->ops[op];
    for (uint32_t i = 0; i < at->required_count; i++) {
        const uint32_t next = rank->ops->next[at->required_first + i];
        const app__op_t *const after = &rank->ops->ops[next];
        if (rank->states[next].left > 1) {
            continue;
        }
        const sim_time_t took_ps =
            app__calc_ps(after->size, &rank->workload->options.loggp.calc_scale);
        if (after->type != APP__OP_CALC || part->end_ps + took_ps <= end_ps) {
            return false;
        }
        *goes_on = true;
    }
    return true;
}

// Returns whether another rank of the host calls at the very instant at which a rank's call ends:
// which of them is first is then no part of what is remembered.
static bool meets_call(const app__memo_t *memo, const span_t *span, uint32_t rank)
{
    const uint32_t node = memo->workload->ranks[rank].node->index;
    for (uint32_t i = memo->first_turn[node]; i < rank_count(memo) && memo->turns[i].node == node;
         i++) {
        const uint32_t other = memo->turns[i].rank;
        if (memo->calls[other].plan != NULL &&
            span->parts[other].begin_ps == span->parts[rank].end_ps) {
            return true;
        }
    }
    return false;
}

static const char *refuse_hit(const app__memo_t *memo, const span_t *span, sim_time_t begin_ps)
{
    const sim_time_t until_ps = sim_options(net_sim(net_of(memo)))->until_ps;
    bool goes_on = !span->own_last;
    if (begin_ps + span->end_ps >= until_ps) {
        return "end of the run";
    }
    for (uint32_t r = 0; r < rank_count(memo); r++) {
        if (memo->calls[r].plan != NULL && meets_call(memo, span, r)) {
            return "calls close to each other";
        }
        if (memo->calls[r].plan != NULL && !stays_away(&memo->workload->ranks[r], &span->parts[r],
                                                       memo->calls[r].op, span->end_ps, &goes_on)) {
            return "calls close to each other";
        }
    }
    // Where nobody computes any more, the run may end when the calls do, before the last event.
    return goes_on ? NULL : "end of the run";
}

// -- recording

static uint64_t all_failed(const app__memo_t *memo)
{
    uint64_t failed = 0;
    for (uint32_t r = 0; r < rank_count(memo); r++) {
        failed += memo->workload->ranks[r].failed;
    }
    return failed;
}

// Notes the events of all nodes since the last time, or since the run began.
static void note_nodes(const app__memo_t *memo, span_t *span)
{
    const net_t *const net = net_of(memo);
    for (size_t i = 0; i < net_node_count(net); i++) {
        span->nodes[i].events = net_node_at(net, i)->sim.events - span->nodes[i].events;
        span->nodes[i].own = memo->own[i] - span->nodes[i].own;
    }
}

// Begins to record a span that is simulated. Takes the list.
static void record(app__memo_t *memo, sim_state_t *list, sim_time_t begin_ps)
{
    span_t *const span = sim_alloc(sizeof(*span));
    *span = (span_t){
        .list = *list,
        .start = sim_state_copy(list),
        .begin_ps = begin_ps,
        .hops = nic_frames_sent(net_of(memo)),
        .failed = all_failed(memo),
        .parts = sim_alloc_array((size_t)rank_count(memo) + 1, sizeof(*span->parts)),
        .nodes = sim_alloc_array(net_node_count(net_of(memo)) + 1, sizeof(*span->nodes)),
    };
    *list = (sim_state_t){0};
    for (uint32_t r = 0; r < rank_count(memo); r++) {
        span->parts[r] = memo->calls[r];
        span->parts[r].end_ps = SIM_TIME_NEVER;
        span->parts[r].record_first = coll_rank(memo, r)->record_count;
    }
    note_nodes(memo, span);
    memset(memo->ended, 0, net_node_count(net_of(memo)) * sizeof(*memo->ended));
    memo->recorded = span;
}

// Keeps the rows of flows.csv that a rank got in a span.
static void keep_records(const app__memo_t *memo, span_t *span, uint32_t rank)
{
    const app__coll_rank_t *const from = coll_rank(memo, rank);
    part_t *const part = &span->parts[rank];
    part->record_count = from->record_count - part->record_first;
    part->records = sim_alloc_array(part->record_count + 1, sizeof(*part->records));
    if (part->record_count > 0) {
        memcpy(part->records, from->records + part->record_first,
               part->record_count * sizeof(*part->records));
    }
}

// Completes the record of a span. Returns NULL, or why it cannot be repeated.
static const char *complete(const app__memo_t *memo, span_t *span)
{
    const net_t *const net = net_of(memo);
    sim_state_t list = {0};
    sim_time_t rest_ps = 0;
    size_t offset = 0;
    app__memo_list(memo->workload, &list, &rest_ps);
    const bool same = sim_state_same_structs(&list, &span->list);
    const char *const refused = list.refused;
    sim_state_fini(&list);
    for (uint32_t r = 0; r < rank_count(memo); r++) {
        if (span->parts[r].plan != NULL && span->parts[r].end_ps == SIM_TIME_NEVER) {
            return "calls that did not end";
        }
        if (span->parts[r].spoiled) {
            return "calls close to each other";
        }
        keep_records(memo, span, r);
        if (span->parts[r].record_count > 0 &&
            coll_rank(memo, r)->record_count == memo->workload->collectives->records_max) {
            return flows_max;
        }
    }
    if (refused != NULL || !same || all_failed(memo) != span->failed) {
        return refused != NULL ? refused : "new queue pairs";
    }
    note_nodes(memo, span);
    span->end = sim_state_copy(&span->list);
    span->hops = nic_frames_sent(net) - span->hops;
    for (size_t i = 0; i < net_node_count(net); i++) {
        const sim_time_t last_ps = net_node_at(net, i)->sim.now_ps;
        const sim_time_t after_ps = last_ps > span->begin_ps ? last_ps - span->begin_ps : 0;
        span->end_ps = SIM_MAX(after_ps, span->end_ps);
        span->own_last = span->own_last || (after_ps > 0 && last_ps == memo->own_ps[i]);
    }
    return sim_state_changed(&span->list, span->start, span->end, &offset);
}

// Returns whether a rank's call and its messages had the same times, shift_ps later.
static bool same_part(const part_t *part, const part_t *kept, sim_time_t shift_ps)
{
    bool same = part->end_ps == kept->end_ps && part->end_turn == kept->end_turn &&
                part->record_count == kept->record_count;
    for (size_t i = 0; i < part->record_count && same; i++) {
        const app__coll_record_t *const a = &part->records[i];
        const app__coll_record_t *const b = &kept->records[i];
        same = a->bytes == b->bytes && a->destination == b->destination &&
               a->start_ps == b->start_ps + shift_ps && a->end_ps == b->end_ps + shift_ps;
    }
    return same;
}

// Ends the run if a span did not do what memory says.
static void audit(const app__memo_t *memo, const span_t *span, const char *why)
{
    const span_t *const kept = memo->audited;
    const char *name = why != NULL ? why : "times of calls";
    bool same = why == NULL && span->hops == kept->hops &&
                (span->own_last || kept->own_last || span->end_ps == kept->end_ps);
    for (uint32_t r = 0; r < rank_count(memo) && same; r++) {
        same = same_part(&span->parts[r], &kept->parts[r], span->begin_ps - kept->begin_ps);
    }
    if (same) {
        const char *const before[2] = {kept->start, kept->end};
        const char *const after[2] = {span->start, span->end};
        same =
            sim_state_same_span(&span->list, before, after, span->begin_ps - kept->begin_ps, &name);
    }
    SIM_CHECKF(same,
               "fast-forward: the span at %" PRIu64 " ps differs from the one at %" PRIu64
               " ps that it should repeat: %s",
               span->begin_ps, kept->begin_ps, name);
}

// Ends the recording: the network is at rest.
static void finish(app__memo_t *memo)
{
    span_t *const span = memo->recorded;
    memo->recorded = NULL;
    const char *why = complete(memo, span);
    if (memo->audited != NULL) {
        // The rows of flows.csv may have ended in this span and not in the one that is kept.
        if (why != flows_max) {
            audit(memo, span, why);
        }
        memo->audited = NULL;
        span_free(memo, span);
        return;
    }
    if (why == NULL && memo->skips->bytes + 2 * span->list.bytes > BYTES_MAX) {
        why = "memory";
    }
    if (why != NULL) {
        app_skips_refuse(memo->skips, why);
        span_free(memo, span);
        return;
    }
    memo->skips->bytes += 2 * span->list.bytes;
    SIM_APPEND(memo->spans, memo->span_count, memo->span_capacity, span);
}

// -- repeating

static void repeat_records(const app__memo_t *memo, const part_t *part, uint32_t rank,
                           sim_time_t ps)
{
    app__coll_rank_t *const to = coll_rank(memo, rank);
    const uint64_t most = memo->workload->collectives->records_max;
    for (size_t i = 0; i < part->record_count && to->record_count < most; i++) {
        SIM_GROW(to->records, to->record_count, &to->record_capacity);
        app__coll_record_t *const record = &to->records[to->record_count++];
        *record = part->records[i];
        record->start_ps += ps;
        record->end_ps += record->end_ps == SIM_TIME_NEVER ? 0 : ps;
    }
}

// Does what a span did, from begin_ps on. Ranks' calls will end at their times.
static void repeat(app__memo_t *memo, const span_t *span, sim_time_t begin_ps)
{
    const net_t *const net = net_of(memo);
    const sim_time_t shift_ps = begin_ps - span->begin_ps;
    nic_posted_receives_t *const receives = nic_take_receives(net);
    sim_state_repeat_span(&span->list, span->start, span->end, shift_ps);
    nic_put_receives(receives);
    for (size_t i = 0; i < net_node_count(net); i++) {
        net_node_at(net, i)->sim.events += span->nodes[i].events - span->nodes[i].own;
    }
    ending_t *const last = &memo->endings[rank_count(memo)];
    for (uint32_t r = 0; r < rank_count(memo); r++) {
        if (memo->calls[r].plan == NULL) {
            continue;
        }
        ending_t *const ending = &memo->endings[r];
        SIM_CHECK(!ending->due && !sim_timer_armed(&ending->timer));
        ending->due = true;
        ending->op = memo->calls[r].op;
        ending->time_ps = begin_ps + span->parts[r].end_ps;
        ending->turn = span->parts[r].end_turn;
        ending->rank->node->events--; // its timer has no counterpart
        last->rank = ending->rank;
        repeat_records(memo, &span->parts[r], r, shift_ps);
    }
    // The run does not end before the last event of the span.
    SIM_CHECK(last->rank != NULL && !last->due);
    last->due = true;
    last->time_ps = begin_ps + span->end_ps;
    last->rank->node->events--;
    memo->until_ps = last->time_ps;
    memo->skips->hits++;
    memo->skips->jumps++;
    memo->skips->hops_skipped += span->hops;
}

static void call_ends(sim_node_t *node, sim_timer_t *timer)
{
    ending_t *const ending = SIM_CONTAINER_OF(timer, ending_t, timer);
    SIM_CHECK(ending->rank->node == node);
    app__rank_finish(ending->rank, ending->op);
    app__rank_pump(ending->rank);
}

static void span_ends(sim_node_t *node, sim_timer_t *timer)
{
    const ending_t *const ending = SIM_CONTAINER_OF(timer, ending_t, timer);
    SIM_CHECK(ending->rank->node == node);
}

// Arms the timer of a call's end, and again those of its host that are due at the same instant and
// ended after it when the span was recorded.
static void arm_end(const app__memo_t *memo, const ending_t *ending)
{
    sim_node_t *const node = ending->rank->node;
    const uint32_t first = memo->first_turn[node->index];
    uint32_t least = ending->turn;
    for (const ending_t *next = ending; next != NULL;) {
        sim_timer_arm(node, &memo->endings[next->rank->number].timer, ending->time_ps);
        next = NULL;
        for (uint32_t i = first; i < rank_count(memo) && memo->turns[i].node == node->index; i++) {
            const ending_t *const other = &memo->endings[memo->turns[i].rank];
            if (sim_timer_armed(&other->timer) && other->time_ps == ending->time_ps &&
                other->turn > least && (next == NULL || other->turn < next->turn)) {
                next = other;
            }
        }
        least = next != NULL ? next->turn : least;
    }
}

bool app__memo_called(app__memo_t *memo, app__rank_t *rank, uint32_t op)
{
    ending_t *const ending = &memo->endings[rank->number];
    ending_t *const last = &memo->endings[rank_count(memo)];
    ending->unjudged += !ending->judged && memo->recorded == NULL;
    ending->judged = false;
    if (ending->due) {
        SIM_CHECK(ending->op == op);
        ending->due = false;
        arm_end(memo, ending);
        if (last->rank == rank) {
            last->due = false;
            sim_timer_arm(rank->node, &last->timer, last->time_ps);
        }
        return true;
    }
    SIM_CHECKF(rank->node->now_ps > memo->until_ps || memo->until_ps == 0,
               "rank %u calls within a span that is repeated", rank->number);
    span_t *const span = memo->recorded;
    if (span != NULL) {
        const part_t *const part = &span->parts[rank->number];
        if (part->op != op || rank->node->now_ps - span->begin_ps != part->begin_ps) {
            span->parts[rank->number].spoiled = true;
        }
    }
    return false;
}

void app__memo_ended(app__memo_t *memo, const app__rank_t *rank)
{
    span_t *const span = memo->recorded;
    if (span != NULL && span->parts[rank->number].end_ps == SIM_TIME_NEVER) {
        span->parts[rank->number].end_ps = rank->node->now_ps - span->begin_ps;
        span->parts[rank->number].end_turn = memo->ended[rank->node->index]++;
    }
}

void app__memo_ran(app__memo_t *memo, const app__rank_t *rank)
{
    memo->own[rank->node->index]++;
    memo->own_ps[rank->node->index] = rank->node->now_ps;
}

// -- decisions

// Decides about the span that begins with the calls to come.
static void decide(app__memo_t *memo)
{
    sim_state_t list = {0};
    sim_time_t begin_ps = 0;
    sim_time_t rest_ps = 0;
    const char *why = find_calls(memo, &begin_ps);
    if (why == NULL) {
        app__memo_list(memo->workload, &list, &rest_ps);
        why = list.refused != NULL                      ? list.refused
              : sim_has_samplers(net_sim(net_of(memo))) ? "samplers"
              : !rested(memo, begin_ps, rest_ps)        ? "no rest before it"
                                                        : NULL;
    }
    const span_t *const span = why == NULL ? find_span(memo, &list, begin_ps) : NULL;
    if (span != NULL) {
        why = refuse_hit(memo, span, begin_ps);
    }
    for (uint32_t r = 0; r < rank_count(memo); r++) {
        memo->endings[r].judged = true;
    }
    if (why != NULL) {
        app_skips_refuse(memo->skips, why);
    } else if (span == NULL) {
        memo->skips->misses++;
        record(memo, &list, begin_ps);
    } else if (sim_random_chance(&memo->random, memo->skips->audit)) {
        memo->skips->audited++;
        memo->audited = span;
        record(memo, &list, begin_ps);
    } else {
        repeat(memo, span, begin_ps);
    }
    sim_state_fini(&list);
}

// Looks for the begin of a span, between windows.
static void look(sim_time_t window_end_ps, void *ctx)
{
    app__memo_t *const memo = ctx;
    const bool close = window_end_ps < memo->before_ps + QUIET_PS;
    memo->before_ps = window_end_ps;
    if (close || window_end_ps <= memo->until_ps || !sim_only_timers_left(net_sim(net_of(memo)))) {
        return;
    }
    if (memo->recorded != NULL) {
        finish(memo);
    }
    decide(memo);
}

// Reports calls that came so soon after something else that nobody looked at the network between.
static void settle(app_skips_t *skips)
{
    const app__memo_t *const memo = skips->settle_ctx;
    uint64_t most = 0;
    for (uint32_t r = 0; r < rank_count(memo); r++) {
        const uint64_t unjudged = memo->endings[r].unjudged;
        most = SIM_MAX(unjudged, most);
    }
    for (uint64_t i = 0; i < most; i++) {
        app_skips_refuse(skips, "no rest before it");
    }
}

app__memo_t *app__memo_create(app__workload_t *workload, app_skips_t *skips)
{
    app__memo_t *const memo = sim_alloc(sizeof(*memo));
    const uint32_t ranks = workload->schedule->rank_count;
    const size_t nodes = net_node_count(workload->app.net);
    *memo = (app__memo_t){.workload = workload, .skips = skips};
    memo->calls = sim_alloc_array((size_t)ranks + 1, sizeof(*memo->calls));
    memo->endings = sim_alloc_array((size_t)ranks + 1, sizeof(*memo->endings));
    memo->own = sim_alloc_array(nodes + 1, sizeof(*memo->own));
    memo->own_ps = sim_alloc_array(nodes + 1, sizeof(*memo->own_ps));
    memo->turns = sim_alloc_array((size_t)ranks + 1, sizeof(*memo->turns));
    memo->first_turn = sim_alloc_array(nodes + 1, sizeof(*memo->first_turn));
    memo->ended = sim_alloc_array(nodes + 1, sizeof(*memo->ended));
    for (uint32_t r = 0; r <= ranks; r++) {
        memo->endings[r].rank = r < ranks ? &workload->ranks[r] : NULL;
        sim_timer_init(&memo->endings[r].timer, r < ranks ? call_ends : span_ends);
    }
    sim_random_init(&memo->random, sim_options(net_sim(workload->app.net))->seed,
                    workload->app.index, "fast-forward audit");
    sim_on_window(net_sim(workload->app.net), look, memo);
    skips->settle = settle;
    skips->settle_ctx = memo;
    return memo;
}

void app__memo_destroy(app__memo_t *memo)
{
    if (memo == NULL) {
        return;
    }
    for (size_t i = 0; i < memo->span_count; i++) {
        span_free(memo, memo->spans[i]);
    }
    span_free(memo, memo->recorded);
    SIM_FREE_ALL(memo->spans, memo->calls, memo->endings, memo->own, memo->own_ps, memo->turns,
                 memo->first_turn, memo->ended, memo);
}
