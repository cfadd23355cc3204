// SPDX-License-Identifier: Apache-2.0
// apps/rates/perftest.c - the traffic of perftest's bandwidth and latency tools between two hosts.
//
// Bandwidth: the client keeps up to tx-depth messages posted on each QP. Latency of WRITE and SEND:
// ping-pong, half the round trip counts. Latency of READ and atomics: one after another, the whole
// round trip counts. Both directions: the server posts the same, and the report adds what both ends
// measured, as in the tool. With the ideal NIC programs take no time: they see a completion, or
// data in memory that they poll, at once. With the detailed NIC, or with events, each end is the
// program of a core (nic/core.h), whose loop is that of the tool.
// Measures and report: docs/models/traffic.md
#include "apps/rates/perftest_internal.h"

nic_wr_opcode_t app__perftest_opcode_of(app__perftest_kind_t kind)
{
    switch (kind) {
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

static bool is_client(const app__perftest_end_t *end)
{
    return end == &end->test->ends[APP__REQUESTER];
}

static sim_time_t now_ps(const app__perftest_end_t *end)
{
    return end->core != NULL ? nic_core_now_ps(end->core) : end->endpoint->node->now_ps;
}

// -- posting

#define LIST_MAX 64u // work requests with one Doorbell

#define LINE_BYTES 64u

// Returns where a message lies in the buffer of its queue pair. Small ones go through the buffer,
// one after the other. Lists have the same places each time.
static uint64_t place_of_message(const app__perftest_t *test, uint64_t message, uint64_t bytes)
{
    const uint64_t lines = SIM_MAX(1, (bytes + LINE_BYTES - 1) / LINE_BYTES);
    const uint64_t list = test->config.post_list;
    const uint64_t in_list = list > 1 ? message % list : message;
    return bytes > APP__PERFTEST_BUFFER_BYTES / 2
               ? 0
               : in_list % (APP__PERFTEST_BUFFER_BYTES / LINE_BYTES / lines) * lines * LINE_BYTES;
}

// Returns where the buffer number `index` of an end lies in its page. The tool's buffers lie one
// behind the other.
static uint64_t place_in_page(uint64_t index, uint64_t bytes)
{
    return index * SIM_MAX(bytes, APP__PERFTEST_BUFFER_BYTES) % APP__PERFTEST_BUFFER_BYTES;
}

static nic_send_wr_t make_send(const app__perftest_end_t *end, app__perftest_qp_t *qp,
                               uint64_t bytes)
{
    const app__perftest_t *const test = end->test;
    const app__perftest_end_t *const other =
        &test->ends[is_client(end) ? APP__RESPONDER : APP__REQUESTER];
    const uint32_t number = nic_qp_num(qp->qp);
    const uint32_t peer = nic_qp_num(other->qps[qp - end->qps].qp);
    const uint32_t peer_key = app__buffer_key(other->endpoint, peer);
    const uint64_t index = (uint64_t)(qp - end->qps);
    // `qp` has counted the message.
    const bool signaled = app__perftest_is_latency(test->config.test) ||
                          qp->posted % test->config.moderation == 0 ||
                          qp->posted == test->config.iterations;
    const uint64_t place = place_of_message(test, qp->posted - 1, bytes);
    const bool inlined = bytes <= test->config.inline_bytes &&
                         app__perftest_opcode_of(test->config.test) < NIC_WR_RDMA_READ;
    return (nic_send_wr_t){
        .wr_id = (uint64_t)(uintptr_t)qp,
        .opcode = app__perftest_opcode_of(test->config.test),
        .send_flags = (signaled ? NIC_SEND_SIGNALED : 0u) | (inlined ? NIC_SEND_INLINE : 0u),
        .sge = {app__address_of_qp(number) + place_in_page(index, bytes) + place, bytes,
                app__buffer_key(end->endpoint, number)},
        .rdma = {app__address_of_qp(peer) + place_in_page(test->config.qps + index, bytes) + place,
                 peer_key},
        .ud = {other->endpoint->interface, peer, 0},
        .atomic = {.remote_addr = other->words + index * APP__PERFTEST_BUFFER_BYTES + place,
                   .compare_add = 1,
                   .rkey = other->words_key},
    };
}

static void post_send(const app__perftest_end_t *end, app__perftest_qp_t *qp, uint64_t bytes)
{
    const nic_send_wr_t wr = make_send(end, qp, bytes);
    app__qp_post(qp->qp, &wr);
}

static void count_post(app__perftest_end_t *end, app__perftest_qp_t *qp)
{
    if (app__perftest_measures(end)) {
        end->posted_ps[end->posted] = now_ps(end);
    }
    end->posted++;
    qp->posted++;
}

// Posts several messages with one Doorbell for LIST_MAX of them.
static void post_list(app__perftest_end_t *end, app__perftest_qp_t *qp, uint64_t bytes,
                      uint64_t count)
{
    nic_send_wr_t list[LIST_MAX];
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t at = i % LIST_MAX;
        count_post(end, qp);
        list[at] = make_send(end, qp, bytes);
        if (at != 0) {
            list[at - 1].next = &list[at];
        }
        if (at + 1 == LIST_MAX || i + 1 == count) {
            SIM_CHECK(nic_post_send_list(qp->qp, list, NULL) == SIM_OK);
        }
    }
}

void app__perftest_post_receive(const app__perftest_end_t *end, app__perftest_qp_t *qp)
{
    const app__perftest_t *const test = end->test;
    qp->receives++;
    app__qp_receive(qp->qp, end->endpoint, (uint64_t)(uintptr_t)qp,
                    test->sizes[test->size_count - 1], 1);
}

#define RECEIVES 512u // -r of the tools, unless it is given
#define UNRELIABLE_RECEIVES_MAX 16000u

uint64_t app__perftest_receives(const app__perftest_config_t *config)
{
    const uint64_t of_tool =
        config->connection == APP__PERFTEST_RC ? RECEIVES : UNRELIABLE_RECEIVES_MAX;
    const uint64_t receives =
        SIM_MIN(config->rx_depth == SIM_AUTO ? of_tool : config->rx_depth, config->iterations);
    return app__perftest_is_latency(config->test) ? config->tx_depth
                                                  : SIM_MAX(receives, config->tx_depth);
}

// Returns true if a bandwidth test has posted a receive for each message.
static bool has_all_receives(const app__perftest_end_t *end, const app__perftest_qp_t *qp)
{
    const app__perftest_t *const test = end->test;
    return !app__perftest_is_latency(test->config.test) && test->size_count == 1 &&
           test->config.stop_ps == SIM_TIME_NEVER && qp->receives >= test->config.iterations;
}

static bool is_time_up(const app__perftest_end_t *end)
{
    return now_ps(end) >= end->test->config.stop_ps;
}

static void post_message(app__perftest_end_t *end, app__perftest_qp_t *qp)
{
    count_post(end, qp);
    post_send(end, qp, end->test->sizes[end->size_index]);
}

// Fills one QP after another, like the tool's loop.
static void post_messages(app__perftest_end_t *end)
{
    const app__perftest_config_t *const config = &end->test->config;
    const uint64_t at_once = is_client(end) || end->core != NULL ? config->post_list : 1;
    for (uint64_t i = 0; i < config->qps && !is_time_up(end); i++) {
        app__perftest_qp_t *const qp = &end->qps[i];
        while (qp->posted < config->iterations &&
               qp->posted + at_once <= qp->completed + config->tx_depth) {
            const uint64_t count = SIM_MIN(at_once, config->iterations - qp->posted);
            if (end->core != NULL && count > 1) {
                post_list(end, qp, end->test->sizes[end->size_index], count);
                continue;
            }
            for (uint64_t j = 0; j < count; j++) {
                post_message(end, qp);
            }
        }
    }
}

// Posts the next ping if the last one is answered and the send queue has room.
static void ping(app__perftest_t *test)
{
    app__perftest_end_t *const client = &test->ends[APP__REQUESTER];
    if (!test->waiting && !is_time_up(client) && client->posted < test->config.iterations &&
        client->sends_outstanding < test->config.tx_depth) {
        test->waiting = true;
        client->sends_outstanding++;
        post_message(client, &client->qps[0]);
        if (test->answer_ps != 0 && !sim_timer_armed(&test->answer_timer)) {
            sim_node_t *const node = client->endpoint->node;
            sim_timer_arm(node, &test->answer_timer, node->now_ps + test->answer_ps);
        }
    }
}

static void post_more(app__perftest_end_t *end)
{
    if (app__perftest_is_latency(end->test->config.test)) {
        ping(end->test);
    } else if (end->core == NULL) { // the loop of a core posts
        post_messages(end);
    }
}

// -- one size after another

static void begin_size(app__perftest_end_t *end)
{
    end->posted = 0;
    end->completed = 0;
    for (uint64_t i = 0; i < end->test->config.qps; i++) {
        end->qps[i].posted = 0;
        end->qps[i].completed = 0;
    }
    post_more(end);
}

static void stop(app__perftest_end_t *end)
{
    if (is_client(end)) {
        sim_timer_cancel(end->endpoint->node, &end->test->answer_timer);
    }
    sim_work_end(end->endpoint->node, 1);
    end->ended = true;
}

// Counts a completed message of the current size.
static void count_message(app__perftest_end_t *end)
{
    app__perftest_t *const test = end->test;
    if (app__perftest_measures(end)) {
        end->completed_ps[end->completed] = now_ps(end);
    }
    test->done += is_client(end);
    end->completed++;
    sim_progress(end->endpoint->node);
}

static void measure(app__perftest_end_t *end)
{
    if (app__perftest_measures(end) && end->completed > 0) {
        app__perftest_measure(end);
    }
}

// Ends the test early, when nothing is posted any more and nothing is in flight.
static void end_early(app__perftest_end_t *end)
{
    measure(end);
    stop(end);
}

// Continues after a message: with the next one, the next size, or the end.
static void go_on(app__perftest_end_t *end)
{
    if (is_time_up(end) && end->completed == end->posted) {
        end_early(end);
    } else if (end->completed < app__perftest_messages_of_size(end->test)) {
        post_more(end);
    } else {
        measure(end);
        end->size_index++;
        if (end->size_index < end->test->size_count) {
            begin_size(end);
        } else {
            stop(end);
        }
    }
}

static void begin(app__perftest_end_t *end)
{
    sim_work_begin(end->endpoint->node, 1);
    end->begun = true;
    begin_size(end);
}

void app__perftest_start_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    begin(SIM_CONTAINER_OF(timer, app__perftest_end_t, start_timer));
}

