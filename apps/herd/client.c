// SPDX-License-Identifier: Apache-2.0
// apps/herd/client.c - a HERD client: draws, window slots, the gate at which it polls, timeouts.
//
// A request without an answer after `timeout` is written again into its slot, `retries` times, then
// given up and counted. A slot whose request was written more than once is not reused before
// another timeout has passed since the last time, so late answers are not taken for those of the
// next request. A GET by READs is given up at its first timeout; its place is not reused before the
// READ in flight has completed, so a queue pair has at most one READ per place.
#include "apps/herd/client.h"

#include "apps/herd/regions.h"
#include "apps/herd/worker.h"

#define CHUNK_FIRST 4096u
#define CHUNK_MAX (1u << 20)
#define FEW 16u // of at least this many keys one is drawn per chunk: only its place is looked up
#define POLL_MAX 64u
// the send queue has room for four times as many signaled requests, and all between them
#define SIGNALED_MAX 2u

// Kind of a completion, in the upper half of its wr_id.
enum { OF_RECEIVE, OF_SEND, OF_READ };

// -- draws

// Draws an operation: worker, update, key, in this order.
static void draw_one(app__herd_client_t *client, app__herd_draw_t *draw)
{
    const app__herd_t *const herd = client->herd;
    uint32_t worker = 0;
    if (!herd->config.by_key) {
        worker = app_herd_fastrand(&client->seed) % herd->worker_count;
    }
    draw->put = app_herd_fastrand(&client->seed) % 100 < herd->config.update_percentage;
    if (herd->zipf != NULL) {
        const uint32_t high = app_herd_fastrand(&client->seed);
        const uint32_t low = app_herd_fastrand(&client->seed);
        draw->key = (uint32_t)app_herd_zipf_rank(herd->zipf, high, low);
    } else {
        draw->key = app_herd_fastrand(&client->seed) % herd->key_count;
    }
    draw->worker = (uint16_t)worker;
}

// Returns the worker of a draw among all workers; a connection's SENDs go to one worker. Keys are
// assigned to servers by bits of their hash that buckets do not use.
static uint16_t worker_of(const app__herd_client_t *client, const app__herd_draw_t *draw)
{
    const app__herd_t *const herd = client->herd;
    const bool connected = herd->config.request == APP__HERD_BY_SEND_RC;
    const uint32_t drawn = connected ? client->index % herd->worker_count : draw->worker;
    if (herd->server_count == 1 && !herd->config.by_key) {
        return (uint16_t)drawn;
    }
    const uint32_t bits = (uint32_t)(app_herd_key(draw->key).high >> 32) & 0xffffu;
    const uint32_t server = bits % herd->server_count;
    const uint32_t worker =
        herd->config.by_key ? bits / herd->server_count % herd->worker_count : drawn;
    return (uint16_t)(server * herd->worker_count + worker);
}

// Replaces the drawn key of each new draw by the key at that place of the client's order.
static void permute_draws(app__herd_client_t *client, app__herd_draw_t *draws, uint64_t seed)
{
    const uint32_t keys = client->herd->key_count;
    const bool few = client->chunk < keys / FEW;
    uint32_t *const order = sim_alloc_array(few ? client->chunk : keys, sizeof(*order));
    if (few) {
        for (uint32_t i = 0; i < client->chunk; i++) {
            order[i] = draws[i].key;
        }
        app_herd_permute_places(&seed, order, client->chunk, keys);
    } else {
        app_herd_permute(&seed, order, keys);
    }
    for (uint32_t i = 0; i < client->chunk; i++) {
        draws[i].key = few ? order[i] : order[draws[i].key];
    }
    sim_free(order);
}

