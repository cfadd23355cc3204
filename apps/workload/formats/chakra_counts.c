// SPDX-License-Identifier: Apache-2.0
// apps/workload/formats/chakra_counts.c - counts what a Chakra trace of one rank holds.
#include "apps/workload/formats/chakra.h"

#include <stdlib.h>
#include <string.h>

#define LINES_MAX 200u // of the histogram

static const char *const comm_names[] = {
    "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER",  "SCATTER", "BROADCAST",
    "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER",
};

const char *app__chakra_comm_name(uint64_t comm_type)
{
    return comm_type < SIM_COUNT_OF(comm_names) ? comm_names[comm_type] : NULL;
}

// -- chains

// Nodes in an order that the data dependencies allow.
typedef struct walk {
    uint32_t *left;  // per node: dependencies that are not done
    uint32_t *depth; // per node: nodes on the longest chain up to it
    uint32_t *first; // per node: in `next`
    uint32_t *next;  // nodes that depend on a node
    uint32_t *ready;
    size_t reached;
    uint32_t deepest;
} walk_t;

static void walk_init(walk_t *walk, const app__chakra_trace_t *trace)
{
    const size_t nodes = trace->node_count;
    walk->left = sim_alloc_array(nodes + 1, sizeof(*walk->left));
    walk->depth = sim_alloc_array(nodes + 1, sizeof(*walk->depth));
    walk->first = sim_alloc_array(nodes + 2, sizeof(*walk->first));
    walk->next = sim_alloc_array(trace->dep_count + 1, sizeof(*walk->next));
    walk->ready = sim_alloc_array(nodes + 1, sizeof(*walk->ready));
    for (size_t d = 0; d < trace->dep_count; d++) {
        if (trace->deps[d] != UINT64_MAX) {
            walk->first[trace->deps[d] + 2]++;
        }
    }
    for (size_t n = 2; n < nodes + 2; n++) {
        walk->first[n] += walk->first[n - 1];
    }
    for (size_t n = 0; n < nodes; n++) { // first[n + 1] moves on to the begin of node n + 1
        const app__chakra_node_t *const node = &trace->nodes[n];
        for (uint32_t d = 0; d < node->dep_count; d++) {
            const uint64_t before = trace->deps[node->dep_first + d];
            if (before != UINT64_MAX) {
                walk->next[walk->first[before + 1]++] = (uint32_t)n;
                walk->left[n]++;
            }
        }
    }
}

static void walk_all(walk_t *walk, const app__chakra_trace_t *trace)
{
    *walk = (walk_t){.reached = 0};
    walk_init(walk, trace);
    for (size_t n = 0; n < trace->node_count; n++) {
        if (walk->left[n] == 0) {
            walk->ready[walk->reached++] = (uint32_t)n;
        }
    }
    for (size_t at = 0; at < walk->reached; at++) {
        const uint32_t node = walk->ready[at];
        const uint32_t depth = ++walk->depth[node];
        walk->deepest = SIM_MAX(depth, walk->deepest);
        for (uint32_t i = walk->first[node]; i < walk->first[node + 1]; i++) {
            const uint32_t after = walk->next[i];
            walk->depth[after] = SIM_MAX(depth, walk->depth[after]);
            if (--walk->left[after] == 0) {
                walk->ready[walk->reached++] = after;
            }
        }
    }
}

static void walk_fini(walk_t *walk)
{
    SIM_FREE_ALL(walk->left, walk->depth, walk->first, walk->next, walk->ready);
}

static int name_length(const app__chakra_node_t *node)
{
    return node->name.text == NULL ? 0 : (int)SIM_MIN(node->name.length, 60);
}

