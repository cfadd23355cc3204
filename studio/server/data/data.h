// SPDX-License-Identifier: Apache-2.0
// studio/server/data/data.h - imports results in a thread of its own.
#ifndef STUDIO_SERVER_DATA_DATA_H
#define STUDIO_SERVER_DATA_DATA_H

#include "studio/server/data/heavy_requests.h"
#include "studio/server/studio.h"

#include <jansson.h>

typedef struct studio_data studio_data_t;

// Starts the thread and the imports that an earlier server did not finish; runs that end are
// imported from now on. Call it before the server starts, and destroy it after the server has
// stopped.
studio_data_t *studio_data_create(studio_t *studio);
void studio_data_destroy(studio_data_t *data); // NULL is allowed

// Returns the turns of requests that need much memory or time.
studio_turns_t *studio_data_turns(studio_data_t *data);

// Returns {"state": "none|waiting|importing|done|failed", ...} of a run and starts its import if it
// is needed. *done: tables can be read, even while a newer import of the run is under way and
// reported.
json_t *studio_data_want(studio_data_t *data, int64_t run, const char *folder, bool again,
                         bool *done);

#endif // STUDIO_SERVER_DATA_DATA_H
