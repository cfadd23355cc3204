// SPDX-License-Identifier: Apache-2.0
// apps/services/sequencer_rpc.c - the sequencer on remote procedure calls like HERD's (Kalia et
// al., SIGCOMM 2014; USENIX ATC 2016, 4.1; docs/models/guidelines.md).
//
// A client writes its request into a slot at the server by an unreliable WRITE. A worker that polls
// the slots answers by a SEND over unreliable datagrams. A request carries only the worker it is
// for, which its slot identifies; a response carries its immediate.
#include "apps/services/sequencer_internal.h"

#define POLL_MAX APP__SEQUENCER_POLL_MAX
#define SIGNAL_EVERY APP__SEQUENCER_SIGNAL_EVERY
#define REQUEST_BYTES 8u
#define RESPONSE_BYTES 8u
#define RECEIVE_BYTES UINT64_C(4096)

// -- the server's memory: a client's WRITE puts a request into its slot

// Handles a request that arrived; its slot identifies the worker. If the worker already holds a
// full window of the client's requests, the client has given up some of the answers, and this
// request is dropped.
static void request_written(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *ctx)
{
    (void)qp;
    const app__sequencer_client_t *const client = ctx;
    const app__sequencer_t *const sequencer = client->sequencer;
    const uint64_t number = (address - sequencer->machines[0].address) / APP__SEQUENCER_SLOT_BYTES;
    const uint64_t pair = number / sequencer->window;
    SIM_CHECK(pair % sequencer->client_count == client->index);
    app__sequencer_worker_t *const worker = &sequencer->workers[pair / sequencer->client_count];
    const uint32_t at = client->index;
    if (worker->arrived[at] == sequencer->window) {
        return;
    }
    SIM_CHECK(byte_len <= APP__SEQUENCER_SLOT_BYTES);
    worker->arrived[at]++;
    nic_core_wake(worker->thread.core);
}

// -- workers

// Returns whether the signaled response of a queue pair is among the calls that are not posted yet.
static bool holds_signaled(const app__sequencer_worker_t *worker, uint32_t q)
{
    for (uint32_t i = 0; i < worker->call_count; i++) {
        if (worker->calls[i].qp == q && worker->calls[i].signaled) {
            return true;
        }
    }
    return false;
}

// Looks at the slots of all clients once and takes one request per client, up to `collect`. Returns
// false if it must wait before it can continue.
static bool collect_calls(app__sequencer_worker_t *worker)
{
    const app__sequencer_t *const sequencer = worker->sequencer;
    nic_core_t *const core = worker->thread.core;
    if (worker->waits && !app__sequencer_is_done(worker)) {
        return false;
    }
    while (worker->looked < sequencer->client_count &&
           worker->call_count < sequencer->config.collect) {
        const uint32_t at = worker->next_client;
        worker->next_client = at + 1 == sequencer->client_count ? 0 : at + 1;
        worker->looked++;
        if (worker->arrived[at] == 0) {
            nic_core_spend(core, sequencer->config.look_ps);
            continue;
        }
        const bool first = worker->call_count == 0;
        nic_core_wait(core, first ? sequencer->config.request_ps
                                  : sequencer->config.request_ps / sequencer->config.overlap);
        const uint32_t q = at % sequencer->ports * sequencer->per_port + worker->next_qp;
        const uint64_t order = worker->posted[q]++ % SIGNAL_EVERY;
        worker->calls[worker->call_count++] = (app__sequencer_call_t){
            .client = at,
            .qp = q,
            .signaled = order == 0,
        };
        worker->arrived[at]--;
        if (order == SIGNAL_EVERY - 1) {
            worker->waits = true;
            worker->waits_for = q;
            if (holds_signaled(worker, q)) {
                return true; // the signaled response must be posted first
            }
            if (!app__sequencer_is_done(worker)) {
                worker->waited++;
                return false;
            }
        }
    }
    return true;
}

