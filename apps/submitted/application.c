// SPDX-License-Identifier: Apache-2.0
// apps/submitted/application.c - the application `session`: transfers that a program submits during
// the run, and reports of them.
//
// A transfer waits in a heap until the step in which it begins. Then it gets its place among all
// transfers, and begins on a channel (transfer_channels.c). Programs of ranks are in
// programs.c. docs/models/submitted-transfers.md
#include "apps/submitted/submitted_internal.h"

#include "apps/hosts.h"
#include "apps/submitted/followers.h"
#include "kernel/attribute.h"
#include "kernel/steps.h"
#include "nic/ideal.h"
#include "nic/transport.h"

#include <stdlib.h>

#define PREFIX "traffic.session"
#define OPEN_MAX (UINT64_C(1) << 18)

typedef struct submitted_config {
    char *hosts;
} submitted_config_t;

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(submitted_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(STRING, "hosts", hosts, "*", "hosts between which a program may submit transfers"),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "application", submitted_config_t, attrs);

// -- submitting

sim_err_t app_submitted_may_begin(const app_submitted_t *submitted, sim_time_t at_ps,
                                  sim_message_t *message)
{
    if (at_ps < submitted->now_ps) {
        return sim_fail(message, SIM_ERR_RANGE,
                        "at: %" PRIu64 " ps has passed; the time is %" PRIu64 " ps", at_ps,
                        submitted->now_ps);
    }
    if (submitted->open >= OPEN_MAX) {
        return sim_fail(message, SIM_ERR_RANGE,
                        "%" PRIu64
                        " transfers wait or run, which is the maximum number; advance first",
                        submitted->open);
    }
    return SIM_OK;
}

static sim_err_t check_request(const app_submitted_t *submitted,
                               const app_submitted_request_t *request, sim_message_t *message)
{
    const net_t *const net = submitted->app.net;
    const uint32_t count = (uint32_t)submitted->interface_count;
    if (request->source >= count || submitted->interfaces[request->source].endpoint == NULL) {
        return sim_fail(message, SIM_ERR_RANGE, "src: the session has no such host");
    }
    if (request->destination >= count ||
        submitted->interfaces[request->destination].endpoint == NULL) {
        return sim_fail(message, SIM_ERR_RANGE, "dst: the session has no such host");
    }
    if (request->bytes > APP_SUBMITTED_BYTES_MAX) {
        return sim_fail(message, SIM_ERR_RANGE, "bytes: the number is too large, at most 2^42");
    }
    if (request->priority != SIM_AUTO && request->priority >= NET_PRIORITIES) {
        return sim_fail(message, SIM_ERR_RANGE, "priority: expected 0 to 7");
    }
    const sim_err_t error = app_submitted_may_begin(submitted, request->at_ps, message);
    if (error != SIM_OK) {
        return error;
    }
    if (!app__can_talk(net, request->source, request->destination)) {
        return app__cannot_talk(net, request->source, request->destination, "dst", message);
    }
    const char *const transport =
        nic_transport_refuses(nic_config_of_interface(net, request->source),
                              (uint8_t)app__submitted_opcode(request->verb));
    if (transport != NULL) {
        return sim_fail(
            message, SIM_ERR_INVALID,
            "verb: nic.transport %s of %s has WRITE alone, expected write, or nic.%s.operations: "
            "all",
            transport, app__host_name(net, request->source), transport);
    }
    return app__submitted_check_leaders(submitted, request, message);
}

// Returns whether transfer a begins before transfer b.
static bool begins_before(const app_submitted_t *submitted, uint64_t a, uint64_t b)
{
    const sim_time_t starts_ps[2] = {app__submitted_transfer(submitted, a)->start_ps,
                                     app__submitted_transfer(submitted, b)->start_ps};
    return starts_ps[0] != starts_ps[1] ? starts_ps[0] < starts_ps[1] : a < b;
}

