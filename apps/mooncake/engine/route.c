// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/route.c - chooses the two NICs of a slice, at first and for each retry
// (docs/models/mooncake.md).
#include "apps/mooncake/engine/route.h"

#include <string.h>

#include "apps/mooncake/engine/transfer_engine.h"

// Devices of a peer's location, both lists one after the other; all devices if its matrix does not
// have the location.
typedef struct app__mc_peers {
    const app_mooncake_segment_desc_t *desc;
    uint32_t devices[UINT8_MAX];
    uint32_t count;
    app__mooncake_choice_t choice;
} app__mc_peers_t;

static void find_peers(const app_mooncake_segment_desc_t *desc, const char *location,
                       app__mc_peers_t *peers)
{
    const app_mooncake_priority_t *const item = app__mooncake_priority(&desc->matrix, location);
    peers->desc = desc;
    peers->count = 0;
    peers->choice.preferred = 0;
    for (unsigned list = 0; item != NULL && list < 2; list++) {
        char *const *const names = list == 0 ? item->preferred : item->available;
        const size_t size = list == 0 ? item->preferred_count : item->available_count;
        for (size_t n = 0; n < size; n++) {
            for (uint32_t d = 0; d < desc->device_count && peers->count < UINT8_MAX; d++) {
                if (strcmp(desc->devices[d].name, names[n]) == 0) {
                    peers->devices[peers->count++] = d;
                    peers->choice.preferred += list == 0;
                    break;
                }
            }
        }
    }
    if (peers->count == 0) {
        for (uint32_t d = 0; d < desc->device_count && d < UINT8_MAX; d++) {
            peers->devices[peers->count++] = d;
        }
    }
    peers->choice.available = peers->count - peers->choice.preferred;
}

static uint64_t least_loaded(const app_mooncake_t *engine, const app__mc_local_buffer_t *buffer)
{
    const uint32_t all = buffer->choice.preferred + buffer->choice.available;
    const uint32_t front = buffer->choice.preferred > 0 ? buffer->choice.preferred : all;
    uint32_t best = 0;
    for (uint32_t i = 1; i < front; i++) {
        if (engine->contexts[buffer->contexts[i]].load_bytes <
            engine->contexts[buffer->contexts[best]].load_bytes) {
            best = i;
        }
    }
    return best;
}

typedef struct draws {
    uint64_t local;
    uint64_t peer;
    uint64_t other; // used if those two are paused
} draws_t;

// Draws for affinity: a piece of memory always uses the same one of the nearest NICs, and the
// peer's NIC of the same name.
static draws_t draw_affinity(const app_mooncake_t *engine, const app__mc_local_buffer_t *buffer,
                             const app__mc_slice_t *slice, const app__mc_peers_t *peers)
{
    const uint64_t piece = slice->source / engine->config.slice_bytes;
    const uint32_t local = buffer->near[piece % buffer->near_count];
    const char *const name = engine->contexts[buffer->contexts[local]].name;
    for (uint32_t p = 0; p < peers->choice.preferred; p++) {
        if (strcmp(peers->desc->devices[peers->devices[p]].name, name) == 0) {
            return (draws_t){local, p, piece};
        }
    }
    return (draws_t){local, piece, piece};
}

static draws_t draw(app_mooncake_t *engine, const app__mc_local_buffer_t *buffer,
                    const app__mc_slice_t *slice, const app__mc_peers_t *peers)
{
    switch (engine->config.selection) {
    case APP_MOONCAKE_ROUND_ROBIN:
        engine->turn++;
        return (draws_t){engine->turn, engine->turn, engine->turn};
    case APP_MOONCAKE_LEAST_LOADED: {
        const uint64_t random = sim_random_u64(&engine->random);
        return (draws_t){least_loaded(engine, buffer), random, random};
    }
    case APP_MOONCAKE_AFFINITY:
        return draw_affinity(engine, buffer, slice, peers);
    default: {
        const uint64_t local = sim_random_u64(&engine->random);
        const uint64_t peer = sim_random_u64(&engine->random);
        return (draws_t){local, peer, local >> 32};
    }
    }
}

typedef struct way { // positions in both lists
    uint32_t local;
    uint32_t peer;
} way_t;

static bool is_paused(const app__mc_segment_t *segment, const app__mc_local_buffer_t *buffer,
                      const app__mc_peers_t *peers, way_t way)
{
    const app__mc_rail_t *const rail =
        &segment->rails[buffer->contexts[way.local] * segment->desc->device_count +
                        peers->devices[way.peer]];
    return rail->paused_until_ps > segment->engine->station->node->now_ps;
}

