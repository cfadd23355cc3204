// SPDX-License-Identifier: Apache-2.0
// apps/workload/places.h - chooses the hosts and NICs of ranks.
#ifndef APPS_WORKLOAD_PLACES_H
#define APPS_WORKLOAD_PLACES_H

#include "apps/app.h"
#include "apps/workload/run_options.h"

typedef struct app__workload app__workload_t;
typedef struct app__rank app__rank_t;

// Returns whether a host has links to other hosts, and not all of its links lead to one node.
bool app__is_direct(const net_node_t *host);
// Finds the ports, in workload->ports, of two ranks whose path has the fewest hops and, among
// those, the highest rate. If no two of them have a path, it gives the first ones.
void app__direct_ports(const app__rank_t *rank, const app__rank_t *peer, uint32_t *own,
                       uint32_t *other);

// Gives every rank its place, makes their NICs and channels. SIM_ERR_RANGE: there are too few
// places.
SIM_MUST_CHECK sim_err_t app__ranks_place(const app_context_t *context,
                                          const app__workload_options_t *options,
                                          app__workload_t *workload, sim_message_t *message);

// Counts the places that ranks of collectives can have on the hosts. SIM_ERR_UNKNOWN: no hosts.
SIM_MUST_CHECK sim_err_t app__ranks_count(const app_context_t *context,
                                          const app__workload_options_t *options, uint32_t *places,
                                          sim_message_t *message);

void app__workload_places(const app_t *app, app_place_fn fn, void *ctx);

#endif // APPS_WORKLOAD_PLACES_H
