// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/repeat/inside.c - remembers the calls of groups whose ranks are all on
// one host, and repeats them.
//
// The messages of such a group pass its ranks' links only, which share their time by differences of
// times. So if all is still when the first rank calls, and nothing else passes these links before
// the last rank has ended, the ends follow from the plan and from the times of the calls. The first
// such call is simulated and kept. A later one begins when its first rank calls, if it is known
// when the others will: each of them computes, and calls next. docs/models/fast-forward.md
#include "apps/workload/collective/repeat/inside.h"

#include "apps/skips.h"
#include "apps/workload/collective/repeat/memo.h"
#include "apps/workload/collective/repeat/starts.h"
#include "kernel/memo.h"

#include <string.h>

#define SPANS_MAX 64u // of a group

// The part of a member in a span.
typedef struct part {
    sim_time_t begin_ps; // of its call, after the span's begin
    sim_time_t end_ps;   // likewise
    uint32_t turn;       // of its call
    app__tally_t sent;
    app__coll_record_t *records;
    size_t record_count;
} part_t;

// One call of the group, from its first begin to its last end.
typedef struct span {
    const app__coll_plan_t *plan;
    sim_time_t begin_ps;
    sim_time_t end_ps; // after the begin
    uint64_t events;   // of timers
    part_t *parts;     // by member
} span_t;

struct app__inside {
    app__collectives_t *all;
    app__member_t *members;
    uint32_t count; // of members
    sim_node_t *node;
    sim_ratio_t audit;
    sim_random_t random; // of audits
    span_t **spans;
    size_t span_count;
    size_t span_capacity;
    span_t *next;        // the call that is predicted or recorded
    uint32_t *ops;       // by member: of the call that is predicted or repeated
    uint64_t puts_first; // foreign ones, when the call began
    // -- the span that is simulated
    bool recording;
    bool spoiled;             // it is not repeated
    const span_t *audited;    // it must do what this one did; NULL: any
    uint32_t called;          // members
    uint32_t done;            // members whose calls have ended
    app__tally_t *sent_first; // by member, when it began
    size_t *record_first;     // by member
    uint64_t events_first;
    // -- the span that is repeated
    const span_t *repeated; // NULL: none
    sim_time_t begin_ps;
    uint64_t hits;
    uint64_t misses;
    uint64_t audits;
};

// -- counts of the members

static app__port_t *port_of(const app__inside_t *inside, uint32_t member)
{
    return &inside->all->workload->ports[inside->members[member].rank->port_first];
}

// Returns the messages that passed the members' links and were of no call of the group.
static uint64_t foreign_puts(const app__inside_t *inside)
{
    uint64_t puts = 0;
    for (uint32_t m = 0; m < inside->count; m++) {
        const app__port_t *const port = port_of(inside, m);
        puts += port->nvlink.puts + port->nvlink_in.puts - inside->members[m].puts;
    }
    return puts;
}

static uint64_t all_events(const app__inside_t *inside)
{
    uint64_t events = 0;
    for (uint32_t m = 0; m < inside->count; m++) {
        const app__port_t *const port = port_of(inside, m);
        events += port->nvlink.passes + port->nvlink_in.passes + inside->members[m].events;
    }
    return events;
}

static sim_time_t now_of(const app__inside_t *inside)
{
    return inside->node->now_ps;
}

// -- spans

static span_t *span_create(uint32_t count)
{
    span_t *const span = sim_alloc(sizeof(*span));
    span->parts = sim_alloc_array((size_t)count + 1, sizeof(*span->parts));
    return span;
}

static void span_free(const app__inside_t *inside, span_t *span)
{
    for (uint32_t m = 0; span != NULL && m < inside->count; m++) {
        sim_free(span->parts[m].records);
    }
    if (span != NULL) {
        sim_free(span->parts);
        sim_free(span);
    }
}

static bool same_calls(const app__inside_t *inside, const span_t *a, const span_t *b)
{
    bool same = a->plan == b->plan;
    for (uint32_t m = 0; m < inside->count && same; m++) {
        same = a->parts[m].begin_ps == b->parts[m].begin_ps && a->parts[m].turn == b->parts[m].turn;
    }
    return same;
}

static const span_t *find_span(const app__inside_t *inside, const span_t *calls)
{
    for (size_t i = 0; i < inside->span_count; i++) {
        if (same_calls(inside, inside->spans[i], calls)) {
            return inside->spans[i];
        }
    }
    return NULL;
}

// -- what comes next

