// SPDX-License-Identifier: Apache-2.0
// kernel/text/words.c - takes words of text files with their places, and reads values from them.
#include "kernel/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/parse.h"
#include "kernel/text/attribute_internal.h"

#define DIGITS_MAX 60 // of a number without its exponent
#define EXPONENT_MAX 30
#define PLACES_MAX 19

const char *sim_text_after_mark(const char *text, size_t size_bytes)
{
    static const char mark[] = "\xef\xbb\xbf";
    const bool marked = size_bytes >= sizeof(mark) - 1 && memcmp(text, mark, sizeof(mark) - 1) == 0;
    return marked ? text + sizeof(mark) - 1 : text;
}

void sim_words_init(sim_words_t *words, const char *name, const char *text, size_t size_bytes)
{
    const char *const begin = sim_text_after_mark(text, size_bytes);
    *words = (sim_words_t){name, begin, text + size_bytes, begin, 1};
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0';
}

static void place_here(const sim_words_t *words, sim_word_t *word)
{
    *word = (sim_word_t){words->at, 0, words->line, (uint32_t)(words->at - words->line_begin) + 1};
}

bool sim_words_next_in_line(sim_words_t *words, sim_word_t *word)
{
    while (words->at < words->end && *words->at != '\n' && is_blank(*words->at)) {
        words->at++;
    }
    place_here(words, word);
    while (words->at < words->end && !is_blank(*words->at)) {
        words->at++;
    }
    word->size_bytes = (size_t)(words->at - word->text);
    return word->size_bytes > 0;
}

bool sim_words_next_line(sim_words_t *words)
{
    const char *const newline = memchr(words->at, '\n', (size_t)(words->end - words->at));
    if (newline == NULL) {
        words->at = words->end;
        return false;
    }
    words->at = newline + 1;
    words->line_begin = words->at;
    words->line++;
    return true;
}

bool sim_words_next(sim_words_t *words, sim_word_t *word)
{
    do {
        if (sim_words_next_in_line(words, word)) {
            return true;
        }
    } while (sim_words_next_line(words));
    place_here(words, word);
    return false;
}

// Returns the separator behind a cell, or the end of its line. One between quotes does not count.
static const char *cell_end(const char *at, const char *end, char separator)
{
    if (at < end && *at == '"') {
        const char *quote = memchr(at + 1, '"', (size_t)(end - at - 1));
        while (quote != NULL && quote + 1 < end && quote[1] == '"') { // a quote within
            quote = memchr(quote + 2, '"', (size_t)(end - quote - 2));
        }
        at = quote != NULL ? quote + 1 : at;
    }
    const char *const found = memchr(at, separator, (size_t)(end - at));
    return found != NULL ? found : end;
}

bool sim_words_next_cell(sim_words_t *words, char separator, sim_word_t *cell)
{
    const char *const newline = memchr(words->at, '\n', (size_t)(words->end - words->at));
    const char *end = newline != NULL ? newline : words->end;
    while (end > words->at && (end[-1] == '\r' || end[-1] == ' ')) {
        end--;
    }
    while (words->at < end && *words->at == ' ') {
        words->at++;
    }
    place_here(words, cell);
    const char *const stop = cell_end(words->at, end, separator);
    const bool more = stop < end;
    words->at = more ? stop + 1 : end;
    cell->size_bytes = (size_t)(stop - cell->text);
    while (cell->size_bytes > 0 && cell->text[cell->size_bytes - 1] == ' ') {
        cell->size_bytes--;
    }
    if (cell->size_bytes >= 2 && cell->text[0] == '"' && cell->text[cell->size_bytes - 1] == '"') {
        *cell = (sim_word_t){cell->text + 1, cell->size_bytes - 2, cell->line, cell->column + 1};
    }
    return more;
}

bool sim_word_is(const sim_word_t *word, const char *text)
{
    return strlen(text) == word->size_bytes && memcmp(word->text, text, word->size_bytes) == 0;
}

const char *sim_word_show(const sim_word_t *word, sim_word_shown_t *shown)
{
    const sim__shown_t text = sim__show((sim__span_t){word->text, word->text + word->size_bytes});
    static_assert(sizeof(text.text) == sizeof(shown->text), "one is copied into the other");
    memcpy(shown->text, text.text, sizeof(shown->text));
    return shown->text;
}

