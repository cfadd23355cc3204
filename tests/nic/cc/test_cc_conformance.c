// SPDX-License-Identifier: Apache-2.0
// test_cc_conformance.c - every congestion control keeps the promises that they have in common.
// labels: threads plain long
// threads: runs_are_repeated_to_the_bit
//
// Goal: with its defaults, each algorithm of tests/algorithms.h shares a bottleneck, fills it,
// gives way to a flow that comes, takes over what a flow leaves, follows a step in capacity, lives
// with lost packets, keeps its rate between its least and the line's, and is deterministic. An
// algorithm that is added is tested by being in nic_cc_all or in the rows of compat/.
// Method: 8 senders (in the long form also 2 and 64) write to one receiver through a switch with
// PFC; throughput by completions. The step is traffic of a class that the switch serves first.
// Not pinned: how well an algorithm does it. The bounds are those a user would call broken beyond.
// Original TIMELY has no fixed point (Zhu et al., CoNEXT 2016, theorem 4): any shares and any queue
// between its thresholds are in balance. It is held to filling the port and to starving nobody
// below its least rate; that its shares depend on how flows began is pinned in test_cc_timely.
#include "nic/cc/none.h"
#include "nic/trace.h"
#include "tests/cc_star.h"

#define US SIM_PS_PER_US
#define MS SIM_PS_PER_MS

// Bounds for an algorithm that does not meet the common ones.
typedef struct expectation {
    const char *name;
    bool unfair;    // shares are not pinned
    double fills;   // of the port, at least
    double stepped; // of the port, in the 0.1 s in which half of it is taken away, at least
} expectation_t;

static const expectation_t expectations[] = {
    // A round-trip time that rises by more than minRTT / beta between two updates makes TIMELY fall
    // to its least rate, and 10 Mbit/s a segment is slow to come back at 25 Gbit/s.
    {"timely", true, 0.78, 0.28},
    {"timely-hpcc", true, 0.65, 0.28}, // likewise, and comes back once per round trip only
    {"timely-patched", false, 0.95, 0.4},
};

static const expectation_t *expected(const nic_cc_ops_t *ops)
{
    static const expectation_t common = {NULL, false, 0.95, 0.45};
    // The algorithms of HPCC leave 5 % and the bytes of telemetry.
    static const expectation_t telemetry = {NULL, false, 0.88, 0.4};
    for (size_t i = 0; i < SIM_COUNT_OF(expectations); i++) {
        if (strcmp(expectations[i].name, ops->name) == 0) {
            return &expectations[i];
        }
    }
    return ops->telemetry == NET_TELEMETRY_NONE ? &common : &telemetry;
}

// Sets the rate of 25 Gbit/s, which the defaults of adapters were made for. At 100 Gbit/s additive
// steps of 5 Mbit/s need seconds.
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

// Returns the payload per second that fills the bottleneck with full packets and all their headers.
static double goodput_bps(const star_config_t *config)
{
    const double payload = (double)config->nic.mtu_bytes;
    const double headers = 14 + 20 + 8 + 12 + 4 + NET_LINK_OVERHEAD_BYTES;
    return (double)config->link.rate_bps * payload / (payload + headers);
}

// Returns the least rate that the algorithm's parameter sets; 1 bit/s if it has none.
static uint64_t least_rate_bps(star_config_t *config, const nic_cc_ops_t *ops)
{
    const sim_attr_table_t *const table = ops->attrs;
    for (size_t i = 0; table != NULL && i < table->count; i++) {
        const char *const end = strstr(table->attrs[i].path, "min-rate");
        if (end != NULL && strcmp(end, "min-rate") == 0) {
            const char *const values = star_cc_config(config, ops);
            uint64_t rate_bps;
            memcpy(&rate_bps, values + table->attrs[i].offset, sizeof(rate_bps));
            ck_assert_uint_gt(rate_bps, 0);
            return rate_bps;
        }
    }
    return 1;
}

typedef struct bounds {
    uint64_t least_bps;
    uint64_t line_bps;
    uint64_t changes;
} bounds_t;

static void check_rate(const nic_trace_t *trace, void *ctx)
{
    bounds_t *const bounds = ctx;
    SIM_CHECK(trace->point == NIC_TRACE_WINDOW ||
              (trace->value >= bounds->least_bps && trace->value <= bounds->line_bps));
    bounds->changes++;
}

