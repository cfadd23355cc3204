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

// Prints the reference page docs/formats/attributes.md.
void cli_params_markdown(FILE *out);

#endif // CLI_PARAMS_H
