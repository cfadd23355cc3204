// SPDX-License-Identifier: Apache-2.0
// apps/services/rpc.c - clients and workers of HERD's remote procedure calls
// (docs/models/guidelines.md).
#include "apps/services/rpc_internal.h"

#define POLL_MAX 64u
#define SIGNAL_EVERY 64u
#define SEND_DEPTH 128u // HRD_Q_DEPTH of the suite
#define RESPONSE_MAX UINT64_C(4096)

struct app__rpc_client {
    app__thread_t thread;
    app__rpc_t *rpc;
    uint32_t index;
    nic_cq_t *cq;
    nic_qp_t *request_qp;
    nic_qp_t *response_qp;
    uint64_t sent;
    uint64_t answered;
    uint64_t lost;     // requests given up after the timeout
    uint64_t late;     // answers that came after the timeout
    uint32_t waiting;  // requests that wait for answers
    uint32_t receives; // receives posted and not used
    sim_timer_t timeout;
    sim_time_t heard_ps; // when it last sent or received something
    bool overdue;
};

// A client's slot at the server.
struct app__rpc_slot {
    app__rpc_t *rpc;
    uint32_t index;
};

struct app__rpc_worker {
    app__thread_t thread;
    app__rpc_t *rpc;
    uint32_t index;
    nic_qp_t **qps; // ports x qps_per_port
    nic_cq_t **cqs; // one per QP
    uint64_t *posted;
    uint32_t next_qp;
    uint32_t next_client;
    app__rpc_call_t calls[APP__RPC_COLLECT_MAX]; // calls taken in this turn
    uint32_t call_count;
    uint32_t looked; // slots looked at in this turn
    bool waits;      // the worker waits for a completion of QP waits_for
    uint32_t waits_for;
    uint64_t waited; // number of such waits
    uint32_t *count; // requests that lie in slots, per client
    uint64_t lists;  // lists posted within the span; each is a batch
    uint64_t answers;
};

// -- the server's memory: a client's WRITE puts a request into its slot

// Handles a request that arrived; its slot identifies the worker. If the worker already holds a
// full window of the client's requests, the client has given up some of the answers, and this
// request is dropped.
static void request_written(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *ctx)
{
    (void)qp;
    app__rpc_slot_t *const slot = ctx;
    app__rpc_t *const rpc = slot->rpc;
    const uint64_t number = (address - rpc->machines[0].address) / APP__RPC_SLOT_BYTES;
    const uint64_t pair = number / rpc->window;
    SIM_CHECK(pair % rpc->client_count == slot->index);
    app__rpc_worker_t *const worker = &rpc->workers[pair / rpc->client_count];
    const uint32_t at = slot->index;
    if (worker->count[at] == rpc->window) {
        return;
    }
    SIM_CHECK(byte_len <= APP__RPC_SLOT_BYTES);
    worker->count[at]++;
    nic_core_wake(worker->thread.core);
}

// -- workers

// Polls for the completion that the worker waits for. Of SIGNAL_EVERY responses on a queue pair the
// first is signaled, and the worker waits for it before it takes the request of the last. So no
// queue overflows, and a worker that is ahead of the NIC stops with the calls collected so far.
static bool is_done(app__rpc_worker_t *worker)
{
    nic_wc_t wc;
    if (nic_poll_cq(worker->cqs[worker->waits_for], 1, &wc) == 0) {
        return false;
    }
    (void)app__thread_succeeded(&worker->thread, &wc);
    worker->waits = false;
    return true;
}

