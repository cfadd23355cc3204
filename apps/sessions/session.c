// SPDX-License-Identifier: Apache-2.0
// apps/sessions/session.c - the application `session`: its transfers and the reports about them.
//
// A transfer waits in a heap until the step in which it begins. Then it gets its place among all
// transfers, and begins on a channel (channels.c). Programs of ranks are in program.c.
// docs/models/submitted-transfers.md
#include "apps/sessions/session_internal.h"

#include "kernel/attribute.h"

#include <stdlib.h>

#define PREFIX "traffic.session"
#define OPEN_MAX (UINT64_C(1) << 18)

typedef struct session_config {
    char *hosts;
} session_config_t;

// clang-format off
static const sim_attr_t attrs[] = {
    SIM_ATTR(PREFIX ".hosts", STRING, session_config_t, hosts,
             .default_text = "*",
             .help = "hosts between which a program may submit transfers"),
};
// clang-format on

static const sim_attr_table_t attr_table = {PREFIX, "application", sizeof(session_config_t), attrs,
                                            SIM_COUNT_OF(attrs)};

// -- submitting

sim_err_t app_session_may_begin(const app_session_t *session, sim_time_t at_ps,
                                sim_message_t *message)
{
    if (at_ps < session->released_ps) {
        return sim_fail(message, SIM_ERR_RANGE,
                        "at: %" PRIu64 " ps has passed; the time is %" PRIu64 " ps", at_ps,
                        session->released_ps);
    }
    if (session->open >= OPEN_MAX) {
        return sim_fail(message, SIM_ERR_RANGE,
                        "%" PRIu64
                        " transfers wait or run, which is the maximum number; advance first",
                        session->open);
    }
    return SIM_OK;
}

static sim_err_t check_request(const app_session_t *session, const app_session_request_t *request,
                               sim_message_t *message)
{
    const net_t *const net = session->app.net;
    const uint32_t count = (uint32_t)session->side_count;
    if (request->source >= count || session->sides[request->source].endpoint == NULL) {
        return sim_fail(message, SIM_ERR_RANGE, "src: the session has no such host");
    }
    if (request->destination >= count || session->sides[request->destination].endpoint == NULL) {
        return sim_fail(message, SIM_ERR_RANGE, "dst: the session has no such host");
    }
    if (request->bytes > APP_SESSION_BYTES_MAX) {
        return sim_fail(message, SIM_ERR_RANGE, "bytes: the number is too large, at most 2^42");
    }
    if (request->priority != SIM_AUTO && request->priority >= NET_PRIORITIES) {
        return sim_fail(message, SIM_ERR_RANGE, "priority: expected 0 to 7");
    }
    const sim_err_t error = app_session_may_begin(session, request->at_ps, message);
    if (error != SIM_OK) {
        return error;
    }
    if (!app__can_talk(net, request->source, request->destination)) {
        return app__cannot_talk(net, request->source, request->destination, "dst", message);
    }
    return SIM_OK;
}

// Returns whether transfer a begins before transfer b.
static bool begins_before(const app_session_t *session, uint64_t a, uint64_t b)
{
    const sim_time_t starts_ps[2] = {app__session_transfer(session, a)->start_ps,
                                     app__session_transfer(session, b)->start_ps};
    return starts_ps[0] != starts_ps[1] ? starts_ps[0] < starts_ps[1] : a < b;
}

