// SPDX-License-Identifier: Apache-2.0
// kernel/text/cdf_parse.c - reads an empirical distribution from text: a value and a cumulative
// probability on each line. docs/formats/flow-sizes.md describes the format.
#include <string.h>

#include "kernel/random.h"
#include "kernel/text/attribute_internal.h"
#include "kernel/words.h"

#define POINTS_MAX ((size_t)1 << 20)

// Probabilities stay as written, in units of 10^-14, until the last line shows whether 100 % is
// written as 100 or 1. Every percentage in units of 1 / SIM_CDF_ONE is a whole number of these.
#define WRITTEN_PLACES 14
#define WRITTEN_ONE UINT64_C(100000000000000)

typedef struct reader {
    const char *at;
    const char *end;
    const char *line_begin;
    size_t line; // from 1
    sim_cdf_point_t *points;
    size_t count;
    size_t capacity;
    sim__span_t last_probability; // where it stands
    size_t last_line;
    size_t last_column;
    sim_message_t *message;
} reader_t;

static sim_err_t fail_at(reader_t *reader, sim_err_t error, sim__span_t token, const char *problem)
{
    return sim_fail(reader->message, error, "line %zu column %zu: \"%s\" %s", reader->line,
                    (size_t)(token.begin - reader->line_begin) + 1, sim__show(token).text, problem);
}

// Takes the next word of a line; it is empty at the line's end.
static sim__span_t take_word(sim__span_t *rest)
{
    *rest = sim__span_trim(*rest);
    sim__span_t word = {rest->begin, rest->begin};
    while (word.end < rest->end && *word.end != ' ' && *word.end != '\t') {
        ++word.end;
    }
    rest->begin = word.end;
    return word;
}

// Reads all of word as a decimal number.
static bool read_decimal(sim__span_t word, sim__decimal_t *decimal)
{
    return sim__take_decimal(&word, decimal) && word.begin == word.end;
}

static sim_err_t read_value(reader_t *reader, sim__span_t word, uint64_t *value)
{
    sim__decimal_t decimal;
    if (!read_decimal(word, &decimal)) {
        return fail_at(reader, SIM_ERR_INVALID, word,
                       "is not a value: expected a whole number such as 10000");
    }
    if (decimal.places != 0) {
        return fail_at(reader, SIM_ERR_INVALID, word,
                       "is not whole: expected a whole number such as 10000");
    }
    if (decimal.overflow || decimal.whole > SIM_CDF_VALUE_MAX) {
        return fail_at(reader, SIM_ERR_RANGE, word, "is too large: expected at most 2^48 - 1");
    }
    if (reader->count > 0 && decimal.whole < reader->points[reader->count - 1].value) {
        return fail_at(reader, SIM_ERR_INVALID, word,
                       "is below the value before it: expected values that do not fall (a step is "
                       "the same value twice)");
    }
    *value = decimal.whole;
    return SIM_OK;
}

static sim_err_t read_probability(reader_t *reader, sim__span_t word, uint64_t *written)
{
    sim__decimal_t decimal;
    if (!read_decimal(word, &decimal)) {
        return fail_at(reader, SIM_ERR_INVALID, word,
                       "is not a cumulative probability: expected a percentage such as 12.5 or a "
                       "fraction such as 0.125");
    }
    uint64_t fraction = decimal.fraction;
    for (unsigned places = decimal.places; places != WRITTEN_PLACES;) {
        const bool finer = places > WRITTEN_PLACES;
        fraction = finer ? fraction / 10 : fraction * 10;
        places = finer ? places - 1 : places + 1;
    }
    if (decimal.overflow || decimal.whole > 100 || (decimal.whole == 100 && decimal.places > 0)) {
        return fail_at(reader, SIM_ERR_RANGE, word, "is more than 100 %");
    }
    *written = decimal.whole * WRITTEN_ONE + fraction;
    if (reader->count > 0 && *written < reader->points[reader->count - 1].probability) {
        return fail_at(reader, SIM_ERR_INVALID, word,
                       "is below the probability before it: expected cumulative probabilities");
    }
    return SIM_OK;
}

