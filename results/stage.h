// SPDX-License-Identifier: Apache-2.0
// results/stage.h - a folder beside the results that a run is writing, which become the folder's
// when they are whole.
#ifndef RESULTS_STAGE_H
#define RESULTS_STAGE_H

#include "world/error.h"

SIM_C_BEGIN

#define RESULTS_STAGE_NAME ".unfinished"

// Makes FOLDER (and those it is in) and FOLDER/.unfinished, cleared of what an earlier run left
// there; with_captures makes captures/ in both. What is no regular file in FOLDER (a symbolic link,
// a device) is written through: the stage has a link to it. *stage is freed with sim_free.
// SIM_ERR_IO: one of them cannot be made or written into, which is known before anything is
// simulated: the folder is bad input.
SIM_MUST_CHECK sim_err_t results_stage_open(const char *folder,
                                            bool with_captures,
                                            char **stage,
                                            world_error_t *error);

// Puts the files of the stage in place of the earlier run's, of which none stays: summary.json goes
// first and comes last, so that the folder never holds a summary of other files. Removes the stage.
SIM_MUST_CHECK sim_err_t results_stage_commit(const char *folder, world_error_t *error);

SIM_C_END

#endif // RESULTS_STAGE_H
