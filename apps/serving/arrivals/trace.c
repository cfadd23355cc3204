// SPDX-License-Identifier: Apache-2.0
// apps/serving/arrivals/trace.c - reads traces of requests in tables (CSV, or with tabs) and
// recognises formats. The reader of JSON lines is apps/mooncake/programs/trace.c.
// docs/formats/peers.md
#include "apps/mooncake/programs/trace.h"
#include "kernel/words.h"

#include <stdlib.h>
#include <string.h>

#define TOKENS_MAX UINT64_C(100000000)
#define SPAN_MAX_S UINT64_C(9000000) // 104 days, less than SIM_TIME_END
#define SECONDS_MAX UINT64_C(100000000000)
#define UNITS_MAX (UINT64_C(1) << 63) // of a time in ns
#define COLUMNS_MAX 64u
#define SECONDS_PER_DAY UINT64_C(86400)

enum { TIME, PROMPT, OUTPUT, NEEDED };

// A dialect: the names of the columns that are read; others may stand between them.
typedef struct dialect {
    const char *name;
    const char *what;
    const char *columns[NEEDED];
    sim_time_t unit_ps; // of times; 0: they are dates
    bool untimed;       // the column of times may be missing
} dialect_t;

// clang-format off
static const dialect_t dialects[] = {
    [APP__TRACE_NONE] = {.name = "none", .what = "no trace of requests"},
    [APP__TRACE_MOONCAKE] = {.name = "mooncake-jsonl", .what = "requests of Mooncake (JSON lines)"},
    [APP__TRACE_AZURE] = {"azure-csv", "requests of Azure (CSV)", {"TIMESTAMP", "ContextTokens", "GeneratedTokens"}, 0, false},
    [APP__TRACE_BURSTGPT] = {"burstgpt-csv", "requests of BurstGPT (CSV)", {"Timestamp", "Request tokens", "Response tokens"}, SIM_PS_PER_S, false},
    [APP__TRACE_VIDUR] = {"vidur-csv", "requests of Vidur (CSV)", {"arrived_at", "num_prefill_tokens", "num_decode_tokens"}, SIM_PS_PER_S, true},
    [APP__TRACE_SPLITWISE] = {"splitwise-csv", "requests of Splitwise (CSV)", {"arrival_timestamp", "prompt_size", "token_size"}, SIM_PS_PER_S, false},
    [APP__TRACE_LLMSERVINGSIM] = {"llmservingsim-tsv", "requests of LLMServingSim (table)", {"arrival_time_ns", "input_toks", "output_toks"}, SIM_PS_PER_NS, true},
};
// clang-format on

// A piece of the text: [begin, end).
typedef struct span {
    const char *begin;
    const char *end;
} span_t;

// A row of the file.
typedef struct row {
    sim_wide_t ps; // since year 0, or since the time 0 of the trace
    uint64_t prompt;
    uint64_t output;
    bool lacks[2]; // the length of the prompt, of the output
    size_t line;
    uint64_t column; // of the time
} row_t;

typedef struct reader {
    const char *name;
    const char *at;
    const char *end;
    size_t line; // from 1
    const dialect_t *dialect;
    size_t places[NEEDED]; // columns, from 0
    size_t columns;
    char comma;   // between cells: ',', a tab or ';'
    bool untimed; // there is no column of times
    row_t *rows;
    size_t count;
    size_t capacity;
    size_t late;
    sim_message_t *message;
} reader_t;

const char *app__trace_what(app__trace_format_t format)
{
    return dialects[format].what;
}

const char *app__trace_name(app__trace_format_t format)
{
    return dialects[format].name;
}

// -- lines and cells

// Takes the next line, without its end. False: there is none.
static bool take_line(const char **at, const char *end, span_t *line)
{
    if (*at >= end) {
        return false;
    }
    const char *const newline = memchr(*at, '\n', (size_t)(end - *at));
    *line = (span_t){*at, newline != NULL ? newline : end};
    *at = newline != NULL ? newline + 1 : end;
    while (line->end > line->begin && (line->end[-1] == '\r' || line->end[-1] == ' ')) {
        line->end--;
    }
    return true;
}

static bool is_blank(span_t line)
{
    while (line.begin < line.end && (*line.begin == ' ' || *line.begin == '\t')) {
        line.begin++;
    }
    return line.begin == line.end;
}

