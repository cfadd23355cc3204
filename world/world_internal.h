// SPDX-License-Identifier: Apache-2.0
// world/world_internal.h - what the files that build a world share.
#ifndef WORLD_WORLD_INTERNAL_H
#define WORLD_WORLD_INTERNAL_H

#include "world/bind.h"
#include "world/world.h"

// world_names.c: gives NICs their names, once the network is built.
void world__name_nics(world_t *world);
// app_context_t.hosts; ctx is the world.
SIM_MUST_CHECK sim_err_t world__find_hosts(const char *pattern,
                                           app_hosts_t *hosts,
                                           sim_message_t *message,
                                           void *ctx);

// world_check.c: whether patterns of the scenario mean something. Link changes are made known to
// the network too, before net_build; the others come after it.
// How many of the first `before` links join the two nodes.
uint32_t world__links_between(const net_t *net, size_t before, const char *a, const char *b);
// Whether link l is one that the names mean.
bool world__link_meant(const world_t *world, const world_pair_t *names, size_t l);
SIM_MUST_CHECK sim_err_t world__check_links(const world_t *world, world_error_t *error);
SIM_MUST_CHECK sim_err_t world__check_hosts(const world_t *world, world_error_t *error);
// scenario_faults.c: reads the section; tells the network, before net_build, of faults and of links
// that go down.
SIM_MUST_CHECK sim_err_t world__apply_faults(const world_t *world, world_error_t *error);
SIM_MUST_CHECK sim_err_t world__check_node_overlays(const world_t *world, world_error_t *error);
SIM_MUST_CHECK sim_err_t world__check_lint(const world_t *world, world_error_t *error);
SIM_MUST_CHECK sim_err_t world__check_series(const world_t *world, world_error_t *error);
SIM_MUST_CHECK sim_err_t world__check_captures(const world_t *world, world_error_t *error);

// registry.c: tells a network of what programs have registered.
void world__registry_use(const world_scenario_t *scenario, net_t *net);

// scenario.c: what the section "network" configures.
world_targets_t world__targets_network(const world_scenario_t *scenario);

#endif // WORLD_WORLD_INTERNAL_H