void app__submitted_wait(app__submitted_transfer_t *transfer)
{
    app_submitted_t *const submitted = transfer->submitted;
    const uint64_t number = transfer->number;
    SIM_GROW(submitted->waiting, submitted->waiting_count, &submitted->waiting_capacity);
    size_t at = submitted->waiting_count++;
    while (at > 0 && begins_before(submitted, number, submitted->waiting[(at - 1) / 2])) {
        submitted->waiting[at] = submitted->waiting[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    submitted->waiting[at] = number;
}

static uint64_t pop_waiting(app_submitted_t *submitted)
{
    uint64_t *const heap = submitted->waiting;
    const uint64_t top = heap[0];
    const uint64_t last = heap[--submitted->waiting_count];
    const size_t count = submitted->waiting_count;
    size_t at = 0;
    for (;;) {
        size_t child = at * 2 + 1;
        if (child >= count) {
            break;
        }
        child += child + 1 < count && begins_before(submitted, heap[child + 1], heap[child]);
        if (!begins_before(submitted, heap[child], last)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return top;
}

app__submitted_transfer_t *app__submitted_add(app_submitted_t *submitted, sim_time_t start_ps)
{
    if (submitted->count % TRANSFERS_OF_BLOCK == 0) {
        SIM_APPEND(submitted->blocks, submitted->block_count, submitted->block_capacity,
                   sim_alloc_array(TRANSFERS_OF_BLOCK, sizeof(app__submitted_transfer_t)));
    }
    const uint64_t number = submitted->count++;
    app__submitted_transfer_t *const made = app__submitted_transfer(submitted, number);
    *made = (app__submitted_transfer_t){
        .submitted = submitted,
        .number = number,
        .place = UINT64_MAX,
        .start_ps = start_ps,
        .end_ps = SIM_TIME_NEVER,
        .delivered_ps = SIM_TIME_NEVER,
        .outcome = APP_SUBMITTED_WAITS,
    };
    submitted->open++;
    return made;
}

sim_err_t app_submitted_submit(app_submitted_t *submitted, const app_submitted_request_t *request,
                               uint64_t *transfer, sim_message_t *message)
{
    const sim_err_t error = check_request(submitted, request, message);
    if (error != SIM_OK) {
        return error;
    }
    app__submitted_transfer_t *const made = app__submitted_add(submitted, request->at_ps);
    made->source = request->source;
    made->destination = request->destination;
    made->bytes = request->bytes;
    made->source_port = request->source_port;
    made->priority = request->priority == SIM_AUTO ? APP__AS_THE_NIC : (uint8_t)request->priority;
    made->verb = (uint8_t)request->verb;
    made->reuse = request->reuse;
    made->delivery = request->delivery;
    app__submitted_follow(made, request);
    *transfer = made->number;
    return SIM_OK;
}

// -- running

static void arm_interface(app__submitted_interface_t *here)
{
    sim_time_t due_ps = here->first != NULL ? here->first->start_ps : SIM_TIME_NEVER;
    due_ps = here->cancelled != NULL ? SIM_MIN(due_ps, here->cancel_ps) : due_ps;
    if (due_ps != SIM_TIME_NEVER) {
        sim_timer_arm(here->endpoint->node, &here->timer, due_ps);
    }
}

// Begins all transfers of a requester that are due, as the applications with plans do: a NIC that
// gets them in one event chooses among them.
static void begin_due(sim_node_t *node, sim_timer_t *timer)
{
    app__submitted_interface_t *const here =
        SIM_CONTAINER_OF(timer, app__submitted_interface_t, timer);
    while (here->cancelled != NULL) {
        app__submitted_transfer_t *const transfer = here->cancelled;
        here->cancelled = transfer->next;
        transfer->next = NULL;
        app__submitted_stop(transfer);
    }
    while (here->first != NULL && here->first->start_ps <= node->now_ps) {
        app__submitted_transfer_t *const transfer = here->first;
        here->first = transfer->next;
        transfer->next = NULL;
        if (transfer->outcome == APP_SUBMITTED_WAITS) {
            transfer->outcome = APP_SUBMITTED_RUNS;
            sim_work_begin(node, 1);
            app__submitted_start(transfer);
        }
    }
    here->last = here->first == NULL ? NULL : here->last;
    arm_interface(here);
}

// Arms the timers of all transfers that begin before stop_ps.
static void release(app_submitted_t *submitted, sim_time_t stop_ps)
{
    while (submitted->waiting_count > 0 && app_submitted_next_start_ps(submitted) < stop_ps) {
        app__submitted_transfer_t *const transfer =
            app__submitted_transfer(submitted, pop_waiting(submitted));
        app__submitted_interface_t *const here = &submitted->interfaces[transfer->source];
        if (transfer->outcome != APP_SUBMITTED_WAITS) {
            continue; // cancelled
        }
        SIM_GROW(submitted->placed, submitted->placed_count, &submitted->placed_capacity);
        transfer->place = submitted->placed_count;
        submitted->placed[submitted->placed_count++] = transfer->number;
        transfer->turns[0] = here->slots[0].turns++;
        transfer->turns[1] = submitted->interfaces[transfer->destination].slots[1].turns++;
        if (here->last != NULL) {
            here->last->next = transfer;
            here->last = transfer;
            continue;
        }
        here->first = transfer;
        here->last = transfer;
        arm_interface(here);
        sim_touch(here->endpoint->node);
    }
}

// Returns the next time at which a transfer begins, or has begun as a program without operations.
static sim_time_t next_start_ps(const app_submitted_t *submitted)
{
    sim_time_t next_ps = app_submitted_next_start_ps(submitted);
    for (const app__submitted_program_t *at = submitted->programs; at != NULL; at = at->next) {
        const sim_time_t begun_ps = app__submitted_transfer(submitted, at->number)->start_ps + 1;
        next_ps = begun_ps > submitted->now_ps ? SIM_MIN(begun_ps, next_ps) : next_ps;
    }
    return next_ps;
}

// Runs up to stop_ps, to the start of the next transfer, or to an event that ends a transfer. So no
// transfer has its place before another that begins earlier.
static sim_ended_t run_some(app_submitted_t *submitted, sim_time_t stop_ps)
{
    sim_t *const sim = net_sim(submitted->app.net);
    release(submitted, submitted->now_ps + 1);
    const sim_time_t start_ps = next_start_ps(submitted);
    const sim_time_t to_ps = SIM_MIN(start_ps, stop_ps);
    sim_ended_t ended = sim_step_watched(sim, to_ps);
    const bool waits = start_ps != SIM_TIME_NEVER; // maybe for longer than up to stop_ps
    if (ended == SIM_ENDED_DONE && (waits || !submitted->to_completion)) {
        ended = sim_step(sim, to_ps); // nothing happens up to there
        ended = waits ? SIM_ENDED_UNTIL : ended;
    }
    submitted->now_ps = sim_stepped_ps(sim);
    return ended;
}

sim_ended_t app_submitted_run(app_submitted_t *submitted, sim_time_t stop_ps, bool to_completion)
{
    sim_t *const sim = net_sim(submitted->app.net);
    sim_ended_t ended = SIM_ENDED_UNTIL;
    SIM_CHECK(stop_ps >= submitted->now_ps);
    app__submitted_collect(submitted);
    if (!to_completion && submitted->followers == 0) {
        release(submitted, stop_ps);
        submitted->now_ps = stop_ps;
        return sim_step(sim, stop_ps);
    }
    if (sim_stepped_ps(sim) < submitted->now_ps) { // a step before has stalled
        ended = sim_step(sim, submitted->now_ps);
        ended = ended == SIM_ENDED_DONE ? SIM_ENDED_UNTIL : ended;
    }
    submitted->to_completion = to_completion;
    while (ended == SIM_ENDED_UNTIL && submitted->now_ps < stop_ps &&
           (!to_completion || submitted->ended_count == 0)) {
        ended = run_some(submitted, stop_ps);
        app__submitted_collect(submitted); // programs that have ended may have followers
    }
    submitted->to_completion = false;
    return ended;
}

sim_time_t app_submitted_now_ps(const app_submitted_t *submitted)
{
    return submitted->now_ps;
}

void app__submitted_put_completion(app_submitted_t *submitted, const app_submitted_completion_t *at)
{
    SIM_APPEND(submitted->ended, submitted->ended_count, submitted->ended_capacity, *at);
}

void app__submitted_deliver(app__submitted_transfer_t *transfer, sim_time_t now_ps)
{
    transfer->delivered_ps = SIM_MIN(transfer->delivered_ps, now_ps);
    if (!transfer->delivery || transfer->told || now_ps > transfer->end_ps) {
        return;
    }
    const app_submitted_completion_t completion = {
        .transfer = transfer->number,
        .rank = APP_SUBMITTED_WHOLE,
        .start_ps = SIM_MIN(transfer->start_ps, now_ps),
        .end_ps = now_ps,
        .delivered_ps = now_ps,
        .outcome = APP_SUBMITTED_DELIVERED,
    };
    transfer->told = true;
    app__submitted_put_completion(transfer->submitted, &completion);
}

void app__submitted_note_end(app__submitted_transfer_t *transfer, app_submitted_outcome_t outcome,
                             nic_wc_status_t status, sim_time_t now_ps)
{
    app_submitted_t *const submitted = transfer->submitted;
    SIM_CHECK(transfer->outcome <= APP_SUBMITTED_RUNS && submitted->open > 0);
    transfer->outcome = (uint8_t)outcome;
    transfer->status = (uint8_t)status;
    transfer->end_ps = now_ps;
    submitted->open--;
    submitted->followers -= transfer->leaders > 0;
    const bool begun = transfer->program != NULL || transfer->place != UINT64_MAX;
    const app_submitted_completion_t completion = {
        .transfer = transfer->number,
        .rank = APP_SUBMITTED_WHOLE,
        .start_ps = begun ? SIM_MIN(transfer->start_ps, now_ps) : now_ps,
        .end_ps = now_ps,
        .delivered_ps = SIM_TIME_NEVER, // settle_deliveries
        .outcome = outcome,
        .status = status,
    };
    app__submitted_put_completion(submitted, &completion);
}

void app__submitted_end(app__submitted_transfer_t *transfer, app_submitted_outcome_t outcome,
                        nic_wc_status_t status, sim_time_t now_ps)
{
    app_submitted_t *const submitted = transfer->submitted;
    app__submitted_note_end(transfer, outcome, status, now_ps);
    if (transfer->program == NULL && (submitted->to_completion || transfer->followers != NULL)) {
        sim_cut_step(submitted->interfaces[transfer->source].endpoint->node);
    }
    app__submitted_lead(transfer);
}

sim_err_t app_submitted_cancel(app_submitted_t *submitted, uint64_t number)
{
    if (number >= submitted->count) {
        return SIM_ERR_UNKNOWN;
    }
    app__submitted_transfer_t *const transfer = app__submitted_transfer(submitted, number);
    if (transfer->outcome > APP_SUBMITTED_RUNS || transfer->cancelled) {
        return SIM_ERR_STATE;
    }
    transfer->cancelled = true;
    if (transfer->program != NULL) {
        app__submitted_cancel_program(submitted, transfer);
    } else if (transfer->outcome == APP_SUBMITTED_WAITS) {
        app__submitted_end(transfer, APP_SUBMITTED_CANCELLED, NIC_WC_SUCCESS, submitted->now_ps);
    } else {
        // Its host stops it in an event of its own, at the present time.
        app__submitted_interface_t *const here = &submitted->interfaces[transfer->source];
        transfer->next = here->cancelled;
        here->cancelled = transfer;
        here->cancel_ps = submitted->now_ps;
        arm_interface(here);
        sim_touch(here->endpoint->node);
    }
    return SIM_OK;
}

static int compare_ended(const void *a, const void *b)
{
    const app_submitted_completion_t *const one = a;
    const app_submitted_completion_t *const two = b;
    return 8 * SIM_COMPARE(one->end_ps, two->end_ps) +
           4 * SIM_COMPARE(one->transfer, two->transfer) + 2 * SIM_COMPARE(one->rank, two->rank) +
           SIM_COMPARE(one->outcome, two->outcome); // DELIVERED, then DONE
}

// Gives transfers that are done their delivered_ps, at most end_ps: the end of a READ is its
// delivery, and an ACK may be faster than the responder's way to its memory. Where links are so
// short that nodes run together, one end may be ahead of the other; so this waits until both have
// run up to the present time.
static void settle_deliveries(app_submitted_t *submitted)
{
    const size_t count = submitted->ended_count;
    for (size_t i = 0; i < count; i++) {
        app_submitted_completion_t *const at = &submitted->ended[i];
        app__submitted_transfer_t *const transfer =
            app__submitted_transfer(submitted, at->transfer);
        if (at->outcome == APP_SUBMITTED_DELIVERED) {
            at->end_ps = SIM_MIN(at->end_ps, transfer->end_ps);
            at->delivered_ps = at->end_ps;
        } else if (at->outcome == APP_SUBMITTED_DONE && transfer->program == NULL) {
            at->delivered_ps = SIM_MIN(transfer->delivered_ps, at->end_ps);
            app__submitted_deliver(transfer, at->delivered_ps);
        }
    }
}

const app_submitted_completion_t *app_submitted_take(app_submitted_t *submitted, size_t *count)
{
    app__submitted_collect(submitted);
    settle_deliveries(submitted);
    app_submitted_completion_t *const list = submitted->ended;
    sim_free(submitted->taken);
    submitted->taken = list;
    *count = submitted->ended_count;
    submitted->ended = NULL;
    submitted->ended_count = 0;
    submitted->ended_capacity = 0;
    if (*count > 0) {
        qsort(list, *count, sizeof(*list), compare_ended);
    }
    return list;
}

size_t app_submitted_ended(app_submitted_t *submitted)
{
    app__submitted_collect(submitted);
    return submitted->ended_count;
}

uint64_t app_submitted_open(const app_submitted_t *submitted)
{
    return submitted->open;
}

sim_time_t app_submitted_next_start_ps(const app_submitted_t *submitted)
{
    return submitted->waiting_count == 0
               ? SIM_TIME_NEVER
               : app__submitted_transfer(submitted, submitted->waiting[0])->start_ps;
}

// -- the application

static sim_err_t submitted_create(const app_context_t *context, const void *config_void,
                                  app_t **app, sim_message_t *message)
{
    const submitted_config_t *const config = config_void;
    app__places_t places;
    const sim_err_t error = app__places_find(context, "hosts", config->hosts, &places, message);
    if (error != SIM_OK) {
        return error;
    }
    app_submitted_t *const submitted = sim_alloc(sizeof(*submitted));
    *submitted = (app_submitted_t){
        .app = {&app_submitted, context->net, context->index},
        .runtime = context->runtime,
        .seed = sim_options(net_sim(context->net))->seed,
        .first_flow_id = app__reserve_flow_ids(context->runtime, 0),
        .interface_count = net_interface_count(context->net),
    };
    submitted->interfaces =
        sim_alloc_array(submitted->interface_count, sizeof(*submitted->interfaces));
    for (size_t i = 0; i < places.list.count; i++) {
        app__submitted_join(submitted, places.list.interfaces[i]);
        sim_timer_init(&submitted->interfaces[places.list.interfaces[i]].timer, begin_due);
    }
    for (uint32_t i = 0; i < submitted->interface_count; i++) {
        sim_watch(&nic_node(nic_of_interface(context->net, i))->sim); // programs may run anywhere
    }
    app__places_fini(&places);
    *app = &submitted->app;
    return SIM_OK;
}

static void submitted_destroy(app_t *app)
{
    app_submitted_t *const submitted = (app_submitted_t *)app;
    app__submitted_channels_free(submitted);
    app__submitted_programs_free(submitted);
    app__submitted_followers_free(submitted);
    sim_free_each(submitted->blocks, submitted->block_count);
    for (size_t i = 0; i < submitted->interface_count; i++) {
        sim_free(submitted->interfaces[i].slots[0].channels);
        sim_free(submitted->interfaces[i].slots[1].channels);
    }
    SIM_FREE_ALL(submitted->interfaces, submitted->blocks, submitted->waiting, submitted->placed,
                 submitted->ended, submitted->taken, submitted);
}

// Returns a transfer's row. Its flow_id stands behind those of all applications: a session does not
// know before how many transfers it will have, and ids of others decide on their paths.
static app_flow_result_t flow_of(const app_submitted_t *submitted,
                                 const app__submitted_transfer_t *transfer)
{
    const net_t *const net = submitted->app.net;
    const uint32_t mtu_bytes = app__pair_mtu_bytes(net, transfer->source, transfer->destination);
    const bool ended = transfer->outcome == APP_SUBMITTED_DONE;
    const bool failed = transfer->outcome == APP_SUBMITTED_FAILED;
    const uint8_t priority = app__priority_of(net, transfer->source, transfer->priority);
    const nic_ideal_t ideal = {
        .net = net,
        .requester = transfer->source,
        .responder = transfer->destination,
        .udp_source_port = app__submitted_port(submitted, transfer),
        .opcode = app__submitted_opcode((app_submitted_verb_t)transfer->verb),
        .mtu_bytes = mtu_bytes,
        .message_bytes = transfer->bytes,
        .messages = 1,
        .piece_bytes = APP__PIECE_BYTES,
        .service = NIC_QPT_RC,
    };
    return (app_flow_result_t){
        .flow_id = app__reserve_flow_ids(submitted->runtime, 0) + transfer->place,
        .source = transfer->source,
        .destination = transfer->destination,
        .udp_source_port = ideal.udp_source_port,
        .first_psn = transfer->first_psn,
        .source_qp = transfer->source_qp,
        .destination_qp = transfer->destination_qp,
        .mtu_bytes = mtu_bytes,
        .priority = priority,
        .dscp = (uint8_t)(priority * 8),
        .retransmitted_packets = transfer->retransmitted,
        .reads = transfer->verb == APP_SUBMITTED_READ,
        .bytes = transfer->bytes,
        .start_ps = transfer->start_ps,
        .end_ps = ended ? transfer->end_ps : SIM_TIME_NEVER,
        .ideal = ideal,
        .failed_ps = failed ? transfer->end_ps : 0,
        .status = (nic_wc_status_t)transfer->status,
        .label = submitted->app.ops->name,
    };
}

static void submitted_flows(const app_t *app, app_flow_fn fn, void *ctx)
{
    const app_submitted_t *const submitted = (const app_submitted_t *)app;
    for (size_t i = 0; i < submitted->placed_count; i++) {
        const app_flow_result_t flow =
            flow_of(submitted, app__submitted_transfer(submitted, submitted->placed[i]));
        fn(&flow, ctx);
    }
}

static void submitted_progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    const app_submitted_t *const submitted = (const app_submitted_t *)app;
    *planned = submitted->count;
    *done = submitted->count - submitted->open;
}

app_submitted_t *app_submitted_of(app_t *app)
{
    return app->ops == &app_submitted ? (app_submitted_t *)app : NULL;
}

// clang-format off
#define ROWS(X) \
    X(transfers, U64, "", true, "number of transfers that a program has submitted") \
    X(completed, U64, "", true, "number of transfers acknowledged to the last byte") \
    X(failed, U64, "", true, "number of transfers that ended with an error") \
    X(cancelled, U64, "", true, "number of transfers that the program has cancelled") \
    X(completed_bytes, U64, "bytes", true, "payload of all completed transfers") \
    X(programs, U64, "", true, "number of collectives, workloads and trainings that the program has submitted")
// clang-format on
typedef struct report {
    ROWS(APP__MEMBER)
} report_t;

static void fill_report(const void *object, void *result)
{
    const app_submitted_t *const submitted = object;
    report_t *const report = result;
    *report = (report_t){
        .transfers = submitted->count - submitted->program_count,
        .programs = submitted->program_count,
    };
    for (uint64_t i = 0; i < submitted->count; i++) {
        const app__submitted_transfer_t *const transfer = app__submitted_transfer(submitted, i);
        if (transfer->program != NULL) {
            continue;
        }
        report->completed += transfer->outcome == APP_SUBMITTED_DONE;
        report->failed += transfer->outcome == APP_SUBMITTED_FAILED;
        report->cancelled += transfer->outcome == APP_SUBMITTED_CANCELLED;
        report->completed_bytes += transfer->outcome == APP_SUBMITTED_DONE ? transfer->bytes : 0;
    }
}

#define ROW(...) APP__ROW(report_t, __VA_ARGS__)
static const sim_report_row_t report_rows[] = {ROWS(ROW)};
static const sim_report_table_t submitted_report = APP__FILLED(report_rows, report_t, fill_report);

const app_ops_t app_submitted = {
    .name = "session",
    .help = "transfers that a program submits while the simulation runs (rocesim serve)",
    .attrs = &attr_table,
    .create = submitted_create,
    .destroy = submitted_destroy,
    .flows = submitted_flows,
    .progress = submitted_progress,
    .report = &submitted_report,
};
