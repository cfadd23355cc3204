// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/mooncake_route.c - which two NICs a slice takes, at first and when it is tried
// again (docs/models/mooncake.md).
#include <string.h>

#include "apps/mooncake/mooncake_internal.h"

const app__mc_local_buffer_t *app__mc_local_buffer(const app_mooncake_t *engine,
                                                   uint64_t address,
                                                   uint64_t length)
{
    for (size_t i = 0; i < engine->buffer_count; i++) {
        const app__mc_local_buffer_t *const buffer = &engine->buffers[i];
        if (address >= buffer->address && address - buffer->address < buffer->length &&
            length <= buffer->length - (address - buffer->address)) {
            return buffer;
        }
    }
    return NULL;
}

// The devices of a peer's location, both lists one behind the other; all of them where its matrix
// does not know the location. Returns how many are in the first list.
static uint32_t peer_devices(const app_mooncake_segment_desc_t *desc,
                             const char *location,
                             uint32_t *devices,
                             uint32_t *count)
{
    const app_mooncake_priority_t *const item = app__mooncake_priority(&desc->matrix, location);
    *count = 0;
    uint32_t preferred = 0;
    for (unsigned list = 0; item != NULL && list < 2; list++) {
        char *const *const names = list == 0 ? item->preferred : item->available;
        const size_t size = list == 0 ? item->preferred_count : item->available_count;
        for (size_t n = 0; n < size; n++) {
            for (uint32_t d = 0; d < desc->device_count && *count < UINT8_MAX; d++) {
                if (strcmp(desc->devices[d].name, names[n]) == 0) {
                    devices[(*count)++] = d;
                    preferred += list == 0;
                    break;
                }
            }
        }
    }
    for (uint32_t d = 0; *count == 0 && d < desc->device_count && d < UINT8_MAX; d++) {
        devices[d] = d;
    }
    if (*count == 0) {
        *count = (uint32_t)desc->device_count;
    }
    return preferred;
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
} draws_t;

static draws_t draw(app_mooncake_t *engine, const app__mc_local_buffer_t *buffer)
{
    switch (engine->config.selection) {
    case APP_MOONCAKE_ROUND_ROBIN:
        engine->turn++;
        return (draws_t){engine->turn, engine->turn};
    case APP_MOONCAKE_LEAST_LOADED: {
        const uint64_t local = least_loaded(engine, buffer);
        return (draws_t){local, sim_random_u64(&engine->random)};
    }
    case APP_MOONCAKE_AFFINITY:
        return (draws_t){0, 0};
    default: {
        const uint64_t local = sim_random_u64(&engine->random);
        return (draws_t){local, sim_random_u64(&engine->random)};
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
        // All of them wait, or each would break the connection of the others again.
        slice->next = segment->stale;
        segment->stale = slice;
        app__mc_fetch(segment, NULL, NULL);
        return;
    }
    uint32_t devices[UINT8_MAX];
    uint32_t device_count = 0;
    app__mooncake_choice_t peer = {0, 0};
    peer.preferred = peer_devices(segment->desc, target->name, devices, &device_count);
    peer.available = device_count - peer.preferred;
    const uint32_t local_count = buffer->choice.preferred + buffer->choice.available;
    const draws_t draws = draw(engine, buffer);
    if (slice->retry == 0) {
        slice->first_local = (uint8_t)app__mooncake_choose(&buffer->choice, 0, draws.local, 0);
        slice->first_peer = (uint8_t)app__mooncake_choose(&peer, 0, draws.peer, 0);
    }
    const uint32_t first_peer = slice->first_peer < device_count ? slice->first_peer : 0;
    uint32_t context = 0;
    uint32_t device = 0;
    // Every pair of NICs in turn, beginning with that of this attempt, until one is not paused.
    for (uint32_t attempt = 0; attempt < local_count * device_count + 1; attempt++) {
        const bool last = attempt == local_count * device_count;
        const uint32_t more = last ? 0 : attempt;
        const uint32_t l = app__mooncake_choose(&buffer->choice,
                                                slice->retry + more,
                                                slice->first_local,
                                                slice->first_local);
        const uint32_t p = app__mooncake_choose(&peer,
                                                slice->retry + more + more / local_count,
                                                first_peer,
                                                first_peer);
        context = buffer->contexts[l];
        device = devices[p];
        const app__mc_rail_t *const rail =
            &segment->rails[context * segment->desc->device_count + device];
        if (rail->paused_until_ps <= engine->station->node->now_ps) {
            break;
        }
    }
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
    // The key may be of a registration that is over.
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