// Returns whether the signaled response of a queue pair is among the calls that are not posted yet.
static bool holds_signaled(const app__rpc_worker_t *worker, uint32_t q)
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
static bool collect_calls(app__rpc_worker_t *worker)
{
    const app__rpc_t *const rpc = worker->rpc;
    nic_core_t *const core = worker->thread.core;
    if (worker->waits && !is_done(worker)) {
        return false;
    }
    while (worker->looked < rpc->client_count && worker->call_count < rpc->collect) {
        const uint32_t at = worker->next_client;
        worker->next_client = at + 1 == rpc->client_count ? 0 : at + 1;
        worker->looked++;
        if (worker->count[at] == 0) {
            nic_core_spend(core, rpc->look_ps);
            continue;
        }
        const bool first = worker->call_count == 0;
        nic_core_wait(core, first ? rpc->request_ps : rpc->request_ps / rpc->overlap);
        const uint32_t q = at % rpc->ports * rpc->qps_per_port + worker->next_qp;
        const uint64_t order = worker->posted[q]++ % SIGNAL_EVERY;
        worker->calls[worker->call_count++] = (app__rpc_call_t){
            .client = at,
            .qp = q,
            .signaled = order == 0,
        };
        worker->count[at]--;
        if (order == SIGNAL_EVERY - 1) {
            worker->waits = true;
            worker->waits_for = q;
            if (holds_signaled(worker, q)) {
                return true; // the signaled response must be posted first
            }
            if (!is_done(worker)) {
                worker->waited++;
                return false;
            }
        }
    }
    return true;
}

static void fill_response(const app__rpc_worker_t *worker, const app__rpc_call_t *call,
                          nic_send_wr_t *wr)
{
    const app__rpc_client_t *const client = &worker->rpc->clients[call->client];
    *wr = (nic_send_wr_t){
        .wr_id = call->qp,
        .opcode = NIC_WR_SEND_WITH_IMM,
        .send_flags = (uint32_t)NIC_SEND_INLINE | (call->signaled ? NIC_SEND_SIGNALED : 0u),
        .sge = {worker->thread.machine->address, call->bytes,
                app__machine_key(worker->thread.machine)},
        .imm_data = call->imm,
        .ud = {client->thread.machine->endpoint->interface, nic_qp_num(client->response_qp), 0},
    };
}

static void count_list(app__rpc_worker_t *worker, uint32_t answers)
{
    const sim_time_t now_ps = nic_core_now_ps(worker->thread.core);
    const app__span_t *const span = worker->thread.span;
    const bool within = now_ps >= app__span_begin(span) && now_ps < app__span_end(span);
    worker->lists += within;
    worker->answers += within ? answers : 0;
}

static void post_responses(app__rpc_worker_t *worker)
{
    const app__rpc_t *const rpc = worker->rpc;
    nic_send_wr_t list[APP__RPC_COLLECT_MAX];
    for (uint32_t port = 0; port < rpc->ports; port++) {
        uint32_t size = 0;
        for (uint32_t i = 0; i < worker->call_count; i++) {
            if (worker->calls[i].client % rpc->ports == port) {
                fill_response(worker, &worker->calls[i], &list[size]);
                if (size > 0) {
                    list[size - 1].next = &list[size];
                }
                size++;
            }
        }
        if (size > 0) {
            app__post(worker->qps[port * rpc->qps_per_port + worker->next_qp], list);
            count_list(worker, size);
        }
    }
}

static void post_one_by_one(app__rpc_worker_t *worker)
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
    app__rpc_worker_t *const worker = ctx;
    app__rpc_t *const rpc = worker->rpc;
    if (!collect_calls(worker)) {
        return false;
    }
    const uint32_t count = worker->call_count;
    worker->looked = 0;
    if (count == 0) {
        return false;
    }
    rpc->ops->serve(rpc, worker->index, worker->calls, count);
    if (rpc->post_list) {
        post_responses(worker);
    } else {
        post_one_by_one(worker);
    }
    worker->call_count = 0;
    worker->next_qp = (worker->next_qp + 1) % rpc->qps_per_port;
    app__thread_count(&worker->thread, count);
    return true;
}

// -- clients

