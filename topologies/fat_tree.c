// SPDX-License-Identifier: Apache-2.0
// topologies/fat_tree.c - the three-tier fat-tree of switches with k ports.
//
// k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 cores, k^3/4 hosts (Al-Fares, Loukissas,
// Vahdat, "A scalable, commodity data center network architecture", SIGCOMM 2008). Aggregation
// switch a of each pod is linked to cores a k/2 .. a k/2 + k/2 - 1. More than k/2 hosts on an edge
// over-subscribe it; edge switches then have more than k ports.
//
// Order of ports: an edge has its hosts first, then the pod's aggregation switches; an aggregation
// switch has its edges, then its cores; a core has the pods in order.
#include "topologies/builder_internal.h"

#define PREFIX "topology.fat-tree"
#define K_MAX 256

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(topo_fat_tree_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(COUNT, "k", k, "4", "2", "256", "ports of each switch, an even number; the tree has k pods and k^3/4 hosts"),
    ATTR(COUNT, "pods", pods, "auto", "1", "256", "number of pods that are built, up to k; auto: k; one pod has no core switches", .auto_ok = true),
    ATTR(COUNT, "hosts-per-edge", hosts_per_edge, "auto", "1", "65535", "number of hosts on each edge switch; auto: k/2, more hosts over-subscribe the edge", .auto_ok = true),
    ATTR(RATE, "rate", rate_bps, "100Gbps", "1bps", "100Tbps", "rate of every link in each direction"),
    ATTR(TIME, "delay", delay_ps, "1us", "1ps", "1s", "one-way delay of every link"),
    ATTR(COUNT, "nics-per-host", nics_per_host, "1", "1", "256", "number of NICs of each host; each has a link to the same edge switch"),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "simulation", topo_fat_tree_config_t, attrs);

static uint64_t hosts_per_edge(const topo_fat_tree_config_t *tree)
{
    return tree->hosts_per_edge == SIM_AUTO ? tree->k / 2 : tree->hosts_per_edge;
}

static uint64_t pods(const topo_fat_tree_config_t *tree)
{
    return tree->pods == SIM_AUTO ? tree->k : tree->pods;
}

// Returns how many core switches there are: none if one pod is the whole network.
static uint64_t cores(const topo_fat_tree_config_t *tree)
{
    return pods(tree) == 1 ? 0 : tree->k / 2 * (tree->k / 2);
}

static sim_err_t fat_tree_check(const void *config, sim_message_t *message)
{
    const topo_fat_tree_config_t *const tree = config;
    if (tree->k < 2 || tree->k > K_MAX || tree->k % 2 != 0) {
        return sim_fail_about(message, SIM_ERR_RANGE, "k",
                              " is %" PRIu64 ": expected an even number from 2 to %u", tree->k,
                              K_MAX);
    }
    if (pods(tree) < 1 || pods(tree) > tree->k) {
        return sim_fail_about(message, SIM_ERR_RANGE, "pods",
                              " is %" PRIu64 ": expected at most k, which is %" PRIu64, pods(tree),
                              tree->k);
    }
    const uint64_t down = hosts_per_edge(tree) * tree->nics_per_host;
    const sim_err_t error =
        topo__check_ports("hosts-per-edge", hosts_per_edge(tree), down + tree->k / 2, message);
    if (error != SIM_OK) {
        return error;
    }
    return topo__check_interfaces("k", tree->k, pods(tree) * (tree->k / 2) * down, message);
}

// Creates pod number `pod` and stores its aggregation switches in `aggregations`.
static void build_pod(const topo_plan_t *plan, const topo_fat_tree_config_t *tree, uint64_t pod,
                      net_node_t **aggregations)
{
    const uint64_t half = tree->k / 2;
    const uint64_t hosts = hosts_per_edge(tree);
    const topo__cable_t host_cable =
        topo__cable(tree->rate_bps, tree->delay_ps, tree->nics_per_host);
    const topo__cable_t cable = topo__cable(tree->rate_bps, tree->delay_ps, 1);
    net_node_t *edges[K_MAX / 2];
    for (uint64_t i = 0; i < half; i++) {
        const uint64_t edge = pod * half + i;
        edges[i] = topo__switch(plan, "edge", edge);
        topo__hosts(plan, edges[i], edge * hosts, hosts, &host_cable);
    }
    for (uint64_t i = 0; i < half; i++) {
        aggregations[i] = topo__switch(plan, "agg", pod * half + i);
        for (uint64_t edge = 0; edge < half; edge++) {
            topo__connect(plan, edges[edge], aggregations[i], &cable);
        }
    }
}

static void fat_tree_size(const void *config, topo_size_t *size)
{
    const topo_fat_tree_config_t *const tree = config;
    const uint64_t half = tree->k / 2;
    const uint64_t edges = pods(tree) * half;
    const uint64_t hosts = edges * hosts_per_edge(tree);
    *size = (topo_size_t){
        .hosts = hosts,
        .switches = 2 * edges + cores(tree),
        .links = hosts * tree->nics_per_host + edges * half + cores(tree) * pods(tree),
    };
}

static sim_err_t fat_tree_build(const topo_plan_t *plan, const void *config, sim_message_t *message)
{
    const topo_fat_tree_config_t *const tree = config;
    const sim_err_t error = fat_tree_check(tree, message);
    if (error != SIM_OK) {
        return error;
    }
    const topo__start_t start = topo__start(plan);
    const uint64_t half = tree->k / 2;
    const topo__cable_t cable = topo__cable(tree->rate_bps, tree->delay_ps, 1);
    net_node_t **const aggregations = sim_alloc_array(pods(tree) * half, sizeof(net_node_t *));
    for (uint64_t pod = 0; pod < pods(tree); pod++) {
        build_pod(plan, tree, pod, &aggregations[pod * half]);
    }
    SIM_CHECK(half > 0);
    for (uint64_t i = 0; i < cores(tree); i++) {
        net_node_t *const core = topo__switch(plan, "core", i);
        for (uint64_t pod = 0; pod < pods(tree); pod++) {
            topo__connect(plan, aggregations[pod * half + i / half], core, &cable);
        }
    }
    sim_free(aggregations);
    topo_size_t size;
    fat_tree_size(config, &size);
    topo__check_added(plan, start, &size);
    return SIM_OK;
}

const topo_ops_t topo_fat_tree = {"fat-tree",     "three tiers of k-port switches, k^3/4 hosts",
                                  &attr_table,    fat_tree_check,
                                  fat_tree_build, fat_tree_size};
