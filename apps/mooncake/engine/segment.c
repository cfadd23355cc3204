// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/segment.c - an engine's own record, and its cache of other segments
// (docs/models/mooncake.md).
#include "apps/mooncake/engine/segment.h"

#include <string.h>

#include "apps/mooncake/engine/control/metadata.h"
#include "apps/mooncake/engine/route.h"
#include "apps/mooncake/engine/transfer_engine.h"
#include "apps/mooncake_memory.h"

struct app__mc_waiter {
    app__mc_waiter_t *next;
    app_mooncake_done_fn fn;
    app_mooncake_segment_fn opened; // used instead of fn
    void *ctx;
};

void app__mc_wait_for(app__mc_waiter_t **list, app_mooncake_done_fn fn, void *ctx)
{
    if (fn == NULL) {
        return;
    }
    app__mc_waiter_t *const waiter = sim_alloc(sizeof(*waiter));
    *waiter = (app__mc_waiter_t){NULL, fn, NULL, ctx};
    while (*list != NULL) {
        list = &(*list)->next;
    }
    *list = waiter;
}

void app__mc_tell_waiters(app__mc_waiter_t *waiter, int result, app_mooncake_segment_id_t id)
{
    while (waiter != NULL) {
        app__mc_waiter_t *const next = waiter->next;
        if (waiter->opened != NULL) {
            waiter->opened(result == 0 ? id : result, waiter->ctx);
        } else {
            waiter->fn(result, waiter->ctx);
        }
        sim_free(waiter);
        waiter = next;
    }
}

void app__mc_forget_waiters(app__mc_waiter_t *waiter)
{
    while (waiter != NULL) {
        app__mc_waiter_t *const next = waiter->next;
        sim_free(waiter);
        waiter = next;
    }
}

// -- the engine's own record

app_mooncake_segment_desc_t *app__mc_describe(const app_mooncake_t *engine)
{
    app_mooncake_segment_desc_t *const desc = sim_alloc(sizeof(*desc));
    desc->name = sim_strdup(engine->name);
    desc->device_count = engine->context_count;
    desc->devices = sim_alloc_array(desc->device_count + 1, sizeof(*desc->devices));
    for (uint32_t i = 0; i < engine->context_count; i++) {
        uint8_t ip[16];
        net_interface_ip(engine->station->cluster->net, engine->contexts[i].endpoint->interface,
                         ip);
        // RoCE has no LID; the GID is the IPv4 address in IPv6 notation.
        desc->devices[i] = (app_mooncake_device_t){
            .name = sim_strdup(engine->contexts[i].name),
            .gid = sim_format("00:00:00:00:00:00:00:00:00:00:ff:ff:%02x:%02x:%02x:%02x", ip[0],
                              ip[1], ip[2], ip[3]),
        };
    }
    app__mooncake_matrix_copy(&desc->matrix, &engine->matrix);
    desc->buffers = sim_alloc_array(engine->buffer_count + 1, sizeof(*desc->buffers));
    for (size_t i = 0; i < engine->buffer_count; i++) {
        const app__mc_local_buffer_t *const buffer = &engine->buffers[i];
        if (buffer->rights == 0) {
            continue; // no other engine may use it
        }
        app_mooncake_buffer_t *const out = &desc->buffers[desc->buffer_count++];
        *out = (app_mooncake_buffer_t){
            .name = sim_strdup(buffer->location),
            .addr = buffer->address,
            .length = buffer->length,
            .rkeys = sim_alloc_array(engine->context_count + 1, sizeof(uint32_t)),
            .rkey_count = engine->context_count,
            .lkeys = sim_alloc_array(engine->context_count + 1, sizeof(uint32_t)),
            .lkey_count = engine->context_count,
        };
        for (uint32_t c = 0; c < engine->context_count; c++) {
            out->rkeys[c] = nic_mr_rkey(buffer->regions[c]);
            out->lkeys[c] = nic_mr_lkey(buffer->regions[c]);
        }
    }
    return desc;
}

static void begin_put(app_mooncake_t *engine);

static void put_answered(int32_t status, const char *body, size_t size, void *ctx)
{
    (void)body;
    (void)size;
    app_mooncake_t *const engine = ctx;
    app__mc_waiter_t *const waiters = engine->put_waiters;
    engine->put_waiters = NULL;
    engine->put_under_way = false;
    engine->counters.metadata_failures += status != SIM_OK;
    if (engine->put_again) {
        engine->put_again = false;
        engine->put_waiters = engine->again_waiters;
        engine->again_waiters = NULL;
        begin_put(engine);
    }
    app__mc_tell_waiters(waiters, status, 0);
}

