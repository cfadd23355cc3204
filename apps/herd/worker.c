// SPDX-License-Identifier: Apache-2.0
// apps/herd/worker.c - a HERD worker: polls its slots round robin, runs the store, answers.
//
// A turn looks at each client at most once, from where the last turn stopped, at the slot where the
// client's next request is expected, and takes up to `postlist` requests. Their memory is
// prefetched together. In a pipeline they wait instead until the next ones are taken, or until a
// no-op after `failed-polls` empty looks.
//
// A lost request leaves its slot empty while later ones fill, and a retry lies in a slot already
// answered. So after every `look-back` empty looks at a client the worker also looks at its other
// slots, and continues after the one it finds.
#include "apps/herd/worker.h"

#include <string.h>

#include "apps/herd/client.h"
#include "apps/herd/regions.h"

void app__herd_written(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *ctx)
{
    (void)qp;
    (void)byte_len;
    const app__herd_peer_t *const peer = ctx;
    app__herd_t *const herd = peer->herd;
    const uint64_t number = (address - herd->memory_address) / herd->slot_bytes;
    const uint32_t slot = (uint32_t)(number % herd->window);
    const uint64_t pair = number / herd->window;
    const uint32_t client = (uint32_t)(pair % herd->client_count);
    const uint32_t index = (uint32_t)(pair / herd->client_count);
    SIM_CHECK(client == peer->client && index < herd->worker_count);
    app__herd_worker_t *const worker = &herd->workers[peer->server * herd->worker_count + index];
    uint8_t *const ready = &worker->ready[(uint64_t)client * herd->window + slot];
    if (*ready == 0) {
        *ready = 1;
        worker->ready_count[client]++;
        worker->ready_total++;
    }
    nic_core_wake(worker->thread.core);
}

// -- completions of answers

// Polls for the completion that the worker waits for. Of `unsignaled` answers on a queue pair the
// first is signaled, and the worker waits for it before it takes the request of the last. So no
// queue overflows, and a worker that is ahead of the NIC stops with the calls collected so far.
static bool is_done(app__herd_worker_t *worker)
{
    nic_wc_t wc;
    if (nic_poll_cq(worker->cqs[worker->waits_for], 1, &wc) == 0) {
        return false;
    }
    (void)app__thread_succeeded(&worker->thread, &wc);
    worker->waits = false;
    return true;
}

static void take_all(app__herd_worker_t *worker, nic_cq_t *cq)
{
    nic_wc_t wc[APP__HERD_POSTLIST_MAX];
    const uint32_t count = nic_poll_cq(cq, APP__HERD_POSTLIST_MAX, wc);
    for (uint32_t i = 0; i < count; i++) {
        (void)app__thread_succeeded(&worker->thread, &wc[i]);
    }
}

// Polls the completions of answers, for signal-all.
static void take_completions(app__herd_worker_t *worker)
{
    const app__herd_t *const herd = worker->herd;
    if (herd->config.answer != APP__HERD_BY_SEND) {
        take_all(worker, herd->unused_cqs[worker->server]);
        return;
    }
    const uint32_t queues = (uint32_t)(herd->config.ports * herd->config.qps_per_port);
    for (uint32_t q = 0; q < queues; q++) {
        take_all(worker, worker->cqs[q]);
    }
}

static uint32_t queue_of(const app__herd_worker_t *worker, uint32_t client)
{
    const app__herd_config_t *const config = &worker->herd->config;
    return client % (uint32_t)config->ports * (uint32_t)config->qps_per_port + worker->next_qp;
}

// -- taking requests

// Returns the client's slot in which the worker finds a request; herd->window: none.
static uint32_t find_request(app__herd_worker_t *worker, uint32_t client)
{
    const app__herd_t *const herd = worker->herd;
    const app__herd_config_t *const config = &herd->config;
    const uint8_t *const ready = &worker->ready[(uint64_t)client * herd->window];
    const uint32_t expected = worker->expected[client];
    if (SIM_LIKELY(ready[expected] != 0)) {
        worker->passed[client] = 0;
        return expected;
    }
    if (config->look_back == 0 || ++worker->passed[client] < config->look_back) {
        return herd->window;
    }
    worker->passed[client] = 0;
    for (uint32_t i = 1; i < herd->window; i++) {
        const uint32_t slot = (expected + i) % herd->window;
        nic_core_spend(worker->thread.core, config->look_ps);
        if (ready[slot] != 0) {
            worker->looked_back++;
            return slot;
        }
    }
    return herd->window;
}

