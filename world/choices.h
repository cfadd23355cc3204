// SPDX-License-Identifier: Apache-2.0
// world/choices.h - the parts that attributes choose by name: congestion controls, transports, load
// balancers, buffers...
#ifndef WORLD_CHOICES_H
#define WORLD_CHOICES_H

#include "world/registry.h"

SIM_C_BEGIN

// Lists the names that the attribute of that path ("nic.transport") may have, the registry's
// included; default_text comes first if no part has that name ("auto"). Returns their count; 0: the
// attribute chooses no part. Free *names with sim_free; the names live as long as the registry.
size_t world_choices(const world_registry_t *registry, const char *path, const char *default_text,
                     const char ***names);

SIM_C_END

#endif // WORLD_CHOICES_H
