// SPDX-License-Identifier: Apache-2.0
// topologies/topology_file.c - the topology "file": builds the network that a file describes.

#include "net/nodes.h"
#include "net/route_choices.h"
#include "topologies/builder_internal.h"
#include "topologies/file_internal.h"
#include "topologies/file_readers.h"
#include "topologies/routes_file.h"

#define PREFIX "topology.file"

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(topo_file_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(STRING, "path", path, "", "name of the topology file; \"topology: {file: PATH}\" is short for it"),
    ATTR(ENUM, "format", format, "auto", "auto|hpcc|htsim", "format of the file; hpcc: HPCC's ns-3 simulator, ConWeave, SimAI; htsim: .topo; auto: by the first word"),
    ATTR(RATIO, "loss-rate", loss_rate, "0", "0", "1", "share of frames lost at random on links to which the file gives no loss"),
    ATTR(STRING, "routes", routes, "", "file of next hops for a topology of format hpcc, rows \"node host n next:interface...\"; routes that it does not name are searched"),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "simulation", topo_file_config_t, attrs);

// -- functions that the readers share

uint32_t topo__file_add_node(topo_file_t *file, const char *tier, uint32_t number,
                             net_node_kind_t kind)
{
    SIM_GROW(file->nodes, file->node_count, &file->node_capacity);
    file->nodes[file->node_count] =
        (topo_file_node_t){sim_format("%s%" PRIu32, tier, number), kind, number, false};
    return (uint32_t)file->node_count++;
}

void topo__file_add_link(topo_file_t *file, const topo_file_link_t *link)
{
    SIM_CHECK(link->a < file->node_count && link->b < file->node_count && link->a != link->b);
    SIM_CHECK(link->rate_bps > 0 && link->delay_ps >= 1);
    SIM_APPEND(file->links, file->link_count, file->link_capacity, *link);
}

// Returns the format that the first word outside comments indicates.
static topo_file_format_t detect(sim_words_t words)
{
    sim_word_t word;
    do {
        if (sim_words_next_in_line(&words, &word) && word.text[0] != '#') {
            return word.text[0] >= '0' && word.text[0] <= '9' ? TOPO_FILE_HPCC : TOPO_FILE_HTSIM;
        }
    } while (sim_words_next_line(&words));
    return TOPO_FILE_HPCC;
}

sim_err_t topo_file_parse(topo_file_format_t format, const char *name, const char *text,
                          size_t size_bytes, topo_note_fn note, void *ctx, topo_file_t **file,
                          sim_message_t *message)
{
    topo__file_reader_t reader = {
        .size_bytes = size_bytes,
        .file = sim_alloc(sizeof(*reader.file)),
        .note = note,
        .ctx = ctx,
        .message = message,
    };
    sim_words_init(&reader.words, name, text, size_bytes);
    if (format == TOPO_FILE_AUTO) {
        format = detect(reader.words);
    }
    const sim_err_t error =
        format == TOPO_FILE_HTSIM ? topo__file_read_htsim(&reader) : topo__file_read_hpcc(&reader);
    if (error != SIM_OK) {
        topo_file_destroy(reader.file);
        return error;
    }
    *file = reader.file;
    return SIM_OK;
}

void topo_file_destroy(topo_file_t *file)
{
    if (file == NULL) {
        return;
    }
    for (size_t i = 0; i < file->node_count; i++) {
        sim_free(file->nodes[i].name);
    }
    SIM_FREE_ALL(file->nodes, file->links, file);
}

// -- the longest path

// reach_t says how far a node is from the first host.
typedef struct reach {
    uint32_t links;
    sim_time_t delay_ps;
    bool reached;
} reach_t;

// Reaches the neighbours of the nodes that are `links` away. Returns whether there are any.
static bool reach_on(const topo_file_t *file, reach_t *reach, uint32_t links)
{
    bool any = false;
    for (size_t i = 0; i < file->link_count; i++) {
        const topo_file_link_t *const link = &file->links[i];
        const uint32_t ends[] = {link->a, link->b};
        for (uint32_t e = 0; e < 2; e++) {
            const reach_t *const from = &reach[ends[e]];
            reach_t *const to = &reach[ends[1 - e]];
            if (from->reached && from->links == links && !to->reached) {
                *to = (reach_t){links + 1, from->delay_ps + link->delay_ps, true};
                any = true;
            }
        }
    }
    return any;
}

topo_file_path_t topo_file_longest_path(const topo_file_t *file)
{
    topo_file_path_t path = {0};
    size_t first = 0;
    while (first < file->node_count && file->nodes[first].kind != NET_NODE_HOST) {
        first++;
    }
    if (first == file->node_count) {
        return path;
    }
    for (size_t i = file->link_count; i-- > 0;) {
        if (file->links[i].a == first || file->links[i].b == first) {
            path.host_bps = file->links[i].rate_bps;
        }
    }
    reach_t *const reach = sim_alloc_array(file->node_count, sizeof(*reach));
    reach[first].reached = true;
    for (uint32_t links = 0; reach_on(file, reach, links);) {
        links++;
    }
    for (size_t i = 0; i < file->node_count; i++) {
        if (file->nodes[i].kind == NET_NODE_HOST && reach[i].links > path.links) {
            path.links = reach[i].links;
            path.delay_ps = reach[i].delay_ps;
        }
    }
    sim_free(reach);
    return path.links > 0 ? path : (topo_file_path_t){0};
}

