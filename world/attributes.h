// SPDX-License-Identifier: Apache-2.0
// world/attributes.h - every attribute table that a registry's scenarios can use.
#ifndef WORLD_ATTRIBUTES_H
#define WORLD_ATTRIBUTES_H

#include "world/registry.h"

SIM_C_BEGIN

// Lists all tables of attributes in the order of a scenario's sections and returns their count.
// Free *tables with sim_free.
size_t world_attr_tables(const world_registry_t *registry, const sim_attr_table_t ***tables);

SIM_C_END

#endif // WORLD_ATTRIBUTES_H