// Draws a chunk of operations behind those that are left. The client's order of keys depends only
// on its number, so it is computed again for each chunk and not kept. Chunks grow, so this stays a
// small part of the work.
void app__herd_draw_chunk(app__herd_client_t *client)
{
    const app__herd_t *const herd = client->herd;
    uint64_t wanted = 4 * (uint64_t)client->chunk;
    if (client->chunk == 0) {
        wanted = herd->config.requests == SIM_AUTO ? CHUNK_FIRST : herd->config.requests;
    }
    client->chunk = (uint32_t)SIM_MIN(wanted, CHUNK_MAX);
    uint64_t seed = herd->first_seed; // seed of the order
    const bool permute = herd->config.permute && herd->zipf == NULL;
    if (permute) {
        app_herd_fastrand_skip(&seed, (uint64_t)client->index * herd->key_count);
        uint64_t behind = seed;
        app_herd_fastrand_skip(&behind, herd->key_count - 1);
        client->seed = client->drawn == 0 ? behind : client->seed;
    }
    const uint32_t left = client->draw_count - client->draw_next;
    app__herd_draw_t *const all = sim_alloc_array(left + client->chunk, sizeof(*all));
    app__herd_draw_t *const draws = &all[left];
    for (uint32_t i = 0; i < left; i++) {
        all[i] = client->draws[client->draw_next + i];
    }
    for (uint32_t i = 0; i < client->chunk; i++) {
        draw_one(client, &draws[i]);
    }
    if (permute) {
        permute_draws(client, draws, seed);
    }
    for (uint32_t i = 0; i < client->chunk; i++) {
        draws[i].worker = worker_of(client, &draws[i]);
    }
    sim_free(client->draws);
    client->draws = all;
    client->drawn += client->chunk;
    client->draw_count = left + client->chunk;
    client->draw_next = 0;
}

static const app__herd_draw_t *next_draw(app__herd_client_t *client)
{
    if (client->draw_next == client->draw_count) {
        app__herd_draw_chunk(client);
    }
    return &client->draws[client->draw_next];
}

// -- operations in the order of sending

static void arm(app__herd_client_t *client)
{
    sim_node_t *const node = client->thread.machine->endpoint->node;
    const sim_time_t at_ps = client->ops[client->first].sent_ps + client->herd->config.timeout_ps;
    sim_timer_arm(node, &client->timer, SIM_MAX(at_ps, node->now_ps));
}

static void append(app__herd_client_t *client, uint32_t op)
{
    app__herd_op_t *const item = &client->ops[op];
    item->next = APP__HERD_NONE;
    item->previous = client->last;
    if (client->last == APP__HERD_NONE) {
        client->first = op;
    } else {
        client->ops[client->last].next = op;
    }
    client->last = op;
    if (!sim_timer_armed(&client->timer) && !client->due) {
        arm(client);
    }
}

static void remove_op(app__herd_client_t *client, uint32_t op)
{
    const app__herd_op_t *const item = &client->ops[op];
    if (item->previous == APP__HERD_NONE) {
        client->first = item->next;
    } else {
        client->ops[item->previous].next = item->next;
    }
    if (item->next == APP__HERD_NONE) {
        client->last = item->previous;
    } else {
        client->ops[item->next].previous = item->previous;
    }
}

void app__herd_timeout(sim_node_t *node, sim_timer_t *timer)
{
    app__herd_client_t *const client = SIM_CONTAINER_OF(timer, app__herd_client_t, timer);
    if (client->first == APP__HERD_NONE || client->thread.stopped) {
        return;
    }
    const sim_time_t at_ps = client->ops[client->first].sent_ps + client->herd->config.timeout_ps;
    if (at_ps > node->now_ps) {
        sim_timer_arm(node, timer, at_ps);
    } else {
        client->due = true;
        nic_core_wake(client->thread.core);
    }
}

// Ends a stopped client's connections if it sent requests again: retries by SEND may outnumber the
// receives that the worker could post, and would be retransmitted for ever.
void app__herd_client_stopped(app__thread_t *thread)
{
    app__herd_client_t *const client = SIM_CONTAINER_OF(thread, app__herd_client_t, thread);
    const app__herd_t *const herd = client->herd;
    const bool sends =
        herd->config.request == APP__HERD_BY_SEND_RC || herd->config.answer == APP__HERD_BY_SEND_RC;
    for (uint32_t s = 0; sends && client->retried > 0 && s < herd->server_count; s++) {
        nic_qp_to_error(client->request_qps[s]);
    }
}

void app__herd_arrival(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    app__herd_client_t *const client = SIM_CONTAINER_OF(timer, app__herd_client_t, arrival_timer);
    nic_core_wake(client->thread.core);
}

// -- receives

