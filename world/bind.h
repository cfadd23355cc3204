// SPDX-License-Identifier: Apache-2.0
// world/bind.h - gives the mappings of a scenario to the attributes of config structs, and back.
//
// `switch: {ecn: {kmin: 400KB}}` sets the attribute switch.ecn.kmin. A thing that is configured
// may take its attributes from several tables (a NIC and its congestion controls).
#ifndef WORLD_BIND_H
#define WORLD_BIND_H

#include "nic/host.h"
#include "world/yaml_tree.h"

SIM_C_BEGIN

typedef struct world_target {
    const sim_attr_table_t *table;
    void *config;
} world_target_t;

// The index-th target of a source. False: it has fewer.
typedef bool (*world_target_at_fn)(const void *source, size_t index, world_target_t *target);

// What one mapping configures: a struct, and those that a source has besides, however many. Borrows
// all of them.
typedef struct world_targets {
    world_target_t first;
    world_target_at_fn more; // NULL: none
    const void *source;
} world_targets_t;

world_targets_t world_targets_one(const sim_attr_table_t *table, void *config);
// The NIC's own attributes and those of all that it can choose: congestion controls, the config's
// extras.
world_targets_t world_targets_nic(nic_config_t *config);
// One by one from 0 on. False: there is none of that index.
bool world_target_at(const world_targets_t *targets, size_t index, world_target_t *target);

// Sets every attribute that map (or a null value: none) gives below prefix ("switch"; "" for the
// top level). others (count of them) are keys that the caller handles: they are passed over, and
// named with the accepted ones. On error some attributes may have been set.
SIM_MUST_CHECK sim_err_t world_bind(const world_tree_t *map,
                                    const char *prefix,
                                    const world_targets_t *targets,
                                    const char *const *others,
                                    world_error_t *error);

// The place of the deepest part of map that the path (below prefix, or with it) leads to: where to
// point when a check of several values fails (sim_message_t.about).
world_place_t world_locate(const world_tree_t *map, const char *prefix, const char *path);

// Adds every attribute of targets with its present value to map, as nested mappings without the
// prefix.
void world_unbind(world_document_t *document,
                  world_tree_t *map,
                  const char *prefix,
                  const world_targets_t *targets);

// Adds the keys that are accepted directly below path to the message: " (expected a, b or c)".
void world_add_accepted(world_error_t *error,
                        const char *path,
                        const world_targets_t *targets,
                        const char *const *others);

// -- scalars that are not attributes

// A value's text: a scalar, or "[a, b]" of a list of scalars. NULL with a message for anything
// else. Free with sim_free.
char *world_value_text(const world_tree_t *tree, const char *path, world_error_t *error);

SIM_C_END

#endif // WORLD_BIND_H
