// SPDX-License-Identifier: Apache-2.0
// apps/workload/domains.h - GPUs that are hosts of their own, and the NVSwitches that join them.
#ifndef APPS_WORKLOAD_DOMAINS_H
#define APPS_WORKLOAD_DOMAINS_H

#include "apps/workload/rank.h"
#include "nic/host.h"

typedef struct app__domains app__domains_t;
app__domains_t *app__domains_create(const net_t *net); // after net_build
void app__domains_destroy(app__domains_t *domains);    // NULL is allowed
// Returns the first NVSwitch of the domain of a host that is a GPU, and the host's ports to its own
// NVSwitches; NULL: it is no GPU. NVSwitches are of one domain if they share a GPU.
const net_node_t *app__domain_of(const app__domains_t *domains, const net_node_t *host,
                                 app__domain_ports_t *ports);
// Returns the port, in workload->ports, from which a rank sends to another on NICs of a number:
// within an NVLink domain one to an NVSwitch that both have a link to, in turn.
uint32_t app__port_to(const app__rank_t *rank, const app__rank_t *peer, uint32_t nic);
// Returns the NIC of the fabric, in workload->ports, whose turn it is. A rank without such NICs has
// its links to NVSwitches alone.
uint32_t app__rail_port(const app__rank_t *rank, uint32_t turn);
// Returns the rate of a rank's links to its NVSwitches together, or to the fabric.
uint64_t app__domain_bps(const app__rank_t *rank);
uint64_t app__fabric_bps(const app__rank_t *rank);

#endif // APPS_WORKLOAD_DOMAINS_H
