// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/control/calls.h - requests between the stations of a cluster, and their
// answers.
#ifndef APPS_MOONCAKE_ENGINE_CONTROL_CALLS_H
#define APPS_MOONCAKE_ENGINE_CONTROL_CALLS_H

#include "kernel/base.h"
#include "kernel/bytes.h"

typedef struct app__mc_station app__mc_station_t;

typedef enum app__mc_kind {
    APP__MC_META_PUT,
    APP__MC_META_GET,
    APP__MC_META_REMOVE,
    APP__MC_HANDSHAKE,
    APP__MC_AUDIT,
    APP__MC_PROGRAM, // messages of the program that uses the engine
    APP__MC_KINDS,
} app__mc_kind_t;

typedef struct app__mc_message {
    app__mc_kind_t kind;
    const char *key;
    const char *body;
    size_t size;
} app__mc_message_t;

// A received request; it must be answered once, now or later.
typedef struct app__mc_incoming {
    uint32_t peer; // station
    uint64_t id;
    const char *key;
    const char *body; // valid only during the call
    size_t size;
} app__mc_incoming_t;

typedef void (*app__mc_handler_fn)(app__mc_station_t *station, const app__mc_incoming_t *incoming,
                                   void *ctx);
// Handles the answer to a request. status: the peer's, or SIM_ERR_IO if nobody answered.
typedef void (*app__mc_reply_fn)(int32_t status, const char *body, size_t size, void *ctx);

void app__mc_handle(app__mc_station_t *station, app__mc_kind_t kind, app__mc_handler_fn fn,
                    void *ctx);
// Sends a request. fn is called once, in a later event, unless the run ends before. With `owns` the
// context was allocated for this call and is freed with it.
void app__mc_ask(app__mc_station_t *station, uint32_t peer, const app__mc_message_t *message,
                 sim_time_t timeout_ps, uint64_t retries, app__mc_reply_fn fn, void *ctx,
                 bool owns);
void app__mc_answer(app__mc_station_t *station, uint32_t peer, uint64_t id, int32_t status,
                    const char *body, size_t size);
// Lets a station exchange requests and answers over its messages.
void app__mc_calls_init(app__mc_station_t *station);
void app__mc_calls_fini(app__mc_station_t *station);
// Frees the calls of a station without calling their functions.
void app__mc_calls_forget(app__mc_station_t *station);

// Little-endian words in message bodies.
static inline void app__mc_put64(char *at, uint64_t value)
{
    sim_put_le64((uint8_t *)at, value);
}
static inline uint64_t app__mc_get64(const char *at)
{
    return sim_get_le64((const uint8_t *)at);
}

#endif // APPS_MOONCAKE_ENGINE_CONTROL_CALLS_H
