// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/control/calls.c - requests between the hosts of a cluster, and their answers
// (docs/models/mooncake.md).
//
// A message is a SEND of a 40-byte header, the key and the body. They are bytes in the sender's
// memory, so captures show them. Delivery is at least once: a message may be sent again over the
// next line, so every request must be idempotent.
#include "apps/mooncake/engine/control/calls.h"

#include <string.h>

#include "apps/mooncake/engine/control/station.h"

#define HEADER_BYTES 40u
#define MAGIC UINT64_C(0x6b61636e6f6f6d31)
#define ANSWER (UINT64_C(1) << 32)

struct app__mc_call {
    app__mc_call_t *next;
    app__mc_station_t *station;
    uint64_t id;
    uint32_t peer;
    uint64_t retries;
    sim_time_t timeout_ps;
    sim_timer_t timer;
    app__mc_reply_fn fn;
    void *ctx;
    bool owns;
    size_t size;
    char *bytes;
};

static void free_call(app__mc_call_t *call)
{
    if (call->owns) {
        sim_free(call->ctx);
    }
    sim_free(call->bytes);
    sim_free(call);
}

static char *write_message(const app__mc_message_t *message, uint64_t flags, uint64_t id,
                           size_t *size)
{
    const size_t key_size = message->key == NULL ? 0 : strlen(message->key);
    *size = HEADER_BYTES + key_size + message->size;
    SIM_CHECKF(*size <= APP__MC_MESSAGE_MAX, "a message of %zu bytes", *size);
    char *const bytes = sim_alloc(*size);
    app__mc_put64(bytes, MAGIC);
    app__mc_put64(bytes + 8, (uint64_t)message->kind | flags);
    app__mc_put64(bytes + 16, id);
    app__mc_put64(bytes + 24, key_size);
    app__mc_put64(bytes + 32, message->size);
    if (key_size > 0) {
        memcpy(bytes + HEADER_BYTES, message->key, key_size);
    }
    if (message->size > 0) {
        memcpy(bytes + HEADER_BYTES + key_size, message->body, message->size);
    }
    return bytes;
}

// -- received messages

static void deliver(app__mc_station_t *station, uint32_t peer, const char *bytes, size_t size)
{
    if (size < HEADER_BYTES || app__mc_get64(bytes) != MAGIC || station->crashed) {
        return;
    }
    const uint64_t flags = app__mc_get64(bytes + 8);
    const uint64_t id = app__mc_get64(bytes + 16);
    const uint64_t key_size = app__mc_get64(bytes + 24);
    const uint64_t body_size = app__mc_get64(bytes + 32);
    if (key_size > size || body_size > size || HEADER_BYTES + key_size + body_size != size) {
        return;
    }
    const char *const body = bytes + HEADER_BYTES + key_size;
    if ((flags & ANSWER) != 0) {
        app__mc_call_t **at = &station->calls;
        while (*at != NULL && (*at)->id != id) {
            at = &(*at)->next;
        }
        app__mc_call_t *const call = *at;
        if (call == NULL || call->peer != peer) {
            return; // it was answered before, or this answer is too late
        }
        *at = call->next;
        sim_timer_cancel(station->node, &call->timer);
        call->fn((int32_t)(uint32_t)flags, body, body_size, call->ctx);
        free_call(call);
        return;
    }
    const uint64_t kind = flags & 0xff;
    if (kind >= APP__MC_KINDS || station->handlers[kind] == NULL) {
        app__mc_answer(station, peer, id, SIM_ERR_UNKNOWN, "", 0);
        return;
    }
    char *const key = sim_format("%.*s", (int)key_size, bytes + HEADER_BYTES);
    const app__mc_incoming_t incoming = {peer, id, key, body, body_size};
    station->handlers[kind](station, &incoming, station->handler_ctx[kind]);
    sim_free(key);
}

// -- requests and answers

void app__mc_handle(app__mc_station_t *station, app__mc_kind_t kind, app__mc_handler_fn fn,
                    void *ctx)
{
    station->handlers[kind] = fn;
    station->handler_ctx[kind] = ctx;
}

static void post_call(app__mc_call_t *call)
{
    app__mc_station_t *const station = call->station;
    char *const copy = sim_alloc(call->size);
    memcpy(copy, call->bytes, call->size);
    sim_timer_arm(station->node, &call->timer, station->node->now_ps + call->timeout_ps);
    app__mc_send(station, call->peer, copy, call->size);
}

static void call_fired(sim_node_t *node, sim_timer_t *timer)
{
    app__mc_call_t *const call = SIM_CONTAINER_OF(timer, app__mc_call_t, timer);
    sim_progress(node);
    if (call->retries > 0 && !call->station->crashed) {
        call->retries--;
        post_call(call);
        return;
    }
    app__mc_call_t **at = &call->station->calls;
    while (*at != call) {
        at = &(*at)->next;
    }
    *at = call->next;
    call->fn(SIM_ERR_IO, "", 0, call->ctx);
    free_call(call);
}

void app__mc_ask(app__mc_station_t *station, uint32_t peer, const app__mc_message_t *message,
                 sim_time_t timeout_ps, uint64_t retries, app__mc_reply_fn fn, void *ctx, bool owns)
{
    app__mc_call_t *const call = sim_alloc(sizeof(*call));
    *call = (app__mc_call_t){
        .next = station->calls,
        .station = station,
        .id = ++station->next_id,
        .peer = peer,
        .retries = retries,
        .timeout_ps = timeout_ps,
        .fn = fn,
        .ctx = ctx,
        .owns = owns,
    };
    station->calls = call;
    call->bytes = write_message(message, 0, call->id, &call->size);
    sim_timer_init(&call->timer, call_fired);
    post_call(call);
}

void app__mc_answer(app__mc_station_t *station, uint32_t peer, uint64_t id, int32_t status,
                    const char *body, size_t size)
{
    const app__mc_message_t message = {.kind = 0, .body = body, .size = size};
    size_t message_size = 0;
    char *const bytes = write_message(&message, ANSWER | (uint32_t)status, id, &message_size);
    app__mc_send(station, peer, bytes, message_size);
}

void app__mc_calls_init(app__mc_station_t *station)
{
    station->deliver = deliver;
}

void app__mc_calls_forget(app__mc_station_t *station)
{
    for (app__mc_call_t *call = station->calls; call != NULL; call = call->next) {
        sim_timer_cancel(station->node, &call->timer);
    }
    app__mc_calls_fini(station);
}

void app__mc_calls_fini(app__mc_station_t *station)
{
    while (station->calls != NULL) {
        app__mc_call_t *const call = station->calls;
        station->calls = call->next;
        free_call(call);
    }
}
