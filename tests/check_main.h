// SPDX-License-Identifier: Apache-2.0
// tests/check_main.h - the main of a test program: a table of Check tests.
//
//     #include "tests/check_main.h"
//
//     START_TEST(frame_survives_round_trip)
//     {
//         ck_assert_uint_eq(1, 1);
//     }
//     END_TEST
//
//     CHECK_MAIN(CHECK_TEST(frame_survives_round_trip),
//                CHECK_LOOP(frame_has_every_opcode, 0, 32), // _i runs over 0..31
//                CHECK_LOOP_FEW(frames_are_random, 0, 100, 3), // where runs are few: 0..2
//                CHECK_MANY(frames_are_spread_evenly),      // left out where runs are few
//                CHECK_SIGNAL(frame_refuses_null, SIGABRT)) // must die of the signal
//
// Each test runs in a process of its own (CK_FORK=no for a debugger; under AddressSanitizer only if
// it must die of a signal, or with CK_FORK=yes) and is a Check case of its own name, so that
// CK_RUN_CASE=frame_survives_round_trip runs it alone; a failure prints that command.
// A line `// labels: threads` in a test file: see tests/CMakeLists.txt.
//
// Runs are few (TEST_FEW=1) in the sanitizer builds of `make test-all`: there a test is ten times
// as slow, and a sanitizer finds most errors in the first of many random cases. `make test-slow`
// runs all cases.
#ifndef TESTS_CHECK_MAIN_H
#define TESTS_CHECK_MAIN_H

#include <check.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Check writes the place of each assertion that holds into a file, so that it can say behind which
// one a test died of a signal. Tests make millions of assertions, and these writes took a third of
// their time: here they are left out (a debugger shows the place).
#define _mark_point(file, line) ((void)0)

#define CHECK_TIMEOUT_S 3000 // of one test that hangs; under a sanitizer, on a busy machine, 240

// True in the long form of a test, which has the label `long` and which only `make test-slow` runs.
static inline bool check_long(void)
{
    return getenv("TEST_LONG") != NULL;
}

// Returns how many of `all` random or equal cases a test runs: `few` where runs are few.
static inline unsigned check_few(unsigned all, unsigned few)
{
    return getenv("TEST_FEW") != NULL ? few : all;
}

typedef struct check_entry {
    const TTest *test;
    int signal; // the test must die of it; 0: none
    int first;  // loop tests run with _i in first..end - 1
    int end;
    int few; // at most so many of them run where runs are few
} check_entry_t;

// clang-format off
#define CHECK_TEST(function)                      {(function), 0, 0, 1, 1}
#define CHECK_MANY(function)                      {(function), 0, 0, 1, 0}
#define CHECK_LOOP(function, first, end)          {(function), 0, (first), (end), (end)}
#define CHECK_LOOP_FEW(function, first, end, few) {(function), 0, (first), (end), (few)}
#define CHECK_SIGNAL(function, signal)            {(function), (signal), 0, 1, 1}
// clang-format on

#define CHECK_MAIN(...)                                                \
    int main(void)                                                     \
    {                                                                  \
        const check_entry_t entries[] = {__VA_ARGS__};                 \
        return check_run(entries, sizeof(entries) / sizeof(*entries)); \
    }

static void check_print_reruns(SRunner *runner)
{
    TestResult **failures = srunner_failures(runner);
    const char *previous = "";
    for (int i = 0; i < srunner_ntests_failed(runner); ++i) {
        const char *name = tr_tcname(failures[i]);
        if (strcmp(name, previous) == 0) {
            continue;
        }
        previous = name;
        printf("rerun: CK_RUN_CASE=%s ctest --test-dir %s -R '^%s$' --output-on-failure\n", name,
               TEST_BUILD_DIRECTORY, TEST_NAME);
    }
    // The caller frees the array; the runner owns the results in it.
    free(failures);
}

// Runs those of the entries that must die of a signal, or those that must not. Adds to the counts.
static void check_run_some(const check_entry_t *entries, size_t count, bool dying, int *run,
                           int *failed)
{
    Suite *suite = suite_create(TEST_NAME);
    int added = 0;
    for (size_t i = 0; i < count; ++i) {
        const check_entry_t *entry = &entries[i];
        const int few_end = check_few(0, 1) == 1 ? entry->first + entry->few : entry->end;
        const int end = few_end < entry->end ? few_end : entry->end;
        if (end == entry->first || dying != (entry->signal != 0)) {
            continue;
        }
        TCase *test_case = tcase_create(entry->test->name);
        tcase_set_timeout(test_case, CHECK_TIMEOUT_S);
        // Check's tcase_add_* macros call this function, each with some arguments fixed.
        _tcase_add_test(test_case, entry->test, entry->signal, 0, entry->first, end);
        suite_add_tcase(suite, test_case);
        added++;
    }
    SRunner *runner = srunner_create(suite);
#ifdef __SANITIZE_ADDRESS__
    // To fork, and to look for leaks when the child ends, takes longer than most cases.
    if (!dying && getenv("CK_FORK") == NULL) {
        srunner_set_fork_status(runner, CK_NOFORK);
    }
#endif
    if (added > 0) {
        srunner_run_all(runner, CK_NORMAL);
    }
    *run += srunner_ntests_run(runner);
    *failed += srunner_ntests_failed(runner);
    check_print_reruns(runner);
    srunner_free(runner);
}

static int check_run(const check_entry_t *entries, size_t count)
{
    // The case that a line `// threads: NAME` names, in the ThreadSanitizer build.
    const char *only = getenv("TEST_THREADS_CASE");
    if (only != NULL && check_few(0, 1) == 1) {
        setenv("CK_RUN_CASE", only, 0);
    }
    int run = 0;
    int failed = 0;
    check_run_some(entries, count, false, &run, &failed);
    check_run_some(entries, count, true, &run, &failed);
    if (run == 0) {
        printf("%s: no test was run\n", TEST_NAME);
    }
    return run > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif // TESTS_CHECK_MAIN_H
