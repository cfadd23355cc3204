// SPDX-License-Identifier: Apache-2.0
// cli/serve/next_completion.c - finds out when the next transfer ends, on a copy of the session.
#include "cli/serve/next_completion.h"
#include "cli/serve/calls.h"
#include "cli/serve/serve.h"
#include "cli/serve/snapshot.h"

#include <string.h>

#define FARTHER_PS (20 * SIM_PS_PER_US)

// Returns how long the next step may be after one of step_ps, which ended so. 0: nothing can happen
// any more.
static sim_time_t next_step_ps(const serve_conversation_t *conversation, sim_ended_t ended,
                               sim_time_t step_ps, sim_time_t most_ps)
{
    if (ended == SIM_ENDED_DONE) {
        // Nothing happens before the next transfer begins.
        const sim_time_t start_ps = app_submitted_next_start_ps(conversation->session);
        const sim_time_t now_ps = conversation->now_ps;
        return start_ps == SIM_TIME_NEVER ? 0 : start_ps >= now_ps ? start_ps - now_ps + 1 : 1;
    }
    return step_ps < most_ps / 2 ? step_ps * 2 : most_ps;
}

static sim_time_t stop_of(const serve_conversation_t *conversation, sim_time_t until_ps,
                          sim_time_t step_ps)
{
    const sim_time_t left_ps = until_ps - conversation->now_ps;
    return conversation->now_ps + SIM_MIN(left_ps, step_ps);
}

// Adds the times of completions that matter. Returns whether that is enough.
static bool add_times(serve_conversation_t *conversation, const serve_ask_t *ask,
                      serve_found_t *found)
{
    size_t count = 0;
    const app_submitted_completion_t *const list =
        app_submitted_take(conversation->session, &count);
    for (size_t i = 0; i < count && found->count < ask->most; i++) {
        const sim_time_t end_ps = list[i].end_ps;
        const bool wanted = ask->wanted == UINT64_MAX || (list[i].transfer == ask->wanted &&
                                                          list[i].rank == APP_SUBMITTED_WHOLE);
        if (wanted && (found->count == 0 || found->times_ps[found->count - 1] < end_ps)) {
            if (found->count == 0) {
                found->outcome = list[i].outcome;
                found->status = list[i].status;
            }
            found->times_ps[found->count++] = end_ps;
        }
    }
    return found->count >= ask->most;
}

void serve_look_ahead(serve_conversation_t *conversation, const serve_ask_t *ask,
                      serve_found_t *found)
{
    sim_time_t step_ps = SIM_PS_PER_US;
    found->count = 0;
    found->stalled = false;
    found->clear_ps = 0;
    while (conversation->now_ps < ask->until_ps && step_ps > 0 &&
           app_submitted_open(conversation->session) > 0) {
        const sim_time_t before_ps = conversation->now_ps;
        const sim_ended_t ended =
            serve_step(conversation, stop_of(conversation, ask->until_ps, step_ps));
        if (add_times(conversation, ask, found)) {
            return;
        }
        if (ended == SIM_ENDED_INTERRUPTED) {
            return;
        }
        if (ended == SIM_ENDED_STALLED) {
            found->stalled = found->count == 0;
            found->clear_ps = before_ps;
            return;
        }
        step_ps = next_step_ps(conversation, ended, step_ps, SIM_PS_PER_S);
    }
    // Nothing else ends before this time, and nothing at all if nothing can happen any more.
    found->clear_ps = step_ps == 0 ? SIM_TIME_NEVER : conversation->now_ps;
}

sim_ended_t serve_go_on(serve_conversation_t *conversation, sim_time_t until_ps,
                        sim_time_t slack_ps)
{
    sim_time_t step_ps = slack_ps;
    sim_ended_t ended = SIM_ENDED_DONE;
    while (conversation->now_ps < until_ps && step_ps > 0 && ended != SIM_ENDED_STALLED &&
           ended != SIM_ENDED_INTERRUPTED && app_submitted_open(conversation->session) > 0 &&
           app_submitted_ended(conversation->session) == 0) {
        ended = serve_step(conversation, stop_of(conversation, until_ps, step_ps));
        step_ps = next_step_ps(conversation, ended, slack_ps, slack_ps);
    }
    return ended;
}

// -- the next completion

static void try_next(serve_conversation_t *conversation, const void *ctx, void *result)
{
    serve_look_ahead(conversation, ctx, result);
}

// Drops the times that have passed.
static void drop_past(serve_found_t *found, sim_time_t now_ps)
{
    size_t past = 0;
    while (past < found->count && found->times_ps[past] < now_ps) {
        past++;
    }
    found->count -= past;
    memmove(found->times_ps, found->times_ps + past, found->count * sizeof(found->times_ps[0]));
}

// Returns how far to look for a client that waits until a time: twice as far, since its next
// question is often for a time soon after it.
static sim_time_t farther(sim_time_t now_ps, sim_time_t until_ps)
{
    const sim_time_t wait_ps = until_ps - now_ps;
    const sim_time_t most_ps = SIM_TIME_END - 1 - until_ps;
    const sim_time_t more_ps = SIM_MAX(FARTHER_PS, wait_ps);
    return until_ps + SIM_MIN(more_ps, most_ps);
}

bool serve_next(serve_conversation_t *conversation, sim_time_t until_ps, bool stays,
                sim_ended_t *ended)
{
    serve_found_t *const found = &conversation->found_ahead;
    drop_past(found, conversation->now_ps);
    if (found->count == 0 && found->clear_ps < until_ps) {
        // A client that asks again and again, and submits nothing between, gets all its answers
        // from one copy.
        const serve_ask_t ask = {
            .until_ps = farther(conversation->now_ps, until_ps),
            .wanted = UINT64_MAX,
            .most = conversation->asked_before ? SERVE_AHEAD_MAX : 1,
        };
        if (!serve_try(conversation, try_next, &ask, found, sizeof(*found))) {
            found->count = 0;
            return false;
        }
    }
    conversation->asked_before = true;
    const bool stalled = found->count == 0 && found->stalled && found->clear_ps < until_ps;
    *ended = stalled ? SIM_ENDED_STALLED : SIM_ENDED_DONE;
    if (found->count > 0 && found->times_ps[0] < until_ps) {
        *ended = serve_step(conversation, found->times_ps[0] + 1);
    } else if (!stays && !stalled) {
        *ended = serve_step(conversation, until_ps);
    }
    return true;
}

void serve_changed(serve_conversation_t *conversation)
{
    conversation->found_ahead.count = 0;
    conversation->found_ahead.clear_ps = 0;
    conversation->asked_before = false;
}
