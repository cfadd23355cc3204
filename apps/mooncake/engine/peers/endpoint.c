// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/peers/endpoint.c - the queue pairs between a NIC here and a NIC there:
// created, connected by a handshake, disconnected, evicted (docs/models/mooncake.md).
//
// Both sides have an endpoint for the two NICs. The active side sends its queue pair numbers; the
// passive side connects its own queue pairs to them and answers with their numbers. If both ask at
// once, each is connected by the other's request before the answer comes. A request with new
// numbers is from a restarted peer and ends the old connection.
//
// An endpoint that fails or is evicted leaves the store at once and is destroyed when its last
// slice has returned. An evicted endpoint that has carried nothing yet still carries a turn of
// slices, like in the real engine, whose worker waits for the handshake and then posts.
#include "apps/mooncake/engine/peers/endpoint.h"

#include <string.h>

#include "apps/channel/pair.h"
#include "apps/mooncake/engine/route.h"
#include "apps/mooncake/engine/transfer_engine.h"

#define NUMBERS_AT_ONCE UINT64_C(1024)

uint32_t app__mc_next_qp_number(app__mc_context_t *context)
{
    if (context->position == context->positions_end) {
        context->position = app__reserve_qps(context->endpoint, NULL, context, NUMBERS_AT_ONCE);
        context->positions_end = context->position + NUMBERS_AT_ONCE;
    }
    return app__qp_number(context->position++);
}

static app__mc_endpoint_t *endpoint_create(app__mc_peer_nic_t *peer_nic)
{
    app__mc_context_t *const context = peer_nic->context;
    const app_mooncake_config_t *const config = &context->engine->config;
    app__mc_endpoint_t *const endpoint = sim_alloc(sizeof(*endpoint));
    endpoint->peer_nic = peer_nic;
    endpoint->stored.key = peer_nic->peer_path;
    endpoint->qp_count = (uint32_t)config->qps_per_endpoint;
    endpoint->qps = sim_alloc_array(endpoint->qp_count, sizeof(nic_qp_t *));
    endpoint->posted = sim_alloc_array(endpoint->qp_count, sizeof(uint32_t));
    endpoint->peer_qps = sim_alloc_array(endpoint->qp_count, sizeof(uint32_t));
    for (uint32_t i = 0; i < endpoint->qp_count; i++) {
        endpoint->qps[i] = app__qp_create(
            context->endpoint, NIC_QPT_RC, app__mc_next_qp_number(context),
            (uint32_t)config->max_wr, 0, &(app__queues_t){context->cq, context->cq, NULL, true});
    }
    return endpoint;
}

void app__mc_endpoint_destroy(app__mc_endpoint_t *endpoint)
{
    SIM_FREE_ALL(endpoint->qps, endpoint->posted, endpoint->peer_qps, endpoint);
}

static void bury_qps(app__mc_endpoint_t *endpoint)
{
    for (uint32_t i = 0; i < endpoint->qp_count; i++) {
        if (endpoint->qps[i] != NULL) {
            app__mc_bury(endpoint->peer_nic->context->engine->station, endpoint->qps[i]);
            endpoint->qps[i] = NULL;
        }
    }
}

void app__mc_endpoints_crash(app__mc_context_t *context)
{
    for (app__mc_stored_t *stored = app__mc_store_oldest(&context->peer_nics); stored != NULL;
         stored = app__mc_store_newer(stored)) {
        app__mc_peer_nic_sleep((app__mc_peer_nic_t *)(void *)stored);
    }
    for (app__mc_stored_t *stored = app__mc_store_oldest(&context->endpoints); stored != NULL;
         stored = app__mc_store_newer(stored)) {
        bury_qps((app__mc_endpoint_t *)(void *)stored);
    }
    for (sim_link_t *link = context->leaving.last; link != NULL; link = link->previous) {
        bury_qps(SIM_CONTAINER_OF(link, app__mc_endpoint_t, leaving));
    }
}

