// SPDX-License-Identifier: Apache-2.0
// DCTCP on rates: the share of packets marked in a round trip decides how deep the rate is cut.
//
// Once per round trip alpha moves towards the share of bytes that were marked in it, and the rate
// rises by a constant; the first mark after that cuts the rate by alpha/2, once per round trip. The
// window of the kernel's algorithm is a rate here, as NICs have rate limiters, and there is no slow
// start: a QP begins at the line's rate.
//
// Sources: Alizadeh et al., SIGCOMM 2010 and RFC 8257 for the algorithm; the HPCC simulator for the
// form on rates. Which line comes from where, and what is not modelled: docs/models/dctcp.md.

#include "nic/cc/dctcp.h"

#define ALPHA_METRIC_ONE 1000000.0

static nic_dctcp_t *dctcp_of(nic_cc_t *cc)
{
    return SIM_CONTAINER_OF(cc, nic_dctcp_t, cc);
}

static const nic_dctcp_config_t *config_of(const nic_dctcp_t *dctcp)
{
    return dctcp->cc.config;
}

static double real_of(sim_ratio_t ratio)
{
    return (double)ratio.num / (double)ratio.den;
}

static void set_rate(nic_dctcp_t *dctcp, uint64_t rate_bps)
{
    const uint64_t line_bps = dctcp->cc.line_bps;
    const uint64_t min_bps = config_of(dctcp)->min_rate_bps;
    const uint64_t at_least_bps = SIM_MAX(min_bps, rate_bps);
    dctcp->cc.rate_bps = SIM_MIN(line_bps, at_least_bps);
}

// Cuts the rate by alpha / 2. Only this function turns a real number into a rate.
static void cut(nic_dctcp_t *dctcp, uint64_t next_psn)
{
    set_rate(dctcp, (uint64_t)((double)dctcp->cc.rate_bps * (1.0 - dctcp->alpha / 2.0)));
    dctcp->reduced = true;
    dctcp->cut_psn = next_psn;
}

static void end_round(nic_dctcp_t *dctcp, uint64_t next_psn)
{
    if (dctcp->begun && dctcp->acked_bytes != 0) {
        const double g = real_of(config_of(dctcp)->g);
        const double share = (double)dctcp->marked_bytes / (double)dctcp->acked_bytes;
        dctcp->alpha = (1.0 - g) * dctcp->alpha + g * share;
    }
    dctcp->begun = true;
    dctcp->acked_bytes = 0;
    dctcp->marked_bytes = 0;
    dctcp->round_psn = next_psn;
}

// Lowers the PSNs of the state to next_psn, after the QP went back.
static void follow_back(nic_dctcp_t *dctcp, uint64_t next_psn)
{
    if (next_psn < dctcp->round_psn) {
        dctcp->round_psn = next_psn;
    }
    if (next_psn < dctcp->cut_psn) {
        dctcp->cut_psn = next_psn;
    }
}

// -- operations

static void dctcp_init(nic_cc_t *cc)
{
    nic_dctcp_t *const dctcp = dctcp_of(cc);
    dctcp->alpha = real_of(config_of(dctcp)->initial_alpha);
    set_rate(dctcp, cc->line_bps);
}

static void dctcp_ack(nic_cc_t *cc, const nic_cc_ack_t *ack)
{
    nic_dctcp_t *const dctcp = dctcp_of(cc);
    follow_back(dctcp, ack->next_psn);
    dctcp->acked_bytes += ack->acked_bytes;
    if (ack->ecn_echo) {
        dctcp->marked_bytes += ack->acked_bytes;
    }
    const bool round_over = ack->acked_psn > dctcp->round_psn;
    if (round_over) {
        end_round(dctcp, ack->next_psn);
    }
    if (ack->acked_psn > dctcp->cut_psn) {
        dctcp->reduced = false;
    }
    if (ack->ecn_echo && !dctcp->reduced) {
        cut(dctcp, ack->next_psn);
    } else if (round_over && !dctcp->reduced) {
        const uint64_t room_bps = cc->line_bps - cc->rate_bps;
        const uint64_t gain_bps = config_of(dctcp)->ai_rate_bps;
        set_rate(dctcp, gain_bps < room_bps ? cc->rate_bps + gain_bps : cc->line_bps);
    }
}

static const char *const metric_names[] = {
    "alpha", // millionths
    NULL,
};

static uint64_t dctcp_metric(const nic_cc_t *cc, uint32_t index)
{
    const nic_dctcp_t *const dctcp = (const nic_dctcp_t *)cc;
    SIM_CHECK(index < SIM_COUNT_OF(metric_names) - 1);
    return (uint64_t)(dctcp->alpha * ALPHA_METRIC_ONE + 0.5);
}

const nic_cc_ops_t nic_cc_dctcp = {
    .name = "dctcp",
    .state_bytes = sizeof(nic_dctcp_t),
    .attrs = &nic_dctcp_attrs,
    .acks_every_packet = true,
    .echoes_ecn = true,
    .init = dctcp_init,
    .ack = dctcp_ack,
    .metric_names = metric_names,
    .metric = dctcp_metric,
};

// -- parameters

// clang-format off
#define ATTR(...) SIM_ATTR_ROW(nic_dctcp_config_t, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(RATIO, "nic.dctcp.g", g, "0.0625", NULL, "1", "weight of a round trip's share of marks in alpha"),
    ATTR(RATIO, "nic.dctcp.initial-alpha", initial_alpha, "1", NULL, "1", "alpha before the first round trip"),
    ATTR(RATE, "nic.dctcp.ai-rate", ai_rate_bps, "615Mbps", "1Mbps", NULL, "rate that a round trip without marks adds to the sending rate"),
    ATTR(RATE, "nic.dctcp.min-rate", min_rate_bps, "100Mbps", "1Mbps", NULL, "lowest rate that a cut can set"),
};
// clang-format on

const sim_attr_table_t nic_dctcp_attrs = {
    .prefix = "nic.dctcp",
    .scope = "node",
    .config_bytes = sizeof(nic_dctcp_config_t),
    .attrs = attrs,
    .count = SIM_COUNT_OF(attrs),
};
