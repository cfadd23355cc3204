// SPDX-License-Identifier: Apache-2.0
// apps/perftest.c - the traffic of ib_write_bw, ib_read_bw, ib_send_bw, ib_write_lat, ib_read_lat
// and ib_send_lat (linux-rdma/perftest) between two hosts.
//
// Bandwidth: the client keeps up to tx-depth messages posted on each QP until it has posted all.
// Latency of WRITE and SEND: ping-pong, the server answers with a message of the same size as soon
// as it sees one; half the round trip counts. Latency of READ: one READ after another; the whole
// round trip counts. Programs take no time: they see a completion, or data in memory they poll,
// at the instant it is there. What is measured and how it is reported: docs/models/traffic.md.
#include "apps/perftest_internal.h"

#define PREFIX "traffic.perftest"

typedef struct perftest_config {
    uint32_t test; // app__perftest_kind_t
    char *from;
    char *to;
    uint64_t size_bytes; // SIM_AUTO: the tool's default
    bool all;
    uint64_t iterations; // SIM_AUTO: the tool's default
    uint64_t tx_depth;
    uint64_t post_list;
    uint64_t qps;
    sim_time_t start_ps;
    sim_time_t stop_ps; // SIM_AUTO: none
    uint64_t priority;  // SIM_AUTO: the NIC's
    uint64_t dscp;
} perftest_config_t;

// clang-format off
static const sim_attr_t attrs[] = {
    {PREFIX ".test", SIM_ATTR_ENUM, false, offsetof(perftest_config_t, test), "ib_write_bw", NULL,
     NULL, "ib_write_bw|ib_read_bw|ib_send_bw|ib_write_lat|ib_read_lat|ib_send_lat",
     "which tool"},
    {PREFIX ".from", SIM_ATTR_STRING, false, offsetof(perftest_config_t, from), "host0", NULL,
     NULL, NULL, "the client"},
    {PREFIX ".to", SIM_ATTR_STRING, false, offsetof(perftest_config_t, to), "host1", NULL, NULL,
     NULL, "the server"},
    {PREFIX ".size", SIM_ATTR_BYTES, true, offsetof(perftest_config_t, size_bytes), "auto", "1",
     "1GiB", NULL, "size of a message (-s); auto: 64KiB for bandwidth, 2 for latency"},
    {PREFIX ".all", SIM_ATTR_BOOL, false, offsetof(perftest_config_t, all), "off", NULL, NULL,
     NULL, "all powers of two from 2 to 2^23 in turn (-a), whatever size says"},
    {PREFIX ".iterations", SIM_ATTR_COUNT, true, offsetof(perftest_config_t, iterations), "auto",
     "1", "10000000", NULL, "messages of each QP and size (-n); auto: 5000 for ib_write_bw, else "
     "1000"},
    {PREFIX ".tx-depth", SIM_ATTR_COUNT, false, offsetof(perftest_config_t, tx_depth), "128",
     "1", "65536", NULL, "messages posted and not completed, of each QP (-t)"},
    {PREFIX ".post-list", SIM_ATTR_COUNT, false, offsetof(perftest_config_t, post_list), "1", "1",
     "65536", NULL, "messages posted at a time (-l), at most tx-depth"},
    {PREFIX ".qps", SIM_ATTR_COUNT, false, offsetof(perftest_config_t, qps), "1", "1", "16384",
     NULL, "QPs, for bandwidth (-q)"},
    {PREFIX ".start", SIM_ATTR_TIME, false, offsetof(perftest_config_t, start_ps), "0s", "0s",
     "10000s", NULL, "when the client posts first"},
    {PREFIX ".stop", SIM_ATTR_TIME, true, offsetof(perftest_config_t, stop_ps), "auto", "0s", NULL,
     NULL, "the client posts nothing from here on, and what is done is measured; auto: no such "
     "time"},
    {PREFIX ".priority", SIM_ATTR_COUNT, true, offsetof(perftest_config_t, priority), "auto", "0",
     "7", NULL, "class of both hosts' packets; auto: nic.priority"},
    {PREFIX ".dscp", SIM_ATTR_COUNT, true, offsetof(perftest_config_t, dscp), "auto", "0", "63",
     NULL, "DSCP of both hosts' packets; auto: priority x 8, or nic.dscp where priority is auto"},
};
// clang-format on

