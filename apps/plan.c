// SPDX-License-Identifier: Apache-2.0
// apps/plan.c - making plans of transfers, and their results.
#include <stdlib.h>
#include <string.h>

#include "apps/transfer_internal.h"

// With its places in the indices of both ends, and what the responder knows.
#define TRANSFER_BYTES (sizeof(app__transfer_t) + 2 * sizeof(uint32_t) + sizeof(uint8_t))

static void count_end(sim_time_t time_ps,
                      uint32_t node_index,
                      const void *record,
                      size_t record_bytes,
                      void *ctx)
{
    (void)time_ps;
    (void)node_index;
    app__plan_t *const plan = ctx;
    uint64_t index;
    SIM_CHECK(record_bytes == sizeof(index));
    memcpy(&index, record, sizeof(index));
    app__transfer(plan, index)->end_order = ++plan->ended;
}

app__plan_t *app__plan_create(const app_context_t *context,
                              const app__shape_t *shape,
                              const char *label)
{
    SIM_CHECKF(context->runtime != NULL, "applications need a runtime: app_runtime_create");
    app__plan_t *const plan = sim_alloc(sizeof(*plan));
    plan->net = context->net;
    plan->runtime = context->runtime;
    plan->label = label;
    plan->shape = *shape;
    plan->stop_ps = SIM_TIME_NEVER;
    plan->bytes_max = context->memory_max_bytes;
    plan->seed = sim_options(net_sim(context->net))->seed;
    return plan;
}

void app__plan_destroy(app__plan_t *plan)
{
    if (plan == NULL) {
        return;
    }
    // Transfers that the end of the run found under way. Their QPs go with the NICs.
    for (size_t i = 0; i < plan->source_count; i++) {
        app__transfer_run_t *run = plan->sources[i].runs;
        while (run != NULL) {
            app__transfer_run_t *const next = run->run_next;
            sim_free(run);
            run = next;
        }
    }
    app__chains_free(plan);
    app__blocks_free(plan);
    sim_free(plan->transfers);
    sim_free(plan->sources);
    sim_free(plan);
}

sim_err_t app__plan_stop_at(app__plan_t *plan,
                            sim_time_t stop_ps,
                            sim_time_t start_ps,
                            sim_message_t *message)
{
    plan->stop_ps = stop_ps == SIM_AUTO ? SIM_TIME_NEVER : stop_ps;
    if (plan->stop_ps <= start_ps) {
        return sim_fail_about(message,
                              SIM_ERR_RANGE,
                              "stop",
                              ": nothing starts before it, expected a time after the first start");
    }
    return SIM_OK;
}

sim_err_t app__too_many(const char *blame, sim_message_t *message)
{
    return sim_fail_about(message,
                          SIM_ERR_RANGE,
                          blame,
                          ": more than %" PRIu64 " transfers, expected fewer",
                          APP__TRANSFERS_MAX);
}

app__transfer_t app__transfer_of(const app__plan_t *plan, const app__request_t *request)
{
    const app__shape_t *const shape = &plan->shape;
    const uint64_t priority = request->priority == SIM_AUTO ? shape->priority : request->priority;
    return (app__transfer_t){
        .bytes = request->bytes,
        .start_ps = request->start_ps,
        .end_ps = SIM_TIME_NEVER,
        .source = request->source,
        .destination = request->destination,
        .messages = (uint32_t)shape->messages,
        .priority = priority == SIM_AUTO ? APP__AS_THE_NIC : (uint8_t)priority,
        .dscp = shape->dscp == SIM_AUTO ? APP__AS_THE_NIC : (uint8_t)shape->dscp,
        .verb = (uint8_t)(request->chain.received != 0 ? APP__VERB_SEND : shape->verb),
        .status = NIC_WC_SUCCESS,
        .source_port = request->source_port,
        .service_port = request->service_port,
    };
}

sim_err_t app__plan_add(app__plan_t *plan,
                        const app__request_t *request,
                        const char *blame,
                        sim_message_t *message)
{
    if (!request->can_talk && !app__can_talk(plan->net, request->source, request->destination)) {
        return app__cannot_talk(plan->net, request->source, request->destination, blame, message);
    }
    if (request->chain.started_by == 0 && request->start_ps >= plan->stop_ps) {
        return SIM_OK;
    }
    if (plan->count >= APP__TRANSFERS_MAX) {
        return app__too_many(blame, message);
    }
    if (plan->bytes_max != 0 && (plan->count + 1) * TRANSFER_BYTES > plan->bytes_max) {
        return sim_fail_about(message,
                              SIM_ERR_RANGE,
                              blame,
                              ": more than %zu transfers, of %zu bytes each, expected fewer, a "
                              "higher memory-max, or --yes",
                              plan->count,
                              TRANSFER_BYTES);
    }
    if (plan->trigger_count > 0) {
        SIM_GROW(plan->chains, plan->count, &plan->chain_capacity);
        plan->chains[plan->count] = request->chain;
    }
    SIM_GROW(plan->transfers, plan->count, &plan->capacity);
    plan->transfers[plan->count++] = app__transfer_of(plan, request);
    return SIM_OK;
}

