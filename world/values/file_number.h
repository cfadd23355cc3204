// SPDX-License-Identifier: Apache-2.0
// world/values/file_number.h - numbers that expressions of a scenario take from files: the ranks of
// a workload, the longest path of a topology.
#ifndef WORLD_VALUES_FILE_NUMBER_H
#define WORLD_VALUES_FILE_NUMBER_H

#include "world/values/expression.h"
#include "world/yaml_tree.h"

SIM_C_BEGIN

// Error messages list the functions of a topology file in this order.
#define WORLD_FILE_FUNCTIONS "ranks, path_links, path_delay, host_rate"
// Returns whether an expression may call this name with the name of a parameter.
bool world_is_file_function(const char *name);

// Reads the file that `name` names, from the scenario's folder, and computes the function's number.
// root: of the scenario. Fails with a message that has the place.
SIM_MUST_CHECK sim_err_t world_file_number(const world_tree_t *root, const char *function,
                                           const char *name, const world_place_t *place,
                                           world_number_t *number, world_error_t *error);

SIM_C_END

#endif // WORLD_VALUES_FILE_NUMBER_H