static void fill_response(const app__sequencer_worker_t *worker, const app__sequencer_call_t *call,
                          nic_send_wr_t *wr)
{
    const app__sequencer_client_t *const client = &worker->sequencer->clients[call->client];
    *wr = (nic_send_wr_t){
        .wr_id = call->qp,
        .opcode = NIC_WR_SEND_WITH_IMM,
        .send_flags = (uint32_t)NIC_SEND_INLINE | (call->signaled ? NIC_SEND_SIGNALED : 0u),
        .sge = {worker->thread.machine->address, RESPONSE_BYTES,
                app__machine_key(worker->thread.machine)},
        .imm_data = call->imm,
        .ud = {client->thread.machine->endpoint->interface, nic_qp_num(client->response_qp), 0},
    };
}

static void count_list(app__sequencer_worker_t *worker, uint32_t answers)
{
    const sim_time_t now_ps = nic_core_now_ps(worker->thread.core);
    const app__span_t *const span = worker->thread.span;
    const bool within = now_ps >= app__span_begin(span) && now_ps < app__span_end(span);
    worker->lists += within;
    worker->answers += within ? answers : 0;
}

static void post_responses(app__sequencer_worker_t *worker)
{
    const app__sequencer_t *const sequencer = worker->sequencer;
    nic_send_wr_t list[APP__SEQUENCER_COLLECT_MAX];
    for (uint32_t port = 0; port < sequencer->ports; port++) {
        uint32_t size = 0;
        for (uint32_t i = 0; i < worker->call_count; i++) {
            if (worker->calls[i].client % sequencer->ports == port) {
                fill_response(worker, &worker->calls[i], &list[size]);
                if (size > 0) {
                    list[size - 1].next = &list[size];
                }
                size++;
            }
        }
        if (size > 0) {
            app__post(worker->qps[port * sequencer->per_port + worker->next_qp], list);
            count_list(worker, size);
        }
    }
}

static void post_one_by_one(app__sequencer_worker_t *worker)
{
    for (uint32_t i = 0; i < worker->call_count; i++) {
        nic_send_wr_t wr;
        fill_response(worker, &worker->calls[i], &wr);
        app__post(worker->qps[worker->calls[i].qp], &wr);
        count_list(worker, 1);
    }
}

static bool work(nic_core_t *core, void *ctx)
{
    (void)core;
    app__sequencer_worker_t *const worker = ctx;
    if (!collect_calls(worker)) {
        return false;
    }
    const uint32_t count = worker->call_count;
    worker->looked = 0;
    if (count == 0) {
        return false;
    }
    const uint64_t base = app__sequencer_take(worker, count);
    for (uint32_t i = 0; i < count; i++) {
        worker->calls[i].imm = (uint32_t)(base + i);
    }
    if (worker->sequencer->config.post_list) {
        post_responses(worker);
    } else {
        post_one_by_one(worker);
    }
    worker->call_count = 0;
    worker->next_qp = (worker->next_qp + 1) % worker->sequencer->per_port;
    app__thread_count(&worker->thread, count);
    return true;
}

// -- clients

static void send_request(app__sequencer_client_t *client)
{
    const app__sequencer_t *const sequencer = client->sequencer;
    const uint64_t index = client->sent++;
    const uint64_t pair = index % sequencer->worker_count * sequencer->client_count + client->index;
    const nic_send_wr_t wr = {
        .opcode = NIC_WR_RDMA_WRITE,
        .send_flags = (uint32_t)NIC_SEND_INLINE |
                      (client->sent % SIGNAL_EVERY == 0 ? (uint32_t)NIC_SEND_SIGNALED : 0),
        .sge = {client->thread.machine->address, REQUEST_BYTES,
                app__machine_key(client->thread.machine)},
        .rdma = {sequencer->machines[0].address +
                     (pair * sequencer->window + index % sequencer->window) *
                         APP__SEQUENCER_SLOT_BYTES,
                 app__machine_key(&sequencer->machines[0])},
    };
    app__post(client->qp, &wr);
    client->waiting++;
    client->heard_ps = nic_core_now_ps(client->thread.core);
}

// Posts a receive for each answer that can come: a window of them, and a second window for late
// answers once requests were lost.
static void refill(app__sequencer_client_t *client)
{
    const app__sequencer_t *const sequencer = client->sequencer;
    const uint32_t wanted = client->lost == 0 ? sequencer->window : 2 * sequencer->window;
    if (client->receives < wanted) {
        app__post_receives(client->response_qp, client->thread.machine, wanted - client->receives,
                           RECEIVE_BYTES);
        client->receives = wanted;
    }
}

