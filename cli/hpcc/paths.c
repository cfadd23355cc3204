// SPDX-License-Identifier: Apache-2.0
// cli/hpcc/paths.c - searches the links of a topology file breadth-first from a host.
#include "cli/hpcc/paths.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

typedef struct reached {
    uint64_t delay_ns;
    uint64_t tx_ns;
    uint64_t rate_bps;
    bool known;
} reached_t;

typedef struct edge {
    uint32_t to;
    uint64_t delay_ns;
    uint64_t tx_ns; // transmission time of a payload
    uint64_t rate_bps;
    uint32_t link;
} edge_t;

struct cli_hpcc_paths {
    const topo_file_t *file;
    // Node i has edges[first[i]] .. edges[first[i + 1] - 1], the highest neighbour first, then the
    // last link first. Of paths with equally many hops the one found first counts.
    edge_t *edges;
    uint32_t *first;
    reached_t *reached; // result of the search from `root`
    uint32_t *queue;
    uint32_t root; // UINT32_MAX: no search yet
};

static int compare_edges(const void *a, const void *b)
{
    const edge_t *const x = a;
    const edge_t *const y = b;
    return 2 * SIM_COMPARE(y->to, x->to) + SIM_COMPARE(y->link, x->link);
}

cli_hpcc_paths_t *cli_hpcc_paths_create(const topo_file_t *file, uint64_t payload_bytes)
{
    cli_hpcc_paths_t *const paths = sim_alloc(sizeof(*paths));
    paths->file = file;
    paths->root = UINT32_MAX;
    paths->edges = sim_alloc_array(2 * file->link_count + 1, sizeof(*paths->edges));
    paths->first = sim_alloc_array(file->node_count + 2, sizeof(*paths->first));
    paths->reached = sim_alloc_array(file->node_count + 1, sizeof(*paths->reached));
    paths->queue = sim_alloc_array(file->node_count + 1, sizeof(*paths->queue));
    // first[i + 2] counts the edges of i; then first[i + 1] is the place of the next edge of i.
    for (size_t i = 0; i < file->link_count; i++) {
        paths->first[file->links[i].a + 1]++;
        paths->first[file->links[i].b + 1]++;
    }
    for (size_t i = 1; i <= file->node_count; i++) {
        paths->first[i] += paths->first[i - 1];
    }
    uint32_t *const next = sim_alloc_array(file->node_count + 1, sizeof(*next));
    memcpy(next, paths->first, file->node_count * sizeof(*next));
    // The driver uses the last of several parallel links. The search takes the first edge that it
    // finds, so links are added from the last one to the first.
    for (size_t i = file->link_count; i-- > 0;) {
        const topo_file_link_t *const link = &file->links[i];
        const sim_wide_t bits = (sim_wide_t)payload_bytes * 8 * NS_PER_S;
        edge_t edge = {link->b, link->delay_ps / SIM_PS_PER_NS, (uint64_t)(bits / link->rate_bps),
                       link->rate_bps, (uint32_t)i};
        paths->edges[next[link->a]++] = edge;
        edge.to = link->a;
        paths->edges[next[link->b]++] = edge;
    }
    sim_free(next);
    for (size_t i = 0; i < file->node_count; i++) {
        qsort(paths->edges + paths->first[i], paths->first[i + 1] - paths->first[i],
              sizeof(*paths->edges), compare_edges);
    }
    return paths;
}

void cli_hpcc_paths_destroy(cli_hpcc_paths_t *paths)
{
    if (paths == NULL) {
        return;
    }
    SIM_FREE_ALL(paths->edges, paths->first, paths->reached, paths->queue, paths);
}

static void search(cli_hpcc_paths_t *paths, uint32_t root)
{
    if (paths->root == root) {
        return;
    }
    paths->root = root;
    memset(paths->reached, 0, paths->file->node_count * sizeof(*paths->reached));
    paths->reached[root] = (reached_t){.rate_bps = UINT64_MAX, .known = true};
    size_t head = 0;
    size_t tail = 0;
    paths->queue[tail++] = root;
    while (head < tail) {
        const uint32_t node = paths->queue[head++];
        const reached_t here = paths->reached[node];
        for (uint32_t e = paths->first[node]; e < paths->first[node + 1]; e++) {
            const edge_t *const edge = &paths->edges[e];
            reached_t *const there = &paths->reached[edge->to];
            if (there->known) {
                continue;
            }
            *there = (reached_t){
                .delay_ns = here.delay_ns + edge->delay_ns,
                .tx_ns = here.tx_ns + edge->tx_ns,
                .rate_bps = SIM_MIN(here.rate_bps, edge->rate_bps),
                .known = true,
            };
            if (paths->file->nodes[edge->to].kind == NET_NODE_SWITCH) {
                paths->queue[tail++] = edge->to;
            }
        }
    }
}

static cli_hpcc_pair_t pair_of(const reached_t *reached)
{
    return (cli_hpcc_pair_t){2 * reached->delay_ns + reached->tx_ns, reached->rate_bps};
}

bool cli_hpcc_pair(cli_hpcc_paths_t *paths, uint32_t from, uint32_t to, cli_hpcc_pair_t *pair)
{
    if (from >= paths->file->node_count || to >= paths->file->node_count || from == to) {
        return false;
    }
    search(paths, to);
    *pair = pair_of(&paths->reached[from]);
    return paths->reached[from].known;
}

uint64_t cli_hpcc_bdp_bytes(const cli_hpcc_pair_t *pair)
{
    return (uint64_t)((sim_wide_t)pair->rtt_ns * pair->rate_bps / NS_PER_S / 8);
}

void cli_hpcc_paths_max(cli_hpcc_paths_t *paths, uint64_t *rtt_ns, uint64_t *bdp_bytes)
{
    *rtt_ns = 0;
    *bdp_bytes = 0;
    const topo_file_t *const file = paths->file;
    for (uint32_t root = 0; root < file->node_count; root++) {
        if (file->nodes[root].kind != NET_NODE_HOST) {
            continue;
        }
        search(paths, root);
        for (uint32_t node = 0; node < file->node_count; node++) {
            if (file->nodes[node].kind != NET_NODE_HOST || node == root ||
                !paths->reached[node].known) {
                continue;
            }
            const cli_hpcc_pair_t pair = pair_of(&paths->reached[node]);
            const uint64_t bdp = cli_hpcc_bdp_bytes(&pair);
            *rtt_ns = SIM_MAX(pair.rtt_ns, *rtt_ns);
            *bdp_bytes = SIM_MAX(bdp, *bdp_bytes);
        }
    }
}
