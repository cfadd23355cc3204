// SPDX-License-Identifier: Apache-2.0
// topologies/fabrics/dragonfly.c - groups of switches that global links join pairwise.
//
// "dragonfly" (Kim, Dally, Scott, Abts, ISCA 2008): all switches of a group are linked to each
// other, have hosts and global links. "dragonfly-plus" (Shpiner et al., HiPINEB 2017): a group is a
// leaf-spine, its leaves have hosts and its spines global links. Global port k of group i leads to
// group i + 1 + k mod (g - 1), modulo g; docs/models/topologies.md.
#include "topologies/builder_internal.h"

// clang-format off
#define SHARED_ATTRS(PREFIX, SWITCHES_HELP, HOSTS_HELP, GLOBAL_HELP)                               \
    SIM_ATTR_ROW(topo_dragonfly_config_t, COUNT, PREFIX ".groups", groups, "auto", "2", "65535", "number of groups; auto: as many as each joins to all others by one link", .auto_ok = true), \
    SIM_ATTR_ROW(topo_dragonfly_config_t, COUNT, PREFIX ".switches", switches, "4", "1", "4096", SWITCHES_HELP), \
    SIM_ATTR_ROW(topo_dragonfly_config_t, COUNT, PREFIX ".hosts-per-switch", hosts_per_switch, "2", "1", "65535", HOSTS_HELP), \
    SIM_ATTR_ROW(topo_dragonfly_config_t, COUNT, PREFIX ".global-links", global_links, "2", "1", "4096", GLOBAL_HELP), \
    SIM_ATTR_ROW(topo_dragonfly_config_t, RATE, PREFIX ".host-rate", host_rate_bps, "100Gbps", "1bps", "100Tbps", "rate of the hosts' links"), \
    SIM_ATTR_ROW(topo_dragonfly_config_t, RATE, PREFIX ".fabric-rate", fabric_rate_bps, "100Gbps", "1bps", "100Tbps", "rate of the links between switches"), \
    SIM_ATTR_ROW(topo_dragonfly_config_t, TIME, PREFIX ".delay", delay_ps, "500ns", "1ps", "1s", "one-way delay of the links of hosts and within a group"), \
    SIM_ATTR_ROW(topo_dragonfly_config_t, TIME, PREFIX ".global-delay", global_delay_ps, "auto", "1ps", "1s", "one-way delay of global links; auto: that of the other links", .auto_ok = true)

static const sim_attr_t plain_attrs[] = {
    SHARED_ATTRS("topology.dragonfly", "switches of each group, all linked to each other",
                 "number of hosts on each switch", "global links of each switch"),
};
#define ATTR(...) SIM_ATTR_ROW(topo_dragonfly_config_t, __VA_ARGS__)
static const sim_attr_t plus_attrs[] = {
    SHARED_ATTRS("topology.dragonfly-plus", "leaf switches of each group, all linked to its spines",
                 "hosts on each leaf switch", "global links of each spine switch"),
    ATTR(COUNT, "topology.dragonfly-plus.spines", spines, "4", "1", "4096", "number of spine switches of each group"),
};
// clang-format on

static const sim_attr_table_t plain_table =
    SIM_ATTR_TABLE("topology.dragonfly", "simulation", topo_dragonfly_config_t, plain_attrs);
static const sim_attr_table_t plus_table =
    SIM_ATTR_TABLE("topology.dragonfly-plus", "simulation", topo_dragonfly_config_t, plus_attrs);

// The numbers that a config leads to.
typedef struct shape {
    uint64_t groups;
    uint64_t gateways; // switches of a group with global links
    uint64_t between;  // links between each two groups
    uint64_t in_group; // links between the switches of a group
    uint64_t switches; // of a group
} shape_t;

static shape_t shape_of(const topo_dragonfly_config_t *config, bool plus)
{
    const uint64_t gateways = plus ? config->spines : config->switches;
    const uint64_t ports = gateways * config->global_links;
    const uint64_t groups = config->groups == SIM_AUTO ? ports + 1 : config->groups;
    return (shape_t){
        .groups = groups,
        .gateways = gateways,
        .between = ports / (groups - 1),
        .in_group = plus ? config->switches * config->spines
                         : config->switches * (config->switches - 1) / 2,
        .switches = config->switches + (plus ? config->spines : 0),
    };
}

static sim_err_t check(const topo_dragonfly_config_t *config, bool plus, sim_message_t *message)
{
    const shape_t shape = shape_of(config, plus);
    if (shape.between == 0) {
        return sim_fail_about(message, SIM_ERR_RANGE, "groups",
                              " is %" PRIu64 ": expected at most %" PRIu64
                              ", one more than the global links of a group",
                              shape.groups, shape.gateways * config->global_links + 1);
    }
    const uint64_t ports = config->hosts_per_switch +
                           (plus ? config->spines : config->switches - 1 + config->global_links);
    const sim_err_t error =
        topo__check_ports("hosts-per-switch", config->hosts_per_switch, ports, message);
    return error != SIM_OK
               ? error
               : topo__check_interfaces("hosts-per-switch", config->hosts_per_switch,
                                        shape.groups * config->switches * config->hosts_per_switch,
                                        message);
}

