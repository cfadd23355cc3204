// SPDX-License-Identifier: Apache-2.0
// apps/services/sequencer_spec.c - sequencers without connection state at the server (Spec-S0), or
// without its CPU (fetch-and-add); docs/models/guidelines.md.
//
// In Spec-S0 request and response are header-only SENDs with an immediate. The request carries the
// upper half that the client expects. If it is right, the response carries the lower half, else the
// whole number as payload. (Simulated memory has no contents: that response carries the lower half,
// too.)
#include "apps/services/sequencer_internal.h"

#define POLL_MAX 64u
#define SIGNAL_EVERY 64u
#define SEND_DEPTH 128u // HRD_Q_DEPTH of the suite
#define QP_DEPTH 1024u
#define PAYLOAD_BYTES 8u
#define RECEIVE_BYTES UINT64_C(64)

typedef struct spec_worker {
    app__thread_t thread;
    app__sequencer_t *sequencer;
    app__spec_t *spec;
    uint32_t index;
    nic_cq_t *cq;        // of received requests
    nic_qp_t **qps;      // the first one receives; all send in turn
    nic_cq_t **send_cqs; // one per QP
    uint64_t *posted;
    uint32_t next_qp;
    nic_wc_t requests[APP__RPC_COLLECT_MAX]; // taken in this turn
    nic_send_wr_t list[APP__RPC_COLLECT_MAX];
    uint64_t base;
    uint32_t count;
    uint32_t filled; // responses in the list
    uint32_t begun;  // responses that were posted
    bool waits;      // waits for a completion of QP waits_for
    uint32_t waits_for;
    uint64_t lists;
    uint64_t answers;
} spec_worker_t;

typedef struct spec_client {
    app__thread_t thread;
    app__sequencer_t *sequencer;
    app__spec_t *spec;
    uint32_t index;
    nic_cq_t *cq;
    nic_cq_t *send_cq; // the client does not wait for it
    nic_qp_t *qp;
    uint64_t sent;
    uint64_t answered;
    uint64_t lost; // requests not answered within the timeout
    sim_timer_t timeout;
    sim_time_t heard_ps; // when it last received or sent something
    bool overdue;        // it must give up the requests it waits for
    bool held_up;        // waits for room in its send queue
} spec_client_t;

struct app__spec {
    app__span_t span;
    sim_time_t timeout_ps;
    bool post_list;
    uint32_t window;
    uint32_t collect;
    uint32_t qp_count; // per worker
    app__machine_t *machines;
    uint32_t machine_count;
    spec_worker_t *workers;
    uint32_t worker_count;
    spec_client_t *clients;
    uint32_t client_count;
};

// -- workers

// Polls for the completion that the worker waits for, as in rpc.c: of SIGNAL_EVERY responses the
// first is signaled, and the worker waits for it before the last.
static bool is_done(spec_worker_t *worker)
{
    nic_wc_t wc;
    if (nic_poll_cq(worker->send_cqs[worker->waits_for], 1, &wc) == 0) {
        return false;
    }
    (void)app__thread_succeeded(&worker->thread, &wc);
    worker->waits = false;
    return true;
}

static nic_send_wr_t response_to(const spec_worker_t *worker, const nic_wc_t *request,
                                 uint64_t number, bool signaled)
{
    const bool guessed = request->imm_data == (uint32_t)(number >> 32);
    return (nic_send_wr_t){
        .opcode = NIC_WR_SEND_WITH_IMM,
        .send_flags = (uint32_t)NIC_SEND_INLINE | (signaled ? NIC_SEND_SIGNALED : 0u),
        .sge = {worker->thread.machine->address, guessed ? 0 : PAYLOAD_BYTES,
                app__machine_key(worker->thread.machine)},
        .imm_data = (uint32_t)number,
        .ud = {request->src_interface, request->src_qp, 0},
    };
}

