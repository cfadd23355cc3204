// SPDX-License-Identifier: Apache-2.0
// cli/diff/events.h - finds the first event in which two runs of one scenario differ.
#ifndef CLI_DIFF_EVENTS_H
#define CLI_DIFF_EVENTS_H

#include "world/error.h"

#include <stdio.h>

typedef struct cli_diff_side {
    const char *folder;  // a result folder
    const char *program; // the rocesim that made it; NULL: this program
} cli_diff_side_t;

// Runs the scenarios of both folders again, each with its program, several times and observed more
// closely each time. Prints the first arrival that only one of them has, or has at another time.
// Prints a note if a program does not reproduce the digest of its folder. Returns SIM_ERR_IO if a
// program could not be run.
SIM_MUST_CHECK sim_err_t cli_diff_first_event(const cli_diff_side_t *a, const cli_diff_side_t *b,
                                              FILE *out, world_error_t *error);

#endif // CLI_DIFF_EVENTS_H
