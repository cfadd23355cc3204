// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/net/test_switch.c - the shared-buffer switch: passing, queueing, admission, shares, ties.
//
// Goal: waiting times are those of queueing theory; the shared buffer obeys the fixed point of
// dynamic thresholds; classes get their weights; equal senders get equal shares of drops, whatever
// their ports; TTL, trust and configuration rules hold.
// Method: stars of scripted hosts (tests/net_fixture.h) at one switch, against closed forms. Random
// ones are met within a stated number of standard deviations.
// Not pinned: which of two equal frames goes first; PFC (test_pfc.c) and marks (test_ecn.c).
#include <math.h>
#include <string.h>

#include "net/port_metrics.h"
#include "net/switch_model.h"
#include "tests/check_main.h"
#include "tests/net_fixture.h"

#define RATE_BPS (100 * FIXTURE_GBPS)
#define DELAY_PS SIM_PS_PER_US
#define PS_PER_BYTE 80u

static fixture_options_t options_of(uint64_t seed, uint64_t tie_seed, sim_time_t until_ps)
{
    return (fixture_options_t){
        .seed = seed,
        .tie_seed = tie_seed,
        .until_ps = until_ps,
        .net = fixture_net_config(),
    };
}

static void add_star(fixture_t *fixture, const net_switch_config_t *config, unsigned senders)
{
    const net_link_config_t link = fixture_link_config(RATE_BPS, DELAY_PS);
    (void)fixture_star(fixture, config, senders, &link);
}

// -- time in the switch

// Waiting times against M/D/1: Poisson arrivals of equal frames wait rho / (2 mu (1 - rho)) on
// average (Pollaczek and Khinchine). There are 64 sources, so that a source's own link queues
// almost nothing; times are measured from when the frame left the source.
typedef struct waits {
    double sum_ps;
    double batch_sums[40]; // of consecutive frames, for the confidence interval
    uint64_t count;
    uint64_t per_batch;
} waits_t;

static void measure_wait(const net_trace_t *trace, void *ctx)
{
    waits_t *const waits = ctx;
    // Without waiting, the frame crosses its source's link and starts at once on the next.
    const uint32_t bytes = trace->packet->frame_bytes + NET_LINK_OVERHEAD_BYTES - NET_GAP_BYTES;
    const sim_time_t at_switch_ps = trace->packet->sent_ps + bytes * PS_PER_BYTE + DELAY_PS;
    SIM_CHECK(trace->time_ps >= at_switch_ps);
    const double wait_ps = (double)(trace->time_ps - at_switch_ps);
    waits->sum_ps += wait_ps;
    const uint64_t batch = waits->count++ / waits->per_batch;
    if (batch < SIM_COUNT_OF(waits->batch_sums)) {
        waits->batch_sums[batch] += wait_ps;
    }
}

START_TEST(poisson_arrivals_wait_as_md1)
{
    const double rho = (double[]){0.3, 0.5, 0.7, 0.9}[_i];
    enum { SOURCES = 64, BYTES = 1000 };
    const double service_ps = (BYTES + NET_LINK_OVERHEAD_BYTES) * PS_PER_BYTE;
    const uint64_t per_source = 16000;
    const fixture_options_t options = options_of(7, 0, 0);
    net_switch_config_t config = fixture_switch_config();
    config.buffer_bytes = 1000000000;
    config.ecn_enabled = false;
    fixture_t fixture;
    fixture_create(&fixture, &options);
    add_star(&fixture, &config, SOURCES);
    for (uint32_t i = 0; i < SOURCES; i++) {
        fixture_flow(fixture.hosts[i],
                     &(fixture_flow_t){.to = SOURCES,
                                       .count = per_source,
                                       .frame_bytes = BYTES,
                                       .mean_ps = (sim_time_t)(service_ps * SOURCES / rho)});
    }
    fixture_build(&fixture);
    const net_node_t *const sw = net_node_find(fixture.net, "switch");
    waits_t waits = {.per_batch = per_source * SOURCES / 40};
    net_port_listen(fixture_port(sw, &fixture.hosts[SOURCES]->node), NET_TRACE_TX, measure_wait,
                    &waits);
    fixture_run(&fixture);
    ck_assert_uint_eq(waits.count, per_source * SOURCES);
    const double mean = waits.sum_ps / (double)waits.count;
    double squares = 0;
    for (size_t b = 0; b < 40; b++) {
        const double batch_mean = waits.batch_sums[b] / (double)waits.per_batch;
        squares += (batch_mean - mean) * (batch_mean - mean);
    }
    // The mean may be off by four standard errors of 40 batch means plus 2 %, and by at most 4 %,
    // so that the test can fail.
    const double error = sqrt(squares / 39 / 40);
    // A source's own frames are never closer than a frame time: they leave an M/D/1 queue of load
    // rho / 64 and are less bursty than Poisson by a term of that order.
    const double expected = rho * service_ps / (2 * (1 - rho));
    printf(
        "M/D/1 rho %.1f: wait %.1f ns, formula %.1f ns, error %+.2f %%, standard error %.2f %%\n",
        rho, mean / 1000, expected / 1000, 100 * (mean - expected) / expected,
        100 * error / expected);
    ck_assert_double_le(fabs(mean - expected), 4 * error + 0.02 * expected);
    ck_assert_double_le(fabs(mean - expected), 0.04 * expected);
    fixture_destroy(&fixture);
}
END_TEST

