// SPDX-License-Identifier: Apache-2.0
// Goal: slicing, choice of NICs, chains, endpoint stores, block stores and traces of the Transfer
// Engine.
// Method: small cases worked out by hand; LRU against another algorithm over random prompts.
// Not pinned: anything with time or packets in it.
#include "apps/mooncake/engine/peers/endpoint_store.h"
#include "apps/mooncake/engine/slicing.h"
#include "apps/mooncake/programs/arrivals.h"
#include "apps/mooncake/programs/prefix_cache.h"
#include "apps/mooncake/programs/trace.h"
#include "kernel/list.h"

#include "tests/check_main.h"

START_TEST(slices_cover_every_length_once)
{
    for (uint64_t length = 0; length < 400; length++) {
        const uint64_t count = app__mooncake_slice_count(length, 64, 16);
        uint64_t sum = 0;
        for (uint64_t i = 0; i < count; i++) {
            const uint64_t slice = app__mooncake_slice_length(length, 64, 16, i);
            ck_assert_uint_ge(slice, 1);
            ck_assert_uint_lt(slice, 64 + 16);
            ck_assert(i + 1 == count || slice == 64);
            sum += slice;
        }
        ck_assert_uint_eq(sum, length);
    }
}
END_TEST

START_TEST(a_short_tail_joins_the_last_slice)
{
    // These are the shipped defaults: slices of 64 KiB, and a quarter of that for the remainder.
    ck_assert_uint_eq(app__mooncake_slice_count(65536, 65536, 16384), 1);
    ck_assert_uint_eq(app__mooncake_slice_count(65536 + 16383, 65536, 16384), 1);
    ck_assert_uint_eq(app__mooncake_slice_count(65536 + 16384, 65536, 16384), 2);
    ck_assert_uint_eq(app__mooncake_slice_length(65536 + 16383, 65536, 16384, 0), 65536 + 16383);
    ck_assert_uint_eq(app__mooncake_slice_length(65536 + 16384, 65536, 16384, 1), 16384);
    ck_assert_uint_eq(app__mooncake_slice_count(100, 65536, 16384), 1);
    ck_assert_uint_eq(app__mooncake_slice_count(0, 65536, 16384), 0);
    ck_assert_uint_eq(app__mooncake_slice_count(131073, 65536, 0), 3);
}
END_TEST

START_TEST(retries_leave_the_nic_that_failed)
{
    const app__mooncake_choice_t two_lists = {.preferred = 2, .available = 2};
    for (uint32_t first = 0; first < 2; first++) {
        ck_assert_uint_eq(app__mooncake_choose(&two_lists, 0, first, 0), first);
        ck_assert_uint_eq(app__mooncake_choose(&two_lists, 1, 9, first), 1 - first);
        ck_assert_uint_eq(app__mooncake_choose(&two_lists, 2, 9, first), 2);
        ck_assert_uint_eq(app__mooncake_choose(&two_lists, 3, 9, first), 3);
        ck_assert_uint_eq(app__mooncake_choose(&two_lists, 4, 9, first), first);
    }
    const app__mooncake_choice_t second = {.preferred = 0, .available = 3};
    ck_assert_uint_eq(app__mooncake_choose(&second, 0, 5, 0), 2);
    ck_assert_uint_eq(app__mooncake_choose(&second, 1, 0, 2), 0);
    const app__mooncake_choice_t one = {.preferred = 1, .available = 0};
    ck_assert_uint_eq(app__mooncake_choose(&one, 7, 0, 0), 0);
    uint32_t index = 0;
    ck_assert(app__mooncake_nic_index("mlx5_13", &index));
    ck_assert_uint_eq(index, 13);
    ck_assert(app__mooncake_nic_index("mlx0", &index));
    ck_assert_uint_eq(index, 0);
    ck_assert(!app__mooncake_nic_index("eth", &index));
    ck_assert(!app__mooncake_nic_index("", &index));
}
END_TEST

// -- endpoint stores

static const char *const keys[] = {"a", "b", "c", "d", "e", "f", "g"};

