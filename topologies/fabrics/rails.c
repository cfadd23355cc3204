// SPDX-License-Identifier: Apache-2.0
// topologies/fabrics/rails.c - GPU servers on rails: "rail-optimised" and "dual-tor".
//
// GPU n of every server of a segment has its NIC on the segment's leaf n, so GPUs of one number
// reach each other through one switch. With dual-tor each NIC has two ports, to two leaves.
// SimAI's generator calls them Spectrum-X, AlibabaHPN and DCN+; names: docs/models/topologies.md.
#include "topologies/builder_internal.h"
#include "topologies/fabrics/racks.h"

// clang-format off
// Rows that both topologies have.
#define SHARED_ATTRS(PREFIX, RATE_TEXT, SPINES)                                                   \
    SIM_ATTR_ROW(topo_rails_config_t, COUNT, PREFIX ".servers", servers, "16", "1", "1000000", "number of GPU servers"), \
    SIM_ATTR_ROW(topo_rails_config_t, COUNT, PREFIX ".gpus-per-server", gpus_per_server, "8", "1", "1024", "GPUs of each server; each GPU has a NIC of its own"), \
    SIM_ATTR_ROW(topo_rails_config_t, COUNT, PREFIX ".servers-per-segment", servers_per_segment, "auto", "1", "65535", "servers that share one group of leaf switches; auto: all servers", .auto_ok = true), \
    SIM_ATTR_ROW(topo_rails_config_t, COUNT, PREFIX ".spines", spines, SPINES, "0", "65535", "number of spine switches; 0: no spine joins the leaf switches"), \
    SIM_ATTR_ROW(topo_rails_config_t, COUNT, PREFIX ".links-per-spine", links_per_spine, "1", "1", "65535", "number of parallel links from each leaf to each spine"), \
    SIM_ATTR_ROW(topo_rails_config_t, RATE, PREFIX ".host-rate", host_rate_bps, RATE_TEXT, "1bps", "100Tbps", "rate of each port of a NIC"), \
    SIM_ATTR_ROW(topo_rails_config_t, RATE, PREFIX ".fabric-rate", fabric_rate_bps, "400Gbps", "1bps", "100Tbps", "rate of the links between leaves and spines"), \
    SIM_ATTR_ROW(topo_rails_config_t, TIME, PREFIX ".delay", delay_ps, "500ns", "1ps", "1s", "one-way delay of every link except NVLink"), \
    SIM_ATTR_ROW(topo_rails_config_t, ENUM, PREFIX ".hosts", hosts, "servers", "servers|gpus", "servers: a host is a server with all of its NICs; gpus: a host is a GPU with one NIC"), \
    SIM_ATTR_ROW(topo_rails_config_t, RATE, PREFIX ".nvlink-rate", nvlink_rate_bps, "auto", "1bps", "100Tbps", "rate of the link from each host to an NVSwitch of its server, which is an ordinary switch; auto: there is no NVSwitch", .auto_ok = true), \
    SIM_ATTR_ROW(topo_rails_config_t, TIME, PREFIX ".nvlink-delay", nvlink_delay_ps, "25ns", "1ps", "1s", "one-way delay of the links to NVSwitches")

static const sim_attr_t optimised_attrs[] = {
    SHARED_ATTRS("topology.rail-optimised", "400Gbps", "8"),
};
#define ATTR(...) SIM_ATTR_ROW(topo_rails_config_t, __VA_ARGS__)
static const sim_attr_t dual_attrs[] = {
    SHARED_ATTRS("topology.dual-tor", "200Gbps", "8"),
    ATTR(BOOL, "topology.dual-tor.rails", rails, "on", "on: each NIC of a server has two leaf switches of its own; off: all NICs of a segment share two leaf switches"),
    ATTR(BOOL, "topology.dual-tor.dual-plane", dual_plane, "off", "on: the spines are halved, and first ports of NICs reach the first half only; off: every leaf is linked to every spine"),
};
// clang-format on

static const sim_attr_table_t optimised_table =
    SIM_ATTR_TABLE("topology.rail-optimised", "simulation", topo_rails_config_t, optimised_attrs);
static const sim_attr_table_t dual_table =
    SIM_ATTR_TABLE("topology.dual-tor", "simulation", topo_rails_config_t, dual_attrs);

static topo__racks_t racks_of(const topo_rails_config_t *config, uint64_t sides)
{
    const bool halved = sides > 1 && config->dual_plane;
    const bool all = config->servers_per_segment == SIM_AUTO;
    topo__racks_t racks = {
        .name = "servers",
        .count_name = "servers-per-segment",
        .hosts = config->servers,
        .hosts_of_segment = all ? config->servers : config->servers_per_segment,
        .nics = config->gpus_per_server,
        .sides = sides,
        .rails = sides == 1 || config->rails,
        .planes = halved,
        .single = config->hosts == TOPO_HOSTS_GPUS,
        .spines = halved ? config->spines / 2 : config->spines,
        .links_per_spine = config->links_per_spine,
        .host_cable = topo__cable(config->host_rate_bps, config->delay_ps, 1),
        .fabric_cable =
            topo__cable(config->fabric_rate_bps, config->delay_ps, config->links_per_spine),
    };
    if (config->nvlink_rate_bps != SIM_AUTO) {
        racks.nvlink = topo__cable(config->nvlink_rate_bps, config->nvlink_delay_ps, 1);
    }
    return racks;
}

static sim_err_t check(const topo_rails_config_t *config, uint64_t sides, sim_message_t *message)
{
    if (sides > 1 && config->dual_plane && (config->spines == 0 || config->spines % 2 != 0)) {
        return sim_fail_about(message, SIM_ERR_RANGE, "spines",
                              " is %" PRIu64 ": expected an even number from 2 on with dual-plane",
                              config->spines);
    }
    const topo__racks_t racks = racks_of(config, sides);
    return topo__racks_check(&racks, message);
}

static sim_err_t build(const topo_plan_t *plan, const topo_rails_config_t *config, uint64_t sides,
                       sim_message_t *message)
{
    const sim_err_t error = check(config, sides, message);
    if (error == SIM_OK) {
        const topo__racks_t racks = racks_of(config, sides);
        topo__racks_build(plan, &racks);
    }
    return error;
}

static void size_of(const topo_rails_config_t *config, uint64_t sides, topo_size_t *size)
{
    const topo__racks_t racks = racks_of(config, sides);
    topo__racks_size(&racks, size);
}

static sim_err_t optimised_check(const void *config, sim_message_t *message)
{
    return check(config, 1, message);
}

static sim_err_t optimised_build(const topo_plan_t *plan, const void *config,
                                 sim_message_t *message)
{
    return build(plan, config, 1, message);
}

static void optimised_size(const void *config, topo_size_t *size)
{
    size_of(config, 1, size);
}

static sim_err_t dual_check(const void *config, sim_message_t *message)
{
    return check(config, 2, message);
}

static sim_err_t dual_build(const topo_plan_t *plan, const void *config, sim_message_t *message)
{
    return build(plan, config, 2, message);
}

static void dual_size(const void *config, topo_size_t *size)
{
    size_of(config, 2, size);
}

const topo_ops_t topo_rail_optimised = {
    "rail-optimised", "GPU servers with a leaf switch for each NIC of a segment",
    &optimised_table, optimised_check,
    optimised_build,  optimised_size};

const topo_ops_t topo_dual_tor = {
    "dual-tor",  "GPU servers whose NICs have two ports, to two leaf switches",
    &dual_table, dual_check,
    dual_build,  dual_size};