static const sim_attr_table_t attr_table = {PREFIX,
                                            "application",
                                            sizeof(perftest_config_t),
                                            attrs,
                                            SIM_COUNT_OF(attrs)};

static nic_wr_opcode_t opcode_of(const app__perftest_t *test)
{
    switch (test->kind) {
    case APP__PERFTEST_WRITE_BW:
    case APP__PERFTEST_WRITE_LAT:
        return NIC_WR_RDMA_WRITE;
    case APP__PERFTEST_READ_BW:
    case APP__PERFTEST_READ_LAT:
        return NIC_WR_RDMA_READ;
    case APP__PERFTEST_SEND_BW:
    case APP__PERFTEST_SEND_LAT:
        break;
    }
    return NIC_WR_SEND;
}

// -- posting

static void post_send(const app__perftest_t *test,
                      app__perftest_qp_t *pair,
                      bool client,
                      uint64_t bytes)
{
    const app__endpoint_t *const own = client ? test->client : test->server;
    const app__endpoint_t *const other = client ? test->server : test->client;
    nic_qp_t *const qp = client ? pair->client : pair->server;
    const uint32_t peer = nic_qp_num(client ? pair->server : pair->client);
    const nic_send_wr_t wr = {
        .wr_id = (uint64_t)(uintptr_t)pair,
        .opcode = opcode_of(test),
        .send_flags = NIC_SEND_SIGNALED,
        .sge = {app__address_of_qp(nic_qp_num(qp)), bytes, app__buffer_key(own, nic_qp_num(qp))},
        .rdma = {app__address_of_qp(peer), app__buffer_key(other, peer)},
    };
    const sim_err_t error = nic_post_send(qp, &wr);
    SIM_CHECKF(error == SIM_OK, "QP %u: %s", nic_qp_num(qp), sim_err_text(error));
}

static void post_receive(const app__perftest_t *test, app__perftest_qp_t *pair, bool client)
{
    const app__endpoint_t *const own = client ? test->client : test->server;
    nic_qp_t *const qp = client ? pair->client : pair->server;
    const nic_recv_wr_t wr = {
        .wr_id = (uint64_t)(uintptr_t)pair,
        .sge = {app__address_of_qp(nic_qp_num(qp)),
                test->sizes[test->size_count - 1],
                app__buffer_key(own, nic_qp_num(qp))},
    };
    const sim_err_t error = nic_post_recv(qp, &wr);
    SIM_CHECKF(error == SIM_OK, "QP %u: %s", nic_qp_num(qp), sim_err_text(error));
}

// -- the client

static uint64_t messages_of_size(const app__perftest_t *test)
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

// Fills one QP after another, as the tool's loop does.
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

// The next ping, when the last one is answered and there is room to post it.
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

// One message of the present size is over.
static void count_message(app__perftest_t *test)
{
    test->completed_ps[test->completed++] = test->client->node->now_ps;
    test->done++;
    sim_progress(test->client->node);
}

// Nothing is posted any more and nothing is under way.
static void end_early(app__perftest_t *test)
{
    if (test->completed > 0) {
        app__perftest_measure(test);
    }
    stop(test);
}

