// SPDX-License-Identifier: Apache-2.0
// apps/serving/transfers/cache.h - KV data of earlier prompts: the directory of the router, and how
// nodes get the data.
#ifndef APPS_SERVING_TRANSFERS_CACHE_H
#define APPS_SERVING_TRANSFERS_CACHE_H

#include "apps/mooncake/programs/prefix_cache.h"
#include "apps/serving/job.h"

// Where the KV data of a prompt's first tokens is.
typedef struct app__serving_cached {
    uint64_t own;     // tokens at its prefill node
    uint64_t fetched; // further tokens at the source
    uint32_t source;  // prefill node; node_count: the storage nodes
} app__serving_cached_t;

// The router's directory of cached KV data.
struct app__serving_directory {
    app__mooncake_prefix_t **nodes; // by prefill node
    app__mooncake_prefix_t *store;  // NULL: none
};

// Creates the directory, unless no KV data is used again; frees it.
void app__serving_cache_init(app__serving_t *serving);
void app__serving_cache_fini(app__serving_t *serving);
// Returns the tokens of a request's prompt that a prefill node has.
uint64_t app__serving_cached(const app__serving_t *serving, uint32_t node, uint32_t number);
// Finds the cached tokens of a request whose prefill node is chosen.
void app__serving_find_cached(const app__serving_t *serving, uint32_t number,
                              app__serving_cached_t *cached);
// Notes that the prefill node of a request, and the store, have the blocks of its prompt now.
void app__serving_cache_keep(app__serving_t *serving, uint32_t number);
// Forgets the blocks of a lost prefill node.
void app__serving_cache_forget(app__serving_t *serving, uint32_t node);

// -- fetch.c

// Fetches the cached tokens of a job that are elsewhere, then calls app__serving_fetched.
void app__serving_fetch(app__serving_job_t *job);
// Goes on when the job's decode node has fetched them.
void app__serving_fetch_from_decode(app__serving_job_t *job, bool good);
// Fetches tokens from the store to a decode node, for a prefill node.
void app__serving_on_fetch(app__serving_node_t *node, uint32_t number, uint64_t tokens,
                           uint32_t prefill);
// Writes the blocks of a computed prompt to the storage nodes, except those that came from a cache.
void app__serving_store(app__serving_job_t *job);
// Do the same for the layers and heads of a host that does not lead its node. The second one goes
// on at the leader when another host has fetched its part.
void app__serving_fetch_part(app__serving_node_t *node, uint32_t number, uint64_t tokens,
                             uint32_t source);
void app__serving_member_fetched(app__serving_node_t *node, uint32_t number, bool failed);
void app__serving_store_part(app__serving_node_t *node, uint32_t number, uint64_t tokens);
void app__serving_proxy_fetches_fini(app__serving_node_t *node);

#endif // APPS_SERVING_TRANSFERS_CACHE_H
