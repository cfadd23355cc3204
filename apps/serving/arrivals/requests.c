// SPDX-License-Identifier: Apache-2.0
// apps/serving/arrivals/requests.c - makes the requests of a serving system: how long they are,
// when they come, and what of their prompts they have in common (docs/models/requests.md).
#include "apps/serving/arrivals/requests.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/hosts.h"
#include "apps/mooncake/programs/arrivals.h"
#include "apps/serving/arrivals/lengths.h"
#include "apps/zipf.h"

#define DRAWN_REQUESTS 1000u            // where nothing says how many
#define DRAWN_PROMPT "lognormal 2048 1" // where nothing says how long
#define DRAWN_OUTPUT "lognormal 256 1"
#define ARRIVAL_MAX_PS 4.6e18          // half of SIM_TIME_END
#define PREFIX_BIT (UINT64_C(1) << 63) // of the number of a prefix's block before it is hashed

// A conversation of a client: what the next turn begins with.
typedef struct conversation {
    uint32_t number;
    uint32_t turn;   // of the next request, from 0
    uint64_t tokens; // prompt and output of the last turn
    uint64_t shared; // tokens of its prefix
    uint64_t prefix; // rank of the prefix
} conversation_t;

typedef struct maker {
    const app_context_t *context;
    const app__requests_config_t *config;
    app__requests_t *requests;
    sim_message_t *message;
    app__requests_arrivals_t arrivals; // never AUTO
    bool traced;                       // the requests come from a trace
    size_t lines;                      // of the trace that have a request
    sim_ratio_t rate;                  // of drawn arrivals; never auto
    uint64_t more_bytes;               // that the caller needs for each request
    app__mooncake_trace_t trace;
    size_t first; // request of the trace that becomes request 0
    app__length_t prompt;
    app__length_t output;
    app__length_t prefix;
    app_zipf_t zipf;
    uint64_t *prefix_tokens; // of each prefix
    sim_random_t prompts;
    sim_random_t outputs;
    sim_random_t prefixes;
    sim_random_t gaps;
    sim_random_t refusals;
    conversation_t *conversations; // of each request
    uint64_t cut;                  // prompts and outputs longer than tokens-max
    uint64_t empty;                // prompts and outputs of no token
    size_t block_capacity;
} maker_t;

SIM_PRINTF(2, 3) static void note(const maker_t *maker, const char *format, ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    if (maker->context->note != NULL) {
        maker->context->note(text, maker->context->ctx);
    }
}

static bool shares_blocks(const maker_t *maker)
{
    return maker->config->prefixes > 0 || maker->config->turns > 1;
}

// -- what is asked for

static sim_err_t check_trace(const maker_t *maker)
{
    const app__requests_config_t *const config = maker->config;
    if (config->trace[0] == '\0') {
        if (config->arrivals == APP__ARRIVALS_TRACE) {
            return sim_fail_about(maker->message, SIM_ERR_INVALID, "trace",
                                  " is not set, expected a file of requests, since arrivals is "
                                  "`trace`");
        }
        if (config->skip > 0) {
            return sim_fail_about(maker->message, SIM_ERR_INVALID, "trace-skip",
                                  ": %" PRIu64 ", expected 0 without a trace", config->skip);
        }
    } else if (config->turns > 1) {
        return sim_fail_about(maker->message, SIM_ERR_INVALID, "turns",
                              ": %" PRIu64 ", expected 1 with a trace, whose prompts are whole",
                              config->turns);
    }
    return SIM_OK;
}

