// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/peers/peer_nic.c - the queue from a NIC here to a NIC there: slices wait in
// a lane for an endpoint, its connection and a turn of the worker (docs/models/mooncake.md).
//
// Slices wait in the lane and not in an endpoint, because the real engine's workers have a queue
// per peer NIC. So a lane has one endpoint at a time, plus those with outstanding slices, however
// many slices are retried. If a NIC has more lanes than endpoints, a lane without one queues for it
// and gets it when an endpoint that has carried something may be evicted: each handshake carries at
// least a turn of slices.
#include "apps/mooncake/mooncake_internal.h"

void app__mc_lanes_init(app__mc_context_t *context)
{
    app__mooncake_keep_init(&context->lanes, APP_MOONCAKE_STORE_FIFO, UINT64_MAX);
}

void app__mc_lanes_fini(app__mc_context_t *context)
{
    app__mooncake_kept_t *kept = NULL;
    while ((kept = app__mooncake_oldest(&context->lanes)) != NULL) {
        app__mc_lane_t *const lane = (app__mc_lane_t *)(void *)kept;
        app__mooncake_keep_remove(&context->lanes, &lane->kept);
        app__mc_forget_waiters(lane->waiters);
        sim_free(lane->peer_path);
        sim_free(lane);
    }
    app__mooncake_keep_fini(&context->lanes);
}

static app__mc_lane_t *lane_create(app__mc_context_t *context, const char *peer_path)
{
    app__mc_lane_t *const lane = sim_alloc(sizeof(*lane));
    lane->context = context;
    lane->peer_path = sim_strdup(peer_path);
    lane->kept.key = lane->peer_path;
    const uint32_t posters = context->worker_count > 1 ? context->worker_count - 1 : 1;
    uint64_t target = 0;
    for (const char *c = peer_path; *c != '\0'; c++) {
        target = target * 31 + (uint8_t)*c;
    }
    const uint64_t shard = (target * 10007 + context->index) % posters;
    lane->worker = &context->workers[context->worker_count > 1 ? 1 + shard : 0];
    return lane;
}

app__mc_lane_t *app__mc_lane_of(app__mc_context_t *context, const char *peer_path)
{
    app__mc_lane_t *lane =
        (app__mc_lane_t *)(void *)app__mooncake_keep_find(&context->lanes, peer_path);
    if (lane == NULL) {
        lane = lane_create(context, peer_path);
        (void)app__mooncake_keep_insert(&context->lanes, &lane->kept);
    }
    return lane;
}

app__mc_rail_t *app__mc_lane_rail(const app__mc_lane_t *lane)
{
    const app__mc_segment_t *const segment = lane->segment;
    if (segment == NULL || segment->desc == NULL ||
        lane->peer_device >= segment->desc->device_count) {
        return NULL;
    }
    return &segment->rails[lane->context->index * segment->desc->device_count + lane->peer_device];
}

app__mc_queue_t app__mc_lane_empty(app__mc_lane_t *lane)
{
    const app__mc_queue_t waiting = lane->queue;
    lane->queue = (app__mc_queue_t){NULL, NULL, 0};
    app__mc_lane_sleep(lane);
    return waiting;
}

// -- rings of lanes; worker->active is the lane served last

void app__mc_lane_wake(app__mc_lane_t *lane)
{
    app__mc_worker_t *const worker = lane->worker;
    if (lane->is_active || lane->queue.count == 0 || lane->endpoint == NULL ||
        lane->endpoint->state != APP_MOONCAKE_CONNECTED) {
        return;
    }
    if (worker->active == NULL) {
        lane->next_active = lane;
    } else {
        lane->next_active = worker->active->next_active;
        worker->active->next_active = lane;
    }
    worker->active = lane;
    worker->active_count++;
    lane->is_active = true;
    nic_core_wake(worker->core);
}

void app__mc_lane_sleep(app__mc_lane_t *lane)
{
    app__mc_worker_t *const worker = lane->worker;
    if (!lane->is_active) {
        return;
    }
    SIM_CHECK(worker->active != NULL && worker->active_count > 0);
    lane->is_active = false;
    worker->active_count--;
    if (lane->next_active == lane) {
        worker->active = NULL;
        return;
    }
    app__mc_lane_t *before = lane;
    while (before->next_active != lane) {
        before = before->next_active;
    }
    before->next_active = lane->next_active;
    if (worker->active == lane) {
        worker->active = before;
    }
}

// -- lanes that need an endpoint

void app__mc_lane_want(app__mc_lane_t *lane)
{
    app__mc_context_t *const context = lane->context;
    if (lane->wants) {
        return;
    }
    lane->wants = true;
    lane->next_wanting = NULL;
    if (context->wanting_last != NULL) {
        context->wanting_last->next_wanting = lane;
    } else {
        context->wanting = lane;
    }
    context->wanting_last = lane;
    nic_core_wake(lane->worker->core);
}

void app__mc_lane_detach(app__mc_lane_t *lane)
{
    app__mc_lane_sleep(lane);
    lane->endpoint = NULL;
    if (lane->queue.count > 0) {
        app__mc_lane_want(lane);
    }
}
