// SPDX-License-Identifier: Apache-2.0
// labels: clang
// test_cache_parts.c - tokens, pages, windows, policies and Belady's bound, each alone.
//
// Goal: tokens come back as they were written and refuse what does not fit; n tokens take
// ceil(n / slots) pages; a window forgets; each policy gives up what its definition says, compared
// with a plain model; Belady's bound is that of an exhaustive search, and no policy passes it.
// Method: random contexts, random accesses, models of a few lines that look at everything.
// Not pinned: what the parts do together (tests/nic/store/test_cache.c).
#include "nic/cache_policy.h"
#include "nic/store/tiered/histogram.h"
#include "nic/store/tiered/tiers/pages.h"
#include "nic/store/tiered/token.h"
#include "nic/store/tiered/window.h"
#include "tests/check_main.h"

static sim_random_t random_of(const char *purpose)
{
    sim_random_t random;
    sim_random_init(&random, 7, 0, purpose);
    return random;
}

// -- tokens

START_TEST(tokens_are_packed_as_written)
{
    nic_context_t qp = {.type = NIC_TOKEN_QP};
    qp.qp = (nic_qp_context_t){.index = 0x1234,
                               .qpn = 0xabcdef,
                               .qp_type = 2,
                               .state = 3,
                               .pd_index = 4,
                               .send_cq_index = 5,
                               .recv_cq_index = 6,
                               .access_flags = 7};
    static const uint8_t qp_bytes[] = {3, 1, 0x34, 0x12, 0xef, 0xcd, 0xab, 0, 2, 3, 4, 5, 6, 7};
    uint8_t bytes[NIC_TOKEN_BYTES_MAX];
    ck_assert(nic_token_encode(&qp, bytes));
    ck_assert_uint_eq(nic_token_bytes(NIC_TOKEN_QP), sizeof(qp_bytes));
    ck_assert_mem_eq(bytes, qp_bytes, sizeof(qp_bytes));
    nic_context_t mr = {.type = NIC_TOKEN_MR};
    mr.mr = (nic_mr_context_t){.index = 1,
                               .lkey = 0x01020304,
                               .access_flags = 5,
                               .page_bits = 21,
                               .page_count = 0x0203};
    static const uint8_t mr_bytes[] = {1, 1, 1, 0, 4, 3, 2, 1, 5, 21, 3, 2};
    ck_assert(nic_token_encode(&mr, bytes));
    ck_assert_mem_eq(bytes, mr_bytes, sizeof(mr_bytes));
    nic_context_t cq = {.type = NIC_TOKEN_CQ};
    cq.cq = (nic_cq_context_t){.index = 2, .cqn = 3, .cqe = 0x0405, .comp_vector = 6, .flags = 7};
    static const uint8_t cq_bytes[] = {2, 1, 2, 0, 3, 0, 0, 0, 5, 4, 6, 7};
    ck_assert(nic_token_encode(&cq, bytes));
    ck_assert_mem_eq(bytes, cq_bytes, sizeof(cq_bytes));
    nic_context_t pd = {.type = NIC_TOKEN_PD};
    pd.pd = (nic_pd_context_t){.index = 8, .pdn = 9};
    static const uint8_t pd_bytes[] = {0, 1, 8, 0, 9, 0, 0, 0};
    ck_assert(nic_token_encode(&pd, bytes));
    ck_assert_mem_eq(bytes, pd_bytes, sizeof(pd_bytes));
}
END_TEST

