// SPDX-License-Identifier: Apache-2.0
// tests/walk/walk.c - posts one work request between two hosts and writes down each function of
// nic/ that is entered until both have come to rest. Built and run by tools/walk.
//
// Lines "@HOST TIME_PS" say when and where what follows happens; others are addresses.
#include "tests/nic_pair.h"

#define UNTRACED __attribute__((no_instrument_function))

UNTRACED void __cyg_profile_func_enter(void *function, void *from);
UNTRACED void __cyg_profile_func_exit(void *function, void *from);

static FILE *entered; // NULL: nobody looks
static const pair_t *walked;
static sim_time_t told_ps[2];

void __cyg_profile_func_enter(void *function, void *from)
{
    (void)from;
    if (entered == NULL) {
        return;
    }
    for (uint32_t host = 0; host < 2; host++) {
        const sim_time_t now_ps = walked->node[host]->sim.now_ps;
        if (now_ps != told_ps[host]) {
            told_ps[host] = now_ps;
            fprintf(entered, "@%u %" PRIu64 "\n", host, now_ps);
        }
    }
    fprintf(entered, "%p\n", function);
}

void __cyg_profile_func_exit(void *function, void *from)
{
    (void)function;
    (void)from;
}

UNTRACED static void walk(nic_wr_opcode_t opcode, uint64_t bytes)
{
    pair_config_t config;
    pair_config_init(&config);
    config.nic.model = strcmp(getenv("WALK_MODEL"), "ideal") == 0 ? NIC_IDEAL : NIC_DETAILED;
    pair_t *const pair = pair_create(&config);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    pair_post_recvs(pair, &qps, 1, bytes);
    nic_send_wr_t wr = pair_wr(pair, opcode, bytes);
    pair_post_at(pair, 10 * SIM_PS_PER_US, qps.qp[0], &wr);
    walked = pair;
    entered = fopen(getenv("WALK_OUT"), "w");
    SIM_CHECK(entered != NULL);
    pair_run(pair);
    SIM_CHECK(fclose(entered) == 0);
    entered = NULL;
    ck_assert_uint_eq(pair->done_count[0], 1);
    pair_destroy(pair);
    pair_config_fini(&config);
}

START_TEST(write)
{
    walk(NIC_WR_RDMA_WRITE, 256);
}
END_TEST

START_TEST(read)
{
    walk(NIC_WR_RDMA_READ, 256);
}
END_TEST

START_TEST(send)
{
    walk(NIC_WR_SEND, 256);
}
END_TEST

START_TEST(atomic)
{
    walk(NIC_WR_ATOMIC_FETCH_AND_ADD, 8);
}
END_TEST

CHECK_MAIN(CHECK_TEST(write), CHECK_TEST(read), CHECK_TEST(send), CHECK_TEST(atomic))
