// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/kernel/test_base.c - errors, failed checks and memory of kernel/base.h.
//
// Goal: a failed check and exhausted memory end the program as promised, with the values on stderr;
// memory is zeroed, aligned, grown and freed as promised; the mixer is SplitMix64's.
// Method: what ends the program runs in a child whose stderr is read; the mixer against published
// outputs of SplitMix64. Not pinned: the wording of messages beyond the facts they must contain.
#include "kernel/base.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check_main.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

// Runs fn in a child; its exit status or minus its signal. What it wrote to stderr is in text.
static int run_child(void (*fn)(void), char *text, size_t text_bytes)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    fflush(stdout);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        fn();
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t got = 0;
    do {
        length += (size_t)got;
        got = read(ends[0], text + length, text_bytes - 1 - length);
    } while (got > 0);
    text[length] = '\0';
    close(ends[0]);
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

START_TEST(errors_have_texts_of_their_own)
{
    static const sim_err_t errors[] = {
#define ERROR_NAME(name, value, text) name,
        SIM_ERR_MAP(ERROR_NAME)
#undef ERROR_NAME
    };
    for (size_t i = 0; i < SIM_COUNT_OF(errors); ++i) {
        ck_assert_uint_gt(strlen(sim_err_text(errors[i])), 0);
        for (size_t j = 0; j < i; ++j) {
            ck_assert_int_ne((int)errors[i], (int)errors[j]);
            ck_assert_str_ne(sim_err_text(errors[i]), sim_err_text(errors[j]));
        }
    }
    ck_assert_int_eq(SIM_OK, 0);
    ck_assert_str_eq(sim_err_text(SIM_ERR_RANGE), "value out of range");
    const int stranger = -1000;
    ck_assert_str_eq(sim_err_text((sim_err_t)stranger), "unknown error");
}
END_TEST

START_TEST(fail_writes_and_returns)
{
    sim_message_t message;
    ck_assert_int_eq(sim_fail(&message, SIM_ERR_IO, "%s: %d", "port", 7), SIM_ERR_IO);
    ck_assert_str_eq(message.text, "port: 7");
    ck_assert_int_eq(sim_fail(NULL, SIM_ERR_FULL, "%d", 1), SIM_ERR_FULL);

    char longer[2 * sizeof(message.text)];
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    ck_assert_int_eq(sim_fail(&message, SIM_ERR_RANGE, "%s", longer), SIM_ERR_RANGE);
    ck_assert_uint_eq(strlen(message.text), sizeof(message.text) - 1);
}
END_TEST

static volatile int queue_length = 9;

static void fail_plain(void)
{
    SIM_CHECK(queue_length < 9);
}

static void fail_with_values(void)
{
    SIM_CHECKF(queue_length == 8, "length %d of %s", queue_length, "port 3");
}

static void fail_nothing(void)
{
    SIM_CHECK(queue_length == 9);
    SIM_CHECKF(queue_length > 0, "length %d", queue_length);
}

START_TEST(failed_check_shows_and_aborts)
{
    char text[1024];
    ck_assert_int_eq(run_child(fail_plain, text, sizeof(text)), -SIGABRT);
    ck_assert_ptr_nonnull(strstr(text, "test_base.c:"));
    ck_assert_ptr_nonnull(strstr(text, "queue_length < 9"));

    ck_assert_int_eq(run_child(fail_with_values, text, sizeof(text)), -SIGABRT);
    ck_assert_ptr_nonnull(strstr(text, "queue_length == 8"));
    ck_assert_ptr_nonnull(strstr(text, "length 9 of port 3\n"));

    ck_assert_int_eq(run_child(fail_nothing, text, sizeof(text)), 0);
    ck_assert_str_eq(text, "");
}
END_TEST

static volatile size_t huge = SIZE_MAX / 4;

static void realloc_huge(void)
{
    sim_free(sim_realloc_array(NULL, huge, 1000));
}

static void lines_huge(void)
{
    sim_free(sim_alloc_lines(huge * 4 + 2));
}

START_TEST(sizes_that_overflow_end_the_program)
{
    char text[1024];
    char expected[64];
    ck_assert_int_eq(run_child(realloc_huge, text, sizeof(text)), 1);
    snprintf(expected, sizeof(expected), "%zu elements of 1000 bytes", huge);
    ck_assert_msg(strstr(text, expected) != NULL, "%s", text);

    ck_assert_int_eq(run_child(lines_huge, text, sizeof(text)), 1);
    snprintf(expected, sizeof(expected), "%zu bytes", huge * 4 + 2);
    ck_assert_msg(strstr(text, expected) != NULL, "%s", text);
}
END_TEST

static void alloc_huge(void)
{
    sim_free(sim_alloc(huge));
}

START_TEST(exhausted_memory_ends_the_program)
{
#ifdef SANITIZED
    (void)alloc_huge; // a sanitizer's allocator ends the program itself
#else
    char text[1024];
    char expected[64];
    ck_assert_int_eq(run_child(alloc_huge, text, sizeof(text)), 1);
    snprintf(expected, sizeof(expected), "%zu bytes", huge);
    ck_assert_msg(strstr(text, expected) != NULL, "%s", text);
#endif
}
END_TEST

