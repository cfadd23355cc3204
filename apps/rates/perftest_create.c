// SPDX-License-Identifier: Apache-2.0
// apps/rates/perftest_create.c - attributes and queue pairs of a perftest (docs/models/traffic.md).
#include "apps/rates/perftest_internal.h"

#include "apps/app_internal.h"
#include "apps/hosts.h"
#include "nic/device.h"
#include "nic/transport.h"

#define PREFIX "traffic.perftest"

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(app__perftest_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(ENUM, "test", test, "ib_write_bw", "ib_write_bw|ib_read_bw|ib_send_bw|ib_write_lat|ib_read_lat|ib_send_lat|ib_atomic_bw|ib_atomic_lat", "perftest's tool whose traffic and report are imitated"),
    ATTR(ENUM, "connection", connection, "rc", "rc|uc|ud", "type of the queue pairs (-c); uc: for WRITE and SEND; ud: for SEND, with messages of at most the MTU"),
    ATTR(BOOL, "bidirectional", both_ways, "off", "on: the server posts what the client posts (-b), in a bandwidth test; the report adds the rates of both directions"),
    ATTR(STRING, "from", from, "host0", "host of the client, which posts the messages"),
    ATTR(STRING, "to", to, "host1", "host of the server, which answers in latency tests"),
    ATTR(BYTES, "size", size_bytes, "auto", "1", "1GiB", "size of a message (-s), 8 bytes for atomics; auto: 64KiB for bandwidth (ud: the MTU), 2 bytes for latency", .auto_ok = true),
    ATTR(BOOL, "all", all, "off", "on: the test runs all sizes in turn, powers of two from 2 to 2^23 bytes (-a), and ignores size"),
    ATTR(COUNT, "iterations", iterations, "auto", "1", "10000000", "number of messages of each QP and size (-n); auto: 5000 for ib_write_bw, else 1000", .auto_ok = true),
    ATTR(COUNT, "tx-depth", tx_depth, "128", "1", "65536", "maximum number of messages of a QP that are posted and not completed (-t)"),
    ATTR(COUNT, "rx-depth", rx_depth, "auto", "1", "65536", "number of receives of a QP that are posted in a bandwidth test of SENDs (-r), at least tx-depth; auto: 512, for uc and ud one for each message, up to 16000", .auto_ok = true),
    ATTR(COUNT, "post-list", post_list, "1", "1", "65536", "number of messages posted at a time (-l), not more than tx-depth"),
    ATTR(COUNT, "cq-moderation", moderation, "1", "1", "65536", "number of messages with one completion, that of the last, in a bandwidth test (-Q), not more than tx-depth"),
    ATTR(BYTES, "inline", inline_bytes, "0", "0", "4KiB", "largest payload that the work request itself carries (-I); only the detailed NIC reads others later"),
    ATTR(COUNT, "qps", qps, "1", "1", "16384", "number of queue pairs of a bandwidth test (-q)"),
    ATTR(BOOL, "events", events, "off", "on: both ends wait for events of completions before they poll (-e); not with WRITE"),
    ATTR(TIME, "event-time", event_ps, "100ns", "0s", "1ms", "time that a call for an event takes even if there is one"),
    ATTR(TIME, "start", start_ps, "0s", "0s", "10000s", "time at which the client posts its first message", .not_above = PREFIX ".stop"),
    ATTR(TIME, "handshake", handshake_ps, "20us", "0s", "1s", "time from start until the client posts its first message, where the server posts its own at start: bidirectional tests, except SEND. The last message of the tool's handshake, which the server sends, takes it"),
    ATTR(TIME, "stop", stop_ps, "auto", "0s", NULL, "time from which the client posts nothing; the messages done by then are measured; auto: no limit", .auto_ok = true),
    ATTR(COUNT, "priority", priority, "auto", "0", "7", "class of both hosts' packets; auto: nic.priority", .auto_ok = true),
    ATTR(COUNT, "dscp", dscp, "auto", "0", "63", "DSCP of both hosts' packets; auto: priority x 8, or nic.dscp where priority is auto", .auto_ok = true),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "application", app__perftest_config_t, attrs);

// -- creation