void app__mc_endpoint_leave_if_empty(app__mc_endpoint_t *endpoint)
{
    if (!endpoint->leaves || endpoint->outstanding > 0 || endpoint->shaking_hands ||
        endpoint->peer_nic->endpoint == endpoint) {
        return;
    }
    sim_list_remove(&endpoint->peer_nic->context->leaving, &endpoint->leaving);
    bury_qps(endpoint);
    app__mc_endpoint_destroy(endpoint);
}

static bool owes_a_turn(const app__mc_endpoint_t *endpoint)
{
    return !endpoint->passed && endpoint->peer_nic->endpoint == endpoint &&
           endpoint->peer_nic->queue.count > 0 && endpoint->state != APP_MOONCAKE_UNCONNECTED;
}

void app__mc_endpoint_pin(app__mc_endpoint_t *endpoint)
{
    if (!endpoint->leaves) {
        app__mc_store_pin(&endpoint->peer_nic->context->endpoints, &endpoint->stored,
                          owes_a_turn(endpoint));
    }
}

static void leave(app__mc_endpoint_t *endpoint)
{
    SIM_CHECK(!endpoint->leaves);
    endpoint->leaves = true;
    sim_list_push_last(&endpoint->peer_nic->context->leaving, &endpoint->leaving);
    if (endpoint->peer_nic->endpoint == endpoint && !owes_a_turn(endpoint)) {
        app__mc_peer_nic_detach(endpoint->peer_nic);
    }
}

// Creates the peer NIC's endpoint; another one may be evicted for it.
static app__mc_endpoint_t *add(app__mc_peer_nic_t *peer_nic)
{
    app__mc_context_t *const context = peer_nic->context;
    app__mc_endpoint_t *const endpoint = endpoint_create(peer_nic);
    app__mc_endpoint_t *const victim =
        (app__mc_endpoint_t *)(void *)app__mc_store_insert(&context->endpoints, &endpoint->stored);
    app__mc_peer_nic_sleep(peer_nic);
    app__mc_endpoint_t *const former = peer_nic->endpoint; // it has already left the store
    peer_nic->endpoint = endpoint;
    peer_nic->was_there = true;
    endpoint->stored.visited = true; // like in the real engine
    if (former != NULL) {
        app__mc_endpoint_leave_if_empty(former);
    }
    if (victim != NULL) {
        // Its outstanding slices may still finish.
        context->engine->counters.endpoints_evicted++;
        leave(victim);
        app__mc_endpoint_leave_if_empty(victim);
    }
    return endpoint;
}

void app__mc_endpoint_returned(app__mc_endpoint_t *endpoint, uint32_t qp)
{
    SIM_CHECK(endpoint->posted[qp] > 0 && endpoint->outstanding > 0);
    endpoint->posted[qp]--;
    endpoint->outstanding--;
    app__mc_endpoint_leave_if_empty(endpoint);
}

// -- connecting

// Tells the programs that wait for a peer NIC's connection.
static void notify_waiters(app__mc_peer_nic_t *peer_nic, int result)
{
    app__mc_waiter_t *const waiters = peer_nic->waiters;
    peer_nic->waiters = NULL;
    app__mc_tell_waiters(waiters, result, 0);
}

static bool connect_qps(app__mc_endpoint_t *endpoint, const app_mooncake_handshake_desc_t *peer,
                        uint32_t interface)
{
    if (peer->qp_count != endpoint->qp_count) {
        return false;
    }
    for (uint32_t i = 0; i < endpoint->qp_count; i++) {
        nic_qp_attr_t attr;
        app__mc_qp_attr(endpoint->peer_nic->context, interface, peer->qp_nums[i], &attr);
        attr.path_mtu = peer->mtu != 0 && peer->mtu < attr.path_mtu ? peer->mtu : attr.path_mtu;
        sim_message_t message;
        if (nic_qp_connect(endpoint->qps[i], &attr, &message) != SIM_OK) {
            return false;
        }
        endpoint->peer_qps[i] = peer->qp_nums[i];
    }
    endpoint->state = APP_MOONCAKE_CONNECTED;
    endpoint->peer_nic->context->engine->counters.handshakes++;
    return true;
}

