// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/repeat/loops.c - loops of calls: a period holds whole calls.
//
// Without a computation between its calls, a rank begins the next call while others are in the last
// one, so there is no rest. But if all ranks begin their calls at equal distances, the whole state
// is taken at two moments so far apart: the network, what members, blocks and channels are at, and
// all timers. If the second is the first again, all calls that follow are alike, and as many as
// fit are added at once.
//
// A long call cuts its buffer into loops of equal chunks, and a ring moves a chunk on in each step
// of a loop. If all calls that run take a loop or a step in one time, and no operation begins or
// ends, the moments lie within these calls, a few loops or steps apart.
// docs/models/fast-forward.md
#include "apps/workload/collective/repeat/loops.h"

#include "apps/workload/collective/collectives.h"
#include "apps/workload/collective/member_channels.h"
#include "apps/workload/collective/repeat/inside.h"
#include "apps/workload/collective/repeat/rows.h"
#include "apps/workload/op_queue.h"
#include "apps/workload/port.h"
#include "apps/workload/workload.h"
#include "nic/fast_forward_period.h"

#include <string.h>

#define APART_MOST 16u // calls between two moments, in a first search: ties take so long to repeat
#define TRIES 8u       // windows of a call in which somebody looks whether all ranks are in step
#define INSIDE_APART_MOST (APP__PLACES_NOTED / 2) // loops or steps between two moments
#define WAIT_PS (2 * SIM_PS_PER_US)               // between looks for them
#define WAIT_MOST_PS (4 * SIM_PS_PER_MS)
// The fields of its step by which a message is posted.
#define POSTED_BY (APP__STEP_FINAL | APP__STEP_SPREAD | APP__STEP_SUM)
#define CHECKED 16u // the first jumps, and one in this number of later ones, are checked

// A search within calls, by its unit.
typedef struct search {
    uint32_t apart; // loops or steps between two moments
    sim_time_t next_ps;
    sim_time_t wait_ps;  // after a failure; doubles
    sim_time_t known_ps; // of the last period; 0: none, or it was none
} search_t;

// The part of a rank at a moment.
typedef struct place {
    uint32_t op;
    size_t records;  // rows of flows.csv
    size_t farthest; // rows since the oldest message that is not acknowledged
} place_t;

// For each message that is not acknowledged, the rows of flows.csv since its own.
typedef struct rows {
    size_t *since;
    size_t count;
    size_t capacity;
} rows_t;

struct app__loops {
    app__workload_t *workload;
    app_skips_t *skips;
    nic_moment_program_t program;
    nic_moment_t *first;
    sim_time_t period_ps;
    uint32_t apart;   // calls between two moments
    uint32_t next_op; // of the first rank, when somebody looks again
    uint32_t tries;   // looks in this call
    bool failed;      // a comparison at this distance
    place_t *before;  // by rank, at the first moment
    place_t *now;     // at the latest moment
    rows_t rows_before;
    rows_t rows;
    app__unit_t unit;
    search_t searches[APP__UNITS]; // within calls
    app__reaches_t reached_before;
    app__reaches_t reached;
};

// clang-format off
static const sim_field_t channel_fields[] = {
    APP__CHANNEL_ROWS, APP__CHANNEL_ROW(call, COUNT),
    APP__CHANNEL_ROW(waiter, STATE), APP__CHANNEL_ROW(permitter, STATE),
    APP__CHANNEL_ROW(stream, IGNORE), APP__CHANNEL_ROW(comings, IGNORE),
};
static const sim_fields_t channel_type =
    SIM_FIELDS("connection", sizeof(app__member_channel_t), channel_fields);

static const sim_field_t member_fields[] = {
    SIM_FIELD(app__member_t, run, IGNORE), SIM_FIELD(app__member_t, unsent, STATE),
    SIM_FIELD(app__member_t, calls, IGNORE),
};
static const sim_fields_t member_type = SIM_FIELDS("member", sizeof(app__member_t), member_fields);

static const sim_field_t rank_fields[] = {APP__RANK_ROWS};
static const sim_fields_t rank_type = SIM_FIELDS("rank", sizeof(app__coll_rank_t), rank_fields);

