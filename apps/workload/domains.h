// SPDX-License-Identifier: Apache-2.0
// apps/workload/domains.h - GPUs that are hosts of their own, and the NVSwitches that join them.
#ifndef APPS_WORKLOAD_DOMAINS_H
#define APPS_WORKLOAD_DOMAINS_H

#include "apps/workload/rank.h"

typedef struct app__domains app__domains_t;
app__domains_t *app__domains_create(const net_t *net); // after net_build
void app__domains_destroy(app__domains_t *domains);    // NULL is allowed
// Returns the NVSwitch of a host that is a GPU, and the port to it; NULL and APP__NO_PORT: it is no
// GPU.
const net_node_t *app__domain_of(const app__domains_t *domains, const net_node_t *host,
                                 uint32_t *port);
// Returns the NIC of a host that is faster than its others; APP__NO_PORT: all have one rate.
uint32_t app__fastest_nic(const net_node_t *host);
// Returns the port, in workload->ports, from which a rank sends to another on NICs of a number:
// within an NVLink domain the one to the NVSwitch.
uint32_t app__port_to(const app__rank_t *rank, const app__rank_t *peer, uint32_t nic);

#endif // APPS_WORKLOAD_DOMAINS_H
