// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/kernel/test_words.c - words of text files, their places and values (kernel/words.h).
//
// Goal: words and places are found whatever the blanks; values are exact, exponents included; each
// refusal names file, line and column.
// Method: small texts with every kind of blank, a table of numbers with what they must become.
// Not pinned: the wording beyond the place.
#include "kernel/words.h"

#include <stdio.h>
#include <string.h>

#include "tests/check_main.h"

static sim_word_t word_of(const char *text)
{
    return (sim_word_t){text, strlen(text), 1, 1};
}

START_TEST(words_have_places)
{
    static const char text[] = "\n  one\ttwo\r\n\n three\f";
    static const struct {
        const char *text;
        uint32_t line;
        uint32_t column;
    } expected[] = {{"one", 2, 3}, {"two", 2, 7}, {"three", 4, 2}};
    sim_words_t words;
    sim_word_t word;
    sim_words_init(&words, "f", text, sizeof(text) - 1);
    for (size_t i = 0; i < SIM_COUNT_OF(expected); i++) {
        ck_assert(sim_words_next(&words, &word));
        ck_assert(sim_word_is(&word, expected[i].text));
        ck_assert_uint_eq(word.line, expected[i].line);
        ck_assert_uint_eq(word.column, expected[i].column);
    }
    ck_assert(!sim_words_next(&words, &word));
    ck_assert_uint_eq(word.size_bytes, 0);
    ck_assert_uint_eq(word.line, 4);
    ck_assert_uint_eq(word.column, 8);
}
END_TEST

START_TEST(a_byte_order_mark_is_passed_over)
{
    static const char text[] = "\xef\xbb\xbf"
                               "one";
    sim_words_t words;
    sim_word_t word;
    sim_words_init(&words, "f", text, sizeof(text) - 1);
    ck_assert(sim_words_next(&words, &word));
    ck_assert(sim_word_is(&word, "one"));
    ck_assert_uint_eq(word.column, 1);
    sim_words_init(&words, "f", text, 2); // not all of it
    ck_assert(sim_words_next(&words, &word));
    ck_assert_uint_eq(word.size_bytes, 2);
}
END_TEST

START_TEST(lines_are_kept_apart)
{
    static const char text[] = "a b\n\nc";
    sim_words_t words;
    sim_word_t word;
    sim_words_init(&words, "f", text, sizeof(text) - 1);
    ck_assert(sim_words_next_in_line(&words, &word));
    ck_assert(sim_words_next_line(&words)); // b is passed over
    ck_assert(!sim_words_next_in_line(&words, &word));
    ck_assert_uint_eq(word.line, 2);
    ck_assert(sim_words_next_line(&words));
    ck_assert(sim_words_next_in_line(&words, &word));
    ck_assert(sim_word_is(&word, "c"));
    ck_assert(!sim_words_next_line(&words));
}
END_TEST

// No byte at or after `end` is read, although the text is cut within a word.
// Counting looks ahead and takes nothing; where a count is required and absent, the error says what
// was expected.
START_TEST(words_are_counted_and_needed)
{
    static const char text[] = "a b\n\n 7 x y\n";
    sim_words_t words;
    sim_word_t word;
    sim_message_t message;
    uint64_t count = 0;
    sim_words_init(&words, "f", text, sizeof(text) - 1);
    ck_assert_uint_eq(sim_words_in_line(words), 2);
    ck_assert_uint_eq(sim_words_in_line(words), 2);
    ck_assert(sim_words_next_in_line(&words, &word) && sim_words_next_in_line(&words, &word));
    ck_assert_uint_eq(sim_words_in_line(words), 0);
    ck_assert_uint_eq(sim_words_in_next_line(words), 3);
    ck_assert_int_eq(sim_words_need_count(&words, "a number", 1, 9, &count, &word, &message),
                     SIM_OK);
    ck_assert_uint_eq(count, 7);
    ck_assert_uint_eq(word.line, 3);
    ck_assert_int_ne(sim_words_need_count(&words, "a number", 1, 9, &count, &word, &message),
                     SIM_OK);
    ck_assert_ptr_nonnull(strstr(message.text, "f:3:4: "));
    ck_assert(sim_words_next(&words, &word));
    ck_assert_int_ne(sim_words_need_count(&words, "a number", 1, 9, &count, &word, &message),
                     SIM_OK);
    ck_assert_ptr_nonnull(strstr(message.text, "expected a number"));
    ck_assert_uint_eq(count, 7);
}
END_TEST