static const sim_field_t port_fields[] = {
    SIM_FIELD(app__port_t, nvlink, IGNORE), SIM_FIELD(app__port_t, nvlink_in, IGNORE),
};
static const sim_fields_t port_type =
    SIM_FIELDS("port of a rank", sizeof(app__port_t), port_fields);
// clang-format on

// -- notes

static uint64_t address_of(const void *at)
{
    return (uint64_t)(uintptr_t)at;
}

// Notes the streams of messages that pass a link within a host.
static void note_link(sim_notes_t *notes, app__nvlink_t *link)
{
    sim_note(notes, link->count);
    sim_note(notes, link->first == UINT64_MAX ? UINT64_MAX : link->first - link->share);
    sim_note_timer(notes, &link->timer);
    sim_note(notes, link->since_ps != 0);
    if (link->since_ps != 0) {
        sim_note_time(notes, &link->since_ps);
    }
    for (const app__passers_t *stream = link->streams; stream != NULL; stream = stream->next) {
        sim_note(notes, address_of(stream));
        sim_note(notes, stream->end - link->share);
        for (app__passing_t *passing = stream->first; passing != NULL; passing = passing->next) {
            const app__coming_t *const coming = SIM_CONTAINER_OF(passing, app__coming_t, passing);
            const app__member_channel_t *const channel = coming->to;
            sim_note(notes, coming->word - channel->arrived.next);
            sim_note(notes, passing->alone_ps);
            sim_note(notes, passing->width);
        }
        sim_note(notes, 0);
    }
}

// Notes a block. Within a call, its loops or steps grow in each period; has_done (members.c)
// compares those of blocks.
static void note_block(app__loops_t *loops, sim_notes_t *notes, app__coll_run_t *run,
                       uint32_t number)
{
    app__coll_block_t *const block = &run->blocks[number];
    if (loops->unit != APP__CALLS) {
        app__reach_note(&loops->reached, loops->unit, notes, run, number);
    } else {
        sim_note(notes, (uint64_t)block->at.loop << 32 | block->at.step);
        sim_note(notes, (uint64_t)block->permit.loop << 32 | block->permit.step);
    }
    sim_note(notes, (uint64_t)block->at.slice << 32 | block->permit.slice);
    sim_note(notes, (uint64_t)block->steps << 32 | block->channel);
    sim_note(notes, (uint64_t)block->awaits << 32 | block->waiters);
    sim_note(notes, (uint64_t)block->looked | (uint64_t)block->permits << 1 |
                        (uint64_t)block->busy << 2 | (uint64_t)block->handled << 3 |
                        (uint64_t)block->done << 4);
    sim_note(notes, block->looked ? address_of(block->from) : 0);
    sim_note(notes, block->looked ? address_of(block->to) : 0);
    sim_note(notes, block->copied);
}

// Notes a call that runs. The rest of a step at hand follows from its place.
static void note_run(app__loops_t *loops, sim_notes_t *notes, app__coll_run_t *run)
{
    sim_note(notes, address_of(run->plan));
    sim_note(notes, run->left);
    sim_note(notes, run->block_count);
    sim_note_step(notes, &run->op, sizeof(run->op), UINT32_MAX);
    sim_note_timer(notes, &run->begin.timer);
    for (uint32_t i = 0; i < run->block_count; i++) {
        note_block(loops, notes, run, i);
        if (run->timers != NULL) {
            sim_note_timer(notes, &run->timers[i].timer);
        }
    }
}

static app__coll_message_t *message_at(const app__member_channel_t *channel, uint32_t number)
{
    return &channel->messages[number & (channel->message_capacity - 1)];
}

