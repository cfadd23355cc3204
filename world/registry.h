// SPDX-License-Identifier: Apache-2.0
// world/registry.h - the parts that a scenario can choose by name, each with its attributes: parts
// of NICs, switches and links, applications, topologies.
//
// A registry begins with the library's rows. A program adds its own before it loads a scenario;
// YAML, --set, checks, `nodes:` patterns and references then know them as they know the library's.
// A program may have several registries; nothing is global. A registry must outlive its scenarios.
#ifndef WORLD_REGISTRY_H
#define WORLD_REGISTRY_H

#include "apps/app.h"
#include "nic/extra.h"
#include "topologies/topology.h"
#include "world/error.h"

SIM_C_BEGIN

typedef struct world_registry world_registry_t;

world_registry_t *world_registry_create(void); // with the rows of the library
// Returns a registry with the rows of another one, which must outlive it.
world_registry_t *world_registry_copy(const world_registry_t *registry);
void world_registry_destroy(world_registry_t *registry);

// Adds a row, which is borrowed. SIM_ERR_EXISTS: the kind has a row of that name, or the name or
// prefix of its attributes is taken; SIM_ERR_INVALID: a name that YAML could not hold as a key, or
// attributes with another prefix than "nic.<name>", "traffic.<name>", "topology.<name>",
// "network.<name>", "node.<name>".
SIM_MUST_CHECK sim_err_t world_registry_add_cc(world_registry_t *registry, const nic_cc_ops_t *ops,
                                               world_error_t *error);
// Adds any part of a NIC (nic/extra.h).
SIM_MUST_CHECK sim_err_t world_registry_add_nic_part(world_registry_t *registry,
                                                     const nic_extra_t *extra,
                                                     world_error_t *error);
SIM_MUST_CHECK sim_err_t world_registry_add_app(world_registry_t *registry, const app_ops_t *ops,
                                                world_error_t *error);
SIM_MUST_CHECK sim_err_t world_registry_add_topology(world_registry_t *registry,
                                                     const topo_ops_t *ops, world_error_t *error);

// A kind of node of one's own that forwards packets: a switch, an appliance, or a source of traffic
// that makes packets itself. It stands in a graph as `- NAME: node`, and `nodes: {"spine*": {NAME:
// {...}}}` puts it in the place of switches of any topology. Ends of routes are hosts with NICs;
// what programs do on them is an application.
typedef struct world_node_kind {
    const char *name;              // "middlebox"
    const char *help;              // one line
    const sim_attr_table_t *attrs; // "node.<name>."; NULL: no parameters
    // Fails if values do not fit each other; the message begins with the attribute's name
    // (sim_fail_about). NULL: any values within their ranges do.
    sim_err_t (*check)(const void *config, sim_message_t *message);
    // Creates a node: net_node_init with NET_NODE_FORWARDER, and net_node_forward. The simulation
    // frees it. config is valid during the call; NULL: no parameters.
    net_node_t *(*create)(net_t *net, const char *name, const void *config);
} world_node_kind_t;
SIM_MUST_CHECK sim_err_t world_registry_add_node_kind(world_registry_t *registry,
                                                      const world_node_kind_t *kind,
                                                      world_error_t *error);

// A row of net/models.h: a buffer or marking of switches, a load balancer, an order of routes, a
// timing or framing of links, chosen by name where the library's are (network.load-balancer,
// switch.marking, ...).
typedef enum world_network_kind {
    WORLD_NETWORK_BUFFER,  // ops: net_buffer_ops_t
    WORLD_NETWORK_MARKING, // net_marking_ops_t
    WORLD_NETWORK_BALANCE, // net_balance_ops_t
    WORLD_NETWORK_ROUTES,  // net_routes_ops_t
    WORLD_NETWORK_TIMING,  // net_timing_ops_t
    WORLD_NETWORK_FRAMING, // net_framing_t
    WORLD_NETWORK_KIND_COUNT
} world_network_kind_t;
typedef struct world_network_part {
    world_network_kind_t kind;
    const char *name;              // of ops
    const sim_attr_table_t *attrs; // "network.<name>."; NULL: no parameters
    const void *ops;               // finds its parameters with net_registered_config
} world_network_part_t;
SIM_MUST_CHECK sim_err_t world_registry_add_network_part(world_registry_t *registry,
                                                         const world_network_part_t *part,
                                                         world_error_t *error);

// A plug-in that was added to a registry.
typedef struct world_plugin_file {
    char *path;             // absolute
    const char *name;       // its last part
    char *object;           // absolute path of the object that is loaded
    char sha256[65];        // of the file
    size_t row_count;       // rows that it added
    const char *undeclared; // a row whose state fast-forward does not know; NULL: there is none
} world_plugin_file_t;
// Compiles a plug-in (world/plugin.h), if it is a file of C (.c), loads it, and lets it add its
// rows. Does nothing if the registry has the file already. On an error, the registry may have rows
// of the plug-in. The object stays loaded until the process ends.
SIM_MUST_CHECK sim_err_t world_registry_add_plugin(world_registry_t *registry, const char *path,
                                                   world_error_t *error);
// A program may define this function. It is called before the object of a plug-in is loaded, whose
// code runs from then on: the program can say which plug-in it was if that goes wrong.
__attribute__((weak)) void world_plugin_loads(const world_plugin_file_t *file);
// Does all this but loading: finds the file, compiles it and fills in *file. The caller frees
// file->path and file->object with sim_free.
SIM_MUST_CHECK sim_err_t world_plugin_locate(const char *path, world_plugin_file_t *file,
                                             world_error_t *error);
// Returns the name of the plug-in's file that has a row of the registry; "the program": none has.
const char *world_registry_plugin_of(const world_registry_t *registry, const void *row);
const world_plugin_file_t *world_registry_plugins(const world_registry_t *registry, size_t *count);

// Calls fn with each network that is made for a scenario, before switches are added: for other
// tables that belong to a network.
typedef void (*world_network_fn)(net_t *net, void *ctx);
void world_registry_add_network(world_registry_t *registry, world_network_fn fn, void *ctx);

// -- looking; lists end with NULL and are the registry's, valid until the next row is added

const app_ops_t *const *world_registry_apps(const world_registry_t *registry);
const topo_ops_t *const *world_registry_topologies(const world_registry_t *registry);
const nic_cc_ops_t *const *world_registry_ccs(const world_registry_t *registry);
const nic_extra_t *world_registry_extras(const world_registry_t *registry, size_t *count);
const world_network_part_t *world_registry_network_parts(const world_registry_t *registry,
                                                         size_t *count);
const world_node_kind_t *const *world_registry_node_kinds(const world_registry_t *registry);
// Finds a kind by its name; NULL: there is none.
const world_node_kind_t *world_registry_node_kind(const world_registry_t *registry,
                                                  const char *name);
const app_ops_t *world_registry_app(const world_registry_t *registry, const char *name);
const topo_ops_t *world_registry_topology(const world_registry_t *registry, const char *name);

SIM_C_END

#endif // WORLD_REGISTRY_H