// The fields of a token return into the context; the other fields stay as they were in it.
START_TEST(tokens_come_back)
{
    sim_random_t random = random_of("tokens");
    for (uint32_t i = 0; i < 20000; i++) {
        uint8_t full[NIC_CONTEXT_BYTES_MAX];
        for (size_t k = 0; k < sizeof(full); k++) {
            full[k] = (uint8_t)sim_random_u64(&random);
        }
        // Often small enough: the high bytes of the first eight numbers are zero.
        for (size_t k = 0; i % 2 == 0 && k < 32; k++) {
            full[k] = k % 4 == 0 || k / 4 == 1 ? full[k] : 0;
        }
        const nic_token_type_t type = (nic_token_type_t)(i % NIC_TOKEN_TYPE_COUNT);
        nic_context_t context;
        ck_assert(nic_context_decode(type, full, sizeof(full), &context));
        uint8_t again[NIC_CONTEXT_BYTES_MAX];
        nic_context_encode(&context, again);
        nic_context_t same;
        ck_assert(nic_context_decode(type, again, nic_context_bytes(type), &same));
        ck_assert_mem_eq(&same, &context, sizeof(same));
        uint8_t token[NIC_TOKEN_BYTES_MAX];
        if (!nic_token_encode(&context, token)) {
            ck_assert(i % 2 == 1 || type != NIC_TOKEN_QP);
            continue;
        }
        nic_context_t decoded = context;
        ck_assert(nic_token_decode(token, nic_token_bytes(type), &decoded));
        ck_assert_mem_eq(&decoded, &context, sizeof(context));
        ck_assert(!nic_token_decode(token, nic_token_bytes(type) - 1, &decoded));
        token[1]++; // another layout
        ck_assert(!nic_token_decode(token, sizeof(token), &decoded));
        token[1]--;
        token[0] = NIC_TOKEN_TYPE_COUNT;
        ck_assert(!nic_token_decode(token, sizeof(token), &decoded));
    }
}
END_TEST

START_TEST(what_does_not_fit_is_refused)
{
    uint8_t bytes[NIC_TOKEN_BYTES_MAX];
    nic_context_t context = {.type = NIC_TOKEN_QP};
    context.qp.index = 65535;
    context.qp.pd_index = 255;
    context.qp.send_cq_index = 255;
    ck_assert(nic_token_encode(&context, bytes));
    context.qp.index = 65536;
    ck_assert(!nic_token_encode(&context, bytes));
    context.qp.index = 0;
    context.qp.pd_index = 256;
    ck_assert(!nic_token_encode(&context, bytes));
    context.qp.pd_index = 0;
    context.qp.recv_cq_index = 256;
    ck_assert(!nic_token_encode(&context, bytes));
    nic_context_t mr = {.type = NIC_TOKEN_MR};
    mr.mr.page_count = 65535;
    ck_assert(nic_token_encode(&mr, bytes));
    mr.mr.page_count = 65536;
    ck_assert(!nic_token_encode(&mr, bytes));
    nic_context_t cq = {.type = NIC_TOKEN_CQ};
    cq.cq.cqe = 65537;
    ck_assert(!nic_token_encode(&cq, bytes));
    cq.cq.cqe = 65536; // a power of two, as its logarithm
    ck_assert(nic_token_encode(&cq, bytes));
    nic_context_t back = {.type = NIC_TOKEN_CQ};
    ck_assert(nic_token_decode(bytes, sizeof(bytes), &back) && back.cq.cqe == 65536);
    ck_assert_uint_eq(back.cq.flags, 0);
}
END_TEST

START_TEST(small_fields_come_back)
{
    const nic_small_fields_t fields = {0xabcdef, 0x123456, 5, 0xfed};
    const nic_small_fields_t back = nic_small_fields_unpack(nic_small_fields_pack(&fields));
    ck_assert_mem_eq(&back, &fields, sizeof(back));
    const uint32_t handle = nic_handle(NIC_TOKEN_CQ, 12345);
    ck_assert_int_eq(nic_handle_type(handle), NIC_TOKEN_CQ);
    ck_assert_uint_eq(nic_handle_index(handle), 12345);
}
END_TEST

