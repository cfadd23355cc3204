// SPDX-License-Identifier: Apache-2.0
// studio/server/store/backup.h - `rocesim studio backup` and `restore`.
//
// A backup is a folder: the database, the folders of runs that are over, and a list of all files
// with their hashes; restore believes nothing that the list does not confirm.
#ifndef STUDIO_SERVER_STORE_BACKUP_H
#define STUDIO_SERVER_STORE_BACKUP_H

#include "studio/server/options.h"

// Does what was asked for; the exit status.
int studio_copy_command(const studio_arguments_t *arguments);

#endif // STUDIO_SERVER_STORE_BACKUP_H
