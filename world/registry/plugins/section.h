// SPDX-License-Identifier: Apache-2.0
// world/registry/plugins/section.h - the section "plugins" of a scenario.
#ifndef WORLD_REGISTRY_PLUGINS_SECTION_H
#define WORLD_REGISTRY_PLUGINS_SECTION_H

#include "world/scenario.h"

// Gives the scenario its registry: the one that is given (NULL: the library's), or a copy of it
// with the rows of the plug-ins that the section of `root` names. The other sections are read
// after it.
SIM_MUST_CHECK sim_err_t world__take_plugins(world_scenario_t *scenario,
                                             const world_registry_t *registry,
                                             const world_tree_t *root, world_error_t *error);
// Checks what only the whole scenario shows: fast-forward knows the state of all plug-ins.
SIM_MUST_CHECK sim_err_t world__check_plugins(const world_scenario_t *scenario,
                                              world_error_t *error);
// Compiles and finds the plug-ins of the section, and loads none. Free each file's path and object,
// and *files, with sim_free, also on an error.
SIM_MUST_CHECK sim_err_t world__locate_plugins(const world_tree_t *root, const char *file_name,
                                               world_plugin_file_t **files, size_t *count,
                                               world_error_t *error);

#endif // WORLD_REGISTRY_PLUGINS_SECTION_H