// Frames that find the port idle, or arrive as the one before ends, do not wait at all: a full load
// of evenly spaced frames passes without touching the buffer.
START_TEST(smooth_full_load_never_queues)
{
    fixture_t fixture;
    fixture_create(&fixture, NULL);
    add_star(&fixture, NULL, 1);
    fixture.hosts[1]->keep = true;
    fixture_flow(fixture.hosts[0], &(fixture_flow_t){.to = 1, .count = 10000});
    fixture_build(&fixture);
    fixture_run(&fixture);
    const net_node_t *const sw = net_node_find(fixture.net, "switch");
    ck_assert_uint_eq(net_port_queue_bytes_max(fixture_port(sw, &fixture.hosts[1]->node)), 0);
    for (uint64_t k = 0; k < 10000; k += 37) {
        ck_assert_uint_eq(fixture.hosts[1]->arrivals[k].time_ps,
                          1 + k * 1024 * 80 + 2 * (1012 * 80 + DELAY_PS));
    }
    fixture_destroy(&fixture);
}
END_TEST

// Work is conserved: when n senders start at once, the last frame leaves as if the port had never
// rested.
START_TEST(busy_port_never_rests)
{
    enum { SENDERS = 7, COUNT = 100 };
    fixture_t fixture;
    fixture_create(&fixture, NULL);
    add_star(&fixture, NULL, SENDERS);
    for (uint32_t i = 0; i < SENDERS; i++) {
        fixture_flow(fixture.hosts[i],
                     &(fixture_flow_t){.to = SENDERS, .count = COUNT, .priority = (uint8_t)i});
    }
    fixture_build(&fixture);
    fixture_run(&fixture);
    const sim_time_t first_ps = 1 + 1012 * 80 + DELAY_PS;
    ck_assert_uint_eq(fixture.hosts[SENDERS]->last_ps,
                      first_ps + SENDERS * COUNT * 1024 * 80 - 12 * 80 + DELAY_PS);
    ck_assert_uint_eq(fixture.hosts[SENDERS]->received, SENDERS * COUNT);
    const net_node_t *const sw = net_node_find(fixture.net, "switch");
    ck_assert_uint_eq(net_switch_buffer_bytes(sw), 0);
    ck_assert_uint_eq(net_switch_headroom_used_bytes(sw), 0);
    fixture_destroy(&fixture);
}
END_TEST

// -- the shared buffer

typedef struct snapshot {
    uint64_t queue_bytes[16];
    uint64_t held_bytes;
    uint32_t queues;
} snapshot_t;

static void take_snapshot(const sim_node_t *node, sim_time_t time_ps, void *ctx)
{
    snapshot_t *const snapshot = ctx;
    const net_node_t *const sw = (const net_node_t *)(const void *)node;
    (void)time_ps;
    for (uint32_t p = 0; p < snapshot->queues; p++) {
        // Receivers come after the 2 senders of each.
        snapshot->queue_bytes[p] = sw->ports[2 * snapshot->queues + p].classes[0]->bytes;
    }
    snapshot->held_bytes = net_switch_buffer_bytes(sw);
}