// -- beginning

typedef struct start_key {
    sim_time_t start_ps;
    uint64_t index;
} start_key_t;

static int compare_starts(const void *left, const void *right)
{
    const start_key_t *const a = left;
    const start_key_t *const b = right;
    if (a->start_ps != b->start_ps) {
        return a->start_ps < b->start_ps ? -1 : 1;
    }
    return a->index < b->index ? -1 : a->index > b->index;
}

static void order_by_start(app__plan_t *plan)
{
    bool ordered = true;
    for (size_t i = 1; i < plan->count && plan->transfers != NULL; i++) {
        ordered &= plan->transfers[i - 1].start_ps <= plan->transfers[i].start_ps;
    }
    if (ordered) {
        return;
    }
    start_key_t *const keys = sim_alloc_array(plan->count, sizeof(*keys));
    for (size_t i = 0; i < plan->count; i++) {
        keys[i] = (start_key_t){plan->transfers[i].start_ps, i};
    }
    qsort(keys, plan->count, sizeof(*keys), compare_starts);
    app__transfer_t *const sorted = sim_alloc_array(plan->count, sizeof(*sorted));
    for (size_t i = 0; i < plan->count; i++) {
        sorted[i] = plan->transfers[keys[i].index];
    }
    if (plan->trigger_count > 0) {
        app_flow_chain_t *const chains = sim_alloc_array(plan->count, sizeof(*chains));
        for (size_t i = 0; i < plan->count; i++) {
            chains[i] = plan->chains[keys[i].index];
        }
        sim_free(plan->chains);
        plan->chains = chains;
        plan->chain_capacity = plan->count;
    }
    sim_free(keys);
    sim_free(plan->transfers);
    plan->transfers = sorted;
    plan->capacity = plan->count;
}

// Takes QP numbers for what an interface requests and responds to, and arms its first transfer.
static void begin_interface(app__plan_t *plan, uint32_t interface)
{
    const app__block_entry_t *const all = &plan->entries[plan->block_count];
    const uint64_t actives = all->sources_before[interface];
    const uint64_t passives = all->destinations_before[interface];
    if (actives + passives == 0) {
        return;
    }
    app__endpoint_t *const endpoint = app__endpoint_of(plan->runtime, interface);
    plan->positions[interface] =
        app__reserve_qps(endpoint, &app__plan_range_ops, plan, actives + passives);
    app__register_buffers(endpoint);
    if (actives > 0) {
        // Those that wait for a trigger come last, and are not due at any time.
        uint64_t timed = actives;
        while (timed > 0 && plan->trigger_count > 0 &&
               app__waits(plan, app__transfer_at_source(plan, interface, timed - 1))) {
            timed--;
        }
        app__source_t *const source = &plan->sources[plan->source_count++];
        *source = (app__source_t){.plan = plan, .endpoint = endpoint, .end = timed};
        sim_timer_init(&source->timer, app__source_fired);
        sim_timer_init(&source->due_timer, app__source_due);
    }
}

void app__plan_begin(app__plan_t *plan)
{
    order_by_start(plan);
    app__chains_begin(plan);
    plan->first_flow_id = app__reserve_flow_ids(plan->runtime, plan->count);
    plan->first_number = sim_fifo_reserve(net_sim(plan->net), plan->count);
    if (plan->first_number != 0) {
        plan->ends = sim_stream_create(net_sim(plan->net), count_end, plan);
    }
    app__blocks_begin(plan);
    const uint32_t interface_count = (uint32_t)net_interface_count(plan->net);
    plan->positions = sim_alloc_array(interface_count + 1, sizeof(*plan->positions));
    size_t requesters = 0;
    for (uint32_t i = 0; i < interface_count; i++) {
        requesters += app__requested_by(plan, i) > 0;
    }
    plan->sources = sim_alloc_array(requesters + 1, sizeof(*plan->sources));
    for (uint32_t i = 0; i < interface_count; i++) {
        begin_interface(plan, i);
    }
    app__blocks_number(plan);
    for (size_t i = 0; i < plan->source_count; i++) {
        if (plan->sources[i].end > 0) {
            app__source_arm(&plan->sources[i]);
        }
    }
}

