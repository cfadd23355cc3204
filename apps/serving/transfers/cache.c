// SPDX-License-Identifier: Apache-2.0
// apps/serving/transfers/cache.c - KV data of earlier prompts: the router's directory, and how
// prefill nodes get it (docs/models/serving.md).
//
// The router knows the blocks that each prefill node and the store have. A node keeps the blocks of
// a prompt once it has computed it. Blocks come from the node itself, from the node that has most
// of them, or from the store, whose nodes hold equal parts of each block.
#include "apps/serving/transfers/cache.h"

#include "apps/serving/attempt.h"
#include "apps/serving/node.h"

// -- the router's directory

void app__serving_cache_init(app__serving_t *serving)
{
    const app__serving_config_t *const config = &serving->config;
    if (config->cache == APP__SERVING_NO_CACHE || serving->requests.block_total == 0) {
        return;
    }
    const uint64_t block_bytes =
        serving->requests.block_tokens * serving->nodes[0].gpus.kv_token_bytes;
    const uint64_t own = config->cache_bytes == SIM_AUTO ? APP__MOONCAKE_UNLIMITED
                                                         : config->cache_bytes / block_bytes;
    const uint64_t shared = config->store_bytes == SIM_AUTO ? APP__MOONCAKE_UNLIMITED
                                                            : config->store_bytes / block_bytes;
    serving->directory = sim_alloc(sizeof(*serving->directory));
    serving->directory->nodes =
        sim_alloc_array(serving->prefill_count, sizeof(app__mooncake_prefix_t *));
    for (uint32_t n = 0; n < serving->prefill_count; n++) {
        serving->directory->nodes[n] = app__mooncake_prefix_create(config->cache_policy, own, 1);
    }
    if (serving->storage_count > 0) {
        serving->directory->store = app__mooncake_prefix_create(config->cache_policy, shared, 1);
    }
}

void app__serving_cache_fini(app__serving_t *serving)
{
    if (serving->directory == NULL) {
        return;
    }
    for (uint32_t n = 0; n < serving->prefill_count; n++) {
        app__mooncake_prefix_destroy(serving->directory->nodes[n]);
    }
    app__mooncake_prefix_destroy(serving->directory->store);
    sim_free(serving->directory->nodes);
    sim_free(serving->directory);
}

// Returns the tokens of a prompt whose KV data a cache has. One token is always computed.
static uint64_t tokens_in(const app__serving_t *serving, const app__mooncake_prefix_t *cache,
                          uint32_t number)
{
    const app__request_t *const request = app__serving_request(serving, number);
    if (cache == NULL || request->block_count == 0) {
        return 0;
    }
    const uint64_t *const ids = &serving->requests.blocks[request->first_block];
    const uint64_t tokens = app__mooncake_prefix_match(cache, ids, request->block_count) *
                            serving->requests.block_tokens;
    return tokens < request->prompt_tokens ? tokens : request->prompt_tokens - 1u;
}

uint64_t app__serving_cached(const app__serving_t *serving, uint32_t node, uint32_t number)
{
    return serving->directory == NULL ? 0
                                      : tokens_in(serving, serving->directory->nodes[node], number);
}

void app__serving_find_cached(const app__serving_t *serving, uint32_t number,
                              app__serving_cached_t *cached)
{
    const uint32_t prefill = serving->attempts[number].prefill;
    uint64_t most = app__serving_cached(serving, prefill, number);
    *cached = (app__serving_cached_t){.own = most, .source = prefill};
    if (serving->directory == NULL) {
        return;
    }
    if (serving->config.cache == APP__SERVING_PEERS) {
        for (uint32_t n = 0; n < serving->prefill_count; n++) {
            const uint64_t tokens = app__serving_cached(serving, n, number);
            if (tokens > most) {
                most = tokens;
                cached->source = n;
            }
        }
    }
    const uint64_t stored = tokens_in(serving, serving->directory->store, number);
    if (stored > most) {
        most = stored;
        cached->source = serving->node_count;
    }
    cached->fetched = most - cached->own;
}

void app__serving_cache_keep(app__serving_t *serving, uint32_t number)
{
    const app__request_t *const request = app__serving_request(serving, number);
    if (serving->directory == NULL || request->block_count == 0) {
        return;
    }
    const uint64_t *const ids = &serving->requests.blocks[request->first_block];
    const uint32_t node = serving->attempts[number].prefill;
    app__mooncake_prefix_insert(serving->directory->nodes[node], ids, request->block_count, 0);
    if (serving->directory->store != NULL) {
        app__mooncake_prefix_insert(serving->directory->store, ids, request->block_count, 0);
    }
}

void app__serving_cache_forget(app__serving_t *serving, uint32_t node)
{
    if (serving->directory != NULL && node < serving->prefill_count) {
        (void)app__mooncake_prefix_drop(serving->directory->nodes[node], 0);
    }
}
