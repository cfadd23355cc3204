// SPDX-License-Identifier: Apache-2.0
// world/bind.h - sets the attributes of config structs from the mappings of a scenario, and back.
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

// Finds the index-th target of a source. Returns false if it has fewer.
typedef bool (*world_target_at_fn)(const void *source, size_t index, world_target_t *target);

// The structs that one mapping configures: the first, and any number that a source lists. Borrows
// all of them.
typedef struct world_targets {
    world_target_t first;
    world_target_at_fn more; // NULL: none
    const void *source;
} world_targets_t;

world_targets_t world_targets_one(const sim_attr_table_t *table, void *config);
// Returns the NIC's own attributes and those of all parts that it can choose: congestion controls,
// the config's extras.
world_targets_t world_targets_nic(nic_config_t *config);
// Finds the target of an index, from 0 on. Returns false if there is none.
bool world_target_at(const world_targets_t *targets, size_t index, world_target_t *target);

// Sets every attribute that map gives below prefix ("switch"; "" for the top level); a null value
// sets none. others (NULL, or a list that ends with NULL) are keys that the caller handles: they
// are skipped here, and messages list them with the accepted keys. On error some attributes may
// have been set.
SIM_MUST_CHECK sim_err_t world_bind(const world_tree_t *map, const char *prefix,
                                    const world_targets_t *targets, const char *const *others,
                                    world_error_t *error);

// Returns the place of the deepest part of map that the path (below prefix, or with it) leads to.
// Messages point there when a check of several values fails (sim_message_t.about).
world_place_t world_locate(const world_tree_t *map, const char *prefix, const char *path);

// Adds every attribute of targets with its present value to map, as nested mappings without the
// prefix.
void world_unbind(world_document_t *document, world_tree_t *map, const char *prefix,
                  const world_targets_t *targets);

// Adds the keys that are accepted directly below path to the message: " (expected a, b or c)".
void world_add_accepted(world_error_t *error, const char *path, const world_targets_t *targets,
                        const char *const *others);

// -- scalars that are not attributes

// Returns the text of a scalar, or "[a, b]" of a list of scalars; NULL with a message for anything
// else. Free it with sim_free.
char *world_value_text(const world_tree_t *tree, const char *path, world_error_t *error);

SIM_C_END

#endif // WORLD_BIND_H
