// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/trace.c - reads request traces: one JSON object per line
// (docs/models/mooncake.md).
#include <inttypes.h>
#include <string.h>

#include "apps/mooncake/pure.h"
#include "kernel/words.h"

#define DEPTH_MAX 32u
#define NAME_MAX_BYTES 64u
// Limit of timestamps, so that times after the latest prompt fit into sim_time_t.
#define TIMESTAMP_MS_MAX UINT64_C(4000000000)
#define TOKENS_MAX UINT64_C(100000000)
// Some editors write this before UTF-8 text.

typedef struct reader {
    const char *name;
    const char *text;
    size_t size;
    size_t at;
    size_t line; // from 1
    size_t line_start;
    app__mooncake_trace_t *trace;
    sim_message_t *message;
} reader_t;

static sim_err_t wrong(const reader_t *reader, size_t at, const char *what)
{
    return sim_fail_in(reader->message, SIM_ERR_INVALID, reader->name, reader->line,
                       at - reader->line_start + 1, "%s", what);
}

static char next(const reader_t *reader)
{
    return reader->at < reader->size ? reader->text[reader->at] : '\0';
}

static void skip_space(reader_t *reader)
{
    while (next(reader) == ' ' || next(reader) == '\t' || next(reader) == '\r') {
        reader->at++;
    }
}

static bool take(reader_t *reader, char wanted)
{
    skip_space(reader);
    if (next(reader) != wanted || reader->at >= reader->size) {
        return false;
    }
    reader->at++;
    return true;
}

static sim_err_t take_digits(reader_t *reader, size_t start, uint64_t limit, uint64_t *value)
{
    const size_t first = reader->at;
    uint64_t number = 0;
    while (next(reader) >= '0' && next(reader) <= '9') {
        const uint64_t digit = (uint64_t)(next(reader) - '0');
        if (number > (limit - digit) / 10) {
            sim_message_t text;
            (void)sim_fail(&text, SIM_ERR_RANGE,
                           "the number is too large, expected at most %" PRIu64, limit);
            return wrong(reader, start, text.text);
        }
        number = number * 10 + digit;
        reader->at++;
    }
    *value = number;
    return reader->at > first
               ? SIM_OK
               : wrong(reader, start, "expected a whole number that is not negative");
}

// Reads a whole number. 12.0 and 1e3 are refused; no writer of such traces uses them.
static sim_err_t take_number(reader_t *reader, uint64_t limit, uint64_t *value)
{
    skip_space(reader);
    const size_t start = reader->at;
    const sim_err_t error = take_digits(reader, start, limit, value);
    if (error == SIM_OK && (next(reader) == '.' || next(reader) == 'e' || next(reader) == 'E')) {
        return wrong(reader, start, "expected a whole number that is not negative");
    }
    return error;
}

// Reads a time as milliseconds; decimals count down to the picosecond. The file arrivals.c scales
// seconds.
static sim_err_t take_timestamp(reader_t *reader, app__mooncake_prompt_t *prompt)
{
    skip_space(reader);
    const size_t start = reader->at;
    prompt->timestamp_rest_ps = 0;
    const sim_err_t error = take_digits(reader, start, TIMESTAMP_MS_MAX, &prompt->timestamp_ms);
    if (error == SIM_OK && next(reader) == '.') {
        reader->at++;
        const size_t point = reader->at;
        for (sim_time_t one_ps = SIM_PS_PER_MS / 10; next(reader) >= '0' && next(reader) <= '9';
             one_ps /= 10) {
            prompt->timestamp_rest_ps += (sim_time_t)(next(reader) - '0') * one_ps;
            reader->at++;
        }
        reader->trace->with_decimals = true;
        if (reader->at == point) {
            return wrong(reader, start, "expected a time, such as 12 or 12.5");
        }
    }
    if (error == SIM_OK && (next(reader) == 'e' || next(reader) == 'E')) {
        return wrong(reader, start, "expected a time, such as 12 or 12.5");
    }
    return error;
}

