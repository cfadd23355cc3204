// SPDX-License-Identifier: Apache-2.0
// net/switch/balance/conga.c - "conga": a flowlet takes the uplink whose path to the destination
// leaf is least utilised, as that leaf has reported. Sources: docs/models/conga.md.
//
// Header, from the high byte on: uplink (LBTag), CE, FB_LBTag + 1 (0: no feedback), FB_Metric. The
// paper's fields have 4, 3, 4 and 3 bits. Above the leaves, packets take ports by hash. With
// switch.conga.rules conweave-ns3, only packets with payload say something in it.
#include "net/balance_gauges.h"
#include "net/models_internal.h"
#include "net/switch/balance/balance_internal.h"
#include "net/switch/ecmp.h"

#define UPLINKS_MAX 254u

// The knowledge about the path by one uplink to (or from) one leaf.
typedef struct metric {
    sim_time_t since_ps; // 0: never reported
    uint8_t value;
    bool news; // `from`: not fed back yet
} metric_t;

typedef struct leaf_table {
    metric_t to[UPLINKS_MAX];   // by this leaf's uplink: reported by the other leaf
    metric_t from[UPLINKS_MAX]; // by the other leaf's uplink: seen here
    uint8_t next;               // uplink that the next packet reports
    uint8_t count;              // uplinks of the other leaf seen so far
} leaf_table_t;

// The discounting rate estimator of a link.
typedef struct dre {
    double bytes;
    uint64_t decays;   // intervals since time 0 that are taken into account
    double step_bytes; // one step of utilisation: a share of what it has if the link is always busy
    uint64_t rate_bps; // for which that was computed; 0: not computed yet
} dre_t;

typedef struct conga {
    sim_random_t random;
    net_flows_t flows;
    dre_t *dres;           // by port
    uint64_t interval;     // of the estimators: the latest one that was asked for
    sim_time_t begin_ps;   // of that interval
    leaf_table_t **leaves; // by leaf number; NULL: nothing was exchanged yet
    uint64_t flowlets;     // begun so far
    bool at_source;        // the packet being routed came from a host
} conga_t;

static void built(net_switch_t *sw)
{
    conga_t *const state = sw->balance_state;
    net__balance_seed(sw);
    sim_random_init(&state->random, sim_options(sw->node.sim.sim)->seed, sw->node.sim.index,
                    "conga");
    state->flows.entry_bytes = sizeof(net_flowlet_t);
}

static void fini(net_switch_t *sw)
{
    conga_t *const state = sw->balance_state;
    sim_free_each(state->leaves, sw->node.net->leaf_count);
    sim_free(state->leaves);
    sim_free(state->dres);
    net__flows_free(&state->flows);
}

static SIM_NOINLINE leaf_table_t *add_table(net_switch_t *sw, uint32_t leaf)
{
    conga_t *const state = sw->balance_state;
    if (state->leaves == NULL) {
        state->leaves = sim_alloc_array(sw->node.net->leaf_count, sizeof(leaf_table_t *));
    }
    state->leaves[leaf] = sim_alloc(sizeof(leaf_table_t));
    return state->leaves[leaf];
}

static inline leaf_table_t *table_of(net_switch_t *sw, uint32_t interface)
{
    const conga_t *const state = sw->balance_state;
    const uint32_t leaf = net__leaf_of(sw, interface);
    leaf_table_t *const table = state->leaves == NULL ? NULL : state->leaves[leaf];
    return SIM_LIKELY(table != NULL) ? table : add_table(sw, leaf);
}

static bool as_simulator(const net_switch_t *sw)
{
    return sw->config.balance.conga_rules == NET_CONGA_SIMULATOR;
}

// Returns whether the packet's header says something, and whether it counts in the estimators.
static bool takes_part(const net_switch_t *sw, const net_packet_t *packet)
{
    return !as_simulator(sw) || packet->payload_bytes != 0;
}

