// SPDX-License-Identifier: Apache-2.0
// studio/server/data/data.h - what results hold, for the server: imports in a thread of their own.
#ifndef STUDIO_SERVER_DATA_DATA_H
#define STUDIO_SERVER_DATA_DATA_H

#include "studio/server/data/turns.h"
#include "studio/server/studio.h"

#include <jansson.h>

typedef struct studio_data studio_data_t;

// Starts the thread, with the imports that an earlier server did not end; runs that end are
// imported from here on. To be called before the server serves, and ended after.
studio_data_t *studio_data_create(studio_t *studio);
void studio_data_destroy(studio_data_t *data); // NULL is allowed

// Turns of requests that need much.
studio_turns_t *studio_data_turns(studio_data_t *data);

// {"state": "none|waiting|importing|done|failed", ...} of a run; where it is not done and nothing
// is under way, it is asked for. *done: there are tables to read, although another import of the
// run may be under way, and be told.
json_t *studio_data_want(studio_data_t *data,
                         int64_t run,
                         const char *folder,
                         bool again,
                         bool *done);

#endif // STUDIO_SERVER_DATA_DATA_H
