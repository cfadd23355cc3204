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
static const sim_attr_t attrs[] = {
    SIM_ATTR(PREFIX ".planes", COUNT, topo_multi_plane_config_t, planes,
             .default_text = "2", .min_text = "1", .max_text = "64",
             .help = "number of planes, and of ports of each NIC"),
    SIM_ATTR(PREFIX ".leaves", COUNT, topo_multi_plane_config_t, leaves,
             .default_text = "4", .min_text = "1", .max_text = "65535",
             .help = "number of leaf switches of each plane"),
    SIM_ATTR(PREFIX ".spines", COUNT, topo_multi_plane_config_t, spines,
             .default_text = "2", .min_text = "0", .max_text = "65535",
             .help = "number of spine switches of each plane; 0: no spine joins the leaf switches"),
    SIM_ATTR(PREFIX ".hosts-per-leaf", COUNT, topo_multi_plane_config_t, hosts_per_leaf,
             .default_text = "8", .min_text = "1", .max_text = "65535",
             .help = "number of hosts on each leaf switch"),
    SIM_ATTR(PREFIX ".nics-per-host", COUNT, topo_multi_plane_config_t, nics_per_host,
             .default_text = "1", .min_text = "1", .max_text = "256",
             .help = "number of NICs of each host; all are on the same leaf switches"),
    SIM_ATTR(PREFIX ".links-per-spine", COUNT, topo_multi_plane_config_t, links_per_spine,
             .default_text = "1", .min_text = "1", .max_text = "65535",
             .help = "number of parallel links from each leaf to each spine"),
    SIM_ATTR(PREFIX ".host-rate", RATE, topo_multi_plane_config_t, host_rate_bps,
             .default_text = "100Gbps", .min_text = "1bps", .max_text = "100Tbps",
             .help = "rate of each port of a NIC"),
    SIM_ATTR(PREFIX ".fabric-rate", RATE, topo_multi_plane_config_t, fabric_rate_bps,
             .default_text = "100Gbps", .min_text = "1bps", .max_text = "100Tbps",
             .help = "rate of the links between leaves and spines"),
    SIM_ATTR(PREFIX ".delay", TIME, topo_multi_plane_config_t, delay_ps,
             .default_text = "1us", .min_text = "1ps", .max_text = "1s",
             .help = "one-way delay of every link"),
};
// clang-format on

static const sim_attr_table_t attr_table = {PREFIX, "simulation", sizeof(topo_multi_plane_config_t),
                                            attrs, SIM_COUNT_OF(attrs)};

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
