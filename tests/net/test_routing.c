// SPDX-License-Identifier: Apache-2.0
// tests/net/test_routing.c - shortest paths, ECMP, and what happens when links go down.
//
// Goal: every pair is reached over a shortest path; all equal-cost paths are used, evenly and
// independently from tier to tier; a dead link is avoided at once where there is a choice and by
// everyone after convergence; what is lost meanwhile is counted.
// Method: leaf-spines and fat-trees built here, walked by net_path_of and by packets. Statistical
// bounds are five standard deviations of the binomial, or chi-square at five.
// Not pinned: which path a given flow takes.
#include <math.h>
#include <string.h>

#include "net/link_state.h"
#include "net/network_internal.h"
#include "net/routes_internal.h"
#include "tests/check_main.h"
#include "tests/net_fixture.h"

#define RATE_BPS (100 * FIXTURE_GBPS)
#define DELAY_PS SIM_PS_PER_US

typedef struct tree {
    fixture_t fixture;
    net_node_t *leaves[128];
    net_node_t *spines[128]; // the middle tier of a fat-tree
    net_node_t *cores[64];
    uint32_t leaf_count;
    uint32_t spine_count;
    uint32_t core_count;
} tree_t;

static void add_hosts(tree_t *tree, net_node_t *leaf, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "h%zu", tree->fixture.host_count);
        fixture_link(&tree->fixture, &fixture_host(&tree->fixture, name)->node, leaf, RATE_BPS,
                     DELAY_PS);
    }
}

static net_node_t *add_switch(tree_t *tree, const net_switch_config_t *config, char kind,
                              uint32_t number)
{
    char name[32];
    (void)snprintf(name, sizeof(name), "%c%u", kind, number);
    return fixture_switch(&tree->fixture, name, config);
}

static void leaf_spine(tree_t *tree, const net_switch_config_t *config, uint32_t leaves,
                       uint32_t spines, uint32_t hosts)
{
    tree->leaf_count = leaves;
    tree->spine_count = spines;
    for (uint32_t s = 0; s < spines; s++) {
        tree->spines[s] = add_switch(tree, config, 's', s);
    }
    for (uint32_t l = 0; l < leaves; l++) {
        tree->leaves[l] = add_switch(tree, config, 'l', l);
        add_hosts(tree, tree->leaves[l], hosts);
        for (uint32_t s = 0; s < spines; s++) {
            fixture_link(&tree->fixture, tree->leaves[l], tree->spines[s], RATE_BPS, DELAY_PS);
        }
    }
}

// Builds three tiers: k pods of k/2 leaves and k/2 spines, (k/2)^2 cores, k/2 hosts a leaf.
static void fat_tree(tree_t *tree, const net_switch_config_t *config, uint32_t k)
{
    const uint32_t half = k / 2;
    tree->leaf_count = tree->spine_count = k * half;
    tree->core_count = half * half;
    for (uint32_t c = 0; c < half * half; c++) {
        tree->cores[c] = add_switch(tree, config, 'c', c);
    }
    for (uint32_t s = 0; s < k * half; s++) {
        tree->spines[s] = add_switch(tree, config, 's', s);
        for (uint32_t c = 0; c < half; c++) {
            net_node_t *const core = tree->cores[s % half * half + c];
            fixture_link(&tree->fixture, tree->spines[s], core, RATE_BPS, DELAY_PS);
        }
    }
    for (uint32_t l = 0; l < k * half; l++) {
        tree->leaves[l] = add_switch(tree, config, 'l', l);
        add_hosts(tree, tree->leaves[l], half);
        for (uint32_t s = 0; s < half; s++) {
            net_node_t *const spine = tree->spines[l / half * half + s];
            fixture_link(&tree->fixture, tree->leaves[l], spine, RATE_BPS, DELAY_PS);
        }
    }
}

static uint32_t flow_hash(const tree_t *tree, uint32_t from, uint32_t to, uint32_t flow)
{
    return net_flow_hash(tree->fixture.net, from, to, (uint16_t)(ROCE_SOURCE_PORT_MIN + flow));
}

// -- reachability

