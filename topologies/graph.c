// SPDX-License-Identifier: Apache-2.0
// topologies/graph.c - builds any graph, given node by node and link by link.
//
// Nodes and links keep the order in which they were added.
#include <string.h>

#include "kernel/map.h"
#include "topologies/builder_internal.h"

#define NAME_BYTES_MAX 63
// Characters with a meaning in patterns, port names and tables.
#define NAME_BYTES_RESERVED " ,;\"'\\[]{}*?#<>"

typedef struct graph_node {
    char *name;
    net_node_kind_t kind;
    uint64_t link_count;
} graph_node_t;

typedef struct graph_link {
    size_t a;
    size_t b;
    net_link_config_t config;
} graph_link_t;

struct topo_graph {
    graph_node_t *nodes;
    size_t node_count;
    size_t node_capacity;
    graph_link_t *links;
    size_t link_count;
    size_t link_capacity;
    sim_map_t map; // from the hash of a node's name to its index
};

topo_graph_t *topo_graph_create(void)
{
    topo_graph_t *const graph = sim_alloc(sizeof(*graph));
    return graph;
}

void topo_graph_destroy(topo_graph_t *graph)
{
    if (graph == NULL) {
        return;
    }
    for (size_t i = 0; i < graph->node_count; i++) {
        sim_free(graph->nodes[i].name);
    }
    for (size_t i = 0; i < graph->link_count; i++) {
        sim_attrs_fini(&net_link_config_attrs, &graph->links[i].config);
    }
    sim_free(graph->nodes);
    sim_free(graph->links);
    sim_map_fini(&graph->map);
    sim_free(graph);
}

// Returns the index of the node of a name; SIM_MAP_NONE: there is none.
static uint64_t index_of(const topo_graph_t *graph, const char *name)
{
    SIM_MAP_EACH (index, &graph->map, sim_map_hash(name, strlen(name))) {
        if (strcmp(graph->nodes[index].name, name) == 0) {
            return index;
        }
    }
    return SIM_MAP_NONE;
}

static sim_err_t check_name(const char *name, sim_message_t *message)
{
    const size_t length = strlen(name);
    if (length == 0 || length > NAME_BYTES_MAX) {
        return sim_fail(message, SIM_ERR_INVALID,
                        "node name \"%.80s\" has %zu characters: expected 1 to %d", name, length,
                        NAME_BYTES_MAX);
    }
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)name[i];
        if (byte < 0x21 || byte > 0x7e || strchr(NAME_BYTES_RESERVED, byte) != NULL) {
            return sim_fail(message, SIM_ERR_INVALID,
                            "node name \"%s\" has a character that names cannot have (number "
                            "%zu): expected letters, digits and -_./:",
                            name, i + 1);
        }
    }
    return SIM_OK;
}

sim_err_t topo_graph_node(topo_graph_t *graph, const char *name, net_node_kind_t kind,
                          sim_message_t *message)
{
    const sim_err_t error = check_name(name, message);
    if (error != SIM_OK) {
        return error;
    }
    if (index_of(graph, name) != SIM_MAP_NONE) {
        return sim_fail(message, SIM_ERR_EXISTS, "a node named \"%s\" exists already", name);
    }
    sim_map_add(&graph->map, sim_map_hash(name, strlen(name)), graph->node_count);
    SIM_APPEND(graph->nodes, graph->node_count, graph->node_capacity,
               (graph_node_t){sim_strdup(name), kind, 0});
    return SIM_OK;
}

static sim_err_t find_node(const topo_graph_t *graph, const char *name, size_t *index,
                           sim_message_t *message)
{
    const uint64_t found = index_of(graph, name);
    if (found != SIM_MAP_NONE) {
        *index = (size_t)found;
        return SIM_OK;
    }
    if (graph->node_count == 0) {
        return sim_fail(message, SIM_ERR_UNKNOWN,
                        "no node is named \"%.80s\": the graph has no nodes yet", name);
    }
    const char **const names = sim_alloc_array(graph->node_count, sizeof(*names));
    for (size_t i = 0; i < graph->node_count; i++) {
        names[i] = graph->nodes[i].name;
    }
    const char *const nearest = sim_nearest_name(name, names, graph->node_count);
    sim_free(names);
    if (nearest == NULL) {
        return sim_fail(message, SIM_ERR_UNKNOWN, "no node is named \"%.80s\"", name);
    }
    return sim_fail(message, SIM_ERR_UNKNOWN, "no node is named \"%.80s\"; did you mean \"%s\"?",
                    name, nearest);
}

