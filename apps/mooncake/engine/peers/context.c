// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/peers/context.c - a NIC's worker threads: the first polls completions, the
// others post slices (docs/models/mooncake.md).
//
// A slice waits in the queue of its peer NIC (peer_nic.c). A peer NIC belongs to worker (target x
// 10007 + device), and is in that worker's ring while it has slices and a connection. A turn of the
// worker takes the next peer NIC of the ring, gives each of its next slices a random queue pair of
// its endpoint, and posts them.
#include "apps/mooncake/engine/peers/context.h"

#include "apps/mooncake/engine/peers/endpoint.h"
#include "apps/mooncake/engine/route.h"
#include "apps/mooncake/engine/transfer_engine.h"

#define POST_MAX 16u
#define POLL_MAX 16u

// -- posting

// Chooses a random queue pair that has room; false: none has.
static bool choose_qp(app__mc_endpoint_t *endpoint, uint32_t *chosen)
{
    app_mooncake_t *const engine = endpoint->peer_nic->context->engine;
    uint32_t open = 0;
    for (uint32_t i = 0; i < endpoint->qp_count; i++) {
        open += endpoint->posted[i] < engine->config.max_wr;
    }
    if (open == 0) {
        return false;
    }
    uint64_t skip = sim_random_below(&engine->random, open);
    for (uint32_t i = 0; i < endpoint->qp_count; i++) {
        if (endpoint->posted[i] < engine->config.max_wr && skip-- == 0) {
            *chosen = i;
            return true;
        }
    }
    return false;
}

static void fill_request(const app__mc_slice_t *slice, nic_send_wr_t *wr)
{
    const bool reads = slice->task->request.opcode == APP_MOONCAKE_READ;
    *wr = (nic_send_wr_t){
        .wr_id = (uint64_t)(uintptr_t)slice,
        .opcode = reads ? NIC_WR_RDMA_READ : NIC_WR_RDMA_WRITE,
        .send_flags = NIC_SEND_SIGNALED,
        .sge = {.addr = slice->source, .length = slice->length, .lkey = slice->lkey},
        .rdma = {slice->target, slice->rkey},
    };
}

// Posts the requests of the list that use the first one's queue pair.
static void post_list(nic_qp_t *qp, nic_send_wr_t *list, const uint32_t *qp_of, uint32_t count)
{
    nic_send_wr_t *first = NULL;
    nic_send_wr_t *last = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (qp_of[i] != qp_of[0]) {
            continue;
        }
        if (last != NULL) {
            last->next = &list[i];
        } else {
            first = &list[i];
        }
        last = &list[i];
    }
    // A queue pair that has just failed still accepts requests, and flushes them.
    const sim_err_t error = nic_post_send_list(qp, first, NULL);
    SIM_CHECKF(error == SIM_OK, "%s", sim_err_text(error));
}

void app__mc_qp_attr(const app__mc_context_t *context, uint32_t interface, uint32_t qp_num,
                     nic_qp_attr_t *attr)
{
    const app_mooncake_config_t *const config = &context->engine->config;
    nic_qp_attr_default(context->endpoint->nic, attr);
    attr->dest_interface = interface;
    attr->dest_qp_num = qp_num;
    attr->timeout = (uint32_t)config->ack_timeout;
    attr->retry_cnt = (uint32_t)config->ack_retries;
    attr->rnr_retry = 7;
    attr->access = NIC_ACCESS_LOCAL_WRITE | NIC_ACCESS_REMOTE_WRITE | NIC_ACCESS_REMOTE_READ;
    const uint32_t own = (uint32_t)config->mtu_bytes;
    attr->path_mtu = SIM_MIN(own, attr->path_mtu);
}

void app__mc_unload(app__mc_context_t *context, const app__mc_slice_t *slice)
{
    SIM_CHECK(context->load_bytes >= slice->length);
    context->load_bytes -= slice->length;
}

