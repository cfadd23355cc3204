// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/cc_dcqcn.c - DCQCN as the HPCC project's simulator computes it.
//
// Each packet is acknowledged, and the ACK of a marked packet says so. From the first such ACK on,
// three timers run freely: one updates alpha, one cuts the rate if a marked ACK came since the last
// cut, and from a cut on one increases the rate. The cut's timer is a nanosecond late, so that it
// uses the alpha of that moment. Rates are whole bit/s, truncated after each operation.
// nic/cc/dcqcn.c keeps deadlines and computes alpha lazily. This file fires every timer, because it
// also reproduces the order of a timer and an ACK at one instant.
// Behaviour learnt from alibaba-edu/High-Precision-Congestion-Control, rdma-hw.cc.
#include "compat/hpcc/cc_dcqcn.h"

#define ALPHA_METRIC_ONE 1000000.0

static compat_dcqcn_hpcc_t *dcqcn_of(nic_cc_t *cc)
{
    return SIM_CONTAINER_OF(cc, compat_dcqcn_hpcc_t, cc);
}

static const compat_dcqcn_hpcc_config_t *config_of(const compat_dcqcn_hpcc_t *dcqcn)
{
    return dcqcn->cc.config;
}

static void set_rate(compat_dcqcn_hpcc_t *dcqcn, uint64_t rate_bps)
{
    nic_cc_t *const cc = &dcqcn->cc;
    cc->rate_bps = SIM_MIN(rate_bps, cc->line_bps);
    if (config_of(dcqcn)->scaled_window && dcqcn->window_own_bytes != NIC_WINDOW_UNLIMITED) {
        const sim_wide_t scaled = (sim_wide_t)dcqcn->window_own_bytes * cc->rate_bps / cc->line_bps;
        cc->window_bytes = scaled == 0 ? 1 : (uint64_t)scaled;
    }
}

static void again(compat_dcqcn_hpcc_t *dcqcn, sim_timer_t *timer, sim_time_t after_ps)
{
    sim_node_t *const node = dcqcn->cc.node;
    sim_timer_arm(node, timer, node->now_ps + after_ps);
}

static void alpha_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    compat_dcqcn_hpcc_t *const dcqcn = SIM_CONTAINER_OF(timer, compat_dcqcn_hpcc_t, alpha_timer);
    const double kept = (1.0 - dcqcn->gain) * dcqcn->alpha;
    dcqcn->alpha = dcqcn->marked_alpha ? kept + dcqcn->gain : kept;
    dcqcn->marked_alpha = false;
    again(dcqcn, timer, config_of(dcqcn)->alpha_period_ps);
}

static void cut_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    compat_dcqcn_hpcc_t *const dcqcn = SIM_CONTAINER_OF(timer, compat_dcqcn_hpcc_t, cut_timer);
    const compat_dcqcn_hpcc_config_t *const config = config_of(dcqcn);
    again(dcqcn, timer, config->cut_period_ps);
    if (!dcqcn->marked_to_cut) {
        return;
    }
    const uint64_t rate_bps = dcqcn->cc.rate_bps;
    if (config->clamp_target || dcqcn->stage != 0) {
        dcqcn->target_bps = rate_bps;
    }
    const uint64_t cut_bps = (uint64_t)((double)rate_bps * (1.0 - dcqcn->alpha / 2.0));
    set_rate(dcqcn, SIM_MAX(config->min_rate_bps, cut_bps));
    dcqcn->stage = 0;
    dcqcn->marked_to_cut = false;
    again(dcqcn, &dcqcn->increase_timer, config->increase_period_ps);
    nic_cc_rate_changed(&dcqcn->cc);
}

static void increase_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    compat_dcqcn_hpcc_t *const dcqcn = SIM_CONTAINER_OF(timer, compat_dcqcn_hpcc_t, increase_timer);
    const compat_dcqcn_hpcc_config_t *const config = config_of(dcqcn);
    again(dcqcn, timer, config->increase_period_ps);
    if (dcqcn->stage >= config->fast_recovery_stages) {
        const bool hyper = dcqcn->stage > config->fast_recovery_stages;
        dcqcn->target_bps += hyper ? config->hyper_bps : config->additive_bps;
        if (dcqcn->target_bps > dcqcn->cc.line_bps) {
            dcqcn->target_bps = dcqcn->cc.line_bps;
        }
    }
    set_rate(dcqcn, dcqcn->cc.rate_bps / 2 + dcqcn->target_bps / 2);
    dcqcn->stage++;
    nic_cc_rate_changed(&dcqcn->cc);
}

// -- operations

static void dcqcn_init(nic_cc_t *cc)
{
    compat_dcqcn_hpcc_t *const dcqcn = dcqcn_of(cc);
    const sim_ratio_t gain = config_of(dcqcn)->gain;
    sim_timer_init(&dcqcn->alpha_timer, alpha_fired);
    sim_timer_init(&dcqcn->cut_timer, cut_fired);
    sim_timer_init(&dcqcn->increase_timer, increase_fired);
    dcqcn->gain = (double)gain.num / (double)gain.den;
    dcqcn->window_own_bytes = cc->window_bytes;
    dcqcn->target_bps = cc->line_bps;
    set_rate(dcqcn, cc->line_bps);
}

