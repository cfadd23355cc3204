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
    size_t line;
} row_t;

typedef struct reader {
    const char *name;
    const char *at;
    const char *end;
    const char *line_start;
    size_t line;
    uint32_t order[COLUMNS]; // column of the file to member of a row
    row_t *rows;
    size_t count;
    size_t capacity;
    sim_message_t *message;
} reader_t;

static sim_err_t wrong(const reader_t *reader, const char *what)
{
    return sim_fail_in(reader->message, SIM_ERR_INVALID, reader->name, reader->line,
                       (size_t)(reader->at - reader->line_start) + 1, "%s", what);
}

// Copies the next cell of a line, without blanks around it. False: it is too long.
static bool take_cell(reader_t *reader, char cell[CELL_MAX])
{
    while (reader->at < reader->end && *reader->at == ' ') {
        reader->at++;
    }
    size_t length = 0;
    while (reader->at + length < reader->end && strchr(",\r\n", reader->at[length]) == NULL) {
        length++;
    }
    size_t used = length;
    while (used > 0 && reader->at[used - 1] == ' ') {
        used--;
    }
    if (used + 1 > CELL_MAX) {
        return false;
    }
    memcpy(cell, reader->at, used);
    cell[used] = '\0';
    return true;
}

// Goes behind the cell: to the next one, or to the end of the line.
static void leave_cell(reader_t *reader, bool comma)
{
    while (reader->at < reader->end && strchr(",\r\n", *reader->at) == NULL) {
        reader->at++;
    }
    reader->at += comma && reader->at < reader->end && *reader->at == ',';
}

static bool at_line_end(const reader_t *reader)
{
    return reader->at == reader->end || *reader->at == '\n' || *reader->at == '\r';
}

static void next_line(reader_t *reader)
{
    const char *const newline = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
    reader->at = newline == NULL ? reader->end : newline + 1;
    reader->line_start = reader->at;
    reader->line++;
}

static sim_err_t read_header(reader_t *reader)
{
    uint32_t seen = 0;
    for (uint32_t c = 0; c < COLUMNS; c++) {
        char cell[CELL_MAX];
        uint32_t member = COLUMNS;
        if (take_cell(reader, cell)) {
            for (uint32_t m = 0; m < COLUMNS; m++) {
                member = strcmp(cell, names[m]) == 0 ? m : member;
            }
        }
        if (member == COLUMNS || (seen & 1u << member) != 0) {
            return wrong(reader, "expected the columns tokens, context and us in the first line");
        }
        seen |= 1u << member;
        reader->order[c] = member;
        leave_cell(reader, c + 1 < COLUMNS);
    }
    return at_line_end(reader) ? SIM_OK : wrong(reader, "expected three columns");
}

static sim_err_t read_row(reader_t *reader)
{
    row_t row = {.line = reader->line};
    for (uint32_t c = 0; c < COLUMNS; c++) {
        char cell[CELL_MAX];
        char *rest = NULL;
        const bool fits = take_cell(reader, cell);
        const double value = fits ? strtod(cell, &rest) : 0.0;
        if (!fits || rest == cell || *rest != '\0' || !(value >= 0.0 && value <= 1e15)) {
            return wrong(reader, "expected a number from 0 to 1e15, such as 12.5");
        }
        row.values[reader->order[c]] = value;
        leave_cell(reader, c + 1 < COLUMNS);
    }
    if (!at_line_end(reader)) {
        return wrong(reader, "expected three columns");
    }
    if (reader->count == ROWS_MAX) {
        return wrong(reader, "expected at most 100000 lines");
    }
    SIM_GROW(reader->rows, reader->count, &reader->capacity);
    reader->rows[reader->count++] = row;
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
    if (reader->count == 0) {
        return wrong(reader, "the table has no times, expected at least one line below the first");
    }
    times->tokens = values_of(reader, 0, &times->token_count);
    times->contexts = values_of(reader, 1, &times->context_count);
    const size_t places = times->token_count * times->context_count;
    sim_err_t error = SIM_OK;
    if (places != reader->count) {
        error =
            wrong(reader, "expected one time for each number of tokens with each number of context "
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
            reader->line = reader->rows[i].line;
            reader->at = reader->line_start;
            error = wrong(reader, "a line above has the same tokens and context");
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
    const char *const begin = sim_text_after_mark(text, size);
    reader_t reader = {
        .name = name,
        .at = begin,
        .end = text + size,
        .line_start = begin,
        .line = 1,
        .message = message,
    };
    *times = (app__step_times_t){NULL, 0, NULL, 0, NULL};
    sim_err_t error = read_header(&reader);
    while (error == SIM_OK && reader.at < reader.end) {
        next_line(&reader);
        if (!at_line_end(&reader)) {
            error = read_row(&reader);
        }
    }
    if (error == SIM_OK) {
        error = make_grid(&reader, times);
    }
    sim_free(reader.rows);
    return error;
}

void app__step_times_fini(app__step_times_t *times)
{
    sim_free(times->tokens);
    sim_free(times->contexts);
    sim_free(times->us);
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
