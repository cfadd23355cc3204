// SPDX-License-Identifier: Apache-2.0
// test_rnic_cache.c - what the caches of the detailed NIC hold.
//
// Goal: capacity, ways and replacement do what they say.
// Method: keys in patterns whose hits are known: a working set that fits, a cycle that does not,
// keys at random, whose hit rate is capacity over keys.
// Not pinned: which set a key falls into.
#include "nic/store/flat/set_cache.h"
#include "tests/check_main.h"

static uint64_t hits_of_cycle(uint64_t entries, uint64_t ways, bool at_random, uint64_t keys)
{
    nic_cache_t cache;
    nic_cache_init(&cache, entries, ways, at_random, 1);
    uint64_t hits = 0;
    for (uint64_t turn = 0; turn < 100; turn++) {
        for (uint64_t key = 1; key <= keys; key++) {
            hits += nic_cache_insert(&cache, key);
        }
    }
    nic_cache_fini(&cache);
    return hits;
}

START_TEST(what_fits_stays)
{
    ck_assert_uint_eq(hits_of_cycle(64, 64, false, 64), 99 * 64);
    ck_assert_uint_eq(hits_of_cycle(64, 64, true, 64), 99 * 64);
}
END_TEST

START_TEST(a_cycle_too_long_defeats_lru_and_not_chance)
{
    ck_assert_uint_eq(hits_of_cycle(64, 64, false, 65), 0);
    ck_assert_uint_gt(hits_of_cycle(64, 64, true, 65), 90 * 65);
}
END_TEST

// Keys at random: about entries / keys of them are there, whatever the replacement.
START_TEST(keys_at_random)
{
    for (uint32_t at_random = 0; at_random < 2; at_random++) {
        nic_cache_t cache;
        nic_cache_init(&cache, 256, 8, at_random != 0, 7);
        uint64_t state = 5;
        uint64_t hits = 0;
        for (uint32_t i = 0; i < 200000; i++) {
            state = state * UINT64_C(6364136223846793005) + 1;
            hits += nic_cache_insert(&cache, 1 + (state >> 33) % 1024);
        }
        const double rate = (double)hits / 200000;
        ck_assert_double_gt(rate, 0.22);
        ck_assert_double_lt(rate, 0.28);
        nic_cache_fini(&cache);
    }
}
END_TEST

// With any number of entries and ways, all entries can hold a key.
START_TEST(entries_that_ways_do_not_divide)
{
    static const uint64_t sizes[][2] = {{100, 64}, {15, 8}, {9, 8}, {1000, 7}, {3, 2}, {65, 64}};
    for (uint32_t i = 0; i < 2 * SIM_COUNT_OF(sizes); i++) {
        const uint64_t entries = sizes[i / 2][0];
        nic_cache_t cache;
        nic_cache_init(&cache, entries, sizes[i / 2][1], i % 2 != 0, 7);
        uint64_t held = 0;
        for (uint64_t key = 1; key <= 100 * entries; key++) {
            (void)nic_cache_insert(&cache, key);
        }
        // Each key that is present is removed; then there is room for as many.
        for (uint64_t key = 1; key <= 100 * entries; key++) {
            uint32_t slot = nic_cache_set(&cache, key);
            const uint32_t end = slot + (uint32_t)cache.ways;
            while (slot < end && cache.slots[slot].key != key) {
                slot++;
            }
            held += slot < end;
            nic_cache_remove(&cache, key);
        }
        ck_assert_uint_eq(held, entries);
        for (uint64_t key = 1; key <= 100 * entries; key++) {
            ck_assert(!nic_cache_insert(&cache, key));
        }
        nic_cache_fini(&cache);
    }
}
END_TEST

START_TEST(the_least_recently_used_gives_way)
{
    nic_cache_t cache;
    nic_cache_init(&cache, 2, 2, false, 1);
    ck_assert(!nic_cache_insert(&cache, 1));
    ck_assert(!nic_cache_insert(&cache, 2));
    ck_assert(nic_cache_insert(&cache, 1));
    ck_assert(!nic_cache_insert(&cache, 3)); // 2 goes
    ck_assert(nic_cache_insert(&cache, 1));
    ck_assert(!nic_cache_insert(&cache, 2));
    nic_cache_remove(&cache, 2);
    nic_cache_remove(&cache, 99);
    ck_assert(nic_cache_insert(&cache, 1));
    ck_assert(!nic_cache_insert(&cache, 2));
    nic_cache_fini(&cache);
}
END_TEST

CHECK_MAIN(CHECK_TEST(what_fits_stays), CHECK_TEST(a_cycle_too_long_defeats_lru_and_not_chance),
           CHECK_TEST(keys_at_random), CHECK_TEST(entries_that_ways_do_not_divide),
           CHECK_TEST(the_least_recently_used_gives_way))
