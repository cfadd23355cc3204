// SPDX-License-Identifier: Apache-2.0
// world/registry/plugins/zones.h - watches parts of plug-ins whose states switches and NICs own.
#ifndef WORLD_REGISTRY_PLUGINS_ZONES_H
#define WORLD_REGISTRY_PLUGINS_ZONES_H

#include "world/registry/plugins/plugins.h"

// Each returns the operations that take the place of a plug-in's scheduler, transport, balancer,
// marking or buffer. They call it, and end the run if it wrote past its state. Other parts, whose
// states are their own, stay as they are.
const void *world__plugins_watch_nic_part(world__plugins_t *plugins, const nic_extra_t *extra);
const void *world__plugins_watch_network_part(world__plugins_t *plugins,
                                              const world_network_part_t *part);

#endif // WORLD_REGISTRY_PLUGINS_ZONES_H
