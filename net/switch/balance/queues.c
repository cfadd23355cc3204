// SPDX-License-Identifier: Apache-2.0
// net/switch/balance/queues.c - "adaptive" and "drill": the port with the least bytes, of all ports
// or of a few. Sources: docs/models/load-balancing.md.
#include "net/balance_gauges.h"
#include "net/models_internal.h"
#include "net/switch/balance/balance_internal.h"
#include "net/switch/switch_internal.h"

typedef struct queues {
    sim_random_t random;
    uint8_t *grades;      // adaptive: by port, as of graded_ps
    sim_time_t graded_ps; // 0: never
    net_flows_t flows;    // adaptive with a gap
    uint16_t *memory;     // drill: ports by leaf, switch.drill.memory each, +1; 0: none
} queues_t;

static void built(net_switch_t *sw)
{
    queues_t *const state = sw->balance_state;
    const uint64_t seed = sim_options(sw->node.sim.sim)->seed;
    net__balance_seed(sw);
    sim_random_init(&state->random, seed, sw->node.sim.index, "queues");
    state->flows.entry_bytes = sizeof(net_flowlet_t);
}

static void fini(net_switch_t *sw)
{
    queues_t *const state = sw->balance_state;
    sim_free(state->grades);
    sim_free(state->memory);
    net__flows_free(&state->flows);
}

// -- adaptive routing

#define GRADES 4u

// Returns the grade of a load: a port of the UEC simulator is below 5, 10 or 20 % of its buffer, or
// above.
static uint8_t grade_of(uint64_t load, uint64_t full)
{
    return load < full / 20 ? 0 : load < full / 10 ? 1 : load < full / 5 ? 2 : GRADES - 1;
}

static void refresh_grades(net_switch_t *sw, queues_t *state)
{
    const net_balance_config_t *const config = &sw->config.balance;
    const sim_time_t now_ps = sw->node.sim.now_ps;
    if (state->grades != NULL && now_ps - state->graded_ps < config->adaptive_refresh_ps) {
        return;
    }
    if (state->grades == NULL) {
        state->grades = sim_alloc_array(sw->node.port_count, sizeof(*state->grades));
    }
    for (uint32_t p = 0; p < sw->node.port_count; p++) {
        state->grades[p] = grade_of(net__port_load(sw, p), config->adaptive_full_bytes);
    }
    state->graded_ps = now_ps;
}

static uint64_t cost_of(net_switch_t *sw, const queues_t *state, uint32_t port)
{
    return sw->config.balance.adaptive_by == NET_ADAPTIVE_GRADES ? state->grades[port]
                                                                 : net__port_load(sw, port);
}

// Returns the live port of least cost, with equal chances for equal ones.
static uint32_t least_of(net_switch_t *sw, queues_t *state, const uint32_t *ports, uint32_t count)
{
    uint32_t best = NET_NO_PORT;
    uint64_t best_cost = UINT64_MAX;
    uint32_t equals = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (sw->node.ports[ports[i]].down) {
            continue;
        }
        const uint64_t cost = cost_of(sw, state, ports[i]);
        equals = cost == best_cost ? equals + 1 : 1;
        if (cost < best_cost ||
            (cost == best_cost && sim_random_below(&state->random, equals) == 0)) {
            best = ports[i];
            best_cost = cost;
        } else if (cost > best_cost) {
            equals = 1;
        }
    }
    return best;
}

// Moves a flow after a gap, by the toss of a coin, and only to a port that is strictly better.
static uint32_t choose_for_flow(net_switch_t *sw, queues_t *state, const net_packet_t *packet,
                                const uint32_t *ports, uint32_t count)
{
    const sim_time_t now_ps = sw->node.sim.now_ps;
    net_flowlet_t *const flow = net__flow_entry(&state->flows, net__flow_key(packet));
    if (net__flowlet_begins(sw, flow, SIM_TIME_NEVER, ports, count)) {
        flow->port = least_of(sw, state, ports, count);
    } else if (now_ps - flow->last_ps > sw->config.balance.adaptive_gap_ps &&
               sim_random_below(&state->random, 2) == 0) {
        const uint32_t best = least_of(sw, state, ports, count);
        flow->port = cost_of(sw, state, best) < cost_of(sw, state, flow->port) ? best : flow->port;
    }
    flow->known = flow->port != NET_NO_PORT;
    flow->last_ps = now_ps;
    return flow->port;
}

static uint32_t choose_adaptive(net_switch_t *sw, const net_packet_t *packet, const uint32_t *ports,
                                uint32_t count)
{
    queues_t *const state = sw->balance_state;
    const net_balance_config_t *const config = &sw->config.balance;
    if (count == 1) {
        return ports[0];
    }
    if (packet->frame_bytes < config->adaptive_hashed_bytes) {
        return net__balance_ecmp.choose(sw, packet, ports, count);
    }
    if (config->adaptive_by == NET_ADAPTIVE_GRADES) {
        refresh_grades(sw, state);
    }
    return config->adaptive_gap_ps > 0 ? choose_for_flow(sw, state, packet, ports, count)
                                       : least_of(sw, state, ports, count);
}

static sim_time_t gap_ps(const net_switch_t *sw)
{
    return sw->config.balance.adaptive_gap_ps;
}