static const char *insert(app__mc_endpoint_store_t *keep, app__mc_stored_t *entries, int i)
{
    entries[i].key = keys[i];
    const app__mc_stored_t *const victim = app__mc_store_insert(keep, &entries[i]);
    return victim == NULL ? "" : victim->key;
}

// Members leave in the order of their digits; both ways round the chain says who is left.
START_TEST(a_chain_keeps_its_order)
{
    static const char *const leave[] = {"0123", "3210", "1203", "2130", "0312"};
    sim_list_t chain = {0};
    sim_link_t links[4];
    for (size_t i = 0; i < SIM_COUNT_OF(links); i++) {
        sim_list_push_last(&chain, &links[i]);
    }
    bool in[4] = {true, true, true, true};
    for (size_t n = 0; n < SIM_COUNT_OF(links); n++) {
        const int which = leave[_i][n] - '0';
        sim_list_remove(&chain, &links[which]);
        in[which] = false;
        const sim_link_t *up = chain.first;
        const sim_link_t *down = chain.last;
        for (int i = 0; i < 4; i++) {
            if (in[i]) {
                ck_assert_ptr_eq(up, &links[i]);
                up = up->next;
            }
            if (in[3 - i]) {
                ck_assert_ptr_eq(down, &links[3 - i]);
                down = down->previous;
            }
        }
        ck_assert_ptr_null(up);
        ck_assert_ptr_null(down);
    }
}
END_TEST

START_TEST(fifo_takes_the_first)
{
    app__mc_endpoint_store_t keep;
    app__mc_stored_t entries[7] = {0};
    app__mc_store_init(&keep, APP_MOONCAKE_STORE_FIFO, 3);
    ck_assert_str_eq(insert(&keep, entries, 0), "");
    ck_assert_str_eq(insert(&keep, entries, 1), "");
    ck_assert_str_eq(insert(&keep, entries, 2), "");
    ck_assert_ptr_nonnull(app__mc_store_find(&keep, "a"));
    ck_assert_str_eq(insert(&keep, entries, 3), "a");
    ck_assert_ptr_null(app__mc_store_find(&keep, "a"));
    app__mc_store_remove(&keep, &entries[2]);
    ck_assert_uint_eq(keep.count, 2);
    ck_assert_str_eq(insert(&keep, entries, 4), "");
    ck_assert_str_eq(insert(&keep, entries, 5), "b");
    ck_assert_str_eq(insert(&keep, entries, 6), "d");
    ck_assert_uint_eq(keep.evictions, 3);
    app__mc_store_fini(&keep);
}
END_TEST

// The hand passes entries that were used and stays where it evicted one, as in the paper's figure
// 1.
START_TEST(sieve_takes_the_first_that_nobody_used)
{
    app__mc_endpoint_store_t keep;
    app__mc_stored_t entries[7] = {0};
    app__mc_store_init(&keep, APP_MOONCAKE_STORE_SIEVE, 4);
    for (int i = 0; i < 4; i++) {
        ck_assert_str_eq(insert(&keep, entries, i), "");
    }
    (void)app__mc_store_find(&keep, "a");
    (void)app__mc_store_find(&keep, "c");
    ck_assert_str_eq(insert(&keep, entries, 4), "b"); // a lost its mark
    (void)app__mc_store_find(&keep, "a");
    ck_assert_str_eq(insert(&keep, entries, 5), "d"); // c lost its mark, the hand goes on
    ck_assert_str_eq(insert(&keep, entries, 6), "e");
    ck_assert_ptr_nonnull(app__mc_store_find(&keep, "a"));
    ck_assert_ptr_nonnull(app__mc_store_find(&keep, "c"));
    // The entry that the hand points at may be removed for another reason.
    app__mc_store_remove(&keep, keep.hand != NULL ? keep.hand : app__mc_store_oldest(&keep));
    ck_assert_uint_eq(keep.count, 3);
    ck_assert_str_eq(insert(&keep, entries, 1), "");
    ck_assert_str_ne(insert(&keep, entries, 3), "");
    app__mc_store_fini(&keep);
}
END_TEST

