// SPDX-License-Identifier: Apache-2.0
// cli/workload/workload.h - commands on files of workloads: `rocesim check FILE` and `rocesim
// convert`.
#ifndef CLI_WORKLOAD_WORKLOAD_H
#define CLI_WORKLOAD_WORKLOAD_H

#include "cli/args.h"

// Returns whether the operand of `rocesim check` is a workload in a known format. If so, describes
// it, and *status is the exit status.
bool cli_workload_check(const cli_args_t *args, int *status);
// Says what a file is that was given as a scenario and is none, if its content is known. Returns
// whether it is; the caller has failed to read a scenario.
bool cli_workload_instead(const char *name);
// Returns "the file is a topology of htsim: HOW A SCENARIO USES IT" for a file of a known kind,
// else NULL. Free it with sim_free.
char *cli_workload_kind(const char *path);
// Runs `rocesim convert IN -o OUT`. Returns the exit status.
int cli_command_convert(const cli_args_t *args);

#endif // CLI_WORKLOAD_WORKLOAD_H