// Returns what stands between the cells of a first line: a comma, else a tab or a semicolon.
static char comma_of(span_t line)
{
    const size_t size = (size_t)(line.end - line.begin);
    if (memchr(line.begin, ',', size) != NULL) {
        return ',';
    }
    return memchr(line.begin, '\t', size) != NULL  ? '\t'
           : memchr(line.begin, ';', size) != NULL ? ';'
                                                   : ',';
}

// Splits a line at commas, or tabs. Returns the number of cells; only COLUMNS_MAX are kept.
static size_t split(span_t line, char separator, span_t cells[COLUMNS_MAX])
{
    sim_words_t words = {"", line.begin, line.end, line.begin, 1};
    sim_word_t cell;
    size_t count = 0;
    for (bool more = true; more; count++) {
        more = sim_words_next_cell(&words, separator, &cell);
        if (count < COLUMNS_MAX) {
            cells[count] = (span_t){cell.text, cell.text + cell.size_bytes};
        }
    }
    return count;
}

static bool is(span_t cell, const char *text)
{
    const size_t size = strlen(text);
    return (size_t)(cell.end - cell.begin) == size && memcmp(cell.begin, text, size) == 0;
}

// Finds the columns of a dialect in a header; the place of a missing one is `count`. Returns how
// many are there.
static size_t find_columns(const dialect_t *dialect, const span_t *cells, size_t count,
                           size_t places[NEEDED])
{
    size_t found = 0;
    for (size_t need = 0; need < NEEDED; need++) {
        size_t at = 0;
        while (at < count && !is(cells[at], dialect->columns[need])) {
            at++;
        }
        places[need] = at;
        found += at < count;
    }
    return found;
}

static bool has(span_t line, const char *text)
{
    const size_t size = strlen(text);
    for (const char *at = line.begin; at + size <= line.end; at++) {
        if (memcmp(at, text, size) == 0) {
            return true;
        }
    }
    return false;
}

app__trace_format_t app__trace_detect(const char *text, size_t size_bytes)
{
    const char *at = sim_text_after_mark(text, size_bytes);
    span_t line = {at, at};
    while (is_blank(line)) {
        if (!take_line(&at, text + size_bytes, &line)) {
            return APP__TRACE_NONE;
        }
    }
    const char comma = comma_of(line);
    line.begin += strspn(line.begin, comma == '\t' ? " " : " \t");
    if (*line.begin == '{') {
        static const char *const names[] = {"\"input_length\"", "\"output_length\"",
                                            "\"input_toks\"",   "\"output_toks\"",
                                            "\"prompt_len\"",   "\"output_len\""};
        for (size_t i = 0; i < SIM_COUNT_OF(names); i++) {
            if (has(line, names[i])) {
                return APP__TRACE_MOONCAKE;
            }
        }
        return APP__TRACE_NONE;
    }
    span_t cells[COLUMNS_MAX];
    size_t places[NEEDED];
    const size_t count = split(line, comma, cells);
    const size_t end = count <= COLUMNS_MAX ? SIM_COUNT_OF(dialects) : 0;
    for (size_t format = APP__TRACE_AZURE; format < end; format++) {
        const dialect_t *const dialect = &dialects[format];
        const size_t found = find_columns(dialect, cells, count, places);
        const bool optional =
            places[OUTPUT] == count || (dialect->untimed && places[TIME] == count);
        if (found == NEEDED || (found + 1 == NEEDED && optional)) {
            return (app__trace_format_t)format;
        }
    }
    return APP__TRACE_NONE;
}

// -- values

static sim_err_t wrong(const reader_t *reader, span_t line, const char *at, const char *what)
{
    return sim_fail_in(reader->message, SIM_ERR_INVALID, reader->name, reader->line,
                       (uint64_t)(at - line.begin) + 1, "%s", what);
}

// Takes at least one digit, at most `most`, from the front of a cell. False: there is none, or the
// number is above max.
static bool take_digits(span_t *cell, unsigned most, uint64_t max, uint64_t *number)
{
    const char *const begin = cell->begin;
    *number = 0;
    while (cell->begin < cell->end && *cell->begin >= '0' && *cell->begin <= '9' &&
           cell->begin < begin + most) {
        *number = *number * 10 + (uint64_t)(*cell->begin++ - '0');
        if (*number > max) {
            return false;
        }
    }
    return cell->begin > begin;
}

