// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/nscc.c - NSCC: a window that follows delay and marks of single packets.
//
// A marked packet with a long delay cuts the window, an unmarked one with a short delay raises it
// in proportion to what is left to the target, and an unmarked one with a long delay by a fair
// share. A marked packet with a short delay says only that its path is worse than others.
#include "nic/transport/selective/nscc.h"

// The network for which the constants are given: 100 Gbps and 12 us.
#define REFERENCE_RTT_PS (12.0 * SIM_PS_PER_US)
#define REFERENCE_BDP_BYTES 150000.0
// Packets with less delay than this count for the fast increase.
#define NO_DELAY_PS SIM_PS_PER_US
#define QUARTER 0.25

static double real_of(sim_ratio_t ratio)
{
    return (double)ratio.num / (double)ratio.den;
}

// Sets what follows from the round trip of the network, which stays.
static void set_network(nic_nscc_t *nscc, sim_time_t network_ps)
{
    const double bdp_bytes = (double)nscc->line_bps / 8 * (double)network_ps / (double)SIM_PS_PER_S;
    nscc->network_ps = network_ps;
    nscc->target_ps = (sim_time_t)(real_of(nscc->config->target) * (double)network_ps);
    nscc->scale_rate = bdp_bytes / REFERENCE_BDP_BYTES;
    nscc->scale_delay = (double)nscc->target_ps / REFERENCE_RTT_PS;
}

// Sets the round trip of this path, which lowers the largest window and nothing else.
static void set_base(nic_nscc_t *nscc, sim_time_t base_ps)
{
    const double bdp_bytes = (double)nscc->line_bps / 8 * (double)base_ps / (double)SIM_PS_PER_S;
    nscc->base_ps = base_ps;
    nscc->cap_bytes = real_of(nscc->config->cap) * bdp_bytes;
}

// Keeps the window within its limits.
static void apply(nic_nscc_t *nscc)
{
    const double most = SIM_MAX(nscc->cap_bytes, nscc->mtu_bytes);
    nscc->window_bytes =
        nscc->window_bytes < nscc->mtu_bytes ? nscc->mtu_bytes : SIM_MIN(most, nscc->window_bytes);
}

// Takes in a round trip. Only full packets show the round trip of the idle path: short ones take
// less time on each link.
static void lower_base(nic_nscc_t *nscc, sim_time_t rtt_ps, bool full)
{
    if (full && rtt_ps != 0 && rtt_ps < nscc->base_ps) {
        set_base(nscc, rtt_ps);
    }
}

static void add_sample(nic_nscc_t *nscc, double delay_ps)
{
    const double weight = real_of(nscc->config->weight);
    nscc->average_ps = weight * delay_ps + (1 - weight) * nscc->average_ps;
}

// -- the four reactions to an ACK

static void cut(nic_nscc_t *nscc, sim_time_t now_ps)
{
    const nic_nscc_config_t *const config = nscc->config;
    const double target_ps = (double)nscc->target_ps;
    nscc->fast = false;
    nscc->fast_bytes = 0;
    if (nscc->average_ps <= target_ps || now_ps - nscc->cut_ps < nscc->base_ps) {
        return;
    }
    const double excess = (nscc->average_ps - target_ps) / nscc->average_ps;
    const double share = 1 - real_of(config->gamma) * excess;
    const double least = real_of(config->least_cut);
    nscc->window_bytes *= SIM_MAX(share, least);
    nscc->cut_ps = now_ps;
}

// Returns true while packets have met almost no delay for more than a window.
static bool raise_fast(nic_nscc_t *nscc, sim_time_t delay_ps, double bytes)
{
    if (delay_ps >= NO_DELAY_PS) {
        nscc->fast = false;
        nscc->fast_bytes = 0;
        return false;
    }
    nscc->fast_bytes += bytes;
    nscc->fast |= nscc->fast_bytes > nscc->window_bytes;
    if (nscc->fast) {
        nscc->window_bytes += bytes * real_of(nscc->config->fast) * nscc->scale_rate;
    }
    return nscc->fast;
}

