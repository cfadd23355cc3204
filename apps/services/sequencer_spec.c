// SPDX-License-Identifier: Apache-2.0
// apps/services/sequencer_spec.c - sequencers without connection state at the server (Spec-S0), or
// without its CPU (fetch-and-add); docs/models/guidelines.md.
//
// In Spec-S0 request and response are header-only SENDs with an immediate. The request carries the
// upper half that the client expects. If it is right, the response carries the lower half, else the
// whole number as payload. (Simulated memory has no contents: that response carries the lower half,
// too.)
#include "apps/services/sequencer_internal.h"

#define POLL_MAX APP__SEQUENCER_POLL_MAX
#define SIGNAL_EVERY APP__SEQUENCER_SIGNAL_EVERY
#define QP_DEPTH 1024u
#define PAYLOAD_BYTES 8u
#define RECEIVE_BYTES UINT64_C(64)

// -- workers

static nic_send_wr_t response_to(const app__sequencer_worker_t *worker, const nic_wc_t *request,
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
static bool fill_responses(app__sequencer_worker_t *worker)
{
    const uint32_t q = worker->next_qp;
    if (worker->waits && !app__sequencer_is_done(worker)) {
        return false;
    }
    while (worker->filled < worker->taken) {
        const uint32_t i = worker->filled++;
        const uint64_t order = worker->posted[q]++ % SIGNAL_EVERY;
        worker->list[i] = response_to(worker, &worker->requests[i], worker->base + i, order == 0);
        if (order == SIGNAL_EVERY - 1) {
            worker->waits = true;
            worker->waits_for = q;
            if (worker->filled - worker->begun >= SIGNAL_EVERY) {
                return true; // the signaled response is among them and must be posted first
            }
            if (!app__sequencer_is_done(worker)) {
                return false;
            }
        }
    }
    return true;
}

static void post_responses(app__sequencer_worker_t *worker)
{
    nic_qp_t *const qp = worker->qps[worker->next_qp];
    const bool listed = worker->sequencer->config.post_list;
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
    (void)core;
    app__sequencer_worker_t *const worker = ctx;
    if (worker->taken == 0) {
        const uint32_t polled =
            nic_poll_cq(worker->cq, (uint32_t)worker->sequencer->config.collect, worker->requests);
        uint32_t count = 0;
        for (uint32_t i = 0; i < polled; i++) {
            if (app__thread_succeeded(&worker->thread, &worker->requests[i])) {
                worker->requests[count++] = worker->requests[i];
            }
        }
        if (count == 0) {
            return polled != 0;
        }
        worker->taken = count;
        worker->filled = 0;
        worker->begun = 0;
        worker->base = app__sequencer_take(worker, count);
        app__post_receives(worker->qps[0], worker->thread.machine, count, RECEIVE_BYTES);
    }
    if (!fill_responses(worker)) {
        return false;
    }
    post_responses(worker);
    if (worker->filled == worker->taken) {
        worker->next_qp = (worker->next_qp + 1) % worker->sequencer->qp_count;
        worker->taken = 0;
    }
    return true;
}

// -- clients of Spec-S0

static void send_requests(app__sequencer_client_t *client, uint32_t count)
{
    const app__sequencer_worker_t *const worker =
        &client->sequencer->workers[client->index % client->sequencer->worker_count];
    nic_send_wr_t list[APP__SEQUENCER_COLLECT_MAX];
    SIM_CHECK(count > 0);
    for (uint32_t i = 0; i < count; i++) {
        client->sent++;
        list[i] = (nic_send_wr_t){
            .opcode = NIC_WR_SEND_WITH_IMM,
            .send_flags = NIC_SEND_INLINE |
                          (client->sent % SIGNAL_EVERY == 0 ? (uint32_t)NIC_SEND_SIGNALED : 0),
            .imm_data = (uint32_t)client->high,
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

static uint32_t still_wanted(const app__sequencer_client_t *client, uint32_t count)
{
    const uint64_t left = client->sequencer->requests - (client->sent - client->lost);
    return left < count ? (uint32_t)left : count;
}

static uint64_t under_way(const app__sequencer_client_t *client)
{
    return client->sent - client->answered - client->lost;
}

// Returns how many requests the send queue has room for; lost requests may still be in it.
static uint32_t room_to_send(const app__sequencer_client_t *client)
{
    return QP_DEPTH - ((uint32_t)client->sent - nic_qp_sends_done(client->qp));
}

// Handles a client's timeout. If the client heard nothing for that long, it treats all requests it
// waits for as lost and sends new ones.
static void client_timeout(sim_node_t *node, sim_timer_t *timer)
{
    app__sequencer_client_t *const client =
        SIM_CONTAINER_OF(timer, app__sequencer_client_t, timeout);
    if (client->thread.stopped) {
        return;
    }
    if (node->now_ps >= client->heard_ps + client->sequencer->config.timeout_ps) {
        client->heard_ps = node->now_ps;
        client->overdue = under_way(client) > 0 || client->held_up;
        if (client->overdue) {
            nic_core_wake(client->thread.core);
        }
    }
    sim_timer_arm(node, timer, client->heard_ps + client->sequencer->config.timeout_ps);
}

static void give_up(app__sequencer_client_t *client)
{
    client->lost += client->overdue ? under_way(client) : 0;
    client->overdue = false;
}

// Returns how many requests the window and the send queue have room for.
static uint32_t may_send(app__sequencer_client_t *client)
{
    const uint32_t wanted =
        still_wanted(client, client->sequencer->window - (uint32_t)under_way(client));
    const uint32_t room = room_to_send(client);
    client->held_up = wanted > room;
    return client->held_up ? room : wanted;
}

static bool ask(nic_core_t *core, void *ctx)
{
    app__sequencer_client_t *const client = ctx;
    if (client->sent == 0) {
        client->heard_ps = nic_core_now_ps(core);
        const uint32_t first = still_wanted(client, client->sequencer->window);
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
        const uint64_t number = app__sequencer_near(client, wc[i].imm_data);
        if (wc[i].byte_len != 0) {
            client->wrong++;
            client->high = number >> 32;
        }
        app__sequencer_keep(client, number);
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
    app__sequencer_client_t *const client = ctx;
    const app__sequencer_t *const sequencer = client->sequencer;
    nic_wc_t wc[POLL_MAX];
    uint32_t count = 0;
    if (client->sent >= client->sequencer->window || client->sent == sequencer->requests) {
        uint32_t answers = 0;
        count = nic_poll_cq(client->cq, POLL_MAX, wc);
        for (uint32_t i = 0; i < count; i++) {
            if (app__thread_succeeded(&client->thread, &wc[i])) {
                answers++;
                app__sequencer_keep(client, wc[i].atomic_original);
            }
        }
        client->answered += answers;
        app__thread_count(&client->thread, answers);
    }
    if (SIM_UNLIKELY(client->thread.failed > 0)) {
        return count != 0; // its only queue pair is in the error state
    }
    const uint64_t room = client->sequencer->window - (client->sent - client->answered);
    const uint32_t more = still_wanted(client, room > POLL_MAX ? POLL_MAX : (uint32_t)room);
    for (uint32_t i = 0; i < more; i++) {
        const nic_send_wr_t wr = {
            .opcode = NIC_WR_ATOMIC_FETCH_AND_ADD,
            .send_flags = NIC_SEND_SIGNALED,
            .sge = {client->thread.machine->address, 8, app__machine_key(client->thread.machine)},
            .atomic = {client->sequencer->machines[0].address, 1, 0,
                       app__machine_key(&client->sequencer->machines[0])},
        };
        app__post(client->qp, &wr);
    }
    client->sent += more;
    return count + more != 0;
}

// -- creation

static void make_qp(app__sequencer_worker_t *worker, uint32_t number)
{
    const app__sequencer_t *const sequencer = worker->sequencer;
    const uint32_t workers = sequencer->worker_count;
    const uint32_t served = (sequencer->client_count + workers - 1) / workers;
    const uint32_t receives = number == 0 ? 2 * served * sequencer->window : 0;
    app__machine_t *const machine = worker->thread.machine;
    worker->qps[number] = app__machine_qp_apart(machine, NIC_QPT_UD, worker->cqs[number],
                                                worker->cq, APP__SEQUENCER_SEND_DEPTH, receives);
    app__post_receives(worker->qps[number], machine, receives, RECEIVE_BYTES);
}

static void make_client(app__sequencer_client_t *client)
{
    const app__sequencer_t *const sequencer = client->sequencer;
    app__machine_t *const machine = client->thread.machine;
    client->send_cq = nic_cq_create(machine->endpoint->nic, QP_DEPTH, NULL, NULL);
    sim_timer_init_background(&client->timeout, client_timeout);
    sim_timer_arm(machine->endpoint->node, &client->timeout,
                  sequencer->config.span.start_ps + sequencer->config.timeout_ps);
    client->qp = app__machine_qp_apart(machine, NIC_QPT_UD, client->send_cq, client->cq, QP_DEPTH,
                                       2 * sequencer->window);
}

static void make_adder(app__sequencer_client_t *client)
{
    const app__sequencer_t *const sequencer = client->sequencer;
    app__machine_t *const server = &sequencer->machines[0];
    nic_cq_t *const unused = nic_cq_create(server->endpoint->nic, 1, NULL, NULL);
    client->qp =
        app__machine_qp(client->thread.machine, NIC_QPT_RC, client->cq, sequencer->window, 0);
    app__join(client->qp, app__machine_qp(server, NIC_QPT_RC, unused, 1, 0));
}

const app__sequencer_ops_t app__sequencer_spec = {serve, ask, make_qp, make_client};
const app__sequencer_ops_t app__sequencer_fetch_add = {NULL, add, NULL, make_adder};