static void post_receive_list(app__herd_client_t *client, const uint32_t *buffers, uint32_t count)
{
    const app__herd_t *const herd = client->herd;
    const bool connected = herd->config.answer == APP__HERD_BY_SEND_RC;
    while (count > 0) {
        nic_recv_wr_t list[POLL_MAX];
        const uint32_t most = connected ? 1 : POLL_MAX;
        const uint32_t now = SIM_MIN(count, most);
        nic_qp_t *const qp =
            connected ? client->request_qps[buffers[0] % herd->server_count] : client->datagrams;
        for (uint32_t i = 0; i < now; i++) {
            list[i] = (nic_recv_wr_t){
                .wr_id = (uint64_t)OF_RECEIVE << 32 | buffers[i],
                .sge = {app__herd_receive_address(client, buffers[i]), herd->receive_bytes,
                        app__machine_key(client->thread.machine)},
            };
        }
        const sim_err_t error = nic_post_recv_list(qp, list, now, NULL);
        SIM_CHECKF(error == SIM_OK, "%s", sim_err_text(error));
        buffers += now;
        count -= now;
    }
}

void app__herd_first_receives(app__herd_client_t *client)
{
    const uint32_t count = client->herd->receives;
    for (uint32_t i = 0; i < count; i++) {
        client->free_receives[i] = i;
    }
    post_receive_list(client, client->free_receives, count);
}

// Posts the receive buffers of answers that were looked at again, all at once at a gate.
static void refill(app__herd_client_t *client)
{
    if (client->receives_used > 0) {
        post_receive_list(client, client->free_receives, client->receives_used);
        client->receives_used = 0;
    }
}

// -- sending

static uint32_t request_bytes(const app__herd_t *herd, const app__herd_op_t *op, app_city128_t key)
{
    if (herd->config.system == APP__HERD_ECHO) {
        return herd->value_bytes;
    }
    return app_herd_request_bytes(op->put, app__herd_value_bytes(herd, key), herd->large);
}

// Writes a request into the client's memory; returns its bytes.
static uint32_t build_request(app__herd_client_t *client, uint32_t at, uint64_t address)
{
    const app__herd_t *const herd = client->herd;
    const app__herd_op_t *const op = &client->ops[at];
    if (herd->config.system == APP__HERD_ECHO) {
        return herd->value_bytes;
    }
    uint8_t buffer[APP_HERD_REQUEST_MAX];
    uint8_t value[APP_HERD_VALUE_MAX];
    app_herd_request_t request = {app_herd_key(op->key), APP_HERD_GET, 0, NULL};
    if (op->put) {
        request.opcode = APP_HERD_PUT;
        request.value_bytes = app__herd_value_bytes(herd, request.key);
        request.value = value;
        app_herd_make_value(request.key, op->stamp, value, request.value_bytes);
    }
    const uint32_t bytes = app_herd_encode(&request, herd->large, buffer);
    nic_memory_write(client->memory, address, buffer, bytes);
    return bytes;
}

static void post_request(app__herd_client_t *client, uint32_t at)
{
    const app__herd_t *const herd = client->herd;
    const uint32_t id = at / herd->window;
    const uint32_t slot = at % herd->window;
    const uint32_t server = id / herd->worker_count;
    const uint32_t worker = id % herd->worker_count;
    const bool sends = app__herd_sends(herd->config.request);
    const bool datagram = herd->config.request == APP__HERD_BY_SEND;
    const uint64_t address = app__herd_request_address(client, at);
    const uint32_t bytes = build_request(client, at, address);
    const bool signaled =
        client->posted++ % herd->config.unsignaled == 0 || herd->config.signal_all;
    nic_send_wr_t wr = {
        .wr_id = (uint64_t)OF_SEND << 32,
        .opcode = sends ? NIC_WR_SEND_WITH_IMM : NIC_WR_RDMA_WRITE,
        .send_flags = (signaled ? (uint32_t)NIC_SEND_SIGNALED : 0u) |
                      (bytes <= herd->config.inline_max ? (uint32_t)NIC_SEND_INLINE : 0u),
        .sge = {address, bytes, app__machine_key(client->thread.machine)},
    };
    if (sends) {
        wr.imm_data = client->index << 16 | slot;
    }
    if (datagram) {
        const app__herd_worker_t *const to = &herd->workers[id];
        wr.ud.remote_interface = herd->machines[server].endpoint->interface;
        wr.ud.remote_qpn = nic_qp_num(to->requests);
    } else if (!sends) {
        wr.rdma.remote_addr = app__herd_slot_address(herd, worker, client->index, slot);
        wr.rdma.rkey = app__machine_key(&herd->machines[server]);
    }
    client->signaled += signaled;
    app__post(datagram ? client->datagrams : client->request_qps[server], &wr);
    client->request_bytes += bytes;
}