START_TEST(who_is_pinned_leaves_last)
{
    app__mc_endpoint_store_t keep;
    app__mc_stored_t entries[6] = {0};
    app__mc_store_init(&keep, _i == 0 ? APP_MOONCAKE_STORE_FIFO : APP_MOONCAKE_STORE_SIEVE, 3);
    for (int i = 0; i < 3; i++) {
        ck_assert(app__mc_store_has_room(&keep));
        ck_assert_str_eq(insert(&keep, entries, i), "");
        app__mc_store_pin(&keep, &entries[i], true);
    }
    ck_assert(!app__mc_store_has_room(&keep));
    app__mc_store_pin(&keep, &entries[1], false);
    (void)app__mc_store_find(&keep, "b"); // used, but the only one that may leave
    ck_assert(app__mc_store_has_room(&keep));
    ck_assert_str_eq(insert(&keep, entries, 3), "b");
    app__mc_store_pin(&keep, &entries[3], true);
    ck_assert(!app__mc_store_has_room(&keep));
    ck_assert_str_eq(insert(&keep, entries, 4), _i == 0 ? "a" : "c"); // the hand is behind b
    app__mc_store_remove(&keep, &entries[3]);
    ck_assert(app__mc_store_has_room(&keep));
    ck_assert_uint_eq(keep.pinned_count, 1);
    app__mc_store_fini(&keep);
}
END_TEST

START_TEST(sieve_ends_when_all_were_used)
{
    enum { COUNT = 300 };
    app__mc_endpoint_store_t keep;
    static app__mc_stored_t entries[COUNT];
    static char names[COUNT][16];
    app__mc_store_init(&keep, APP_MOONCAKE_STORE_SIEVE, COUNT - 1);
    for (int i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof(names[i]), "n%d", i);
        entries[i].key = names[i];
        const app__mc_stored_t *const victim = app__mc_store_insert(&keep, &entries[i]);
        if (i + 1 < COUNT) {
            ck_assert_ptr_null(victim);
            ck_assert_ptr_eq(app__mc_store_find(&keep, names[i]), &entries[i]);
        } else {
            ck_assert_ptr_eq(victim, &entries[0]);
        }
    }
    app__mc_store_fini(&keep);
}
END_TEST

// -- block stores

START_TEST(lru_is_a_list_by_last_use)
{
    enum { CAPACITY = 37, IDS = 120, PROMPTS = 2000, PLACES = 130 };
    app__mooncake_prefix_t *const prefix =
        app__mooncake_prefix_create(APP__MOONCAKE_LRU, CAPACITY, PLACES);
    uint64_t list[CAPACITY]; // oldest first
    static bool on[IDS][PLACES];
    size_t held = 0;
    sim_random_t random;
    sim_random_init(&random, 1, 2, "test");
    for (int p = 0; p < PROMPTS; p++) {
        uint64_t ids[50];
        const size_t count = sim_random_below(&random, 50);
        const uint64_t from = sim_random_below(&random, IDS);
        for (size_t i = 0; i < count; i++) {
            ids[i] = i < 6 ? i : (from + i * i) % IDS; // some twice
        }
        size_t match = 0;
        for (; match < count; match++) {
            size_t at = 0;
            while (at < held && list[at] != ids[match]) {
                at++;
            }
            if (at == held) {
                break;
            }
        }
        ck_assert_uint_eq(app__mooncake_prefix_match(prefix, ids, count), match);
        app__mooncake_prefix_insert(prefix, ids, count, (uint32_t)(p % PLACES));
        for (size_t i = 0; i < count; i++) {
            size_t at = 0;
            while (at < held && list[at] != ids[i]) {
                at++;
            }
            if (at == held && held == CAPACITY) {
                at = 0;
                memset(on[list[0]], 0, sizeof(on[0])); // its copies are gone
            } else if (at == held) {
                held++;
            }
            memmove(&list[at], &list[at + 1], (held - at - 1) * sizeof(*list));
            list[held - 1] = ids[i];
            on[ids[i]][p % PLACES] = true;
        }
        uint64_t slot = 0;
        size_t cached = 0;
        for (uint64_t id = 0; id < IDS; id++) {
            cached += app__mooncake_prefix_slot(prefix, id, &slot);
        }
        ck_assert_uint_eq(cached, held);
    }
    uint64_t slot = 0;
    for (size_t i = 0; i < held; i++) {
        ck_assert(app__mooncake_prefix_slot(prefix, list[i], &slot));
        ck_assert_uint_lt(slot, CAPACITY);
        for (uint32_t place = 0; place < PLACES; place++) {
            ck_assert(app__mooncake_prefix_has(prefix, slot, place) == on[list[i]][place]);
        }
    }
    ck_assert(!app__mooncake_prefix_slot(prefix, IDS, &slot));
    app__mooncake_prefix_destroy(prefix);
}
END_TEST

