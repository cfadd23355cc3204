// SPDX-License-Identifier: Apache-2.0
// world/registry/plugins/zones.h - watches parts of plug-ins: what they write and what they answer.
#ifndef WORLD_REGISTRY_PLUGINS_ZONES_H
#define WORLD_REGISTRY_PLUGINS_ZONES_H

#include "nic/cache_policy.h"
#include "nic/device.h"
#include "nic/scheduler.h"
#include "nic/store.h"
#include "nic/transport.h"
#include "world/registry/plugins/plugins.h"

// The table that takes the place of a plug-in's. It calls the plug-in's, and then checks.
typedef struct world__zone {
    union {
        nic_scheduler_ops_t scheduler;
        nic_transport_ops_t transport;
        nic_device_ops_t device;
        nic_store_ops_t store;
        nic_policy_ops_t policy;
        net_balance_ops_t balance;
        net_marking_ops_t marking;
        net_buffer_ops_t buffer;
    } table; // first: switches and NICs point to it
    const void *own;
    const char *name; // of the part
    char plugin[64];
} world__zone_t;

#define WORLD__ZONE_BYTES 128u // behind a state; a multiple of SIM_CACHE_LINE

world__zone_t *world__zone_add(world__plugins_t *plugins, const char *name, const void *own,
                               size_t size);
// Ends the run if the bytes behind a state are not zero. A state of 0 bytes has no zone.
void world__zone_check(const world__zone_t *zone, const void *state, size_t size,
                       const char *operation);
// Returns the size of a state with its zone.
static inline size_t world__with_zone(size_t bytes)
{
    return bytes > 0 ? bytes + WORLD__ZONE_BYTES : 0;
}

// Puts an operation with a check in the place of the plug-in's, if the plug-in has it.
#define WORLD__INSTEAD(ops_, prefix_, operation_) \
    (ops_).operation_ = (ops_).operation_ != NULL ? prefix_##_##operation_ : NULL

// Each puts checks into the copy of a plug-in's table (answers.c).
void world__zone_device(nic_device_ops_t *ops);
void world__zone_store(nic_store_ops_t *ops);
void world__zone_policy(nic_policy_ops_t *ops);

// Each returns the operations that take the place of a plug-in's part. They call it, and end the
// run if it wrote past a state that the NIC or switch keeps for it, or gives an impossible answer.
const void *world__plugins_watch_nic_part(world__plugins_t *plugins, const nic_extra_t *extra);
const void *world__plugins_watch_network_part(world__plugins_t *plugins,
                                              const world_network_part_t *part);

#endif // WORLD_REGISTRY_PLUGINS_ZONES_H
