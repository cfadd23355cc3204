// SPDX-License-Identifier: Apache-2.0
// net/absent_hosts.c - hosts of other ranks, which take no memory until somebody asks for them.
//
// When a network is divided among ranks, each rank destroys the hosts that other ranks run. A few
// bytes remain: the name, the number of ports, and a host that it was like. From these the host is
// made again, without NICs or events, when somebody asks for it.
#include "net/absent_hosts.h"
#include "net/faults.h"
#include "net/fixed_routes_internal.h"
#include "net/network_internal.h"
#include "net/ranks.h"
#include "net/scale_up.h"

#include <string.h>

void net_set_again(net_t *net, const net_again_t *ops)
{
    SIM_CHECK(net->again == NULL || net->again == ops);
    net->again = ops;
}

// -- letting go

// Marks the hosts to which somebody may keep a pointer: those with faults, fixed routes or
// accelerators.
static bool *mark_kept(const net_t *net)
{
    bool *const kept = sim_alloc_array(net->node_count + 1, sizeof(*kept));
    for (size_t i = 0; i < net->fault_count; i++) {
        kept[net->links[net->faults[i].link].a] = true;
        kept[net->links[net->faults[i].link].b] = true;
    }
    for (size_t i = 0; i < net->fixed_count; i++) {
        kept[net->fixed[i].host->sim.index] = true;
    }
    for (size_t i = 0; i < net->node_count; i++) {
        kept[i] = kept[i] || net->nodes[i]->accelerators != NULL;
    }
    return kept;
}

// Appends a name to the text of all names. Returns its place.
static uint32_t keep_name(net_t *net, size_t *size, size_t *capacity, const char *name)
{
    const size_t bytes = strlen(name) + 1;
    const size_t place = *size;
    if (place + bytes > *capacity) {
        *capacity = 2 * (place + bytes);
        net->gone_names = sim_realloc_array(net->gone_names, *capacity, 1);
    }
    memcpy(net->gone_names + place, name, bytes);
    *size += bytes;
    return (uint32_t)place;
}

static bool may_go(const net_t *net, const net_node_t *node, const bool *kept)
{
    return node->sim.ops == net->again->ops && node->port_count > 0 &&
           !sim_node_is_here(&node->sim) && !kept[node->sim.index];
}

void net_let_go(net_t *net)
{
    SIM_CHECK(!net->built && net->gone == NULL && sim_is_seated(net->sim));
    if (net->again == NULL) {
        return;
    }
    bool *const kept = mark_kept(net);
    net_node_t *like = NULL;
    size_t size = 0;
    size_t capacity = 0;
    net->gone = sim_alloc_array(net->node_count + 1, sizeof(*net->gone));
    for (size_t i = 0; i < net->node_count; i++) {
        net_node_t *const node = net->nodes[i];
        if (!may_go(net, node, kept)) {
            continue;
        }
        if (like == NULL || like->planes != node->planes || !net->again->alike(like, node) ||
            size > UINT32_MAX / 2) {
            like = node; // it stays
            continue;
        }
        net->gone[i] = (net_gone_t){.like = 1 + like->sim.index,
                                    .name = keep_name(net, &size, &capacity, node->sim.name),
                                    .port_count = (uint16_t)node->port_count,
                                    .planes = (uint8_t)node->planes};
        net->nodes[i] = NULL;
        sim_node_vacate(&node->sim);
    }
    if (size > 0) {
        net->gone_names = sim_realloc_array(net->gone_names, size, 1);
    }
    sim_free(kept);
    sim_return_freed();
    (void)pthread_mutex_init(&net->making_hosts, NULL);
}

void net__gone_free(net_t *net)
{
    if (net->gone != NULL) {
        (void)pthread_mutex_destroy(&net->making_hosts);
    }
    sim_free(net->gone);
    sim_free(net->gone_names);
}

// -- making again

