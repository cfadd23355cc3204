// SPDX-License-Identifier: Apache-2.0
// tests/sessions/test_session_library.c - the C library of sessions.
//
// Goal: the calls of sessions/rocesim_session.h do what they say, with several sessions at once;
// what is refused says why and leaves the session usable.
// Method: a star of four hosts, whose times are known in closed form.
#include "tests/check_main.h"

#include "sessions/rocesim_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scenario[64];

static void make_scenario(void)
{
    static const char text[] = "topology: {star: {hosts: 4, rate: 100Gbps, delay: 1us}}\n"
                               "nic: {congestion-control: none, mtu: 4096}\n";
    strcpy(scenario, "/tmp/rocesim-session-XXXXXX");
    const int file = mkstemp(scenario);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, text, sizeof(text) - 1), (ssize_t)sizeof(text) - 1);
    (void)close(file);
}

static rocesim_session_t *open_session(void)
{
    const rocesim_session_options_t options = {.program = TEST_PROGRAM};
    rocesim_session_t *const session = rocesim_session_open(scenario, &options);
    ck_assert_ptr_nonnull(session);
    ck_assert_str_eq(rocesim_session_error(session), "");
    return session;
}

static const rocesim_transfer_t one = {
    .source = 0,
    .destination = 1,
    .bytes = 4096,
    .at_ps = ROCESIM_NOW,
    .priority = -1,
};

START_TEST(transfers_end_when_they_should)
{
    make_scenario();
    rocesim_session_t *const session = open_session();
    rocesim_session_t *const other = open_session();
    const rocesim_completion_t *list = NULL;
    size_t count = 0;
    uint64_t id = 9;
    uint64_t took_ps = 0;
    ck_assert_uint_eq(rocesim_session_host_count(session), 4);
    ck_assert_str_eq(rocesim_session_host_name(session, 2), "host2");
    ck_assert_int_eq(rocesim_session_submit(session, &one, &id), 0);
    ck_assert_uint_eq(id, 0);
    ck_assert_int_eq(rocesim_session_estimate(other, &one, &took_ps), 0);
    ck_assert_int_eq(rocesim_session_next_completion(session, ROCESIM_NEVER, &list, &count), 0);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(list[0].end_ps, took_ps);
    ck_assert_int_eq(list[0].outcome, ROCESIM_DONE);
    ck_assert_uint_eq(rocesim_session_now_ps(session), took_ps + 1);
    // Two links there and back of 1 us, the frame twice, and the acknowledgement twice.
    ck_assert_uint_gt(took_ps, 4000000 + 2 * 334800);
    ck_assert_uint_gt(took_ps - list[0].delivered_ps, 2000000); // the acknowledgement
    ck_assert_uint_lt(took_ps - list[0].delivered_ps, 2020000);
    ck_assert_uint_lt(took_ps, 4000000 + 3 * 334800);
    rocesim_session_close(session);
    rocesim_session_close(other);
    (void)unlink(scenario);
}
END_TEST

START_TEST(deliveries_are_completions)
{
    make_scenario();
    rocesim_session_t *const session = open_session();
    const rocesim_completion_t *list = NULL;
    size_t count = 0;
    rocesim_transfer_t transfer = one;
    transfer.delivery = 1;
    transfer.tag = 5;
    for (int verb = ROCESIM_WRITE; verb <= ROCESIM_READ; verb++) {
        transfer.verb = (rocesim_verb_t)verb;
        ck_assert_int_eq(rocesim_session_submit(session, &transfer, NULL), 0);
        ck_assert_int_eq(rocesim_session_next_completion(session, ROCESIM_NEVER, &list, &count), 0);
        ck_assert_uint_eq(count, verb == ROCESIM_READ ? 2 : 1); // a READ ends with its last byte
        ck_assert_int_eq(list[0].outcome, ROCESIM_DELIVERED);
        ck_assert_uint_eq(list[0].tag, 5);
        ck_assert_uint_eq(list[0].end_ps, list[0].delivered_ps);
        const uint64_t delivered_ps = list[0].end_ps;
        ck_assert_uint_eq(rocesim_session_now_ps(session), delivered_ps + 1);
        ck_assert_uint_eq(rocesim_session_open_transfers(session), verb != ROCESIM_READ);
        if (verb != ROCESIM_READ) {
            ck_assert_int_eq(rocesim_session_next_completion(session, ROCESIM_NEVER, &list, &count),
                             0);
            ck_assert_uint_eq(count, 1);
        }
        ck_assert_int_eq(list[count - 1].outcome, ROCESIM_DONE);
        ck_assert_uint_eq(list[count - 1].delivered_ps, delivered_ps);
        ck_assert_uint_eq(list[count - 1].tag, 5);
    }
    rocesim_session_close(session);
    (void)unlink(scenario);
}
END_TEST

