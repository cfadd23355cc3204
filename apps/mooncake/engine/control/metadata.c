// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/control/metadata.c - the metadata node: records by key, served one request
// at a time, with times when it does not answer (docs/models/mooncake.md).
#include "apps/mooncake/engine/control/metadata.h"

#include <string.h>

typedef struct record {
    char *key;
    char *value;
    size_t size;
    char *imported; // value that the run began with; NULL: none
    size_t imported_size;
    bool there; // false: an imported record that was removed
} record_t;

typedef struct pending pending_t;
struct pending {
    pending_t *next;
    sim_time_t ready_ps;
    app__mc_kind_t kind;
    uint32_t peer;
    uint64_t id;
    char *key;
    char *body;
    size_t size;
};

struct app__mc_server {
    app__mc_station_t *station;
    app_mooncake_metadata_config_t config;
    record_t *records; // in order of key
    size_t count;
    size_t capacity;
    pending_t *first;
    pending_t *last;
    sim_timer_t timer;
};

// Returns the index of a key's record, or the index where it would be inserted.
static size_t find(const app__mc_server_t *server, const char *key, bool *found)
{
    size_t low = 0;
    size_t high = server->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(server->records[middle].key, key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *found = low < server->count && strcmp(server->records[low].key, key) == 0;
    return low;
}

// Returns the record of a key, which is made if there is none.
static record_t *record_of(app__mc_server_t *server, const char *key)
{
    bool found = false;
    const size_t at = find(server, key, &found);
    if (!found) {
        SIM_GROW(server->records, server->count, &server->capacity);
        record_t *const place = &server->records[at];
        memmove(place + 1, place, (server->count - at) * sizeof(*place));
        *place = (record_t){.key = sim_strdup(key)};
        server->count++;
    }
    return &server->records[at];
}

static void put(app__mc_server_t *server, pending_t *request)
{
    record_t *const record = record_of(server, request->key);
    sim_free(record->value);
    record->value = request->body;
    record->size = request->size;
    record->there = true;
    request->body = NULL;
}

static void free_record(record_t *record)
{
    SIM_FREE_ALL(record->key, record->value, record->imported);
}

static bool remove_record(app__mc_server_t *server, const char *key)
{
    bool found = false;
    const size_t at = find(server, key, &found);
    if (!found || !server->records[at].there) {
        return false;
    }
    if (server->records[at].imported != NULL) {
        server->records[at].there = false;
        return true;
    }
    SIM_CHECK(at < server->count);
    free_record(&server->records[at]);
    memmove(&server->records[at], &server->records[at + 1],
            (server->count - at - 1) * sizeof(record_t));
    server->count--;
    return true;
}

static void serve(app__mc_server_t *server, pending_t *request)
{
    int32_t status = SIM_OK;
    const char *body = "";
    size_t size = 0;
    bool found = true;
    if (request->kind == APP__MC_META_PUT) {
        put(server, request);
    } else if (request->kind == APP__MC_META_REMOVE) {
        found = remove_record(server, request->key);
    } else {
        const size_t at = find(server, request->key, &found);
        found = found && server->records[at].there;
        body = found ? server->records[at].value : "";
        size = found ? server->records[at].size : 0;
    }
    status = found ? SIM_OK : SIM_ERR_UNKNOWN;
    app__mc_answer(server->station, request->peer, request->id, status, body, size);
}

static void fired(sim_node_t *node, sim_timer_t *timer)
{
    app__mc_server_t *const server = SIM_CONTAINER_OF(timer, app__mc_server_t, timer);
    while (server->first != NULL && server->first->ready_ps <= node->now_ps) {
        pending_t *const request = server->first;
        server->first = request->next;
        server->last = server->first == NULL ? NULL : server->last;
        serve(server, request);
        SIM_FREE_ALL(request->key, request->body, request);
    }
    if (server->first != NULL) {
        sim_timer_arm(node, timer, server->first->ready_ps);
    }
}

static void take(app__mc_server_t *server, app__mc_kind_t kind, const app__mc_incoming_t *incoming)
{
    sim_node_t *const node = server->station->node;
    const app_mooncake_metadata_config_t *const config = &server->config;
    if (node->now_ps >= config->down_from_ps && node->now_ps < config->down_until_ps) {
        return;
    }
    pending_t *const request = sim_alloc(sizeof(*request));
    const sim_time_t free_ps = server->last == NULL ? node->now_ps : server->last->ready_ps;
    *request = (pending_t){
        .ready_ps = SIM_MAX(free_ps, node->now_ps) + config->latency_ps,
        .kind = kind,
        .peer = incoming->peer,
        .id = incoming->id,
        .key = sim_strdup(incoming->key),
        .body = sim_alloc(incoming->size + 1),
        .size = incoming->size,
    };
    memcpy(request->body, incoming->body, incoming->size);
    if (server->last != NULL) {
        server->last->next = request;
    } else {
        server->first = request;
        sim_timer_arm(node, &server->timer, request->ready_ps);
    }
    server->last = request;
}

static void on_put(app__mc_station_t *station, const app__mc_incoming_t *incoming, void *ctx)
{
    (void)station;
    take(ctx, APP__MC_META_PUT, incoming);
}
static void on_get(app__mc_station_t *station, const app__mc_incoming_t *incoming, void *ctx)
{
    (void)station;
    take(ctx, APP__MC_META_GET, incoming);
}
static void on_remove(app__mc_station_t *station, const app__mc_incoming_t *incoming, void *ctx)
{
    (void)station;
    take(ctx, APP__MC_META_REMOVE, incoming);
}

app__mc_server_t *app__mc_server_create(app__mc_station_t *station,
                                        const app_mooncake_metadata_config_t *config)
{
    app__mc_server_t *const server = sim_alloc(sizeof(*server));
    server->station = station;
    server->config = *config;
    sim_timer_init(&server->timer, fired);
    app__mc_handle(station, APP__MC_META_PUT, on_put, server);
    app__mc_handle(station, APP__MC_META_GET, on_get, server);
    app__mc_handle(station, APP__MC_META_REMOVE, on_remove, server);
    return server;
}

static char *copy_of(const char *value, size_t size)
{
    char *const copy = sim_alloc(size + 1);
    memcpy(copy, value, size);
    return copy;
}

void app__mc_server_import(app__mc_server_t *server, const char *key, const char *value,
                           size_t size)
{
    record_t *const record = record_of(server, key);
    sim_free(record->value);
    sim_free(record->imported);
    record->value = copy_of(value, size);
    record->size = size;
    record->imported = copy_of(value, size);
    record->imported_size = size;
    record->there = true;
}

// Returns a description in the codec's own form, or NULL if it is none.
static char *plain_form(const app__mc_server_t *server, const char *value, size_t size)
{
    const app_mooncake_codec_t *const codec = server->station->cluster->codec;
    app_mooncake_segment_desc_t *desc = NULL;
    sim_message_t message;
    if (codec->read_segment(value, size, &desc, &message) != SIM_OK) {
        return NULL;
    }
    char *const text = codec->write_segment(desc);
    app_mooncake_segment_desc_destroy(desc);
    return text;
}

// Returns whether a record says what it said when it was imported, in whatever order.
static bool is_unchanged(const app__mc_server_t *server, const record_t *record)
{
    if (record->imported == NULL) {
        return false;
    }
    if (record->size == record->imported_size &&
        memcmp(record->value, record->imported, record->size) == 0) {
        return true;
    }
    char *const before = plain_form(server, record->imported, record->imported_size);
    char *const now = plain_form(server, record->value, record->size);
    const bool same = before != NULL && now != NULL && strcmp(before, now) == 0;
    sim_free(before);
    sim_free(now);
    return same;
}

void app__mc_server_visit(const app__mc_server_t *server, app_mooncake_change_fn fn, void *ctx)
{
    for (size_t i = 0; i < server->count; i++) {
        const record_t *const record = &server->records[i];
        if (record->there) {
            fn(record->key, record->value, record->size,
               is_unchanged(server, record) ? APP_MOONCAKE_UNCHANGED : APP_MOONCAKE_WRITTEN, ctx);
        }
    }
    for (size_t i = 0; i < server->count; i++) {
        const record_t *const record = &server->records[i];
        if (!record->there) {
            fn(record->key, record->imported, record->imported_size, APP_MOONCAKE_REMOVED, ctx);
        }
    }
}

void app__mc_server_carry(app__mc_server_t *server, sim_carry_t *carry)
{
    if (!sim_carry_has(carry, server->station->node)) {
        return;
    }
    if (!sim_carry_leaves(carry)) {
        for (size_t i = 0; i < server->count; i++) {
            free_record(&server->records[i]);
        }
        server->count = 0;
    }
    size_t count = server->count;
    SIM_CARRY(carry, count);
    for (size_t i = 0; i < count; i++) {
        if (!sim_carry_leaves(carry)) {
            SIM_APPEND(server->records, server->count, server->capacity, (record_t){0});
        }
        record_t *const record = &server->records[i];
        size_t key_size = record->key == NULL ? 0 : strlen(record->key);
        sim_carry_block(carry, &record->key, &key_size);
        sim_carry_block(carry, &record->value, &record->size);
        sim_carry_block(carry, &record->imported, &record->imported_size);
        SIM_CARRY(carry, record->there);
    }
}

void app__mc_server_destroy(app__mc_server_t *server)
{
    if (server == NULL) {
        return;
    }
    for (size_t i = 0; i < server->count; i++) {
        free_record(&server->records[i]);
    }
    while (server->first != NULL) {
        pending_t *const request = server->first;
        server->first = request->next;
        SIM_FREE_ALL(request->key, request->body, request);
    }
    sim_free(server->records);
    sim_free(server);
}
