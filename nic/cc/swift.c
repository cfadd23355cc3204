// SPDX-License-Identifier: Apache-2.0
// Swift: a window that follows the round trip's delay, with a target that depends on the path's
// hops and on the window itself.
//
// Source: Kumar et al., SIGCOMM 2020, algorithm 1 and sections 3.1 to 3.5. Constants, and what is
// not modelled: docs/models/swift.md.
#include "nic/cc/swift.h"

#include <math.h>

#define WINDOW_METRIC_ONE 1000.0
#define TTL_START 64u   // of ACKs
#define HOST_GAIN 0.125 // of the smoothed delay in the hosts

static nic_swift_t *swift_of(nic_cc_t *cc)
{
    return SIM_CONTAINER_OF(cc, nic_swift_t, cc);
}

static const nic_swift_config_t *config_of(const nic_swift_t *swift)
{
    return swift->cc.config;
}

static double real_of(sim_ratio_t ratio)
{
    return (double)ratio.num / (double)ratio.den;
}

sim_time_t nic_swift_target_ps(const nic_swift_config_t *config, double window, uint32_t hops)
{
    const double range = (double)config->fs_range_ps;
    double more = 0;
    if (config->flow_scaling) {
        const double at_max = 1.0 / sqrt(real_of(config->fs_max));
        const double alpha = range / (1.0 / sqrt(real_of(config->fs_min)) - at_max);
        more = alpha / sqrt(window) - alpha * at_max;
        more = more < 0 ? 0 : SIM_MIN(range, more);
    }
    return config->base_target_ps + hops * config->hop_ps + (sim_time_t)more;
}

static double bounded(double window, double least, double most)
{
    return window < least ? least : SIM_MIN(most, window);
}

static double window_of(const nic_swift_t *swift)
{
    return SIM_MIN(swift->host_window, swift->window);
}

// Sets window and rate of the QP. Below one packet, the window is one packet and the rate is what
// the window is worth in a round trip: packets leave one by one, further apart than a round trip.
static void apply(nic_swift_t *swift)
{
    const nic_swift_config_t *const config = config_of(swift);
    const double least = real_of(config->min_window);
    const double most = real_of(config->max_window);
    swift->window = bounded(swift->window, least, most);
    swift->host_window = bounded(swift->host_window, least, most);
    const double window = window_of(swift);
    nic_cc_t *const cc = &swift->cc;
    const double packets = SIM_MAX(1, window);
    cc->window_bytes = (uint64_t)(packets * cc->mtu_bytes);
    uint64_t rate_bps = cc->line_bps;
    if (window < 1) {
        const sim_time_t rtt_ps = swift->rtt_ps != 0 ? swift->rtt_ps : cc->base_rtt_ps;
        const double bits = window * 8 * (cc->mtu_bytes + cc->overhead_bytes);
        const double bps = rtt_ps == 0 ? 0 : bits * (double)SIM_PS_PER_S / (double)rtt_ps;
        rate_bps = bps < 1 ? 1 : bps < (double)cc->line_bps ? (uint64_t)bps : cc->line_bps;
    }
    cc->rate_bps = rate_bps;
}

// Cuts the window to a share, at most once per round trip.
static void cut(nic_swift_t *swift, double share)
{
    const sim_time_t now_ps = swift->cc.node->now_ps;
    if (!swift->was_cut || now_ps - swift->cut_ps >= swift->rtt_ps) {
        swift->window *= share;
        swift->cut_ps = now_ps;
        swift->was_cut = true;
    }
}

// Returns a window that n acknowledged packets let grow.
static double grown(const nic_swift_config_t *config, double window, double packets)
{
    const double ai = real_of(config->ai);
    return window + (window >= 1 ? ai / window * packets : ai * packets);
}

// Returns the share that a cut leaves of a window.
static double share_left(const nic_swift_config_t *config, double delay_ps, double target_ps)
{
    const double share = 1.0 - real_of(config->beta) * (delay_ps - target_ps) / delay_ps;
    const double least = 1.0 - real_of(config->max_mdf);
    return SIM_MAX(share, least);
}

// Adapts the window for the hosts. Short delays there say little, so they are smoothed.
static void hear_hosts(nic_swift_t *swift, const nic_cc_ack_t *ack)
{
    const nic_swift_config_t *const config = config_of(swift);
    const sim_time_t now_ps = swift->cc.node->now_ps;
    const double delay_ps = (double)ack->host_ps;
    swift->host_ps =
        swift->host_ps > 0 ? swift->host_ps + HOST_GAIN * (delay_ps - swift->host_ps) : delay_ps;
    const double target_ps = (double)config->host_target_ps;
    if (swift->host_ps < target_ps) {
        swift->host_window =
            grown(config, swift->host_window, (double)ack->acked_bytes / swift->cc.mtu_bytes);
    } else if (!swift->host_was_cut || now_ps - swift->host_cut_ps >= swift->rtt_ps) {
        swift->host_window *= share_left(config, swift->host_ps, target_ps);
        swift->host_cut_ps = now_ps;
        swift->host_was_cut = true;
    }
}

// -- operations