sim_err_t sim_word_fail(const sim_words_t *words, const sim_word_t *word, sim_message_t *message,
                        sim_err_t error, const char *format, ...)
{
    char text[sizeof(message->text)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return sim_fail_in(message, error, words->name, word->line, word->column, "%s", text);
}

void sim_word_note(const sim_words_t *words, const sim_word_t *word, sim_word_note_fn note,
                   void *ctx, const char *format, ...)
{
    if (note == NULL) {
        return;
    }
    sim_message_t message;
    char text[sizeof(message.text)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    (void)sim_word_fail(words, word, &message, SIM_OK, "%s", text);
    note(message.text, ctx);
}

sim_err_t sim_words_need(sim_words_t *words, sim_word_t *word, const char *what,
                         sim_message_t *message)
{
    if (sim_words_next(words, word)) {
        return SIM_OK;
    }
    return sim_word_fail(words, word, message, SIM_ERR_INVALID, "the file ends here, expected %s",
                         what);
}

size_t sim_words_in_line(sim_words_t words)
{
    sim_word_t word;
    size_t count = 0;
    while (sim_words_next_in_line(&words, &word)) {
        count++;
    }
    return count;
}

size_t sim_words_in_next_line(sim_words_t words)
{
    size_t count = sim_words_in_line(words);
    while (count == 0 && sim_words_next_line(&words)) {
        count = sim_words_in_line(words);
    }
    return count;
}

// -- numbers

typedef struct digits {
    char text[DIGITS_MAX + 1];
    size_t count;
    int point; // digits before the point
} digits_t;

// Takes digits that may have a point. False: there are none, or too many.
static bool take_digits(const char **at, const char *end, digits_t *digits)
{
    bool point = false;
    digits->count = 0;
    digits->point = 0;
    for (; *at < end && ((**at >= '0' && **at <= '9') || (**at == '.' && !point)); (*at)++) {
        if (**at == '.') {
            point = true;
            continue;
        }
        if (digits->count == DIGITS_MAX) {
            return false;
        }
        digits->text[digits->count++] = **at;
        digits->point += !point;
    }
    return digits->count > 0;
}

static bool take_exponent(const char **at, const char *end, int *exponent)
{
    const char *p = *at;
    *exponent = 0;
    if (p == end || (*p != 'e' && *p != 'E')) {
        return true;
    }
    p++;
    const bool negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    if (p == end || *p < '0' || *p > '9') {
        return true; // the e belongs to what follows
    }
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        *exponent = *exponent * 10 + (*p - '0');
        if (*exponent > EXPONENT_MAX) {
            return false;
        }
    }
    *exponent = negative ? -*exponent : *exponent;
    *at = p;
    return true;
}

bool sim_word_plain(const sim_word_t *word, sim_plain_t *plain, sim_word_t *rest)
{
    const char *at = word->text;
    const char *const end = word->text + word->size_bytes;
    const bool negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    digits_t digits;
    int exponent = 0;
    if (!take_digits(&at, end, &digits) || !take_exponent(&at, end, &exponent)) {
        return false;
    }
    const int point = digits.point + exponent;
    const int first = point < 1 ? point - 1 : 0; // a 0 before the point
    char *out = plain->text;
    if (negative) {
        *out++ = '-';
    }
    for (int i = first; i < (int)digits.count || i < point; i++) {
        if (i == point && i < (int)digits.count) {
            *out++ = '.';
        }
        if (i >= point + PLACES_MAX) {
            break;
        }
        *out++ = i < 0 || i >= (int)digits.count ? '0' : digits.text[i];
    }
    *out = '\0';
    const size_t used = (size_t)(at - word->text);
    *rest = (sim_word_t){at, word->size_bytes - used, word->line, word->column + (uint32_t)used};
    return true;
}

static sim_err_t not_a(const sim_words_t *words, const sim_word_t *word, const char *what,
                       const char *expected, sim_message_t *message)
{
    sim_word_shown_t shown;
    return sim_word_fail(words, word, message, SIM_ERR_INVALID, "'%s' is not %s, expected %s",
                         sim_word_show(word, &shown), what, expected);
}

sim_err_t sim_word_count(const sim_words_t *words, const sim_word_t *word, const char *what,
                         uint64_t min, uint64_t max, uint64_t *count, sim_message_t *message)
{
    sim_plain_t plain;
    sim_word_t rest;
    char expected[96];
    snprintf(expected, sizeof(expected), "a whole number from %" PRIu64 " to %" PRIu64, min, max);
    if (!sim_word_plain(word, &plain, &rest) || rest.size_bytes > 0 ||
        sim_parse_count(plain.text, count, NULL) != SIM_OK || *count < min || *count > max) {
        return not_a(words, word, what, expected, message);
    }
    return SIM_OK;
}

sim_err_t sim_words_need_count(sim_words_t *words, const char *what, uint64_t min, uint64_t max,
                               uint64_t *count, sim_word_t *word, sim_message_t *message)
{
    const sim_err_t error = sim_words_need(words, word, what, message);
    return error == SIM_OK ? sim_word_count(words, word, what, min, max, count, message) : error;
}

// Rewrites a number with its unit, or with bare_unit, as the parsers of attributes take it. False:
// it is no number, is negative, or does not fit `size`.
static bool with_unit(const sim_word_t *word, const char *bare_unit, char *text, size_t size)
{
    sim_plain_t plain;
    sim_word_t rest;
    if (!sim_word_plain(word, &plain, &rest) || plain.text[0] == '-') {
        return false;
    }
    const int written = snprintf(text, size, "%s%.*s%s", plain.text, (int)rest.size_bytes,
                                 rest.text, rest.size_bytes == 0 ? bare_unit : "");
    return written > 0 && (size_t)written < size;
}

// Returns the bits per second of a unit of ns-3: a prefix, perhaps `i` for powers of 1024, and bits
// or bytes per second. 0: it is none. Attributes of scenarios have no bytes: there, GBps is more
// often a slip than meant.
static double rate_unit(const sim_word_t *unit)
{
    static const char prefixes[] = "kMGT";
    const char *at = unit->text;
    const char *const end = unit->text + unit->size_bytes;
    unsigned power = 0;
    if (at == end) {
        return 1;
    }
    if (*at == 'K' || strchr(prefixes, *at) != NULL) {
        power = *at == 'K' ? 1 : (unsigned)(strchr(prefixes, *at) - prefixes) + 1;
        at++;
    }
    const bool binary = power > 0 && at < end && *at == 'i';
    at += binary;
    const size_t left = (size_t)(end - at);
    if (left != 3 || (*at != 'b' && *at != 'B') ||
        (memcmp(at + 1, "ps", 2) != 0 && memcmp(at + 1, "/s", 2) != 0)) {
        return 0;
    }
    double scale = *at == 'B' ? 8 : 1;
    for (unsigned i = 0; i < power; i++) {
        scale *= binary ? 1024 : 1000;
    }
    return scale;
}

// Computes a rate as ns-3 does: the product of the number and its unit is cut to a whole number.
static bool cut_rate(const sim_word_t *word, uint64_t *rate_bps)
{
    sim_plain_t plain;
    sim_word_t rest;
    if (!sim_word_plain(word, &plain, &rest) || plain.text[0] == '-') {
        return false;
    }
    const double scale = rate_unit(&rest);
    const double rate = strtod(plain.text, NULL) * scale;
    *rate_bps = rate < (double)SIM_AUTO ? (uint64_t)rate : SIM_AUTO;
    return scale > 0;
}

sim_err_t sim_word_rate(const sim_words_t *words, const sim_word_t *word, const char *what,
                        uint64_t *rate_bps, sim_message_t *message)
{
    char text[160];
    const bool whole = with_unit(word, "bps", text, sizeof(text)) &&
                       sim_parse_rate(text, rate_bps, NULL) == SIM_OK;
    if ((!whole && !cut_rate(word, rate_bps)) || *rate_bps == 0 || *rate_bps == SIM_AUTO) {
        return not_a(words, word, what, "a rate such as 100Gbps or 12.5GB/s", message);
    }
    return SIM_OK;
}

// Cuts off decimals that are finer than a picosecond, such as the last of 0.0000000000001s.
static void cut_decimals(char *text)
{
    static const struct {
        const char *unit;
        int places;
    } units[] = {{"ps", 0}, {"ns", 3}, {"us", 6}, {"ms", 9}, {"min", 10}, {"s", 12}};
    char *const point = strchr(text, '.');
    if (point == NULL) {
        return;
    }
    char *unit = point + 1;
    while (*unit >= '0' && *unit <= '9') {
        unit++;
    }
    for (size_t i = 0; i < SIM_COUNT_OF(units); i++) {
        if (strcmp(unit, units[i].unit) == 0) {
            char *const keep = point + (units[i].places == 0 ? 0 : 1 + units[i].places);
            if (keep < unit) {
                memmove(keep, unit, strlen(unit) + 1);
            }
            return;
        }
    }
}

sim_err_t sim_word_time(const sim_words_t *words, const sim_word_t *word, const char *what,
                        const char *bare_unit, sim_time_t *time_ps, sim_message_t *message)
{
    char text[160];
    bool ok = with_unit(word, bare_unit, text, sizeof(text));
    if (ok) {
        cut_decimals(text);
        ok = sim_parse_time(text, time_ps, NULL) == SIM_OK && *time_ps < SIM_AUTO;
    }
    return ok ? SIM_OK : not_a(words, word, what, "a time such as 1us or 1000ns", message);
}

sim_err_t sim_word_ratio(const sim_words_t *words, const sim_word_t *word, const char *what,
                         sim_ratio_t *ratio, sim_message_t *message)
{
    sim_plain_t plain;
    sim_word_t rest;
    const bool ok = sim_word_plain(word, &plain, &rest) && rest.size_bytes == 0 &&
                    sim_parse_ratio(plain.text, ratio, NULL) == SIM_OK && ratio->num <= ratio->den;
    return ok ? SIM_OK : not_a(words, word, what, "a number from 0 to 1", message);
}