sim_err_t topo_graph_link(topo_graph_t *graph, const char *a, const char *b,
                          const net_link_config_t *config, sim_message_t *message)
{
    size_t ends[2] = {0, 0};
    sim_err_t error = find_node(graph, a, &ends[0], message);
    if (error == SIM_OK) {
        error = find_node(graph, b, &ends[1], message);
    }
    if (error != SIM_OK) {
        return error;
    }
    if (ends[0] == ends[1]) {
        return sim_fail(message, SIM_ERR_INVALID,
                        "a link from \"%s\" to itself: expected two different nodes", a);
    }
    for (size_t i = 0; i < 2; i++) {
        if (graph->nodes[ends[i]].link_count == SIM_PORTS_PER_NODE_MAX) {
            return sim_fail(message, SIM_ERR_RANGE,
                            "node \"%s\" has %u links already: expected no more",
                            graph->nodes[ends[i]].name, SIM_PORTS_PER_NODE_MAX);
        }
    }
    SIM_GROW(graph->links, graph->link_count, &graph->link_capacity);
    graph_link_t *const link = &graph->links[graph->link_count++];
    link->a = ends[0];
    link->b = ends[1];
    sim_attrs_copy(&net_link_config_attrs, &link->config, config);
    graph->nodes[ends[0]].link_count++;
    graph->nodes[ends[1]].link_count++;
    return SIM_OK;
}

static sim_err_t check_graph(const topo_graph_t *graph, sim_message_t *message)
{
    uint64_t interfaces = 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        const graph_node_t *const node = &graph->nodes[i];
        if (node->kind != NET_NODE_HOST) {
            continue;
        }
        if (node->link_count == 0) {
            return sim_fail(message, SIM_ERR_INVALID,
                            "host \"%s\" has no link, expected hosts that are joined by links",
                            node->name);
        }
        interfaces += node->link_count;
    }
    if (interfaces == 0) {
        return sim_fail(message, SIM_ERR_INVALID, "the graph has no host: expected at least one");
    }
    return topo__check_interfaces("nodes", graph->node_count, interfaces, message);
}

static topo_size_t size_of(const topo_graph_t *graph)
{
    topo_size_t size = {.links = graph->link_count};
    for (size_t i = 0; i < graph->node_count; i++) {
        size.hosts += graph->nodes[i].kind == NET_NODE_HOST;
    }
    size.switches = graph->node_count - size.hosts;
    return size;
}

sim_err_t topo_graph_build(const topo_graph_t *graph, const topo_plan_t *plan,
                           sim_message_t *message)
{
    sim_err_t error = check_graph(graph, message);
    if (error == SIM_OK && plan->fits != NULL) {
        const topo_size_t size = size_of(graph);
        error = plan->fits(&size, message, plan->ctx);
    }
    if (error != SIM_OK) {
        return error;
    }
    net_node_t **const nodes = sim_alloc_array(graph->node_count, sizeof(net_node_t *));
    for (size_t i = 0; i < graph->node_count; i++) {
        const char *const name = graph->nodes[i].name;
        if (graph->nodes[i].kind == NET_NODE_HOST) {
            nodes[i] = nic_host_create(plan->net, name, plan->nic_config(name, plan->ctx));
        } else {
            nodes[i] = topo__named_switch(plan, name);
        }
    }
    for (size_t i = 0; i < graph->link_count; i++) {
        const graph_link_t *const link = &graph->links[i];
        SIM_CHECK(link->a < graph->node_count && link->b < graph->node_count);
        net_link_config_t config;
        sim_attrs_copy(&net_link_config_attrs, &config, &link->config);
        if (plan->link_config != NULL) {
            plan->link_config(nodes[link->a], nodes[link->b], &config, plan->ctx);
        }
        net_link_add(plan->net, nodes[link->a], nodes[link->b], &config);
        sim_attrs_fini(&net_link_config_attrs, &config);
    }
    sim_free(nodes);
    return SIM_OK;
}