static sim_err_t check(const maker_t *maker)
{
    const app__requests_config_t *const config = maker->config;
    const bool closed = config->arrivals == APP__ARRIVALS_CLIENTS;
    if (closed && config->clients == 0) {
        return sim_fail_about(maker->message, SIM_ERR_INVALID, "clients",
                              ": 0, expected at least 1, since arrivals is `clients`");
    }
    if (config->clients > 0 && !closed && config->arrivals != APP__ARRIVALS_AUTO) {
        return sim_fail_about(maker->message, SIM_ERR_INVALID, "clients",
                              ": %" PRIu64 ", expected 0 unless arrivals is `clients` or `auto`",
                              config->clients);
    }
    if (config->turns > 1 && config->clients == 0) {
        return sim_fail_about(maker->message, SIM_ERR_INVALID, "turns",
                              ": %" PRIu64 ", expected 1 without clients, which make the turns",
                              config->turns);
    }
    if (config->think_ps > 0 && config->clients == 0) {
        return sim_fail_about(maker->message, SIM_ERR_INVALID, "think",
                              ": expected 0s without clients, which think");
    }
    return check_trace(maker);
}

static bool is_auto(const char *text)
{
    return strcmp(text, "auto") == 0;
}

static sim_err_t read_lengths(maker_t *maker)
{
    const app_context_t *const context = maker->context;
    const char *const prompt = maker->config->prompt_tokens;
    const char *const output = maker->config->output_tokens;
    const struct {
        const char *attribute;
        const char *text;
        app__length_t *length;
    } all[] = {
        {"prompt-tokens", is_auto(prompt) ? DRAWN_PROMPT : prompt, &maker->prompt},
        {"output-tokens", is_auto(output) ? DRAWN_OUTPUT : output, &maker->output},
        {"prefix-tokens", maker->config->prefix_tokens, &maker->prefix},
    };
    sim_err_t error = SIM_OK;
    for (size_t i = 0; i < SIM_COUNT_OF(all) && error == SIM_OK; i++) {
        error = app__length_parse(all[i].attribute, all[i].text, context->read_file, context->ctx,
                                  all[i].length, maker->message);
    }
    return error;
}

// Returns the lines of a text that are not blank.
static size_t count_lines(const char *text, size_t size)
{
    size_t count = 0;
    bool blank = true;
    for (size_t i = 0; i < size; i++) {
        const char c = text[i];
        count += blank && c != ' ' && c != '\t' && c != '\r' && c != '\n';
        blank = c == '\n' || (blank && (c == ' ' || c == '\t' || c == '\r'));
    }
    return count;
}

static sim_err_t read_trace(maker_t *maker)
{
    const app_context_t *const context = maker->context;
    const app__requests_config_t *const config = maker->config;
    char *text = NULL;
    size_t size = 0;
    sim_message_t why;
    sim_err_t error = context->read_file(config->trace, &text, &size, &why, context->ctx);
    if (error != SIM_OK) {
        const char *const hint =
            config->trace[0] == '/' ? "" : "; a relative name begins in the scenario's folder";
        return sim_fail_about(maker->message, error, "trace", ": %s%s", why.text, hint);
    }
    const uint64_t wanted = config->requests == SIM_AUTO ? APP__REQUESTS_MAX : config->requests;
    app__mooncake_trace_t *const trace = &maker->trace;
    error =
        app__trace_read(config->trace, text, size, config->skip + wanted, trace, maker->message);
    const bool json = app__trace_detect(text, size) == APP__TRACE_MOONCAKE;
    maker->lines = count_lines(text, size) - (json ? 0 : 1);
    sim_free(text);
    if (error == SIM_OK) {
        const bool given[] = {!is_auto(config->prompt_tokens), !is_auto(config->output_tokens)};
        error = app__mooncake_trace_lengths(trace, config->trace, given, maker->message);
    }
    if (error == SIM_OK && trace->untimed > 0 && config->arrivals == APP__ARRIVALS_TRACE) {
        return sim_fail_in(maker->message, SIM_ERR_INVALID, config->trace, 1, 1,
                           "the requests have no timestamp, expected one in each, since arrivals "
                           "is `trace`");
    }
    if (error == SIM_OK && json) {
        error =
            app__mooncake_trace_arrivals(trace, config->trace, (app__mooncake_unit_t)config->unit,
                                         trace->untimed > 0 ? 0 : SIM_AUTO, config->block_tokens,
                                         context->note, context->ctx, maker->message);
    }
    return error;
}

