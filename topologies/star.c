// SPDX-License-Identifier: Apache-2.0
// topologies/star.c - hosts around one switch: port n of the switch is host n's (with one NIC).
#include "topologies/builder_internal.h"

#define PREFIX "topology.star"

static const sim_attr_t attrs[] = {
    TOPO__ATTR(SIM_ATTR_COUNT,
               PREFIX,
               "hosts",
               topo_star_config_t,
               hosts,
               "8",
               "1",
               "65535",
               "hosts on the switch"),
    TOPO__ATTR(SIM_ATTR_RATE,
               PREFIX,
               "rate",
               topo_star_config_t,
               rate_bps,
               "100Gbps",
               "1bps",
               "100Tbps",
               "rate of each link, each way"),
    TOPO__ATTR(SIM_ATTR_TIME,
               PREFIX,
               "delay",
               topo_star_config_t,
               delay_ps,
               "1us",
               "1ps",
               "1s",
               "one-way delay of each link"),
    TOPO__ATTR(SIM_ATTR_COUNT,
               PREFIX,
               "nics-per-host",
               topo_star_config_t,
               nics_per_host,
               "1",
               "1",
               "256",
               "NICs of a host: one link each to the switch"),
};

static const sim_attr_table_t attr_table = {PREFIX,
                                            "simulation",
                                            sizeof(topo_star_config_t),
                                            attrs,
                                            SIM_COUNT_OF(attrs)};

static sim_err_t star_check(const void *config, sim_message_t *message)
{
    const topo_star_config_t *const star = config;
    return topo__check_ports("hosts", star->hosts, star->hosts * star->nics_per_host, message);
}

static sim_err_t star_build(const topo_plan_t *plan, const void *config, sim_message_t *message)
{
    const topo_star_config_t *const star = config;
    const sim_err_t error = star_check(star, message);
    if (error != SIM_OK) {
        return error;
    }
    const topo__cable_t cable = topo__cable(star->rate_bps, star->delay_ps, star->nics_per_host);
    topo__hosts(plan, topo__switch(plan, "switch", 0), 0, star->hosts, &cable);
    return SIM_OK;
}

static void star_size(const void *config, topo_size_t *size)
{
    const topo_star_config_t *const star = config;
    *size = (topo_size_t){star->hosts, 1, star->hosts * star->nics_per_host};
}

const topo_ops_t topo_star =
    {"star", "hosts around one switch", &attr_table, star_check, star_build, star_size};