// Returns whether nothing of the group is under way, and its links are idle. Calls may end at this
// very instant.
static bool is_still(const app__inside_t *inside)
{
    for (uint32_t m = 0; m < inside->count; m++) {
        const app__member_t *const member = &inside->members[m];
        const app__port_t *const port = port_of(inside, m);
        if (member->run != NULL || member->calls.head != APP__NO_OP || member->unsent != 0 ||
            port->nvlink.count != 0 || port->nvlink_in.count != 0 ||
            (member->ending != APP__NO_OP &&
             sim_timer_time_ps(inside->node, &member->end) != now_of(inside))) {
            return false;
        }
    }
    return true;
}

// Returns the operation that starts when another one has finished and is a part of the call.
static uint32_t next_part(const app__rank_t *rank, uint32_t op, uint32_t call)
{
    const app__op_t *const at = &rank->ops->ops[op];
    for (uint32_t i = 0; i < at->required_count; i++) {
        const uint32_t next = rank->ops->next[at->required_first + i];
        const app__op_t *const found = &rank->ops->ops[next];
        if (rank->states[next].left == 1 && found->type == APP__OP_COLL &&
            app__peer_of(rank->ops, found) == call) {
            return next;
        }
    }
    return APP__NO_OP;
}

// Finds when a member makes its part of the call, and *number, for the order of those of one
// instant. Returns false if it is not known.
static bool predict_member(app__inside_t *inside, uint32_t m, uint32_t call, uint64_t *number)
{
    const app__rank_t *const rank = inside->members[m].rank;
    part_t *const part = &inside->next->parts[m];
    if (!rank->begun) {
        return false;
    }
    if (inside->members[m].ending != APP__NO_OP) { // at this instant, in the order of the ranks
        *number = UINT64_MAX - inside->count + m;
        part->begin_ps = 0;
        inside->ops[m] = next_part(rank, inside->members[m].ending, call);
        return inside->ops[m] != APP__NO_OP;
    }
    for (uint32_t i = 0; i < rank->cpu_count; i++) {
        const app__cpu_t *const cpu = &rank->cpus[i];
        if (cpu->busy && cpu->running != APP__NO_OP &&
            rank->ops->ops[cpu->running].type == APP__OP_CALC) {
            inside->ops[m] = next_part(rank, cpu->running, call);
            if (inside->ops[m] != APP__NO_OP) {
                part->begin_ps = sim_timer_time_ps(rank->node, &cpu->timer) - now_of(inside);
                *number = 1 + sim_memo_timer_number(rank->node, &cpu->timer);
                return true;
            }
        }
    }
    return false;
}

// Finds when all members make their parts of a call that a member makes now. Returns false if it is
// not known.
static bool predict(app__inside_t *inside, const app__member_t *caller, uint32_t op)
{
    const app__rank_ops_t *const ops = caller->rank->ops;
    const uint32_t call = app__peer_of(ops, &ops->ops[op]);
    uint64_t numbers[APP__INSIDE_MAX];
    for (uint32_t m = 0; m < inside->count; m++) {
        numbers[m] = 0;
        inside->next->parts[m].begin_ps = 0;
        inside->ops[m] = op;
        if (m != caller->number && !predict_member(inside, m, call, &numbers[m])) {
            return false;
        }
    }
    for (uint32_t m = 0; m < inside->count; m++) {
        part_t *const parts = inside->next->parts;
        parts[m].turn = 0;
        for (uint32_t i = 0; i < inside->count; i++) {
            parts[m].turn += parts[i].begin_ps != parts[m].begin_ps
                                 ? parts[i].begin_ps < parts[m].begin_ps
                                 : numbers[i] < numbers[m];
        }
    }
    return true;
}

// Returns whether nothing but the call passes the members' links until the span is over, and the
// rows of flows.csv are in their order.
static bool is_alone(const app__inside_t *inside, const span_t *span)
{
    const app__collectives_t *const all = inside->all;
    const sim_time_t until_ps = sim_options(net_sim(all->workload->app.net))->until_ps;
    if (now_of(inside) + span->end_ps >= until_ps) {
        return false;
    }
    for (uint32_t m = 0; m < inside->count; m++) {
        const app__rank_t *const rank = inside->members[m].rank;
        const app__coll_rank_t *const at = app__member_rank(&inside->members[m]);
        const app__started_t started = {
            .op = inside->ops[m],
            .rest_ps = span->end_ps - span->parts[m].end_ps,
            .records = at->record_count < all->records_max,
        };
        if (!app__starts_nothing(at->host->starts, rank, &started)) {
            return false;
        }
    }
    return true;
}

// -- recording

