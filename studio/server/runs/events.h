// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/events.h - what happens to runs, told to all who watch.
//
// A message is written once and kept in a ring, from which each watcher's connection reads at its
// own pace: fifty watchers cost a run nothing, and the server fifty small writes. A watcher that
// falls behind the ring, or comes back after a gap, is told to ask anew ("resync").
#ifndef STUDIO_SERVER_RUNS_EVENTS_H
#define STUDIO_SERVER_RUNS_EVENTS_H

#include "studio/server/http/route.h"

typedef struct studio_events studio_events_t;

studio_events_t *studio_events_create(void);
void studio_events_destroy(studio_events_t *events);
// Wakes all watchers, as at the end of the server.
void studio_events_wake(studio_events_t *events);

// json is one line; copied.
void studio_events_publish(studio_events_t *events,
                           int64_t run,
                           int64_t owner,
                           bool shared,
                           const char *event,
                           const char *json);

// Answers with a stream of server-sent events: first is the text of the first ones, "event: ...",
// freed with sim_free; then those of the run (0: all that the user may see).
int studio_events_answer(studio_request_t *request,
                         studio_response_t *response,
                         int64_t run,
                         char *first);

#endif // STUDIO_SERVER_RUNS_EVENTS_H