// Returns whether what was reported at since_ps still counts. The simulator looks for old values
// once in each `ageing`, so they live up to twice as long.
static bool is_fresh(const net_switch_t *sw, sim_time_t since_ps)
{
    const sim_time_t ageing_ps = sw->config.balance.conga_ageing_ps;
    const sim_time_t now_ps = sw->node.sim.now_ps;
    const sim_time_t looked_ps = as_simulator(sw) ? now_ps - now_ps % ageing_ps : now_ps;
    return since_ps != 0 && (looked_ps < since_ps || looked_ps - since_ps < ageing_ps);
}

// -- utilisation

// Returns the number of the estimators' interval that lasts now. The state keeps this
// number, as most packets come in the same interval as the one before.
static uint64_t interval_now(const net_switch_t *sw)
{
    conga_t *const state = sw->balance_state;
    const sim_time_t length_ps = sw->config.balance.conga_dre_ps;
    if (sw->node.sim.now_ps - state->begin_ps >= length_ps) {
        state->interval = sw->node.sim.now_ps / length_ps;
        state->begin_ps = state->interval * length_ps;
    }
    return state->interval;
}

// Decays an estimator to the interval `now`.
static SIM_NOINLINE void decay(const net_switch_t *sw, dre_t *dre, uint64_t now)
{
    const sim_ratio_t ratio = sw->config.balance.conga_alpha;
    const double alpha = (double)ratio.num / (double)ratio.den;
    for (; dre->decays < now && dre->bytes > 1; dre->decays++) {
        dre->bytes *= 1 - alpha;
    }
    dre->bytes = dre->decays < now ? 0 : dre->bytes;
    dre->decays = now;
}

// Returns a port's estimator, decayed to the present.
static inline dre_t *dre_of(net_switch_t *sw, uint32_t port)
{
    conga_t *const state = sw->balance_state;
    if (SIM_UNLIKELY(state->dres == NULL)) {
        state->dres = sim_alloc_array(sw->node.port_count, sizeof(*state->dres));
    }
    dre_t *const dre = &state->dres[port];
    const uint64_t now = interval_now(sw);
    if (dre->decays != now) {
        decay(sw, dre, now);
    }
    return dre;
}

// Computes what a port's estimator has if the link is always busy: about rate x interval / alpha.
static SIM_NOINLINE void fill_in(const net_switch_t *sw, dre_t *dre, uint64_t rate_bps)
{
    const net_balance_config_t *const config = &sw->config.balance;
    dre->rate_bps = rate_bps;
    const double full_bytes = (double)rate_bps / 8 * (double)config->conga_dre_ps /
                              (double)SIM_PS_PER_S * (double)config->conga_alpha.den /
                              (double)config->conga_alpha.num;
    dre->step_bytes = full_bytes / (double)(1u << config->conga_bits); // exact: a power of two
}

// Returns a port's utilisation in 2^bits steps, by its estimator. In the simulator, a value beyond
// the last step is not cut.
static inline uint8_t utilisation(const net_switch_t *sw, uint32_t port, dre_t *dre)
{
    const uint64_t rate_bps = sw->node.ports[port].line->rate_bps;
    if (SIM_UNLIKELY(dre->rate_bps != rate_bps)) {
        fill_in(sw, dre, rate_bps);
    }
    const uint32_t steps = 1u << sw->config.balance.conga_bits;
    const double share = dre->bytes / dre->step_bytes;
    const uint32_t most = as_simulator(sw) ? UINT8_MAX : steps - 1;
    return (uint8_t)(share >= most ? most : (uint32_t)share);
}

// -- the header

static uint8_t field(const net_packet_t *packet, unsigned index)
{
    return (uint8_t)(net_packet_aside(packet)->overlay >> (56 - 8 * index));
}