// -- pings and their answers

// Answers pings at the server.
static void pong(app__perftest_t *test)
{
    app__perftest_end_t *const server = &test->ends[APP__RESPONDER];
    while (test->pongs_owed > 0 && server->sends_outstanding < test->config.tx_depth) {
        test->pongs_owed--;
        server->sends_outstanding++;
        post_send(server, &server->qps[0], test->sizes[test->pings++ / test->config.iterations]);
    }
}

// Takes a ping at the server, or its answer at the client.
static void arrived(app__perftest_end_t *end)
{
    app__perftest_t *const test = end->test;
    if (!is_client(end)) {
        test->pongs_owed++;
        pong(test);
    } else if (!end->ended) {
        test->waiting = false;
        count_message(end);
        go_on(end);
    }
}

// Ends the test if the server must have given up since the last ping.
void app__perftest_answer_due(sim_node_t *node, sim_timer_t *timer)
{
    app__perftest_t *const test = SIM_CONTAINER_OF(timer, app__perftest_t, answer_timer);
    app__perftest_end_t *const client = &test->ends[APP__REQUESTER];
    const sim_time_t due_ps = client->posted_ps[client->posted - 1] + test->answer_ps;
    if (node->now_ps < due_ps) {
        sim_timer_arm(node, timer, due_ps);
    } else if (test->waiting) {
        test->status = NIC_WC_RETRY_EXC_ERR;
        end_early(client);
    }
}

