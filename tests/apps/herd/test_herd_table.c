// SPDX-License-Identifier: Apache-2.0
// Goal: the tables that clients read by READs hold every key where a client looks for it, and what
// is put is what is read.
// Method: populated tables in a host's memory, read as clients do, against what the values must be.
// Does not pin: where keys lie; the traffic (tests/apps/herd/test_herd.c).
#include <string.h>

#include "apps/herd/store/table.h"
#include "nic/host.h"
#include "tests/app_fixture.h"
#include "tests/check_main.h"

#define ADDRESS (UINT64_C(5) << 20)
#define KEYS 6000u

static world_t world;
static nic_memory_t *memory;
static app_herd_table_image_t *image;
static app_herd_table_t *table;

static void set_up(app_herd_table_kind_t kind, uint32_t value_bytes)
{
    world_init(&world);
    world_build(&world, "star", "hosts=2; rate=100Gbps; delay=1us");
    memory = nic_host_memory((net_node_t *)nic_node(nic_of_interface(world.net, 0)));
    image = app_herd_table_populate(kind, KEYS, value_bytes);
    table = app_herd_table_create(image, memory, ADDRESS);
}

static void tear_down(void)
{
    world_fini(&world);
    app_herd_table_destroy(table);
    app_herd_table_image_destroy(image);
}

// Looks a key up as a client of Pilaf does. Returns how many buckets it read; 0: the key is absent.
static uint32_t probe(app_city128_t key, uint8_t *value, uint32_t value_bytes)
{
    for (uint32_t h = 0; h < APP_HERD_HASHES; h++) {
        uint8_t bucket[APP_HERD_BUCKET_BYTES];
        uint8_t entry[2048];
        const app_herd_extent_t at = app_herd_table_bucket(image, key, h);
        app_herd_extent_t where;
        nic_memory_read(memory, ADDRESS + at.offset, bucket, at.bytes);
        if (app_herd_table_in_bucket(bucket, key, &where) != APP_HERD_FOUND) {
            continue;
        }
        ck_assert_uint_eq(where.bytes, APP_HERD_KEY_BYTES + value_bytes);
        nic_memory_read(memory, ADDRESS + where.offset, entry, where.bytes);
        if (app_herd_table_in_entry(bucket, entry, key) == APP_HERD_FOUND) {
            memcpy(value, entry + APP_HERD_KEY_BYTES, value_bytes);
            return h + 1;
        }
    }
    return 0;
}

static bool look(app_city128_t key, uint8_t *value, uint32_t value_bytes)
{
    uint8_t places[8192];
    uint32_t within = 0;
    app_herd_extent_t where;
    const app_herd_extent_t at = app_herd_table_neighbourhood(image, key);
    nic_memory_read(memory, ADDRESS + at.offset, places, at.bytes);
    if (!app_herd_table_in_neighbourhood(image, places, key, &within, &where)) {
        return false;
    }
    const uint64_t offset = where.offset != 0 ? where.offset : at.offset + within;
    nic_memory_read(memory, ADDRESS + offset, value, value_bytes);
    return true;
}

static bool find(app_herd_table_kind_t kind, app_city128_t key, uint8_t *value, uint32_t bytes)
{
    return kind == APP_HERD_CUCKOO ? probe(key, value, bytes) != 0 : look(key, value, bytes);
}

static const uint32_t sizes[] = {4, 13, 32, 1024};