START_TEST(text_ends_where_it_ends)
{
    static const char text[] = "12345";
    sim_words_t words;
    sim_word_t word;
    uint64_t count = 0;
    sim_words_init(&words, "f", text, 2);
    ck_assert(sim_words_next(&words, &word));
    ck_assert_int_eq(sim_word_count(&words, &word, "x", 0, 99, &count, NULL), SIM_OK);
    ck_assert_uint_eq(count, 12);
}
END_TEST

static const struct {
    const char *text;
    const char *plain; // NULL: no number
    const char *rest;
} numbers[] = {
    {"0.000000", "0.000000", ""},
    {"12", "12", ""},
    {"+3", "3", ""},
    {"-3.5", "-3.5", ""},
    {"1e-5", "0.00001", ""},
    {"1.25e2", "125", ""},
    {"1.25E+1Gbps", "12.5", "Gbps"},
    {"5e3", "5000", ""},
    {".5", "0.5", ""},
    {"100Gbps", "100", "Gbps"},
    {"2em", "2", "em"}, // the e belongs to the unit
    {"1e-21", "0.0000000000000000000", ""},
    {"x", NULL, NULL},
    {"", NULL, NULL},
    {"-", NULL, NULL},
    {".", NULL, NULL},
    {"1e99", NULL, NULL},
};

START_TEST(numbers_become_plain)
{
    const sim_word_t word = word_of(numbers[_i].text);
    sim_plain_t plain;
    sim_word_t rest;
    const bool is_number = sim_word_plain(&word, &plain, &rest);
    ck_assert_msg(is_number == (numbers[_i].plain != NULL), "%s", numbers[_i].text);
    if (is_number) {
        ck_assert_str_eq(plain.text, numbers[_i].plain);
        ck_assert_msg(sim_word_is(&rest, numbers[_i].rest), "%s", numbers[_i].text);
        ck_assert_uint_eq(rest.column, 1 + strlen(numbers[_i].text) - strlen(numbers[_i].rest));
    }
}
END_TEST

START_TEST(values_are_exact)
{
    sim_words_t words;
    sim_message_t message = {.text = ""};
    uint64_t value = 0;
    sim_ratio_t ratio;
    sim_words_init(&words, "f", "", 0);
    sim_word_t word = word_of("50Mb/s");
    ck_assert_int_eq(sim_word_rate(&words, &word, "a rate", &value, &message), SIM_OK);
    ck_assert_uint_eq(value, 50000000);
    word = word_of("25000000000");
    ck_assert_int_eq(sim_word_rate(&words, &word, "a rate", &value, &message), SIM_OK);
    ck_assert_uint_eq(value, UINT64_C(25000000000));
    static const struct {
        const char *text;
        uint64_t rate_bps;
    } rates[] = {
        {"12.5GB/s", UINT64_C(100000000000)},
        {"12.5GBps", UINT64_C(100000000000)},
        {"12500MB/s", UINT64_C(100000000000)},
        {"1TBps", UINT64_C(8000000000000)},
        {"2KB/s", 16000},
        {"2kBps", 16000},
        {"3Bps", 24},
        {"3B/s", 24},
        {"1Gibps", UINT64_C(1) << 30},
        {"1Gib/s", UINT64_C(1) << 30},
        {"1GiB/s", UINT64_C(1) << 33},
        {"1MiBps", UINT64_C(1) << 23},
        {"1Kib/s", 1024},
        {"0.3Gib/s", 322122547},
        {"1.5bps", 1},
        {"1e2Mbps", 100000000},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(rates); i++) {
        word = word_of(rates[i].text);
        ck_assert_msg(sim_word_rate(&words, &word, "a rate", &value, &message) == SIM_OK, "%s",
                      message.text);
        ck_assert_msg(value == rates[i].rate_bps, "%s: %" PRIu64, rates[i].text, value);
    }
    word = word_of("0.001ms");
    ck_assert_int_eq(sim_word_time(&words, &word, "a time", "s", &value, &message), SIM_OK);
    ck_assert_uint_eq(value, SIM_PS_PER_US);
    word = word_of("1e-6");
    ck_assert_int_eq(sim_word_time(&words, &word, "a time", "s", &value, &message), SIM_OK);
    ck_assert_uint_eq(value, SIM_PS_PER_US);
    word = word_of("1.99999ps"); // finer than a picosecond: cut
    ck_assert_int_eq(sim_word_time(&words, &word, "a time", "s", &value, &message), SIM_OK);
    ck_assert_uint_eq(value, 1);
    word = word_of("0.25");
    ck_assert_int_eq(sim_word_ratio(&words, &word, "a share", &ratio, &message), SIM_OK);
    ck_assert_uint_eq(ratio.num * 4, ratio.den);
}
END_TEST