START_TEST(fat_tree_pairs_take_shortest_paths)
{
    const uint32_t k = (uint32_t)_i;
    const uint32_t half = k / 2;
    tree_t tree = {.leaf_count = 0};
    fixture_create(&tree.fixture, NULL);
    fat_tree(&tree, NULL, k);
    fixture_build(&tree.fixture);
    const uint32_t hosts = (uint32_t)tree.fixture.host_count;
    ck_assert_uint_eq(hosts, k * k * k / 4);
    for (uint32_t from = 0; from < hosts; from++) {
        for (uint32_t to = 0; to < hosts; to++) {
            net_path_t path;
            if (from == to) {
                ck_assert(!net_reachable(tree.fixture.net, from, to));
                continue;
            }
            const uint32_t hash = flow_hash(&tree, from, to, from * 7 + to);
            ck_assert(net_path_of(tree.fixture.net, from, to, hash, &path));
            const uint32_t expected = from / half == to / half                     ? 2
                                      : from / (half * half) == to / (half * half) ? 4
                                                                                   : 6;
            ck_assert_uint_eq(path.hop_count, expected);
            ck_assert_uint_eq(path.delay_ps, expected * DELAY_PS);
            ck_assert_ptr_eq(path.ports[expected - 1]->peer,
                             net_interface_port(tree.fixture.net, to));
        }
    }
    fixture_destroy(&tree.fixture);
}
END_TEST

// In graphs without symmetry hop counts equal those of Floyd and Warshall.
START_TEST(random_graphs_take_shortest_paths)
{
    enum { COUNT = 24 };
    sim_random_t random;
    sim_random_init(&random, (uint64_t)_i, 0, "graph");
    tree_t tree = {.leaf_count = 0};
    fixture_create(&tree.fixture, NULL);
    uint32_t distance[COUNT][COUNT];
    memset(distance, 0x3f, sizeof(distance));
    for (uint32_t s = 0; s < COUNT; s++) {
        tree.leaves[s] = add_switch(&tree, NULL, 's', s);
        distance[s][s] = 0;
        add_hosts(&tree, tree.leaves[s], 1);
    }
    for (uint32_t e = 0; e < 30; e++) {
        const uint32_t a = (uint32_t)sim_random_below(&random, COUNT);
        const uint32_t b = (uint32_t)sim_random_below(&random, COUNT);
        if (a != b) {
            fixture_link(&tree.fixture, tree.leaves[a], tree.leaves[b], RATE_BPS, DELAY_PS);
            distance[a][b] = distance[b][a] = 1;
        }
    }
    fixture_build(&tree.fixture);
    for (uint32_t m = 0; m < COUNT; m++) {
        for (uint32_t a = 0; a < COUNT; a++) {
            for (uint32_t b = 0; b < COUNT; b++) {
                const uint32_t through = distance[a][m] + distance[m][b];
                distance[a][b] = through < distance[a][b] ? through : distance[a][b];
            }
        }
    }
    for (uint32_t a = 0; a < COUNT; a++) {
        for (uint32_t b = 0; b < COUNT; b++) {
            net_path_t path;
            const bool found = net_path_of(tree.fixture.net, a, b, a * 31 + b, &path);
            if (a != b) {
                ck_assert_int_eq(found, distance[a][b] < COUNT);
            }
            if (a != b && found) {
                ck_assert_uint_eq(path.hop_count, distance[a][b] + 2);
            }
        }
    }
    fixture_destroy(&tree.fixture);
}
END_TEST

// The sets of equal-cost ports are compared with distances by Floyd and Warshall. The graph has
// more leaves than are searched at once, parallel links, switches without hosts, and separate
// parts.
enum { MANY = 150 };
static uint32_t many_distance[MANY][MANY];

static void many_distances(const net_node_t *const *nodes)
{
    memset(many_distance, 0x3f, sizeof(many_distance));
    for (uint32_t a = 0; a < MANY; a++) {
        many_distance[a][a] = 0;
        for (uint32_t p = 0; p < nodes[a]->port_count; p++) {
            const net_node_t *const peer = nodes[a]->ports[p].peer->node;
            for (uint32_t b = 0; b < MANY; b++) {
                many_distance[a][b] = nodes[b] == peer ? 1 : many_distance[a][b];
            }
        }
    }
    for (uint32_t m = 0; m < MANY; m++) {
        for (uint32_t a = 0; a < MANY; a++) {
            for (uint32_t b = 0; b < MANY; b++) {
                const uint32_t through = many_distance[a][m] + many_distance[m][b];
                many_distance[a][b] = through < many_distance[a][b] ? through : many_distance[a][b];
            }
        }
    }
}

