// SPDX-License-Identifier: Apache-2.0
// studio/server/network/links.c - the nodes and links of a network, and their file.
#include "studio/server/network/network.h"

#include "net/nodes.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define MAGIC "rocnet1" // with its 0: the first 8 bytes of a file

static uint32_t add_text(studio_network_t *network, const char *text)
{
    const size_t place = network->text_bytes;
    const size_t size = strlen(text) + 1;
    SIM_CHECK(place + size < UINT32_MAX);
    SIM_RESERVE(network->texts, place + size, &network->text_capacity);
    memcpy(network->texts + place, text, size);
    network->text_bytes += size;
    return (uint32_t)place;
}

static void add_node(studio_network_t *network, const char *name, bool is_host)
{
    SIM_APPEND(network->nodes, network->node_count, network->node_capacity,
               (studio_network_node_t){.name = add_text(network, name), .is_host = is_host});
}

static void add_link(studio_network_t *network, studio_network_link_t link, const char *a_port,
                     const char *b_port)
{
    link.a_port = add_text(network, a_port);
    link.b_port = add_text(network, b_port);
    SIM_APPEND(network->links, network->link_count, network->link_capacity, link);
}

void studio_network_of_net(const net_t *net, studio_network_t *network)
{
    *network = (studio_network_t){.nodes = NULL};
    for (size_t i = 0; i < net_node_count(net); i++) {
        add_node(network, net_node_name(net, i), net_kind_of(net, i) == NET_NODE_HOST);
    }
    for (size_t i = 0; i < net_link_count(net); i++) {
        const net_link_ends_t ends = net_link_ends(net, i);
        const net_link_config_t *const config = net_link_config(net, i);
        add_link(network,
                 (studio_network_link_t){.a = (uint32_t)ends.a,
                                         .b = (uint32_t)ends.b,
                                         .rate_bps = config->rate_bps,
                                         .delay_ps = config->delay_ps},
                 "", "");
    }
}

// -- topology.json

static const char *member(const json_t *object, const char *name)
{
    const char *const text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "";
}

// Finds a node. A link may name one of several NICs, "host0/nic1": it is the host's.
static bool find_node(const json_t *indices, const char *name, uint32_t *node)
{
    const json_t *index = json_object_get(indices, name);
    if (index == NULL) {
        char *const host = sim_format("%.*s", (int)strcspn(name, "/"), name);
        index = json_object_get(indices, host);
        sim_free(host);
    }
    *node = (uint32_t)json_integer_value(index);
    return index != NULL;
}

void studio_network_of_json(const json_t *topology, studio_network_t *network)
{
    *network = (studio_network_t){.nodes = NULL};
    json_t *const indices = json_object();
    size_t i = 0;
    const json_t *node = NULL;
    json_array_foreach(json_object_get(topology, "nodes"), i, node)
    {
        const char *const name = member(node, "name");
        add_node(network, name, strcmp(member(node, "kind"), "host") == 0);
        (void)json_object_set_new(indices, name, json_integer((json_int_t)i));
    }
    const json_t *link = NULL;
    json_array_foreach(json_object_get(topology, "links"), i, link)
    {
        studio_network_link_t added = {
            .rate_bps = (uint64_t)json_integer_value(json_object_get(link, "rate_bps")),
            .delay_ps = (uint64_t)json_integer_value(json_object_get(link, "delay_ps"))};
        if (find_node(indices, member(link, "a"), &added.a) &&
            find_node(indices, member(link, "b"), &added.b)) {
            add_link(network, added, member(link, "a_port"), member(link, "b_port"));
        }
    }
    json_decref(indices);
}

void studio_network_keep(studio_network_t *network, const json_t *ports)
{
    const char *const texts = network->texts;
    uint32_t *const number = sim_alloc_array(network->node_count + 1, sizeof(*number));
    size_t count = 0;
    for (size_t i = 0; i < network->link_count; i++) {
        const studio_network_link_t link = network->links[i];
        if (json_object_get(ports, texts + link.a_port) != NULL ||
            json_object_get(ports, texts + link.b_port) != NULL) {
            network->links[count++] = link;
            number[link.a] = number[link.b] = 1;
        }
    }
    network->link_count = count;
    count = 0;
    for (size_t i = 0; i < network->node_count; i++) {
        if (number[i] != 0) {
            network->nodes[count] = network->nodes[i];
            number[i] = (uint32_t)count++;
        }
    }
    network->node_count = count;
    for (size_t i = 0; i < network->link_count; i++) {
        network->links[i].a = number[network->links[i].a];
        network->links[i].b = number[network->links[i].b];
    }
    sim_free(number);
}