// Notes that lengths are drawn, although the trace has its own.
static void note_drawn_lengths(const maker_t *maker)
{
    const app__mooncake_trace_t *const trace = &maker->trace;
    const bool prompts =
        !is_auto(maker->config->prompt_tokens) && trace->lengthless[0] < trace->count;
    const bool outputs =
        !is_auto(maker->config->output_tokens) && trace->lengthless[1] < trace->count;
    if (prompts || outputs) {
        note(maker, "%s: %s%s%s are drawn, and not those of the trace", maker->config->trace,
             prompts ? "prompt-tokens" : "", prompts && outputs ? " and " : "",
             outputs ? "output-tokens" : "");
    }
}

// Settles how many of the trace's requests are used.
static sim_err_t take_trace(maker_t *maker)
{
    const app__requests_config_t *const config = maker->config;
    const sim_err_t error = read_trace(maker);
    if (error != SIM_OK) {
        return error;
    }
    const app__mooncake_trace_t *const trace = &maker->trace;
    if (config->skip >= trace->count) {
        return sim_fail_about(maker->message, SIM_ERR_RANGE, "trace-skip",
                              ": %" PRIu64 ", but %s has %zu request%s, expected less",
                              config->skip, config->trace, trace->count, sim_plural(trace->count));
    }
    if (config->prefixes > 0 && trace->unhashed < trace->count) {
        return sim_fail_about(maker->message, SIM_ERR_INVALID, "prefixes",
                              ": %" PRIu64 ", expected 0, since %s tells by hash_ids what prompts "
                              "have in common",
                              config->prefixes, config->trace);
    }
    note_drawn_lengths(maker);
    maker->traced = true;
    maker->first = (size_t)config->skip;
    maker->requests->count = (uint32_t)(trace->count - maker->first);
    if (config->requests != SIM_AUTO && config->requests > maker->requests->count) {
        note(maker, "%s has %" PRIu32 " request%s of the %" PRIu64 " that are wanted",
             config->trace, maker->requests->count, sim_plural(maker->requests->count),
             config->requests);
    }
    if (maker->lines > trace->count) {
        note(maker,
             "%s: %" PRIu32 " of its %zu requests %s used, since `requests` is %" PRIu64
             "; `requests: auto` takes all",
             config->trace, maker->requests->count, maker->lines,
             maker->requests->count == 1 ? "is" : "are", config->requests);
    }
    if (trace->late > 0) {
        note(maker, "%s: %zu %s an earlier time than one above %s", config->trace, trace->late,
             trace->late == 1 ? "request has" : "requests have", trace->late == 1 ? "it" : "them");
    }
    return SIM_OK;
}

static app__requests_arrivals_t arrivals_of(const maker_t *maker)
{
    const app__requests_config_t *const config = maker->config;
    if (config->arrivals != APP__ARRIVALS_AUTO) {
        return (app__requests_arrivals_t)config->arrivals;
    }
    if (config->clients > 0) {
        return APP__ARRIVALS_CLIENTS;
    }
    if (maker->traced && maker->trace.untimed == 0) {
        return APP__ARRIVALS_TRACE;
    }
    if (maker->traced) {
        note(maker, "%s: the requests have no timestamp, so they arrive at random with `rate`",
             config->trace);
    }
    return APP__ARRIVALS_POISSON;
}

// Refuses requests that would take more memory than the run may have, with the hashes of so many
// blocks. It counts all that a request needs, here and at the caller's.
static sim_err_t check_memory(const maker_t *maker, double blocks)
{
    const uint64_t allowed = maker->context->memory_max_bytes;
    const double each = sizeof(app__request_t) + sizeof(conversation_t) + (double)maker->more_bytes;
    const double bytes = blocks * 8.0 + (double)maker->requests->count * each;
    if (allowed == 0 || bytes <= (double)allowed) {
        return SIM_OK;
    }
    return sim_fail_about(maker->message, SIM_ERR_RANGE, "requests",
                          ": %" PRIu32 " requests take some %.3g GB of memory, expected at most "
                          "%.3g GB: fewer of them, a higher memory-max, or --yes",
                          maker->requests->count, bytes / 1e9, (double)allowed / 1e9);
}

