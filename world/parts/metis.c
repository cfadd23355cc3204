// SPDX-License-Identifier: Apache-2.0
// world/parts/metis.c - divides an irregular network by METIS: equal shares of the expected work,
// and little expected traffic between ranks (Karypis and Kumar, A Fast and High Quality Multilevel
// Scheme for Partitioning Irregular Graphs, SIAM J. Sci. Comput. 20, 1998).
#include "world/parts/metis.h"
#include "net/network.h"
#include "world/parts/parts_internal.h"

#ifdef ROCESIM_HAS_METIS

#include <metis.h>

// The graph of groups, as METIS wants it.
typedef struct graph {
    idx_t count;
    idx_t *number_of; // by node: number of its group
    idx_t *first;     // by group, one more at the end
    idx_t *others;
    idx_t *traffic; // by entry of others
    idx_t *work;    // by group
} graph_t;

bool world_parts_has_metis(void)
{
    return true;
}

static void number_groups(graph_t *graph, const parts_t *parts)
{
    graph->number_of = sim_alloc_array(parts->node_count + 1, sizeof(*graph->number_of));
    for (uint32_t i = 0; i < parts->node_count; i++) {
        if (parts->group_of[i] == i) {
            graph->number_of[i] = graph->count++;
        }
    }
    graph->work = sim_alloc_array((size_t)graph->count + 1, sizeof(*graph->work));
    for (uint32_t i = 0; i < parts->node_count; i++) {
        graph->number_of[i] = graph->number_of[parts->group_of[i]];
        graph->work[graph->number_of[i]] += (idx_t)parts->work[i];
    }
}

// Makes one link of the parallel ones of each group: METIS wants none.
static void merge_parallel(graph_t *graph)
{
    idx_t *const at = sim_alloc_array((size_t)graph->count + 1, sizeof(*at)); // plus 1; 0: none
    idx_t kept = 0;
    idx_t begin = 0;
    for (idx_t g = 0; g < graph->count; g++) {
        const idx_t from = begin;
        const idx_t first = kept;
        begin = graph->first[g + 1];
        for (idx_t i = from; i < begin; i++) {
            idx_t *const place = &at[graph->others[i]];
            if (*place > first) {
                graph->traffic[*place - 1] += graph->traffic[i];
                continue;
            }
            graph->others[kept] = graph->others[i];
            graph->traffic[kept++] = graph->traffic[i];
            *place = kept;
        }
        graph->first[g + 1] = kept;
    }
    sim_free(at);
}

// Lists the links between groups, in both directions.
static void list_links(graph_t *graph, const parts_t *parts, const uint64_t *traffic)
{
    const size_t links = net_link_count(parts->net);
    graph->first = sim_alloc_array((size_t)graph->count + 2, sizeof(*graph->first));
    graph->others = sim_alloc_array(2 * links + 1, sizeof(*graph->others));
    graph->traffic = sim_alloc_array(2 * links + 1, sizeof(*graph->traffic));
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < links; i++) {
            const net_link_ends_t link = net_link_ends(parts->net, i);
            const idx_t a = graph->number_of[link.a];
            const idx_t b = graph->number_of[link.b];
            if (a == b) {
                continue;
            }
            if (pass == 0) {
                graph->first[a + 2]++;
                graph->first[b + 2]++;
                continue;
            }
            graph->others[graph->first[a + 1]] = b;
            graph->traffic[graph->first[a + 1]++] = (idx_t)traffic[i];
            graph->others[graph->first[b + 1]] = a;
            graph->traffic[graph->first[b + 1]++] = (idx_t)traffic[i];
        }
        for (idx_t g = 2; pass == 0 && g < graph->count + 2; g++) {
            graph->first[g] += graph->first[g - 1];
        }
    }
    merge_parallel(graph);
}

static bool divide(graph_t *graph, parts_t *parts)
{
    idx_t options[METIS_NOPTIONS];
    idx_t constraints = 1;
    idx_t ranks = (idx_t)parts->rank_count;
    idx_t cut = 0;
    idx_t *const rank_of = sim_alloc_array((size_t)graph->count + 1, sizeof(*rank_of));
    (void)METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1; // all ranks must find the same
    const int status =
        METIS_PartGraphKway(&graph->count, &constraints, graph->first, graph->others, graph->work,
                            NULL, graph->traffic, &ranks, NULL, NULL, options, &cut, rank_of);
    for (uint32_t i = 0; status == METIS_OK && i < parts->node_count; i++) {
        parts->rank_of[i] = (uint16_t)rank_of[graph->number_of[i]];
    }
    sim_free(rank_of);
    return status == METIS_OK;
}

bool parts__by_metis(parts_t *parts)
{
    uint64_t *const traffic = sim_alloc_array(net_link_count(parts->net) + 1, sizeof(*traffic));
    graph_t graph = {0};
    parts__expect_traffic(parts, traffic);
    parts__make_groups(parts, true, 0);
    number_groups(&graph, parts);
    list_links(&graph, parts, traffic);
    const bool enough = graph.count >= (idx_t)parts->rank_count;
    const bool done = enough && divide(&graph, parts);
    SIM_FREE_ALL(traffic, graph.number_of, graph.first, graph.others, graph.traffic, graph.work);
    return done;
}

#else

bool world_parts_has_metis(void)
{
    return false;
}

bool parts__by_metis(parts_t *parts)
{
    (void)parts;
    return false;
}

#endif