// Spends the time of an empty look, with its share of the looks at other slots every `look-back`
// looks.
static void look_in_vain(app__herd_worker_t *worker)
{
    const app__herd_t *const herd = worker->herd;
    const app__herd_config_t *const config = &herd->config;
    const sim_time_t back_ps =
        config->look_back == 0 ? 0 : (herd->window - 1) * config->look_ps / config->look_back;
    nic_core_spend(worker->thread.core, config->look_ps + back_ps);
}

static void begin_call(app__herd_worker_t *worker, app__herd_call_t *call)
{
    const app__herd_config_t *const config = &worker->herd->config;
    const sim_time_t wait_ps =
        worker->call_count == 0 ? config->request_ps : config->request_ps / config->overlap;
    nic_core_wait(worker->thread.core, wait_ps);
    worker->calls[worker->call_count++] = *call;
}

// Returns how many requests this turn may take with regard to the queue pairs. With signal-all all
// answers must fit into each of them, else the worker waits for the fullest.
static uint32_t find_room(app__herd_worker_t *worker)
{
    const app__herd_config_t *const config = &worker->herd->config;
    const uint32_t most = (uint32_t)config->postlist;
    if (config->answer != APP__HERD_BY_SEND || !config->signal_all) {
        return most;
    }
    const uint32_t queues = (uint32_t)(config->ports * config->qps_per_port);
    uint32_t out = 0;
    uint32_t fullest = 0;
    for (uint32_t q = 0; q < queues; q++) {
        const uint32_t here = (uint32_t)worker->answered[q] - nic_qp_sends_done(worker->qps[q]);
        fullest = here > out ? q : fullest;
        out = SIM_MAX(here, out);
    }
    const uint32_t left = APP__HERD_SEND_DEPTH - out;
    // without a pipeline the requests taken now are answered now, else the oldest stage
    const bool now = config->pipeline == 0;
    worker->waits = left < (now ? 1 : worker->stages[worker->oldest_stage].count);
    worker->waits_for = fullest;
    return now && left < most ? left : most;
}

typedef enum { GO_ON, SERVE_FIRST, STAND_STILL } taken_t;

// Counts a taken request for the queue pair of its answer. If that answer would be the last before
// the next signaled one, the previous signaled one must complete first; SERVE_FIRST: it is not even
// posted.
static taken_t count_taken(app__herd_worker_t *worker, uint32_t client)
{
    const uint64_t every = worker->herd->config.unsignaled;
    if (worker->herd->config.answer != APP__HERD_BY_SEND || worker->herd->config.signal_all) {
        return GO_ON;
    }
    const uint32_t q = queue_of(worker, client);
    const uint64_t order = worker->posted[q]++;
    if (order % every != every - 1) {
        return GO_ON;
    }
    worker->waits = true;
    worker->waits_for = q;
    if (worker->answered[q] <= order - (every - 1)) {
        return SERVE_FIRST;
    }
    if (is_done(worker)) {
        return GO_ON;
    }
    worker->waited++;
    return STAND_STILL;
}

static taken_t collect_slots(app__herd_worker_t *worker)
{
    const app__herd_t *const herd = worker->herd;
    taken_t taken = GO_ON;
    while (taken == GO_ON && worker->looked < herd->client_count &&
           worker->call_count < worker->room) {
        const uint32_t client = worker->next_client;
        worker->next_client = client + 1 == herd->client_count ? 0 : client + 1;
        worker->looked++;
        const uint32_t slot =
            worker->ready_count[client] == 0 ? herd->window : find_request(worker, client);
        if (slot == herd->window) {
            look_in_vain(worker);
            worker->failed++;
            continue;
        }
        app__herd_call_t call = {
            .client = client,
            .slot = slot,
            .receive = APP__HERD_NONE,
            .address = app__herd_slot_address(herd, worker->index, client, slot),
        };
        worker->ready[(uint64_t)client * herd->window + slot] = 0;
        worker->ready_count[client]--;
        worker->ready_total--;
        worker->expected[client] = (slot + 1) % herd->window;
        begin_call(worker, &call);
        taken = count_taken(worker, client);
    }
    return taken;
}