static void begin_put(app_mooncake_t *engine)
{
    char *const key = sim_format("mooncake/%s", engine->name);
    engine->put_under_way = true;
    if (engine->closed) {
        const app__mc_message_t message = {APP__MC_META_REMOVE, key, "", 0};
        app__mc_ask_metadata(engine, &message, put_answered, engine, false);
    } else {
        app_mooncake_segment_desc_t *const desc = app__mc_describe(engine);
        char *const text = engine->station->cluster->codec->write_segment(desc);
        const app__mc_message_t message = {APP__MC_META_PUT, key, text, strlen(text)};
        app__mc_ask_metadata(engine, &message, put_answered, engine, false);
        sim_free(text);
        app_mooncake_segment_desc_destroy(desc);
    }
    sim_free(key);
}

void app__mc_put_record(app_mooncake_t *engine, app_mooncake_done_fn fn, void *ctx)
{
    // Before the run there is nobody to ask: begin_timer writes the record when the run begins.
    if (engine->put_under_way || sim_timer_armed(&engine->begin_timer)) {
        engine->put_again = engine->put_again || engine->put_under_way;
        app__mc_wait_for(engine->put_under_way ? &engine->again_waiters : &engine->put_waiters, fn,
                         ctx);
        return;
    }
    app__mc_wait_for(&engine->put_waiters, fn, ctx);
    begin_put(engine);
}

typedef struct file_put {
    app_mooncake_t *engine;
    app_mooncake_done_fn fn;
    void *ctx;
} file_put_t;

static void file_put_answered(int32_t status, const char *body, size_t size, void *ctx)
{
    (void)body;
    (void)size;
    file_put_t *const put = ctx;
    put->engine->counters.metadata_failures += status != SIM_OK;
    if (put->fn != NULL) {
        put->fn(status, put->ctx);
    }
}

void app__mc_put_file_record(app_mooncake_t *engine, const char *name, uint64_t length,
                             uint64_t nsid, app_mooncake_done_fn fn, void *ctx)
{
    app_mooncake_segment_desc_t *const desc = sim_alloc(sizeof(*desc));
    desc->name = sim_strdup(name);
    desc->server = sim_strdup(engine->name);
    desc->file_length = length;
    desc->nsid = nsid;
    char *const text = engine->station->cluster->codec->write_segment(desc);
    char *const key = sim_format("mooncake/%s", name);
    const app__mc_message_t message = {APP__MC_META_PUT, key, text, strlen(text)};
    file_put_t *const put = sim_alloc(sizeof(*put));
    *put = (file_put_t){engine, fn, ctx};
    app__mc_ask_metadata(engine, &message, file_put_answered, put, true);
    sim_free(key);
    sim_free(text);
    app_mooncake_segment_desc_destroy(desc);
}

// -- segments of other engines

app__mc_segment_t *app__mc_segment_by_id(const app_mooncake_t *engine, app_mooncake_segment_id_t id)
{
    return id >= 0 && (size_t)id < engine->segment_count ? engine->segments[id] : NULL;
}

app__mc_segment_t *app__mc_segment_add(app_mooncake_t *engine, const char *name)
{
    app__mc_segment_t *const segment = sim_alloc(sizeof(*segment));
    segment->engine = engine;
    segment->id = (app_mooncake_segment_id_t)engine->segment_count;
    segment->name = sim_strdup(name);
    SIM_APPEND(engine->segments, engine->segment_count, engine->segment_capacity, segment);
    return segment;
}

const app_mooncake_segment_desc_t *app_mooncake_segment(const app_mooncake_t *engine,
                                                        app_mooncake_segment_id_t id)
{
    const app__mc_segment_t *const segment = app__mc_segment_by_id(engine, id);
    return segment == NULL ? NULL : segment->desc;
}