START_TEST(sets_of_ports_are_complete)
{
    sim_random_t random;
    sim_random_init(&random, (uint64_t)_i, 0, "many");
    tree_t tree = {.leaf_count = 0};
    fixture_create(&tree.fixture, NULL);
    const net_node_t *nodes[MANY];
    net_node_t *built[MANY];
    uint32_t leaf_of_host[MANY];
    uint32_t hosts = 0;
    for (uint32_t s = 0; s < MANY; s++) {
        nodes[s] = built[s] = add_switch(&tree, NULL, 's', s);
        if (s % 5 != 4) {
            add_hosts(&tree, built[s], 1);
            leaf_of_host[hosts++] = s;
        }
    }
    for (uint32_t e = 0; e < 200 + (uint32_t)_i * 300; e++) {
        const uint32_t a = (uint32_t)sim_random_below(&random, MANY);
        const uint32_t b = (uint32_t)sim_random_below(&random, MANY);
        if (a != b) {
            fixture_link(&tree.fixture, built[a], built[b], RATE_BPS, DELAY_PS);
        }
    }
    fixture_build(&tree.fixture);
    many_distances(nodes);
    uint64_t sets = 0;
    for (uint32_t a = 0; a < MANY; a++) {
        const net_routes_t *const routes = &tree.fixture.net->routes[0][nodes[a]->forwarder];
        for (uint32_t host = 0; host < hosts; host++) {
            const uint32_t b = leaf_of_host[host];
            const uint32_t *ports = NULL;
            const uint32_t count = net_routes_ports(nodes[a], routes, host, &ports);
            uint32_t found = 0;
            for (uint32_t p = 0; p < nodes[a]->port_count; p++) {
                const net_node_t *const peer = nodes[a]->ports[p].peer->node;
                bool wanted = a == b && peer == &tree.fixture.hosts[host]->node;
                for (uint32_t c = 0; a != b && c < MANY; c++) {
                    wanted |= nodes[c] == peer && many_distance[a][b] < MANY &&
                              many_distance[c][b] + 1 == many_distance[a][b];
                }
                if (wanted) {
                    SIM_CHECK(found < count && ports[found] == p);
                    found++;
                }
            }
            SIM_CHECK(found == count);
            sets += count > 1;
        }
    }
    ck_assert_uint_gt(sets, 1000);
    fixture_destroy(&tree.fixture);
}
END_TEST

// Hosts never forward: a host on two switches does not join them.
START_TEST(hosts_do_not_forward)
{
    tree_t tree = {.leaf_count = 0};
    fixture_create(&tree.fixture, NULL);
    net_node_t *const s = add_switch(&tree, NULL, 's', 0);
    net_node_t *const t = add_switch(&tree, NULL, 's', 1);
    add_hosts(&tree, s, 1);
    add_hosts(&tree, t, 1);
    net_node_t *const both = &fixture_host(&tree.fixture, "both")->node;
    fixture_link(&tree.fixture, both, s, RATE_BPS, DELAY_PS);
    fixture_link(&tree.fixture, both, t, RATE_BPS, DELAY_PS);
    fixture_build(&tree.fixture);
    ck_assert(!net_reachable(tree.fixture.net, 0, 1));
    ck_assert(net_reachable(tree.fixture.net, 0, 2));
    ck_assert(!net_reachable(tree.fixture.net, 0, 3));
    ck_assert(net_reachable(tree.fixture.net, 1, 3));
    fixture_destroy(&tree.fixture);
}
END_TEST

// -- balance

// Returns Pearson's statistic of counts that should be equal, less its mean, in its standard
// deviations.
static double chi_square_excess(const uint64_t *counts, uint32_t count)
{
    double total = 0;
    for (uint32_t i = 0; i < count; i++) {
        total += (double)counts[i];
    }
    const double mean = total / count;
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += ((double)counts[i] - mean) * ((double)counts[i] - mean) / mean;
    }
    return (sum - (count - 1)) / sqrt(2.0 * (count - 1));
}

