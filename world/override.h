// SPDX-License-Identifier: Apache-2.0
// world/override.h - the values that --set gives to a scenario.
#ifndef WORLD_OVERRIDE_H
#define WORLD_OVERRIDE_H

#include "world/yaml_tree.h"

SIM_C_BEGIN

// A value given on the command line.
typedef struct world_override {
    const char *shown; // in messages: "--set nic.mtu=1024"
    const char *text;  // "nic.mtu=1024"
    const char *where; // before `shown` in messages: "sweep.yaml:4:12: "; NULL: nothing
} world_override_t;

// Changes the tree by one override.
SIM_MUST_CHECK sim_err_t world_override_apply(world_document_t *document, world_tree_t *root,
                                              const world_override_t *override,
                                              world_error_t *error);

SIM_C_END

#endif // WORLD_OVERRIDE_H