// -- lengths

static uint32_t fit(maker_t *maker, uint64_t tokens)
{
    maker->cut += tokens > maker->config->tokens_max;
    maker->empty += tokens == 0;
    tokens = tokens == 0 ? 1 : tokens;
    return (uint32_t)SIM_MIN(tokens, maker->config->tokens_max);
}

static void draw_prefix(maker_t *maker, conversation_t *conversation)
{
    conversation->shared = 0;
    if (maker->config->prefixes > 0 &&
        sim_random_chance(&maker->prefixes, maker->config->prefix_share)) {
        conversation->prefix = app_zipf_draw(&maker->zipf, &maker->prefixes);
        conversation->shared = maker->prefix_tokens[conversation->prefix];
    }
}

// Fills the lengths of request `index`, which goes on or begins the conversation of the request
// that is `clients` before it.
static void draw_turn(maker_t *maker, uint32_t index)
{
    app__request_t *const request = &maker->requests->items[index];
    conversation_t *const now = &maker->conversations[index];
    const uint64_t max = maker->config->tokens_max;
    const uint64_t fresh = app__length_draw(&maker->prompt, &maker->prompts, UINT64_MAX);
    const uint32_t clients = maker->requests->clients;
    *now = (conversation_t){.number = index};
    if (request->after != APP__REQUEST_NONE) {
        const conversation_t *const before = &maker->conversations[index - clients];
        if (before->turn < maker->config->turns && before->tokens + fresh <= max) {
            *now = *before;
        }
    }
    request->prompt_tokens = fit(maker, now->tokens + fresh);
    request->output_tokens =
        fit(maker, app__length_draw(&maker->output, &maker->outputs, UINT64_MAX));
    if (now->turn == 0) {
        draw_prefix(maker, now);
        const uint64_t most = request->prompt_tokens - 1;
        now->shared = SIM_MIN(now->shared, most);
    }
    now->turn++;
    now->tokens = (uint64_t)request->prompt_tokens + request->output_tokens;
}

static void take_traced(maker_t *maker, uint32_t index)
{
    app__request_t *const request = &maker->requests->items[index];
    const app__mooncake_prompt_t *const prompt = &maker->trace.prompts[maker->first + index];
    conversation_t *const now = &maker->conversations[index];
    const app__requests_config_t *const config = maker->config;
    const uint64_t input = is_auto(config->prompt_tokens)
                               ? prompt->input_tokens
                               : app__length_draw(&maker->prompt, &maker->prompts, UINT64_MAX);
    const uint64_t output = is_auto(config->output_tokens)
                                ? prompt->output_tokens
                                : app__length_draw(&maker->output, &maker->outputs, UINT64_MAX);
    request->prompt_tokens = fit(maker, input);
    request->output_tokens = fit(maker, output);
    *now = (conversation_t){.number = index};
    draw_prefix(maker, now);
    const uint64_t most = request->prompt_tokens - 1;
    now->shared = SIM_MIN(now->shared, most);
}

static void make_lengths(maker_t *maker)
{
    app__requests_t *const requests = maker->requests;
    for (uint32_t i = 0; i < requests->count; i++) {
        app__request_t *const request = &requests->items[i];
        if (maker->traced) {
            take_traced(maker, i);
        } else {
            draw_turn(maker, i);
        }
        requests->prompt_tokens += request->prompt_tokens;
        requests->output_tokens += request->output_tokens;
        const uint64_t tokens = (uint64_t)request->prompt_tokens + request->output_tokens;
        requests->longest = SIM_MAX(tokens, requests->longest);
        if (request->output_tokens > requests->output_max) {
            requests->output_max = request->output_tokens;
        }
    }
    if (maker->cut > 0) {
        note(maker, "%" PRIu64 " prompt%s cut to tokens-max, %" PRIu64, maker->cut,
             maker->cut == 1 ? " or output is" : "s or outputs are", maker->config->tokens_max);
    }
    if (maker->empty > 0) {
        note(maker, "%" PRIu64 " prompt%s no token and %s as one token", maker->empty,
             maker->empty == 1 ? " or output has" : "s or outputs have",
             maker->empty == 1 ? "counts" : "count");
    }
}

