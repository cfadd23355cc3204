// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/conductor.c - counts cache hits and decides where each prompt is computed
// (docs/models/mooncake.md).
//
// Prompts are admitted in the order of the trace. Their leading blocks that are in the store count
// as hits, at most their input; then all their blocks are inserted. With one store for all nodes
// these counts do not depend on the schedule or on any time, unless a node is lost (heartbeat.c).
#include <string.h>

#include "apps/mooncake/programs/prefix_cache.h"
#include "apps/mooncake/programs/replay.h"

#define JOB_HEADER_BYTES 40u
#define PLACE_BYTES 16u
// Limit of estimated network times, so that sums do not overflow.
#define BYTES_PS_MAX UINT64_C(1000000000000000000)

uint64_t app__mc_kv_bytes(const app__mc_replay_t *replay, uint64_t tokens)
{
    const uint64_t bytes = tokens * replay->config.kv_bytes;
    const uint64_t grains = (bytes + APP__MC_GRAIN_BYTES - 1) / APP__MC_GRAIN_BYTES;
    return grains == 0 ? APP__MC_GRAIN_BYTES : grains * APP__MC_GRAIN_BYTES;
}

uint64_t app__mc_groups(const app__mc_replay_t *replay, uint64_t tokens)
{
    const uint64_t most = app__mc_kv_bytes(replay, tokens) / APP__MC_PART_BYTES;
    const uint64_t groups = SIM_MIN(replay->config.layer_groups, most);
    return groups == 0 ? 1 : groups;
}

sim_time_t app__mc_compute_ps(const app__mc_replay_t *replay, uint64_t tokens, uint64_t cached)
{
    SIM_CHECK(cached <= tokens);
    const uint64_t squares = tokens * tokens - cached * cached;
    const sim_time_t time_ps = replay->config.fixed_ps +
                               (tokens - cached) * replay->config.token_ps +
                               squares * replay->config.square_ps;
    return time_ps / 100 * replay->config.time_percent +
           time_ps % 100 * replay->config.time_percent / 100;
}

sim_time_t app__mc_decode_ps(const app__mc_replay_t *replay)
{
    return replay->config.decode_ps / 100 * replay->config.time_percent;
}

double app__mc_busy_ps(const app__mc_replay_t *replay, const app__mooncake_prompt_t *prompt)
{
    const double tokens = (double)prompt->input_tokens;
    const double compute_ps = (double)replay->config.fixed_ps +
                              tokens * (double)replay->config.token_ps +
                              tokens * tokens * (double)replay->config.square_ps;
    const double decode_ps = (double)prompt->output_tokens * (double)replay->config.decode_ps;
    return (compute_ps + decode_ps) * (double)(100 + replay->config.time_percent) / 100.0;
}

typedef struct choice {
    uint32_t prefill;
    uint32_t decode;
    size_t hits; // in blocks
    size_t used; // hits that the chosen node need not compute
} choice_t;

static app__mooncake_prefix_t *store_of(const app__mc_replay_t *replay, uint32_t node)
{
    return replay->stores[replay->local_store ? node : 0];
}

static uint64_t cached_tokens(const app__mc_replay_t *replay, const app__mooncake_prompt_t *prompt,
                              size_t blocks)
{
    const uint64_t tokens = blocks * replay->config.block_tokens;
    return SIM_MIN(tokens, prompt->input_tokens);
}

// Returns the time of bytes at the rate of a node's NICs, as far as the conductor knows it.
static sim_time_t bytes_ps(const app__mc_replay_t *replay, uint64_t bytes)
{
    const double time_ps = (double)bytes * 8.0 / (double)replay->fetch_bps * 1e12;
    return time_ps < (double)BYTES_PS_MAX ? (sim_time_t)time_ps : BYTES_PS_MAX;
}

