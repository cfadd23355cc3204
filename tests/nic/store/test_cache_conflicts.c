// SPDX-License-Identifier: Apache-2.0
// labels: clang
// test_cache_conflicts.c - units, the driver and moves that change one token at the same time.
//
// Goal: windows of changes never overlap; a swap fails once for each of its tries that meets
// another change, as a search over all of them says; n units that swap at one instant take 1, 2 ...
// n times the swap. Swaps fail and reads are repeated because the driver rewrites a token or a move
// commits, and not without these. Method: the functions of conflicts.c on one token at random
// times; NICs whose queue pairs change their state, or move, while they are used. Not pinned: every
// order of the steps (tests/nic/store/test_cache_protocol.c).
#include "nic/store/tiered/tiered.h"
#include "tests/nic_pair.h"

static pair_config_t config;
static pair_t *pair;
static pair_qp_t qps[8];

static void set_up(const char *policy)
{
    pair_config_init(&config);
    config.nic.model = NIC_DETAILED;
    sim_free(config.nic.cache.policy);
    config.nic.cache.policy = sim_strdup(policy);
    config.nic.cache.staging_entries = 0;
}

static void connect(uint32_t count)
{
    pair = pair_create(&config);
    for (uint32_t i = 0; i < count; i++) {
        pair_connect(pair, &qps[i], NIC_QPT_RC, NULL);
    }
}

static void tear_down(void)
{
    pair_destroy(pair);
    pair_config_fini(&config);
}

static tiered_t *tiered(void)
{
    return (tiered_t *)(void *)nic_store_of(pair->nic[0]);
}

static tiered_token_t *token_of(uint32_t index)
{
    const uint32_t number = nic__tiered_find(tiered(), NIC_TOKEN_QP, nic_qp_num(qps[index].qp[0]));
    return &tiered()->tokens[number];
}

static bool windows_are_apart(const tiered_token_t *token)
{
    bool apart = true;
    for (uint32_t i = 0; i < token->window_count; i++) {
        const tiered_change_t *const a = &token->windows[i];
        apart = apart && a->begin_ps < a->end_ps;
        for (uint32_t k = i + 1; k < token->window_count; k++) {
            const tiered_change_t *const b = &token->windows[k];
            apart = apart && (a->end_ps <= b->begin_ps || b->end_ps <= a->begin_ps);
        }
    }
    return apart;
}

// Returns how many tries of a swap from begin_ps on meet a window.
static uint64_t tries_that_meet(const tiered_token_t *token, sim_time_t begin_ps, sim_time_t cas_ps)
{
    uint64_t met = 0;
    for (;;) {
        bool meets = false;
        for (uint32_t i = 0; i < token->window_count; i++) {
            meets = meets || (token->windows[i].begin_ps < begin_ps + cas_ps &&
                              token->windows[i].end_ps > begin_ps);
        }
        if (!meets) {
            return met;
        }
        met++;
        begin_ps += cas_ps;
    }
}

START_TEST(windows_never_overlap)
{
    set_up("lru");
    const sim_time_t cas_ps = 50000;
    config.nic.cache.cas_ps = cas_ps;
    config.nic.cache.cas_retries = _i == 0 ? 1000 : 3;
    connect(1);
    tiered_t *const cache = tiered();
    tiered_token_t *const token = token_of(0);
    sim_random_t dice;
    sim_random_init(&dice, 3, 0, "windows");
    const tiered_counters_t *const counters = &cache->counters;
    for (uint32_t i = 0; i < 1600; i++) {
        cache->now_ps += sim_random_below(&dice, i % 400 < 370 ? 300000 : 9000);
        if (sim_random_below(&dice, 20) == 0) {
            nic__tiered_rewrite_takes(cache, token, 100000 + sim_random_below(&dice, 400000));
        } else {
            const sim_time_t after_ps = sim_random_below(&dice, 5000);
            const sim_time_t begin_ps = cache->now_ps + after_ps;
            const uint64_t meets = tries_that_meet(token, begin_ps, cas_ps);
            const uint64_t failures = counters->cas_failures;
            const uint64_t fallbacks = counters->cas_fallbacks;
            bool gave_up = true;
            const sim_time_t took_ps = nic__tiered_swap(cache, token, after_ps, &gave_up);
            ck_assert(!gave_up);
            if (meets <= config.nic.cache.cas_retries) {
                ck_assert_uint_eq(counters->cas_failures - failures, meets);
                ck_assert_uint_eq(counters->cas_fallbacks, fallbacks);
                ck_assert_uint_eq(took_ps, (meets + 1) * cas_ps);
            } else {
                ck_assert_uint_eq(counters->cas_failures - failures,
                                  config.nic.cache.cas_retries + 1);
                ck_assert_uint_eq(counters->cas_fallbacks, fallbacks + 1);
            }
        }
        ck_assert(windows_are_apart(token));
    }
    ck_assert_uint_gt(counters->cas_failures, 100);
    ck_assert_uint_gt(counters->driver_retries, 10);
    ck_assert((counters->cas_fallbacks > 3) == (_i == 1));
    tear_down();
}
END_TEST

