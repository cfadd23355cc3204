// SPDX-License-Identifier: Apache-2.0
// Goal: a host's memory by itself (nic/memory.h) is zeros but for what was written, what a fill
// says, or what another owner has there; memory that nobody wrote costs nothing; what is forgotten
// leaves its neighbours alone.
// Method: writes across pages, many pages, fills, pages that are given back, and areas of owners.
// Does not pin: how packets bring contents (test_memory).
#include "nic/memory.h"
#include "tests/nic_pair.h"

// -- the memory by itself

START_TEST(memory_is_zeros_with_what_was_written)
{
    pair_config_t config;
    pair_config_init(&config);
    pair_t *const pair = pair_create(&config);
    nic_memory_t *const memory = nic_host_memory(pair->node[0]);
    ck_assert_uint_eq(nic_memory_bytes(memory), 0);
    ck_assert(!nic_memory_has(memory, 0, UINT64_MAX));
    uint8_t bytes[300];
    memset(bytes, 7, sizeof(bytes));
    nic_memory_read(memory, UINT64_MAX - 99, bytes, 100);
    ck_assert_uint_eq(bytes[0], 0);
    ck_assert_uint_eq(bytes[99], 0);
    ck_assert_uint_eq(bytes[100], 7);

    // Across a page, and at the very end of the address space.
    memset(bytes, 7, sizeof(bytes));
    nic_memory_write(memory, 8192 - 100, bytes, 200);
    nic_memory_write(memory, UINT64_MAX, bytes, 1);
    ck_assert(nic_memory_has(memory, 8192 - 100, 1));
    ck_assert(nic_memory_has(memory, 8192, 1));
    ck_assert(nic_memory_has(memory, UINT64_MAX, 1));
    ck_assert(nic_memory_has(memory, 0, 8192));
    ck_assert(!nic_memory_has(memory, 0, 8192 - 128));
    ck_assert(!nic_memory_has(memory, 8192 + 128, UINT64_C(1) << 40));
    uint8_t found[202];
    nic_memory_read(memory, 8192 - 101, found, sizeof(found));
    ck_assert_uint_eq(found[0], 0);
    ck_assert_mem_eq(found + 1, bytes, 200);
    ck_assert_uint_eq(found[201], 0);

    // Cleared lines are as new; a line that is cleared in part is not.
    nic_memory_clear(memory, 8192 - 90, 154);
    ck_assert(!nic_memory_has(memory, 8192, 64));
    ck_assert(nic_memory_has(memory, 8192 - 100, 1));
    nic_memory_read(memory, 8192 - 101, found, sizeof(found));
    ck_assert_uint_eq(found[101], 0);
    ck_assert_uint_eq(found[164], 0);
    ck_assert_uint_eq(found[165], 7);
    nic_memory_clear(memory, 8192 - 100, 10); // and now nothing is left of that one
    ck_assert(!nic_memory_has(memory, 8192 - 100, 1));

    nic_memory_write64(memory, 64, UINT64_C(0x0102030405060708));
    nic_memory_read(memory, 64, found, 8);
    ck_assert_uint_eq(found[0], 8);
    ck_assert_uint_eq(nic_memory_read64(memory, 65), UINT64_C(0x0001020304050607));
    pair_destroy(pair);
    pair_config_fini(&config);
}
END_TEST

START_TEST(many_pages_are_found_again)
{
    pair_config_t config;
    pair_config_init(&config);
    pair_t *const pair = pair_create(&config);
    nic_memory_t *const memory = nic_host_memory(pair->node[0]);
    const uint64_t stride = UINT64_C(0x10000010000);
    for (uint64_t i = 0; i < 3000; i++) {
        nic_memory_write64(memory, i * stride, i + 1);
    }
    for (uint64_t i = 0; i < 3000; i++) {
        ck_assert_uint_eq(nic_memory_read64(memory, i * stride), i + 1);
        ck_assert(!nic_memory_has(memory, i * stride + 4096, 4096));
    }
    ck_assert_uint_ge(nic_memory_bytes(memory), 3000 * 4096);
    // Every third is forgotten, the others are still found; then all, by a range of everything.
    for (uint64_t i = 0; i < 3000; i += 3) {
        nic_memory_forget(memory, i * stride, 8);
    }
    for (uint64_t i = 0; i < 3000; i++) {
        ck_assert_uint_eq(nic_memory_read64(memory, i * stride), i % 3 == 0 ? 0 : i + 1);
    }
    ck_assert_uint_lt(nic_memory_bytes(memory), 2200 * 4096);
    nic_memory_forget(memory, stride, 2999 * stride);
    ck_assert(!nic_memory_has(memory, stride, 2999 * stride));
    ck_assert_uint_lt(nic_memory_bytes(memory), 200000);
    nic_memory_write64(memory, stride, 5);
    ck_assert_uint_eq(nic_memory_read64(memory, stride), 5);
    pair_destroy(pair);
    pair_config_fini(&config);
}
END_TEST

// -- fills, and pages given back

static uint64_t word_of(uint64_t address, const void *ctx)
{
    return sim_mix64(address + *(const uint64_t *)ctx);
}