static void book_time(sim_time_t *until_ps, sim_time_t from_ps, sim_time_t time_ps)
{
    const sim_time_t end_ps = SIM_MAX(*until_ps, from_ps) + time_ps;
    *until_ps = SIM_MIN(end_ps, from_ps + BYTES_PS_MAX);
}

static bool fetches(const app__mc_replay_t *replay)
{
    return !replay->local_store && replay->config.scheduler == APP__MC_CACHE_AWARE;
}

// -- cached blocks of the prompt to be admitted: their slots and source nodes

static size_t find_blocks(app__mc_replay_t *replay, const app__mooncake_prompt_t *prompt,
                          uint32_t store)
{
    const app__mooncake_prefix_t *const prefix = replay->stores[store];
    const uint64_t *const ids = &replay->trace.ids[prompt->first_id];
    const size_t hits = app__mooncake_prefix_match(prefix, ids, prompt->id_count);
    for (size_t i = 0; i < hits; i++) {
        const bool there = app__mooncake_prefix_slot(prefix, ids[i], &replay->slots[i]);
        SIM_CHECK(there);
    }
    return hits;
}

// Chooses a source for each block: of the nodes with a copy, the one that will have sent everything
// first.
static void find_sources(app__mc_replay_t *replay, size_t hits)
{
    for (size_t i = 0; i < hits; i++) {
        bool found = false;
        for (uint32_t n = 0; n < replay->prefill_count; n++) {
            if (app__mooncake_prefix_has(replay->stores[0], replay->slots[i], n) &&
                (!found || replay->send_until_ps[n] < replay->send_until_ps[replay->sources[i]])) {
                replay->sources[i] = n;
                found = true;
            }
        }
        SIM_CHECK(found);
    }
}

static bool is_on(const app__mc_replay_t *replay, size_t block, uint32_t node)
{
    return replay->local_store ||
           app__mooncake_prefix_has(replay->stores[0], replay->slots[block], node);
}

// Returns how many leading blocks the node itself has.
static size_t leading_on(const app__mc_replay_t *replay, size_t hits, uint32_t node)
{
    size_t on = 0;
    while (on < hits && is_on(replay, on, node)) {
        on++;
    }
    return on;
}

// Returns the time to fetch the blocks that other nodes have, after everything else that those
// nodes have to send.
static sim_time_t fetch_ps(const app__mc_replay_t *replay, size_t hits, uint32_t node,
                           sim_time_t now_ps)
{
    uint64_t far = 0;
    sim_time_t from_ps = now_ps;
    for (size_t i = 0; i < hits; i++) {
        if (!is_on(replay, i, node)) {
            far++;
            from_ps = SIM_MAX(from_ps, replay->send_until_ps[replay->sources[i]]);
        }
    }
    return far == 0 ? 0 : from_ps - now_ps + bytes_ps(replay, far * replay->block_bytes);
}

// Returns the estimated time until the node has computed the prompt and sent its KV data. With
// local stores the network does not count, because hits must not depend on it.
static sim_time_t estimate(const app__mc_replay_t *replay, const app__mooncake_prompt_t *prompt,
                           sim_time_t now_ps, uint32_t node, size_t used)
{
    const sim_time_t wait_ps = SIM_MAX(replay->prefill_until_ps[node], now_ps) - now_ps;
    const sim_time_t far_ps = fetches(replay) ? fetch_ps(replay, used, node, now_ps) : 0;
    const uint64_t cached = cached_tokens(replay, prompt, used);
    const sim_time_t done_ps =
        SIM_MAX(wait_ps, far_ps) + app__mc_compute_ps(replay, prompt->input_tokens, cached);
    if (replay->local_store) {
        return done_ps;
    }
    const sim_time_t send_ps = bytes_ps(replay, app__mc_kv_bytes(replay, prompt->input_tokens));
    return SIM_MAX(now_ps + done_ps, replay->sent_ps[node]) - now_ps + send_ps;
}