// -- blocks

static void add_block(maker_t *maker, uint64_t hash)
{
    app__requests_t *const requests = maker->requests;
    SIM_APPEND(requests->blocks, requests->block_total, maker->block_capacity, hash);
}

// Returns how many blocks a request has: of a trace at most those that its tokens fill.
static uint32_t block_count(const maker_t *maker, uint32_t index)
{
    const uint64_t tokens = maker->requests->items[index].prompt_tokens;
    const uint64_t block = maker->config->block_tokens;
    if (maker->traced && maker->trace.unhashed < maker->trace.count) {
        const uint64_t given = maker->trace.prompts[maker->first + index].id_count;
        const uint64_t filled = (tokens + block - 1) / block;
        return (uint32_t)SIM_MIN(given, filled);
    }
    return shares_blocks(maker) ? (uint32_t)(tokens / block) : 0;
}

static void add_blocks(maker_t *maker, uint32_t index)
{
    app__request_t *const request = &maker->requests->items[index];
    const conversation_t *const now = &maker->conversations[index];
    request->first_block = maker->requests->block_total;
    request->block_count = block_count(maker, index);
    for (uint32_t b = 0; b < request->block_count; b++) {
        if (maker->traced && maker->trace.unhashed < maker->trace.count) {
            const app__mooncake_prompt_t *const prompt =
                &maker->trace.prompts[maker->first + index];
            add_block(maker, maker->trace.ids[prompt->first_id + b]);
        } else if ((b + UINT64_C(1)) * maker->config->block_tokens <= now->shared) {
            add_block(maker, sim_mix64(PREFIX_BIT | now->prefix << 32 | b));
        } else {
            add_block(maker, sim_mix64((uint64_t)now->number << 32 | b));
        }
    }
}

static sim_err_t make_blocks(maker_t *maker)
{
    const uint32_t count = maker->requests->count;
    double blocks = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        blocks += block_count(maker, i);
    }
    const sim_err_t error = check_memory(maker, blocks);
    for (uint32_t i = 0; i < count && error == SIM_OK; i++) {
        add_blocks(maker, i);
    }
    return error;
}

// -- arrivals

static sim_wide_t mean_gap_ps(const maker_t *maker)
{
    const sim_ratio_t rate = maker->rate;
    const sim_wide_t gap = (sim_wide_t)SIM_PS_PER_S * rate.den / rate.num;
    return gap == 0 ? 1 : gap;
}

static uint64_t exponential_ps(sim_random_t *random, sim_time_t mean_ps)
{
    return mean_ps == 0 ? 0 : sim_random_exponential(random, mean_ps);
}

// Times of equal gaps are exact: request i comes (i + 1) gaps after the start.
static void arrive_constant(const maker_t *maker, sim_wide_t *times)
{
    const sim_ratio_t rate = maker->rate;
    const sim_wide_t one = (sim_wide_t)SIM_PS_PER_S * rate.den;
    for (uint32_t i = 0; i < maker->requests->count; i++) {
        const sim_wide_t number = (sim_wide_t)i + 1;
        times[i] = number * (one / rate.num) + number * (one % rate.num) / rate.num;
    }
}

static void arrive_apart(maker_t *maker, sim_wide_t *times)
{
    const sim_wide_t mean_ps = mean_gap_ps(maker);
    const double cv = (double)maker->config->cv.num / (double)maker->config->cv.den;
    sim_wide_t now = 0;
    for (uint32_t i = 0; i < maker->requests->count; i++) {
        if (maker->arrivals == APP__ARRIVALS_GAMMA) {
            const double gap = app__draw_gamma(&maker->gaps, 1.0 / (cv * cv)) * (double)mean_ps;
            now += gap < 9e18 ? (uint64_t)(gap + 0.5) : UINT64_C(9000000000000000000);
        } else {
            now += sim_random_exponential(&maker->gaps, (uint64_t)mean_ps);
        }
        times[i] = now;
    }
}

