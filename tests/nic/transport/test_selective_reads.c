// SPDX-License-Identifier: Apache-2.0
// test_selective_reads.c - READs over a path that loses responses, with the transports
// that repair them one by one.
//
// Goal: of a READ only the responses that were lost come again, each once for each time that it
// was lost; a stretch of them is one request, for its PSNs alone; they cost a round trip for each
// round of losses, and no timer fires unless the last of what is on its way was lost. Under bursts
// requests are as few as those.
// Method: two hosts 20 us apart, responses lost at random; everything sent is written down, and
// each PSN's responses counted. Stamped on every transport of RoCE but the first.
// Not pinned: contents (test_transport_torture); lost requests (test_single_loss).
#include "net/loss.h"
#include "nic/transport.h"
#include "tests/nic_pair.h"

#define MTU UINT64_C(1024)
#define PACKETS UINT64_C(400)
#define DELAY_PS (20 * SIM_PS_PER_US)

typedef struct outcome {
    uint64_t asked; // READ requests after the first
    uint64_t lost;  // responses
    uint64_t extra; // responses beyond one for each PSN and one for each loss
    uint64_t timeouts;
    sim_time_t end_ps;
} outcome_t;

static bool is_response(const net_packet_t *packet)
{
    return packet->opcode >= ROCE_READ_RESPONSE_FIRST && packet->opcode <= ROCE_READ_RESPONSE_ONLY;
}

static void look(const pair_t *pair, outcome_t *outcome)
{
    uint64_t sent[PACKETS] = {0};
    const uint32_t first_psn = pair->wire[0].packet.psn;
    uint64_t responses = 0;
    for (size_t i = 0; i < pair->wire_count; i++) {
        const pair_packet_t *const at = &pair->wire[i];
        const uint32_t place = (at->packet.psn - first_psn) & ROCE_PSN_MASK;
        if (at->packet.opcode == ROCE_READ_REQUEST && i > 0) {
            outcome->asked++;
            // For what was sent, and lost: nothing beyond it.
            const uint32_t length = at->aside.reth.length;
            for (uint32_t p = place; outcome->timeouts == 0 && p * MTU < place * MTU + length;
                 p++) {
                ck_assert_msg(p < PACKETS && sent[p] > 0, "PSN %u is asked for before it is lost",
                              p);
            }
        } else if (is_response(&at->packet)) {
            ck_assert_uint_lt(place, PACKETS);
            sent[place]++;
            responses++;
            outcome->lost += at->dropped;
        }
    }
    outcome->extra = responses - PACKETS - outcome->lost;
}

static outcome_t run(int transport, uint32_t seed, sim_ratio_t rate, uint32_t model)
{
    outcome_t outcome = {0};
    pair_config_t config;
    pair_config_init(&config);
    sim_free(config.nic.transport);
    config.nic.transport = sim_strdup(nic_transport_all[1 + transport]->name);
    config.nic.mtu_bytes = MTU;
    config.nic.timeout = 14;
    config.until_ps = SIM_PS_PER_S;
    config.link.delay_ps = DELAY_PS;
    config.link.loss_rate = rate;
    config.link.loss_model = model;
    config.link.loss_packets = NET_LOSS_OF_DATA;
    config.link.loss_direction = NET_LOSS_BACKWARD;
    pair_t *const pair = pair_create(&config);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_READ, PACKETS * MTU);
    pair_post_at(pair, 1000 + seed, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_int_eq(pair->ended, SIM_ENDED_DONE);
    ck_assert_uint_eq(pair->done_count[0], 1);
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_SUCCESS);
    ck_assert_uint_eq(nic_get_counters(pair->nic[0])->rx_data_bytes, PACKETS * MTU);
    outcome.end_ps = pair->done[0][0].time_ps;
    outcome.timeouts = nic_get_counters(pair->nic[0])->local_ack_timeout_err;
    look(pair, &outcome);
    pair_destroy(pair);
    pair_config_fini(&config);
    return outcome;
}

// Returns how many transports behind the first have READ responses of RoCE; those of Ultra Ethernet
// come last.
static int transports(void)
{
    int count = 0;
    while (nic_transport_all[1 + count] != NULL && nic_transport_all[1 + count]->wire == 0) {
        count++;
    }
    return count;
}

static const sim_ratio_t none = {0, 1};

START_TEST(only_lost_responses_come_again)
{
    const outcome_t whole = run(_i, 0, none, NET_LOSS_INDEPENDENT);
    ck_assert_uint_eq(whole.asked + whole.lost + whole.extra + whole.timeouts, 0);
    uint64_t quiet = 0;
    uint64_t lost = 0;
    for (uint64_t rate = 1; rate <= 30; rate++) {
        const outcome_t outcome = run(_i, 0, (sim_ratio_t){rate, 500}, NET_LOSS_INDEPENDENT);
        lost += outcome.lost;
        ck_assert_uint_le(outcome.asked, outcome.lost + 2 * outcome.timeouts);
        if (outcome.timeouts != 0) {
            continue; // the last one that was asked for was lost
        }
        quiet++;
        ck_assert_msg(outcome.extra == 0, "%" PRIu64 " of 500 lost: %" PRIu64 " too many", rate,
                      outcome.extra);
        // So many rounds are not needed: 6 % lost three times in a row, of 400.
        ck_assert_uint_le(outcome.end_ps, whole.end_ps + 5 * 2 * (DELAY_PS + 2 * SIM_PS_PER_US));
    }
    ck_assert_uint_ge(quiet, 12);
    ck_assert_uint_ge(lost, 200);
}
END_TEST

START_TEST(a_burst_is_one_request)
{
    uint64_t lost = 0;
    uint64_t asked = 0;
    for (uint64_t rate = 1; rate <= 20; rate++) {
        const outcome_t outcome = run(_i, 0, (sim_ratio_t){rate, 400}, NET_LOSS_BURSTS);
        lost += outcome.timeouts == 0 ? outcome.lost : 0;
        asked += outcome.timeouts == 0 ? outcome.asked : 0;
        ck_assert(outcome.timeouts != 0 || outcome.extra == 0);
    }
    ck_assert_uint_ge(lost, 50);
    ck_assert_uint_le(asked * 5, lost); // bursts are of ten
}
END_TEST

CHECK_MAIN(CHECK_LOOP(only_lost_responses_come_again, 0, transports()),
           CHECK_LOOP(a_burst_is_one_request, 0, transports()))
