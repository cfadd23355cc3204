// SPDX-License-Identifier: Apache-2.0
// net/port_names.c - the names of ports. A node's names are made when one of them is first asked
// for, because a large network has millions of ports and a run prints a few of them.
#include <stdio.h>
#include <stdlib.h>

#include "net/link/layer.h"
#include "net/network_internal.h"
#include "net/nodes.h"
#include "net/port_names.h"
#include "net/ports.h"

// A port and the number of the node that it leads to.
typedef struct end {
    uint32_t peer;
    uint32_t port;
} end_t;

static int compare_peers(const void *a, const void *b)
{
    const end_t *const x = a;
    const end_t *const y = b;
    return 2 * SIM_COMPARE(x->peer, y->peer) + SIM_COMPARE(x->port, y->port);
}

static char *name_of(const net_t *net, size_t node, uint32_t peer, uint32_t repeat)
{
    const char *const from = net_node_name(net, node);
    const char *const to = net_node_name(net, peer);
    return repeat == 1 ? sim_format("%s->%s", from, to) : sim_format("%s->%s#%u", from, to, repeat);
}

// Returns the names by port: "a->b", with "#2", "#3"... from the second of parallel links on.
static char **make_names(const net_t *net, size_t node)
{
    net_node_t gone;
    const net_node_t *const view = net_node_view(net, node, &gone);
    char **const names = sim_alloc_array(view->port_count, sizeof(*names));
    end_t *const sorted = sim_alloc_array(view->port_count, sizeof(*sorted));
    for (uint32_t p = 0; p < view->port_count; p++) {
        sorted[p] = (end_t){net_neighbour_number(view, p), p};
    }
    qsort(sorted, view->port_count, sizeof(*sorted), compare_peers);
    uint32_t repeat = 1;
    for (uint32_t p = 0; p < view->port_count; p++) {
        repeat = p > 0 && sorted[p - 1].peer == sorted[p].peer ? repeat + 1 : 1;
        names[sorted[p].port] = name_of(net, node, sorted[p].peer, repeat);
    }
    sim_free(sorted);
    return names;
}

static void free_names(char **names, uint32_t count)
{
    sim_free_each(names, count);
    sim_free(names);
}

// Publishes the names with an atomic exchange, because several threads may ask first.
const char *net_port_name_at(const net_node_t *node, uint32_t index)
{
    char ***const of_node = &node->net->port_names[node->sim.index];
    char **names = __atomic_load_n(of_node, __ATOMIC_ACQUIRE);
    if (names == NULL) {
        char **const made = make_names(node->net, node->sim.index);
        const bool first = __atomic_compare_exchange_n(of_node, &names, made, false,
                                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
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

// -- names that are not kept

#define LABELS 1024u // nodes, a power of two: those that neighbouring links of a file lead to

typedef struct node_labels {
    size_t node;
    char **names; // NULL: none
    uint32_t count;
} node_labels_t;

struct net_port_labels {
    const net_t *net;
    node_labels_t nodes[LABELS]; // each in the place that its number gives it
};

net_port_labels_t *net_port_labels_create(const net_t *net)
{
    net_port_labels_t *const labels = sim_alloc(sizeof(*labels));
    labels->net = net;
    return labels;
}

void net_port_labels_destroy(net_port_labels_t *labels)
{
    for (size_t i = 0; i < LABELS; i++) {
        free_names(labels->nodes[i].names, labels->nodes[i].count);
    }
    sim_free(labels);
}

const char *net_port_label(net_port_labels_t *labels, size_t node, uint32_t port)
{
    node_labels_t *const of_node = &labels->nodes[node % LABELS];
    if (of_node->names == NULL || of_node->node != node) {
        free_names(of_node->names, of_node->count);
        *of_node =
            (node_labels_t){node, make_names(labels->net, node), net_ports_of(labels->net, node)};
    }
    SIM_CHECK(port < of_node->count);
    return of_node->names[port];
}

bool net_port_has_credits(const net_port_t *port)
{
    return port->layered && port->rare->layer->sends != 0;
}
