// SPDX-License-Identifier: Apache-2.0
// examples/plugins/powertcp.c - PowerTCP: the window follows the power of the most loaded hop.
//
// The power of a hop is its current (bytes that arrive there in a second) times its voltage (bytes
// in flight through it). Divided by the power of a full link without a queue it is 1 where the link
// is just full. "powertcp" reads both from INT; "theta-powertcp" estimates them from the round trip
// and its slope. Source: Addanki, Michel, Schmid, "PowerTCP: Pushing the Performance Limits of
// Datacenter Networks", NSDI 2022, algorithms 1 and 2. Model page: docs/models/powertcp.md.
#include "net/telemetry.h"
#include "world/plugin.h"

typedef struct config {
    sim_ratio_t gamma;
    sim_ratio_t power_min;
    uint64_t flows;
    uint64_t rate_min_bps;
} config_t;

// clang-format off
#define ROWS(prefix_)                                                                              \
    SIM_ATTR(prefix_ "gamma", RATIO, config_t, gamma, .default_text = "0.9", .min_text = "0.01",   \
             .max_text = "1", .help = "share of the new window in the average with the last one"), \
    SIM_ATTR(prefix_ "power-min", RATIO, config_t, power_min, .default_text = "0.5",               \
             .min_text = "0.001", .max_text = "1",                                                 \
             .help = "lowest power that counts: with 0.5, a window at most doubles, but for the "  \
                     "part that each flow adds"),                                                  \
    SIM_ATTR(prefix_ "flows", COUNT, config_t, flows, .default_text = "10", .min_text = "1",       \
             .max_text = "100000",                                                                 \
             .help = "number of flows that a host is expected to have; each adds 1 / flows of the "\
                     "bandwidth-delay product to its window"),                                     \
    SIM_ATTR(prefix_ "rate-min", RATE, config_t, rate_min_bps, .default_text = "10Mbps",           \
             .min_text = "1Mbps", .max_text = "100Gbps", .help = "lowest rate of a queue pair")
static const sim_attr_t rows[] = {ROWS("nic.powertcp.")};
static const sim_attr_t theta_rows[] = {ROWS("nic.theta-powertcp.")};
// clang-format on
static const sim_attr_table_t attrs = {"nic.powertcp", "node", sizeof(config_t), rows,
                                       SIM_COUNT_OF(rows)};
static const sim_attr_table_t theta_attrs = {"nic.theta-powertcp", "node", sizeof(config_t),
                                             theta_rows, SIM_COUNT_OF(theta_rows)};

#define PAST 64u // remembered windows

// A window, and the time from which on it held.
typedef struct past {
    sim_time_t from_ps;
    double window;
} past_t;

typedef struct state {
    nic_cc_t cc; // first
    double window;
    past_t past[PAST];  // of the last round trip, in a ring
    uint32_t past_last; // the latest
    double power;       // normalized and smoothed
    uint64_t round_psn; // theta: an ACK beyond it ends the round trip
    uint64_t records[NET_INT_HOPS_MAX];
    uint32_t hop_count; // of the last ACK's records
    uint16_t path_id;
    sim_time_t ack_ps; // time and round trip of the last ACK; 0: none yet
    sim_time_t rtt_ps;
} state_t;

static state_t *state_of(nic_cc_t *cc)
{
    return SIM_CONTAINER_OF(cc, state_t, cc);
}

// Returns the window that each flow adds, in bytes: beta.
static double beta_of(const nic_cc_t *cc)
{
    return (double)cc->bdp_bytes / (double)((const config_t *)cc->config)->flows;
}

// Sets window and rate. The rate lies between the configured minimum and the line rate.
static void apply(state_t *state, double window)
{
    nic_cc_t *const cc = &state->cc;
    const double rtt_s = (double)cc->base_rtt_ps / 1e12;
    const double least = (double)((const config_t *)cc->config)->rate_min_bps * rtt_s / 8;
    const double most = (double)cc->bdp_bytes;
    state->window = window < least ? least : window > most ? most : window;
    cc->window_bytes = (uint64_t)state->window + 1;
    const double rate_bps = state->window * 8 / rtt_s;
    cc->rate_bps = rate_bps < (double)cc->line_bps ? (uint64_t)rate_bps : cc->line_bps;
    cc->rate_bps = SIM_MAX(cc->rate_bps, 1);
}

// Begins a flow, which fills the path at once.
static void start(nic_cc_t *cc)
{
    state_t *const state = state_of(cc);
    if (cc->bdp_bytes == 0 || cc->base_rtt_ps == 0) {
        return; // there is no path
    }
    state->power = 1.0;
    state->hop_count = 0;
    state->ack_ps = 0;
    apply(state, (double)cc->bdp_bytes);
    for (uint32_t i = 0; i < PAST; i++) {
        state->past[i] = (past_t){cc->node->now_ps, state->window};
    }
}

// Remembers the window that holds from now on, PAST / 2 times in a round trip.
static void remember(state_t *state)
{
    const sim_time_t now_ps = state->cc.node->now_ps;
    past_t *const last = &state->past[state->past_last];
    if (now_ps - last->from_ps > state->cc.base_rtt_ps / (PAST / 2)) {
        state->past_last = (state->past_last + 1) % PAST;
        state->past[state->past_last] = (past_t){now_ps, state->window};
    } else {
        last->window = state->window;
    }
}