static void swift_init(nic_cc_t *cc)
{
    nic_swift_t *const swift = swift_of(cc);
    swift->window = real_of(config_of(swift)->start_window);
    swift->host_window = real_of(config_of(swift)->max_window);
    apply(swift);
}

static void swift_ack(nic_cc_t *cc, const nic_cc_ack_t *ack)
{
    nic_swift_t *const swift = swift_of(cc);
    const nic_swift_config_t *const config = config_of(swift);
    swift->timeouts = 0;
    if (ack->rtt_ps != 0) {
        const uint32_t ttl = ack->packet->ttl;
        swift->rtt_ps = ack->rtt_ps;
        swift->goal_ps =
            nic_swift_target_ps(config, window_of(swift), ttl < TTL_START ? TTL_START - ttl : 0);
        const sim_time_t fabric_ps = ack->rtt_ps - ack->host_ps;
        if (fabric_ps < swift->goal_ps) {
            swift->window = grown(config, swift->window, (double)ack->acked_bytes / cc->mtu_bytes);
        } else {
            cut(swift, share_left(config, (double)fabric_ps, (double)swift->goal_ps));
        }
        if (ack->host_ps != 0) {
            hear_hosts(swift, ack);
        }
    }
    if (ack->nak) {
        cut(swift, 1.0 - real_of(config->max_mdf));
    }
    apply(swift);
}

static void swift_timeout(nic_cc_t *cc)
{
    nic_swift_t *const swift = swift_of(cc);
    const nic_swift_config_t *const config = config_of(swift);
    if (++swift->timeouts >= config->reset_after) {
        swift->window = real_of(config->min_window);
    } else {
        cut(swift, 1.0 - real_of(config->max_mdf));
    }
    apply(swift);
}

static const char *const metric_names[] = {
    "window_milli", // thousandths of a packet
    "target_ps",
    NULL,
};

static uint64_t swift_metric(const nic_cc_t *cc, uint32_t index)
{
    const nic_swift_t *const swift = (const nic_swift_t *)cc;
    SIM_CHECK(index < SIM_COUNT_OF(metric_names) - 1);
    return index == 0 ? (uint64_t)(window_of(swift) * WINDOW_METRIC_ONE + 0.5) : swift->goal_ps;
}

const nic_cc_ops_t nic_cc_swift = {
    .name = "swift",
    .state_bytes = sizeof(nic_swift_t),
    .attrs = &nic_swift_attrs,
    .acks_every_packet = true,
    .hears_hosts = true,
    .init = swift_init,
    .ack = swift_ack,
    .timeout = swift_timeout,
    .metric_names = metric_names,
    .metric = swift_metric,
};

// -- parameters

// clang-format off
#define ATTR(...) SIM_ATTR_ROW(nic_swift_config_t, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(RATIO, "nic.swift.ai", ai, "1", "0.001", "1000", "packets by which the window grows in a round trip below the target"),
    ATTR(RATIO, "nic.swift.beta", beta, "0.8", "0", "1", "share of (delay - target) / delay by which the window is cut"),
    ATTR(RATIO, "nic.swift.max-mdf", max_mdf, "0.5", "0", "0.99", "largest share of the window that one cut takes away"),
    ATTR(TIME, "nic.swift.base-target", base_target_ps, "20us", "1ns", "1s", "target delay of a path without hops and of a large window"),
    ATTR(TIME, "nic.swift.per-hop", hop_ps, "3.05us", "0ps", "1s", "delay that each hop, counted by the ACK's TTL, adds to the target"),
    ATTR(TIME, "nic.swift.host-target", host_target_ps, "100us", "1ns", "1s", "target of the smoothed delay in the detailed NICs of both hosts, which a window of its own follows"),
    ATTR(BOOL, "nic.swift.flow-scaling", flow_scaling, "true", "true: small windows have a larger target"),
    ATTR(TIME, "nic.swift.fs-range", fs_range_ps, "100us", "0ps", "1s", "largest delay that flow scaling adds to the target"),
    ATTR(RATIO, "nic.swift.fs-min", fs_min, "0.1", "0.001", "10", "window in packets at which flow scaling adds nic.swift.fs-range", .not_above = "nic.swift.fs-max"),
    ATTR(RATIO, "nic.swift.fs-max", fs_max, "100", "11", "100000", "window in packets from which on flow scaling adds nothing"),
    ATTR(RATIO, "nic.swift.min-window", min_window, "0.001", "0.000001", "1", "smallest window in packets; below 1, packets are paced one by one", .not_above = "nic.swift.max-window"),
    ATTR(RATIO, "nic.swift.max-window", max_window, "1000", "1", "1000000", "largest window in packets"),
    ATTR(RATIO, "nic.swift.start-window", start_window, "12", "0.000001", "1000000", "window in packets with which a queue pair begins"),
    ATTR(COUNT, "nic.swift.reset-after", reset_after, "5", "1", "1000", "number of time-outs in a row after which the window is nic.swift.min-window"),
};
// clang-format on

const sim_attr_table_t nic_swift_attrs = {
    .prefix = "nic.swift",
    .scope = "node",
    .config_bytes = sizeof(nic_swift_config_t),
    .attrs = attrs,
    .count = SIM_COUNT_OF(attrs),
};
