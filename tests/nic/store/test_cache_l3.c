// SPDX-License-Identifier: Apache-2.0
// labels: clang
// test_cache_l3.c - whole contexts lie in pages of host memory, and the NIC works with their bytes.
//
// Goal: each object has a slot from its creation to its end, and its page is freed with the last
// one. The slot has addresses, timers and rights as the verbs set them, and counters of the last
// write-back. A fetch takes the bytes of the page: with a wrong PSN there the receiver refuses a
// packet, and a wrong right ends the program. Moves through all tiers keep every other byte, and a
// reset of the NIC loses none.
// Method: few entries of L1, so that other queue pairs push a token to the host; bytes of pages
// compared with the verbs' answers and a packet on the wire, or changed between operations.
// Not pinned: what a move costs (tests/nic/store/test_cache.c).
#include "kernel/bytes.h"
#include "net/packets.h"
#include "nic/store/tiered/tiered.h"
#include "tests/nic_pair.h"

#define QPS 20u
#define STEP_PS (10 * SIM_PS_PER_US)

static pair_config_t config;
static pair_t *pair;
static pair_qp_t qps[QPS];

static tiered_t *tiered(void)
{
    return (tiered_t *)(void *)nic_store_of(pair->nic[0]);
}

static void set_up(bool compression, uint64_t l2_bytes)
{
    pair_config_init(&config);
    config.nic.model = NIC_DETAILED;
    nic_cache_config_t *const cache = &config.nic.cache;
    sim_free(cache->policy);
    cache->policy = sim_strdup("lru");
    cache->compression = compression;
    cache->l1_entries = 40; // compressed: room for all; else for four
    cache->l1_other_entries = 64;
    cache->l2_bytes = l2_bytes;
}

static void set_attributes(nic_qp_attr_t *attr)
{
    attr->path_mtu = 2048;
    attr->timeout = 15;
    attr->retry_cnt = 5;
    attr->dscp = 26;
}

static void connect(void)
{
    pair = pair_create(&config);
    for (uint32_t i = 0; i < QPS; i++) {
        pair_connect(pair, &qps[i], NIC_QPT_RC, set_attributes);
    }
}

static void tear_down(void)
{
    pair_destroy(pair);
    pair_config_fini(&config);
}

static tiered_token_t *token_of(nic_token_type_t type, uint64_t key)
{
    const uint32_t number = nic__tiered_find(tiered(), type, key);
    ck_assert_uint_ne(number, TIERED_NONE);
    return &tiered()->tokens[number];
}

static uint8_t *page_of(const tiered_token_t *token)
{
    return nic_l3_context(&tiered()->l3[token->type], token->index);
}

static nic_context_t context_of(nic_token_type_t type, uint64_t key)
{
    nic_context_t context;
    ck_assert(
        nic_context_decode(type, page_of(token_of(type, key)), nic_context_bytes(type), &context));
    return context;
}

static void posts(uint32_t qp, uint32_t first, uint32_t count)
{
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 8);
    for (uint32_t i = 0; i < count; i++) {
        pair_post_at(pair, (first + i) * STEP_PS, qps[qp].qp[0], &wr);
    }
}

// Uses all queue pairs but the first one, so that this one leaves L1.
static void push_out(uint32_t first)
{
    for (uint32_t i = 1; i < QPS; i++) {
        posts(i, first + i, 1);
    }
}

// -- what the verbs set lies in pages

START_TEST(pages_hold_what_the_verbs_set)
{
    set_up(_i == 0, 1500);
    connect();
    ck_assert_uint_eq(tiered()->l3[NIC_TOKEN_QP].used_slots, QPS);
    ck_assert_uint_eq(tiered()->l3[NIC_TOKEN_QP].pages_used, (QPS + 15) / 16);
    posts(3, 1, 1);
    pair_run(pair);
    for (uint32_t i = 0; i < QPS; i++) {
        const nic_qp_t *const qp = qps[i].qp[0];
        const nic_qp_context_t its = context_of(NIC_TOKEN_QP, nic_qp_num(qp)).qp;
        ck_assert_uint_eq(its.qpn, nic_qp_num(qp));
        ck_assert_uint_eq(its.state, NIC_QPS_RTS);
        ck_assert_uint_eq(its.remote_qpn, nic_qp_num(qps[i].qp[1]));
        ck_assert_uint_eq(its.mtu_bytes, 2048);
        ck_assert_uint_eq(its.timeout, 15);
        ck_assert_uint_eq(its.retry, 5);
        ck_assert_uint_eq(its.dscp, 26);
        ck_assert_uint_eq(its.udp_source_port, nic_qp_udp_source_port(qp));
        uint8_t bytes[44];
        net_port_mac(pair->port[1], &bytes[0]);
        net_port_mac(pair->port[0], &bytes[6]);
        net_interface_ip(pair->net, 1, &bytes[12]);
        net_interface_ip(pair->net, 0, &bytes[28]);
        ck_assert_mem_eq(its.address_path, bytes, sizeof(bytes));
        ck_assert_uint_eq(its.hop_limit, pair->wire[0].packet.ttl);
        ck_assert_uint_eq(
            nic__tiered_record(tiered(), token_of(NIC_TOKEN_QP, nic_qp_num(qp)))->owner, 1);
    }
    const nic_mr_context_t mr = context_of(NIC_TOKEN_MR, nic_mr_lkey(pair->mr[0])).mr;
    ck_assert_uint_eq(mr.address, PAIR_MEMORY);
    ck_assert_uint_eq(mr.length_bytes, PAIR_MEMORY_BYTES);
    ck_assert_uint_ne(mr.table_address, 0);
    tear_down();
}
END_TEST

