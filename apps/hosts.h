// SPDX-License-Identifier: Apache-2.0
// apps/hosts.h - finds the hosts and interfaces that a scenario names.
#ifndef APPS_HOSTS_H
#define APPS_HOSTS_H

#include "apps/app.h"

// Interfaces that a pattern matched; all interfaces of one host are adjacent.
typedef struct app__places {
    app_hosts_t list;
    uint32_t host_count; // number of different hosts
} app__places_t;

// Resolves a host pattern. An error message starts with `attribute`.
SIM_MUST_CHECK sim_err_t app__places_find(const app_context_t *context, const char *attribute,
                                          const char *pattern, app__places_t *places,
                                          sim_message_t *message);
void app__places_fini(app__places_t *places);

// Checks that all hosts have the same number of NICs and returns it in `nics`: NIC n of host h is
// then list.interfaces[h * nics + n]. SIM_ERR_RANGE: there are fewer than two hosts.
SIM_MUST_CHECK sim_err_t app__places_grid(const app_context_t *context, const char *attribute,
                                          const app__places_t *places, uint32_t *nics,
                                          sim_message_t *message);

// Finds the one interface that `name` means: a host with one NIC, or NIC n of "host3:n".
SIM_MUST_CHECK sim_err_t app__interface_find(const app_context_t *context, const char *attribute,
                                             const char *name, uint32_t *interface,
                                             sim_message_t *message);

// Returns whether two interfaces belong to different hosts and have a path (links go both ways).
bool app__can_talk(const net_t *net, uint32_t a, uint32_t b);
// Returns whether two interfaces can talk. If both are the first of their hosts, as the name of a
// host gives them, and cannot, it replaces them by those that can: with the fewest hops and, among
// those, the highest rate. So hosts with links to each other can be named without their NICs.
bool app__find_talk(const net_t *net, uint32_t *a, uint32_t *b);
// Writes why two interfaces cannot talk, after the name of the attribute to blame; returns
// SIM_ERR_INVALID.
sim_err_t app__cannot_talk(const net_t *net, uint32_t a, uint32_t b, const char *blame,
                           sim_message_t *message);
// Returns the time that an acknowledgement takes from one interface to another on an idle path.
sim_time_t app__ack_ps(const net_t *net, uint32_t from, uint32_t to);
const char *app__host_name(const net_t *net, uint32_t interface);
const net_node_t *app__host(const net_t *net, uint32_t interface);

// Seeds `random` from the scenario's seed for one purpose of one application at one entity.
void app__random_init(sim_random_t *random, const app_context_t *context, uint32_t entity,
                      const char *purpose);

#endif // APPS_HOSTS_H