static int adopt(app__mc_segment_t *segment, const char *body, size_t size)
{
    app_mooncake_t *const engine = segment->engine;
    const app_mooncake_cluster_t *const cluster = engine->station->cluster;
    app_mooncake_segment_desc_t *desc = NULL;
    sim_message_t message;
    sim_err_t error = cluster->codec->read_segment(body, size, &desc, &message);
    if (error != SIM_OK) {
        return error;
    }
    uint32_t station = 0;
    error =
        app__mc_station_named(cluster, desc->server != NULL ? desc->server : desc->name, &station);
    for (size_t i = 0; error == SIM_OK && i < desc->buffer_count; i++) {
        const bool usable =
            desc->device_count > 0 && desc->buffers[i].rkey_count == desc->device_count;
        error = usable ? SIM_OK : SIM_ERR_INVALID;
    }
    if (error != SIM_OK) {
        app_mooncake_segment_desc_destroy(desc);
        return error;
    }
    if (segment->desc == NULL || segment->desc->device_count != desc->device_count) {
        sim_free(segment->rails);
        segment->rails = sim_alloc_array(desc->device_count * engine->context_count + 1,
                                         sizeof(*segment->rails));
    }
    for (size_t i = 0; i < desc->device_count * engine->context_count; i++) {
        segment->rails[i].peer_nic = NULL; // devices may have other names now
    }
    app_mooncake_segment_desc_destroy(segment->desc);
    segment->desc = desc;
    segment->station = station;
    return SIM_OK;
}

static void get_answered(int32_t status, const char *body, size_t size, void *ctx)
{
    app__mc_segment_t *const segment = ctx;
    int result = status;
    if (result == SIM_OK) {
        result = adopt(segment, body, size);
    }
    segment->engine->counters.metadata_failures += result != SIM_OK;
    segment->fetching = false;
    app__mc_waiter_t *const waiters = segment->waiters;
    segment->waiters = NULL;
    app__mc_stale_again(segment, result == SIM_OK);
    app__mc_tell_waiters(waiters, result, segment->id);
}

static void begin_get(app__mc_segment_t *segment)
{
    if (segment->fetching) {
        return;
    }
    segment->fetching = true;
    char *const key = sim_format("mooncake/%s", segment->name);
    const app__mc_message_t message = {APP__MC_META_GET, key, "", 0};
    app__mc_ask_metadata(segment->engine, &message, get_answered, segment, false);
    sim_free(key);
}

void app__mc_fetch(app__mc_segment_t *segment, app_mooncake_done_fn fn, void *ctx)
{
    app__mc_wait_for(&segment->waiters, fn, ctx);
    begin_get(segment);
}

void app_mooncake_refresh_segment(app_mooncake_t *engine, app_mooncake_segment_id_t id,
                                  app_mooncake_done_fn fn, void *ctx)
{
    app__mc_segment_t *const segment = app__mc_segment_by_id(engine, id);
    if (segment == NULL || engine->closed) {
        if (fn != NULL) {
            fn(SIM_ERR_UNKNOWN, ctx);
        }
        return;
    }
    if (id == APP_MOONCAKE_LOCAL_SEGMENT) {
        if (fn != NULL) {
            fn(SIM_OK, ctx);
        }
        return;
    }
    app__mc_fetch(segment, fn, ctx);
}

void app_mooncake_get_segment_id(app_mooncake_t *engine, const char *segment_name,
                                 app_mooncake_segment_fn fn, void *ctx)
{
    if (engine->closed) {
        fn(SIM_ERR_STATE, ctx);
        return;
    }
    app__mc_segment_t *segment = NULL;
    for (size_t i = 0; i < engine->segment_count && segment == NULL; i++) {
        segment = strcmp(engine->segments[i]->name, segment_name) == 0 ? engine->segments[i] : NULL;
    }
    if (segment != NULL && (segment->desc != NULL || segment->id == APP_MOONCAKE_LOCAL_SEGMENT)) {
        fn(segment->id, ctx);
        return;
    }
    if (segment == NULL) {
        segment = app__mc_segment_add(engine, segment_name);
    }
    app__mc_waiter_t *const waiter = sim_alloc(sizeof(*waiter));
    *waiter = (app__mc_waiter_t){NULL, NULL, fn, ctx};
    app__mc_waiter_t **at = &segment->waiters;
    while (*at != NULL) {
        at = &(*at)->next;
    }
    *at = waiter;
    begin_get(segment);
}

void app__mc_segments_fini(app_mooncake_t *engine)
{
    for (size_t i = 0; i < engine->segment_count; i++) {
        app__mc_segment_t *const segment = engine->segments[i];
        app_mooncake_segment_desc_destroy(segment->desc);
        app__mc_forget_waiters(segment->waiters);
        SIM_FREE_ALL(segment->name, segment->rails, segment);
    }
    app__mc_forget_waiters(engine->put_waiters);
    app__mc_forget_waiters(engine->again_waiters);
    sim_free(engine->segments);
}
