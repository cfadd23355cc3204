// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/trash.h - what was deleted, and is there for a week more.
#ifndef STUDIO_SERVER_RUNS_TRASH_H
#define STUDIO_SERVER_RUNS_TRASH_H

#include "studio/server/studio.h"

#define STUDIO_TRASH_MS INT64_C(604800000)

// Removes what has been in the trash for a week: runs with their folders, documents.
void studio_trash_clean(studio_t *studio);
// Removes a run for good. False: it could not be.
bool studio_trash_remove(studio_t *studio, int64_t run);
// A folder and all in it; nothing outside of it, wherever links lead. False: something is left.
bool studio_folder_remove(const char *path);

#endif // STUDIO_SERVER_RUNS_TRASH_H
