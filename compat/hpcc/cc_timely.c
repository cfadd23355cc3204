// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/cc_timely.c - TIMELY as the HPCC project's simulator computes it.
//
// The rate is updated once per round trip: at the first ACK beyond the packets sent until the last
// update. The round-trip time is that of the acknowledged packet, from its time stamp, even if that
// packet was retransmitted or refused. Times are whole nanoseconds and rates whole bit/s, truncated
// after each operation; the average difference is a double.
// Behaviour learnt from alibaba-edu/High-Precision-Congestion-Control, rdma-hw.cc.
#include "compat/hpcc/cc_timely.h"

#define INCREASES_BEFORE_HYPER 5 // a constant of that simulator

static compat_timely_hpcc_t *timely_of(nic_cc_t *cc)
{
    return SIM_CONTAINER_OF(cc, compat_timely_hpcc_t, cc);
}

static const compat_timely_hpcc_config_t *config_of(const compat_timely_hpcc_t *timely)
{
    return timely->cc.config;
}

static void increase(compat_timely_hpcc_t *timely)
{
    const compat_timely_hpcc_config_t *const config = config_of(timely);
    nic_cc_t *const cc = &timely->cc;
    const bool hyper = timely->increases >= INCREASES_BEFORE_HYPER;
    const uint64_t gain_bps = hyper ? config->hyper_bps : config->additive_bps;
    const uint64_t room_bps = cc->line_bps - cc->rate_bps;
    cc->rate_bps = gain_bps < room_bps ? cc->rate_bps + gain_bps : cc->line_bps;
    timely->increases++;
}

static void decrease(compat_timely_hpcc_t *timely, double factor)
{
    nic_cc_t *const cc = &timely->cc;
    const uint64_t min_bps = config_of(timely)->min_rate_bps;
    const uint64_t rate_bps = (uint64_t)((double)cc->rate_bps * factor);
    const uint64_t least_bps = SIM_MIN(min_bps, cc->line_bps);
    cc->rate_bps = SIM_MAX(least_bps, rate_bps);
    SIM_ASSERT(cc->rate_bps <= cc->line_bps);
    timely->increases = 0;
}

static void update_rate(compat_timely_hpcc_t *timely, uint64_t rtt_ns)
{
    const compat_timely_hpcc_config_t *const config = config_of(timely);
    const uint64_t t_low_ns = config->t_low_ps / SIM_PS_PER_NS;
    const uint64_t t_high_ns = config->t_high_ps / SIM_PS_PER_NS;
    const uint64_t min_rtt_ns = config->min_rtt_ps / SIM_PS_PER_NS;
    const double newest_ns = (double)((int64_t)rtt_ns - (int64_t)timely->rtt_ns);
    timely->difference_ns =
        (1.0 - timely->alpha) * timely->difference_ns + timely->alpha * newest_ns;
    const double gradient = timely->difference_ns / (double)min_rtt_ns;
    if (rtt_ns < t_low_ns) {
        increase(timely);
    } else if (rtt_ns > t_high_ns) {
        decrease(timely, 1.0 - timely->beta * (1.0 - (double)t_high_ns / (double)rtt_ns));
    } else if (gradient <= 0.0) {
        increase(timely);
    } else {
        const double factor = 1.0 - timely->beta * gradient;
        decrease(timely, SIM_MAX(0.0, factor));
    }
}

// -- operations

static void timely_init(nic_cc_t *cc)
{
    compat_timely_hpcc_t *const timely = timely_of(cc);
    const compat_timely_hpcc_config_t *const config = config_of(timely);
    timely->alpha = (double)config->alpha.num / (double)config->alpha.den;
    timely->beta = (double)config->beta.num / (double)config->beta.den;
}

// Resets the state for a new flow. In the HPCC simulator each flow has a queue pair of its own.
static void timely_start(nic_cc_t *cc)
{
    compat_timely_hpcc_t *const timely = timely_of(cc);
    cc->rate_bps = cc->line_bps;
    timely->difference_ns = 0.0;
    timely->rtt_ns = 0;
    timely->update_psn = timely->acked_psn;
    timely->increases = 0;
    timely->measured = false;
}

static void timely_ack(nic_cc_t *cc, const nic_cc_ack_t *ack)
{
    compat_timely_hpcc_t *const timely = timely_of(cc);
    timely->acked_psn = ack->acked_psn;
    if (ack->acked_psn <= timely->update_psn || ack->rtt_ps == 0) {
        return;
    }
    const uint64_t rtt_ns = ack->rtt_ps / SIM_PS_PER_NS;
    if (timely->measured) {
        update_rate(timely, rtt_ns);
    }
    timely->measured = true;
    timely->rtt_ns = rtt_ns;
    timely->update_psn = ack->next_psn;
}

static const char *const metric_names[] = {
    "rtt",       // at the last update, in ps
    "increases", // increases in a row
    NULL,
};

static uint64_t timely_metric(const nic_cc_t *cc, uint32_t index)
{
    const compat_timely_hpcc_t *const timely = (const compat_timely_hpcc_t *)cc;
    SIM_CHECK(index < SIM_COUNT_OF(metric_names) - 1);
    return index == 0 ? timely->rtt_ns * SIM_PS_PER_NS : timely->increases;
}

const nic_cc_ops_t compat_cc_timely_hpcc = {
    .name = "timely-hpcc",
    .state_bytes = sizeof(compat_timely_hpcc_t),
    .attrs = &compat_timely_hpcc_attrs,
    .acks_every_packet = true,
    .echoes_ecn = true, // the echo is ignored, but no useless CNPs are sent
    .stamps_packets = true,
    .init = timely_init,
    .start = timely_start,
    .ack = timely_ack,
    .metric_names = metric_names,
    .metric = timely_metric,
};

// -- parameters

// clang-format off
#define ATTR(...) SIM_ATTR_ROW(compat_timely_hpcc_config_t, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(RATIO, "nic.timely-hpcc.alpha", alpha, "0.875", NULL, "1", "weight of the newest difference of round-trip times in the gradient"),
    ATTR(RATIO, "nic.timely-hpcc.beta", beta, "0.8", NULL, "1", "strength of a decrease; larger values cut the rate more"),
    ATTR(TIME, "nic.timely-hpcc.t-low", t_low_ps, "50us", "1ns", "1s", "round-trip time below which the rate always increases", .not_above = "nic.timely-hpcc.t-high"),
    ATTR(TIME, "nic.timely-hpcc.t-high", t_high_ps, "500us", "1ns", "1s", "round-trip time above which the rate always decreases"),
    ATTR(TIME, "nic.timely-hpcc.min-rtt", min_rtt_ps, "20us", "1ns", "1s", "round-trip time by which the gradient is divided; larger values cut the rate less"),
    ATTR(RATE, "nic.timely-hpcc.additive-rate", additive_bps, "10Mbps", NULL, NULL, "increase of the rate at each of the first five increases in a row"),
    ATTR(RATE, "nic.timely-hpcc.hyper-rate", hyper_bps, "50Mbps", NULL, NULL, "increase of the rate at each increase after five in a row"),
    ATTR(RATE, "nic.timely-hpcc.min-rate", min_rate_bps, "100Mbps", "1Mbps", NULL, "lowest rate that a decrease can set"),
};
// clang-format on

const sim_attr_table_t compat_timely_hpcc_attrs = {
    .prefix = "nic.timely-hpcc",
    .scope = "node",
    .config_bytes = sizeof(compat_timely_hpcc_config_t),
    .attrs = attrs,
    .count = SIM_COUNT_OF(attrs),
};
