// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/peers/peer_nic.c - the queue from a NIC here to a NIC there: slices wait in
// a peer NIC for an endpoint, its connection and a turn of the worker (docs/models/mooncake.md).
//
// Slices wait in the peer NIC and not in an endpoint, because the real engine's workers have a
// queue per peer NIC. So a peer NIC has one endpoint at a time, plus those with outstanding slices,
// however many slices are retried. If a NIC has more peer NICs than endpoints, a peer NIC without
// one queues for it and gets it when an endpoint that has carried something may be evicted: each
// handshake carries at least a turn of slices.
#include "apps/mooncake/engine/peers/peer_nic.h"

#include "apps/mooncake/engine/peers/endpoint.h"

void app__mc_peer_nics_init(app__mc_context_t *context)
{
    app__mc_store_init(&context->peer_nics, APP_MOONCAKE_STORE_FIFO, UINT64_MAX);
}

void app__mc_peer_nics_fini(app__mc_context_t *context)
{
    app__mc_stored_t *stored = NULL;
    while ((stored = app__mc_store_oldest(&context->peer_nics)) != NULL) {
        app__mc_peer_nic_t *const peer_nic = (app__mc_peer_nic_t *)(void *)stored;
        app__mc_store_remove(&context->peer_nics, &peer_nic->stored);
        app__mc_forget_waiters(peer_nic->waiters);
        sim_free(peer_nic->peer_path);
        sim_free(peer_nic);
    }
    app__mc_store_fini(&context->peer_nics);
}

static app__mc_peer_nic_t *peer_nic_create(app__mc_context_t *context, const char *peer_path)
{
    app__mc_peer_nic_t *const peer_nic = sim_alloc(sizeof(*peer_nic));
    peer_nic->context = context;
    peer_nic->peer_path = sim_strdup(peer_path);
    peer_nic->stored.key = peer_nic->peer_path;
    const uint32_t posters = context->worker_count > 1 ? context->worker_count - 1 : 1;
    uint64_t target = 0;
    for (const char *c = peer_path; *c != '\0'; c++) {
        target = target * 31 + (uint8_t)*c;
    }
    const uint64_t shard = (target * 10007 + context->index) % posters;
    peer_nic->worker = &context->workers[context->worker_count > 1 ? 1 + shard : 0];
    return peer_nic;
}

app__mc_peer_nic_t *app__mc_peer_nic_of(app__mc_context_t *context, const char *peer_path)
{
    app__mc_peer_nic_t *peer_nic =
        (app__mc_peer_nic_t *)(void *)app__mc_store_find(&context->peer_nics, peer_path);
    if (peer_nic == NULL) {
        peer_nic = peer_nic_create(context, peer_path);
        (void)app__mc_store_insert(&context->peer_nics, &peer_nic->stored);
    }
    return peer_nic;
}

app__mc_rail_t *app__mc_peer_nic_rail(const app__mc_peer_nic_t *peer_nic)
{
    const app__mc_segment_t *const segment = peer_nic->segment;
    if (segment == NULL || segment->desc == NULL ||
        peer_nic->peer_device >= segment->desc->device_count) {
        return NULL;
    }
    return &segment->rails[peer_nic->context->index * segment->desc->device_count +
                           peer_nic->peer_device];
}

app__mc_queue_t app__mc_peer_nic_empty(app__mc_peer_nic_t *peer_nic)
{
    const app__mc_queue_t waiting = peer_nic->queue;
    peer_nic->queue = (app__mc_queue_t){NULL, NULL, 0};
    app__mc_peer_nic_sleep(peer_nic);
    return waiting;
}

// -- rings of peer NICs; worker->active is the peer NIC served last

void app__mc_peer_nic_wake(app__mc_peer_nic_t *peer_nic)
{
    app__mc_worker_t *const worker = peer_nic->worker;
    if (peer_nic->is_active || peer_nic->queue.count == 0 || peer_nic->endpoint == NULL ||
        peer_nic->endpoint->state != APP_MOONCAKE_CONNECTED) {
        return;
    }
    if (worker->active == NULL) {
        peer_nic->next_active = peer_nic;
    } else {
        peer_nic->next_active = worker->active->next_active;
        worker->active->next_active = peer_nic;
    }
    worker->active = peer_nic;
    worker->active_count++;
    peer_nic->is_active = true;
    nic_core_wake(worker->core);
}

void app__mc_peer_nic_sleep(app__mc_peer_nic_t *peer_nic)
{
    app__mc_worker_t *const worker = peer_nic->worker;
    if (!peer_nic->is_active) {
        return;
    }
    SIM_CHECK(worker->active != NULL && worker->active_count > 0);
    peer_nic->is_active = false;
    worker->active_count--;
    if (peer_nic->next_active == peer_nic) {
        worker->active = NULL;
        return;
    }
    app__mc_peer_nic_t *before = peer_nic;
    while (before->next_active != peer_nic) {
        before = before->next_active;
    }
    before->next_active = peer_nic->next_active;
    if (worker->active == peer_nic) {
        worker->active = before;
    }
}

// -- peer NICs that need an endpoint

void app__mc_peer_nic_want(app__mc_peer_nic_t *peer_nic)
{
    app__mc_context_t *const context = peer_nic->context;
    if (peer_nic->wants) {
        return;
    }
    peer_nic->wants = true;
    peer_nic->next_wanting = NULL;
    if (context->wanting_last != NULL) {
        context->wanting_last->next_wanting = peer_nic;
    } else {
        context->wanting = peer_nic;
    }
    context->wanting_last = peer_nic;
    nic_core_wake(peer_nic->worker->core);
}

void app__mc_peer_nic_detach(app__mc_peer_nic_t *peer_nic)
{
    app__mc_peer_nic_sleep(peer_nic);
    peer_nic->endpoint = NULL;
    if (peer_nic->queue.count > 0) {
        app__mc_peer_nic_want(peer_nic);
    }
}
