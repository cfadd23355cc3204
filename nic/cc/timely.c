// SPDX-License-Identifier: Apache-2.0
// TIMELY and patched TIMELY: from round-trip times to a QP's sending rate.
//
// TIMELY raises the rate while round-trip times fall and lowers it in proportion to how fast they
// rise, between two bounds beyond which it looks at the time itself. At a gradient of zero any
// queue is as good as any other to it, so its shares and queues settle nowhere in particular.
// Patched TIMELY makes that middle zone look at the distance from a reference too, and has one
// fixed point. Both see one sample per update: per segment of some 16 to 64 KB, or per round trip.
//
// Sources: Mittal et al., SIGCOMM 2015 for TIMELY; Zhu et al., CoNEXT 2016, sections 4 and 4.3, for
// its analysis and the patch; the HPCC simulator for the form with one update per round trip.
// Which line comes from where, and what is not modelled: docs/models/timely.md.

#include "nic/cc/timely.h"

typedef enum law { LAW_ORIGINAL, LAW_PATCHED } law_t;

static nic_timely_t *timely_of(nic_cc_t *cc)
{
    return SIM_CONTAINER_OF(cc, nic_timely_t, cc);
}

static const nic_timely_config_t *config_of(const nic_timely_t *timely)
{
    return timely->cc.config;
}

static law_t law_of(const nic_timely_t *timely)
{
    return timely->cc.ops == &nic_cc_timely_patched ? LAW_PATCHED : LAW_ORIGINAL;
}

static double real_of(sim_ratio_t ratio)
{
    return (double)ratio.num / (double)ratio.den;
}

// Sets the rate, within its limits. Only this function turns a real number into a rate.
static void set_rate(nic_timely_t *timely, double rate_bps)
{
    const uint64_t line_bps = timely->cc.line_bps;
    const uint64_t min_bps = config_of(timely)->min_rate_bps;
    const uint64_t least_bps = SIM_MIN(min_bps, line_bps);
    if (!(rate_bps > (double)least_bps)) {
        timely->cc.rate_bps = least_bps;
    } else if (rate_bps >= (double)line_bps) {
        timely->cc.rate_bps = line_bps;
    } else {
        timely->cc.rate_bps = (uint64_t)rate_bps;
    }
}

// Increases the rate. `counted`: the increase counts towards hyper-active increase.
static void increase(nic_timely_t *timely, bool counted)
{
    const nic_timely_config_t *const config = config_of(timely);
    const bool hyper = counted && timely->increases >= config->hai_threshold;
    const uint64_t gain_bps = hyper ? config->hai_rate_bps : config->ai_rate_bps;
    timely->increases = counted ? timely->increases + !hyper : 0;
    set_rate(timely, (double)timely->cc.rate_bps + (double)gain_bps);
}

static void decrease(nic_timely_t *timely, double by)
{
    timely->increases = 0;
    set_rate(timely, by >= 1.0 ? 0.0 : (double)timely->cc.rate_bps * (1.0 - by));
}

// Applies the middle zone of patched TIMELY: a continuous transition from increase to decrease.
static void blend(nic_timely_t *timely, double rtt_ps, double gradient)
{
    const nic_timely_config_t *const config = config_of(timely);
    const double weight = gradient <= -0.25 ? 0.0 : gradient >= 0.25 ? 1.0 : 2.0 * gradient + 0.5;
    const double reference_ps = (double)config->t_low_ps;
    const double error = (rtt_ps - reference_ps) / reference_ps;
    set_rate(timely,
             (double)config->ai_rate_bps * (1.0 - weight) +
                 (double)timely->cc.rate_bps * (1.0 - real_of(config->beta) * weight * error));
}

