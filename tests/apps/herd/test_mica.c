// SPDX-License-Identifier: Apache-2.0
// Goal: the store keeps what is put into it, loses what MICA loses, and counts it; requests and
// answers have the bytes of HERD's enumeration.
// Method: the counts of populating 8,388,608 keys with the public store; an image against the same
// keys put one by one; a map of what was put against what is got, with a log that wraps.
// The test follows the store's contents in memory by hand.
// Does not pin: the time it takes, which is the worker's.
#include "apps/herd/store/mica.h"
#include "tests/check_main.h"

START_TEST(population_is_the_references)
{
    const app_mica_config_t config = {UINT64_C(2) << 20, UINT64_C(1) << 30, false};
    app_mica_image_t *const image = app_mica_populate(&config, 8388608, 32);
    const app_mica_stats_t stats = app_mica_image_stats(image);
    ck_assert_uint_eq(stats.evictions, 70523);
    ck_assert_uint_eq(stats.overwrites, 295);
    ck_assert_uint_eq(stats.log_head_bytes, 469762048);
    app_mica_t *const mica = app_mica_create(&config, image);
    uint32_t failing = 0;
    for (uint32_t i = 0; i < 8388608; i++) {
        uint8_t value[APP_HERD_VALUE_MAX];
        uint32_t bytes = 0;
        uint32_t stamp = 1;
        const app_city128_t key = app_herd_key(i);
        const bool hit = app_mica_get(mica, key, value, &bytes);
        failing += !hit;
        if (hit && i % 64 == 0) {
            ck_assert_uint_eq(bytes, 32);
            ck_assert(app_herd_check_value(key, value, bytes, &stamp) && stamp == 0);
        }
    }
    ck_assert_uint_eq(failing, 70818);
    // The image of eight million keys takes less than 64 MB, a worker's own memory at most 1 MB.
    ck_assert_uint_le(app_mica_image_bytes(image), 60u << 20);
    ck_assert_uint_le(app_mica_bytes(mica), 1u << 20);
    app_mica_destroy(mica);
    app_mica_image_destroy(image);
}
END_TEST

typedef struct layout {
    app_mica_config_t config;
    uint32_t keys;
    uint32_t value_bytes; // 0: by the key
} layout_t;

static const layout_t layouts[] = {
    {{256, 1 << 20, false}, 1000, 32},  {{256, 1 << 20, false}, 1000, 0},
    {{64, 1 << 20, false}, 1000, 32},   // buckets overflow
    {{256, 20000, false}, 1000, 32},    // the log wraps three times
    {{256, 20000, false}, 1000, 0},     //
    {{1, 4096, false}, 100, 0},         // everything at once
    {{256, 200000, true}, 1000, 1000},  // long values, a log that wraps
    {{1024, 1 << 20, true}, 100, 1024}, //
};

static uint32_t length_of(const layout_t *layout, app_city128_t key)
{
    return layout->value_bytes != 0 ? layout->value_bytes : app_herd_value_length(key);
}

static void put(app_mica_t *mica, const layout_t *layout, uint32_t index, uint32_t stamp)
{
    uint8_t value[APP_HERD_VALUE_MAX];
    const app_city128_t key = app_herd_key(index);
    app_herd_make_value(key, stamp, value, length_of(layout, key));
    app_mica_put(mica, key, value, length_of(layout, key));
}

// Returns the stamp of the value that the store gets for key `index`; -1: the key is absent.
static int64_t get(app_mica_t *mica, const layout_t *layout, uint32_t index)
{
    uint8_t value[APP_HERD_VALUE_MAX];
    uint32_t bytes = 0;
    uint32_t stamp = 0;
    const app_city128_t key = app_herd_key(index);
    if (!app_mica_get(mica, key, value, &bytes)) {
        return -1;
    }
    ck_assert_uint_eq(bytes, length_of(layout, key));
    ck_assert(app_herd_check_value(key, value, bytes, &stamp));
    return stamp;
}

