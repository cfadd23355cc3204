// SPDX-License-Identifier: Apache-2.0
// labels: plain
// test_cc_dcqcn_fluid.c - DCQCN in a network against the fixed point of its fluid model.
//
// Goal: N long flows through one port settle at equal rates, and at the mark probability and the
// queue that can be calculated.
// Method: two calculations, both solved here by bisection for the packets on this simulator's wire.
// The fluid model is that of Zhu et al. ("ECN or Delay", CoNEXT 2016, section 3), whose solver is
// held against known values; it lets CNPs come at any time. The renewal model takes one flow from
// CNP to CNP and knows that none comes within the CNP interval of another. A star of N senders
// with the paper's parameters must agree closely with the second and loosely with the first:
// docs/models/dcqcn.md has the derivation and the errors.
// Not pinned: transients and stability.
#include <math.h>

#include "nic/cc/dcqcn.h"
#include "tests/cc_star.h"

#define US SIM_PS_PER_US
#define MS SIM_PS_PER_MS
#define CAPACITY_BPS 40e9
#define AI_BPS 40e6
#define BYTE_RESET 10e6
#define CNP_INTERVAL_S 50e-6
#define TIMER_S 55e-6 // of alpha and of increases
#define STAGES 5
#define GAIN (1.0 / 256.0)
#define PERIODS_MAX 4000 // in which a CNP comes, as good as surely

// Returns (1 - p)^x.
static double survive(double p, double x)
{
    return exp(x * log1p(-p));
}

static double fluid_alpha(double p, double packets_per_s)
{
    return 1.0 - survive(p, TIMER_S * packets_per_s);
}

// Returns the rate that marks take from a flow less the rate that the clocks give it; rises with p.
static double fluid_loss(double p, double flows, double packet_bytes)
{
    const double rate = CAPACITY_BPS / 8.0 / packet_bytes / flows;
    const double increase = AI_BPS / 8.0 / packet_bytes;
    const double reset = BYTE_RESET / packet_bytes;
    const double a = 1.0 - survive(p, CNP_INTERVAL_S * rate);
    const double b = p / (survive(p, -reset) - 1.0);
    const double c = survive(p, STAGES * reset) * b;
    const double d = p / (survive(p, -TIMER_S * rate) - 1.0);
    const double e = survive(p, STAGES * TIMER_S * rate) * d;
    return a * a * fluid_alpha(p, rate) / ((b + d) * (c + e)) -
           CNP_INTERVAL_S * CNP_INTERVAL_S * increase * rate;
}

// Returns the expected gain of a flow's rate from one CNP to the next, in packets/s; falls with p.
// The time between CNPs is the CNP interval and then exponential. Meanwhile alpha decays and the
// rate climbs once per timer period; the stationary alpha is g E[kept] / (1 - (1 - g) E[kept]).
static double renewal_gain(double p, double flows, double packet_bytes)
{
    const double rate = CAPACITY_BPS / 8.0 / packet_bytes / flows;
    const double increase = AI_BPS / 8.0 / packet_bytes;
    const double marks_per_s = -log1p(-p) * rate;
    double kept = 0.0;
    double weight[PERIODS_MAX];
    for (int k = 0; k < PERIODS_MAX; k++) {
        const double reached = k == 0 ? 1.0 : exp(-marks_per_s * (k * TIMER_S - CNP_INTERVAL_S));
        const double passed = exp(-marks_per_s * ((k + 1) * TIMER_S - CNP_INTERVAL_S));
        weight[k] = reached - passed;
        kept += weight[k] * pow(1.0 - GAIN, k);
    }
    const double alpha = GAIN * kept / (1.0 - (1.0 - GAIN) * kept);
    double below_target = rate * alpha / 2.0;
    double target_gain = 0.0;
    double gain = 0.0;
    for (int k = 0; k < PERIODS_MAX; k++) {
        gain += weight[k] * (target_gain - below_target);
        const double added = k >= STAGES ? increase : 0.0;
        target_gain += added;
        below_target = (below_target + added) / 2.0;
    }
    return gain;
}

static double renewal_loss(double p, double flows, double packet_bytes)
{
    return -renewal_gain(p, flows, packet_bytes);
}

