// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/trace.c - reads request traces: one JSON object per line
// (docs/models/mooncake.md).
#include <inttypes.h>
#include <string.h>

#include "apps/mooncake/programs/trace.h"
#include "kernel/words.h"

#define DEPTH_MAX 32u
#define NAME_MAX_BYTES 64u
// Limit of timestamps, so that times after the latest prompt fit into sim_time_t.
#define TIMESTAMP_MS_MAX UINT64_C(4000000000)
#define EPOCH_MS_MAX UINT64_C(10000000000000) // of times that count from 1970
#define TOKENS_MAX UINT64_C(100000000)

// The latest prompt of a session.
typedef struct session {
    uint64_t id;   // 0: free
    size_t latest; // 1 + the prompt
} session_t;

typedef struct reader {
    const char *name;
    const char *text;
    size_t size;
    size_t at;
    size_t line; // from 1
    size_t line_start;
    app__mooncake_trace_t *trace;
    sim_message_t *message;
    session_t *sessions; // a hash table
    size_t session_count;
    size_t session_capacity;
    // The prompts of the list sub_requests of a line; those behind the first begin delay_ps after
    // the one before.
    app__mooncake_prompt_t *subs;
    size_t sub_count;
    size_t sub_capacity;
    unsigned depth;    // 1: within sub_requests
    uint64_t epoch_ms; // times in seconds count from this one
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

// Reads a time in units of unit_ps as milliseconds and picoseconds; decimals count down to the
// picosecond.
static sim_err_t take_time(reader_t *reader, sim_time_t unit_ps, uint64_t ms_max,
                           uint64_t *whole_ms, sim_time_t *rest_ps)
{
    skip_space(reader);
    const size_t start = reader->at;
    const uint64_t units_per_ms = SIM_MAX(1, SIM_PS_PER_MS / unit_ps);
    const uint64_t ms_per_unit = SIM_MAX(1, unit_ps / SIM_PS_PER_MS);
    uint64_t number = 0;
    const sim_err_t error =
        take_digits(reader, start, ms_max / ms_per_unit * units_per_ms, &number);
    *whole_ms = number / units_per_ms * ms_per_unit;
    *rest_ps = number % units_per_ms * unit_ps;
    if (error == SIM_OK && next(reader) == '.') {
        reader->at++;
        const size_t point = reader->at;
        for (sim_time_t one_ps = unit_ps / 10; next(reader) >= '0' && next(reader) <= '9';
             one_ps /= 10) {
            *rest_ps += (sim_time_t)(next(reader) - '0') * one_ps;
            reader->at++;
        }
        if (reader->at == point) {
            return wrong(reader, start, "expected a time, such as 12 or 12.5");
        }
    }
    if (error == SIM_OK && (next(reader) == 'e' || next(reader) == 'E')) {
        return wrong(reader, start, "expected a time, such as 12 or 12.5");
    }
    *whole_ms += *rest_ps / SIM_PS_PER_MS; // decimals of seconds
    *rest_ps %= SIM_PS_PER_MS;
    return error;
}

// Reads a time in seconds, which may count from 1970, as those of vLLM do. Such times count from
// the first one.
static sim_err_t take_seconds(reader_t *reader, app__mooncake_prompt_t *prompt)
{
    const size_t start = reader->at;
    uint64_t *const ms = &prompt->timestamp_ms;
    const sim_err_t error =
        take_time(reader, SIM_PS_PER_S, EPOCH_MS_MAX, ms, &prompt->timestamp_rest_ps);
    if (reader->trace->count == 0 && *ms > TIMESTAMP_MS_MAX) {
        reader->epoch_ms = *ms;
    }
    *ms -= SIM_MIN(reader->epoch_ms, *ms);
    return error == SIM_OK && *ms > TIMESTAMP_MS_MAX
               ? wrong(reader, start, "expected a time less than 46 days behind the first one")
               : error;
}

// Reads a timestamp in ms; the file arrivals.c scales seconds.
static sim_err_t take_timestamp(reader_t *reader, app__mooncake_prompt_t *prompt)
{
    const size_t start = reader->at;
    const sim_err_t error = take_time(reader, SIM_PS_PER_MS, TIMESTAMP_MS_MAX,
                                      &prompt->timestamp_ms, &prompt->timestamp_rest_ps);
    const char *const point = memchr(reader->text + start, '.', reader->at - start);
    reader->trace->with_decimals = reader->trace->with_decimals || point != NULL;
    return error;
}

static sim_err_t take_delay(reader_t *reader, sim_time_t unit_ps, app__mooncake_prompt_t *prompt)
{
    uint64_t whole_ms = 0;
    sim_time_t rest_ps = 0;
    const sim_err_t error = take_time(reader, unit_ps, TIMESTAMP_MS_MAX, &whole_ms, &rest_ps);
    prompt->delay_ps = whole_ms * SIM_PS_PER_MS + rest_ps;
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

// Reads an id: a whole number, or a text, which becomes a number. A text of digits is that number.
static sim_err_t take_id(reader_t *reader, uint64_t *id)
{
    char ignored[NAME_MAX_BYTES];
    skip_space(reader);
    if (next(reader) != '"') {
        return take_number(reader, UINT64_MAX, id);
    }
    const size_t start = reader->at + 1;
    const sim_err_t error = take_string(reader, ignored);
    if (error != SIM_OK) {
        return error;
    }
    const size_t size = reader->at - 1 - start;
    bool digits = size > 0 && size < 20;
    uint64_t number = 0;
    uint64_t hash = size;
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)reader->text[start + i];
        digits = digits && c >= '0' && c <= '9';
        number = number * 10 + (uint64_t)(c - '0');
        hash = sim_mix64(hash ^ c);
    }
    *id = digits ? number : hash;
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
        const sim_err_t error = take_id(reader, &id);
        if (error != SIM_OK) {
            return error;
        }
        SIM_APPEND(trace->ids, trace->id_count, trace->id_capacity, id);
    } while (take(reader, ','));
    prompt->id_count = trace->id_count - prompt->first_id;
    return take(reader, ']') ? SIM_OK : wrong(reader, reader->at, "expected ',' or ']'");
}