static void note_messages(app__loops_t *loops, sim_notes_t *notes,
                          const app__member_channel_t *channel, place_t *place)
{
    for (uint32_t number = channel->acked.next; number != channel->filled; number++) {
        app__coll_message_t *const message = message_at(channel, number);
        const bool posted = (int32_t)(channel->posted - number) > 0;
        const size_t since =
            posted && message->record != APP__NO_RECORD ? place->records - message->record : 0;
        const sim_time_t due_ps = message->due_ps;
        sim_note(notes, message->bytes);
        sim_note(notes, message->local_bps);
        sim_note(notes, posted ? 0 : message->what & POSTED_BY);
        if (loops->unit !=
            APP__CALLS) { // its label differs, and matters after a rest: numbers of packets then
            sim_note_step(notes, &message->place, sizeof(message->place), UINT32_MAX);
        } else {
            sim_note(notes, message->place);
        }
        sim_note(notes, !posted && due_ps > notes->now_ps ? due_ps - notes->now_ps : 0);
        sim_note_step(notes, &message->due_ps, sizeof(message->due_ps), UINT64_MAX);
        place->farthest = SIM_MAX(since, place->farthest);
        SIM_APPEND(loops->rows.since, loops->rows.count, loops->rows.capacity, since);
    }
    sim_note_ring(notes, (sim_noted_ring_t){.base = (char *)channel->messages,
                                            .bytes = sizeof(*channel->messages),
                                            .capacity = channel->message_capacity,
                                            .count = channel->filled - channel->acked.next,
                                            .first = &channel->acked.next});
}

static void note_channel(app__loops_t *loops, sim_notes_t *notes, sim_state_t *state,
                         app__member_channel_t *channel, place_t *place)
{
    const uint32_t next = channel->incoming ? channel->permitted : channel->filled;
    const bool called = channel->call != APP__NO_OP;
    channel->phase =
        (channel->incoming ? channel->arrived.next : channel->filled) % channel->member->all->slots;
    sim_state_add(state, &channel_type, channel);
    sim_note(notes, called ? place->op - channel->call : UINT64_MAX);
    sim_note(notes, called && loops->unit == APP__CALLS ? next - channel->call_first : 0);
    sim_note(notes, channel->filled - channel->acked.next);
    sim_note(notes, channel->posted - channel->acked.next);
    sim_note(notes, channel->allowed.next == 0 ? 0 : channel->allowed.next - channel->filled);
    sim_note(notes, channel->arrived.next - channel->consumed);
    sim_note(notes, channel->visible.next - channel->consumed);
    sim_note(notes, channel->permitted == 0 ? 0 : channel->permitted - channel->consumed);
    sim_note_timer(notes, &channel->timer);
    note_messages(loops, notes, channel, place);
    for (app__coming_t *coming = SIM_LIST_FIRST(&channel->comings, app__coming_t, link);
         coming != NULL; coming = SIM_LIST_NEXT(coming, app__coming_t, link)) {
        sim_note(notes, coming->word - channel->arrived.next);
        sim_note(notes, coming->delay_ps);
        sim_note(notes, coming->block_ps > notes->now_ps ? coming->block_ps - notes->now_ps : 0);
        sim_note_step(notes, &coming->block_ps, sizeof(coming->block_ps), UINT64_MAX);
        sim_note(notes, (uint64_t)(uintptr_t)coming->timer.fn);
        sim_note_timer(notes, &coming->timer);
        sim_note_step(notes, &coming->word, sizeof(coming->word), UINT32_MAX);
    }
    sim_note(notes, 0);
}

static const char *note_member(app__loops_t *loops, sim_notes_t *notes, sim_state_t *state,
                               app__member_t *member, place_t *place)
{
    if (loops->unit == APP__CALLS && member->calls.head != APP__NO_OP) {
        return "calls that wait";
    }
    if (loops->unit == APP__CALLS && member->run != NULL && member->run->op != place->op) {
        return "operations besides a collective";
    }
    sim_note(notes, member->calls.head);
    sim_note(notes, member->all->groups[member->group].joined);
    sim_state_add(state, &member_type, member);
    sim_note(notes, member->run != NULL);
    if (member->run != NULL) {
        note_run(loops, notes, member->run);
    }
    for (app__member_channel_t *channel =
             SIM_LIST_FIRST(&member->channels, app__member_channel_t, link);
         channel != NULL; channel = SIM_LIST_NEXT(channel, app__member_channel_t, link)) {
        note_channel(loops, notes, state, channel, place);
    }
    return NULL;
}

