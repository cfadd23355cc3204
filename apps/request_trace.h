// SPDX-License-Identifier: Apache-2.0
// apps/request_trace.h - reads traces of requests to language models: JSON lines of Mooncake and
// LLMServingSim, and tables of Azure, BurstGPT, Vidur, Splitwise and LLMServingSim
// (docs/formats/peers.md).
#ifndef APPS_REQUEST_TRACE_H
#define APPS_REQUEST_TRACE_H

#include "kernel/base.h"

typedef struct app__mooncake_prompt {
    uint64_t timestamp_ms;
    sim_time_t timestamp_rest_ps; // part below 1 ms
    uint64_t input_tokens;
    uint64_t output_tokens;
    size_t first_id; // in ids
    size_t id_count;
    size_t after;        // 1 + the prompt that has to end before; 0: none, it has a time of its own
    sim_time_t delay_ps; // after != 0: time between the end of that prompt and this one
} app__mooncake_prompt_t;

typedef struct app__mooncake_trace {
    app__mooncake_prompt_t *prompts;
    size_t count;
    size_t capacity;
    uint64_t *ids;
    size_t id_count;
    size_t id_capacity;
    size_t late;                     // prompts whose timestamp is before an earlier prompt's
    size_t untimed;                  // prompts without a timestamp: all of them, or none
    size_t unhashed;                 // prompts without hash ids
    bool with_decimals;              // a timestamp has decimals
    bool with_unit;                  // the names of the times say their unit
    size_t turns;                    // prompts that begin after another one has ended
    size_t lengthless[2];            // prompts without the length of the input, of the output
    size_t lengthless_line[2];       // of the first one
    const char *const *length_names; // the file's names of both lengths; NULL: those of JSON lines
} app__mooncake_trace_t;

void app__mooncake_trace_fini(app__mooncake_trace_t *trace);
// Fails at the first prompt without a length, unless a setting beside the trace gives that length.
// `given`: whether the settings for the input and the output do; NULL: there are no settings.
SIM_MUST_CHECK sim_err_t app__mooncake_trace_lengths(const app__mooncake_trace_t *trace,
                                                     const char *name, const bool given[2],
                                                     sim_message_t *message);

typedef enum app__trace_format {
    APP__TRACE_NONE, // no trace of requests
    APP__TRACE_MOONCAKE,
    APP__TRACE_AZURE,
    APP__TRACE_BURSTGPT,
    APP__TRACE_VIDUR,
    APP__TRACE_SPLITWISE,
    APP__TRACE_LLMSERVINGSIM,
} app__trace_format_t;

// Finds the format from the first line that is not blank.
app__trace_format_t app__trace_detect(const char *text, size_t size_bytes);
// Returns what a format is, such as "requests of Azure (CSV)", or its short name, "azure-csv".
const char *app__trace_what(app__trace_format_t format);
const char *app__trace_name(app__trace_format_t format);

// Reads at most `most` requests of a trace in any of the formats, as app__mooncake_trace_read does.
// Times of a CSV file count from its first request; rows that are out of order are sorted, and
// trace->late counts those that follow a later one. An error begins with "NAME:LINE:COLUMN: ". Free
// with app__mooncake_trace_fini; after an error nothing is to be freed.
SIM_MUST_CHECK sim_err_t app__trace_read(const char *name, const char *text, size_t size_bytes,
                                         uint64_t most, app__mooncake_trace_t *trace,
                                         sim_message_t *message);

#endif // APPS_REQUEST_TRACE_H