// Returns how many messages to take, so that at most the last of them makes the worker wait,
// whichever queue pairs the answers use.
static uint32_t room_for_messages(const app__herd_worker_t *worker)
{
    const app__herd_config_t *const config = &worker->herd->config;
    uint32_t room = worker->room - worker->call_count;
    for (uint32_t port = 0; config->answer == APP__HERD_BY_SEND && port < config->ports; port++) {
        const uint64_t posted = worker->posted[queue_of(worker, port)];
        const uint64_t left = config->unsignaled - posted % config->unsignaled;
        room = left < room ? (uint32_t)left : room;
    }
    return room;
}

static taken_t collect_messages(app__herd_worker_t *worker)
{
    const app__herd_t *const herd = worker->herd;
    nic_wc_t wc[APP__HERD_POSTLIST_MAX];
    const uint32_t room = room_for_messages(worker);
    if (room == 0) {
        return GO_ON;
    }
    const uint32_t count = nic_poll_cq(worker->requests_cq, room, wc);
    taken_t taken = GO_ON;
    worker->failed += count == 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!app__thread_succeeded(&worker->thread, &wc[i])) {
            continue;
        }
        app__herd_call_t call = {
            .client = wc[i].imm_data >> 16,
            .slot = wc[i].imm_data & 0xffffu,
            .receive = (uint32_t)wc[i].wr_id,
            .address = app__herd_received_address(herd, worker->index, (uint32_t)wc[i].wr_id),
        };
        SIM_CHECK(call.client < herd->client_count && call.slot < herd->window);
        begin_call(worker, &call);
        taken = count_taken(worker, call.client);
    }
    return taken;
}

void app__herd_post_requests_receives(app__herd_worker_t *worker, uint32_t first, uint32_t count)
{
    const app__herd_t *const herd = worker->herd;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t client = (first + i) / herd->window;
        nic_qp_t *const qp =
            worker->requests != NULL
                ? worker->requests
                : herd->peers[(uint64_t)worker->server * herd->client_count + client].qp;
        const nic_recv_wr_t wr = {
            .wr_id = first + i,
            .sge = {app__herd_received_address(herd, worker->index, first + i), herd->slot_bytes,
                    app__machine_key(worker->thread.machine)},
        };
        const sim_err_t error = nic_post_recv_list(qp, &wr, 1, NULL);
        SIM_CHECKF(error == SIM_OK, "%s", sim_err_text(error));
    }
}

// -- the store

// Runs a PUT on a table that clients read by READs; they never send GETs to a worker.
static void put_into_table(app__herd_worker_t *worker, app__herd_call_t *call,
                           const app_herd_request_t *request)
{
    const app__herd_t *const herd = worker->herd;
    if (!call->put || request->value_bytes != herd->value_bytes) {
        worker->malformed++;
        return;
    }
    (void)app_herd_table_put(herd->tables[worker->server], request->key, request->value);
    call->answer_bytes = (uint32_t)herd->config.put_answer;
}

// Serves a call: decodes the request, marks it as seen by the store's opcode, runs it, and leaves
// the answer in a buffer of the worker.
static void serve_by_store(app__herd_worker_t *worker, app__herd_call_t *call)
{
    const app__herd_t *const herd = worker->herd;
    uint8_t bytes[APP_HERD_REQUEST_MAX];
    app_herd_request_t request;
    const uint32_t room = SIM_MIN(herd->slot_bytes, sizeof(bytes));
    nic_memory_read(worker->memory, call->address, bytes, room);
    if (!app_herd_decode(bytes, room, herd->large, &request)) {
        worker->malformed++;
        return;
    }
    if (request.opcode >= APP_HERD_GET) {
        const uint8_t seen = (uint8_t)(request.opcode - APP_HERD_OPCODE_OFFSET);
        nic_memory_write(worker->memory, call->address + APP_HERD_KEY_BYTES, &seen, 1);
        call->put = request.opcode == APP_HERD_PUT;
    } else {
        call->put = request.opcode == APP_MICA_PUT; // it was served before and written again
    }
    if (herd->reads) {
        put_into_table(worker, call, &request);
        return;
    }
    if (herd->config.service == APP__HERD_MODEL) {
        const uint64_t hit = herd->config.model_hit.num;
        const uint64_t all = herd->config.model_hit.den;
        const uint64_t drawn = sim_mix64(request.key.low + worker->gets) % all;
        call->hit = !call->put && drawn < hit;
        call->answer_bytes = app__herd_answer_bytes(herd, call->put, call->hit,
                                                    app__herd_value_bytes(herd, request.key));
        return;
    }
    if (call->put) {
        app_mica_put(worker->mica, request.key, request.value, request.value_bytes);
        call->answer_bytes = (uint32_t)herd->config.put_answer;
        return;
    }
    uint8_t answer[16 + 1 + APP_HERD_VALUE_MAX] = {0};
    const uint32_t status = app__herd_sends(herd->config.answer) ? 0 : 1;
    const uint32_t head = status + (uint32_t)herd->config.get_head;
    uint32_t value_bytes = 0;
    call->hit = app_mica_get(worker->mica, request.key, answer + head, &value_bytes);
    call->answer_bytes = app__herd_answer_bytes(herd, false, call->hit, value_bytes);
    if (call->hit) {
        call->answer_address = app__herd_answers_address(herd, worker->index, worker->next_answer);
        worker->next_answer = (worker->next_answer + 1) % app__herd_answer_buffers(herd);
        if (status != 0) {
            answer[0] = 1;
        }
        if (herd->config.get_head >= 2) {
            answer[status] = (uint8_t)value_bytes;
            answer[status + 1] = (uint8_t)(value_bytes >> 8);
        }
        nic_memory_write(worker->memory, call->answer_address, answer, head + value_bytes);
    }
}

