// SPDX-License-Identifier: Apache-2.0
// world/parameters.h - the section `parameters` of a scenario, and the expressions $(...) in it.
//
//   name: PATH                      --set name=VALUE sets that path; a list of paths sets them all
//   name: {default: VALUE}          a value for expressions: $(name), $(name / 2)
//   name: {default: VALUE, path: PATH}             the value also stands at the path
//   name: {default: A, choose: {A: SECTION, B: SECTION}, path: PATH}
//                                   the chosen section is merged into the path, or the scenario
#ifndef WORLD_PARAMETERS_H
#define WORLD_PARAMETERS_H

#include "world/yaml_tree.h"

#include <jansson.h>
#include <stdio.h>

SIM_C_BEGIN

// The choice that stands for every value which names no other choice, such as a file.
#define WORLD_PARAMETERS_ELSE "else"
#define WORLD_PARAMETERS_MAX 256u

// Returns the section `parameters` of a scenario; NULL: it has none.
world_tree_t *world__parameters_section(const world_tree_t *root);
// Returns the mapping of the parameter of that name if it has the long form; NULL: there is none.
// name need not end with a 0.
world_tree_t *world_parameter_find(const world_tree_t *root, const char *name, size_t size);
// Replaces the default of a parameter of the long form. The value becomes part of the tree.
void world_parameter_set(world_document_t *document, world_tree_t *map, world_tree_t *value);

// Checks the parameters of the long form, computes their values, which replace their defaults in
// the tree, and puts values and chosen sections at their paths.
SIM_MUST_CHECK sim_err_t world_parameters_expand(world_document_t *document, world_tree_t *root,
                                                 world_error_t *error);
// Replaces every $(...) outside `parameters`. Comes after world_parameters_expand and all
// overrides.
SIM_MUST_CHECK sim_err_t world_parameters_replace(world_document_t *document, world_tree_t *root,
                                                  world_error_t *error);

// Prints the value of each parameter of the long form, and what could be chosen.
void world_parameters_print(const world_tree_t *root, FILE *stream);

// Returns the parameters as a list of objects: name, and where they are given default, choices,
// paths and help. The caller owns it.
json_t *world_parameters_json(const world_tree_t *root);

SIM_C_END

#endif // WORLD_PARAMETERS_H