// Resets the state for a new flow. In the HPCC simulator each flow has a queue pair of its own.
static void dcqcn_start(nic_cc_t *cc)
{
    compat_dcqcn_hpcc_t *const dcqcn = dcqcn_of(cc);
    dcqcn->marked = false;
    dcqcn->marked_to_cut = false;
    dcqcn->stage = 0;
    dcqcn->target_bps = cc->line_bps;
    set_rate(dcqcn, cc->line_bps);
}

static void dcqcn_stop(nic_cc_t *cc)
{
    compat_dcqcn_hpcc_t *const dcqcn = dcqcn_of(cc);
    sim_timer_cancel(cc->node, &dcqcn->alpha_timer);
    sim_timer_cancel(cc->node, &dcqcn->cut_timer);
    sim_timer_cancel(cc->node, &dcqcn->increase_timer);
}

static void dcqcn_ack(nic_cc_t *cc, const nic_cc_ack_t *ack)
{
    if (!ack->ecn_echo || !cc->active) {
        return;
    }
    compat_dcqcn_hpcc_t *const dcqcn = dcqcn_of(cc);
    dcqcn->marked_alpha = true;
    dcqcn->marked_to_cut = true;
    if (dcqcn->marked) {
        return;
    }
    dcqcn->marked = true;
    dcqcn->alpha = 1.0;
    dcqcn->marked_alpha = false;
    dcqcn->target_bps = cc->rate_bps;
    again(dcqcn, &dcqcn->alpha_timer, config_of(dcqcn)->alpha_period_ps);
    again(dcqcn, &dcqcn->cut_timer, config_of(dcqcn)->cut_period_ps + SIM_PS_PER_NS);
}

static const char *const metric_names[] = {
    "alpha", // in millionths
    "target_rate",
    "stage",
    NULL,
};

static uint64_t dcqcn_metric(const nic_cc_t *cc, uint32_t index)
{
    const compat_dcqcn_hpcc_t *const dcqcn = (const compat_dcqcn_hpcc_t *)cc;
    switch (index) {
    case 0:
        return (uint64_t)(dcqcn->alpha * ALPHA_METRIC_ONE + 0.5);
    case 1:
        return dcqcn->target_bps;
    case 2:
        return dcqcn->stage;
    default:
        SIM_CHECK(index < SIM_COUNT_OF(metric_names) - 1);
        return 0;
    }
}

const nic_cc_ops_t compat_cc_dcqcn_hpcc = {
    .name = "dcqcn-hpcc",
    .state_bytes = sizeof(compat_dcqcn_hpcc_t),
    .attrs = &compat_dcqcn_hpcc_attrs,
    .acks_every_packet = true,
    .echoes_ecn = true,
    .init = dcqcn_init,
    .start = dcqcn_start,
    .stop = dcqcn_stop,
    .ack = dcqcn_ack,
    .metric_names = metric_names,
    .metric = dcqcn_metric,
};

// -- parameters

// clang-format off
#define ATTR(...) SIM_ATTR_ROW(compat_dcqcn_hpcc_config_t, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(TIME, "nic.dcqcn-hpcc.alpha-period", alpha_period_ps, "1us", "1ns", "10s", "time between updates of alpha (ALPHA_RESUME_INTERVAL; default from run.py, 100 Gbps)"),
    ATTR(TIME, "nic.dcqcn-hpcc.cut-period", cut_period_ps, "4us", "1ns", "10s", "period at whose end the rate is cut if a marked ACK came in it; larger values cut less often"),
    ATTR(TIME, "nic.dcqcn-hpcc.increase-period", increase_period_ps, "300us", "1ns", "10s", "time between rate increases, counted from the last cut; larger values recover more slowly"),
    ATTR(RATIO, "nic.dcqcn-hpcc.gain", gain, "1/256", NULL, "1", "g, the weight of the newest period in alpha; larger values react faster to marks"),
    ATTR(COUNT, "nic.dcqcn-hpcc.fast-recovery", fast_recovery_stages, "1", NULL, "1000000", "number of increases after a cut that only halve the distance to the target rate"),
    ATTR(RATE, "nic.dcqcn-hpcc.additive-rate", additive_bps, "20Mbps", NULL, NULL, "rate that the first increase after fast recovery adds to the target rate"),
    ATTR(RATE, "nic.dcqcn-hpcc.hyper-rate", hyper_bps, "200Mbps", NULL, NULL, "rate that each increase after the additive one adds to the target rate"),
    ATTR(RATE, "nic.dcqcn-hpcc.min-rate", min_rate_bps, "1Gbps", "1Mbps", NULL, "lowest rate that a cut can set"),
    ATTR(BOOL, "nic.dcqcn-hpcc.clamp-target", clamp_target, "false", "true: each cut lowers the target rate to the current rate; false: only the first cut after an increase"),
    ATTR(BOOL, "nic.dcqcn-hpcc.scaled-window", scaled_window, "false", "true: the queue pair's window (nic.window) shrinks in proportion to the rate"),
};
// clang-format on

const sim_attr_table_t compat_dcqcn_hpcc_attrs = {
    .prefix = "nic.dcqcn-hpcc",
    .scope = "node",
    .config_bytes = sizeof(compat_dcqcn_hpcc_config_t),
    .attrs = attrs,
    .count = SIM_COUNT_OF(attrs),
};
