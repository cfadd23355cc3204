// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/trash.c - removes what has been in the trash for a week, and earlier if the
// disk is full.
#include "studio/server/runs/trash.h"

#include "studio/server/store/database.h"
#include "studio/server/store/folder.h"
#include "studio/server/store/reserve.h"

#include <errno.h>

#define TRIES 100
#define AUDIT_ENTRIES_MAX INT64_C(1000000)

bool studio_trash_remove(studio_t *studio, int64_t run)
{
    SIM_CHECK(run > 0);
    // This marks the run as not restorable; a result of 0 means it was just restored. On a full
    // disk the mark cannot be written, and removing the run makes room.
    if (studio_store_change(studio->store,
                            "UPDATE runs SET trashed_ms = 1 WHERE id = ? AND trashed_ms NOTNULL",
                            "i", run) == 0) {
        errno = 0;
        return false;
    }
    char *const folder = sim_format("%s/runs/%" PRId64, studio->options.data, run);
    // The folder goes first: a row without a folder can be removed later, a folder without a row
    // never.
    bool good = studio_folder_remove(folder);
    for (int i = 0; !good && errno == ENOTEMPTY && i < TRIES; i++) {
        good = studio_folder_remove(folder); // an import wrote into it meanwhile
    }
    const int reason = good ? 0 : errno;
    good = good && studio_store_do(studio->store, "DELETE FROM runs WHERE id = ?", "i", run);
    sim_free(folder);
    errno = reason;
    return good;
}

void studio_trash_empty(studio_t *studio)
{
    int64_t run = 0;
    do {
        run = studio_store_int(studio->store, 0,
                               "SELECT id FROM runs WHERE trashed_ms NOTNULL"
                               " ORDER BY trashed_ms, id LIMIT 1",
                               "");
    } while (run != 0 && studio_trash_remove(studio, run) && studio_reserve_look(studio->reserve));
}

void studio_trash_clean(studio_t *studio)
{
    const int64_t before_ms = studio_now_ms() - STUDIO_TRASH_MS;
    int64_t after = 0;
    for (;;) {
        const int64_t run = studio_store_int(studio->store, 0,
                                             "SELECT min(id) FROM runs WHERE trashed_ms < ?"
                                             " AND id > ?",
                                             "ii", before_ms, after);
        if (run == 0) {
            break;
        }
        (void)studio_trash_remove(studio, run);
        after = run;
    }
    (void)studio_store_do(studio->store,
                          "DELETE FROM run_groups WHERE created_ms < ? AND NOT EXISTS"
                          " (SELECT 1 FROM runs WHERE run_group = run_groups.id)",
                          "i", before_ms);
    (void)studio_store_do(studio->store,
                          "DELETE FROM audit WHERE id < (SELECT max(id) FROM audit) - ?", "i",
                          AUDIT_ENTRIES_MAX);
    (void)studio_store_do(studio->store, "DELETE FROM documents WHERE trashed_ms < ?", "i",
                          before_ms);
}