// Runs the star and checks every rate that any sender ever has. Rates or windows must change.
static sim_ended_t run_watched(star_t *star, const nic_cc_ops_t *ops)
{
    bounds_t bounds = {least_rate_bps(&star->config, ops), star->config.link.rate_bps, 0};
    for (uint32_t i = 0; i < star->config.sender_count; i++) {
        nic_qp_listen(star->flows[i].qp, NIC_TRACE_RATE | NIC_TRACE_WINDOW, check_rate, &bounds);
    }
    const sim_ended_t ended = star_run(star);
    if (ops != &nic_cc_none && star->config.sender_count > 1) { // "none" never changes it
        ck_assert_uint_gt(bounds.changes, star->config.sender_count);
    }
    return ended;
}

// Returns the share of the bottleneck that all senders together use.
static double filled(const star_t *star, sim_time_t from_ps, sim_time_t to_ps)
{
    double sum_bps = 0.0;
    for (uint32_t i = 0; i < star->config.sender_count; i++) {
        sum_bps += star_mean_bps(star, i, from_ps, to_ps);
    }
    return sum_bps / goodput_bps(&star->config);
}

// -- shares

typedef struct share_case {
    uint32_t senders;
    double worst; // a sender's part of the fair share, at least
    double best;  // at most
} share_case_t;

// The short form has the first case alone; in it, flow_comes_and_goes has two senders.
static const share_case_t share_cases[] = {{8, 0.85, 1.15}, {2, 0.9, 1.1}, {64, 0.8, 1.25}};

START_TEST(equal_flows_get_equal_shares)
{
    const nic_cc_ops_t *const ops = algorithm_at((size_t)_i % (size_t)algorithm_count());
    const expectation_t *const expect = expected(ops);
    const share_case_t *const bound = &share_cases[_i / algorithm_count()];
    star_config_t config;
    use(&config, ops);
    config.sender_count = bound->senders;
    config.options.until_ps = 401 * MS;
    star_t *const star = star_create(&config);
    run_watched(star, ops);

    const sim_time_t from_ps = 300 * MS;
    const double fair_bps = goodput_bps(&config) / config.sender_count;
    for (uint32_t i = 0; i < config.sender_count; i++) {
        const double share = star_mean_bps(star, i, from_ps, from_ps + 100 * MS) / fair_bps;
        if (expect->unfair) {
            ck_assert_double_gt(share, 0.5 * (double)least_rate_bps(&config, ops) / fair_bps);
            continue;
        }
        ck_assert_double_ge(share, bound->worst);
        ck_assert_double_le(share, bound->best);
    }
    ck_assert_double_ge(filled(star, from_ps, from_ps + 100 * MS), expect->fills);
    ck_assert_double_le(filled(star, from_ps, from_ps + 100 * MS), 1.005);
    star_destroy(star);
    star_config_fini(&config);
}
END_TEST

// One flow runs alone, then two run, then one again.
START_TEST(flow_comes_and_goes)
{
    const nic_cc_ops_t *const ops = algorithm_at((size_t)_i);
    star_config_t config;
    use(&config, ops);
    config.options.until_ps = 501 * MS;
    star_t *const star = star_create(&config);
    star->flows[1].start_ps = 10 * MS;
    star->flows[1].stop_ps = 250 * MS;
    run_watched(star, ops);

    const double full = goodput_bps(&config);
    const double alone = star_mean_bps(star, 0, 5 * MS, 10 * MS) / full;
    const double first = star_mean_bps(star, 0, 150 * MS, 250 * MS) / full;
    const double second = star_mean_bps(star, 1, 150 * MS, 250 * MS) / full;
    const double again = star_mean_bps(star, 0, 450 * MS, 500 * MS) / full;
    ck_assert_double_ge(alone, ops->telemetry == NET_TELEMETRY_NONE ? 0.99 : 0.88);
    if (!expected(ops)->unfair) {
        ck_assert_double_ge(first, 0.4);
        ck_assert_double_ge(second, 0.4);
    }
    ck_assert_double_ge(first + second, expected(ops)->fills);
    ck_assert_double_ge(again, expected(ops)->fills);
    star_destroy(star);
    star_config_fini(&config);
}
END_TEST

