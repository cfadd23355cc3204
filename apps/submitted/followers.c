// SPDX-License-Identifier: Apache-2.0
// apps/submitted/followers.c - submitted transfers that begin after others.
//
// A follower begins 1 ps after the last of its leaders has ended, as if the program had submitted
// it in answer to that completion. docs/models/submitted-transfers.md
#include "apps/submitted/followers.h"

#include "apps/submitted/submitted_internal.h"

sim_err_t app__submitted_check_leaders(const app_submitted_t *submitted,
                                       const app_submitted_request_t *request,
                                       sim_message_t *message)
{
    for (size_t i = 0; i < request->after_count; i++) {
        const uint64_t number = request->after[i];
        if (number >= submitted->count) {
            return sim_fail(message, SIM_ERR_INVALID,
                            "after: there is no transfer %" PRIu64 " before this one", number);
        }
        const app_submitted_outcome_t outcome =
            (app_submitted_outcome_t)app__submitted_transfer(submitted, number)->outcome;
        if (outcome == APP_SUBMITTED_FAILED || outcome == APP_SUBMITTED_CANCELLED) {
            return sim_fail(message, SIM_ERR_INVALID, "after: transfer %" PRIu64 " %s", number,
                            outcome == APP_SUBMITTED_FAILED ? "has failed" : "was cancelled");
        }
    }
    return SIM_OK;
}

void app__submitted_follow(app__submitted_transfer_t *transfer,
                           const app_submitted_request_t *request)
{
    for (size_t i = 0; i < request->after_count; i++) {
        app__submitted_transfer_t *const leader =
            app__submitted_transfer(transfer->submitted, request->after[i]);
        if (leader->outcome > APP_SUBMITTED_RUNS) {
            continue; // its start, which has not passed, comes after that end
        }
        app__submitted_follower_t *const follower = sim_alloc(sizeof(*follower));
        *follower = (app__submitted_follower_t){transfer, leader->followers};
        leader->followers = follower;
        transfer->leaders++;
    }
    if (transfer->leaders > 0) {
        transfer->submitted->followers++;
    } else {
        app__submitted_wait(transfer);
    }
}

// Takes a follower of a transfer that has ended. Returns it if it is cancelled, too; else NULL.
static app__submitted_transfer_t *take_follower(app__submitted_transfer_t *leader)
{
    app__submitted_follower_t *const follower = leader->followers;
    app__submitted_transfer_t *const next = follower->transfer;
    leader->followers = follower->next;
    sim_free(follower);
    if (next->outcome != APP_SUBMITTED_WAITS) {
        return NULL; // cancelled before
    }
    if (leader->outcome != APP_SUBMITTED_DONE) {
        app__submitted_note_end(next, APP_SUBMITTED_CANCELLED, NIC_WC_SUCCESS, leader->end_ps);
        return next;
    }
    next->start_ps = SIM_MAX(leader->end_ps + 1, next->start_ps);
    if (--next->leaders == 0) {
        next->submitted->followers--;
        app__submitted_wait(next);
    }
    return NULL;
}

void app__submitted_lead(app__submitted_transfer_t *transfer)
{
    // Transfers that are cancelled with it form a list: chains may be long.
    app__submitted_transfer_t *cancelled = NULL;
    for (app__submitted_transfer_t *leader = transfer; leader != NULL;) {
        while (leader->followers != NULL) {
            app__submitted_transfer_t *const next = take_follower(leader);
            if (next != NULL) {
                next->next = cancelled;
                cancelled = next;
            }
        }
        leader = cancelled;
        if (cancelled != NULL) {
            cancelled = cancelled->next;
            leader->next = NULL;
        }
    }
}

void app__submitted_followers_free(app_submitted_t *submitted)
{
    for (uint64_t i = 0; i < submitted->count; i++) {
        app__submitted_transfer_t *const transfer = app__submitted_transfer(submitted, i);
        while (transfer->followers != NULL) {
            app__submitted_follower_t *const follower = transfer->followers;
            transfer->followers = follower->next;
            sim_free(follower);
        }
    }
}