// Values that fit in a token come out of an entry of L1, together with the hot word.
START_TEST(entries_come_back)
{
    sim_random_t random = random_of("entries");
    uint32_t packed = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        uint8_t token[NIC_TOKEN_BYTES_MAX];
        for (size_t k = 0; k < sizeof(token); k++) {
            token[k] = (uint8_t)sim_random_u64(&random);
        }
        nic_context_t context = {.type = (nic_token_type_t)(i % NIC_TOKEN_TYPE_COUNT)};
        token[0] = (uint8_t)context.type;
        token[1] = NIC_TOKEN_VERSION;
        if (context.type == NIC_TOKEN_QP && i % 3 != 0) { // values that are small in fact
            token[8] &= 3;
            token[9] &= 7;
            token[13] &= 15;
        }
        if (!nic_token_decode(token, nic_token_bytes(context.type), &context)) {
            ck_assert_int_eq(context.type, NIC_TOKEN_CQ); // no logarithm
            continue;
        }
        uint32_t number = context.cq.cqn;
        if (context.type == NIC_TOKEN_QP) {
            const nic_small_fields_t hot = {.send_psn = i,
                                            .receive_psn = 2 * i,
                                            .state = context.qp.state,
                                            .sequence = i & 0xfff};
            context.qp.small_fields = nic_small_fields_pack(&hot);
            number = context.qp.qpn;
        } else if (context.type == NIC_TOKEN_CQ) {
            context.cq.producer = i;
            context.cq.consumer = ~i;
        }
        nic_l1_entry_t entry = {.freq = 7, .last_access_ps = i};
        if (!nic_l1_entry_pack(&context, &entry)) {
            ck_assert(context.type == NIC_TOKEN_QP && i % 3 == 0);
            continue;
        }
        packed++;
        ck_assert(entry.freq == 7 && entry.last_access_ps == i);
        nic_context_t back = {.type = context.type};
        nic_l1_entry_unpack(&entry, number, &back);
        ck_assert_mem_eq(&back, &context, sizeof(back));
    }
    ck_assert_uint_gt(packed, 10000);
}
END_TEST

// A change of one byte is found wherever it is.
START_TEST(a_changed_byte_changes_the_check)
{
    uint8_t bytes[NIC_CONTEXT_BYTES_MAX];
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t)(i * 37);
    }
    const uint16_t right = nic_token_check(bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++) {
        for (uint32_t flip = 1; flip < 256; flip++) {
            bytes[i] ^= (uint8_t)flip;
            ck_assert_uint_ne(nic_token_check(bytes, sizeof(bytes)), right);
            bytes[i] ^= (uint8_t)flip;
        }
    }
}
END_TEST

// -- pages

START_TEST(pages_fill_up)
{
    nic_pages_t pages;
    nic_pages_init(&pages, 65536, 16, 14);
    ck_assert_uint_eq(nic_pages_page_bytes(&pages), 232);
    ck_assert_uint_eq(pages.page_limit, 282);
    sim_random_t random = random_of("pages");
    uint32_t offsets[282 * 16];
    uint32_t count = 0;
    uint32_t most = 0;
    for (uint32_t i = 0; i < 60000; i++) {
        const bool put = sim_random_below(&random, 100) < (i < 30000 ? 60 : 45);
        if (put) {
            const uint8_t bytes[14] = {(uint8_t)i, (uint8_t)(i >> 8)};
            const uint32_t offset = nic_pages_put(&pages, i, 1, bytes, sizeof(bytes));
            ck_assert_int_eq(offset == NIC_PAGE_NONE, count == 282 * 16);
            if (offset != NIC_PAGE_NONE) {
                ck_assert_mem_eq(nic_pages_at(&pages, offset), bytes, sizeof(bytes));
                offsets[count++] = offset;
            }
        } else if (count > 0) {
            const uint32_t at = (uint32_t)sim_random_below(&random, count);
            nic_pages_remove(&pages, offsets[at], 1);
            offsets[at] = offsets[--count];
        }
        most = count > most ? count : most;
        ck_assert_uint_eq(pages.used_slots, count);
        if (i % 1000 == 0) {
            ck_assert(nic_pages_check(&pages));
        }
    }
    ck_assert_uint_eq(pages.used_slots_max, most);
    nic_pages_fini(&pages);
    // One after the other: ceil(n / 16) pages, and holes are used before another page.
    nic_pages_init(&pages, 1 << 20, 16, 14);
    for (uint32_t n = 1; n <= 100; n++) {
        (void)nic_pages_put(&pages, n, 1, (const uint8_t *)"", 1);
        ck_assert_uint_eq(pages.pages_used, (n + 15) / 16);
    }
    for (uint32_t n = 0; n < 50; n++) {
        nic_pages_remove(&pages, n, 1);
        ck_assert_uint_ne(nic_pages_put(&pages, n, 1, (const uint8_t *)"", 1), NIC_PAGE_NONE);
    }
    ck_assert_uint_eq(pages.pages_used_max, 7);
    nic_pages_fini(&pages);
}
END_TEST

