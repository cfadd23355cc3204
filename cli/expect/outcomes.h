// SPDX-License-Identifier: Apache-2.0
// cli/expect/outcomes.h - prints outcomes, and writes them as JUnit XML.
#ifndef CLI_EXPECT_OUTCOMES_H
#define CLI_EXPECT_OUTCOMES_H

#include "cli/expect/expect.h"

#include <stdio.h>

// Prints a line for each expectation of the case.
void cli_expect_print(const cli_expect_case_t *one, FILE *out);
// Writes all outcomes as JUnit XML, which CI services show.
SIM_MUST_CHECK sim_err_t cli_expect_write_junit(const cli_expect_file_t *files, size_t count,
                                                const char *path, world_error_t *error);

#endif // CLI_EXPECT_OUTCOMES_H
