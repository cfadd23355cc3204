// SPDX-License-Identifier: Apache-2.0
// world/world_internal.h - declarations shared by the files that build a world.
#ifndef WORLD_WORLD_INTERNAL_H
#define WORLD_WORLD_INTERNAL_H

#include "world/bind.h"
#include "world/world.h"

// names.c: gives NICs their names after the network is built.
void world__name_nics(world_t *world);
// Finds the hosts that a pattern means, for app_context_t.hosts; ctx is the world.
SIM_MUST_CHECK sim_err_t world__find_hosts(const char *pattern, app_hosts_t *hosts,
                                           sim_message_t *message, void *ctx);

// links.c: return whether the names mean link l, or the next link that joins a and b, and whether a
// port is at the end of its link that the names begin with.
bool world__link_meant(const world_t *world, const world_pair_t *names, size_t l);
bool world__next_link_meant(const world_t *world, const world_pair_t *names, const net_node_t *a,
                            const net_node_t *b);
bool world__end_meant(const world_pair_t *names, const net_node_t *node, uint32_t port);

// check.c: check that the patterns of the scenario match something. Link changes are passed to the
// network, too, before net_build; the others are checked after it.
SIM_MUST_CHECK sim_err_t world__check_links(const world_t *world, world_error_t *error);
SIM_MUST_CHECK sim_err_t world__check_hosts(const world_t *world, world_error_t *error);
// world/scenario/faults.c: reads the section; passes faults and links that go down to the network,
// before net_build.
SIM_MUST_CHECK sim_err_t world__apply_faults(const world_t *world, world_error_t *error);
SIM_MUST_CHECK sim_err_t world__check_node_overlays(const world_t *world, world_error_t *error);
SIM_MUST_CHECK sim_err_t world__check_repath(const world_t *world, world_error_t *error);
SIM_MUST_CHECK sim_err_t world__check_lint(const world_t *world, world_error_t *error);
SIM_MUST_CHECK sim_err_t world__check_series(const world_t *world, world_error_t *error);
// network.c: makes the application of an entry of `traffic` and adds it to world->apps. `index` is
// its place, which selects its random streams. `program`: a session submits it.
// build/skips.c: takes the settings of `fast-forward`. skips.barred is kept if it is set.
void world__skips_begin(world_t *world);
// Returns whether a run in one process may skip periods within messages.
bool world__skips_periods(const world_scenario_t *scenario);

SIM_MUST_CHECK sim_err_t world__create_app(world_t *world, const world_traffic_t *traffic,
                                           uint32_t index, bool program, world_error_t *error);
// scenario/read.c: adds an entry to the scenario's traffic; removes the last one.
SIM_MUST_CHECK sim_err_t world__add_traffic(world_scenario_t *scenario, const world_tree_t *map,
                                            world_error_t *error);
void world__drop_traffic(world_scenario_t *scenario);
// message.c
SIM_MUST_CHECK sim_err_t world__check_messages(const world_t *world, world_error_t *error);
// captures.c
SIM_MUST_CHECK sim_err_t world__check_captures(const world_t *world, world_error_t *error);

// explain.c: frees what other ranks told of a stall; NULL is allowed
void world__stuck_free(struct world_stuck *stuck);

// observed.c: estimates what series and captures take; checks it against memory-max.
struct world_observed;
void world__observed_estimate(const world_t *world, struct world_observed *observed);
SIM_MUST_CHECK sim_err_t world__observed_check(const world_t *world, world_error_t *error);

// world/registry/entries.c: passes the parts that programs have registered to a network, with the
// scenario's parameters (NULL: without any).
void world__registry_use(const world_registry_t *registry, const world_scenario_t *scenario,
                         net_t *net);

// scenario/read.c: the structs that the section "network" configures.
// Returns the section of a scenario that is called so, or so with an s: "captures" for "capture".
// NULL: there is none, or it is no list though it must be one.
const char *world__section_of(const char *key, bool list);
world_targets_t world__targets_network(const world_scenario_t *scenario);
// scenario/own_nodes.c: those that the section "node" configures; the first target has no table.
world_targets_t world__targets_own_nodes(const world_scenario_t *scenario);

#endif // WORLD_WORLD_INTERNAL_H
