// SPDX-License-Identifier: Apache-2.0
// cli/workload/requests.c - describes traces of requests to language models.
// docs/formats/peers.md
#include "cli/workload/requests.h"

#include "apps/mooncake/programs/arrivals.h"
#include "cli/command.h"
#include "cli/output.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct lengths {
    double mean;
    uint64_t p50;
    uint64_t p99;
    uint64_t max;
    uint64_t sum;
} lengths_t;

typedef struct counts {
    lengths_t prompt;
    lengths_t output;
    double span_s;
    double rate; // requests per second; 0: unknown
    double cv;   // of the gaps
    uint64_t blocks;
    uint64_t distinct_blocks;
    uint64_t hits; // leading blocks that an earlier request has
} counts_t;

// The place of a block among all blocks of the trace.
typedef struct block {
    uint64_t hash;
    uint64_t place;
} block_t;

// -- counting

static int by_value(const void *a_void, const void *b_void)
{
    const uint64_t a = *(const uint64_t *)a_void;
    const uint64_t b = *(const uint64_t *)b_void;
    return a < b ? -1 : a > b;
}

static int by_hash(const void *a_void, const void *b_void)
{
    const block_t *const a = a_void;
    const block_t *const b = b_void;
    return 2 * SIM_COMPARE(a->hash, b->hash) + SIM_COMPARE(a->place, b->place);
}

// Sorts the values; percentiles are by nearest rank.
static lengths_t summarise(uint64_t *values, size_t count)
{
    lengths_t lengths = {0};
    qsort(values, count, sizeof(*values), by_value);
    for (size_t i = 0; i < count; i++) {
        lengths.sum += values[i];
    }
    lengths.mean = (double)lengths.sum / (double)count;
    lengths.p50 = values[(count + 1) / 2 - 1];
    lengths.p99 = values[(99 * count + 99) / 100 - 1];
    lengths.max = values[count - 1];
    return lengths;
}

static double seconds_of(const app__mooncake_prompt_t *prompt)
{
    return (double)prompt->timestamp_ms / 1e3 + (double)prompt->timestamp_rest_ps / 1e12;
}

static void count_times(const app__mooncake_trace_t *trace, counts_t *counts)
{
    const double gaps = (double)(trace->count - 1);
    counts->span_s = seconds_of(&trace->prompts[trace->count - 1]) - seconds_of(&trace->prompts[0]);
    if (trace->untimed > 0 || counts->span_s <= 0.0) {
        return;
    }
    double squares = 0.0;
    for (size_t i = 1; i < trace->count; i++) {
        const double gap = seconds_of(&trace->prompts[i]) - seconds_of(&trace->prompts[i - 1]);
        squares += gap * gap;
    }
    const double mean = counts->span_s / gaps;
    const double variance = squares / gaps - mean * mean;
    counts->rate = 1.0 / mean;
    counts->cv = variance > 0.0 ? sqrt(variance) / mean : 0.0;
}

static void count_blocks(const app__mooncake_trace_t *trace, counts_t *counts)
{
    block_t *const blocks = sim_alloc_array(trace->id_count + 1, sizeof(*blocks));
    uint64_t *const first = sim_alloc_array(trace->id_count + 1, sizeof(*first));
    for (size_t i = 0; i < trace->id_count; i++) {
        blocks[i] = (block_t){trace->ids[i], i};
    }
    qsort(blocks, trace->id_count, sizeof(*blocks), by_hash);
    for (size_t i = 0; i < trace->id_count; i++) {
        const bool seen = i > 0 && blocks[i].hash == blocks[i - 1].hash;
        first[blocks[i].place] = seen ? first[blocks[i - 1].place] : blocks[i].place;
        counts->distinct_blocks += !seen;
    }
    for (size_t i = 0; i < trace->count; i++) {
        const app__mooncake_prompt_t *const prompt = &trace->prompts[i];
        size_t b = 0;
        while (b < prompt->id_count && first[prompt->first_id + b] < prompt->first_id) {
            b++;
        }
        counts->hits += b;
    }
    counts->blocks = trace->id_count;
    sim_free(blocks);
    sim_free(first);
}

static counts_t count(const app__mooncake_trace_t *trace)
{
    counts_t counts = {.blocks = 0};
    uint64_t *const values = sim_alloc_array(trace->count, sizeof(*values));
    for (size_t i = 0; i < trace->count; i++) {
        values[i] = trace->prompts[i].input_tokens;
    }
    counts.prompt = summarise(values, trace->count);
    for (size_t i = 0; i < trace->count; i++) {
        values[i] = trace->prompts[i].output_tokens;
    }
    counts.output = summarise(values, trace->count);
    sim_free(values);
    count_times(trace, &counts);
    count_blocks(trace, &counts);
    return counts;
}

// -- printing

static void print_lengths(const char *what, const lengths_t *lengths)
{
    printf("  %-9s %" PRIu64 " token%s; mean %.1f, p50 %" PRIu64 ", p99 %" PRIu64 ", max %" PRIu64
           "\n",
           what, lengths->sum, sim_plural(lengths->sum), lengths->mean, lengths->p50, lengths->p99,
           lengths->max);
}

