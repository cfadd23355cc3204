// SPDX-License-Identifier: Apache-2.0
// cli/programs.h - the permission to start the programs of a scenario, and where their library is.
#ifndef CLI_PROGRAMS_H
#define CLI_PROGRAMS_H

#include "apps/programs.h"

typedef struct cli_programs {
    app_programs_t permission;
    char preload[4096];
    char library_folder[4096];
} cli_programs_t;

// Fills in a permission to start programs. It has no library if none lies beside this program or in
// the folder lib/rocesim of its installation.
void cli_programs_allow(cli_programs_t *programs);

#endif // CLI_PROGRAMS_H
