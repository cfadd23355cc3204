// SPDX-License-Identifier: Apache-2.0
// Goal: a responder refuses what the standard forbids, with its NAK and its errors at both ends,
// and acknowledges the rest as economically as it may.
// Method: requests with wrong keys, bounds, rights and sizes through the verbs; impossible packet
// sequences injected on the link; ACKs held back by a paused class.
// Source: IBA vol. 1, 9.7.4, 9.9.3. Does not pin: losses (test_nic_acknowledge).
#include "tests/drop_next.h"
#include "tests/nic_pair.h"

#define START_PS UINT64_C(5000)

static pair_config_t config;
static pair_t *pair;
static pair_qp_t qps;

static void set_up(void)
{
    pair_config_init(&config);
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
}

static void tear_down(void)
{
    pair_destroy(pair);
    pair_config_fini(&config);
}

static void check_failed(nic_wc_status_t status, uint32_t nak_code)
{
    ck_assert_uint_eq(pair->done_count[0], 2);
    ck_assert_int_eq(pair->done[0][0].wc.status, status);
    ck_assert_int_eq(pair->done[0][1].wc.status, NIC_WC_WR_FLUSH_ERR);
    ck_assert_int_eq(nic_qp_state(qps.qp[0]), NIC_QPS_ERR);
    ck_assert_int_eq(nic_qp_state(qps.qp[1]), NIC_QPS_ERR);
    const size_t answers = pair_count(pair, 1, ROCE_ACKNOWLEDGE);
    ck_assert_uint_eq(pair_nth(pair, 1, answers - 1)->packet.aeth >> 24,
                      ROCE_SYNDROME_NAK | nak_code);
}

static void post_two(const nic_send_wr_t *wr)
{
    pair_post_at(pair, START_PS, qps.qp[0], wr);
    pair_post_at(pair, START_PS, qps.qp[0], wr);
    pair_run(pair);
}

// -- access

// _i / 2: what is wrong; _i & 1: WRITE or READ.
START_TEST(remote_access_is_checked)
{
    set_up();
    const nic_wr_opcode_t opcode = (_i & 1) != 0 ? NIC_WR_RDMA_READ : NIC_WR_RDMA_WRITE;
    nic_send_wr_t wr = pair_wr(pair, opcode, 10000);
    nic_mr_t *local_only = NULL;
    nic_mr_t *foreign = NULL;
    nic_pd_t *const other = nic_pd_alloc(pair->nic[1]);
    ck_assert_int_eq(
        nic_mr_register(pair->pd[1], PAIR_MEMORY, 20000, NIC_ACCESS_LOCAL_WRITE, &local_only),
        SIM_OK);
    ck_assert_int_eq(nic_mr_register(other, PAIR_MEMORY, 20000, 7, &foreign), SIM_OK);
    switch (_i / 2) {
    case 0:
        wr.rdma.rkey ^= 1; // same region, another generation
        break;
    case 1:
        wr.rdma.remote_addr = PAIR_MEMORY - 1;
        break;
    case 2:
        wr.rdma.remote_addr = PAIR_MEMORY + PAIR_MEMORY_BYTES - 9999;
        break;
    case 3:
        wr.rdma.rkey = nic_mr_rkey(local_only);
        break;
    case 4:
        wr.rdma.rkey = nic_mr_rkey(foreign);
        break;
    case 5:
        nic_mr_deregister(pair->mr[1]);
        break;
    default:
        wr.rdma.remote_addr = UINT64_MAX - 100; // wraps
        break;
    }
    post_two(&wr);
    check_failed(NIC_WC_REM_ACCESS_ERR, ROCE_NAK_REMOTE_ACCESS);
    ck_assert_uint_eq(nic_get_counters(pair->nic[1])->rx_data_bytes, 0);
    ck_assert_uint_eq(nic_get_counters(pair->nic[0])->req_remote_access_errors, 1);
    tear_down();
}
END_TEST

static void no_rights(nic_qp_attr_t *attr)
{
    attr->access = 0;
}

START_TEST(rights_of_the_qp_are_checked)
{
    pair_config_init(&config);
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, no_rights);
    const nic_send_wr_t wr = pair_wr(pair, _i == 0 ? NIC_WR_RDMA_WRITE : NIC_WR_RDMA_READ, 10);
    post_two(&wr);
    check_failed(NIC_WC_REM_ACCESS_ERR, ROCE_NAK_REMOTE_ACCESS);
    tear_down();
}
END_TEST

// The first and the last byte of a region are in it; a message of no bytes needs no region.
START_TEST(bounds_are_exact)
{
    set_up();
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 10);
    wr.rdma.remote_addr = PAIR_MEMORY + PAIR_MEMORY_BYTES - 10;
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 0);
    wr.rdma.rkey = 0;
    wr.sge.lkey = 0;
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 2);
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_SUCCESS);
    ck_assert_int_eq(pair->done[0][1].wc.status, NIC_WC_SUCCESS);
    tear_down();
}
END_TEST

