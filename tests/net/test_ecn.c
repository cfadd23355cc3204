// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/net/test_ecn.c - marking by RED as packets leave the queue, or as they join it.
//
// Goal: the probability of a mark is the piecewise linear function of the bytes left behind in the
// queue of the packet's class; only ECN-capable packets of marked classes are marked; thresholds
// follow the port's rate.
// Method: a queue held at a known length (a paused port that is opened for a while, or an overload
// of known excess), marks counted per queue length at the port, against the formula within five
// standard deviations. Steps (kmin = kmax) exactly.
// Not pinned: what a NIC does with a mark.
#include <math.h>
#include <string.h>

#include "tests/check_main.h"
#include "tests/net_fixture.h"

#define SEED UINT64_C(5)
#define RATE_BPS (100 * FIXTURE_GBPS)
#define DELAY_PS SIM_PS_PER_US
#define BYTES 1000u
#define BINS 64u

typedef struct tally {
    uint8_t class;
    uint64_t bin_bytes;
    uint64_t seen[BINS];
    uint64_t marked[BINS];
    uint64_t marks_traced;
} tally_t;

// Counts a packet that left. TX is traced after the packet has left the queue, so the bytes there
// now are those it left behind.
static void note_tx(const net_trace_t *trace, void *ctx)
{
    tally_t *const tally = ctx;
    if (trace->point == NET_TRACE_MARK) {
        tally->marks_traced++;
        SIM_CHECK(trace->packet->ecn == NET_ECN_CE);
        return;
    }
    if (trace->packet->kind != NET_PACKET_ROCE || trace->packet->priority != tally->class) {
        return;
    }
    const uint64_t bin = trace->port->classes[tally->class]->bytes / tally->bin_bytes;
    if (bin < BINS) {
        tally->seen[bin]++;
        tally->marked[bin] += trace->packet->ecn == NET_ECN_CE;
    }
}

static uint64_t rounds_of_a_run(void)
{
    return check_few(400, 50);
}

// Fills the queue of class 2 behind a pause and drains it, over and over: every length occurs
// equally often. Returns the port.
static void run_sawtooth(fixture_t *fixture, const net_switch_config_t *config, uint64_t seed,
                         uint64_t rate_bps, uint8_t ecn, tally_t *tally)
{
    enum { PER_ROUND = 600 };
    const uint64_t rounds = rounds_of_a_run();
    const fixture_options_t options = {.seed = seed, .net = fixture_net_config()};
    fixture_create(fixture, &options);
    const net_link_config_t link = fixture_link_config(rate_bps, DELAY_PS);
    net_node_t *const sw = fixture_star(fixture, config, 1, &link);
    const sim_time_t fill_ps = PER_ROUND * fixture_bytes_ps(BYTES + 24, rate_bps);
    for (uint64_t i = 0; i < rounds; i++) {
        const sim_time_t round_ps = 1 + i * (3 * fill_ps + 10 * SIM_PS_PER_US);
        // The switch knows of the pause before the first frame arrives.
        fixture_pause(fixture->hosts[1], round_ps, 1u << 2, 65535);
        fixture_pause(fixture->hosts[1], round_ps + SIM_PS_PER_US + fill_ps, 1u << 2, 0);
        fixture_flow(fixture->hosts[0],
                     &(fixture_flow_t){.to = 1,
                                       .count = PER_ROUND,
                                       .frame_bytes = BYTES,
                                       .priority = 2,
                                       .ecn = ecn,
                                       .start_ps = round_ps + SIM_PS_PER_US / 2});
    }
    fixture_build(fixture);
    tally->class = 2;
    tally->bin_bytes = BYTES;
    net_port_listen(fixture_port(sw, &fixture->hosts[1]->node), NET_TRACE_TX | NET_TRACE_MARK,
                    note_tx, tally);
    fixture_run(fixture);
    ck_assert_uint_eq(fixture->hosts[1]->received, rounds * PER_ROUND);
}

static net_switch_config_t marking_config(uint64_t kmin, uint64_t kmax, sim_ratio_t pmax)
{
    net_switch_config_t config = fixture_switch_config();
    config.ecn_kmin_bytes = kmin;
    config.ecn_kmax_bytes = kmax;
    config.ecn_pmax = pmax;
    config.buffer_bytes = 100000000;
    return config;
}

static double probability(double queue, double kmin, double kmax, double pmax)
{
    return queue <= kmin ? 0 : queue > kmax ? 1 : pmax * (queue - kmin) / (kmax - kmin);
}