// Posts the next slices of a peer NIC; returns how many.
static uint32_t post_some(app__mc_peer_nic_t *peer_nic)
{
    app__mc_context_t *const context = peer_nic->context;
    app__mc_endpoint_t *const endpoint = peer_nic->endpoint;
    const app_mooncake_config_t *const config = &context->engine->config;
    nic_send_wr_t list[POST_MAX];
    uint32_t qp_of[POST_MAX];
    uint32_t count = 0;
    uint32_t qp = 0;
    while (count < POST_MAX && peer_nic->queue.count > 0 &&
           context->outstanding < config->max_cqe && choose_qp(endpoint, &qp)) {
        app__mc_slice_t *const slice = app__mc_queue_pop(&peer_nic->queue);
        if (slice->task->ended) {
            app__mc_unload(context, slice);
            app__mc_slice_lost(context->engine, slice);
            continue;
        }
        fill_request(slice, &list[count]);
        qp_of[count] = qp;
        slice->endpoint = endpoint;
        slice->qp = (uint16_t)qp;
        app__mc_slice_posted(slice);
        endpoint->posted[qp]++;
        peer_nic->worker->posted_bytes += slice->length;
        endpoint->outstanding++;
        context->outstanding++;
        count++;
    }
    for (uint32_t i = 0; i < count; i++) {
        bool earlier = false;
        for (uint32_t k = 0; k < i; k++) {
            earlier = earlier || qp_of[k] == qp_of[i];
        }
        if (!earlier) {
            post_list(endpoint->qps[qp_of[i]], &list[i], &qp_of[i], count - i);
        }
    }
    context->engine->counters.slices += count;
    return count;
}

// Notes a turn of a peer_nic. After as many slices as a queue pair holds, or all that there is room
// for, its endpoint may be evicted for others.
static void note_turn(app__mc_peer_nic_t *peer_nic, uint32_t count)
{
    app__mc_endpoint_t *const endpoint = peer_nic->endpoint;
    const app__mc_context_t *const context = peer_nic->context;
    endpoint->carried += count;
    if (peer_nic->queue.count == 0) {
        app__mc_peer_nic_sleep(peer_nic);
    }
    endpoint->passed = endpoint->passed || peer_nic->queue.count == 0 ||
                       endpoint->carried >= context->engine->config.max_wr ||
                       (count == 0 && endpoint->carried > 0);
    app__mc_endpoint_pin(endpoint);
    if (endpoint->leaves && endpoint->passed) {
        app__mc_peer_nic_detach(peer_nic);
        app__mc_endpoint_leave_if_empty(endpoint);
    }
}

static bool post_turn(app__mc_worker_t *worker, nic_core_t *core)
{
    uint32_t posted = 0;
    for (uint32_t left = worker->active_count; left > 0 && posted == 0 && worker->active != NULL;
         left--) {
        app__mc_peer_nic_t *const peer_nic = worker->active->next_active;
        posted = post_some(peer_nic);
        if (peer_nic->is_active) {
            worker->active = peer_nic;
            note_turn(peer_nic, posted);
        }
    }
    if (posted > 0) {
        nic_core_spend(core, posted * worker->context->engine->config.post_ps);
    }
    app__mc_peer_nics_serve(worker->context);
    return posted > 0;
}

// -- completions

static void completed(app__mc_context_t *context, const nic_wc_t *wc)
{
    app_mooncake_t *const engine = context->engine;
    app__mc_slice_t *const slice = (app__mc_slice_t *)(uintptr_t)wc->wr_id;
    app__mc_endpoint_t *const endpoint = slice->endpoint;
    slice->endpoint = NULL;
    context->outstanding--;
    app__mc_unload(context, slice);
    const uint32_t qp = slice->qp;
    if (wc->status == NIC_WC_SUCCESS) {
        context->bytes += slice->length;
        context->workers[0].polled_bytes += slice->length;
        app__mc_rail_t *const rail =
            endpoint->leaves ? NULL : app__mc_peer_nic_rail(endpoint->peer_nic);
        if (rail != NULL) {
            rail->failures = 0;
        }
        app__mc_slice_done(engine, slice);
    } else {
        const bool refused = wc->status == NIC_WC_REM_ACCESS_ERR || wc->status == NIC_WC_REM_OP_ERR;
        const bool own_fault = wc->status == NIC_WC_LOC_PROT_ERR ||
                               wc->status == NIC_WC_LOC_ACCESS_ERR ||
                               wc->status == NIC_WC_LOC_LEN_ERR;
        const bool flushed = wc->status == NIC_WC_WR_FLUSH_ERR;
        app__mc_endpoint_disconnect(endpoint, !refused && !own_fault && !flushed);
        if (own_fault) {
            app__mc_slice_lost(engine, slice);
        } else {
            app__mc_retry(engine, slice, refused);
        }
    }
    app__mc_endpoint_returned(endpoint, qp);
}