json_t *studio_network_json(const studio_network_t *network)
{
    const char *const texts = network->texts;
    json_t *const nodes = json_array();
    for (size_t i = 0; i < network->node_count; i++) {
        const studio_network_node_t node = network->nodes[i];
        (void)json_array_append_new(nodes, json_pack("{s:s, s:s}", "name", texts + node.name,
                                                     "kind", node.is_host ? "host" : "switch"));
    }
    json_t *const links = json_array();
    for (size_t i = 0; i < network->link_count; i++) {
        const studio_network_link_t *const link = &network->links[i];
        (void)json_array_append_new(
            links,
            json_pack("{s:s, s:s, s:s, s:s, s:I, s:I}", "a", texts + network->nodes[link->a].name,
                      "b", texts + network->nodes[link->b].name, "a_port", texts + link->a_port,
                      "b_port", texts + link->b_port, "rate_bps", (json_int_t)link->rate_bps,
                      "delay_ps", (json_int_t)link->delay_ps));
    }
    return json_pack("{s:o, s:o}", "nodes", nodes, "links", links);
}

// -- the file: the head, nodes, links and texts, as they lie in memory

typedef struct head {
    char magic[8];
    uint64_t node_count;
    uint64_t link_count;
    uint64_t text_bytes;
} head_t;

bool studio_network_save(const studio_network_t *network, const char *path)
{
    const head_t head = {.magic = MAGIC,
                         .node_count = network->node_count,
                         .link_count = network->link_count,
                         .text_bytes = network->text_bytes};
    const struct {
        const void *bytes;
        size_t size;
    } parts[] = {{&head, sizeof(head)},
                 {network->nodes, network->node_count * sizeof(*network->nodes)},
                 {network->links, network->link_count * sizeof(*network->links)},
                 {network->texts, network->text_bytes}};
    FILE *const file = fopen(path, "wb");
    bool good = file != NULL;
    for (size_t i = 0; i < SIM_COUNT_OF(parts) && good; i++) {
        good = parts[i].size == 0 || fwrite(parts[i].bytes, parts[i].size, 1, file) == 1;
    }
    return file != NULL && fclose(file) == 0 && good;
}

static bool is_sound(const studio_network_t *network)
{
    const size_t texts = network->text_bytes;
    bool good = texts == 0 || network->texts[texts - 1] == '\0';
    for (size_t i = 0; i < network->node_count && good; i++) {
        good = network->nodes[i].name < texts;
    }
    for (size_t i = 0; i < network->link_count && good; i++) {
        const studio_network_link_t *const link = &network->links[i];
        good = link->a < network->node_count && link->b < network->node_count &&
               link->a_port < texts && link->b_port < texts;
    }
    return good;
}

// Reads the next bytes of a file into new memory.
static bool read_part(FILE *file, void **memory, size_t count, size_t item_bytes)
{
    *memory = sim_alloc_array(SIM_MAX(count, 1), item_bytes);
    return fread(*memory, item_bytes, count, file) == count;
}

bool studio_network_open(const char *path, studio_network_t *network)
{
    *network = (studio_network_t){.nodes = NULL};
    head_t head = {.magic = ""};
    struct stat status;
    FILE *const file = fopen(path, "rb");
    bool good = file != NULL && fstat(fileno(file), &status) == 0 &&
                fread(&head, sizeof(head), 1, file) == 1 &&
                memcmp(head.magic, MAGIC, sizeof(head.magic)) == 0;
    const uint64_t limit = good ? (uint64_t)status.st_size : 0;
    good = good && head.node_count < limit && head.link_count < limit && head.text_bytes < limit;
    if (good) {
        network->node_count = (size_t)head.node_count;
        network->link_count = (size_t)head.link_count;
        network->text_bytes = (size_t)head.text_bytes;
        good = read_part(file, (void **)&network->nodes, network->node_count,
                         sizeof(*network->nodes)) &&
               read_part(file, (void **)&network->links, network->link_count,
                         sizeof(*network->links)) &&
               read_part(file, (void **)&network->texts, network->text_bytes, 1) &&
               is_sound(network);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    if (!good) {
        studio_network_fini(network);
    }
    return good;
}

void studio_network_fini(studio_network_t *network)
{
    SIM_FREE_ALL(network->nodes, network->links, network->texts);
    *network = (studio_network_t){.nodes = NULL};
}
