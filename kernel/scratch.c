// SPDX-License-Identifier: Apache-2.0
// kernel/scratch.c - makes and removes folders for files that nobody keeps.
#include "kernel/scratch.h"

#include <fts.h>
#include <stdio.h>
#include <stdlib.h>

char *sim_scratch_make(const char *place)
{
    const char *const own = place != NULL ? place : getenv("TMPDIR");
    char *const folder =
        sim_format("%s/rocesim-XXXXXX", own != NULL && own[0] != '\0' ? own : "/tmp");
    if (mkdtemp(folder) == NULL) {
        sim_free(folder);
        return NULL;
    }
    return folder;
}

void sim_scratch_remove(char *folder)
{
    char *const roots[] = {folder, NULL};
    FTS *const walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    FTSENT *entry = NULL;
    while (walk != NULL && (entry = fts_read(walk)) != NULL) {
        if (entry->fts_info != FTS_D) {
            (void)remove(entry->fts_accpath);
        }
    }
    if (walk != NULL) {
        (void)fts_close(walk);
    }
}
