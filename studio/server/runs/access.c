// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/access.c - finds runs, and decides who may see and change them.
#include "studio/server/runs/runs.h"

#include "studio/server/store/database.h"

#include <stdio.h>
#include <string.h>

static const char *const state_names[] = {
    [STUDIO_RUN_QUEUED] = "queued",   [STUDIO_RUN_STARTING] = "starting",
    [STUDIO_RUN_RUNNING] = "running", [STUDIO_RUN_DONE] = "done",
    [STUDIO_RUN_FAILED] = "failed",   [STUDIO_RUN_CANCELLED] = "cancelled",
};

static studio_run_state_t state_of(const char *name)
{
    for (size_t i = 0; i < SIM_COUNT_OF(state_names); i++) {
        if (strcmp(state_names[i], name) == 0) {
            return (studio_run_state_t)i;
        }
    }
    return STUDIO_RUN_FAILED;
}

bool studio_run_may_change(const studio_user_t *user, const studio_run_t *run)
{
    return user->role == STUDIO_ROLE_ADMINISTRATOR ||
           (user->role == STUDIO_ROLE_USER && user->id == run->owner);
}

bool studio_run_find(studio_t *studio, const studio_user_t *user, int64_t id, studio_run_t *run)
{
    const bool all = user == NULL || user->role == STUDIO_ROLE_ADMINISTRATOR;
    memset(run, 0, sizeof(*run));
    studio_rows_t *const rows =
        studio_rows_open(studio->store,
                         "SELECT run_group, owner, shared, trashed_ms IS NOT NULL, state,"
                         " ended IS NOT NULL FROM runs WHERE id = ?"
                         " AND (? OR owner = ? OR (shared AND trashed_ms IS NULL))",
                         "iii", id, (int64_t)all, user == NULL ? INT64_C(0) : user->id);
    const bool found = studio_rows_next(rows);
    if (found) {
        run->id = id;
        run->group = studio_rows_int(rows, 0);
        run->owner = studio_rows_int(rows, 1);
        run->shared = studio_rows_int(rows, 2) != 0;
        run->trashed = studio_rows_int(rows, 3) != 0;
        run->state = state_of(studio_rows_text(rows, 4));
        run->has_result = studio_rows_int(rows, 5) != 0;
        const int length = snprintf(run->folder, sizeof(run->folder), "%s/runs/%" PRId64,
                                    studio->options.data, id);
        SIM_CHECK(length > 0 && (size_t)length < sizeof(run->folder));
    }
    return studio_rows_close(rows) && found;
}