// Spends the time of cache misses. Those of a batch overlap, as many as the core can have in
// flight; in a pipeline they also overlap with those of other requests.
static void spend_on_memory(const app__herd_worker_t *worker, uint64_t misses)
{
    const app__herd_config_t *const config = &worker->herd->config;
    uint64_t beside = config->prefetch ? config->overlapped : 1;
    if (config->prefetch && config->pipeline == 0) {
        const uint64_t count = worker->call_count;
        beside = SIM_MIN(count, config->overlapped);
    }
    nic_core_wait(worker->thread.core, misses * config->memory_ps / beside);
}

static void spend_by_model(const app__herd_worker_t *worker, uint64_t gets, uint64_t puts)
{
    const app__herd_config_t *const config = &worker->herd->config;
    const app__herd_batch_table_t *const table = &config->batch_table;
    const sim_time_t batch_ps = table->count == 0 ? 0 : app__herd_batch_ps(table, gets + puts);
    nic_core_spend(worker->thread.core, config->model_base_ps + gets * config->model_get_ps +
                                            puts * config->model_put_ps +
                                            (gets + puts) * config->model_batch_ps + batch_ps);
}

static void serve(app__herd_worker_t *worker)
{
    const app__herd_t *const herd = worker->herd;
    uint64_t gets = 0;
    uint64_t puts = 0;
    const bool echo = herd->config.system == APP__HERD_ECHO;
    for (uint32_t i = 0; i < worker->call_count; i++) {
        app__herd_call_t *const call = &worker->calls[i];
        if (echo) {
            call->answer_bytes = herd->value_bytes;
        } else {
            serve_by_store(worker, call);
        }
        puts += call->put;
        gets += !call->put;
        worker->hits += call->hit;
    }
    worker->gets += gets;
    worker->puts += puts;
    const uint64_t extra = (gets + puts) * herd->config.extra_accesses;
    if (echo) {
        spend_on_memory(worker, extra);
    } else if (herd->config.service == APP__HERD_MODEL) {
        spend_by_model(worker, gets, puts);
    } else {
        spend_on_memory(worker, 2 * gets + puts + extra);
        nic_core_spend(worker->thread.core, (gets + puts) * herd->config.operation_ps);
    }
}

// -- answers

static void fill_answer(const app__herd_worker_t *worker, const app__herd_call_t *call,
                        nic_send_wr_t *wr)
{
    const app__herd_t *const herd = worker->herd;
    const app__herd_client_t *const client = &herd->clients[call->client];
    const bool by_send = app__herd_sends(herd->config.answer);
    const uint32_t bytes = call->answer_bytes + (by_send ? 0 : 1);
    const uint64_t address =
        call->answer_address != 0
            ? call->answer_address
            : app__herd_answers_address(herd, worker->index, app__herd_answer_buffers(herd));
    *wr = (nic_send_wr_t){
        .opcode = by_send ? NIC_WR_SEND_WITH_IMM : NIC_WR_RDMA_WRITE,
        .send_flags = bytes <= herd->config.inline_max ? (uint32_t)NIC_SEND_INLINE : 0u,
        .sge = {address, bytes, app__machine_key(worker->thread.machine)},
        .imm_data = app_herd_immediate(worker->id, call->slot),
    };
    if (herd->config.answer == APP__HERD_BY_SEND) {
        wr->ud.remote_interface = client->thread.machine->endpoint->interface;
        wr->ud.remote_qpn = nic_qp_num(client->datagrams);
    } else if (!by_send) {
        const uint32_t op = worker->id * herd->window + call->slot;
        wr->rdma.remote_addr = app__herd_answer_slot_address(client, op);
        wr->rdma.rkey = app__machine_key(client->thread.machine);
    }
}

