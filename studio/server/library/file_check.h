// SPDX-License-Identifier: Apache-2.0
// studio/server/library/file_check.h - says what rocesim finds in a user's own file.
#ifndef STUDIO_SERVER_LIBRARY_FILE_CHECK_H
#define STUDIO_SERVER_LIBRARY_FILE_CHECK_H

#include "studio/server/studio.h"

#include <jansson.h>
#include <stdbool.h>

// Runs `rocesim check` on a file of the user, confined to the user's files. Returns {path, kind,
// good, text}, owned by the caller; NULL if there is no such file. kind is scenario, workload,
// requests, capture, fabric (`rocesim import` reads the file), counters (`rocesim explain` reads
// the file) or other; good is null for what has no check.
json_t *studio_file_check(studio_t *studio, const studio_user_t *user, const char *path);

// Returns whether a file is a capture of packets, by its first bytes.
bool studio_file_is_capture(int fd, const char *path);
// Returns the scenario that `rocesim import` makes of a file or a folder of the user, freed with
// sim_free, or the error. *status gets that of the answer: 200, 404, 422 or 503.
char *studio_file_import(studio_t *studio, const studio_user_t *user, const char *path,
                         int *status);

// Files or folders of counters that are explained together, and NULL.
#define STUDIO_FILE_COUNTERS_MAX 65u

// Returns what `rocesim explain` says of counters of a real network: {causes, limits, notes}, or
// the text of an error; NULL with 404. path names the links of the network, or files of its
// switches; counters is an array of names. *status is that of the answer: 200, 404, 422 or 503.
json_t *studio_file_explain(studio_t *studio, const studio_user_t *user, const char *path,
                            const json_t *counters, int *status);

// Runs in the confined process: becomes `rocesim check PATH`, `rocesim import PATH` for its report
// or its scenario, or `rocesim explain PATH` of counters. arguments: program, folder, "check",
// "report", "import" or "explain", path, and files of counters.
int studio_file_check_main(const char *const *arguments);

#endif // STUDIO_SERVER_LIBRARY_FILE_CHECK_H