// n busy queues settle at alpha B / (1 + n alpha) each (Choudhury and Hahne).
START_TEST(dynamic_thresholds_settle_at_fixed_point)
{
    static const struct {
        uint32_t queues;
        sim_ratio_t alpha;
    } cases[] = {
        {1, {1, 1}}, {2, {1, 1}}, {5, {1, 1}}, {1, {1, 8}},
        {4, {1, 8}}, {3, {2, 1}}, {6, {1, 2}}, {4, {8, 1}},
    };
    const uint32_t queues = cases[_i].queues;
    const sim_time_t end_ps = 3000 * SIM_PS_PER_US;
    const fixture_options_t options = options_of(1, 0, end_ps);
    net_switch_config_t config = fixture_switch_config();
    config.buffer_bytes = 2000000;
    config.pfc_enabled = false;
    config.lossy_alpha = cases[_i].alpha;
    fixture_t fixture;
    fixture_create(&fixture, &options);
    add_star(&fixture, &config, 3 * queues - 1);
    for (uint32_t i = 0; i < 2 * queues; i++) {
        fixture_flow(fixture.hosts[i],
                     &(fixture_flow_t){.to = 2 * queues + i / 2, .frame_bytes = 300});
    }
    fixture_build(&fixture);
    snapshot_t snapshot = {.queues = queues};
    sim_sample(fixture.sim, &net_node_find(fixture.net, "switch")->sim, end_ps - SIM_PS_PER_US,
               SIM_PS_PER_S, take_snapshot, &snapshot);
    fixture_run(&fixture);
    const double alpha = (double)cases[_i].alpha.num / (double)cases[_i].alpha.den;
    const double expected = alpha * 2000000 / (1 + queues * alpha);
    for (uint32_t q = 0; q < queues; q++) {
        // Frames are whole: two of its own between refusals, and alpha times those of each queue.
        ck_assert_double_le(fabs((double)snapshot.queue_bytes[q] - expected),
                            2 * 300 * (1 + alpha * queues));
    }
    ck_assert_double_le(fabs((double)snapshot.held_bytes - queues * expected),
                        2 * 300 * queues * (1 + alpha));
    fixture_destroy(&fixture);
}
END_TEST

START_TEST(full_buffer_says_why)
{
    const fixture_options_t options = options_of(1, 0, 2000 * SIM_PS_PER_US);
    net_switch_config_t config = fixture_switch_config();
    config.buffer_bytes = 500000;
    config.pfc_enabled = false;
    config.lossy_alpha = (sim_ratio_t){64, 1};
    fixture_t fixture;
    fixture_create(&fixture, &options);
    add_star(&fixture, &config, 4);
    for (uint32_t i = 0; i < 4; i++) {
        fixture_flow(fixture.hosts[i], &(fixture_flow_t){.to = 4});
    }
    fixture_build(&fixture);
    fixture_run(&fixture);
    const net_node_t *const sw = net_node_find(fixture.net, "switch");
    const net_port_t *const out = fixture_port(sw, &fixture.hosts[4]->node);
    ck_assert_uint_le(net_port_queue_bytes_max(out), 500000);
    ck_assert_uint_ge(net_port_queue_bytes_max(out), 490000);
    ck_assert_uint_gt(
        out->rare->drops[NET_DROP_EGRESS_FULL] + out->rare->drops[NET_DROP_BUFFER_FULL], 1000);
    fixture_destroy(&fixture);
}
END_TEST

// -- shares

START_TEST(weights_share_a_port)
{
    const fixture_options_t options = options_of(1, 0, 10000 * SIM_PS_PER_US);
    net_switch_config_t config = fixture_switch_config();
    config.pfc_enabled = false;
    config.weights[1] = 3;
    fixture_t fixture;
    fixture_create(&fixture, &options);
    add_star(&fixture, &config, 2);
    fixture_flow(fixture.hosts[0], &(fixture_flow_t){.to = 2, .frame_bytes = 1500, .priority = 0});
    fixture_flow(fixture.hosts[1], &(fixture_flow_t){.to = 2, .frame_bytes = 500, .priority = 1});
    fixture_build(&fixture);
    fixture_run(&fixture);
    const net_node_t *const sw = net_node_find(fixture.net, "switch");
    const net_port_t *const out = fixture_port(sw, &fixture.hosts[2]->node);
    // While both classes are backlogged, shares are within a quantum and two frames; before that, a
    // few frames more.
    const double one = (double)out->classes[0]->tx_bytes;
    const double three = (double)out->classes[1]->tx_bytes / 3;
    ck_assert_double_gt(one, 2e7);
    ck_assert_double_le(fabs(one - three), 4400 + 2 * 1500 + 2 * 1500);
    fixture_destroy(&fixture);
}
END_TEST

