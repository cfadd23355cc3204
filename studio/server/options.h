// SPDX-License-Identifier: Apache-2.0
// studio/server/options.h - the command line of rocesim-studio.
#ifndef STUDIO_SERVER_OPTIONS_H
#define STUDIO_SERVER_OPTIONS_H

#include "studio/server/studio.h"

typedef enum studio_command {
    STUDIO_SERVE,
    STUDIO_BACKUP,
    STUDIO_RESTORE,
    STUDIO_RUN_CHILD,   // started by the server; the rest of the line belongs to the child
    STUDIO_CHECK_CHILD, // the same
    STUDIO_FIGURE_CHILD,
    STUDIO_SQL_CHILD,
    STUDIO_TRIAL_CHILD, // in the script of a study that is being tried
    STUDIO_HELP,
    STUDIO_VERSION,
} studio_command_t;

typedef struct studio_arguments {
    studio_command_t command;
    studio_options_t options;
    const char *folder;      // argument of backup and restore
    const char *const *rest; // arguments of a child
    char *memory[8];         // owns the default texts
    size_t memory_count;
} studio_arguments_t;

SIM_MUST_CHECK sim_err_t studio_arguments_parse(int argc, const char *const *argv,
                                                studio_arguments_t *arguments,
                                                sim_message_t *message);
void studio_arguments_fini(studio_arguments_t *arguments);
const char *studio_help_text(void);

#endif // STUDIO_SERVER_OPTIONS_H
