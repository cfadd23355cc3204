// SPDX-License-Identifier: Apache-2.0
// cli/params.h - prints the attributes of every part of the program.
#ifndef CLI_PARAMS_H
#define CLI_PARAMS_H

#include "cli/args.h"

#include <stdio.h>

// Makes a registry with the library's rows and those of the plug-ins on the command line. The
// caller destroys it.
SIM_MUST_CHECK sim_err_t cli_params_registry(const cli_args_t *args, world_registry_t **registry,
                                             world_error_t *error);

// Prints the attribute named `path`, or all attributes below it ("": all attributes). If there is
// none, prints the attributes whose path contains `path` as the beginning of a word, or else those
// whose meaning does. Returns SIM_ERR_UNKNOWN with a "did you mean" if no attribute matches.
SIM_MUST_CHECK sim_err_t cli_params_print(const world_registry_t *registry, const char *path,
                                          FILE *out, world_error_t *error);

// Returns whether the operand of `rocesim params` is a scenario's file and no path.
bool cli_params_is_file(const char *operand);
// Prints the parameters that a scenario gives names to. Fails as a load of the scenario does.
SIM_MUST_CHECK sim_err_t cli_params_scenario(const world_registry_t *registry, const char *file,
                                             FILE *out, world_error_t *error);

// Prints the reference page docs/formats/attributes.md.
void cli_params_markdown(const world_registry_t *registry, FILE *out);

#endif // CLI_PARAMS_H
