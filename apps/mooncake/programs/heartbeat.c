// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/heartbeat.c - how the conductor learns that a node is lost: while prompts
// are under way it pings all nodes, and takes one that is silent for client-ttl for lost
// (docs/models/mooncake.md).
//
// The blocks of a lost node leave the store, and prompts that it had are placed on others. For
// that nodes report the outcome of each prompt to the conductor. Other prefill nodes are informed
// of the loss, so that they do not wait for its blocks. A lost node that answers again is used
// again.
#include <string.h>

#include "apps/mooncake/programs/prefix_cache.h"
#include "apps/mooncake/programs/replay.h"

#define PINGS_PER_TTL 10u
#define OUTCOME_BYTES 16u
#define SERVED 1u

static uint32_t node_count(const app__mc_replay_t *replay)
{
    return replay->prefill_count + replay->decode_count;
}

bool app__mc_prefill_lost(const app__mc_replay_t *replay, uint32_t node)
{
    return replay->watched != NULL && replay->watched[node].lost;
}

bool app__mc_decode_lost(const app__mc_replay_t *replay, uint32_t node)
{
    return replay->watched != NULL && replay->watched[replay->prefill_count + node].lost;
}

// -- the outcomes of prompts

// Begins to ping after a time in which no prompt was under way: nobody can have fallen silent
// before. Nodes that were lost are asked at once.
static void resume(app__mc_replay_t *replay)
{
    sim_node_t *const node = replay->conductor->node;
    const sim_time_t later_ps = node->now_ps + replay->config.ttl_ps / PINGS_PER_TTL;
    bool any_lost = false;
    for (uint32_t i = 0; i < node_count(replay); i++) {
        app__mc_watched_t *const watched = &replay->watched[i];
        any_lost = any_lost || watched->lost;
        if (!watched->lost) {
            watched->heard_ps = node->now_ps;
            watched->next_ps = later_ps;
        }
    }
    sim_timer_arm(node, &replay->watch_timer, any_lost ? node->now_ps : later_ps);
}

static void settle(app__mc_replay_t *replay, uint64_t prompt)
{
    if (replay->outcomes[prompt] == APP__MC_SETTLED) {
        return;
    }
    replay->outcomes[prompt] = APP__MC_SETTLED;
    SIM_CHECK(replay->under_way > 0);
    replay->under_way--;
    if (replay->under_way == 0) {
        sim_timer_cancel(replay->conductor->node, &replay->watch_timer);
    }
}

void app__mc_watch_placed(app__mc_replay_t *replay, uint64_t prompt)
{
    if (replay->watched != NULL && replay->placings[prompt]++ == 0 && replay->under_way++ == 0) {
        resume(replay);
    }
}

void app__mc_watch_give_up(app__mc_replay_t *replay, uint64_t prompt)
{
    if (replay->watched != NULL) {
        settle(replay, prompt);
    }
}

static void on_outcome(app__mc_station_t *station, const app__mc_incoming_t *incoming, void *ctx)
{
    app__mc_replay_t *const replay = ctx;
    app__mc_answer(station, incoming->peer, incoming->id, SIM_OK, "", 0);
    SIM_CHECK(incoming->size == OUTCOME_BYTES);
    const uint64_t placement = app__mc_get64(incoming->body);
    const uint64_t prompt = app__mc_prompt_of(replay, placement);
    if (app__mc_get64(incoming->body + 8) == SERVED) {
        settle(replay, prompt);
    } else if (replay->outcomes[prompt] != APP__MC_SETTLED &&
               placement / replay->trace.count + 1 == replay->placings[prompt]) {
        app__mc_place_again(replay, prompt); // an earlier placing has failed before
    }
}

// -- nodes

static void lose_blocks(app__mc_replay_t *replay, uint32_t node)
{
    if (node < replay->prefill_count) {
        replay->blocks_lost += app__mooncake_prefix_drop(
            replay->stores[replay->local_store ? node : 0], replay->local_store ? 0 : node);
    }
}

static bool has_prompt(const app__mc_replay_t *replay, uint32_t node, uint64_t prompt)
{
    if (replay->outcomes[prompt] == APP__MC_SETTLED) {
        return false;
    }
    const app__mc_placement_t *const placement =
        &replay->placements[(replay->placings[prompt] - 1u) * replay->trace.count + prompt];
    return placement->prefill == node || placement->decode + replay->prefill_count == node;
}

static void heard_of(int32_t status, const char *body, size_t size, void *ctx)
{
    (void)status;
    (void)body;
    (void)size;
    (void)ctx;
}

// Informs the prefill nodes of a lost one, so that they do not wait for its blocks.
static void notify_others(app__mc_replay_t *replay, uint32_t node)
{
    char body[APP__MC_LOST_BYTES];
    app__mc_put64(body, node);
    for (uint32_t i = 0; i < replay->prefill_count && node < replay->prefill_count; i++) {
        const app_mooncake_t *const engine = replay->watched[i].engine;
        if (!replay->watched[i].lost) {
            const app__mc_message_t message = {APP__MC_PROGRAM, app_mooncake_name(engine), body,
                                               sizeof(body)};
            app__mc_ask(replay->conductor, engine->station->index, &message,
                        engine->config.handshake_timeout_ps, engine->config.call_retries, heard_of,
                        NULL, false);
        }
    }
}