START_TEST(pages_go_with_their_objects)
{
    set_up(true, 1500);
    connect();
    const nic_l3_t *const l3 = &tiered()->l3[NIC_TOKEN_QP];
    nic_l3_record(l3, token_of(NIC_TOKEN_QP, nic_qp_num(qps[7].qp[0]))->index)->fetches = 9;
    for (uint32_t i = 0; i < QPS; i++) {
        ck_assert_uint_eq(l3->used_slots, QPS - i);
        nic_qp_destroy(qps[i].qp[0]);
    }
    ck_assert_uint_eq(l3->pages_used, 0);
    ck_assert(nic_l3_check(l3, 0));
    for (uint32_t page = 0; page < l3->page_capacity; page++) {
        ck_assert_ptr_null(l3->pages[page]);
    }
    for (uint32_t i = 0; i < QPS; i++) { // nothing of those before is left
        qps[i].qp[0] = pair_make_qp(pair, 0, NIC_QPT_RC, 0);
        const tiered_token_t *const token = token_of(NIC_TOKEN_QP, nic_qp_num(qps[i].qp[0]));
        const nic_record_t *const record = nic__tiered_record(tiered(), token);
        ck_assert_uint_eq(record->fetches + record->changes + record->finished, 0);
        ck_assert_uint_eq(context_of(NIC_TOKEN_QP, nic_qp_num(qps[i].qp[0])).qp.remote_qpn, 0);
    }
    nic_mr_t *mr = NULL;
    const uint32_t regions = tiered()->l3[NIC_TOKEN_MR].used_slots;
    ck_assert_int_eq(nic_mr_register(pair->pd[0], UINT64_C(1) << 40, 4096, 0, &mr), SIM_OK);
    ck_assert_uint_eq(tiered()->l3[NIC_TOKEN_MR].used_slots, regions + 1);
    nic_mr_deregister(mr);
    ck_assert_uint_eq(tiered()->l3[NIC_TOKEN_MR].used_slots, regions);
    tear_down();
}
END_TEST

// -- what is written back, and what stays

static uint8_t before[NIC_CONTEXT_BYTES_MAX];
static uint32_t layers; // a bit for each tier in which the first queue pair was seen

static void look(pair_t *self, void *ctx)
{
    (void)self;
    (void)ctx;
    layers |= 1u << token_of(NIC_TOKEN_QP, nic_qp_num(qps[0].qp[0]))->cell.entry.layer;
}

// The token goes to L1 and back, through L2 or not: in its context only the hot word has changed,
// and the record has the counters. With a reset, the first queue pair is used again after that.
START_TEST(moves_keep_all_bytes_and_counters)
{
    const bool compressed = _i < 3;
    set_up(compressed, _i == 1 ? 100 : 0);
    config.nic.cache.l2_slots = 4; // L2 has one page
    config.nic.cache.l1_entries = compressed ? 4 : 40;
    config.nic.cache.reset_ps = _i == 2 ? 100 * STEP_PS : SIM_TIME_NEVER;
    layers = 0;
    connect();
    const uint32_t number = nic_qp_num(qps[0].qp[0]);
    memcpy(before, page_of(token_of(NIC_TOKEN_QP, number)), sizeof(before));
    posts(0, 1, 5);
    pair_call_at(pair, 0, 6 * STEP_PS, look, NULL);
    push_out(10);
    for (uint32_t i = 10; i < 10 + QPS; i++) {
        pair_call_at(pair, 0, i * STEP_PS + STEP_PS / 2, look, NULL);
    }
    posts(0, 110, 2);
    push_out(120);
    pair_run(pair);
    ck_assert_uint_eq(layers,
                      1u << NIC_LAYER_L1 | 1u << NIC_LAYER_L3 | (_i == 1 ? 1u << NIC_LAYER_L2 : 0));
    tiered_token_t *const token = token_of(NIC_TOKEN_QP, number);
    ck_assert_uint_eq(token->cell.entry.layer, NIC_LAYER_L3);
    ck_assert_uint_eq(token->cell.entry.token_offset, token->index);
    uint8_t *const word = nic__tiered_host_word(tiered(), token);
    const nic_small_fields_t fields = nic_small_fields_unpack(sim_get_le64(word));
    ck_assert_uint_eq(fields.send_psn, nic_device_context(qps[0].qp[0]).send_psn);
    ck_assert_mem_ne(word, &before[32], 8);
    memcpy(&before[nic_context_hot_offset(NIC_TOKEN_QP)], word, NIC_SMALL_FIELDS_BYTES);
    ck_assert_mem_eq(page_of(token), before, sizeof(before));
    const nic_record_t *const record = nic__tiered_record(tiered(), token);
    ck_assert_uint_eq(record->finished, 7);
    ck_assert_uint_eq(record->fetches, 2);
    ck_assert_uint_eq(record->changes, token->changes);
    ck_assert_uint_ge(record->changes, 7);
    ck_assert_uint_gt(record->written_ps, 110 * STEP_PS);
    // A reset loses what others have in L1.
    ck_assert((tiered()->counters.lost_writes != 0) == (_i == 2));
    tear_down();
}
END_TEST

