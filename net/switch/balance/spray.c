// SPDX-License-Identifier: Apache-2.0
// net/switch/balance/spray.c - "random" and "round-robin": each packet takes a port of its own,
// whatever the queues are. Page: docs/models/load-balancing.md.
#include "net/switch/balance/balance_internal.h"

typedef struct spray {
    sim_random_t random;
    uint16_t *turns; // by leaf: index of the next port, modulo the count; NULL: not used yet
} spray_t;

static void built(net_switch_t *sw)
{
    spray_t *const state = sw->balance_state;
    const uint64_t seed = sim_options(sw->node.sim.sim)->seed;
    net__balance_seed(sw);
    sim_random_init(&state->random, seed, sw->node.sim.index, "spray");
}

static void fini(net_switch_t *sw)
{
    spray_t *const state = sw->balance_state;
    sim_free(state->turns);
}

static uint32_t choose_random(net_switch_t *sw, const net_packet_t *packet, const uint32_t *ports,
                              uint32_t count)
{
    (void)packet;
    spray_t *const state = sw->balance_state;
    return net__random_port(sw, &state->random, ports, count);
}

// Lets switches begin at random ports, or all would send their first packets by one spine.
static void begin_turns(net_switch_t *sw, spray_t *state)
{
    const uint32_t leaves = sw->node.net->leaf_count;
    state->turns = sim_alloc_array(leaves, sizeof(*state->turns));
    for (uint32_t leaf = 0; leaf < leaves; leaf++) {
        state->turns[leaf] = (uint16_t)sim_random_below(&state->random, UINT16_MAX);
    }
}

static uint32_t choose_in_turn(net_switch_t *sw, const net_packet_t *packet, const uint32_t *ports,
                               uint32_t count)
{
    spray_t *const state = sw->balance_state;
    if (count == 1) {
        return ports[0];
    }
    if (SIM_UNLIKELY(state->turns == NULL)) {
        begin_turns(sw, state);
    }
    uint16_t *const turn = &state->turns[net__leaf_of(sw, packet->destination)];
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t port = ports[*turn % count];
        *turn = (uint16_t)((*turn % count + 1) % count);
        if (SIM_LIKELY(!sw->node.ports[port].down)) {
            return port;
        }
    }
    return NET_NO_PORT;
}

const net_balance_ops_t net__balance_random = {
    .name = "random",
    .lone = true,
    .state_bytes = sizeof(spray_t),
    .spreads_flows = true,
    .late = true,
    .built = built,
    .fini = fini,
    .choose = choose_random,
    .path = net__balance_path,
};

const net_balance_ops_t net__balance_round_robin = {
    .name = "round-robin",
    .lone = true,
    .state_bytes = sizeof(spray_t),
    .spreads_flows = true,
    .late = true,
    .built = built,
    .fini = fini,
    .choose = choose_in_turn,
    .path = net__balance_path,
};