// Does what get does from the memory that the store shows, as a remote reader of index and log
// would.
static int64_t get_shown(const app_mica_t *mica, const layout_t *layout, uint32_t index)
{
    const app_mica_config_t *const config = &layout->config;
    const app_city128_t key = app_herd_key(index);
    const uint64_t bucket = key.high & (config->bucket_count - 1);
    uint64_t slot = 0;
    for (uint32_t i = APP_MICA_SLOTS; i-- > 0;) {
        const uint64_t word = app_mica_word(mica, (bucket * APP_MICA_SLOTS + i) * 8);
        slot = (word & 1) != 0 && (word >> 1 & 0xffff) == key.high >> 48 ? word : slot;
    }
    const uint64_t offset = slot >> 17;
    if (slot == 0 || app_mica_stats(mica).appended_bytes - offset > config->log_bytes) {
        return -1;
    }
    uint8_t entry[APP_HERD_REQUEST_MAX + 8] = {0};
    const uint64_t left = config->log_bytes - offset % config->log_bytes;
    for (uint32_t at = 0; at < APP_HERD_REQUEST_MAX && at < left; at += 8) {
        const uint64_t log = config->bucket_count * APP_MICA_SLOTS * 8;
        const uint64_t word = app_mica_word(mica, log + offset % config->log_bytes + at);
        for (uint32_t i = 0; i < 8; i++) {
            entry[at + i] = (uint8_t)(word >> (8 * i));
        }
    }
    app_herd_request_t request;
    uint32_t stamp = 0;
    ck_assert(app_herd_decode(entry, sizeof(entry), config->large, &request));
    ck_assert_uint_eq(request.opcode, APP_MICA_PUT);
    if (request.key.low != key.low || request.key.high != key.high) {
        return -1;
    }
    ck_assert_uint_eq(request.value_bytes, length_of(layout, key));
    ck_assert(app_herd_check_value(key, request.value, request.value_bytes, &stamp));
    return stamp;
}

static uint32_t turns(void)
{
    return check_few(20000, 3000);
}

START_TEST(an_image_is_what_putting_leaves)
{
    const layout_t *const layout = &layouts[_i];
    app_mica_image_t *const image =
        app_mica_populate(&layout->config, layout->keys, layout->value_bytes);
    app_mica_t *const from_image = app_mica_create(&layout->config, image);
    app_mica_t *const put_singly = app_mica_create(&layout->config, NULL);
    for (uint32_t i = 0; i < layout->keys; i++) {
        put(put_singly, layout, i, 0);
    }
    uint64_t state = 1;
    for (uint32_t turn = 0; turn < turns(); turn++) {
        state = sim_mix64(state);
        const uint32_t index = (uint32_t)(state % (layout->keys * 5 / 4));
        if (state >> 60 < 5) {
            put(from_image, layout, index, turn);
            put(put_singly, layout, index, turn);
        } else {
            ck_assert_int_eq(get(from_image, layout, index), get(put_singly, layout, index));
        }
    }
    uint32_t there = 0;
    for (uint32_t i = 0; i < layout->keys * 5 / 4; i++) {
        const int64_t stamp = get_shown(from_image, layout, i);
        ck_assert_int_eq(stamp, get_shown(put_singly, layout, i));
        ck_assert_int_eq(stamp, get(from_image, layout, i));
        ck_assert_int_eq(stamp, get(put_singly, layout, i));
        there += stamp >= 0;
    }
    ck_assert_uint_gt(there, 0);
    const app_mica_stats_t a = app_mica_stats(from_image);
    const app_mica_stats_t b = app_mica_stats(put_singly);
    ck_assert_uint_eq(a.evictions, b.evictions);
    ck_assert_uint_eq(a.overwrites, b.overwrites);
    ck_assert_uint_eq(a.log_head_bytes, b.log_head_bytes);
    ck_assert_uint_eq(a.appended_bytes, b.appended_bytes);
    ck_assert_uint_eq(a.updated, b.updated);
    ck_assert_uint_eq(a.inserted, b.inserted);
    ck_assert_uint_eq(a.hits, b.hits);
    ck_assert_uint_gt(a.hits, 0);
    app_mica_destroy(from_image);
    app_mica_destroy(put_singly);
    app_mica_image_destroy(image);
}
END_TEST