static size_t there(const app__mooncake_prefix_t *prefix, uint64_t id)
{
    return app__mooncake_prefix_match(prefix, &id, 1);
}

START_TEST(lfu_and_length_aware_evict_what_they_say)
{
    const uint64_t prompt[] = {1, 2, 3};
    const uint64_t more[] = {7, 8};
    app__mooncake_prefix_t *lfu = app__mooncake_prefix_create(APP__MOONCAKE_LFU, 3, 1);
    app__mooncake_prefix_insert(lfu, prompt, 3, 0);
    app__mooncake_prefix_insert(lfu, prompt, 2, 0); // 1 and 2 twice
    app__mooncake_prefix_insert(lfu, &more[0], 1, 0);
    ck_assert_uint_eq(there(lfu, 3), 0);
    app__mooncake_prefix_insert(lfu, &more[1], 1, 0); // takes the place of 7
    ck_assert_uint_eq(there(lfu, 7), 0);
    ck_assert_uint_eq(there(lfu, 1) + there(lfu, 2) + there(lfu, 8), 3);
    app__mooncake_prefix_destroy(lfu);

    app__mooncake_prefix_t *length = app__mooncake_prefix_create(APP__MOONCAKE_LENGTH, 3, 1);
    app__mooncake_prefix_insert(length, prompt, 3, 0);
    app__mooncake_prefix_insert(length, more, 2, 0); // 7 takes the place of 3, 8 that of 2
    ck_assert_uint_eq(there(length, 1), 1);
    ck_assert_uint_eq(there(length, 2) + there(length, 3), 0);
    ck_assert_uint_eq(there(length, 7) + there(length, 8), 2);
    app__mooncake_prefix_destroy(length);

    app__mooncake_prefix_t *none = app__mooncake_prefix_create(APP__MOONCAKE_LRU, 0, 1);
    app__mooncake_prefix_insert(none, prompt, 3, 0);
    ck_assert_uint_eq(there(none, 1), 0);
    app__mooncake_prefix_destroy(none);
}
END_TEST

