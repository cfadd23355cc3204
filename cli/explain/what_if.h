// SPDX-License-Identifier: Apache-2.0
// cli/explain/what_if.h - runs the scenario again with each remedy.
#ifndef CLI_EXPLAIN_WHAT_IF_H
#define CLI_EXPLAIN_WHAT_IF_H

#include "cli/explain/explain_internal.h"

// what_if.c
// Takes out remedies that the scenario refuses, and those that change nothing.
void cli__explain_keep_remedies(explain_t *explain);
// Runs the scenario again with each remedy of the first findings and prints, or adds to
// json (NULL: prints), how the results change.
SIM_MUST_CHECK sim_err_t cli__explain_what_if(const explain_t *explain, json_t *json,
                                              world_error_t *error);

#endif // CLI_EXPLAIN_WHAT_IF_H
