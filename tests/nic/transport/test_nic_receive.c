// SPDX-License-Identifier: Apache-2.0
// Goal: the notification point: a marked data packet makes a CNP to its sender, one per flow and
// interval, whatever counts as a flow; CNPs are counted where they arrive.
// Method: marked packets injected on the link, CNPs counted on the wire. Does not pin: what the
// sender does about them (test_cc_dcqcn), marking (switch tests).
#include "tests/nic_pair.h"

static pair_config_t config;
static pair_t *pair;
static pair_qp_t qps[2];

typedef struct marked {
    uint32_t qp; // of qps
    uint32_t psn;
    uint8_t ecn;
    uint16_t payload_bytes;
} marked_t;

static void inject(pair_t *self, void *ctx)
{
    const marked_t *const what = ctx;
    const uint8_t opcode = ROCE_WRITE_ONLY;
    net_packet_t *const packet =
        net_packet_new(self->node[0], net_frame_bytes(opcode, what->payload_bytes, false, false));
    *packet = (net_packet_t){
        .destination = 1,
        .frame_bytes = packet->frame_bytes,
        .payload_bytes = what->payload_bytes,
        .priority = 3,
        .ttl = 64,
        .ecn = what->ecn & 3u,
        .opcode = opcode,
        .psn = what->psn,
        .destination_qp = nic_qp_num(qps[what->qp].qp[1]),
    };
    net_packet_aside(packet)->reth.address = PAIR_MEMORY;
    net_packet_aside(packet)->reth.rkey = nic_mr_rkey(self->mr[1]);
    net_packet_aside(packet)->reth.length = what->payload_bytes;
    net_port_transmit(self->port[0], packet);
}

static void set_up(uint32_t scope)
{
    pair_config_init(&config);
    config.nic.cnp_scope = scope;
    config.nic.cnp_interval_ps = 4 * SIM_PS_PER_US;
    pair = pair_create(&config);
    pair_connect(pair, &qps[0], NIC_QPT_RC, NULL);
    pair_connect(pair, &qps[1], NIC_QPT_RC, NULL);
}

static void tear_down(void)
{
    pair_destroy(pair);
    pair_config_fini(&config);
}

// Ten marked packets a microsecond apart for each of two QPs: at 0, 4 and 8 us a CNP is due, for
// each QP where QPs count, else once.
START_TEST(cnps_keep_their_interval)
{
    set_up((uint32_t)_i);
    marked_t packets[20];
    for (uint32_t i = 0; i < 20; i++) {
        packets[i] = (marked_t){i % 2, i / 2, NET_ECN_CE, 100};
        pair_call_at(pair, 0, SIM_PS_PER_US * (i / 2 + 1) + (i % 2) * 100 * SIM_PS_PER_NS, inject,
                     &packets[i]);
    }
    pair_run(pair);
    const uint64_t expected = _i == NIC_CNP_PER_QP ? 6 : 3;
    ck_assert_uint_eq(pair_count(pair, 1, ROCE_CNP), expected);
    ck_assert_uint_eq(nic_get_counters(pair->nic[1])->np_cnp_sent, expected);
    ck_assert_uint_eq(nic_get_counters(pair->nic[1])->np_ecn_marked_roce_packets, 20);
    ck_assert_uint_eq(nic_get_counters(pair->nic[0])->rp_cnp_ignored, expected);
    tear_down();
}
END_TEST

START_TEST(cnp_is_what_the_annex_says)
{
    set_up(NIC_CNP_PER_QP);
    marked_t packet = {1, 0, NET_ECN_CE, 100};
    pair_call_at(pair, 0, 1000, inject, &packet);
    pair_run(pair);
    const net_packet_t *const cnp = &pair_nth(pair, 1, 0)->packet;
    ck_assert_uint_eq(cnp->opcode, ROCE_CNP);
    ck_assert(cnp->becn);
    ck_assert_uint_eq(cnp->psn, 0);
    ck_assert_uint_eq(cnp->destination_qp, nic_qp_num(qps[1].qp[0]));
    ck_assert_uint_eq(cnp->priority, 6);
    ck_assert_uint_eq(cnp->dscp, 48);
    ck_assert_uint_eq(cnp->frame_bytes, PAIR_HEADERS + 16);
    tear_down();
}
END_TEST

START_TEST(only_marked_data_makes_cnps)
{
    set_up(NIC_CNP_PER_QP);
    marked_t unmarked = {0, 0, NET_ECN_ECT0, 100};
    marked_t empty = {0, 1, NET_ECN_CE, 0};
    pair_call_at(pair, 0, 1000, inject, &unmarked);
    pair_call_at(pair, 0, SIM_PS_PER_US, inject, &empty);
    pair_run(pair);
    ck_assert_uint_eq(pair_count(pair, 1, ROCE_CNP), 0);
    tear_down();
}
END_TEST

typedef struct answer {
    uint8_t opcode;
    uint32_t qp_num;
} answer_t;

static void inject_answer(pair_t *self, void *ctx)
{
    const answer_t *const what = ctx;
    net_packet_t *const packet =
        net_packet_new(self->node[0], net_frame_bytes(what->opcode, 0, false, false));
    *packet = (net_packet_t){
        .destination = 1,
        .frame_bytes = packet->frame_bytes,
        .priority = 3,
        .ttl = 64,
        .opcode = what->opcode,
        .destination_qp = what->qp_num,
    };
    net_port_transmit(self->port[0], packet);
}

static void destroy_one(pair_t *self, void *ctx)
{
    (void)self;
    nic_qp_destroy(*(nic_qp_t **)ctx);
}

// Late answers for a destroyed QP count as received. Requests for it, and any packet for a QP that
// never existed, are dropped.
START_TEST(late_answers_are_no_drops)
{
    static const struct {
        uint8_t opcode;
        bool is_answer;
    } cases[] = {
        {ROCE_ACKNOWLEDGE, true},
        {ROCE_READ_RESPONSE_ONLY, true},
        {ROCE_CNP, true},
        {ROCE_SEND_ONLY, false},
    };
    set_up(NIC_CNP_PER_QP);
    const uint32_t gone = nic_qp_num(qps[0].qp[1]);
    const uint32_t alive = nic_qp_num(qps[1].qp[1]);
    answer_t late = {cases[_i].opcode, gone};
    answer_t never = {cases[_i].opcode, alive + 1};
    answer_t far = {cases[_i].opcode, 0xfffffe};
    answer_t reserved = {cases[_i].opcode, 1};
    pair_call_at(pair, 1, 1000, destroy_one, &qps[0].qp[1]);
    pair_call_at(pair, 0, SIM_PS_PER_US, inject_answer, &late);
    pair_call_at(pair, 0, 2 * SIM_PS_PER_US, inject_answer, &never);
    pair_call_at(pair, 0, 3 * SIM_PS_PER_US, inject_answer, &far);
    pair_call_at(pair, 0, 4 * SIM_PS_PER_US, inject_answer, &reserved);
    pair_run(pair);
    const uint64_t late_answers = cases[_i].is_answer ? 1 : 0;
    ck_assert_uint_eq(nic_get_counters(pair->nic[1])->late_answers, late_answers);
    ck_assert_uint_eq(pair->port[1]->rare->drops[NET_DROP_HOST], 4 - late_answers);
    tear_down();
}
END_TEST

CHECK_MAIN(CHECK_LOOP(late_answers_are_no_drops, 0, 4), CHECK_LOOP(cnps_keep_their_interval, 0, 3),
           CHECK_TEST(cnp_is_what_the_annex_says), CHECK_TEST(only_marked_data_makes_cnps))
