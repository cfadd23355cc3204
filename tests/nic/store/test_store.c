// SPDX-License-Identifier: Apache-2.0
// test_store.c - the seam of stores in the detailed NIC.
//
// Goal: a program's own store hears of every object and every lookup of the kinds it answers for,
// and of no others; what it answers is when things happen, also where it answers later; memory keys
// have a cache of their own where a NIC has one.
// Method: two hosts on a link; a store that counts, and delays by what it is told.
#include "nic/pcie.h"
#include "nic/store.h"
#include "tests/nic_pair.h"

typedef struct counting_config {
    sim_time_t late_ps;
    bool waits;
} counting_config_t;

typedef struct counting {
    nic_store_t store; // first
    const counting_config_t *config;
    sim_node_t *node;
    uint32_t looked[NIC_STORE_KIND_COUNT];
    uint32_t begun;
    uint32_t added[NIC_STORE_KIND_COUNT];
    uint32_t removed;
    uint32_t changed;
} counting_t;

static nic_store_t *create(const nic_store_place_t *place)
{
    counting_t *const counting = sim_alloc(sizeof(*counting));
    counting->config = place->config;
    counting->node = place->node;
    return &counting->store;
}

static void look_up(nic_store_t *store, nic_store_lookup_t *lookup)
{
    counting_t *const counting = (counting_t *)(void *)store;
    counting->looked[lookup->kind]++;
    counting->begun += lookup->begins;
    if (lookup->kind == NIC_STORE_CONTEXT && lookup->begins) {
        if (counting->config->waits && lookup->urgent) {
            lookup->waits = true;
        } else {
            const sim_time_t here_ps = lookup->at_ps + counting->config->late_ps;
            lookup->ready_ps = lookup->ready_ps > here_ps ? lookup->ready_ps : here_ps;
        }
    }
}

static void wait_for(nic_store_t *store, sim_timer_t *timer, sim_time_t least_ps)
{
    counting_t *const counting = (counting_t *)(void *)store;
    const sim_time_t here_ps = counting->node->now_ps + counting->config->late_ps;
    sim_timer_arm(counting->node, timer, here_ps > least_ps ? here_ps : least_ps);
}

static void add(nic_store_t *store, nic_store_kind_t kind, uint64_t key)
{
    ck_assert_uint_ne(key, 0);
    ((counting_t *)(void *)store)->added[kind]++;
}

static void change(nic_store_t *store, nic_store_kind_t kind, uint64_t key)
{
    ck_assert(kind == NIC_STORE_CONTEXT && key != 0);
    ((counting_t *)(void *)store)->changed++;
}

static void go(nic_store_t *store, nic_store_kind_t kind, uint64_t key)
{
    ck_assert(kind == NIC_STORE_CONTEXT && key != 0);
    ((counting_t *)(void *)store)->removed++;
}

static const nic_store_ops_t counting_ops = {
    .name = "counting",
    .help = "counts",
    .kinds =
        1u << NIC_STORE_CONTEXT | 1u << NIC_STORE_CQ | 1u << NIC_STORE_KEY | 1u << NIC_STORE_PD,
    .create = create,
    .look_up = look_up,
    .wait = wait_for,
    .add = add,
    .change = change,
    .remove = go,
};

static pair_config_t config;
static pair_t *pair;
static pair_qp_t qps;

static void set_up(const counting_config_t *counting)
{
    pair_config_init(&config);
    config.nic.model = NIC_DETAILED;
    config.nic.custom_store = counting != NULL ? &counting_ops : NULL;
    config.nic.custom_store_config = counting;
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
}

static void tear_down(void)
{
    pair_destroy(pair);
    pair_config_fini(&config);
}

static sim_time_t time_of_write(const counting_config_t *counting)
{
    set_up(counting);
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 100);
    pair_post_at(pair, 1000, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 1);
    return pair->done[0][0].time_ps;
}