// Handles a client's timeout. If the client heard nothing for that long, it treats all requests it
// waits for as lost and continues; answers that still come count as late.
static void client_timeout(sim_node_t *node, sim_timer_t *timer)
{
    app__sequencer_client_t *const client =
        SIM_CONTAINER_OF(timer, app__sequencer_client_t, timeout);
    if (client->thread.stopped) {
        return;
    }
    sim_time_t at_ps = client->heard_ps + client->sequencer->config.timeout_ps;
    if (node->now_ps >= at_ps) {
        client->overdue = client->waiting != 0;
        if (client->overdue) {
            nic_core_wake(client->thread.core);
        }
        at_ps = node->now_ps + client->sequencer->config.timeout_ps;
    }
    sim_timer_arm(node, timer, at_ps);
}

static uint32_t take_answers(app__sequencer_client_t *client)
{
    nic_wc_t wc[POLL_MAX];
    const uint32_t count = nic_poll_cq(client->cq, POLL_MAX, wc);
    uint32_t answers = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!app__thread_succeeded(&client->thread, &wc[i]) || wc[i].opcode != NIC_WC_RECV) {
            continue;
        }
        client->receives--;
        app__sequencer_keep(client, app__sequencer_near(client, wc[i].imm_data));
        answers++;
    }
    const uint32_t expected = SIM_MIN(answers, client->waiting);
    client->waiting -= expected;
    client->late += answers - expected;
    client->answered += answers;
    if (answers != 0) {
        client->heard_ps = nic_core_now_ps(client->thread.core);
    }
    app__thread_count(&client->thread, answers);
    return count;
}

static uint32_t request_depth(const app__sequencer_t *sequencer)
{
    return 2 * sequencer->window + SIGNAL_EVERY;
}

// Returns whether the send queue has room for a window. Lost requests may still be in it; if it is
// full, a signaled one completes later and wakes the client.
static bool has_room(const app__sequencer_client_t *client)
{
    return (uint32_t)client->sent - nic_qp_sends_done(client->qp) <=
           request_depth(client->sequencer) - client->sequencer->window;
}

static bool ask(nic_core_t *core, void *ctx)
{
    (void)core;
    app__sequencer_client_t *const client = ctx;
    const app__sequencer_t *const sequencer = client->sequencer;
    if (client->overdue) {
        client->overdue = false;
        client->lost += client->waiting;
        client->waiting = 0;
        return true;
    }
    const bool window_over = client->sent % sequencer->window == 0;
    const bool may_begin = client->waiting == 0 && has_room(client);
    if (client->sent < sequencer->requests && (!window_over || may_begin)) {
        if (window_over) {
            refill(client);
        }
        send_request(client);
        return true;
    }
    return take_answers(client) != 0;
}

// -- creation

static void make_qp(app__sequencer_worker_t *worker, uint32_t number)
{
    worker->qps[number] = app__machine_qp(worker->thread.machine, NIC_QPT_UD, worker->cqs[number],
                                          APP__SEQUENCER_SEND_DEPTH, 0);
}

static void make_client(app__sequencer_client_t *client)
{
    const app__sequencer_t *const sequencer = client->sequencer;
    app__machine_t *const machine = client->thread.machine;
    sim_timer_init_background(&client->timeout, client_timeout);
    sim_timer_arm(machine->endpoint->node, &client->timeout,
                  sequencer->config.span.start_ps + sequencer->config.timeout_ps);
    client->qp = app__machine_qp(machine, NIC_QPT_UC, client->cq, request_depth(sequencer), 0);
    client->response_qp =
        app__machine_qp(machine, NIC_QPT_UD, client->cq, 1, 2 * sequencer->window);
    nic_qp_t *const server =
        app__machine_qp(&sequencer->machines[0], NIC_QPT_UC, sequencer->unused, 1, 0);
    app__join(client->qp, server);
    nic_qp_on_write(server, request_written, client);
}

const app__sequencer_ops_t app__sequencer_rpc = {work, ask, make_qp, make_client};