static bool take_char(span_t *cell, const char *any)
{
    if (cell->begin == cell->end || strchr(any, *cell->begin) == NULL || *cell->begin == '\0') {
        return false;
    }
    cell->begin++;
    return true;
}

// Takes the decimals of a unit, if there are any, as picoseconds; finer ones are cut off.
static bool take_decimals(span_t *cell, sim_time_t unit_ps, sim_wide_t *ps)
{
    if (!take_char(cell, ".")) {
        return true;
    }
    const char *const begin = cell->begin;
    for (uint64_t one_ps = unit_ps / 10;
         cell->begin < cell->end && *cell->begin >= '0' && *cell->begin <= '9'; one_ps /= 10) {
        *ps += (uint64_t)(*cell->begin++ - '0') * one_ps;
    }
    return cell->begin > begin;
}

// Returns the days from March 1 of year 0 to a day, by the Gregorian calendar.
static uint64_t days_to(uint64_t year, uint64_t month, uint64_t day)
{
    const uint64_t from_march = (month + 9) % 12;
    const uint64_t years = month > 2 ? year : year - 1;
    return years * 365 + years / 4 - years / 100 + years / 400 + (from_march * 153 + 2) / 5 + day -
           1;
}

static bool is_day(uint64_t year, uint64_t month, uint64_t day)
{
    static const uint64_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return year >= 1 && month >= 1 && month <= 12 && day >= 1 &&
           day <= days[month - 1] + (month == 2 && leap);
}

// Reads "2023-11-16 18:17:03.9799600", perhaps with T between, and with Z or an offset such as
// +00:00 behind.
static bool read_date(span_t cell, sim_wide_t *ps)
{
    uint64_t year, month, day, hour, minute, second;
    uint64_t offset_hour = 0;
    uint64_t offset_minute = 0;
    if (!take_digits(&cell, 4, 9999, &year) || !take_char(&cell, "-") ||
        !take_digits(&cell, 2, 12, &month) || !take_char(&cell, "-") ||
        !take_digits(&cell, 2, 31, &day) || !is_day(year, month, day) || !take_char(&cell, " T") ||
        !take_digits(&cell, 2, 23, &hour) || !take_char(&cell, ":") ||
        !take_digits(&cell, 2, 59, &minute) || !take_char(&cell, ":") ||
        !take_digits(&cell, 2, 60, &second)) {
        return false;
    }
    sim_wide_t decimals_ps = 0;
    if (!take_decimals(&cell, SIM_PS_PER_S, &decimals_ps)) {
        return false;
    }
    // A day more keeps the time positive when the offset is taken off.
    uint64_t seconds =
        (days_to(year, month, day) + 1) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second;
    const bool east = cell.begin < cell.end && *cell.begin == '+';
    if (take_char(&cell, "+-")) {
        if (!take_digits(&cell, 2, 23, &offset_hour) ||
            (take_char(&cell, ":") && !take_digits(&cell, 2, 59, &offset_minute))) {
            return false;
        }
        const uint64_t offset = offset_hour * 3600 + offset_minute * 60;
        seconds = east ? seconds - offset : seconds + offset;
    } else {
        (void)take_char(&cell, "Z");
    }
    *ps = (sim_wide_t)seconds * SIM_PS_PER_S + decimals_ps;
    return cell.begin == cell.end;
}

// Reads a number of units, perhaps with an exponent, such as 5e-05.
static bool read_units(span_t cell, sim_time_t unit_ps, sim_wide_t *ps)
{
    const size_t size = (size_t)(cell.end - cell.begin);
    const bool exponent =
        memchr(cell.begin, 'e', size) != NULL || memchr(cell.begin, 'E', size) != NULL;
    const sim_word_t word = {cell.begin, size, 1, 1};
    sim_plain_t plain;
    sim_word_t rest;
    if (exponent && sim_word_plain(&word, &plain, &rest) && rest.size_bytes == 0) {
        cell = (span_t){plain.text, plain.text + strlen(plain.text)};
    }
    uint64_t units = 0;
    const uint64_t max = unit_ps == SIM_PS_PER_S ? SECONDS_MAX : UNITS_MAX;
    if (!take_digits(&cell, 19, max, &units)) {
        return false;
    }
    *ps = (sim_wide_t)units * unit_ps;
    return take_decimals(&cell, unit_ps, ps) && cell.begin == cell.end;
}

