// SPDX-License-Identifier: Apache-2.0
// topologies/star.c - hosts around one switch. With one NIC per host, port n belongs to host n.
#include "topologies/builder_internal.h"

#define PREFIX "topology.star"

// clang-format off
static const sim_attr_t attrs[] = {
    SIM_ATTR(PREFIX ".hosts", COUNT, topo_star_config_t, hosts,
             .default_text = "8", .min_text = "1", .max_text = "65535",
             .help = "number of hosts on the switch"),
    SIM_ATTR(PREFIX ".rate", RATE, topo_star_config_t, rate_bps,
             .default_text = "100Gbps", .min_text = "1bps", .max_text = "100Tbps",
             .help = "rate of each link in each direction"),
    SIM_ATTR(PREFIX ".delay", TIME, topo_star_config_t, delay_ps,
             .default_text = "1us", .min_text = "1ps", .max_text = "1s",
             .help = "one-way delay of each link"),
    SIM_ATTR(PREFIX ".nics-per-host", COUNT, topo_star_config_t, nics_per_host,
             .default_text = "1", .min_text = "1", .max_text = "256",
             .help = "number of NICs of each host; each has a link to the switch"),
};
// clang-format on

static const sim_attr_table_t attr_table = {PREFIX, "simulation", sizeof(topo_star_config_t), attrs,
                                            SIM_COUNT_OF(attrs)};

static sim_err_t star_check(const void *config, sim_message_t *message)
{
    const topo_star_config_t *const star = config;
    return topo__check_ports("hosts", star->hosts, star->hosts * star->nics_per_host, message);
}

static void star_size(const void *config, topo_size_t *size)
{
    const topo_star_config_t *const star = config;
    *size = (topo_size_t){star->hosts, 1, star->hosts * star->nics_per_host};
}

static sim_err_t star_build(const topo_plan_t *plan, const void *config, sim_message_t *message)
{
    const topo_star_config_t *const star = config;
    const sim_err_t error = star_check(star, message);
    if (error != SIM_OK) {
        return error;
    }
    const topo__start_t start = topo__start(plan);
    const topo__cable_t cable = topo__cable(star->rate_bps, star->delay_ps, star->nics_per_host);
    topo__hosts(plan, topo__switch(plan, "switch", 0), 0, star->hosts, &cable);
    topo_size_t size;
    star_size(config, &size);
    topo__check_added(plan, start, &size);
    return SIM_OK;
}

const topo_ops_t topo_star = {
    "star", "hosts around one switch", &attr_table, star_check, star_build, star_size};
