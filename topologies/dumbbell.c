// SPDX-License-Identifier: Apache-2.0
// topologies/dumbbell.c - two switches with hosts, joined by one bottleneck link.
//
// Hosts 0 .. left - 1 are on switch0, the others on switch1. The bottleneck is the last port of
// both switches.
#include "topologies/builder_internal.h"

#define PREFIX "topology.dumbbell"

// clang-format off
static const sim_attr_t attrs[] = {
    SIM_ATTR(PREFIX ".left", COUNT, topo_dumbbell_config_t, left,
             .default_text = "8", .min_text = "1", .max_text = "65535",
             .help = "number of hosts on the left switch"),
    SIM_ATTR(PREFIX ".right", COUNT, topo_dumbbell_config_t, right,
             .default_text = "8", .min_text = "1", .max_text = "65535",
             .help = "number of hosts on the right switch"),
    SIM_ATTR(PREFIX ".host-rate", RATE, topo_dumbbell_config_t, host_rate_bps,
             .default_text = "100Gbps", .min_text = "1bps", .max_text = "100Tbps",
             .help = "rate of the hosts' links"),
    SIM_ATTR(PREFIX ".host-delay", TIME, topo_dumbbell_config_t, host_delay_ps,
             .default_text = "1us", .min_text = "1ps", .max_text = "1s",
             .help = "one-way delay of the hosts' links"),
    SIM_ATTR(PREFIX ".bottleneck-rate", RATE, topo_dumbbell_config_t, bottleneck_rate_bps,
             .default_text = "100Gbps", .min_text = "1bps", .max_text = "100Tbps",
             .help = "rate of the cable between the switches"),
    SIM_ATTR(PREFIX ".bottleneck-delay", TIME, topo_dumbbell_config_t, bottleneck_delay_ps,
             .default_text = "1us", .min_text = "1ps", .max_text = "1s",
             .help = "one-way delay of the cable between the switches"),
    SIM_ATTR(PREFIX ".nics-per-host", COUNT, topo_dumbbell_config_t, nics_per_host,
             .default_text = "1", .min_text = "1", .max_text = "256",
             .help = "number of NICs of each host; each has a link to the same switch"),
};
// clang-format on

static const sim_attr_table_t attr_table = {PREFIX, "simulation", sizeof(topo_dumbbell_config_t),
                                            attrs, SIM_COUNT_OF(attrs)};

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
