// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/mooncake_conductor.c - who counts hits and decides where a prompt is computed
// (docs/models/mooncake.md).
//
// Prompts are admitted in the order of the trace. Their leading blocks that are in the store count
// as hits, at most their input; then all their blocks go in. With one store for all nodes neither
// the schedule nor any time can show in these counts.
#include <string.h>

#include "apps/mooncake/mooncake_replay.h"

#define JOB_HEADER_BYTES 40u
#define PLACE_BYTES 16u

uint64_t app__mc_kv_bytes(const app__mc_replay_t *replay, uint64_t tokens)
{
    const uint64_t bytes = tokens * replay->kv_bytes;
    const uint64_t grains = (bytes + APP__MC_GRAIN_BYTES - 1) / APP__MC_GRAIN_BYTES;
    return grains == 0 ? APP__MC_GRAIN_BYTES : grains * APP__MC_GRAIN_BYTES;
}

uint64_t app__mc_groups(const app__mc_replay_t *replay, uint64_t tokens)
{
    const uint64_t most = app__mc_kv_bytes(replay, tokens) / APP__MC_PART_BYTES;
    const uint64_t groups = replay->layer_groups < most ? replay->layer_groups : most;
    return groups == 0 ? 1 : groups;
}

sim_time_t app__mc_compute_ps(const app__mc_replay_t *replay, uint64_t tokens, uint64_t cached)
{
    SIM_CHECK(cached <= tokens);
    const uint64_t squares = tokens * tokens - cached * cached;
    const sim_time_t time_ps =
        replay->fixed_ps + (tokens - cached) * replay->token_ps + squares * replay->square_ps;
    return time_ps / 100 * replay->time_percent + time_ps % 100 * replay->time_percent / 100;
}

typedef struct choice {
    uint32_t prefill;
    uint32_t decode;
    size_t hits; // blocks
} choice_t;

static const app__mooncake_prefix_t *store_of(const app__mc_replay_t *replay, uint32_t node)
{
    return replay->stores[replay->store_count == 1 ? 0 : node];
}

static uint64_t cached_tokens(const app__mc_replay_t *replay,
                              const app__mooncake_prompt_t *prompt,
                              size_t blocks)
{
    const uint64_t tokens = blocks * replay->block_tokens;
    return tokens < prompt->input_tokens ? tokens : prompt->input_tokens;
}

// Of the leading `hits` blocks, those that lie on the node itself.
static size_t blocks_on(const app__mc_replay_t *replay,
                        const app__mooncake_prompt_t *prompt,
                        size_t hits,
                        uint32_t node)
{
    if (replay->local_store) {
        return hits;
    }
    size_t on = 0;
    for (size_t i = 0; i < hits; i++) {
        uint64_t slot = 0;
        uint32_t place = 0;
        const bool there = app__mooncake_prefix_where(replay->stores[0],
                                                      replay->trace.ids[prompt->first_id + i],
                                                      &slot,
                                                      &place);
        on += there && place == node;
    }
    return on;
}

// Time until the node would be done with it: with all blocks that are hits, of which `on` lie there
// and the others are fetched while it waits.
static sim_time_t estimate(const app__mc_replay_t *replay,
                           const app__mooncake_prompt_t *prompt,
                           sim_time_t now_ps,
                           uint32_t node,
                           size_t hits,
                           size_t on)
{
    const sim_time_t until_ps = replay->prefill_until_ps[node];
    const sim_time_t wait_ps = until_ps > now_ps ? until_ps - now_ps : 0;
    const uint64_t far_bits = (hits - on) * replay->block_bytes * 8;
    const sim_time_t fetch_ps = (sim_time_t)((double)far_bits / (double)replay->fetch_bps * 1e12);
    const uint64_t cached = cached_tokens(replay, prompt, hits);
    const sim_time_t compute_ps = app__mc_compute_ps(replay, prompt->input_tokens, cached);
    return (wait_ps > fetch_ps ? wait_ps : fetch_ps) + compute_ps;
}

