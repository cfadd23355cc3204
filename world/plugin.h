// SPDX-License-Identifier: Apache-2.0
// world/plugin.h - a plug-in: a file of C with parts that scenarios choose by name.
//
//     #include "world/plugin.h"
//
//     static const nic_cc_ops_t halve = {...};
//
//     WORLD_PLUGIN
//     {
//         return world_registry_add_cc(registry, &halve, error);
//     }
//
// `rocesim run S.yaml --plugin halve.c` compiles and loads the file, and so does `plugins:
// [halve.c]` in a scenario. The function behind WORLD_PLUGIN adds rows to the registry of that
// scenario (world/registry.h). docs/plugins.md explains plug-ins.
#ifndef WORLD_PLUGIN_H
#define WORLD_PLUGIN_H

#include "net/forwarder.h"
#include "net/models.h"
#include "nic/cache_policy.h"
#include "nic/device.h"
#include "nic/scheduler.h"
#include "nic/store.h"
#include "nic/transport.h"
#include "world/registry.h"

SIM_C_BEGIN

// Version of the interface. It is raised when a plug-in of the version before would do something
// else although it compiles unchanged.
#define WORLD_PLUGIN_VERSION 1u

// A number that differs where a struct has another size than in the headers of the program: then
// the object was compiled with other headers.
#define WORLD_PLUGIN_LAYOUT                                                                     \
    ((uint32_t)(sizeof(nic_cc_t) * 3u + sizeof(nic_cc_ops_t) * 5u + sizeof(nic_cc_ack_t) * 7u + \
                sizeof(nic_extra_t) * 11u + sizeof(nic_config_t) * 13u +                        \
                sizeof(net_packet_t) * 17u + sizeof(net_port_t) * 19u +                         \
                sizeof(net_buffer_ops_t) * 23u + sizeof(net_marking_ops_t) * 29u +              \
                sizeof(net_balance_ops_t) * 31u + sizeof(net_config_t) * 37u +                  \
                sizeof(net_node_t) * 41u + sizeof(app_ops_t) * 43u + sizeof(app_t) * 47u +      \
                sizeof(topo_ops_t) * 53u + sizeof(world_node_kind_t) * 59u +                    \
                sizeof(world_network_part_t) * 61u + sizeof(sim_attr_t) * 67u +                 \
                sizeof(world_error_t) * 71u + sizeof(nic_transport_ops_t) * 73u +               \
                sizeof(nic_scheduler_ops_t) * 79u + sizeof(nic_device_ops_t) * 83u +            \
                sizeof(nic_store_ops_t) * 89u + sizeof(nic_store_place_t) * 97u +               \
                sizeof(nic_store_lookup_t) * 101u + sizeof(nic_policy_ops_t) * 103u +           \
                sizeof(nic_policy_place_t) * 107u + sizeof(net_forwarder_ops_t) * 109u))

// The symbol rocesim_plugin of an object.
typedef struct world_plugin {
    uint32_t version; // WORLD_PLUGIN_VERSION of the headers
    uint32_t layout;  // WORLD_PLUGIN_LAYOUT
    // Adds the rows of the plug-in, which must stay valid. An error refuses the scenario.
    sim_err_t (*add)(world_registry_t *registry, world_error_t *error);
} world_plugin_t;

extern __attribute__((visibility("default"))) const world_plugin_t rocesim_plugin;

#define WORLD_PLUGIN                                                                     \
    static sim_err_t world_plugin_add(world_registry_t *registry, world_error_t *error); \
    const world_plugin_t rocesim_plugin = {WORLD_PLUGIN_VERSION, WORLD_PLUGIN_LAYOUT,    \
                                           world_plugin_add};                            \
    static sim_err_t world_plugin_add(world_registry_t *registry, world_error_t *error)

SIM_C_END

#endif // WORLD_PLUGIN_H
