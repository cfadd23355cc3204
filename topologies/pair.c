// SPDX-License-Identifier: Apache-2.0
// topologies/pair.c - two hosts joined by one cable per NIC, without a switch.
#include "topologies/builder_internal.h"

#define PREFIX "topology.pair"

// clang-format off
static const sim_attr_t attrs[] = {
    SIM_ATTR(PREFIX ".rate", RATE, topo_pair_config_t, rate_bps,
             .default_text = "100Gbps", .min_text = "1bps", .max_text = "100Tbps",
             .help = "rate of each cable in each direction"),
    SIM_ATTR(PREFIX ".delay", TIME, topo_pair_config_t, delay_ps,
             .default_text = "1us", .min_text = "1ps", .max_text = "1s",
             .help = "one-way delay of each cable"),
    SIM_ATTR(PREFIX ".nics-per-host", COUNT, topo_pair_config_t, nics_per_host,
             .default_text = "1", .min_text = "1", .max_text = "256",
             .help = "number of NICs of each host; a cable joins NIC n of both hosts"),
};
// clang-format on

static const sim_attr_table_t attr_table = {PREFIX, "simulation", sizeof(topo_pair_config_t), attrs,
                                            SIM_COUNT_OF(attrs)};

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
