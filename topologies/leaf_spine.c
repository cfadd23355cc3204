// SPDX-License-Identifier: Apache-2.0
// topologies/leaf_spine.c - two tiers of switches: leaves with hosts, and spines joining all
// leaves.
//
// Order of ports: a leaf has its hosts first, then links-per-spine to spine 0, to spine 1, and so
// on; a spine has links-per-spine to leaf 0, to leaf 1, and so on. Over-subscription follows from
// hosts-per-leaf x host-rate down and spines x links-per-spine x fabric-rate up.
//
// All NICs of a host are on its leaf. With `rails`, leaves form groups of nics-per-host, and each
// group has hosts-per-leaf hosts. NIC n of each host is linked to leaf n of the group, as in
// rail-optimised clusters, so NICs of one number reach each other through one leaf.
#include "topologies/builder_internal.h"

#define PREFIX "topology.leaf-spine"

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(topo_leaf_spine_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(COUNT, "leaves", leaves, "4", "1", "65535", "number of leaf switches"),
    ATTR(COUNT, "spines", spines, "2", "1", "65535", "number of spine switches"),
    ATTR(COUNT, "hosts-per-leaf", hosts_per_leaf, "32", "1", "65535", "number of hosts on each leaf switch; with rails: on each group of nics-per-host leaves"),
    ATTR(COUNT, "links-per-spine", links_per_spine, "1", "1", "65535", "number of parallel links from each leaf to each spine"),
    ATTR(RATE, "host-rate", host_rate_bps, "100Gbps", "1bps", "100Tbps", "rate of the hosts' links"),
    ATTR(RATE, "fabric-rate", fabric_rate_bps, "100Gbps", "1bps", "100Tbps", "rate of the links between leaves and spines"),
    ATTR(TIME, "delay", delay_ps, "1us", "1ps", "1s", "one-way delay of every link whose host-delay or fabric-delay is auto"),
    ATTR(TIME, "host-delay", host_delay_ps, "auto", "1ps", "1s", "one-way delay of the hosts' links; auto: topology.leaf-spine.delay", .auto_ok = true),
    ATTR(TIME, "fabric-delay", fabric_delay_ps, "auto", "1ps", "1s", "one-way delay of the links between leaves and spines; auto: topology.leaf-spine.delay", .auto_ok = true),
    ATTR(COUNT, "nics-per-host", nics_per_host, "1", "1", "256", "number of NICs of each host"),
    ATTR(BOOL, "rails", rails, "off", "on: NIC n of a host is linked to leaf n of its group; off: all NICs of a host to one leaf"),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "simulation", topo_leaf_spine_config_t, attrs);

static sim_err_t leaf_spine_check(const void *config, sim_message_t *message)
{
    const topo_leaf_spine_config_t *const shape = config;
    if (shape->rails && shape->leaves % shape->nics_per_host != 0) {
        return sim_fail_about(message, SIM_ERR_RANGE, "leaves",
                              " is %" PRIu64 ": expected a multiple of nics-per-host (%" PRIu64
                              ") with rails",
                              shape->leaves, shape->nics_per_host);
    }
    const uint64_t down = shape->hosts_per_leaf * (shape->rails ? 1 : shape->nics_per_host);
    const uint64_t up = shape->spines * shape->links_per_spine;
    sim_err_t error =
        topo__check_ports("hosts-per-leaf", shape->hosts_per_leaf, down + up, message);
    if (error == SIM_OK) {
        error = topo__check_ports("leaves", shape->leaves, shape->leaves * shape->links_per_spine,
                                  message);
    }
    if (error == SIM_OK) {
        error = topo__check_interfaces("leaves", shape->leaves, shape->leaves * down, message);
    }
    return error;
}

// Creates one group of leaves with its hosts and stores the leaves in `leaves`.
static void build_group(const topo_plan_t *plan, const topo_leaf_spine_config_t *shape,
                        uint64_t group, net_node_t **leaves)
{
    const uint64_t width = shape->rails ? shape->nics_per_host : 1;
    const topo__cable_t cable =
        topo__cable(shape->host_rate_bps,
                    shape->host_delay_ps == SIM_AUTO ? shape->delay_ps : shape->host_delay_ps,
                    shape->rails ? 1 : shape->nics_per_host);
    for (uint64_t i = 0; i < width; i++) {
        leaves[i] = topo__switch(plan, "leaf", group * width + i);
    }
    for (uint64_t i = 0; i < shape->hosts_per_leaf; i++) {
        net_node_t *const host = topo__host(plan, group * shape->hosts_per_leaf + i);
        for (uint64_t nic = 0; nic < width; nic++) {
            topo__connect(plan, leaves[nic], host, &cable);
        }
    }
}

static void leaf_spine_size(const void *config, topo_size_t *size)
{
    const topo_leaf_spine_config_t *const shape = config;
    const uint64_t groups = shape->leaves / (shape->rails ? shape->nics_per_host : 1);
    const uint64_t hosts = groups * shape->hosts_per_leaf;
    *size = (topo_size_t){
        .hosts = hosts,
        .switches = shape->leaves + shape->spines,
        .links =
            hosts * shape->nics_per_host + shape->leaves * shape->spines * shape->links_per_spine,
    };
}

static sim_err_t leaf_spine_build(const topo_plan_t *plan, const void *config,
                                  sim_message_t *message)
{
    const topo_leaf_spine_config_t *const shape = config;
    const sim_err_t error = leaf_spine_check(shape, message);
    if (error != SIM_OK) {
        return error;
    }
    const topo__start_t start = topo__start(plan);
    const uint64_t width = shape->rails ? shape->nics_per_host : 1;
    const topo__cable_t cable =
        topo__cable(shape->fabric_rate_bps,
                    shape->fabric_delay_ps == SIM_AUTO ? shape->delay_ps : shape->fabric_delay_ps,
                    shape->links_per_spine);
    net_node_t **const leaves = sim_alloc_array(shape->leaves, sizeof(net_node_t *));
    for (uint64_t group = 0; group < shape->leaves / width; group++) {
        build_group(plan, shape, group, &leaves[group * width]);
    }
    for (uint64_t i = 0; i < shape->spines; i++) {
        net_node_t *const spine = topo__switch(plan, "spine", i);
        for (uint64_t leaf = 0; leaf < shape->leaves; leaf++) {
            topo__connect(plan, leaves[leaf], spine, &cable);
        }
    }
    sim_free(leaves);
    topo_size_t size;
    leaf_spine_size(config, &size);
    topo__check_added(plan, start, &size);
    return SIM_OK;
}

const topo_ops_t topo_leaf_spine = {
    "leaf-spine",     "two tiers of switches, every leaf linked to every spine",
    &attr_table,      leaf_spine_check,
    leaf_spine_build, leaf_spine_size};