// Makes an end without its queue pairs, and returns the position of their first number.
static uint64_t make_end(app__perftest_t *test, app__perftest_end_t *end, app__endpoint_t *endpoint)
{
    end->test = test;
    end->endpoint = endpoint;
    end->notices[0].armed = end->notices[1].armed = test->config.events;
    if (nic_device_of(endpoint->nic) != &nic_device_ideal || test->config.events) {
        end->core = nic_core_create(nic_node(endpoint->nic), app__perftest_take_step, end);
    }
    end->qps = sim_alloc_array(test->config.qps, sizeof(*end->qps));
    if (app__perftest_measures(end)) {
        const uint64_t messages = app__perftest_messages_of_size(test);
        end->posted_ps = sim_alloc_array(messages, sizeof(*end->posted_ps));
        end->completed_ps = sim_alloc_array(messages, sizeof(*end->completed_ps));
    }
    const uint64_t first = app__reserve_qps(endpoint, NULL, test, test->config.qps);
    app__register_buffers(endpoint);
    if (test->config.test >= APP__PERFTEST_ATOMIC_BW) {
        // A small region, whose words lie in the processor's cache.
        nic_mr_t *mr = NULL;
        end->words = app__address_of_qp(app__qp_number(first));
        SIM_CHECK(
            nic_mr_register(endpoint->pd, end->words, test->config.qps * APP__PERFTEST_BUFFER_BYTES,
                            NIC_ACCESS_LOCAL_WRITE | NIC_ACCESS_REMOTE_ATOMIC, &mr) == SIM_OK);
        end->words_key = nic_mr_rkey(mr);
    }
    return first;
}

// Makes the queue pairs of one end.
static void make_qps(app__perftest_t *test, app__side_of_pair_t side, const uint64_t first[2])
{
    const app__perftest_config_t *const config = &test->config;
    const net_t *const net = test->app.net;
    app__perftest_end_t *const end = &test->ends[side];
    const uint32_t interface = end->endpoint->interface;
    const uint32_t depth = (uint32_t)config->tx_depth;
    const uint32_t receives = (uint32_t)app__perftest_receives(config);
    const uint32_t capacity = (uint32_t)(config->tx_depth * config->qps);
    const uint32_t recv_capacity = (uint32_t)(receives * config->qps);
    const uint8_t priority =
        config->priority == SIM_AUTO ? APP__AS_THE_NIC : (uint8_t)config->priority;
    const uint8_t dscp = config->dscp == SIM_AUTO ? APP__AS_THE_NIC : (uint8_t)config->dscp;
    const app__queues_t queues = {
        .send_cq = nic_cq_create(end->endpoint->nic, capacity, app__perftest_completed, end),
        .recv_cq = nic_cq_create(end->endpoint->nic, recv_capacity, app__perftest_received, end),
    };
    end->send_cq = queues.send_cq;
    end->recv_cq = queues.recv_cq;
    if (end->core != NULL) {
        nic_cq_set_core(end->send_cq, end->core);
        nic_cq_set_core(end->recv_cq, end->core);
    }
    app__pair_t pair = {
        .ends = {test->ends[0].endpoint, test->ends[1].endpoint},
        .type = config->connection == APP__PERFTEST_RC   ? NIC_QPT_RC
                : config->connection == APP__PERFTEST_UC ? NIC_QPT_UC
                                                         : NIC_QPT_UD,
        .access = NIC_ACCESS_REMOTE_WRITE | NIC_ACCESS_REMOTE_READ | NIC_ACCESS_REMOTE_ATOMIC,
        .mtu_bytes = app__pair_mtu_bytes(net, test->ends[0].endpoint->interface,
                                         test->ends[1].endpoint->interface),
        .priority = app__priority_of(net, interface, priority),
        .dscp = app__dscp_of(net, interface, priority, dscp),
        .queues = &queues,
    };
    for (uint64_t i = 0; i < config->qps; i++) {
        pair.numbers[APP__REQUESTER] = app__qp_number(first[APP__REQUESTER] + i);
        pair.numbers[APP__RESPONDER] = app__qp_number(first[APP__RESPONDER] + i);
        end->qps[i].qp = app__pair_make(&pair, side, depth, receives);
    }
}