// Counts a list of answers just posted, and the answers that are then in its send queue.
static void count_list(app__herd_worker_t *worker, uint32_t answers, uint32_t in_queue)
{
    if (app__herd_measured(worker->herd, nic_core_now_ps(worker->thread.core))) {
        worker->lists++;
        worker->listed += answers;
        worker->send_sum += in_queue;
        worker->send_max = SIM_MAX(in_queue, worker->send_max);
    }
}

// Returns how many of the answers posted on a queue pair are not completed.
static uint32_t answers_in_queue(const nic_qp_t *qp, uint64_t posted)
{
    return (uint32_t)posted - nic_qp_sends_done(qp);
}

// Requests a completion for the first of each `unsignaled` answers of a queue pair.
static void sign(app__herd_worker_t *worker, uint32_t q, nic_send_wr_t *wr, uint64_t *answered)
{
    const uint64_t every = worker->herd->config.unsignaled;
    const bool signaled = answered[q]++ % every == 0 || worker->herd->config.signal_all;
    wr->send_flags |= signaled ? (uint32_t)NIC_SEND_SIGNALED : 0u;
}

static void post_lists(app__herd_worker_t *worker)
{
    const app__herd_t *const herd = worker->herd;
    const uint32_t ports = (uint32_t)herd->config.ports;
    nic_send_wr_t list[APP__HERD_POSTLIST_MAX];
    for (uint32_t port = 0; port < ports; port++) {
        uint32_t size = 0;
        const uint32_t q = queue_of(worker, port);
        for (uint32_t i = 0; i < worker->call_count; i++) {
            if (worker->calls[i].client % ports == port) {
                fill_answer(worker, &worker->calls[i], &list[size]);
                sign(worker, q, &list[size], worker->answered);
                if (size > 0) {
                    list[size - 1].next = &list[size];
                }
                size++;
            }
        }
        if (size > 0) {
            app__post(worker->qps[q], list);
            count_list(worker, size, answers_in_queue(worker->qps[q], worker->answered[q]));
        }
    }
}

// Posts an answer, or drops it if the send queue is full: the client does not acknowledge answers
// but goes on asking, and must not block other clients.
static void post_if_room(app__herd_worker_t *worker, app__herd_peer_t *peer,
                         const nic_send_wr_t *wr)
{
    const sim_err_t error = nic_post_send(peer->qp, wr);
    SIM_CHECKF(error == SIM_OK || error == SIM_ERR_FULL, "QP %u: %s", nic_qp_num(peer->qp),
               sim_err_text(error));
    worker->unsent += error == SIM_ERR_FULL;
    peer->answers += error == SIM_OK;
    count_list(worker, 1, answers_in_queue(peer->qp, peer->answers));
}

static void post_one_by_one(app__herd_worker_t *worker)
{
    const app__herd_t *const herd = worker->herd;
    for (uint32_t i = 0; i < worker->call_count; i++) {
        const app__herd_call_t *const call = &worker->calls[i];
        nic_send_wr_t wr;
        fill_answer(worker, call, &wr);
        if (herd->config.answer == APP__HERD_BY_SEND) {
            const uint32_t q = queue_of(worker, call->client);
            sign(worker, q, &wr, worker->answered);
            app__post(worker->qps[q], &wr);
            count_list(worker, 1, answers_in_queue(worker->qps[q], worker->answered[q]));
        } else {
            const uint64_t peer = (uint64_t)worker->server * herd->client_count + call->client;
            wr.send_flags |= herd->config.signal_all ? (uint32_t)NIC_SEND_SIGNALED : 0u;
            post_if_room(worker, &herd->peers[peer], &wr);
        }
    }
}