// The capacity halves for 0.1 s and comes back. The senders use it before, meanwhile and after.
START_TEST(capacity_steps_down_and_up)
{
    const nic_cc_ops_t *const ops = algorithm_at((size_t)_i);
    star_config_t config;
    use(&config, ops);
    config.sender_count = 4;
    config.background_bps = config.link.rate_bps / 2;
    config.background_start_ps = 100 * MS;
    config.background_stop_ps = 200 * MS;
    config.options.until_ps = 501 * MS;
    star_t *const star = star_create(&config);
    run_watched(star, ops);
    const double background_bps = star_mean_bps(star, config.sender_count, 110 * MS, 190 * MS);
    ck_assert_double_ge(background_bps / goodput_bps(&config), 0.49);
    ck_assert_double_ge(filled(star, 80 * MS, 100 * MS), 0.88);
    ck_assert_double_ge(filled(star, 110 * MS, 190 * MS), expected(ops)->stepped);
    ck_assert_double_le(filled(star, 110 * MS, 190 * MS), 0.505);
    ck_assert_double_ge(filled(star, 450 * MS, 500 * MS), expected(ops)->fills);
    // The senders' rates followed the capacity, not pauses alone.
    uint64_t rates_bps[2] = {0, 0}; // before, at its end
    for (uint32_t i = 0; i < config.sender_count; i++) {
        const star_sample_t *const samples = star->flows[i].samples;
        for (sim_time_t back_ps = 0; back_ps < 20 * MS; back_ps += config.sample_ps) {
            rates_bps[0] += samples[star_index(star, 99 * MS - back_ps)].rate_bps;
            rates_bps[1] += samples[star_index(star, 199 * MS - back_ps)].rate_bps;
        }
    }
    const bool by_rate = strcmp(ops->name, "swift") != 0; // whose window follows
    if (ops != &nic_cc_none && by_rate) {                 // "none" never changes it
        ck_assert_uint_lt(rates_bps[1], rates_bps[0] * 3 / 4);
    }
    star_destroy(star);
    star_config_fini(&config);
}
END_TEST

// A quarter of the receiver's ACKs and CNPs is lost, and no data: the port stays busy.
START_TEST(lost_answers_alone_are_survived)
{
    const nic_cc_ops_t *const ops = algorithm_at((size_t)_i);
    star_config_t config;
    use(&config, ops);
    config.sender_count = 4;
    config.nic.timeout = 7;
    config.options.until_ps = 201 * MS;
    star_t *const star = star_create(&config);
    net_port_t *const port = &star->receiver->ports[0];
    net_port_own_config(port)->loss_rate = (sim_ratio_t){1, 4};
    port->special = NET_SPECIAL_OTHERWISE;
    run_watched(star, ops);
    ck_assert_uint_gt(port->rare->drops[NET_DROP_LINK_LOSS], 1000);
    ck_assert_double_ge(filled(star, 100 * MS, 200 * MS), 0.75);
    star_destroy(star);
    star_config_fini(&config);
}
END_TEST

// Data, ACKs and CNPs are lost alike; every message still completes.
START_TEST(lost_signals_are_survived)
{
    const nic_cc_ops_t *const ops = algorithm_at((size_t)_i);
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
    ck_assert_int_eq(run_watched(star, ops), SIM_ENDED_DONE);
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
    const nic_cc_ops_t *const ops = algorithm_at((size_t)_i);
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
    while (algorithm_or_null(count) != NULL) {
        const nic_cc_ops_t *const ops = algorithm_at(count);
        ck_assert_uint_ge(ops->state_bytes, sizeof(nic_cc_t));
        ck_assert_int_eq(ops->metric_names == NULL, ops->metric == NULL);
        for (size_t i = 0; i < count; i++) {
            ck_assert_str_ne(ops->name, algorithm_at(i)->name);
        }
        count++;
    }
    ck_assert_uint_ge(count, 2);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(equal_flows_get_equal_shares, 0, (check_long() ? 3 : 1) * algorithm_count()),
           CHECK_LOOP(flow_comes_and_goes, 0, algorithm_count()),
           CHECK_LOOP(capacity_steps_down_and_up, 0, algorithm_count()),
           CHECK_LOOP(lost_answers_alone_are_survived, 0, algorithm_count()),
           CHECK_LOOP(lost_signals_are_survived, 0, algorithm_count()),
           CHECK_LOOP(runs_are_repeated_to_the_bit, 0, algorithm_count()),
           CHECK_TEST(names_are_found))