// -- what both ends know of a transfer

uint64_t app__plan_hash(const app__plan_t *plan, uint64_t index)
{
    return sim_mix64(plan->seed ^ sim_mix64(plan->first_flow_id + index + 1));
}

uint16_t app__plan_udp_source_port(const app__plan_t *plan,
                                   const app__transfer_t *transfer,
                                   uint64_t index)
{
    if (transfer->source_port != 0) {
        return transfer->source_port;
    }
    const uint64_t span = UINT16_MAX - ROCE_SOURCE_PORT_MIN;
    return (uint16_t)(ROCE_SOURCE_PORT_MIN + (app__plan_hash(plan, index) & span));
}

uint32_t app__plan_first_psn(const app__plan_t *plan, uint64_t index)
{
    return (uint32_t)(app__plan_hash(plan, index) >> 32) & ROCE_PSN_MASK;
}

nic_wr_opcode_t app__transfer_opcode(const app__transfer_t *transfer)
{
    switch ((app__verb_t)transfer->verb) {
    case APP__VERB_WRITE:
        return NIC_WR_RDMA_WRITE;
    case APP__VERB_SEND:
        return NIC_WR_SEND;
    case APP__VERB_READ:
        break;
    }
    return NIC_WR_RDMA_READ;
}

uint32_t app__plan_mtu_bytes(const app__plan_t *plan, const app__transfer_t *transfer)
{
    const uint64_t source =
        nic_get_config(nic_of_interface(plan->net, transfer->source))->mtu_bytes;
    const uint64_t destination =
        nic_get_config(nic_of_interface(plan->net, transfer->destination))->mtu_bytes;
    return (uint32_t)(source < destination ? source : destination);
}

uint8_t app__plan_priority(const app__plan_t *plan, const app__transfer_t *transfer)
{
    if (transfer->priority != APP__AS_THE_NIC) {
        return transfer->priority;
    }
    return (uint8_t)nic_get_config(nic_of_interface(plan->net, transfer->source))->priority;
}

uint8_t app__plan_dscp(const app__plan_t *plan, const app__transfer_t *transfer)
{
    if (transfer->dscp != APP__AS_THE_NIC) {
        return transfer->dscp;
    }
    const nic_config_t *const config =
        nic_get_config(nic_of_interface(plan->net, transfer->source));
    if (transfer->priority == APP__AS_THE_NIC && config->dscp != SIM_AUTO) {
        return (uint8_t)config->dscp;
    }
    return (uint8_t)(app__plan_priority(plan, transfer) * 8);
}

// -- results

uint64_t app__plan_count(const app__plan_t *plan)
{
    return plan->count;
}

app__verb_t app__plan_verb(const app__plan_t *plan)
{
    return (app__verb_t)plan->shape.verb;
}

const app__transfer_t *app__plan_at(const app__plan_t *plan, uint64_t index)
{
    return app__transfer(plan, index);
}

void app__plan_group(app__plan_t *plan, uint64_t parts)
{
    SIM_CHECK(parts > 0 && plan->count == 0);
    plan->parts = parts;
}

sim_time_t app__plan_ideal_ps(const app__plan_t *plan,
                              const app__transfer_t *transfer,
                              uint64_t index,
                              uint64_t message_bytes)
{
    const nic_ideal_t ideal = {
        .net = plan->net,
        .requester = transfer->source,
        .responder = transfer->destination,
        .udp_source_port = app__plan_udp_source_port(plan, transfer, index),
        .opcode = app__transfer_opcode(transfer),
        .mtu_bytes = app__plan_mtu_bytes(plan, transfer),
        .message_bytes = message_bytes,
        .messages = transfer->messages - transfer->left_out,
        .piece_bytes = APP__PIECE_BYTES,
    };
    return nic_ideal_ps(&ideal);
}

// Of a transfer that has not ended well: how far it came, or when it failed.
typedef struct progress {
    uint64_t index; // of the transfer
    uint64_t delivered_bytes;
    sim_time_t failed_ps;
} progress_t;

typedef struct unfinished {
    progress_t *items; // in order of transfers
    size_t count;
    size_t capacity;
} unfinished_t;