// A READ before it is still answered; then the NAK; then both ends fail.
START_TEST(fatal_nak_waits_for_reads)
{
    set_up();
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_READ, 20000);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 10);
    wr.rdma.rkey = 0xdead;
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_SUCCESS);
    ck_assert_int_eq(pair->done[0][1].wc.status, NIC_WC_REM_ACCESS_ERR);
    ck_assert_int_eq(nic_qp_state(qps.qp[1]), NIC_QPS_ERR);
    tear_down();
}
END_TEST

// -- receives

START_TEST(receive_too_small_fails_both_ends)
{
    set_up();
    pair_post_recvs(pair, &qps, 2, 9999);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_SEND, 10000);
    post_two(&wr);
    check_failed(NIC_WC_REM_INV_REQ_ERR, ROCE_NAK_INVALID_REQUEST);
    ck_assert_uint_eq(pair->done_count[1], 2);
    ck_assert_int_eq(pair->done[1][0].wc.status, NIC_WC_LOC_LEN_ERR);
    ck_assert_int_eq(pair->done[1][1].wc.status, NIC_WC_WR_FLUSH_ERR);
    ck_assert_uint_eq(nic_get_counters(pair->nic[1])->resp_local_length_error, 1);
    tear_down();
}
END_TEST

START_TEST(receive_without_memory_fails_both_ends)
{
    set_up();
    const nic_recv_wr_t receive = {.wr_id = 7, .sge = {PAIR_MEMORY, 100, 0xbad}};
    ck_assert_int_eq(nic_post_recv(qps.qp[1], &receive), SIM_OK);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_SEND, 100);
    post_two(&wr);
    check_failed(NIC_WC_REM_OP_ERR, ROCE_NAK_REMOTE_OPERATION);
    ck_assert_int_eq(pair->done[1][0].wc.status, NIC_WC_LOC_PROT_ERR);
    ck_assert_uint_eq(pair->done[1][0].wc.wr_id, 7);
    tear_down();
}
END_TEST

START_TEST(write_with_immediate_uses_a_receive)
{
    set_up();
    pair_post_recvs(pair, &qps, 1, 0);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE_WITH_IMM, 10000);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[1], 1);
    ck_assert_int_eq(pair->done[1][0].wc.opcode, NIC_WC_RECV_RDMA_WITH_IMM);
    ck_assert_uint_eq(pair->done[1][0].wc.byte_len, 10000);
    ck_assert_uint_eq(pair->done[1][0].wc.imm_data, 0x12345678);
    ck_assert_uint_eq(pair_nth(pair, 0, 2)->packet.opcode, ROCE_WRITE_LAST_IMM);
    tear_down();
}
END_TEST

// -- impossible sequences

typedef struct injected {
    uint8_t opcode;
    uint16_t payload_bytes;
    uint32_t psn;
    uint32_t reth_bytes;
} injected_t;

static void inject(pair_t *self, void *ctx)
{
    const injected_t *const what = ctx;
    net_packet_t *const packet = net_packet_new(
        self->node[0], net_frame_bytes(what->opcode, what->payload_bytes, false, false));
    *packet = (net_packet_t){
        .source = 0,
        .destination = 1,
        .frame_bytes = packet->frame_bytes,
        .payload_bytes = what->payload_bytes,
        .udp_source_port = 0xc000,
        .priority = 3,
        .ttl = 64,
        .opcode = what->opcode,
        .ack_request = true,
        .psn = what->psn,
        .destination_qp = nic_qp_num(qps.qp[1]),
    };
    net_packet_aside(packet)->reth.address = PAIR_MEMORY;
    net_packet_aside(packet)->reth.rkey = nic_mr_rkey(self->mr[1]);
    net_packet_aside(packet)->reth.length = what->reth_bytes;
    net_port_transmit(self->port[0], packet);
}

