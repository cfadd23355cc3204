// SPDX-License-Identifier: Apache-2.0
// topologies/dot.c - writes a built network as a Graphviz drawing.
//
// Each tier is a rank, the highest on top. Many hosts with equal links to the same switches are
// drawn as one node; parallel links of one kind are drawn as one edge.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/nodes.h"
#include "net/ports.h"
#include "topologies/builder_internal.h"
#include "topologies/inspect.h"

typedef struct writer {
    void (*write)(const char *text, void *ctx);
    void *ctx;
} writer_t;

typedef struct edge {
    const net_node_t *upper;
    const net_node_t *lower;
    uint64_t rate_bps;
    sim_time_t delay_ps;
    uint64_t count;
} edge_t;

typedef struct drawing {
    const net_t *net;
    writer_t writer;
    uint32_t *tiers;
    const net_node_t **hosts; // sorted so that hosts with the same links are neighbours
    size_t host_count;
    uint64_t *group_sizes; // by sim.index: hosts that the node represents; 0: another one does
    const net_node_t **group_ends; // by sim.index: last host that the node represents
} drawing_t;

static void put(const drawing_t *drawing, const char *text)
{
    drawing->writer.write(text, drawing->writer.ctx);
}

static void put_count(const drawing_t *drawing, uint64_t count)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, count);
    put(drawing, text);
}

// Writes text inside a quoted string.
static void put_escaped(const drawing_t *drawing, const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        const char escaped[] = {'\\', *at, '\0'};
        put(drawing, *at == '"' || *at == '\\' ? escaped : escaped + 1);
    }
}

static void put_id(const drawing_t *drawing, const net_node_t *node)
{
    put(drawing, "\"");
    put_escaped(drawing, node->sim.name);
    put(drawing, "\"");
}

// -- groups of hosts with equal links

static int compare_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_links(const net_node_t *a, const net_node_t *b)
{
    int order = compare_u64(a->port_count, b->port_count);
    for (uint32_t i = 0; order == 0 && i < a->port_count; i++) {
        const net_port_t *const port_a = net_port_at(a, i);
        const net_port_t *const port_b = net_port_at(b, i);
        order = compare_u64(net_neighbour(a, i)->sim.index, net_neighbour(b, i)->sim.index);
        if (order == 0) {
            order = compare_u64(port_a->line->rate_bps, port_b->line->rate_bps);
        }
        if (order == 0) {
            order = compare_u64(port_a->line->delay_ps, port_b->line->delay_ps);
        }
    }
    return order;
}

static int compare_hosts(const void *left, const void *right)
{
    const net_node_t *const a = *(const net_node_t *const *)left;
    const net_node_t *const b = *(const net_node_t *const *)right;
    const int order = compare_links(a, b);
    return order != 0 ? order : compare_u64(a->sim.index, b->sim.index);
}

static void group_hosts(drawing_t *drawing, uint32_t hosts_max)
{
    for (size_t i = 0; i < net_node_count(drawing->net); i++) {
        const net_node_t *const node = net_node_at(drawing->net, i);
        drawing->group_sizes[node->sim.index] = 1;
        if (node->kind == NET_NODE_HOST) {
            drawing->hosts[drawing->host_count++] = node;
        }
    }
    qsort(drawing->hosts, drawing->host_count, sizeof(*drawing->hosts), compare_hosts);
    size_t end = 0;
    size_t grouped = 0;
    for (size_t first = 0; first < drawing->host_count; first = end) {
        const net_node_t *const stands = drawing->hosts[first];
        end = first + 1;
        while (end < drawing->host_count && compare_links(stands, drawing->hosts[end]) == 0) {
            end++;
        }
        grouped += end - first;
        if (end - first <= hosts_max) {
            continue;
        }
        for (size_t i = first + 1; i < end; i++) {
            drawing->group_sizes[drawing->hosts[i]->sim.index] = 0;
        }
        drawing->group_sizes[stands->sim.index] = end - first;
        drawing->group_ends[stands->sim.index] = drawing->hosts[end - 1];
    }
    SIM_CHECK(grouped == drawing->host_count); // every host is in one group
}

// -- nodes

static void put_node(const drawing_t *drawing, const net_node_t *node)
{
    const uint64_t size = drawing->group_sizes[node->sim.index];
    put(drawing, "        ");
    put_id(drawing, node);
    if (size > 1) {
        put(drawing, " [shape=box3d, label=\"");
        put_count(drawing, size);
        put(drawing, " hosts\\n");
        put_escaped(drawing, node->sim.name);
        put(drawing, " .. ");
        put_escaped(drawing, drawing->group_ends[node->sim.index]->sim.name);
        put(drawing, "\"]");
    } else if (node->kind == NET_NODE_HOST) {
        put(drawing, " [shape=ellipse]");
    }
    put(drawing, ";\n");
}