START_TEST(refusals_name_the_place)
{
    static const char text[] = "3\n  4x 99";
    sim_words_t words;
    sim_word_t word;
    sim_message_t message = {.text = ""};
    uint64_t count = 7;
    sim_words_init(&words, "in.txt", text, sizeof(text) - 1);
    ck_assert_int_eq(sim_words_need(&words, &word, "a count", &message), SIM_OK);
    ck_assert_int_eq(sim_words_need(&words, &word, "a count", &message), SIM_OK);
    ck_assert_int_ne(sim_word_count(&words, &word, "a count", 1, 9, &count, &message), SIM_OK);
    ck_assert_msg(strncmp(message.text, "in.txt:2:3: '4x'", 16) == 0, "%s", message.text);
    ck_assert_int_eq(sim_words_need(&words, &word, "a count", &message), SIM_OK);
    ck_assert_int_ne(sim_word_count(&words, &word, "a count", 1, 9, &count, &message), SIM_OK);
    ck_assert_msg(strstr(message.text, "from 1 to 9") != NULL, "%s", message.text);
    ck_assert_int_ne(sim_words_need(&words, &word, "a count", &message), SIM_OK);
    ck_assert_msg(strncmp(message.text, "in.txt:2:8: ", 12) == 0, "%s", message.text);
}
END_TEST

static void keep_note(const char *text, void *ctx)
{
    sim_message_t *const kept = ctx;
    ck_assert_str_eq(kept->text, ""); // once
    snprintf(kept->text, sizeof(kept->text), "%s", text);
}

START_TEST(notes_name_the_place)
{
    static const char text[] = "3\n  4x";
    sim_words_t words;
    sim_word_t word;
    sim_message_t kept = {.text = ""};
    sim_words_init(&words, "in.txt", text, sizeof(text) - 1);
    ck_assert(sim_words_next(&words, &word) && sim_words_next(&words, &word));
    sim_word_note(&words, &word, keep_note, &kept, "%d of %s%%", 5, "100");
    ck_assert_str_eq(kept.text, "in.txt:2:3: 5 of 100%");
    sim_word_note(&words, &word, NULL, NULL, "nobody listens");
}
END_TEST

START_TEST(cells_stand_between_commas)
{
    static const char text[] = " a b ,\"c, \"\"d\"\"\", \r\n\n,e";
    static const struct {
        const char *text;
        uint32_t line;
        uint32_t column;
        bool more;
    } cells[] = {{"a b", 1, 2, true}, {"c, \"\"d\"\"", 1, 8, true},
                 {"", 1, 18, false},  {"", 2, 1, false},
                 {"", 3, 1, true},    {"e", 3, 2, false}};
    sim_words_t words;
    sim_word_t cell;
    sim_words_init(&words, "in.csv", text, sizeof(text) - 1);
    for (size_t i = 0; i < SIM_COUNT_OF(cells); i++) {
        ck_assert_int_eq(sim_words_next_cell(&words, ',', &cell), cells[i].more);
        ck_assert_msg(sim_word_is(&cell, cells[i].text), "cell %zu: '%.*s'", i,
                      (int)cell.size_bytes, cell.text);
        ck_assert_uint_eq(cell.line, cells[i].line);
        ck_assert_uint_eq(cell.column, cells[i].column);
        if (!cells[i].more && i + 1 < SIM_COUNT_OF(cells)) {
            ck_assert(sim_words_next_line(&words));
        }
    }
}
END_TEST

CHECK_MAIN(CHECK_TEST(words_have_places), CHECK_TEST(a_byte_order_mark_is_passed_over),
           CHECK_TEST(lines_are_kept_apart), CHECK_TEST(words_are_counted_and_needed),
           CHECK_TEST(text_ends_where_it_ends),
           CHECK_LOOP(numbers_become_plain, 0, (int)SIM_COUNT_OF(numbers)),
           CHECK_TEST(values_are_exact), CHECK_TEST(refusals_name_the_place),
           CHECK_TEST(notes_name_the_place), CHECK_TEST(cells_stand_between_commas))
