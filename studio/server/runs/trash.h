// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/trash.h - the trash, which keeps deleted runs and documents for a week, or
// until the disk is full.
#ifndef STUDIO_SERVER_RUNS_TRASH_H
#define STUDIO_SERVER_RUNS_TRASH_H

#include "studio/server/studio.h"

#define STUDIO_TRASH_MS INT64_C(604800000)

// Removes runs (with their folders) and documents that have been in the trash for a week.
void studio_trash_clean(studio_t *studio);
// Removes runs in the trash, the oldest first, until the disk has room again.
void studio_trash_empty(studio_t *studio);
// Removes a run for good. Returns false if that failed: errno says why its files could not be
// removed, and is 0 if the run was just restored or the database could not be written.
bool studio_trash_remove(studio_t *studio, int64_t run);

#endif // STUDIO_SERVER_RUNS_TRASH_H