START_TEST(strict_class_sees_no_queue)
{
    const fixture_options_t options = options_of(1, 0, 3000 * SIM_PS_PER_US);
    fixture_t fixture;
    fixture_create(&fixture, &options);
    add_star(&fixture, NULL, 5);
    fixture.hosts[5]->keep = true;
    for (uint32_t i = 0; i < 4; i++) {
        fixture_flow(fixture.hosts[i], &(fixture_flow_t){.to = 5, .frame_bytes = 4000});
    }
    fixture_flow(fixture.hosts[4], &(fixture_flow_t){.to = 5,
                                                     .count = 100,
                                                     .frame_bytes = 100,
                                                     .priority = 6,
                                                     .start_ps = 100 * SIM_PS_PER_US,
                                                     .period_ps = 20123457});
    fixture_build(&fixture);
    fixture_run(&fixture);
    uint32_t seen = 0;
    for (size_t i = 0; i < fixture.hosts[5]->arrival_count; i++) {
        const fixture_arrival_t *const arrival = &fixture.hosts[5]->arrivals[i];
        if (arrival->priority == 6) {
            const sim_time_t ideal_ps = 100 * SIM_PS_PER_US + arrival->psn * UINT64_C(20123457) +
                                        2 * (112 * PS_PER_BYTE + DELAY_PS);
            ck_assert_uint_ge(arrival->time_ps, ideal_ps);
            ck_assert_uint_le(arrival->time_ps, ideal_ps + 4024 * PS_PER_BYTE);
            seen++;
        }
    }
    ck_assert_uint_eq(seen, 100);
    fixture_destroy(&fixture);
}
END_TEST

// -- ties

// Senders whose frames arrive at the same instants, for ever. `skip` hosts at the first ports are
// silent, so that the senders' port numbers can be any.
static void run_ties(fixture_t *fixture, uint64_t tie_seed, uint32_t senders, uint32_t skip)
{
    const fixture_options_t options = options_of(1, tie_seed, 4000 * SIM_PS_PER_US);
    net_switch_config_t config = fixture_switch_config();
    config.pfc_enabled = false;
    config.buffer_bytes = 100000;
    fixture_create(fixture, &options);
    add_star(fixture, &config, skip + senders);
    for (uint32_t i = 0; i < senders; i++) {
        fixture_flow(fixture->hosts[skip + i], &(fixture_flow_t){.to = skip + senders});
    }
    fixture_build(fixture);
    fixture_run(fixture);
}

// A full queue drains one frame per frame time, in which one of each sender arrives: the first gets
// the place. In a fair lottery over N places each sender gets N / n, binomially.
START_TEST(ties_are_a_fair_lottery)
{
    static const struct {
        uint32_t senders;
        uint32_t skip;
    } cases[] = {{2, 0}, {2, 1}, {3, 0}, {3, 1},  {3, 2}, {4, 0},
                 {5, 0}, {5, 3}, {7, 0}, {16, 1}, {17, 0}};
    const uint32_t senders = cases[_i].senders;
    const uint32_t skip = cases[_i].skip;
    for (uint64_t tie_seed = 0; tie_seed < 3; tie_seed++) {
        fixture_t fixture;
        run_ties(&fixture, tie_seed, senders, skip);
        const fixture_host_t *const sink = fixture.hosts[skip + senders];
        const double total = (double)sink->received;
        ck_assert_double_gt(total, 40000);
        const double mean = total / senders;
        const double deviation = sqrt(mean * (1 - 1.0 / senders));
        for (uint32_t i = 0; i < senders; i++) {
            const double got = (double)sink->received_from[skip + i];
            ck_assert_msg(
                fabs(got - mean) <= 6 * deviation,
                "%u senders from port %u, tie seed %u: sender %u got %.0f, mean %.0f +- %.0f",
                senders, skip, (unsigned)tie_seed, i, got, mean, deviation);
        }
        fixture_destroy(&fixture);
    }
}
END_TEST

START_TEST(tie_seed_changes_the_order)
{
    uint64_t digests[3];
    for (int i = 0; i < 3; i++) {
        fixture_t fixture;
        run_ties(&fixture, i == 2 ? 0 : (uint64_t)i, 4, 0);
        digests[i] = sim_digest(fixture.sim);
        fixture_destroy(&fixture);
    }
    ck_assert_uint_ne(digests[0], digests[1]);
    ck_assert_uint_eq(digests[0], digests[2]);
}
END_TEST

// -- rules

START_TEST(ttl_ends_in_routed_mode_only)
{
    for (uint32_t mode = 0; mode < 2; mode++) {
        fixture_options_t options = options_of(1, 0, 0);
        options.net.forwarding = mode;
        fixture_t fixture;
        fixture_create(&fixture, &options);
        add_star(&fixture, NULL, 1);
        fixture.hosts[1]->keep = true;
        fixture_flow(fixture.hosts[0], &(fixture_flow_t){.to = 1, .count = 3, .ttl = 1});
        fixture_flow(fixture.hosts[0], &(fixture_flow_t){.to = 1, .count = 5, .ttl = 2});
        fixture_build(&fixture);
        fixture_run(&fixture);
        const bool routed = mode == NET_FORWARDING_ROUTED;
        const net_node_t *const sw = net_node_find(fixture.net, "switch");
        const net_port_t *const in = fixture_port(sw, &fixture.hosts[0]->node);
        ck_assert_uint_eq(in->rare->drops[NET_DROP_TTL], routed ? 3 : 0);
        ck_assert_uint_eq(fixture.hosts[1]->received, routed ? 5 : 8);
        ck_assert_uint_eq(fixture.hosts[1]->arrivals[fixture.hosts[1]->arrival_count - 1].ttl,
                          routed ? 1 : 2);
        fixture_destroy(&fixture);
    }
}
END_TEST

