// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/cluster.c - creates, registers with and closes engines and clusters
// (docs/models/mooncake.md).
#include <string.h>

#include "apps/mooncake/engine/control/metadata.h"
#include "apps/mooncake/engine/files/nvme_cm.h"
#include "apps/mooncake/engine/files/nvmeof.h"
#include "apps/mooncake/engine/peers/endpoint.h"
#include "apps/mooncake/engine/verify.h"

#define STRIDE_MAX_BYTES UINT64_C(16384)

const char *app_mooncake_task_status_text(app_mooncake_task_status_t status)
{
    static const char *const texts[] = {"WAITING",   "PENDING", "INVALID", "CANCELED",
                                        "COMPLETED", "TIMEOUT", "FAILED"};
    return texts[status];
}

// -- the matrix

// Returns the context of a NIC's name, creating it if it is not known yet.
static sim_err_t context_of(app_mooncake_t *engine, const char *name, uint32_t *context,
                            sim_message_t *message)
{
    for (uint32_t i = 0; i < engine->context_count; i++) {
        if (strcmp(engine->contexts[i].name, name) == 0) {
            *context = i;
            return SIM_OK;
        }
    }
    uint32_t nic = 0;
    const uint32_t nics = engine->station->nic_count;
    if (!app__mooncake_nic_index(name, &nic) || nic >= nics) {
        return sim_fail(message, SIM_ERR_UNKNOWN,
                        "the priority matrix of %s names NIC '%s', expected a name that ends with "
                        "a number from 0 to %u",
                        engine->name, name, nics - 1);
    }
    for (uint32_t i = 0; i < engine->context_count; i++) {
        if (engine->contexts[i].nic_index == nic) {
            return sim_fail(message, SIM_ERR_INVALID,
                            "the priority matrix of %s gives one NIC the names '%s' and '%s', "
                            "expected one name per NIC",
                            engine->name, engine->contexts[i].name, name);
        }
    }
    SIM_CHECK(engine->context_count < nics);
    *context = engine->context_count++;
    engine->contexts[*context] =
        (app__mc_context_t){.engine = engine, .nic_index = nic, .name = sim_strdup(name)};
    return SIM_OK;
}

static sim_err_t take_matrix(app_mooncake_t *engine, const char *text, sim_message_t *message)
{
    sim_err_t error = engine->station->cluster->codec->read_matrix(text, &engine->matrix, message);
    if (error != SIM_OK) {
        return error;
    }
    engine->contexts = sim_alloc_array(engine->station->nic_count + 1, sizeof(*engine->contexts));
    if (engine->matrix.count == 0) {
        return sim_fail(message, SIM_ERR_INVALID,
                        "the priority matrix names no location, expected at least one");
    }
    for (size_t i = 0; i < engine->matrix.count; i++) {
        const app_mooncake_priority_t *const item = &engine->matrix.items[i];
        uint32_t context = 0;
        for (size_t n = 0; error == SIM_OK && n < item->preferred_count; n++) {
            error = context_of(engine, item->preferred[n], &context, message);
        }
        for (size_t n = 0; error == SIM_OK && n < item->available_count; n++) {
            error = context_of(engine, item->available[n], &context, message);
        }
        if (error == SIM_OK && item->preferred_count + item->available_count == 0) {
            error = sim_fail(message, SIM_ERR_INVALID,
                             "the priority matrix names no NIC for location '%s', expected at "
                             "least one",
                             item->location);
        }
        if (error != SIM_OK) {
            return error;
        }
    }
    return SIM_OK;
}

// -- creation

static void slice_timer_fired(sim_node_t *node, sim_timer_t *timer)
{
    app_mooncake_t *const engine = SIM_CONTAINER_OF(timer, app_mooncake_t, slice_timer);
    const sim_time_t timeout_ps = engine->config.slice_timeout_ps;
    engine->looked_at = engine->timed.first;
    while (engine->looked_at != NULL) {
        app__mc_slice_t *const slice = SIM_CONTAINER_OF(engine->looked_at, app__mc_slice_t, timed);
        if (slice->since_ps + timeout_ps > node->now_ps) {
            break;
        }
        if (!slice->task->ended) {
            app__mc_task_end(slice->task, APP_MOONCAKE_TIMEOUT);
        }
        // Callbacks of the ended task may have ended this slice, and disconnecting ends other
        // slices.
        if (engine->looked_at == &slice->timed) {
            engine->looked_at = slice->timed.next;
            if (slice->endpoint != NULL) {
                app__mc_endpoint_disconnect(slice->endpoint, true);
            }
        }
    }
    engine->looked_at = NULL;
    // Slices whose task ended but that are still outstanding are skipped.
    for (sim_link_t *link = engine->timed.first; link != NULL; link = link->next) {
        const app__mc_slice_t *const slice = SIM_CONTAINER_OF(link, app__mc_slice_t, timed);
        if (!slice->task->ended) {
            sim_timer_arm(node, timer, slice->since_ps + timeout_ps);
            return;
        }
    }
}

