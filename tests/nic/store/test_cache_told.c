// SPDX-License-Identifier: Apache-2.0
// test_cache_told.c - what the tiered cache tells while it runs, and the Doorbells it
// holds.
//
// Goal: each lookup, each move and each write-back of a queue pair's token is told once, with its
// way and tiers; metrics show at any time what the report shows at the end; a Doorbell waits for a
// place in L1 exactly as long as the one before it takes, and not where there are places.
// Method: a few queue pairs between two hosts, listeners on the NIC, its report afterwards.
// Not pinned: rows of events.csv and series.csv (tests/nic/store/test_cache_observe.sh).
#include "nic/cache.h"
#include "nic/cache_metrics.h"
#include "nic/trace.h"
#include "tests/cache_world.h"
#include "tests/nic_pair.h"

#define QPS 6u

static pair_config_t config;
static pair_t *pair;
static pair_qp_t qps[QPS];

static void set_up(const char *policy, uint64_t entries)
{
    pair_config_init(&config);
    config.nic.model = NIC_DETAILED;
    sim_free(config.nic.cache.policy);
    config.nic.cache.policy = sim_strdup(policy);
    config.nic.cache.l1_entries = entries;
}

static void connect(void)
{
    pair = pair_create(&config);
    for (uint32_t i = 0; i < QPS; i++) {
        pair_connect(pair, &qps[i], NIC_QPT_RC, NULL);
    }
}

static void tear_down(void)
{
    pair_destroy(pair);
    pair_config_fini(&config);
}

static double cache(const char *path)
{
    return cache_number(pair->nic[0], path);
}

static uint64_t metric(const char *name)
{
    for (const nic_cache_metric_t *m = nic_cache_metrics; m->name != NULL; m++) {
        if (strcmp(m->name, name) == 0) {
            return nic_cache_metric_read(pair->nic[0], m);
        }
    }
    ck_abort_msg("%s", name);
    return 0;
}

typedef struct told {
    uint64_t ways[3];
    uint64_t moves[4][4];
    uint64_t written;
    uint64_t last_hits;
    bool went_back;
} told_t;

static void listen(const nic_trace_t *trace, void *ctx)
{
    told_t *const told = ctx;
    ck_assert_ptr_nonnull(trace->qp);
    if (trace->point == NIC_TRACE_CACHE) {
        told->ways[trace->value]++;
        const uint64_t hits = metric("cache.l1_hits");
        told->went_back = told->went_back || hits < told->last_hits;
        told->last_hits = hits;
    } else if ((trace->value & NIC_TRACE_TIER_WRITTEN) != 0) {
        told->written++;
    } else {
        ck_assert(trace->value / 4 <= 3 && trace->value / 4 != trace->value % 4);
        told->moves[trace->value / 4][trace->value % 4]++;
    }
}

START_TEST(each_lookup_and_move_is_told_once)
{
    set_up("lru", 2);
    config.nic.cache.l2_bytes = _i == 0 ? 0 : 1024;
    connect();
    told_t told = {.last_hits = 0};
    nic_listen(pair->nic[0], NIC_TRACE_CACHE | NIC_TRACE_TIER, listen, &told);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 8);
    for (uint32_t i = 0; i < 60; i++) {
        pair_post_at(pair, 1000 + i * 5000000, qps[i * i % QPS].qp[0], &wr);
    }
    pair_run(pair);
    ck_assert(told.ways[0] + told.ways[1] + told.ways[2] == (uint64_t)cache("types[3].lookups"));
    ck_assert(told.ways[0] == (uint64_t)cache("types[3].l1_hits"));
    ck_assert(told.ways[1] == (uint64_t)cache("types[3].l2_hits"));
    ck_assert(told.ways[2] == (uint64_t)cache("types[3].expands"));
    ck_assert(told.ways[2] >= 4 && (told.ways[1] > 0) == (_i == 1));
    ck_assert(told.moves[3][1] + told.moves[2][1] == (uint64_t)cache("migrations.to_l1"));
    ck_assert(told.moves[1][2] == (uint64_t)cache("migrations.to_l2"));
    ck_assert(told.moves[1][3] == (uint64_t)cache("migrations.to_l3"));
    ck_assert((told.moves[1][2] > 0) == (_i == 1) && (told.moves[1][3] > 0) == (_i == 0));
    ck_assert(told.written > 0 && told.written == (uint64_t)cache("write_backs"));
    ck_assert(!told.went_back);
    ck_assert(metric("cache.l1_hits") == (uint64_t)cache("l1_hits"));
    ck_assert(metric("cache.to_l1") == (uint64_t)cache("migrations.to_l1"));
    ck_assert(metric("cache.l1_entries") == 2);
    ck_assert(metric("cache.l2_tokens") == (_i == 0 ? 0u : (uint64_t)cache("types[3].l2_tokens")));
    ck_assert(metric("cache.dma_read_bytes") + metric("cache.dma_write_bytes") ==
              (uint64_t)cache("dma_bytes"));
    tear_down();
}
END_TEST

START_TEST(ordinary_nics_have_zeros)
{
    set_up("flat", 2);
    connect();
    for (const nic_cache_metric_t *m = nic_cache_metrics; m->name != NULL; m++) {
        ck_assert_uint_eq(nic_cache_metric_read(pair->nic[0], m), 0);
    }
    pair_run(pair);
    tear_down();
}
END_TEST

static void post_lists(pair_t *self, void *ctx)
{
    const nic_send_wr_t *const wr = ctx;
    for (uint32_t q = 0; q < QPS; q++) {
        nic_send_wr_t list[2] = {*wr, *wr};
        list[0].next = &list[1];
        ck_assert_int_eq(nic_post_send_list(qps[q].qp[0], list, NULL), SIM_OK);
    }
    (void)self;
}

// Six Doorbells at once: with six places none waits; with fewer the others do, and the last
// operation is done later, the more the fewer places there are.
START_TEST(doorbells_wait_for_places)
{
    static const uint64_t places[] = {256, 6, 3, 1};
    static const uint64_t waits[] = {0, 0, 3, 5};
    sim_time_t end_ps[SIM_COUNT_OF(places)];
    for (size_t i = 0; i < SIM_COUNT_OF(places); i++) {
        set_up("lru", 64);
        config.nic.cache.doorbells = places[i];
        connect();
        nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 8);
        for (uint32_t q = 0; q < QPS; q++) {
            pair_post_at(pair, 1000, qps[q].qp[0], &wr); // brings its token
        }
        pair_call_at(pair, 0, 50000000, post_lists, &wr);
        pair_run(pair);
        ck_assert_uint_eq(pair->done_count[0], QPS * 3);
        ck_assert_uint_eq((uint64_t)cache("doorbell_waits"), waits[i]);
        end_ps[i] = pair->done[0][QPS * 3 - 1].time_ps;
        tear_down();
    }
    ck_assert_uint_eq(end_ps[0], end_ps[1]);
    ck_assert_uint_gt(end_ps[2], end_ps[1]);
    ck_assert_uint_gt(end_ps[3], end_ps[2]);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(each_lookup_and_move_is_told_once, 0, 2),
           CHECK_TEST(ordinary_nics_have_zeros), CHECK_TEST(doorbells_wait_for_places))
