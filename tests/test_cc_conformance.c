// SPDX-License-Identifier: Apache-2.0
// tests/test_cc_conformance.c - what every congestion control must do, stamped on each there is.
// labels: threads
//
// Goal: with its defaults, each algorithm of nic_cc_all shares a bottleneck, fills it, gives way to
// a flow that comes, takes over what a flow leaves, lives with lost packets, keeps its rate within
// bounds, and is deterministic. An algorithm that is added is tested by being in nic_cc_all.
// Method: N senders write to one receiver through a switch with PFC; throughput by completions.
// Not pinned: how well an algorithm does it. The bounds are those a user would call broken beyond.
#include "tests/cc_star.h"

#define US SIM_PS_PER_US
#define MS SIM_PS_PER_MS
#define MIN_RATE_BPS UINT64_C(1000000) // no default is lower

// 25 Gbit/s: what the defaults of adapters were made for. At 100 Gbit/s additive steps of 5 Mbit/s
// need seconds.
static void use(star_config_t *config, const nic_cc_ops_t *ops)
{
    star_config_init(config);
    star_use(config, ops->name);
    config->link.rate_bps = 25000000000;
    config->sample_ps = 100 * US;
    if (ops->telemetry != NET_TELEMETRY_NONE) {
        config->nic.mtu_bytes = 1024; // with less than a packet in flight, HPCC's shares differ
    }
}

// Part of the port that an algorithm fills: HPCC's leave 5 % and the bytes of telemetry.
static double least_filled(const nic_cc_ops_t *ops)
{
    return ops->telemetry == NET_TELEMETRY_NONE ? 0.95 : 0.88;
}

static int algorithm_count(void)
{
    int count = 0;
    while (nic_cc_all[count] != NULL) {
        count++;
    }
    return count;
}

// Payload per second that fills the bottleneck: full packets with all their headers.
static double goodput_bps(const star_config_t *config)
{
    const double payload = (double)config->nic.mtu_bytes;
    const double headers = 14 + 20 + 8 + 12 + 4 + NET_LINK_OVERHEAD_BYTES;
    return (double)config->link.rate_bps * payload / (payload + headers);
}

static void check_rates_in_bounds(const star_t *star)
{
    for (uint32_t i = 0; i < star->config.sender_count; i++) {
        const star_flow_t *const flow = &star->flows[i];
        for (size_t k = 0; k < flow->sample_count; k++) {
            ck_assert_uint_ge(flow->samples[k].rate_bps, MIN_RATE_BPS);
            ck_assert_uint_le(flow->samples[k].rate_bps, star->config.link.rate_bps);
        }
    }
}

// -- shares

typedef struct share_case {
    uint32_t senders;
    double worst; // a sender's part of the fair share, at least
    double best;  // at most
} share_case_t;

static const share_case_t share_cases[] = {{2, 0.9, 1.1}, {8, 0.85, 1.15}, {64, 0.8, 1.25}};

START_TEST(equal_flows_get_equal_shares)
{
    const nic_cc_ops_t *const ops = nic_cc_all[_i / 3];
    const share_case_t *const bound = &share_cases[_i % 3];
    star_config_t config;
    use(&config, ops);
    config.sender_count = bound->senders;
    config.options.until_ps = 401 * MS;
    star_t *const star = star_create(&config);
    star_run(star);
    check_rates_in_bounds(star);

    const double fair = goodput_bps(&config) / config.sender_count;
    double sum = 0.0;
    for (uint32_t i = 0; i < config.sender_count; i++) {
        const double share = star_mean_bps(star, i, 300 * MS, 400 * MS) / fair;
        ck_assert_double_ge(share, bound->worst);
        ck_assert_double_le(share, bound->best);
        sum += share;
    }
    const double filled = sum / config.sender_count;
    ck_assert_double_ge(filled, least_filled(ops));
    ck_assert_double_le(filled, 1.005);
    star_destroy(star);
    star_config_fini(&config);
}
END_TEST

