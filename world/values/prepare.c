// SPDX-License-Identifier: Apache-2.0
// world/values/prepare.c - gives the values of a scenario their final form, before it is read.
#include "world/parameters.h"
#include "world/values/constants.h"
#include "world/values/values.h"

#include <string.h>

// Returns whether an override gives a value to a parameter of the long form, or changes one. Values
// may depend on files, so the folder of files counts as one.
static bool sets_parameter(const world_tree_t *root, const world_override_t *override)
{
    static const char section[] = "parameters.";
    const char *const equals = strchr(override->text, '=');
    if (strncmp(override->text, section, sizeof(section) - 1) == 0 ||
        strncmp(override->text, "folder=", strlen("folder=")) == 0) {
        return true;
    }
    return equals != NULL &&
           world_parameter_find(root, override->text, (size_t)(equals - override->text)) != NULL;
}

// Applies the overrides that give values to parameters, or all others.
static sim_err_t apply_overrides(world_document_t *document, world_tree_t *root,
                                 const world_override_t *overrides, size_t override_count,
                                 bool parameters, world_error_t *error)
{
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < override_count && result == SIM_OK; i++) {
        if (!world_is_constants_override(&overrides[i]) &&
            sets_parameter(root, &overrides[i]) == parameters) {
            result = world_override_apply(document, root, &overrides[i], error);
        }
    }
    return result;
}

sim_err_t world__prepare_values(world_document_t *document, world_tree_t *root,
                                const char *file_name, const world_override_t *overrides,
                                size_t count, world_error_t *error)
{
    world_tree_t *constants = NULL;
    sim_err_t result =
        world_constants_take(document, root, file_name, overrides, count, &constants, error);
    if (result == SIM_OK) {
        result =
            world_constants_apply(document, root, constants, WORLD_CONSTANTS_PARAMETERS, error);
    }
    if (result == SIM_OK) {
        result = apply_overrides(document, root, overrides, count, true, error);
    }
    if (result == SIM_OK) {
        result = world_parameters_expand(document, root, error);
    }
    if (result == SIM_OK) {
        result = world_constants_apply(document, root, constants, WORLD_CONSTANTS_PATHS, error);
    }
    if (result == SIM_OK) {
        result = apply_overrides(document, root, overrides, count, false, error);
    }
    return result == SIM_OK ? world_parameters_replace(document, root, error) : result;
}