static const char *note_rank(app__loops_t *loops, uint32_t number, sim_state_t *state,
                             sim_notes_t *notes)
{
    app__rank_t *const rank = &loops->workload->ranks[number];
    app__coll_rank_t *const at = &loops->workload->collectives->ranks[number];
    place_t *const place = &loops->now[number];
    *place = (place_t){.op = rank->ops->count - rank->left, .records = at->record_count};
    if (rank->ready.head != APP__NO_OP || rank->match.now != 0 || rank->granted_count != 0 ||
        rank->comings.first != NULL || at->host->work_count != 0) {
        return "messages besides collectives";
    }
    for (uint32_t i = 0; i < rank->cpu_count; i++) {
        if (loops->unit == APP__CALLS &&
            (rank->cpus[i].busy || SIM_RING_COUNT(&rank->cpus[i].queue) != 0)) {
            return "computations";
        }
        sim_note(notes, (uint64_t)SIM_RING_COUNT(&rank->cpus[i].queue) << 1 | rank->cpus[i].busy);
    }
    sim_state_add(state, &rank_type, at);
    // Within calls no operation ends, so none begins.
    sim_note(notes, loops->unit == APP__CALLS ? rank->left != 0 : rank->left);
    sim_note(notes, rank->failed);
    sim_note_step(notes, &rank->left, sizeof(rank->left), UINT32_MAX);
    const char *refused = NULL;
    for (uint32_t i = 0; i < at->member_count && refused == NULL; i++) {
        refused = note_member(loops, notes, state, at->members[i], place);
    }
    return refused;
}

static const char *note(void *ctx, sim_state_t *state, sim_notes_t *notes)
{
    app__loops_t *const loops = ctx;
    app__workload_t *const workload = loops->workload;
    const char *refused = NULL;
    loops->rows.count = loops->reached.count = 0;
    if (workload->collectives->options.queue_pairs != APP__QPS_PERMANENT) {
        return "new queue pairs";
    }
    for (uint32_t p = 0; p < workload->port_count; p++) {
        app__port_t *const port = &workload->ports[p];
        if (port->nvlink.packets != NULL) {
            return "accelerators";
        }
        sim_state_add(state, &port_type, port);
        note_link(notes, &port->nvlink);
        note_link(notes, &port->nvlink_in);
    }
    for (uint32_t r = 0; r < workload->schedule->rank_count && refused == NULL; r++) {
        refused = note_rank(loops, r, state, notes);
    }
    return refused;
}

// -- what follows

static const app__coll_plan_t *plan_of(const app__loops_t *loops, const app__rank_t *rank,
                                       uint32_t op)
{
    const app__collectives_t *const all = loops->workload->collectives;
    return &all->plans[all->plan_of[app__peer_of(rank->ops, &rank->ops->ops[op])]];
}

// Returns whether an operation is a call, and the next one is a call that waits for it alone.
static bool goes_on(const app__rank_t *rank, uint32_t op)
{
    const app__op_t *const at = &rank->ops->ops[op];
    return op + 1 < rank->ops->count && at->type == APP__OP_COLL && at[1].type == APP__OP_COLL &&
           at->irequired_count == 0 && at[1].irequired_count == 0 && at->required_count == 1 &&
           rank->ops->next[at->required_first] == op + 1 && at[1].needs == 1;
}

// Returns how many periods more a rank makes the calls that it made between the moments.
static uint64_t most_of(const app__loops_t *loops, uint32_t number)
{
    const app__rank_t *const rank = &loops->workload->ranks[number];
    const place_t *const a = &loops->before[number];
    const place_t *const b = &loops->now[number];
    const uint32_t step = b->op - a->op;
    if (rank->left == 0) {
        return UINT64_MAX;
    }
    if (step != loops->apart || (b->farthest > 0 && b->records == a->records) ||
        rank->states[b->op].start_ps - rank->states[a->op].start_ps != loops->period_ps) {
        return 0;
    }
    uint32_t last = a->op;
    while (goes_on(rank, last) &&
           (last + 1 < a->op + step ||
            plan_of(loops, rank, last + 1) == plan_of(loops, rank, last + 1 - step))) {
        last++;
    }
    return last < b->op ? 0 : (last - b->op) / step;
}

// Returns how many periods more all blocks are in loops or steps that are alike.
static uint64_t most_inside(const app__loops_t *loops)
{
    uint64_t least = app__reach_most(loops->unit, &loops->reached_before, &loops->reached);
    for (uint32_t r = 0; r < loops->workload->schedule->rank_count; r++) {
        const place_t *const now = &loops->now[r];
        least = now->farthest > 0 && now->records == loops->before[r].records ? 0 : least;
    }
    return least == UINT64_MAX ? 0 : least;
}

