// SPDX-License-Identifier: Apache-2.0
// topologies/parking_lot.c - switches in a row, each with hosts. A flow along the row shares every
// trunk with flows that join and leave on the way.
//
// Host n is on switch n / hosts-per-switch. Order of ports: the hosts', the trunk to the previous
// switch if there is one, the trunk to the next.
#include "topologies/builder_internal.h"

#define PREFIX "topology.parking-lot"

// clang-format off
static const sim_attr_t attrs[] = {
    SIM_ATTR(PREFIX ".switches", COUNT, topo_parking_lot_config_t, switches,
             .default_text = "4", .min_text = "2", .max_text = "63",
             .help = "number of switches in the row; at most 63, because packets start with TTL "
                     "64"),
    SIM_ATTR(PREFIX ".hosts-per-switch", COUNT, topo_parking_lot_config_t, hosts_per_switch,
             .default_text = "2", .min_text = "1", .max_text = "65534",
             .help = "number of hosts on each switch"),
    SIM_ATTR(PREFIX ".host-rate", RATE, topo_parking_lot_config_t, host_rate_bps,
             .default_text = "100Gbps", .min_text = "1bps", .max_text = "100Tbps",
             .help = "rate of the hosts' links"),
    SIM_ATTR(PREFIX ".host-delay", TIME, topo_parking_lot_config_t, host_delay_ps,
             .default_text = "1us", .min_text = "1ps", .max_text = "1s",
             .help = "one-way delay of the hosts' links"),
    SIM_ATTR(PREFIX ".trunk-rate", RATE, topo_parking_lot_config_t, trunk_rate_bps,
             .default_text = "100Gbps", .min_text = "1bps", .max_text = "100Tbps",
             .help = "rate of the links between switches"),
    SIM_ATTR(PREFIX ".trunk-delay", TIME, topo_parking_lot_config_t, trunk_delay_ps,
             .default_text = "1us", .min_text = "1ps", .max_text = "1s",
             .help = "one-way delay of the links between switches"),
    SIM_ATTR(PREFIX ".nics-per-host", COUNT, topo_parking_lot_config_t, nics_per_host,
             .default_text = "1", .min_text = "1", .max_text = "256",
             .help = "number of NICs of each host; each has a link to the same switch"),
};
// clang-format on

static const sim_attr_table_t attr_table = {PREFIX, "simulation", sizeof(topo_parking_lot_config_t),
                                            attrs, SIM_COUNT_OF(attrs)};

static sim_err_t parking_lot_check(const void *config, sim_message_t *message)
{
    const topo_parking_lot_config_t *const lot = config;
    const uint64_t interfaces_per_switch = lot->hosts_per_switch * lot->nics_per_host;
    const sim_err_t error = topo__check_ports("hosts-per-switch", lot->hosts_per_switch,
                                              interfaces_per_switch + 2, message);
    if (error != SIM_OK) {
        return error;
    }
    return topo__check_interfaces("switches", lot->switches, lot->switches * interfaces_per_switch,
                                  message);
}

static void parking_lot_size(const void *config, topo_size_t *size)
{
    const topo_parking_lot_config_t *const lot = config;
    const uint64_t hosts = lot->switches * lot->hosts_per_switch;
    *size = (topo_size_t){hosts, lot->switches, hosts * lot->nics_per_host + lot->switches - 1};
}

static sim_err_t parking_lot_build(const topo_plan_t *plan, const void *config,
                                   sim_message_t *message)
{
    const topo_parking_lot_config_t *const lot = config;
    const sim_err_t error = parking_lot_check(lot, message);
    if (error != SIM_OK) {
        return error;
    }
    const topo__start_t start = topo__start(plan);
    const topo__cable_t host_cable =
        topo__cable(lot->host_rate_bps, lot->host_delay_ps, lot->nics_per_host);
    const topo__cable_t trunk = topo__cable(lot->trunk_rate_bps, lot->trunk_delay_ps, 1);
    net_node_t *previous = NULL;
    for (uint64_t i = 0; i < lot->switches; i++) {
        net_node_t *const node = topo__switch(plan, "switch", i);
        topo__hosts(plan, node, i * lot->hosts_per_switch, lot->hosts_per_switch, &host_cable);
        if (previous != NULL) {
            topo__connect(plan, previous, node, &trunk);
        }
        previous = node;
    }
    topo_size_t size;
    parking_lot_size(config, &size);
    topo__check_added(plan, start, &size);
    return SIM_OK;
}

const topo_ops_t topo_parking_lot = {"parking-lot",     "switches in a row, each with hosts",
                                     &attr_table,       parking_lot_check,
                                     parking_lot_build, parking_lot_size};
