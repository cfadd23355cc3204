// SPDX-License-Identifier: Apache-2.0
// net/switch/balance/conweave.c - "conweave" at the source's leaf: it asks for a reply in each
// epoch of a flow and moves the flow when the reply is late. Page: docs/models/conweave.md.
//
// The last packet on the old path is the TAIL; packets on the new path are marked as rerouted until
// a CLEAR says that the destination's leaf has put them in order (conweave_order.c).
#include "net/models_internal.h"
#include "net/nodes.h"
#include "net/switch/balance/conweave_internal.h"
#include "net/switch/ecmp.h"

#define PATHS_MAX 256u

typedef enum phase { PHASE_NEW, PHASE_WAITS, PHASE_HEARD, PHASE_MOVED } phase_t;

typedef struct sending {
    uint64_t key;
    sim_time_t last_ps;
    sim_time_t asked_ps; // PHASE_WAITS: since when
    uint16_t tailed;     // PHASE_MOVED: stamp of the TAIL
    uint8_t epoch;
    uint8_t path;
    uint8_t phase; // phase_t
    bool known;
} sending_t;

static void built(net_switch_t *sw)
{
    net_conweave_t *const state = sw->balance_state;
    net__balance_seed(sw);
    sim_random_init(&state->random, sim_options(sw->node.sim.sim)->seed, sw->node.sim.index,
                    "conweave");
    state->sent.entry_bytes = sizeof(sending_t);
}

static void forget_paths(net_conweave_t *state, uint32_t leaves)
{
    for (uint32_t i = 0; state->paths != NULL && i < leaves; i++) {
        sim_free(state->paths[i]);
        sim_free(state->busy[i]);
    }
    sim_free(state->paths);
    sim_free(state->busy);
    state->paths = NULL;
    state->busy = NULL;
}

static void fini(net_switch_t *sw)
{
    net_conweave_t *const state = sw->balance_state;
    forget_paths(state, sw->node.net->leaf_count);
    net__conweave_holds_free(state);
    net__flows_free(&state->sent);
    net__flows_free(&state->received);
}

// -- paths

// Returns the number of shortest paths from a node to a leaf, at most PATHS_MAX.
static uint32_t count_paths(const net_t *net, const net_routes_t *routes, const net_node_t *node,
                            uint32_t leaf)
{
    if (node == net->leaves[leaf] || node->forward == NULL) {
        return 1;
    }
    const net_routes_t *const mine = &routes[node->forwarder];
    const net_hop_t hop = net__hop(mine->pages, leaf);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < hop.count && sum < PATHS_MAX; i++) {
        const net_node_t *const next = net_neighbour(node, mine->ports[hop.first + i]);
        sum += count_paths(net, routes, next, leaf);
    }
    return SIM_MIN(sum, PATHS_MAX);
}

// Returns, for each port of the entry of a leaf, how many paths lead on from there.
static const uint32_t *paths_of(net_switch_t *sw, uint32_t leaf, const uint32_t *ports,
                                uint32_t count)
{
    const net_t *const net = sw->node.net;
    net_conweave_t *const state = sw->balance_state;
    if (state->routes != (const void *)sw->hop_pages) {
        forget_paths(state, net->leaf_count);
        state->routes = (const void *)sw->hop_pages;
        state->paths = sim_alloc_array(net->leaf_count, sizeof(*state->paths));
        state->busy = sim_alloc_array(net->leaf_count, sizeof(*state->busy));
    }
    if (state->paths[leaf] == NULL) {
        const net_routes_t *const routes = net__routes_now(sw);
        state->paths[leaf] = sim_alloc_array(count, sizeof(uint32_t));
        for (uint32_t i = 0; i < count; i++) {
            state->paths[leaf][i] =
                count_paths(net, routes, net_neighbour(&sw->node, ports[i]), leaf);
        }
    }
    return state->paths[leaf];
}

static uint32_t sum_of(const uint32_t *paths, uint32_t count)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += paths[i];
    }
    return SIM_MIN(sum, PATHS_MAX);
}

// Returns until when a path to a leaf is avoided; it may be set.
static sim_time_t *busy_of(net_conweave_t *state, uint32_t leaf, uint8_t path)
{
    if (state->busy[leaf] == NULL) {
        state->busy[leaf] = sim_alloc_array(PATHS_MAX, sizeof(sim_time_t));
    }
    return &state->busy[leaf][path];
}

