// SPDX-License-Identifier: Apache-2.0
// studio/server/backup.h - the commands `rocesim studio backup` and `restore`.
//
// A backup is a folder: the database, the folders of finished runs, and a list of all files with
// their hashes. Restore accepts only files that match the list.
#ifndef STUDIO_SERVER_BACKUP_H
#define STUDIO_SERVER_BACKUP_H

#include "studio/server/options.h"

// Runs the command and returns the exit status.
int studio_copy_command(const studio_arguments_t *arguments);

#endif // STUDIO_SERVER_BACKUP_H
