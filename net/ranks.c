// SPDX-License-Identifier: Apache-2.0
// net/ranks.c - a network that several ranks run together, each a part (kernel/ranks.h).
//
// Every rank knows all nodes and links, but hosts of others only as far as net/absent_hosts.c keeps
// them. It makes the ports of its own nodes and those that they are linked to. Ports of other nodes
// have addresses but no contents: the pages that they would lie in take no memory until somebody
// asks for a port. Such ports have no channel and never send.
#include <string.h>
#include <sys/mman.h>

#include "net/link/port_setup.h"
#include "net/loss/build.h"
#include "net/network_internal.h"
#include "net/ports.h"
#include "net/ranks.h"

#define HUGE_PAGE_BYTES ((uintptr_t)2 << 20)

static size_t ports_bytes(const net_t *net)
{
    return sizeof(*net->ports) * (net->port_count + 1);
}

// -- laying out

// Lets ports of consecutive nodes of this rank share huge pages, since they are walked at random.
static void allow_huge_pages(const net_port_t *begin, const net_port_t *end)
{
    const uintptr_t from =
        ((uintptr_t)begin + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    const uintptr_t to = (uintptr_t)end / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    if (from < to) {
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
    }
}

static void place_nodes(net_t *net)
{
    net_port_t *own = net->ports; // where the present run of this rank's nodes begins
    net_port_t *next = net->ports;
    for (size_t i = 0; i < net->node_count; i++) {
        net_node_t *const node = net->nodes[i];
        net_port_t *const first = next;
        if (node != NULL) {
            node->ports = first;
        }
        if (net->partial) {
            net->first_ports[i] = (uint32_t)(first - net->ports);
        }
        next += net_ports_of(net, i);
        if (!sim_is_here(net->sim, i)) {
            allow_huge_pages(own, first);
            own = next;
        }
    }
    allow_huge_pages(own, next);
}

net_port_t *net__port_of(const net_t *net, uint32_t node, uint32_t index)
{
    net_port_t *const first =
        net->partial ? net->ports + net->first_ports[node] : net->nodes[node]->ports;
    return first + index;
}

// Makes a port of a node, which is made if it was let go.
static void init_port(net_t *net, uint32_t node, uint32_t index)
{
    net_port_t *const port = net__port_of(net, node, index);
    net__port_init(port, net_node_at(net, node), index);
    net__port_place(port, (uint32_t)(port - net->ports));
}

void net__parts_make_ports(net_t *net)
{
    net->port_count = (uint32_t)net->link_count * 2;
    net->partial = sim_is_seated(net->sim);
    net->ports =
        net->partial ? sim_alloc_sparse(ports_bytes(net)) : sim_alloc_lines(ports_bytes(net));
    net->classes = sim_alloc_sparse(sizeof(*net->classes) * net__class_blocks(net));
    net->received = sim_alloc_sparse(sizeof(*net->received) * net__class_blocks(net));
    net->rare = sim_alloc_sparse(sizeof(*net->rare) * (net->port_count + 1));
    net->meters = sim_alloc_sparse(sizeof(*net->meters) * (net->port_count + 1));
    net->listeners = sim_alloc_sparse(sizeof(net_listeners_t *) * (net->port_count + 1));
    if (net->partial) {
        (void)pthread_mutex_init(&net->making_ports, NULL);
        (void)pthread_mutex_init(&net->making_nodes, NULL);
        net->port_links = sim_alloc_array(net->port_count + 1, sizeof(*net->port_links));
        net->first_ports = sim_alloc_array(net->node_count + 1, sizeof(*net->first_ports));
    }
    place_nodes(net);
    for (uint32_t i = 0; i < net->node_count; i++) {
        for (uint32_t p = 0; sim_is_here(net->sim, i) && p < net->nodes[i]->port_count; p++) {
            init_port(net, i, p);
        }
    }
    for (size_t i = 0; net->partial && i < net->link_count; i++) {
        const net_link_ends_t link = net->links[i];
        net->port_links[net__port_of(net, link.a, link.a_port) - net->ports] = (uint32_t)i;
        net->port_links[net__port_of(net, link.b, link.b_port) - net->ports] = (uint32_t)i;
        if (sim_is_here(net->sim, link.a) && !sim_is_here(net->sim, link.b)) {
            init_port(net, link.b, link.b_port);
        } else if (sim_is_here(net->sim, link.b) && !sim_is_here(net->sim, link.a)) {
            init_port(net, link.a, link.a_port);
        }
    }
}

void net__parts_free(net_t *net)
{
    if (!net->partial) {
        sim_free(net->ports);
        return;
    }
    sim_free_sparse(net->ports, ports_bytes(net));
    sim_free(net->port_links);
    sim_free(net->first_ports);
    (void)pthread_mutex_destroy(&net->making_ports);
    (void)pthread_mutex_destroy(&net->making_nodes);
}

// -- making what is asked for

// Returns the number of an interface: those of plane 0 are in the order of ports, and so are all
// others behind them.
static uint32_t find_interface(const net_t *net, const net_port_t *port)
{
    const size_t bounds[] = {0, net->plane0_count, net->interface_count};
    for (size_t part = 0; part < 2; part++) {
        size_t from = bounds[part];
        size_t to = bounds[part + 1];
        while (from < to) {
            const size_t middle = from + (to - from) / 2;
            if (net->interfaces[middle] < port) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        if (from < bounds[part + 1] && net->interfaces[from] == port) {
            return (uint32_t)from;
        }
    }
    return NET_INTERFACES_MAX;
}

// Returns whether a port that need not have been made is at the end `a` of its link.
static bool is_end_a(const net_t *net, const net_port_t *port)
{
    const net_link_ends_t link = net->links[net->port_links[port - net->ports]];
    return net__port_of(net, link.a, link.a_port) == port;
}

// Fills in `made` as the port of the node is while it never sends.
static void fill_idle(net_node_t *node, const net_port_t *port, net_port_t *made)
{
    const net_t *const net = node->net;
    const uint32_t number = net->port_links[port - net->ports];
    const net_link_ends_t link = net->links[number];
    const bool is_a = is_end_a(net, port);
    net__port_init(made, node, is_a ? link.a_port : link.b_port);
    net__port_place(made, (uint32_t)(port - net->ports));
    made->peer =
        is_a ? net__port_of(net, link.b, link.b_port) : net__port_of(net, link.a, link.a_port);
    net__port_join(made, number, is_a);
    made->interface =
        node->kind == NET_NODE_HOST ? find_interface(net, port) : (uint32_t)NET_INTERFACES_MAX;
    net__port_set_speed(made);
}

const net_port_t *net_port_look(const net_node_t *node, uint32_t index, net_port_t *idle)
{
    const net_port_t *const port = &node->ports[index];
    if (net__port_made(port)) {
        return port;
    }
    fill_idle((net_node_t *)(uintptr_t)node, port, idle);
    return idle;
}

// Makes a port. Its node is set last: it says that the port is made.
static void make_idle(const net_t *net, net_port_t *port)
{
    const net_link_ends_t link = net->links[net->port_links[port - net->ports]];
    const bool is_a = is_end_a(net, port);
    net_node_t *const node = net_node_at(net, is_a ? link.a : link.b);
    net_port_t made;
    fill_idle(node, port, &made);
    net__loss_direct(&made, is_a);
    made.node = NULL;
    *port = made;
    __atomic_store_n(&port->node, node, __ATOMIC_RELEASE);
}

uint32_t net_port_uid(const net_node_t *node, uint32_t index)
{
    return (uint32_t)(node->ports + index - node->net->ports);
}

net_port_t *net__port_make(net_t *net, net_port_t *port)
{
    SIM_CHECK(net->partial);
    (void)pthread_mutex_lock(&net->making_ports);
    if (!net__port_made(port)) {
        make_idle(net, port);
    }
    (void)pthread_mutex_unlock(&net->making_ports);
    return port;
}

net_port_t *net_port_at(const net_node_t *node, uint32_t index)
{
    SIM_ASSERT(index < node->port_count);
    net_port_t *const port = &node->ports[index];
    return SIM_LIKELY(net__port_made(port)) ? port : net__port_make(node->net, port);
}

net_port_t *net_port_peer(const net_port_t *port)
{
    net_port_t *const peer = port->peer;
    return SIM_LIKELY(net__port_made(peer)) ? peer : net__port_make(port->node->net, peer);
}

bool net_port_exists(const net_node_t *node, uint32_t index)
{
    return net__port_made(&node->ports[index]);
}

uint32_t net_link_of(const net_node_t *node, uint32_t index)
{
    const net_t *const net = node->net;
    const net_port_t *const port = &node->ports[index];
    return net->partial ? net->port_links[port - net->ports] : port->link;
}

uint32_t net_neighbour_number(const net_node_t *node, uint32_t index)
{
    const net_link_ends_t link = node->net->links[net_link_of(node, index)];
    return link.a == node->sim.index ? link.b : link.a;
}

net_node_t *net_neighbour(const net_node_t *node, uint32_t index)
{
    return net_node_at(node->net, net_neighbour_number(node, index));
}

uint32_t net_interface_link(const net_t *net, uint32_t interface)
{
    SIM_CHECK(interface < net->interface_count);
    const net_port_t *const port = net->interfaces[interface];
    return net->partial ? net->port_links[port - net->ports] : port->link;
}

uint32_t net_interface_node_number(const net_t *net, uint32_t interface)
{
    SIM_CHECK(interface < net->interface_count);
    const net_port_t *const port = net->interfaces[interface];
    if (!net->partial) {
        return port->node->sim.index;
    }
    const net_link_ends_t link = net->links[net_interface_link(net, interface)];
    return is_end_a(net, port) ? link.a : link.b;
}

net_node_t *net_interface_node(const net_t *net, uint32_t interface)
{
    return net_node_at(net, net_interface_node_number(net, interface));
}

void net_node_complete(net_node_t *node)
{
    net_t *const net = node->net;
    if (__atomic_load_n(&node->complete, __ATOMIC_ACQUIRE)) {
        return;
    }
    SIM_CHECK(net->built && net->partial && node->built != NULL);
    (void)pthread_mutex_lock(&net->making_nodes);
    if (!node->complete) {
        node->built(node);
        __atomic_store_n(&node->complete, true, __ATOMIC_RELEASE);
    }
    (void)pthread_mutex_unlock(&net->making_nodes);
}