START_TEST(marks_cancels_and_refusals)
{
    make_scenario();
    rocesim_session_t *const session = open_session();
    const rocesim_completion_t *list = NULL;
    size_t count = 0;
    uint64_t ids[3];
    char *summary = NULL;
    rocesim_transfer_t many[3] = {one, one, one};
    many[1].source = 2;
    many[2].at_ps = 50000000;
    ck_assert_int_eq(rocesim_session_submit_many(session, many, 3, ids), 0);
    ck_assert_uint_eq(ids[2], 2);
    ck_assert_int_eq(rocesim_session_mark(session), 0);
    ck_assert_int_eq(rocesim_session_advance(session, 90000000, &list, &count), 0);
    ck_assert_uint_eq(count, 3);
    ck_assert_int_eq(rocesim_session_back(session), 0);
    ck_assert_uint_eq(rocesim_session_now_ps(session), 0);
    ck_assert_int_eq(rocesim_session_cancel(session, ids[2]), 0);
    ck_assert_int_ne(rocesim_session_cancel(session, ids[2]), 0);
    ck_assert_ptr_nonnull(strstr(rocesim_session_error(session), "cancelled before"));
    ck_assert_int_eq(rocesim_session_advance(session, 90000000, &list, &count), 0);
    ck_assert_uint_eq(count, 3);
    ck_assert_int_eq(list[0].outcome, ROCESIM_CANCELLED);
    ck_assert_int_ne(rocesim_session_advance(session, 5, &list, &count), 0);
    many[0].destination = 44;
    ck_assert_int_ne(rocesim_session_submit(session, &many[0], NULL), 0);
    ck_assert_ptr_nonnull(strstr(rocesim_session_error(session), "dst"));
    ck_assert_int_eq(rocesim_session_finish(session, &summary), 0);
    ck_assert_ptr_nonnull(strstr(summary, "\"completed\": 2"));
    free(summary);
    ck_assert_int_ne(rocesim_session_submit(session, &one, NULL), 0);
    rocesim_session_close(session);
    (void)unlink(scenario);
}
END_TEST

START_TEST(programs_end_as_a_whole_and_by_rank)
{
    make_scenario();
    rocesim_session_t *const session = open_session();
    const rocesim_completion_t *list = NULL;
    size_t count = 0;
    uint64_t id = 9;
    uint64_t took_ps = 0;
    rocesim_program_t program = {
        .kind = "collective",
        .attributes = "{\"kind\": \"all-reduce\", \"bytes\": \"64KiB\", \"ranks\": 4}",
        .at_ps = ROCESIM_NOW,
        .per_rank = 1,
        .tag = 77,
    };
    ck_assert_int_eq(rocesim_session_estimate_program(session, &program, &took_ps), 0);
    ck_assert_int_eq(rocesim_session_submit_program(session, &program, &id), 0);
    ck_assert_uint_eq(id, 0);
    ck_assert_int_eq(rocesim_session_advance(session, took_ps + 1, &list, &count), 0);
    ck_assert_uint_eq(count, 5);
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(list[i].tag, 77);
        ck_assert_uint_le(list[i].end_ps, took_ps);
    }
    ck_assert_uint_eq(list[4].rank, ROCESIM_WHOLE);
    ck_assert_uint_eq(list[4].end_ps, took_ps);
    program.attributes = "{\"kind\": \"all-redu\"}";
    ck_assert_int_ne(rocesim_session_submit_program(session, &program, NULL), 0);
    ck_assert_ptr_nonnull(strstr(rocesim_session_error(session), "did you mean \"all-reduce\""));
    program.attributes = "{";
    ck_assert_int_ne(rocesim_session_submit_program(session, &program, NULL), 0);
    ck_assert_ptr_nonnull(strstr(rocesim_session_error(session), "attributes"));
    rocesim_session_set_slack(session, 1000000);
    ck_assert_int_eq(rocesim_session_submit(session, &one, &id), 0);
    ck_assert_int_eq(rocesim_session_next_completion(session, ROCESIM_NEVER, &list, &count), 0);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_ge(rocesim_session_now_ps(session), list[0].end_ps);
    ck_assert_uint_le(rocesim_session_now_ps(session), list[0].end_ps + 1000000);
    ck_assert_int_eq(rocesim_session_stalled(session), 0);
    rocesim_session_close(session);
    (void)unlink(scenario);
}
END_TEST

START_TEST(what_cannot_be_opened_says_why)
{
    const rocesim_session_options_t no_program = {.program = "/nonexistent/rocesim"};
    rocesim_session_t *session = rocesim_session_open("x.yaml", &no_program);
    ck_assert_ptr_nonnull(strstr(rocesim_session_error(session), "cannot be started"));
    rocesim_session_close(session);
    const rocesim_session_options_t program = {.program = TEST_PROGRAM};
    session = rocesim_session_open("/nonexistent.yaml", &program);
    ck_assert_ptr_nonnull(strstr(rocesim_session_error(session), "/nonexistent.yaml"));
    ck_assert_int_ne(rocesim_session_submit(session, &one, NULL), 0);
    ck_assert_ptr_nonnull(strstr(rocesim_session_error(session), "/nonexistent.yaml"));
    rocesim_session_close(session);
}
END_TEST

CHECK_MAIN(CHECK_TEST(transfers_end_when_they_should), CHECK_TEST(deliveries_are_completions),
           CHECK_TEST(marks_cancels_and_refusals), CHECK_TEST(programs_end_as_a_whole_and_by_rank),
           CHECK_TEST(what_cannot_be_opened_says_why))
