// SPDX-License-Identifier: Apache-2.0
// apps/rates/perftest.c - the traffic of perftest's bandwidth and latency tools between two hosts.
//
// Bandwidth: the client keeps up to tx-depth messages posted on each QP. Latency of WRITE and SEND:
// ping-pong, half the round trip counts. Latency of READ and atomics: one after another, the whole
// round trip counts. Both directions: the server posts the same, and the client's time counts twice
// the bytes, as in the tool. Programs take no time: they see a completion, or data in memory that
// they poll, at once. Measures and report: docs/models/traffic.md
#include "apps/rates/perftest_internal.h"

nic_wr_opcode_t app__perftest_opcode_of(const app__perftest_t *test)
{
    switch (test->kind) {
    case APP__PERFTEST_WRITE_BW:
    case APP__PERFTEST_WRITE_LAT:
        return NIC_WR_RDMA_WRITE;
    case APP__PERFTEST_READ_BW:
    case APP__PERFTEST_READ_LAT:
        return NIC_WR_RDMA_READ;
    case APP__PERFTEST_ATOMIC_BW:
    case APP__PERFTEST_ATOMIC_LAT:
        return NIC_WR_ATOMIC_FETCH_AND_ADD;
    case APP__PERFTEST_SEND_BW:
    case APP__PERFTEST_SEND_LAT:
        break;
    }
    return NIC_WR_SEND;
}

// -- posting

static void post_send(const app__perftest_t *test, app__perftest_qp_t *pair, bool client,
                      uint64_t bytes)
{
    const app__endpoint_t *const own = client ? test->client : test->server;
    const app__endpoint_t *const other = client ? test->server : test->client;
    nic_qp_t *const qp = client ? pair->client : pair->server;
    const uint32_t peer = nic_qp_num(client ? pair->server : pair->client);
    const nic_send_wr_t wr = {
        .wr_id = (uint64_t)(uintptr_t)pair,
        .opcode = app__perftest_opcode_of(test),
        .send_flags = NIC_SEND_SIGNALED,
        .sge = {app__address_of_qp(nic_qp_num(qp)), bytes, app__buffer_key(own, nic_qp_num(qp))},
        .rdma = {app__address_of_qp(peer), app__buffer_key(other, peer)},
        .ud = {other->interface, peer, 0},
        .atomic = {.remote_addr = app__address_of_qp(peer),
                   .compare_add = 1,
                   .rkey = app__buffer_key(other, peer)},
    };
    app__qp_post(qp, &wr);
}

void app__perftest_post_receive(const app__perftest_t *test, app__perftest_qp_t *pair, bool client)
{
    const app__endpoint_t *const own = client ? test->client : test->server;
    nic_qp_t *const qp = client ? pair->client : pair->server;
    const nic_recv_wr_t wr = {
        .wr_id = (uint64_t)(uintptr_t)pair,
        .sge = {app__address_of_qp(nic_qp_num(qp)), test->sizes[test->size_count - 1],
                app__buffer_key(own, nic_qp_num(qp))},
    };
    app__qp_post_receive(qp, &wr);
}

// -- the client

uint64_t app__perftest_messages_of_size(const app__perftest_t *test)
{
    return test->iterations * test->qp_count;
}

static void post_message(app__perftest_t *test, app__perftest_qp_t *pair)
{
    test->posted_ps[test->posted++] = test->client->node->now_ps;
    pair->client_posted++;
    post_send(test, pair, true, test->sizes[test->size_index]);
}

static bool is_time_up(const app__perftest_t *test)
{
    return test->client->node->now_ps >= test->stop_ps;
}

// Fills one QP after another, like the tool's loop.
static void post_messages(app__perftest_t *test)
{
    for (uint64_t i = 0; i < test->qp_count && !is_time_up(test); i++) {
        app__perftest_qp_t *const pair = &test->qps[i];
        while (pair->client_posted < test->iterations &&
               pair->client_posted + test->post_list <= pair->client_completed + test->tx_depth) {
            for (uint64_t j = 0; j < test->post_list && pair->client_posted < test->iterations;
                 j++) {
                post_message(test, pair);
            }
        }
    }
}