// Reads a whole number; decimals that are all 0 are allowed, since some programs write them.
static bool read_tokens(span_t cell, uint64_t *tokens)
{
    if (!take_digits(&cell, 12, TOKENS_MAX, tokens)) {
        return false;
    }
    if (take_char(&cell, ".")) {
        while (take_char(&cell, "0")) {
        }
    }
    return cell.begin == cell.end;
}

// -- the file

// Finds the columns of the first line, which app__trace_detect has recognised. Each has to be there
// once.
static sim_err_t read_header(reader_t *reader)
{
    span_t line = {reader->at, reader->at};
    span_t cells[COLUMNS_MAX];
    while (take_line(&reader->at, reader->end, &line) && is_blank(line)) {
        reader->line++;
    }
    reader->comma = comma_of(line);
    line.begin += strspn(line.begin, reader->comma == '\t' ? " " : " \t");
    reader->columns = split(line, reader->comma, cells);
    (void)find_columns(reader->dialect, cells, reader->columns, reader->places);
    reader->untimed = reader->places[TIME] == reader->columns;
    for (size_t need = 0; need < NEEDED; need++) {
        for (size_t at = reader->places[need] + 1; at < reader->columns; at++) {
            if (is(cells[at], reader->dialect->columns[need])) {
                return wrong(reader, line, cells[at].begin,
                             "the column is there twice, expected it once");
            }
        }
    }
    return SIM_OK;
}

static sim_err_t read_row(reader_t *reader, span_t line, row_t *row)
{
    span_t cells[COLUMNS_MAX];
    const size_t count = split(line, reader->comma, cells);
    if (count != reader->columns) {
        sim_message_t text;
        (void)sim_fail(&text, SIM_ERR_INVALID,
                       "the row has %zu cell%s, expected %zu as the first line has", count,
                       sim_plural(count), reader->columns);
        return wrong(reader, line, line.begin, text.text);
    }
    const sim_time_t unit_ps = reader->dialect->unit_ps;
    const span_t time = reader->untimed ? line : cells[reader->places[TIME]];
    row->line = reader->line;
    row->column = (uint64_t)(time.begin - line.begin) + 1;
    if (!reader->untimed &&
        !(unit_ps == 0 ? read_date(time, &row->ps) : read_units(time, unit_ps, &row->ps))) {
        return wrong(reader, line, time.begin,
                     unit_ps == 0 ? "expected a time such as 2023-11-16 18:17:03.97996"
                     : unit_ps == SIM_PS_PER_NS ? "expected a time in ns, such as 12000"
                                                : "expected a time in seconds, such as 12 or 12.5");
    }
    uint64_t *const lengths[] = {&row->prompt, &row->output};
    for (size_t i = 0; i < SIM_COUNT_OF(lengths); i++) {
        const size_t place = reader->places[PROMPT + i];
        if (place == reader->columns || cells[place].begin == cells[place].end) {
            row->lacks[i] = true;
        } else if (!read_tokens(cells[place], lengths[i])) {
            return wrong(reader, line, cells[place].begin,
                         "expected a number of tokens, 0 to 100000000");
        }
    }
    return SIM_OK;
}

static sim_err_t read_rows(reader_t *reader)
{
    span_t line;
    while (take_line(&reader->at, reader->end, &line)) {
        reader->line++;
        if (is_blank(line)) {
            continue;
        }
        row_t row = {.ps = 0};
        const sim_err_t error = read_row(reader, line, &row);
        if (error != SIM_OK) {
            return error;
        }
        reader->late += reader->count > 0 && row.ps < reader->rows[reader->count - 1].ps;
        SIM_APPEND(reader->rows, reader->count, reader->capacity, row);
    }
    if (reader->count == 0) {
        return sim_fail_in(
            reader->message, SIM_ERR_INVALID, reader->name, reader->line, 1,
            "the trace has no request, expected a row for each below the first line");
    }
    return SIM_OK;
}

static int by_time(const void *a_void, const void *b_void)
{
    const row_t *const a = a_void;
    const row_t *const b = b_void;
    return 2 * SIM_COMPARE(a->ps, b->ps) + SIM_COMPARE(a->line, b->line);
}