// Returns whether a node is better: a lower time; for equal times, the node idle for longest.
static bool is_better(const app__mc_replay_t *replay, uint32_t node, sim_time_t time_ps,
                      const choice_t *best, sim_time_t best_ps)
{
    return time_ps < best_ps || (time_ps == best_ps && replay->prefill_until_ps[node] <
                                                           replay->prefill_until_ps[best->prefill]);
}

// Returns the prefill node that the policy "random" takes: any that is not lost.
static uint32_t choose_random(app__mc_replay_t *replay)
{
    uint32_t alive = 0;
    for (uint32_t n = 0; n < replay->prefill_count; n++) {
        alive += !app__mc_prefill_lost(replay, n);
    }
    uint32_t skip =
        (uint32_t)sim_random_below(&replay->random, alive == 0 ? replay->prefill_count : alive);
    uint32_t node = 0;
    while (node + 1 < replay->prefill_count && (app__mc_prefill_lost(replay, node) || skip > 0)) {
        skip -= !app__mc_prefill_lost(replay, node);
        node++;
    }
    return node;
}

// Chooses the prefill node. If all are lost, the chosen one is, too.
static choice_t choose_prefill(app__mc_replay_t *replay, const app__mooncake_prompt_t *prompt,
                               sim_time_t now_ps)
{
    choice_t choice = {0, 0, 0, 0};
    sim_time_t best_ps = SIM_TIME_NEVER;
    size_t hits = find_blocks(replay, prompt, 0);
    if (fetches(replay)) {
        find_sources(replay, hits);
    }
    const uint32_t random = choose_random(replay);
    for (uint32_t n = 0; n < replay->prefill_count; n++) {
        if (app__mc_prefill_lost(replay, n)) {
            continue;
        }
        if (replay->local_store) {
            hits = find_blocks(replay, prompt, n);
        }
        const size_t used = fetches(replay) ? hits : leading_on(replay, hits, n);
        sim_time_t time_ps = SIM_MAX(replay->prefill_until_ps[n], now_ps) - now_ps;
        if (replay->config.scheduler == APP__MC_CACHE_AWARE ||
            replay->config.scheduler == APP__MC_LOCAL) {
            time_ps = estimate(replay, prompt, now_ps, n, used);
        }
        if (replay->config.scheduler == APP__MC_RANDOM
                ? n == random
                : is_better(replay, n, time_ps, &choice, best_ps)) {
            choice = (choice_t){n, 0, hits, used};
            best_ps = time_ps;
        }
    }
    if (replay->local_store) {
        // the slots of another node were found last
        (void)find_blocks(replay, prompt, choice.prefill);
    }
    return choice;
}

// Chooses the decode node that can receive first when the prompt is computed; of equal ones, the
// one with the least left to decode.
static uint32_t choose_decode(app__mc_replay_t *replay, sim_time_t done_ps)
{
    uint32_t best = 0;
    if (replay->config.scheduler == APP__MC_RANDOM) {
        best = (uint32_t)sim_random_below(&replay->random, replay->decode_count);
        for (uint32_t i = 0; i < replay->decode_count && app__mc_decode_lost(replay, best); i++) {
            best = (best + 1) % replay->decode_count;
        }
        return best;
    }
    for (uint32_t d = 1; d < replay->decode_count; d++) {
        if (app__mc_decode_lost(replay, d)) {
            continue;
        }
        if (app__mc_decode_lost(replay, best)) {
            best = d;
            continue;
        }
        const sim_time_t least_ps = SIM_MAX(replay->received_ps[best], done_ps);
        const sim_time_t time_ps = SIM_MAX(replay->received_ps[d], done_ps);
        if (time_ps < least_ps ||
            (time_ps == least_ps && replay->decode_until_ps[d] < replay->decode_until_ps[best])) {
            best = d;
        }
    }
    return best;
}

