// SPDX-License-Identifier: Apache-2.0
// tests/kernel/containers/test_map.c - maps find what was added.
//
// Goal: numbers of all sizes are found, others are not; removal leaves the rest, also around the
// end of the table and along clusters; names are found by hash and comparison; several entries of
// one key are all found; a cleared map is empty and usable.
// Method: keys that lie dense, sparse and in one bucket. (fuzz_map.c compares long
// sequences of operations with an array.)
// Not pinned: the places of entries.
#include "kernel/map.h"

#include <stdio.h>
#include <string.h>

#include "tests/check_main.h"

#define COUNT 1000

START_TEST(numbers_are_found)
{
    static const uint64_t factors[] = {1, UINT64_C(1) << 32, UINT64_MAX / COUNT};
    for (size_t f = 0; f < SIM_COUNT_OF(factors); f++) {
        sim_map_t map = {NULL, 0, 0};
        ck_assert_uint_eq(sim_map_get(&map, 0), SIM_MAP_NONE);
        for (uint64_t i = 0; i < COUNT; i++) {
            sim_map_add(&map, i * factors[f], i);
            ck_assert_uint_eq(map.count, i + 1);
            ck_assert_uint_ge(map.capacity, 2 * map.count);
        }
        for (uint64_t i = 0; i < COUNT; i++) {
            ck_assert_uint_eq(sim_map_get(&map, i * factors[f]), i);
        }
        ck_assert_uint_eq(sim_map_get(&map, UINT64_MAX), SIM_MAP_NONE);
        sim_map_fini(&map);
        ck_assert_uint_eq(sim_map_get(&map, 0), SIM_MAP_NONE);
    }
}
END_TEST

START_TEST(removal_leaves_the_rest)
{
    sim_map_t map = {NULL, 0, 0};
    ck_assert(!sim_map_remove(&map, 7, SIM_MAP_NONE));
    for (uint64_t i = 0; i < COUNT; i++) {
        sim_map_add(&map, i, i);
    }
    for (uint64_t i = 0; i < COUNT; i++) {
        const uint64_t key = i * 7 % COUNT;
        ck_assert(sim_map_remove(&map, key, SIM_MAP_NONE));
        ck_assert(!sim_map_remove(&map, key, SIM_MAP_NONE));
        for (uint64_t j = 0; j < COUNT; j += 13) {
            ck_assert_uint_eq(sim_map_get(&map, j * 7 % COUNT),
                              j <= i ? SIM_MAP_NONE : j * 7 % COUNT);
        }
    }
    ck_assert_uint_eq(map.count, 0);
    sim_map_fini(&map);
}
END_TEST

// Returns the index of a name among names, or SIM_MAP_NONE.
static uint64_t find_name(const sim_map_t *map, char (*names)[8], const char *name)
{
    SIM_MAP_EACH (index, map, sim_map_hash(name, strlen(name))) {
        if (strcmp(names[index], name) == 0) {
            return index;
        }
    }
    return SIM_MAP_NONE;
}

START_TEST(names_are_found)
{
    static char names[COUNT][8];
    sim_map_t map = {NULL, 0, 0};
    for (uint64_t i = 0; i < COUNT; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "n%u", (unsigned)i * 37);
        ck_assert_uint_eq(find_name(&map, names, names[i]), SIM_MAP_NONE);
        sim_map_add(&map, sim_map_hash(names[i], strlen(names[i])), i);
    }
    for (uint64_t i = 0; i < COUNT; i++) {
        ck_assert_uint_eq(find_name(&map, names, names[i]), i);
    }
    ck_assert_uint_eq(find_name(&map, names, ""), SIM_MAP_NONE);
    ck_assert_uint_ne(sim_map_hash("a", 1), sim_map_hash("a\0", 2));
    sim_map_fini(&map);
}
END_TEST

START_TEST(entries_of_one_key_are_all_found)
{
    sim_map_t map = {NULL, 0, 0};
    for (uint64_t i = 0; i < 20; i++) {
        sim_map_add(&map, 5, i);
        sim_map_add(&map, 100 + i, 100);
    }
    ck_assert(sim_map_remove(&map, 5, 7));
    ck_assert(!sim_map_remove(&map, 5, 7));
    uint64_t seen = 0;
    SIM_MAP_EACH (value, &map, 5) {
        ck_assert_uint_lt(value, 20);
        ck_assert_uint_eq(seen >> value & 1, 0);
        seen |= UINT64_C(1) << value;
    }
    ck_assert_uint_eq(seen, 0xfff7f);
    sim_map_clear(&map);
    ck_assert_uint_eq(map.count, 0);
    ck_assert_uint_eq(sim_map_get(&map, 5), SIM_MAP_NONE);
    sim_map_add(&map, 5, UINT64_MAX - 1);
    ck_assert_uint_eq(sim_map_get(&map, 5), UINT64_MAX - 1);
    sim_map_fini(&map);
}
END_TEST

CHECK_MAIN(CHECK_TEST(numbers_are_found), CHECK_TEST(removal_leaves_the_rest),
           CHECK_TEST(names_are_found), CHECK_TEST(entries_of_one_key_are_all_found))
