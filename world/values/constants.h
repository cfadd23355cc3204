// SPDX-License-Identifier: Apache-2.0
// world/values/constants.h - files of constants that scenarios include: `constants: FILE`.
//
// Such a file maps names to {path, value, origin, error, note}; `rocesim calibrate` writes it, or a
// person. path is an attribute, a list of them, or a name under the scenario's `parameters`. A
// constant replaces the scenario's own value; --set replaces the constant. origin is measured,
// published, fitted or chosen.
#ifndef WORLD_VALUES_CONSTANTS_H
#define WORLD_VALUES_CONSTANTS_H

#include "world/scenario.h"

SIM_C_BEGIN

// Takes the key "constants" out of the tree (--set constants=FILE comes before it) and lists the
// constants of the files that it names. Their names are relative to the scenario's file.
SIM_MUST_CHECK sim_err_t world_constants_take(world_document_t *document, world_tree_t *root,
                                              const char *file_name,
                                              const world_override_t *overrides,
                                              size_t override_count, world_tree_t **list,
                                              world_error_t *error);

// Values of parameters of the long form are set before the parameters are expanded, all other
// constants after it.
typedef enum world_constants_pass {
    WORLD_CONSTANTS_PARAMETERS,
    WORLD_CONSTANTS_PATHS,
} world_constants_pass_t;
// Sets the constants of a list in the tree.
SIM_MUST_CHECK sim_err_t world_constants_apply(world_document_t *document, world_tree_t *root,
                                               const world_tree_t *list,
                                               world_constants_pass_t pass, world_error_t *error);
// Returns whether the override names a constants file, which is then applied already.
bool world_is_constants_override(const world_override_t *override);

SIM_C_END

#endif // WORLD_VALUES_CONSTANTS_H