// Adds a prompt to the estimates for NICs: cached blocks are sent at once, its own KV data when it
// is computed.
static void book_network(app__mc_replay_t *replay, const app__mooncake_prompt_t *prompt,
                         const choice_t *choice, sim_time_t now_ps, sim_time_t done_ps)
{
    for (size_t i = 0; fetches(replay) && i < choice->used; i++) {
        if (!is_on(replay, i, choice->prefill)) {
            book_time(&replay->send_until_ps[replay->sources[i]], now_ps,
                      bytes_ps(replay, replay->block_bytes));
        }
    }
    const sim_time_t kv_ps = bytes_ps(replay, app__mc_kv_bytes(replay, prompt->input_tokens));
    book_time(&replay->send_until_ps[choice->prefill], now_ps, kv_ps);
    book_time(&replay->sent_ps[choice->prefill], done_ps, kv_ps);
    book_time(&replay->received_ps[choice->decode], done_ps, kv_ps);
}

static void count_hits(app__mc_replay_t *replay, const app__mooncake_prompt_t *prompt,
                       const choice_t *choice)
{
    replay->tokens += prompt->input_tokens;
    replay->token_hits += cached_tokens(replay, prompt, choice->hits);
    replay->reused_tokens += cached_tokens(replay, prompt, choice->used);
    replay->blocks += prompt->id_count;
    replay->block_hits += choice->hits;
}

// Adds a prompt to the estimates. Chooses its decode node, since the time of its computation is
// known now.
static void book(app__mc_replay_t *replay, const app__mooncake_prompt_t *prompt, choice_t *choice,
                 sim_time_t now_ps)
{
    const uint64_t cached = cached_tokens(replay, prompt, choice->used);
    const sim_time_t wait_ps =
        fetches(replay) ? fetch_ps(replay, choice->used, choice->prefill, now_ps) : 0;
    sim_time_t *const until_ps = &replay->prefill_until_ps[choice->prefill];
    *until_ps = SIM_MAX(*until_ps, now_ps + wait_ps) +
                app__mc_compute_ps(replay, prompt->input_tokens, cached);
    choice->decode = choose_decode(replay, *until_ps);
    sim_time_t *const decode_ps = &replay->decode_until_ps[choice->decode];
    *decode_ps = SIM_MAX(*decode_ps, now_ps) + prompt->output_tokens * app__mc_decode_ps(replay);
    book_network(replay, prompt, choice, now_ps, *until_ps);
}

// -- sending jobs

typedef struct sent {
    app__mc_replay_t *replay;
    uint64_t placement;
} sent_t;

static void accepted(int32_t status, const char *body, size_t size, void *ctx)
{
    (void)body;
    (void)size;
    const sent_t *const sent = ctx;
    app__mc_replay_t *const replay = sent->replay;
    if (status == SIM_OK) {
        return;
    }
    if (replay->watched == NULL) {
        replay->refused++;
        return;
    }
    const uint64_t prompt = app__mc_prompt_of(replay, sent->placement);
    if (replay->outcomes[prompt] != APP__MC_SETTLED &&
        sent->placement / replay->trace.count + 1 == replay->placings[prompt]) {
        app__mc_place_again(replay, prompt);
    }
}

static char *write_job(const app__mc_replay_t *replay, uint64_t placement, const choice_t *choice,
                       size_t *size)
{
    const uint64_t number = app__mc_prompt_of(replay, placement);
    const app__mooncake_prompt_t *const prompt = &replay->trace.prompts[number];
    *size = JOB_HEADER_BYTES + choice->used * PLACE_BYTES;
    char *const body = sim_alloc(*size);
    app__mc_put64(body, placement);
    app__mc_put64(body + 8, choice->decode);
    app__mc_put64(body + 16, cached_tokens(replay, prompt, choice->used));
    app__mc_put64(body + 24, choice->used);
    app__mc_put64(body + 32, replay->placements[number].admitted_ps);
    for (size_t i = 0; i < choice->used; i++) {
        const bool on = is_on(replay, i, choice->prefill);
        char *const place = body + JOB_HEADER_BYTES + i * PLACE_BYTES;
        app__mc_put64(place, replay->slots[i]);
        app__mc_put64(place + 8, on ? choice->prefill : replay->sources[i]);
    }
    return body;
}

