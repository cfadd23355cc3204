// SPDX-License-Identifier: Apache-2.0
// topologies/pair.c - two hosts joined by one cable per NIC, without a switch.
#include "topologies/builder_internal.h"

#define PREFIX "topology.pair"

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(topo_pair_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(RATE, "rate", rate_bps, "100Gbps", "1bps", "100Tbps", "rate of each cable in each direction"),
    ATTR(TIME, "delay", delay_ps, "1us", "1ps", "1s", "one-way delay of each cable"),
    ATTR(COUNT, "nics-per-host", nics_per_host, "1", "1", "256", "number of NICs of each host; a cable joins NIC n of both hosts"),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "simulation", topo_pair_config_t, attrs);

static sim_err_t pair_check(const void *config, sim_message_t *message)
{
    // Every combination of values in range is a network.
    (void)config;
    (void)message;
    return SIM_OK;
}

static void pair_size(const void *config, topo_size_t *size)
{
    const topo_pair_config_t *const pair = config;
    *size = (topo_size_t){2, 0, pair->nics_per_host};
}

static sim_err_t pair_build(const topo_plan_t *plan, const void *config, sim_message_t *message)
{
    const topo_pair_config_t *const pair = config;
    const sim_err_t error = pair_check(pair, message);
    if (error != SIM_OK) {
        return error;
    }
    const topo__start_t start = topo__start(plan);
    const topo__cable_t cable = topo__cable(pair->rate_bps, pair->delay_ps, pair->nics_per_host);
    net_node_t *const first = topo__host(plan, 0);
    topo__connect(plan, first, topo__host(plan, 1), &cable);
    topo_size_t size;
    pair_size(config, &size);
    topo__check_added(plan, start, &size);
    return SIM_OK;
}

const topo_ops_t topo_pair = {
    "pair", "two hosts joined by a cable", &attr_table, pair_check, pair_build, pair_size};