static void update_rate(nic_timely_t *timely, sim_time_t rtt_ps)
{
    const nic_timely_config_t *const config = config_of(timely);
    const double alpha = real_of(config->alpha);
    const double difference_ps = (double)rtt_ps - (double)timely->rtt_ps;
    timely->rtt_diff_ps = (1.0 - alpha) * timely->rtt_diff_ps + alpha * difference_ps;
    const double gradient = timely->rtt_diff_ps / (double)config->min_rtt_ps;
    if (rtt_ps < config->t_low_ps) {
        // The papers count only increases by the gradient; the HPCC simulator counts these, too.
        increase(timely, config->update == NIC_TIMELY_PER_RTT && law_of(timely) == LAW_ORIGINAL);
    } else if (rtt_ps > config->t_high_ps) {
        const double over = 1.0 - (double)config->t_high_ps / (double)rtt_ps;
        decrease(timely, real_of(config->beta_high) * over);
    } else if (law_of(timely) == LAW_PATCHED) {
        blend(timely, (double)rtt_ps, gradient);
    } else if (gradient <= 0.0) {
        increase(timely, true);
    } else {
        decrease(timely, real_of(config->beta) * gradient);
    }
}

// Updates the rate by a sample. The first sample only becomes the reference of the next one.
static void update(nic_timely_t *timely, sim_time_t rtt_ps, sim_time_t sent_ps)
{
    timely->waiting_ps = 0;
    if (timely->measured) {
        update_rate(timely, rtt_ps);
    }
    timely->measured = true;
    timely->rtt_ps = rtt_ps;
    timely->sent_ps = sent_ps;
}

static uint64_t segment_packets(const nic_timely_t *timely)
{
    const uint64_t mtu_bytes = timely->cc.mtu_bytes;
    return (config_of(timely)->segment_bytes + mtu_bytes - 1) / mtu_bytes;
}

// Handles an acknowledged segment, whose last packet was sent at sent_ps. Updates are max(segment /
// rate, min-rtt) apart in the time of sending. The time of acknowledgements would not do: they come
// closer together whenever round trips get shorter.
static void complete(nic_timely_t *timely, sim_time_t rtt_ps, sim_time_t sent_ps)
{
    const nic_timely_config_t *const config = config_of(timely);
    const sim_time_t segment_ps = config->segment_bytes * 8 * SIM_PS_PER_S / timely->cc.rate_bps;
    const sim_time_t apart_ps = SIM_MAX(segment_ps, config->min_rtt_ps);
    if (!timely->measured || sent_ps >= timely->sent_ps + apart_ps) {
        update(timely, rtt_ps, sent_ps);
    }
    timely->waiting_ps = 0;
}

// -- operations

static void timely_init(nic_cc_t *cc)
{
    nic_timely_t *const timely = timely_of(cc);
    const nic_timely_config_t *const config = config_of(timely);
    if (config->burst) {
        cc->burst_bytes =
            (uint32_t)(segment_packets(timely) * ((uint64_t)cc->mtu_bytes + cc->overhead_bytes));
    }
    timely->due_psn = config->update != NIC_TIMELY_PER_RTT ? segment_packets(timely) : 0;
    set_rate(timely, (double)cc->line_bps);
}

// Starts a QP. A QP that was inactive continues at its old rate.
static void timely_start(nic_cc_t *cc)
{
    nic_timely_t *const timely = timely_of(cc);
    if (!timely->begun && config_of(timely)->start == NIC_TIMELY_START_SHARE) {
        const uint64_t flows = (uint64_t)nic_cc_others_active(cc) + 1;
        set_rate(timely, (double)cc->line_bps / (double)flows);
    }
    timely->begun = true;
}

// Stops a QP. The last segment before that may be incomplete.
static void timely_stop(nic_cc_t *cc)
{
    nic_timely_t *const timely = timely_of(cc);
    if (timely->waiting_ps != 0) {
        complete(timely, timely->waiting_ps, timely->waiting_sent_ps);
    }
}

// Returns the round-trip time from the first bit of a packet to its ACK, minus its own sending
// time if that is excluded.
static sim_time_t sample_ps(const nic_timely_t *timely, const nic_cc_ack_t *ack)
{
    const nic_cc_t *const cc = &timely->cc;
    if (!config_of(timely)->exclude_serialisation) {
        return ack->rtt_ps;
    }
    const uint64_t payload_bytes = SIM_MIN(ack->acked_bytes, cc->mtu_bytes);
    const uint64_t bits = (payload_bytes + cc->overhead_bytes) * 8;
    const sim_time_t own_ps = bits * SIM_PS_PER_S / cc->line_bps;
    return ack->rtt_ps > own_ps ? ack->rtt_ps - own_ps : 1;
}