enum { TIMESTAMP, INPUT, OUTPUT, IDS, SESSION, DELAY, SUBS, TOOL, MEMBERS };
// The names of members: Mooncake's, LLMServingSim's and vLLM's.
static const struct {
    const char *name;
    unsigned member;
    sim_time_t unit_ps; // of a time whose name says its unit; else 0
} members[] = {
    {"timestamp", TIMESTAMP, 0},
    {"input_length", INPUT, 0},
    {"output_length", OUTPUT, 0},
    {"hash_ids", IDS, 0},
    {"session_id", SESSION, 0},
    {"delay", DELAY, 0},
    {"arrival_time_ns", TIMESTAMP, SIM_PS_PER_NS},
    {"input_toks", INPUT, 0},
    {"output_toks", OUTPUT, 0},
    {"sub_requests", SUBS, 0},
    {"tool_duration_ns", TOOL, SIM_PS_PER_NS},
    {"arrival_time", TIMESTAMP, SIM_PS_PER_S},
    {"prompt_len", INPUT, 0},
    {"output_len", OUTPUT, 0},
};

// The contents of a line.
typedef struct line {
    app__mooncake_prompt_t prompt;
    unsigned has;     // a bit for each member
    uint64_t session; // 0: none
} line_t;

static sim_err_t take_subs(reader_t *reader);