START_TEST(store_hears_of_everything)
{
    const counting_config_t at_once = {0, false};
    (void)time_of_write(&at_once);
    const counting_t *const a = (const counting_t *)(const void *)nic_store_of(pair->nic[0]);
    const counting_t *const b = (const counting_t *)(const void *)nic_store_of(pair->nic[1]);
    ck_assert_uint_eq(a->begun, 1);                     // the WQE
    ck_assert_uint_eq(b->begun, 1);                     // the packet
    ck_assert_uint_eq(a->looked[NIC_STORE_CONTEXT], 2); // and its ACK
    ck_assert_uint_eq(a->looked[NIC_STORE_CQ], 1);
    ck_assert_uint_eq(b->looked[NIC_STORE_CQ], 0);
    ck_assert_uint_eq(b->looked[NIC_STORE_KEY], 1);
    ck_assert_uint_eq(b->looked[NIC_STORE_PD], 1);
    ck_assert_uint_eq(a->looked[NIC_STORE_WQE] + a->looked[NIC_STORE_TRANSLATION], 0);
    ck_assert_uint_eq(a->added[NIC_STORE_CONTEXT], 1);
    ck_assert_uint_eq(a->added[NIC_STORE_CQ], 1);
    ck_assert_uint_eq(a->added[NIC_STORE_PD], 1);
    ck_assert_uint_eq(a->added[NIC_STORE_KEY], 1);
    ck_assert_uint_eq(a->changed, 1); // connected
    nic_rnic_counters_t counters;
    ck_assert(nic_get_rnic_counters(pair->nic[0], &counters));
    ck_assert_uint_eq(counters.context_hits + counters.context_misses, 0);
    ck_assert_uint_gt(counters.wqe_hits, 0); // those are still the flat cache's
    nic_qp_destroy(qps.qp[0]);
    ck_assert_uint_eq(a->removed, 1);
    tear_down();
}
END_TEST

// The answer is the time, whether it is known at once or comes later: 3 us each for the WQE and the
// packet, where the unit's time and the translation's read, less than 700 ns, would have been.
START_TEST(answer_is_the_time)
{
    const counting_config_t at_once = {0, false};
    const sim_time_t least_ps = time_of_write(&at_once);
    tear_down();
    for (uint32_t waits = 0; waits < 2; waits++) {
        const counting_config_t late = {UINT64_C(3000000), waits != 0};
        const sim_time_t done_ps = time_of_write(&late);
        tear_down();
        ck_assert_uint_gt(done_ps, least_ps + 2 * (3000000 - 700000));
        ck_assert_uint_le(done_ps, least_ps + 2 * 3000000);
    }
}
END_TEST

static uint64_t key_reads(uint64_t entries, uint64_t ways)
{
    pair_config_init(&config);
    config.nic.model = NIC_DETAILED;
    config.nic.detail.key_entries = entries;
    config.nic.detail.key_ways = ways;
    config.nic.detail.translation_entries = 64;
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    nic_mr_t *regions[8];
    for (uint32_t i = 0; i < 8; i++) {
        ck_assert_int_eq(
            nic_mr_register(pair->pd[0], PAIR_MEMORY, 4096, NIC_ACCESS_LOCAL_WRITE, &regions[i]),
            SIM_OK);
    }
    for (uint32_t k = 0; k < 32; k++) {
        nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 100);
        wr.sge.lkey = nic_mr_lkey(regions[k % 8]);
        pair_post_at(pair, 1000 + k * UINT64_C(10000000), qps.qp[0], &wr);
    }
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 32);
    nic_rnic_counters_t counters;
    ck_assert(nic_get_rnic_counters(pair->nic[0], &counters));
    const uint64_t reads = counters.pcie_reads;
    tear_down();
    return reads;
}

// Eight regions used in turn: a cache of eight in one set reads each once, one of four every time,
// and with one way per set some of eight get in each other's way.
START_TEST(keys_have_a_cache)
{
    const uint64_t at_hand = key_reads(0, 4);
    ck_assert_uint_eq(key_reads(8, 8), at_hand + 8);
    ck_assert_uint_eq(key_reads(4, 4), at_hand + 32);
    ck_assert_uint_gt(key_reads(8, 1), at_hand + 8);
}
END_TEST

CHECK_MAIN(CHECK_TEST(store_hears_of_everything), CHECK_TEST(answer_is_the_time),
           CHECK_TEST(keys_have_a_cache))