// Payload in that many packets of the transfer, from its first one on.
static uint64_t payload_of(const app__plan_t *plan,
                           const app__transfer_t *transfer,
                           uint64_t packets)
{
    const uint64_t mtu_bytes = app__plan_mtu_bytes(plan, transfer);
    if (transfer->bytes == 0 || mtu_bytes == 0) {
        return 0;
    }
    const uint64_t of_message = (transfer->bytes + mtu_bytes - 1) / mtu_bytes;
    const uint64_t rest_bytes = packets % of_message * mtu_bytes;
    const uint64_t bytes = packets / of_message * transfer->bytes + rest_bytes;
    return bytes < app__transfer_bytes(transfer) ? bytes : app__transfer_bytes(transfer);
}

static int compare_progress(const void *left, const void *right)
{
    const progress_t *const a = left;
    const progress_t *const b = right;
    return a->index < b->index ? -1 : a->index > b->index;
}

// How far transfers under way are, and when others failed. The packets that those under way have
// sent again go into the transfers.
static unfinished_t look_at_unfinished(const app__plan_t *plan)
{
    unfinished_t unfinished = {0};
    for (size_t i = 0; i < plan->source_count; i++) {
        const app__source_t *const source = &plan->sources[i];
        for (const app__transfer_run_t *run = source->runs; run != NULL; run = run->run_next) {
            app__transfer_t *const transfer = app__transfer(plan, run->index);
            const uint64_t una_psn = nic_qp_una_psn(run->qp);
            const uint64_t first_psn = app__plan_first_psn(plan, run->index);
            transfer->retransmitted = (uint32_t)nic_qp_retransmitted_packets(run->qp);
            SIM_GROW(unfinished.items, unfinished.count, &unfinished.capacity);
            unfinished.items[unfinished.count++] = (progress_t){
                .index = run->index,
                .delivered_bytes =
                    una_psn < first_psn ? 0 : payload_of(plan, transfer, una_psn - first_psn),
            };
        }
        for (size_t f = 0; f < source->failure_count; f++) {
            SIM_GROW(unfinished.items, unfinished.count, &unfinished.capacity);
            unfinished.items[unfinished.count++] =
                (progress_t){.index = source->failures[f].index,
                             .failed_ps = source->failures[f].time_ps};
        }
    }
    if (unfinished.count > 0) {
        qsort(unfinished.items, unfinished.count, sizeof(*unfinished.items), compare_progress);
    }
    return unfinished;
}

void app__plan_flows(const app__plan_t *plan, app_flow_fn fn, void *ctx)
{
    const unfinished_t unfinished = look_at_unfinished(plan);
    app__reader_t reader = {.plan = plan};
    size_t at = 0;
    for (uint64_t i = 0; i < plan->count; i++) {
        const app__transfer_t *const transfer = app__read(&reader, i);
        const progress_t none = {.index = i};
        const bool ended_well = at == unfinished.count || unfinished.items[at].index != i;
        const progress_t *const progress = ended_well ? &none : &unfinished.items[at++];
        const app_flow_result_t result = {
            .flow_id = plan->first_flow_id + i,
            .source = transfer->source,
            .destination = transfer->destination,
            .udp_source_port = app__plan_udp_source_port(plan, transfer, i),
            .service_port = transfer->service_port,
            .first_psn = app__plan_first_psn(plan, i),
            .mtu_bytes = app__plan_mtu_bytes(plan, transfer),
            .priority = app__plan_priority(plan, transfer),
            .dscp = app__plan_dscp(plan, transfer),
            .reads = transfer->verb == APP__VERB_READ,
            .bytes = app__transfer_bytes(transfer),
            .start_ps = transfer->start_ps,
            .end_ps = transfer->end_ps,
            .end_order = transfer->end_order,
            .ideal_ps = app__plan_ideal_ps(plan, transfer, i, transfer->bytes),
            .delivered_bytes = progress->delivered_bytes,
            .failed_ps = progress->failed_ps,
            .retransmitted_packets = transfer->retransmitted,
            .status = (nic_wc_status_t)transfer->status,
            .label = plan->label,
        };
        fn(&result, ctx);
    }
    app__reader_close(&reader);
    sim_free(unfinished.items);
}

void app__plan_progress(const app__plan_t *plan, uint64_t *done, uint64_t *planned)
{
    *done = 0;
    *planned = plan->count;
    for (size_t i = 0; i < plan->source_count; i++) {
        *done += plan->sources[i].completed + plan->sources[i].failed;
    }
}

static double gbps(uint64_t bytes, sim_time_t time_ps)
{
    return time_ps == 0 ? 0.0 : (double)bytes * 8000.0 / (double)time_ps;
}

