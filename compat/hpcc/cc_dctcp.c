// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/cc_dctcp.c - DCTCP as the HPCC project's simulator computes it.
//
// The share of marked packets refers to one more than the packets in flight when the round began,
// not to the packets acknowledged in it; it is at most one. The first ACK ends a round that leaves
// alpha unchanged but raises the rate. Rates are whole bit/s, truncated after each operation; alpha
// is a double.
// Behaviour learnt from alibaba-edu/High-Precision-Congestion-Control, rdma-hw.cc.
#include "compat/hpcc/cc_dctcp.h"

#define ALPHA_METRIC_ONE 1000000.0

static compat_dctcp_hpcc_t *dctcp_of(nic_cc_t *cc)
{
    return SIM_CONTAINER_OF(cc, compat_dctcp_hpcc_t, cc);
}

static const compat_dctcp_hpcc_config_t *config_of(const compat_dctcp_hpcc_t *dctcp)
{
    return dctcp->cc.config;
}

static void end_round(compat_dctcp_hpcc_t *dctcp, const nic_cc_ack_t *ack, uint64_t first_psn)
{
    if (!dctcp->begun) {
        dctcp->begun = true;
        dctcp->batch_packets = ack->next_psn - first_psn + 1;
    } else {
        const double share = (double)dctcp->marked_packets / (double)dctcp->batch_packets;
        const double bounded = SIM_MIN(share, 1.0);
        dctcp->alpha = (1.0 - dctcp->gain) * dctcp->alpha + dctcp->gain * bounded;
        dctcp->marked_packets = 0;
        dctcp->batch_packets = ack->next_psn - ack->acked_psn + 1;
    }
    SIM_ASSERT(dctcp->batch_packets > 0 && dctcp->alpha <= 1.0);
    dctcp->round_psn = ack->next_psn;
}

static void cut(compat_dctcp_hpcc_t *dctcp, uint64_t next_psn)
{
    nic_cc_t *const cc = &dctcp->cc;
    const uint64_t min_bps = config_of(dctcp)->min_rate_bps;
    const uint64_t least_bps = SIM_MIN(min_bps, cc->line_bps);
    const uint64_t rate_bps = (uint64_t)((double)cc->rate_bps * (1.0 - dctcp->alpha / 2.0));
    cc->rate_bps = SIM_MAX(least_bps, rate_bps);
    dctcp->reduced = true;
    dctcp->reduced_psn = next_psn;
}

// -- operations

static void dctcp_init(nic_cc_t *cc)
{
    compat_dctcp_hpcc_t *const dctcp = dctcp_of(cc);
    const sim_ratio_t gain = config_of(dctcp)->gain;
    dctcp->gain = (double)gain.num / (double)gain.den;
}

// Resets the state for a new flow. In the HPCC simulator each flow has a queue pair of its own.
static void dctcp_start(nic_cc_t *cc)
{
    compat_dctcp_hpcc_t *const dctcp = dctcp_of(cc);
    cc->rate_bps = cc->line_bps;
    dctcp->alpha = 1.0;
    dctcp->round_psn = dctcp->acked_psn;
    dctcp->reduced_psn = dctcp->acked_psn;
    dctcp->batch_packets = 0;
    dctcp->marked_packets = 0;
    dctcp->begun = false;
    dctcp->reduced = false;
}

static void dctcp_ack(nic_cc_t *cc, const nic_cc_ack_t *ack)
{
    compat_dctcp_hpcc_t *const dctcp = dctcp_of(cc);
    dctcp->acked_psn = ack->acked_psn;
    dctcp->marked_packets += ack->ecn_echo;
    const bool round_over = ack->acked_psn > dctcp->round_psn;
    if (round_over) {
        end_round(dctcp, ack, dctcp->round_psn);
    }
    if (ack->acked_psn > dctcp->reduced_psn) {
        dctcp->reduced = false;
    }
    if (ack->ecn_echo && !dctcp->reduced) {
        cut(dctcp, ack->next_psn);
    }
    if (round_over && !dctcp->reduced) {
        const uint64_t room_bps = cc->line_bps - cc->rate_bps;
        const uint64_t gain_bps = config_of(dctcp)->additive_bps;
        cc->rate_bps = gain_bps < room_bps ? cc->rate_bps + gain_bps : cc->line_bps;
    }
}

static const char *const metric_names[] = {
    "alpha", // in millionths
    NULL,
};

static uint64_t dctcp_metric(const nic_cc_t *cc, uint32_t index)
{
    const compat_dctcp_hpcc_t *const dctcp = (const compat_dctcp_hpcc_t *)cc;
    SIM_CHECK(index < SIM_COUNT_OF(metric_names) - 1);
    return (uint64_t)(dctcp->alpha * ALPHA_METRIC_ONE + 0.5);
}

const nic_cc_ops_t compat_cc_dctcp_hpcc = {
    .name = "dctcp-hpcc",
    .state_bytes = sizeof(compat_dctcp_hpcc_t),
    .attrs = &compat_dctcp_hpcc_attrs,
    .acks_every_packet = true,
    .echoes_ecn = true,
    .init = dctcp_init,
    .start = dctcp_start,
    .ack = dctcp_ack,
    .metric_names = metric_names,
    .metric = dctcp_metric,
};

// -- parameters

// clang-format off
#define ATTR(...) SIM_ATTR_ROW(compat_dctcp_hpcc_config_t, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(RATIO, "nic.dctcp-hpcc.gain", gain, "1/256", NULL, "1", "g, the weight of a round trip's share of marks in alpha; larger values react faster"),
    ATTR(RATE, "nic.dctcp-hpcc.additive-rate", additive_bps, "1Gbps", NULL, NULL, "increase of the rate after a round trip without a cut"),
    ATTR(RATE, "nic.dctcp-hpcc.min-rate", min_rate_bps, "1Gbps", "1Mbps", NULL, "lowest rate that a cut can set"),
};
// clang-format on

const sim_attr_table_t compat_dctcp_hpcc_attrs = {
    .prefix = "nic.dctcp-hpcc",
    .scope = "node",
    .config_bytes = sizeof(compat_dctcp_hpcc_config_t),
    .attrs = attrs,
    .count = SIM_COUNT_OF(attrs),
};