// Handles a send of the client in a latency test.
static void ping_completed(app__perftest_end_t *client)
{
    client->sends_outstanding--;
    if (app__perftest_is_fetch(client->test->config.test)) {
        arrived(client);
    } else if (is_time_up(client) && client->completed == client->posted) {
        // The ping was answered before its send completed, and there was no room for another.
        end_early(client);
    } else {
        ping(client->test);
    }
}

// -- completions

static void completed_one(app__perftest_end_t *end, const nic_wc_t *wc)
{
    app__perftest_t *const test = end->test;
    app__perftest_qp_t *const qp = (app__perftest_qp_t *)(uintptr_t)wc->wr_id;
    const bool failed = wc->status != NIC_WC_SUCCESS;
    if (app__perftest_is_latency(test->config.test) && !is_client(end)) {
        if (failed && end->core != NULL) {
            end->ended = true;
        } else {
            end->sends_outstanding -= !failed;
            pong(test);
        }
    } else if (end->ended) {
        return;
    } else if (failed) {
        if (is_client(end)) {
            test->status = (uint32_t)wc->status;
        }
        stop(end);
    } else if (app__perftest_is_latency(test->config.test)) {
        ping_completed(end);
    } else {
        // With it, those without a completion before it. The tool counts the last completion of a
        // queue pair as so many messages, too, so that a test of several queue pairs may end early.
        const uint64_t moderation = test->config.moderation;
        const uint64_t until = (qp->completed / moderation + 1) * moderation;
        const bool counts_all = test->size_count == 1;
        while (qp->completed < until && (counts_all || qp->completed < test->config.iterations) &&
               end->completed < app__perftest_messages_of_size(test)) {
            qp->completed++;
            count_message(end);
        }
        go_on(end);
    }
}