static void note_trouble(const app__chakra_trace_t *trace, const walk_t *walk,
                         app__schedule_t *schedule)
{
    if (trace->dangling > 0) {
        const app__chakra_node_t *const node = &trace->nodes[trace->first_dangling];
        app__schedule_note(schedule,
                           sim_format("warning: %s: %" PRIu64 " data dependencies name absent "
                                      "nodes and are left out; the first: node %" PRIu64
                                      " (%.*s) waits for node %" PRIu64,
                                      trace->file, trace->dangling, node->id, name_length(node),
                                      node->name.text, trace->first_absent));
    }
    for (size_t n = 0; n < trace->node_count && walk->reached < trace->node_count; n++) {
        const app__chakra_node_t *const node = &trace->nodes[n];
        if (walk->left[n] > 0) {
            app__schedule_note(
                schedule, sim_format("warning: %s: %zu nodes wait for each other in a "
                                     "circle or behind one; the first: node %" PRIu64 " (%.*s)",
                                     trace->file, trace->node_count - walk->reached, node->id,
                                     name_length(node), node->name.text));
            return;
        }
    }
}

// -- counts

static bool communicates(const app__chakra_node_t *node)
{
    return node->type >= APP__CHAKRA_SEND && node->type <= APP__CHAKRA_COLL;
}