static void begin_op(app__herd_client_t *client, uint32_t at, const app__herd_draw_t *draw)
{
    const app__herd_t *const herd = client->herd;
    app__herd_op_t *const op = &client->ops[at];
    const sim_time_t now_ps = nic_core_now_ps(client->thread.core);
    client->sent++;
    client->outstanding++;
    *op = (app__herd_op_t){
        .start_ps = herd->config.interval_ps != 0 ? client->arrival_ps : now_ps,
        .sent_ps = now_ps,
        .key = draw->key,
        .stamp = client->index << 20 ^ (uint32_t)client->sent,
        .state = APP__HERD_OP_WAITING,
        .put = draw->put,
        .by_read = client->read_qps != NULL && !draw->put,
    };
    append(client, at);
    if (op->by_read) {
        uint64_t unused;
        (void)app__herd_read_on(client, at, &unused);
    } else {
        post_request(client, at);
    }
}

// -- answers

static void record(app__herd_client_t *client, uint32_t at, sim_time_t end_ps, uint32_t bytes)
{
    const app__herd_t *const herd = client->herd;
    const app__herd_op_t *const op = &client->ops[at];
    SIM_GROW(client->records, client->record_count, &client->record_capacity);
    client->records[client->record_count++] = (app__herd_record_t){
        .start_ps = op->start_ps,
        .end_ps = end_ps,
        .key = op->key,
        .worker = (uint16_t)(at / herd->window),
        .request_bytes = (uint16_t)request_bytes(herd, op, app_herd_key(op->key)),
        .answer_bytes = (uint16_t)bytes,
        .tries = (uint8_t)SIM_MIN(op->tries, UINT8_MAX),
        .put = op->put,
        .hit = !op->put && bytes != 0,
    };
}

static void count_in_series(app__herd_client_t *client, const app__herd_op_t *op, sim_time_t now_ps,
                            uint32_t bytes)
{
    const app__herd_config_t *const config = &client->herd->config;
    app__herd_bin_t *const bin =
        app__herd_bin_at(&client->series, now_ps - config->span.start_ps, config->series_ps);
    const sim_time_t latency_ps = now_ps - op->start_ps;
    bin->done++;
    bin->gets += !op->put;
    bin->hits += !op->put && bytes != 0;
    bin->answer_bytes += bytes;
    bin->latency_ps += latency_ps;
    bin->latency_max_ps = SIM_MAX(latency_ps, bin->latency_max_ps);
}

// Returns whether the received bytes are a value that the key can have.
static bool belongs(app__herd_client_t *client, const app__herd_op_t *op, uint32_t bytes,
                    uint64_t address)
{
    uint8_t value[APP_HERD_VALUE_MAX];
    uint32_t stamp = 0;
    const app_city128_t key = app_herd_key(op->key);
    const uint32_t head = op->by_read ? 0 : (uint32_t)client->herd->config.get_head;
    const uint32_t value_bytes = app__herd_value_bytes(client->herd, key);
    if (bytes != head + value_bytes) {
        return false;
    }
    nic_memory_read(client->memory, address + head, value, value_bytes);
    return app_herd_check_value(key, value, value_bytes, &stamp);
}

// Returns whether a look now is one at a gate: after a whole window of requests, or the last one.
static bool is_at_gate(const app__herd_client_t *client)
{
    const app__herd_t *const herd = client->herd;
    return client->sent % herd->window == 0 || client->sent == herd->config.requests;
}

