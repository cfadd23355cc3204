// SPDX-License-Identifier: Apache-2.0
// cli/explain/explain.h - the command `rocesim explain`: names what slowed a run down.
#ifndef CLI_EXPLAIN_EXPLAIN_H
#define CLI_EXPLAIN_EXPLAIN_H

#include "cli/args.h"

#include <jansson.h>

// Explains the run in the folder args->operands[0], or the measured counters of args->counters.
// Returns the exit status.
int cli_command_explain(const cli_args_t *args);

// Writes FOLDER/explain.json about the run in the folder. If `prints`, it also prints the text.
SIM_MUST_CHECK sim_err_t cli_explain_write(const char *folder, bool prints, world_error_t *error);

// Explains the run in the folder as explain.json does. No remedy is checked, which takes the most
// time. The caller frees *json.
SIM_MUST_CHECK sim_err_t cli_explain_causes(const char *folder, json_t **json,
                                            world_error_t *error);

#endif // CLI_EXPLAIN_EXPLAIN_H
