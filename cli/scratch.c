// SPDX-License-Identifier: Apache-2.0
// cli/scratch.c - makes and removes folders for files that nobody keeps.
#include "cli/scratch.h"

#include "kernel/base.h"

#include <fts.h>
#include <stdio.h>
#include <stdlib.h>

char *cli_scratch_make(void)
{
    const char *const place = getenv("TMPDIR");
    char *const folder =
        sim_format("%s/rocesim-XXXXXX", place != NULL && place[0] != '\0' ? place : "/tmp");
    if (mkdtemp(folder) == NULL) {
        sim_free(folder);
        return NULL;
    }
    return folder;
}

void cli_scratch_remove(char *folder)
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