// Fills responses to the taken requests. Returns false if it must wait before it can continue.
static bool fill_responses(spec_worker_t *worker)
{
    const uint32_t q = worker->next_qp;
    if (worker->waits && !is_done(worker)) {
        return false;
    }
    while (worker->filled < worker->count) {
        const uint32_t i = worker->filled++;
        const uint64_t order = worker->posted[q]++ % SIGNAL_EVERY;
        worker->list[i] = response_to(worker, &worker->requests[i], worker->base + i, order == 0);
        if (order == SIGNAL_EVERY - 1) {
            worker->waits = true;
            worker->waits_for = q;
            if (worker->filled - worker->begun >= SIGNAL_EVERY) {
                return true; // the signaled response is among them and must be posted first
            }
            if (!is_done(worker)) {
                return false;
            }
        }
    }
    return true;
}

static void post_responses(spec_worker_t *worker)
{
    nic_qp_t *const qp = worker->qps[worker->next_qp];
    const bool listed = worker->spec->post_list;
    nic_send_wr_t *const list = &worker->list[worker->begun];
    const uint32_t count = worker->filled - worker->begun;
    for (uint32_t i = 0; listed && i + 1 < count; i++) {
        list[i].next = &list[i + 1];
    }
    const uint32_t lists = listed ? 1 : count;
    for (uint32_t i = 0; i < lists; i++) {
        app__post(qp, &list[i]);
    }
    worker->begun = worker->filled;
    worker->lists += lists;
    worker->answers += count;
    app__thread_count(&worker->thread, count);
}

static bool serve(nic_core_t *core, void *ctx)
{
    spec_worker_t *const worker = ctx;
    if (worker->count == 0) {
        const uint32_t polled = nic_poll_cq(worker->cq, worker->spec->collect, worker->requests);
        uint32_t count = 0;
        for (uint32_t i = 0; i < polled; i++) {
            if (app__thread_succeeded(&worker->thread, &worker->requests[i])) {
                worker->requests[count++] = worker->requests[i];
            }
        }
        if (count == 0) {
            return polled != 0;
        }
        worker->count = count;
        worker->filled = 0;
        worker->begun = 0;
        worker->base = app__sequencer_take(worker->sequencer, core, worker->index, count);
        app__post_receives(worker->qps[0], worker->thread.machine, count, RECEIVE_BYTES);
    }
    if (!fill_responses(worker)) {
        return false;
    }
    post_responses(worker);
    if (worker->filled == worker->count) {
        worker->next_qp = (worker->next_qp + 1) % worker->spec->qp_count;
        worker->count = 0;
    }
    return true;
}

// -- clients of Spec-S0

static void send_requests(spec_client_t *client, uint32_t count)
{
    const spec_worker_t *const worker =
        &client->spec->workers[client->index % client->spec->worker_count];
    const app__sequencer_got_t *const got = &client->sequencer->got[client->index];
    nic_send_wr_t list[APP__RPC_COLLECT_MAX];
    SIM_CHECK(count > 0);
    for (uint32_t i = 0; i < count; i++) {
        client->sent++;
        list[i] = (nic_send_wr_t){
            .opcode = NIC_WR_SEND_WITH_IMM,
            .send_flags = NIC_SEND_INLINE |
                          (client->sent % SIGNAL_EVERY == 0 ? (uint32_t)NIC_SEND_SIGNALED : 0),
            .imm_data = (uint32_t)got->high,
            .ud = {worker->thread.machine->endpoint->interface, nic_qp_num(worker->qps[0]), 0},
            .next = i + 1 < count ? &list[i + 1] : NULL,
        };
    }
    app__post(client->qp, list);
    nic_wc_t wc[2];
    if (client->sent / SIGNAL_EVERY != (client->sent - count) / SIGNAL_EVERY) {
        (void)nic_poll_cq(client->send_cq, 2, wc);
    }
}

static uint32_t still_wanted(const spec_client_t *client, uint32_t count)
{
    const uint64_t left = client->sequencer->requests - (client->sent - client->lost);
    return left < count ? (uint32_t)left : count;
}

static uint64_t under_way(const spec_client_t *client)
{
    return client->sent - client->answered - client->lost;
}

// Returns how many requests the send queue has room for; lost requests may still be in it.
static uint32_t room_to_send(const spec_client_t *client)
{
    return QP_DEPTH - ((uint32_t)client->sent - nic_qp_sends_done(client->qp));
}

