// SPDX-License-Identifier: Apache-2.0
// cli/plugins/confine.h - takes rights away from this process, for good (Landlock, seccomp).
#ifndef CLI_PLUGINS_CONFINE_H
#define CLI_PLUGINS_CONFINE_H

#include "world/error.h"

// Before plug-ins are loaded: allows only the system calls that a simulation needs, and writing
// only to what is open and below `folder` (NULL: nowhere) and to `file` (NULL: none). Files can be
// read.
SIM_MUST_CHECK sim_err_t cli_plugins_confine(const char *folder, const char *file,
                                             world_error_t *error);
// After that: no file can be read any more. An attempt raises SIGSYS, as all forbidden calls do.
void cli_plugins_confine_reading(const char *folder, const char *file);

// Returns the name of a forbidden system call, or "a system call".
const char *cli_plugins_call_name(int number);

#endif // CLI_PLUGINS_CONFINE_H