static void send_request(app__rpc_client_t *client)
{
    const app__rpc_t *const rpc = client->rpc;
    const uint64_t index = client->sent++;
    const app__rpc_request_t request = rpc->ops->draw(rpc, index);
    const uint64_t pair = (uint64_t)request.worker * rpc->client_count + client->index;
    const nic_send_wr_t wr = {
        .opcode = NIC_WR_RDMA_WRITE,
        .send_flags = (uint32_t)NIC_SEND_INLINE |
                      (client->sent % SIGNAL_EVERY == 0 ? (uint32_t)NIC_SEND_SIGNALED : 0),
        .sge = {client->thread.machine->address, request.bytes,
                app__machine_key(client->thread.machine)},
        .rdma = {rpc->machines[0].address +
                     (pair * rpc->window + index % rpc->window) * APP__RPC_SLOT_BYTES,
                 app__machine_key(&rpc->machines[0])},
    };
    app__post(client->request_qp, &wr);
    client->waiting++;
    client->heard_ps = nic_core_now_ps(client->thread.core);
}

// Posts a receive for each answer that can come: a window of them, and a second window for late
// answers once requests were lost.
static void refill(app__rpc_client_t *client)
{
    const app__rpc_t *const rpc = client->rpc;
    const uint32_t wanted = client->lost == 0 ? rpc->window : 2 * rpc->window;
    if (client->receives < wanted) {
        app__post_receives(client->response_qp, client->thread.machine, wanted - client->receives,
                           RESPONSE_MAX);
        client->receives = wanted;
    }
}

// Handles a client's timeout. If the client heard nothing for that long, it treats all requests it
// waits for as lost and continues; answers that still come count as late.
static void client_timeout(sim_node_t *node, sim_timer_t *timer)
{
    app__rpc_client_t *const client = SIM_CONTAINER_OF(timer, app__rpc_client_t, timeout);
    if (client->thread.stopped) {
        return;
    }
    sim_time_t at_ps = client->heard_ps + client->rpc->timeout_ps;
    if (node->now_ps >= at_ps) {
        client->overdue = client->waiting != 0;
        if (client->overdue) {
            nic_core_wake(client->thread.core);
        }
        at_ps = node->now_ps + client->rpc->timeout_ps;
    }
    sim_timer_arm(node, timer, at_ps);
}

static uint32_t take_answers(app__rpc_client_t *client)
{
    nic_wc_t wc[POLL_MAX];
    const uint32_t count = nic_poll_cq(client->cq, POLL_MAX, wc);
    uint32_t answers = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!app__thread_succeeded(&client->thread, &wc[i]) || wc[i].opcode != NIC_WC_RECV) {
            continue;
        }
        client->receives--;
        client->rpc->ops->answered(client->rpc, client->index, wc[i].imm_data);
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

static uint32_t request_depth(const app__rpc_t *rpc)
{
    return 2 * rpc->window + SIGNAL_EVERY;
}

// Returns whether the send queue has room for a window. Lost requests may still be in it; if it is
// full, a signaled one completes later and wakes the client.
static bool has_room(const app__rpc_client_t *client)
{
    return (uint32_t)client->sent - nic_qp_sends_done(client->request_qp) <=
           request_depth(client->rpc) - client->rpc->window;
}

static bool ask(nic_core_t *core, void *ctx)
{
    (void)core;
    app__rpc_client_t *const client = ctx;
    const app__rpc_t *const rpc = client->rpc;
    if (client->overdue) {
        client->overdue = false;
        client->lost += client->waiting;
        client->waiting = 0;
        return true;
    }
    const bool window_over = client->sent % rpc->window == 0;
    const bool may_begin = client->waiting == 0 && has_room(client);
    if (client->sent < rpc->requests && (!window_over || may_begin)) {
        if (window_over) {
            refill(client);
        }
        send_request(client);
        return true;
    }
    return take_answers(client) != 0;
}

// -- creation