static sim_err_t take_string(reader_t *reader, char *name)
{
    skip_space(reader);
    const size_t start = reader->at;
    if (!take(reader, '"')) {
        return wrong(reader, start, "expected a name in quotes");
    }
    size_t size = 0;
    while (next(reader) != '"') {
        if (reader->at >= reader->size || next(reader) == '\n') {
            return wrong(reader, start, "the string has no end, expected a quote in the same line");
        }
        if (next(reader) == '\\') {
            reader->at++;
        }
        if (size + 1 < NAME_MAX_BYTES) {
            name[size++] = next(reader);
        }
        reader->at++;
    }
    reader->at++;
    name[size] = '\0';
    return SIM_OK;
}

// Skips the value of an unknown member.
static sim_err_t skip_value(reader_t *reader)
{
    char ignored[NAME_MAX_BYTES];
    unsigned depth = 0;
    skip_space(reader);
    const size_t start = reader->at;
    do {
        skip_space(reader);
        const char c = next(reader);
        if (c == '"') {
            const sim_err_t error = take_string(reader, ignored);
            if (error != SIM_OK) {
                return error;
            }
        } else if (c == '[' || c == '{') {
            if (++depth > DEPTH_MAX) {
                return wrong(reader, reader->at, "nested too deep, expected at most 32 levels");
            }
            reader->at++;
        } else if (depth > 0 && (c == ']' || c == '}')) {
            depth--;
            reader->at++;
        } else if (c == '\0' || c == '\n' || (depth == 0 && strchr(",}]", c))) {
            return wrong(reader, start, "expected a value after ':'");
        } else if (depth > 0 && (c == ',' || c == ':')) {
            reader->at++;
        } else {
            while (reader->at < reader->size && strchr(",:]}[{\" \t\r\n", next(reader)) == NULL) {
                reader->at++;
            }
        }
    } while (depth > 0);
    return SIM_OK;
}

static sim_err_t take_ids(reader_t *reader, app__mooncake_prompt_t *prompt)
{
    app__mooncake_trace_t *const trace = reader->trace;
    skip_space(reader);
    if (!take(reader, '[')) {
        return wrong(reader, reader->at, "expected a list of hash ids");
    }
    trace->id_count = prompt->first_id; // if the list is given twice, the last one counts
    if (take(reader, ']')) {
        prompt->id_count = 0;
        return SIM_OK;
    }
    do {
        uint64_t id = 0;
        const sim_err_t error = take_number(reader, UINT64_MAX, &id);
        if (error != SIM_OK) {
            return error;
        }
        SIM_GROW(trace->ids, trace->id_count, &trace->id_capacity);
        trace->ids[trace->id_count++] = id;
    } while (take(reader, ','));
    prompt->id_count = trace->id_count - prompt->first_id;
    return take(reader, ']') ? SIM_OK : wrong(reader, reader->at, "expected ',' or ']'");
}

enum { TIMESTAMP, INPUT, OUTPUT, IDS, MEMBERS };
static const char *const members[] = {"timestamp", "input_length", "output_length", "hash_ids"};

// Reads a member. `has` has a bit for each member that was read.
static sim_err_t take_member(reader_t *reader, app__mooncake_prompt_t *prompt, unsigned *has)
{
    char name[NAME_MAX_BYTES];
    skip_space(reader);
    const size_t start = reader->at;
    const sim_err_t error = take_string(reader, name);
    if (error != SIM_OK) {
        return error;
    }
    if (!take(reader, ':')) {
        return wrong(reader, reader->at, "expected ':'");
    }
    unsigned member = 0;
    while (member < MEMBERS && strcmp(name, members[member]) != 0) {
        member++;
    }
    if ((*has & 1u << member) != 0) {
        sim_message_t text;
        (void)sim_fail(&text, SIM_ERR_INVALID, "%s is given twice, expected it once", name);
        return wrong(reader, start, text.text);
    }
    *has |= member < MEMBERS ? 1u << member : 0;
    switch (member) {
    case TIMESTAMP:
        return take_timestamp(reader, prompt);
    case INPUT:
        return take_number(reader, TOKENS_MAX, &prompt->input_tokens);
    case OUTPUT:
        return take_number(reader, TOKENS_MAX, &prompt->output_tokens);
    case IDS:
        return take_ids(reader, prompt);
    default:
        return skip_value(reader);
    }
}