static choice_t choose(app__mc_replay_t *replay,
                       const app__mooncake_prompt_t *prompt,
                       sim_time_t now_ps)
{
    const uint64_t *const ids = &replay->trace.ids[prompt->first_id];
    const uint32_t nodes = replay->prefill_count;
    choice_t choice = {0, 0, 0};
    sim_time_t best_ps = SIM_TIME_NEVER;
    size_t hits = app__mooncake_prefix_match(replay->stores[0], ids, prompt->id_count);
    const uint32_t random = (uint32_t)sim_random_below(&replay->random, nodes);
    for (uint32_t n = 0; n < nodes; n++) {
        if (replay->store_count > 1) {
            hits = app__mooncake_prefix_match(replay->stores[n], ids, prompt->id_count);
        }
        const sim_time_t until_ps = replay->prefill_until_ps[n];
        sim_time_t time_ps = until_ps > now_ps ? until_ps - now_ps : 0;
        size_t on = 0;
        bool better = n == random;
        if (replay->scheduler == APP__MC_CACHE_AWARE) {
            on = blocks_on(replay, prompt, hits, n);
            time_ps = estimate(replay, prompt, now_ps, n, hits, on);
            better = time_ps < best_ps;
        } else if (replay->scheduler == APP__MC_LOCAL) {
            on = blocks_on(replay, prompt, hits, n);
            time_ps = estimate(replay, prompt, now_ps, n, on, on);
            better = time_ps < best_ps;
        } else if (replay->scheduler == APP__MC_LOAD) {
            better = time_ps < best_ps;
        }
        if (better) {
            choice = (choice_t){n, 0, hits};
            best_ps = time_ps;
        }
    }
    for (uint32_t d = 1; d < replay->decode_count; d++) {
        if (replay->decode_until_ps[d] < replay->decode_until_ps[choice.decode]) {
            choice.decode = d;
        }
    }
    if (replay->scheduler == APP__MC_RANDOM) {
        choice.decode = (uint32_t)sim_random_below(&replay->random, replay->decode_count);
    }
    return choice;
}

static void book(app__mc_replay_t *replay,
                 const app__mooncake_prompt_t *prompt,
                 const choice_t *choice,
                 sim_time_t now_ps)
{
    const uint64_t cached = cached_tokens(replay, prompt, choice->hits);
    sim_time_t *const until_ps = &replay->prefill_until_ps[choice->prefill];
    *until_ps = (*until_ps > now_ps ? *until_ps : now_ps) +
                app__mc_compute_ps(replay, prompt->input_tokens, cached);
    sim_time_t *const decode_ps = &replay->decode_until_ps[choice->decode];
    *decode_ps =
        (*decode_ps > now_ps ? *decode_ps : now_ps) + prompt->output_tokens * replay->decode_ps;
    replay->tokens += prompt->input_tokens;
    replay->token_hits += cached;
    replay->blocks += prompt->id_count;
    replay->block_hits += choice->hits;
}

// -- jobs go out

static void accepted(int32_t status, const char *body, size_t size, void *ctx)
{
    (void)body;
    (void)size;
    app__mc_replay_t *const replay = ctx;
    replay->refused += status != SIM_OK;
}

static char *write_job(const app__mc_replay_t *replay,
                       size_t number,
                       const choice_t *choice,
                       size_t *size)
{
    const app__mooncake_prompt_t *const prompt = &replay->trace.prompts[number];
    const app__mooncake_prefix_t *const store = store_of(replay, choice->prefill);
    *size = JOB_HEADER_BYTES + choice->hits * PLACE_BYTES;
    char *const body = sim_alloc(*size);
    app__mc_put64(body, number);
    app__mc_put64(body + 8, choice->decode);
    app__mc_put64(body + 16, cached_tokens(replay, prompt, choice->hits));
    app__mc_put64(body + 24, choice->hits);
    app__mc_put64(body + 32, replay->conductor->node->now_ps);
    for (size_t i = 0; i < choice->hits; i++) {
        uint64_t slot = 0;
        uint32_t place = 0;
        const bool there = app__mooncake_prefix_where(store,
                                                      replay->trace.ids[prompt->first_id + i],
                                                      &slot,
                                                      &place);
        SIM_CHECK(there);
        app__mc_put64(body + JOB_HEADER_BYTES + i * PLACE_BYTES, slot);
        app__mc_put64(body + JOB_HEADER_BYTES + i * PLACE_BYTES + 8, place);
    }
    return body;
}

static void admit(app__mc_replay_t *replay)
{
    const size_t number = replay->next++;
    const app__mooncake_prompt_t *const prompt = &replay->trace.prompts[number];
    const sim_time_t now_ps = replay->conductor->node->now_ps;
    const choice_t choice = choose(replay, prompt, now_ps);
    book(replay, prompt, &choice, now_ps);
    size_t size = 0;
    char *const body = write_job(replay, number, &choice, &size);
    app__mooncake_prefix_t *const store =
        replay->stores[replay->store_count == 1 ? 0 : choice.prefill];
    app__mooncake_prefix_insert(store,
                                &replay->trace.ids[prompt->first_id],
                                prompt->id_count,
                                choice.prefill);
    const app_mooncake_t *const engine = replay->prefills[choice.prefill].engine;
    const app__mc_message_t message = {APP__MC_PROGRAM, app_mooncake_name(engine), body, size};
    app__mc_ask(replay->conductor,
                engine->station->index,
                &message,
                engine->config.handshake_timeout_ps,
                engine->config.call_retries,
                accepted,
                replay);
    replay->admitted++;
    sim_free(body);
}

static sim_time_t arrival_ps(const app__mc_replay_t *replay, size_t number)
{
    const app__mooncake_prompt_t *const prompt = &replay->trace.prompts[number];
    return replay->start_ps + prompt->timestamp_ms * SIM_PS_PER_MS + prompt->timestamp_rest_ps;
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
}
