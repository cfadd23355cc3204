// SPDX-License-Identifier: Apache-2.0
// topologies/lint.c - finds oddities of a built network.
//
// Two interfaces reach each other if their switches are in one component of the graph of links
// between switches (hosts do not forward). So the cost depends on links and not on pairs.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/ranks.h"
#include "net/nodes.h"
#include "net/ports.h"
#include "topologies/builder_internal.h"
#include "topologies/fabrics/circles.h"
#include "topologies/inspect.h"

#define EXAMPLES_MAX 4

typedef struct lint {
    const net_t *net;
    topo_finding_fn fn;
    void *ctx;
} lint_t;

static void SIM_PRINTF(3, 4)
    report(const lint_t *lint, topo_severity_t severity, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    lint->fn(severity, text, lint->ctx);
}

// -- names of the first findings of a kind, and their count

typedef struct examples {
    char text[256];
    uint64_t count;
} examples_t;

static void examples_add(examples_t *examples, const char *name)
{
    if (examples->count < EXAMPLES_MAX) {
        const size_t length = strlen(examples->text);
        snprintf(examples->text + length, sizeof(examples->text) - length, "%s%.48s",
                 examples->count == 0 ? "" : ", ", name);
    } else if (examples->count == EXAMPLES_MAX) {
        const size_t length = strlen(examples->text);
        snprintf(examples->text + length, sizeof(examples->text) - length, "...");
    }
    examples->count++;
}

static void lint_unconnected(const lint_t *lint)
{
    examples_t examples = {"", 0};
    for (size_t i = 0; i < net_node_count(lint->net); i++) {
        if (net_ports_of(lint->net, i) == 0) {
            examples_add(&examples, net_node_name(lint->net, i));
        }
    }
    if (examples.count > 0) {
        report(lint, TOPO_WARNING, "%" PRIu64 " node%s without a link: %s", examples.count,
               examples.count == 1 ? "" : "s", examples.text);
    }
}

// -- parallel links

// A link from a node to one with a higher sim.index.
typedef struct ends {
    uint32_t high; // sim.index of the other node
    uint32_t link;
    uint64_t rate_bps;
} ends_t;

static int compare_ends(const void *left, const void *right)
{
    const ends_t *const a = left;
    const ends_t *const b = right;
    return 2 * SIM_COMPARE(a->high, b->high) + SIM_COMPARE(a->link, b->link);
}

static void report_parallel(const lint_t *lint, const ends_t *first, const ends_t *other)
{
    const net_link_t link = net_link_at(lint->net, first->link);
    char *const rate = topo__rate_text(first->rate_bps);
    char *const rate_other = topo__rate_text(other->rate_bps);
    report(lint, TOPO_WARNING,
           "parallel links of different rates between %s and %s: %s and %s; ECMP gives both the "
           "same share",
           link.a->sim.name, link.b->sim.name, rate, rate_other);
    sim_free(rate);
    sim_free(rate_other);
}

// Looks at the links of one node, so that a large network needs no list of all its links.
static void lint_parallel_of(const lint_t *lint, const net_node_t *node, ends_t *all)
{
    size_t count = 0;
    for (uint32_t p = 0; p < node->port_count; p++) {
        const net_port_t *const port = net_port_at(node, p);
        if (net_neighbour(port->node, port->index)->sim.index > node->sim.index) {
            const net_link_t link = net_link_at(lint->net, port->link);
            all[count++] = (ends_t){net_neighbour(port->node, port->index)->sim.index, port->link,
                                    link.config->rate_bps};
        }
    }
    qsort(all, count, sizeof(*all), compare_ends);
    size_t first = 0; // first of the links between one pair of nodes
    bool reported = false;
    for (size_t i = 1; i < count; i++) {
        if (all[i].high != all[first].high) {
            first = i;
            reported = false;
        } else if (all[i].rate_bps != all[first].rate_bps && !reported) {
            report_parallel(lint, &all[first], &all[i]);
            reported = true;
        }
    }
}