static sim_err_t take_prompt(reader_t *reader, app__mooncake_prompt_t *prompt)
{
    const size_t start = reader->at;
    unsigned has = 0;
    *prompt = (app__mooncake_prompt_t){.first_id = reader->trace->id_count};
    if (!take(reader, '{')) {
        return wrong(reader, start, "expected a JSON object, '{'");
    }
    if (!take(reader, '}')) {
        do {
            const sim_err_t error = take_member(reader, prompt, &has);
            if (error != SIM_OK) {
                return error;
            }
        } while (take(reader, ','));
        if (!take(reader, '}')) {
            return wrong(reader, reader->at, "expected ',' or '}'");
        }
    }
    for (unsigned i = INPUT; i <= OUTPUT; i++) {
        if ((has & 1u << i) == 0) {
            sim_message_t text;
            (void)sim_fail(&text, SIM_ERR_INVALID,
                           "the request has no %s, expected input_length and output_length",
                           members[i]);
            return wrong(reader, start, text.text);
        }
    }
    app__mooncake_trace_t *const trace = reader->trace;
    const bool timed = (has & 1u << TIMESTAMP) != 0;
    if (trace->count > 0 && timed == (trace->untimed > 0)) {
        return wrong(reader, start,
                     timed ? "the request has a timestamp and earlier ones have none, expected one "
                             "in each request or in none"
                           : "the request has no timestamp and earlier ones have one, expected "
                             "one in each request or in none");
    }
    trace->untimed += !timed;
    trace->unhashed += (has & 1u << IDS) == 0;
    return SIM_OK;
}

// Keeps prompts in the order of the trace: one with an earlier time than its predecessor gets the
// predecessor's time.
static void keep_order(app__mooncake_trace_t *trace, app__mooncake_prompt_t *prompt)
{
    if (trace->count == 0) {
        return;
    }
    const app__mooncake_prompt_t *const last = &trace->prompts[trace->count - 1];
    if (prompt->timestamp_ms < last->timestamp_ms ||
        (prompt->timestamp_ms == last->timestamp_ms &&
         prompt->timestamp_rest_ps < last->timestamp_rest_ps)) {
        prompt->timestamp_ms = last->timestamp_ms;
        prompt->timestamp_rest_ps = last->timestamp_rest_ps;
        trace->late++;
    }
}

sim_err_t app__mooncake_trace_read(const char *name, const char *text, size_t size,
                                   uint64_t prompts_max, app__mooncake_trace_t *trace,
                                   sim_message_t *message)
{
    *trace = (app__mooncake_trace_t){0};
    reader_t reader = {.name = name, .text = text, .size = size, .line = 1, .trace = trace};
    reader.message = message;
    reader.at = (size_t)(sim_text_after_mark(text, size) - text);
    while (reader.at < size && trace->count < prompts_max) {
        skip_space(&reader);
        sim_err_t error = SIM_OK;
        if (reader.at < size && next(&reader) != '\n') {
            app__mooncake_prompt_t prompt;
            error = take_prompt(&reader, &prompt);
            skip_space(&reader);
            if (error == SIM_OK && reader.at < size && next(&reader) != '\n') {
                error = wrong(&reader, reader.at, "expected the end of the line");
            }
            if (error == SIM_OK) {
                keep_order(trace, &prompt);
                SIM_GROW(trace->prompts, trace->count, &trace->capacity);
                trace->prompts[trace->count++] = prompt;
            }
        }
        if (error != SIM_OK) {
            app__mooncake_trace_fini(trace);
            return error;
        }
        reader.at++;
        reader.line++;
        reader.line_start = reader.at;
    }
    if (trace->count == 0) {
        app__mooncake_trace_fini(trace);
        return sim_fail_in(message, SIM_ERR_INVALID, name, 1, 1,
                           "the trace has no request, expected a JSON object in each line");
    }
    return SIM_OK;
}

void app__mooncake_trace_fini(app__mooncake_trace_t *trace)
{
    sim_free(trace->prompts);
    sim_free(trace->ids);
    *trace = (app__mooncake_trace_t){0};
}
