// SPDX-License-Identifier: Apache-2.0
// net/port_names.c - the names of ports. A node's names are made when one of them is first asked
// for, because a large network has millions of ports and a run prints a few of them.
#include <stdio.h>
#include <stdlib.h>

#include "net/network_internal.h"

// A port and the number of the node that it leads to.
typedef struct end {
    uint32_t peer;
    uint32_t port;
} end_t;

static int compare_peers(const void *a, const void *b)
{
    const end_t *const x = a;
    const end_t *const y = b;
    if (x->peer != y->peer) {
        return x->peer < y->peer ? -1 : 1;
    }
    return (x->port > y->port) - (x->port < y->port);
}

static char *name_of(const net_node_t *node, uint32_t peer, uint32_t repeat)
{
    const char *const from = node->sim.name;
    const char *const to = net_node_name(node->net, peer);
    return repeat == 1 ? sim_format("%s->%s", from, to) : sim_format("%s->%s#%u", from, to, repeat);
}

// Returns the names by port: "a->b", with "#2", "#3"... from the second of parallel links on.
static char **make_names(const net_node_t *node)
{
    char **const names = sim_alloc_array(node->port_count, sizeof(*names));
    end_t *const sorted = sim_alloc_array(node->port_count, sizeof(*sorted));
    for (uint32_t p = 0; p < node->port_count; p++) {
        sorted[p] = (end_t){net_neighbour_number(node, p), p};
    }
    qsort(sorted, node->port_count, sizeof(*sorted), compare_peers);
    uint32_t repeat = 1;
    for (uint32_t p = 0; p < node->port_count; p++) {
        repeat = p > 0 && sorted[p - 1].peer == sorted[p].peer ? repeat + 1 : 1;
        names[sorted[p].port] = name_of(node, sorted[p].peer, repeat);
    }
    sim_free(sorted);
    return names;
}

static void free_names(char **names, uint32_t count)
{
    for (uint32_t p = 0; names != NULL && p < count; p++) {
        sim_free(names[p]);
    }
    sim_free(names);
}

// Publishes the names with an atomic exchange, because several threads may ask first.
const char *net_port_name_at(const net_node_t *node, uint32_t index)
{
    char ***const of_node = &node->net->port_names[node->sim.index];
    char **names = __atomic_load_n(of_node, __ATOMIC_ACQUIRE);
    if (names == NULL) {
        char **const made = make_names(node);
        const bool first = __atomic_compare_exchange_n(of_node,
                                                       &names,
                                                       made,
                                                       false,
                                                       __ATOMIC_ACQ_REL,
                                                       __ATOMIC_ACQUIRE);
        if (first) {
            names = made;
        } else {
            free_names(made, node->port_count);
        }
    }
    return names[index];
}

const char *net_port_name(const net_port_t *port)
{
    return net_port_name_at(port->node, port->index);
}

void net__port_names_free(const net_t *net, const net_node_t *node)
{
    if (net->port_names != NULL) {
        free_names(net->port_names[node->sim.index], node->port_count);
        net->port_names[node->sim.index] = NULL;
    }
}
