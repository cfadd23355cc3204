// SPDX-License-Identifier: Apache-2.0
// test_irn_reach.c - IRN never has more under way than the receiver's bitmap reaches.
//
// Goal: with nic.irn.bits below the window nothing is dropped, sent again or timed out: a WRITE of
// N packets takes the time of a window of `bits` packets, also where few packets ask for an ACK.
// Method: closed form of a sliding window on an idle path, each packet acknowledged; of one that
// opens when it is through, where only the packet that closes it is.
// Not pinned: loss (test_irn_rules, test_transport_torture).
#include "nic/transport.h"
#include "tests/nic_pair.h"

#define PACKETS 300u
#define MTU 4096u
#define DELAY_PS (50 * SIM_PS_PER_US)
#define FRAME_BYTES (PAIR_HEADERS + 16u + MTU) // with a RETH in each packet of a WRITE

static const uint32_t reaches[] = {1, 2, 7, 64, 100, 250};

// Runs a WRITE of PACKETS; nothing may be lost, retransmitted or timed out. Returns when it
// completed.
static sim_time_t time_of_write(uint32_t bits, uint32_t ack_interval)
{
    char text[16];
    snprintf(text, sizeof(text), "%u", bits);
    pair_config_t config;
    pair_config_init(&config);
    config.link.delay_ps = DELAY_PS;
    config.nic.mtu_bytes = MTU;
    config.nic.ack_interval = ack_interval;
    sim_free(config.nic.transport);
    config.nic.transport = sim_strdup("irn");
    const sim_attr_table_t *const table = nic_transport_irn.attrs;
    sim_message_t message;
    ck_assert_int_eq(sim_attr_set(sim_attr_find(table, "nic.irn.bits"),
                                  nic_config_part(&config.nic, table), text, &message),
                     SIM_OK);
    pair_t *const pair = pair_create(&config);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, PACKETS * MTU);
    pair_post_at(pair, 1000, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 1);
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_SUCCESS);
    nic_transport_totals_t totals = {0};
    nic_transport_add_totals(pair->nic[0], &totals);
    nic_transport_add_totals(pair->nic[1], &totals);
    ck_assert_uint_eq(totals.dropped, 0);
    ck_assert_uint_eq(totals.timeouts, 0);
    ck_assert_uint_eq(totals.retransmitted, 0);
    const sim_time_t took_ps = pair->done[0][0].time_ps;
    pair_destroy(pair);
    pair_config_fini(&config);
    return took_ps;
}

static void check_time(uint32_t bits, sim_time_t took_ps, sim_time_t want_ps)
{
    ck_assert_msg(took_ps > want_ps && took_ps - want_ps < want_ps / 1000,
                  "%u bits: %" PRIu64 " ps, expected %" PRIu64, bits, took_ps, want_ps);
}

// Returns the time from a packet to its ACK.
static sim_time_t round_ps(void)
{
    return (sim_time_t)(FRAME_BYTES + PAIR_ACK_BYTES + 24) * PAIR_BYTE_PS + 2 * DELAY_PS;
}

START_TEST(bits_are_the_window)
{
    const uint32_t bits = reaches[_i];
    check_time(bits, time_of_write(bits, 1),
               ((PACKETS - 1) / bits + 1) * round_ps() +
                   (PACKETS - 1) % bits * pair_frame_ps(FRAME_BYTES));
}
END_TEST

START_TEST(what_closes_the_window_asks_for_an_ack)
{
    const uint32_t bits = reaches[_i];
    const uint32_t rounds = (PACKETS - 1) / bits + 1;
    check_time(bits, time_of_write(bits, PACKETS),
               rounds * round_ps() + (PACKETS - rounds) * pair_frame_ps(FRAME_BYTES));
}
END_TEST

CHECK_MAIN(CHECK_LOOP(bits_are_the_window, 0, SIM_COUNT_OF(reaches)),
           CHECK_LOOP(what_closes_the_window_asks_for_an_ack, 0, SIM_COUNT_OF(reaches)))