static void print_text(const char *name, app__trace_format_t format,
                       const app__mooncake_trace_t *trace, const counts_t *counts)
{
    printf("%s: %s\n", name, app__trace_what(format));
    if (trace->untimed > 0) {
        printf("  requests  %zu, without times\n", trace->count);
    } else if (counts->rate <= 0.0) {
        printf("  requests  %zu at one time\n", trace->count);
    } else {
        printf("  requests  %zu in %.3f s, %.3f a second; deviation of the gaps / mean: %.2f\n",
               trace->count, counts->span_s, counts->rate, counts->cv);
    }
    print_lengths("prompts", &counts->prompt);
    print_lengths("outputs", &counts->output);
    if (counts->blocks == 0) {
        printf("  blocks    none, so nothing says what prompts have in common\n");
    } else {
        printf("  blocks    %" PRIu64 ", %" PRIu64 " of them distinct; %" PRIu64
               " (%.1f %%) are at the beginning of an earlier prompt, too\n",
               counts->blocks, counts->distinct_blocks, counts->hits,
               100.0 * (double)counts->hits / (double)counts->blocks);
    }
}

static void set_lengths(json_t *object, const char *name, const lengths_t *lengths)
{
    json_t *const inner = json_object();
    cli_json_set(inner, "sum", lengths->sum);
    json_object_set_new(inner, "mean", json_real(lengths->mean));
    cli_json_set(inner, "p50", lengths->p50);
    cli_json_set(inner, "p99", lengths->p99);
    cli_json_set(inner, "max", lengths->max);
    json_object_set_new(object, name, inner);
}

static void print_json(const char *name, app__trace_format_t format,
                       const app__mooncake_trace_t *trace, const counts_t *counts)
{
    json_t *const object = json_object();
    json_object_set_new(object, "file", json_string(name));
    json_object_set_new(object, "format", json_string(app__trace_name(format)));
    cli_json_set(object, "requests", trace->count);
    if (trace->untimed == 0) {
        json_object_set_new(object, "span_s", json_real(counts->span_s));
        json_object_set_new(object, "requests_per_s", json_real(counts->rate));
        json_object_set_new(object, "gap_cv", json_real(counts->cv));
    }
    cli_json_set(object, "out_of_order", trace->late);
    set_lengths(object, "prompt_tokens", &counts->prompt);
    set_lengths(object, "output_tokens", &counts->output);
    cli_json_set(object, "without_hashes", trace->unhashed);
    cli_json_set(object, "blocks", counts->blocks);
    cli_json_set(object, "distinct_blocks", counts->distinct_blocks);
    cli_json_set(object, "leading_blocks_seen", counts->hits);
    cli_print_json(object);
}

static void print_note(const char *text, void *ctx)
{
    (void)ctx;
    fprintf(stderr, "note: %s\n", text);
}

static void note_lengths(const char *name, const app__mooncake_trace_t *trace)
{
    static const char *const names[] = {"input_length", "output_length"};
    static const char *const settings[] = {"prompt-tokens", "output-tokens"};
    for (size_t i = 0; i < SIM_COUNT_OF(names); i++) {
        if (trace->lengthless[i] > 0) {
            fprintf(stderr,
                    "note: %s: requests without %s, which count as 0 here and need %s in a "
                    "scenario: %zu of %zu\n",
                    name, names[i], settings[i], trace->lengthless[i], trace->count);
        }
    }
    if (trace->turns > 0) {
        fprintf(stderr,
                "note: %s: requests that are later turns of a session and begin their delay after "
                "the one before has ended: %zu of %zu\n",
                name, trace->turns, trace->count);
    }
}

bool cli_requests_is(const char *text, size_t size_bytes)
{
    return app__trace_detect(text, size_bytes) != APP__TRACE_NONE;
}

int cli_requests_check(const char *name, const char *text, size_t size_bytes, bool json)
{
    const app__trace_format_t format = app__trace_detect(text, size_bytes);
    app__mooncake_trace_t trace;
    sim_message_t message = {.text = ""};
    sim_err_t error = app__trace_read(name, text, size_bytes, UINT64_MAX, &trace, &message);
    if (error == SIM_OK && format == APP__TRACE_MOONCAKE && trace.untimed == 0) {
        error = app__mooncake_trace_arrivals(&trace, name, APP__MOONCAKE_UNIT_AUTO, SIM_AUTO, 512,
                                             print_note, NULL, &message);
        if (error != SIM_OK) {
            app__mooncake_trace_fini(&trace);
        }
    }
    if (error != SIM_OK) {
        fprintf(stderr, "%s\n", message.text);
        return CLI_EXIT_BAD_INPUT;
    }
    note_lengths(name, &trace);
    const counts_t counts = count(&trace);
    (json ? print_json : print_text)(name, format, &trace, &counts);
    if (trace.late > 0) {
        fprintf(stderr, "note: %s: %zu %s an earlier time than one above %s\n", name, trace.late,
                trace.late == 1 ? "request has" : "requests have", trace.late == 1 ? "it" : "them");
    }
    app__mooncake_trace_fini(&trace);
    return cli_finish_output(CLI_EXIT_DONE);
}