static const struct {
    injected_t packets[2];
    uint32_t answered; // the packet that is refused
} impossible[] = {
    {{{ROCE_WRITE_MIDDLE, 4096, 0, 0}}, 0},                                      // no FIRST
    {{{ROCE_SEND_LAST, 10, 0, 0}}, 0},                                           //
    {{{ROCE_WRITE_FIRST, 4096, 0, 9000}, {ROCE_SEND_MIDDLE, 4096, 1, 0}}, 1},    // mixed
    {{{ROCE_WRITE_FIRST, 4096, 0, 9000}, {ROCE_WRITE_FIRST, 4096, 1, 9000}}, 1}, // again
    {{{ROCE_WRITE_FIRST, 4096, 0, 9000}, {ROCE_READ_REQUEST, 0, 1, 10}}, 1},     // inside
    {{{ROCE_WRITE_FIRST, 4000, 0, 9000}}, 0},                                    // not full
    {{{ROCE_WRITE_FIRST, 4096, 0, 9000}, {ROCE_WRITE_LAST, 0, 1, 0}}, 1},        // empty LAST
    {{{ROCE_WRITE_FIRST, 4096, 0, 9000}, {ROCE_WRITE_LAST, 100, 1, 0}}, 1},      // too short
    {{{ROCE_WRITE_FIRST, 4096, 0, 5000}, {ROCE_WRITE_MIDDLE, 4096, 1, 0}}, 1},   // too long
    {{{ROCE_WRITE_ONLY, 100, 0, 99}}, 0},                                        //
    {{{ROCE_SEND_ONLY_INVALIDATE, 0, 0, 0}}, 0},                                 // unsupported
};

START_TEST(impossible_sequences_are_invalid_requests)
{
    set_up();
    injected_t packets[2];
    for (uint32_t p = 0; p <= impossible[_i].answered; p++) {
        packets[p] = impossible[_i].packets[p];
        pair_call_at(pair, 0, START_PS + p * SIM_PS_PER_US, inject, &packets[p]);
    }
    pair_run(pair);
    const pair_packet_t *const nak = pair_nth(pair, 1, impossible[_i].answered);
    ck_assert_uint_eq(nak->packet.aeth >> 24, ROCE_SYNDROME_NAK | ROCE_NAK_INVALID_REQUEST);
    ck_assert_uint_eq(nak->packet.psn, impossible[_i].answered);
    ck_assert_int_eq(nic_qp_state(qps.qp[1]), NIC_QPS_ERR);
    tear_down();
}
END_TEST

// -- duplicates and gaps

START_TEST(duplicates_are_acknowledged_again_and_not_executed)
{
    set_up();
    injected_t write = {ROCE_WRITE_ONLY, 100, 0, 100};
    pair_call_at(pair, 0, START_PS, inject, &write);
    pair_call_at(pair, 0, START_PS + SIM_PS_PER_US, inject, &write);
    pair_run(pair);
    ck_assert_uint_eq(nic_get_counters(pair->nic[1])->rx_data_bytes, 100);
    ck_assert_uint_eq(nic_get_counters(pair->nic[1])->duplicate_request, 1);
    ck_assert_uint_eq(pair_count(pair, 1, ROCE_ACKNOWLEDGE), 2);
    ck_assert_uint_eq(pair_nth(pair, 1, 1)->packet.psn, 0);
    ck_assert_uint_eq(pair_nth(pair, 1, 1)->packet.aeth, 0x1f000001);
    tear_down();
}
END_TEST

// A NAK that waits behind READ responses is what the requester needs most: neither the ACK of a
// duplicate (_i 0) nor that of a READ asked again (1: the requester comes to the gap again)
// may leave it without an answer.
START_TEST(held_nak_outlives_duplicates)
{
    set_up();
    const injected_t again = _i == 0 ? (injected_t){ROCE_WRITE_ONLY, 100, 0, 100}
                                     : (injected_t){ROCE_READ_REQUEST, 0, 1, 100 * 4096};
    injected_t packets[] = {
        {ROCE_WRITE_ONLY, 100, 0, 100},
        {ROCE_READ_REQUEST, 0, 1, 100 * 4096}, // PSNs 1 to 100
        {ROCE_WRITE_ONLY, 100, 102, 100},      // 101 is missing
        again,
        {ROCE_WRITE_ONLY, 100, 102, 100}, // and still is
    };
    for (uint64_t i = 0; i < SIM_COUNT_OF(packets); i++) {
        pair_call_at(pair, 0, START_PS + i * SIM_PS_PER_US, inject, &packets[i]);
    }
    pair_run(pair);
    ck_assert_uint_eq(pair_count(pair, 1, ROCE_ACKNOWLEDGE), 2); // of the WRITE, and of the gap
    const pair_packet_t *const last = &pair->wire[pair->wire_count - 1];
    ck_assert_uint_eq(last->host, 1);
    ck_assert_uint_eq(last->packet.opcode, ROCE_ACKNOWLEDGE);
    ck_assert_uint_eq(last->packet.aeth >> 24, ROCE_SYNDROME_NAK | ROCE_NAK_PSN_SEQUENCE);
    ck_assert_uint_eq(last->packet.psn, 101);
    tear_down();
}
END_TEST

