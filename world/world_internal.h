// SPDX-License-Identifier: Apache-2.0
// world/world_internal.h - what the files that build a world share.
#ifndef WORLD_WORLD_INTERNAL_H
#define WORLD_WORLD_INTERNAL_H

#include "world/bind.h"
#include "world/world.h"

// names.c: gives NICs their names, once the network is built.
void world__name_nics(world_t *world);
// app_context_t.hosts; ctx is the world.
SIM_MUST_CHECK sim_err_t world__find_hosts(const char *pattern,
                                           app_hosts_t *hosts,
                                           sim_message_t *message,
                                           void *ctx);

// links.c: whether link l, or the next one that joins a and b, is one that the names mean;
// whether a port's end of a link is the one that they begin with.
bool world__link_meant(const world_t *world, const world_pair_t *names, size_t l);
bool world__next_link_meant(const world_t *world,
                            const world_pair_t *names,
                            const net_node_t *a,
                            const net_node_t *b);
bool world__end_meant(const world_pair_t *names, const net_node_t *node, uint32_t port);

// check.c: whether patterns of the scenario mean something. Link changes are made known to
// the network too, before net_build; the others come after it.
SIM_MUST_CHECK sim_err_t world__check_links(const world_t *world, world_error_t *error);
SIM_MUST_CHECK sim_err_t world__check_hosts(const world_t *world, world_error_t *error);
// world/scenario/faults.c: reads the section; tells the network, before net_build, of faults and
// of links
// that go down.
SIM_MUST_CHECK sim_err_t world__apply_faults(const world_t *world, world_error_t *error);
SIM_MUST_CHECK sim_err_t world__check_node_overlays(const world_t *world, world_error_t *error);
SIM_MUST_CHECK sim_err_t world__check_lint(const world_t *world, world_error_t *error);
SIM_MUST_CHECK sim_err_t world__check_series(const world_t *world, world_error_t *error);
SIM_MUST_CHECK sim_err_t world__check_captures(const world_t *world, world_error_t *error);

// world/registry/entries.c: tells a network of what programs have registered, with the scenario's
// parameters;
// NULL: without any.
void world__registry_use(const world_registry_t *registry,
                         const world_scenario_t *scenario,
                         net_t *net);

// scenario.c: what the section "network" configures.
world_targets_t world__targets_network(const world_scenario_t *scenario);

#endif // WORLD_WORLD_INTERNAL_H