// Handles an answer of `bytes` bytes at an address of the client's memory (0: nothing was written).
static void herd_answered(app__herd_client_t *client, uint32_t at, uint32_t bytes, uint64_t address)
{
    const app__herd_t *const herd = client->herd;
    app__herd_op_t *const op = &client->ops[at];
    if (op->state != APP__HERD_OP_WAITING) {
        client->duplicates++;
        return;
    }
    const sim_time_t now_ps = nic_core_now_ps(client->thread.core);
    const bool holds = herd->reads || herd->config.service == APP__HERD_MICA;
    const bool checks = herd->config.verify && holds && address != 0;
    if (checks && (op->put ? bytes != herd->config.put_answer
                           : bytes != 0 && !belongs(client, op, bytes, address))) {
        client->wrong++;
    }
    client->outstanding--;
    client->answered++;
    client->outside_gates += !is_at_gate(client);
    client->puts += op->put;
    client->gets += !op->put;
    client->hits += !op->put && bytes != 0;
    client->answer_bytes += bytes;
    client->last_ps = now_ps;
    app__thread_count(&client->thread, 1);
    if (app__herd_measured(herd, now_ps)) {
        sim_sample_set_add(&client->latencies, now_ps - op->start_ps);
        app__herd_count(&client->answer_sizes, bytes);
    }
    if (herd->config.log) {
        record(client, at, now_ps, bytes);
    }
    if (herd->config.series_ps != 0) {
        count_in_series(client, op, now_ps, bytes);
    }
    if (op->tries != 0) {
        op->state = APP__HERD_OP_LINGERING;
    } else {
        op->state = APP__HERD_OP_FREE;
        remove_op(client, at);
    }
}

// Counts the answers that wait at a look, for the size of the receive queue.
static void count_waiting(app__herd_client_t *client)
{
    const uint64_t waiting = (uint64_t)nic_cq_waiting(client->cq) + client->arrived_count;
    if (waiting != 0 && app__herd_measured(client->herd, nic_core_now_ps(client->thread.core))) {
        client->looks++;
        client->waiting_sum += waiting;
        client->waiting_max = SIM_MAX(waiting, client->waiting_max);
    }
}

// Polls completions, and at most `most` answers; returns how many completions there were.
static uint32_t harvest(app__herd_client_t *client, uint32_t most)
{
    const app__herd_t *const herd = client->herd;
    nic_wc_t wc[POLL_MAX];
    count_waiting(client);
    uint32_t count = nic_poll_cq(client->cq, SIM_MIN(most, POLL_MAX), wc);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t low = (uint32_t)wc[i].wr_id;
        if (!app__thread_succeeded(&client->thread, &wc[i])) {
            client->stopped_asking = true;
            continue;
        }
        if (wc[i].wr_id >> 32 == OF_SEND) {
            client->signaled--;
        } else if (wc[i].wr_id >> 32 == OF_READ) {
            nic_core_spend(client->thread.core, herd->config.check_ps);
            uint64_t value_address = 0;
            SIM_CHECK(client->ops[low].by_read);
            if (client->ops[low].state == APP__HERD_OP_ABANDONED) {
                client->duplicates++;
                client->ops[low].state = APP__HERD_OP_FREE;
            } else if (!app__herd_read_on(client, low, &value_address)) {
                const uint32_t bytes = value_address != 0 ? herd->value_bytes : 0;
                herd_answered(client, low, bytes, value_address);
            }
        } else {
            const uint32_t id = wc[i].imm_data >> 16;
            const uint32_t slot = wc[i].imm_data & 0xffffu;
            SIM_CHECK(id < herd->server_count * herd->worker_count && slot < herd->window);
            herd_answered(client, id * herd->window + slot, wc[i].byte_len,
                          app__herd_receive_address(client, low));
            client->free_receives[client->receives_used++] = low;
        }
    }
    for (uint32_t i = 0; i < client->arrived_count && count < most; i++, count++) {
        const uint32_t at = client->arrived[i];
        const uint64_t address = app__herd_answer_slot_address(client, at);
        uint8_t status = 0;
        nic_memory_read(client->memory, address, &status, 1);
        const bool value = status != 0 || herd->config.service == APP__HERD_MODEL;
        const app__herd_op_t *const op = &client->ops[at];
        const uint32_t bytes = app__herd_answer_bytes(
            herd, op->put, value, app__herd_value_bytes(herd, app_herd_key(op->key)));
        herd_answered(client, at, bytes, address + 1);
        client->arrived[i] = APP__HERD_NONE;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < client->arrived_count; i++) {
        if (client->arrived[i] != APP__HERD_NONE) {
            client->arrived[kept++] = client->arrived[i];
        }
    }
    client->arrived_count = kept;
    return count;
}

