// SPDX-License-Identifier: Apache-2.0
// topologies/star.c - hosts around one switch. With one NIC per host, port n belongs to host n.
#include "topologies/builder_internal.h"

#define PREFIX "topology.star"

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(topo_star_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(COUNT, "hosts", hosts, "8", "1", "65535", "number of hosts on the switch"),
    ATTR(RATE, "rate", rate_bps, "100Gbps", "1bps", "100Tbps", "rate of each link in each direction"),
    ATTR(TIME, "delay", delay_ps, "1us", "1ps", "1s", "one-way delay of each link"),
    ATTR(COUNT, "nics-per-host", nics_per_host, "1", "1", "256", "number of NICs of each host; each has a link to the switch"),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "simulation", topo_star_config_t, attrs);

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