// Turns the first `most` rows, in order of time, into prompts.
static sim_err_t fill(reader_t *reader, uint64_t most, app__mooncake_trace_t *trace)
{
    if (reader->late > 0) {
        qsort(reader->rows, reader->count, sizeof(*reader->rows), by_time);
    }
    reader->count = reader->count < most ? reader->count : (size_t)most;
    const row_t *const last = &reader->rows[reader->count - 1];
    if (last->ps - reader->rows[0].ps > (sim_wide_t)SPAN_MAX_S * SIM_PS_PER_S) {
        return sim_fail_in(reader->message, SIM_ERR_RANGE, reader->name, last->line, last->column,
                           "the time is more than 104 days after the first one, expected less");
    }
    trace->prompts = sim_alloc_array(reader->count, sizeof(*trace->prompts));
    trace->capacity = reader->count;
    for (size_t i = 0; i < reader->count; i++) {
        const row_t *const row = &reader->rows[i];
        const sim_time_t ps = (sim_time_t)(row->ps - reader->rows[0].ps);
        trace->prompts[trace->count++] = (app__mooncake_prompt_t){
            .timestamp_ms = ps / SIM_PS_PER_MS,
            .timestamp_rest_ps = ps % SIM_PS_PER_MS,
            .input_tokens = row->prompt,
            .output_tokens = row->output,
        };
        for (size_t l = 0; l < SIM_COUNT_OF(row->lacks); l++) {
            if (row->lacks[l] && trace->lengthless[l]++ == 0) {
                trace->lengthless_line[l] = row->line;
            }
        }
    }
    trace->length_names = &reader->dialect->columns[PROMPT];
    trace->late = reader->late;
    trace->unhashed = trace->count;
    trace->untimed = reader->untimed ? trace->count : 0;
    return SIM_OK;
}

// Says why a text is no trace: it is empty, a column of a known header is missing, or it is none of
// the formats. Returns the error.
static sim_err_t fail_unknown(const char *name, const char *text, size_t size_bytes,
                              sim_message_t *message)
{
    static const char expected[] = "expected JSON lines with input_length and output_length, or "
                                   "CSV with a first line TIMESTAMP,ContextTokens,GeneratedTokens, "
                                   "Timestamp,...,Request tokens,Response tokens or "
                                   "arrived_at,num_prefill_tokens,num_decode_tokens";
    const char *at = sim_text_after_mark(text, size_bytes);
    span_t line = {at, at};
    uint64_t number = 0;
    while (is_blank(line)) {
        if (!take_line(&at, text + size_bytes, &line)) {
            return sim_fail_in(message, SIM_ERR_INVALID, name, 1, 1, "the trace is empty, %s",
                               expected);
        }
        number++;
    }
    span_t cells[COLUMNS_MAX];
    size_t places[NEEDED];
    const size_t count = split(line, comma_of(line), cells);
    for (size_t f = APP__TRACE_AZURE; f < SIM_COUNT_OF(dialects) && count <= COLUMNS_MAX; f++) {
        size_t missing = 0;
        if (find_columns(&dialects[f], cells, count, places) + 1 != NEEDED) {
            continue;
        }
        while (places[missing] < count) {
            missing++;
        }
        return sim_fail_in(message, SIM_ERR_INVALID, name, number, 1,
                           "the first line has no column %s, expected %s, %s and %s among its "
                           "columns",
                           dialects[f].columns[missing], dialects[f].columns[TIME],
                           dialects[f].columns[PROMPT], dialects[f].columns[OUTPUT]);
    }
    return sim_fail_in(message, SIM_ERR_INVALID, name, number, 1, "no trace of requests, %s",
                       expected);
}

sim_err_t app__trace_read(const char *name, const char *text, size_t size_bytes, uint64_t most,
                          app__mooncake_trace_t *trace, sim_message_t *message)
{
    const app__trace_format_t format = app__trace_detect(text, size_bytes);
    *trace = (app__mooncake_trace_t){0};
    if (format == APP__TRACE_MOONCAKE) {
        return app__mooncake_trace_read(name, text, size_bytes, most, trace, message);
    }
    if (format == APP__TRACE_NONE) {
        return fail_unknown(name, text, size_bytes, message);
    }
    reader_t reader = {
        .name = name,
        .at = sim_text_after_mark(text, size_bytes),
        .end = text + size_bytes,
        .line = 1,
        .dialect = &dialects[format],
        .message = message,
    };
    sim_err_t error = read_header(&reader);
    if (error == SIM_OK) {
        error = read_rows(&reader);
    }
    if (error == SIM_OK) {
        error = fill(&reader, most, trace);
    }
    sim_free(reader.rows);
    return error;
}