START_TEST(what_nobody_wrote_is_what_the_fill_says)
{
    const uint64_t seed = 7;
    pair_config_t config;
    pair_config_init(&config);
    pair_t *const pair = pair_create(&config);
    nic_memory_t *const memory = nic_host_memory(pair->node[0]);
    nic_memory_set_fill(memory, 1 << 20, 1 << 20, 16384, word_of, &seed);
    ck_assert(!nic_memory_has(memory, 0, 1 << 20));
    ck_assert(nic_memory_has(memory, 1 << 20, 1));
    ck_assert(nic_memory_has(memory, (1 << 20) + 4, 4)); // within a word
    ck_assert(!nic_memory_has(memory, (1 << 20) + 64, 16384 - 64));
    ck_assert_uint_eq(nic_memory_read64(memory, (1 << 20) + 16384),
                      word_of((1 << 20) + 16384, &seed));
    ck_assert_uint_eq(nic_memory_read64(memory, (1 << 20) + 16392), 0);
    ck_assert_uint_eq(nic_memory_read64(memory, 1 << 21), 0);
    ck_assert_uint_eq(nic_memory_bytes(memory), 0);
    // A page that someone writes keeps the rest of the fill; what is forgotten is as before.
    nic_memory_write64(memory, (1 << 20) + 128, 5);
    // A long range of pages that nobody wrote is still filled in.
    ck_assert(nic_memory_has(memory, (1 << 20) + 65536, 1 << 19));
    ck_assert(!nic_memory_has(memory, 1 << 21, 1 << 19));
    ck_assert_uint_eq(nic_memory_read64(memory, 1 << 20), word_of(1 << 20, &seed));
    ck_assert_uint_eq(nic_memory_read64(memory, (1 << 20) + 128), 5);
    nic_memory_write64(memory, 1 << 20, 6);
    ck_assert_uint_eq(nic_memory_read64(memory, 1 << 20), 6);
    ck_assert_uint_gt(nic_memory_bytes(memory), 4096);
    nic_memory_clear(memory, 1 << 20, 64);
    ck_assert_uint_eq(nic_memory_read64(memory, 1 << 20), word_of(1 << 20, &seed));
    nic_memory_forget(memory, 1 << 20, 4096);
    ck_assert(!nic_memory_has(memory, (1 << 20) + 64, 4096 - 64));
    ck_assert_uint_lt(nic_memory_bytes(memory), 4096);
    nic_memory_end_fill(memory, 1 << 20);
    ck_assert(!nic_memory_has(memory, 1 << 20, 1 << 20));
    pair_destroy(pair);
    pair_config_fini(&config);
}
END_TEST

// Two blocks in one page whose words lie in the lines of the fill: forgetting one, alone or with
// many pages behind it, leaves what arrived of the other.
START_TEST(what_is_forgotten_leaves_its_neighbours)
{
    const uint64_t seed = 7;
    const uint64_t base = 1 << 20;
    const uint64_t forgotten[] = {base + 128, UINT64_C(64) << 20};
    pair_config_t config;
    pair_config_init(&config);
    pair_t *const pair = pair_create(&config);
    nic_memory_t *const memory = nic_host_memory(pair->node[0]);
    nic_memory_set_fill(memory, base, base, 64, word_of, &seed);
    for (size_t i = 0; i < SIM_COUNT_OF(forgotten); i++) {
        nic_memory_write64(memory, base, 5);
        nic_memory_write64(memory, base + 128, 6);
        nic_memory_forget(memory, base + 128, forgotten[i] - base);
        ck_assert_uint_eq(nic_memory_read64(memory, base), 5);
        ck_assert_uint_eq(nic_memory_read64(memory, base + 128), word_of(base + 128, &seed));
        ck_assert_uint_gt(nic_memory_bytes(memory), 4096);
        nic_memory_forget(memory, base, 8);
        ck_assert_uint_eq(nic_memory_read64(memory, base), word_of(base, &seed));
        ck_assert_uint_lt(nic_memory_bytes(memory), 4096);
    }
    pair_destroy(pair);
    pair_config_fini(&config);
}
END_TEST

START_TEST(forgotten_pages_leave_no_gaps_in_the_table)
{
    enum { PAGES = 500 };
    pair_config_t config;
    pair_config_init(&config);
    pair_t *const pair = pair_create(&config);
    nic_memory_t *const memory = nic_host_memory(pair->node[0]);
    for (uint64_t i = 1; i <= PAGES; i++) {
        nic_memory_write64(memory, i << 12, i);
    }
    for (uint64_t i = 1; i <= PAGES; i += 3) {
        nic_memory_forget(memory, i << 12, 64);
    }
    for (uint64_t i = 1; i <= PAGES; i++) {
        ck_assert_uint_eq(nic_memory_read64(memory, i << 12), i % 3 == 1 ? 0 : i);
    }
    pair_destroy(pair);
    pair_config_fini(&config);
}
END_TEST

// -- areas of another owner

enum { PAGE = 4096, AREA = 4 * PAGE };

