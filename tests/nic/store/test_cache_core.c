// SPDX-License-Identifier: Apache-2.0
// test_cache_core.c - the tiered cache's driver on a core of its own, or on the program's.
//
// Goal: a driver that shares a core takes the time of its requests from the program, to the
// picosecond, whether the program works or polls; the share of the host's cores is what both have
// done; a core of its own costs the program nothing.
// Method: a core that works a microsecond in each turn, or polls, beside queue pairs whose contexts
// the driver brings; interrupts alone.
// Not pinned: what HERD loses by it (scenarios/cache/driver-core.sweep.yaml).
#include "nic/core.h"
#include "nic/store/tiered/tiered.h"
#include "tests/nic_pair.h"

#define QPS 8u
#define TURN_PS SIM_PS_PER_US

static pair_config_t config;
static pair_t *pair;
static pair_qp_t qps[QPS];
static sim_time_t last_turn_ps;
static bool works;

static bool turn(nic_core_t *core, void *ctx)
{
    (void)ctx;
    last_turn_ps = nic_core_now_ps(core);
    nic_core_spend(core, TURN_PS);
    return works;
}

static const tiered_t *tiered(void)
{
    return (const tiered_t *)(const void *)nic_store_of(pair->nic[0]);
}

static sim_time_t driver_ps(void)
{
    return tiered()->driver.busy_ps[NIC_SERVER_URGENT] +
           tiered()->driver.busy_ps[NIC_SERVER_BACKGROUND];
}

// Runs 50 us of a core's turns, with a WRITE on each queue pair in them. Returns the core.
static const nic_core_t *run(nic_cache_core_t where)
{
    pair_config_init(&config);
    config.until_ps = 50 * SIM_PS_PER_US;
    config.nic.model = NIC_DETAILED;
    sim_free(config.nic.cache.policy);
    config.nic.cache.policy = sim_strdup("lru");
    config.nic.cache.l2_bytes = 0;
    config.nic.cache.l1_entries = 2; // each WRITE and its ACK need the driver
    config.nic.cache.driver_core = where;
    pair = pair_create(&config);
    for (uint32_t q = 0; q < QPS; q++) {
        pair_connect(pair, &qps[q], NIC_QPT_RC, NULL);
    }
    nic_core_t *const core = nic_core_create(pair->node[0], turn, NULL);
    nic_core_start(core, 0);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 8);
    for (uint32_t q = 0; q < QPS; q++) {
        pair_post_at(pair, 2 * SIM_PS_PER_US + q * 300000, qps[q].qp[0], &wr);
    }
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], QPS);
    ck_assert_uint_gt(driver_ps(), QPS * 570 * SIM_PS_PER_NS);
    return core;
}

static void tear_down(void)
{
    pair_destroy(pair);
    pair_config_fini(&config);
}

START_TEST(a_driver_of_its_own_costs_nothing)
{
    works = true;
    const nic_core_t *const core = run(NIC_CACHE_CORE_OWN);
    ck_assert_uint_eq(nic_core_steps(core) * TURN_PS, nic_core_busy_ps(core));
    ck_assert_uint_eq(last_turn_ps % TURN_PS, 0);
    sim_time_t busy_ps;
    ck_assert_uint_eq(nic_cores_busy(pair->nic[0], &busy_ps), 1);
    ck_assert_uint_eq(busy_ps, nic_core_busy_ps(core));
    ck_assert_uint_eq(nic__tiered_cores(tiered(), &busy_ps), 2);
    ck_assert_uint_eq(busy_ps, nic_core_busy_ps(core) + driver_ps());
    tear_down();
}
END_TEST

START_TEST(a_shared_driver_takes_the_programs_time)
{
    works = true;
    const nic_core_t *const core = run(NIC_CACHE_CORE_SHARED);
    // Between turns there is nothing but the driver's work.
    ck_assert_uint_eq(last_turn_ps, (nic_core_steps(core) - 1) * TURN_PS + driver_ps());
    sim_time_t busy_ps;
    ck_assert_uint_eq(nic__tiered_cores(tiered(), &busy_ps), 1);
    ck_assert_uint_eq(busy_ps, nic_core_busy_ps(core) + driver_ps());
    tear_down();
}
END_TEST

// An idle core polls each microsecond; what it is woken for waits for the end of an interrupt, and
// then for the next poll.
static void wake(pair_t *self, void *ctx)
{
    (void)self;
    nic_core_wake(ctx);
}

static void interrupt(pair_t *self, void *ctx)
{
    (void)ctx;
    ck_assert(nic_cores_interrupt(self->nic[0], 0, 2500 * SIM_PS_PER_NS));
}

static void expect_none(pair_t *self, void *ctx)
{
    (void)ctx;
    ck_assert(!nic_cores_interrupt(self->nic[1], 0, SIM_PS_PER_NS)); // it has no core
}

START_TEST(polls_wait_for_the_end_of_an_interrupt)
{
    // No interrupt; one that ends at 12.9 us, before the wake and behind it.
    static const uint64_t at_ns[] = {0, 10400, 10600};
    static const uint64_t turn_us[] = {11, 13, 14};
    works = false;
    for (uint32_t i = 0; i < SIM_COUNT_OF(at_ns); i++) {
        pair_config_init(&config);
        config.until_ps = 50 * SIM_PS_PER_US;
        pair = pair_create(&config);
        nic_core_t *const core = nic_core_create(pair->node[0], turn, NULL);
        nic_core_start(core, 0);
        pair_call_at(pair, 0, 10500 * SIM_PS_PER_NS, wake, core);
        if (at_ns[i] != 0) {
            pair_call_at(pair, 0, at_ns[i] * SIM_PS_PER_NS, interrupt, NULL);
        }
        pair_call_at(pair, 1, 10 * SIM_PS_PER_US, expect_none, NULL);
        pair_run(pair);
        ck_assert_uint_eq(last_turn_ps, turn_us[i] * TURN_PS);
        tear_down();
    }
}
END_TEST

CHECK_MAIN(CHECK_TEST(a_driver_of_its_own_costs_nothing),
           CHECK_TEST(a_shared_driver_takes_the_programs_time),
           CHECK_TEST(polls_wait_for_the_end_of_an_interrupt))
