// SPDX-License-Identifier: Apache-2.0
// DCQCN's reaction point: from congestion notification packets to a QP's sending rate.
//
// After a cut the rate R_C climbs back to the target R_T in halves (fast recovery), then R_T itself
// climbs, slowly (additive) and after long enough faster (hyper increase). Two clocks make it
// climb, each with its own count of stages: time, and bytes sent. How deep a cut is follows alpha,
// a moving average of how often CNPs come.
//
// Everything that time does to the state is a deadline in the state, and one timer stands at the
// earliest. alpha has none: it is brought up to date when a cut needs it. A QP at rest therefore
// costs no event, and goes on from where its clocks would have led it when it starts again.
//
// Sources: Zhu et al., SIGCOMM 2015 and CoNEXT 2016 for the algorithm; IEEE 802.1Qau for the target
// rate's latch; the vendor's parameter descriptions for the variant "vendor". Which line comes from
// where, and what is not modelled: docs/models/dcqcn.md.

#include "nic/cc/dcqcn.h"

#define FIXED_POINT_ONE 1024.0 // of alpha and g in the vendor's parameters
#define ALPHA_METRIC_ONE 1000000.0

// An alpha below 2^-70 counts as 0: with g >= 1/1024, in double precision (1 - g) alpha + g equals
// g and 1 - alpha/2 equals 1. This ends the loop over periods after at most fifty thousand rounds.
#define ALPHA_NEGLIGIBLE 0x1p-70

static nic_dcqcn_t *dcqcn_of(nic_cc_t *cc)
{
    return SIM_CONTAINER_OF(cc, nic_dcqcn_t, cc);
}

static const nic_dcqcn_config_t *config_of(const nic_dcqcn_t *dcqcn)
{
    return dcqcn->cc.config;
}

static uint64_t max_rate_bps(const nic_dcqcn_t *dcqcn)
{
    const uint64_t max_bps = config_of(dcqcn)->rpg_max_rate_bps;
    return max_bps == 0 || max_bps > dcqcn->cc.line_bps ? dcqcn->cc.line_bps : max_bps;
}

static uint64_t clamp_rate_bps(const nic_dcqcn_t *dcqcn, uint64_t rate_bps)
{
    const uint64_t max_bps = max_rate_bps(dcqcn);
    const uint64_t min_bps = config_of(dcqcn)->rpg_min_rate_bps;
    const uint64_t at_least_bps = SIM_MAX(min_bps, rate_bps);
    return SIM_MIN(max_bps, at_least_bps);
}

static sim_time_t after_ps(sim_time_t time_ps, sim_time_t delay_ps)
{
    return delay_ps >= SIM_TIME_NEVER - time_ps ? SIM_TIME_NEVER : time_ps + delay_ps;
}

static uint64_t byte_reset(const nic_dcqcn_t *dcqcn)
{
    const uint64_t bytes = config_of(dcqcn)->rpg_byte_reset_bytes;
    return bytes == 0 ? UINT64_MAX : bytes;
}

// Accounts for the periods of alpha that ended before end_ps. The operations are those of one
// update per period, in order, so the result has the same bits as a timer's would.
static void settle_alpha(nic_dcqcn_t *dcqcn, sim_time_t end_ps)
{
    const nic_dcqcn_config_t *const config = config_of(dcqcn);
    SIM_CHECK(end_ps >= dcqcn->alpha_ps);
    if (end_ps - dcqcn->alpha_ps <= config->dce_tcp_rtt_ps) {
        return;
    }
    uint64_t periods = (end_ps - 1 - dcqcn->alpha_ps) / config->dce_tcp_rtt_ps;
    const double kept = (double)config->dce_tcp_g / FIXED_POINT_ONE;
    double alpha = kept * dcqcn->alpha;
    dcqcn->alpha_ps += periods * config->dce_tcp_rtt_ps;
    if (dcqcn->cnp_seen) {
        alpha += 1.0 - kept;
        dcqcn->cnp_seen = false;
    }
    while (--periods > 0 && alpha > ALPHA_NEGLIGIBLE) {
        alpha *= kept;
    }
    dcqcn->alpha = alpha;
}

// Returns the rate after a cut. Only this function turns a real number into a rate.
static uint64_t cut_rate_bps(const nic_dcqcn_t *dcqcn)
{
    const nic_dcqcn_config_t *const config = config_of(dcqcn);
    const double gain = FIXED_POINT_ONE / (double)(UINT64_C(1) << config->rpg_gd);
    const double least = (double)config->rpg_min_dec_fac.num / (double)config->rpg_min_dec_fac.den;
    double share = 1.0 - dcqcn->alpha * gain;
    if (share < least) {
        share = least;
    }
    return clamp_rate_bps(dcqcn, (uint64_t)((double)dcqcn->cc.rate_bps * share));
}

