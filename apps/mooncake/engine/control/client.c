// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/control/client.c - requests to the metadata service, through the client of
// the metadata node or a program's own, and the calls that read and write descriptions
// (docs/models/mooncake.md).
#include <string.h>

#include "apps/mooncake/engine/control/metadata.h"
#include "apps/mooncake/engine/transfer_engine.h"

// -- the client of the metadata node

typedef struct wanted {
    app_mooncake_value_fn fn;
    void *ctx;
} wanted_t;

static void node_answered(int32_t status, const char *body, size_t size, void *ctx)
{
    const wanted_t *const wanted = ctx;
    wanted->fn(status, body, size, wanted->ctx);
}

static int ask_node(app_mooncake_t *engine, const app__mc_message_t *message,
                    app_mooncake_value_fn fn, void *ctx)
{
    wanted_t *const wanted = sim_alloc(sizeof(*wanted));
    *wanted = (wanted_t){fn, ctx};
    app__mc_ask(engine->station, engine->station->cluster->metadata_station, message,
                engine->config.metadata_timeout_ps, engine->config.call_retries, node_answered,
                wanted, true);
    return SIM_OK;
}

static int put_to_node(void *client, const char *key, const char *value, size_t size,
                       app_mooncake_value_fn fn, void *ctx)
{
    const app__mc_message_t message = {APP__MC_META_PUT, key, value, size};
    return ask_node(client, &message, fn, ctx);
}

static int get_from_node(void *client, const char *key, app_mooncake_value_fn fn, void *ctx)
{
    const app__mc_message_t message = {APP__MC_META_GET, key, "", 0};
    return ask_node(client, &message, fn, ctx);
}

static int remove_from_node(void *client, const char *key, app_mooncake_value_fn fn, void *ctx)
{
    const app__mc_message_t message = {APP__MC_META_REMOVE, key, "", 0};
    return ask_node(client, &message, fn, ctx);
}

app_mooncake_metadata_client_t app_mooncake_metadata_client(app_mooncake_t *engine)
{
    return (app_mooncake_metadata_client_t){
        .put = put_to_node,
        .get = get_from_node,
        .remove = remove_from_node,
        .client = engine,
    };
}

void app_mooncake_set_metadata_client(app_mooncake_t *engine,
                                      const app_mooncake_metadata_client_t *client)
{
    SIM_CHECK(client->put != NULL && client->get != NULL && client->remove != NULL);
    engine->client = *client;
}

// -- requests of the engine

typedef struct request {
    app__mc_reply_fn fn;
    void *ctx;
    bool owns;
} request_t;

static void answered(int result, const char *value, size_t size, void *ctx)
{
    request_t *const request = ctx;
    request->fn(result, value, size, request->ctx);
    if (request->owns) {
        sim_free(request->ctx);
    }
    sim_free(request);
}

void app__mc_ask_metadata(app_mooncake_t *engine, const app__mc_message_t *message,
                          app__mc_reply_fn fn, void *ctx, bool owns)
{
    engine->counters.metadata_requests++;
    if (engine->client.put == NULL) {
        app__mc_ask(engine->station, engine->station->cluster->metadata_station, message,
                    engine->config.metadata_timeout_ps, engine->config.call_retries, fn, ctx, owns);
        return;
    }
    const app_mooncake_metadata_client_t *const client = &engine->client;
    request_t *const request = sim_alloc(sizeof(*request));
    *request = (request_t){fn, ctx, owns};
    int result = SIM_OK;
    if (message->kind == APP__MC_META_PUT) {
        result = client->put(client->client, message->key, message->body, message->size, answered,
                             request);
    } else if (message->kind == APP__MC_META_GET) {
        result = client->get(client->client, message->key, answered, request);
    } else {
        result = client->remove(client->client, message->key, answered, request);
    }
    if (result < 0) {
        answered(result, "", 0, request);
    }
}

// -- descriptions

typedef struct desc_call {
    app_mooncake_t *engine;
    app_mooncake_done_fn fn; // may be NULL
    app_mooncake_desc_fn desc_fn;
    void *ctx;
} desc_call_t;

static void desc_done(int32_t status, const char *body, size_t size, void *ctx)
{
    (void)body;
    (void)size;
    const desc_call_t *const call = ctx;
    call->engine->counters.metadata_failures += status != SIM_OK;
    if (call->fn != NULL) {
        call->fn(status, call->ctx);
    }
}

static void desc_got(int32_t status, const char *body, size_t size, void *ctx)
{
    const desc_call_t *const call = ctx;
    app_mooncake_segment_desc_t *desc = NULL;
    sim_message_t message;
    int result = status;
    if (result == SIM_OK) {
        result = call->engine->station->cluster->codec->read_segment(body, size, &desc, &message);
    }
    call->engine->counters.metadata_failures += result != SIM_OK;
    call->desc_fn(result, desc, call->ctx);
    app_mooncake_segment_desc_destroy(desc);
}

static void ask_about(app_mooncake_t *engine, app__mc_kind_t kind, const char *server_name,
                      const char *body, const desc_call_t *call)
{
    char *const key = sim_format("mooncake/%s", server_name);
    const app__mc_message_t message = {kind, key, body, strlen(body)};
    desc_call_t *const copy = sim_alloc(sizeof(*copy));
    *copy = *call;
    app__mc_ask_metadata(engine, &message, kind == APP__MC_META_GET ? desc_got : desc_done, copy,
                         true);
    sim_free(key);
}

static int check_name(const app_mooncake_t *engine, const char *server_name)
{
    if (engine->closed) {
        return SIM_ERR_STATE;
    }
    return server_name[0] == '\0' ? SIM_ERR_INVALID : SIM_OK;
}

int app_mooncake_update_segment_desc(app_mooncake_t *engine, const char *server_name,
                                     const app_mooncake_segment_desc_t *desc,
                                     app_mooncake_done_fn fn, void *ctx)
{
    const int result = check_name(engine, server_name);
    for (size_t i = 0; i < desc->buffer_count; i++) {
        if (desc->buffers[i].rkey_count != desc->device_count) {
            return SIM_ERR_INVALID;
        }
    }
    if (result != SIM_OK) {
        return result;
    }
    char *const text = engine->station->cluster->codec->write_segment(desc);
    const desc_call_t call = {.engine = engine, .fn = fn, .ctx = ctx};
    ask_about(engine, APP__MC_META_PUT, server_name, text, &call);
    sim_free(text);
    return SIM_OK;
}

int app_mooncake_get_segment_desc(app_mooncake_t *engine, const char *server_name,
                                  app_mooncake_desc_fn fn, void *ctx)
{
    const int result = check_name(engine, server_name);
    if (result != SIM_OK) {
        return result;
    }
    const desc_call_t call = {.engine = engine, .desc_fn = fn, .ctx = ctx};
    ask_about(engine, APP__MC_META_GET, server_name, "", &call);
    return SIM_OK;
}

int app_mooncake_remove_segment_desc(app_mooncake_t *engine, const char *server_name,
                                     app_mooncake_done_fn fn, void *ctx)
{
    const int result = check_name(engine, server_name);
    if (result != SIM_OK) {
        return result;
    }
    const desc_call_t call = {.engine = engine, .fn = fn, .ctx = ctx};
    ask_about(engine, APP__MC_META_REMOVE, server_name, "", &call);
    return SIM_OK;
}

app_mooncake_segment_desc_t *app_mooncake_local_segment_desc(const app_mooncake_t *engine)
{
    return app__mc_describe(engine);
}
