// SPDX-License-Identifier: Apache-2.0
// apps/workload/match.c - pairs messages with receives by source and tag.
//
// A message takes the earliest posted receive that allows its source and its tag; a receive takes
// the earliest message that it allows. Messages of one pair arrive in the order in which they were
// sent, as MPI wants it.
#include "apps/workload/match.h"
#include "apps/workload/op_queue.h"
#include "apps/workload/rank.h"
#include "apps/workload/workload.h"

void app__match_init(app__rank_t *rank)
{
    app__queue_init(&rank->match.posted);
    rank->match.head = APP__NO_OP;
    rank->match.tail = APP__NO_OP;
    rank->match.free = APP__NO_OP;
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
    for (uint32_t at = rank->match.head; at != APP__NO_OP; at = rank->match.unexpected[at].next) {
        app__unexpected_t *const message = &rank->match.unexpected[at];
        const uint32_t tag = message_of(rank, message->source, message->op)->tag;
        if (!app__op_allows(rank->ops, receive, message->source, tag)) {
            previous = at;
            continue;
        }
        *taken = *message;
        if (previous == APP__NO_OP) {
            rank->match.head = message->next;
        } else {
            rank->match.unexpected[previous].next = message->next;
        }
        if (rank->match.tail == at) {
            rank->match.tail = previous;
        }
        message->next = rank->match.free;
        rank->match.free = at;
        rank->match.now--;
        return true;
    }
    return false;
}

bool app__match_post(app__rank_t *rank, uint32_t op, app__unexpected_t *message)
{
    if (take_unexpected(rank, &rank->ops->ops[op], message)) {
        return true;
    }
    app__queue_put(&rank->match.posted, rank->states, op);
    return false;
}

static void keep_unexpected(app__rank_t *rank, uint32_t source, uint32_t op)
{
    uint32_t at = rank->match.free;
    if (at != APP__NO_OP) {
        rank->match.free = rank->match.unexpected[at].next;
    } else {
        SIM_GROW(rank->match.unexpected, rank->match.count, &rank->match.capacity);
        at = (uint32_t)rank->match.count++;
    }
    rank->match.unexpected[at] = (app__unexpected_t){source, op, APP__NO_OP};
    if (rank->match.head == APP__NO_OP) {
        rank->match.head = at;
    } else {
        rank->match.unexpected[rank->match.tail].next = at;
    }
    rank->match.tail = at;
    rank->match.now++;
    if (rank->match.now > rank->match.peak) {
        rank->match.peak = rank->match.now;
    }
}

uint32_t app__match_arrive(app__rank_t *rank, uint32_t source, uint32_t op)
{
    const uint32_t tag = message_of(rank, source, op)->tag;
    uint32_t previous = APP__NO_OP;
    for (uint32_t at = rank->match.posted.head; at != APP__NO_OP; at = rank->states[at].next) {
        if (!app__op_allows(rank->ops, &rank->ops->ops[at], source, tag)) {
            previous = at;
            continue;
        }
        if (previous == APP__NO_OP) {
            rank->match.posted.head = rank->states[at].next;
        } else {
            rank->states[previous].next = rank->states[at].next;
        }
        if (rank->match.posted.tail == at) {
            rank->match.posted.tail = previous;
        }
        return at;
    }
    keep_unexpected(rank, source, op);
    return APP__NO_OP;
}