// Reads a member.
static sim_err_t take_member(reader_t *reader, line_t *line)
{
    char name[NAME_MAX_BYTES];
    app__mooncake_prompt_t *const prompt = &line->prompt;
    skip_space(reader);
    const size_t start = reader->at;
    const sim_err_t error = take_string(reader, name);
    if (error != SIM_OK) {
        return error;
    }
    if (!take(reader, ':')) {
        return wrong(reader, reader->at, "expected ':'");
    }
    size_t at = 0;
    while (at < SIM_COUNT_OF(members) && strcmp(name, members[at].name) != 0) {
        at++;
    }
    skip_space(reader);
    if (at == SIM_COUNT_OF(members) || next(reader) == 'n') { // null: as if it were not there
        return skip_value(reader);
    }
    const unsigned member = members[at].member;
    if ((line->has & 1u << member) != 0) {
        sim_message_t text;
        (void)sim_fail(&text, SIM_ERR_INVALID, "%s is given twice, expected it once", name);
        return wrong(reader, start, text.text);
    }
    line->has |= 1u << member;
    if ((line->has & 1u << IDS) != 0 && (line->has & 1u << SUBS) != 0) {
        return wrong(reader, start, "hash_ids beside sub_requests, expected them in each of these");
    }
    reader->trace->with_unit = reader->trace->with_unit || members[at].unit_ps != 0;
    switch (member) {
    case TIMESTAMP:
        if (members[at].unit_ps == SIM_PS_PER_S) {
            return take_seconds(reader, prompt);
        }
        return members[at].unit_ps == 0
                   ? take_timestamp(reader, prompt)
                   : take_time(reader, members[at].unit_ps, TIMESTAMP_MS_MAX, &prompt->timestamp_ms,
                               &prompt->timestamp_rest_ps);
    case INPUT:
        return take_number(reader, TOKENS_MAX, &prompt->input_tokens);
    case OUTPUT:
        return take_number(reader, TOKENS_MAX, &prompt->output_tokens);
    case IDS:
        return take_ids(reader, prompt);
    case SESSION: {
        const sim_err_t bad = take_id(reader, &line->session);
        line->session = sim_mix64(line->session) | 1;
        return bad;
    }
    case DELAY:
        return take_delay(reader, SIM_PS_PER_MS, prompt);
    case TOOL:
        return take_delay(reader, SIM_PS_PER_NS, prompt);
    case SUBS:
        return take_subs(reader);
    default:
        SIM_CHECK(false);
        return SIM_ERR_INVALID;
    }
}

static sim_err_t take_object(reader_t *reader, line_t *line)
{
    const size_t start = reader->at;
    *line = (line_t){.prompt = {.first_id = reader->trace->id_count}};
    if (!take(reader, '{')) {
        return wrong(reader, start, "expected a JSON object, '{'");
    }
    if (take(reader, '}')) {
        return SIM_OK;
    }
    do {
        const sim_err_t error = take_member(reader, line);
        if (error != SIM_OK) {
            return error;
        }
    } while (take(reader, ','));
    return take(reader, '}') ? SIM_OK : wrong(reader, reader->at, "expected ',' or '}'");
}

// Counts the lengths that a prompt does not have.
static void count_lengths(reader_t *reader, const line_t *line)
{
    app__mooncake_trace_t *const trace = reader->trace;
    for (unsigned i = 0; i < 2; i++) {
        if ((line->has & 1u << (INPUT + i)) == 0 && trace->lengthless[i]++ == 0) {
            trace->lengthless_line[i] = reader->line;
        }
    }
}

// Reads the prompts of a session of LLMServingSim. The tool that a prompt calls runs before the
// next one.
static sim_err_t take_subs(reader_t *reader)
{
    skip_space(reader);
    if (reader->depth > 0 || !take(reader, '[')) {
        return wrong(reader, reader->at, "expected a list of requests, in no other list");
    }
    sim_time_t tool_ps = 0;
    reader->depth++;
    do {
        line_t sub;
        skip_space(reader);
        const sim_err_t error = take_object(reader, &sub);
        if (error != SIM_OK) {
            return error;
        }
        count_lengths(reader, &sub);
        reader->trace->unhashed += (sub.has & 1u << IDS) == 0;
        const sim_time_t own_ps = sub.prompt.delay_ps;
        sub.prompt.delay_ps = tool_ps;
        tool_ps = own_ps;
        SIM_APPEND(reader->subs, reader->sub_count, reader->sub_capacity, sub.prompt);
    } while (take(reader, ','));
    reader->depth--;
    return take(reader, ']') ? SIM_OK : wrong(reader, reader->at, "expected ',' or ']'");
}