static sim_err_t read_line(reader_t *reader, sim__span_t line)
{
    reader->line_begin = line.begin;
    const char *const comment = memchr(line.begin, '#', (size_t)(line.end - line.begin));
    if (comment != NULL) {
        line.end = comment;
    } else if (line.begin < line.end && line.end[-1] == '\r') {
        --line.end;
    }
    const sim__span_t value_word = take_word(&line);
    if (value_word.begin == value_word.end) {
        return SIM_OK;
    }
    const sim__span_t probability_word = take_word(&line);
    const sim__span_t extra_word = take_word(&line);
    sim_cdf_point_t point = {0, 0};
    sim_err_t error = read_value(reader, value_word, &point.value);
    if (error != SIM_OK) {
        return error;
    }
    if (probability_word.begin == probability_word.end) {
        return fail_at(reader, SIM_ERR_INVALID, value_word,
                       "stands alone: expected a value and its cumulative probability");
    }
    error = read_probability(reader, probability_word, &point.probability);
    if (error != SIM_OK) {
        return error;
    }
    if (extra_word.begin < extra_word.end) {
        return fail_at(reader, SIM_ERR_INVALID, extra_word,
                       "is a third word: expected two numbers on a line, a size and its cumulative "
                       "probability (of the three of ns-2, the first and the third)");
    }
    if (reader->count == POINTS_MAX) {
        return fail_at(reader, SIM_ERR_RANGE, value_word,
                       "is one point too many: expected at most 1048576");
    }
    if (reader->count == reader->capacity) {
        SIM_GROW(reader->points, reader->count, &reader->capacity);
    }
    reader->points[reader->count++] = point;
    reader->last_probability = probability_word;
    reader->last_line = reader->line;
    reader->last_column = (size_t)(probability_word.begin - reader->line_begin) + 1;
    return SIM_OK;
}

static sim_err_t read_lines(reader_t *reader)
{
    while (reader->at < reader->end) {
        const char *const newline = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
        const sim__span_t line = {reader->at, newline == NULL ? reader->end : newline};
        ++reader->line;
        const sim_err_t error = read_line(reader, line);
        if (error != SIM_OK) {
            return error;
        }
        reader->at = newline == NULL ? reader->end : newline + 1;
    }
    return SIM_OK;
}

// Converts the probabilities to units of 1 / SIM_CDF_ONE, rounding to the nearest.
static sim_err_t scale_probabilities(reader_t *reader)
{
    if (reader->count == 0) {
        return sim_fail(reader->message, SIM_ERR_INVALID,
                        "line %zu column 1: there is no point: expected lines such as \"10000 15\"",
                        reader->line == 0 ? 1 : reader->line);
    }
    const uint64_t last = reader->points[reader->count - 1].probability;
    if (last != WRITTEN_ONE && last != WRITTEN_ONE * 100) {
        return sim_fail(reader->message, SIM_ERR_INVALID,
                        "line %zu column %zu: the last cumulative probability is %s: expected 100 "
                        "(percent) or 1 (fractions)",
                        reader->last_line, reader->last_column,
                        sim__show(reader->last_probability).text);
    }
    const uint64_t divisor = last / SIM_CDF_ONE;
    for (size_t i = 0; i < reader->count; ++i) {
        const uint64_t written = reader->points[i].probability;
        reader->points[i].probability = (written + divisor / 2) / divisor;
    }
    return SIM_OK;
}

sim_err_t sim_cdf_parse(const char *text, size_t size_bytes, sim_cdf_t **cdf,
                        sim_message_t *message)
{
    reader_t reader = {.at = sim_text_after_mark(text, size_bytes),
                       .end = text + size_bytes,
                       .message = message};
    sim_err_t error = read_lines(&reader);
    if (error == SIM_OK) {
        error = scale_probabilities(&reader);
    }
    if (error == SIM_OK) {
        error = sim_cdf_create(reader.points, reader.count, cdf, message);
    }
    sim_free(reader.points);
    return error;
}
