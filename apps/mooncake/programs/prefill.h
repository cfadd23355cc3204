// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/prefill.h - the prefill nodes, which compute prompts, and the decode nodes
// of mooncake-trace.
#ifndef APPS_MOONCAKE_PROGRAMS_PREFILL_H
#define APPS_MOONCAKE_PROGRAMS_PREFILL_H

#include "apps/mooncake/programs/heartbeat.h"
#include "apps/request_trace.h"

typedef struct app__mc_job app__mc_job_t; // a prompt at its prefill node

// The place of a cached block that a prompt needs.
typedef struct app__mc_place {
    uint64_t slot;
    uint32_t node;
} app__mc_place_t;

typedef struct app__mc_prefill {
    app__mc_replay_t *replay;
    app_mooncake_t *engine;
    sim_node_t *node;
    uint32_t index;
    sim_list_t jobs;      // jobs that have not ended
    app__mc_job_t *first; // jobs to be computed, in order of arrival
    app__mc_job_t *last;
    bool computes;
    sim_timer_t timer;
    uint64_t fetched_blocks;
    uint64_t fetches_failed; // prompts computed in full because fetching their blocks failed
    uint64_t not_reused;     // cached tokens of those prompts, which were computed
    uint64_t failed;
    uint8_t *seen; // a bit per placement, since messages may arrive twice
    app__mc_notifier_t notifier;
    sim_sample_set_t transfers_ps;
} app__mc_prefill_t;

typedef struct app__mc_decode {
    app__mc_replay_t *replay;
    app_mooncake_t *engine;
    sim_node_t *node;
    uint64_t served;
    uint8_t *seen; // a bit per prompt
    app__mc_notifier_t notifier;
} app__mc_decode_t;

// Prepares a prefill node: registers its message handlers.
void app__mc_prefill_init(app__mc_prefill_t *prefill);
void app__mc_prefill_fini(app__mc_prefill_t *prefill);
void app__mc_decode_init(app__mc_decode_t *decode);
void app__mc_decode_fini(app__mc_decode_t *decode);
// Returns the bytes of the KV data of `tokens` tokens, in whole grains.
uint64_t app__mc_kv_bytes(const app__mc_replay_t *replay, uint64_t tokens);
// Returns the number of parts in which the KV data of a prompt is sent.
uint64_t app__mc_groups(const app__mc_replay_t *replay, uint64_t tokens);
// Returns the time to compute a prompt whose first `cached` tokens are cached.
sim_time_t app__mc_compute_ps(const app__mc_replay_t *replay, uint64_t tokens, uint64_t cached);

// Returns the time to decode a token.
sim_time_t app__mc_decode_ps(const app__mc_replay_t *replay);
// Returns the least time that a prompt takes at its two nodes, whatever is cached. It is used to
// check that times fit.
double app__mc_busy_ps(const app__mc_replay_t *replay, const app__mooncake_prompt_t *prompt);

// Returns the address of item `number`, `at` bytes into an area. Items take the locations in turn;
// each location has room for all of them.
uint64_t app__mc_place_of(const app__mc_replay_t *replay, uint64_t area, uint32_t locations,
                          uint64_t number, uint64_t at);

#endif // APPS_MOONCAKE_PROGRAMS_PREFILL_H