// Posts the next ping if the last one is answered and the send queue has room.
static void ping(app__perftest_t *test)
{
    if (!test->waiting && !is_time_up(test) && test->posted < test->iterations &&
        test->sends_outstanding < test->tx_depth) {
        test->waiting = true;
        test->sends_outstanding++;
        post_message(test, &test->qps[0]);
        if (test->answer_ps != 0 && !sim_timer_armed(&test->answer_timer)) {
            sim_node_t *const node = test->client->node;
            sim_timer_arm(node, &test->answer_timer, node->now_ps + test->answer_ps);
        }
    }
}

static void begin_size(app__perftest_t *test)
{
    test->posted = 0;
    test->completed = 0;
    for (uint64_t i = 0; i < test->qp_count; i++) {
        test->qps[i].client_posted = 0;
        test->qps[i].client_completed = 0;
    }
    if (app__perftest_is_latency(test)) {
        ping(test);
    } else {
        post_messages(test);
    }
}

static void stop(app__perftest_t *test)
{
    sim_timer_cancel(test->client->node, &test->answer_timer);
    sim_work_end(test->client->node, 1);
    test->ended = true;
    test->size_index = test->size_count;
}

// Counts a completed message of the current size.
static void count_message(app__perftest_t *test)
{
    test->completed_ps[test->completed++] = test->client->node->now_ps;
    test->done++;
    sim_progress(test->client->node);
}

// Ends the test early, when nothing is posted any more and nothing is in flight.
static void end_early(app__perftest_t *test)
{
    if (test->completed > 0) {
        app__perftest_measure(test);
    }
    stop(test);
}

// Continues after a message: with the next one, the next size, or the end.
static void go_on(app__perftest_t *test)
{
    if (is_time_up(test) && test->completed == test->posted) {
        end_early(test);
        return;
    }
    if (test->completed < app__perftest_messages_of_size(test)) {
        if (app__perftest_is_latency(test)) {
            ping(test);
        } else {
            post_messages(test);
        }
        return;
    }
    app__perftest_measure(test);
    test->size_index++;
    if (test->size_index < test->size_count) {
        begin_size(test);
    } else {
        stop(test);
    }
}

static void answered(app__perftest_t *test)
{
    if (test->size_index < test->size_count) {
        test->waiting = false;
        count_message(test);
        go_on(test);
    }
}

// Ends the test if the server must have given up since the last ping.
void app__perftest_answer_due(sim_node_t *node, sim_timer_t *timer)
{
    app__perftest_t *const test = SIM_CONTAINER_OF(timer, app__perftest_t, answer_timer);
    const sim_time_t due_ps = test->posted_ps[test->posted - 1] + test->answer_ps;
    if (node->now_ps < due_ps) {
        sim_timer_arm(node, timer, due_ps);
    } else if (test->waiting) {
        test->status = NIC_WC_RETRY_EXC_ERR;
        end_early(test);
    }
}

static void client_completed_one(app__perftest_t *test, const nic_wc_t *wc)
{
    app__perftest_qp_t *const pair = (app__perftest_qp_t *)(uintptr_t)wc->wr_id;
    if (test->size_index == test->size_count) {
        return;
    }
    if (wc->status != NIC_WC_SUCCESS) {
        test->status = (uint32_t)wc->status;
        stop(test);
        return;
    }
    if (!app__perftest_is_latency(test)) {
        pair->client_completed++;
        count_message(test);
        go_on(test);
        return;
    }
    test->sends_outstanding--;
    if (app__perftest_is_fetch(test)) {
        answered(test);
    } else if (is_time_up(test) && test->completed == test->posted) {
        // The ping was answered before its send completed, and there was no room for another.
        end_early(test);
    } else {
        ping(test);
    }
}

void app__perftest_client_completed(nic_cq_t *cq, void *ctx)
{
    nic_wc_t wc;
    while (nic_poll_cq(cq, 1, &wc) > 0) {
        client_completed_one(ctx, &wc);
    }
}

void app__perftest_client_received(nic_cq_t *cq, void *ctx)
{
    app__perftest_t *const test = ctx;
    nic_wc_t wc;
    while (nic_poll_cq(cq, 1, &wc) > 0) {
        if (wc.status == NIC_WC_SUCCESS) {
            app__perftest_post_receive(test, (app__perftest_qp_t *)(uintptr_t)wc.wr_id, true);
            if (app__perftest_is_latency(test)) {
                answered(test);
            }
        }
    }
}