// Handles a client's timeout. If the client heard nothing for that long, it treats all requests it
// waits for as lost and sends new ones.
static void client_timeout(sim_node_t *node, sim_timer_t *timer)
{
    spec_client_t *const client = SIM_CONTAINER_OF(timer, spec_client_t, timeout);
    if (client->thread.stopped) {
        return;
    }
    if (node->now_ps >= client->heard_ps + client->spec->timeout_ps) {
        client->heard_ps = node->now_ps;
        client->overdue = under_way(client) > 0 || client->held_up;
        if (client->overdue) {
            nic_core_wake(client->thread.core);
        }
    }
    sim_timer_arm(node, timer, client->heard_ps + client->spec->timeout_ps);
}

static void give_up(spec_client_t *client)
{
    client->lost += client->overdue ? under_way(client) : 0;
    client->overdue = false;
}

// Returns how many requests the window and the send queue have room for.
static uint32_t may_send(spec_client_t *client)
{
    const uint32_t wanted =
        still_wanted(client, client->spec->window - (uint32_t)under_way(client));
    const uint32_t room = room_to_send(client);
    client->held_up = wanted > room;
    return client->held_up ? room : wanted;
}

static bool ask(nic_core_t *core, void *ctx)
{
    spec_client_t *const client = ctx;
    app__sequencer_t *const sequencer = client->sequencer;
    app__sequencer_got_t *const got = &sequencer->got[client->index];
    if (client->sent == 0) {
        client->heard_ps = nic_core_now_ps(core);
        const uint32_t first = still_wanted(client, client->spec->window);
        app__post_receives(client->qp, client->thread.machine, first, RECEIVE_BYTES);
        send_requests(client, first);
        return true;
    }
    nic_wc_t wc[POLL_MAX];
    const uint32_t count = nic_poll_cq(client->cq, POLL_MAX, wc);
    uint32_t answers = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!app__thread_succeeded(&client->thread, &wc[i]) || under_way(client) == answers) {
            continue; // the answer belongs to a request that was given up
        }
        answers++;
        const uint64_t number = app__sequencer_near(got, wc[i].imm_data);
        if (wc[i].byte_len != 0) {
            got->wrong++;
            got->high = number >> 32;
        }
        app__sequencer_keep(got, sequencer->requests, number);
    }
    client->answered += answers;
    app__thread_count(&client->thread, answers);
    give_up(client);
    const uint32_t more = may_send(client);
    if (answers + more > 0) {
        client->heard_ps = nic_core_now_ps(core);
    }
    // Requests that were given up still have their receives. Every answer, also a late one, used
    // one.
    const uint32_t receives = still_wanted(client, count);
    if (receives > 0) {
        app__post_receives(client->qp, client->thread.machine, receives, RECEIVE_BYTES);
    }
    if (more > 0) {
        send_requests(client, more);
    }
    return count + more != 0;
}

// -- clients of fetch-and-add

static bool add(nic_core_t *core, void *ctx)
{
    (void)core;
    spec_client_t *const client = ctx;
    app__sequencer_t *const sequencer = client->sequencer;
    nic_wc_t wc[POLL_MAX];
    uint32_t count = 0;
    if (client->sent >= client->spec->window || client->sent == sequencer->requests) {
        uint32_t answers = 0;
        count = nic_poll_cq(client->cq, POLL_MAX, wc);
        for (uint32_t i = 0; i < count; i++) {
            if (app__thread_succeeded(&client->thread, &wc[i])) {
                answers++;
                app__sequencer_keep(&sequencer->got[client->index], sequencer->requests,
                                    wc[i].atomic_original);
            }
        }
        client->answered += answers;
        app__thread_count(&client->thread, answers);
    }
    if (SIM_UNLIKELY(client->thread.failed > 0)) {
        return count != 0; // its only queue pair is in the error state
    }
    const uint64_t room = client->spec->window - (client->sent - client->answered);
    const uint32_t more = still_wanted(client, room > POLL_MAX ? POLL_MAX : (uint32_t)room);
    for (uint32_t i = 0; i < more; i++) {
        const nic_send_wr_t wr = {
            .opcode = NIC_WR_ATOMIC_FETCH_AND_ADD,
            .send_flags = NIC_SEND_SIGNALED,
            .sge = {client->thread.machine->address, 8, app__machine_key(client->thread.machine)},
            .atomic = {client->spec->machines[0].address, 1, 0,
                       app__machine_key(&client->spec->machines[0])},
        };
        app__post(client->qp, &wr);
    }
    client->sent += more;
    return count + more != 0;
}