START_TEST(marks_follow_red)
{
    static const struct {
        uint64_t kmin;
        uint64_t kmax;
        sim_ratio_t pmax;
    } cases[] = {
        {10000, 50000, {1, 5}}, {0, 60000, {1, 1}},    {5000, 40000, {1, 100}},
        {20000, 21000, {1, 2}}, {3000, 30000, {0, 1}},
    };
    const net_switch_config_t config =
        marking_config(cases[_i].kmin, cases[_i].kmax, cases[_i].pmax);
    fixture_t fixture;
    tally_t tally = {.class = 2};
    run_sawtooth(&fixture, &config, SEED, RATE_BPS, NET_ECN_ECT0, &tally);
    double total = 0;
    double expected_total = 0;
    double variance_total = 0;
    for (uint32_t b = 0; b < BINS; b++) {
        // Frames are 1000 bytes: what is left is a multiple of that.
        const double p = probability(b * 1000.0, (double)cases[_i].kmin, (double)cases[_i].kmax,
                                     (double)cases[_i].pmax.num / (double)cases[_i].pmax.den);
        const double n = (double)tally.seen[b];
        ck_assert_double_ge(n, (double)rounds_of_a_run());
        // Three marks more are allowed where marks are rare, and so not normally distributed.
        const double bound = p * (1 - p) > 0 ? 5 * sqrt(n * p * (1 - p)) + 3 : 1e-6;
        ck_assert_msg(fabs((double)tally.marked[b] - n * p) <= bound,
                      "queue %u: %.0f of %.0f marked, expected %.1f +- %.1f", b * 1000,
                      (double)tally.marked[b], n, n * p, bound);
        total += (double)tally.marked[b];
        expected_total += n * p;
        variance_total += n * p * (1 - p);
    }
    printf("RED %lu..%lu: %.0f marks up to 64 KB, expected %.1f, standard deviation %.1f\n",
           (unsigned long)cases[_i].kmin, (unsigned long)cases[_i].kmax, total, expected_total,
           sqrt(variance_total));
    ck_assert_double_le(fabs(total - expected_total), 4 * sqrt(variance_total) + 1e-6);
    const net_port_t *const port =
        fixture_port(net_node_find(fixture.net, "switch"), &fixture.hosts[1]->node);
    ck_assert_uint_eq(port->rare->ecn_marked[2], tally.marks_traced);
    ck_assert_uint_eq(fixture.hosts[1]->received_marked, tally.marks_traced);
    fixture_destroy(&fixture);
}
END_TEST

// With kmin = kmax no packet is marked up to that length and all are above it. At other rates the
// step lies at the scaled place.
START_TEST(step_is_exact_and_scales)
{
    static const struct {
        uint64_t gbps;
        bool scale;
        uint64_t step;
    } cases[] = {{100, true, 20000}, {25, true, 5000}, {400, true, 80000}, {25, false, 20000}};
    net_switch_config_t config = marking_config(20000, 20000, (sim_ratio_t){1, 5});
    config.ecn_scale = cases[_i].scale;
    fixture_t fixture;
    tally_t tally = {.class = 2};
    run_sawtooth(&fixture, &config, SEED, cases[_i].gbps * FIXTURE_GBPS, NET_ECN_ECT1, &tally);
    for (uint32_t b = 0; b < BINS; b++) {
        ck_assert_uint_gt(tally.seen[b], 0);
        ck_assert_uint_eq(tally.marked[b], b * 1000 <= cases[_i].step ? 0 : tally.seen[b]);
    }
    fixture_destroy(&fixture);
}
END_TEST

// A profile of the port's own rate applies unscaled, its pmax too; other profiles do not apply.
START_TEST(profiles_are_by_rate)
{
    static const struct {
        uint64_t gbps;
        double kmin;
        double kmax;
        double pmax;
    } cases[] = {
        {25, 8000, 30000, 1},      // its own
        {40, 8000, 8000, 0},       // its own: a step
        {100, 20000, 60000, 0.25}, // none: the switch's
        {50, 10000, 30000, 0.25},  // none: the switch's, scaled
    };
    net_switch_config_t config = marking_config(20000, 60000, (sim_ratio_t){1, 4});
    sim_message_t message;
    const sim_attr_t *const attr = sim_attr_find(&net_switch_config_attrs, "switch.ecn.profiles");
    ck_assert_int_eq(sim_attr_set(attr, &config, "[25Gbps 8KB 30KB 1, 40Gbps 8KB 8KB 0]", &message),
                     SIM_OK);
    ck_assert_int_eq(net_switch_config_check(&config, &message), SIM_OK);
    fixture_t fixture;
    tally_t tally = {.class = 2};
    run_sawtooth(&fixture, &config, SEED, cases[_i].gbps * FIXTURE_GBPS, NET_ECN_ECT0, &tally);
    for (uint32_t b = 0; b < BINS; b++) {
        const double p = probability(b * 1000.0, cases[_i].kmin, cases[_i].kmax, cases[_i].pmax);
        const double n = (double)tally.seen[b];
        const double bound = p * (1 - p) > 0 ? 5 * sqrt(n * p * (1 - p)) + 3 : 1e-6;
        ck_assert_double_ge(n, (double)rounds_of_a_run());
        ck_assert_double_le(fabs((double)tally.marked[b] - n * p), bound);
    }
    fixture_destroy(&fixture);
}
END_TEST