// -- windows

START_TEST(a_window_forgets)
{
    nic_window_t window = {0};
    uint64_t times[4000];
    sim_random_t random = random_of("window");
    sim_time_t now_ps = 0;
    for (uint32_t i = 0; i < 4000; i++) {
        now_ps += sim_random_below(&random, i % 500 == 0 ? 9000 : 60);
        times[i] = now_ps;
        nic_window_add(&window, now_ps, 250, 1);
        uint64_t surely = 0;
        uint64_t at_most = 0;
        for (uint32_t k = 0; k <= i; k++) {
            surely += times[k] + 750 > now_ps;
            at_most += times[k] + 1000 > now_ps;
        }
        const uint64_t counted = nic_window_count(&window, now_ps, 250);
        ck_assert_uint_ge(counted, surely);
        ck_assert_uint_le(counted, at_most);
    }
    ck_assert_uint_eq(nic_window_count(&window, now_ps + 1000, 250), 0);
}
END_TEST

START_TEST(a_histogram_is_exact_to_a_bucket)
{
    nic_histogram_t histogram = {0};
    for (uint64_t value = 1; value <= 100000; value++) {
        nic_histogram_add(&histogram, value * 17);
    }
    const sim_percentiles_t times = nic_histogram_percentiles(&histogram, 1);
    ck_assert(times.mean > 850008.4 && times.mean < 850008.6);
    ck_assert(times.p50 > 850000 * 0.996 && times.p50 < 850000 * 1.004);
    ck_assert(times.p99 > 1683000 * 0.996 && times.p99 < 1683000 * 1.004);
    ck_assert(times.min < 17.5 && times.max > 1699999.5);
    nic_histogram_fini(&histogram);
}
END_TEST

// -- policies, against models that look at everything

#define CAPACITY 24u
#define OBJECTS 80u

typedef struct model_slot {
    uint32_t object; // OBJECTS: none
    uint64_t uses;
    uint64_t used_at;
    uint64_t came_at;
    bool visited;
} model_slot_t;

// Returns hybrid's choice by its score, in units of 1 / (den x (count - 1)).
static uint32_t hybrid_model(const model_slot_t *slots, uint32_t count, sim_ratio_t alpha)
{
    uint32_t best = NIC_POLICY_NONE;
    uint64_t best_score = UINT64_MAX;
    for (uint32_t i = 0; i < CAPACITY; i++) {
        if (slots[i].object == OBJECTS) {
            continue;
        }
        uint64_t rank = 0;
        for (uint32_t k = 0; k < CAPACITY; k++) {
            rank += slots[k].object != OBJECTS && slots[k].used_at < slots[i].used_at;
        }
        const uint64_t score = slots[i].uses * alpha.den * (count - 1) + rank * alpha.num;
        // If scores are equal, the entry with fewer uses goes first, then the older one.
        const bool first =
            best != NIC_POLICY_NONE && score == best_score &&
            (slots[i].uses != slots[best].uses ? slots[i].uses < slots[best].uses
                                               : slots[i].used_at < slots[best].used_at);
        if (score < best_score || first) {
            best = i;
            best_score = score;
        }
    }
    return best;
}