// -- the NIC works with the bytes of the page

// Changes the PSN that the receiver expects, in the page of host 1.
static void forge_psn(pair_t *self, void *ctx)
{
    (void)ctx;
    tiered_t *const store = (tiered_t *)(void *)nic_store_of(self->nic[1]);
    const uint32_t number = nic__tiered_find(store, NIC_TOKEN_QP, nic_qp_num(qps[0].qp[1]));
    ck_assert_uint_ne(number, TIERED_NONE);
    tiered_token_t *const token = &store->tokens[number];
    ck_assert_uint_eq(token->cell.entry.layer, NIC_LAYER_L3);
    uint8_t *const word = nic__tiered_host_word(store, token);
    nic_small_fields_t fields = nic_small_fields_unpack(sim_get_le64(word));
    fields.receive_psn += 7;
    token->contents = nic_small_fields_pack(&fields);
    sim_put_le64(word, token->contents);
}

START_TEST(a_psn_of_the_page_is_expected)
{
    set_up(_i % 2 == 0, 0);
    config.nic.cache.l1_entries = _i % 2 == 0 ? 4 : 40;
    config.until_ps = 200 * STEP_PS;
    connect();
    const uint32_t first_psn = nic_device_context(qps[0].qp[0]).send_psn;
    posts(0, 1, 1);
    push_out(10);
    if (_i < 2) {
        pair_call_at(pair, 1, 100 * STEP_PS, forge_psn, NULL);
    }
    posts(0, 110, 1);
    pair_run(pair);
    // A packet that seems to be old is not executed.
    ck_assert_uint_eq(nic_device_context(qps[0].qp[1]).receive_psn,
                      (first_psn + (_i < 2 ? 1 + 7 : 2)) & 0xffffff);
    tear_down();
}
END_TEST

static void forge_rights(pair_t *self, void *ctx)
{
    (void)self;
    (void)ctx;
    const tiered_token_t *const token = token_of(NIC_TOKEN_QP, nic_qp_num(qps[0].qp[0]));
    ck_assert_uint_eq(token->cell.entry.layer, NIC_LAYER_L3);
    page_of(token)[offsetof(nic_qp_context_t, access_flags)] ^= NIC_ACCESS_REMOTE_READ;
}

START_TEST(a_wrong_right_of_the_page_is_noticed)
{
    set_up(true, 0);
    connect();
    pair_call_at(pair, 0, 100 * STEP_PS, forge_rights, NULL);
    posts(0, 110, 1);
    pair_run(pair);
}
END_TEST

static void change_attributes(pair_t *self, void *ctx)
{
    (void)ctx;
    nic_qp_attr_t attr;
    sim_message_t message;
    pair_attr(self, &qps[0], 0, &attr);
    set_attributes(&attr);
    attr.access = NIC_ACCESS_LOCAL_WRITE;
    attr.min_rnr_timer = 9;
    ck_assert_int_eq(nic_qp_modify(qps[0].qp[0], NIC_QPS_RTS, &attr, &message), SIM_OK);
    ck_assert(nic_cq_resize(self->cq[0], 77));
}

// A program's changes during operation reach all copies.
START_TEST(changes_reach_the_page)
{
    set_up(_i == 0, 0);
    connect();
    posts(0, 1, 1);
    pair_call_at(pair, 0, 100 * STEP_PS, change_attributes, NULL);
    posts(0, 110, 1);
    pair_run(pair);
    const nic_qp_context_t its = context_of(NIC_TOKEN_QP, nic_qp_num(qps[0].qp[0])).qp;
    ck_assert_uint_eq(its.access_flags, NIC_ACCESS_LOCAL_WRITE);
    ck_assert_uint_eq(its.rnr_timer, 9);
    const uint32_t cq = nic_device_context(qps[0].qp[0]).send_cq_number;
    ck_assert_uint_eq(context_of(NIC_TOKEN_CQ, cq).cq.cqe, 77);
    tear_down();
}
END_TEST

CHECK_MAIN(CHECK_LOOP(pages_hold_what_the_verbs_set, 0, 2), CHECK_TEST(pages_go_with_their_objects),
           CHECK_LOOP(moves_keep_all_bytes_and_counters, 0, 4),
           CHECK_LOOP(a_psn_of_the_page_is_expected, 0, 4),
           CHECK_LOOP(changes_reach_the_page, 0, 2),
           CHECK_SIGNAL(a_wrong_right_of_the_page_is_noticed, SIGABRT))