// Begins to record the call that is simulated.
static void record(app__inside_t *inside, const app__coll_plan_t *plan, const span_t *audited)
{
    inside->recording = true;
    inside->spoiled = inside->span_count >= SPANS_MAX && audited == NULL;
    inside->audited = audited;
    inside->called = 0;
    inside->done = 0;
    inside->events_first = all_events(inside);
    inside->puts_first = foreign_puts(inside);
    inside->next->plan = plan;
    inside->next->begin_ps = now_of(inside);
    for (uint32_t m = 0; m < inside->count; m++) {
        inside->next->parts[m] = (part_t){.begin_ps = SIM_TIME_NEVER};
        inside->sent_first[m] = inside->members[m].sent;
        inside->record_first[m] = app__member_rank(&inside->members[m])->record_count;
    }
}

// Notes a call of a member in the span that is recorded.
static void note_call(app__inside_t *inside, uint32_t m, const app__coll_plan_t *plan)
{
    part_t *const part = &inside->next->parts[m];
    if (part->begin_ps != SIM_TIME_NEVER || plan != inside->next->plan) {
        inside->spoiled = true; // its next call, before the others have ended
        return;
    }
    part->begin_ps = now_of(inside) - inside->next->begin_ps;
    part->turn = inside->called++;
}

// Completes the parts of a span: what the members sent.
static void complete(const app__inside_t *inside, span_t *span)
{
    for (uint32_t m = 0; m < inside->count; m++) {
        const app__coll_rank_t *const rank = app__member_rank(&inside->members[m]);
        part_t *const part = &span->parts[m];
        const app__tally_t sent = inside->members[m].sent;
        part->sent.messages = sent.messages - inside->sent_first[m].messages;
        part->sent.bytes = sent.bytes - inside->sent_first[m].bytes;
        part->record_count = rank->record_count - inside->record_first[m];
        part->records = sim_alloc_array(part->record_count + 1, sizeof(*part->records));
        if (part->record_count > 0) {
            memcpy(part->records,
                   rank->records + inside->record_first[m],
                   part->record_count * sizeof(*part->records));
        }
    }
    span->events = all_events(inside) - inside->events_first;
}

// Ends the run if a call did not do what memory says.
static void audit(const app__inside_t *inside, const span_t *span, const span_t *kept)
{
    bool same = span->events == kept->events && span->end_ps == kept->end_ps;
    for (uint32_t m = 0; m < inside->count && same; m++) {
        const part_t *const a = &span->parts[m];
        const part_t *const b = &kept->parts[m];
        same = a->begin_ps == b->begin_ps && a->end_ps == b->end_ps &&
               a->sent.messages == b->sent.messages && a->sent.bytes == b->sent.bytes;
    }
    SIM_CHECKF(same,
               "fast-forward: the call within %s at %" PRIu64 " ps differs from the one at %" PRIu64
               " ps that it should repeat",
               inside->node->name,
               span->begin_ps,
               kept->begin_ps);
}

void app__inside_ended(app__inside_t *inside, const app__member_t *member)
{
    span_t *const span = inside->next;
    if (!inside->recording) {
        return;
    }
    span->parts[member->number].end_ps = now_of(inside) - span->begin_ps;
    if (++inside->done < inside->count) {
        return;
    }
    const bool spoiled = inside->spoiled || foreign_puts(inside) != inside->puts_first;
    SIM_CHECKF(inside->audited == NULL || !spoiled,
               "fast-forward: another message passes a link of %s before %" PRIu64 " ps",
               inside->node->name,
               now_of(inside));
    inside->recording = false;
    span->end_ps = now_of(inside) - span->begin_ps;
    if (spoiled || (inside->audited == NULL && find_span(inside, span) != NULL)) {
        inside->misses++; // known, maybe, but nobody knew when the members would call
        return;
    }
    complete(inside, span);
    if (inside->audited != NULL) {
        audit(inside, span, inside->audited);
        inside->audits++;
        span_free(inside, span);
    } else {
        inside->misses++;
        SIM_GROW(inside->spans, inside->span_count, &inside->span_capacity);
        inside->spans[inside->span_count++] = span;
    }
    inside->next = span_create(inside->count);
}

// -- repeating

static void repeat_part(const app__inside_t *inside, const part_t *part, uint32_t m, sim_time_t ps)
{
    app__coll_rank_t *const rank = app__member_rank(&inside->members[m]);
    rank->messages += part->sent.messages;
    rank->bytes += part->sent.bytes;
    for (size_t i = 0; i < part->record_count && rank->record_count < inside->all->records_max;
         i++) {
        SIM_GROW(rank->records, rank->record_count, &rank->record_capacity);
        app__coll_record_t *const record = &rank->records[rank->record_count++];
        *record = part->records[i];
        record->start_ps += ps;
        record->end_ps += ps;
    }
}