// A held NAK is out of date when what it misses comes before it could be sent.
START_TEST(held_nak_gives_way_to_what_it_asked_for)
{
    set_up();
    injected_t packets[] = {
        {ROCE_READ_REQUEST, 0, 0, 100 * 4096}, // PSNs 0 to 99
        {ROCE_WRITE_ONLY, 100, 101, 100},
        {ROCE_WRITE_ONLY, 100, 100, 100},
        {ROCE_WRITE_ONLY, 100, 101, 100},
    };
    for (uint64_t i = 0; i < SIM_COUNT_OF(packets); i++) {
        pair_call_at(pair, 0, START_PS + i * SIM_PS_PER_US, inject, &packets[i]);
    }
    pair_run(pair);
    ck_assert_uint_eq(pair_count(pair, 1, ROCE_ACKNOWLEDGE), 1);
    const pair_packet_t *const last = &pair->wire[pair->wire_count - 1];
    ck_assert_uint_eq(last->packet.aeth, 0x1f000003);
    ck_assert_uint_eq(last->packet.psn, 101);
    tear_down();
}
END_TEST

// _i 0: one NAK per gap; 1: another after the interval.
START_TEST(gap_is_named_once_per_interval)
{
    pair_config_init(&config);
    config.nic.nak_interval_ps = _i == 0 ? 0 : 3 * SIM_PS_PER_US;
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    injected_t write = {ROCE_WRITE_ONLY, 100, 5, 100};
    for (uint64_t i = 0; i < 8; i++) {
        pair_call_at(pair, 0, START_PS + i * SIM_PS_PER_US, inject, &write);
    }
    pair_run(pair);
    ck_assert_uint_eq(nic_get_counters(pair->nic[1])->out_of_sequence, 8);
    ck_assert_uint_eq(pair_count(pair, 1, ROCE_ACKNOWLEDGE), _i == 0 ? 1 : 3); // at 0, 3, 6 us
    ck_assert_uint_eq(pair_nth(pair, 1, 0)->packet.psn, 0);
    tear_down();
}
END_TEST

// -- economy

static void pause(pair_t *self, void *ctx)
{
    (void)ctx;
    self->port[1]->paused = 1u << 3;
}

static void resume(pair_t *self, void *ctx)
{
    (void)ctx;
    self->port[1]->paused = 0;
    net_port_wake(self->port[1]);
}

// ACKs that cannot leave become one, that of the newest; a NAK stays a packet of its own.
START_TEST(waiting_acks_become_one)
{
    set_up();
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 10 * 4096);
    pair_post_at(pair, START_PS, qps.qp[0], &wr);
    pair_call_at(pair, 1, 100, pause, NULL);
    pair_call_at(pair, 1, 100 * SIM_PS_PER_US, resume, NULL);
    if (_i == 1) {
        test_drop_next(pair->port[0], 9);
    }
    pair_run(pair);
    ck_assert_uint_eq(pair_nth(pair, 1, 0)->time_ps, 100 * SIM_PS_PER_US);
    if (_i == 0) {
        ck_assert_uint_eq(pair_count(pair, 1, ROCE_ACKNOWLEDGE), 1);
        ck_assert_uint_eq(pair_nth(pair, 1, 0)->packet.psn, 9);
        ck_assert_uint_eq(pair_nth(pair, 1, 0)->packet.aeth, 0x1f000001);
        // It echoes the time of the packet it names.
        ck_assert_uint_eq(pair_nth(pair, 1, 0)->packet.sent_ps, pair_nth(pair, 0, 9)->time_ps);
    } else {
        ck_assert_uint_eq(pair_nth(pair, 1, 0)->packet.psn, 7);
        ck_assert_uint_eq(pair_nth(pair, 1, 0)->packet.aeth >> 24, 0x1f);
        ck_assert_uint_eq(pair_nth(pair, 1, 1)->packet.psn, 8);
        ck_assert_uint_eq(pair_nth(pair, 1, 1)->packet.aeth >> 24, ROCE_SYNDROME_NAK);
    }
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_SUCCESS);
    tear_down();
}
END_TEST

CHECK_MAIN(CHECK_LOOP(remote_access_is_checked, 0, 14),
           CHECK_LOOP(rights_of_the_qp_are_checked, 0, 2), CHECK_TEST(bounds_are_exact),
           CHECK_TEST(fatal_nak_waits_for_reads), CHECK_TEST(receive_too_small_fails_both_ends),
           CHECK_TEST(receive_without_memory_fails_both_ends),
           CHECK_TEST(write_with_immediate_uses_a_receive),
           CHECK_LOOP(impossible_sequences_are_invalid_requests, 0, 11),
           CHECK_TEST(duplicates_are_acknowledged_again_and_not_executed),
           CHECK_LOOP(held_nak_outlives_duplicates, 0, 2),
           CHECK_TEST(held_nak_gives_way_to_what_it_asked_for),
           CHECK_LOOP(gap_is_named_once_per_interval, 0, 2),
           CHECK_LOOP(waiting_acks_become_one, 0, 2))