// Describes the endpoint's queue pairs; free with app_mooncake_handshake_desc_fini.
static void describe_qps(const app__mc_endpoint_t *endpoint, app_mooncake_handshake_desc_t *desc)
{
    const app__mc_context_t *const context = endpoint->peer_nic->context;
    nic_qp_attr_t attr;
    nic_qp_attr_default(context->endpoint->nic, &attr);
    const uint32_t own = (uint32_t)context->engine->config.mtu_bytes;
    *desc = (app_mooncake_handshake_desc_t){
        .local_nic_path = sim_strdup(context->path),
        .peer_nic_path = sim_strdup(endpoint->peer_nic->peer_path),
        .qp_nums = sim_alloc_array(endpoint->qp_count, sizeof(uint32_t)),
        .qp_count = endpoint->qp_count,
        .mtu = SIM_MIN(own, attr.path_mtu),
    };
    for (uint32_t i = 0; i < endpoint->qp_count; i++) {
        desc->qp_nums[i] = nic_qp_num(endpoint->qps[i]);
    }
}

static char *handshake_text(const app__mc_station_t *station, app_mooncake_handshake_desc_t *desc)
{
    char *const text = station->cluster->codec->write_handshake(desc);
    app_mooncake_handshake_desc_fini(desc);
    return text;
}

// Finds the station and the interface of "server@nic".
static bool find_peer(const app_mooncake_cluster_t *cluster, const char *path, uint32_t *station,
                      uint32_t *interface)
{
    const char *const at = strrchr(path, '@');
    uint32_t nic = 0;
    if (at == NULL || !app__mooncake_nic_index(at + 1, &nic)) {
        return false;
    }
    char *const server = sim_format("%.*s", (int)(at - path), path);
    const bool known = app__mc_station_named(cluster, server, station) == SIM_OK;
    sim_free(server);
    if (!known || nic >= cluster->stations[*station].nic_count) {
        return false;
    }
    *interface = nic_interface(nic_at(cluster->stations[*station].host, nic));
    return true;
}

// -- the active side

// Continues after a handshake. An evicted endpoint is released if nothing waits for it any more.
static void go_on(app__mc_endpoint_t *endpoint)
{
    app__mc_peer_nic_t *const peer_nic = endpoint->peer_nic;
    app__mc_peer_nic_wake(peer_nic);
    if (endpoint->leaves && peer_nic->endpoint == endpoint && peer_nic->queue.count == 0) {
        app__mc_peer_nic_detach(peer_nic);
    }
    app__mc_endpoint_leave_if_empty(endpoint);
}

static void answered(int32_t status, const char *body, size_t size, void *ctx)
{
    app__mc_endpoint_t *const endpoint = ctx;
    app_mooncake_t *const engine = endpoint->peer_nic->context->engine;
    const app_mooncake_cluster_t *const cluster = engine->station->cluster;
    endpoint->shaking_hands = false;
    // It was disconnected or replaced meanwhile, or connected by the peer's own request.
    if ((endpoint->leaves && endpoint->peer_nic->endpoint != endpoint) ||
        endpoint->state == APP_MOONCAKE_CONNECTED) {
        go_on(endpoint);
        return;
    }
    app__mc_peer_nic_t *const peer_nic = endpoint->peer_nic;
    app_mooncake_handshake_desc_t desc = {0};
    sim_message_t message;
    uint32_t station = 0;
    uint32_t interface = 0;
    bool good =
        status == SIM_OK && cluster->codec->read_handshake(body, size, &desc, &message) == SIM_OK;
    good = good && strcmp(desc.local_nic_path, endpoint->peer_nic->peer_path) == 0 &&
           find_peer(cluster, endpoint->peer_nic->peer_path, &station, &interface) &&
           connect_qps(endpoint, &desc, interface);
    app_mooncake_handshake_desc_fini(&desc);
    if (good) {
        go_on(endpoint);
        notify_waiters(peer_nic, SIM_OK);
        return;
    }
    engine->counters.handshakes_failed++;
    app__mc_endpoint_disconnect(endpoint, true);
}

