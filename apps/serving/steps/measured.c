// SPDX-License-Identifier: Apache-2.0
// apps/serving/steps/measured.c - reads tables of measured step times, and interpolates in them.
#include "apps/serving/steps/measured.h"

#include "kernel/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 3u
#define CELL_MAX 40u
#define ROWS_MAX 100000u

static const char *const names[COLUMNS] = {"tokens", "context", "us"};

typedef struct row {
    double values[COLUMNS];
    sim_word_t begin;
} row_t;

typedef struct reader {
    sim_words_t words;
    uint32_t order[COLUMNS]; // column of the file to member of a row
    row_t *rows;
    size_t count;
    size_t capacity;
    sim_message_t *message;
} reader_t;

static sim_err_t wrong(const reader_t *reader, const sim_word_t *cell, const char *what)
{
    return sim_word_fail(&reader->words, cell, reader->message, SIM_ERR_INVALID, "%s", what);
}

// Fails behind the last cell that a line may have.
static sim_err_t too_many(const reader_t *reader, const sim_word_t *last)
{
    const sim_word_t behind = {last->text, 0, last->line,
                               last->column + (uint32_t)last->size_bytes};
    return wrong(reader, &behind, "expected three columns");
}

static sim_err_t read_header(reader_t *reader)
{
    uint32_t seen = 0;
    bool more = true;
    sim_word_t cell;
    for (uint32_t c = 0; c < COLUMNS; c++) {
        uint32_t member = 0;
        more = sim_words_next_cell(&reader->words, ',', &cell);
        while (member < COLUMNS && !sim_word_is(&cell, names[member])) {
            member++;
        }
        if (member == COLUMNS || (seen & 1u << member) != 0) {
            return wrong(reader, &cell,
                         "expected the columns tokens, context and us in the first line");
        }
        seen |= 1u << member;
        reader->order[c] = member;
    }
    return more ? too_many(reader, &cell) : SIM_OK;
}

// Reads all of a cell as a number. False: it is none.
static bool read_number(const sim_word_t *cell, double *value)
{
    char text[CELL_MAX];
    char *rest = NULL;
    if (cell->size_bytes >= sizeof(text)) {
        return false;
    }
    memcpy(text, cell->text, cell->size_bytes);
    text[cell->size_bytes] = '\0';
    *value = strtod(text, &rest);
    return rest != text && *rest == '\0' && *value >= 0.0 && *value <= 1e15;
}

static sim_err_t read_row(reader_t *reader)
{
    row_t row = {.begin = {reader->words.at, 0, reader->words.line, 1}};
    bool more = true;
    sim_word_t cell;
    for (uint32_t c = 0; c < COLUMNS; c++) {
        more = sim_words_next_cell(&reader->words, ',', &cell);
        if (!read_number(&cell, &row.values[reader->order[c]])) {
            return wrong(reader, &cell, "expected a number from 0 to 1e15, such as 12.5");
        }
    }
    if (more) {
        return too_many(reader, &cell);
    }
    if (reader->count == ROWS_MAX) {
        return wrong(reader, &row.begin, "expected at most 100000 lines");
    }
    SIM_APPEND(reader->rows, reader->count, reader->capacity, row);
    return SIM_OK;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

// Returns the different values of a column, in increasing order.
static double *values_of(const reader_t *reader, uint32_t column, size_t *count)
{
    double *const values = sim_alloc_array(reader->count, sizeof(*values));
    for (size_t i = 0; i < reader->count; i++) {
        values[i] = reader->rows[i].values[column];
    }
    qsort(values, reader->count, sizeof(*values), by_value);
    *count = 0;
    for (size_t i = 0; i < reader->count; i++) {
        if (i == 0 || values[i] > values[*count - 1]) {
            values[(*count)++] = values[i];
        }
    }
    return values;
}

static size_t place_of(const double *values, size_t count, double value)
{
    size_t at = 0;
    while (at + 1 < count && values[at] < value) {
        at++;
    }
    return at;
}

// Puts the rows into a grid. Each place of it must have one.
static sim_err_t make_grid(reader_t *reader, app__step_times_t *times)
{
    const sim_word_t begin = {reader->words.line_begin, 0, reader->words.line, 1};
    if (reader->count == 0) {
        return wrong(reader, &begin,
                     "the table has no times, expected at least one line below the first");
    }
    times->tokens = values_of(reader, 0, &times->token_count);
    times->contexts = values_of(reader, 1, &times->context_count);
    const size_t places = times->token_count * times->context_count;
    sim_err_t error = SIM_OK;
    if (places != reader->count) {
        error = wrong(reader, &begin,
                      "expected one time for each number of tokens with each number of context "
                      "tokens");
    } else {
        times->us = sim_alloc_array(places, sizeof(*times->us));
        for (size_t i = 0; i < places; i++) {
            times->us[i] = -1.0;
        }
    }
    for (size_t i = 0; error == SIM_OK && i < reader->count; i++) {
        const double *const values = reader->rows[i].values;
        const size_t at =
            place_of(times->tokens, times->token_count, values[0]) * times->context_count +
            place_of(times->contexts, times->context_count, values[1]);
        if (times->us[at] >= 0.0) {
            error = wrong(reader, &reader->rows[i].begin,
                          "a line above has the same tokens and context");
        }
        times->us[at] = values[2];
    }
    if (error != SIM_OK) {
        app__step_times_fini(times);
    }
    return error;
}

sim_err_t app__step_times_read(const char *name, const char *text, size_t size,
                               app__step_times_t *times, sim_message_t *message)
{
    reader_t reader = {.message = message};
    sim_words_init(&reader.words, name, text, size);
    *times = (app__step_times_t){NULL, 0, NULL, 0, NULL};
    sim_err_t error = read_header(&reader);
    while (error == SIM_OK && sim_words_next_line(&reader.words)) {
        error = sim_words_in_line(reader.words) > 0 ? read_row(&reader) : SIM_OK;
    }
    if (error == SIM_OK) {
        error = make_grid(&reader, times);
    }
    sim_free(reader.rows);
    return error;
}

void app__step_times_fini(app__step_times_t *times)
{
    SIM_FREE_ALL(times->tokens, times->contexts, times->us);
    *times = (app__step_times_t){NULL, 0, NULL, 0, NULL};
}

// Returns the index of the pair of neighbours between or beyond which a value lies, and its place
// between them: 0 at the first, 1 at the second.
static size_t locate(const double *values, size_t count, double value, double *part)
{
    *part = 0.0;
    if (count == 1) {
        return 0;
    }
    size_t at = 0;
    while (at + 2 < count && values[at + 1] < value) {
        at++;
    }
    *part = (value - values[at]) / (values[at + 1] - values[at]);
    return at;
}

double app__step_times_us(const app__step_times_t *times, uint64_t tokens, uint64_t context)
{
    double across = 0.0;
    double along = 0.0;
    const size_t row = locate(times->tokens, times->token_count, (double)tokens, &across);
    const size_t column = locate(times->contexts, times->context_count, (double)context, &along);
    const size_t down = times->token_count > 1 ? times->context_count : 0;
    const size_t right = times->context_count > 1 ? 1 : 0;
    const double *const first = &times->us[row * times->context_count + column];
    const double upper = first[0] + (first[right] - first[0]) * along;
    const double lower = first[down] + (first[down + right] - first[down]) * along;
    const double us = upper + (lower - upper) * across;
    // Beyond the table the line may fall to nothing: no step is faster than all neighbours.
    return fmax(us, fmin(fmin(first[0], first[right]), fmin(first[down], first[down + right])));
}