// Within bursts, requests come after exponential gaps, shorter by the share of time without burst.
// The first moment is one of either kind, by their shares of time.
static void arrive_in_bursts(maker_t *maker, sim_wide_t *times)
{
    const sim_time_t on_ps = maker->config->burst_on_ps;
    const sim_time_t off_ps = maker->config->burst_off_ps;
    sim_random_t *const gaps = &maker->gaps;
    const sim_wide_t within = mean_gap_ps(maker) * on_ps / (on_ps + off_ps);
    const uint64_t mean_ps = within == 0 ? 1 : (uint64_t)within;
    sim_wide_t now = 0;
    if (sim_random_below(gaps, on_ps + off_ps) < off_ps) {
        now = exponential_ps(gaps, off_ps);
    }
    uint64_t left_ps = exponential_ps(gaps, on_ps);
    for (uint32_t i = 0; i < maker->requests->count; i++) {
        uint64_t gap_ps = sim_random_exponential(gaps, mean_ps);
        while (gap_ps > left_ps) {
            gap_ps -= left_ps;
            now += (sim_wide_t)left_ps + exponential_ps(gaps, off_ps);
            left_ps = exponential_ps(gaps, on_ps);
        }
        now += gap_ps;
        left_ps -= gap_ps;
        times[i] = now;
    }
}

static void arrive_traced(const maker_t *maker, sim_wide_t *times)
{
    const app__mooncake_prompt_t *const prompts = &maker->trace.prompts[maker->first];
    for (uint32_t i = 0; i < maker->requests->count; i++) {
        times[i] =
            (sim_wide_t)prompts[i].timestamp_ms * SIM_PS_PER_MS + prompts[i].timestamp_rest_ps;
        times[i] -= i == 0 ? 0 : times[0];
    }
    times[0] = 0; // last, since the others are computed from it
}

// Stretches or presses the times of a trace so that they have the mean rate of `rate`.
static sim_err_t take_rate(const maker_t *maker, sim_wide_t *times)
{
    const app__requests_config_t *const config = maker->config;
    const uint32_t count = maker->requests->count;
    if (sim_ratio_is_auto(config->rate) || count == 1) {
        return SIM_OK;
    }
    if (config->time_scale.num != config->time_scale.den) {
        return sim_fail_about(maker->message, SIM_ERR_INVALID, "time-scale",
                              " is set beside rate, expected only one of them with the times of a "
                              "trace");
    }
    const sim_wide_t span_ps = times[count - 1];
    if (span_ps == 0) {
        return sim_fail_about(maker->message, SIM_ERR_INVALID, "rate",
                              " is set, but all requests of %s have one time, expected "
                              "`rate: auto`, or drawn arrivals such as `arrivals: poisson`",
                              config->trace);
    }
    const double wanted_ps = (double)(count - 1) / (double)config->rate.num *
                             (double)config->rate.den * (double)SIM_PS_PER_S;
    if (wanted_ps > ARRIVAL_MAX_PS) {
        return sim_fail_about(maker->message, SIM_ERR_RANGE, "rate",
                              ": the last request arrives after more than 53 days, expected "
                              "earlier");
    }
    for (uint32_t i = 1; i < count; i++) {
        times[i] = times[i] * (uint64_t)wanted_ps / span_ps;
    }
    return SIM_OK;
}

// Returns the request that has to end before a request of the trace begins; NONE: there is none, or
// trace-skip leaves it out.
static uint32_t turn_after(const maker_t *maker, uint32_t index)
{
    const size_t after = maker->traced ? maker->trace.prompts[maker->first + index].after : 0;
    return after > maker->first ? (uint32_t)(after - 1 - maker->first) : APP__REQUEST_NONE;
}

