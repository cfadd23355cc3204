// SPDX-License-Identifier: Apache-2.0
// topologies/fabrics/multi_plane.c - several leaf-spines beside each other, one for each port of a
// NIC.
//
// Port p of every NIC is linked to a leaf of plane p. No link joins two planes, so a packet stays
// in the plane in which it left. An 8 x 100 Gbps NIC has eight planes (docs/models/topologies.md).
#include "topologies/builder_internal.h"
#include "topologies/fabrics/racks.h"

#define PREFIX "topology.multi-plane"

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(topo_multi_plane_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(COUNT, "planes", planes, "2", "1", "64", "number of planes, and of ports of each NIC"),
    ATTR(COUNT, "leaves", leaves, "4", "1", "65535", "number of leaf switches of each plane"),
    ATTR(COUNT, "spines", spines, "2", "0", "65535", "number of spine switches of each plane; 0: no spine joins the leaf switches"),
    ATTR(COUNT, "hosts-per-leaf", hosts_per_leaf, "8", "1", "65535", "number of hosts on each leaf switch"),
    ATTR(COUNT, "nics-per-host", nics_per_host, "1", "1", "256", "number of NICs of each host; all are on the same leaf switches"),
    ATTR(COUNT, "links-per-spine", links_per_spine, "1", "1", "65535", "number of parallel links from each leaf to each spine"),
    ATTR(RATE, "host-rate", host_rate_bps, "100Gbps", "1bps", "100Tbps", "rate of each port of a NIC"),
    ATTR(RATE, "fabric-rate", fabric_rate_bps, "100Gbps", "1bps", "100Tbps", "rate of the links between leaves and spines"),
    ATTR(TIME, "delay", delay_ps, "1us", "1ps", "1s", "one-way delay of every link"),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "simulation", topo_multi_plane_config_t, attrs);

static topo__racks_t racks_of(const topo_multi_plane_config_t *config)
{
    return (topo__racks_t){
        .name = "leaves",
        .count_name = "hosts-per-leaf",
        .hosts = config->leaves * config->hosts_per_leaf,
        .hosts_of_segment = config->hosts_per_leaf,
        .nics = config->nics_per_host,
        .sides = config->planes,
        .planes = true,
        .plane_names = true,
        .spines = config->spines,
        .links_per_spine = config->links_per_spine,
        .host_cable = topo__cable(config->host_rate_bps, config->delay_ps, 1),
        .fabric_cable =
            topo__cable(config->fabric_rate_bps, config->delay_ps, config->links_per_spine),
    };
}

static sim_err_t multi_plane_check(const void *config, sim_message_t *message)
{
    const topo__racks_t racks = racks_of(config);
    return topo__racks_check(&racks, message);
}

static void multi_plane_size(const void *config, topo_size_t *size)
{
    const topo__racks_t racks = racks_of(config);
    topo__racks_size(&racks, size);
}

static sim_err_t multi_plane_build(const topo_plan_t *plan, const void *config,
                                   sim_message_t *message)
{
    const topo__racks_t racks = racks_of(config);
    const sim_err_t error = topo__racks_check(&racks, message);
    if (error == SIM_OK) {
        topo__racks_build(plan, &racks);
    }
    return error;
}

const topo_ops_t topo_multi_plane = {
    "multi-plane",     "leaf-spines beside each other, one for each port of a NIC",
    &attr_table,       multi_plane_check,
    multi_plane_build, multi_plane_size};