START_TEST(units_at_one_instant_queue_up)
{
    set_up("lru");
    config.nic.cache.cas_ps = 2000;
    config.nic.cache.cas_retries = 100;
    connect(1);
    for (uint32_t n = 1; n <= 16; n++) {
        bool gave_up;
        ck_assert_uint_eq(nic__tiered_swap(tiered(), token_of(0), 0, &gave_up), n * 2000u);
    }
    ck_assert_uint_eq(tiered()->counters.cas_failures, 16 * 15 / 2);
    tear_down();
}
END_TEST

// -- the driver

static bool changes;

static void change_state(pair_t *self, void *ctx)
{
    (void)self;
    nic_qp_t *const qp = ctx;
    sim_message_t message = {.text = ""};
    if (changes && nic_qp_state(qp) == NIC_QPS_RTS) {
        ck_assert_int_eq(nic_qp_modify(qp, NIC_QPS_SQD, NULL, &message), SIM_OK);
    } else if (changes && nic_qp_drained(qp)) {
        ck_assert_int_eq(nic_qp_modify(qp, NIC_QPS_RTS, NULL, &message), SIM_OK);
    }
}

static void post_and_change(uint32_t operations)
{
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 8);
    for (uint32_t i = 0; i < operations; i++) {
        const sim_time_t time_ps = 1000 + i * UINT64_C(4000000);
        pair_post_at(pair, time_ps, qps[0].qp[0], &wr);
        pair_call_at(pair, 0, time_ps + 10000 + i % 64 * 10000, change_state, qps[0].qp[0]);
        pair_call_at(pair, 0, time_ps + 3000000, change_state, qps[0].qp[0]);
    }
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], operations);
}

// One queue pair, one access at a time: nobody but the driver meets its swaps in L1.
START_TEST(swaps_fail_where_the_driver_rewrites)
{
    uint64_t failures[2];
    for (uint32_t i = 0; i < 2; i++) {
        changes = i == 1;
        set_up("lru");
        connect(1);
        post_and_change(300);
        failures[i] = tiered()->counters.cas_failures;
        ck_assert_uint_eq(tiered()->counters.version_retries, 0);
        ck_assert((tiered()->counters.strong_writes > 10) == changes);
        tear_down();
    }
    ck_assert_uint_eq(failures[0], 0);
    ck_assert_uint_gt(failures[1], 100);
}
END_TEST

// A token that stays in L2: reads of it end after a rewrite that they have begun before.
START_TEST(reads_are_repeated_where_the_driver_rewrites)
{
    uint64_t retries[2];
    for (uint32_t i = 0; i < 2; i++) {
        changes = i == 1;
        set_up("hybrid");
        config.nic.cache.promote_l2 = 1;
        config.nic.cache.promote_l1 = 1000000;
        connect(1);
        post_and_change(300);
        retries[i] = tiered()->counters.version_retries;
        ck_assert_uint_gt(tiered()->counters.l2_hits, 200);
        tear_down();
    }
    ck_assert_uint_eq(retries[0], 0);
    ck_assert_uint_gt(retries[1], 50);
}
END_TEST

// -- moves

// Queue pairs that are used just while they are demoted and promoted.
START_TEST(moves_are_met)
{
    set_up("hybrid");
    nic_cache_config_t *const cache = &config.nic.cache;
    cache->promote_l2 = 2;
    cache->promote_l1 = 4;
    cache->maintenance_ps = SIM_PS_PER_US;
    cache->demote_l1_ps = 10 * SIM_PS_PER_US;
    cache->window_ps = 400 * SIM_PS_PER_US;
    cache->waiting = _i == 0 ? NIC_CACHE_WAIT : NIC_CACHE_OPTIMISTIC;
    connect(8);
    sim_random_t dice;
    sim_random_init(&dice, 4, 0, "moves");
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 8);
    sim_time_t time_ps = 1000;
    for (uint32_t i = 0; i < 3000; i++) {
        time_ps += sim_random_below(&dice, 4000000);
        pair_post_at(pair, time_ps, qps[sim_random_below(&dice, 8)].qp[0], &wr);
    }
    pair_run(pair);
    const tiered_counters_t *const counters = &tiered()->counters;
    ck_assert_uint_gt(counters->migrations[NIC_LAYER_L1], 50);
    if (_i == 0) {
        ck_assert_uint_gt(counters->waits, 20);
        ck_assert_uint_eq(counters->version_retries, 0);
        ck_assert_uint_eq(counters->reconciled, 0); // writes wait, too
    } else {
        ck_assert_uint_eq(counters->waits, 0);
        ck_assert_uint_gt(counters->version_retries, 20);
        ck_assert_uint_gt(counters->reconciled, 20);
    }
    tear_down();
}
END_TEST

CHECK_MAIN(CHECK_LOOP(windows_never_overlap, 0, 2), CHECK_TEST(units_at_one_instant_queue_up),
           CHECK_TEST(swaps_fail_where_the_driver_rewrites),
           CHECK_TEST(reads_are_repeated_where_the_driver_rewrites),
           CHECK_LOOP(moves_are_met, 0, 2))
