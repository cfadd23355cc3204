// SPDX-License-Identifier: Apache-2.0
// labels: clang
// test_cache_bytes.c - the bytes of tokens are what the NIC of the tiered cache works with.
//
// Goal: whatever moves, is written, changes its state or is flipped in L2: what the NIC decodes is
// what the objects are, and no write is lost unless a flip destroyed it, which is counted. A flip
// of any byte of an L2 page is noticed or lies where nothing is. A stale copy, a lost difference
// and a wrong right end the program. Method: random posts, transitions, regions and flips on tiers
// of a few entries; the contexts that come out of the bytes are compared with the verbs' answers.
// Each flip of each byte of the pages alone. Planted mistakes. Not pinned: what a mechanism costs
// (tests/nic/store/test_cache.c).
#include "kernel/bytes.h"
#include "nic/core.h"
#include "nic/store/tiered/tiered.h"
#include "tests/nic_pair.h"

#define QPS 40u
#define REGIONS 24u
#define STEPS 4000u
#define STEP_PS UINT64_C(900000)

static pair_config_t config;
static pair_t *pair;
static pair_qp_t qps[QPS];
static nic_mr_t *regions[REGIONS];
static uint64_t pages_of[REGIONS];
static sim_random_t dice;
static bool flips;
static uint64_t flipped;
static uint64_t compared;

static tiered_t *tiered(void)
{
    return (tiered_t *)(void *)nic_store_of(pair->nic[0]);
}