static void send_job(app__mc_replay_t *replay, uint64_t placement, const choice_t *choice)
{
    size_t size = 0;
    char *const body = write_job(replay, placement, choice, &size);
    const app_mooncake_t *const engine = replay->prefills[choice->prefill].engine;
    const app__mc_message_t message = {APP__MC_PROGRAM, app_mooncake_name(engine), body, size};
    sent_t *const sent = sim_alloc(sizeof(*sent));
    *sent = (sent_t){replay, placement};
    app__mc_ask(replay->conductor, engine->station->index, &message,
                engine->config.handshake_timeout_ps, engine->config.call_retries, accepted, sent,
                true);
    sim_free(body);
}

// Places a prompt on nodes, for time `placing`, from 0. False: all prefill or decode nodes are
// lost.
static bool place(app__mc_replay_t *replay, uint64_t number, uint64_t placing)
{
    const app__mooncake_prompt_t *const prompt = &replay->trace.prompts[number];
    const sim_time_t now_ps = replay->conductor->node->now_ps;
    const uint64_t placement = placing * replay->trace.count + number;
    choice_t choice = choose_prefill(replay, prompt, now_ps);
    book(replay, prompt, &choice, now_ps);
    if (placing == 0) {
        count_hits(replay, prompt, &choice);
    }
    replay->placements[placement].admitted_ps = now_ps;
    replay->placements[placement].prefill = choice.prefill;
    replay->placements[placement].decode = choice.decode;
    app__mc_watch_placed(replay, number);
    if (app__mc_prefill_lost(replay, choice.prefill) ||
        app__mc_decode_lost(replay, choice.decode)) {
        return false;
    }
    send_job(replay, placement, &choice);
    app__mooncake_prefix_insert(store_of(replay, choice.prefill),
                                &replay->trace.ids[prompt->first_id], prompt->id_count,
                                replay->local_store ? 0 : choice.prefill);
    return true;
}

void app__mc_place_again(app__mc_replay_t *replay, uint64_t prompt)
{
    const uint64_t placing = replay->placings[prompt];
    sim_progress(replay->conductor->node);
    if (placing == APP__MC_PLACINGS || !place(replay, prompt, placing)) {
        app__mc_watch_give_up(replay, prompt);
        return;
    }
    replay->placed_again++;
}

static void admit(app__mc_replay_t *replay)
{
    const uint64_t number = replay->next++;
    replay->admitted++;
    if (!place(replay, number, 0)) {
        app__mc_watch_give_up(replay, number);
    }
}

static sim_time_t arrival_ps(const app__mc_replay_t *replay, size_t number)
{
    const app__mooncake_prompt_t *const prompt = &replay->trace.prompts[number];
    return replay->config.start_ps + prompt->timestamp_ms * SIM_PS_PER_MS +
           prompt->timestamp_rest_ps;
}

static void fired(sim_node_t *node, sim_timer_t *timer)
{
    app__mc_replay_t *const replay = SIM_CONTAINER_OF(timer, app__mc_replay_t, timer);
    sim_progress(node);
    while (replay->next < replay->trace.count && arrival_ps(replay, replay->next) <= node->now_ps) {
        admit(replay);
    }
    if (replay->next < replay->trace.count) {
        sim_timer_arm(node, timer, arrival_ps(replay, replay->next));
    }
}

void app__mc_conductor_begin(app__mc_replay_t *replay)
{
    sim_timer_init(&replay->timer, fired);
    sim_timer_arm(replay->conductor->node, &replay->timer, arrival_ps(replay, 0));
    app__mc_watch_init(replay);
}