static void make_pairs(app__perftest_t *test, const uint64_t first[2])
{
    const app__perftest_config_t *const config = &test->config;
    app__perftest_end_t *const client = &test->ends[APP__REQUESTER];
    app__perftest_end_t *const server = &test->ends[APP__RESPONDER];
    const bool answers = config->test == APP__PERFTEST_SEND_LAT || config->both_ways;
    make_qps(test, APP__REQUESTER, first);
    make_qps(test, APP__RESPONDER, first);
    for (uint64_t i = 0; i < config->qps; i++) {
        for (uint64_t r = 0; app__perftest_opcode_of(config->test) == NIC_WR_SEND &&
                             r < app__perftest_receives(config);
             r++) {
            app__perftest_post_receive(server, &server->qps[i]);
            if (answers) {
                app__perftest_post_receive(client, &client->qps[i]);
            }
        }
        for (uint32_t e = 0; config->test == APP__PERFTEST_WRITE_LAT && e < 2; e++) {
            nic_qp_on_write(test->ends[e].qps[i].qp, app__perftest_sees_write, &test->ends[e]);
        }
    }
}

// Returns the longest time that a ping and its answer take: each end retransmits as often as it
// may, doubled for queueing. 0: an end never gives up.
static sim_time_t answer_time_ps(const app__perftest_t *test)
{
    sim_time_t sum_ps = 0;
    for (size_t i = 0; i < SIM_COUNT_OF(test->ends); i++) {
        const nic_config_t *const config = nic_get_config(test->ends[i].endpoint->nic);
        if (config->timeout == 0) {
            return 0;
        }
        sum_ps += (config->retry_count + 1) * (UINT64_C(4096000) << config->timeout);
    }
    return 2 * sum_ps;
}

static void choose_sizes(app__perftest_t *test, uint64_t mtu)
{
    const app__perftest_config_t *const config = &test->config;
    const bool ud = config->connection == APP__PERFTEST_UD;
    if (config->test >= APP__PERFTEST_ATOMIC_BW) {
        test->sizes[test->size_count++] = APP__PERFTEST_ATOMIC_BYTES;
    } else if (config->all) {
        const uint64_t most = ud ? mtu : UINT64_MAX;
        for (uint32_t i = 0; i < APP__PERFTEST_SIZES_MAX && UINT64_C(2) << i <= most; i++) {
            test->sizes[test->size_count++] = UINT64_C(2) << i;
        }
    } else if (config->size_bytes != SIM_AUTO) {
        test->sizes[test->size_count++] = config->size_bytes;
    } else {
        test->sizes[test->size_count++] = app__perftest_is_latency(config->test) ? 2
                                          : ud                                   ? mtu
                                                                                 : 65536;
    }
}

// Checks what the tool's program refuses: connections without the verb, and the like.
static sim_err_t check_kind(const app__perftest_config_t *config, sim_message_t *message)
{
    const nic_wr_opcode_t opcode = app__perftest_opcode_of(config->test);
    const bool send = opcode == NIC_WR_SEND;
    if (config->connection == APP__PERFTEST_UD && !send) {
        return sim_fail_about(message, SIM_ERR_INVALID, "connection",
                              ": ud has SEND only, expected ib_send_bw or ib_send_lat");
    }
    if (config->connection == APP__PERFTEST_UC && !send && opcode != NIC_WR_RDMA_WRITE) {
        return sim_fail_about(message, SIM_ERR_INVALID, "connection",
                              ": uc has WRITE and SEND only, expected rc for READ and atomics");
    }
    if (config->both_ways && app__perftest_is_latency(config->test)) {
        return sim_fail_about(message, SIM_ERR_INVALID, "bidirectional",
                              ": a latency test has both directions, expected a bandwidth test");
    }
    if (config->events && opcode == NIC_WR_RDMA_WRITE) {
        return sim_fail_about(
            message, SIM_ERR_INVALID, "events",
            ": perftest does not wait for events with WRITE, expected another test");
    }
    if (config->test >= APP__PERFTEST_ATOMIC_BW && config->size_bytes != SIM_AUTO &&
        config->size_bytes != APP__PERFTEST_ATOMIC_BYTES) {
        return sim_fail_about(message, SIM_ERR_RANGE, "size",
                              " is %" PRIu64 ", expected 8, the size of atomics",
                              config->size_bytes);
    }
    if (app__perftest_is_latency(config->test) && config->qps != 1) {
        return sim_fail_about(message, SIM_ERR_RANGE, "qps",
                              " is %" PRIu64 ", expected 1 for a latency test", config->qps);
    }
    return SIM_OK;
}