static void make_workers(app__rpc_t *rpc)
{
    const uint32_t qps = rpc->ports * rpc->qps_per_port;
    for (uint32_t w = 0; w < rpc->worker_count; w++) {
        app__rpc_worker_t *const worker = &rpc->workers[w];
        app__thread_init(&worker->thread, &rpc->machines[0], &rpc->span, w, work, worker);
        worker->rpc = rpc;
        worker->index = w;
        worker->qps = sim_alloc_array(qps, sizeof(*worker->qps));
        worker->cqs = sim_alloc_array(qps, sizeof(*worker->cqs));
        worker->posted = sim_alloc_array(qps, sizeof(*worker->posted));
        worker->count = sim_alloc_array(rpc->client_count, sizeof(*worker->count));
    }
    // All workers create their queue pairs in parallel: first the first one of each, and so on.
    for (uint32_t q = 0; q < qps; q++) {
        for (uint32_t w = 0; w < rpc->worker_count; w++) {
            app__rpc_worker_t *const worker = &rpc->workers[w];
            worker->cqs[q] = app__thread_cq(&worker->thread);
            worker->qps[q] =
                app__machine_qp(&rpc->machines[0], NIC_QPT_UD, worker->cqs[q], SEND_DEPTH, 0);
        }
    }
}

static void make_clients(app__rpc_t *rpc)
{
    nic_cq_t *const unused = nic_cq_create(rpc->machines[0].endpoint->nic, 1, NULL, NULL);
    for (uint32_t c = 0; c < rpc->client_count; c++) {
        app__rpc_client_t *const client = &rpc->clients[c];
        app__rpc_slot_t *const slot = &rpc->slots[c];
        app__machine_t *const machine = &rpc->machines[1 + c % (rpc->machine_count - 1)];
        app__thread_init(&client->thread, machine, &rpc->span, c, ask, client);
        client->rpc = rpc;
        client->index = c;
        client->cq = app__thread_cq(&client->thread);
        *slot = (app__rpc_slot_t){.rpc = rpc, .index = c};
        sim_timer_init_background(&client->timeout, client_timeout);
        sim_timer_arm(machine->endpoint->node, &client->timeout,
                      rpc->span.start_ps + rpc->timeout_ps);
        client->request_qp =
            app__machine_qp(machine, NIC_QPT_UC, client->cq, request_depth(rpc), 0);
        client->response_qp = app__machine_qp(machine, NIC_QPT_UD, client->cq, 1, 2 * rpc->window);
        nic_qp_t *const server = app__machine_qp(&rpc->machines[0], NIC_QPT_UC, unused, 1, 0);
        app__join(client->request_qp, server);
        nic_qp_on_write(server, request_written, slot);
    }
}

sim_err_t app__rpc_init(app__rpc_t *rpc, const app_context_t *context,
                        const app__rpc_config_t *config, const app__span_t *span,
                        const app__rpc_ops_t *ops, void *program, sim_message_t *message)
{
    uint32_t *interfaces = NULL;
    uint32_t count = 0;
    const sim_err_t error = app__server_machines(context, config->server, config->clients_on,
                                                 &interfaces, &count, message);
    if (error != SIM_OK) {
        return error;
    }
    *rpc = (app__rpc_t){
        .ops = ops,
        .program = program,
        .span = *span,
        .machine_count = count,
        .worker_count = (uint32_t)config->workers,
        .client_count = (uint32_t)config->clients,
        .window = (uint32_t)config->window,
        .collect = (uint32_t)config->collect,
        .ports = (uint32_t)config->ports,
        .qps_per_port = (uint32_t)config->qps_per_port,
        .post_list = config->post_list,
        .requests = config->requests == SIM_AUTO ? UINT64_MAX : config->requests,
        .look_ps = config->look_ps,
        .request_ps = config->request_ps,
        .overlap = config->overlap,
        .timeout_ps = config->timeout_ps,
    };
    rpc->machines = sim_alloc_array(count, sizeof(*rpc->machines));
    rpc->workers = sim_alloc_array(rpc->worker_count, sizeof(*rpc->workers));
    rpc->clients = sim_alloc_array(rpc->client_count, sizeof(*rpc->clients));
    rpc->slots = sim_alloc_array(rpc->client_count, sizeof(*rpc->slots));
    const uint64_t slots_bytes =
        (uint64_t)rpc->worker_count * rpc->client_count * rpc->window * APP__RPC_SLOT_BYTES +
        RESPONSE_MAX;
    for (uint32_t m = 0; m < count; m++) {
        const uint64_t server_qps =
            rpc->client_count + (uint64_t)rpc->worker_count * rpc->ports * rpc->qps_per_port;
        app__machine_init(&rpc->machines[m], context, interfaces[m], slots_bytes,
                          m == 0 ? server_qps : 2 * (uint64_t)rpc->client_count);
    }
    sim_free(interfaces);
    make_workers(rpc);
    make_clients(rpc);
    return SIM_OK;
}