static void set_field(const net_packet_t *packet, unsigned index, uint8_t value)
{
    net_packet_aside_t *const aside = net_packet_aside(packet);
    const unsigned shift = 56 - 8 * index;
    aside->overlay = (aside->overlay & ~(UINT64_C(0xff) << shift)) | (uint64_t)value << shift;
}
enum { LBTAG, CE, FB_LBTAG, FB_METRIC };

// Informs the destination's leaf about the next of its uplinks that has news. A path without
// packets has none, so what the other leaf knows of it ages.
static void put_feedback(net_switch_t *sw, const net_packet_t *packet)
{
    leaf_table_t *const table = table_of(sw, packet->destination);
    for (uint32_t i = 0; i < table->count; i++) {
        table->next = (uint8_t)(table->next + 1 < table->count ? table->next + 1 : 0);
        if (table->from[table->next].news) {
            table->from[table->next].news = false;
            set_field(packet, FB_LBTAG, (uint8_t)(table->next + 1));
            set_field(packet, FB_METRIC, table->from[table->next].value);
            return;
        }
    }
}

// Informs the destination's leaf about a random one of its uplinks that it has used lately, as the
// simulator does.
static void put_random_feedback(net_switch_t *sw, const net_packet_t *packet)
{
    conga_t *const state = sw->balance_state;
    const leaf_table_t *const table = table_of(sw, packet->destination);
    uint32_t known = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        known += is_fresh(sw, table->from[i].since_ps);
    }
    if (known == 0) {
        return;
    }
    uint32_t left = (uint32_t)sim_random_below(&state->random, known);
    uint32_t uplink = 0;
    while (!is_fresh(sw, table->from[uplink].since_ps) || left-- > 0) {
        uplink++;
    }
    set_field(packet, FB_LBTAG, (uint8_t)(uplink + 1));
    set_field(packet, FB_METRIC, table->from[uplink].value);
}

// Takes what the packet reports about its own path, and of paths in the other direction.
static void take_header(net_switch_t *sw, const net_packet_t *packet)
{
    leaf_table_t *const table = table_of(sw, packet->source);
    const sim_time_t now_ps = sw->node.sim.now_ps;
    const uint8_t uplink = field(packet, LBTAG);
    const uint8_t told = field(packet, FB_LBTAG);
    if (uplink < UPLINKS_MAX) {
        table->from[uplink] = (metric_t){now_ps, field(packet, CE), true};
        table->count = uplink >= table->count ? (uint8_t)(uplink + 1) : table->count;
    }
    if (told != 0) {
        table->to[told - 1] = (metric_t){now_ps, field(packet, FB_METRIC), false};
    }
}

static bool enters(net_switch_t *sw, net_port_t *ingress, net_packet_t *packet)
{
    conga_t *const state = sw->balance_state;
    const bool here = net__is_here(sw, packet->destination);
    state->at_source = net__from_host(ingress) && !here;
    if (state->at_source) {
        net_packet_aside(packet)->overlay = 0;
        net_packet_grow(&sw->node, packet, sw->header_bytes);
    } else if (here && !net__from_host(ingress)) {
        if (takes_part(sw, packet)) {
            take_header(sw, packet);
        }
        net_packet_shrink(&sw->node, packet, sw->header_bytes);
    }
    return true;
}

// -- the choice

static uint8_t cost_of(net_switch_t *sw, const leaf_table_t *table, uint32_t uplink, uint32_t port)
{
    const uint8_t here = utilisation(sw, port, dre_of(sw, port));
    const metric_t *const there = &table->to[uplink];
    return is_fresh(sw, there->since_ps) && there->value > here ? there->value : here;
}