static bool cut_lowers_target(const nic_dcqcn_t *dcqcn)
{
    const nic_dcqcn_config_t *const config = config_of(dcqcn);
    return config->clamp_tgt_rate || dcqcn->byte_stage > 0 ||
           (config->clamp_tgt_rate_after_time_inc && dcqcn->time_stage > 0);
}

// Cuts the rate at now_ps. Periods of alpha that ended before alpha_end_ps count.
static void cut(nic_dcqcn_t *dcqcn, sim_time_t now_ps, sim_time_t alpha_end_ps)
{
    const nic_dcqcn_config_t *const config = config_of(dcqcn);
    SIM_CHECK(dcqcn->limited);
    SIM_CHECK(dcqcn->cc.rate_bps <= dcqcn->target_bps);
    settle_alpha(dcqcn, alpha_end_ps);
    if (cut_lowers_target(dcqcn)) {
        dcqcn->target_bps = dcqcn->cc.rate_bps;
    }
    dcqcn->cc.rate_bps = cut_rate_bps(dcqcn);
    if (config->variant == NIC_DCQCN_PAPER) {
        const double kept = (double)config->dce_tcp_g / FIXED_POINT_ONE;
        dcqcn->alpha = kept * dcqcn->alpha + (1.0 - kept);
        dcqcn->alpha_ps = now_ps;
    }
    dcqcn->time_stage = 0;
    dcqcn->byte_stage = 0;
    dcqcn->bytes_left = byte_reset(dcqcn);
    dcqcn->increase_ps = after_ps(now_ps, config->rpg_time_reset_ps);
    dcqcn->cut_ps = SIM_TIME_NEVER;
}

// Returns the gain of the target rate in an increase. Stages are counted before the increase, so
// the first F increases of a kind are fast recovery. A clock that is off does not hold back hyper
// increase.
static uint64_t target_gain_bps(const nic_dcqcn_t *dcqcn)
{
    const nic_dcqcn_config_t *const config = config_of(dcqcn);
    const uint64_t threshold = config->rpg_threshold;
    const uint64_t time_stage = dcqcn->time_stage;
    const uint64_t byte_stage = config->rpg_byte_reset_bytes == 0 ? time_stage : dcqcn->byte_stage;
    const uint64_t most = SIM_MAX(time_stage, byte_stage);
    const uint64_t least = SIM_MIN(time_stage, byte_stage);
    if (most < threshold) {
        return 0;
    }
    if (least <= threshold) {
        return config->rpg_ai_rate_bps;
    }
    const uint64_t steps = config->variant == NIC_DCQCN_PAPER ? least - threshold : 1;
    const uint64_t hai_bps = config->rpg_hai_rate_bps;
    return hai_bps > max_rate_bps(dcqcn) / steps ? max_rate_bps(dcqcn) : hai_bps * steps;
}

static void increase(nic_dcqcn_t *dcqcn)
{
    const uint64_t max_bps = max_rate_bps(dcqcn);
    const uint64_t gain_bps = target_gain_bps(dcqcn);
    SIM_CHECK(dcqcn->target_bps <= max_bps);
    dcqcn->target_bps =
        gain_bps > max_bps - dcqcn->target_bps ? max_bps : dcqcn->target_bps + gain_bps;
    // The mean is rounded up; otherwise R_C would stay one bit per second below R_T for ever.
    dcqcn->cc.rate_bps += (dcqcn->target_bps - dcqcn->cc.rate_bps + 1) / 2;
    if (dcqcn->cc.rate_bps < max_bps) {
        return;
    }
    // R_C and R_T are at the maximum, so neither increases nor a latch of R_T change anything.
    dcqcn->increase_ps = SIM_TIME_NEVER;
    dcqcn->bytes_left = UINT64_MAX;
    if (config_of(dcqcn)->variant == NIC_DCQCN_VENDOR && dcqcn->cut_ps == SIM_TIME_NEVER) {
        dcqcn->limited = false;
    }
}