// Returns the port of a path, and its number among the paths of the next switch.
static uint32_t port_of(const net_switch_t *sw, const uint32_t *paths, const uint32_t *ports,
                        uint32_t count, uint32_t path, uint8_t *onward)
{
    uint32_t i = 0;
    while (i + 1 < count && path >= paths[i]) {
        path -= paths[i++];
    }
    *onward = (uint8_t)path;
    return sw->node.ports[ports[i]].down && count > 1
               ? net_switch_choose_live(sw, ports, count, path * 0x9e3779b1u)
               : ports[i];
}

// -- the source's leaf

// Returns whether the reply to a flow's request has not come in time.
static bool is_late(const net_switch_t *sw, const sending_t *flow)
{
    return sw->node.sim.now_ps - flow->asked_ps > sw->config.balance.conweave_reply_ps;
}

// Draws two paths, other than `own` if that is one of them, and returns the first one that is not
// busy. If both are busy, it returns `own`.
static uint32_t draw_path(net_switch_t *sw, uint32_t leaf, uint32_t own, uint32_t path_count)
{
    net_conweave_t *const state = sw->balance_state;
    const uint32_t others = path_count - (own < path_count);
    for (uint32_t draw = 0; draw < 2 && others != 0; draw++) {
        const uint32_t drawn = (uint32_t)sim_random_below(&state->random, others);
        const uint32_t path = drawn + (drawn >= own);
        if (*busy_of(state, leaf, (uint8_t)path) <= sw->node.sim.now_ps) {
            return path;
        }
    }
    return own;
}

static void begin_epoch(sending_t *flow)
{
    flow->epoch = (uint8_t)((flow->epoch + 1) & 3);
    flow->phase = PHASE_NEW;
}

// Gives a new flow, or one whose path is gone, a path: of two random ones, one that is not busy.
static void place(net_switch_t *sw, sending_t *flow, uint32_t leaf, uint32_t path_count)
{
    net_conweave_t *const state = sw->balance_state;
    const uint32_t path = draw_path(sw, leaf, PATHS_MAX, path_count);
    flow->path = (uint8_t)(path < path_count ? path : sim_random_below(&state->random, path_count));
}

// Begins a new epoch where one is due: after a reply, or after a pause of the flow. A pause also
// draws a path.
static void refresh(net_switch_t *sw, sending_t *flow, uint32_t leaf, uint32_t path_count)
{
    const sim_time_t now_ps = sw->node.sim.now_ps;
    if (!flow->known) {
        flow->known = true;
        place(sw, flow, leaf, path_count);
    } else if (flow->path >= path_count) {
        place(sw, flow, leaf, path_count);
        begin_epoch(flow);
    } else if (now_ps - flow->last_ps > sw->config.balance.conweave_inactive_ps) {
        flow->path = (uint8_t)draw_path(sw, leaf, flow->path, path_count);
        begin_epoch(flow);
    } else if (flow->phase == PHASE_HEARD) {
        begin_epoch(flow);
    }
    flow->last_ps = now_ps;
}

// Moves a flow whose reply is late, if one of two other paths is not busy. The packet is then the
// TAIL of the old path. Otherwise the flow stays, and has as much time again until the next draw.
// It begins no epoch: four epochs on one slow path would be the first one again, modulo 4.
static void move(net_switch_t *sw, sending_t *flow, uint32_t leaf, uint32_t path_count,
                 net_conweave_header_t *header)
{
    const uint32_t next = draw_path(sw, leaf, flow->path, path_count);
    if (next == flow->path) {
        flow->asked_ps = sw->node.sim.now_ps;
        return;
    }
    header->tail = true;
    flow->tailed = header->sent;
    flow->phase = PHASE_MOVED;
    flow->path = (uint8_t)next;
    ((net_conweave_t *)sw->balance_state)->reroutes++;
}

// Decides about the next packet of a flow and writes its header.
static void plan(net_switch_t *sw, sending_t *flow, uint32_t leaf, uint32_t path_count,
                 net_conweave_header_t *header)
{
    const sim_time_t now_ps = sw->node.sim.now_ps;
    refresh(sw, flow, leaf, path_count);
    *header = (net_conweave_header_t){
        .kind = NET_CONWEAVE_DATA,
        .epoch = flow->epoch,
        .path = flow->path,
        .sent = net__conweave_stamp(now_ps),
        .rerouted = flow->phase == PHASE_MOVED,
        .tailed = flow->phase == PHASE_MOVED ? flow->tailed : 0,
    };
    if (flow->phase == PHASE_WAITS && is_late(sw, flow)) {
        move(sw, flow, leaf, path_count, header);
    }
    if (flow->phase == PHASE_NEW) {
        header->kind = NET_CONWEAVE_REQUEST;
        flow->phase = PHASE_WAITS;
        flow->asked_ps = now_ps;
    }
}