// Returns the index of the best uplink. By the paper's rules, this is the flow's own if none is
// better.
static uint32_t best_uplink(net_switch_t *sw, const net_packet_t *packet, const net_flowlet_t *flow,
                            const uint32_t *ports, uint32_t count)
{
    conga_t *const state = sw->balance_state;
    const leaf_table_t *const table = table_of(sw, packet->destination);
    uint32_t best = NET_NO_PORT;
    uint32_t best_cost = UINT32_MAX;
    uint32_t equals = 0;
    bool keeps = false;
    const uint32_t all = SIM_MIN(count, UPLINKS_MAX);
    const uint32_t samples = (uint32_t)sw->config.balance.conga_samples;
    const bool some = samples != 0 && samples < all;
    const uint32_t first = some ? (uint32_t)sim_random_below(&state->random, all - samples + 1) : 0;
    for (uint32_t i = first; i < (some ? first + samples : all); i++) {
        if (sw->node.ports[ports[i]].down) {
            continue;
        }
        const uint32_t cost = cost_of(sw, table, i, ports[i]);
        const bool own = !as_simulator(sw) && flow->known && flow->port == ports[i];
        if (cost < best_cost) {
            best = i;
            best_cost = cost;
            equals = 1;
            keeps = own;
        } else if (cost == best_cost && !keeps) {
            equals++;
            keeps = own;
            best = own || sim_random_below(&state->random, equals) == 0 ? i : best;
        }
    }
    return best;
}

static uint32_t choose_uplink(net_switch_t *sw, const net_packet_t *packet, const uint32_t *ports,
                              uint32_t count)
{
    conga_t *const state = sw->balance_state;
    net_flowlet_t *const flow = net__flow_entry(&state->flows, net__flow_key(packet));
    if (net__flowlet_begins(sw, flow, sw->config.balance.conga_gap_ps, ports, count)) {
        const uint32_t best = best_uplink(sw, packet, flow, ports, count);
        flow->known = best != NET_NO_PORT;
        state->flowlets++;
        flow->port = flow->known ? ports[best] : NET_NO_PORT;
    }
    flow->last_ps = sw->node.sim.now_ps;
    uint8_t uplink = 0;
    while (uplink < count && ports[uplink] != flow->port) {
        uplink++;
    }
    set_field(packet, LBTAG, uplink);
    if (as_simulator(sw)) {
        put_random_feedback(sw, packet);
    } else {
        put_feedback(sw, packet);
    }
    return flow->port;
}

static uint32_t choose(net_switch_t *sw, const net_packet_t *packet, const uint32_t *ports,
                       uint32_t count)
{
    conga_t *const state = sw->balance_state;
    const bool at_source = state->at_source;
    if (!takes_part(sw, packet)) {
        return net__balance_ecmp.choose(sw, packet, ports, count);
    }
    const uint32_t port = at_source ? choose_uplink(sw, packet, ports, count)
                                    : net__choose_hashed(sw, packet, ports, count);
    if (port == NET_NO_PORT) {
        return port;
    }
    dre_t *const dre = dre_of(sw, port);
    dre->bytes += packet->frame_bytes;
    if (!at_source || as_simulator(sw)) {
        const uint8_t share = utilisation(sw, port, dre);
        if (share > field(packet, CE)) {
            set_field(packet, CE, share);
        }
    }
    return port;
}

static void gauges(const net_switch_t *sw, net_balance_gauges_t *gauges)
{
    const conga_t *const state = sw->balance_state;
    gauges->flows = state->flows.count;
    gauges->flowlets = state->flowlets;
    for (uint32_t i = 0; state->leaves != NULL && i < sw->node.net->leaf_count; i++) {
        for (uint32_t up = 0; state->leaves[i] != NULL && up < UPLINKS_MAX; up++) {
            gauges->known_paths += is_fresh(sw, state->leaves[i]->to[up].since_ps);
        }
    }
}

static uint32_t header_bytes(const net_switch_t *sw)
{
    return (uint32_t)sw->config.balance.conga_header_bytes;
}

static sim_time_t gap_ps(const net_switch_t *sw)
{
    return sw->config.balance.conga_gap_ps;
}

const net_balance_ops_t net__balance_conga = {
    .name = "conga",
    .state_bytes = sizeof(conga_t),
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
    .gauges = gauges,
};