START_TEST(only_capable_packets_of_marked_classes)
{
    static const struct {
        uint8_t ecn;
        bool enabled;
        uint8_t priorities;
        bool marks;
    } cases[] = {
        {NET_ECN_ECT0, true, 0xff, true},
        {NET_ECN_ECT1, true, 1u << 2, true},
        {NET_ECN_NOT_ECT, true, 0xff, false},
        {NET_ECN_ECT0, false, 0xff, false},
        {NET_ECN_ECT0, true, 0xff & ~(1u << 2), false},
    };
    net_switch_config_t config = marking_config(0, 0, (sim_ratio_t){1, 1});
    config.ecn_enabled = cases[_i].enabled;
    config.ecn_priorities = cases[_i].priorities;
    fixture_t fixture;
    tally_t tally = {.class = 2};
    run_sawtooth(&fixture, &config, SEED, RATE_BPS, cases[_i].ecn, &tally);
    for (uint32_t b = 0; b < BINS; b++) {
        ck_assert_uint_eq(tally.marked[b], cases[_i].marks && b > 0 ? tally.seen[b] : 0);
    }
    fixture_destroy(&fixture);
}
END_TEST

// The queue of the packet's own class decides: a long queue of another class marks nothing.
START_TEST(classes_are_marked_apart)
{
    net_switch_config_t config = marking_config(20000, 20000, (sim_ratio_t){1, 1});
    const fixture_options_t options = {.seed = SEED,
                                       .until_ps = 2 * SIM_PS_PER_MS,
                                       .net = fixture_net_config()};
    const net_link_config_t link = fixture_link_config(RATE_BPS, DELAY_PS);
    fixture_t fixture;
    fixture_create(&fixture, &options);
    (void)fixture_star(&fixture, &config, 4, &link);
    fixture.hosts[4]->keep = true;
    for (uint32_t i = 0; i < 3; i++) {
        fixture_flow(fixture.hosts[i],
                     &(fixture_flow_t){.to = 4, .priority = 1, .ecn = NET_ECN_ECT0});
    }
    // This flow has a twentieth of the rate, where DWRR would give it up to half: it never queues.
    fixture_flow(fixture.hosts[3], &(fixture_flow_t){.to = 4,
                                                     .priority = 2,
                                                     .ecn = NET_ECN_ECT0,
                                                     .period_ps = 20 * 1024 * 80});
    fixture_build(&fixture);
    fixture_run(&fixture);
    uint64_t marked[3] = {0};
    for (size_t i = 0; i < fixture.hosts[4]->arrival_count; i++) {
        const fixture_arrival_t *const arrival = &fixture.hosts[4]->arrivals[i];
        marked[arrival->priority] += arrival->ecn == NET_ECN_CE;
    }
    ck_assert_uint_gt(marked[1], 1000);
    ck_assert_uint_eq(marked[2], 0);
    fixture_destroy(&fixture);
}
END_TEST

