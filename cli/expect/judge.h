// SPDX-License-Identifier: Apache-2.0
// cli/expect/judge.h - compares a summary with an expectation.
#ifndef CLI_EXPECT_JUDGE_H
#define CLI_EXPECT_JUDGE_H

#include "cli/expect/expect.h"

#include <jansson.h>

// Fills the outcome and found of the expectation.
void cli_expect_judge(cli_expectation_t *expectation, const json_t *summary);

#endif // CLI_EXPECT_JUDGE_H