// Returns the place of a session, made if it is new.
static session_t *session_of(reader_t *reader, uint64_t id)
{
    if (2 * reader->session_count >= reader->session_capacity) {
        session_t *const old = reader->sessions;
        const size_t count = reader->session_capacity;
        reader->session_capacity = count == 0 ? 64 : 2 * count;
        reader->sessions = sim_alloc_array(reader->session_capacity, sizeof(*reader->sessions));
        reader->session_count = 0;
        for (size_t i = 0; i < count; i++) {
            if (old[i].id != 0) {
                session_of(reader, old[i].id)->latest = old[i].latest;
            }
        }
        sim_free(old);
    }
    size_t at = (size_t)id & (reader->session_capacity - 1);
    while (reader->sessions[at].id != 0 && reader->sessions[at].id != id) {
        at = (at + 1) & (reader->session_capacity - 1);
    }
    reader->session_count += reader->sessions[at].id == 0;
    reader->sessions[at].id = id;
    return &reader->sessions[at];
}

// Reads the prompt of a line, or the prompts of its sub_requests.
static sim_err_t take_prompt(reader_t *reader, line_t *line)
{
    const size_t start = reader->at;
    app__mooncake_trace_t *const trace = reader->trace;
    reader->sub_count = 0;
    const sim_err_t error = take_object(reader, line);
    if (error != SIM_OK) {
        return error;
    }
    if (line->has == 0) {
        return wrong(reader, start,
                     "the object has none of timestamp, input_length and output_length, expected a "
                     "request in each line");
    }
    const bool timed = (line->has & 1u << TIMESTAMP) != 0;
    session_t *const session =
        line->session != 0 ? session_of(reader, line->session) : &(session_t){.id = 0};
    if (!timed && session->latest != 0) {
        line->prompt.after = session->latest;
        trace->turns++;
    } else if (trace->count > trace->turns && timed == (trace->untimed > 0)) {
        return wrong(reader, start,
                     timed ? "the request has a timestamp and earlier ones have none, expected one "
                             "in each request or in none"
                     : (line->has & 1u << DELAY) != 0
                         ? "the request has a delay and no earlier one has its session_id, "
                           "expected a timestamp, or the session_id of an earlier request"
                         : "the request has no timestamp and earlier ones have one, expected "
                           "one in each request or in none");
    } else {
        trace->untimed += !timed;
    }
    if (reader->sub_count == 0) {
        count_lengths(reader, line);
        trace->unhashed += (line->has & 1u << IDS) == 0;
    }
    session->latest = trace->count + (reader->sub_count == 0 ? 1 : reader->sub_count);
    return SIM_OK;
}

// Keeps prompts in the order of the trace: one with an earlier time than its predecessor gets the
// predecessor's time, as does a prompt that begins after another one.
static void keep_order(app__mooncake_trace_t *trace, app__mooncake_prompt_t *prompt)
{
    if (trace->count == 0) {
        return;
    }
    const app__mooncake_prompt_t *const last = &trace->prompts[trace->count - 1];
    if (prompt->after != 0 || prompt->timestamp_ms < last->timestamp_ms ||
        (prompt->timestamp_ms == last->timestamp_ms &&
         prompt->timestamp_rest_ps < last->timestamp_rest_ps)) {
        trace->late += prompt->after == 0;
        prompt->timestamp_ms = last->timestamp_ms;
        prompt->timestamp_rest_ps = last->timestamp_rest_ps;
    }
}