static void put_tier(const drawing_t *drawing, uint32_t tier)
{
    bool opened = false;
    for (size_t i = 0; i < net_node_count(drawing->net); i++) {
        const net_node_t *const node = net_node_at(drawing->net, i);
        if (drawing->tiers[node->sim.index] != tier || drawing->group_sizes[node->sim.index] == 0) {
            continue;
        }
        if (!opened) {
            put(drawing, "    {\n        rank=same;\n");
            opened = true;
        }
        put_node(drawing, node);
    }
    if (opened) {
        put(drawing, "    }\n");
    }
}

static void put_nodes(const drawing_t *drawing)
{
    uint32_t top = 0;
    for (size_t i = 0; i < sim_node_count(net_sim(drawing->net)); i++) {
        if (drawing->tiers[i] != TOPO__TIER_NONE && drawing->tiers[i] > top) {
            top = drawing->tiers[i];
        }
    }
    put_tier(drawing, TOPO__TIER_NONE);
    for (uint32_t tier = top + 1; tier-- > 0;) {
        put_tier(drawing, tier);
    }
}

// -- edges

static int compare_edges(const void *left, const void *right)
{
    const edge_t *const a = left;
    const edge_t *const b = right;
    int order = compare_u64(a->upper->sim.index, b->upper->sim.index);
    if (order == 0) {
        order = compare_u64(a->lower->sim.index, b->lower->sim.index);
    }
    if (order == 0) {
        order = compare_u64(a->rate_bps, b->rate_bps);
    }
    return order != 0 ? order : compare_u64(a->delay_ps, b->delay_ps);
}

static edge_t edge_of(const drawing_t *drawing, net_link_t link)
{
    const uint32_t tier_a = drawing->tiers[link.a->sim.index];
    const uint32_t tier_b = drawing->tiers[link.b->sim.index];
    const bool a_above = tier_a != tier_b ? tier_a > tier_b : link.a->sim.index < link.b->sim.index;
    const net_node_t *const upper = a_above ? link.a : link.b;
    const net_node_t *const lower = a_above ? link.b : link.a;
    // The links of a host that another one represents are counted at that one.
    const uint64_t size_upper = drawing->group_sizes[upper->sim.index];
    const uint64_t size_lower = drawing->group_sizes[lower->sim.index];
    const uint64_t size = SIM_MAX(size_upper, size_lower);
    return (edge_t){upper, lower, link.config->rate_bps, link.config->delay_ps,
                    size_upper == 0 || size_lower == 0 ? 0 : size};
}

static void put_edge(const drawing_t *drawing, const edge_t *edge)
{
    char *const rate = topo__rate_text(edge->rate_bps);
    char *const delay = topo__delay_text(edge->delay_ps);
    put(drawing, "    ");
    put_id(drawing, edge->upper);
    put(drawing, " -- ");
    put_id(drawing, edge->lower);
    put(drawing, " [label=\"");
    if (edge->count > 1) {
        put_count(drawing, edge->count);
        put(drawing, " x ");
    }
    put(drawing, rate);
    put(drawing, ", ");
    put(drawing, delay);
    put(drawing, "\"];\n");
    sim_free(rate);
    sim_free(delay);
}

static void put_edges(const drawing_t *drawing)
{
    const size_t link_count = net_link_count(drawing->net);
    edge_t *const edges = sim_alloc_array(link_count + 1, sizeof(*edges));
    size_t count = 0;
    for (size_t i = 0; i < link_count; i++) {
        const edge_t edge = edge_of(drawing, net_link_at(drawing->net, i));
        if (edge.count > 0) {
            edges[count++] = edge;
        }
    }
    qsort(edges, count, sizeof(*edges), compare_edges);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && compare_edges(&edges[i], &edges[i + 1]) == 0) {
            edges[i + 1].count += edges[i].count;
        } else {
            put_edge(drawing, &edges[i]);
        }
    }
    sim_free(edges);
}

void topo_write_dot_hosts(const net_t *net, uint32_t hosts_max,
                          void (*write)(const char *text, void *ctx), void *ctx)
{
    const size_t index_count = sim_node_count(net_sim(net));
    drawing_t drawing = {
        .net = net,
        .writer = {write, ctx},
        .tiers = topo__tiers(net),
        .hosts = sim_alloc_array(net_node_count(net) + 1, sizeof(net_node_t *)),
        .group_sizes = sim_alloc_array(index_count, sizeof(uint64_t)),
        .group_ends = sim_alloc_array(index_count, sizeof(net_node_t *)),
    };
    group_hosts(&drawing, hosts_max);
    put(&drawing, "graph network {\n");
    put(&drawing, "    graph [rankdir=TB, ranksep=1.5, fontname=\"sans-serif\"];\n");
    put(&drawing, "    node [shape=box, fontname=\"sans-serif\"];\n");
    put(&drawing, "    edge [fontname=\"sans-serif\", fontsize=9];\n");
    put_nodes(&drawing);
    put_edges(&drawing);
    put(&drawing, "}\n");
    SIM_FREE_ALL(drawing.group_ends, drawing.group_sizes, drawing.hosts, drawing.tiers);
}

void topo_write_dot(const net_t *net, void (*write)(const char *text, void *ctx), void *ctx)
{
    topo_write_dot_hosts(net, TOPO_DOT_HOSTS_MAX, write, ctx);
}
