// SPDX-License-Identifier: Apache-2.0
// cli/serve/next_completion.h - finds out when the next transfer ends.
#ifndef CLI_SERVE_NEXT_COMPLETION_H
#define CLI_SERVE_NEXT_COMPLETION_H

#include "cli/serve/serve.h"

// A question about what will happen.
typedef struct serve_ask {
    sim_time_t until_ps;
    uint64_t wanted; // transfer; UINT64_MAX: any
    size_t most;     // times to find, at most SERVE_AHEAD_MAX
} serve_ask_t;

// Runs on, by longer and longer steps, until enough transfers have ended or nothing can happen any
// more. It is called on a copy of the session.
void serve_look_ahead(serve_conversation_t *conversation, const serve_ask_t *ask,
                      serve_found_t *found);
// Runs up to 1 ps after the next completion, or to until_ps; with `stays` it does not move if none
// comes. Returns false if the system gives no copy.
bool serve_next(serve_conversation_t *conversation, sim_time_t until_ps, bool stays,
                sim_ended_t *ended);
// Runs on by steps of slack_ps until something has ended or nothing can happen any more.
sim_ended_t serve_go_on(serve_conversation_t *conversation, sim_time_t until_ps,
                        sim_time_t slack_ps);
// Forgets what was found out ahead, since the client has changed the session.
void serve_changed(serve_conversation_t *conversation);

#endif // CLI_SERVE_NEXT_COMPLETION_H