// Starts the handshake, unless one is in progress.
static void set_up(app__mc_endpoint_t *endpoint)
{
    app__mc_context_t *const context = endpoint->peer_nic->context;
    const app_mooncake_config_t *const config = &context->engine->config;
    app__mc_station_t *const station = context->engine->station;
    if (endpoint->shaking_hands || endpoint->leaves) {
        return;
    }
    uint32_t peer = 0;
    uint32_t interface = 0;
    endpoint->shaking_hands = true;
    if (!find_peer(station->cluster, endpoint->peer_nic->peer_path, &peer, &interface)) {
        peer = station->index; // the own station refuses the request
    }
    app_mooncake_handshake_desc_t desc;
    describe_qps(endpoint, &desc);
    char *const text = handshake_text(station, &desc);
    const app__mc_message_t message = {APP__MC_HANDSHAKE, NULL, text, strlen(text)};
    app__mc_ask(station, peer, &message, config->handshake_timeout_ps, config->call_retries,
                answered, endpoint, false);
    sim_free(text);
}

// -- giving endpoints to peer_nics

void app__mc_peer_nic_go(app__mc_peer_nic_t *peer_nic)
{
    if (peer_nic->queue.count == 0) {
        return;
    }
    if (peer_nic->endpoint == NULL) {
        if (!app__mc_store_has_room(&peer_nic->context->endpoints)) {
            app__mc_peer_nic_want(peer_nic);
            return;
        }
        (void)add(peer_nic);
    }
    peer_nic->endpoint->stored.visited = true;
    app__mc_endpoint_pin(peer_nic->endpoint);
    if (peer_nic->endpoint->state == APP_MOONCAKE_CONNECTED) {
        app__mc_peer_nic_wake(peer_nic);
    } else {
        set_up(peer_nic->endpoint);
    }
}

void app__mc_peer_nics_serve(app__mc_context_t *context)
{
    while (context->wanting != NULL && app__mc_store_has_room(&context->endpoints)) {
        app__mc_peer_nic_t *const peer_nic = context->wanting;
        context->wanting = peer_nic->next_wanting;
        context->wanting_last = context->wanting == NULL ? NULL : context->wanting_last;
        peer_nic->wants = false;
        app__mc_peer_nic_go(peer_nic);
    }
}

// -- the passive side

static app__mc_context_t *context_named(const app__mc_station_t *station, const char *path)
{
    for (app_mooncake_t *e = station->engines; e != NULL; e = e->next_on_station) {
        for (uint32_t i = 0; !e->closed && i < e->context_count; i++) {
            if (strcmp(e->contexts[i].path, path) == 0) {
                return &e->contexts[i];
            }
        }
    }
    return NULL;
}

static bool same_qps(const app__mc_endpoint_t *endpoint, const app_mooncake_handshake_desc_t *desc)
{
    return desc->qp_count == endpoint->qp_count &&
           memcmp(desc->qp_nums, endpoint->peer_qps, desc->qp_count * sizeof(uint32_t)) == 0;
}

static app__mc_endpoint_t *endpoint_of(app__mc_peer_nic_t *peer_nic)
{
    if (peer_nic->endpoint == NULL || peer_nic->endpoint->leaves) {
        return add(peer_nic);
    }
    peer_nic->endpoint->stored.visited = true;
    return peer_nic->endpoint;
}

// Connects an endpoint of a context to the peer's queue pairs, and describes its own.
static int set_up_by_peer(app__mc_context_t *context, const app_mooncake_handshake_desc_t *desc,
                          app_mooncake_handshake_desc_t *local)
{
    const app__mc_station_t *const station = context->engine->station;
    uint32_t peer = 0;
    uint32_t interface = 0;
    if (!find_peer(station->cluster, desc->local_nic_path, &peer, &interface)) {
        return SIM_ERR_UNKNOWN;
    }
    if (peer == station->index) {
        return SIM_ERR_INVALID;
    }
    app__mc_peer_nic_t *const peer_nic = app__mc_peer_nic_of(context, desc->local_nic_path);
    app__mc_endpoint_t *endpoint = endpoint_of(peer_nic);
    if (endpoint->state == APP_MOONCAKE_CONNECTED && !same_qps(endpoint, desc)) {
        app__mc_endpoint_disconnect(endpoint, false);
        endpoint = endpoint_of(peer_nic);
    }
    if (endpoint->state != APP_MOONCAKE_CONNECTED && !connect_qps(endpoint, desc, interface)) {
        app__mc_endpoint_disconnect(endpoint, false);
        return SIM_ERR_STATE;
    }
    app__mc_endpoint_pin(endpoint);
    app__mc_peer_nic_wake(peer_nic);
    describe_qps(endpoint, local);
    notify_waiters(peer_nic, SIM_OK);
    return SIM_OK;
}

