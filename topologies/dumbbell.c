// SPDX-License-Identifier: Apache-2.0
// topologies/dumbbell.c - two switches with hosts, joined by one bottleneck link.
//
// Hosts 0 .. left - 1 are on switch0, the others on switch1. The bottleneck is the last port of
// both switches.
#include "topologies/builder_internal.h"

#define PREFIX "topology.dumbbell"

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(topo_dumbbell_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(COUNT, "left", left, "8", "1", "65535", "number of hosts on the left switch"),
    ATTR(COUNT, "right", right, "8", "1", "65535", "number of hosts on the right switch"),
    ATTR(RATE, "host-rate", host_rate_bps, "100Gbps", "1bps", "100Tbps", "rate of the hosts' links"),
    ATTR(TIME, "host-delay", host_delay_ps, "1us", "1ps", "1s", "one-way delay of the hosts' links"),
    ATTR(RATE, "bottleneck-rate", bottleneck_rate_bps, "100Gbps", "1bps", "100Tbps", "rate of the cable between the switches"),
    ATTR(TIME, "bottleneck-delay", bottleneck_delay_ps, "1us", "1ps", "1s", "one-way delay of the cable between the switches"),
    ATTR(COUNT, "nics-per-host", nics_per_host, "1", "1", "256", "number of NICs of each host; each has a link to the same switch"),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "simulation", topo_dumbbell_config_t, attrs);

static sim_err_t dumbbell_check(const void *config, sim_message_t *message)
{
    const topo_dumbbell_config_t *const dumbbell = config;
    const sim_err_t error = topo__check_ports(
        "left", dumbbell->left, dumbbell->left * dumbbell->nics_per_host + 1, message);
    if (error != SIM_OK) {
        return error;
    }
    return topo__check_ports("right", dumbbell->right,
                             dumbbell->right * dumbbell->nics_per_host + 1, message);
}

static void dumbbell_size(const void *config, topo_size_t *size)
{
    const topo_dumbbell_config_t *const dumbbell = config;
    const uint64_t hosts = dumbbell->left + dumbbell->right;
    *size = (topo_size_t){hosts, 2, hosts * dumbbell->nics_per_host + 1};
}

static sim_err_t dumbbell_build(const topo_plan_t *plan, const void *config, sim_message_t *message)
{
    const topo_dumbbell_config_t *const dumbbell = config;
    const sim_err_t error = dumbbell_check(dumbbell, message);
    if (error != SIM_OK) {
        return error;
    }
    const topo__start_t start = topo__start(plan);
    const topo__cable_t host_cable =
        topo__cable(dumbbell->host_rate_bps, dumbbell->host_delay_ps, dumbbell->nics_per_host);
    const topo__cable_t bottleneck =
        topo__cable(dumbbell->bottleneck_rate_bps, dumbbell->bottleneck_delay_ps, 1);
    net_node_t *const left = topo__switch(plan, "switch", 0);
    topo__hosts(plan, left, 0, dumbbell->left, &host_cable);
    net_node_t *const right = topo__switch(plan, "switch", 1);
    topo__hosts(plan, right, dumbbell->left, dumbbell->right, &host_cable);
    topo__connect(plan, left, right, &bottleneck);
    topo_size_t size;
    dumbbell_size(config, &size);
    topo__check_added(plan, start, &size);
    return SIM_OK;
}

const topo_ops_t topo_dumbbell = {
    "dumbbell",     "two switches with hosts, joined by one bottleneck",
    &attr_table,    dumbbell_check,
    dumbbell_build, dumbbell_size};