static void begin_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    app_mooncake_t *const engine = SIM_CONTAINER_OF(timer, app_mooncake_t, begin_timer);
    app__mc_put_record(engine, NULL, NULL);
}

static uint64_t stride_of(const app_mooncake_config_t *config)
{
    uint64_t stride = config->verify_stride_bytes;
    if (stride == SIM_AUTO) {
        stride = config->slice_bytes / 4;
        stride = SIM_MIN(STRIDE_MAX_BYTES, stride);
    }
    while ((stride & (stride - 1)) != 0) {
        stride &= stride - 1;
    }
    return SIM_MAX(8, stride);
}

static void engine_destroy(app_mooncake_t *engine)
{
    app__nvme_host_fini(engine);
    app__mc_files_fini(engine);
    if (engine->contexts != NULL && engine->contexts[0].workers != NULL) {
        app__mc_contexts_fini(engine);
    } else {
        for (uint32_t i = 0; engine->contexts != NULL && i < engine->context_count; i++) {
            sim_free(engine->contexts[i].name);
        }
        sim_free(engine->contexts);
    }
    app__mc_transfers_fini(engine);
    app__mc_segments_fini(engine);
    app__mc_buffers_fini(engine);
    app_mooncake_matrix_fini(&engine->matrix);
    sim_free(engine->name);
    sim_free(engine);
}

sim_err_t app_mooncake_create(app_mooncake_cluster_t *cluster, net_node_t *host,
                              const char *local_server_name, const char *nic_priority_matrix,
                              const app_mooncake_config_t *config, app_mooncake_t **engine,
                              sim_message_t *message)
{
    app__mc_station_t *station = NULL;
    uint32_t other = 0;
    for (uint32_t i = 0; i < cluster->station_count && station == NULL; i++) {
        station = cluster->stations[i].host == host ? &cluster->stations[i] : NULL;
    }
    if (station == NULL) {
        return sim_fail(
            message, SIM_ERR_UNKNOWN,
            "the host of the engine is not in the cluster, expected one of the cluster's hosts");
    }
    if (app__mc_station_named(cluster, local_server_name, &other) == SIM_OK) {
        return sim_fail(message, SIM_ERR_EXISTS,
                        "two engines of the cluster have the name '%s', expected different names",
                        local_server_name);
    }
    app_mooncake_t *const made = sim_alloc(sizeof(*made));
    made->station = station;
    made->name = sim_strdup(local_server_name);
    made->config = *config;
    if (made->config.fragment_bytes == SIM_AUTO) {
        made->config.fragment_bytes = config->slice_bytes / 4;
    }
    if (made->config.fragment_bytes > config->slice_bytes) {
        made->config.fragment_bytes = config->slice_bytes;
    }
    made->stride_bytes = stride_of(config);
    made->seed = app__mc_seed_of(local_server_name);
    const sim_err_t error = take_matrix(made, nic_priority_matrix, message);
    if (error != SIM_OK) {
        engine_destroy(made);
        return error;
    }
    sim_random_init(&made->random, sim_options(net_sim(cluster->net))->seed, cluster->index,
                    local_server_name);
    sim_timer_init(&made->slice_timer, slice_timer_fired);
    sim_timer_init(&made->begin_timer, begin_fired);
    app__mc_contexts_init(made);
    (void)app__mc_segment_add(made, made->name);
    made->next_on_station = station->engines;
    station->engines = made;
    sim_timer_arm(station->node, &made->begin_timer, 0);
    *engine = made;
    return SIM_OK;
}

static void disconnect_all(app_mooncake_t *engine)
{
    for (uint32_t i = 0; i < engine->context_count; i++) {
        app__mc_context_t *const context = &engine->contexts[i];
        for (app__mc_stored_t *stored = app__mc_store_oldest(&context->peer_nics); stored != NULL;
             stored = app__mc_store_newer(stored)) {
            app__mc_queue_t waiting = app__mc_peer_nic_empty((app__mc_peer_nic_t *)(void *)stored);
            app__mc_slice_t *slice = NULL;
            while ((slice = app__mc_queue_pop(&waiting)) != NULL) {
                app__mc_unload(context, slice);
                app__mc_slice_lost(engine, slice);
            }
        }
        app__mc_stored_t *stored = NULL;
        while ((stored = app__mc_store_oldest(&context->endpoints)) != NULL) {
            app__mc_endpoint_disconnect((app__mc_endpoint_t *)(void *)stored, false);
        }
    }
}

void app_mooncake_close(app_mooncake_t *engine)
{
    if (engine->closed) {
        return;
    }
    engine->closed = true;
    app__mc_abandon(engine);
    disconnect_all(engine);
    app__nvme_host_close(engine);
    app__nvme_node_close(engine);
    app__mc_buffers_drop(engine);
    app__mc_put_record(engine, NULL, NULL);
}

