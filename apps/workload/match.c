// SPDX-License-Identifier: Apache-2.0
// apps/workload/match.c - pairs messages with receives by source and tag.
//
// A message takes the earliest posted receive that allows its source and its tag; a receive takes
// the earliest message that it allows. Messages of one pair arrive in the order in which they were
// sent, as MPI wants it.
#include "apps/workload/internal.h"

void app__match_init(app__rank_t *rank)
{
    app__queue_init(&rank->posted);
    rank->unexpected_head = APP__NO_OP;
    rank->unexpected_tail = APP__NO_OP;
    rank->unexpected_free = APP__NO_OP;
}

static const app__op_t *message_of(const app__rank_t *rank, uint32_t source, uint32_t op)
{
    const app__schedule_t *const schedule = rank->workload->schedule;
    SIM_CHECK(source < schedule->rank_count && op < schedule->ranks[source].count);
    return &schedule->ranks[source].ops[op];
}

// Takes the earliest unexpected message that a receive allows; returns false if there is none.
static bool take_unexpected(app__rank_t *rank, const app__op_t *receive, app__unexpected_t *taken)
{
    uint32_t previous = APP__NO_OP;
    for (uint32_t at = rank->unexpected_head; at != APP__NO_OP; at = rank->unexpected[at].next) {
        app__unexpected_t *const message = &rank->unexpected[at];
        const uint32_t tag = message_of(rank, message->source, message->op)->tag;
        if (!app__op_allows(rank->ops, receive, message->source, tag)) {
            previous = at;
            continue;
        }
        *taken = *message;
        if (previous == APP__NO_OP) {
            rank->unexpected_head = message->next;
        } else {
            rank->unexpected[previous].next = message->next;
        }
        if (rank->unexpected_tail == at) {
            rank->unexpected_tail = previous;
        }
        message->next = rank->unexpected_free;
        rank->unexpected_free = at;
        rank->unexpected_now--;
        return true;
    }
    return false;
}

bool app__match_post(app__rank_t *rank, uint32_t op, app__unexpected_t *message)
{
    if (take_unexpected(rank, &rank->ops->ops[op], message)) {
        return true;
    }
    app__queue_put(&rank->posted, rank->states, op);
    return false;
}

static void keep_unexpected(app__rank_t *rank, uint32_t source, uint32_t op)
{
    uint32_t at = rank->unexpected_free;
    if (at != APP__NO_OP) {
        rank->unexpected_free = rank->unexpected[at].next;
    } else {
        SIM_GROW(rank->unexpected, rank->unexpected_count, &rank->unexpected_capacity);
        at = (uint32_t)rank->unexpected_count++;
    }
    rank->unexpected[at] = (app__unexpected_t){source, op, APP__NO_OP};
    if (rank->unexpected_head == APP__NO_OP) {
        rank->unexpected_head = at;
    } else {
        rank->unexpected[rank->unexpected_tail].next = at;
    }
    rank->unexpected_tail = at;
    rank->unexpected_now++;
    if (rank->unexpected_now > rank->unexpected_peak) {
        rank->unexpected_peak = rank->unexpected_now;
    }
}

uint32_t app__match_arrive(app__rank_t *rank, uint32_t source, uint32_t op)
{
    const uint32_t tag = message_of(rank, source, op)->tag;
    uint32_t previous = APP__NO_OP;
    for (uint32_t at = rank->posted.head; at != APP__NO_OP; at = rank->states[at].next) {
        if (!app__op_allows(rank->ops, &rank->ops->ops[at], source, tag)) {
            previous = at;
            continue;
        }
        if (previous == APP__NO_OP) {
            rank->posted.head = rank->states[at].next;
        } else {
            rank->states[previous].next = rank->states[at].next;
        }
        if (rank->posted.tail == at) {
            rank->posted.tail = previous;
        }
        return at;
    }
    keep_unexpected(rank, source, op);
    return APP__NO_OP;
}
