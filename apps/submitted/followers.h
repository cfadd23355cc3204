// SPDX-License-Identifier: Apache-2.0
// apps/submitted/followers.h - submitted transfers that begin after others.
#ifndef APPS_SUBMITTED_FOLLOWERS_H
#define APPS_SUBMITTED_FOLLOWERS_H

#include "apps/submitted/submitted_internal.h"

// Checks the transfers that a request comes after. SIM_ERR_INVALID: one of them does not exist, or
// has not ended well.
SIM_MUST_CHECK sim_err_t app__submitted_check_leaders(const app_submitted_t *submitted,
                                                      const app_submitted_request_t *request,
                                                      sim_message_t *message);
// Lets a new transfer begin after others, or at its start where they have ended.
void app__submitted_follow(app__submitted_transfer_t *transfer,
                           const app_submitted_request_t *request);
// Lets the followers of a transfer that has ended begin; cancels them if it has not ended well.
void app__submitted_lead(app__submitted_transfer_t *transfer);
void app__submitted_followers_free(app_submitted_t *submitted);

#endif // APPS_SUBMITTED_FOLLOWERS_H