static void lint_parallel(const lint_t *lint)
{
    ends_t *const all = sim_alloc_array(SIM_PORTS_PER_NODE_MAX + 1, sizeof(*all));
    for (size_t i = 0; i < net_node_count(lint->net); i++) {
        lint_parallel_of(lint, net_node_at(lint->net, i), all);
    }
    sim_free(all);
}

// -- reachability

typedef struct component {
    uint64_t interfaces;
    uint32_t parent; // sim.index; a root is its own parent
} component_t;

static uint32_t find_root(component_t *components, uint32_t index)
{
    while (components[index].parent != index) {
        components[index].parent = components[components[index].parent].parent;
        index = components[index].parent;
    }
    return index;
}

// Returns the component that an interface sends into: that of its switch, or, for a host linked to
// a host, a component of these two interfaces, numbered above all switches.
static uint64_t component_of(component_t *components, const net_port_t *port)
{
    const net_node_t *const peer = net_neighbour(port->node, port->index);
    if (peer->kind != NET_NODE_HOST) {
        return find_root(components, peer->sim.index);
    }
    return ((uint64_t)1 << 32) + port->link;
}

// Returns the plane of a host's port: that of the interfaces that it is meant to reach.
static uint32_t plane_of(const net_port_t *port)
{
    const net_node_t *const node = port->node;
    return node->planes <= 1 || port->index >= node->port_count / node->planes * node->planes
               ? 0
               : (uint32_t)(port->index % node->planes);
}

static component_t *make_components(const net_t *net)
{
    const size_t count = sim_node_count(net_sim(net));
    component_t *const components = sim_alloc_array(count, sizeof(*components));
    for (size_t i = 0; i < count; i++) {
        components[i].parent = (uint32_t)i;
    }
    for (size_t i = 0; i < net_link_count(net); i++) {
        const net_link_ends_t link = net_link_ends(net, i);
        if (net_kind_of(net, link.a) != NET_NODE_HOST &&
            net_kind_of(net, link.b) != NET_NODE_HOST) {
            const uint32_t a = find_root(components, link.a);
            const uint32_t b = find_root(components, link.b);
            components[SIM_MAX(b, a)].parent = SIM_MIN(a, b);
        }
    }
    return components;
}

// The pairs of interfaces of one plane: of different hosts, and those that reach each other.
typedef struct reach {
    uint64_t interfaces;
    uint64_t pairs;
    uint64_t reachable;
} reach_t;

// Adds the ordered pairs of interfaces of one host: all, and those in one component.
static void count_own_pairs(component_t *components, const net_node_t *host, uint32_t plane,
                            uint64_t *all, uint64_t *reachable)
{
    for (uint32_t i = 0; i < host->port_count; i++) {
        const bool is_in = plane_of(net_port_at(host, i)) == plane;
        for (uint32_t j = 0; is_in && j < host->port_count; j++) {
            if (plane_of(net_port_at(host, j)) == plane) {
                *all += 1;
                *reachable += component_of(components, net_port_at(host, i)) ==
                              component_of(components, net_port_at(host, j));
            }
        }
    }
}

static reach_t count_pairs(const net_t *net, component_t *components, uint32_t plane)
{
    reach_t reach = {0, 0, 0};
    uint64_t reachable = 0; // ordered pairs, including those of one host
    for (size_t i = 0; i < sim_node_count(net_sim(net)); i++) {
        components[i].interfaces = 0;
    }
    for (uint32_t i = 0; i < net_interface_count(net); i++) {
        const net_port_t *const port = net_interface_port(net, i);
        const net_node_t *const peer = net_neighbour(port->node, port->index);
        if (plane_of(port) != plane) {
            continue;
        }
        reach.interfaces++;
        if (peer->kind != NET_NODE_HOST) {
            components[find_root(components, peer->sim.index)].interfaces++;
        } else {
            reachable += 2; // the interface and the other end
        }
    }
    for (size_t i = 0; i < sim_node_count(net_sim(net)); i++) {
        reachable += components[i].interfaces * components[i].interfaces;
    }
    uint64_t own = 0;
    uint64_t own_reachable = 0;
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = net_node_at(net, i);
        if (node->kind == NET_NODE_HOST) {
            count_own_pairs(components, node, plane, &own, &own_reachable);
        }
    }
    reach.pairs = (reach.interfaces * reach.interfaces - own) / 2;
    SIM_CHECK(own_reachable <= reachable);
    reach.reachable = (reachable - own_reachable) / 2;
    SIM_CHECK(reach.reachable <= reach.pairs);
    return reach;
}

