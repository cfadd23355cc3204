// SPDX-License-Identifier: Apache-2.0
// cli/output.h - what commands print on the standard output.
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <jansson.h>
#include <stdint.h>

// Sets a member of an object to a whole number.
void cli_json_set(json_t *object, const char *name, uint64_t value);
// Prints `json` indented, and frees it.
void cli_print_json(json_t *json);
// Flushes the standard output and returns `status`. If a write has failed, it prints why and
// returns CLI_EXIT_FAILED.
int cli_finish_output(int status);

#endif // CLI_OUTPUT_H