static void set_up(const char *policy, uint64_t l1_entries, uint64_t l2_bytes)
{
    memset(qps, 0, sizeof(qps));
    memset(regions, 0, sizeof(regions));
    memset(pages_of, 0, sizeof(pages_of));
    flipped = compared = 0;
    pair_config_init(&config);
    config.nic.model = NIC_DETAILED;
    nic_cache_config_t *const cache = &config.nic.cache;
    sim_free(cache->policy);
    cache->policy = sim_strdup(policy);
    cache->l1_entries = l1_entries;
    cache->l1_other_entries = 12;
    cache->l2_bytes = l2_bytes;
    cache->promote_l1 = 6;
    cache->promote_l2 = 2;
    cache->maintenance_ps = 3 * SIM_PS_PER_US;
    cache->demote_l1_ps = 8 * SIM_PS_PER_US;
    cache->demote_l2_ps = 20 * SIM_PS_PER_US;
    cache->l2_pressure = (sim_ratio_t){0, 1};
    cache->aging_ps = 10 * SIM_PS_PER_US;
    cache->staging_entries = 3;
    sim_random_init(&dice, 1, 0, "bytes");
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

static uint32_t below(uint32_t count)
{
    return (uint32_t)sim_random_below(&dice, count);
}

static nic_pages_t *pages_of_type(uint32_t type)
{
    return &tiered()->parts[type == NIC_TOKEN_QP ? 0 : 1].pages[type];
}

// -- the oracle: what the verbs say

static void compare(const nic_context_t *context)
{
    if (context->type == NIC_TOKEN_QP) {
        for (uint32_t i = 0; i < QPS; i++) {
            const nic_qp_t *const qp = qps[i].qp[0];
            if (nic_qp_num(qp) == context->qp.qpn) {
                ck_assert_uint_eq(context->qp.state, nic_qp_state(qp));
                ck_assert_uint_eq(context->qp.qp_type, NIC_QPT_RC);
                ck_assert_uint_eq(context->qp.pd_index, 0);
                ck_assert_uint_eq(context->qp.send_cq_index, 0);
                const nic_small_fields_t hot = nic_small_fields_unpack(context->qp.small_fields);
                ck_assert_uint_eq(hot.state, nic_qp_state(qp));
                ck_assert_uint_le(hot.receive_psn, nic_device_context(qp).receive_psn);
                compared++;
            }
        }
    } else if (context->type == NIC_TOKEN_MR) {
        for (uint32_t i = 0; i < REGIONS; i++) {
            if (regions[i] != NULL && nic_mr_lkey(regions[i]) == context->mr.lkey) {
                ck_assert_uint_eq(context->mr.page_count, pages_of[i]);
                ck_assert_uint_eq(context->mr.access_flags,
                                  i % 2 == 0 ? NIC_ACCESS_LOCAL_WRITE : NIC_ACCESS_REMOTE_READ);
                compared++;
            }
        }
    } else if (context->type == NIC_TOKEN_CQ) {
        ck_assert_uint_eq(context->cq.cqe, 1u << 20);
        ck_assert_uint_eq(context->cq.flags, 0);
        compared++;
    }
}

// Decodes what a tier has of a token, and compares it.
static void look_at(uint32_t number)
{
    tiered_token_t *const token = &tiered()->tokens[number];
    if (!token->live) {
        return;
    }
    tiered_image_t image;
    (void)nic__tiered_fetch(tiered(), token, &image);
    nic_context_t context = {.type = (nic_token_type_t)token->type};
    if (token->compressed) {
        nic_l1_entry_unpack(&image.entry, token->object, &context);
    } else {
        uint8_t bytes[NIC_CONTEXT_BYTES_MAX];
        (void)nic__tiered_encode(token, &image, bytes);
        ck_assert(nic_context_decode(context.type, bytes, sizeof(bytes), &context));
    }
    compare(&context);
}

// Indices of a pool belong to one object each.
static void indices_are_unique(void)
{
    static bool taken[NIC_TOKEN_TYPE_COUNT][4096];
    memset(taken, 0, sizeof(taken));
    for (size_t number = 0; number < tiered()->token_count; number++) {
        const tiered_token_t *const token = &tiered()->tokens[number];
        if (token->live) {
            ck_assert_uint_lt(token->index, 4096);
            ck_assert(!taken[token->type][token->index]);
            taken[token->type][token->index] = true;
        }
    }
}

// -- random moves, writes and flips

static void flip(void)
{
    nic_pages_t *const pages = pages_of_type(below(NIC_TOKEN_TYPE_COUNT));
    if (pages->page_count == 0) {
        return;
    }
    const uint32_t page = below(pages->page_count);
    uint8_t *byte = (uint8_t *)&pages->pages[page].header;
    if (below(4) == 0) {
        byte += below(sizeof(nic_page_header_t));
    } else {
        byte = nic_pages_at(pages, page * pages->slots) + below(pages->slots * pages->slot_bytes);
    }
    *byte ^= (uint8_t)(1 + below(255));
    flipped++;
}

static void change_region(uint32_t index)
{
    if (regions[index] != NULL) {
        nic_mr_deregister(regions[index]);
        regions[index] = NULL;
        return;
    }
    const uint64_t address = (UINT64_C(1) << 40) + index * (UINT64_C(1) << 30);
    pages_of[index] = 1 + below(500);
    ck_assert_int_eq(
        nic_mr_register(pair->pd[0], address, pages_of[index] << tiered()->page_bits,
                        index % 2 == 0 ? NIC_ACCESS_LOCAL_WRITE : NIC_ACCESS_REMOTE_READ,
                        &regions[index]),
        SIM_OK);
}

static void post(void)
{
    static const nic_wr_opcode_t opcodes[] = {NIC_WR_RDMA_WRITE, NIC_WR_RDMA_READ};
    nic_qp_t *const qp = qps[below(3) == 0 ? below(QPS) : below(6)].qp[0];
    const nic_wr_opcode_t opcode = opcodes[below(SIM_COUNT_OF(opcodes))];
    nic_send_wr_t wr = pair_wr(pair, opcode, opcode == NIC_WR_RDMA_WRITE ? 1 + below(3000) : 8);
    const uint32_t index = below(REGIONS) & ~1u;
    if (regions[index] != NULL && opcode == NIC_WR_RDMA_WRITE && pages_of[index] > 1) {
        wr.sge.addr = (UINT64_C(1) << 40) + index * (UINT64_C(1) << 30);
        wr.sge.lkey = nic_mr_lkey(regions[index]);
    }
    ck_assert_int_eq(nic_post_send(qp, &wr), SIM_OK);
}

static void act(pair_t *self, void *ctx)
{
    (void)self;
    (void)ctx;
    sim_message_t message = {.text = ""};
    const uint32_t what = below(40);
    if (what < 3) {
        nic_qp_t *qp = qps[below(QPS)].qp[0];
        for (uint32_t i = 0; i < QPS; i++) { // few are drained at a time
            qp = nic_qp_drained(qps[i].qp[0]) ? qps[i].qp[0] : qp;
        }
        if (nic_qp_state(qp) == NIC_QPS_RTS || nic_qp_drained(qp)) {
            const nic_qp_state_t to = nic_qp_drained(qp) ? NIC_QPS_RTS : NIC_QPS_SQD;
            ck_assert_int_eq(nic_qp_modify(qp, to, NULL, &message), SIM_OK);
        }
    } else if (what < 4) { // a region that no request in flight reads
        change_region(below(REGIONS) | 1u);
    } else if (what < 8 && flips) {
        flip();
    } else if (what < 10) {
        look_at(below((uint32_t)tiered()->token_count));
    } else {
        post();
    }
    if (!flips) { // else what was flipped would be found here, and not by an access
        ck_assert_msg(tiered()->store.ops->check(&tiered()->store, &message), "%s", message.text);
    }
}

static void scrub(void)
{
    for (uint32_t type = 0; type < NIC_TOKEN_TYPE_COUNT; type++) {
        for (uint32_t page = 0; page < pages_of_type(type)->page_count; page++) {
            nic_pages_check_header(pages_of_type(type), page);
        }
    }
    for (uint32_t number = 0; number < tiered()->token_count; number++) {
        look_at(number);
    }
}

// Without flips nothing is lost, and with flips what is lost is counted.
START_TEST(bytes_are_what_the_objects_are)
{
    flips = _i % 2 == 1;
    set_up(_i % 4 < 2 ? "hybrid" : "lru", 14, _i == 8 ? 0 : 1500);
    nic_cache_config_t *const cache = &config.nic.cache;
    cache->waiting = _i % 8 < 4 ? NIC_CACHE_OPTIMISTIC : NIC_CACHE_WAIT;
    cache->compression = _i < 10;
    cache->l2_path = _i == 9 || _i == 12 ? NIC_CACHE_BATCH : NIC_CACHE_DIRECT;
    cache->batch_threshold = 3;
    cache->expand_asynchronous = _i == 5;
    cache->l1_entries = _i < 10 ? 14 : 40;
    cache->l2_bytes = cache->compression ? cache->l2_bytes : 9000;
    cache->write = _i == 3 ? NIC_CACHE_WRITE_THROUGH : NIC_CACHE_WRITE_BACK;
    connect();
    // Builds with dear checks look at the whole store after each lookup, and would find what was
    // flipped before the access that is to find it.
    const nic_store_ops_t *const ops = tiered()->store.ops;
    nic_store_ops_t unchecked = *ops;
    unchecked.check = NULL;
    tiered()->store.ops = flips ? &unchecked : ops;
    for (uint32_t i = 0; i < REGIONS; i += 2) {
        change_region(i);
    }
    for (uint32_t i = 0; i < STEPS; i++) {
        pair_call_at(pair, 0, (i + 1) * STEP_PS, act, NULL);
    }
    for (uint32_t i = 0; i < QPS; i++) { // all end as they can
        pair_call_at(pair, 0, (STEPS + 1) * STEP_PS, act, NULL);
    }
    config.until_ps = SIM_TIME_NEVER;
    pair_run(pair);
    const tiered_counters_t *const counters = &tiered()->counters;
    ck_assert_uint_gt(counters->migrations[1], 100);
    ck_assert(config.nic.cache.l2_bytes == 0 || counters->migrations[2] > 100);
    if (flips) {
        ck_assert_uint_gt(flipped, 100);
        ck_assert_uint_gt(counters->corrupt, 5);
    } else {
        ck_assert_uint_eq(counters->corrupt + counters->lost_writes + counters->dirty_lost, 0);
    }
    scrub();
    tiered()->store.ops = ops;
    indices_are_unique();
    ck_assert_uint_gt(compared, QPS);
    tear_down();
}
END_TEST

// -- every flip of every byte

static void fill_l2(pair_fn then)
{
    set_up("lru", 12, 4000);
    connect();
    change_region(0);
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 8);
    for (uint32_t i = 0; i < 2 * QPS; i++) {
        pair_post_at(pair, 1000 + i * 5000000, qps[i % QPS].qp[0], &wr);
    }
    if (then != NULL) {
        pair_call_at(pair, 0, 1000 * SIM_PS_PER_US, then, NULL);
    }
    pair_run(pair);
}