// Finds the first pair of a plane that cannot reach each other. If every interface of the first
// host reaches all other hosts' interfaces, the plane is one component, so only these pairs are
// tried.
static bool find_unreachable(const net_t *net, component_t *components, uint32_t plane,
                             uint32_t *from, uint32_t *to)
{
    const net_node_t *const first = net_interface_port(net, 0)->node;
    for (uint32_t i = 0; i < first->port_count; i++) {
        const uint64_t component = component_of(components, net_port_at(first, i));
        for (uint32_t j = 0;
             plane_of(net_port_at(first, i)) == plane && j < net_interface_count(net); j++) {
            const net_port_t *const port = net_interface_port(net, j);
            if (port->node != first && plane_of(port) == plane &&
                component_of(components, port) != component) {
                *from = net_port_interface(net_port_at(first, i));
                *to = j;
                return true;
            }
        }
    }
    return false;
}

// Interfaces of different planes of NICs are not meant to reach each other.
static void lint_reachability(const lint_t *lint)
{
    const net_t *const net = lint->net;
    component_t *const components = make_components(net);
    uint32_t planes = 1;
    for (size_t i = 0; i < net_node_count(net); i++) {
        planes = net_planes_of(net, i) > planes ? net_planes_of(net, i) : planes;
    }
    uint64_t pairs = 0;
    uint64_t lost = 0;
    uint32_t from = 0;
    uint32_t to = 0;
    for (uint32_t plane = 0; plane < planes; plane++) {
        const reach_t reach = count_pairs(net, components, plane);
        pairs += reach.pairs;
        if (reach.reachable < reach.pairs && lost == 0) {
            (void)find_unreachable(net, components, plane, &from, &to);
        }
        lost += reach.pairs - reach.reachable;
    }
    if (lost > 0) {
        report(lint, TOPO_WARNING,
               "%" PRIu64 " of %" PRIu64
               " pairs of interfaces cannot reach each other, for example "
               "%s and %s",
               lost, pairs, net_port_name(net_interface_port(net, from)),
               net_port_name(net_interface_port(net, to)));
    }
    sim_free(components);
}

// -- buffers and capacity

static void lint_buffers(const lint_t *lint)
{
    examples_t examples = {"", 0};
    sim_message_t first = {.text = ""};
    for (size_t i = 0; i < net_node_count(lint->net); i++) {
        const net_node_t *const node = net_node_look(lint->net, i);
        sim_message_t message = {.text = ""};
        if (node != NULL && node->kind == NET_NODE_SWITCH && node->port_count > 0 &&
            sim_node_is_here(&node->sim) && net_switch_check(node, &message) != SIM_OK) {
            if (examples.count == 0) {
                first = message;
            }
            examples_add(&examples, node->sim.name);
        }
    }
    if (examples.count > 0) {
        report(lint, TOPO_ERROR,
               "%" PRIu64 " switch%s whose buffer cannot hold the headroom of the lossless classes "
               "(%s): %s",
               examples.count, examples.count == 1 ? "" : "es", examples.text, first.text);
    }
}

typedef struct capacity {
    uint64_t down_bps; // of links to lower tiers
    uint64_t up_bps;   // of links to higher tiers; without any: of those to its own tier
} capacity_t;

static capacity_t capacity_of(const net_node_t *node, const uint32_t *tiers)
{
    capacity_t capacity = {0, 0};
    uint64_t sideways_bps = 0;
    for (uint32_t i = 0; i < node->port_count; i++) {
        const net_port_t *const port = net_port_at(node, i);
        const uint32_t peer_tier = tiers[net_neighbour(port->node, port->index)->sim.index];
        const uint32_t tier = tiers[node->sim.index];
        if (peer_tier < tier) {
            capacity.down_bps += port->line->rate_bps;
        } else if (peer_tier > tier) {
            capacity.up_bps += port->line->rate_bps;
        } else {
            sideways_bps += port->line->rate_bps;
        }
    }
    if (capacity.up_bps == 0) {
        capacity.up_bps = sideways_bps;
    }
    return capacity;
}

