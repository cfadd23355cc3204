// SPDX-License-Identifier: Apache-2.0
// apps/flows/plan.c - makes plans of transfers and answers questions about single transfers.
#include <stdlib.h>
#include <string.h>

#include "apps/flows/blocks.h"
#include "apps/flows/chain.h"
#include "apps/flows/plan.h"
#include "apps/flows/shared_channels.h"
#include "apps/hosts.h"
#include "kernel/order/fifo.h"
#include "nic/ideal.h"
#include "nic/transport.h"

// Memory of a transfer: the struct, its places in the indices of both ends, the responder's byte.
#define TRANSFER_BYTES (sizeof(app__transfer_t) + 2 * sizeof(uint32_t) + sizeof(uint8_t))

static void count_end(sim_time_t time_ps, uint32_t node_index, const void *record,
                      size_t record_bytes, void *ctx)
{
    (void)time_ps;
    (void)node_index;
    app__plan_t *const plan = ctx;
    uint64_t index;
    SIM_CHECK(record_bytes == sizeof(index));
    memcpy(&index, record, sizeof(index));
    app__transfer(plan, index)->end_order = ++plan->ended;
}

app__plan_t *app__plan_create(const app_context_t *context, const app__shape_t *shape,
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
    // Frees transfers still in progress at the end of the run; the NICs own their QPs.
    for (size_t i = 0; i < plan->source_count; i++) {
        app__flow_channels_free(&plan->sources[i]);
    }
    app__chains_free(plan);
    app__blocks_free(plan);
    SIM_FREE_ALL(plan->transfers, plan->sources, plan->elsewhere.items, plan);
}

sim_time_t app__plan_stop_ps(const app_context_t *context, sim_time_t stop_ps)
{
    return stop_ps == SIM_AUTO ? sim_options(net_sim(context->net))->until_ps : stop_ps;
}

sim_err_t app__plan_stop_at(app__plan_t *plan, sim_time_t stop_ps, sim_time_t start_ps,
                            sim_message_t *message)
{
    plan->stop_ps = stop_ps == SIM_AUTO ? SIM_TIME_NEVER : stop_ps;
    if (plan->stop_ps <= start_ps) {
        return sim_fail_about(message, SIM_ERR_RANGE, "stop",
                              ": nothing starts before it, expected a time after the first start");
    }
    return SIM_OK;
}

void app__plan_group(app__plan_t *plan, uint64_t parts)
{
    SIM_CHECK(parts > 0 && plan->count == 0);
    plan->parts = parts;
}

void app__plan_triggers(app__plan_t *plan, const app_flow_trigger_t *triggers, size_t count)
{
    SIM_CHECK(plan->count == 0 && plan->triggers == NULL);
    plan->triggers = sim_alloc_array(count + 1, sizeof(*plan->triggers));
    plan->trigger_count = count;
    for (size_t i = 0; i < count; i++) {
        plan->triggers[i] =
            (app__trigger_t){.left = triggers[i].count,
                             .one_by_one = triggers[i].kind == APP_TRIGGER_MULTISHOT};
    }
}

sim_err_t app__check_service(const app__plan_t *plan, sim_message_t *message)
{
    const app__shape_t *const shape = &plan->shape;
    if (shape->reuse && (shape->service != APP__RC || plan->parts > 1 || plan->trigger_count > 0)) {
        return sim_fail_about(message, SIM_ERR_INVALID, "reuse",
                              ": on, expected also service: rc, qps: 1 and no triggers");
    }
    const bool uc = shape->service == APP__UC && shape->verb == APP__VERB_READ;
    const bool ud = shape->service == APP__UD && shape->verb != APP__VERB_SEND;
    return uc || ud ? sim_fail_about(message, SIM_ERR_INVALID, "service",
                                     ud ? ": ud only has the verb send, expected verb: send"
                                        : ": uc has no verb read, expected verb: write or send")
                    : SIM_OK;
}

