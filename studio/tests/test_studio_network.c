// SPDX-License-Identifier: Apache-2.0
// studio/tests/test_studio_network.c - the folded drawing of large networks.
//
// Goal: a network of 65,536 hosts has a drawing of less than 2 MB, made in less than 2 s, and each
// of its hosts is reached by opening folds. Method: networks are put together link by link, and
// folded, opened and searched. Not pinned: the order of folds.
#include "tests/check_main.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "studio/server/network/network.h"

#define ANSWER_BYTES_MAX 2000000u
#define SECONDS_MAX 2.0

static json_t *nodes;
static json_t *links;

static void add_node(const char *kind, const char *name, unsigned index)
{
    char *const text = sim_format("%s%u", name, index);
    json_array_append_new(nodes, json_pack("{s:s, s:s}", "name", text, "kind", kind));
    sim_free(text);
}

static void add_link(const char *a, unsigned a_index, const char *b, unsigned b_index)
{
    char *const one = sim_format("%s%u", a, a_index);
    char *const other = sim_format("%s%u", b, b_index);
    char *const there = sim_format("%s->%s", one, other);
    char *const back = sim_format("%s->%s", other, one);
    json_array_append_new(links, json_pack("{s:s, s:s, s:s, s:s, s:I, s:I}", "a", one, "b", other,
                                           "a_port", there, "b_port", back, "rate_bps",
                                           (json_int_t)100000000000, "delay_ps", (json_int_t)1000));
    sim_free(one);
    sim_free(other);
    sim_free(there);
    sim_free(back);
}

static void begin(void)
{
    nodes = json_array();
    links = json_array();
}

static studio_network_t end(void)
{
    json_t *const topology = json_pack("{s:o, s:o}", "nodes", nodes, "links", links);
    studio_network_t network;
    studio_network_of_json(topology, &network);
    json_decref(topology);
    return network;
}

// A fat-tree of switches with k ports.
static studio_network_t fat_tree(unsigned k)
{
    const unsigned half = k / 2;
    begin();
    for (unsigned i = 0; i < k * half; i++) {
        add_node("switch", "edge", i);
        add_node("switch", "agg", i);
    }
    for (unsigned i = 0; i < half * half; i++) {
        add_node("switch", "core", i);
    }
    for (unsigned edge = 0; edge < k * half; edge++) {
        for (unsigned i = 0; i < half; i++) {
            add_node("host", "host", edge * half + i);
            add_link("host", edge * half + i, "edge", edge);
            add_link("edge", edge, "agg", edge / half * half + i);
            add_link("agg", edge, "core", edge % half * half + i);
        }
    }
    return end();
}

static double cpu_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static size_t size_of(const json_t *json)
{
    return json_dumpb(json, NULL, 0, JSON_COMPACT);
}

static const json_t *shown(const studio_drawing_t *drawing, const char *name)
{
    size_t i = 0;
    const json_t *node = NULL;
    json_array_foreach(json_object_get(drawing->json, "nodes"), i, node)
    {
        if (strcmp(json_string_value(json_object_get(node, "name")), name) == 0) {
            return node;
        }
    }
    return NULL;
}

static const char *text_of(const json_t *node, const char *name)
{
    return json_string_value(json_object_get(node, name));
}