static sim_err_t find_ends(const app_context_t *context, const app__perftest_config_t *config,
                           uint32_t ends[2], sim_message_t *message)
{
    sim_err_t error = app__interface_find(context, "from", config->from, &ends[0], message);
    if (error == SIM_OK) {
        error = app__interface_find(context, "to", config->to, &ends[1], message);
    }
    if (error != SIM_OK) {
        return error;
    }
    const bool looped =
        ends[0] == ends[1] && nic_reaches(nic_of_interface(context->net, ends[0]), ends[1]);
    if (!looped && !app__find_talk(context->net, &ends[0], &ends[1])) {
        return app__cannot_talk(context->net, ends[0], ends[1], "to", message);
    }
    if (config->post_list > config->tx_depth) {
        return sim_fail_about(message, SIM_ERR_RANGE, "post-list",
                              " is %" PRIu64 ", expected at most tx-depth (%" PRIu64 ")",
                              config->post_list, config->tx_depth);
    }
    if (config->moderation > 1 && config->stop_ps != SIM_AUTO) {
        return sim_fail_about(message, SIM_ERR_INVALID, "cq-moderation",
                              ": with stop the last messages would have no completion, expected 1");
    }
    if (config->moderation > config->tx_depth) {
        return sim_fail_about(message, SIM_ERR_RANGE, "cq-moderation",
                              " is %" PRIu64 ", expected at most tx-depth (%" PRIu64 ")",
                              config->moderation, config->tx_depth);
    }
    if (config->stop_ps != SIM_AUTO && config->stop_ps <= config->start_ps) {
        return sim_fail_about(message, SIM_ERR_RANGE, "stop",
                              ": the test starts later, expected a time after start");
    }
    return check_kind(config, message);
}

// Fails if the transport of a test's client does not have the test's verb.
static sim_err_t check_verb(const app_context_t *context, const app__perftest_config_t *config,
                            uint32_t client, sim_message_t *message)
{
    const app__perftest_kind_t kind = config->test;
    const char *const name =
        nic_transport_refuses(nic_config_of_interface(context->net, client), NIC_WR_SEND);
    if (name == NULL || config->connection != APP__PERFTEST_RC || kind == APP__PERFTEST_WRITE_BW ||
        kind == APP__PERFTEST_WRITE_LAT) {
        return SIM_OK;
    }
    return sim_fail_about(message, SIM_ERR_INVALID, "test",
                          ": nic.transport %s of %s has WRITE alone, expected ib_write_bw or "
                          "ib_write_lat, or nic.%s.operations: all",
                          name, app__host_name(context->net, client), name);
}

// Returns the time at which an end begins. Both ends of the tool begin when they have got the
// other's last message of their handshake; the server answers the client's.
static sim_time_t begin_ps(const app__perftest_end_t *end)
{
    const app__perftest_t *const test = end->test;
    const bool server_posts = app__perftest_starts(&test->ends[APP__RESPONDER]);
    const bool later = server_posts && end == &test->ends[APP__REQUESTER];
    return test->config.start_ps + (later ? test->config.handshake_ps : 0);
}