// A place that is lost takes the blocks along that no other place has; their slots are used again.
START_TEST(a_place_that_is_lost)
{
    static const uint64_t first[] = {1, 2, 3};
    static const uint64_t second[] = {1, 2, 7};
    static const uint64_t third[] = {8, 9};
    app__mooncake_prefix_t *const prefix = app__mooncake_prefix_create((uint32_t)_i, 5, 70);
    app__mooncake_prefix_insert(prefix, first, 3, 0);
    app__mooncake_prefix_insert(prefix, second, 3, 69);
    ck_assert_uint_eq(app__mooncake_prefix_drop(prefix, 0), 1); // block 3
    ck_assert_uint_eq(app__mooncake_prefix_drop(prefix, 0), 0);
    ck_assert_uint_eq(app__mooncake_prefix_match(prefix, first, 3), 2);
    ck_assert_uint_eq(app__mooncake_prefix_match(prefix, second, 3), 3);
    app__mooncake_prefix_insert(prefix, third, 2, 0);
    uint64_t seen = 0;
    static const uint64_t all[] = {1, 2, 7, 8, 9};
    for (size_t i = 0; i < SIM_COUNT_OF(all); i++) {
        uint64_t slot = 0;
        ck_assert(app__mooncake_prefix_slot(prefix, all[i], &slot));
        ck_assert_uint_lt(slot, 5); // slots stay below the capacity
        ck_assert_uint_eq(seen >> slot & 1, 0);
        seen |= UINT64_C(1) << slot;
        ck_assert_int_eq(app__mooncake_prefix_has(prefix, slot, 0), i >= 3);
    }
    ck_assert_uint_eq(app__mooncake_prefix_evictions(prefix), 0);
    ck_assert_uint_eq(app__mooncake_prefix_drop(prefix, 69), 3);
    ck_assert_uint_eq(app__mooncake_prefix_match(prefix, third, 2), 2);
    app__mooncake_prefix_destroy(prefix);
}
END_TEST

// -- traces

static sim_err_t read_text(const char *text, app__mooncake_trace_t *trace, sim_message_t *message)
{
    sim_err_t error =
        app__mooncake_trace_read("t.jsonl", text, strlen(text), UINT64_MAX, trace, message);
    if (error == SIM_OK) {
        error = app__mooncake_trace_lengths(trace, "t.jsonl", NULL, message);
        if (error != SIM_OK) {
            app__mooncake_trace_fini(trace);
        }
    }
    return error;
}

START_TEST(a_trace_is_read)
{
    app__mooncake_trace_t trace;
    sim_message_t message;
    ck_assert_int_eq(
        read_text("{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 5, "
                  "\"hash_ids\": [0, 18446744073709551615]}\n"
                  "\n"
                  " { \"hash_ids\":[] ,\"x\": {\"y\": [1, \"}\\\"\", null]}, \"output_length\":0,"
                  "\"input_length\":0,\"timestamp\":27.0625}\r\n",
                  &trace, &message),
        SIM_OK);
    ck_assert_uint_eq(trace.count, 2);
    ck_assert_uint_eq(trace.prompts[0].input_tokens, 600);
    ck_assert_uint_eq(trace.prompts[0].id_count, 2);
    ck_assert_uint_eq(trace.ids[1], UINT64_MAX);
    ck_assert_uint_eq(trace.prompts[1].timestamp_ms, 27);
    ck_assert_uint_eq(trace.prompts[0].timestamp_rest_ps, 0);
    ck_assert_uint_eq(trace.prompts[1].timestamp_rest_ps, UINT64_C(62500000));
    ck_assert_uint_eq(trace.prompts[1].id_count, 0);
    app__mooncake_trace_fini(&trace);
}
END_TEST

// No request is admitted before one that stands above it in the file: times that fall are raised.
START_TEST(times_that_fall_keep_the_order)
{
    static const char *const times[] = {"7", "7", "9.5", "3", "9.25", "9.5", "11", "0"};
    static const uint64_t expected_ms[] = {7, 7, 9, 9, 9, 9, 11, 11};
    char text[2000] = "";
    size_t size = 0;
    for (size_t i = 0; i < SIM_COUNT_OF(times); i++) {
        size += (size_t)snprintf(text + size, sizeof(text) - size,
                                 "{\"timestamp\": %s, \"input_length\": %zu, "
                                 "\"output_length\": 1, \"hash_ids\": [1]}\n",
                                 times[i], i);
    }
    app__mooncake_trace_t trace;
    sim_message_t message;
    ck_assert_int_eq(read_text(text, &trace, &message), SIM_OK);
    ck_assert_uint_eq(trace.count, SIM_COUNT_OF(times));
    ck_assert_uint_eq(trace.late, 3);
    for (size_t i = 0; i < trace.count; i++) {
        ck_assert_uint_eq(trace.prompts[i].timestamp_ms, expected_ms[i]);
        ck_assert_uint_eq(trace.prompts[i].timestamp_rest_ps,
                          expected_ms[i] == 9 ? UINT64_C(500000000) : 0);
        ck_assert_uint_eq(trace.prompts[i].input_tokens, i);
    }
    app__mooncake_trace_fini(&trace);
}
END_TEST

