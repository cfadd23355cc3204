// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/trash.c - removes what has been in the trash for a week, and earlier if the
// disk is full.
#include "studio/server/runs/trash.h"

#include "studio/server/store/database.h"
#include "studio/server/store/reserve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 8u
#define AUDIT_ENTRIES_MAX INT64_C(1000000)

// Returns false with the reason of the first failure in errno.
static bool remove_inner(int fd, unsigned depth)
{
    DIR *const folder = fdopendir(fd);
    int reason = folder == NULL ? errno : 0; // of the first failure
    if (folder == NULL) {
        (void)close(fd);
        errno = reason;
        return false;
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        const char *const name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
            continue;
        }
        const int inner =
            openat(dirfd(folder), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        bool good;
        if (inner < 0) {
            good = unlinkat(dirfd(folder), name, 0) == 0;
        } else if (depth == DEPTH_MAX) {
            (void)close(inner);
            good = false;
            errno = ELOOP;
        } else {
            good =
                remove_inner(inner, depth + 1) && unlinkat(dirfd(folder), name, AT_REMOVEDIR) == 0;
        }
        reason = good || reason != 0 ? reason : errno;
    }
    (void)closedir(folder);
    errno = reason;
    return reason == 0;
}

bool studio_folder_remove(const char *path)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return errno == ENOENT;
    }
    return remove_inner(fd, 0) && rmdir(path) == 0;
}

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
