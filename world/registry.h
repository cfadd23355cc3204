// SPDX-License-Identifier: Apache-2.0
// world/registry.h - what a scenario can choose by name: congestion controls, transports, stores of
// NICs, applications, topologies; each with its attributes.
//
// A registry begins with what the library has. A program adds rows of its own before it loads a
// scenario with it; the scenario's YAML, --set, checks, `nodes:` patterns and the references then
// know them as they know the library's. There may be any number of registries, with other rows
// each; nothing about them is global. A registry must outlive the scenarios loaded with it.
#ifndef WORLD_REGISTRY_H
#define WORLD_REGISTRY_H

#include "apps/app.h"
#include "nic/extra.h"
#include "topologies/topology.h"
#include "world/error.h"

SIM_C_BEGIN

typedef struct world_registry world_registry_t;

world_registry_t *world_registry_create(void); // with the rows of the library
void world_registry_destroy(world_registry_t *registry);

// Adds a row, which is borrowed. SIM_ERR_EXISTS: the kind has a row of that name, or the name or
// prefix of its attributes is taken; SIM_ERR_INVALID: a name that YAML could not hold as a key, or
// attributes with another prefix than "nic.<name>", "traffic.<name>", "topology.<name>".
SIM_MUST_CHECK sim_err_t world_registry_add_cc(world_registry_t *registry,
                                               const nic_cc_ops_t *ops,
                                               world_error_t *error);
// ops of a nic_transport_ops_t or nic_store_ops_t: their names and attributes.
SIM_MUST_CHECK sim_err_t world_registry_add_nic_part(world_registry_t *registry,
                                                     const nic_extra_t *extra,
                                                     world_error_t *error);
SIM_MUST_CHECK sim_err_t world_registry_add_app(world_registry_t *registry,
                                                const app_ops_t *ops,
                                                world_error_t *error);
SIM_MUST_CHECK sim_err_t world_registry_add_topology(world_registry_t *registry,
                                                     const topo_ops_t *ops,
                                                     world_error_t *error);

// Calls fn with each network that is made for a scenario, before switches are added: for rows of
// net/models.h (buffers, markings, load balancers, ...) and other tables that belong to a network.
typedef void (*world_network_fn)(net_t *net, void *ctx);
void world_registry_add_network(world_registry_t *registry, world_network_fn fn, void *ctx);

// -- looking; lists end with NULL and are the registry's, valid until the next row is added

const app_ops_t *const *world_registry_apps(const world_registry_t *registry);
const topo_ops_t *const *world_registry_topologies(const world_registry_t *registry);
const nic_cc_ops_t *const *world_registry_ccs(const world_registry_t *registry);
const nic_extra_t *world_registry_extras(const world_registry_t *registry, size_t *count);
const app_ops_t *world_registry_app(const world_registry_t *registry, const char *name);
const topo_ops_t *world_registry_topology(const world_registry_t *registry, const char *name);

SIM_C_END

#endif // WORLD_REGISTRY_H
