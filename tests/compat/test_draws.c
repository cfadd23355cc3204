// SPDX-License-Identifier: Apache-2.0
// tests/compat/test_draws.c - the random numbers of the HPCC project's simulator.
//
// Goal: streams of MRG32k3a begin where they should, by run and by number, and rand() is glibc's.
// Method: first numbers of streams from a second implementation in another language, which took its
// jumps from matrices of its own (they are those the generator's authors publish); streams left out
// or begun later against streams drawn one by one; numbers a C program printed with glibc.
// Not pinned: which decision takes which number (tests/test_hpcc_agreement.sh).
#include "compat/hpcc/draws.h"

#include "tests/check_main.h"

START_TEST(streams_begin_where_they_should)
{
    static const struct {
        uint64_t run;
        uint64_t first;
        double numbers[4];
    } cases[] = {
        {1,
         26,
         {0x1.658c7b9e82248p-1, 0x1.d23c820ed129cp-1, 0x1.40e69268bb570p-2, 0x1.84e7b743fc44fp-1}},
        {7,
         1250,
         {0x1.77cd962d570a1p-1, 0x1.6427f7e160797p-6, 0x1.f4bae476d7d9bp-5, 0x1.e7a176d63330ap-1}},
    };
    for (size_t c = 0; c < SIM_COUNT_OF(cases); c++) {
        compat_draws_t *const draws = compat_draws_create(cases[c].run, cases[c].first);
        for (int i = 0; i < 4; i++) {
            const double number = compat_draws_next(draws);
            ck_assert_msg(number == cases[c].numbers[i], "run %zu, %d: %a", c, i, number);
        }
        compat_draws_destroy(draws);
    }
}
END_TEST

START_TEST(streams_can_be_left_out)
{
    compat_draws_t *const all = compat_draws_create(3, 10);
    compat_draws_t *const later = compat_draws_create(3, 15);
    compat_draws_t *const some = compat_draws_create(3, 10);
    for (int i = 0; i < 5; i++) {
        (void)compat_draws_next(all);
        compat_draws_skip(some);
    }
    for (int i = 0; i < 10; i++) {
        const double number = compat_draws_next(all);
        ck_assert(number >= 0.0 && number < 1.0);
        ck_assert(number == compat_draws_next(later));
        ck_assert(number == compat_draws_next(some));
    }
    compat_draws_destroy(all);
    compat_draws_destroy(later);
    compat_draws_destroy(some);
}
END_TEST

START_TEST(streams_go_on)
{
    static const double numbers[] = {0x1.d7711ecf0be91p-2, 0x1.d0299bb921ce9p-5,
                                     0x1.826648c9f31b3p-4, 0x1.6ec8ea66033e8p-1,
                                     0x1.2e779a95c12dap-1};
    compat_draws_stream_t *const stream = compat_draws_stream_create(1, 50);
    for (size_t i = 0; i < SIM_COUNT_OF(numbers); i++) {
        const double number = compat_draws_stream_next(stream);
        ck_assert_msg(number == numbers[i], "%zu: %a", i, number);
    }
    compat_draws_stream_destroy(stream);
}
END_TEST

START_TEST(rand_is_that_of_glibc)
{
    compat_draws_t *const draws = compat_draws_create(1, 0);
    ck_assert_uint_eq(compat_draws_rand(draws), 1804289383);
    ck_assert_uint_eq(compat_draws_rand(draws), 846930886);
    ck_assert_uint_eq(compat_draws_rand(draws), 1681692777);
    for (int i = 3; i < 100000; i++) {
        (void)compat_draws_rand(draws);
    }
    ck_assert_uint_eq(compat_draws_rand(draws), 1185112642);
    compat_draws_destroy(draws);
}
END_TEST

CHECK_MAIN(CHECK_TEST(streams_begin_where_they_should), CHECK_TEST(streams_can_be_left_out),
           CHECK_TEST(streams_go_on), CHECK_TEST(rand_is_that_of_glibc))