static bool oversubscribed(capacity_t capacity)
{
    return capacity.up_bps > 0 && capacity.down_bps > capacity.up_bps;
}

static double oversubscription(capacity_t capacity)
{
    return (double)capacity.down_bps / (double)capacity.up_bps;
}

static void lint_tier(const lint_t *lint, const uint32_t *tiers, uint32_t tier)
{
    examples_t examples = {"", 0};
    uint64_t switches = 0;
    const net_node_t *worst = NULL;
    capacity_t worst_capacity = {0, 0};
    for (size_t i = 0; i < net_node_count(lint->net); i++) {
        if (tiers[i] != tier) {
            continue;
        }
        const net_node_t *const node = net_node_at(lint->net, i);
        switches++;
        const capacity_t capacity = capacity_of(node, tiers);
        if (!oversubscribed(capacity)) {
            continue;
        }
        examples_add(&examples, node->sim.name);
        if (worst == NULL || oversubscription(capacity) > oversubscription(worst_capacity)) {
            worst = node;
            worst_capacity = capacity;
        }
    }
    if (worst == NULL) {
        return;
    }
    char *const down = topo__rate_text(worst_capacity.down_bps);
    char *const up = topo__rate_text(worst_capacity.up_bps);
    report(lint, TOPO_NOTE,
           "tier %u: %" PRIu64 " of %" PRIu64
           " switches over-subscribed (%s), at most %.2f:1 at %s: "
           "%s down, %s up",
           tier, examples.count, switches, examples.text, oversubscription(worst_capacity),
           worst->sim.name, down, up);
    sim_free(down);
    sim_free(up);
}

static void lint_capacity(const lint_t *lint)
{
    uint32_t *const tiers = topo__tiers(lint->net);
    uint32_t top = 0;
    for (size_t i = 0; i < sim_node_count(net_sim(lint->net)); i++) {
        if (tiers[i] != TOPO__TIER_NONE && tiers[i] > top) {
            top = tiers[i];
        }
    }
    for (uint32_t tier = 1; tier <= top; tier++) {
        lint_tier(lint, tiers, tier);
    }
    sim_free(tiers);
}

void topo_lint_channels(const net_t *net, topo_finding_fn fn, void *ctx)
{
    const lint_t lint = {net, fn, ctx};
    uint64_t channels = 0;
    const uint32_t switches = topo__path_switches(net, &channels);
    if (switches > channels && switches > NET_VIRTUAL_CHANNELS_MAX) {
        report(&lint, TOPO_WARNING,
               "paths have up to %u switches, and packets are dropped after %" PRIu64
               ": expected a load balancer or a network with shorter paths; "
               "switch.virtual-channels is at most %u",
               switches, channels, NET_VIRTUAL_CHANNELS_MAX);
    } else if (switches > channels) {
        report(&lint, TOPO_WARNING,
               "paths have up to %u switches, and packets are dropped after %" PRIu64
               ": expected switch.virtual-channels of at least %u",
               switches, channels, switches);
    }
}

static void lint_circles(const lint_t *lint)
{
    char *const circle = topo__find_circle(lint->net);
    if (circle != NULL) {
        report(
            lint, TOPO_WARNING,
            "PFC can deadlock: packets that pause each other can form the circle %s; expected "
            "routes without a circle, switch.mmu: virtual-channels, or switch.pfc.enabled: false",
            circle);
    }
    sim_free(circle);
}

void topo_lint(const net_t *net, topo_finding_fn fn, void *ctx)
{
    const lint_t lint = {net, fn, ctx};
    if (sim_is_seated(net_sim(net))) {
        lint_buffers(&lint);
        return;
    }
    lint_unconnected(&lint);
    lint_parallel(&lint);
    lint_reachability(&lint);
    lint_buffers(&lint);
    lint_capacity(&lint);
    topo_lint_channels(net, fn, ctx);
    lint_circles(&lint);
}