// Chooses one of the rails that are not paused, if there is one: among the first lists, else among
// all.
static void find_open(const app__mc_segment_t *segment, const app__mc_local_buffer_t *buffer,
                      const app__mc_peers_t *peers, uint64_t draw, way_t *way)
{
    const app__mooncake_choice_t *const own = &buffer->choice;
    for (unsigned tier = 0; tier < 2; tier++) {
        const uint32_t locals = own->preferred + (tier == 0 ? 0 : own->available);
        const uint32_t others = tier == 0 ? peers->choice.preferred : peers->count;
        uint32_t open = 0;
        for (uint32_t i = 0; i < locals * others; i++) {
            open += !is_paused(segment, buffer, peers, (way_t){i / others, i % others});
        }
        uint64_t skip = open == 0 ? 0 : draw % open;
        for (uint32_t i = 0; open > 0 && i < locals * others; i++) {
            const way_t next = {i / others, i % others};
            if (!is_paused(segment, buffer, peers, next) && skip-- == 0) {
                *way = next;
                return;
            }
        }
    }
}

void app__mc_route(app_mooncake_t *engine, app__mc_slice_t *slice)
{
    app__mc_task_t *const task = slice->task;
    app__mc_segment_t *const segment = task->segment;
    const app__mc_local_buffer_t *const buffer =
        app__mc_local_buffer(engine, slice->source, slice->length);
    const app_mooncake_buffer_t *const target =
        app__mooncake_buffer_of(segment->desc, slice->target, slice->length);
    const bool again = slice->retry < engine->config.retry_count;
    if (task->ended || buffer == NULL || (target == NULL && !again) || engine->closed) {
        app__mc_slice_lost(engine, slice);
        return;
    }
    if (target == NULL) { // it may be registered again
        slice->retry++;
        engine->counters.retried++;
        segment->refused = true;
    }
    if (segment->refused) {
        // All slices wait for the new description; otherwise each would break the others'
        // connection again.
        slice->next = segment->stale;
        segment->stale = slice;
        app__mc_fetch(segment, NULL, NULL);
        return;
    }
    app__mc_peers_t peers;
    find_peers(segment->desc, target->name, &peers);
    const draws_t draws = draw(engine, buffer, slice, &peers);
    if (slice->retry == 0) {
        slice->first_local = (uint8_t)app__mooncake_choose(&buffer->choice, 0, draws.local, 0);
        slice->first_peer = (uint8_t)app__mooncake_choose(&peers.choice, 0, draws.peer, 0);
    }
    const uint32_t first_peer = slice->first_peer < peers.count ? slice->first_peer : 0;
    way_t way = {
        app__mooncake_choose(&buffer->choice, slice->retry, slice->first_local, slice->first_local),
        app__mooncake_choose(&peers.choice, slice->retry, first_peer, first_peer),
    };
    if (is_paused(segment, buffer, &peers, way)) {
        find_open(segment, buffer, &peers, draws.other, &way);
    }
    SIM_CHECK(way.local < buffer->choice.preferred + buffer->choice.available);
    SIM_CHECK(way.peer < peers.count);
    const uint32_t context = buffer->contexts[way.local];
    const uint32_t device = peers.devices[way.peer];
    slice->context = (uint16_t)context;
    slice->lkey = nic_mr_lkey(buffer->regions[context]);
    slice->rkey = target->rkeys[device];
    app__mc_dispatch(&engine->contexts[context], slice, segment, device);
}

void app__mc_retry(app_mooncake_t *engine, app__mc_slice_t *slice, bool stale)
{
    if (slice->task->ended || slice->retry >= engine->config.retry_count || engine->closed) {
        app__mc_slice_lost(engine, slice);
        return;
    }
    slice->retry++;
    engine->counters.retried++;
    sim_progress(engine->station->node);
    // The key may belong to a registration that has ended.
    slice->task->segment->refused = slice->task->segment->refused || stale;
    app__mc_route(engine, slice);
}

void app__mc_stale_again(app__mc_segment_t *segment, bool fetched)
{
    app__mc_slice_t *slice = segment->stale;
    segment->stale = NULL;
    segment->refused = false;
    while (slice != NULL) {
        app__mc_slice_t *const next = slice->next;
        if (fetched) {
            app__mc_route(segment->engine, slice);
        } else {
            app__mc_slice_lost(segment->engine, slice);
        }
        slice = next;
    }
}
