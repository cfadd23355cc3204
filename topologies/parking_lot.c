// SPDX-License-Identifier: Apache-2.0
// topologies/parking_lot.c - switches in a row, each with hosts. A flow along the row shares every
// trunk with flows that join and leave on the way.
//
// Host n is on switch n / hosts-per-switch. Order of ports: the hosts', the trunk to the previous
// switch if there is one, the trunk to the next.
#include "topologies/builder_internal.h"

#define PREFIX "topology.parking-lot"

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(topo_parking_lot_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(COUNT, "switches", switches, "4", "2", "63", "number of switches in the row; at most 63, because packets start with TTL 64"),
    ATTR(COUNT, "hosts-per-switch", hosts_per_switch, "2", "1", "65534", "number of hosts on each switch"),
    ATTR(RATE, "host-rate", host_rate_bps, "100Gbps", "1bps", "100Tbps", "rate of the hosts' links"),
    ATTR(TIME, "host-delay", host_delay_ps, "1us", "1ps", "1s", "one-way delay of the hosts' links"),
    ATTR(RATE, "trunk-rate", trunk_rate_bps, "100Gbps", "1bps", "100Tbps", "rate of the links between switches"),
    ATTR(TIME, "trunk-delay", trunk_delay_ps, "1us", "1ps", "1s", "one-way delay of the links between switches"),
    ATTR(COUNT, "nics-per-host", nics_per_host, "1", "1", "256", "number of NICs of each host; each has a link to the same switch"),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "simulation", topo_parking_lot_config_t, attrs);

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
