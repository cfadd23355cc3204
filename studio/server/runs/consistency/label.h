// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/consistency/label.h - the file run.json in a run's folder.
//
// The label holds what the
// database knows of the run when it is ordered. With it a run can be taken in
// whose entry in the database is lost.
#ifndef STUDIO_SERVER_RUNS_CONSISTENCY_LABEL_H
#define STUDIO_SERVER_RUNS_CONSISTENCY_LABEL_H

#include "studio/server/studio.h"

#include <jansson.h>

// A folder with this file belongs to a transaction that has not committed yet.
#define STUDIO_UNCOMMITTED "uncommitted"

// Writes the label {name, owner, group, set, limits, created_ms, library?, study?, folder?,
// made_by?}; owner
// is the user's name. Returns false with errno if that failed.
SIM_MUST_CHECK bool studio_label_write(const char *folder, const json_t *label);
// Returns the label, owned by the caller. Members that are no valid values are absent: a run can
// write into its own folder.
json_t *studio_label_read(const char *folder);

// Makes an empty folder for a new run, marked as uncommitted. Returns false with errno; EEXIST if
// there is anything of that name.
SIM_MUST_CHECK bool studio_run_folder_make(const char *folder);
// Removes the mark.
void studio_run_folder_commit(const char *folder);

#endif // STUDIO_SERVER_RUNS_CONSISTENCY_LABEL_H
