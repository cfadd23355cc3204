// SPDX-License-Identifier: Apache-2.0
// topologies/routes_file.c - reads files of next hops and checks each word against the links.
#include "topologies/routes_file.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/words.h"

typedef struct reader {
    sim_words_t words;
    const topo_file_t *topology;
    topo_routes_t *routes;
    sim_message_t *message;
    // Neighbours of node i in the order of its links: peers[first[i]] .. peers[first[i + 1] - 1].
    uint32_t *peers;
    size_t *first;
} reader_t;

static void list_peers(reader_t *reader)
{
    const topo_file_t *const topology = reader->topology;
    reader->first = sim_alloc_array(topology->node_count + 2, sizeof(*reader->first));
    reader->peers = sim_alloc_array(2 * topology->link_count + 1, sizeof(*reader->peers));
    // first[i + 2] counts neighbours; later first[i + 1] is where the next neighbour of i goes.
    for (size_t i = 0; i < topology->link_count; i++) {
        reader->first[topology->links[i].a + 2]++;
        reader->first[topology->links[i].b + 2]++;
    }
    for (size_t i = 2; i < topology->node_count + 2; i++) {
        reader->first[i] += reader->first[i - 1];
    }
    for (size_t i = 0; i < topology->link_count; i++) {
        const topo_file_link_t *const link = &topology->links[i];
        reader->peers[reader->first[link->a + 1]++] = link->b;
        reader->peers[reader->first[link->b + 1]++] = link->a;
    }
}

static size_t link_count(const reader_t *reader, uint32_t node)
{
    return reader->first[node + 1] - reader->first[node];
}

static bool is_host(const reader_t *reader, uint32_t node)
{
    return reader->topology->nodes[node].kind == NET_NODE_HOST;
}

// -- one row

static sim_err_t take_node(reader_t *reader, const sim_word_t *word, const char *what,
                           uint32_t *node)
{
    uint64_t number = 0;
    const sim_err_t error = sim_word_count(
        &reader->words, word, what, 0, reader->topology->node_count - 1, &number, reader->message);
    *node = (uint32_t)number;
    return error;
}
// Fails unless routes can lead to the host: it must have one link, to a switch.
// A host that routes can lead to: one link, to a switch.
static sim_err_t check_host(const reader_t *reader, const sim_word_t *word, uint32_t host)
{
    if (!is_host(reader, host)) {
        return sim_word_fail(&reader->words, word, reader->message, SIM_ERR_INVALID,
                             "routes towards node %u, which is a switch, expected a host", host);
    }
    if (link_count(reader, host) != 1) {
        return sim_word_fail(&reader->words, word, reader->message, SIM_ERR_INVALID,
                             "host %u has %zu links, expected routes of hosts that have one", host,
                             link_count(reader, host));
    }
    if (is_host(reader, reader->peers[reader->first[host]])) {
        return sim_word_fail(&reader->words, word, reader->message, SIM_ERR_INVALID,
                             "host %u hangs on another host, expected routes of hosts on switches",
                             host);
    }
    return SIM_OK;
}

// Reads "next:interface", one way from node to host, and returns the port number.
static sim_err_t take_hop(reader_t *reader, uint32_t node, uint32_t host, uint32_t *port)
{
    static const char what[] = "a next hop (node:interface)";
    sim_word_t word;
    sim_err_t error = sim_words_need(&reader->words, &word, what, reader->message);
    if (error != SIM_OK) {
        return error;
    }
    const char *const colon = memchr(word.text, ':', word.size_bytes);
    if (colon == NULL) {
        sim_word_shown_t shown;
        return sim_word_fail(&reader->words, &word, reader->message, SIM_ERR_INVALID,
                             "'%s' where the row counts another next hop, expected node:interface",
                             sim_word_show(&word, &shown));
    }
    const size_t left = (size_t)(colon - word.text);
    const sim_word_t next_word = {word.text, left, word.line, word.column};
    const sim_word_t port_word = {colon + 1, word.size_bytes - left - 1, word.line,
                                  word.column + (uint32_t)left + 1};
    uint32_t next = 0;
    uint64_t interface = 0;
    error = take_node(reader, &next_word, "the node of a next hop", &next);
    if (error == SIM_OK) {
        error = sim_word_count(&reader->words, &port_word, "the interface of a next hop", 1,
                               link_count(reader, node), &interface, reader->message);
    }
    if (error != SIM_OK) {
        return error;
    }
    const uint32_t peer = reader->peers[reader->first[node] + interface - 1];
    if (peer != next) {
        return sim_word_fail(&reader->words, &word, reader->message, SIM_ERR_INVALID,
                             "interface %" PRIu64 " of node %u leads to node %u, expected %u as "
                             "its next hop",
                             interface, node, peer, peer);
    }
    if (is_host(reader, peer) && peer != host) {
        return sim_word_fail(&reader->words, &word, reader->message, SIM_ERR_INVALID,
                             "a next hop towards host %u over host %u, expected switches: hosts do "
                             "not forward",
                             host, peer);
    }
    *port = (uint32_t)interface - 1;
    return SIM_OK;
}