void app__perftest_completed(nic_cq_t *cq, void *ctx)
{
    nic_wc_t wc;
    while (nic_poll_cq(cq, 1, &wc) > 0) {
        completed_one(ctx, &wc);
    }
}

static void received_one(app__perftest_end_t *end, const nic_wc_t *wc)
{
    if (wc->status == NIC_WC_SUCCESS) {
        app__perftest_qp_t *const qp = (app__perftest_qp_t *)(uintptr_t)wc->wr_id;
        if (!has_all_receives(end, qp)) {
            app__perftest_post_receive(end, qp);
        }
        if (app__perftest_measures(end) && !end->begun) {
            begin(end);
        }
        if (app__perftest_is_latency(end->test->config.test)) {
            arrived(end);
        }
    }
}

void app__perftest_received(nic_cq_t *cq, void *ctx)
{
    nic_wc_t wc;
    while (nic_poll_cq(cq, 1, &wc) > 0) {
        received_one(ctx, &wc);
    }
}

void app__perftest_sees_write(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *ctx)
{
    (void)qp;
    (void)address;
    (void)byte_len;
    app__perftest_end_t *const end = ctx;
    if (end->core == NULL) {
        arrived(end);
        return;
    }
    end->writes++;
    nic_core_wake(end->core);
}

// -- the loop of a core

// The number of completions that the tool takes at a time in a bandwidth test; with SENDs in both
// directions it takes all receives that there are.
#define BATCH 16u
#define BATCH_MAX 512u

// Raises the events of armed queues that have got completions.
static void note_events(app__perftest_end_t *end)
{
    const nic_cq_t *const queues[] = {end->send_cq, end->recv_cq};
    for (size_t i = 0; i < SIM_COUNT_OF(queues); i++) {
        app__perftest_notice_t *const notice = &end->notices[i];
        if (notice->armed && nic_cq_waiting(queues[i]) > notice->left) {
            *notice = (app__perftest_notice_t){.raised = ++end->raised};
        }
    }
}

// Takes the oldest event and arms its queue again. Completions that were there when a queue was
// armed raise an event only now. Returns false if there is none.
static bool take_event(app__perftest_end_t *end)
{
    const nic_cq_t *const queues[] = {end->send_cq, end->recv_cq};
    size_t oldest = SIM_COUNT_OF(queues);
    uint64_t raised = UINT64_MAX;
    note_events(end);
    for (size_t i = 0; i < SIM_COUNT_OF(queues); i++) {
        const app__perftest_notice_t *const notice = &end->notices[i];
        const uint64_t since = notice->armed ? UINT64_MAX - 1 : notice->raised;
        if (since < raised && (!notice->armed || nic_cq_waiting(queues[i]) != 0)) {
            oldest = i;
            raised = since;
        }
    }
    if (oldest == SIM_COUNT_OF(queues)) {
        return false;
    }
    end->notices[oldest] =
        (app__perftest_notice_t){.armed = true, .left = nic_cq_waiting(queues[oldest])};
    return true;
}

// Polls a queue once, for at most `most` completions. Returns whether there were any.
static bool poll_once(app__perftest_end_t *end, nic_cq_t *cq, uint32_t most,
                      void (*take)(app__perftest_end_t *end, const nic_wc_t *wc))
{
    nic_wc_t wc[BATCH_MAX];
    note_events(end);
    const uint32_t count = nic_poll_cq(cq, most, wc);
    for (uint32_t i = 0; i < count; i++) {
        take(end, &wc[i]);
    }
    return count != 0;
}