static void stop_dscp(const net_trace_t *trace, void *ctx)
{
    uint8_t *const priority = ctx;
    *priority = trace->packet->priority;
}

// The class comes from the DSCP, or remains the one that the frame names.
START_TEST(trust_decides_the_class)
{
    for (uint32_t trust = 0; trust < 2; trust++) {
        net_switch_config_t config = fixture_switch_config();
        config.trust = trust;
        fixture_t fixture;
        fixture_create(&fixture, NULL);
        add_star(&fixture, &config, 1);
        fixture_flow(fixture.hosts[0], &(fixture_flow_t){.to = 1, .count = 1, .priority = 4});
        fixture_build(&fixture);
        const net_node_t *const sw = net_node_find(fixture.net, "switch");
        uint8_t priority = 0;
        net_port_listen(fixture_port(sw, &fixture.hosts[1]->node), NET_TRACE_TX, stop_dscp,
                        &priority);
        fixture_run(&fixture);
        ck_assert_uint_eq(priority, 4);
        fixture_destroy(&fixture);
    }
}
END_TEST

START_TEST(configuration_rules)
{
    sim_message_t message = {.text = ""};
    net_switch_config_t config = fixture_switch_config();
    ck_assert_int_eq(net_switch_config_check(&config, &message), SIM_OK);
    config.ecn_kmin_bytes = config.ecn_kmax_bytes + 1;
    ck_assert_int_eq(net_switch_config_check(&config, &message), SIM_ERR_RANGE);
    ck_assert_ptr_nonnull(strstr(message.text, "switch.ecn.kmin"));
    config = fixture_switch_config();
    config.weights[5] = 0;
    ck_assert_int_eq(net_switch_config_check(&config, &message), SIM_ERR_RANGE);

    // 5 ports have headroom and reserve: a buffer of exactly that sum is too small, one byte more
    // is not.
    config = fixture_switch_config();
    config.pfc_headroom_bytes = 50000;
    config.pfc_reserved_bytes = 4096;
    for (uint64_t extra = 0; extra < 2; extra++) {
        config.buffer_bytes = 5 * (50000 + 4096) + extra;
        fixture_t fixture;
        fixture_create(&fixture, NULL);
        add_star(&fixture, &config, 4);
        fixture_build(&fixture);
        ck_assert_int_eq(net_switch_check(net_node_find(fixture.net, "switch"), &message),
                         extra == 0 ? SIM_ERR_RANGE : SIM_OK);
        fixture_destroy(&fixture);
    }
}
END_TEST

// Free bytes are a difference: a switch that shared out more than its buffer would always have
// room.
START_TEST(more_shared_than_there_is_is_a_bug)
{
    net_switch_t sw;
    memset(&sw, 0, sizeof(sw));
    sw.shared_limit = 1000;
    sw.shared_bytes = 1000;
    ck_assert_uint_eq(net_switch_shared_free(&sw), 0);
    sw.shared_bytes = 1001;
    (void)net_switch_shared_free(&sw);
}
END_TEST

CHECK_MAIN(CHECK_LOOP_FEW(poisson_arrivals_wait_as_md1, 0, 4, 0),
           CHECK_TEST(smooth_full_load_never_queues), CHECK_TEST(busy_port_never_rests),
           CHECK_LOOP_FEW(dynamic_thresholds_settle_at_fixed_point, 0, 8, 1),
           CHECK_TEST(full_buffer_says_why), CHECK_TEST(weights_share_a_port),
           CHECK_TEST(strict_class_sees_no_queue),
           CHECK_LOOP_FEW(ties_are_a_fair_lottery, 0, 11, 1),
           CHECK_TEST(tie_seed_changes_the_order), CHECK_TEST(ttl_ends_in_routed_mode_only),
           CHECK_TEST(trust_decides_the_class),
           CHECK_SIGNAL(more_shared_than_there_is_is_a_bug, SIGABRT),
           CHECK_TEST(configuration_rules))