// Begins to repeat a span: all of its members will call at their times.
static void repeat(app__inside_t *inside, const span_t *span)
{
    inside->repeated = span;
    inside->begin_ps = now_of(inside);
    inside->puts_first = foreign_puts(inside);
    inside->node->events += span->events;
    inside->hits++;
    for (uint32_t m = 0; m < inside->count; m++) {
        inside->members[m].repeats = inside->ops[m];
        repeat_part(inside, &span->parts[m], m, inside->begin_ps - span->begin_ps);
    }
}

// Lets a member's part of the repeated call end at its time.
static void repeat_call(app__inside_t *inside, app__member_t *member, uint32_t op)
{
    const part_t *const part = &inside->repeated->parts[member->number];
    SIM_CHECK(inside->ops[member->number] == op &&
              inside->begin_ps + part->begin_ps == now_of(inside));
    app__coll_end_at(member, op, inside->begin_ps + part->end_ps);
}

void app__inside_over(app__inside_t *inside)
{
    if (inside->repeated == NULL || now_of(inside) != inside->begin_ps + inside->repeated->end_ps) {
        return;
    }
    SIM_CHECKF(foreign_puts(inside) == inside->puts_first,
               "fast-forward: another message passes a link of %s before %" PRIu64 " ps",
               inside->node->name,
               now_of(inside));
    inside->repeated = NULL; // a member may call again now
}

bool app__inside_called(app__inside_t *inside, app__member_t *member, uint32_t op)
{
    const app__collectives_t *const all = inside->all;
    const app__rank_ops_t *const ops = member->rank->ops;
    const uint32_t call = app__peer_of(ops, &ops->ops[op]);
    const app__coll_plan_t *const plan = &all->plans[all->plan_of[call]];
    if (inside->repeated != NULL) {
        repeat_call(inside, member, op);
        return true;
    }
    if (inside->recording) {
        note_call(inside, member->number, plan);
        return false;
    }
    if (plan->cut.bytes == 0 || !is_still(inside)) {
        return false;
    }
    const span_t *found = NULL;
    inside->next->plan = plan;
    if (predict(inside, member, op)) {
        found = find_span(inside, inside->next);
        found = found != NULL && is_alone(inside, found) ? found : NULL;
    }
    if (found != NULL && !sim_random_chance(&inside->random, inside->audit)) {
        repeat(inside, found);
        repeat_call(inside, member, op);
        return true;
    }
    record(inside, plan, found);
    note_call(inside, member->number, plan);
    return false;
}

// -- creation

static app__inside_t *inside_create(app__collectives_t *all, uint32_t group, sim_ratio_t ratio)
{
    const app__workload_t *const workload = all->workload;
    app__inside_t *const inside = sim_alloc(sizeof(*inside));
    const uint32_t count = workload->schedule->groups[group].count;
    *inside = (app__inside_t){
        .all = all,
        .members = all->groups[group].members,
        .count = count,
        .node = all->groups[group].members[0].rank->node,
        .audit = ratio,
        .next = span_create(count),
    };
    inside->sent_first = sim_alloc_array(count, sizeof(*inside->sent_first));
    inside->record_first = sim_alloc_array(count, sizeof(*inside->record_first));
    inside->ops = sim_alloc_array(count, sizeof(*inside->ops));
    sim_random_init(&inside->random,
                    sim_options(net_sim(workload->app.net))->seed + group,
                    workload->app.index,
                    "fast-forward audit within hosts");
    return inside;
}

void app__insides_create(app__workload_t *workload, const app_skips_t *skips)
{
    app__collectives_t *const all = workload->collectives;
    if (!app__starts_knows(workload)) {
        return;
    }
    for (uint32_t g = 0; g < workload->schedule->group_count; g++) {
        const uint32_t count = workload->schedule->groups[g].count;
        if (all->groups[g].one_host && count >= 2 && count <= APP__INSIDE_MAX) {
            app__coll_host_t *const host = app__member_rank(&all->groups[g].members[0])->host;
            host->starts = host->starts != NULL ? host->starts : app__starts_create(workload);
            all->groups[g].inside = inside_create(all, g, skips->audit);
        }
    }
}

void app__inside_destroy(app__inside_t *inside)
{
    if (inside == NULL) {
        return;
    }
    for (size_t i = 0; i < inside->span_count; i++) {
        span_free(inside, inside->spans[i]);
    }
    span_free(inside, inside->next);
    sim_free(inside->spans);
    sim_free(inside->sent_first);
    sim_free(inside->record_first);
    sim_free(inside->ops);
    sim_free(inside);
}

void app__insides_count(const app__workload_t *workload, app_skips_t *skips)
{
    for (size_t g = 0; g < workload->schedule->group_count; g++) {
        const app__inside_t *const inside = workload->collectives->groups[g].inside;
        if (inside != NULL) {
            skips->local_hits += inside->hits;
            skips->local_misses += inside->misses;
            skips->audited += inside->audits;
        }
    }
}