static sim_err_t perftest_create(const app_context_t *context, const void *config_void, app_t **app,
                                 sim_message_t *message)
{
    SIM_CHECKF(context->runtime != NULL, "applications need a runtime: app_runtime_create");
    const app__perftest_config_t *const config = config_void;
    uint32_t interfaces[2];
    sim_err_t error = find_ends(context, config, interfaces, message);
    if (error == SIM_OK) {
        error = check_verb(context, config, interfaces[0], message);
    }
    if (error != SIM_OK) {
        return error;
    }
    const uint64_t mtus[] = {nic_config_of_interface(context->net, interfaces[0])->mtu_bytes,
                             nic_config_of_interface(context->net, interfaces[1])->mtu_bytes};
    const uint64_t mtu = SIM_MIN(mtus[0], mtus[1]);
    if (config->connection == APP__PERFTEST_UD && !config->all && config->size_bytes != SIM_AUTO &&
        config->size_bytes > mtu) {
        return sim_fail_about(message, SIM_ERR_RANGE, "size",
                              " is %" PRIu64 ", expected at most the MTU, %" PRIu64 ", with ud",
                              config->size_bytes, mtu);
    }
    for (uint32_t e = 0; e < 2; e++) {
        const uint64_t most = nic_inline_max(nic_of_interface(context->net, interfaces[e]));
        if (config->inline_bytes > most) {
            return sim_fail_about(message, SIM_ERR_RANGE, "inline",
                                  " is %" PRIu64 ", expected at most nic.detailed.wqe.inline-max, "
                                  "%" PRIu64,
                                  config->inline_bytes, most);
        }
    }
    app__perftest_t *const test = sim_alloc(sizeof(*test));
    test->app = (app_t){&app_perftest, context->net, context->index};
    test->config = *config;
    if (config->iterations == SIM_AUTO) {
        test->config.iterations = config->test == APP__PERFTEST_WRITE_BW ? 5000 : 1000;
    }
    test->config.stop_ps = config->stop_ps == SIM_AUTO ? SIM_TIME_NEVER : config->stop_ps;
    choose_sizes(test, mtu);
    uint64_t first[2];
    for (uint32_t e = 0; e < 2; e++) {
        first[e] =
            make_end(test, &test->ends[e], app__endpoint_of(context->runtime, interfaces[e]));
    }
    make_pairs(test, first);
    sim_timer_init(&test->answer_timer, app__perftest_answer_due);
    test->answer_ps = answer_time_ps(test);
    for (uint32_t e = 0; e < 2; e++) {
        if (test->ends[e].core != NULL) {
            nic_core_start(test->ends[e].core, begin_ps(&test->ends[e]));
        }
    }
    for (uint32_t e = 0; e < 2; e++) {
        if (test->ends[e].core != NULL || !app__perftest_starts(&test->ends[e])) {
            continue;
        }
        sim_timer_init(&test->ends[e].start_timer, app__perftest_start_fired);
        sim_timer_arm(test->ends[e].endpoint->node, &test->ends[e].start_timer,
                      begin_ps(&test->ends[e]));
    }
    *app = &test->app;
    return SIM_OK;
}

static void perftest_destroy(app_t *app)
{
    app__perftest_t *const test = (app__perftest_t *)(void *)app;
    for (size_t i = 0; i < SIM_COUNT_OF(test->ends); i++) {
        SIM_FREE_ALL(test->ends[i].posted_ps, test->ends[i].completed_ps, test->ends[i].qps);
    }
    sim_free(test);
}

static void perftest_progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    const app__perftest_t *const test = (const app__perftest_t *)(const void *)app;
    *done = test->done;
    *planned = test->ends[APP__REQUESTER].ended
                   ? test->done
                   : app__perftest_messages_of_size(test) * test->size_count;
}

static void perftest_carry(app_t *app, sim_carry_t *carry)
{
    app__perftest_t *const test = (app__perftest_t *)(void *)app;
    app__perftest_end_t *const client = &test->ends[APP__REQUESTER];
    for (size_t i = 0; i < SIM_COUNT_OF(test->ends); i++) {
        if (sim_carry_has(carry, test->ends[i].endpoint->node)) {
            SIM_CARRY(carry, test->ends[i].row_count);
            SIM_CARRY(carry, test->ends[i].rows);
        }
    }
    if (sim_carry_has(carry, client->endpoint->node)) {
        SIM_CARRY(carry, test->done);
        SIM_CARRY(carry, test->status);
        SIM_CARRY(carry, client->ended);
    }
}

static const char *perftest_failure(const app_t *app)
{
    const app__perftest_t *const test = (const app__perftest_t *)(const void *)app;
    return test->status == NIC_WC_SUCCESS ? NULL
                                          : nic_wc_status_text((nic_wc_status_t)test->status);
}

const app_ops_t app_perftest = {
    .name = "perftest",
    .help = "bandwidth and latency between two hosts, as perftest's tools measure them",
    .attrs = &attr_table,
    .failure = perftest_failure,
    .create = perftest_create,
    .destroy = perftest_destroy,
    .progress = perftest_progress,
    .carry = perftest_carry,
    .report = &app__perftest_report,
    .print = app__perftest_print,
    .alone = true,
};