START_TEST(each_flip_is_noticed_or_harmless)
{
    fill_l2(NULL);
    const nic_pages_t *const pages = pages_of_type(NIC_TOKEN_QP);
    ck_assert_uint_gt(pages->used_slots, 20);
    uint64_t noticed = 0;
    uint64_t harmless = 0;
    for (uint32_t offset = 0; offset < pages->page_count * pages->slots; offset++) {
        uint8_t *const bytes = nic_pages_at(pages, offset);
        const uint32_t number = pages->owner[offset];
        for (uint32_t at = 0; at < pages->slot_bytes; at++) {
            for (uint32_t other = 1; other < 256; other++) {
                bytes[at] ^= (uint8_t)other;
                tiered_image_t image = {.entry = {.freq = 0}};
                const bool right = number == NIC_HANDLE_NONE ||
                                   nic__tiered_decode(&tiered()->tokens[number], bytes, &image);
                ck_assert(!right || number == NIC_HANDLE_NONE);
                noticed += !right;
                harmless += right;
                bytes[at] ^= (uint8_t)other;
            }
        }
    }
    ck_assert_uint_eq(noticed, 255u * 22u * pages->used_slots);
    ck_assert_uint_gt(harmless, 0);
    // Headers: the directory knows what is in a page.
    nic_pages_t *const mine = pages_of_type(NIC_TOKEN_QP);
    for (uint32_t page = 0; page < mine->page_count; page++) {
        uint8_t *const header = (uint8_t *)&mine->pages[page].header;
        for (uint32_t at = 0; at < sizeof(nic_page_header_t); at++) {
            const uint64_t before = mine->repaired;
            header[at] ^= 0x11;
            nic_pages_check_header(mine, page);
            ck_assert_uint_eq(mine->repaired, before + 1);
            ck_assert(nic_pages_check(mine));
        }
    }
    tear_down();
}
END_TEST