sim_err_t app__too_many(const char *blame, sim_message_t *message)
{
    return sim_fail_about(message, SIM_ERR_RANGE, blame,
                          ": more than %" PRIu64 " transfers, expected at most that many",
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

// Fails if the transport of the host that asks for a transfer does not have its verb.
static sim_err_t check_transport(const app__plan_t *plan, const app__request_t *request,
                                 sim_message_t *message)
{
    const app__transfer_t transfer = app__transfer_of(plan, request);
    const char *const name =
        nic_transport_refuses(nic_config_of_interface(plan->net, request->source),
                              (uint8_t)app__transfer_opcode(&transfer));
    if (plan->shape.service != APP__RC || name == NULL) {
        return SIM_OK;
    }
    if (request->chain.received != 0) {
        return sim_fail_about(
            message, SIM_ERR_INVALID, "triggers",
            ": the arrival of a SEND triggers others, and nic.transport %s of %s "
            "has WRITE alone, expected no such trigger, or nic.%s.operations: all",
            name, app__host_name(plan->net, request->source), name);
    }
    return sim_fail_about(message, SIM_ERR_INVALID, "verb",
                          ": %s, and nic.transport %s of %s has WRITE alone, expected write, or "
                          "nic.%s.operations: all",
                          transfer.verb == APP__VERB_SEND ? "send" : "read", name,
                          app__host_name(plan->net, request->source), name);
}

sim_err_t app__plan_add(app__plan_t *plan, const app__request_t *given, const char *blame,
                        sim_message_t *message)
{
    app__request_t found = *given;
    const app__request_t *const request = &found;
    if (!found.can_talk && !app__find_talk(plan->net, &found.source, &found.destination)) {
        return app__cannot_talk(plan->net, found.source, found.destination, blame, message);
    }
    if (request->chain.started_by == 0 && request->start_ps >= plan->stop_ps) {
        return SIM_OK;
    }
    if (plan->count >= APP__TRANSFERS_MAX) {
        return app__too_many(blame, message);
    }
    sim_err_t goes = app__check_service(plan, message);
    if (goes == SIM_OK) {
        goes = check_transport(plan, request, message);
    }
    if (goes != SIM_OK) {
        return goes;
    }
    if (plan->bytes_max != 0 && (plan->count + 1) * TRANSFER_BYTES > plan->bytes_max) {
        return sim_fail_about(message, SIM_ERR_RANGE, blame,
                              ": more than %zu transfers of %zu bytes each, expected fewer "
                              "transfers, a higher memory-max, or --yes",
                              plan->count, TRANSFER_BYTES);
    }
    if (plan->trigger_count > 0) {
        SIM_GROW(plan->chains, plan->count, &plan->chain_capacity);
        plan->chains[plan->count] = request->chain;
    }
    SIM_APPEND(plan->transfers, plan->count, plan->capacity, app__transfer_of(plan, request));
    return SIM_OK;
}

void app__plan_split(app__plan_t *plan, uint64_t qps)
{
    if (qps != SIM_AUTO) {
        app__plan_group(plan, qps);
    }
}

sim_err_t app__plan_add_split(app__plan_t *plan, const app__request_t *request, const char *blame,
                              sim_message_t *message)
{
    const uint64_t parts = plan->parts == 0 ? 1 : plan->parts;
    if (parts > 1 && request->bytes < parts) {
        return sim_fail_about(message, SIM_ERR_RANGE, "qps",
                              ": %" PRIu64 " for %" PRIu64
                              " bytes, expected at least a byte for each queue pair",
                              parts, request->bytes);
    }
    sim_err_t error = SIM_OK;
    for (uint64_t i = 0; i < parts && error == SIM_OK; i++) {
        app__request_t part = *request;
        part.bytes = request->bytes / parts + (i < request->bytes % parts ? 1 : 0);
        error = app__plan_add(plan, &part, blame, message);
    }
    return error;
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
    return 2 * SIM_COMPARE(a->start_ps, b->start_ps) + SIM_COMPARE(a->index, b->index);
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

// Reserves QP numbers for the transfers that an interface requests and responds to, and initialises
// its source.
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
        app__reserve_qps(endpoint, &app__plan_range_ops, plan,
                         plan->shape.reuse ? 2 * app__flow_channels_of(plan) : actives + passives);
    app__register_buffers(endpoint);
    if (actives > 0) {
        // Transfers that wait for a trigger come last in the order of start and are not due at any
        // time.
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

uint64_t app__plan_count(const app__plan_t *plan)
{
    return plan->count;
}

app__verb_t app__plan_verb(const app__plan_t *plan)
{
    return plan->shape.verb;
}

const app__transfer_t *app__plan_at(const app__plan_t *plan, uint64_t index)
{
    return app__transfer(plan, index);
}

// -- values of a transfer that both ends know

static uint64_t hash_of(const app__plan_t *plan, const app__transfer_t *transfer, uint64_t index)
{
    const uint64_t number =
        !plan->shape.reuse
            ? index
            : app__pair_key(plan->net, transfer->source, transfer->destination, transfer->priority);
    return app__flow_hash(plan->seed, plan->first_flow_id + number);
}

uint16_t app__plan_udp_source_port(const app__plan_t *plan, const app__transfer_t *transfer,
                                   uint64_t index)
{
    return transfer->source_port != 0 ? transfer->source_port
                                      : app__port_of_hash(hash_of(plan, transfer, index));
}

uint32_t app__plan_first_psn(const app__plan_t *plan, const app__transfer_t *transfer,
                             uint64_t index)
{
    return app__psn_of_hash(hash_of(plan, transfer, index));
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

nic_qp_type_t app__plan_qp_type(const app__plan_t *plan)
{
    static const nic_qp_type_t types[] =
        {[APP__RC] = NIC_QPT_RC, [APP__UC] = NIC_QPT_UC, [APP__UD] = NIC_QPT_UD};
    return types[plan->shape.service];
}

uint64_t app__piece_bytes(const app__plan_t *plan, const app__transfer_t *transfer)
{
    return plan->shape.service == APP__UD ? app__plan_mtu_bytes(plan, transfer) : APP__PIECE_BYTES;
}

uint32_t app__plan_mtu_bytes(const app__plan_t *plan, const app__transfer_t *transfer)
{
    return app__pair_mtu_bytes(plan->net, transfer->source, transfer->destination);
}

uint8_t app__plan_priority(const app__plan_t *plan, const app__transfer_t *transfer)
{
    return app__priority_of(plan->net, transfer->source, transfer->priority);
}

uint8_t app__plan_dscp(const app__plan_t *plan, const app__transfer_t *transfer)
{
    return app__dscp_of(plan->net, transfer->source, transfer->priority, transfer->dscp);
}

nic_ideal_t app__plan_ideal(const app__plan_t *plan, const app__transfer_t *transfer,
                            uint64_t index, uint64_t message_bytes)
{
    return (nic_ideal_t){
        .net = plan->net,
        .requester = transfer->source,
        .responder = transfer->destination,
        .udp_source_port = app__plan_udp_source_port(plan, transfer, index),
        .hashed_port = plan->shape.service == APP__UD ? 0 : transfer->service_port,
        .opcode = app__transfer_opcode(transfer),
        .mtu_bytes = app__plan_mtu_bytes(plan, transfer),
        .message_bytes = message_bytes,
        .messages = transfer->messages - transfer->left_out,
        .piece_bytes = app__piece_bytes(plan, transfer),
        .service = app__plan_qp_type(plan),
    };
}