static sim_err_t take_row(reader_t *reader, const sim_word_t *begin)
{
    topo_route_t row = {.line = begin->line, .column = begin->column};
    sim_word_t word;
    uint64_t count = 0;
    sim_err_t error = take_node(reader, begin, "the node of a route", &row.node);
    if (error == SIM_OK && is_host(reader, row.node)) {
        error = check_host(reader, begin, row.node);
    }
    if (error == SIM_OK) {
        error = sim_words_need(&reader->words, &word, "the host that a route leads to",
                               reader->message);
    }
    if (error == SIM_OK) {
        error = take_node(reader, &word, "the host that a route leads to", &row.host);
    }
    if (error == SIM_OK) {
        error = check_host(reader, &word, row.host);
    }
    if (error == SIM_OK && row.host == row.node) {
        error = sim_word_fail(&reader->words, &word, reader->message, SIM_ERR_INVALID,
                              "a route of node %u to itself, expected another host", row.node);
    }
    if (error == SIM_OK) {
        error = sim_words_need_count(&reader->words, "the number of next hops", 1,
                                     link_count(reader, row.node), &count, &word, reader->message);
    }
    topo_routes_t *const routes = reader->routes;
    row.first = (uint32_t)routes->port_count;
    row.count = (uint32_t)count;
    for (uint64_t i = 0; i < count && error == SIM_OK; i++) {
        SIM_GROW(routes->ports, routes->port_count, &routes->port_capacity);
        error = take_hop(reader, row.node, row.host, &routes->ports[routes->port_count++]);
    }
    if (error == SIM_OK) {
        SIM_CHECK(row.first + row.count == routes->port_count);
        SIM_APPEND(routes->rows, routes->count, routes->capacity, row);
    }
    return error;
}

// -- all rows

static int compare_rows(const void *a, const void *b)
{
    const topo_route_t *const x = a;
    const topo_route_t *const y = b;
    return 8 * SIM_COMPARE(x->node, y->node) + 4 * SIM_COMPARE(x->host, y->host) +
           2 * SIM_COMPARE(x->line, y->line) + SIM_COMPARE(x->column, y->column);
}

static sim_err_t check_twice(const reader_t *reader)
{
    const topo_route_t *const rows = reader->routes->rows;
    for (size_t i = 1; i < reader->routes->count; i++) {
        if (rows[i].node == rows[i - 1].node && rows[i].host == rows[i - 1].host) {
            const sim_word_t at = {"", 0, rows[i].line, rows[i].column};
            return sim_word_fail(&reader->words, &at, reader->message, SIM_ERR_EXISTS,
                                 "the route of node %u to host %u stands in line %u too, expected "
                                 "it once",
                                 rows[i].node, rows[i].host, rows[i - 1].line);
        }
    }
    return SIM_OK;
}

// Removes the rows of hosts, which were checked: a host has only one way out.
static void keep_switches(const reader_t *reader)
{
    topo_routes_t *const routes = reader->routes;
    size_t kept = 0;
    for (size_t i = 0; i < routes->count; i++) {
        if (!is_host(reader, routes->rows[i].node)) {
            routes->rows[kept++] = routes->rows[i];
        }
    }
    routes->count = kept;
}

sim_err_t topo_routes_parse(const topo_file_t *topology, const char *name, const char *text,
                            size_t size_bytes, topo_routes_t *routes, sim_message_t *message)
{
    reader_t reader = {.topology = topology, .routes = routes, .message = message};
    *routes = (topo_routes_t){0};
    sim_words_init(&reader.words, name, text, size_bytes);
    list_peers(&reader);
    sim_word_t word;
    sim_err_t error = SIM_OK;
    while (error == SIM_OK && sim_words_next(&reader.words, &word)) {
        error = take_row(&reader, &word);
    }
    if (error == SIM_OK && routes->count == 0) {
        error = sim_word_fail(&reader.words, &word, message, SIM_ERR_INVALID,
                              "there is no route, expected rows of node, host, number of next "
                              "hops, next hops");
    }
    if (error == SIM_OK) {
        qsort(routes->rows, routes->count, sizeof(*routes->rows), compare_rows);
        error = check_twice(&reader);
    }
    if (error == SIM_OK) {
        keep_switches(&reader);
    }
    sim_free(reader.first);
    sim_free(reader.peers);
    return error;
}

void topo_routes_fini(topo_routes_t *routes)
{
    sim_free(routes->rows);
    sim_free(routes->ports);
    *routes = (topo_routes_t){0};
}