// Another layout and another object's token are corrupt although their check is right.
START_TEST(tokens_of_others_are_refused)
{
    fill_l2(NULL);
    const nic_pages_t *const pages = pages_of_type(NIC_TOKEN_QP);
    uint32_t refused = 0;
    for (uint32_t offset = 0; offset < pages->page_count * pages->slots; offset++) {
        const uint32_t number = pages->owner[offset];
        if (number == NIC_HANDLE_NONE) {
            continue;
        }
        tiered_token_t *const token = &tiered()->tokens[number];
        uint8_t bytes[32];
        memcpy(bytes, nic_pages_at(pages, offset), pages->slot_bytes);
        static const uint32_t places[] = {0, 1, 2, 4}; // type, version, index, number
        for (uint32_t i = 0; i < SIM_COUNT_OF(places); i++) {
            const nic_directory_entry_t entry = token->cell.entry;
            bytes[places[i]]++;
            token->cell.entry.check = nic_token_check(bytes, pages->slot_bytes);
            tiered_image_t image = {.entry = {.freq = 0}};
            ck_assert(!nic__tiered_decode(token, bytes, &image));
            bytes[places[i]]--;
            token->cell.entry = entry;
            refused++;
        }
    }
    ck_assert_uint_gt(refused, 40);
    tear_down();
}
END_TEST

// -- planted mistakes: the next access ends the program

static tiered_token_t *token_in(uint32_t layer, nic_qp_t **qp)
{
    for (uint32_t i = 0; i < QPS; i++) {
        const uint32_t number = nic__tiered_find(tiered(), NIC_TOKEN_QP, nic_qp_num(qps[i].qp[0]));
        tiered_token_t *const token = &tiered()->tokens[number];
        if (token->cell.entry.layer == layer && token->staging == TIERED_NONE) {
            *qp = qps[i].qp[0];
            return token;
        }
    }
    ck_abort_msg("no token in that tier");
    return NULL;
}

static void use_again(nic_qp_t *qp)
{
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 8);
    ck_assert_int_eq(nic_post_send(qp, &wr), SIM_OK);
}

// An entry of L1 that is as it was before the last access: a lost difference.
static void lose(pair_t *self, void *ctx)
{
    (void)self;
    (void)ctx;
    nic_qp_t *qp;
    const tiered_token_t *const token = token_in(NIC_LAYER_L1, &qp);
    uint8_t *const word = nic_l1_word(nic__tiered_entry(tiered(), token));
    nic_small_fields_t fields = nic_small_fields_unpack(sim_get_le64(word));
    fields.sequence--;
    sim_put_le64(word, nic_small_fields_pack(&fields));
    use_again(qp);
}

