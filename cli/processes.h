// SPDX-License-Identifier: Apache-2.0
// cli/processes.h - the permission to start the programs of a scenario, and where their library is.
#ifndef CLI_PROCESSES_H
#define CLI_PROCESSES_H

#include "apps/processes.h"
#include "world/world.h"

typedef struct cli_programs {
    app_programs_t permission;
    char verbs_folder[4096];
    char server[4096];
    char path[16384];
} cli_programs_t;

// Fills in a permission to start programs. It has no library if none lies beside this program or in
// the folder lib/rocesim of its installation. The permission borrows from `programs`.
void cli_programs_allow(cli_programs_t *programs);
// Writes what the programs of a run have printed into DIR/programs, where folder is DIR. The output
// of an earlier run is removed.
SIM_MUST_CHECK sim_err_t cli_programs_save(const world_t *world, const char *folder,
                                           world_error_t *error);

#endif // CLI_PROCESSES_H