START_TEST(what_is_got_is_what_was_put_last)
{
    const layout_t *const layout = &layouts[_i];
    app_mica_t *const mica = app_mica_create(&layout->config, NULL);
    int64_t *const last = sim_alloc_array(layout->keys, sizeof(*last));
    for (uint32_t i = 0; i < layout->keys; i++) {
        last[i] = -1;
    }
    uint64_t state = 2;
    uint64_t hits = 0;
    for (uint32_t turn = 1; turn < turns(); turn++) {
        state = sim_mix64(state);
        const uint32_t index = (uint32_t)(state % layout->keys);
        if (state >> 60 < 8) {
            put(mica, layout, index, turn);
            last[index] = turn;
            ck_assert_int_eq(get(mica, layout, index), turn);
        } else {
            // A cache may have lost the value, but it never returns an older one.
            const int64_t got = get(mica, layout, index);
            ck_assert(got == -1 || got == last[index]);
            hits += got != -1;
        }
    }
    ck_assert_uint_gt(hits, 0);
    const app_mica_stats_t stats = app_mica_stats(mica);
    const bool wraps = stats.appended_bytes > layout->config.log_bytes;
    ck_assert_uint_eq(stats.log_head_bytes, stats.appended_bytes % layout->config.log_bytes);
    ck_assert(wraps == (layout->config.log_bytes < 1000000));
    sim_free(last);
    app_mica_destroy(mica);
}
END_TEST

START_TEST(sizes_are_those_of_the_enumeration)
{
    for (uint32_t value = 8; value <= 46; value++) {
        ck_assert_uint_eq(app_herd_request_bytes(false, value, false), 17);
        ck_assert_uint_eq(app_herd_request_bytes(true, value, false), 18 + value);
        ck_assert_uint_eq(app_herd_answer_bytes(true, true, value), value);
        ck_assert_uint_eq(app_herd_answer_bytes(true, false, value), 0);
        ck_assert_uint_eq(app_herd_answer_bytes(false, true, value), 0);
        ck_assert_uint_eq(app_herd_slot_bytes(value), 64);
    }
    ck_assert_uint_eq(app_herd_slot_bytes(47), 1024);
    ck_assert_uint_eq(app_herd_slot_bytes(1005), 1024);
    ck_assert_uint_eq(app_herd_slot_bytes(1024), 1088);
    ck_assert_uint_eq(app_herd_immediate(11, 31), 0xb001f);
}
END_TEST

START_TEST(requests_come_back_from_their_bytes)
{
    const bool large = _i != 0;
    for (uint32_t bytes = 4; bytes <= (large ? 1024u : 46u); bytes++) {
        uint8_t value[APP_HERD_VALUE_MAX];
        uint8_t buffer[APP_HERD_REQUEST_MAX];
        const app_city128_t key = app_herd_key(bytes);
        app_herd_make_value(key, 7, value, bytes);
        const app_herd_request_t put_request = {key, APP_HERD_PUT, bytes, value};
        const uint32_t count = app_herd_encode(&put_request, large, buffer);
        ck_assert_uint_eq(count, app_herd_request_bytes(true, bytes, large));
        ck_assert_uint_eq(buffer[16], 122);
        app_herd_request_t read;
        ck_assert(app_herd_decode(buffer, count, large, &read));
        ck_assert(read.key.low == key.low && read.key.high == key.high);
        ck_assert(read.opcode == APP_HERD_PUT && read.value_bytes == bytes);
        ck_assert_mem_eq(read.value, value, bytes);
        ck_assert(!app_herd_decode(buffer, count - 1, large, &read));
        buffer[16] = 7;
        ck_assert(!app_herd_decode(buffer, count, large, &read));
        const app_herd_request_t get_request = {key, APP_HERD_GET, 0, NULL};
        ck_assert_uint_eq(app_herd_encode(&get_request, large, buffer), 17);
        ck_assert_uint_eq(buffer[16], 121);
        ck_assert(app_herd_decode(buffer, 17, large, &read) && read.opcode == APP_HERD_GET);
    }
}
END_TEST

CHECK_MAIN(CHECK_MANY(population_is_the_references),
           CHECK_LOOP(an_image_is_what_putting_leaves, 0, SIM_COUNT_OF(layouts)),
           CHECK_LOOP(what_is_got_is_what_was_put_last, 0, SIM_COUNT_OF(layouts)),
           CHECK_TEST(sizes_are_those_of_the_enumeration),
           CHECK_LOOP(requests_come_back_from_their_bytes, 0, 2))