// Flows over the (first choice, second choice) of a fat-tree, from one leaf to other pods: cells of
// (k/2)^2. Returns cells in use.
static uint32_t count_cells(uint64_t ecmp_seed, uint64_t seed, uint32_t k, uint64_t *counts)
{
    const uint32_t half = k / 2;
    net_switch_config_t config = fixture_switch_config();
    config.ecmp_seed = ecmp_seed;
    const fixture_options_t options = {.seed = seed, .net = fixture_net_config()};
    tree_t tree = {.leaf_count = 0};
    fixture_create(&tree.fixture, &options);
    fat_tree(&tree, &config, k);
    fixture_build(&tree.fixture);
    memset(counts, 0, half * half * sizeof(*counts));
    const uint32_t hosts = (uint32_t)tree.fixture.host_count;
    for (uint32_t from = 0; from < half; from++) {
        for (uint32_t to = half * half; to < hosts; to++) {
            for (uint32_t flow = 0; flow < 64; flow++) {
                net_path_t path;
                const uint32_t hash = flow_hash(&tree, from, to, flow);
                SIM_CHECK(net_path_of(tree.fixture.net, from, to, hash, &path));
                const uint32_t first = path.ports[1]->index - half; // hosts come first
                const uint32_t second = path.ports[2]->index;       // cores come first
                SIM_CHECK(first < half && second < half);           // ck_assert writes to a file
                counts[first * half + second]++;
            }
        }
    }
    fixture_destroy(&tree.fixture);
    uint32_t used = 0;
    for (uint32_t i = 0; i < half * half; i++) {
        used += counts[i] > 0;
    }
    return used;
}

// If every switch has a seed of its own, all k^2 paths carry the same load. With one seed for all,
// the second tier repeats the first one's choice.
START_TEST(tiers_choose_independently)
{
    static const uint32_t ks[] = {4, 6, 8, 12};
    const uint32_t half = ks[_i] / 2;
    uint64_t counts[64];
    for (uint64_t seed = 1; seed <= 5; seed++) {
        ck_assert_uint_eq(count_cells(SIM_AUTO, seed, ks[_i], counts), half * half);
        const double excess = chi_square_excess(counts, half * half);
        ck_assert_msg(fabs(excess) < 5, "k %u seed %lu: %.2f", ks[_i], (unsigned long)seed, excess);
    }
    ck_assert_uint_eq(count_cells(42, 1, ks[_i], counts), half);
}
END_TEST

START_TEST(leaf_spreads_flows_evenly)
{
    static const uint32_t spine_counts[] = {2, 3, 5, 8, 16, 31, 64};
    const uint32_t spines = spine_counts[_i];
    tree_t tree = {.leaf_count = 0};
    fixture_create(&tree.fixture, NULL);
    leaf_spine(&tree, NULL, 2, spines, 4);
    fixture_build(&tree.fixture);
    uint64_t counts[64] = {0};
    for (uint32_t flow = 0; flow < 16000; flow++) {
        net_path_t path;
        const uint32_t from = flow % 4;
        const uint32_t to = 4 + flow / 4 % 4;
        const uint32_t hash = flow_hash(&tree, from, to, flow / 16);
        SIM_CHECK(net_path_of(tree.fixture.net, from, to, hash, &path));
        counts[path.ports[1]->index - 4]++;
    }
    ck_assert_double_lt(fabs(chi_square_excess(counts, spines)), 5);
    fixture_destroy(&tree.fixture);
}
END_TEST

// All packets of one 5-tuple take one path and stay in order.
START_TEST(one_flow_keeps_its_path)
{
    tree_t tree = {.leaf_count = 0};
    fixture_create(&tree.fixture, NULL);
    leaf_spine(&tree, NULL, 2, 8, 1);
    fixture_flow(tree.fixture.hosts[0], &(fixture_flow_t){.to = 1, .count = 1000});
    tree.fixture.hosts[1]->keep = true;
    fixture_build(&tree.fixture);
    fixture_run(&tree.fixture);
    uint32_t used = 0;
    for (uint32_t s = 0; s < 8; s++) {
        const net_port_t *const port = fixture_port(tree.leaves[0], tree.spines[s]);
        used += port->classes[0]->tx_packets > 0;
    }
    ck_assert_uint_eq(used, 1);
    ck_assert_uint_eq(tree.fixture.hosts[1]->arrival_count, 1000);
    for (uint32_t i = 0; i < 1000; i++) {
        ck_assert_uint_eq(tree.fixture.hosts[1]->arrivals[i].psn, i);
    }
    fixture_destroy(&tree.fixture);
}
END_TEST

// -- links down and up

#define DOWN_PS (UINT64_C(1000) * SIM_PS_PER_US)
#define UP_PS (UINT64_C(5000) * SIM_PS_PER_US)
#define CONVERGENCE_PS (UINT64_C(1000) * SIM_PS_PER_US)
#define PERIOD_PS UINT64_C(100000)