static uint64_t most(void *ctx)
{
    const app__loops_t *const loops = ctx;
    const rows_t *const rows = &loops->rows;
    uint64_t least = UINT64_MAX;
    if (rows->count != loops->rows_before.count ||
        (rows->count > 0 &&
         memcmp(rows->since, loops->rows_before.since, rows->count * sizeof(*rows->since)) != 0)) {
        return 0; // flows.csv gets full between the moments
    }
    if (loops->unit != APP__CALLS) {
        return most_inside(loops);
    }
    for (uint32_t r = 0; r < loops->workload->schedule->rank_count; r++) {
        const uint64_t own = most_of(loops, r);
        least = SIM_MIN(own, least);
    }
    return least == UINT64_MAX ? 0 : least;
}

// -- jumping

// Ends the operations of the calls that are left out.
static void add_operations(const app__rank_t *rank, uint32_t from, uint32_t step, uint64_t count,
                           sim_time_t period_ps)
{
    const uint32_t last = from + (uint32_t)count * step;
    for (uint32_t op = from; op <= last; op++) {
        app__op_state_t *const state = &rank->states[op];
        const app__op_state_t *const twin = &rank->states[op - step];
        state->start_ps = twin->start_ps + period_ps;
        state->left = 0;
        state->next = APP__NO_OP;
        if (op != last) {
            state->end_ps = twin->end_ps + period_ps;
            state->finished = true;
        }
    }
}

// Adds the rows of flows.csv of the periods that are left out. A message that is under way at the
// moment ends a period after its twin, which was under way at the first moment and may be now.
static void add_records(const app__loops_t *loops, uint32_t number, uint64_t count,
                        sim_time_t period_ps)
{
    app__coll_rank_t *const at = &loops->workload->collectives->ranks[number];
    const uint64_t most_records = loops->workload->collectives->records_max;
    const size_t end = loops->now[number].records;
    const size_t each = end - loops->before[number].records;
    const size_t farthest = loops->now[number].farthest;
    bool *const open = sim_alloc_array(farthest + 1, sizeof(*open)); // by rows since it
    for (size_t i = end - farthest; i < end; i++) {
        open[end - i] = at->records[i].end_ps == SIM_TIME_NEVER;
        if (open[end - i]) {
            SIM_CHECK(each > 0 && i >= each && at->records[i - each].end_ps != SIM_TIME_NEVER);
            at->records[i].end_ps = at->records[i - each].end_ps + period_ps;
        }
    }
    const uint64_t new_records = SIM_MIN(count * each, most_records - end);
    for (uint64_t i = 0; i < new_records; i++) {
        SIM_GROW(at->records, at->record_count, &at->record_capacity);
        app__coll_record_t *const record = &at->records[at->record_count++];
        *record = at->records[end + i - each];
        record->start_ps += period_ps;
        record->end_ps += period_ps;
    }
    for (size_t since = 1; since <= farthest; since++) {
        const uint64_t i = end + count * each - since;
        if (open[since] && i < at->record_count) {
            at->records[i].end_ps = SIM_TIME_NEVER;
        }
    }
    sim_free(open);
}

// Lets the messages under way end rows of the last period.
static void move_records(const app__loops_t *loops, uint32_t number, uint64_t by)
{
    const app__coll_rank_t *const at = &loops->workload->collectives->ranks[number];
    for (uint32_t m = 0; m < at->member_count; m++) {
        for (app__member_channel_t *channel =
                 SIM_LIST_FIRST(&at->members[m]->channels, app__member_channel_t, link);
             channel != NULL; channel = SIM_LIST_NEXT(channel, app__member_channel_t, link)) {
            for (uint32_t i = channel->acked.next; i != channel->posted; i++) {
                app__coll_message_t *const message = message_at(channel, i);
                const uint64_t record = message->record + by;
                if (message->record != APP__NO_RECORD) {
                    message->record = record < at->record_count ? (uint32_t)record : APP__NO_RECORD;
                }
            }
        }
    }
}