// After a message: the next one, or the next size, or the end.
static void go_on(app__perftest_t *test)
{
    if (is_time_up(test) && test->completed == test->posted) {
        end_early(test);
        return;
    }
    if (test->completed < messages_of_size(test)) {
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

// Looked at now and then: the last ping was posted so long ago that the server has given up.
static void answer_due(sim_node_t *node, sim_timer_t *timer)
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
    if (test->kind == APP__PERFTEST_READ_LAT) {
        answered(test);
    } else if (is_time_up(test) && test->completed == test->posted) {
        // The ping was answered before its send completed, and there was no room for another.
        end_early(test);
    } else {
        ping(test);
    }
}

static void client_completed(nic_cq_t *cq, void *ctx)
{
    nic_wc_t wc;
    while (nic_poll_cq(cq, 1, &wc) > 0) {
        client_completed_one(ctx, &wc);
    }
}

static void client_received(nic_cq_t *cq, void *ctx)
{
    app__perftest_t *const test = ctx;
    nic_wc_t wc;
    while (nic_poll_cq(cq, 1, &wc) > 0) {
        if (wc.status == NIC_WC_SUCCESS) {
            post_receive(test, (app__perftest_qp_t *)(uintptr_t)wc.wr_id, true);
            answered(test);
        }
    }
}

static void client_sees_write(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *ctx)
{
    (void)qp;
    (void)address;
    (void)byte_len;
    answered(ctx);
}

static void start_fired(sim_node_t *node, sim_timer_t *timer)
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

static void server_completed(nic_cq_t *cq, void *ctx)
{
    app__perftest_t *const test = ctx;
    nic_wc_t wc;
    while (nic_poll_cq(cq, 1, &wc) > 0) {
        if (wc.status == NIC_WC_SUCCESS) {
            test->server_sends_outstanding--;
            pong(test);
        }
    }
}

static void server_received(nic_cq_t *cq, void *ctx)
{
    app__perftest_t *const test = ctx;
    nic_wc_t wc;
    while (nic_poll_cq(cq, 1, &wc) > 0) {
        if (wc.status != NIC_WC_SUCCESS) {
            continue;
        }
        post_receive(test, (app__perftest_qp_t *)(uintptr_t)wc.wr_id, false);
        if (test->kind == APP__PERFTEST_SEND_LAT) {
            test->pongs_owed++;
            pong(test);
        }
    }
}

static void server_sees_write(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *ctx)
{
    (void)qp;
    (void)address;
    (void)byte_len;
    app__perftest_t *const test = ctx;
    test->pongs_owed++;
    pong(test);
}

// -- creation

// perftest's QPs exist before the first packet: none is ever made by one.
static sim_time_t never_passive(const void *owner, uint32_t interface, uint64_t offset)
{
    (void)owner;
    (void)interface;
    (void)offset;
    return SIM_TIME_NEVER;
}

static const app__range_ops_t range_ops = {.passive_from_ps = never_passive};

typedef struct end {
    app__endpoint_t *endpoint;
    nic_cq_t *send_cq;
    nic_cq_t *recv_cq;
    uint64_t position; // of its first QP number
} end_t;

static end_t make_end(app__perftest_t *test, bool client)
{
    app__endpoint_t *const endpoint = client ? test->client : test->server;
    const uint32_t capacity = (uint32_t)(test->tx_depth * test->qp_count);
    const uint64_t position = app__reserve_qps(endpoint, &range_ops, test, test->qp_count);
    app__register_buffers(endpoint);
    return (end_t){
        endpoint,
        nic_cq_create(endpoint->nic, capacity, client ? client_completed : server_completed, test),
        nic_cq_create(endpoint->nic, capacity, client ? client_received : server_received, test),
        position,
    };
}

static nic_qp_t *create_qp(const app__perftest_t *test, const end_t *end, uint64_t index)
{
    const nic_qp_init_attr_t init = {
        .qp_type = NIC_QPT_RC,
        .send_cq = end->send_cq,
        .recv_cq = end->recv_cq,
        .max_send_wr = (uint32_t)test->tx_depth,
        .max_recv_wr = (uint32_t)test->tx_depth,
        .qp_num = app__qp_number(end->position + index),
    };
    nic_qp_t *qp = NULL;
    const sim_err_t error = nic_qp_create(end->endpoint->pd, &init, &qp);
    SIM_CHECKF(error == SIM_OK, "QP %u: %s", init.qp_num, sim_err_text(error));
    return qp;
}

static void connect_qp(const perftest_config_t *config,
                       const end_t *end,
                       const end_t *other,
                       nic_qp_t *qp,
                       nic_qp_t *peer)
{
    nic_qp_attr_t attr;
    nic_qp_attr_default(end->endpoint->nic, &attr);
    const uint64_t mtu = nic_get_config(other->endpoint->nic)->mtu_bytes;
    attr.path_mtu = mtu < attr.path_mtu ? (uint32_t)mtu : attr.path_mtu;
    attr.dest_interface = other->endpoint->interface;
    attr.dest_qp_num = nic_qp_num(peer);
    attr.access = NIC_ACCESS_REMOTE_WRITE | NIC_ACCESS_REMOTE_READ;
    if (config->priority != SIM_AUTO) {
        attr.priority = (uint8_t)config->priority;
        attr.dscp = (uint8_t)(config->priority * 8);
    }
    if (config->dscp != SIM_AUTO) {
        attr.dscp = (uint8_t)config->dscp;
    }
    sim_message_t message = {.text = ""};
    const sim_err_t error = nic_qp_connect(qp, &attr, &message);
    SIM_CHECKF(error == SIM_OK, "QP %u: %s", nic_qp_num(qp), message.text);
}

static void create_pair(app__perftest_t *test,
                        const perftest_config_t *config,
                        const end_t *client,
                        const end_t *server,
                        uint64_t index)
{
    app__perftest_qp_t *const pair = &test->qps[index];
    pair->client = create_qp(test, client, index);
    pair->server = create_qp(test, server, index);
    connect_qp(config, client, server, pair->client, pair->server);
    connect_qp(config, server, client, pair->server, pair->client);
    if (opcode_of(test) == NIC_WR_SEND) {
        for (uint64_t i = 0; i < test->tx_depth; i++) {
            post_receive(test, pair, false);
            if (test->kind == APP__PERFTEST_SEND_LAT) {
                post_receive(test, pair, true);
            }
        }
    }
    if (test->kind == APP__PERFTEST_WRITE_LAT) {
        nic_qp_on_write(pair->client, client_sees_write, test);
        nic_qp_on_write(pair->server, server_sees_write, test);
    }
}

// How long a ping and its answer take at most: each end tries as often as it may, and twice that
// for what queues in between. 0: an end never gives up.
static sim_time_t answer_time_ps(const app__perftest_t *test)
{
    const app__endpoint_t *const ends[] = {test->client, test->server};
    sim_time_t sum_ps = 0;
    for (size_t i = 0; i < SIM_COUNT_OF(ends); i++) {
        const nic_config_t *const config = nic_get_config(ends[i]->nic);
        if (config->timeout == 0) {
            return 0;
        }
        sum_ps += (config->retry_count + 1) * (UINT64_C(4096000) << config->timeout);
    }
    return 2 * sum_ps;
}

static void choose_sizes(app__perftest_t *test, const perftest_config_t *config)
{
    if (config->all) {
        for (uint32_t i = 0; i < APP__PERFTEST_SIZES_MAX; i++) {
            test->sizes[test->size_count++] = UINT64_C(2) << i;
        }
    } else if (config->size_bytes != SIM_AUTO) {
        test->sizes[test->size_count++] = config->size_bytes;
    } else {
        test->sizes[test->size_count++] = app__perftest_is_latency(test) ? 2 : 65536;
    }
}

static sim_err_t find_ends(const app_context_t *context,
                           const perftest_config_t *config,
                           uint32_t ends[2],
                           sim_message_t *message)
{
    sim_err_t error = app__interface_find(context, "from", config->from, &ends[0], message);
    if (error == SIM_OK) {
        error = app__interface_find(context, "to", config->to, &ends[1], message);
    }
    if (error != SIM_OK) {
        return error;
    }
    if (!app__can_talk(context->net, ends[0], ends[1])) {
        return app__cannot_talk(context->net, ends[0], ends[1], "to", message);
    }
    if (config->post_list > config->tx_depth) {
        return sim_fail_about(message,
                              SIM_ERR_RANGE,
                              "post-list",
                              " is %" PRIu64 ": expected at most tx-depth (%" PRIu64 ")",
                              config->post_list,
                              config->tx_depth);
    }
    if (config->stop_ps != SIM_AUTO && config->stop_ps <= config->start_ps) {
        return sim_fail_about(message,
                              SIM_ERR_RANGE,
                              "stop",
                              ": nothing starts before it, expected a time after start");
    }
    const bool latency = config->test >= APP__PERFTEST_WRITE_LAT;
    if (latency && config->qps != 1) {
        return sim_fail_about(message,
                              SIM_ERR_RANGE,
                              "qps",
                              " is %" PRIu64 ": expected 1 for a latency test",
                              config->qps);
    }
    return SIM_OK;
}

static sim_err_t perftest_create(const app_context_t *context,
                                 const void *config_void,
                                 app_t **app,
                                 sim_message_t *message)
{
    SIM_CHECKF(context->runtime != NULL, "applications need a runtime: app_runtime_create");
    const perftest_config_t *const config = config_void;
    uint32_t ends[2];
    const sim_err_t error = find_ends(context, config, ends, message);
    if (error != SIM_OK) {
        return error;
    }
    app__perftest_t *const test = sim_alloc(sizeof(*test));
    test->app = (app_t){&app_perftest, context->net, context->index};
    test->kind = (app__perftest_kind_t)config->test;
    test->iterations = config->iterations != SIM_AUTO         ? config->iterations
                       : test->kind == APP__PERFTEST_WRITE_BW ? 5000
                                                              : 1000;
    test->tx_depth = config->tx_depth;
    test->post_list = config->post_list;
    test->stop_ps = config->stop_ps == SIM_AUTO ? SIM_TIME_NEVER : config->stop_ps;
    test->qp_count = config->qps;
    choose_sizes(test, config);
    test->client = app__endpoint_of(context->runtime, ends[0]);
    test->server = app__endpoint_of(context->runtime, ends[1]);
    test->posted_ps = sim_alloc_array(messages_of_size(test), sizeof(sim_time_t));
    test->completed_ps = sim_alloc_array(messages_of_size(test), sizeof(sim_time_t));
    test->qps = sim_alloc_array(test->qp_count, sizeof(*test->qps));
    const end_t client = make_end(test, true);
    const end_t server = make_end(test, false);
    for (uint64_t i = 0; i < test->qp_count; i++) {
        create_pair(test, config, &client, &server, i);
    }
    sim_timer_init(&test->start_timer, start_fired);
    sim_timer_init(&test->answer_timer, answer_due);
    test->answer_ps = answer_time_ps(test);
    sim_timer_arm(test->client->node, &test->start_timer, config->start_ps);
    *app = &test->app;
    return SIM_OK;
}

static void perftest_destroy(app_t *app)
{
    app__perftest_t *const test = (app__perftest_t *)(void *)app;
    sim_free(test->posted_ps);
    sim_free(test->completed_ps);
    sim_free(test->qps);
    sim_free(test);
}

static void perftest_progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    const app__perftest_t *const test = (const app__perftest_t *)(const void *)app;
    *done = test->done;
    *planned = test->ended ? test->done : messages_of_size(test) * test->size_count;
}

const app_ops_t app_perftest = {
    .name = "perftest",
    .help = "bandwidth and latency between two hosts, as perftest's tools measure them",
    .attrs = &attr_table,
    .create = perftest_create,
    .destroy = perftest_destroy,
    .progress = perftest_progress,
    .report = &app__perftest_report,
    .print = app__perftest_print,
};
