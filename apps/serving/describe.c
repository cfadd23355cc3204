// SPDX-License-Identifier: Apache-2.0
// apps/serving/describe.c - says for `rocesim check` how long steps and transfers will take
// (docs/models/serving.md).
#include "apps/serving/report.h"
#include "apps/serving/router.h"
#include "kernel/digits.h"

#define PROMPT_TOKENS 1000u // of the example
#define BATCH 64u

static void say(void (*write)(const char *text, void *ctx), void *ctx, char *text)
{
    write(text, ctx);
    sim_free(text);
}

static double step_ms(const app__serving_node_t *node, uint64_t sequences, uint64_t tokens)
{
    const app__step_load_t load = {
        .tokens = sequences * tokens,
        .sequences = sequences,
        .pairs = tokens > 1 ? tokens * (tokens + 1) / 2 : sequences * PROMPT_TOKENS,
        .context = tokens > 1 ? tokens : sequences * PROMPT_TOKENS,
    };
    return (double)app__served_step_ps(&node->serving->served, &node->gpus, &load) /
           (double)SIM_PS_PER_MS;
}

static char *room_of(const app__serving_node_t *node)
{
    const uint64_t tokens = node->pages * node->serving->config.page_tokens;
    return sim_format("room for the KV data of %" PRIu64 " token%s", tokens, sim_plural(tokens));
}

// Says how many requests a run will refuse, since their KV data fits into no node.
static void say_refused(const app__serving_t *serving, void (*write)(const char *text, void *ctx),
                        void *ctx)
{
    uint64_t refused = 0;
    for (uint32_t i = 0; i < serving->requests.count; i++) {
        refused += !app__serving_fits(serving, i);
    }
    if (refused > 0) {
        say(write, ctx,
            sim_format("a run refuses %" PRIu64 " request%s, whose KV data does not fit into the "
                       "memory of a node: expected shorter requests, a larger kv-memory or "
                       "more GPUs\n",
                       refused, sim_plural(refused)));
    }
}

#define PLACED 4u // nodes whose hosts are printed

// Says which hosts and layers the stages of a node have.
static void say_place(const app__serving_t *serving, uint32_t leader,
                      void (*write)(const char *text, void *ctx), void *ctx)
{
    const app__serving_place_t *const place = &serving->nodes[leader].place;
    char *text =
        sim_format("%s node %u:", leader >= serving->prefill_count ? "decode" : "prefill",
                   leader >= serving->prefill_count ? leader - serving->prefill_count : leader);
    for (uint32_t i = 0; i < place->host_count; i++) {
        const app__serving_node_t *const host =
            &serving->nodes[app__serving_host_of(serving, leader, i)];
        const char *const name = host->station->host->sim.name;
        char *const longer =
            host->place.rank > 0
                ? sim_format("%s %s", text, name)
                : sim_format("%s%s layers %" PRIu64 " to %" PRIu64 " on %s", text, i > 0 ? ";" : "",
                             host->place.first_layer,
                             host->place.first_layer + host->place.layers - 1, name);
        sim_free(text);
        text = longer;
    }
    char *const line = sim_format("%s; %u GPUs of each host\n", text, place->gpus);
    sim_free(text);
    say(write, ctx, line);
}

// Says where the nodes with several hosts are: the first ones of each kind.
static void say_places(const app__serving_t *serving, void (*write)(const char *text, void *ctx),
                       void *ctx)
{
    const uint32_t firsts[2] = {0, serving->prefill_count};
    const uint32_t ends[2] = {serving->prefill_count, serving->node_count};
    for (uint32_t kind = 0; kind < 2; kind++) {
        const uint32_t first = firsts[kind];
        const uint32_t count = ends[kind] - first;
        if (count == 0 || serving->nodes[first].place.host_count == 1) {
            continue;
        }
        for (uint32_t n = first; n < ends[kind] && n < first + PLACED; n++) {
            say_place(serving, n, write, ctx);
        }
        if (count > PLACED) {
            say(write, ctx,
                sim_format("%u further nodes follow in the same way\n", count - PLACED));
        }
    }
}

void app__serving_describe(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx)
{
    const app__serving_t *const serving = (const app__serving_t *)(const void *)app;
    const app__serving_node_t *const prefill = &serving->nodes[0];
    const app__serving_node_t *const decode = &serving->nodes[serving->node_count - 1];
    say(write, ctx,
        sim_format("%u request%s with %" PRIu64 " token%s of prompts and %" PRIu64 " of outputs\n",
                   serving->requests.count, sim_plural(serving->requests.count),
                   serving->requests.prompt_tokens, sim_plural(serving->requests.prompt_tokens),
                   serving->requests.output_tokens));
    say_refused(serving, write, ctx);
    const uint64_t weights = app__served_weight_bytes(&serving->served, serving->config.value_bytes,
                                                      prefill->gpus.expert_nodes);
    say(write, ctx,
        sim_format("%s: %.1f GB of weights in a node, %" PRIu64 " bytes of KV data for a token\n",
                   serving->served.sizes.name, (double)weights / 1e9,
                   prefill->gpus.kv_token_bytes));
    char *room = room_of(prefill);
    say(write, ctx,
        sim_format("%u prefill node%s: %s; a prompt of %u tokens takes %s ms\n",
                   serving->prefill_count, sim_plural(serving->prefill_count), room, PROMPT_TOKENS,
                   SIM_DIGITS(step_ms(prefill, 1, PROMPT_TOKENS), 3)));
    sim_free(room);
    if (decode->decodes) {
        say(write, ctx,
            sim_format(
                "its KV data takes %s ms at the rate of a node's NICs, in %u flow%s\n",
                SIM_DIGITS(app__serving_formula_ps(serving) * PROMPT_TOKENS / (double)SIM_PS_PER_MS,
                           3),
                serving->flows, sim_plural(serving->flows)));
    }
    say_places(serving, write, ctx);
    room = room_of(decode);
    const uint32_t decoding =
        decode->decodes ? serving->node_count - serving->prefill_count : serving->prefill_count;
    say(write, ctx,
        sim_format("%u node%s: %s; a step of 1 request behind a prompt of this length takes %s "
                   "ms, one of %u requests %s ms\n",
                   decoding, decoding == 1 ? " that decodes" : "s that decode", room,
                   SIM_DIGITS(step_ms(decode, 1, 1), 3), BATCH,
                   SIM_DIGITS(step_ms(decode, BATCH, 1), 3)));
    sim_free(room);
}