// -- timeouts

static void give_up(app__herd_client_t *client, uint32_t at)
{
    app__herd_op_t *const op = &client->ops[at];
    client->lost++;
    client->outstanding--;
    if (client->herd->config.log) {
        record(client, at, SIM_TIME_NEVER, 0);
    }
    remove_op(client, at);
    op->state = op->by_read ? APP__HERD_OP_ABANDONED : APP__HERD_OP_FREE;
}

static void look_at_timeouts(app__herd_client_t *client)
{
    const app__herd_t *const herd = client->herd;
    const sim_time_t event_ps = client->thread.machine->endpoint->node->now_ps;
    client->due = false;
    while (client->first != APP__HERD_NONE &&
           client->ops[client->first].sent_ps + herd->config.timeout_ps <= event_ps) {
        const uint32_t at = client->first;
        app__herd_op_t *const op = &client->ops[at];
        if (op->state == APP__HERD_OP_LINGERING) {
            remove_op(client, at);
            op->state = APP__HERD_OP_FREE;
        } else if (op->tries == herd->config.retries || client->stopped_asking || op->by_read) {
            give_up(client, at);
        } else {
            remove_op(client, at);
            op->sent_ps = nic_core_now_ps(client->thread.core);
            append(client, at);
            // otherwise its link is down: it waits for another timeout
            if (client->signaled <= SIGNALED_MAX) {
                op->tries++;
                client->retried++;
                post_request(client, at);
            }
        }
    }
    if (client->first != APP__HERD_NONE && !sim_timer_armed(&client->timer)) {
        arm(client);
    }
}

// -- the loop

static void draw_arrival(app__herd_client_t *client)
{
    const app__herd_t *const herd = client->herd;
    if (herd->config.interval_ps != 0) {
        client->arrival_ps += sim_random_exponential(&client->random, herd->config.interval_ps);
    }
}

// Returns the ring of slots of a draw: its worker's, or for a GET by READs its server's.
static uint32_t ring_of(const app__herd_t *herd, const app__herd_draw_t *draw)
{
    const uint32_t workers = herd->server_count * herd->worker_count;
    return herd->reads && !draw->put ? workers + draw->worker / herd->worker_count : draw->worker;
}

// Returns whether the next operation can be sent now; *at is its place.
static bool may_send(app__herd_client_t *client, uint32_t *at)
{
    const app__herd_t *const herd = client->herd;
    const app__herd_config_t *const config = &herd->config;
    if (client->sent == config->requests || client->stopped_asking) {
        return false;
    }
    if (config->window_per == APP__HERD_PER_CLIENT && client->outstanding >= herd->window) {
        return false;
    }
    if (config->interval_ps != 0 && client->arrival_ps > nic_core_now_ps(client->thread.core)) {
        sim_node_t *const node = client->thread.machine->endpoint->node;
        if (!sim_timer_armed(&client->arrival_timer)) {
            sim_timer_arm(node, &client->arrival_timer, client->arrival_ps);
        }
        return false;
    }
    const uint32_t ring = ring_of(herd, next_draw(client));
    *at = ring * herd->window + client->ring[ring];
    return client->ops[*at].state == APP__HERD_OP_FREE && client->signaled <= SIGNALED_MAX;
}

static bool is_gate_open(app__herd_client_t *client)
{
    if (client->herd->config.gate != APP__HERD_GATE_ALL) {
        return true;
    }
    return client->outstanding == 0;
}

// Sends the next operation at its place.
static void send_next(app__herd_client_t *client, uint32_t at)
{
    const app__herd_t *const herd = client->herd;
    const app__herd_draw_t *const draw = &client->draws[client->draw_next++];
    const uint32_t ring = ring_of(herd, draw);
    client->ring[ring] = (client->ring[ring] + 1) % herd->window;
    begin_op(client, at, draw);
    draw_arrival(client);
}

