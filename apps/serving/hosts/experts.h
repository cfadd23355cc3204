// SPDX-License-Identifier: Apache-2.0
// apps/serving/hosts/experts.h - exchanges with the experts that other nodes of a pool have.
#ifndef APPS_SERVING_HOSTS_EXPERTS_H
#define APPS_SERVING_HOSTS_EXPERTS_H

#include "apps/serving/serving.h"

// The exchange under way at a host.
typedef struct app__serving_exchange {
    uint32_t left; // transfers that have not ended
    bool reads;
    sim_time_t began_ps;
    uint64_t bytes_before; // exchanged by the host before it
} app__serving_exchange_t;

// Returns whether a node exchanges activations with others of its pool.
bool app__serving_spreads(const app__serving_node_t *node);
// Returns the activations of this number of tokens for the experts of one layer.
uint64_t app__serving_exchange_bytes(const app__serving_t *serving, uint64_t tokens);
// Exchanges the activations of the present group of layers, then calls app__serving_exchanged.
void app__serving_exchange(app__serving_node_t *node);

#endif // APPS_SERVING_HOSTS_EXPERTS_H