static uint32_t model_victim(const char *name, const model_slot_t *slots, uint32_t count,
                             sim_ratio_t alpha)
{
    if (strcmp(name, "hybrid") == 0 && count > 1) {
        return hybrid_model(slots, count, alpha);
    }
    uint32_t best = NIC_POLICY_NONE;
    for (uint32_t i = 0; i < CAPACITY; i++) {
        if (slots[i].object == OBJECTS) {
            continue;
        }
        if (best == NIC_POLICY_NONE) {
            best = i;
            continue;
        }
        const model_slot_t *const a = &slots[i];
        const model_slot_t *const b = &slots[best];
        const bool first = strcmp(name, "fifo") == 0  ? a->came_at < b->came_at
                           : strcmp(name, "lru") == 0 ? a->used_at < b->used_at
                           : a->uses != b->uses       ? a->uses < b->uses
                                                      : a->used_at < b->used_at;
        best = first ? i : best;
    }
    return best;
}

static void check_policy(const char *name, sim_ratio_t alpha)
{
    const nic_policy_ops_t *const ops = nic_policy_find(name);
    const nic_policy_place_t place = {CAPACITY, 1, alpha, ops};
    void *const policy = ops->create(&place);
    model_slot_t slots[CAPACITY];
    for (uint32_t i = 0; i < CAPACITY; i++) {
        slots[i] = (model_slot_t){.object = OBJECTS};
    }
    sim_random_t random = random_of(name);
    uint32_t count = 0;
    for (uint64_t step = 1; step < 30000; step++) {
        uint32_t object = (uint32_t)sim_random_below(&random, OBJECTS);
        object = (uint32_t)sim_random_below(&random, object + UINT64_C(1));
        uint32_t at = CAPACITY;
        uint32_t free = CAPACITY;
        for (uint32_t i = 0; i < CAPACITY; i++) {
            at = slots[i].object == object ? i : at;
            free = slots[i].object == OBJECTS ? i : free;
        }
        if (at < CAPACITY && sim_random_below(&random, 50) == 0) {
            ops->remove(policy, at);
            slots[at].object = OBJECTS;
            count--;
        } else if (at < CAPACITY) {
            slots[at].uses++;
            slots[at].used_at = step;
            ops->use(policy, at, slots[at].uses);
        } else {
            if (free == CAPACITY) {
                const uint32_t victim = ops->victim(policy);
                ck_assert_msg(victim == model_victim(name, slots, count, alpha),
                              "%s alpha %d/%d step %d: %u", name, (int)alpha.num, (int)alpha.den,
                              (int)step, victim);
                ops->remove(policy, victim);
                slots[victim].object = OBJECTS;
                count--;
                free = victim;
            }
            const uint64_t uses = sim_random_below(&random, 4);
            slots[free] = (model_slot_t){object, uses, step, step, false};
            ops->insert(policy, free, object, uses);
            count++;
        }
        if (ops->age != NULL && step % 500 == 0) {
            ops->age(policy);
            for (uint32_t i = 0; i < CAPACITY; i++) {
                slots[i].uses >>= 1;
            }
        }
    }
    ops->destroy(policy);
}

START_TEST(policies_are_what_they_say)
{
    const sim_ratio_t one = {1, 1};
    check_policy("lru", one);
    check_policy("fifo", one);
    check_policy("lfu", one);
    check_policy("hybrid", one);
    check_policy("hybrid", (sim_ratio_t){0, 1});
    check_policy("hybrid", (sim_ratio_t){5, 2});
    check_policy("hybrid", (sim_ratio_t){40, 1});
}
END_TEST