// Gives requests of a trace that are turns of a conversation the one before, and the time between.
// The times that were drawn go to the others.
static void make_turns(const maker_t *maker, sim_wide_t *times)
{
    const bool drawn = maker->arrivals != APP__ARRIVALS_TRACE;
    uint32_t first = 0; // request whose time is the next of those drawn
    uint64_t turns = 0;
    for (uint32_t i = 0; i < maker->requests->count; i++) {
        maker->requests->items[i].after = turn_after(maker, i);
        if (maker->requests->items[i].after != APP__REQUEST_NONE) {
            turns++;
        } else if (drawn) {
            times[i] = times[first++];
        }
    }
    if (turns > 0) {
        note(maker,
             "%s: %" PRIu64 " of its requests %s of a session: each begins its delay after the "
             "one before has ended",
             maker->config->trace, turns, turns == 1 ? "is a later turn" : "are later turns");
    }
}

// Scales the times and gives them to the requests.
static sim_err_t place(const maker_t *maker, const sim_wide_t *times)
{
    sim_ratio_t scale = maker->config->time_scale;
    while (scale.num >> 62 != 0 || scale.den >> 62 != 0) { // products below fit into 128 bits
        scale.num = (scale.num >> 1) | 1;
        scale.den = (scale.den >> 1) | 1;
    }
    for (uint32_t i = 0; i < maker->requests->count; i++) {
        if (maker->requests->items[i].after != APP__REQUEST_NONE) {
            maker->requests->items[i].arrival_ps = maker->trace.prompts[maker->first + i].delay_ps;
            continue;
        }
        const double about = (double)times[i] * (double)scale.num / (double)scale.den;
        if (about > ARRIVAL_MAX_PS) {
            return sim_fail_about(maker->message, SIM_ERR_RANGE,
                                  maker->arrivals == APP__ARRIVALS_TRACE ? "time-scale" : "rate",
                                  ": request %" PRIu32 " arrives after more than 53 days, expected "
                                  "earlier",
                                  i);
        }
        const sim_wide_t whole = times[i] / scale.den * scale.num;
        const sim_wide_t rest = times[i] % scale.den * scale.num / scale.den;
        maker->requests->items[i].arrival_ps = (sim_time_t)(whole + rest);
    }
    return SIM_OK;
}

static int by_arrival(const void *a_void, const void *b_void)
{
    const app__request_t *const a = a_void;
    const app__request_t *const b = b_void;
    return a->arrival_ps < b->arrival_ps ? -1 : a->arrival_ps > b->arrival_ps;
}

// The first request of each client comes after a time of thinking, the others say how long they
// think. Clients are numbered by their first arrival.
static void think(maker_t *maker)
{
    app__requests_t *const requests = maker->requests;
    for (uint32_t i = 0; i < requests->count; i++) {
        app__request_t *const request = &requests->items[i];
        request->arrival_ps = exponential_ps(&maker->gaps, maker->config->think_ps);
        request->refused_ps = exponential_ps(&maker->refusals, maker->config->refused_ps);
    }
    qsort(requests->items, requests->clients, sizeof(*requests->items), by_arrival);
}

static sim_err_t make_arrivals(maker_t *maker)
{
    if (maker->arrivals == APP__ARRIVALS_CLIENTS) {
        if (maker->trace.turns > 0) {
            note(maker, "%s: turns and delays of its sessions are left out, since clients send",
                 maker->config->trace);
        }
        think(maker);
        return SIM_OK;
    }
    sim_wide_t *const times = sim_alloc_array(maker->requests->count, sizeof(*times));
    sim_err_t error = SIM_OK;
    switch (maker->arrivals) {
    case APP__ARRIVALS_TRACE:
        arrive_traced(maker, times);
        error = take_rate(maker, times);
        break;
    case APP__ARRIVALS_CONSTANT:
        arrive_constant(maker, times);
        break;
    case APP__ARRIVALS_BURSTS:
        arrive_in_bursts(maker, times);
        break;
    case APP__ARRIVALS_POISSON:
    case APP__ARRIVALS_GAMMA:
        arrive_apart(maker, times);
        break;
    case APP__ARRIVALS_AUTO:
    case APP__ARRIVALS_CLIENTS:
    default:
        SIM_CHECK(false);
    }
    if (maker->trace.turns > 0) {
        make_turns(maker, times);
    }
    error = error == SIM_OK ? place(maker, times) : error;
    sim_free(times);
    return error;
}

