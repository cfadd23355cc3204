// SPDX-License-Identifier: Apache-2.0
// tests/kernel/containers/test_ring.c - rings return elements in the order in which they came.
//
// Goal: the oldest element leaves first, also after the ring has grown in the middle of its array
// and after the numbers of elements have wrapped; numbers stay valid; the first capacity is the
// one that is asked for; new places hold zeros.
// Method: rings of numbers that count. (fuzz_ring.c compares with an array.)
// Not pinned: the addresses of elements.
#include "kernel/ring.h"

#include "tests/check_main.h"

typedef SIM_RING(uint64_t) numbers_t;

START_TEST(the_oldest_leaves_first)
{
    static const uint32_t starts[] = {0, 5, UINT32_MAX - 2};
    for (size_t s = 0; s < SIM_COUNT_OF(starts); s++) {
        numbers_t ring = {.first = starts[s], .end = starts[s]};
        uint64_t in = 0;
        uint64_t out = 0;
        for (uint32_t burst = 1; burst < 40; burst++) {
            for (uint32_t i = 0; i < burst; i++) {
                SIM_RING_PUSH(&ring, in++);
            }
            ck_assert_uint_eq(SIM_RING_COUNT(&ring), in - out);
            ck_assert_uint_eq(SIM_RING_AT(&ring, ring.first), out);
            ck_assert_uint_eq(SIM_RING_AT(&ring, ring.end - 1), in - 1);
            for (uint32_t i = 0; i < burst / 2; i++) {
                ck_assert_uint_eq(SIM_RING_POP(&ring), out++);
            }
        }
        while (SIM_RING_COUNT(&ring) > 0) {
            ck_assert_uint_eq(SIM_RING_POP(&ring), out++);
        }
        ck_assert_uint_eq(out, in);
        SIM_RING_FINI(&ring);
    }
}
END_TEST

START_TEST(growing_doubles_and_keeps_numbers)
{
    numbers_t ring = {.first = 3, .end = 3};
    for (uint64_t number = 3; number < 103; number++) {
        const uint32_t before = ring.capacity;
        SIM_RING_ROOM(&ring, 2u);
        ck_assert_uint_eq(ring.capacity, number == 3            ? 2
                                         : number - 3 == before ? 2 * before
                                                                : before);
        ck_assert(SIM_RING_AT(&ring, ring.end) == 0);
        SIM_RING_PUSH(&ring, number);
    }
    for (uint32_t number = 3; number < 103; number++) {
        ck_assert_uint_eq(SIM_RING_AT(&ring, number), number);
    }
    SIM_RING_FINI(&ring);
}
END_TEST

// Structs that keep the parts of a ring as fields of their own, and elements of any size.
START_TEST(parts_can_be_fields)
{
    typedef struct triple {
        char bytes[3];
    } triple_t;
    triple_t *items = NULL;
    uint32_t capacity = 0;
    SIM_RING_GROW(items, 7, 7, &capacity, 1);
    ck_assert_uint_eq(capacity, 1);
    items[0] = (triple_t){"ab"};
    SIM_RING_GROW(items, 7, 8, &capacity, 1);
    ck_assert_uint_eq(capacity, 2);
    ck_assert_str_eq(items[7 % 2].bytes, "ab");
    sim_free(items);
}
END_TEST

CHECK_MAIN(CHECK_TEST(the_oldest_leaves_first), CHECK_TEST(growing_doubles_and_keeps_numbers),
           CHECK_TEST(parts_can_be_fields))