typedef struct watch {
    uint64_t after_down[64]; // frames by port, between the link's end and convergence
} watch_t;

static void see_tx(const net_trace_t *trace, void *ctx)
{
    watch_t *const watch = ctx;
    if (trace->time_ps > DOWN_PS && trace->time_ps < DOWN_PS + CONVERGENCE_PS) {
        watch->after_down[trace->port->index]++;
    }
}

// Runs many flows from leaf 0 to leaf 1 over 4 spines; a link of spine 1 goes down and comes back.
static void run_cut(tree_t *tree, bool near, watch_t *watch)
{
    fixture_options_t options = {.seed = 3, .net = fixture_net_config()};
    options.net.convergence_ps = CONVERGENCE_PS;
    fixture_create(&tree->fixture, &options);
    leaf_spine(tree, NULL, 2, 4, 1);
    fixture_flow(tree->fixture.hosts[0], &(fixture_flow_t){.to = 1,
                                                           .frame_bytes = 100,
                                                           .period_ps = PERIOD_PS,
                                                           .stop_ps = 8000 * SIM_PS_PER_US,
                                                           .vary_source_port = true});
    // Each leaf's links are one to its host, then those to spines 0..3.
    const uint32_t link = near ? 2 : 7;
    net_link_change_at(tree->fixture.net, link, DOWN_PS, false);
    net_link_change_at(tree->fixture.net, link, UP_PS, true);
    fixture_build(&tree->fixture);
    for (uint32_t p = 0; p < tree->leaves[0]->port_count; p++) {
        net_port_listen(&tree->leaves[0]->ports[p], NET_TRACE_TX, see_tx, watch);
    }
    fixture_run(&tree->fixture);
}

// The leaf at the dead link sends none of its flows there and spreads them over the others: only
// the packets on the link are lost.
START_TEST(dead_uplink_is_avoided_at_once)
{
    tree_t tree = {.leaf_count = 0};
    watch_t watch = {{0}};
    run_cut(&tree, true, &watch);
    const net_port_t *const dead = fixture_port(tree.leaves[0], tree.spines[1]);
    const uint64_t sent = 8000 * SIM_PS_PER_US / PERIOD_PS;
    const uint64_t lost = dead->rare->drops[NET_DROP_LINK_DOWN];
    ck_assert_uint_le(lost, DELAY_PS / PERIOD_PS + 2); // in flight
    ck_assert_uint_eq(tree.fixture.hosts[1]->received + lost, sent);
    // The leaf sends 10000 packets in that millisecond; a third of the dead link's quarter goes to
    // each other link.
    ck_assert_uint_eq(watch.after_down[dead->index], 0);
    const double expected = (double)CONVERGENCE_PS / (double)PERIOD_PS / 3;
    for (uint32_t s = 0; s < 4; s++) {
        const uint32_t port = fixture_port(tree.leaves[0], tree.spines[s])->index;
        if (s != 1) {
            ck_assert_double_le(fabs((double)watch.after_down[port] - expected),
                                5 * sqrt(expected));
        }
    }
    // The link is used until it goes down, and again as soon as the routes know that it is up.
    const sim_time_t used_ps = DOWN_PS + 8000 * SIM_PS_PER_US - UP_PS - CONVERGENCE_PS;
    const double share = (double)used_ps / (double)PERIOD_PS / 4;
    ck_assert_double_le(fabs((double)dead->classes[0]->tx_packets - share), 5 * sqrt(share));
    fixture_destroy(&tree.fixture);
}
END_TEST

// A leaf two hops away uses the dead path until the routes change: a quarter of the flows of that
// time is lost at the spine's dead port, and no packet afterwards.
START_TEST(far_link_is_avoided_after_convergence)
{
    tree_t tree = {.leaf_count = 0};
    watch_t watch = {{0}};
    run_cut(&tree, false, &watch);
    const net_port_t *const dead = fixture_port(tree.spines[1], tree.leaves[1]);
    const uint64_t sent = 8000 * SIM_PS_PER_US / PERIOD_PS;
    const uint64_t lost = dead->rare->drops[NET_DROP_LINK_DOWN];
    const double expected = (double)CONVERGENCE_PS / (double)PERIOD_PS / 4;
    ck_assert_double_le(fabs((double)lost - expected), 5 * sqrt(expected) + 20);
    ck_assert_uint_eq(tree.fixture.hosts[1]->received + lost, sent);
    ck_assert_uint_gt(watch.after_down[fixture_port(tree.leaves[0], tree.spines[1])->index], 2000);
    fixture_destroy(&tree.fixture);
}
END_TEST

