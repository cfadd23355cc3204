// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/events.h - streams of events about runs.
//
// A message is written once into a ring, and each stream reads the ring at its own pace: watchers
// cost a run nothing and the server one small write each. A watcher that falls behind the ring, or
// returns after a gap, is asked to read everything anew ("resync").
#ifndef STUDIO_SERVER_RUNS_EVENTS_H
#define STUDIO_SERVER_RUNS_EVENTS_H

#include "studio/server/http/route.h"

typedef struct studio_events studio_events_t;

studio_events_t *studio_events_create(void);
void studio_events_destroy(studio_events_t *events);
// Wakes all streams, for instance when the server stops.
void studio_events_wake(studio_events_t *events);

// Publishes an event; json is one line and is copied.
void studio_events_publish(studio_events_t *events, int64_t run, int64_t owner, bool shared,
                           const char *event, const char *json);

// Answers with a stream of server-sent events. first holds the initial ones ("event: ...") and is
// freed with sim_free. Then follow the events of the run; run 0: of all runs the user may see.
int studio_events_answer(studio_request_t *request, studio_response_t *response, int64_t run,
                         char *first);

#endif // STUDIO_SERVER_RUNS_EVENTS_H
