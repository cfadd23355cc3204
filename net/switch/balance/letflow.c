// SPDX-License-Identifier: Apache-2.0
// net/switch/balance/letflow.c - "letflow": each flowlet takes a random port. A flowlet begins when
// a flow has paused for switch.letflow.gap. Source: docs/models/letflow.md.
#include "net/balance_gauges.h"
#include "net/switch/balance/balance_internal.h"

typedef struct letflow {
    sim_random_t random;
    net_flows_t flows;
    uint64_t flowlets; // begun so far
} letflow_t;

static void built(net_switch_t *sw)
{
    letflow_t *const state = sw->balance_state;
    const uint64_t seed = sim_options(sw->node.sim.sim)->seed;
    net__balance_seed(sw);
    sim_random_init(&state->random, seed, sw->node.sim.index, "letflow");
    state->flows.entry_bytes = sizeof(net_flowlet_t);
}

static void fini(net_switch_t *sw)
{
    letflow_t *const state = sw->balance_state;
    net__flows_free(&state->flows);
}

static uint32_t choose(net_switch_t *sw, const net_packet_t *packet, const uint32_t *ports,
                       uint32_t count)
{
    letflow_t *const state = sw->balance_state;
    if (count == 1) {
        return ports[0];
    }
    net_flowlet_t *const flow = net__flow_entry(&state->flows, net__flow_key(packet));
    if (net__flowlet_begins(sw, flow, sw->config.balance.letflow_gap_ps, ports, count)) {
        flow->port = net__random_port(sw, &state->random, ports, count);
        flow->known = flow->port != NET_NO_PORT;
        state->flowlets++;
    }
    flow->last_ps = sw->node.sim.now_ps;
    return flow->port;
}

static void gauges(const net_switch_t *sw, net_balance_gauges_t *gauges)
{
    const letflow_t *const state = sw->balance_state;
    gauges->flows = state->flows.count;
    gauges->flowlets = state->flowlets;
}

static sim_time_t gap_ps(const net_switch_t *sw)
{
    return sw->config.balance.letflow_gap_ps;
}

const net_balance_ops_t net__balance_letflow = {
    .name = "letflow",
    .lone = true,
    .state_bytes = sizeof(letflow_t),
    .spreads_flows = true,
    .late = true,
    .gap_ps = gap_ps,
    .built = built,
    .fini = fini,
    .choose = choose,
    .path = net__balance_path,
    .gauges = gauges,
};
