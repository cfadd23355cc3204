// SPDX-License-Identifier: Apache-2.0
// tests/kernel/test_share.c - when threads share windows, and when one runs them alone.
//
// Goal: threads go on sharing where that is faster than one of them alone, and not where it is
// slower; trying the slower way costs at most a fiftieth of the time; one bad meeting ends a try.
// Method: the times of windows are given, nothing is measured.
// Not pinned: real times.
#include "tests/check_main.h"

#include "kernel/engine/threads/share.h"

#define US UINT64_C(1000)

// Runs windows of these times until `windows` are over; returns the time that went by.
static uint64_t pass(sim__share_t *share, uint64_t *now_ns, uint32_t windows, uint64_t shared_ns,
                     uint64_t alone_ns, uint64_t shares_ns, uint64_t *tried_ns)
{
    const uint64_t began_ns = *now_ns;
    for (uint32_t i = 0; i < windows; i++) {
        if (share->alone) {
            *now_ns += alone_ns;
            if (sim__share_looks(share)) {
                sim__share_reconsider(share, *now_ns);
            }
        } else {
            *now_ns += shared_ns;
            *tried_ns += shared_ns;
            sim__share_judge(share, *now_ns, shared_ns, shares_ns);
        }
    }
    return *now_ns - began_ns;
}

START_TEST(full_windows_are_shared)
{
    sim__share_t share = {0};
    uint64_t now_ns = 7;
    uint64_t tried_ns = 0;
    const uint64_t passed_ns = pass(&share, &now_ns, 10000, 16 * US, 28 * US, 30 * US, &tried_ns);
    ck_assert(!share.alone);
    ck_assert_uint_eq(passed_ns, 10000 * 16 * US);
    ck_assert_uint_eq(tried_ns, passed_ns);
}
END_TEST

// Narrow windows may gain from sharing, or only seem to: cores that exchange all their data are
// slow.
START_TEST(narrow_windows_are_compared)
{
    sim__share_t share = {0};
    uint64_t now_ns = 7;
    uint64_t tried_ns = 0;
    uint64_t passed_ns = pass(&share, &now_ns, 100000, 5 * US, 8 * US, 9 * US, &tried_ns);
    ck_assert_uint_gt(passed_ns, tried_ns);
    ck_assert_uint_le(passed_ns, 100000 * 5 * US * 201 / 200);
    share = (sim__share_t){0};
    passed_ns = pass(&share, &now_ns, 100000, 5 * US, 4 * US, 9 * US, &tried_ns);
    ck_assert_uint_le(passed_ns, 100000 * 4 * US * 26 / 25);
}
END_TEST

START_TEST(empty_windows_are_not)
{
    sim__share_t share = {0};
    uint64_t now_ns = 7;
    uint64_t tried_ns = 0;
    const uint64_t passed_ns = pass(&share, &now_ns, 1000000, 5 * US, 2 * US, 6 * US, &tried_ns);
    ck_assert_uint_gt(tried_ns, 64 * 5 * US); // it did try again
    ck_assert_uint_le(passed_ns, 1000000 * 2 * US * 26 / 25);
}
END_TEST

// Sharing gains little: one thread alone is tried and found to be slower.
START_TEST(a_small_gain_is_taken)
{
    sim__share_t share = {0};
    uint64_t now_ns = 7;
    uint64_t tried_ns = 0;
    const uint64_t passed_ns = pass(&share, &now_ns, 100000, 20 * US, 25 * US, 30 * US, &tried_ns);
    ck_assert_uint_lt(tried_ns, passed_ns);
    ck_assert_uint_le(passed_ns, 100000 * 20 * US * 26 / 25);
}
END_TEST

// Each barrier takes four milliseconds because another program has the processor.
START_TEST(a_bad_meeting_ends_a_try)
{
    sim__share_t share = {0};
    uint64_t now_ns = 7;
    uint64_t tried_ns = 0;
    const uint64_t passed_ns =
        pass(&share, &now_ns, 100000, 4000 * US, 20 * US, 24 * US, &tried_ns);
    ck_assert_uint_gt(tried_ns, 3 * 4000 * US);
    ck_assert_uint_le(passed_ns, 100000 * 20 * US * 26 / 25 + 3 * 4000 * US);
}
END_TEST

// Windows become full, and empty again.
START_TEST(they_come_back)
{
    sim__share_t share = {0};
    uint64_t now_ns = 7;
    uint64_t tried_ns = 0;
    (void)pass(&share, &now_ns, 10000, 5 * US, 2 * US, 6 * US, &tried_ns);
    ck_assert(share.alone);
    (void)pass(&share, &now_ns, 10000, 22 * US, 30 * US, 32 * US, &tried_ns);
    ck_assert(!share.alone);
    (void)pass(&share, &now_ns, 10000, 5 * US, 2 * US, 6 * US, &tried_ns);
    ck_assert(share.alone);
}
END_TEST

// Windows that two meetings take a third of are not tried at all.
START_TEST(the_narrowest_are_left_alone)
{
    sim__share_t share = {0};
    uint64_t now_ns = 7;
    uint64_t tried_ns = 0;
    (void)pass(&share, &now_ns, 200, 1500, 900, 1600, &tried_ns);
    ck_assert(share.alone);
    const uint64_t before_ns = tried_ns;
    (void)pass(&share, &now_ns, 1000000, 1500, 900, 1600, &tried_ns);
    ck_assert_uint_eq(tried_ns, before_ns);
}
END_TEST

CHECK_MAIN(CHECK_TEST(full_windows_are_shared), CHECK_TEST(narrow_windows_are_compared),
           CHECK_TEST(empty_windows_are_not), CHECK_TEST(a_small_gain_is_taken),
           CHECK_TEST(a_bad_meeting_ends_a_try), CHECK_TEST(they_come_back),
           CHECK_TEST(the_narrowest_are_left_alone))
