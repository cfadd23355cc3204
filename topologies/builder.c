// SPDX-License-Identifier: Apache-2.0
// topologies/builder.c - steps that all builders use, and the table of topologies.
#include <string.h>

#include "topologies/builder_internal.h"
#include "topologies/topology_file.h"

const topo_ops_t *const topo_all[] = {
    &topo_pair,
    &topo_star,
    &topo_dumbbell,
    &topo_parking_lot,
    &topo_leaf_spine,
    &topo_fat_tree,
    &topo_rail_optimised,
    &topo_dual_tor,
    &topo_multi_plane,
    &topo_dragonfly,
    &topo_dragonfly_plus,
    &topo_torus,
    &topo_hyperx,
    &topo_slim_fly,
    &topo_wan,
    &topo_file,
    NULL,
};

const topo_ops_t *topo_find(const char *name)
{
    for (size_t i = 0; topo_all[i] != NULL; i++) {
        if (strcmp(topo_all[i]->name, name) == 0) {
            return topo_all[i];
        }
    }
    return NULL;
}

net_node_t *topo__own_switch(const topo_plan_t *plan, const char *name)
{
    return plan->own_switch == NULL ? NULL : plan->own_switch(name, plan->ctx);
}

net_node_t *topo__named_switch(const topo_plan_t *plan, const char *name)
{
    net_node_t *const own = topo__own_switch(plan, name);
    return own != NULL ? own
                       : net_switch_create(plan->net, name, plan->switch_config(name, plan->ctx));
}

net_node_t *topo__switch(const topo_plan_t *plan, const char *tier, uint64_t number)
{
    const char *const prefix = plan->switch_prefix != NULL ? plan->switch_prefix : "";
    char *const name = sim_format("%s%s%" PRIu64, prefix, tier, number);
    net_node_t *const node = topo__named_switch(plan, name);
    sim_free(name);
    return node;
}

net_node_t *topo__next_host(const topo_plan_t *plan, uint64_t number, topo__last_t *last)
{
    char *const name = sim_format("host%" PRIu64, plan->first_host + number);
    const nic_config_t *const config = plan->nic_config(name, plan->ctx);
    last->host = plan->nic_configs_stay && last->host != NULL && last->config == config
                     ? nic_host_create_like(plan->net, name, last->host)
                     : nic_host_create(plan->net, name, config);
    last->config = config;
    sim_free(name);
    return last->host;
}

net_node_t *topo__host(const topo_plan_t *plan, uint64_t number)
{
    return topo__next_host(plan, number, &(topo__last_t){0});
}

topo__cable_t topo__cable(uint64_t rate_bps, sim_time_t delay_ps, uint64_t count)
{
    topo__cable_t cable = {.count = count};
    sim_attrs_default(&net_link_config_attrs, &cable.config);
    cable.config.rate_bps = rate_bps;
    cable.config.delay_ps = delay_ps;
    return cable;
}

void topo__connect(const topo_plan_t *plan, net_node_t *a, net_node_t *b,
                   const topo__cable_t *cable)
{
    SIM_CHECK(cable->count >= 1);
    for (uint64_t i = 0; i < cable->count; i++) {
        net_link_config_t config = cable->config;
        if (plan->link_config != NULL) {
            plan->link_config(a, b, &config, plan->ctx);
        }
        net_link_add(plan->net, a, b, &config);
    }
}

void topo__hosts(const topo_plan_t *plan, net_node_t *to, uint64_t first, uint64_t count,
                 const topo__cable_t *cable)
{
    topo__last_t last = {0};
    for (uint64_t i = 0; i < count; i++) {
        topo__connect(plan, to, topo__next_host(plan, first + i, &last), cable);
    }
}

topo__start_t topo__start(const topo_plan_t *plan)
{
    return (topo__start_t){net_node_count(plan->net), net_link_count(plan->net)};
}

void topo__check_added(const topo_plan_t *plan, topo__start_t start, const topo_size_t *size)
{
    SIM_CHECK(net_node_count(plan->net) - start.nodes == size->hosts + size->switches);
    SIM_CHECK(net_link_count(plan->net) - start.links == size->links);
}

sim_err_t topo__check_interfaces(const char *name, uint64_t value, uint64_t interfaces,
                                 sim_message_t *message)
{
    if (interfaces <= NET_INTERFACES_MAX) {
        return SIM_OK;
    }
    return sim_fail_about(message, SIM_ERR_RANGE, name,
                          " is %" PRIu64 ": expected a network of at most %u host interfaces, this "
                          "would have %" PRIu64,
                          value, NET_INTERFACES_MAX, interfaces);
}

sim_err_t topo__check_ports(const char *name, uint64_t value, uint64_t ports,
                            sim_message_t *message)
{
    if (ports <= SIM_PORTS_PER_NODE_MAX) {
        return SIM_OK;
    }
    return sim_fail_about(message, SIM_ERR_RANGE, name,
                          " is %" PRIu64 ": expected at most %u ports on a switch, this would need "
                          "%" PRIu64,
                          value, SIM_PORTS_PER_NODE_MAX, ports);
}

// Returns the text of one field of a link's configuration, in the attribute table's format.
static char *link_text(const net_link_config_t *config, size_t offset)
{
    for (size_t i = 0; i < net_link_config_attrs.count; i++) {
        if (net_link_config_attrs.attrs[i].offset == offset) {
            return sim_attr_get(&net_link_config_attrs.attrs[i], config);
        }
    }
    SIM_CHECKF(false, "no attribute at offset %zu of a link's configuration", offset);
    return NULL;
}

char *topo__rate_text(uint64_t rate_bps)
{
    const net_link_config_t config = {.rate_bps = rate_bps};
    return link_text(&config, offsetof(net_link_config_t, rate_bps));
}

char *topo__delay_text(sim_time_t delay_ps)
{
    const net_link_config_t config = {.delay_ps = delay_ps};
    return link_text(&config, offsetof(net_link_config_t, delay_ps));
}
