// SPDX-License-Identifier: Apache-2.0
// apps/serving/hosts/ring.h - all-reduces between the hosts that share the layers of a stage.
#ifndef APPS_SERVING_HOSTS_RING_H
#define APPS_SERVING_HOSTS_RING_H

#include "apps/serving/serving.h"

// The all-reduces of the present group of layers.
typedef struct app__serving_reduce {
    uint32_t left;
    uint32_t ring_step;
    sim_time_t began_ps;
    sim_time_t waited_ps; // for all-reduces of the step
} app__serving_reduce_t;

void app__serving_ring_init(app__serving_t *serving);
void app__serving_ring_fini(app__serving_t *serving);
// Does the two all-reduces of the present group of layers, then calls app__serving_reduced.
void app__serving_reduce(app__serving_node_t *node);
// Goes on when data of another host is there.
void app__serving_reduce_on(app__serving_node_t *node);
// Returns the bytes of a GPU's share of an all-reduce over so many layers.
uint64_t app__serving_reduce_bytes(const app__serving_node_t *node, uint64_t tokens,
                                   uint64_t layers);
// Returns the activations of a step that a GPU sends to the next stage.
uint64_t app__serving_pass_bytes(const app__serving_node_t *node, uint64_t tokens);

#endif // APPS_SERVING_HOSTS_RING_H