static void per_segment(nic_timely_t *timely, const nic_cc_ack_t *ack, sim_time_t rtt_ps,
                        sim_time_t sent_ps)
{
    const uint64_t packets = segment_packets(timely);
    if (ack->acked_psn < timely->due_psn) {
        timely->waiting_ps = rtt_ps;
        timely->waiting_sent_ps = sent_ps;
        return;
    }
    timely->due_psn = (ack->acked_psn / packets + 1) * packets;
    complete(timely, rtt_ps, sent_ps);
}

static void per_rtt(nic_timely_t *timely, const nic_cc_ack_t *ack, sim_time_t rtt_ps,
                    sim_time_t sent_ps)
{
    if (ack->acked_psn > timely->due_psn) {
        update(timely, rtt_ps, sent_ps);
        timely->due_psn = ack->next_psn;
    } else if (ack->next_psn < timely->due_psn) {
        timely->due_psn = ack->next_psn; // the QP went back
    }
}

// Updates as the CoNEXT paper's simulator does: a segment is handed to the adapter at once and
// timed from there, so the sample contains all its packets but one. Incomplete segments are not
// measured. Updates may be close together. The first sample is compared with a packet's time.
static void per_burst(nic_timely_t *timely, const nic_cc_ack_t *ack, sim_time_t rtt_ps)
{
    const nic_cc_t *const cc = &timely->cc;
    const uint64_t packets = segment_packets(timely);
    if (ack->acked_psn < timely->due_psn) {
        return;
    }
    timely->due_psn = (ack->acked_psn / packets + 1) * packets;
    const uint64_t bits = ((uint64_t)cc->mtu_bytes + cc->overhead_bytes) * 8;
    const sim_time_t packet_ps = bits * SIM_PS_PER_S / cc->line_bps;
    if (!timely->measured) {
        timely->measured = true;
        timely->rtt_ps = packet_ps;
    }
    update(timely, rtt_ps + (packets - 1) * packet_ps, cc->node->now_ps);
}

static void timely_ack(nic_cc_t *cc, const nic_cc_ack_t *ack)
{
    nic_timely_t *const timely = timely_of(cc);
    if (ack->rtt_ps == 0 || ack->nak) {
        return;
    }
    const sim_time_t rtt_ps = sample_ps(timely, ack);
    const sim_time_t sent_ps = cc->node->now_ps - ack->rtt_ps;
    if (config_of(timely)->update == NIC_TIMELY_PER_SEGMENT) {
        per_segment(timely, ack, rtt_ps, sent_ps);
    } else if (config_of(timely)->update == NIC_TIMELY_PER_BURST) {
        per_burst(timely, ack, rtt_ps);
    } else {
        per_rtt(timely, ack, rtt_ps, sent_ps);
    }
}

static const char *const metric_names[] = {
    "rtt",       // ps, of the last update
    "increases", // in a row
    NULL,
};

static uint64_t timely_metric(const nic_cc_t *cc, uint32_t index)
{
    const nic_timely_t *const timely = (const nic_timely_t *)cc;
    SIM_CHECK(index < SIM_COUNT_OF(metric_names) - 1);
    return index == 0 ? timely->rtt_ps : timely->increases;
}

const nic_cc_ops_t nic_cc_timely = {
    .name = "timely",
    .state_bytes = sizeof(nic_timely_t),
    .attrs = &nic_timely_attrs,
    .increase = "ai-rate",
    .init = timely_init,
    .start = timely_start,
    .stop = timely_stop,
    .ack = timely_ack,
    .metric_names = metric_names,
    .metric = timely_metric,
};

const nic_cc_ops_t nic_cc_timely_patched = {
    .name = "timely-patched",
    .state_bytes = sizeof(nic_timely_t),
    .attrs = &nic_timely_patched_attrs,
    .increase = "ai-rate",
    .init = timely_init,
    .start = timely_start,
    .stop = timely_stop,
    .ack = timely_ack,
    .metric_names = metric_names,
    .metric = timely_metric,
};