// Does what is due before end_ps.
static void advance(nic_dcqcn_t *dcqcn, sim_time_t end_ps)
{
    for (;;) {
        // If both are due at one instant, the cut comes first and cancels the increase.
        if (dcqcn->cut_ps <= dcqcn->increase_ps) {
            if (dcqcn->cut_ps >= end_ps) {
                return;
            }
            // The period of alpha that ends together with the monitor period counts, too.
            cut(dcqcn, dcqcn->cut_ps, dcqcn->cut_ps + 1);
        } else {
            if (dcqcn->increase_ps >= end_ps) {
                return;
            }
            dcqcn->increase_ps = after_ps(dcqcn->increase_ps, config_of(dcqcn)->rpg_time_reset_ps);
            increase(dcqcn);
            dcqcn->time_stage++;
        }
    }
}

// Ends an operation: reports a new rate and puts the timer where the earliest deadline is.
static void settle(nic_dcqcn_t *dcqcn, uint64_t rate_before_bps)
{
    sim_node_t *const node = dcqcn->cc.node;
    sim_timer_t *const timer = &dcqcn->timer;
    const sim_time_t due_ps = SIM_MIN(dcqcn->cut_ps, dcqcn->increase_ps);
    if (dcqcn->running && due_ps != SIM_TIME_NEVER) {
        if (!sim_timer_armed(timer) || sim_timer_time_ps(node, timer) != due_ps) {
            sim_timer_arm(node, timer, due_ps);
        }
    } else {
        sim_timer_cancel(node, timer);
    }
    if (dcqcn->cc.rate_bps != rate_before_bps) {
        nic_cc_rate_changed(&dcqcn->cc);
    }
}

static void on_timer(sim_node_t *node, sim_timer_t *timer)
{
    nic_dcqcn_t *const dcqcn = SIM_CONTAINER_OF(timer, nic_dcqcn_t, timer);
    const uint64_t before_bps = dcqcn->cc.rate_bps;
    advance(dcqcn, node->now_ps + 1);
    settle(dcqcn, before_bps);
}

// Creates the state of a limited QP at its first CNP.
static void limit(nic_dcqcn_t *dcqcn, sim_time_t now_ps)
{
    const nic_dcqcn_config_t *const config = config_of(dcqcn);
    dcqcn->limited = true;
    dcqcn->limited_ps = now_ps;
    dcqcn->alpha = (double)config->initial_alpha_value / FIXED_POINT_ONE;
    dcqcn->alpha_ps = now_ps;
    dcqcn->cnp_seen = false;
    dcqcn->time_stage = 0;
    dcqcn->byte_stage = 0;
    if (config->rate_to_set_on_first_cnp_bps != 0) {
        const uint64_t set_bps = clamp_rate_bps(dcqcn, config->rate_to_set_on_first_cnp_bps);
        if (set_bps < dcqcn->cc.rate_bps) {
            dcqcn->cc.rate_bps = set_bps;
        }
    }
    dcqcn->target_bps = dcqcn->cc.rate_bps;
}

// Returns the end of the monitor period that contains now_ps. A CNP at the very end belongs to the
// period that ends. The first CNP begins the first period.
static sim_time_t monitor_end_ps(const nic_dcqcn_t *dcqcn, sim_time_t now_ps)
{
    const sim_time_t period_ps = config_of(dcqcn)->rate_reduce_monitor_period_ps;
    const sim_time_t since_ps = now_ps - dcqcn->limited_ps;
    const sim_time_t begun = since_ps == 0 ? 0 : (since_ps - 1) / period_ps;
    return after_ps(dcqcn->limited_ps, (begun + 1) * period_ps);
}

// -- operations

static void dcqcn_init(nic_cc_t *cc)
{
    nic_dcqcn_t *const dcqcn = dcqcn_of(cc);
    sim_timer_init(&dcqcn->timer, on_timer);
    dcqcn->limited = false;
    dcqcn->running = false;
    const bool by_ack = config_of(dcqcn)->feedback == NIC_DCQCN_FEEDBACK_ACK;
    cc->hears_acks = by_ack;
    cc->acks_every_packet = by_ack;
    cc->echoes_ecn = by_ack;
    cc->rate_bps = max_rate_bps(dcqcn);
    dcqcn->target_bps = cc->rate_bps;
    dcqcn->bytes_left = UINT64_MAX;
    dcqcn->cut_ps = SIM_TIME_NEVER;
    dcqcn->increase_ps = SIM_TIME_NEVER;
}

static void dcqcn_start(nic_cc_t *cc)
{
    nic_dcqcn_t *const dcqcn = dcqcn_of(cc);
    const uint64_t before_bps = cc->rate_bps;
    dcqcn->running = true;
    advance(dcqcn, cc->node->now_ps);
    settle(dcqcn, before_bps);
}