static void lose(app__mc_replay_t *replay, uint32_t node)
{
    replay->watched[node].lost = true;
    replay->nodes_lost++;
    lose_blocks(replay, node);
    notify_others(replay, node);
    for (uint64_t prompt = 0; prompt < replay->next; prompt++) {
        if (has_prompt(replay, node, prompt)) {
            app__mc_place_again(replay, prompt);
        }
    }
}

static void pinged(int32_t status, const char *body, size_t size, void *ctx)
{
    (void)body;
    (void)size;
    app__mc_watched_t *const watched = ctx;
    watched->pinging = false;
    if (status == SIM_OK) {
        watched->heard_ps = watched->replay->conductor->node->now_ps;
        watched->lost = false;
    }
}

static void ping(app__mc_watched_t *watched, sim_time_t now_ps)
{
    const app__mc_replay_t *const replay = watched->replay;
    const sim_time_t ttl_ps = replay->config.ttl_ps;
    const app__mc_message_t message = {APP__MC_PROGRAM, app_mooncake_name(watched->engine), "", 0};
    watched->pinging = true;
    // A lost node is asked less often.
    watched->next_ps = now_ps + (watched->lost ? ttl_ps : ttl_ps / PINGS_PER_TTL);
    app__mc_ask(replay->conductor, watched->engine->station->index, &message,
                ttl_ps / PINGS_PER_TTL, 0, pinged, watched, false);
}

static void watch_fired(sim_node_t *node, sim_timer_t *timer)
{
    app__mc_replay_t *const replay = SIM_CONTAINER_OF(timer, app__mc_replay_t, watch_timer);
    sim_timer_arm(node, timer, node->now_ps + replay->config.ttl_ps / PINGS_PER_TTL);
    for (uint32_t i = 0; i < node_count(replay); i++) {
        app__mc_watched_t *const watched = &replay->watched[i];
        if (!watched->lost && node->now_ps - watched->heard_ps >= replay->config.ttl_ps) {
            lose(replay, i);
        }
        if (!watched->pinging && watched->next_ps <= node->now_ps) {
            ping(watched, node->now_ps);
        }
    }
    if (replay->under_way == 0) { // the last one was given up
        sim_timer_cancel(node, timer);
    }
}

void app__mc_watch_init(app__mc_replay_t *replay)
{
    sim_timer_init(&replay->watch_timer, watch_fired);
    if (replay->config.ttl_ps == SIM_TIME_NEVER) {
        return;
    }
    replay->placings = sim_alloc(replay->trace.count);
    replay->outcomes = sim_alloc(replay->trace.count);
    replay->watched = sim_alloc_array(node_count(replay), sizeof(*replay->watched));
    for (uint32_t i = 0; i < node_count(replay); i++) {
        replay->watched[i] = (app__mc_watched_t){
            .replay = replay,
            .engine = i < replay->prefill_count ? replay->prefills[i].engine
                                                : replay->decodes[i - replay->prefill_count].engine,
        };
    }
    app__mc_handle(replay->conductor, APP__MC_PROGRAM, on_outcome, replay);
}

void app__mc_watch_fini(app__mc_replay_t *replay)
{
    SIM_FREE_ALL(replay->placings, replay->outcomes, replay->watched);
}

// -- reports of nodes

typedef struct told {
    app__mc_notifier_t *notifier;
    uint64_t placement;
    bool served;
} told_t;

static void acknowledged(int32_t status, const char *body, size_t size, void *ctx)
{
    (void)body;
    (void)size;
    const told_t *const told = ctx;
    app__mc_notifier_t *const notifier = told->notifier;
    if (status != SIM_OK) {
        SIM_APPEND(notifier->untold, notifier->untold_count, notifier->untold_capacity,
                   told->placement << 1 | told->served);
    }
}

void app__mc_teller_init(app__mc_notifier_t *notifier, app__mc_replay_t *replay,
                         app_mooncake_t *engine)
{
    *notifier = (app__mc_notifier_t){.replay = replay, .engine = engine};
}

void app__mc_teller_fini(app__mc_notifier_t *notifier)
{
    sim_free(notifier->untold);
}

void app__mc_notify(app__mc_notifier_t *notifier, uint64_t placement, bool served)
{
    const app_mooncake_t *const engine = notifier->engine;
    if (notifier->replay->config.ttl_ps == SIM_TIME_NEVER) {
        return;
    }
    char body[OUTCOME_BYTES];
    app__mc_put64(body, placement);
    app__mc_put64(body + 8, served ? SERVED : 0);
    told_t *const told = sim_alloc(sizeof(*told));
    *told = (told_t){notifier, placement, served};
    const app__mc_message_t message = {APP__MC_PROGRAM, "conductor", body, sizeof(body)};
    app__mc_ask(engine->station, notifier->replay->conductor->index, &message,
                engine->config.handshake_timeout_ps, engine->config.call_retries, acknowledged,
                told, true);
}

void app__mc_on_ping(app__mc_notifier_t *notifier, app__mc_station_t *station,
                     const app__mc_incoming_t *incoming)
{
    app__mc_answer(station, incoming->peer, incoming->id, SIM_OK, "", 0);
    uint64_t *const untold = notifier->untold;
    const size_t count = notifier->untold_count;
    notifier->untold = NULL;
    notifier->untold_count = 0;
    notifier->untold_capacity = 0;
    for (size_t i = 0; i < count; i++) {
        app__mc_notify(notifier, untold[i] >> 1, (untold[i] & 1) != 0);
    }
    sim_free(untold);
}