// One flow alone, then two, then one again.
START_TEST(flow_comes_and_goes)
{
    const nic_cc_ops_t *const ops = nic_cc_all[_i];
    star_config_t config;
    use(&config, ops);
    config.options.until_ps = 501 * MS;
    star_t *const star = star_create(&config);
    star->flows[1].start_ps = 10 * MS;
    star->flows[1].stop_ps = 250 * MS;
    star_run(star);
    check_rates_in_bounds(star);

    const double full = goodput_bps(&config);
    const double alone = star_mean_bps(star, 0, 5 * MS, 10 * MS) / full;
    const double first = star_mean_bps(star, 0, 150 * MS, 250 * MS) / full;
    const double second = star_mean_bps(star, 1, 150 * MS, 250 * MS) / full;
    const double again = star_mean_bps(star, 0, 450 * MS, 500 * MS) / full;
    ck_assert_double_ge(alone, least_filled(ops));
    ck_assert_double_ge(first, 0.4);
    ck_assert_double_ge(second, 0.4);
    ck_assert_double_ge(first + second, least_filled(ops));
    ck_assert_double_ge(again, least_filled(ops));
    star_destroy(star);
    star_config_fini(&config);
}
END_TEST

// Data, ACKs and CNPs are lost alike; everything still gets there.
START_TEST(lost_signals_are_survived)
{
    const nic_cc_ops_t *const ops = nic_cc_all[_i];
    star_config_t config;
    use(&config, ops);
    config.sender_count = 4;
    config.loss_rate = (sim_ratio_t){1, 500};
    config.nic.timeout = 7; // 0.5 ms
    config.options.until_ps = 2000 * MS;
    star_t *const star = star_create(&config);
    for (uint32_t i = 0; i < config.sender_count; i++) {
        star->flows[i].message_count = 200;
    }
    ck_assert_int_eq(star_run(star), SIM_ENDED_DONE);
    check_rates_in_bounds(star);
    uint64_t retransmitted = 0;
    for (uint32_t i = 0; i < config.sender_count; i++) {
        ck_assert_uint_eq(star->flows[i].done, 200);
        retransmitted += nic_get_counters(nic_qp_nic(star->flows[i].qp))->retransmitted_packets;
    }
    ck_assert_uint_gt(retransmitted, 0);
    star_destroy(star);
    star_config_fini(&config);
}
END_TEST

// -- determinism

static uint64_t digest_of(const nic_cc_ops_t *ops, unsigned threads, uint64_t seed)
{
    star_config_t config;
    use(&config, ops);
    config.sender_count = 6;
    config.options.threads = threads;
    config.options.seed = seed;
    config.options.until_ps = 3 * MS;
    config.loss_rate = (sim_ratio_t){1, 10000};
    star_t *const star = star_create(&config);
    star_run(star);
    const uint64_t digest = sim_digest(star->sim);
    star_destroy(star);
    star_config_fini(&config);
    return digest;
}

START_TEST(runs_are_repeated_to_the_bit)
{
    const nic_cc_ops_t *const ops = nic_cc_all[_i];
    const uint64_t digest = digest_of(ops, 1, 1);
    ck_assert_uint_eq(digest_of(ops, 1, 1), digest);
    ck_assert_uint_eq(digest_of(ops, 2, 1), digest);
    ck_assert_uint_ne(digest_of(ops, 1, 2), digest);
}
END_TEST

// -- the table

START_TEST(names_are_found)
{
    size_t count = 0;
    while (nic_cc_all[count] != NULL) {
        const nic_cc_ops_t *const ops = nic_cc_all[count];
        ck_assert_ptr_eq(nic_cc_find(ops->name), ops);
        ck_assert_uint_ge(ops->state_bytes, sizeof(nic_cc_t));
        ck_assert_int_eq(ops->metric_names == NULL, ops->metric == NULL);
        for (size_t i = 0; i < count; i++) {
            ck_assert_str_ne(ops->name, nic_cc_all[i]->name);
        }
        count++;
    }
    ck_assert_uint_ge(count, 2);
    ck_assert_ptr_null(nic_cc_find("no such"));
    ck_assert_ptr_null(nic_cc_find(""));
}
END_TEST

CHECK_MAIN(CHECK_LOOP(equal_flows_get_equal_shares, 0, 3 * algorithm_count()),
           CHECK_LOOP(flow_comes_and_goes, 0, algorithm_count()),
           CHECK_LOOP(lost_signals_are_survived, 0, algorithm_count()),
           CHECK_LOOP(runs_are_repeated_to_the_bit, 0, algorithm_count()),
           CHECK_TEST(names_are_found))