static void raise(nic_nscc_t *nscc, sim_time_t delay_ps, double bytes)
{
    const nic_nscc_config_t *const config = nscc->config;
    if (delay_ps >= nscc->target_ps) {
        nscc->fast = false;
        nscc->fast_bytes = 0;
        nscc->increase += real_of(config->fair) * nscc->mss_bytes * nscc->scale_rate * bytes;
    } else if (!raise_fast(nscc, delay_ps, bytes)) {
        const double alpha = real_of(config->alpha) * nscc->mss_bytes * nscc->scale_rate *
                             nscc->scale_delay / (double)nscc->target_ps;
        nscc->increase += bytes * alpha * (double)(nscc->target_ps - delay_ps);
    }
}

// Applies what has been collected, after so many packets and once in a round trip of the network.
static void adjust(nic_nscc_t *nscc, sim_time_t now_ps)
{
    const nic_nscc_config_t *const config = nscc->config;
    const bool round = now_ps - nscc->adjusted_ps >= nscc->network_ps;
    if (!round && nscc->adjust_bytes <= (double)config->adjust_packets * nscc->mtu_bytes) {
        return;
    }
    nscc->window_bytes += nscc->increase / nscc->window_bytes;
    if (round) {
        nscc->window_bytes += real_of(config->eta) * nscc->mss_bytes * nscc->scale_rate;
        nscc->adjusted_ps = now_ps;
    }
    nscc->increase = nscc->adjust_bytes = 0;
}

// -- QuickAdapt

// Returns true if the window was set to what arrived.
static bool fall(nic_nscc_t *nscc, sim_time_t now_ps, sim_time_t delay_ps, uint64_t in_flight)
{
    const nic_nscc_config_t *const config = nscc->config;
    const double late_ps = real_of(config->quick_delay) * (double)nscc->target_ps;
    const bool fell = nscc->quick_ps != 0 && (nscc->alarmed || (double)delay_ps > late_ps) &&
                      nscc->quick_bytes < real_of(config->quick_share) * nscc->cap_bytes;
    if (fell) {
        nscc->window_bytes = SIM_MAX(nscc->quick_bytes, nscc->mtu_bytes);
        nscc->ignore_bytes = (double)in_flight;
        nscc->ignored_bytes = 0;
        nscc->alarmed = false;
        nscc->quick_count++;
    }
    nscc->quick_bytes = 0;
    nscc->quick_ps = now_ps + nscc->base_ps + nscc->target_ps;
    return fell;
}

// Returns true if the window was set to what arrived, or if what comes now was sent before that.
static bool quick_adapt(nic_nscc_t *nscc, sim_time_t now_ps, bool marked, sim_time_t delay_ps,
                        uint64_t in_flight)
{
    const bool old = nscc->ignored_bytes < nscc->ignore_bytes && marked;
    const bool quick = old || (now_ps > nscc->quick_ps && fall(nscc, now_ps, delay_ps, in_flight));
    if (quick) {
        nscc->increase = nscc->adjust_bytes = 0;
    }
    return quick;
}

// -- reports of a transport

void nic__nscc_ack(nic_nscc_t *nscc, sim_time_t now_ps, const nic_nscc_cause_t *cause,
                   uint64_t new_bytes, uint64_t in_flight_bytes)
{
    const double bytes = (double)new_bytes;
    const bool marked = cause->marked;
    sim_time_t delay_ps = (sim_time_t)nscc->average_ps;
    if (cause->rtt_ps != 0) {
        lower_base(nscc, cause->rtt_ps, cause->full);
        delay_ps = cause->rtt_ps > nscc->base_ps ? cause->rtt_ps - nscc->base_ps : 0;
        const bool quarter =
            nscc->config->sample == NIC_NSCC_QUARTER && !marked && delay_ps > nscc->target_ps;
        add_sample(nscc, quarter ? QUARTER * (double)nscc->base_ps : (double)delay_ps);
    }
    nscc->ignored_bytes += bytes;
    nscc->quick_bytes += bytes;
    nscc->adjust_bytes += bytes;
    if (!quick_adapt(nscc, now_ps, marked, delay_ps, in_flight_bytes)) {
        if (!marked) {
            raise(nscc, delay_ps, bytes);
        } else if (delay_ps >= nscc->target_ps) {
            cut(nscc, now_ps);
        }
        apply(nscc);
        adjust(nscc, now_ps);
    }
    apply(nscc);
}