// Checks that each node is in one node of the drawing, and each link in one of its links or inside
// a node.
static void check_whole(const studio_network_t *network, const studio_drawing_t *drawing)
{
    const json_t *const shown_nodes = json_object_get(drawing->json, "nodes");
    const json_t *const shown_links = json_object_get(drawing->json, "links");
    size_t in_nodes = 0;
    size_t in_links = 0;
    size_t inside = 0;
    size_t i = 0;
    const json_t *one = NULL;
    json_array_foreach(shown_nodes, i, one)
    {
        in_nodes += (size_t)json_integer_value(json_object_get(one, "hosts"));
        in_nodes += (size_t)json_integer_value(json_object_get(one, "switches"));
    }
    json_array_foreach(shown_links, i, one)
    {
        in_links += (size_t)json_integer_value(json_object_get(one, "count"));
        ck_assert_ptr_nonnull(shown(drawing, text_of(one, "a")));
        ck_assert_ptr_nonnull(shown(drawing, text_of(one, "b")));
    }
    for (i = 0; i < network->link_count; i++) {
        const bool same =
            drawing->node_of[network->links[i].a] == drawing->node_of[network->links[i].b];
        ck_assert(same == (drawing->link_of[i] == UINT32_MAX));
        inside += same;
    }
    ck_assert_uint_eq(in_nodes, network->node_count);
    ck_assert_uint_eq(in_links + inside, network->link_count);
}

// Opens fold after fold around a node until it is shown, and checks that finding it does the same.
static void check_reached(const studio_network_t *network, const char *name)
{
    studio_drawing_t drawing;
    char *open = NULL;
    studio_drawing_init(&drawing, network, NULL, name);
    const json_t *const node = shown(&drawing, name);
    ck_assert_ptr_nonnull(node);
    ck_assert_ptr_null(json_object_get(node, "fold"));
    ck_assert_uint_lt(size_of(drawing.json), ANSWER_BYTES_MAX);
    check_whole(network, &drawing);
    // The paths of the folds around it, such as 3, 3.1 and 3.1.0.
    const char *const around = text_of(node, "in");
    for (size_t i = 1; around[0] != '\0' && i <= strlen(around); i++) {
        if (around[i] == '.' || around[i] == '\0') {
            char *const more = sim_format("%s%s%.*s", open == NULL ? "" : open,
                                          open == NULL ? "" : ",", (int)i, around);
            sim_free(open);
            open = more;
        }
    }
    studio_drawing_t opened;
    studio_drawing_init(&opened, network, open, NULL);
    ck_assert_int_eq(json_equal(opened.json, drawing.json), 1);
    sim_free(open);
    studio_drawing_fini(&opened);
    studio_drawing_fini(&drawing);
}

static void check_large(const studio_network_t *network, const char *a_host, const char *a_switch)
{
    ck_assert(studio_network_is_large(network->node_count));
    const double begun_s = cpu_seconds();
    studio_drawing_t drawing;
    studio_drawing_init(&drawing, network, "", NULL);
    if (getenv("TEST_FEW") == NULL) { // and not in the builds of sanitizers
        ck_assert_double_lt(cpu_seconds() - begun_s, SECONDS_MAX);
    }
    ck_assert_uint_lt(size_of(drawing.json), ANSWER_BYTES_MAX);
    ck_assert_uint_lt(json_array_size(json_object_get(drawing.json, "nodes")), 1000);
    check_whole(network, &drawing);
    studio_drawing_fini(&drawing);
    check_reached(network, a_host);
    check_reached(network, a_switch);
}

START_TEST(fat_tree_has_pods)
{
    studio_network_t network = fat_tree(64);
    check_large(&network, "host65535", "core7");
    studio_drawing_t drawing;
    studio_drawing_init(&drawing, &network, "0", NULL);
    const json_t *const rack = shown(&drawing, "edge0 (33)");
    ck_assert_str_eq(text_of(rack, "in"), "0");
    ck_assert_int_eq(json_integer_value(json_object_get(rack, "hosts")), 32);
    ck_assert_ptr_nonnull(shown(&drawing, "agg0"));
    ck_assert_ptr_nonnull(shown(&drawing, "agg32 … agg63 (1088)"));
    studio_drawing_fini(&drawing);
    studio_network_fini(&network);
}
END_TEST

START_TEST(star_has_pages)
{
    begin();
    add_node("switch", "switch", 0);
    for (unsigned i = 0; i < 65536; i++) {
        add_node("host", "host", i);
        add_link("host", i, "switch", 0);
    }
    studio_network_t network = end();
    check_large(&network, "host40000", "switch0");
    studio_network_fini(&network);
}
END_TEST