static void add_prompt(app__mooncake_trace_t *trace, app__mooncake_prompt_t *prompt)
{
    keep_order(trace, prompt);
    SIM_APPEND(trace->prompts, trace->count, trace->capacity, *prompt);
}

// Adds the prompts of a line.
static void add_prompts(reader_t *reader, line_t *line, uint64_t prompts_max)
{
    app__mooncake_trace_t *const trace = reader->trace;
    if (reader->sub_count == 0) {
        add_prompt(trace, &line->prompt);
        return;
    }
    size_t ids = trace->id_count;
    for (size_t i = 0; i < reader->sub_count && trace->count < prompts_max; i++) {
        app__mooncake_prompt_t *const sub = &reader->subs[i];
        if (i == 0) {
            sub->timestamp_ms = line->prompt.timestamp_ms;
            sub->timestamp_rest_ps = line->prompt.timestamp_rest_ps;
            sub->after = line->prompt.after;
            sub->delay_ps = line->prompt.delay_ps;
        } else {
            sub->after = trace->count;
            trace->turns++;
        }
        add_prompt(trace, sub);
        ids = sub->first_id + sub->id_count;
    }
    trace->id_count = ids; // without those of prompts beyond prompts_max
}

static sim_err_t read_lines(reader_t *reader, uint64_t prompts_max)
{
    while (reader->at < reader->size && reader->trace->count < prompts_max) {
        skip_space(reader);
        if (reader->at < reader->size && next(reader) != '\n') {
            line_t line;
            const sim_err_t error = take_prompt(reader, &line);
            if (error != SIM_OK) {
                return error;
            }
            skip_space(reader);
            if (reader->at < reader->size && next(reader) != '\n') {
                return wrong(reader, reader->at, "expected the end of the line");
            }
            add_prompts(reader, &line, prompts_max);
        }
        reader->at++;
        reader->line++;
        reader->line_start = reader->at;
    }
    return SIM_OK;
}

sim_err_t app__mooncake_trace_read(const char *name, const char *text, size_t size,
                                   uint64_t prompts_max, app__mooncake_trace_t *trace,
                                   sim_message_t *message)
{
    *trace = (app__mooncake_trace_t){0};
    reader_t reader = {.name = name, .text = text, .size = size, .line = 1, .trace = trace};
    reader.message = message;
    reader.at = (size_t)(sim_text_after_mark(text, size) - text);
    sim_err_t error = read_lines(&reader, prompts_max);
    if (error == SIM_OK && trace->count == 0) {
        error = sim_fail_in(message, SIM_ERR_INVALID, name, 1, 1,
                            "the trace has no request, expected a JSON object in each line");
    }
    sim_free(reader.sessions);
    sim_free(reader.subs);
    if (error != SIM_OK) {
        app__mooncake_trace_fini(trace);
    }
    return error;
}

sim_err_t app__mooncake_trace_lengths(const app__mooncake_trace_t *trace, const char *name,
                                      const bool given[2], sim_message_t *message)
{
    static const char *const of_json[] = {"input_length", "output_length"};
    const char *const *const names = trace->length_names != NULL ? trace->length_names : of_json;
    static const char *const settings[] = {", or prompt-tokens in the scenario",
                                           ", or output-tokens in the scenario"};
    for (size_t i = 0; i < SIM_COUNT_OF(of_json); i++) {
        if (trace->lengthless[i] > 0 && (given == NULL || !given[i])) {
            return sim_fail_in(message, SIM_ERR_INVALID, name, trace->lengthless_line[i], 1,
                               "the request has no %s, expected %s and %s%s", names[i], names[0],
                               names[1], given == NULL ? "" : settings[i]);
        }
    }
    return SIM_OK;
}

void app__mooncake_trace_fini(app__mooncake_trace_t *trace)
{
    sim_free(trace->prompts);
    sim_free(trace->ids);
    *trace = (app__mooncake_trace_t){0};
}