// Polls completions of requests apart from answers; returns how many there were. A connection that
// also carries READs has both in one queue, so the client has to take answers, too.
static uint32_t take_sends(app__herd_client_t *client)
{
    if (client->sends_cq == client->cq) {
        const uint32_t taken = is_at_gate(client) ? 0 : harvest(client, client->herd->window);
        refill(client);
        return taken;
    }
    nic_wc_t wc[POLL_MAX];
    const uint32_t count = nic_poll_cq(client->sends_cq, POLL_MAX, wc);
    for (uint32_t i = 0; i < count; i++) {
        if (app__thread_succeeded(&client->thread, &wc[i])) {
            client->signaled--;
        } else {
            client->stopped_asking = true;
        }
    }
    return count;
}

// Returns whether all requests of the next window have free slots, so that no full ring stops the
// client before the next gate. A slot that was found free stays free until the client uses it, so
// each look continues where the last one stopped.
static bool has_free_window(app__herd_client_t *client)
{
    const app__herd_t *const herd = client->herd;
    const uint64_t left = herd->config.requests - client->sent;
    const uint32_t wanted = left < herd->window ? (uint32_t)left : herd->window;
    if (herd->config.window_per == APP__HERD_PER_CLIENT && client->outstanding != 0) {
        return false;
    }
    if (client->draw_count - client->draw_next < wanted) {
        app__herd_draw_chunk(client);
    }
    while (client->found < wanted) {
        const app__herd_draw_t *const draw = &client->draws[client->draw_next + client->found];
        const uint32_t ring = ring_of(herd, draw);
        const uint32_t slot = (client->ring[ring] + client->ahead[ring]) % herd->window;
        if (client->ahead[ring] == herd->window ||
            client->ops[ring * herd->window + slot].state != APP__HERD_OP_FREE) {
            return false;
        }
        client->ahead[ring]++;
        client->found++;
    }
    for (uint32_t i = 0; i < wanted; i++) {
        client->ahead[ring_of(herd, &client->draws[client->draw_next + i])] = 0;
    }
    client->found = 0;
    return true;
}

// Runs a step of a client with a strict gate: it looks for answers only after each window of
// requests, and after the last one. Between gates it polls completions of requests alone.
static bool ask_strictly(app__herd_client_t *client)
{
    const app__herd_t *const herd = client->herd;
    const bool last = client->sent == herd->config.requests || client->stopped_asking;
    if (client->sends_cq != client->cq) {
        nic_cq_set_unread(client->cq, !client->gate_due && !last);
    }
    if (!client->gate_due && !last) {
        uint32_t at = 0;
        if (!may_send(client, &at)) {
            return take_sends(client) != 0;
        }
        send_next(client, at);
        client->gate_due = client->sent % herd->window == 0;
        return true;
    }
    uint32_t count = take_sends(client);
    uint32_t answers = 0;
    uint32_t now = POLL_MAX;
    while (now == POLL_MAX && answers < herd->window) {
        now = harvest(client, herd->window - answers);
        answers += now;
    }
    count += answers;
    if (answers != 0) {
        refill(client);
    }
    if (!last && has_free_window(client)) {
        client->gate_due = false;
        return true;
    }
    return count != 0;
}

bool app__herd_ask(nic_core_t *core, void *ctx)
{
    (void)core;
    app__herd_client_t *const client = ctx;
    const app__herd_t *const herd = client->herd;
    const bool open_loop = herd->config.interval_ps != 0;
    if (client->due) {
        look_at_timeouts(client);
        return true;
    }
    if (app__herd_is_strict(&herd->config)) {
        return ask_strictly(client);
    }
    uint32_t at = 0;
    if (!client->gate_due && may_send(client, &at)) {
        send_next(client, at);
        client->gate_due = open_loop || (client->sent % herd->window == 0 &&
                                         herd->config.gate != APP__HERD_GATE_EACH);
        return true;
    }
    const uint32_t count = harvest(client, herd->window);
    if (client->gate_due && is_gate_open(client)) {
        client->gate_due = false;
        refill(client);
        return true;
    }
    if (count != 0 && !client->gate_due) {
        refill(client);
    }
    return count != 0;
}
