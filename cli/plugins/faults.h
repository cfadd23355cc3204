// SPDX-License-Identifier: Apache-2.0
// cli/plugins/faults.h - a crash of a plug-in becomes a message that names it, and exit status 1.
//
// The handlers are of the process: signals know no simulation.
#ifndef CLI_PLUGINS_FAULTS_H
#define CLI_PLUGINS_FAULTS_H

#include "world/registry.h"

// Names a plug-in in messages about crashes. Its object need not be loaded yet.
void cli_plugins_name(const world_plugin_file_t *file);
// Writes the names of all plug-ins, or "a plug-in".
void cli_plugins_names(char *text, size_t size);
// Installs the handlers. *told becomes true when one of them has written its message; NULL: nobody
// asks.
void cli_plugins_handle_faults(volatile bool *told);
// Looks once a second whether a plug-in is in the same call for too long: during the simulation
// (between the next two), whether no event ends meanwhile.
void cli_plugins_begin_clock(void);
void cli_plugins_watch_calls(const sim_t *sim);
void cli_plugins_end_calls(void); // sim is about to go away

#endif // CLI_PLUGINS_FAULTS_H