static void dcqcn_stop(nic_cc_t *cc)
{
    nic_dcqcn_t *const dcqcn = dcqcn_of(cc);
    dcqcn->running = false;
    settle(dcqcn, cc->rate_bps);
}

static void dcqcn_sent(nic_cc_t *cc, uint32_t bytes)
{
    nic_dcqcn_t *const dcqcn = dcqcn_of(cc);
    if (SIM_LIKELY(bytes < dcqcn->bytes_left)) {
        // UINT64_MAX is no count: the state of a queue pair that is not limited then stays.
        dcqcn->bytes_left -= dcqcn->bytes_left == UINT64_MAX ? 0 : bytes;
        return;
    }
    const uint64_t before_bps = cc->rate_bps;
    uint64_t over = bytes - dcqcn->bytes_left;
    for (;;) {
        dcqcn->bytes_left = byte_reset(dcqcn);
        increase(dcqcn);
        dcqcn->byte_stage++;
        if (over < dcqcn->bytes_left) {
            break;
        }
        over -= dcqcn->bytes_left;
    }
    dcqcn->bytes_left -= over;
    settle(dcqcn, before_bps);
}

static void dcqcn_cnp(nic_cc_t *cc)
{
    nic_dcqcn_t *const dcqcn = dcqcn_of(cc);
    const nic_dcqcn_config_t *const config = config_of(dcqcn);
    const sim_time_t now_ps = cc->node->now_ps;
    const uint64_t before_bps = cc->rate_bps;
    advance(dcqcn, now_ps); // at rest, what no timer did
    if (!dcqcn->limited) {
        limit(dcqcn, now_ps);
    }
    if (config->variant == NIC_DCQCN_VENDOR) {
        settle_alpha(dcqcn, now_ps);
        dcqcn->cnp_seen = true;
    }
    if (config->rate_reduce_monitor_period_ps == 0) {
        cut(dcqcn, now_ps, now_ps);
    } else if (dcqcn->cut_ps == SIM_TIME_NEVER) {
        dcqcn->cut_ps = monitor_end_ps(dcqcn, now_ps);
    }
    settle(dcqcn, before_bps);
}

static void dcqcn_ack(nic_cc_t *cc, const nic_cc_ack_t *ack)
{
    if (ack->ecn_echo && config_of(dcqcn_of(cc))->feedback == NIC_DCQCN_FEEDBACK_ACK) {
        dcqcn_cnp(cc);
    }
}

static const char *const metric_names[] = {
    "alpha",       // millionths
    "target_rate", // bit/s
    "time_stage",  "byte_stage", NULL,
};

static uint64_t dcqcn_metric(const nic_cc_t *cc, uint32_t index)
{
    nic_dcqcn_t dcqcn = *(const nic_dcqcn_t *)cc;
    switch (index) {
    case 0:
        if (!dcqcn.limited) {
            return 0;
        }
        settle_alpha(&dcqcn, cc->node->now_ps);
        return (uint64_t)(dcqcn.alpha * ALPHA_METRIC_ONE + 0.5);
    case 1:
        return dcqcn.target_bps;
    case 2:
        return dcqcn.time_stage;
    case 3:
        return dcqcn.byte_stage;
    default:
        SIM_CHECK(index < SIM_COUNT_OF(metric_names) - 1);
        return 0;
    }
}

#define STATE(member_, kind_) SIM_FIELD(nic_dcqcn_t, member_, kind_)
// A limited queue pair recovers with the time, so a span repeats only if all of this is equal.
static const sim_field_t state_rows[] = {
    NIC_CC_FIELDS(STATE, STATE, UNTIL),
    STATE(timer, IGNORE),
    STATE(limited, STATE),
    STATE(running, STATE),
    STATE(cnp_seen, STATE),
    STATE(time_stage, STATE),
    STATE(byte_stage, STATE),
    STATE(target_bps, STATE),
    STATE(bytes_left, STATE),
    STATE(alpha, STATE),
    STATE(alpha_ps, SINCE),
    STATE(limited_ps, SINCE),
    STATE(cut_ps, SINCE),
    STATE(increase_ps, SINCE),
    SIM_FIELD_BITS(nic_dcqcn_t, cnp_seen, time_stage),
    SIM_FIELD_BITS(nic_dcqcn_t, byte_stage, target_bps),
};
static const sim_fields_t state_table = SIM_FIELDS("dcqcn", sizeof(nic_dcqcn_t), state_rows);

