// SPDX-License-Identifier: Apache-2.0
// test_cc_hpcc_incast.c - HPCC's published incast, from the port to the senders' shares.
//
// Goal: the burst of sixteen senders that start at once has the height, and drains at the times, of
// HPCC's figure 13 for each way to react; W_AI decides shares as there; PINT does as INT does, and
// less often is worse; without telemetry from the switch nothing is controlled.
// Method: a star at 100 Gbit/s with links of 1 us, MTU 1024; bounds are the paper's numbers, 10 %.
// Not pinned: the whole figure (scenarios/papers/hpcc-incast); arithmetic (test_cc_hpcc.c).
#include "nic/cc/hpcc.h"
#include "nic/cc/hpcc_pint.h"
#include "tests/cc_star.h"

#define US SIM_PS_PER_US
#define SENDERS 16u

static void use(star_config_t *config, const nic_cc_ops_t *ops, sim_time_t until_ps)
{
    star_config_init(config);
    star_use(config, ops->name);
    config->sender_count = SENDERS;
    config->link.rate_bps = 100000000000;
    config->nic.mtu_bytes = 1024;
    config->message_bytes = 1 << 20;
    config->sample_ps = US;
    config->options.until_ps = until_ps;
    // The configs of both algorithms begin with the law's config.
    nic_hpcc_law_config_t *const law = star_cc_config(config, ops);
    law->window_ai_bytes = 25;
}

// Returns the largest queue in KB.
static double peak_kb(const star_t *star)
{
    uint64_t most = 0;
    for (size_t i = 0; i < star->sample_count; i++) {
        const uint64_t bytes = star->samples[i].queue_bytes;
        most = bytes > most ? bytes : most;
    }
    return (double)most / 1e3;
}

static double drained_us(const star_t *star)
{
    size_t i = 10;
    while (i < star->sample_count && star->samples[i].queue_bytes >= 20000) {
        i++;
    }
    ck_assert_uint_lt(i, star->sample_count);
    return (double)i;
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// Returns a quantile of the queue in the samples from `from` on, in KB.
static double queue_quantile_kb(const star_t *star, size_t from, double quantile)
{
    const size_t count = star->sample_count - from;
    uint64_t *const sorted = sim_alloc_array(count, sizeof(*sorted));
    for (size_t i = 0; i < count; i++) {
        sorted[i] = star->samples[from + i].queue_bytes;
    }
    qsort(sorted, count, sizeof(*sorted), compare);
    const double bytes = (double)sorted[(size_t)(quantile * (double)(count - 1))];
    sim_free(sorted);
    return bytes / 1e3;
}

static double jain_index(const star_t *star, sim_time_t from_ps, sim_time_t to_ps)
{
    double sum = 0.0;
    double squares = 0.0;
    for (uint32_t i = 0; i < SENDERS; i++) {
        const double rate_bps = star_mean_bps(star, i, from_ps, to_ps);
        sum += rate_bps;
        squares += rate_bps * rate_bps;
    }
    return sum * sum / SENDERS / squares;
}

typedef struct reaction_case {
    nic_hpcc_reaction_t reaction;
    double drained_us; // published
} reaction_case_t;

static const reaction_case_t reactions[] = {
    {NIC_HPCC_PER_ACK, 74},
    {NIC_HPCC_BY_REFERENCE, 95.5},
    {NIC_HPCC_PER_RTT, 144},
};

START_TEST(burst_drains_as_published)
{
    star_config_t config;
    use(&config, &nic_cc_hpcc, 400 * US);
    ((nic_hpcc_config_t *)star_cc_config(&config, &nic_cc_hpcc))->law.reaction =
        reactions[_i].reaction;
    star_t *const star = star_create(&config);
    star_run(star);
    ck_assert_double_eq_tol(peak_kb(star), 853, 85);
    ck_assert_double_eq_tol(drained_us(star), reactions[_i].drained_us,
                            reactions[_i].drained_us / 10);
    star_destroy(star);
    star_config_fini(&config);
}
END_TEST

// With 5 bytes, shares stay as the collision left them; 150 even them out within milliseconds.
START_TEST(increase_decides_shares)
{
    static const struct {
        uint64_t bytes;
        double least;
        double most;
    } cases[] = {{5, 0.55, 0.8}, {25, 0.93, 1.0}, {150, 0.995, 1.0}};
    star_config_t config;
    use(&config, &nic_cc_hpcc, 10001 * US);
    config.message_bytes = 65536;
    ((nic_hpcc_config_t *)star_cc_config(&config, &nic_cc_hpcc))->law.window_ai_bytes =
        cases[_i].bytes;
    star_t *const star = star_create(&config);
    star_run(star);
    const double jain = jain_index(star, 1000 * US, 10000 * US);
    ck_assert_double_ge(jain, cases[_i].least);
    ck_assert_double_le(jain, cases[_i].most + 1e-9);
    // The queue is a few packets long (published: 5.5, 5.5 and 6.6 KB at the 99th percentile).
    ck_assert_double_le(queue_quantile_kb(star, 300, 0.99), 14);
    ck_assert_double_le(queue_quantile_kb(star, 300, 0.5), 4);
    star_destroy(star);
    star_config_fini(&config);
}
END_TEST

// PINT, whose T is three times the round trip by default, drains the queue later than INT and then
// keeps it as short. With one digest in 256 the burst is still there when the others have drained
// it.
START_TEST(digests_drain_it_too)
{
    static const struct {
        sim_ratio_t probability;
        double least_us;
        double most_us;
    } cases[] = {{{1, 1}, 85, 140}, {{1, 16}, 100, 400}, {{1, 256}, 400, 4000}};
    star_config_t config;
    use(&config, &nic_cc_hpcc_pint, 4001 * US);
    ((nic_hpcc_pint_config_t *)star_cc_config(&config, &nic_cc_hpcc_pint))->probability =
        cases[_i].probability;
    star_t *const star = star_create(&config);
    star_run(star);
    ck_assert_double_ge(drained_us(star), cases[_i].least_us);
    ck_assert_double_le(drained_us(star), cases[_i].most_us);
    if (_i == 0) {
        ck_assert_double_le(queue_quantile_kb(star, 300, 0.99), 12);
    }
    star_destroy(star);
    star_config_fini(&config);
}
END_TEST

// If a switch writes no telemetry, senders stay at line rate, and only pauses hold them.
START_TEST(silent_switch_controls_nobody)
{
    star_config_t config;
    use(&config, _i == 0 ? &nic_cc_hpcc : &nic_cc_hpcc_pint, 300 * US);
    config.sw.telemetry = false;
    star_t *const star = star_create(&config);
    star_run(star);
    for (uint32_t i = 0; i < SENDERS; i++) {
        const star_flow_t *const flow = &star->flows[i];
        ck_assert_uint_eq(flow->samples[flow->sample_count - 1].rate_bps, config.link.rate_bps);
    }
    ck_assert_double_ge(queue_quantile_kb(star, 100, 0.5), 800);
    star_destroy(star);
    star_config_fini(&config);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(burst_drains_as_published, 0, SIM_COUNT_OF(reactions)),
           CHECK_LOOP(increase_decides_shares, 0, 3), CHECK_LOOP(digests_drain_it_too, 0, 3),
           CHECK_LOOP(silent_switch_controls_nobody, 0, 2))
