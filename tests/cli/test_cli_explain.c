// SPDX-License-Identifier: Apache-2.0
// Goal: the cycle that a stall report names is one, and is found whenever there is one.
// Method: graphs as adjacency matrices: chains, rings with tails, and all graphs of four vertices,
// against a brute-force closure.
// Not pinned: which of several cycles is named.
#include "world/explain.h"

#include "tests/check_main.h"

#include <string.h>

#define VERTICES 4u

typedef struct graph {
    bool edges[VERTICES][VERTICES];
} graph_t;

static size_t next(size_t vertex, size_t index, const void *ctx)
{
    const graph_t *const graph = ctx;
    for (size_t to = 0; to < VERTICES; to++) {
        if (graph->edges[vertex][to] && index-- == 0) {
            return to;
        }
    }
    return SIZE_MAX;
}

static bool has_cycle(const graph_t *graph)
{
    graph_t closure = *graph;
    for (size_t k = 0; k < VERTICES; k++) {
        for (size_t i = 0; i < VERTICES; i++) {
            for (size_t j = 0; j < VERTICES; j++) {
                closure.edges[i][j] |= closure.edges[i][k] && closure.edges[k][j];
            }
        }
    }
    for (size_t i = 0; i < VERTICES; i++) {
        if (closure.edges[i][i]) {
            return true;
        }
    }
    return false;
}

START_TEST(cycle_is_found_in_every_graph_of_four)
{
    for (unsigned bits = 0; bits < 1u << 16; bits++) {
        graph_t graph;
        for (unsigned e = 0; e < 16; e++) {
            graph.edges[e / 4][e % 4] = (bits >> e & 1u) != 0;
        }
        size_t cycle[VERTICES + 1];
        const size_t length = world_find_cycle(VERTICES, next, &graph, cycle);
        ck_assert_msg((length > 0) == has_cycle(&graph), "graph %x: length %zu", bits, length);
        for (size_t i = 0; i < length; i++) {
            ck_assert_msg(graph.edges[cycle[i]][cycle[(i + 1) % length]], "graph %x", bits);
        }
    }
}
END_TEST

CHECK_MAIN(CHECK_TEST(cycle_is_found_in_every_graph_of_four))
