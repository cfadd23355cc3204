// SPDX-License-Identifier: Apache-2.0
// cli/params.h - prints the attributes of every part of the program.
#ifndef CLI_PARAMS_H
#define CLI_PARAMS_H

#include "kernel/attribute.h"
#include "world/error.h"

#include <stdio.h>

// Prints the attribute named `path`, or all attributes below it ("": all attributes). Returns
// SIM_ERR_UNKNOWN with a "did you mean" if no attribute matches.
SIM_MUST_CHECK sim_err_t cli_params_print(const char *path, FILE *out, world_error_t *error);

// Returns whether the operand of `rocesim params` is a scenario's file and no path.
bool cli_params_is_file(const char *operand);
// Prints the parameters that a scenario gives names to. Fails as a load of the scenario does.
SIM_MUST_CHECK sim_err_t cli_params_scenario(const char *file, FILE *out, world_error_t *error);

// Prints the reference page docs/formats/attributes.md.
void cli_params_markdown(FILE *out);

#endif // CLI_PARAMS_H
