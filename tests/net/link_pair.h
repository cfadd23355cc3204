// SPDX-License-Identifier: Apache-2.0
// tests/net/link_pair.h - two scripted hosts, a and b, at one link.
#ifndef TESTS_NET_LINK_PAIR_H
#define TESTS_NET_LINK_PAIR_H

#include "tests/net_fixture.h"

#define DELAY_PS UINT64_C(1000003)

typedef struct pair {
    fixture_t fixture;
    fixture_host_t *a;
    fixture_host_t *b;
    net_port_t *a_port;
    net_port_t *b_port;
} pair_t;

static inline void pair_create(pair_t *pair, uint64_t seed, const net_link_config_t *link)
{
    const fixture_options_t options = {.seed = seed, .net = fixture_net_config()};
    fixture_create(&pair->fixture, &options);
    pair->a = fixture_host(&pair->fixture, "a");
    pair->b = fixture_host(&pair->fixture, "b");
    net_link_add(pair->fixture.net, &pair->a->node, &pair->b->node, link);
    pair->b->keep = true;
}

static inline void pair_build(pair_t *pair)
{
    fixture_build(&pair->fixture);
    pair->a_port = &pair->a->node.ports[0];
    pair->b_port = &pair->b->node.ports[0];
}

#endif // TESTS_NET_LINK_PAIR_H