const nic_cc_ops_t nic_cc_dcqcn = {
    .name = "dcqcn",
    .state_bytes = sizeof(nic_dcqcn_t),
    .attrs = &nic_dcqcn_attrs,
    .init = dcqcn_init,
    .start = dcqcn_start,
    .stop = dcqcn_stop,
    .sent = dcqcn_sent,
    .cnp = dcqcn_cnp,
    .ack = dcqcn_ack,
    .metric_names = metric_names,
    .metric = dcqcn_metric,
    .fields = &state_table,
};

// -- parameters

// clang-format off
#define ATTR(...) SIM_ATTR_ROW(nic_dcqcn_config_t, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(ENUM, "nic.dcqcn.variant", variant, "vendor", "vendor|paper", "how CNPs turn into cuts: by the periods of an adapter, or each as published"),
    ATTR(ENUM, "nic.dcqcn.feedback", feedback, "cnp", "cnp|ack", "marks come back as CNPs, paced by nic.cnp-interval, or in the ACK of each marked packet"),
    ATTR(TIME, "nic.dcqcn.rpg-time-reset", rpg_time_reset_ps, "300us", "1ns", "10s", "time between rate increases, counted from the last cut"),
    ATTR(BYTES, "nic.dcqcn.rpg-byte-reset", rpg_byte_reset_bytes, "32767KB", NULL, "1TB", "data sent between rate increases, counted from the last cut; 0: only time increases"),
    ATTR(COUNT, "nic.dcqcn.rpg-threshold", rpg_threshold, "1", "1", "31", "number of increases by time (or by bytes) that only halve the distance to the target rate"),
    ATTR(RATE, "nic.dcqcn.rpg-ai-rate", rpg_ai_rate_bps, "5Mbps", "1Mbps", NULL, "rate that an additive increase adds to the target rate"),
    ATTR(RATE, "nic.dcqcn.rpg-hai-rate", rpg_hai_rate_bps, "50Mbps", "1Mbps", NULL, "rate that a hyper increase adds to the target rate (paper: times its number)"),
    ATTR(RATE, "nic.dcqcn.rpg-max-rate", rpg_max_rate_bps, "0Mbps", NULL, NULL, "maximum rate of a queue pair; 0: line rate"),
    ATTR(RATE, "nic.dcqcn.rpg-min-rate", rpg_min_rate_bps, "1Mbps", "1Mbps", NULL, "lowest rate that a cut can set", .not_above = "nic.dcqcn.rpg-max-rate"),
    ATTR(COUNT, "nic.dcqcn.rpg-gd", rpg_gd, "11", NULL, "15", "a cut takes alpha x 1024 / 2^this of the rate: 11 is alpha/2"),
    ATTR(RATIO, "nic.dcqcn.rpg-min-dec-fac", rpg_min_dec_fac, "50%", "1%", "100%", "smallest share of the rate that a cut leaves"),
    ATTR(RATE, "nic.dcqcn.rate-to-set-on-first-cnp", rate_to_set_on_first_cnp_bps, "0Mbps", NULL, NULL, "maximum rate that the first CNP sets before it cuts; 0: cut from the current rate"),
    ATTR(COUNT, "nic.dcqcn.initial-alpha-value", initial_alpha_value, "1023", NULL, "1024", "alpha at the first CNP, in 1024ths"),
    ATTR(COUNT, "nic.dcqcn.dce-tcp-g", dce_tcp_g, "1019", "1", "1023", "weight of the old alpha in an update, 1 - g, in 1024ths"),
    ATTR(TIME, "nic.dcqcn.dce-tcp-rtt", dce_tcp_rtt_ps, "1us", "1ns", "10s", "time between updates of alpha"),
    ATTR(TIME, "nic.dcqcn.rate-reduce-monitor-period", rate_reduce_monitor_period_ps, "4us", NULL, "10s", "period in which there is at most one cut, at its end; 0: each CNP cuts at once"),
    ATTR(BOOL, "nic.dcqcn.clamp-tgt-rate", clamp_tgt_rate, "false", "true: each cut lowers the target rate to the current one; false: only the first cut in a row"),
    ATTR(BOOL, "nic.dcqcn.clamp-tgt-rate-after-time-inc", clamp_tgt_rate_after_time_inc, "true", "whether the first cut after increases by time alone lowers the target rate, too"),
};
// clang-format on

const sim_attr_table_t nic_dcqcn_attrs = {
    .prefix = "nic.dcqcn",
    .scope = "node",
    .config_bytes = sizeof(nic_dcqcn_config_t),
    .attrs = attrs,
    .count = SIM_COUNT_OF(attrs),
};
