// SPDX-License-Identifier: Apache-2.0
// test_core.c - cores of one host share its power: the more are at work, the slower each
// is.
//
// Goal: what a step spends takes longer with more cores at work, by the clock rates of the profile;
// what it waits for in memory does not; a core that stops gives its share back; the ideal NIC's
// cores have no clock; completions of a queue that is left unread cost no looks.
// Method: loops on one host that spend and wait a given time; the distance of two steps against
// the rates of a Xeon E5-2683 v3 (3.0 GHz for one or two cores, 2.5 for six or more), written here
// as the table of what lies between, to a thousandth.
// Does not pin: what programs and posting cost (tests/nic/device/test_rnic.c).
#include "nic/core.h"
#include "tests/nic_pair.h"

#define CORES 8u
#define SPENT (300 * SIM_PS_PER_NS)
#define WAITED (100 * SIM_PS_PER_NS)
#define STEPS 5u

typedef struct loop {
    uint32_t steps;
    uint32_t steps_max;
    sim_time_t time_ps[2 * STEPS];
} loop_t;

static bool spend_and_wait(nic_core_t *core, void *ctx)
{
    loop_t *const loop = ctx;
    loop->time_ps[loop->steps++] = nic_core_now_ps(core);
    nic_core_spend(core, SPENT);
    nic_core_wait(core, WAITED);
    if (loop->steps == loop->steps_max) {
        nic_core_stop(core);
    }
    return true;
}

// Runs cores, of which the first makes twice as many steps as the others.
static void run(sim_name_t model, uint64_t clock_all_mhz, uint32_t count, loop_t *first)
{
    pair_config_t config;
    pair_config_init(&config);
    config.nic.model = model;
    config.nic.detail.cpu_clock_all_mhz = clock_all_mhz;
    pair_t *const pair = pair_create(&config);
    loop_t loops[CORES];
    memset(loops, 0, sizeof(loops));
    for (uint32_t i = 0; i < count; i++) {
        loops[i].steps_max = i == 0 ? 2 * STEPS : STEPS;
        nic_core_start(nic_core_create(pair->node[0], spend_and_wait, &loops[i]), 1000);
    }
    pair_run(pair);
    *first = loops[0];
    pair_destroy(pair);
    pair_config_fini(&config);
}

START_TEST(more_cores_have_a_slower_clock)
{
    static const double ghz[CORES] = {3.0, 3.0, 2.875, 2.75, 2.625, 2.5, 2.5, 2.5};
    loop_t loop;
    run(NIC_DETAILED, SIM_AUTO, (uint32_t)_i + 1, &loop);
    const double expected_ps = (double)SPENT * 3.0 / ghz[_i] + (double)WAITED;
    for (uint32_t i = 1; i < STEPS; i++) {
        const double step_ps = (double)(loop.time_ps[i] - loop.time_ps[i - 1]);
        ck_assert_double_eq_tol(step_ps, expected_ps, expected_ps / 1000);
    }
    // The other cores have stopped by now.
    const sim_time_t last_ps = loop.time_ps[2 * STEPS - 1] - loop.time_ps[2 * STEPS - 2];
    ck_assert_uint_eq(last_ps, SPENT + WAITED);
}
END_TEST

START_TEST(ideal_hosts_have_no_clock)
{
    loop_t loop;
    run(NIC_IDEAL, SIM_AUTO, CORES, &loop);
    ck_assert_uint_eq(loop.time_ps[1] - loop.time_ps[0], SPENT + WAITED);
}
END_TEST

// A host's clock may be set whatever its NICs are; a core that runs alone has 3 GHz.
START_TEST(any_host_may_have_a_clock)
{
    loop_t loop;
    run(_i == 0 ? NIC_IDEAL : NIC_DETAILED, 1500, CORES, &loop);
    ck_assert_uint_eq(loop.time_ps[1] - loop.time_ps[0], 2 * SPENT + WAITED);
}
END_TEST

// -- queues that are left unread

#define POSTED_PS (SIM_PS_PER_US)
#define WAKE_PS (100 * SIM_PS_PER_US)

typedef struct reader {
    nic_cq_t *cq;
    nic_core_t *core;
    bool unread;
    uint32_t looks;
    sim_time_t taken_ps;
} reader_t;

static bool read_or_not(nic_core_t *core, void *ctx)
{
    reader_t *const reader = ctx;
    nic_cq_set_unread(reader->cq, reader->unread);
    nic_core_spend(core, WAITED);
    reader->looks++;
    nic_wc_t wc;
    if (reader->unread || nic_poll_cq(reader->cq, 1, &wc) == 0) {
        return false;
    }
    reader->taken_ps = nic_core_now_ps(core);
    return true;
}

static void wake(pair_t *pair, void *ctx)
{
    (void)pair;
    reader_t *const reader = ctx;
    reader->unread = false;
    nic_core_wake(reader->core);
}

START_TEST(an_unread_queue_costs_no_looks)
{
    pair_config_t config;
    pair_config_init(&config);
    pair_t *const pair = pair_create(&config);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    reader_t reader = {.cq = pair->cq[0], .unread = _i == 1};
    reader.core = nic_core_create(pair->node[0], read_or_not, &reader);
    nic_cq_set_core(reader.cq, reader.core);
    nic_core_start(reader.core, 0);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 64);
    pair_post_at(pair, POSTED_PS, qps.qp[0], &wr);
    pair_call_at(pair, 0, WAKE_PS, wake, &reader);
    pair_run(pair);
    // Looks: the first, one that finds the completion, one that finds no other. Where the queue was
    // read, the completion was found before the core was woken, which is one look more.
    ck_assert_uint_eq(reader.looks, reader.taken_ps < WAKE_PS ? 4 : 3);
    ck_assert_uint_gt(reader.taken_ps, POSTED_PS);
    ck_assert_int_eq(reader.taken_ps < WAKE_PS, _i == 0);
    pair_destroy(pair);
    pair_config_fini(&config);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(an_unread_queue_costs_no_looks, 0, 2),
           CHECK_LOOP(any_host_may_have_a_clock, 0, 2),
           CHECK_LOOP(more_cores_have_a_slower_clock, 0, CORES),
           CHECK_TEST(ideal_hosts_have_no_clock))
