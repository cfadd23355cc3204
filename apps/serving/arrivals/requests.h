// SPDX-License-Identifier: Apache-2.0
// apps/serving/arrivals/requests.h - the requests that users send to a serving system: from a
// trace, or drawn from distributions (docs/models/requests.md).
//
// All requests are made before the run. They do not depend on how they are served, except that a
// request of a closed-loop client begins when the client's earlier request has ended.
#ifndef APPS_SERVING_ARRIVALS_REQUESTS_H
#define APPS_SERVING_ARRIVALS_REQUESTS_H

#include "apps/app.h"
#include "kernel/attribute.h"

// The value of app__request_t.after of a request without an earlier one of the same client.
#define APP__REQUEST_NONE UINT32_MAX
#define APP__REQUESTS_MAX UINT64_C(100000000)

// A request. Its number is its index in app__requests_t.items.
typedef struct app__request {
    // after == APP__REQUEST_NONE: when the request arrives, since the start of the run.
    // Otherwise: the time that its client thinks after request `after` has ended (or was refused).
    sim_time_t arrival_ps;
    uint32_t after;         // the client's earlier request, always below its own index
    uint32_t prompt_tokens; // >= 1
    uint32_t output_tokens; // >= 1; the first one comes out of the prefill
    uint32_t block_count;   // leading blocks of the prompt that have a hash
    size_t first_block;     // in app__requests_t.blocks
    sim_time_t refused_ps;  // time that its client waits, beside thinking, if it is refused
} app__request_t;

typedef struct app__requests {
    app__request_t *items; // requests with after == NONE come in order of arrival
    uint32_t count;
    // Hashes of blocks: two prompts have a block in common only if they have all blocks before it
    // in common. A trace's last block may be partly filled; drawn requests have whole blocks only.
    // Requests that can share nothing have no hashes.
    uint64_t *blocks;
    size_t block_total;
    uint32_t block_tokens;  // tokens of a block: 512 in Mooncake's traces
    uint32_t clients;       // closed loop: how many; 0: open loop
    uint64_t prompt_tokens; // of all requests
    uint64_t output_tokens; // of all requests
    uint64_t longest;       // maximum number of tokens of a request, prompt and output together
    uint32_t output_max;
} app__requests_t;

typedef enum app__requests_arrivals {
    APP__ARRIVALS_AUTO,
    APP__ARRIVALS_TRACE,
    APP__ARRIVALS_CONSTANT,
    APP__ARRIVALS_POISSON,
    APP__ARRIVALS_GAMMA,
    APP__ARRIVALS_BURSTS,
    APP__ARRIVALS_CLIENTS,
} app__requests_arrivals_t;

// Settings of the requests. APP__REQUESTS_ATTRS has a row for each.
typedef struct app__requests_config {
    char *trace;       // ""; else a file of requests
    uint64_t skip;     // requests of the trace before the first one that is used
    uint64_t requests; // SIM_AUTO: all of the trace, or 1000
    uint32_t unit;     // of the trace's timestamps
    uint32_t arrivals;
    sim_ratio_t time_scale;
    sim_ratio_t rate; // requests per second; auto: those of the trace, or 1
    sim_ratio_t cv;   // coefficient of variation of gamma's gaps
    sim_time_t burst_on_ps;
    sim_time_t burst_off_ps;
    uint64_t clients;
    sim_time_t think_ps;
    sim_time_t refused_ps; // mean wait of a client after a refused request
    uint64_t turns;        // requests of a conversation of a client
    char *prompt_tokens;   // "auto": those of the trace, or the usual distribution
    char *output_tokens;
    uint64_t tokens_max;
    uint64_t prefixes;
    sim_ratio_t prefix_skew;
    sim_ratio_t prefix_share;
    char *prefix_tokens;
    uint64_t block_tokens;
} app__requests_config_t;