void app__rpc_fini(app__rpc_t *rpc)
{
    for (uint32_t w = 0; w < rpc->worker_count; w++) {
        app__rpc_worker_t *const worker = &rpc->workers[w];
        sim_free(worker->qps);
        sim_free(worker->posted);
        sim_free(worker->cqs);
        sim_free(worker->count);
    }
    sim_free(rpc->workers);
    sim_free(rpc->clients);
    sim_free(rpc->slots);
    sim_free(rpc->machines);
}

// -- results

void app__rpc_carry(app__rpc_t *rpc, sim_carry_t *carry)
{
    for (uint32_t c = 0; c < rpc->client_count; c++) {
        app__rpc_client_t *const client = &rpc->clients[c];
        if (app__thread_carry(carry, &client->thread)) {
            SIM_CARRY(carry, client->sent);
            SIM_CARRY(carry, client->answered);
            SIM_CARRY(carry, client->lost);
            SIM_CARRY(carry, client->late);
        }
    }
    for (uint32_t w = 0; w < rpc->worker_count; w++) {
        app__rpc_worker_t *const worker = &rpc->workers[w];
        if (app__thread_carry(carry, &worker->thread)) {
            SIM_CARRY(carry, worker->lists);
            SIM_CARRY(carry, worker->answers);
            SIM_CARRY(carry, worker->waited);
        }
    }
}

nic_core_t *app__rpc_worker_core(const app__rpc_t *rpc, uint32_t worker)
{
    return rpc->workers[worker].thread.core;
}

const app__thread_t *app__rpc_client_thread(const app__rpc_t *rpc, uint32_t client)
{
    return &rpc->clients[client].thread;
}

app__server_sums_t app__rpc_sums(const app_t *app, const app__rpc_t *rpc)
{
    uint64_t counted = 0;
    uint64_t sent = 0;
    uint64_t answered = 0;
    uint64_t lists = 0;
    uint64_t in_lists = 0;
    uint64_t waits = 0;
    uint64_t lost = 0;
    uint64_t late = 0;
    for (uint32_t c = 0; c < rpc->client_count; c++) {
        counted += rpc->clients[c].thread.counted;
        sent += rpc->clients[c].sent;
        answered += rpc->clients[c].answered;
        lost += rpc->clients[c].lost;
        late += rpc->clients[c].late;
    }
    for (uint32_t w = 0; w < rpc->worker_count; w++) {
        lists += rpc->workers[w].lists;
        in_lists += rpc->workers[w].answers;
        waits += rpc->workers[w].waited;
    }
    return (app__server_sums_t){
        .mops = app__mops(app, &rpc->span, counted),
        .responses_per_batch = lists == 0 ? 0.0 : (double)in_lists / (double)lists,
        .full_queue_waits = waits,
        .requests = sent,
        .responses = answered,
        .lost = lost,
        .late = late,
    };
}
