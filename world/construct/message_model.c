// SPDX-License-Identifier: Apache-2.0
// world/construct/message_model.c - refuses what a network of messages (network.model: message)
// cannot do. Page: docs/models/message.md.
#include <string.h>

#include "world/captures.h"
#include "world/construct/check.h"
#include "world/faults.h"
#include "world/overlays.h"
#include "world/scenario/own_nodes.h"

#define INSTEAD "expected network.model: packet"

static sim_err_t check_traffic(const world_scenario_t *scenario, world_error_t *error)
{
    for (size_t i = 0; i < scenario->traffic_count; i++) {
        const world_traffic_t *const traffic = &scenario->traffic[i];
        if (strcmp(traffic->ops->name, "herd") != 0) {
            return world_fail(error, SIM_ERR_INVALID, &traffic->place,
                              "traffic.%s: network.model: message carries requests and answers of "
                              "traffic.herd alone, each of them one message, " INSTEAD,
                              traffic->ops->name);
        }
    }
    return SIM_OK;
}

// Checks that every link delivers each message once, in order.
static sim_err_t check_links(const world_t *world, world_error_t *error)
{
    const world_scenario_t *const scenario = world->scenario;
    const char *what = NULL;
    for (size_t i = 0; i < net_link_count(world->net); i++) {
        const net_link_config_t *const link = net_link_config(world->net, i);
        what = link->loss_rate.num > 0        ? "loss-rate"
               : link->bit_error_rate.num > 0 ? "bit-error-rate"
               : link->reorder_rate.num > 0   ? "reorder-rate"
               : link->duplicate_rate.num > 0 ? "duplicate-rate"
                                              : what;
    }
    for (size_t i = 0; i < scenario->link_count; i++) {
        what = scenario->links[i].down_count > 0 ? "down" : what;
    }
    if (what == NULL) {
        return SIM_OK;
    }
    const char *const section =
        scenario->link_map != NULL && world_tree_find(scenario->link_map, what) != NULL ? "link"
        : scenario->link_count > 0                                                      ? "links"
                                   : "topology";
    const world_tree_entry_t *const entry = world_tree_find(scenario->root, section);
    return world_fail(error, SIM_ERR_INVALID,
                      entry != NULL ? &entry->key->place : &scenario->topology_place,
                      "link.%s: links of network.model: message are capacity queues, which deliver "
                      "each message once and in order, " INSTEAD,
                      what);
}

sim_err_t world__check_messages(const world_t *world, world_error_t *error)
{
    const world_scenario_t *const scenario = world->scenario;
    if (scenario->network.model != NET_MODEL_MESSAGE) {
        return SIM_OK;
    }
    if (scenario->fault_count > 0) {
        return world_fail(error, SIM_ERR_INVALID, &scenario->faults[0].place,
                          "faults: a network of messages has no failures, " INSTEAD);
    }
    if (scenario->capture_count > 0) {
        return world_fail(error, SIM_ERR_INVALID, &scenario->captures[0].place,
                          "captures: messages of network.model: message have no headers that a "
                          "capture could show, " INSTEAD);
    }
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const char *const name = net_node_name(world->net, i);
        const world_node_kind_t *const kind = world__own_node_kind(scenario, name);
        if (kind != NULL) {
            return world_fail(error, SIM_ERR_INVALID, &scenario->topology_place,
                              "node %s: a node of the kind %s handles packets, and network.model: "
                              "message has none, " INSTEAD,
                              name, kind->name);
        }
    }
    const sim_err_t result = check_traffic(scenario, error);
    return result == SIM_OK ? check_links(world, error) : result;
}
