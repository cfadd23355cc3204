// SPDX-License-Identifier: Apache-2.0
// cli/folder.h - the folder of a run's results.
#ifndef CLI_FOLDER_H
#define CLI_FOLDER_H

#include "cli/error.h"

// Whether results may be put there: it does not exist, is empty, or holds earlier results.
// SIM_ERR_EXISTS: something else is there. Touches nothing.
SIM_MUST_CHECK sim_err_t cli_folder_check(const char *folder, cli_error_t *error);

// Makes it (and those it is in), removes earlier results from it; with_captures makes captures/
// too.
SIM_MUST_CHECK sim_err_t cli_folder_prepare(const char *folder,
                                            bool with_captures,
                                            cli_error_t *error);

#endif // CLI_FOLDER_H