START_TEST(a_lost_difference_is_noticed)
{
    fill_l2(lose);
}
END_TEST

// A copy in L2 that a change of rights has not reached: its check is right, its rights are not.
static void forget_rights(pair_t *self, void *ctx)
{
    (void)self;
    (void)ctx;
    nic_qp_t *qp;
    tiered_token_t *const token = token_in(NIC_LAYER_L2, &qp);
    uint8_t *const bytes =
        nic_pages_at(pages_of_type(NIC_TOKEN_QP), token->cell.entry.token_offset);
    bytes[offsetof(nic_qp_token_t, access_flags)] ^= NIC_ACCESS_REMOTE_READ;
    token->cell.entry.check = nic_token_check(bytes, nic__tiered_bytes(token));
    use_again(qp);
}

START_TEST(a_stale_right_is_noticed)
{
    fill_l2(forget_rights);
}
END_TEST

static void make_no_mistake(pair_t *self, void *ctx)
{
    (void)self;
    (void)ctx;
    for (uint32_t layer = NIC_LAYER_L1; layer <= NIC_LAYER_L2; layer++) {
        nic_qp_t *qp;
        (void)token_in(layer, &qp);
        use_again(qp);
    }
}

START_TEST(without_a_mistake_it_goes_on)
{
    fill_l2(make_no_mistake);
    tear_down();
}
END_TEST

// -- the queue's vector and flags, the PSNs of the hot word

// Returns the context that the tiers of host 0 or 1 have of an object.
static nic_context_t context_in(uint32_t host, nic_token_type_t type, uint64_t key)
{
    tiered_t *const store = (tiered_t *)(void *)nic_store_of(pair->nic[host]);
    const uint32_t number = nic__tiered_find(store, type, key);
    ck_assert_uint_ne(number, TIERED_NONE);
    tiered_token_t *const token = &store->tokens[number];
    tiered_image_t image;
    ck_assert(nic__tiered_fetch(store, token, &image));
    nic_context_t context = {.type = type};
    nic_l1_entry_unpack(&image.entry, token->object, &context);
    return context;
}

static bool do_nothing(nic_core_t *core, void *ctx)
{
    (void)core;
    (void)ctx;
    return false;
}

// The token of a completion queue has the number of the core that polls it, and that one does.
START_TEST(queues_have_their_vector_and_flags)
{
    set_up("lru", 14, 1500);
    pair = pair_create(&config);
    nic_core_t *cores[7];
    for (uint32_t i = 0; i < SIM_COUNT_OF(cores); i++) {
        cores[i] = nic_core_create(pair->node[0], do_nothing, NULL);
    }
    nic_cq_t *const cqs[] = {nic_cq_create(pair->nic[0], 100, NULL, NULL),
                             nic_cq_create(pair->nic[0], 100, NULL, NULL)};
    nic_cq_set_core(cqs[0], cores[5]);
    nic_cq_set_core(cqs[1], cores[6]);
    nic_qp_t *made[2];
    uint32_t vectors[2];
    for (uint32_t i = 0; i < 2; i++) {
        const nic_qp_init_attr_t attr = {.qp_type = NIC_QPT_RC,
                                         .send_cq = cqs[i],
                                         .recv_cq = cqs[i],
                                         .max_send_wr = 16,
                                         .max_recv_wr = 16};
        ck_assert_int_eq(nic_qp_create(pair->pd[0], &attr, &made[i]), SIM_OK);
        const uint32_t number = nic_device_context(made[i]).send_cq_number;
        const nic_context_t context = context_in(0, NIC_TOKEN_CQ, number);
        ck_assert_uint_eq(context.cq.cqe, 100);
        ck_assert_uint_eq(context.cq.flags, NIC_CQ_POLLED);
        vectors[i] = context.cq.comp_vector;
    }
    ck_assert_uint_eq(vectors[0], 5);
    ck_assert_uint_eq(vectors[1], 6);
    tear_down();
}
END_TEST