// Puts a transfer into the heap of those that wait.
static void push_waiting(app_session_t *session, uint64_t number)
{
    SIM_GROW(session->waiting, session->waiting_count, &session->waiting_capacity);
    size_t at = session->waiting_count++;
    while (at > 0 && begins_before(session, number, session->waiting[(at - 1) / 2])) {
        session->waiting[at] = session->waiting[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    session->waiting[at] = number;
}

static uint64_t pop_waiting(app_session_t *session)
{
    uint64_t *const heap = session->waiting;
    const uint64_t top = heap[0];
    const uint64_t last = heap[--session->waiting_count];
    const size_t count = session->waiting_count;
    size_t at = 0;
    for (;;) {
        size_t child = at * 2 + 1;
        if (child >= count) {
            break;
        }
        child += child + 1 < count && begins_before(session, heap[child + 1], heap[child]);
        if (!begins_before(session, heap[child], last)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return top;
}

app__session_transfer_t *app__session_add(app_session_t *session, sim_time_t start_ps)
{
    if (session->count % TRANSFERS_OF_BLOCK == 0) {
        SIM_GROW(session->blocks, session->block_count, &session->block_capacity);
        session->blocks[session->block_count++] =
            sim_alloc_array(TRANSFERS_OF_BLOCK, sizeof(app__session_transfer_t));
    }
    const uint64_t number = session->count++;
    app__session_transfer_t *const made = app__session_transfer(session, number);
    *made = (app__session_transfer_t){
        .session = session,
        .number = number,
        .place = UINT64_MAX,
        .start_ps = start_ps,
        .end_ps = SIM_TIME_NEVER,
        .outcome = APP_SESSION_WAITS,
    };
    session->open++;
    return made;
}

sim_err_t app_session_submit(app_session_t *session, const app_session_request_t *request,
                             uint64_t *transfer, sim_message_t *message)
{
    const sim_err_t error = check_request(session, request, message);
    if (error != SIM_OK) {
        return error;
    }
    app__session_transfer_t *const made = app__session_add(session, request->at_ps);
    made->source = request->source;
    made->destination = request->destination;
    made->bytes = request->bytes;
    made->source_port = request->source_port;
    made->priority = request->priority == SIM_AUTO ? APP__AS_THE_NIC : (uint8_t)request->priority;
    made->verb = (uint8_t)request->verb;
    made->reuse = request->reuse;
    push_waiting(session, made->number);
    *transfer = made->number;
    return SIM_OK;
}

// -- running

static void arm_side(app__session_side_t *side)
{
    if (side->first != NULL) {
        sim_timer_arm(side->endpoint->node, &side->timer, side->first->start_ps);
    }
}

// Begins all transfers of a requester that are due, as the applications with plans do: a NIC that
// gets them in one event chooses among them.
static void begin_due(sim_node_t *node, sim_timer_t *timer)
{
    app__session_side_t *const side = SIM_CONTAINER_OF(timer, app__session_side_t, timer);
    while (side->first != NULL && side->first->start_ps <= node->now_ps) {
        app__session_transfer_t *const transfer = side->first;
        side->first = transfer->next;
        transfer->next = NULL;
        if (transfer->outcome == APP_SESSION_WAITS) {
            transfer->outcome = APP_SESSION_RUNS;
            sim_work_begin(node, 1);
            app__session_start(transfer);
        }
    }
    side->last = side->first == NULL ? NULL : side->last;
    arm_side(side);
}

void app_session_release(app_session_t *session, sim_time_t stop_ps)
{
    SIM_CHECK(stop_ps >= session->released_ps);
    while (session->waiting_count > 0 && app_session_next_start_ps(session) < stop_ps) {
        app__session_transfer_t *const transfer =
            app__session_transfer(session, pop_waiting(session));
        app__session_side_t *const side = &session->sides[transfer->source];
        if (transfer->outcome != APP_SESSION_WAITS) {
            continue; // cancelled
        }
        SIM_GROW(session->placed, session->placed_count, &session->placed_capacity);
        transfer->place = session->placed_count;
        session->placed[session->placed_count++] = transfer->number;
        if (side->last != NULL) {
            side->last->next = transfer;
            side->last = transfer;
            continue;
        }
        side->first = transfer;
        side->last = transfer;
        arm_side(side);
        sim_touch(side->endpoint->node);
    }
    session->released_ps = stop_ps;
}

void app__session_put_completion(app_session_t *session, const app_session_completion_t *at)
{
    SIM_GROW(session->ended, session->ended_count, &session->ended_capacity);
    session->ended[session->ended_count++] = *at;
}

void app__session_end(app__session_transfer_t *transfer, app_session_outcome_t outcome,
                      nic_wc_status_t status, sim_time_t now_ps)
{
    app_session_t *const session = transfer->session;
    SIM_CHECK(transfer->outcome <= APP_SESSION_RUNS && session->open > 0);
    transfer->outcome = (uint8_t)outcome;
    transfer->status = (uint8_t)status;
    transfer->end_ps = now_ps;
    session->open--;
    const app_session_completion_t completion = {
        .transfer = transfer->number,
        .rank = APP_SESSION_WHOLE,
        .start_ps = transfer->start_ps,
        .end_ps = now_ps,
        .outcome = outcome,
        .status = status,
    };
    app__session_put_completion(session, &completion);
}

sim_err_t app_session_cancel(app_session_t *session, uint64_t number)
{
    if (number >= session->count) {
        return SIM_ERR_UNKNOWN;
    }
    app__session_transfer_t *const transfer = app__session_transfer(session, number);
    if (transfer->outcome > APP_SESSION_RUNS || transfer->cancelled) {
        return SIM_ERR_STATE;
    }
    transfer->cancelled = true;
    if (transfer->program != NULL) {
        app__session_cancel_program(session, transfer);
    } else if (transfer->outcome == APP_SESSION_WAITS) {
        app__session_end(transfer, APP_SESSION_CANCELLED, NIC_WC_SUCCESS, session->released_ps);
    } else {
        app__session_cancel(transfer);
    }
    return SIM_OK;
}

static int compare_ended(const void *a, const void *b)
{
    const app_session_completion_t *const one = a;
    const app_session_completion_t *const two = b;
    if (one->end_ps != two->end_ps) {
        return one->end_ps < two->end_ps ? -1 : 1;
    }
    if (one->transfer != two->transfer) {
        return one->transfer < two->transfer ? -1 : 1;
    }
    return one->rank < two->rank ? -1 : one->rank > two->rank;
}

const app_session_completion_t *app_session_take(app_session_t *session, size_t *count)
{
    app__session_collect(session);
    app_session_completion_t *const list = session->ended;
    sim_free(session->taken);
    session->taken = list;
    *count = session->ended_count;
    session->ended = NULL;
    session->ended_count = 0;
    session->ended_capacity = 0;
    if (*count > 0) {
        qsort(list, *count, sizeof(*list), compare_ended);
    }
    return list;
}

size_t app_session_ended(app_session_t *session)
{
    app__session_collect(session);
    return session->ended_count;
}

uint64_t app_session_open(const app_session_t *session)
{
    return session->open;
}

sim_time_t app_session_next_start_ps(const app_session_t *session)
{
    return session->waiting_count == 0
               ? SIM_TIME_NEVER
               : app__session_transfer(session, session->waiting[0])->start_ps;
}

// -- the application

static sim_err_t session_create(const app_context_t *context, const void *config_void, app_t **app,
                                sim_message_t *message)
{
    const session_config_t *const config = config_void;
    app__places_t places;
    const sim_err_t error = app__places_find(context, "hosts", config->hosts, &places, message);
    if (error != SIM_OK) {
        return error;
    }
    app_session_t *const session = sim_alloc(sizeof(*session));
    *session = (app_session_t){
        .app = {&app_session, context->net, context->index},
        .runtime = context->runtime,
        .seed = sim_options(net_sim(context->net))->seed,
        .first_flow_id = app__reserve_flow_ids(context->runtime, 0),
        .side_count = net_interface_count(context->net),
    };
    session->sides = sim_alloc_array(session->side_count, sizeof(*session->sides));
    for (size_t i = 0; i < places.list.count; i++) {
        app__session_join(session, places.list.interfaces[i]);
        sim_timer_init(&session->sides[places.list.interfaces[i]].timer, begin_due);
    }
    app__places_fini(&places);
    *app = &session->app;
    return SIM_OK;
}

static void session_destroy(app_t *app)
{
    app_session_t *const session = (app_session_t *)app;
    app__session_channels_free(session);
    app__session_programs_free(session);
    for (size_t i = 0; i < session->block_count; i++) {
        sim_free(session->blocks[i]);
    }
    for (size_t i = 0; i < session->side_count; i++) {
        sim_free(session->sides[i].slots[0].channels);
        sim_free(session->sides[i].slots[1].channels);
    }
    sim_free(session->sides);
    sim_free(session->blocks);
    sim_free(session->waiting);
    sim_free(session->placed);
    sim_free(session->ended);
    sim_free(session->taken);
    sim_free(session);
}

// Returns a transfer's row. Its flow_id stands behind those of all applications: a session does not
// know before how many transfers it will have, and ids of others decide on their paths.
static app_flow_result_t flow_of(const app_session_t *session,
                                 const app__session_transfer_t *transfer)
{
    const net_t *const net = session->app.net;
    const uint32_t mtu_bytes = app__pair_mtu_bytes(net, transfer->source, transfer->destination);
    const bool ended = transfer->outcome == APP_SESSION_DONE;
    const bool failed = transfer->outcome == APP_SESSION_FAILED;
    const uint8_t priority = app__priority_of(net, transfer->source, transfer->priority);
    static const nic_wr_opcode_t opcodes[] = {NIC_WR_RDMA_WRITE, NIC_WR_SEND, NIC_WR_RDMA_READ};
    const nic_ideal_t ideal = {
        .net = net,
        .requester = transfer->source,
        .responder = transfer->destination,
        .udp_source_port = app__session_port(session, transfer),
        .opcode = opcodes[transfer->verb],
        .mtu_bytes = mtu_bytes,
        .message_bytes = transfer->bytes,
        .messages = 1,
        .piece_bytes = APP__PIECE_BYTES,
        .service = NIC_QPT_RC,
    };
    return (app_flow_result_t){
        .flow_id = app__reserve_flow_ids(session->runtime, 0) + transfer->place,
        .source = transfer->source,
        .destination = transfer->destination,
        .udp_source_port = app__session_port(session, transfer),
        .first_psn = transfer->first_psn,
        .source_qp = transfer->source_qp,
        .destination_qp = transfer->destination_qp,
        .mtu_bytes = mtu_bytes,
        .priority = priority,
        .dscp = (uint8_t)(priority * 8),
        .retransmitted_packets = transfer->retransmitted,
        .reads = transfer->verb == APP_SESSION_READ,
        .bytes = transfer->bytes,
        .start_ps = transfer->start_ps,
        .end_ps = ended ? transfer->end_ps : SIM_TIME_NEVER,
        .ideal_ps = nic_ideal_ps(&ideal),
        .failed_ps = failed ? transfer->end_ps : 0,
        .status = (nic_wc_status_t)transfer->status,
        .label = session->app.ops->name,
    };
}

static void session_flows(const app_t *app, app_flow_fn fn, void *ctx)
{
    const app_session_t *const session = (const app_session_t *)app;
    for (size_t i = 0; i < session->placed_count; i++) {
        const app_flow_result_t flow =
            flow_of(session, app__session_transfer(session, session->placed[i]));
        fn(&flow, ctx);
    }
}

static void session_progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    const app_session_t *const session = (const app_session_t *)app;
    *planned = session->count;
    *done = session->count - session->open;
}

app_session_t *app_session_of(app_t *app)
{
    return app->ops == &app_session ? (app_session_t *)app : NULL;
}

typedef struct report {
    uint64_t transfers;
    uint64_t completed;
    uint64_t failed;
    uint64_t cancelled;
    uint64_t completed_bytes;
    uint64_t programs;
} report_t;

static void fill_report(const void *object, void *result)
{
    const app_session_t *const session = object;
    report_t *const report = result;
    *report = (report_t){
        .transfers = session->count - session->program_count,
        .programs = session->program_count,
    };
    for (uint64_t i = 0; i < session->count; i++) {
        const app__session_transfer_t *const transfer = app__session_transfer(session, i);
        if (transfer->program != NULL) {
            continue;
        }
        report->completed += transfer->outcome == APP_SESSION_DONE;
        report->failed += transfer->outcome == APP_SESSION_FAILED;
        report->cancelled += transfer->outcome == APP_SESSION_CANCELLED;
        report->completed_bytes += transfer->outcome == APP_SESSION_DONE ? transfer->bytes : 0;
    }
}

static const sim_report_row_t report_rows[] = {
    APP__WHOLE(report_t, transfers, "", "number of transfers that a program has submitted"),
    APP__WHOLE(report_t, completed, "", "number of transfers acknowledged to the last byte"),
    APP__WHOLE(report_t, failed, "", "number of transfers that ended with an error"),
    APP__WHOLE(report_t, cancelled, "", "number of transfers that the program has cancelled"),
    APP__WHOLE(report_t, completed_bytes, "bytes", "payload of all completed transfers"),
    APP__WHOLE(report_t, programs, "",
               "number of collectives, workloads and trainings that the program has submitted"),
};
static const sim_report_table_t session_report = {
    .rows = report_rows,
    .count = SIM_COUNT_OF(report_rows),
    .bytes = sizeof(report_t),
    .fill = fill_report,
};

const app_ops_t app_session = {
    .name = "session",
    .help = "transfers that a program submits while the simulation runs (rocesim serve)",
    .attrs = &attr_table,
    .create = session_create,
    .destroy = session_destroy,
    .flows = session_flows,
    .progress = session_progress,
    .report = &session_report,
};
