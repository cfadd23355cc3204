// SPDX-License-Identifier: Apache-2.0
// topologies/dumbbell.c - hosts left and right of one cable between two switches.
//
// Hosts 0 .. left - 1 are on switch0, the others on switch1; the bottleneck is the last port of
// both switches.
#include "topologies/builder_internal.h"

#define PREFIX "topology.dumbbell"

static const sim_attr_t attrs[] = {
    TOPO__ATTR(SIM_ATTR_COUNT,
               PREFIX,
               "left",
               topo_dumbbell_config_t,
               left,
               "8",
               "1",
               "65535",
               "hosts on the left switch"),
    TOPO__ATTR(SIM_ATTR_COUNT,
               PREFIX,
               "right",
               topo_dumbbell_config_t,
               right,
               "8",
               "1",
               "65535",
               "hosts on the right switch"),
    TOPO__ATTR(SIM_ATTR_RATE,
               PREFIX,
               "host-rate",
               topo_dumbbell_config_t,
               host_rate_bps,
               "100Gbps",
               "1bps",
               "100Tbps",
               "rate of the hosts' links"),
    TOPO__ATTR(SIM_ATTR_TIME,
               PREFIX,
               "host-delay",
               topo_dumbbell_config_t,
               host_delay_ps,
               "1us",
               "1ps",
               "1s",
               "one-way delay of the hosts' links"),
    TOPO__ATTR(SIM_ATTR_RATE,
               PREFIX,
               "bottleneck-rate",
               topo_dumbbell_config_t,
               bottleneck_rate_bps,
               "100Gbps",
               "1bps",
               "100Tbps",
               "rate of the cable between the switches"),
    TOPO__ATTR(SIM_ATTR_TIME,
               PREFIX,
               "bottleneck-delay",
               topo_dumbbell_config_t,
               bottleneck_delay_ps,
               "1us",
               "1ps",
               "1s",
               "one-way delay of the cable between the switches"),
    TOPO__ATTR(SIM_ATTR_COUNT,
               PREFIX,
               "nics-per-host",
               topo_dumbbell_config_t,
               nics_per_host,
               "1",
               "1",
               "256",
               "NICs of a host: one link each to its switch"),
};

static const sim_attr_table_t attr_table = {PREFIX,
                                            "simulation",
                                            sizeof(topo_dumbbell_config_t),
                                            attrs,
                                            SIM_COUNT_OF(attrs)};

static sim_err_t dumbbell_check(const void *config, sim_message_t *message)
{
    const topo_dumbbell_config_t *const dumbbell = config;
    const sim_err_t error = topo__check_ports("left",
                                              dumbbell->left,
                                              dumbbell->left * dumbbell->nics_per_host + 1,
                                              message);
    if (error != SIM_OK) {
        return error;
    }
    return topo__check_ports("right",
                             dumbbell->right,
                             dumbbell->right * dumbbell->nics_per_host + 1,
                             message);
}

static sim_err_t dumbbell_build(const topo_plan_t *plan, const void *config, sim_message_t *message)
{
    const topo_dumbbell_config_t *const dumbbell = config;
    const sim_err_t error = dumbbell_check(dumbbell, message);
    if (error != SIM_OK) {
        return error;
    }
    const topo__cable_t host_cable =
        topo__cable(dumbbell->host_rate_bps, dumbbell->host_delay_ps, dumbbell->nics_per_host);
    const topo__cable_t bottleneck =
        topo__cable(dumbbell->bottleneck_rate_bps, dumbbell->bottleneck_delay_ps, 1);
    net_node_t *const left = topo__switch(plan, "switch", 0);
    topo__hosts(plan, left, 0, dumbbell->left, &host_cable);
    net_node_t *const right = topo__switch(plan, "switch", 1);
    topo__hosts(plan, right, dumbbell->left, dumbbell->right, &host_cable);
    topo__connect(plan, left, right, &bottleneck);
    return SIM_OK;
}

static void dumbbell_size(const void *config, topo_size_t *size)
{
    const topo_dumbbell_config_t *const dumbbell = config;
    const uint64_t hosts = dumbbell->left + dumbbell->right;
    *size = (topo_size_t){hosts, 2, hosts * dumbbell->nics_per_host + 1};
}

const topo_ops_t topo_dumbbell = {"dumbbell",
                                  "two switches with hosts, joined by one bottleneck",
                                  &attr_table,
                                  dumbbell_check,
                                  dumbbell_build,
                                  dumbbell_size};