// Hosts with a link to each of eight leaves, and leaves in two planes of spines.
START_TEST(rails)
{
    begin();
    for (unsigned leaf = 0; leaf < 256; leaf++) {
        add_node("switch", "leaf", leaf);
        for (unsigned spine = 0; spine < 32; spine++) {
            add_link("leaf", leaf, "spine", leaf % 2 * 32 + spine);
        }
    }
    for (unsigned spine = 0; spine < 64; spine++) {
        add_node("switch", "spine", spine);
    }
    for (unsigned host = 0; host < 32 * 128; host++) {
        add_node("host", "host", host);
        for (unsigned rail = 0; rail < 8; rail++) {
            add_link("host", host, "leaf", host / 128 * 8 + rail);
        }
    }
    studio_network_t network = end();
    check_large(&network, "host4095", "leaf9");
    studio_network_fini(&network);
}
END_TEST

// Switches in a ring with hosts, a node without links, and one whose link leads nowhere.
START_TEST(others)
{
    begin();
    for (unsigned i = 0; i < 2000; i++) {
        add_node("switch", "switch", i);
        add_node("host", "host", i);
        add_link("host", i, "switch", i);
        add_link("switch", i, "switch", (i + 1) % 2000);
    }
    add_node("host", "alone", 0);
    add_node("switch", "alone", 1);
    add_link("host", 0, "nowhere", 0);
    studio_network_t network = end();
    ck_assert_uint_eq(network.link_count, 4000);
    check_large(&network, "alone0", "alone1");
    check_reached(&network, "host1999");
    studio_network_fini(&network);
    begin();
    network = end();
    studio_drawing_t drawing;
    studio_drawing_init(&drawing, &network, "0,1.2,,x", "nobody");
    ck_assert_uint_eq(json_array_size(json_object_get(drawing.json, "nodes")), 0);
    studio_drawing_fini(&drawing);
    studio_network_fini(&network);
}
END_TEST

START_TEST(file)
{
    char path[] = "/tmp/test_studio_network.XXXXXX";
    ck_assert_int_ge(close(mkstemp(path)), 0);
    studio_network_t network = fat_tree(8);
    studio_network_t read;
    ck_assert(studio_network_save(&network, path));
    ck_assert(studio_network_open(path, &read));
    ck_assert_uint_eq(read.text_bytes, network.text_bytes);
    ck_assert_mem_eq(read.links, network.links, network.link_count * sizeof(*network.links));
    ck_assert_str_eq(read.texts + read.nodes[3].name, network.texts + network.nodes[3].name);
    // Only the links of a host and of two switches, and their ends.
    json_t *const ports = json_pack("{s:b, s:b}", "host5->edge1", 1, "agg3->core13", 1);
    studio_network_keep(&read, ports);
    json_decref(ports);
    json_t *const kept = studio_network_json(&read);
    ck_assert_uint_eq(json_array_size(json_object_get(kept, "nodes")), 4);
    ck_assert_str_eq(text_of(json_array_get(json_object_get(kept, "links"), 1), "b"), "core13");
    json_decref(kept);
    studio_network_fini(&read);
    // A file that is cut, or has a link to a node that is not there.
    ck_assert_int_eq(truncate(path, 5000), 0);
    ck_assert(!studio_network_open(path, &read));
    network.links[7].b = 1u << 20;
    ck_assert(studio_network_save(&network, path));
    ck_assert(!studio_network_open(path, &read));
    ck_assert_int_eq(unlink(path), 0);
    ck_assert(!studio_network_open(path, &read));
    studio_network_fini(&network);
}
END_TEST

CHECK_MAIN(CHECK_TEST(fat_tree_has_pods), CHECK_TEST(star_has_pages), CHECK_TEST(rails),
           CHECK_TEST(others), CHECK_TEST(file))