// Returns the p at which loss, which rises with p, is zero.
static double balance(double (*loss)(double p, double flows, double packet_bytes), double flows,
                      double packet_bytes)
{
    double low = 1e-5;
    double high = 0.5;
    ck_assert_double_lt(loss(low, flows, packet_bytes), 0.0);
    ck_assert_double_gt(loss(high, flows, packet_bytes), 0.0);
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2.0;
        if (loss(middle, flows, packet_bytes) < 0.0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// Values of the equation for 1000-byte packets, computed apart from this program.
START_TEST(equation_is_solved)
{
    static const struct {
        double flows;
        double p;
        double alpha;
    } known[] = {
        {2, 7.77e-4, 0.101},  {4, 1.89e-3, 0.122},  {8, 4.55e-3, 0.145},  {10, 6.03e-3, 0.153},
        {16, 1.09e-2, 0.171}, {32, 2.56e-2, 0.200}, {64, 5.91e-2, 0.230},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(known); i++) {
        const double p = balance(fluid_loss, known[i].flows, 1000.0);
        const double rate = CAPACITY_BPS / 8000.0 / known[i].flows;
        ck_assert_double_eq_tol(p / known[i].p, 1.0, 0.006);
        ck_assert_double_eq_tol(fluid_alpha(p, rate) / known[i].alpha, 1.0, 0.006);
    }
}
END_TEST

static void paper_parameters(star_config_t *config)
{
    star_use(config, "dcqcn");
    nic_dcqcn_config_t *const dcqcn = star_cc_config(config, &nic_cc_dcqcn);
    dcqcn->variant = NIC_DCQCN_PAPER;
    dcqcn->rpg_time_reset_ps = 55 * US;
    dcqcn->rpg_byte_reset_bytes = 10000000;
    dcqcn->rpg_threshold = 5;
    dcqcn->rpg_ai_rate_bps = 40000000;
    dcqcn->rpg_hai_rate_bps = 400000000;
    dcqcn->initial_alpha_value = 1024;
    dcqcn->dce_tcp_g = 1020;
    dcqcn->dce_tcp_rtt_ps = 55 * US;
    dcqcn->rate_reduce_monitor_period_ps = 0;
    dcqcn->clamp_tgt_rate = true;
    config->nic.cnp_interval_ps = 50 * US;
    config->nic.mtu_bytes = 1024;
    config->nic.ack_interval = 16;
    config->link.rate_bps = 40000000000;
    config->link.delay_ps = 1 * US;
    config->sw.ecn_scale = false;
    config->sw.ecn_kmin_bytes = 5000;
    config->sw.ecn_kmax_bytes = 200000;
    config->message_bytes = 1 << 20;
}

typedef struct point {
    uint32_t flows;
    uint32_t pmax_percent;
    double mark_error; // of the renewal model's p
    double queue_error;
} point_t;

// Bounds are looser where the queue leaves the straight part of the marking curve: below Kmin for
// much of the time (2 flows, 10 %), above Kmax at times (8 flows, 1 %; 32 flows).
static const point_t points[] = {
    {2, 1, 0.10, 0.10},  {4, 1, 0.10, 0.10},   {8, 1, 0.50, 0.10},   {2, 10, 0.30, 0.12},
    {8, 10, 0.10, 0.12}, {16, 10, 0.12, 0.12}, {32, 10, 0.50, 0.25},
};

#define WARM_UP (100 * MS)
#define END (300 * MS)
#define PACKET_BYTES (14 + 20 + 8 + 12 + 1024 + 4 + NET_LINK_OVERHEAD_BYTES)

static double queue_at(double p, const point_t *point)
{
    return 5000.0 + p / ((double)point->pmax_percent / 100.0) * 195000.0;
}

static void check_shares(const star_t *star)
{
    const double fair = CAPACITY_BPS * 1024.0 / PACKET_BYTES / star->config.sender_count;
    double sum = 0.0;
    for (uint32_t i = 0; i < star->config.sender_count; i++) {
        const double share = star_mean_bps(star, i, WARM_UP, END) / fair;
        ck_assert_double_eq_tol(share, 1.0, 0.15);
        sum += share;
    }
    ck_assert_double_eq_tol(sum / star->config.sender_count, 1.0, 0.01);
}

START_TEST(network_settles_where_calculated)
{
    const point_t *const point = &points[_i];
    star_config_t config;
    star_config_init(&config);
    paper_parameters(&config);
    config.sender_count = point->flows;
    config.sw.ecn_pmax = (sim_ratio_t){point->pmax_percent, 100};
    config.options.until_ps = END + MS;
    star_t *const star = star_create(&config);
    star_run(star);

    const double fluid = balance(fluid_loss, point->flows, PACKET_BYTES);
    const double renewal = balance(renewal_loss, point->flows, PACKET_BYTES);
    const double marked = star_marked_share(star, WARM_UP, END);
    const double queue = star_mean_queue(star, WARM_UP, END);
    printf(
        "%u flows, pmax %u %%: marked %.3e (fluid %.3e, renewal %.3e), queue %.0f (%.0f, %.0f)\n",
        point->flows, point->pmax_percent, marked, fluid, renewal, queue, queue_at(fluid, point),
        queue_at(renewal, point));
    ck_assert_double_eq_tol(marked / renewal, 1.0, point->mark_error);
    ck_assert_double_eq_tol(queue / queue_at(renewal, point), 1.0, point->queue_error);
    // Rates climb more often than in the fluid model, so more marks hold them.
    ck_assert_double_ge(marked / fluid, 1.2);
    ck_assert_double_le(marked / fluid, 2.0);
    ck_assert_double_ge(queue / queue_at(fluid, point), 0.95);
    ck_assert_double_le(queue / queue_at(fluid, point), 1.6);
    check_shares(star);
    star_destroy(star);
    star_config_fini(&config);
}
END_TEST

CHECK_MAIN(CHECK_TEST(equation_is_solved),
           CHECK_LOOP(network_settles_where_calculated, 0, (int)SIM_COUNT_OF(points)))