void app_mooncake_crash(app_mooncake_t *engine)
{
    if (engine->closed) {
        return;
    }
    engine->closed = true;
    app__mc_abandon(engine);
    for (uint32_t i = 0; i < engine->context_count; i++) {
        app__mc_context_t *const context = &engine->contexts[i];
        app__mc_endpoints_crash(context);
        for (uint32_t w = 0; w < context->worker_count; w++) {
            nic_core_stop(context->workers[w].core);
        }
    }
    app__mc_station_crash(engine->station);
    app__nvme_host_close(engine);
    app__nvme_node_close(engine);
}

// -- clusters

sim_err_t app_mooncake_cluster_create(const app_mooncake_plan_t *plan,
                                      app_mooncake_cluster_t **cluster, sim_message_t *message)
{
    app_mooncake_cluster_t *const made = sim_alloc(sizeof(*made));
    made->net = plan->net;
    made->runtime = plan->runtime;
    made->index = plan->index;
    made->codec = plan->codec;
    made->station_count = (uint32_t)plan->host_count;
    made->stations = sim_alloc_array(plan->host_count + 1, sizeof(*made->stations));
    made->metadata_station = UINT32_MAX;
    for (uint32_t i = 0; i < made->station_count; i++) {
        made->stations[i].host = plan->hosts[i];
        if (plan->hosts[i] == plan->metadata_host) {
            made->metadata_station = i;
        }
    }
    sim_err_t error = SIM_OK;
    if (made->metadata_station == UINT32_MAX) {
        error = sim_fail(
            message, SIM_ERR_INVALID,
            "the metadata node is not in the cluster, expected one of the cluster's hosts");
    }
    if (error == SIM_OK) {
        error = app__mc_stations_create(made, message);
    }
    if (error != SIM_OK) {
        app_mooncake_cluster_destroy(made);
        return error;
    }
    for (uint32_t i = 0; i < made->station_count; i++) {
        app__mc_calls_init(&made->stations[i]);
    }
    made->server = app__mc_server_create(&made->stations[made->metadata_station], &plan->metadata);
    for (uint32_t i = 0; i < made->station_count; i++) {
        app__mc_handle(&made->stations[i], APP__MC_HANDSHAKE, app__mc_on_handshake, NULL);
        app__mc_handle(&made->stations[i], APP__MC_AUDIT, app__mc_on_audit, NULL);
    }
    *cluster = made;
    return SIM_OK;
}

void app_mooncake_cluster_destroy(app_mooncake_cluster_t *cluster)
{
    if (cluster == NULL) {
        return;
    }
    for (uint32_t i = 0; i < cluster->station_count; i++) {
        while (cluster->stations[i].engines != NULL) {
            app_mooncake_t *const engine = cluster->stations[i].engines;
            cluster->stations[i].engines = engine->next_on_station;
            engine_destroy(engine);
        }
    }
    for (uint32_t i = 0; i < cluster->station_count; i++) {
        app__cm_close(&cluster->stations[i]);
    }
    app__mc_server_destroy(cluster->server);
    for (uint32_t i = 0; i < cluster->station_count; i++) {
        app__mc_calls_fini(&cluster->stations[i]);
    }
    app__mc_stations_destroy(cluster);
    sim_free(cluster->stations);
    sim_free(cluster);
}

void app_mooncake_import_record(app_mooncake_cluster_t *cluster, const char *key, const char *value,
                                size_t size)
{
    app__mc_server_import(cluster->server, key, value, size);
}

void app_mooncake_changes(const app_mooncake_cluster_t *cluster, app_mooncake_change_fn fn,
                          void *ctx)
{
    app__mc_server_visit(cluster->server, fn, ctx);
}

typedef struct visit {
    app_mooncake_record_fn fn;
    void *ctx;
} visit_t;

static void visit_record(const char *key, const char *value, size_t size,
                         app_mooncake_change_t change, void *ctx)
{
    const visit_t *const visit = ctx;
    if (change != APP_MOONCAKE_REMOVED) {
        visit->fn(key, value, size, visit->ctx);
    }
}

void app_mooncake_records(const app_mooncake_cluster_t *cluster, app_mooncake_record_fn fn,
                          void *ctx)
{
    visit_t visit = {fn, ctx};
    app__mc_server_visit(cluster->server, visit_record, &visit);
}

// -- inspection

const app_mooncake_counters_t *app_mooncake_get_counters(const app_mooncake_t *engine)
{
    return &engine->counters;
}

uint64_t app_mooncake_nic_bytes(const app_mooncake_t *engine, uint32_t nic)
{
    for (uint32_t i = 0; i < engine->context_count; i++) {
        if (engine->contexts[i].nic_index == nic) {
            return engine->contexts[i].bytes;
        }
    }
    return 0;
}

const char *app_mooncake_name(const app_mooncake_t *engine)
{
    return engine->name;
}

net_node_t *app_mooncake_host(const app_mooncake_t *engine)
{
    return engine->station->host;
}

net_node_t *app_mooncake_host_of(const app_mooncake_cluster_t *cluster, const char *server_name)
{
    uint32_t station = 0;
    return app__mc_station_named(cluster, server_name, &station) == SIM_OK
               ? cluster->stations[station].host
               : NULL;
}