static void jump(void *ctx, uint64_t count, sim_time_t period_ps)
{
    app__loops_t *const loops = ctx;
    app__reach_jump(loops->unit, &loops->reached_before, &loops->reached, count, period_ps);
    for (uint32_t r = 0; r < loops->workload->schedule->rank_count; r++) {
        const app__rank_t *const rank = &loops->workload->ranks[r];
        const place_t *const a = &loops->before[r];
        const place_t *const b = &loops->now[r];
        if (rank->left != 0 && loops->unit == APP__CALLS) {
            add_operations(rank, b->op, b->op - a->op, count, period_ps);
        }
        add_records(loops, r, count, period_ps);
        move_records(loops, r, count * (b->records - a->records));
    }
}

// -- decisions

static sim_t *sim_of(const app__loops_t *loops)
{
    return net_sim(loops->workload->app.net);
}

// Returns the time from which all ranks began a call `apart` calls ago to their latest one; 0: they
// are not in step, or have too few calls before or ahead of them.
static sim_time_t period_of(const app__loops_t *loops, uint32_t apart)
{
    sim_time_t period_ps = 0;
    for (uint32_t r = 0; r < loops->workload->schedule->rank_count; r++) {
        const app__rank_t *const rank = &loops->workload->ranks[r];
        const uint32_t op = rank->ops->count - rank->left;
        if (rank->left == 0) {
            continue;
        }
        if (!rank->begun || op < apart || rank->left <= 2 * apart ||
            rank->ops->ops[op].type != APP__OP_COLL ||
            rank->states[op - apart].start_ps == SIM_TIME_NEVER) {
            return 0;
        }
        const sim_time_t own_ps = rank->states[op].start_ps - rank->states[op - apart].start_ps;
        if (period_ps != 0 && own_ps != period_ps) {
            return 0;
        }
        period_ps = own_ps;
    }
    return period_ps;
}

static uint32_t first_op(const app__loops_t *loops)
{
    const app__rank_t *const rank = &loops->workload->ranks[0];
    return rank->ops->count - rank->left;
}

static void stop(app__loops_t *loops)
{
    nic_moment_free(loops->first);
    loops->first = NULL;
    loops->skips->held = false;
    loops->next_op = first_op(loops) + 1;
    loops->tries = 0;
    sim_watch_ties(sim_of(loops), false);
    sim_split_window_at(sim_of(loops), SIM_TIME_NEVER);
    sim_colour(sim_of(loops));
}

static void fail(app__loops_t *loops, const char *why)
{
    app_skips_refuse(loops->skips, why);
    stop(loops);
    if (loops->unit != APP__CALLS) {
        search_t *const search = &loops->searches[loops->unit];
        search->apart *= search->known_ps != 0 ? 1 : 2;
        search->known_ps = 0;
        if (search->apart > INSIDE_APART_MOST) {
            search->apart = 1;
            search->next_ps += search->wait_ps;
            search->wait_ps = SIM_MIN(2 * search->wait_ps, WAIT_MOST_PS);
        }
        return;
    }
    loops->apart *= loops->failed ? 2 : 1;
    loops->failed = !loops->failed;
    loops->next_op += loops->apart > APART_MOST ? loops->apart : 0;
}

// Takes a moment as the first one of a period, and owns it.
static void begin(app__loops_t *loops, nic_moment_t *first)
{
    const sim_time_t now_ps = nic_moment_time_ps(first);
    const char *const refused = nic_moment_refused(first);
    loops->first = first;
    if (refused != NULL) {
        fail(loops, refused);
        return;
    }
    for (uint32_t r = 0; r < loops->workload->schedule->rank_count; r++) {
        loops->before[r] = loops->now[r];
    }
    const rows_t rows = loops->rows_before;
    const app__reaches_t reached = loops->reached_before;
    loops->rows_before = loops->rows;
    loops->rows = rows;
    loops->reached_before = loops->reached;
    loops->reached = reached;
    sim_watch_ties(sim_of(loops), true);
    sim_split_window_at(sim_of(loops), now_ps + loops->period_ps);
}

static nic_moment_t *take(const app__loops_t *loops, sim_time_t now_ps)
{
    return nic_moment_take(loops->workload->app.net, now_ps, &loops->program);
}

