// SPDX-License-Identifier: Apache-2.0
// world/registry/plugins/plugins.h - the plug-ins of a registry, and the rows that they added.
#ifndef WORLD_REGISTRY_PLUGINS_PLUGINS_H
#define WORLD_REGISTRY_PLUGINS_PLUGINS_H

#include "world/registry.h"

typedef struct world__plugins {
    world_plugin_file_t *files;
    size_t count;
    size_t capacity;
    bool adding;   // the last file adds its rows at this moment
    void **guards; // guarded tables of operations, owned
    size_t guard_count;
    size_t guard_capacity;
} world__plugins_t;

void world__plugins_fini(world__plugins_t *plugins);
// Adds the files of another registry, whose rows were copied. Their guards stay where they are.
void world__plugins_copy(world__plugins_t *to, const world__plugins_t *from);

// Notes that a row was added: by a plug-in, if one adds its rows now. declares: the row's table
// says how its state changes, so that fast-forward knows it.
void world__plugins_note_row(world__plugins_t *plugins, const char *name, bool declares);

// Returns the operations that take the place of a congestion control of a plug-in. They call it,
// and end the run if it wrote past its state or asks for a rate that the line does not have.
const nic_cc_ops_t *world__plugins_guard(world__plugins_t *plugins, const nic_cc_ops_t *ops);
#endif // WORLD_REGISTRY_PLUGINS_PLUGINS_H
