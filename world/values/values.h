// SPDX-License-Identifier: Apache-2.0
// world/values/values.h - sets values in the tree of a scenario before its sections are read.
#ifndef WORLD_VALUES_VALUES_H
#define WORLD_VALUES_VALUES_H

#include "world/scenario.h"

// Prepares a tree for reading: parameters get their values and are expanded; then constants and
// overrides replace what stands at their paths; then expressions are computed.
SIM_MUST_CHECK sim_err_t world__prepare_values(world_document_t *document, world_tree_t *root,
                                               const char *file_name,
                                               const world_override_t *overrides, size_t count,
                                               world_error_t *error);
// Merges a mapping into the one at a path, or sets another value there. path is a scalar.
SIM_MUST_CHECK sim_err_t world__merge_value(world_document_t *document, world_tree_t *root,
                                            const world_tree_t *path, world_tree_t *value,
                                            world_error_t *error);
// Sets a value at a path, or at the paths that a parameter's name stands for; a parameter of the
// long form takes the value.
SIM_MUST_CHECK sim_err_t world__override_value(world_document_t *document, world_tree_t *root,
                                               const char *path, world_tree_t *value,
                                               world_error_t *error);
// Checks `parameters`; each --set looks up what they stand for.
SIM_MUST_CHECK sim_err_t world__take_parameters(world_scenario_t *scenario,
                                                const world_tree_t *value, world_error_t *error);

#endif // WORLD_VALUES_VALUES_H
