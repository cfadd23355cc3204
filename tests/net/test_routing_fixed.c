// SPDX-License-Identifier: Apache-2.0
// tests/net/test_routing_fixed.c - routes that someone else has chosen (net_route_fix).
//
// Goal: packets take exactly the ports fixed for their node and host, towards other hosts those
// that are searched, also where both hang on one switch; while a link is down all routes are
// searched; routes that do not lead to their host are refused and named.
// Method: leaf-spines walked by net_path_of over many flows, and packets counted at spines.
// Not pinned: which of several fixed ports a flow takes.
#include <string.h>

#include "net/link_state.h"
#include "net/route_choices.h"
#include "tests/check_main.h"
#include "tests/net_fixture.h"

#define SPINES 4u
#define LEAVES 3u
#define HOSTS 2u // of a leaf
#define RATE_BPS (100 * FIXTURE_GBPS)
#define DELAY_PS SIM_PS_PER_US
#define FLOWS 200u

typedef struct rig {
    fixture_t fixture;
    net_node_t *leaves[LEAVES];
    net_node_t *spines[SPINES];
    uint32_t links[LEAVES][SPINES];
} rig_t;

// Builds leaves and spines. Port h of a leaf leads to its host h, port HOSTS + s to spine s; port l
// of a spine leads to leaf l.
static void rig_create(rig_t *rig)
{
    fixture_options_t options = {.seed = 1, .net = fixture_net_config()};
    options.net.convergence_ps = 10 * SIM_PS_PER_US;
    fixture_create(&rig->fixture, &options);
    char name[32];
    for (uint32_t s = 0; s < SPINES; s++) {
        (void)snprintf(name, sizeof(name), "spine%u", s);
        rig->spines[s] = fixture_switch(&rig->fixture, name, NULL);
    }
    for (uint32_t l = 0; l < LEAVES; l++) {
        (void)snprintf(name, sizeof(name), "leaf%u", l);
        rig->leaves[l] = fixture_switch(&rig->fixture, name, NULL);
        for (uint32_t h = 0; h < HOSTS; h++) {
            (void)snprintf(name, sizeof(name), "host%u", l * HOSTS + h);
            net_node_t *const host = &fixture_host(&rig->fixture, name)->node;
            fixture_link(&rig->fixture, host, rig->leaves[l], RATE_BPS, DELAY_PS);
        }
        for (uint32_t s = 0; s < SPINES; s++) {
            rig->links[l][s] =
                fixture_link(&rig->fixture, rig->leaves[l], rig->spines[s], RATE_BPS, DELAY_PS);
        }
    }
}

static void fix(rig_t *rig, const net_node_t *node, uint32_t host, uint32_t count,
                const uint32_t *p)
{
    net_route_fix(rig->fixture.net, node, &rig->fixture.hosts[host]->node, p, count);
}

// Counts how many of FLOWS flows between two hosts take each spine.
static void count_spines(const rig_t *rig, uint32_t from, uint32_t to, uint32_t *spines)
{
    memset(spines, 0, SPINES * sizeof(*spines));
    for (uint32_t i = 0; i < FLOWS; i++) {
        net_path_t path;
        const uint32_t hash = net_flow_hash(rig->fixture.net, from, to, (uint16_t)(0xc000 + i));
        ck_assert_msg(net_path_of(rig->fixture.net, from, to, hash, &path), "%u to %u", from, to);
        ck_assert_ptr_eq(path.ports[path.hop_count - 1]->peer,
                         net_interface_port(rig->fixture.net, to));
        for (uint32_t h = 0; h < path.hop_count; h++) {
            for (uint32_t s = 0; s < SPINES; s++) {
                spines[s] += path.ports[h]->node == rig->spines[s];
            }
        }
    }
}

// Hosts 2 and 3 hang on one leaf: routes towards 2 are fixed at leaf 0, in two ports and the
// reverse order, and at leaf 2 in one.
START_TEST(fixed_ports_are_taken)
{
    rig_t rig;
    uint32_t spines[SPINES];
    rig_create(&rig);
    fix(&rig, rig.leaves[0], 2, 2, (const uint32_t[]){HOSTS + 3, HOSTS + 1});
    fix(&rig, rig.leaves[2], 2, 1, (const uint32_t[]){HOSTS + 0});
    fix(&rig, rig.leaves[2], 2, 1, (const uint32_t[]){HOSTS + 2}); // the last one counts
    fixture_build(&rig.fixture);
    count_spines(&rig, 0, 2, spines);
    ck_assert_uint_eq(spines[1] + spines[3], FLOWS);
    ck_assert_uint_gt(spines[1], 0);
    ck_assert_uint_gt(spines[3], 0);
    count_spines(&rig, 4, 2, spines);
    ck_assert_uint_eq(spines[2], FLOWS);
    for (uint32_t s = 0; s < SPINES; s++) {
        count_spines(&rig, 0, 3, spines); // its neighbour: searched
        ck_assert_uint_gt(spines[s], 0);
        count_spines(&rig, 4, 1, spines);
        ck_assert_uint_gt(spines[s], 0);
    }
    count_spines(&rig, 3, 2, spines); // on the leaf itself
    ck_assert_uint_eq(spines[0] + spines[1] + spines[2] + spines[3], 0);
    fixture_run(&rig.fixture);
    fixture_destroy(&rig.fixture);
}
END_TEST