// -- building

// Builds the file's nodes and links. Nodes are made in the order of the file, so a node's index in
// the simulation is its number in an HPCC file, which switches may use to seed their hash.
static sim_err_t build_graph(const topo_file_t *file, const topo_file_config_t *config,
                             const topo_plan_t *plan, sim_message_t *message)
{
    topo_graph_t *const graph = topo_graph_create();
    sim_err_t error = SIM_OK;
    for (size_t i = 0; i < file->node_count && error == SIM_OK; i++) {
        const topo_file_node_t *const node = &file->nodes[i];
        error = topo_graph_node(graph, node->name, node->kind, message);
    }
    net_link_config_t link_config;
    sim_attrs_default(&net_link_config_attrs, &link_config);
    for (size_t i = 0; i < file->link_count && error == SIM_OK; i++) {
        const topo_file_link_t *const link = &file->links[i];
        link_config.rate_bps = link->rate_bps;
        link_config.delay_ps = link->delay_ps;
        link_config.loss_own = link->loss_rate.num > 0;
        link_config.loss_rate = link_config.loss_own ? link->loss_rate : config->loss_rate;
        error = topo_graph_link(graph, file->nodes[link->a].name, file->nodes[link->b].name,
                                &link_config, message);
    }
    const size_t first_node = net_node_count(plan->net);
    if (error == SIM_OK) {
        error = topo_graph_build(graph, plan, message);
    }
    for (size_t i = 0; i < file->node_count && error == SIM_OK && file->names_nvswitches; i++) {
        net_node_at(plan->net, first_node + i)->scale_up = file->nodes[i].nvswitch;
    }
    if (file->names_nvswitches) {
        net_know_scale_up(plan->net);
    }
    topo_graph_destroy(graph);
    return error;
}

// -- routes

static sim_err_t fix_routes(const topo_file_t *file, const char *name, const topo_plan_t *plan,
                            size_t first_node, sim_message_t *message)
{
    for (size_t i = 0; i < file->node_count; i++) {
        if (file->nodes[i].number != i) {
            return sim_fail_about(message, SIM_ERR_INVALID, "routes",
                                  ": nodes of this topology have no numbers of their own, expected "
                                  "a file of HPCC's format");
        }
    }
    char *text = NULL;
    size_t size_bytes = 0;
    sim_message_t reason = {.text = ""};
    sim_err_t error = plan->read_file(name, &text, &size_bytes, &reason, plan->ctx);
    if (error != SIM_OK) {
        return sim_fail_about(message, error, "routes", ": %.400s", reason.text);
    }
    topo_routes_t routes;
    error = topo_routes_parse(file, name, text, size_bytes, &routes, message);
    for (size_t i = 0; i < routes.count && error == SIM_OK; i++) {
        const topo_route_t *const row = &routes.rows[i];
        net_route_fix(plan->net, net_node_at(plan->net, first_node + row->node),
                      net_node_at(plan->net, first_node + row->host), routes.ports + row->first,
                      row->count);
    }
    topo_routes_fini(&routes);
    sim_free(text);
    return error;
}

static sim_err_t file_check(const void *config, sim_message_t *message)
{
    const topo_file_config_t *const file = config;
    return file->path[0] != '\0' ? SIM_OK
                                 : sim_fail_about(message, SIM_ERR_INVALID, "path",
                                                  ": none is given, expected the name of a file");
}

static sim_err_t file_build(const topo_plan_t *plan, const void *config, sim_message_t *message)
{
    const topo_file_config_t *const wanted = config;
    sim_err_t error = file_check(wanted, message);
    if (error != SIM_OK) {
        return error;
    }
    if (plan->read_file == NULL) {
        return sim_fail_about(message, SIM_ERR_STATE, "path",
                              ": this program reads no topology files");
    }
    char *text = NULL;
    size_t size_bytes = 0;
    sim_message_t reason = {.text = ""};
    error = plan->read_file(wanted->path, &text, &size_bytes, &reason, plan->ctx);
    if (error != SIM_OK) {
        return sim_fail_about(message, error, "path", ": %.400s", reason.text);
    }
    topo_file_t *file = NULL;
    error = topo_file_parse((topo_file_format_t)wanted->format, wanted->path, text, size_bytes,
                            plan->note, plan->ctx, &file, message);
    if (error == SIM_OK) {
        const size_t first_node = net_node_count(plan->net);
        error = build_graph(file, wanted, plan, message);
        if (error == SIM_OK && wanted->routes[0] != '\0') {
            error = fix_routes(file, wanted->routes, plan, first_node, message);
        }
        topo_file_destroy(file);
    }
    sim_free(text);
    return error;
}

const topo_ops_t topo_file = {"file",      "a file of HPCC's simulator, its forks, or htsim",
                              &attr_table, file_check,
                              file_build,  NULL};