static bool poll_turn(app__mc_worker_t *worker, nic_core_t *core)
{
    app__mc_context_t *const context = worker->context;
    nic_wc_t wc[POLL_MAX];
    const uint32_t count = nic_poll_cq(context->cq, POLL_MAX, wc);
    nic_core_spend(core, (count == 0 ? 1 : count) * context->engine->config.poll_ps);
    for (uint32_t i = 0; i < count; i++) {
        completed(context, &wc[i]);
    }
    if (count > 0) {
        sim_progress(context->endpoint->node);
        for (uint32_t w = 0; w < context->worker_count; w++) {
            if (context->workers[w].active != NULL && &context->workers[w] != worker) {
                nic_core_wake(context->workers[w].core);
            }
        }
    }
    return count > 0;
}

static bool step(nic_core_t *core, void *ctx)
{
    app__mc_worker_t *const worker = ctx;
    app__mc_context_t *const context = worker->context;
    if (worker != &context->workers[0]) {
        if (post_turn(worker, core)) {
            return true;
        }
        nic_core_spend(core, context->engine->config.poll_ps);
        return false;
    }
    const bool polled = poll_turn(worker, core);
    const bool posted = context->worker_count == 1 && post_turn(worker, core);
    return polled || posted;
}

// -- dispatching slices

void app__mc_dispatch(app__mc_context_t *context, app__mc_slice_t *slice,
                      app__mc_segment_t *segment, uint32_t peer_device)
{
    const app_mooncake_segment_desc_t *const desc = segment->desc;
    app__mc_rail_t *const rail = &segment->rails[context->index * desc->device_count + peer_device];
    if (rail->peer_nic == NULL) {
        char *const path = sim_format("%s@%s", segment->name, desc->devices[peer_device].name);
        rail->peer_nic = app__mc_peer_nic_of(context, path);
        sim_free(path);
    }
    app__mc_peer_nic_t *const peer_nic = rail->peer_nic;
    peer_nic->segment = segment;
    peer_nic->peer_device = peer_device;
    context->load_bytes += slice->length;
    app__mc_queue_push(&peer_nic->queue, slice);
    app__mc_peer_nic_go(peer_nic);
}

// -- creation

static void init_context(app__mc_context_t *context, uint32_t index)
{
    app_mooncake_t *const engine = context->engine;
    app__mc_station_t *const station = engine->station;
    nic_t *const nic = nic_at(station->host, context->nic_index);
    context->index = index;
    context->path = sim_format("%s@%s", engine->name, context->name);
    context->endpoint = app__endpoint_of(station->cluster->runtime, nic_interface(nic));
    context->cq = nic_cq_create(nic, 1u << 20, NULL, NULL);
    app__mc_store_init(&context->endpoints, engine->config.endpoint_store,
                       engine->config.max_endpoints);
    app__mc_peer_nics_init(context);
    context->worker_count = (uint32_t)engine->config.workers;
    context->workers = sim_alloc_array(context->worker_count, sizeof(*context->workers));
    for (uint32_t w = 0; w < context->worker_count; w++) {
        app__mc_worker_t *const worker = &context->workers[w];
        worker->context = context;
        worker->core = nic_core_create(station->host, step, worker);
        if (w == 0) {
            nic_cq_set_core(context->cq, worker->core);
        }
        nic_core_start(worker->core, 0);
    }
}

void app__mc_contexts_init(app_mooncake_t *engine)
{
    for (uint32_t i = 0; i < engine->context_count; i++) {
        init_context(&engine->contexts[i], i);
    }
}

void app__mc_contexts_fini(app_mooncake_t *engine)
{
    for (uint32_t i = 0; i < engine->context_count; i++) {
        app__mc_context_t *const context = &engine->contexts[i];
        sim_link_t *link = NULL;
        while ((link = context->leaving.last) != NULL) {
            sim_list_remove(&context->leaving, link);
            app__mc_endpoint_destroy(SIM_CONTAINER_OF(link, app__mc_endpoint_t, leaving));
        }
        app__mc_stored_t *stored = NULL;
        while ((stored = app__mc_store_oldest(&context->endpoints)) != NULL) {
            app__mc_store_remove(&context->endpoints, stored);
            app__mc_endpoint_destroy((app__mc_endpoint_t *)(void *)stored);
        }
        app__mc_store_fini(&context->endpoints);
        app__mc_peer_nics_fini(context);
        SIM_FREE_ALL(context->workers, context->name, context->path);
    }
    sim_free(engine->contexts);
}