// The paper's queue: A to G came in this order, A, B and G were used; the hand takes C, then D.
START_TEST(sieve_moves_its_hand)
{
    const nic_policy_ops_t *const sieve = nic_policy_find("sieve");
    const nic_policy_place_t place = {7, 1, {1, 1}, sieve};
    void *const policy = sieve->create(&place);
    for (uint32_t i = 0; i < 7; i++) {
        sieve->insert(policy, i, i, 0);
    }
    sieve->use(policy, 0, 1);
    sieve->use(policy, 1, 1);
    sieve->use(policy, 6, 1);
    ck_assert_uint_eq(sieve->victim(policy), 2);
    sieve->remove(policy, 2);
    sieve->insert(policy, 2, 7, 0); // H
    sieve->use(policy, 0, 2);
    sieve->use(policy, 3, 1); // D: spared
    ck_assert_uint_eq(sieve->victim(policy), 4);
    sieve->remove(policy, 4);
    sieve->insert(policy, 4, 8, 0); // I
    ck_assert_uint_eq(sieve->victim(policy), 5);
    sieve->remove(policy, 5);
    // G is spared, H is the next without a use.
    ck_assert_uint_eq(sieve->victim(policy), 2);
    sieve->destroy(policy);
}
END_TEST

START_TEST(random_takes_any)
{
    const nic_policy_ops_t *const policy_ops = nic_policy_find("random");
    const nic_policy_place_t place = {8, 1, {1, 1}, policy_ops};
    void *const policy = policy_ops->create(&place);
    for (uint32_t i = 0; i < 8; i++) {
        policy_ops->insert(policy, i, i, 0);
    }
    uint32_t taken[8] = {0};
    for (uint32_t i = 0; i < 8000; i++) {
        const uint32_t victim = policy_ops->victim(policy);
        taken[victim]++;
        policy_ops->remove(policy, victim);
        policy_ops->insert(policy, victim, victim, 0);
    }
    for (uint32_t i = 0; i < 8; i++) {
        ck_assert_uint_gt(taken[i], 850); // 1000 +- 30 (one standard deviation)
        ck_assert_uint_lt(taken[i], 1150);
    }
    policy_ops->destroy(policy);
}
END_TEST

// -- Belady

// Returns the most hits possible from accesses[i] on with this content, trying every choice.
static uint64_t search(const uint32_t *accesses, size_t count, size_t i, uint32_t held,
                       uint32_t room)
{
    if (i == count) {
        return 0;
    }
    const uint32_t bit = 1u << accesses[i];
    if ((held & bit) != 0) {
        return 1 + search(accesses, count, i + 1, held, room);
    }
    uint64_t best = search(accesses, count, i + 1, held, room); // not taken in
    if ((uint32_t)__builtin_popcount(held) < room) {
        const uint64_t with = search(accesses, count, i + 1, held | bit, room);
        return with > best ? with : best;
    }
    for (uint32_t victim = 0; victim < 8; victim++) {
        if ((held >> victim & 1) != 0) {
            const uint64_t with =
                search(accesses, count, i + 1, (held & ~(1u << victim)) | bit, room);
            best = with > best ? with : best;
        }
    }
    return best;
}

START_TEST(belady_is_the_best)
{
    sim_random_t random = random_of("belady");
    for (uint32_t run = 0; run < 300; run++) {
        uint32_t accesses[12];
        const uint32_t objects = 2 + (uint32_t)sim_random_below(&random, 4);
        for (size_t i = 0; i < 12; i++) {
            accesses[i] = (uint32_t)sim_random_below(&random, objects);
        }
        const uint32_t room = 1 + (uint32_t)sim_random_below(&random, 3);
        ck_assert_uint_eq(nic_belady_hits(accesses, 12, 0, objects, room),
                          search(accesses, 12, 0, 0, room));
    }
}
END_TEST

CHECK_MAIN(CHECK_TEST(tokens_are_packed_as_written), CHECK_TEST(tokens_come_back),
           CHECK_TEST(what_does_not_fit_is_refused), CHECK_TEST(small_fields_come_back),
           CHECK_TEST(entries_come_back), CHECK_TEST(a_changed_byte_changes_the_check),
           CHECK_TEST(pages_fill_up), CHECK_TEST(a_window_forgets),
           CHECK_TEST(a_histogram_is_exact_to_a_bucket), CHECK_TEST(policies_are_what_they_say),
           CHECK_TEST(sieve_moves_its_hand), CHECK_TEST(random_takes_any),
           CHECK_TEST(belady_is_the_best))
