// SPDX-License-Identifier: Apache-2.0
// cli/explain/pauses.c - joins the pauses of a run to trees, and finds circles of them.
//
// A node stops a port because a queue of the node is full. That queue's port is the root, or is
// stopped itself by the next node: then it is the parent.
#include "cli/explain/pauses.h"
#include "cli/explain/explain_internal.h"
#include "cli/explain/run_data.h"

#include "world/explain.h"

#include <stdlib.h>
#include <string.h>

static int by_paused(const void *a, const void *b)
{
    const explain_root_t *const x = a;
    const explain_root_t *const y = b;
    if (x->paused_ps != y->paused_ps) {
        return x->paused_ps > y->paused_ps ? -1 : 1;
    }
    return strcmp(x->name, y->name);
}

void cli__explain_roots(explain_t *explain)
{
    for (size_t i = 0; i < explain->root_count; i++) {
        explain_root_t *const root = &explain->roots[i];
        const size_t bytes = (explain->port_count + 1) * sizeof(sim_time_t);
        root->by_port = sim_alloc(bytes);
        memset(root->by_port, 0, bytes);
        root->first_ps = SIM_TIME_NEVER;
    }
    for (size_t i = 0; i < explain->stop_count; i++) {
        const explain_stop_t *const stop = &explain->stops[i];
        explain_root_t *const root = &explain->roots[stop->root];
        const sim_time_t ps = stop->to_ps > stop->from_ps ? stop->to_ps - stop->from_ps : 0;
        const net_node_t *const node = explain->ports[stop->port].port->node;
        if (root->by_port[stop->port] == 0) {
            root->ports++;
            root->hosts += node->kind == NET_NODE_HOST;
        }
        root->by_port[stop->port] += ps + 1; // 1: even a pause of no length is one
        root->paused_ps += ps;
        root->pauses++;
        root->first_ps = SIM_MIN(stop->from_ps, root->first_ps);
        root->last_ps = SIM_MAX(stop->to_ps, root->last_ps);
    }
    // Stops refer to roots by number, so they get their new ones.
    uint32_t *const old = sim_alloc_array(explain->root_count + 1, sizeof(*old));
    char **const names = sim_alloc_array(explain->root_count + 1, sizeof(*names));
    for (size_t i = 0; i < explain->root_count; i++) {
        names[i] = explain->roots[i].name;
    }
    if (explain->root_count > 0) {
        qsort(explain->roots, explain->root_count, sizeof(*explain->roots), by_paused);
    }
    for (uint32_t i = 0; i < explain->root_count; i++) {
        for (uint32_t j = 0; j < explain->root_count; j++) {
            if (names[j] == explain->roots[i].name) {
                old[j] = i;
            }
        }
    }
    for (size_t i = 0; i < explain->stop_count; i++) {
        explain->stops[i].root = old[explain->stops[i].root];
    }
    sim_free(old);
    sim_free(names);
}

uint32_t cli__explain_parent(const explain_t *explain, const explain_root_t *root, uint32_t uid)
{
    const net_node_t *const node = explain->ports[uid].port->peer->node;
    if (node == root->node) {
        return EXPLAIN_NONE;
    }
    uint32_t parent = EXPLAIN_NONE;
    sim_time_t most_ps = 0;
    for (uint32_t p = 0; p < node->port_count; p++) {
        const uint32_t other = node->ports[p].uid;
        if (other != uid && root->by_port[other] > most_ps) {
            most_ps = root->by_port[other];
            parent = other;
        }
    }
    return parent;
}

// -- circles

typedef struct waits {
    const explain_t *explain;
    bool *stopped; // by uid, at the end
} waits_t;

// Returns the i-th stopped port of the node that stops the port.
static size_t next_wait(size_t vertex, size_t index, const void *ctx)
{
    const waits_t *const waits = ctx;
    const net_port_t *const port = waits->explain->ports[vertex].port;
    if (port == NULL || !waits->stopped[vertex]) {
        return SIZE_MAX;
    }
    const net_node_t *const node = port->peer->node;
    for (uint32_t p = 0; p < node->port_count; p++) {
        const uint32_t uid = node->ports[p].uid;
        if (waits->stopped[uid] && &node->ports[p] != port->peer && index-- == 0) {
            return uid;
        }
    }
    return SIZE_MAX;
}

size_t cli__explain_cycle(const explain_t *explain, size_t *cycle)
{
    waits_t waits = {.explain = explain, .stopped = sim_alloc(explain->port_count + 1)};
    memset(waits.stopped, 0, explain->port_count + 1);
    for (size_t i = 0; i < explain->stop_count; i++) {
        waits.stopped[explain->stops[i].port] |= !explain->stops[i].ended;
    }
    const size_t count = world_find_cycle(explain->port_count, next_wait, &waits, cycle);
    sim_free(waits.stopped);
    return count;
}