void app__mc_on_handshake(app__mc_station_t *station, const app__mc_incoming_t *incoming, void *ctx)
{
    (void)ctx;
    app_mooncake_handshake_desc_t desc = {0};
    sim_message_t message;
    char *text = NULL;
    if (station->cluster->codec->read_handshake(incoming->body, incoming->size, &desc, &message) ==
        SIM_OK) {
        app__mc_context_t *const context = context_named(station, desc.peer_nic_path);
        app_mooncake_handshake_desc_t local;
        if (context != NULL && set_up_by_peer(context, &desc, &local) == SIM_OK) {
            text = handshake_text(station, &local);
        }
    }
    app__mc_answer(station, incoming->peer, incoming->id, text != NULL ? SIM_OK : SIM_ERR_STATE,
                   text != NULL ? text : "", text != NULL ? strlen(text) : 0);
    sim_free(text);
    app_mooncake_handshake_desc_fini(&desc);
}

// -- disconnecting

static void note_failure(const app__mc_peer_nic_t *peer_nic)
{
    const app__mc_context_t *const context = peer_nic->context;
    app_mooncake_t *const engine = context->engine;
    app__mc_rail_t *const rail = app__mc_peer_nic_rail(peer_nic);
    if (rail != NULL && ++rail->failures >= engine->config.rail_failures &&
        engine->config.rail_pause_ps > 0) {
        rail->failures = 0;
        rail->paused_until_ps = context->endpoint->node->now_ps + engine->config.rail_pause_ps;
        engine->counters.rails_paused++;
    }
}

void app__mc_endpoint_disconnect(app__mc_endpoint_t *endpoint, bool failed)
{
    app__mc_peer_nic_t *const peer_nic = endpoint->peer_nic;
    app__mc_context_t *const context = peer_nic->context;
    app_mooncake_t *const engine = context->engine;
    if (endpoint->state == APP_MOONCAKE_UNCONNECTED) {
        return;
    }
    if (failed) {
        note_failure(peer_nic);
    }
    endpoint->state = APP_MOONCAKE_UNCONNECTED;
    engine->counters.endpoints_disconnected++;
    for (uint32_t i = 0; i < endpoint->qp_count; i++) {
        if (endpoint->qps[i] != NULL && nic_qp_state(endpoint->qps[i]) != NIC_QPS_RESET) {
            nic_qp_to_error(endpoint->qps[i]);
        }
    }
    app__mc_queue_t waiting = {NULL, NULL, 0};
    if (peer_nic->endpoint == endpoint) {
        waiting = app__mc_peer_nic_empty(peer_nic);
        app__mc_peer_nic_detach(peer_nic);
    }
    if (!endpoint->leaves) {
        app__mc_store_remove(&context->endpoints, &endpoint->stored);
        leave(endpoint);
    }
    app__mc_slice_t *slice = NULL;
    while ((slice = app__mc_queue_pop(&waiting)) != NULL) {
        app__mc_unload(context, slice);
        if (failed) {
            app__mc_retry(engine, slice, false);
        } else {
            app__mc_route(engine, slice);
        }
    }
    app__mc_peer_nics_serve(context);
    // If slices are outstanding, the last of them destroys the endpoint.
    app__mc_endpoint_leave_if_empty(endpoint);
    notify_waiters(peer_nic, SIM_ERR_IO);
}

// -- functions for programs