// -- parameters

// clang-format off
#define TIMELY_ATTRS(prefix, segment_default, beta_default)                                       \
    SIM_ATTR_ROW(nic_timely_config_t, ENUM, prefix ".update", update, "segment", "segment|rtt|burst", "the rate is updated for each segment acknowledged, once per round trip, or as burst: for each whole segment, whose own packets count as delay"), \
    SIM_ATTR_ROW(nic_timely_config_t, ENUM, prefix ".start", start, "share", "share|line", "first rate of a queue pair: line rate / (active ones of the NIC + 1), or line rate"), \
    SIM_ATTR_ROW(nic_timely_config_t, BYTES, prefix ".segment", segment_bytes, segment_default, "1", "512KB", "payload of a segment; rounded up to packets"), \
    SIM_ATTR_ROW(nic_timely_config_t, BOOL, prefix ".burst", burst, "true", "true: a segment leaves at line rate, and pauses between segments give the rate; false: packets are paced"), \
    SIM_ATTR_ROW(nic_timely_config_t, BOOL, prefix ".exclude-serialisation", exclude_serialisation, "true", "true: round-trip times do not contain the packet's own time on the first link; false: they do"), \
    SIM_ATTR_ROW(nic_timely_config_t, RATIO, prefix ".alpha", alpha, "0.875", NULL, "1", "weight of the newest difference of round-trip times in the gradient"), \
    SIM_ATTR_ROW(nic_timely_config_t, RATIO, prefix ".beta", beta, beta_default, NULL, "1", "strength of a decrease between t-low and t-high"), \
    SIM_ATTR_ROW(nic_timely_config_t, RATIO, prefix ".beta-high", beta_high, "0.8", NULL, "1", "strength of a decrease above t-high"), \
    SIM_ATTR_ROW(nic_timely_config_t, TIME, prefix ".t-low", t_low_ps, "50us", "1ns", "1s", "round-trip time below which the rate always increases", .not_above = prefix ".t-high"), \
    SIM_ATTR_ROW(nic_timely_config_t, TIME, prefix ".t-high", t_high_ps, "500us", "1ns", "1s", "round-trip time above which the rate always decreases"), \
    SIM_ATTR_ROW(nic_timely_config_t, TIME, prefix ".min-rtt", min_rtt_ps, "20us", "1ns", "1s", "unit of the gradient, and least time between updates per segment"), \
    SIM_ATTR_ROW(nic_timely_config_t, RATE, prefix ".ai-rate", ai_rate_bps, "10Mbps", NULL, NULL, "rate that an additive increase adds to the sending rate"), \
    SIM_ATTR_ROW(nic_timely_config_t, RATE, prefix ".min-rate", min_rate_bps, "100Mbps", "1Mbps", NULL, "lower limit of the rate")

#define ATTR(...) SIM_ATTR_ROW(nic_timely_config_t, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    TIMELY_ATTRS("nic.timely", "16KB", "0.8"),
    ATTR(RATE, "nic.timely.hai-rate", hai_rate_bps, "50Mbps", NULL, NULL, "rate that an increase adds after hai-threshold increases in a row"),
    ATTR(COUNT, "nic.timely.hai-threshold", hai_threshold, "5", NULL, "1000", "number of increases in a row at a falling round-trip time before hai-rate"),
};

static const sim_attr_t patched_attrs[] = {
    TIMELY_ATTRS("nic.timely-patched", "16KB", "0.008"),
};
// clang-format on

const sim_attr_table_t nic_timely_attrs = {
    .prefix = "nic.timely",
    .scope = "node",
    .config_bytes = sizeof(nic_timely_config_t),
    .attrs = attrs,
    .count = SIM_COUNT_OF(attrs),
};

const sim_attr_table_t nic_timely_patched_attrs = {
    .prefix = "nic.timely-patched",
    .scope = "node",
    .config_bytes = sizeof(nic_timely_config_t),
    .attrs = patched_attrs,
    .count = SIM_COUNT_OF(patched_attrs),
};
