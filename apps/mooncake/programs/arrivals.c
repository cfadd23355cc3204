// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/arrivals.c - when the prompts of a trace arrive: traces of other projects
// count seconds, or have no timestamps or hash ids (docs/models/mooncake.md).
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "apps/mooncake/programs/arrivals.h"
#include "kernel/attribute.h"
#include "kernel/digits.h"

#define TIMESTAMP_MS_MAX UINT64_C(4000000000) // as in trace.c
#define MS_PER_S 1000u
// Prompts per millisecond above which timestamps with decimals are taken as seconds.
#define RATE_MAX 0.1
// The last block of a prompt may be partly filled, so short prompts say little about its size.
#define IDS_MIN 4u

typedef struct notes {
    void (*note)(const char *text, void *ctx);
    void *ctx;
    const char *name; // of the trace
} notes_t;

__attribute__((format(printf, 2, 3))) static void add_note(const notes_t *notes, const char *format,
                                                           ...)
{
    char text[400];
    const int used = snprintf(text, sizeof(text), "%s: ", notes->name);
    va_list list;
    va_start(list, format);
    if (used > 0 && (size_t)used < sizeof(text)) {
        vsnprintf(text + used, sizeof(text) - (size_t)used, format, list);
    }
    va_end(list);
    if (notes->note != NULL) {
        notes->note(text, notes->ctx);
    }
}

static double span_ms(const app__mooncake_trace_t *trace)
{
    const app__mooncake_prompt_t *const first = &trace->prompts[0];
    const app__mooncake_prompt_t *const last = &trace->prompts[trace->count - 1];
    return (double)(last->timestamp_ms - first->timestamp_ms) +
           ((double)last->timestamp_rest_ps - (double)first->timestamp_rest_ps) /
               (double)SIM_PS_PER_MS;
}

static void place_at_intervals(app__mooncake_trace_t *trace, sim_time_t interval_ps)
{
    const uint64_t whole_ms = interval_ps / SIM_PS_PER_MS;
    const sim_time_t rest_ps = interval_ps % SIM_PS_PER_MS;
    for (uint64_t i = 0; i < trace->count; i++) {
        const uint64_t rests_ps = i * rest_ps;
        trace->prompts[i].timestamp_ms = i * whole_ms + rests_ps / SIM_PS_PER_MS;
        trace->prompts[i].timestamp_rest_ps = rests_ps % SIM_PS_PER_MS;
    }
    trace->late = 0;
}

static void scale_seconds(app__mooncake_trace_t *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        app__mooncake_prompt_t *const prompt = &trace->prompts[i];
        const uint64_t rest_ps = prompt->timestamp_rest_ps * MS_PER_S;
        prompt->timestamp_ms = prompt->timestamp_ms * MS_PER_S + rest_ps / SIM_PS_PER_MS;
        prompt->timestamp_rest_ps = rest_ps % SIM_PS_PER_MS;
    }
}

static bool are_seconds(const app__mooncake_trace_t *trace, app__mooncake_unit_t unit,
                        const notes_t *notes)
{
    if (trace->with_unit) {
        return false;
    }
    if (unit != APP__MOONCAKE_UNIT_AUTO) {
        return unit == APP__MOONCAKE_UNIT_S;
    }
    const double gaps = (double)(trace->count - 1);
    if (span_ms(trace) <= 0.0 || gaps <= span_ms(trace) * RATE_MAX) {
        return false;
    }
    if (trace->with_decimals) {
        add_note(notes,
                 "timestamps have decimals and lie %s apart on average, so they are taken as "
                 "seconds; timestamp-unit: ms takes them as milliseconds",
                 SIM_DIGITS(span_ms(trace) / gaps, 3));
        return true;
    }
    add_note(
        notes,
        "%s prompts arrive per second, since timestamps are taken as milliseconds; if they are "
        "seconds, set timestamp-unit: s",
        SIM_DIGITS(gaps / span_ms(trace) * 1e3, 4));
    return false;
}

// Warns of hash ids that are missing, or that stand for another number of tokens.
static void check_blocks(const app__mooncake_trace_t *trace, uint64_t block_tokens,
                         const notes_t *notes)
{
    double tokens = 0.0;
    double ids = 0.0;
    size_t overfull = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const app__mooncake_prompt_t *const prompt = &trace->prompts[i];
        overfull += prompt->id_count > 1 && (double)(prompt->id_count - 1) * (double)block_tokens >=
                                                (double)prompt->input_tokens;
        if (trace->prompts[i].id_count >= IDS_MIN) {
            tokens += (double)trace->prompts[i].input_tokens;
            ids += (double)trace->prompts[i].id_count;
        }
    }
    if (trace->unhashed > 0) {
        add_note(notes, "prompts without hash_ids, so that nothing of them is cached: %zu of %zu",
                 trace->unhashed, trace->count);
    }
    if (ids > 0.0 &&
        (tokens / ids > 2.0 * (double)block_tokens || tokens / ids < 0.5 * (double)block_tokens)) {
        add_note(notes,
                 "a hash id stands for %.0f tokens on average, and block-tokens is %" PRIu64
                 ": hits are counted in blocks of block-tokens",
                 tokens / ids, block_tokens);
    } else if (overfull > 0) {
        add_note(notes,
                 "prompts with more hash_ids than blocks of %" PRIu64
                 " tokens that they fill: %zu of "
                 "%zu; the ids beyond are left out",
                 block_tokens, overfull, trace->count);
    }
}

sim_err_t app__mooncake_trace_arrivals(app__mooncake_trace_t *trace, const char *name,
                                       app__mooncake_unit_t unit, sim_time_t interval_ps,
                                       uint64_t block_tokens,
                                       void (*note)(const char *text, void *ctx), void *ctx,
                                       sim_message_t *message)
{
    const notes_t notes = {note, ctx, name};
    if (interval_ps == SIM_AUTO && trace->untimed > 0) {
        return sim_fail_in(message, SIM_ERR_INVALID, name, 1, 1,
                           "the requests have no timestamp, expected one in each, or "
                           "arrival-interval, the time between two prompts");
    }
    if (interval_ps != SIM_AUTO) {
        if ((double)interval_ps * (double)trace->count >
            (double)TIMESTAMP_MS_MAX * (double)SIM_PS_PER_MS) {
            return sim_fail_about(message, SIM_ERR_RANGE, "arrival-interval",
                                  ": the last prompt arrives after 46 days, expected earlier");
        }
        place_at_intervals(trace, interval_ps);
    } else if (are_seconds(trace, unit, &notes)) {
        if (trace->prompts[trace->count - 1].timestamp_ms > TIMESTAMP_MS_MAX / MS_PER_S) {
            return sim_fail_about(message, SIM_ERR_RANGE, "timestamp-unit",
                                  ": the last timestamp is after 46 days, expected an earlier one");
        }
        scale_seconds(trace);
    }
    check_blocks(trace, block_tokens, &notes);
    return SIM_OK;
}