// -- traces of other projects

#define GOOD "{\"timestamp\": 5, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": [1]}\n"
#define MS SIM_PS_PER_MS

static const struct {
    const char *times[3]; // NULL: no timestamp
    app__mooncake_unit_t unit;
    sim_time_t interval_ps;
    sim_time_t expected_ps[3];
    const char *told; // part of the note, or of the error; NULL: nothing is told
} arrivals[] = {
    {{"0", "27", "3000"}, APP__MOONCAKE_UNIT_AUTO, SIM_AUTO, {0, 27 * MS, 3000 * MS}, NULL},
    {{"0.5", "27.25", "90"},
     APP__MOONCAKE_UNIT_AUTO,
     SIM_AUTO,
     {MS / 2, 27 * MS + MS / 4, 90 * MS},
     NULL},
    {{"0.0", "1.114", "2.5"},
     APP__MOONCAKE_UNIT_AUTO,
     SIM_AUTO,
     {0, 1114 * MS, 2500 * MS},
     "t.jsonl: timestamps have decimals and lie 1.25 apart on average, so they are taken as "
     "seconds"},
    {{"0.0", "1.114", "2.5"},
     APP__MOONCAKE_UNIT_MS,
     SIM_AUTO,
     {0, MS + 114 * (MS / 1000), 2 * MS + MS / 2},
     NULL},
    {{"0", "1", "3"},
     APP__MOONCAKE_UNIT_AUTO,
     SIM_AUTO,
     {0, MS, 3 * MS},
     "t.jsonl: 666.7 prompts arrive per second"},
    {{"0", "1", "3"}, APP__MOONCAKE_UNIT_S, SIM_AUTO, {0, 1000 * MS, 3000 * MS}, NULL},
    {{"7", "7", "7"}, APP__MOONCAKE_UNIT_AUTO, SIM_AUTO, {7 * MS, 7 * MS, 7 * MS}, NULL},
    {{"5", "6", "7"}, APP__MOONCAKE_UNIT_S, 5 * MS / 4, {0, 5 * MS / 4, 5 * MS / 2}, NULL},
    {{NULL, NULL, NULL}, APP__MOONCAKE_UNIT_AUTO, 5 * MS / 4, {0, 5 * MS / 4, 5 * MS / 2}, NULL},
    {{NULL, NULL, NULL},
     APP__MOONCAKE_UNIT_AUTO,
     SIM_AUTO,
     {SIM_TIME_NEVER},
     "t.jsonl:1:1: the requests have no timestamp, expected one in each, or arrival-interval"},
    {{"0", "1", "4000001"},
     APP__MOONCAKE_UNIT_S,
     SIM_AUTO,
     {SIM_TIME_NEVER},
     "timestamp-unit: the last timestamp is after 46 days"},
    {{"0", "1", "2"},
     APP__MOONCAKE_UNIT_S,
     UINT64_C(2000000000) * MS,
     {SIM_TIME_NEVER},
     "arrival-interval: the last prompt arrives after 46 days"},
};

static void keep_note(const char *text, void *ctx)
{
    snprintf(ctx, sizeof(((sim_message_t *)0)->text), "%s", text);
}