static int compare_nodes(const app__chakra_node_t *one, const app__chakra_node_t *two)
{
    const uint64_t keys[3][2] = {
        {one->type, two->type},
        {one->type == APP__CHAKRA_COLL ? one->values[APP__CHAKRA_COMM_TYPE] : 0,
         two->type == APP__CHAKRA_COLL ? two->values[APP__CHAKRA_COMM_TYPE] : 0},
        {one->values[APP__CHAKRA_COMM_SIZE], two->values[APP__CHAKRA_COMM_SIZE]},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(keys); i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    return compare_nodes(*(app__chakra_node_t *const *)a, *(app__chakra_node_t *const *)b);
}

static const char *coll_text(const app__chakra_node_t *node)
{
    const char *const name = app__chakra_comm_name(node->values[APP__CHAKRA_COMM_TYPE]);
    return node->type != APP__CHAKRA_COLL || !app__chakra_has(node, APP__CHAKRA_COMM_TYPE) ? ""
           : name != NULL                                                                  ? name
                          : "UNKNOWN";
}

static void note_histogram(const app__chakra_trace_t *trace, app__schedule_t *schedule)
{
    static const char *const types[] = {"SEND", "RECV", "COLL"};
    const app__chakra_node_t **const nodes = sim_alloc_array(trace->node_count + 1, sizeof(*nodes));
    size_t count = 0;
    uint32_t lines = 0;
    for (size_t n = 0; n < trace->node_count; n++) {
        if (communicates(&trace->nodes[n]) &&
            app__chakra_has(&trace->nodes[n], APP__CHAKRA_COMM_SIZE)) {
            nodes[count++] = &trace->nodes[n];
        }
    }
    qsort(nodes, count, sizeof(*nodes), compare);
    for (size_t i = 0; i < count; lines++) {
        const size_t first = i;
        while (i < count && compare_nodes(nodes[i], nodes[first]) == 0) {
            i++;
        }
        if (lines < LINES_MAX) {
            const char *const coll = coll_text(nodes[first]);
            app__schedule_note(schedule,
                               sim_format("%s%s%s of %" PRIu64 " bytes: %zu",
                                          types[nodes[first]->type - APP__CHAKRA_SEND],
                                          coll[0] == '\0' ? "" : " ", coll,
                                          nodes[first]->values[APP__CHAKRA_COMM_SIZE], i - first));
        }
    }
    if (lines > LINES_MAX) {
        app__schedule_note(schedule, sim_format("the list leaves out %u more kind%s",
                                                lines - LINES_MAX, sim_plural(lines - LINES_MAX)));
    }
    sim_free(nodes);
}

// Adds "ALL_REDUCE:5 BROADCAST:2".
static void add_comm_types(app__schedule_t *schedule, const uint64_t *counts)
{
    char text[400] = "";
    for (size_t i = 0; i < SIM_COUNT_OF(comm_names); i++) {
        if (counts[i] > 0) {
            char *const longer = sim_format("%s%s%s:%" PRIu64, text, text[0] == '\0' ? "" : " ",
                                            comm_names[i], counts[i]);
            SIM_CHECK(strlen(longer) < sizeof(text));
            memcpy(text, longer, strlen(longer) + 1);
            sim_free(longer);
        }
    }
    app__schedule_fact_text(schedule, "comm_types", sim_format("%s", text));
}

void app__chakra_note_counts(const app__chakra_trace_t *trace, app__schedule_t *schedule)
{
    static const char *const names[APP__CHAKRA_TYPES] = {
        "invalid", "metadata", "mem_load", "mem_store", "comp", "send", "recv", "coll"};
    uint64_t types[APP__CHAKRA_TYPES] = {0};
    uint64_t comms[SIM_COUNT_OF(comm_names)] = {0};
    uint64_t bytes = 0;
    uint64_t duration_us = 0;
    walk_t walk;
    walk_all(&walk, trace);
    for (size_t n = 0; n < trace->node_count; n++) {
        const app__chakra_node_t *const node = &trace->nodes[n];
        types[node->type]++;
        duration_us += node->duration_us;
        bytes += communicates(node) && node->type != APP__CHAKRA_RECV
                     ? node->values[APP__CHAKRA_COMM_SIZE]
                     : 0;
        if (node->type == APP__CHAKRA_COLL && app__chakra_has(node, APP__CHAKRA_COMM_TYPE) &&
            node->values[APP__CHAKRA_COMM_TYPE] < SIM_COUNT_OF(comm_names)) {
            comms[node->values[APP__CHAKRA_COMM_TYPE]]++;
        }
    }
    app__schedule_fact_text(schedule, "version",
                            sim_format("%.*s",
                                       trace->version.text == NULL ? 0 : (int)trace->version.length,
                                       trace->version.text));
    app__schedule_fact(schedule, "nodes", trace->node_count);
    for (size_t i = APP__CHAKRA_METADATA; i < APP__CHAKRA_TYPES; i++) {
        app__schedule_fact(schedule, names[i], types[i]);
    }
    app__schedule_fact(schedule, "ctrl_deps", trace->ctrl_deps);
    app__schedule_fact(schedule, "data_deps", trace->dep_count);
    app__schedule_fact(schedule, "dangling_deps", trace->dangling);
    app__schedule_fact(schedule, "node_depth", walk.deepest);
    app__schedule_fact(schedule, "unreachable", trace->node_count - walk.reached);
    app__schedule_fact(schedule, "comm_bytes", bytes);
    app__schedule_fact(schedule, "duration_us", duration_us);
    add_comm_types(schedule, comms);
    app__schedule_note(
        schedule, sim_format("%s: %zu node%s: %" PRIu64 " comp, %" PRIu64 " send, %" PRIu64
                             " recv, %" PRIu64 " coll, %" PRIu64 " memory, %" PRIu64 " metadata",
                             trace->file, trace->node_count, sim_plural(trace->node_count),
                             types[APP__CHAKRA_COMP], types[APP__CHAKRA_SEND],
                             types[APP__CHAKRA_RECV], types[APP__CHAKRA_COLL],
                             types[APP__CHAKRA_MEM_LOAD] + types[APP__CHAKRA_MEM_STORE],
                             types[APP__CHAKRA_METADATA]));
    app__schedule_note(schedule,
                       sim_format("%zu data dependenc%s, %" PRIu64 " control dependenc%s, which "
                                  "order nothing; %u node%s on the longest chain; %" PRIu64
                                  " bytes; %" PRIu64 " us",
                                  trace->dep_count, trace->dep_count == 1 ? "y" : "ies",
                                  trace->ctrl_deps, trace->ctrl_deps == 1 ? "y" : "ies",
                                  walk.deepest, sim_plural(walk.deepest), bytes, duration_us));
    note_histogram(trace, schedule);
    note_trouble(trace, &walk, schedule);
    walk_fini(&walk);
}
