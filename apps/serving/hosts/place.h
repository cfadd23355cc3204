// SPDX-License-Identifier: Apache-2.0
// apps/serving/hosts/place.h - where a host is in its instance, and which layers it has.
//
// An instance is a prefill or decode node. Its first host leads it: it forms the steps, and it
// exchanges messages with the router and with other leaders. Only events of a host touch its state.
#ifndef APPS_SERVING_HOSTS_PLACE_H
#define APPS_SERVING_HOSTS_PLACE_H

#include "apps/serving/serving.h"

#define APP__SERVING_GPUS_MAX 64u

typedef struct app__serving_place {
    uint32_t leader;       // node
    uint32_t number;       // among the hosts of the instance: stage x tp_hosts + rank
    uint32_t first_member; // node of the second host; the others follow
    uint32_t host_count;
    uint32_t stages;
    uint32_t tp_hosts; // of each stage
    uint32_t stage;
    uint32_t rank; // among the hosts of the stage
    uint32_t gpus; // of this host
    uint64_t first_layer;
    uint64_t layers;
} app__serving_place_t;

// Returns the number of hosts of all instances beyond the first one of each.
uint32_t app__serving_member_count(const app__serving_t *serving);
// Sets the places of all prefill and decode nodes and of the further hosts of their instances.
void app__serving_set_places(app__serving_t *serving);
// Returns the node that is host `number` of the instance that a node leads.
uint32_t app__serving_host_of(const app__serving_t *serving, uint32_t leader, uint32_t number);
// Returns the first layer of a stage.
uint64_t app__serving_first_layer(uint64_t layers, uint64_t stages, uint64_t stage);
// Returns whether two nodes are hosts of one instance.
bool app__serving_same_instance(const app__serving_node_t *a, const app__serving_node_t *b);
// Refuses sizes that no instance can have. The message begins with the attribute's name.
SIM_MUST_CHECK sim_err_t app__serving_check_shapes(const app__serving_t *serving,
                                                   sim_message_t *message);
// Returns how many steps an instance may have under way.
uint64_t app__serving_steps_max(const app__serving_node_t *node);

#endif // APPS_SERVING_HOSTS_PLACE_H
