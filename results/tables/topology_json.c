// SPDX-License-Identifier: Apache-2.0
// results/tables/topology_json.c - topology.json, piece by piece: of a million hosts it has 0.8 GB.
#include "results/topology_json.h"
#include "net/ports.h"

#include <jansson.h>
#include <stdlib.h>

static void put_text(results_file_t *file, const char *text)
{
    bool plain = true;
    for (const char *p = text; *p != '\0' && plain; p++) {
        plain = *p >= ' ' && *p <= '~' && *p != '"' && *p != '\\';
    }
    if (plain) {
        results_file_put_char(file, '"');
        results_file_put(file, text);
        results_file_put_char(file, '"');
        return;
    }
    json_t *const json = json_string(text);
    char *const dumped = json_dumps(json, JSON_ENCODE_ANY);
    SIM_CHECK(dumped != NULL);
    results_file_put(file, dumped);
    free(dumped);
    json_decref(json);
}

// Begins the line of the index-th item of an array.
static void put_next(results_file_t *file, size_t index, const char *indent)
{
    results_file_put(file, index > 0 ? ",\n" : "\n");
    results_file_put(file, indent);
}

// Ends an array of `count` items.
static void put_end(results_file_t *file, size_t count, const char *indent)
{
    if (count > 0) {
        results_file_put_char(file, '\n');
        results_file_put(file, indent);
    }
    results_file_put_char(file, ']');
}

static void put_member(results_file_t *file, const char *name, const char *text)
{
    results_file_put(file, name);
    put_text(file, text);
}

static void put_node(results_file_t *file, const net_t *net, size_t node, net_port_labels_t *labels)
{
    const bool is_host = net_kind_of(net, node) == NET_NODE_HOST;
    const uint32_t ports = net_ports_of(net, node);
    put_member(file, "{\n   \"name\": ", net_node_name(net, node));
    put_member(file, ",\n   \"kind\": ", is_host ? "host" : "switch");
    results_file_put(file, ",\n   \"ports\": [");
    for (uint32_t p = 0; p < ports; p++) {
        put_next(file, p, "    ");
        put_text(file, net_port_label(labels, node, p));
    }
    put_end(file, ports, "   ");
    results_file_put(file, "\n  }");
}

static void put_link(results_file_t *file, const net_t *net, size_t index,
                     net_port_labels_t *labels)
{
    const net_link_ends_t link = net_link_ends(net, index);
    const net_link_config_t *const config = net_link_config(net, index);
    put_member(file, "{\n   \"a\": ", net_node_name(net, link.a));
    put_member(file, ",\n   \"b\": ", net_node_name(net, link.b));
    put_member(file, ",\n   \"a_port\": ", net_port_label(labels, link.a, link.a_port));
    put_member(file, ",\n   \"b_port\": ", net_port_label(labels, link.b, link.b_port));
    results_file_put(file, ",\n   \"rate_bps\": ");
    results_file_put_u64(file, config->rate_bps);
    if (net_link_backward_bps(config) != config->rate_bps) {
        results_file_put(file, ",\n   \"backward_bps\": ");
        results_file_put_u64(file, net_link_backward_bps(config));
    }
    results_file_put(file, ",\n   \"delay_ps\": ");
    results_file_put_u64(file, config->delay_ps);
    results_file_put(file, "\n  }");
}

void results_put_topology(results_file_t *file, const world_t *world)
{
    const size_t nodes = net_node_count(world->net);
    const size_t links = net_link_count(world->net);
    net_port_labels_t *const labels = net_port_labels_create(world->net);
    results_file_put(file, "{\n \"nodes\": [");
    for (size_t i = 0; i < nodes; i++) {
        put_next(file, i, "  ");
        put_node(file, world->net, i, labels);
    }
    put_end(file, nodes, " ");
    results_file_put(file, ",\n \"interfaces\": [");
    for (size_t i = 0; i < world->nic_count; i++) {
        put_next(file, i, "  ");
        put_text(file, world->nics[i].name);
    }
    put_end(file, world->nic_count, " ");
    results_file_put(file, ",\n \"links\": [");
    for (size_t i = 0; i < links; i++) {
        put_next(file, i, "  ");
        put_link(file, world->net, i, labels);
    }
    put_end(file, links, " ");
    results_file_put(file, "\n}\n");
    net_port_labels_destroy(labels);
}