static void size_of(const topo_dragonfly_config_t *config, bool plus, topo_size_t *size)
{
    const shape_t shape = shape_of(config, plus);
    const uint64_t hosts = shape.groups * config->switches * config->hosts_per_switch;
    *size = (topo_size_t){
        .hosts = hosts,
        .switches = shape.groups * shape.switches,
        .links = hosts + shape.groups * shape.in_group +
                 shape.groups * (shape.groups - 1) / 2 * shape.between,
    };
}

// Creates a group and stores its switches with global links in `gateways`.
static void build_group(const topo_plan_t *plan, const topo_dragonfly_config_t *config, bool plus,
                        uint64_t group, net_node_t **gateways)
{
    const topo__cable_t host_cable = topo__cable(config->host_rate_bps, config->delay_ps, 1);
    const topo__cable_t cable = topo__cable(config->fabric_rate_bps, config->delay_ps, 1);
    const uint64_t count = config->switches;
    net_node_t **const switches = sim_alloc_array(count, sizeof(net_node_t *));
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t number = group * count + i;
        switches[i] = topo__switch(plan, plus ? "leaf" : "switch", number);
        topo__hosts(plan, switches[i], number * config->hosts_per_switch, config->hosts_per_switch,
                    &host_cable);
        for (uint64_t j = 0; !plus && j < i; j++) {
            topo__connect(plan, switches[j], switches[i], &cable);
        }
        if (!plus) {
            gateways[i] = switches[i];
        }
    }
    for (uint64_t i = 0; plus && i < config->spines; i++) {
        gateways[i] = topo__switch(plan, "spine", group * config->spines + i);
        for (uint64_t j = 0; j < count; j++) {
            topo__connect(plan, switches[j], gateways[i], &cable);
        }
    }
    sim_free(switches);
}

// Joins each two groups. Port k of the lower group leads to group low + 1 + k, and meets the port
// of that group that leads back: k counts a group's other groups in the order behind it.
static void join_groups(const topo_plan_t *plan, const topo_dragonfly_config_t *config,
                        const shape_t *shape, net_node_t **gateways)
{
    const sim_time_t delay_ps =
        config->global_delay_ps == SIM_AUTO ? config->delay_ps : config->global_delay_ps;
    const topo__cable_t cable = topo__cable(config->fabric_rate_bps, delay_ps, 1);
    for (uint64_t low = 0; low < shape->groups; low++) {
        for (uint64_t high = low + 1; high < shape->groups; high++) {
            for (uint64_t i = 0; i < shape->between; i++) {
                const uint64_t forth = i * (shape->groups - 1) + high - low - 1;
                const uint64_t back = i * (shape->groups - 1) + low + shape->groups - high - 1;
                topo__connect(plan, gateways[low * shape->gateways + forth / config->global_links],
                              gateways[high * shape->gateways + back / config->global_links],
                              &cable);
            }
        }
    }
}

static sim_err_t build(const topo_plan_t *plan, const topo_dragonfly_config_t *config, bool plus,
                       sim_message_t *message)
{
    const sim_err_t error = check(config, plus, message);
    if (error != SIM_OK) {
        return error;
    }
    const topo__start_t start = topo__start(plan);
    const shape_t shape = shape_of(config, plus);
    net_node_t **const gateways =
        sim_alloc_array(shape.groups * shape.gateways, sizeof(net_node_t *));
    for (uint64_t group = 0; group < shape.groups; group++) {
        build_group(plan, config, plus, group, &gateways[group * shape.gateways]);
    }
    join_groups(plan, config, &shape, gateways);
    sim_free(gateways);
    topo_size_t size;
    size_of(config, plus, &size);
    topo__check_added(plan, start, &size);
    return SIM_OK;
}

static sim_err_t plain_check(const void *config, sim_message_t *message)
{
    return check(config, false, message);
}

static sim_err_t plain_build(const topo_plan_t *plan, const void *config, sim_message_t *message)
{
    return build(plan, config, false, message);
}

static void plain_size(const void *config, topo_size_t *size)
{
    size_of(config, false, size);
}

static sim_err_t plus_check(const void *config, sim_message_t *message)
{
    return check(config, true, message);
}

static sim_err_t plus_build(const topo_plan_t *plan, const void *config, sim_message_t *message)
{
    return build(plan, config, true, message);
}

static void plus_size(const void *config, topo_size_t *size)
{
    size_of(config, true, size);
}

const topo_ops_t topo_dragonfly = {"dragonfly",  "groups of fully linked switches, joined pairwise",
                                   &plain_table, plain_check,
                                   plain_build,  plain_size};

const topo_ops_t topo_dragonfly_plus = {
    "dragonfly-plus", "groups that are leaf-spines, whose spines are joined",
    &plus_table,      plus_check,
    plus_build,       plus_size};