START_TEST(every_key_is_where_it_is_looked_for)
{
    const app_herd_table_kind_t kind = (app_herd_table_kind_t)(_i % 3);
    const uint32_t bytes = sizes[_i / 3];
    set_up(kind, bytes);
    uint32_t missing = 0;
    for (uint32_t k = 0; k < KEYS; k++) {
        uint8_t value[1024];
        uint8_t expected[1024];
        if (find(kind, app_herd_key(k), value, bytes)) {
            app_herd_make_value(app_herd_key(k), 0, expected, bytes);
            ck_assert_int_eq(memcmp(value, expected, bytes), 0);
        } else {
            missing++;
        }
    }
    ck_assert_uint_eq(missing, app_herd_table_left_out(image));
    ck_assert_uint_le(missing, kind == APP_HERD_CUCKOO ? 0 : KEYS / 500);
    uint8_t value[1024];
    for (uint32_t k = KEYS; k < KEYS + 1000; k++) {
        ck_assert(!find(kind, app_herd_key(k), value, bytes));
    }
    ck_assert_uint_eq(nic_memory_bytes(memory), 0);
    tear_down();
}
END_TEST

START_TEST(what_is_put_is_read)
{
    const app_herd_table_kind_t kind = (app_herd_table_kind_t)(_i % 3);
    const uint32_t bytes = sizes[_i / 3];
    set_up(kind, bytes);
    for (uint32_t k = 0; k < KEYS; k += 97) {
        uint8_t value[1024];
        app_herd_make_value(app_herd_key(k), k + 1, value, bytes);
        const bool there = find(kind, app_herd_key(k), (uint8_t[1024]){0}, bytes);
        ck_assert_int_eq(app_herd_table_put(table, app_herd_key(k), value), there);
    }
    for (uint32_t k = 0; k < KEYS; k++) {
        uint8_t value[1024];
        uint32_t stamp = 0;
        if (find(kind, app_herd_key(k), value, bytes)) {
            ck_assert(app_herd_check_value(app_herd_key(k), value, bytes, &stamp));
            ck_assert_uint_eq(stamp, k % 97 == 0 ? k + 1 : 0);
        }
    }
    ck_assert(!app_herd_table_put(table, app_herd_key(KEYS + 5), (uint8_t[1024]){0}));
    tear_down();
}
END_TEST

// A table that is three quarters full, with three hashes, needs 1.6 buckets on average (Mitchell et
// al., USENIX ATC 2013).
START_TEST(pilaf_looks_into_few_buckets)
{
    set_up(APP_HERD_CUCKOO, 32);
    uint32_t buckets = 0;
    for (uint32_t k = 0; k < KEYS; k++) {
        uint8_t value[32];
        buckets += probe(app_herd_key(k), value, 32);
    }
    ck_assert_double_eq_tol((double)buckets / KEYS, 1.63, 0.05);
    tear_down();
}
END_TEST

// Two kinds of torn reads are noticed: an entry that changed after its bucket was read, and a
// bucket that was read in part.
START_TEST(what_is_torn_shows)
{
    set_up(APP_HERD_CUCKOO, 32);
    const app_city128_t key = app_herd_key(7);
    uint8_t bucket[APP_HERD_BUCKET_BYTES];
    uint8_t value[32];
    const uint32_t h = probe(key, value, 32) - 1;
    nic_memory_read(memory, ADDRESS + app_herd_table_bucket(image, key, h).offset, bucket, 32);
    app_herd_extent_t where;
    ck_assert_int_eq(app_herd_table_in_bucket(bucket, key, &where), APP_HERD_FOUND);
    app_herd_make_value(key, 9, value, 32);
    ck_assert(app_herd_table_put(table, key, value));
    uint8_t entry[48];
    nic_memory_read(memory, ADDRESS + where.offset, entry, 48);
    ck_assert_int_eq(app_herd_table_in_entry(bucket, entry, key), APP_HERD_TORN);
    bucket[20] ^= 1;
    ck_assert_int_eq(app_herd_table_in_bucket(bucket, key, &where), APP_HERD_TORN);
    tear_down();
}
END_TEST

CHECK_MAIN(CHECK_LOOP(every_key_is_where_it_is_looked_for, 0, 12),
           CHECK_LOOP(what_is_put_is_read, 0, 12), CHECK_TEST(pilaf_looks_into_few_buckets),
           CHECK_TEST(what_is_torn_shows))