void app__perftest_client_sees_write(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *ctx)
{
    (void)qp;
    (void)address;
    (void)byte_len;
    answered(ctx);
}

void app__perftest_start_fired(sim_node_t *node, sim_timer_t *timer)
{
    app__perftest_t *const test = SIM_CONTAINER_OF(timer, app__perftest_t, start_timer);
    sim_work_begin(node, 1);
    begin_size(test);
}

// -- the server

static void pong(app__perftest_t *test)
{
    while (test->pongs_owed > 0 && test->server_sends_outstanding < test->tx_depth) {
        test->pongs_owed--;
        test->server_sends_outstanding++;
        const uint64_t bytes = test->sizes[test->pings++ / test->iterations];
        post_send(test, &test->qps[0], false, bytes);
    }
}

// -- the server in a test of both directions

// Posts what the client posts, at the same depth. Each end goes through the sizes by itself.
static void post_at_server(app__perftest_t *test)
{
    const bool time_up = test->server->node->now_ps >= test->stop_ps;
    for (uint64_t i = 0; i < test->qp_count && !time_up; i++) {
        app__perftest_qp_t *const pair = &test->qps[i];
        while (pair->server_posted < test->iterations &&
               pair->server_posted < pair->server_completed + test->tx_depth) {
            pair->server_posted++;
            post_send(test, pair, false, test->sizes[test->server_size_index]);
        }
    }
}

static void end_server(app__perftest_t *test)
{
    test->server_ended = true;
    sim_work_end(test->server->node, 1);
}

static void server_completed_one(app__perftest_t *test, const nic_wc_t *wc)
{
    app__perftest_qp_t *const pair = (app__perftest_qp_t *)(uintptr_t)wc->wr_id;
    if (test->server_ended) {
        return;
    }
    if (wc->status != NIC_WC_SUCCESS) {
        end_server(test);
        return;
    }
    pair->server_completed++;
    sim_progress(test->server->node);
    if (++test->server_done == app__perftest_messages_of_size(test)) {
        test->server_done = 0;
        test->server_size_index++;
        for (uint64_t i = 0; i < test->qp_count; i++) {
            test->qps[i].server_posted = 0;
            test->qps[i].server_completed = 0;
        }
    }
    uint64_t outstanding = 0;
    for (uint64_t i = 0; i < test->qp_count; i++) {
        outstanding += test->qps[i].server_posted - test->qps[i].server_completed;
    }
    const bool time_up = test->server->node->now_ps >= test->stop_ps;
    if (test->server_size_index == test->size_count || (time_up && outstanding == 0)) {
        end_server(test);
    } else {
        post_at_server(test);
    }
}

void app__perftest_server_start_fired(sim_node_t *node, sim_timer_t *timer)
{
    app__perftest_t *const test = SIM_CONTAINER_OF(timer, app__perftest_t, server_start_timer);
    sim_work_begin(node, 1);
    post_at_server(test);
}

void app__perftest_server_completed(nic_cq_t *cq, void *ctx)
{
    app__perftest_t *const test = ctx;
    nic_wc_t wc;
    while (nic_poll_cq(cq, 1, &wc) > 0) {
        if (test->both_ways) {
            server_completed_one(test, &wc);
        } else if (wc.status == NIC_WC_SUCCESS) {
            test->server_sends_outstanding--;
            pong(test);
        }
    }
}

void app__perftest_server_received(nic_cq_t *cq, void *ctx)
{
    app__perftest_t *const test = ctx;
    nic_wc_t wc;
    while (nic_poll_cq(cq, 1, &wc) > 0) {
        if (wc.status != NIC_WC_SUCCESS) {
            continue;
        }
        app__perftest_post_receive(test, (app__perftest_qp_t *)(uintptr_t)wc.wr_id, false);
        if (test->kind == APP__PERFTEST_SEND_LAT) {
            test->pongs_owed++;
            pong(test);
        }
    }
}

void app__perftest_server_sees_write(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *ctx)
{
    (void)qp;
    (void)address;
    (void)byte_len;
    app__perftest_t *const test = ctx;
    test->pongs_owed++;
    pong(test);
}