// -- creation

static void make_worker(app__spec_t *spec, app__sequencer_t *sequencer, uint32_t index)
{
    spec_worker_t *const worker = &spec->workers[index];
    app__thread_init(&worker->thread, &spec->machines[0], &spec->span, index, serve, worker);
    worker->sequencer = sequencer;
    worker->spec = spec;
    worker->index = index;
    worker->cq = app__thread_cq(&worker->thread);
    worker->qps = sim_alloc_array(spec->qp_count, sizeof(*worker->qps));
    worker->send_cqs = sim_alloc_array(spec->qp_count, sizeof(*worker->send_cqs));
    worker->posted = sim_alloc_array(spec->qp_count, sizeof(*worker->posted));
}

// Creates QP number q of all workers: they create their queue pairs in parallel.
static void make_worker_qps(app__spec_t *spec, uint32_t q)
{
    SIM_CHECK(spec->worker_count > 0);
    const uint32_t served = (spec->client_count + spec->worker_count - 1) / spec->worker_count;
    const uint32_t receives = q == 0 ? 2 * served * spec->window : 0;
    for (uint32_t w = 0; w < spec->worker_count; w++) {
        spec_worker_t *const worker = &spec->workers[w];
        worker->send_cqs[q] = app__thread_cq(&worker->thread);
        worker->qps[q] = app__machine_qp_apart(&spec->machines[0], NIC_QPT_UD, worker->send_cqs[q],
                                               worker->cq, SEND_DEPTH, receives);
        app__post_receives(worker->qps[q], &spec->machines[0], receives, RECEIVE_BYTES);
    }
}

static void make_client(app__spec_t *spec, app__sequencer_t *sequencer, uint32_t index)
{
    spec_client_t *const client = &spec->clients[index];
    SIM_CHECK(spec->machine_count > 1); // the first machine is the server
    app__machine_t *const machine = &spec->machines[1 + index % (spec->machine_count - 1)];
    const bool fetch = sequencer->version == APP__SEQUENCER_FETCH_ADD;
    app__thread_init(&client->thread, machine, &spec->span, index, fetch ? add : ask, client);
    client->sequencer = sequencer;
    client->spec = spec;
    client->index = index;
    client->cq = app__thread_cq(&client->thread);
    if (!fetch) {
        client->send_cq = nic_cq_create(machine->endpoint->nic, QP_DEPTH, NULL, NULL);
        sim_timer_init_background(&client->timeout, client_timeout);
        sim_timer_arm(machine->endpoint->node, &client->timeout,
                      spec->span.start_ps + spec->timeout_ps);
        client->qp = app__machine_qp_apart(machine, NIC_QPT_UD, client->send_cq, client->cq,
                                           QP_DEPTH, 2 * spec->window);
        return;
    }
    nic_cq_t *const unused = nic_cq_create(spec->machines[0].endpoint->nic, 1, NULL, NULL);
    client->qp = app__machine_qp(machine, NIC_QPT_RC, client->cq, spec->window, 0);
    app__join(client->qp, app__machine_qp(&spec->machines[0], NIC_QPT_RC, unused, 1, 0));
}