// Handles a control packet about a flow from here.
static void hear(net_switch_t *sw, const net_packet_t *packet)
{
    net_conweave_t *const state = sw->balance_state;
    const net_conweave_header_t header = net__conweave_get(packet);
    net_packet_t data = *packet; // the flow's packets go the other way
    data.source = packet->destination;
    data.destination = packet->source;
    const uint32_t leaf = net__leaf_of(sw, data.destination);
    if (header.kind == NET_CONWEAVE_NOTIFY) {
        if (state->busy != NULL) {
            *busy_of(state, leaf, header.path) =
                sw->node.sim.now_ps + sw->config.balance.conweave_busy_ps;
        }
        return;
    }
    sending_t *const flow = net__flow_entry(&state->sent, net__flow_key(&data));
    if (flow->known && flow->epoch == header.epoch) {
        if (header.kind == NET_CONWEAVE_REPLY && flow->phase == PHASE_WAITS && !is_late(sw, flow)) {
            flow->phase = PHASE_HEARD;
        } else if (header.kind == NET_CONWEAVE_CLEAR && flow->phase == PHASE_MOVED) {
            begin_epoch(flow);
        }
    }
}

// -- all switches

// Returns whether ConWeave balances the packet: it has data.
static bool is_data(const net_packet_t *packet)
{
    return packet->payload_bytes != 0;
}

static bool enters(net_switch_t *sw, net_port_t *ingress, net_packet_t *packet)
{
    net_conweave_t *const state = sw->balance_state;
    const bool here = net__is_here(sw, packet->destination);
    state->planned = net__from_host(ingress) && !here;
    if (state->planned) {
        net_packet_aside(packet)->overlay = 0;
        net_packet_grow(&sw->node, packet, sw->header_bytes);
    } else if (here && !net__from_host(ingress)) {
        const net_conweave_kind_t kind = net__conweave_kind(packet);
        net_packet_shrink(&sw->node, packet, sw->header_bytes);
        if (kind >= NET_CONWEAVE_REPLY) {
            hear(sw, packet);
            net_packet_deliver(&sw->node, packet);
            return false;
        }
        return kind == NET_CONWEAVE_PLAIN || net__conweave_arrives(sw, ingress, packet);
    }
    return true;
}

static uint32_t choose(net_switch_t *sw, const net_packet_t *packet, const uint32_t *ports,
                       uint32_t count)
{
    net_conweave_t *const state = sw->balance_state;
    if (count == 1 && sw->leaf >= NET_NO_LEAF - 1) {
        return ports[0]; // a switch without hosts, on the only way
    }
    if (!is_data(packet) || (!state->planned && net__conweave_kind(packet) == NET_CONWEAVE_PLAIN)) {
        return net__choose_hashed(sw, packet, ports, count);
    }
    const uint32_t leaf = net__leaf_of(sw, packet->destination);
    const uint32_t *const paths = paths_of(sw, leaf, ports, count);
    uint8_t onward = 0;
    if (!state->planned) {
        const uint32_t path = net__conweave_onward(packet);
        const uint32_t port = port_of(sw, paths, ports, count, path, &onward);
        net__conweave_set_onward(packet, onward);
        return port;
    }
    sending_t *const flow = net__flow_entry(&state->sent, net__flow_key(packet));
    net_conweave_header_t header;
    plan(sw, flow, leaf, sum_of(paths, count), &header);
    const uint32_t port = port_of(sw, paths, ports, count, header.path, &header.onward);
    net__conweave_put(packet, &header);
    return port;
}

static uint32_t header_bytes(const net_switch_t *sw)
{
    return (uint32_t)sw->config.balance.conweave_header_bytes;
}

static sim_time_t gap_ps(const net_switch_t *sw)
{
    (void)sw;
    return SIM_TIME_NEVER;
}

const net_balance_ops_t net__balance_conweave = {
    .name = "conweave",
    .state_bytes = sizeof(net_conweave_t),
    .spreads_flows = true,
    .late = true,
    .gap_ps = gap_ps,
    .built = built,
    .fini = fini,
    .choose = choose,
    .enters = enters,
    .enters_leaves = true,
    .header_bytes = header_bytes,
    .path = net__balance_path,
    .gauges = net__conweave_gauges,
};
