// SPDX-License-Identifier: Apache-2.0
// world/construct/link_patterns.h - which links and NICs the patterns of a scenario mean.
#ifndef WORLD_CONSTRUCT_LINK_PATTERNS_H
#define WORLD_CONSTRUCT_LINK_PATTERNS_H

#include "world/patterns.h"
#include "world/world.h"

// Return whether the names mean link l, or the next link that joins a and b, and whether a port is
// at the end of its link that the names begin with.
bool world__link_meant(const world_t *world, const world_pair_t *names, size_t l);
bool world__next_link_meant(const world_t *world, const world_pair_t *names, const net_node_t *a,
                            const net_node_t *b);
bool world__end_meant(const world_pair_t *names, const net_node_t *node, uint32_t port);

// names.c: gives NICs their names after the network is built.
void world__name_nics(world_t *world);
// names.c: finds the hosts that a pattern means, for app_context_t.hosts; ctx is the world.
SIM_MUST_CHECK sim_err_t world__find_hosts(const char *pattern, app_hosts_t *hosts,
                                           sim_message_t *message, void *ctx);

#endif // WORLD_CONSTRUCT_LINK_PATTERNS_H
