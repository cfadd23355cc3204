// SPDX-License-Identifier: Apache-2.0
// topologies/builder_internal.h - functions that the builders, the linter and the drawing share.
#ifndef TOPOLOGIES_BUILDER_INTERNAL_H
#define TOPOLOGIES_BUILDER_INTERNAL_H

#include "topologies/builders.h"

// Parallel links that a builder adds between two nodes.
typedef struct topo__cable {
    net_link_config_t config; // the defaults except for rate and delay
    uint64_t count;           // parallel links, >= 1
} topo__cable_t;
topo__cable_t topo__cable(uint64_t rate_bps, sim_time_t delay_ps, uint64_t count);

// Creates the program's own node of that name, or returns NULL; creates that node or else a switch.
net_node_t *topo__own_switch(const topo_plan_t *plan, const char *name);
net_node_t *topo__named_switch(const topo_plan_t *plan, const char *name);
// Add a switch <tier><number> or a host host<number>, with the plan's configuration of that name.
net_node_t *topo__switch(const topo_plan_t *plan, const char *tier, uint64_t number);
net_node_t *topo__host(const topo_plan_t *plan, uint64_t number);

// The host that a builder created last. Start with all zeros.
typedef struct topo__last {
    net_node_t *host;           // NULL: none yet
    const nic_config_t *config; // of `host`
} topo__last_t;
// Adds host<number>. If it is configured like the last host, the two share their configuration,
// and the builder compares no fields.
net_node_t *topo__next_host(const topo_plan_t *plan, uint64_t number, topo__last_t *last);

// Connects a and b by cable->count links.
void topo__connect(const topo_plan_t *plan, net_node_t *a, net_node_t *b,
                   const topo__cable_t *cable);

// Creates hosts first .. first + count - 1, each connected to `to`.
void topo__hosts(const topo_plan_t *plan, net_node_t *to, uint64_t first, uint64_t count,
                 const topo__cable_t *cable);

// Counts of a network before a builder adds to it.
typedef struct topo__start {
    size_t nodes;
    size_t links;
} topo__start_t;
topo__start_t topo__start(const topo_plan_t *plan);
// SIM_CHECKs that a builder has added as many nodes and links since `start` as its size() says.
void topo__check_added(const topo_plan_t *plan, topo__start_t start, const topo_size_t *size);

// Fail with SIM_ERR_RANGE if the network would have too many interfaces, or a switch too many
// ports. The message begins with the attribute's name and value.
SIM_MUST_CHECK sim_err_t topo__check_interfaces(const char *name, uint64_t value,
                                                uint64_t interfaces, sim_message_t *message);
SIM_MUST_CHECK sim_err_t topo__check_ports(const char *name, uint64_t value, uint64_t ports,
                                           sim_message_t *message);

// Returns each node's distance from the nearest host in links, by sim.index: hosts have 0, switches
// with hosts 1; TOPO__TIER_NONE: no host reaches the switch. The caller frees it with sim_free.
#define TOPO__TIER_NONE UINT32_MAX
uint32_t *topo__tiers(const net_t *net);

// Return a rate or a delay as a scenario writes it ("100Gbps", "1us"); free with sim_free.
char *topo__rate_text(uint64_t rate_bps);
char *topo__delay_text(sim_time_t delay_ps);

#endif // TOPOLOGIES_BUILDER_INTERNAL_H
