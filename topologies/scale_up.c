// SPDX-License-Identifier: Apache-2.0
// topologies/scale_up.c - accelerators and their switches: each host is a server or a rack, and
// each of its scale-up switches is linked to each of its accelerators. docs/models/scale-up.md
#include "topologies/scale_up.h"
#include "topologies/builder_internal.h"

// Returns the number of a host's NICs, before net_build.
static uint32_t nics_of(const net_node_t *host)
{
    const uint32_t planes = host->planes > 1 ? host->planes : 1;
    return host->port_count / planes + host->port_count % planes;
}

static void build_host(const topo_plan_t *plan, net_node_t *host, uint32_t count,
                       const net_scale_up_config_t *config)
{
    const uint32_t switches = (uint32_t)net_scale_up_switches(config);
    topo__cable_t cable =
        topo__cable(net_scale_up_rate_bps(config) / switches, config->delay_ps, 1);
    cable.config.loss_rate = config->error_rate;
    cable.config.flits = true;
    net_scale_up_add(plan->net, host, count, config);
    for (uint32_t s = 0; s < switches; s++) {
        for (uint32_t i = 0; i < count; i++) {
            topo__connect(plan, net_accelerator(host, i), net_scale_up_switch(host, s), &cable);
        }
    }
}

sim_err_t topo_scale_up_build(const topo_plan_t *plan, const net_scale_up_config_t *config,
                              sim_message_t *message)
{
    const size_t nodes = net_node_count(plan->net);
    uint32_t most = 0;
    for (size_t i = 0; i < nodes; i++) {
        net_node_t *const host = net_node_at(plan->net, i);
        const uint64_t count = host->kind != NET_NODE_HOST        ? 0
                               : config->accelerators == SIM_AUTO ? nics_of(host)
                                                                  : config->accelerators;
        if (count > 1) {
            build_host(plan, host, (uint32_t)count, config);
            most = SIM_MAX((uint32_t)count, most);
        }
    }
    return most > 0 ? SIM_OK
                    : sim_fail_about(message, SIM_ERR_INVALID, "accelerators",
                                     ": no host has two accelerators or more, expected hosts with "
                                     "several NICs, or a number");
}