sim_err_t app__spec_create(app__sequencer_t *sequencer, const app_context_t *context,
                           const app__sequencer_config_t *config, sim_message_t *message)
{
    const app__rpc_config_t *const rpc = &config->rpc;
    uint32_t *interfaces = NULL;
    uint32_t count = 0;
    if (rpc->window > APP__RPC_COLLECT_MAX) {
        return sim_fail_about(message, SIM_ERR_RANGE, "window",
                              " is %" PRIu64 ", expected at most %u unless version is rpc",
                              rpc->window, APP__RPC_COLLECT_MAX);
    }
    const sim_err_t error =
        app__server_machines(context, rpc->server, rpc->clients_on, &interfaces, &count, message);
    if (error != SIM_OK) {
        return error;
    }
    const bool fetch = sequencer->version == APP__SEQUENCER_FETCH_ADD;
    app__spec_t *const spec = sim_alloc(sizeof(*spec));
    *spec = (app__spec_t){
        .span = config->span,
        .timeout_ps = rpc->timeout_ps,
        .post_list = rpc->post_list,
        .window = (uint32_t)rpc->window,
        .collect = (uint32_t)rpc->collect,
        .qp_count = (uint32_t)rpc->qps_per_port,
        .machine_count = count,
        .worker_count = fetch ? 0 : (uint32_t)rpc->workers,
        .client_count = (uint32_t)rpc->clients,
    };
    spec->machines = sim_alloc_array(count, sizeof(*spec->machines));
    spec->workers = sim_alloc_array(spec->worker_count + 1, sizeof(*spec->workers));
    spec->clients = sim_alloc_array(spec->client_count, sizeof(*spec->clients));
    for (uint32_t m = 0; m < count; m++) {
        const uint64_t qps = (uint64_t)spec->worker_count * spec->qp_count + spec->client_count;
        app__machine_init(&spec->machines[m], context, interfaces[m], 4096, qps);
    }
    sim_free(interfaces);
    if (fetch) {
        nic_mr_write64(spec->machines[0].memory, spec->machines[0].address, sequencer->next);
    }
    for (uint32_t w = 0; w < spec->worker_count; w++) {
        make_worker(spec, sequencer, w);
    }
    for (uint32_t q = 0; !fetch && q < spec->qp_count; q++) {
        make_worker_qps(spec, q);
    }
    for (uint32_t c = 0; c < spec->client_count; c++) {
        make_client(spec, sequencer, c);
    }
    sequencer->spec = spec;
    return SIM_OK;
}

void app__spec_destroy(app__spec_t *spec)
{
    for (uint32_t w = 0; w < spec->worker_count; w++) {
        sim_free(spec->workers[w].qps);
        sim_free(spec->workers[w].posted);
        sim_free(spec->workers[w].send_cqs);
    }
    sim_free(spec->workers);
    sim_free(spec->clients);
    sim_free(spec->machines);
    sim_free(spec);
}

// -- results

void app__spec_carry(app__spec_t *spec, sim_carry_t *carry)
{
    for (uint32_t c = 0; c < spec->client_count; c++) {
        spec_client_t *const client = &spec->clients[c];
        if (app__thread_carry(carry, &client->thread)) {
            SIM_CARRY(carry, client->sent);
            SIM_CARRY(carry, client->answered);
            SIM_CARRY(carry, client->lost);
        }
    }
    for (uint32_t w = 0; w < spec->worker_count; w++) {
        spec_worker_t *const worker = &spec->workers[w];
        if (app__thread_carry(carry, &worker->thread)) {
            SIM_CARRY(carry, worker->lists);
            SIM_CARRY(carry, worker->answers);
        }
    }
}

const app__thread_t *app__spec_client_thread(const app__spec_t *spec, uint32_t client)
{
    return &spec->clients[client].thread;
}

app__server_sums_t app__spec_sums(const app_t *app, const app__spec_t *spec)
{
    uint64_t counted = 0;
    uint64_t sent = 0;
    uint64_t answered = 0;
    uint64_t lost = 0;
    uint64_t failed = 0;
    uint64_t lists = 0;
    uint64_t in_lists = 0;
    for (uint32_t c = 0; c < spec->client_count; c++) {
        counted += spec->clients[c].thread.counted;
        sent += spec->clients[c].sent;
        answered += spec->clients[c].answered;
        lost += spec->clients[c].lost;
        failed += spec->clients[c].thread.failed;
    }
    for (uint32_t w = 0; w < spec->worker_count; w++) {
        lists += spec->workers[w].lists;
        in_lists += spec->workers[w].answers;
    }
    return (app__server_sums_t){
        .mops = app__mops(app, &spec->span, counted),
        .responses_per_batch = lists == 0 ? 0.0 : (double)in_lists / (double)lists,
        .requests = sent,
        .responses = answered,
        .lost = lost,
        .failed = failed,
    };
}