// Fills in a host but for what the simulation knows of it.
static void fill(net_t *net, size_t index, net_node_t *node)
{
    const net_gone_t *const gone = &net->gone[index];
    net__node_fill(net, node, NET_NODE_HOST, net->again->built);
    node->port_count = gone->port_count;
    node->planes = gone->planes;
    node->ports = net->ports == NULL ? NULL : net__port_of(net, (uint32_t)index, 0);
}

static net_node_t *make(net_t *net, size_t index)
{
    const net_gone_t *const gone = &net->gone[index];
    net_node_t *const node = net->again->make(net->nodes[gone->like - 1]);
    sim_node_return(net->sim, &node->sim, net->again->ops, net->gone_names + gone->name, index);
    fill(net, index, node);
    return node;
}

// The node is published when it is whole, because several threads may ask first.
static net_node_t *make_once(net_t *net, size_t index)
{
    (void)pthread_mutex_lock(&net->making_hosts);
    net_node_t *node = net->nodes[index];
    if (node == NULL) {
        node = make(net, index);
        __atomic_store_n(&net->nodes[index], node, __ATOMIC_RELEASE);
    }
    (void)pthread_mutex_unlock(&net->making_hosts);
    return node;
}

net_node_t *net_node_look(const net_t *net, size_t index)
{
    SIM_CHECK(index < net->node_count);
    return __atomic_load_n(&net->nodes[index], __ATOMIC_ACQUIRE);
}

net_node_t *net_node_at(const net_t *net, size_t index)
{
    net_node_t *const node = net_node_look(net, index);
    return SIM_LIKELY(node != NULL) ? node : make_once((net_t *)(uintptr_t)net, index);
}

// -- answering without making

const net_node_t *net_node_view(const net_t *net, size_t index, net_node_t *gone)
{
    const net_node_t *const node = net_node_look(net, index);
    if (node != NULL) {
        return node;
    }
    *gone = (net_node_t){.sim = {.sim = net->sim,
                                 .name = net->gone_names + net->gone[index].name,
                                 .index = (uint32_t)index}};
    fill((net_t *)(uintptr_t)net, index, gone);
    return gone;
}

static const net_gone_t *gone_of(const net_t *net, size_t index)
{
    return net->gone != NULL && net->gone[index].like != 0 ? &net->gone[index] : NULL;
}

const char *net_node_name(const net_t *net, size_t index)
{
    SIM_CHECK(index < net->node_count);
    const net_gone_t *const gone = gone_of(net, index);
    return gone != NULL ? net->gone_names + gone->name : net->nodes[index]->sim.name;
}

net_node_kind_t net_kind_of(const net_t *net, size_t index)
{
    SIM_CHECK(index < net->node_count);
    return gone_of(net, index) != NULL ? NET_NODE_HOST : net->nodes[index]->kind;
}

net_node_counts_t net_count_nodes(const net_t *net)
{
    net_node_counts_t counts = {0};
    for (size_t i = 0; i < net->node_count; i++) {
        const net_node_t *const node = net_node_look(net, i);
        counts.hosts += net_kind_of(net, i) == NET_NODE_HOST;
        counts.accelerators += node != NULL ? net_accelerator_count(node) : 0;
    }
    counts.switches = net->node_count - counts.hosts - counts.accelerators;
    return counts;
}

uint32_t net_ports_of(const net_t *net, size_t index)
{
    SIM_CHECK(index < net->node_count);
    const net_gone_t *const gone = gone_of(net, index);
    return gone != NULL ? gone->port_count : net->nodes[index]->port_count;
}

uint32_t net_planes_of(const net_t *net, size_t index)
{
    SIM_CHECK(index < net->node_count);
    const net_gone_t *const gone = gone_of(net, index);
    return gone != NULL ? gone->planes : net->nodes[index]->planes;
}

const net_node_t *net_node_like(const net_t *net, size_t index)
{
    SIM_CHECK(index < net->node_count);
    const net_gone_t *const gone = gone_of(net, index);
    return gone != NULL ? net->nodes[gone->like - 1] : net->nodes[index];
}
