// SPDX-License-Identifier: Apache-2.0
// test_cc_transports.c - what every congestion control must keep with every transport.
// labels: threads
// threads: runs_are_repeated_to_the_bit
//
// Goal: whatever repairs losses, the algorithm of tests/algorithms.h that is chosen decides how
// fast: no packet, retransmissions included, leaves before the pacing rate allows it, and no new
// one beyond the window; it hears enough to change them; with data, ACKs and CNPs lost every
// message completes, in at most 2.5 times what go-back-N takes; runs are the same on one thread
// and two. A transport or an algorithm that is added is tested by being in its table. Method:
// senders write through a switch to one receiver over lossy links; a listener holds each packet
// against rate and window of the moments before it. Not pinned: shares and dynamics
// (test_cc_conformance, without losses); what is repaired how (test_single_loss,
// test_transport_torture).
#include "nic/cc/none.h"
#include "nic/objects/qp.h"
#include "nic/trace.h"
#include "nic/transport.h"
#include "tests/cc_star.h"

#define US SIM_PS_PER_US
#define MS SIM_PS_PER_MS
#define SENDERS 4u
#define MESSAGES 90u

// Returns a transport that leaves congestion control to an algorithm; NULL: there are no more.
static const nic_transport_ops_t *transport_at(int index)
{
    for (size_t i = 0; nic_transport_all[i] != NULL; i++) {
        if (!nic_transport_all[i]->own_control && index-- == 0) {
            return nic_transport_all[i];
        }
    }
    return NULL;
}

static int transport_count(void)
{
    int count = 0;
    while (transport_at(count) != NULL) {
        count++;
    }
    return count;
}

// Sets a transport's own attribute: a window of one bandwidth-delay product is so small here that
// congestion control would have nothing to do.
static void set_own(nic_config_t *config, const nic_transport_ops_t *transport)
{
    static const char *const own[][3] = {{"irn", "nic.irn.window", "256KiB"}};
    for (size_t i = 0; i < SIM_COUNT_OF(own); i++) {
        if (strcmp(transport->name, own[i][0]) == 0) {
            const sim_attr_t *const attr = sim_attr_find(transport->attrs, own[i][1]);
            sim_message_t message;
            ck_assert_int_eq(
                sim_attr_set(attr, nic_config_part(config, transport->attrs), own[i][2], &message),
                SIM_OK);
        }
    }
}

static void use(star_config_t *config, const nic_transport_ops_t *transport, const nic_cc_ops_t *cc)
{
    star_config_init(config);
    star_use(config, cc->name);
    sim_free(config->nic.transport);
    config->nic.transport = sim_strdup(transport->name);
    set_own(&config->nic, transport);
    config->link.rate_bps = 25000000000;
    config->sender_count = SENDERS;
    config->loss_rate = (sim_ratio_t){1, 1000};
    config->link.loss_rate = (sim_ratio_t){1, 1000};
    config->nic.timeout = 7; // 0.5 ms
    config->nic.retry_count = 7;
    config->options.until_ps = 4000 * MS;
    config->sample_ps = 10 * MS;
    if (cc->telemetry != NET_TELEMETRY_NONE) {
        config->nic.mtu_bytes = 1024;
    }
}

// -- what a sender is held to

typedef struct guard {
    sim_time_t sent_ps; // of the packet before
    double level_bytes; // of a bucket that packets fill and the rate empties
    uint64_t burst_bytes;
    uint64_t rate_bps; // the greatest since the packet before
    uint64_t window_bytes;
    uint64_t in_flight_bytes;
    uint64_t mtu_bytes;
    uint64_t packets;
    uint64_t changes; // of rate and window, since it was connected
} guard_t;

static void hold_to_window(guard_t *guard, const nic_trace_t *trace)
{
    const uint64_t in_flight_bytes = star_qp_metric(trace->qp, "in_flight_bytes");
    if (in_flight_bytes > guard->in_flight_bytes) { // it is new
        // One packet may always start; with HPCC a packet may start while the window has any room.
        const uint64_t over_bytes =
            (trace->qp->flags & NIC_QP_OVERSHOOT) != 0 ? guard->mtu_bytes - 1 : 0;
        ck_assert_msg(in_flight_bytes <= guard->mtu_bytes ||
                          in_flight_bytes - over_bytes <= guard->window_bytes,
                      "%" PRIu64 " bytes in flight, window %" PRIu64, in_flight_bytes,
                      guard->window_bytes);
    }
    guard->in_flight_bytes = in_flight_bytes;
    guard->window_bytes = star_qp_metric(trace->qp, "window_bytes");
}