// The only link goes down: all packets are lost as link-down, then as no-route, until the link is
// up and the routes know it.
START_TEST(only_link_down_and_up)
{
    fixture_options_t options = {.seed = 3, .net = fixture_net_config()};
    options.net.convergence_ps = CONVERGENCE_PS;
    tree_t tree = {.leaf_count = 0};
    fixture_create(&tree.fixture, &options);
    leaf_spine(&tree, NULL, 2, 1, 1);
    tree.fixture.hosts[1]->keep = true;
    fixture_flow(tree.fixture.hosts[0], &(fixture_flow_t){.to = 1,
                                                          .frame_bytes = 100,
                                                          .period_ps = PERIOD_PS,
                                                          .stop_ps = 8000 * SIM_PS_PER_US});
    net_link_change_at(tree.fixture.net, 1, DOWN_PS, false);
    net_link_change_at(tree.fixture.net, 1, UP_PS, true);
    fixture_build(&tree.fixture);
    fixture_run(&tree.fixture);
    const net_port_t *const dead = fixture_port(tree.leaves[0], tree.spines[0]);
    const net_port_t *const in = fixture_port(tree.leaves[0], &tree.fixture.hosts[0]->node);
    const uint64_t sent = 8000 * SIM_PS_PER_US / PERIOD_PS;
    const uint64_t down = dead->rare->drops[NET_DROP_LINK_DOWN];
    const uint64_t no_route = in->rare->drops[NET_DROP_NO_ROUTE];
    ck_assert_uint_le(down - CONVERGENCE_PS / PERIOD_PS, DELAY_PS / PERIOD_PS + 2);
    ck_assert_uint_eq(no_route, (UP_PS - DOWN_PS) / PERIOD_PS);
    ck_assert_uint_eq(tree.fixture.hosts[1]->received, sent - down - no_route);
    fixture_destroy(&tree.fixture);
}
END_TEST

// A link changes several times while earlier changes are still on their way to the routes.
START_TEST(flapping_link_ends_up)
{
    fixture_options_t options = {.seed = 3, .net = fixture_net_config()};
    options.net.convergence_ps = CONVERGENCE_PS;
    tree_t tree = {.leaf_count = 0};
    fixture_create(&tree.fixture, &options);
    leaf_spine(&tree, NULL, 2, 1, 1);
    fixture_flow(tree.fixture.hosts[0],
                 &(fixture_flow_t){.to = 1, .count = 100, .start_ps = 20000 * SIM_PS_PER_US});
    for (uint64_t i = 0; i < 20; i++) {
        net_link_change_at(tree.fixture.net, 1, DOWN_PS + i * CONVERGENCE_PS / 7, i % 2 == 1);
        net_link_change_at(tree.fixture.net, 3, DOWN_PS + i * CONVERGENCE_PS / 7, i % 2 == 1);
    }
    net_link_change_at(tree.fixture.net, 1, 2 * SIM_PS_PER_S, false);
    net_link_change_at(tree.fixture.net, 1, 3 * SIM_PS_PER_S, true);
    fixture_build(&tree.fixture);
    fixture_run(&tree.fixture);
    ck_assert_uint_eq(tree.fixture.hosts[1]->received, 100);
    ck_assert_uint_lt(sim_end_time_ps(net_sim(tree.fixture.net)), 21000 * SIM_PS_PER_US);
    fixture_destroy(&tree.fixture);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(fat_tree_pairs_take_shortest_paths, 4, 5),
           CHECK_LOOP(fat_tree_pairs_take_shortest_paths, 6, 7),
           CHECK_LOOP(random_graphs_take_shortest_paths, 0, 10),
           CHECK_LOOP(sets_of_ports_are_complete, 0, 3), CHECK_TEST(hosts_do_not_forward),
           CHECK_LOOP(tiers_choose_independently, 0, 4),
           CHECK_LOOP(leaf_spreads_flows_evenly, 0, 7), CHECK_TEST(one_flow_keeps_its_path),
           CHECK_TEST(dead_uplink_is_avoided_at_once),
           CHECK_TEST(far_link_is_avoided_after_convergence), CHECK_TEST(only_link_down_and_up),
           CHECK_TEST(flapping_link_ends_up))