// Spine 0 sends packets for host 4 over leaf 1 and spine 3: two links more than the shortest path.
START_TEST(detours_are_possible)
{
    rig_t rig;
    net_path_t path;
    rig_create(&rig);
    fix(&rig, rig.leaves[0], 4, 1, (const uint32_t[]){HOSTS + 0});
    fix(&rig, rig.spines[0], 4, 1, (const uint32_t[]){1});
    fix(&rig, rig.leaves[1], 4, 1, (const uint32_t[]){HOSTS + 3});
    fixture_flow(rig.fixture.hosts[0], &(fixture_flow_t){.to = 4, .count = 10});
    fixture_build(&rig.fixture);
    ck_assert(net_path_of(rig.fixture.net, 0, 4, 17, &path));
    ck_assert_uint_eq(path.hop_count, 6);
    ck_assert_ptr_eq(path.ports[3]->node, rig.leaves[1]);
    fixture_run(&rig.fixture);
    ck_assert_uint_eq(rig.fixture.hosts[4]->received, 10);
    ck_assert_uint_eq(rig.leaves[1]->ports[HOSTS + 3].classes[0]->tx_packets, 10);
    fixture_destroy(&rig.fixture);
}
END_TEST

// All flows to host 2 are fixed over spine 1. When a link that none of them uses goes down and
// comes back, they spread over all spines in between, after convergence.
START_TEST(searched_while_a_link_is_down)
{
    rig_t rig;
    rig_create(&rig);
    const sim_time_t down_ps = 1000 * SIM_PS_PER_US;
    const sim_time_t up_ps = 2000 * SIM_PS_PER_US;
    fix(&rig, rig.leaves[0], 2, 1, (const uint32_t[]){HOSTS + 1});
    net_link_change_at(rig.fixture.net, rig.links[2][0], down_ps, false);
    net_link_change_at(rig.fixture.net, rig.links[2][0], up_ps, true);
    for (uint32_t third = 0; third < 3; third++) {
        fixture_flow(rig.fixture.hosts[0],
                     &(fixture_flow_t){.to = 2,
                                       .count = 100,
                                       .vary_source_port = true,
                                       .start_ps = third * down_ps + 100 * SIM_PS_PER_US});
    }
    fixture_build(&rig.fixture);
    fixture_run(&rig.fixture);
    ck_assert_uint_eq(rig.fixture.hosts[2]->received, 300);
    uint64_t sent[SPINES];
    for (uint32_t s = 0; s < SPINES; s++) {
        sent[s] = rig.leaves[0]->ports[HOSTS + s].classes[0]->tx_packets;
    }
    const uint64_t others = sent[0] + sent[2] + sent[3];
    ck_assert_uint_eq(sent[1] + others, 300);
    // 75 are expected, with a standard deviation of 4.4.
    ck_assert_msg(others >= 53 && others <= 97, "%lu of 100 elsewhere", (unsigned long)others);
    fixture_destroy(&rig.fixture);
}
END_TEST

static void refused(rig_t *rig, const char *text)
{
    sim_message_t message = {.text = ""};
    ck_assert_int_eq(net_build(rig->fixture.net, &message), SIM_ERR_INVALID);
    ck_assert_msg(strcmp(message.text, text) == 0, "it says: %s", message.text);
    fixture_destroy(&rig->fixture);
}

START_TEST(circles_are_refused)
{
    rig_t rig;
    rig_create(&rig);
    fix(&rig, rig.leaves[1], 4, 2, (const uint32_t[]){HOSTS + 0, HOSTS + 2});
    fix(&rig, rig.spines[2], 4, 1, (const uint32_t[]){1});
    refused(&rig,
            "routes towards host4 go in a circle: by spine2, leaf1, spine2, expected next hops "
            "that lead to it");
}
END_TEST

START_TEST(dead_ends_are_refused)
{
    rig_t rig;
    rig_create(&rig);
    net_node_t *const lonely = fixture_switch(&rig.fixture, "lonely", NULL);
    net_node_t *const behind = fixture_switch(&rig.fixture, "behind", NULL);
    fixture_link(&rig.fixture, lonely, behind, RATE_BPS, DELAY_PS);
    fix(&rig, lonely, 0, 1, (const uint32_t[]){0});
    refused(&rig,
            "routes towards host0 end before it: by lonely, behind, and no further, expected next "
            "hops that lead to it");
}
END_TEST

CHECK_MAIN(CHECK_TEST(fixed_ports_are_taken), CHECK_TEST(detours_are_possible),
           CHECK_TEST(searched_while_a_link_is_down), CHECK_TEST(circles_are_refused),
           CHECK_TEST(dead_ends_are_refused))