const net_balance_ops_t net__balance_adaptive = {
    .name = "adaptive",
    .state_bytes = sizeof(queues_t),
    .spreads_flows = true,
    .late = true,
    .gap_ps = gap_ps,
    .built = built,
    .fini = fini,
    .choose = choose_adaptive,
    .path = net__balance_path,
};

// -- DRILL

// Candidates of one decision, the shortest first; equal ones in the order of arrival.
typedef struct shortest {
    uint32_t count;
    uint32_t ports[NET_DRILL_MAX];
    uint64_t loads[NET_DRILL_MAX];
} shortest_t;

// Inserts a port unless it is there; keeps the `room` shortest.
static void consider(net_switch_t *sw, shortest_t *best, uint32_t room, uint32_t port)
{
    for (uint32_t i = 0; i < best->count; i++) {
        if (best->ports[i] == port) {
            return;
        }
    }
    const uint64_t load = net__port_load(sw, port);
    uint32_t at = best->count;
    while (at > 0 && best->loads[at - 1] > load) {
        at--;
    }
    if (at >= room) {
        return;
    }
    const uint32_t last = best->count < room ? best->count++ : room - 1;
    for (uint32_t i = last; i > at; i--) {
        best->ports[i] = best->ports[i - 1];
        best->loads[i] = best->loads[i - 1];
    }
    best->ports[at] = port;
    best->loads[at] = load;
}

static bool is_one_of(uint32_t port, const uint32_t *ports, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (ports[i] == port) {
            return true;
        }
    }
    return false;
}

// Returns the shortest of the samples, or the remembered port if that is strictly shorter, and
// remembers it: DRILL with a memory of one port.
static SIM_NOINLINE uint32_t choose_with_one(net_switch_t *sw, queues_t *state, uint16_t *mine,
                                             const uint32_t *ports, uint32_t count)
{
    uint32_t best = NET_NO_PORT;
    uint64_t load = UINT64_MAX;
    for (uint64_t i = 0; i < sw->config.balance.drill_samples; i++) {
        const uint32_t port = net__random_port(sw, &state->random, ports, count);
        if (port != NET_NO_PORT && port != best) {
            const uint64_t other = net__port_load(sw, port);
            best = other < load ? port : best;
            load = SIM_MIN(other, load);
        }
    }
    const uint32_t old = *mine - 1u;
    if (*mine != 0 && old != best && !sw->node.ports[old].down && is_one_of(old, ports, count) &&
        net__port_load(sw, old) < load) {
        best = old;
    }
    *mine = (uint16_t)(best + 1);
    return best;
}

// Does so with any memory. Samples come first, so that a remembered port replaces a sample only if
// it is strictly shorter.
static SIM_NOINLINE uint32_t choose_with_any(net_switch_t *sw, const net_packet_t *packet,
                                             const uint32_t *ports, uint32_t count)
{
    queues_t *const state = sw->balance_state;
    const uint32_t memory = (uint32_t)sw->config.balance.drill_memory;
    const uint32_t room = memory > 0 ? memory : 1;
    if (state->memory == NULL && memory > 0) {
        state->memory =
            sim_alloc_array((size_t)sw->node.net->leaf_count * memory, sizeof(*state->memory));
    }
    shortest_t best = {.count = 0};
    for (uint64_t i = 0; i < sw->config.balance.drill_samples; i++) {
        const uint32_t port = net__random_port(sw, &state->random, ports, count);
        if (port != NET_NO_PORT) {
            consider(sw, &best, room, port);
        }
    }
    uint16_t *const mine =
        memory > 0 ? state->memory + (size_t)net__leaf_of(sw, packet->destination) * memory : NULL;
    for (uint32_t i = 0; i < memory; i++) {
        if (mine[i] != 0 && !sw->node.ports[mine[i] - 1u].down &&
            is_one_of(mine[i] - 1u, ports, count)) {
            consider(sw, &best, room, mine[i] - 1u);
        }
    }
    for (uint32_t i = 0; i < memory; i++) {
        mine[i] = i < best.count ? (uint16_t)(best.ports[i] + 1) : 0;
    }
    return best.count > 0 ? best.ports[0] : NET_NO_PORT;
}

static uint32_t choose_drill(net_switch_t *sw, const net_packet_t *packet, const uint32_t *ports,
                             uint32_t count)
{
    queues_t *const state = sw->balance_state;
    if (count == 1) {
        return ports[0];
    }
    if (SIM_LIKELY(sw->config.balance.drill_memory == 1 && state->memory != NULL)) {
        uint16_t *const mine = &state->memory[net__leaf_of(sw, packet->destination)];
        return choose_with_one(sw, state, mine, ports, count);
    }
    return choose_with_any(sw, packet, ports, count);
}

static void gauges_of_drill(const net_switch_t *sw, net_balance_gauges_t *gauges)
{
    const queues_t *const state = sw->balance_state;
    const size_t places =
        state->memory == NULL ? 0 : sw->node.net->leaf_count * sw->config.balance.drill_memory;
    for (size_t i = 0; i < places; i++) {
        gauges->remembered += state->memory[i] != 0;
    }
}

const net_balance_ops_t net__balance_drill = {
    .name = "drill",
    .lone = true,
    .state_bytes = sizeof(queues_t),
    .spreads_flows = true,
    .late = true,
    .built = built,
    .fini = fini,
    .choose = choose_drill,
    .path = net__balance_path,
    .gauges = gauges_of_drill,
};
