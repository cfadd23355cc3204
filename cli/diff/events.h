// SPDX-License-Identifier: Apache-2.0
// cli/diff/events.h - the first event in which two runs of one scenario differ.
#ifndef CLI_DIFF_EVENTS_H
#define CLI_DIFF_EVENTS_H

#include "world/error.h"

#include <stdio.h>

typedef struct cli_diff_side {
    const char *folder;  // of results
    const char *program; // that made it; NULL: this one
} cli_diff_side_t;

// Runs both folders' scenarios again, each with its program, some times with narrower observation,
// and prints the first arrival at a node that one has and the other has not, or has at another
// time. Says so where a folder's digest is not what its program gives. SIM_ERR_IO: no run could be
// made.
SIM_MUST_CHECK sim_err_t cli_diff_first_event(const cli_diff_side_t *a,
                                              const cli_diff_side_t *b,
                                              FILE *out,
                                              world_error_t *error);

#endif // CLI_DIFF_EVENTS_H