void nic__nscc_trimmed(nic_nscc_t *nscc, sim_time_t now_ps, sim_time_t rtt_ps, uint32_t bytes,
                       bool excused, uint64_t in_flight_bytes)
{
    lower_base(nscc, rtt_ps, true);
    add_sample(nscc, (double)nscc->network_ps);
    nscc->ignored_bytes += bytes;
    if (!excused) {
        nscc->alarmed = true;
        nscc->window_bytes -= quick_adapt(nscc, now_ps, true, 0, in_flight_bytes) ? 0 : bytes;
    }
    apply(nscc);
}

void nic__nscc_lost(nic_nscc_t *nscc, uint32_t bytes)
{
    nscc->window_bytes -= bytes;
    nscc->ignored_bytes += bytes;
    apply(nscc);
}

void nic__nscc_init(nic_nscc_t *nscc, const nic_nscc_config_t *config, uint64_t line_bps,
                    sim_time_t base_ps, uint32_t payload_bytes, uint32_t frame_bytes)
{
    *nscc = (nic_nscc_t){
        .config = config,
        .line_bps = line_bps,
        .mss_bytes = payload_bytes,
        .mtu_bytes = frame_bytes,
    };
    set_network(nscc, base_ps);
    set_base(nscc, base_ps);
    nscc->window_bytes = nscc->cap_bytes;
    apply(nscc);
}

// -- parameters

// clang-format off
#define ATTR(...) SIM_ATTR_ROW(nic_nscc_config_t, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(RATIO, "nic.nscc.target", target, "0.75", "0.01", "100", "delay above the idle round trip that NSCC aims at, in round trips: 0.75 in networks that trim packets, 1 in others"),
    ATTR(RATIO, "nic.nscc.alpha", alpha, "4", "0", "1000", "packets by which the window grows in a round trip without delay"),
    ATTR(RATIO, "nic.nscc.fair", fair, "5", "0", "1000", "packets by which the window grows in a round trip of unmarked packets above the target"),
    ATTR(RATIO, "nic.nscc.eta", eta, "0.15", "0", "1000", "packets that are added to the window in each round trip"),
    ATTR(RATIO, "nic.nscc.fast", fast, "0.25", "0", "10", "share of the bytes that arrive with less than 1 us of delay, for more than a window in a row, that the window grows by"),
    ATTR(RATIO, "nic.nscc.gamma", gamma, "0.8", "0", "1", "share of (average delay - target) / average delay by which marked packets cut the window, at most once in a round trip"),
    ATTR(RATIO, "nic.nscc.least", least_cut, "0.5", "0", "1", "smallest share of the window that one cut leaves"),
    ATTR(RATIO, "nic.nscc.weight", weight, "0.0125", "0.0001", "1", "weight of a new sample in the average delay"),
    ATTR(RATIO, "nic.nscc.cap", cap, "1.5", "0.01", "100", "window at the start and largest window, in bandwidth-delay products"),
    ATTR(COUNT, "nic.nscc.adjust-packets", adjust_packets, "8", "1", "65536", "number of full packets after whose arrival collected increases change the window, if no round trip passes before"),
    ATTR(RATIO, "nic.nscc.quick-share", quick_share, "0.125", "0", "1", "share of the largest window below which arrivals must lie for QuickAdapt to set the window to them, after a trim, a loss or a long delay; 0: never"),
    ATTR(RATIO, "nic.nscc.quick-delay", quick_delay, "4", "0", "1000", "delay in targets from which on QuickAdapt may act without a trim or loss"),
    ATTR(ENUM, "nic.nscc.sample", sample, "measured", "measured|quarter", "sample of the average delay from an unmarked packet above the target; measured: its delay; quarter: a quarter of the round trip, as the public simulator of Ultra Ethernet does"),
};
// clang-format on

const sim_attr_table_t nic_nscc_attrs = {
    .prefix = "nic.nscc",
    .scope = "node",
    .config_bytes = sizeof(nic_nscc_config_t),
    .attrs = attrs,
    .count = SIM_COUNT_OF(attrs),
};