// Timestamps in milliseconds or seconds, or none at all, give the arrivals that they mean, or a
// message.
START_TEST(traces_of_others_arrive_in_time)
{
    char text[1000] = "";
    size_t size = 0;
    for (size_t i = 0; i < 3; i++) {
        const char *const time = arrivals[_i].times[i];
        size += (size_t)snprintf(
            text + size, sizeof(text) - size,
            "{%s%s%s\"input_length\": 512, \"output_length\": 1, \"hash_ids\": [1]}\n",
            time != NULL ? "\"timestamp\": " : "", time != NULL ? time : "",
            time != NULL ? ", " : "");
    }
    app__mooncake_trace_t trace;
    sim_message_t message = {.text = ""};
    ck_assert_msg(read_text(text, &trace, &message) == SIM_OK, "%s", message.text);
    sim_message_t note = {.text = ""};
    const sim_err_t error =
        app__mooncake_trace_arrivals(&trace, "t.jsonl", arrivals[_i].unit, arrivals[_i].interval_ps,
                                     512, keep_note, note.text, &message);
    const bool refused = arrivals[_i].expected_ps[0] == SIM_TIME_NEVER;
    ck_assert_msg((error != SIM_OK) == refused, "%s", message.text);
    for (size_t i = 0; i < 3 && !refused; i++) {
        ck_assert_uint_eq(trace.prompts[i].timestamp_ms * MS + trace.prompts[i].timestamp_rest_ps,
                          arrivals[_i].expected_ps[i]);
    }
    const char *const told = refused ? message.text : note.text;
    const char *const expected = arrivals[_i].told;
    ck_assert_msg(expected == NULL ? told[0] == '\0'
                                   : strncmp(told, expected, strlen(expected)) == 0,
                  "%s", told);
    app__mooncake_trace_fini(&trace);
}
END_TEST

// Prompts without hash ids, and ids of another size than block-tokens, are told.
START_TEST(ids_that_do_not_fit_are_told)
{
    app__mooncake_trace_t trace;
    sim_message_t message = {.text = ""};
    sim_message_t note = {.text = ""};
    ck_assert_int_eq(
        read_text("{\"timestamp\": 5, \"input_length\": 999, \"output_length\": 1}\n" GOOD, &trace,
                  &message),
        SIM_OK);
    ck_assert_int_eq(app__mooncake_trace_arrivals(&trace, "t", APP__MOONCAKE_UNIT_MS, SIM_AUTO, 1,
                                                  keep_note, note.text, &message),
                     SIM_OK);
    ck_assert_str_eq(note.text,
                     "t: prompts without hash_ids, so that nothing of them is cached: 1 of 2");
    ck_assert_uint_eq(trace.prompts[0].id_count, 0);
    app__mooncake_trace_fini(&trace);
    ck_assert_int_eq(read_text("{\"timestamp\": 5, \"input_length\": 64, \"output_length\": 1, "
                               "\"hash_ids\": [1, 2, 3, 4]}",
                               &trace, &message),
                     SIM_OK);
    ck_assert_int_eq(app__mooncake_trace_arrivals(&trace, "t", APP__MOONCAKE_UNIT_MS, SIM_AUTO, 512,
                                                  keep_note, note.text, &message),
                     SIM_OK);
    ck_assert_str_eq(note.text,
                     "t: a hash id stands for 16 tokens on average, and block-tokens is 512: hits "
                     "are counted in blocks of block-tokens");
    app__mooncake_trace_fini(&trace);
}
END_TEST

#define MEMBERS ", expected input_length and output_length"