// Returns the window of an idle round trip ago. A switch writes its record when a packet leaves the
// queue; what arrives there at that moment was sent so long before the ACK comes.
static double old_window_of(const state_t *state)
{
    const sim_time_t now_ps = state->cc.node->now_ps;
    uint32_t i = state->past_last;
    for (uint32_t n = 1; n < PAST && state->past[i].from_ps + state->cc.base_rtt_ps > now_ps; n++) {
        i = (i + PAST - 1) % PAST;
    }
    return state->past[i].window;
}

// Averages the power over a round trip: `power` held for dt_ps.
static void smooth(state_t *state, double power, sim_time_t dt_ps)
{
    const double rtt = (double)state->cc.base_rtt_ps;
    const double dt = SIM_MIN((double)dt_ps, rtt);
    state->power = (state->power * (rtt - dt) + power * dt) / rtt;
}

// Moves the window towards that for which the power would be 1.
static void update(state_t *state, double old_window)
{
    const config_t *const config = state->cc.config;
    const double gamma = (double)config->gamma.num / (double)config->gamma.den;
    const double least = (double)config->power_min.num / (double)config->power_min.den;
    const double power = SIM_MAX(state->power, least);
    const double wanted = old_window / power + beta_of(&state->cc);
    apply(state, gamma * wanted + (1 - gamma) * state->window);
}

// Algorithm 1: the hop with the largest power counts.
static void ack_int(nic_cc_t *cc, const nic_cc_ack_t *ack)
{
    state_t *const state = state_of(cc);
    if (ack->telemetry != NET_TELEMETRY_INT || cc->base_rtt_ps == 0 || cc->bdp_bytes == 0) {
        return;
    }
    double most = 0;
    uint64_t most_ns = 0;
    const bool same = state->hop_count == ack->hop_count && state->path_id == ack->path_id;
    for (uint32_t i = 0; same && i < ack->hop_count; i++) {
        const uint64_t record = ack->hops[i];
        const uint64_t before = state->records[i];
        const uint64_t dt_ns = net_int_elapsed_ns(record, before);
        const double link = (double)net_int_rate_bps(record) / 8; // bytes/s
        if (dt_ns == 0 || link <= 0) {
            continue;
        }
        const double queue = (double)net_int_queue_bytes(record, cc->int_multiplier);
        const double grown = queue - (double)net_int_queue_bytes(before, cc->int_multiplier);
        const double sent = (double)net_int_sent_bytes(record, before, cc->int_multiplier);
        const double current = (grown + sent) / ((double)dt_ns * 1e-9);
        const double bdp = link * (double)cc->base_rtt_ps / 1e12;
        const double power = current / link * (queue + bdp) / bdp;
        if (most_ns == 0 || power > most) {
            most = power;
            most_ns = dt_ns;
        }
    }
    for (uint32_t i = 0; i < ack->hop_count; i++) {
        state->records[i] = ack->hops[i];
    }
    state->hop_count = ack->hop_count;
    state->path_id = ack->path_id;
    if (most_ns > 0) {
        smooth(state, most, most_ns * SIM_PS_PER_NS);
        update(state, old_window_of(state));
        remember(state);
    }
}

// Algorithm 2: the slope of the round trip is the current, the round trip the voltage. The window
// changes once in a round trip.
static void ack_theta(nic_cc_t *cc, const nic_cc_ack_t *ack)
{
    state_t *const state = state_of(cc);
    if (ack->rtt_ps == 0 || cc->base_rtt_ps == 0 || cc->bdp_bytes == 0) {
        return;
    }
    state->round_psn =
        SIM_MIN(state->round_psn, ack->next_psn); // the queue pair may have gone back
    if (ack->acked_psn <= state->round_psn) {
        return;
    }
    state->round_psn = ack->next_psn;
    const sim_time_t dt_ps = cc->node->now_ps - state->ack_ps;
    if (state->ack_ps != 0 && dt_ps > 0) {
        const double slope = ((double)ack->rtt_ps - (double)state->rtt_ps) / (double)dt_ps;
        smooth(state, (slope + 1) * (double)ack->rtt_ps / (double)cc->base_rtt_ps, dt_ps);
        update(state, state->window); // with which this ACK's packet was sent
    }
    state->ack_ps = cc->node->now_ps;
    state->rtt_ps = ack->rtt_ps;
}

static const char *const metric_names[] = {"power", "window", NULL}; // millionths, bytes

static uint64_t metric(const nic_cc_t *cc, uint32_t index)
{
    const state_t *const state = (const state_t *)(const void *)cc;
    return (uint64_t)(index == 0 ? SIM_MAX(state->power, 0) * 1e6 : state->window);
}

static const nic_cc_ops_t powertcp = {.name = "powertcp",
                                      .state_bytes = sizeof(state_t),
                                      .attrs = &attrs,
                                      .telemetry = NET_TELEMETRY_INT,
                                      .acks_every_packet = true,
                                      .echoes_ecn = true, // and ignores it: no CNPs in vain
                                      .window_overshoots = true,
                                      .init = start,
                                      .start = start,
                                      .ack = ack_int,
                                      .metric_names = metric_names,
                                      .metric = metric};
static const nic_cc_ops_t theta_powertcp = {.name = "theta-powertcp",
                                            .state_bytes = sizeof(state_t),
                                            .attrs = &theta_attrs,
                                            .acks_every_packet = true,
                                            .echoes_ecn = true,
                                            .window_overshoots = true,
                                            .init = start,
                                            .start = start,
                                            .ack = ack_theta,
                                            .metric_names = metric_names,
                                            .metric = metric};

WORLD_PLUGIN
{
    const sim_err_t result = world_registry_add_cc(registry, &powertcp, error);
    return result == SIM_OK ? world_registry_add_cc(registry, &theta_powertcp, error) : result;
}