// clang-format off
#define APP__REQUESTS_ATTRS(prefix, type, member)                                                  \
    SIM_ATTR(prefix ".trace", STRING, type, member.trace,                                          \
             .default_text = "",                                                                   \
             .help = "file of requests (JSON lines of Mooncake or LLMServingSim, tables of " \
                     "Azure, BurstGPT, Vidur or Splitwise); empty: requests are drawn"),                                                        \
    SIM_ATTR(prefix ".trace-skip", COUNT, type, member.skip,                                       \
             .default_text = "0", .min_text = "0", .max_text = "100000000",                        \
             .help = "number of requests at the beginning of the trace that are left out"),        \
    SIM_ATTR(prefix ".requests", COUNT, type, member.requests,                                     \
             .default_text = "auto", .min_text = "1", .max_text = "100000000", .auto_ok = true,    \
             .help = "number of requests, the first ones of a trace; auto: all of the trace, or "  \
                     "1000 that are drawn"),                                                       \
    SIM_ATTR(prefix ".timestamp-unit", ENUM, type, member.unit,                                    \
             .default_text = "auto", .choices = "auto|ms|s",                                       \
             .help = "unit of the timestamps in a trace of JSON lines; auto: ms, or s if they "    \
                     "have decimals and would be above 100 requests per second as ms"),            \
    SIM_ATTR(prefix ".arrivals", ENUM, type, member.arrivals,                                      \
             .default_text = "auto", .choices = "auto|trace|constant|poisson|gamma|bursts|clients",\
             .help = "when requests arrive: at the times of the trace, after equal, exponential "  \
                     "or gamma-distributed gaps, in bursts, or when a client's earlier request "   \
                     "has ended; auto: trace if it has times, clients if there are any, else "     \
                     "poisson"),                                                                   \
    SIM_ATTR(prefix ".time-scale", RATIO, type, member.time_scale,                                 \
             .default_text = "1", .min_text = "0.000001", .max_text = "1000000",                   \
             .help = "factor on the times between arrivals; 0.5: twice the load"),                 \
    SIM_ATTR(prefix ".rate", RATIO, type, member.rate,                                             \
             .default_text = "auto", .min_text = "0.0001", .max_text = "1000000",                  \
             .auto_ok = true,                                                                      \
             .help = "mean number of requests per second; the times of a trace are stretched to "  \
                     "it; auto: as in the trace, or 1 with drawn arrivals"),                       \
    SIM_ATTR(prefix ".arrival-cv", RATIO, type, member.cv,                                         \
             .default_text = "2", .min_text = "0.01", .max_text = "100",                           \
             .help = "standard deviation of gamma's gaps divided by their mean; 1: as poisson"),   \
    SIM_ATTR(prefix ".burst-on", TIME, type, member.burst_on_ps,                                   \
             .default_text = "10s", .min_text = "1us", .max_text = "10000s",                       \
             .help = "mean length of a burst, in which requests arrive as poisson"),               \
    SIM_ATTR(prefix ".burst-off", TIME, type, member.burst_off_ps,                                 \
             .default_text = "30s", .min_text = "0s", .max_text = "10000s",                        \
             .help = "mean time between two bursts, in which no request arrives"),                 \
    SIM_ATTR(prefix ".clients", COUNT, type, member.clients,                                       \
             .default_text = "0", .min_text = "0", .max_text = "1000000",                          \
             .help = "number of clients that each have one request at a time; 0: none, an open "   \
                     "loop"),                                                                      \
    SIM_ATTR(prefix ".think", TIME, type, member.think_ps,                                         \
             .default_text = "0s", .min_text = "0s", .max_text = "10000s",                         \
             .help = "mean time of a client between the end of a request and its next one, "       \
                     "which is exponentially distributed"),                                        \
    SIM_ATTR(prefix ".refused-wait", TIME, type, member.refused_ps,                                \
             .default_text = "1s", .min_text = "0s", .max_text = "10000s",                         \
             .help = "mean time that a client waits after a refused request, beside think, which " \
                     "is exponentially distributed"),                                              \
    SIM_ATTR(prefix ".turns", COUNT, type, member.turns,                                           \
             .default_text = "1", .min_text = "1", .max_text = "1000000",                          \
             .help = "number of requests of a client's conversation; a request repeats the "       \
                     "earlier prompt and output and adds prompt-tokens to them"),                  \
    SIM_ATTR(prefix ".prompt-tokens", STRING, type, member.prompt_tokens,                          \
             .default_text = "auto",                                                               \
             .help = "tokens of a prompt: N, `uniform MIN MAX`, `exponential MEAN`, `lognormal "   \
                     "MEAN CV`, or a file with a cumulative distribution; auto: those of the "     \
                     "trace, or lognormal 2048 1"),                                                \
    SIM_ATTR(prefix ".output-tokens", STRING, type, member.output_tokens,                          \
             .default_text = "auto",                                                               \
             .help = "tokens of an output, in the words of prompt-tokens; auto: those of the "     \
                     "trace, or lognormal 256 1"),                                                 \
    SIM_ATTR(prefix ".tokens-max", COUNT, type, member.tokens_max,                                 \
             .default_text = "131072", .min_text = "1", .max_text = "100000000",                   \
             .help = "maximum number of tokens of a prompt, and of an output; longer ones are "    \
                     "cut to it"),                                                                 \
    SIM_ATTR(prefix ".prefixes", COUNT, type, member.prefixes,                                     \
             .default_text = "0", .min_text = "0", .max_text = "1000000",                          \
             .help = "number of prefixes that prompts may begin with, such as system prompts"),    \
    SIM_ATTR(prefix ".prefix-skew", RATIO, type, member.prefix_skew,                               \
             .default_text = "1", .min_text = "0", .max_text = "4",                                \
             .help = "skew s of a prompt's choice: prefix n has a probability as 1 / n^s"),        \
    SIM_ATTR(prefix ".prefix-share", RATIO, type, member.prefix_share,                             \
             .default_text = "1", .min_text = "0", .max_text = "1",                                \
             .help = "share of prompts, or of conversations, that begin with a prefix"),           \
    SIM_ATTR(prefix ".prefix-tokens", STRING, type, member.prefix_tokens,                          \
             .default_text = "1024",                                                               \
             .help = "tokens of a prefix, in the words of prompt-tokens; at least one token of a " \
                     "prompt stays its own"),                                                      \
    SIM_ATTR(prefix ".block-tokens", COUNT, type, member.block_tokens,                             \
             .default_text = "512", .min_text = "1", .max_text = "65536",                          \
             .help = "number of tokens of a block, the unit in which prompts share their "         \
                     "beginnings")
// clang-format on

// Makes the requests from a trace or from random streams of the application. Takes
// context->read_file, memory_max_bytes and note. The caller needs more_bytes of memory for each
// request itself; requests that would need too much with them are refused before they are made.
// Errors begin with the attribute's name, or with "FILE:LINE:COLUMN: ". Free with
// app__requests_fini; after an error nothing is to be freed.
SIM_MUST_CHECK sim_err_t app__requests_create(const app_context_t *context,
                                              const app__requests_config_t *config,
                                              uint64_t more_bytes, app__requests_t *requests,
                                              sim_message_t *message);
void app__requests_fini(app__requests_t *requests);

// Returns the hash of block `index` of a request's prompt.
static inline uint64_t app__request_block(const app__requests_t *requests,
                                          const app__request_t *request, uint32_t index)
{
    return requests->blocks[request->first_block + index];
}

#endif // APPS_SERVING_ARRIVALS_REQUESTS_H