static const struct {
    const char *text;
    const char *message;
} bad[] = {
    {"", "t.jsonl:1:1: the trace has no request, expected a JSON object in each line"},
    {"\xef\xbb\xbf\r\n\n",
     "t.jsonl:1:1: the trace has no request, expected a JSON object in each line"},
    {"\xef\xbb\xbf" GOOD "[1]", "t.jsonl:2:1: expected a JSON object, '{'"},
    {GOOD "{\"timestamp\": -5", "t.jsonl:2:15: expected a whole number that is not negative"},
    {GOOD "{\"timestamp\": 5.", "t.jsonl:2:15: expected a time, such as 12 or 12.5"},
    {GOOD "{\"timestamp\": 5e3", "t.jsonl:2:15: expected a time, such as 12 or 12.5"},
    {GOOD "{\"input_length\": 5.5", "t.jsonl:2:18: expected a whole number that is not negative"},
    {GOOD "{\"timestamp\": 99999999999999999999}",
     "t.jsonl:2:15: the number is too large, expected at most 4000000000"},
    {GOOD "{\"timestamp\": 5, \"timestamp\": 6",
     "t.jsonl:2:18: timestamp is given twice, expected it once"},
    {GOOD "{\"timestamp\": 5}", "t.jsonl:2:1: the request has no input_length" MEMBERS},
    {GOOD "{\"timestamp\": 5 \"x\"", "t.jsonl:2:17: expected ',' or '}'"},
    {GOOD "{\"timestamp\" 5", "t.jsonl:2:14: expected ':'"},
    {GOOD "{timestamp", "t.jsonl:2:2: expected a name in quotes"},
    {GOOD "{\"timestamp", "t.jsonl:2:2: the string has no end, expected a quote in the same line"},
    {GOOD "{\"hash_ids\": 7", "t.jsonl:2:14: expected a list of hash ids"},
    {GOOD "{\"hash_ids\": [7 8", "t.jsonl:2:17: expected ',' or ']'"},
    {GOOD "{\"other\": }", "t.jsonl:2:11: expected a value after ':'"},
    {GOOD "{\"other\": [1, ", "t.jsonl:2:11: expected a value after ':'"},
    {GOOD "{}", "t.jsonl:2:1: the object has none of timestamp, input_length and output_length, "
                "expected a request in each line"},
    {GOOD "{\"delay\": 5}",
     "t.jsonl:2:1: the request has a delay and no earlier one has its session_id, expected a "
     "timestamp, or the session_id of an earlier request"},
    {"{\"sub_requests\": [{}], \"hash_ids\": []}",
     "t.jsonl:1:24: hash_ids beside sub_requests, expected them in each of these"},
    {"{\"sub_requests\": 5}", "t.jsonl:1:18: expected a list of requests, in no other list"},
    {GOOD "{\"hash_ids\": [18446744073709551616",
     "t.jsonl:2:15: the number is too large, expected at most 18446744073709551615"},
    {GOOD "{\"hash_ids\": [-1", "t.jsonl:2:15: expected a whole number that is not negative"},
    {GOOD "{\"input_length\": 1, \"output_length\": 1}",
     "t.jsonl:2:1: the request has no timestamp and earlier ones have one, expected one in each "
     "request or in none"},
    {"{\"input_length\": 1, \"output_length\": 1}\n" GOOD,
     "t.jsonl:2:1: the request has a timestamp and earlier ones have none, expected one in each "
     "request or in none"},
    {"{\"timestamp\": 4, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": [1]} x",
     "t.jsonl:1:74: expected the end of the line"},
};

START_TEST(a_broken_trace_is_refused)
{
    app__mooncake_trace_t trace;
    sim_message_t message;
    ck_assert_int_eq(read_text(bad[_i].text, &trace, &message), SIM_ERR_INVALID);
    ck_assert_str_eq(message.text, bad[_i].message);
}
END_TEST

CHECK_MAIN(CHECK_TEST(slices_cover_every_length_once),
           CHECK_TEST(a_short_tail_joins_the_last_slice),
           CHECK_TEST(retries_leave_the_nic_that_failed), CHECK_LOOP(a_chain_keeps_its_order, 0, 5),
           CHECK_TEST(fifo_takes_the_first), CHECK_TEST(sieve_takes_the_first_that_nobody_used),
           CHECK_LOOP(who_is_pinned_leaves_last, 0, 2), CHECK_TEST(sieve_ends_when_all_were_used),
           CHECK_TEST(lru_is_a_list_by_last_use),
           CHECK_TEST(lfu_and_length_aware_evict_what_they_say),
           CHECK_LOOP(a_place_that_is_lost, 0, 3), CHECK_TEST(a_trace_is_read),
           CHECK_TEST(times_that_fall_keep_the_order),
           CHECK_LOOP(traces_of_others_arrive_in_time, 0, (int)SIM_COUNT_OF(arrivals)),
           CHECK_TEST(ids_that_do_not_fit_are_told),
           CHECK_LOOP(a_broken_trace_is_refused, 0, (int)SIM_COUNT_OF(bad)))