// The hot word of a queue pair has the PSNs after the last packet.
START_TEST(hot_words_have_the_psns)
{
    set_up("lru", 14, 1500);
    connect();
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 8);
    const uint32_t first_psn = nic_device_context(qps[3].qp[0]).send_psn;
    for (uint32_t i = 0; i < 5; i++) {
        pair_post_at(pair, 1000 + i * STEP_PS * 10, qps[3].qp[0], &wr);
    }
    pair_run(pair);
    const nic_device_context_t sender = nic_device_context(qps[3].qp[0]);
    const nic_device_context_t receiver = nic_device_context(qps[3].qp[1]);
    ck_assert_uint_eq(sender.send_psn, (first_psn + 5) & 0xffffff);
    ck_assert_uint_eq(receiver.receive_psn, sender.send_psn);
    const nic_small_fields_t sent = nic_small_fields_unpack(
        context_in(0, NIC_TOKEN_QP, nic_qp_num(qps[3].qp[0])).qp.small_fields);
    const nic_small_fields_t received = nic_small_fields_unpack(
        context_in(1, NIC_TOKEN_QP, nic_qp_num(qps[3].qp[1])).qp.small_fields);
    ck_assert_uint_eq(sent.send_psn, sender.send_psn);
    ck_assert_uint_eq(received.receive_psn, receiver.receive_psn);
    tear_down();
}
END_TEST

// Changes a PSN in the hot word of host 0 (the sender) or 1 between two operations.
static void forge_psn(pair_t *self, void *ctx)
{
    const uint32_t host = *(const uint32_t *)ctx;
    tiered_t *const store = (tiered_t *)(void *)nic_store_of(self->nic[host]);
    const uint32_t number = nic__tiered_find(store, NIC_TOKEN_QP, nic_qp_num(qps[3].qp[host]));
    tiered_token_t *const token = &store->tokens[number];
    ck_assert_uint_eq(token->cell.entry.layer, NIC_LAYER_L1);
    nic_small_fields_t fields = nic_small_fields_unpack(token->contents);
    *(host == 0 ? &fields.send_psn : &fields.receive_psn) += 7;
    token->contents = nic_small_fields_pack(&fields);
    sim_put_le64(nic_l1_word(nic__tiered_entry(store, token)), token->contents);
}

// The NIC goes on from the PSNs of the hot word: a packet with a wrong one is the next on the wire,
// and a receiver that expects a wrong one refuses the right one. Builds with dear checks find the
// sender's wrong one by themselves.
#ifdef SIM_DEAR_CHECKS
#define FIRST_FORGED 1
#else
#define FIRST_FORGED 0
#endif
START_TEST(the_nic_takes_its_psns_from_the_hot_word)
{
    static uint32_t host;
    host = (uint32_t)_i;
    set_up("lru", 64, 1500);
    config.until_ps = 60 * STEP_PS * 10;
    connect();
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 8);
    const uint32_t first_psn = nic_device_context(qps[3].qp[0]).send_psn;
    pair_post_at(pair, 1000, qps[3].qp[0], &wr);
    if (_i < 2) {
        pair_call_at(pair, host, STEP_PS * 10, forge_psn, &host);
    }
    pair_post_at(pair, STEP_PS * 20, qps[3].qp[0], &wr);
    pair_run(pair);
    uint32_t sent = 0;
    for (size_t i = 0; i < pair->wire_count; i++) {
        const pair_packet_t *const packet = &pair->wire[i];
        if (packet->host == 0 && packet->time_ps > STEP_PS * 20 && sent++ == 0) {
            ck_assert_uint_eq(packet->packet.psn, (first_psn + 1 + (_i == 0 ? 7 : 0)) & 0xffffff);
        }
    }
    // A packet ahead is sent again. One that seems to be old is acknowledged and not executed.
    ck_assert((sent > 1) == (_i == 0) && sent != 0);
    ck_assert_uint_eq(nic_device_context(qps[3].qp[1]).receive_psn,
                      (first_psn + (_i == 1 ? 1 + 7 : 2)) & 0xffffff);
    tear_down();
}
END_TEST

CHECK_MAIN(CHECK_LOOP(bytes_are_what_the_objects_are, 0, 13),
           CHECK_TEST(queues_have_their_vector_and_flags), CHECK_TEST(hot_words_have_the_psns),
           CHECK_LOOP(the_nic_takes_its_psns_from_the_hot_word, FIRST_FORGED, 3),
           CHECK_TEST(each_flip_is_noticed_or_harmless), CHECK_TEST(tokens_of_others_are_refused),
           CHECK_TEST(without_a_mistake_it_goes_on),
           CHECK_SIGNAL(a_lost_difference_is_noticed, SIGABRT),
           CHECK_SIGNAL(a_stale_right_is_noticed, SIGABRT))