// At enqueue, the bytes ahead of a packet decide: behind a pause, packet i of a round finds i
// packets. Each length is found once a round, with either switch model.
START_TEST(marks_at_enqueue_follow_what_lies_ahead)
{
    const uint64_t rounds = rounds_of_a_run();
    net_switch_config_t config = marking_config(10000, 50000, (sim_ratio_t){1, 5});
    config.ecn_mark_at = NET_MARK_AT_ENQUEUE;
    config.mmu = _i == 0 ? (sim_name_t){"standard"} : (sim_name_t){"hpcc"};
    fixture_t fixture;
    tally_t tally = {.class = 2};
    run_sawtooth(&fixture, &config, SEED, RATE_BPS, NET_ECN_ECT0, &tally);
    // 549 of 600 packets find more than 50 KB; the others are marked as the line between the two
    // thresholds says.
    double expected = 549 * (double)rounds;
    double variance = 0;
    for (uint32_t found = 11; found <= 50; found++) {
        const double p = probability(found * 1000.0, 10000, 50000, 0.2);
        expected += (double)rounds * p;
        variance += (double)rounds * p * (1 - p);
    }
    ck_assert_double_le(fabs((double)tally.marks_traced - expected), 5 * sqrt(variance));
    // The last packets of a round leave little behind but found a long queue.
    for (uint32_t b = 0; b < BINS; b++) {
        ck_assert_uint_eq(tally.seen[b], rounds);
        ck_assert_uint_eq(tally.marked[b], rounds);
    }
    ck_assert_uint_eq(fixture.hosts[1]->received_marked, tally.marks_traced);
    fixture_destroy(&fixture);
}
END_TEST

// The same seed marks the same packets; another seed marks others.
START_TEST(marks_depend_on_the_seed_only)
{
    const net_switch_config_t config = marking_config(1000, 60000, (sim_ratio_t){1, 2});
    static const uint64_t seeds[] = {SEED, SEED, SEED + 1};
    uint64_t digests[SIM_COUNT_OF(seeds)];
    for (size_t i = 0; i < SIM_COUNT_OF(seeds); i++) {
        fixture_t fixture;
        tally_t tally = {.class = 2};
        run_sawtooth(&fixture, &config, seeds[i], RATE_BPS, NET_ECN_ECT0, &tally);
        digests[i] = sim_digest(fixture.sim);
        fixture_destroy(&fixture);
    }
    ck_assert_uint_eq(digests[0], digests[1]);
    ck_assert_uint_ne(digests[0], digests[2]);
}
END_TEST

// Two switches in a row mark every packet: the first marks each, and the second counts no mark for
// a packet that is marked already.
START_TEST(a_packet_is_marked_once)
{
    const net_switch_config_t config = marking_config(0, 0, (sim_ratio_t){1, 1});
    const fixture_options_t options = {.seed = SEED, .net = fixture_net_config()};
    fixture_t fixture;
    fixture_create(&fixture, &options);
    net_node_t *const a = fixture_switch(&fixture, "a", &config);
    net_node_t *const b = fixture_switch(&fixture, "b", &config);
    fixture_host_t *const sender = fixture_host(&fixture, "s");
    fixture_host_t *const receiver = fixture_host(&fixture, "r");
    fixture_link(&fixture, &sender->node, a, 400 * FIXTURE_GBPS, DELAY_PS);
    fixture_link(&fixture, a, b, 100 * FIXTURE_GBPS, DELAY_PS);
    fixture_link(&fixture, b, &receiver->node, 25 * FIXTURE_GBPS, DELAY_PS);
    fixture_flow(sender, &(fixture_flow_t){.to = receiver->number,
                                           .count = 100,
                                           .frame_bytes = BYTES,
                                           .priority = 2,
                                           .ecn = NET_ECN_ECT0,
                                           .start_ps = 1});
    fixture_build(&fixture);
    fixture_run(&fixture);
    const net_port_t *const first = fixture_port(a, b);
    const net_port_t *const second = fixture_port(b, &receiver->node);
    // The last packet leaves nothing behind, and the first finds the port idle.
    ck_assert_uint_eq(first->rare->ecn_marked[2], 98);
    ck_assert_uint_eq(first->rare->ecn_marked_again[2], 0);
    ck_assert_uint_eq(second->rare->ecn_marked[2] + second->rare->ecn_marked_again[2], 98);
    ck_assert_uint_ge(second->rare->ecn_marked_again[2], 96);
    ck_assert_uint_eq(receiver->received_marked,
                      first->rare->ecn_marked[2] + second->rare->ecn_marked[2]);
    fixture_destroy(&fixture);
}
END_TEST

CHECK_MAIN(CHECK_TEST(a_packet_is_marked_once), CHECK_LOOP(marks_follow_red, 0, 5),
           CHECK_LOOP(step_is_exact_and_scales, 0, 4), CHECK_LOOP(profiles_are_by_rate, 0, 4),
           CHECK_LOOP(only_capable_packets_of_marked_classes, 0, 5),
           CHECK_TEST(classes_are_marked_apart),
           CHECK_LOOP(marks_at_enqueue_follow_what_lies_ahead, 0, 2),
           CHECK_TEST(marks_depend_on_the_seed_only))
