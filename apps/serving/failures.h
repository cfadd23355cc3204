// SPDX-License-Identifier: Apache-2.0
// apps/serving/failures.h - nodes that lose their power, and may come back.
#ifndef APPS_SERVING_FAILURES_H
#define APPS_SERVING_FAILURES_H

#include "apps/serving/node.h"

// A node that loses its power.
struct app__serving_failure {
    app__serving_t *serving;
    const net_node_t *host;
    sim_time_t at_ps;
    sim_time_t back_ps; // NEVER: it stays without power
    uint32_t node;
    sim_timer_t detect; // of the router
    sim_timer_t back;   // of the router
};

// Read the attribute fail-host, and find the nodes of its hosts once all nodes have theirs. Errors
// begin with the attribute's name.
SIM_MUST_CHECK sim_err_t app__serving_failures_read(app__serving_t *serving,
                                                    const app_context_t *context, const char *text,
                                                    sim_message_t *message);
SIM_MUST_CHECK sim_err_t app__serving_failures_find(app__serving_t *serving,
                                                    sim_message_t *message);
// Arms the timers of the nodes that fail.
void app__serving_failure_begin(app__serving_t *serving);
// Returns whether a node comes back after it has lost its power.
bool app__serving_comes_back(const app__serving_t *serving);
// Drops requests whose other node is lost, unless it has come back more than `restarts` times.
void app__serving_on_lost(app__serving_node_t *node, uint32_t lost, uint32_t restarts);
// Notes that a node is back, or that this one is.
void app__serving_on_back(app__serving_node_t *node, uint32_t back, uint32_t restarts);

#endif // APPS_SERVING_FAILURES_H
