// SPDX-License-Identifier: Apache-2.0
// net/switch/balance/table.c - the load balancers that net has, and which one a switch gets.
#include <string.h>

#include "net/balance_gauges.h"
#include "net/models_internal.h"
#include "net/switch/balance/balance_internal.h"
#include "net/switch/ecmp.h"

static const net_balance_ops_t *const own[] = {
    &net__balance_ecmp,        &net__balance_weighted, &net__balance_random,
    &net__balance_round_robin, &net__balance_adaptive, &net__balance_drill,
    &net__balance_letflow,     &net__balance_conga,    &net__balance_conweave,
    &net__balance_valiant,     &net__balance_ugal,     &net__balance_structured,
};

void net__register_balances(net_t *net)
{
    for (size_t i = 0; i < SIM_COUNT_OF(own); i++) {
        net_register_balance(net, own[i]);
    }
}

// Returns whether the switch asks for its network's load balancer.
static bool is_of_network(const net_balance_config_t *config)
{
    return config->name.text[0] == '\0' || strcmp(config->name.text, "network") == 0;
}

static bool hashes_otherwise(const net_balance_config_t *config)
{
    return config->ecmp_fields != NET_HASH_FIVE_TUPLE || config->ecmp_symmetric ||
           config->ecmp_dscp || config->ecmp_destination_qp;
}

const net_balance_ops_t *net__switch_balance(const net_t *net, const net_balance_config_t *config)
{
    const net_balance_ops_t *const ops =
        is_of_network(config) ? net->balance : net_registered(net, NET_BALANCE, config->name.text);
    SIM_CHECKF(ops != NULL, "no load balancer \"%s\"", config->name.text);
    return ops == &net__balance_ecmp && hashes_otherwise(config) ? &net__balance_hashed : ops;
}

const char *net_switch_balancer(const net_node_t *node, bool *spreads)
{
    const net_balance_ops_t *const ops =
        net__switch_balance(node->net, &net_switch_config(node)->balance);
    *spreads = ops->spreads_flows;
    return ops->name;
}

sim_time_t net_switch_path_gap_ps(const net_node_t *node)
{
    const net_switch_t *const sw = (const net_switch_t *)(const void *)node;
    const net_balance_ops_t *const ops = sw->balance;
    return !ops->spreads_flows ? SIM_TIME_NEVER : ops->gap_ps != NULL ? ops->gap_ps(sw) : 0;
}

net_balance_gauges_t net_switch_balance_gauges(const net_node_t *node)
{
    const net_switch_t *const sw = (const net_switch_t *)(const void *)node;
    net_balance_gauges_t gauges = {0};
    if (sw->balance->gauges != NULL) {
        sw->balance->gauges(sw, &gauges);
    }
    return gauges;
}

// Fails unless all switches have the balancer and its header, and call it. Its leaves talk to each
// other in the header, so a switch that ignores or lacks it would break them.
static sim_err_t check_header(const net_switch_t *sw, const net_balance_ops_t *ops,
                              sim_message_t *message)
{
    const net_t *const net = sw->node.net;
    const net_buffer_ops_t *const buffer = net_registered(net, NET_BUFFER, sw->config.mmu.text);
    if (buffer->loop != NULL) {
        return sim_fail_about(message, SIM_ERR_INVALID, "switch.load-balancing",
                              ": %s needs switch.mmu standard; %s has a loop of its own, which "
                              "knows no headers of load balancers",
                              ops->name, buffer->name);
    }
    for (size_t i = 0; i < net->node_count; i++) {
        const net_node_t *const node = net->nodes[i];
        const bool same = node == NULL || node->kind == NET_NODE_HOST ||
                          (node->kind == NET_NODE_SWITCH &&
                           net__switch_balance(net, &net_switch_config(node)->balance) == ops &&
                           net_switch_config(node)->balance.conga_header_bytes ==
                               sw->config.balance.conga_header_bytes &&
                           net_switch_config(node)->balance.conweave_header_bytes ==
                               sw->config.balance.conweave_header_bytes);
        if (!same) {
            return sim_fail_about(message, SIM_ERR_INVALID, "switch.load-balancing",
                                  ": %s has %s, but not %s; expected it, with one header, at every "
                                  "switch or at none",
                                  sw->node.sim.name, ops->name, node->sim.name);
        }
    }
    return SIM_OK;
}

sim_err_t net__switch_check_balance(const net_switch_t *sw, sim_message_t *message)
{
    const net_t *const net = sw->node.net;
    const net_balance_config_t *const config = &sw->config.balance;
    if (!is_of_network(config)) {
        const sim_err_t error = net_registered_check(net, "switch.load-balancing", NET_BALANCE,
                                                     config->name.text, message);
        if (error != SIM_OK) {
            return error;
        }
    }
    const net_balance_ops_t *const ops = net__switch_balance(net, config);
    if (ops != net->balance && ops->flow_hash != net->balance->flow_hash) {
        return sim_fail_about(message, SIM_ERR_INVALID, "switch.load-balancing",
                              ": %s hashes other values than network.load-balancer, which is %s; "
                              "expected both to be %s, or neither",
                              ops->name, net->balance->name,
                              ops->flow_hash != NULL ? ops->name : net->balance->name);
    }
    return ops->enters != NULL ? check_header(sw, ops, message) : SIM_OK;
}