static bool is_zero(const void *memory, size_t size_bytes)
{
    const unsigned char *const bytes = memory;
    for (size_t i = 0; i < size_bytes; ++i) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

START_TEST(memory_is_zeroed_and_aligned)
{
    for (size_t size_bytes = 0; size_bytes < 300; size_bytes += 7) {
        // The test dirties memory first, which the allocators are likely to hand out again.
        void *const dirty = sim_alloc_lines(size_bytes);
        memset(dirty, 0xff, size_bytes);
        sim_free(dirty);
        unsigned char *const lines = sim_alloc_lines(size_bytes);
        unsigned char *const one = sim_alloc(size_bytes);
        unsigned char *const many = sim_alloc_array(3, size_bytes);
        ck_assert_ptr_nonnull(lines);
        ck_assert_ptr_nonnull(one);
        ck_assert_ptr_nonnull(many);
        ck_assert_uint_eq((uintptr_t)lines % SIM_CACHE_LINE, 0);
        ck_assert(is_zero(lines, size_bytes));
        ck_assert(is_zero(one, size_bytes));
        ck_assert(is_zero(many, 3 * size_bytes));
        sim_free(many);
        sim_free(one);
        sim_free(lines);
    }
    sim_free(NULL);
}
END_TEST

START_TEST(growing_doubles_and_keeps)
{
    uint32_t *values = NULL;
    size_t capacity = 0;
    size_t grown = 0;
    const size_t first = SIM_CACHE_LINE / sizeof(*values);
    for (size_t count = 0; count < 1000; ++count) {
        const size_t before = capacity;
        SIM_GROW(values, count, &capacity);
        if (capacity != before) {
            ck_assert_uint_eq(count, before); // not before it is full
            ck_assert_uint_eq(capacity, before == 0 ? first : 2 * before);
            ++grown;
        }
        values[count] = (uint32_t)count * 3;
    }
    ck_assert_uint_eq(grown, 7); // 16, 32, ... 1024
    for (size_t i = 0; i < 1000; ++i) {
        ck_assert_uint_eq(values[i], i * 3);
    }
    values = sim_realloc_array(values, 10, sizeof(*values));
    ck_assert_uint_eq(values[9], 27);
    values = sim_realloc_array(values, 0, sizeof(*values));
    ck_assert_ptr_nonnull(values);
    sim_free(values);
}
END_TEST

// Lists of blocks are freed once each, a struct that holds others last. AddressSanitizer finds
// blocks that stay, and those that are freed twice.
START_TEST(lists_of_blocks_are_freed)
{
    struct holder {
        char *name;
        uint32_t **rows;
        size_t count;
    } *const holder = sim_alloc(sizeof(*holder));
    holder->name = sim_strdup("rows");
    holder->count = 3;
    holder->rows = sim_alloc_array(holder->count, sizeof(*holder->rows));
    holder->rows[0] = sim_alloc_array(4, sizeof(**holder->rows));
    holder->rows[2] = sim_alloc_array(1, sizeof(**holder->rows));
    sim_free_each(holder->rows, holder->count); // one of them is NULL
    sim_free_each(NULL, 5);
    SIM_FREE_ALL(holder->name, holder->rows, NULL, holder);
}
END_TEST

// An order by three keys is that of the first one in which two values differ.
START_TEST(orders_go_by_the_first_key_that_differs)
{
    static const uint64_t values[][3] = {{0, 0, 0}, {0, 0, 1},          {0, 1, 0}, {0, 1, 1},
                                         {1, 0, 0}, {1, UINT64_MAX, 0}, {2, 0, 9}};
    for (size_t i = 0; i < SIM_COUNT_OF(values); i++) {
        for (size_t j = 0; j < SIM_COUNT_OF(values); j++) {
            const uint64_t *const a = values[i];
            const uint64_t *const b = values[j];
            const int order =
                4 * SIM_COMPARE(a[0], b[0]) + 2 * SIM_COMPARE(a[1], b[1]) + SIM_COMPARE(a[2], b[2]);
            ck_assert_int_eq(SIM_COMPARE(order, 0), SIM_COMPARE(i, j));
        }
    }
}
END_TEST

START_TEST(text_is_copied_and_formatted)
{
    char *const copy = sim_strdup("leaf0->host5");
    ck_assert_str_eq(copy, "leaf0->host5");
    sim_free(copy);
    char *const empty = sim_format("%s", "");
    ck_assert_str_eq(empty, "");
    sim_free(empty);
    char *const wide = sim_format("%5000d|", 42);
    ck_assert_uint_eq(strlen(wide), 5001);
    ck_assert_str_eq(wide + 4998, "42|");
    sim_free(wide);
}
END_TEST

// The mixer gives the first numbers of SplitMix64 from state 0, as published with its reference.
START_TEST(mixer_is_splitmix64)
{
    static const uint64_t expected[] = {
        UINT64_C(0xe220a8397b1dcdaf),
        UINT64_C(0x6e789e6aa1b965f4),
        UINT64_C(0x06c45d188009454f),
        UINT64_C(0xf88bb8a8724c81ec),
    };
    for (size_t i = 0; i < SIM_COUNT_OF(expected); ++i) {
        const uint64_t state = (uint64_t)(i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        ck_assert_uint_eq(sim_mix64(state), expected[i]);
    }
}
END_TEST

CHECK_MAIN(CHECK_TEST(errors_have_texts_of_their_own), CHECK_TEST(fail_writes_and_returns),
           CHECK_TEST(failed_check_shows_and_aborts),
           CHECK_TEST(sizes_that_overflow_end_the_program),
           CHECK_TEST(exhausted_memory_ends_the_program), CHECK_TEST(memory_is_zeroed_and_aligned),
           CHECK_TEST(growing_doubles_and_keeps), CHECK_TEST(lists_of_blocks_are_freed),
           CHECK_TEST(orders_go_by_the_first_key_that_differs),
           CHECK_TEST(text_is_copied_and_formatted), CHECK_TEST(mixer_is_splitmix64))