START_TEST(an_area_is_the_memory_of_its_owner)
{
    pair_config_t config;
    pair_config_init(&config);
    pair_t *const pair = pair_create(&config);
    nic_memory_t *const memory = nic_host_memory(pair->node[0]);
    static uint8_t area[AREA];
    const uint64_t at = UINT64_C(1) << 30;
    uint8_t bytes[AREA + 2 * PAGE];
    memset(bytes, 3, sizeof(bytes));
    memset(area, 7, sizeof(area));
    nic_memory_write(memory, at + PAGE, bytes, 1); // is forgotten
    nic_memory_map(memory, at, AREA, area);
    ck_assert_uint_eq(nic_memory_read64(memory, at + PAGE), UINT64_C(0x0707070707070707));
    ck_assert(nic_memory_has(memory, at + 100, 1));
    ck_assert(nic_memory_has(memory, at - PAGE, PAGE + 1));
    ck_assert(!nic_memory_has(memory, at - PAGE, PAGE));
    ck_assert(!nic_memory_has(memory, at + 100, 0));
    ck_assert(!nic_memory_has(memory, at + AREA, UINT64_C(1) << 40));

    // Across both ends.
    nic_memory_write(memory, at - 10, bytes, AREA + 20);
    ck_assert_mem_eq(area, bytes, AREA);
    ck_assert(nic_memory_equals(memory, at - 10, bytes, AREA + 20));
    ck_assert(!nic_memory_equals(memory, at - 11, bytes, AREA + 20));
    area[PAGE] = 4;
    ck_assert(!nic_memory_equals(memory, at - 10, bytes, AREA + 20));
    memset(bytes, 0, sizeof(bytes));
    nic_memory_read(memory, at - 10, bytes, AREA + 20);
    ck_assert_uint_eq(bytes[9], 3);
    ck_assert_uint_eq(bytes[10 + PAGE], 4);
    ck_assert_uint_eq(bytes[AREA + 19], 3);

    nic_memory_clear(memory, at + AREA - 1, UINT64_C(1) << 40);
    ck_assert_uint_eq(area[AREA - 2], 3);
    ck_assert_uint_eq(area[AREA - 1], 0);
    ck_assert_uint_eq(nic_memory_read64(memory, at + AREA), 0);
    nic_memory_forget(memory, at - PAGE, PAGE + 2);
    ck_assert_uint_eq(area[1], 0);
    ck_assert_uint_eq(area[2], 3);
    ck_assert_uint_eq(nic_memory_read64(memory, at - 8), 0);
    pair_destroy(pair);
    pair_config_fini(&config);
}
END_TEST

// Random areas come, take the place of others and go, as a whole or in part. A plain array says
// what each byte is.
START_TEST(areas_come_and_go)
{
    enum { PAGES = 64, OWNERS = 64 };
    static uint8_t expected[PAGES][PAGE];
    static uint8_t owners[OWNERS][8 * PAGE];
    const uint64_t base = UINT64_C(1) << 40;
    pair_config_t config;
    pair_config_init(&config);
    pair_t *const pair = pair_create(&config);
    nic_memory_t *const memory = nic_host_memory(pair->node[0]);
    for (uint64_t round = 0; round < 2000; round++) {
        const uint64_t draw = sim_mix64(round);
        const uint64_t count = 1 + draw % 8;
        const uint64_t first = (draw >> 8) % (PAGES - count + 1);
        const uint64_t at = base + first * PAGE;
        uint8_t *const owner = owners[round % OWNERS];
        if ((draw >> 16) % 3 == 0) {
            nic_memory_unmap(memory, at, count * PAGE);
            memset(expected[first], 0, count * PAGE);
        } else if ((draw >> 16) % 3 == 1) {
            memset(owner, (int)round, sizeof(owners[0]));
            nic_memory_map(memory, at, count * PAGE, owner);
            memcpy(expected[first], owner, count * PAGE);
        } else {
            memset(expected[first] + 100, (int)round, count * PAGE - 200);
            nic_memory_write(memory, at + 100, expected[first] + 100, count * PAGE - 200);
        }
        if (round % OWNERS == OWNERS - 1) { // so that no owner has two areas
            ck_assert(nic_memory_equals(memory, base, expected, sizeof(expected)));
            nic_memory_unmap(memory, base, sizeof(expected));
            memset(expected, 0, sizeof(expected));
        }
    }
    ck_assert(nic_memory_equals(memory, base, expected, sizeof(expected)));
    pair_destroy(pair);
    pair_config_fini(&config);
}
END_TEST

CHECK_MAIN(CHECK_TEST(memory_is_zeros_with_what_was_written),
           CHECK_TEST(many_pages_are_found_again),
           CHECK_TEST(what_nobody_wrote_is_what_the_fill_says),
           CHECK_TEST(what_is_forgotten_leaves_its_neighbours),
           CHECK_TEST(forgotten_pages_leave_no_gaps_in_the_table),
           CHECK_TEST(an_area_is_the_memory_of_its_owner), CHECK_TEST(areas_come_and_go))