// Adds the core's and the PCIe link's busy time since any worker's last turn to the current
// interval of the series.
static void count_in_series(app__herd_worker_t *worker, uint32_t count)
{
    app__herd_t *const herd = worker->herd;
    const app__herd_config_t *const config = &herd->config;
    const sim_time_t since_ps = nic_core_now_ps(worker->thread.core) - config->span.start_ps;
    app__herd_bin_t *const bin = app__herd_bin_at(&worker->series, since_ps, config->series_ps);
    bin->done += count;
    bin->turns++;
    bin->queue += worker->ready_total;
    const sim_time_t busy_ps = nic_core_busy_ps(worker->thread.core);
    bin->busy_ps += busy_ps - worker->busy_seen_ps;
    worker->busy_seen_ps = busy_ps;
    nic_rnic_counters_t counters;
    if (nic_get_rnic_counters(worker->thread.machine->endpoint->nic, &counters)) {
        const uint64_t bytes = counters.pcie_up_bytes + counters.pcie_down_bytes;
        bin->pcie_bytes += bytes - herd->pcie_seen[worker->server];
        herd->pcie_seen[worker->server] = bytes;
    }
}

static void answer(app__herd_worker_t *worker)
{
    const app__herd_t *const herd = worker->herd;
    const uint32_t count = worker->call_count;
    serve(worker);
    if (herd->config.list && herd->config.answer == APP__HERD_BY_SEND) {
        post_lists(worker);
    } else {
        post_one_by_one(worker);
    }
    if (herd->config.signal_all) {
        take_completions(worker);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (worker->calls[i].receive != APP__HERD_NONE) {
            app__herd_post_requests_receives(worker, worker->calls[i].receive, 1);
        }
    }
    if (app__herd_measured(herd, nic_core_now_ps(worker->thread.core))) {
        worker->turns++;
        worker->taken += count;
        app__herd_count(&worker->batches, count);
        worker->queue_sum += worker->ready_total;
        worker->queue_max = SIM_MAX(worker->ready_total, worker->queue_max);
    }
    if (herd->config.series_ps != 0) {
        count_in_series(worker, count);
    }
    worker->call_count = 0;
    worker->next_qp = (worker->next_qp + 1) % (uint32_t)herd->config.qps_per_port;
    app__thread_count(&worker->thread, count);
}

// -- the loop

// Advances the pipeline by a stage: the calls just taken (or none) enter, and those that leave
// become the calls to serve. Returns false if none leave.
static bool shift_pipeline(app__herd_worker_t *worker)
{
    app__herd_stage_t *const stage = &worker->stages[worker->oldest_stage];
    const uint32_t taken = worker->call_count;
    const uint32_t served = stage->count;
    app__herd_call_t calls[APP__HERD_POSTLIST_MAX];
    memcpy(calls, stage->calls, served * sizeof(*calls));
    memcpy(stage->calls, worker->calls, taken * sizeof(*calls));
    memcpy(worker->calls, calls, served * sizeof(*calls));
    stage->count = taken;
    worker->call_count = served;
    worker->oldest_stage = (worker->oldest_stage + 1) % (uint32_t)worker->herd->config.pipeline;
    worker->held_count += taken;
    worker->held_count -= served;
    return served != 0;
}

// Pushes the pipeline on with no-ops: once, or until it is empty.
static void push_on(app__herd_worker_t *worker, bool all)
{
    do {
        worker->failed = 0;
        if (shift_pipeline(worker)) {
            answer(worker);
        }
    } while (all && worker->held_count != 0);
}

bool app__herd_work(nic_core_t *core, void *ctx)
{
    (void)core;
    app__herd_worker_t *const worker = ctx;
    const app__herd_t *const herd = worker->herd;
    const bool stood = worker->waits;
    do {
        if (worker->waits && !is_done(worker)) {
            worker->waited += !stood;
            return false;
        }
        worker->room = find_room(worker);
    } while (worker->waits);
    const taken_t taken =
        worker->requests_cq != NULL ? collect_messages(worker) : collect_slots(worker);
    if (taken == STAND_STILL) {
        return false;
    }
    worker->looked = 0;
    if (worker->call_count != 0) {
        worker->failed = 0;
        if (herd->config.pipeline == 0 || shift_pipeline(worker)) {
            answer(worker);
        }
        if (taken == SERVE_FIRST && worker->held_count != 0) {
            push_on(worker, true);
        }
        return true;
    }
    if (worker->held_count != 0 && worker->failed >= herd->config.failed_polls) {
        push_on(worker, false);
        return true;
    }
    // If a request lies in an unexpected slot, the worker keeps polling until it looks back.
    return worker->held_count != 0 || (worker->ready_total != 0 && herd->config.look_back != 0);
}