typedef struct plan_report {
    uint64_t planned;
    uint64_t started;
    uint64_t completed;
    uint64_t failed;
    uint64_t planned_bytes;
    uint64_t completed_bytes;
    double goodput_gbps;
    sim_report_part_t rows; // of transfers in parts
} plan_report_t;

static void report_transfers(const app__plan_t *plan, plan_report_t *report)
{
    app__reader_t reader = {.plan = plan};
    sim_time_t first_ps = 0;
    sim_time_t last_end_ps = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const app__transfer_t *const transfer = app__read(&reader, i);
        const uint64_t bytes = app__transfer_bytes(transfer);
        first_ps = i == 0 ? transfer->start_ps : first_ps;
        report->planned_bytes += bytes;
        if (transfer->end_ps != SIM_TIME_NEVER) {
            report->completed_bytes += bytes;
            last_end_ps = transfer->end_ps > last_end_ps ? transfer->end_ps : last_end_ps;
        }
    }
    app__reader_close(&reader);
    const sim_time_t active_ps = last_end_ps > first_ps ? last_end_ps - first_ps : 0;
    report->goodput_gbps = gbps(report->completed_bytes, active_ps);
}

static void fill_report(const void *object, void *into)
{
    const app__plan_t *const plan = object;
    plan_report_t *const report = into;
    report->planned = plan->count;
    for (size_t i = 0; i < plan->source_count; i++) {
        report->started += plan->sources[i].started;
        report->completed += plan->sources[i].completed;
        report->failed += plan->sources[i].failed;
    }
    report_transfers(plan, report);
    if (plan->parts > 0) {
        report->rows = (sim_report_part_t){&app__plan_rows_report, plan};
    }
}

// clang-format off
#define ROW(name_, kind_, unit_, field_, shown_, help_) \
    {name_, SIM_REPORT_##kind_, unit_, help_, .offset = offsetof(plan_report_t, field_), .shown = shown_}
static const sim_report_row_t report_rows[] = {
    ROW("transfers_planned", U64, "", planned, false, "all that were to be made"),
    ROW("transfers_started", U64, "", started, false, "whose start came"),
    ROW("transfers_completed", U64, "", completed, false, "acknowledged to the last byte"),
    ROW("transfers_failed", U64, "", failed, false, "ended by a completion error"),
    ROW("planned_bytes", U64, "bytes", planned_bytes, true, "payload of all transfers"),
    ROW("completed_bytes", U64, "bytes", completed_bytes, true, "payload of those completed"),
    ROW("goodput_gbps", REAL, "Gbps", goodput_gbps, true, "completed_bytes, from the first start to the last end"),
    {"rows", SIM_REPORT_PART, "", "of transfers in parts (qps above 1)", .offset = offsetof(plan_report_t, rows), .shown = true, .table = &app__plan_rows_report},
};
#undef ROW
const sim_report_table_t app__plan_report = {
    .rows = report_rows, .count = SIM_COUNT_OF(report_rows), .bytes = sizeof(plan_report_t), .fill = fill_report};
// clang-format on

// -- applications that are nothing but a plan

app_t *app__planned_create(const app_ops_t *ops, const app_context_t *context, app__plan_t *plan)
{
    app__planned_t *const planned = sim_alloc(sizeof(*planned));
    planned->app = (app_t){ops, context->net, context->index};
    planned->plan = plan;
    app__plan_begin(plan);
    return &planned->app;
}

static const app__plan_t *plan_of(const app_t *app)
{
    return ((const app__planned_t *)(const void *)app)->plan;
}

void app__planned_destroy(app_t *app)
{
    app__planned_t *const planned = (app__planned_t *)(void *)app;
    app__plan_destroy(planned->plan);
    sim_free(planned);
}

void app__planned_flows(const app_t *app, app_flow_fn fn, void *ctx)
{
    app__plan_flows(plan_of(app), fn, ctx);
}

void app__planned_progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    app__plan_progress(plan_of(app), done, planned);
}

static void fill_planned(const void *object, void *report)
{
    fill_report(plan_of(object), report);
}

const sim_report_table_t app__planned_report = {.rows = report_rows,
                                                .count = SIM_COUNT_OF(report_rows),
                                                .bytes = sizeof(plan_report_t),
                                                .fill = fill_planned};

sim_time_t app__plan_stop_ps(const app_context_t *context, sim_time_t stop_ps)
{
    return stop_ps == SIM_AUTO ? sim_options(net_sim(context->net))->until_ps : stop_ps;
}
