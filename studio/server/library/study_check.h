// SPDX-License-Identifier: Apache-2.0
// studio/server/library/study_check.h - tries a study's settings before it is ordered.
//
// The script of the study runs as far as its first simulation. Instead of rocesim it starts this
// program, which reads and builds the scenario and does not simulate it.
#ifndef STUDIO_SERVER_LIBRARY_STUDY_CHECK_H
#define STUDIO_SERVER_LIBRARY_STUDY_CHECK_H

#include "studio/server/studio.h"

// The folder of a trial, in the environment of the script.
#define STUDIO_TRIAL "STUDIO_TRIAL"

// Runs the command of a study, ended by NULL, up to its first simulation. Returns false with a
// message if the study or its first simulation refuses the settings.
SIM_MUST_CHECK bool studio_study_check(studio_t *studio, const studio_user_t *user,
                                       const char *const *command, sim_message_t *message);

// Runs in the confined process: becomes the script. arguments: the library's folder, the folder of
// the trial, the command.
int studio_study_check_main(const char *const *arguments);
// Runs as rocesim in the script: arguments are those of rocesim.
int studio_trial_main(const char *const *arguments);

#endif // STUDIO_SERVER_LIBRARY_STUDY_CHECK_H