static app__mc_endpoint_t *find_endpoint(const app_mooncake_t *engine, uint32_t nic,
                                         const char *peer_nic_path)
{
    if (nic >= engine->context_count) {
        return NULL;
    }
    for (app__mc_stored_t *stored = app__mc_store_oldest(&engine->contexts[nic].endpoints);
         stored != NULL; stored = app__mc_store_newer(stored)) {
        if (strcmp(stored->key, peer_nic_path) == 0) {
            return (app__mc_endpoint_t *)(void *)stored;
        }
    }
    for (sim_link_t *link = engine->contexts[nic].leaving.last; link != NULL;
         link = link->previous) {
        app__mc_endpoint_t *const endpoint = SIM_CONTAINER_OF(link, app__mc_endpoint_t, leaving);
        if (strcmp(endpoint->peer_nic->peer_path, peer_nic_path) == 0) {
            return endpoint;
        }
    }
    return NULL;
}

bool app_mooncake_endpoint_state(const app_mooncake_t *engine, uint32_t nic,
                                 const char *peer_nic_path, app_mooncake_endpoint_state_t *state)
{
    const app__mc_endpoint_t *const endpoint = find_endpoint(engine, nic, peer_nic_path);
    if (endpoint != NULL) {
        *state = endpoint->state;
        return true;
    }
    for (app__mc_stored_t *stored = nic < engine->context_count
                                        ? app__mc_store_oldest(&engine->contexts[nic].peer_nics)
                                        : NULL;
         stored != NULL; stored = app__mc_store_newer(stored)) {
        if (strcmp(stored->key, peer_nic_path) == 0 &&
            ((app__mc_peer_nic_t *)(void *)stored)->was_there) {
            *state = APP_MOONCAKE_UNCONNECTED; // its endpoint was given up
            return true;
        }
    }
    return false;
}

int app_mooncake_setup_connections_by_active(app_mooncake_t *engine, uint32_t nic,
                                             const char *peer_nic_path, app_mooncake_done_fn fn,
                                             void *ctx)
{
    const char *const at = strrchr(peer_nic_path, '@');
    uint32_t number = 0;
    if (engine->closed) {
        return SIM_ERR_STATE;
    }
    if (nic >= engine->context_count) {
        return SIM_ERR_UNKNOWN;
    }
    if (at == NULL || at == peer_nic_path || !app__mooncake_nic_index(at + 1, &number)) {
        return SIM_ERR_INVALID;
    }
    app__mc_peer_nic_t *const peer_nic = app__mc_peer_nic_of(&engine->contexts[nic], peer_nic_path);
    app__mc_endpoint_t *const endpoint = endpoint_of(peer_nic);
    if (endpoint->state == APP_MOONCAKE_CONNECTED) {
        if (fn != NULL) {
            fn(SIM_OK, ctx);
        }
        return SIM_OK;
    }
    app__mc_wait_for(&peer_nic->waiters, fn, ctx);
    set_up(endpoint);
    return SIM_OK;
}

int app_mooncake_setup_connections_by_passive(app_mooncake_t *engine, uint32_t nic,
                                              const app_mooncake_handshake_desc_t *peer_desc,
                                              app_mooncake_handshake_desc_t *local_desc)
{
    if (engine->closed) {
        return SIM_ERR_STATE;
    }
    if (nic >= engine->context_count) {
        return SIM_ERR_UNKNOWN;
    }
    return set_up_by_peer(&engine->contexts[nic], peer_desc, local_desc);
}

int app_mooncake_on_setup_rdma_connections(app_mooncake_t *engine,
                                           const app_mooncake_handshake_desc_t *peer_desc,
                                           app_mooncake_handshake_desc_t *local_desc)
{
    for (uint32_t i = 0; i < engine->context_count; i++) {
        if (strcmp(engine->contexts[i].path, peer_desc->peer_nic_path) == 0) {
            return app_mooncake_setup_connections_by_passive(engine, i, peer_desc, local_desc);
        }
    }
    return engine->closed ? SIM_ERR_STATE : SIM_ERR_UNKNOWN;
}

int app_mooncake_disconnect(app_mooncake_t *engine, uint32_t nic, const char *peer_nic_path)
{
    app__mc_endpoint_t *const endpoint = find_endpoint(engine, nic, peer_nic_path);
    if (endpoint == NULL) {
        return SIM_ERR_UNKNOWN;
    }
    app__mc_endpoint_disconnect(endpoint, false);
    return SIM_OK;
}
