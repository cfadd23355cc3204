// SPDX-License-Identifier: Apache-2.0
// cli/plugins/limited_run.h - runs a scenario whose plug-ins nobody has read (docs/plugins.md).
//
// The simulation runs in a process of its own. Before it loads plug-ins, it gives up the rights to
// start processes, to reach the network, to write outside of the result folder, and to use more
// memory and processor time than the scenario allows; before the simulation begins, also the right
// to read files. This process waits for it, and says how a plug-in went wrong.
#ifndef CLI_PLUGINS_LIMITED_RUN_H
#define CLI_PLUGINS_LIMITED_RUN_H

#include "cli/args.h"

// Calls run(args) in a limited process and returns the exit status.
int cli_plugins_run_limited(const cli_args_t *args, int (*run)(const cli_args_t *args));

// Returns whether this process is a limited one.
bool cli_plugins_limited(void);

// Watches a run with plug-ins: a crash ends the process with a message that names the plug-in, and
// status 1. Does nothing if the scenario has no plug-ins. In a limited process the run has one
// thread.
void cli_plugins_watch(world_scenario_t *scenario);

// Gives up, in a limited process, what only loading needs. Called right before the simulation; by
// the events of sim, the process notices that a plug-in does not return. Call
// cli_plugins_end_calls afterwards.
void cli_plugins_confine_run(const sim_t *sim);

#endif // CLI_PLUGINS_LIMITED_RUN_H