// Compares with the first moment. Jumps if all repeats. If not, the second moment becomes the first
// one: a loop may need some calls to settle.
static void compare(app__loops_t *loops, sim_time_t now_ps)
{
    const char *why = NULL;
    nic_moment_t *const second = take(loops, now_ps);
    const bool repeats = nic_moment_repeats(loops->first, second, &why);
    if (!repeats) {
        fail(loops, why);
        const bool more = loops->unit == APP__CALLS && loops->apart <= APART_MOST;
        loops->period_ps = more ? period_of(loops, loops->apart) : 0;
        if (loops->period_ps != 0 && sim_level(sim_of(loops))) {
            loops->skips->held = true;
            begin(loops, second);
            return;
        }
    } else {
        const uint64_t count = nic_moment_most(loops->first, second);
        if (count > 0) {
            const uint64_t jumps = loops->skips->jumps++;
            const bool check = jumps < CHECKED || jumps % CHECKED == 0;
            loops->skips->hops_skipped += nic_moment_jump(loops->first, second, count, check);
            loops->searches[loops->unit].wait_ps = WAIT_PS;
            loops->searches[loops->unit].known_ps = loops->period_ps;
        }
        stop(loops);
    }
    nic_moment_free(second);
}

// Looks whether all calls that run are in loops of chunks, or in steps of a ring.
static void look_inside(app__loops_t *loops, sim_time_t now_ps)
{
    for (app__unit_t unit = APP__CHUNKS; unit < APP__UNITS; unit++) {
        search_t *const search = &loops->searches[unit];
        if (now_ps < search->next_ps) {
            continue;
        }
        search->next_ps = now_ps + WAIT_PS;
        for (uint32_t apart = search->apart; apart <= INSIDE_APART_MOST; apart *= 2) {
            loops->period_ps =
                app__inside_period_ps(loops->workload, unit, apart, search->known_ps);
            if (loops->period_ps != 0) {
                search->apart = apart;
                loops->unit = unit;
                loops->skips->held = true;
                return;
            }
        }
        search->apart = 1;
    }
}

// Looks at the calls between windows.
static void look(sim_time_t now_ps, void *ctx)
{
    app__loops_t *const loops = ctx;
    if (loops->first != NULL) {
        const sim_time_t due_ps = nic_moment_time_ps(loops->first) + loops->period_ps;
        if (now_ps >= due_ps) {
            compare(loops, due_ps); // nothing happens from due_ps to now_ps
        }
        return;
    }
    if (loops->skips->held) {
        if (sim_level(sim_of(loops))) {
            begin(loops, take(loops, now_ps));
        }
        return;
    }
    loops->unit = APP__CALLS;
    if (first_op(loops) < loops->next_op) {
        look_inside(loops, now_ps);
        return;
    }
    for (uint32_t apart = loops->apart; apart <= SIM_MAX(APART_MOST, loops->apart); apart *= 2) {
        loops->period_ps = period_of(loops, apart);
        if (loops->period_ps != 0) {
            loops->apart = apart;
            loops->skips->held = true;
            return;
        }
    }
    if (++loops->tries == TRIES) {
        loops->tries = 0;
        loops->next_op = first_op(loops) + 1;
    }
    look_inside(loops, now_ps);
}

app__loops_t *app__loops_create(app__workload_t *workload, app_skips_t *skips)
{
    const uint32_t ranks = workload->schedule->rank_count;
    if (!sim_options(net_sim(workload->app.net))->splits || ranks == 0) {
        return NULL;
    }
    app__loops_t *const loops = sim_alloc(sizeof(*loops));
    *loops = (app__loops_t){.workload = workload,
                            .skips = skips,
                            .apart = 1,
                            .next_op = 1,
                            .searches = {[APP__CHUNKS] = {.apart = 1, .wait_ps = WAIT_PS},
                                         [APP__STEPS] = {.apart = 1, .wait_ps = WAIT_PS}}};
    loops->program = (nic_moment_program_t){.note = note, .most = most, .jump = jump, .ctx = loops};
    loops->before = sim_alloc_array(ranks, sizeof(*loops->before));
    loops->now = sim_alloc_array(ranks, sizeof(*loops->now));
    sim_on_window(net_sim(workload->app.net), look, loops);
    return loops;
}

void app__loops_destroy(app__loops_t *loops)
{
    if (loops != NULL) {
        nic_moment_free(loops->first);
        SIM_FREE_ALL(loops->before, loops->now, loops->rows.since, loops->rows_before.since,
                     loops->reached.items, loops->reached_before.items, loops);
    }
}
