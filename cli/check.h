// SPDX-License-Identifier: Apache-2.0
// cli/check.h - describes a scenario without running it.
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include "cli/args.h"

int cli_command_check(const cli_args_t *args);
int cli_command_topo(const cli_args_t *args);

#endif // CLI_CHECK_H