// -- creation

static void prepare(maker_t *maker)
{
    const app__requests_config_t *const config = maker->config;
    app__requests_t *const requests = maker->requests;
    app__random_init(&maker->prompts, maker->context, 0, "serving prompts");
    app__random_init(&maker->outputs, maker->context, 0, "serving outputs");
    app__random_init(&maker->prefixes, maker->context, 0, "serving prefixes");
    app__random_init(&maker->gaps, maker->context, 0, "serving arrivals");
    app__random_init(&maker->refusals, maker->context, 0, "serving refusals");
    if (config->prefixes > 0) {
        app_zipf_init(&maker->zipf, (uint32_t)config->prefixes, config->prefix_skew);
        maker->prefix_tokens = sim_alloc_array(config->prefixes, sizeof(*maker->prefix_tokens));
        for (uint64_t i = 0; i < config->prefixes; i++) {
            maker->prefix_tokens[i] =
                app__length_draw(&maker->prefix, &maker->prefixes, config->tokens_max);
        }
    }
    if (maker->arrivals == APP__ARRIVALS_CLIENTS) {
        requests->clients = (uint32_t)SIM_MIN(config->clients, requests->count);
    }
    requests->block_tokens = (uint32_t)config->block_tokens;
    requests->items = sim_alloc_array(requests->count, sizeof(*requests->items));
    maker->conversations = sim_alloc_array(requests->count, sizeof(*maker->conversations));
    for (uint32_t i = 0; i < requests->count; i++) {
        const bool later = requests->clients > 0 && i >= requests->clients;
        requests->items[i].after = later ? i - requests->clients : APP__REQUEST_NONE;
    }
}

static sim_err_t make(maker_t *maker)
{
    app__requests_t *const requests = maker->requests;
    const uint64_t wanted = maker->config->requests;
    requests->count = (uint32_t)(wanted == SIM_AUTO ? DRAWN_REQUESTS : wanted);
    sim_err_t error = check(maker);
    if (error == SIM_OK) {
        error = read_lengths(maker);
    }
    if (error == SIM_OK && maker->config->trace[0] != '\0') {
        error = take_trace(maker);
    }
    if (error == SIM_OK) {
        error = check_memory(maker, 0.0);
    }
    if (error != SIM_OK) {
        return error;
    }
    maker->arrivals = arrivals_of(maker);
    maker->rate = maker->config->rate;
    if (sim_ratio_is_auto(maker->rate)) {
        maker->rate = (sim_ratio_t){1, 1};
    } else if (maker->arrivals == APP__ARRIVALS_CLIENTS) {
        note(maker, "`rate` has no effect with clients, which ask when their requests have ended");
    }
    prepare(maker);
    error = make_arrivals(maker);
    if (error == SIM_OK) {
        make_lengths(maker);
        error = make_blocks(maker);
    }
    return error;
}

sim_err_t app__requests_create(const app_context_t *context, const app__requests_config_t *config,
                               uint64_t more_bytes, app__requests_t *requests,
                               sim_message_t *message)
{
    *requests = (app__requests_t){0};
    maker_t maker = {
        .context = context,
        .config = config,
        .requests = requests,
        .more_bytes = more_bytes,
        .message = message,
    };
    const sim_err_t error = make(&maker);
    app__length_fini(&maker.prompt);
    app__length_fini(&maker.output);
    app__length_fini(&maker.prefix);
    app_zipf_fini(&maker.zipf);
    app__mooncake_trace_fini(&maker.trace);
    sim_free(maker.prefix_tokens);
    sim_free(maker.conversations);
    if (error != SIM_OK) {
        app__requests_fini(requests);
    }
    return error;
}

void app__requests_fini(app__requests_t *requests)
{
    sim_free(requests->items);
    sim_free(requests->blocks);
    *requests = (app__requests_t){0};
}
