// SPDX-License-Identifier: Apache-2.0
// results/stage.h - the folder in which a run writes its results until all of them are complete.
#ifndef RESULTS_STAGE_H
#define RESULTS_STAGE_H

#include "world/error.h"

SIM_C_BEGIN

#define RESULTS_STAGE_NAME ".unfinished"

// Makes FOLDER with its parents, and FOLDER/.unfinished, which is emptied; with_captures makes
// captures/ in both. A file in FOLDER that is not regular (a symbolic link, a device) is written
// through: the stage has a link to it. *stage is freed with sim_free. SIM_ERR_IO: a folder cannot
// be made or written into; the caller knows it before anything is simulated.
SIM_MUST_CHECK sim_err_t results_stage_open(const char *folder, bool with_captures, char **stage,
                                            world_error_t *error);

// Replaces the files of an earlier run by those of the stage, and empties the stage but for
// the lock, with which it goes. The old summary.json goes first and the new one comes last, so that
// the folder never holds a summary of other files.
SIM_MUST_CHECK sim_err_t results_stage_commit(const char *folder, world_error_t *error);

// Removes FOLDER and its stage with all that it holds.
void results_stage_discard(const char *folder);

SIM_C_END

#endif // RESULTS_STAGE_H
