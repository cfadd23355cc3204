// SPDX-License-Identifier: Apache-2.0
// studio/server/library/file_check.h - says what `rocesim check FILE` finds in a user's own file.
#ifndef STUDIO_SERVER_LIBRARY_FILE_CHECK_H
#define STUDIO_SERVER_LIBRARY_FILE_CHECK_H

#include "studio/server/studio.h"

#include <jansson.h>

// Runs `rocesim check` on a file of the user, confined to the user's files. Returns {path, kind,
// good, text}, owned by the caller; NULL if there is no such file. good is null for a file that is
// neither a scenario nor a workload, such as a table or a capture.
json_t *studio_file_check(studio_t *studio, const studio_user_t *user, const char *path);

// Runs in the confined process: becomes `rocesim check PATH`. arguments: program, folder, path.
int studio_file_check_main(const char *const *arguments);

#endif // STUDIO_SERVER_LIBRARY_FILE_CHECK_H