// A latency test waits for the completion of what it has sent before it looks for an answer.
static bool wait_for_one(app__perftest_end_t *end)
{
    const app__perftest_kind_t kind = end->test->config.test;
    if (end->sends_outstanding != 0 || app__perftest_is_fetch(kind)) {
        return poll_once(end, end->send_cq, 1, completed_one);
    }
    if (kind == APP__PERFTEST_SEND_LAT) {
        return poll_once(end, end->recv_cq, 1, received_one);
    }
    if (end->writes == 0) {
        return false;
    }
    end->writes--;
    arrived(end);
    return true;
}

static bool poll_receives(app__perftest_end_t *end)
{
    const app__perftest_t *const test = end->test;
    const bool sends = app__perftest_opcode_of(test->config.test) == NIC_WR_SEND;
    return sends && (!is_client(end) || test->config.both_ways) &&
           poll_once(end, end->recv_cq, test->config.both_ways ? BATCH_MAX : BATCH, received_one);
}

static bool poll_sends(app__perftest_end_t *end)
{
    return app__perftest_measures(end) && poll_once(end, end->send_cq, BATCH, completed_one);
}

// Does a turn of the loop of a bandwidth test. What takes time ends the step, since a poll sees
// only completions that were there when its step began: the next step goes on behind it.
static bool transfer(app__perftest_end_t *end)
{
    const app__perftest_part_t from = end->next_part;
    end->next_part = APP__PERFTEST_POSTS;
    if (from == APP__PERFTEST_POSTS && end->begun && !end->ended) {
        const uint64_t before = end->posted;
        post_messages(end);
        if (end->posted != before) {
            end->next_part = APP__PERFTEST_RECEIVES;
            nic_core_only_polls(end->core);
            return true;
        }
    }
    if (from != APP__PERFTEST_COMPLETIONS && poll_receives(end)) {
        end->next_part = APP__PERFTEST_COMPLETIONS;
        return true;
    }
    return poll_sends(end) || from == APP__PERFTEST_COMPLETIONS;
}

// Does parts of the loop of a test with events until one of them takes time. Returns false if the
// loop waits for an event.
static bool do_parts(app__perftest_end_t *end)
{
    const bool latency = app__perftest_is_latency(end->test->config.test);
    while (nic_core_now_ps(end->core) == end->endpoint->node->now_ps && !(latency && end->ended)) {
        switch (end->next_part) {
        case APP__PERFTEST_POSTS:
            if (!latency && end->begun && !end->ended) {
                post_messages(end);
            }
            end->next_part = APP__PERFTEST_CALLS;
            break;
        case APP__PERFTEST_CALLS:
            nic_core_wait(end->core, end->test->config.event_ps);
            end->next_part = APP__PERFTEST_WAITS;
            break;
        case APP__PERFTEST_WAITS:
            if (!take_event(end)) {
                return false;
            }
            end->next_part = APP__PERFTEST_RECEIVES;
            break;
        case APP__PERFTEST_RECEIVES: // a server of one direction polls until its queue is empty
            if (latency) {
                (void)wait_for_one(end);
                end->next_part = APP__PERFTEST_POSTS;
            } else if (!poll_receives(end) || app__perftest_measures(end)) {
                end->next_part = APP__PERFTEST_COMPLETIONS;
            }
            break;
        case APP__PERFTEST_COMPLETIONS:
            (void)poll_sends(end);
            end->next_part = APP__PERFTEST_POSTS;
            break;
        }
    }
    return true;
}

bool app__perftest_take_step(nic_core_t *core, void *ctx)
{
    app__perftest_end_t *const end = ctx;
    bool did = false;
    if (app__perftest_starts(end) && !end->begun) {
        did = true;
        begin(end);
    }
    if (end->test->config.events) {
        did = do_parts(end) || did;
    } else if (!app__perftest_is_latency(end->test->config.test)) {
        return transfer(end) || did;
    } else {
        did = (!end->ended && wait_for_one(end)) || did;
    }
    if (end->ended && app__perftest_is_latency(end->test->config.test)) {
        nic_core_stop(core); // it leaves completions in its queues, which would wake it
    }
    return did;
}
