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
    SIM_ATTR_ROW(type, STRING, prefix ".trace", member.trace, "", "file of requests (JSON lines of Mooncake or LLMServingSim, tables of Azure, BurstGPT, Vidur or Splitwise); empty: requests are drawn"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".trace-skip", member.skip, "0", "0", "100000000", "number of requests at the beginning of the trace that are left out"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".requests", member.requests, "auto", "1", "100000000", "number of requests, the first ones of a trace; auto: all of the trace, or 1000 that are drawn", .auto_ok = true), \
    SIM_ATTR_ROW(type, ENUM, prefix ".timestamp-unit", member.unit, "auto", "auto|ms|s", "unit of the timestamps in a trace of JSON lines; auto: ms, or s if they have decimals and would be above 100 requests per second as ms"), \
    SIM_ATTR_ROW(type, ENUM, prefix ".arrivals", member.arrivals, "auto", "auto|trace|constant|poisson|gamma|bursts|clients", "when requests arrive: at the times of the trace, after equal, exponential or gamma-distributed gaps, in bursts, or when a client's earlier request has ended; auto: trace if it has times, clients if there are any, else poisson"), \
    SIM_ATTR_ROW(type, RATIO, prefix ".time-scale", member.time_scale, "1", "0.000001", "1000000", "factor on the times between arrivals; 0.5: twice the load"), \
    SIM_ATTR_ROW(type, RATIO, prefix ".rate", member.rate, "auto", "0.0001", "1000000", "mean number of requests per second; the times of a trace are stretched to it; auto: as in the trace, or 1 with drawn arrivals", .auto_ok = true), \
    SIM_ATTR_ROW(type, RATIO, prefix ".arrival-cv", member.cv, "2", "0.01", "100", "standard deviation of gamma's gaps divided by their mean; 1: as poisson"), \
    SIM_ATTR_ROW(type, TIME, prefix ".burst-on", member.burst_on_ps, "10s", "1us", "10000s", "mean length of a burst, in which requests arrive as poisson"), \
    SIM_ATTR_ROW(type, TIME, prefix ".burst-off", member.burst_off_ps, "30s", "0s", "10000s", "mean time between two bursts, in which no request arrives"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".clients", member.clients, "0", "0", "1000000", "number of clients that each have one request at a time; 0: none, an open loop"), \
    SIM_ATTR_ROW(type, TIME, prefix ".think", member.think_ps, "0s", "0s", "10000s", "mean time of a client between the end of a request and its next one, which is exponentially distributed"), \
    SIM_ATTR_ROW(type, TIME, prefix ".refused-wait", member.refused_ps, "1s", "0s", "10000s", "mean time that a client waits after a refused request, beside think, which is exponentially distributed"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".turns", member.turns, "1", "1", "1000000", "number of requests of a client's conversation; a request repeats the earlier prompt and output and adds prompt-tokens to them"), \
    SIM_ATTR_ROW(type, STRING, prefix ".prompt-tokens", member.prompt_tokens, "auto", "tokens of a prompt: N, `uniform MIN MAX`, `exponential MEAN`, `lognormal MEAN CV`, or a file with a cumulative distribution; auto: those of the trace, or lognormal 2048 1"), \
    SIM_ATTR_ROW(type, STRING, prefix ".output-tokens", member.output_tokens, "auto", "tokens of an output, in the words of prompt-tokens; auto: those of the trace, or lognormal 256 1"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".tokens-max", member.tokens_max, "131072", "1", "100000000", "maximum number of tokens of a prompt, and of an output; longer ones are cut to it"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".prefixes", member.prefixes, "0", "0", "1000000", "number of prefixes that prompts may begin with, such as system prompts"), \
    SIM_ATTR_ROW(type, RATIO, prefix ".prefix-skew", member.prefix_skew, "1", "0", "4", "skew s of a prompt's choice: prefix n has a probability as 1 / n^s"), \
    SIM_ATTR_ROW(type, RATIO, prefix ".prefix-share", member.prefix_share, "1", "0", "1", "share of prompts, or of conversations, that begin with a prefix"), \
    SIM_ATTR_ROW(type, STRING, prefix ".prefix-tokens", member.prefix_tokens, "1024", "tokens of a prefix, in the words of prompt-tokens; at least one token of a prompt stays its own"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".block-tokens", member.block_tokens, "512", "1", "65536", "number of tokens of a block, the unit in which prompts share their beginnings")
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