static void hold_to_rate(guard_t *guard, const nic_trace_t *trace)
{
    const double gone_bytes =
        (double)(trace->time_ps - guard->sent_ps) * (double)guard->rate_bps / 8e12;
    guard->level_bytes -= gone_bytes < guard->level_bytes ? gone_bytes : guard->level_bytes;
    // The bytes in the bucket must have drained before the next packet, or before the next burst.
    ck_assert_double_le(guard->level_bytes,
                        (double)guard->burst_bytes + 1e-3 * (double)guard->mtu_bytes);
    guard->level_bytes += (double)trace->value;
    guard->sent_ps = trace->time_ps;
    guard->rate_bps = star_qp_metric(trace->qp, "rate_bps");
}

static void watch(const nic_trace_t *trace, void *ctx)
{
    guard_t *const guard = ctx;
    guard->changes += trace->point != NIC_TRACE_SEND;
    if (trace->point == NIC_TRACE_RATE) {
        guard->rate_bps = trace->value > guard->rate_bps ? trace->value : guard->rate_bps;
    } else if (trace->point == NIC_TRACE_WINDOW) {
        guard->window_bytes =
            trace->value > guard->window_bytes ? trace->value : guard->window_bytes;
    } else {
        hold_to_window(guard, trace);
        hold_to_rate(guard, trace);
        guard->packets++;
    }
}

typedef struct outcome {
    uint64_t retransmitted;
    sim_time_t end_ps;
    uint64_t digest;
} outcome_t;

static outcome_t run(const nic_transport_ops_t *transport, const nic_cc_ops_t *cc, unsigned threads,
                     uint64_t messages, bool watched)
{
    star_config_t config;
    use(&config, transport, cc);
    config.options.threads = threads;
    star_t *const star = star_create(&config);
    guard_t guards[SENDERS];
    for (uint32_t i = 0; i < SENDERS; i++) {
        star_flow_t *const flow = &star->flows[i];
        flow->message_count = messages;
        guards[i] = (guard_t){
            .rate_bps = config.link.rate_bps,
            .window_bytes = star_qp_metric(flow->qp, "window_bytes"),
            .mtu_bytes = config.nic.mtu_bytes,
            .burst_bytes = nic__cc(flow->qp)->burst_bytes,
        };
        if (watched) {
            nic_qp_listen(flow->qp, NIC_TRACE_SEND | NIC_TRACE_RATE | NIC_TRACE_WINDOW, watch,
                          &guards[i]);
        }
    }
    ck_assert_int_eq(star_run(star), SIM_ENDED_DONE);
    outcome_t outcome = {0};
    for (uint32_t i = 0; i < SENDERS; i++) {
        const star_flow_t *const flow = &star->flows[i];
        ck_assert_uint_eq(flow->done, messages);
        ck_assert_uint_eq(flow->failed, 0);
        outcome.retransmitted += nic_get_counters(nic_qp_nic(flow->qp))->retransmitted_packets;
        outcome.end_ps = flow->done_ps > outcome.end_ps ? flow->done_ps : outcome.end_ps;
        if (watched) {
            ck_assert_uint_ge(guards[i].packets,
                              messages * config.message_bytes / config.nic.mtu_bytes);
            if (cc != &nic_cc_none) { // "none" never changes it
                ck_assert_msg(guards[i].changes > 10,
                              "%s over %s: %" PRIu64 " changes of rate and window", cc->name,
                              transport->name, guards[i].changes);
            }
        }
    }
    outcome.digest = sim_digest(star->sim);
    star_destroy(star);
    star_config_fini(&config);
    return outcome;
}

// -- every algorithm with every transport

START_TEST(losses_are_repaired_within_rate_and_window)
{
    const nic_cc_ops_t *const cc = algorithm_at((size_t)_i / (size_t)transport_count());
    const nic_transport_ops_t *const transport = transport_at(_i % transport_count());
    const outcome_t outcome = run(transport, cc, 1, MESSAGES, true);
    ck_assert_uint_gt(outcome.retransmitted, 0);
    const outcome_t plain = run(transport_at(0), cc, 1, MESSAGES, false);
    ck_assert_double_le((double)outcome.end_ps, 2.5 * (double)plain.end_ps);
}
END_TEST

START_TEST(runs_are_repeated_to_the_bit)
{
    const nic_cc_ops_t *const cc = algorithm_at((size_t)_i / (size_t)transport_count());
    const nic_transport_ops_t *const transport = transport_at(_i % transport_count());
    const uint64_t digest = run(transport, cc, 1, MESSAGES / 10, false).digest;
    ck_assert_uint_eq(run(transport, cc, 2, MESSAGES / 10, false).digest, digest);
}
END_TEST

CHECK_MAIN(CHECK_LOOP_FEW(losses_are_repaired_within_rate_and_window, 0,
                          algorithm_count() * transport_count(), transport_count() * 2),
           CHECK_LOOP_FEW(runs_are_repeated_to_the_bit, 0, algorithm_count() * transport_count(),
                          transport_count() * 2))
