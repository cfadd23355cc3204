// SPDX-License-Identifier: Apache-2.0
// apps/machine.c - machines and threads of programs that run on cores (docs/models/guidelines.md).
#include "apps/machine_internal.h"

#include "apps/channel/pair.h"

void app__machine_init(app__machine_t *machine, const app_context_t *context, uint32_t interface,
                       uint64_t memory_bytes, uint64_t qp_count)
{
    app__endpoint_t *const endpoint = app__endpoint_of(context->runtime, interface);
    const uint32_t rights = NIC_ACCESS_LOCAL_WRITE | NIC_ACCESS_REMOTE_WRITE |
                            NIC_ACCESS_REMOTE_READ | NIC_ACCESS_REMOTE_ATOMIC;
    *machine = (app__machine_t){
        .endpoint = endpoint,
        .address = app__machine_address(context),
        .bytes = memory_bytes,
        .position = app__reserve_qps(endpoint, NULL, machine, qp_count),
    };
    machine->positions_end = machine->position + qp_count;
    const sim_err_t error =
        nic_mr_register(endpoint->pd, machine->address, memory_bytes, rights, &machine->memory);
    SIM_CHECKF(error == SIM_OK, "%s", sim_err_text(error));
}

void app__connect_to(nic_qp_t *qp, uint32_t interface, uint32_t number)
{
    nic_qp_attr_t attr;
    nic_qp_attr_default(nic_qp_nic(qp), &attr);
    attr.dest_interface = interface;
    attr.dest_qp_num = number;
    attr.access = NIC_ACCESS_LOCAL_WRITE | NIC_ACCESS_REMOTE_WRITE | NIC_ACCESS_REMOTE_READ |
                  NIC_ACCESS_REMOTE_ATOMIC;
    app__qp_connect(qp, &attr);
}

nic_qp_t *app__machine_qp(app__machine_t *machine, nic_qp_type_t type, nic_cq_t *cq,
                          uint32_t send_depth, uint32_t receive_depth)
{
    return app__machine_qp_apart(machine, type, cq, cq, send_depth, receive_depth);
}

nic_qp_t *app__machine_qp_apart(app__machine_t *machine, nic_qp_type_t type, nic_cq_t *send_cq,
                                nic_cq_t *receive_cq, uint32_t send_depth, uint32_t receive_depth)
{
    SIM_CHECK(machine->position < machine->positions_end);
    nic_qp_t *const qp =
        app__qp_create(machine->endpoint, type, app__qp_number(machine->position++), send_depth,
                       receive_depth, &(app__queues_t){.send_cq = send_cq, .recv_cq = receive_cq});
    if (type == NIC_QPT_UD) {
        app__connect_to(qp, 0, 0);
    }
    return qp;
}

void app__join(nic_qp_t *a, nic_qp_t *b)
{
    app__connect_to(a, nic_interface(nic_qp_nic(b)), nic_qp_num(b));
    app__connect_to(b, nic_interface(nic_qp_nic(a)), nic_qp_num(a));
}

// -- threads

static void stop_fired(sim_node_t *node, sim_timer_t *timer)
{
    app__thread_t *const thread = SIM_CONTAINER_OF(timer, app__thread_t, stop_timer);
    nic_core_stop(thread->core);
    thread->stopped = true;
    if (thread->stopped_fn != NULL) {
        thread->stopped_fn(thread);
    }
    sim_progress(node);
}

void app__thread_init(app__thread_t *thread, app__machine_t *machine, const app__span_t *span,
                      uint32_t order, nic_core_fn step, void *ctx)
{
    app__endpoint_t *const endpoint = machine->endpoint;
    *thread = (app__thread_t){.span = span, .machine = machine};
    thread->core = nic_core_create((net_node_t *)nic_node(endpoint->nic), step, ctx);
    sim_timer_init(&thread->stop_timer, stop_fired);
    sim_timer_arm(endpoint->node, &thread->stop_timer, app__span_end(span));
    const sim_time_t start_ps = span->start_ps + order * SIM_PS_PER_NS;
    if (start_ps < app__span_end(span)) {
        nic_core_start(thread->core, start_ps);
    }
}

nic_cq_t *app__thread_cq(app__thread_t *thread)
{
    nic_cq_t *const cq = nic_cq_create(thread->machine->endpoint->nic, 1u << 20, NULL, NULL);
    nic_cq_set_core(cq, thread->core);
    return cq;
}

// -- in ranks

bool app__thread_carry(sim_carry_t *carry, app__thread_t *thread)
{
    if (!sim_carry_has(carry, thread->machine->endpoint->node)) {
        return false;
    }
    SIM_CARRY(carry, thread->counted);
    SIM_CARRY(carry, thread->total);
    SIM_CARRY(carry, thread->failed);
    SIM_CARRY(carry, thread->stopped);
    return true;
}

void app__machine_carry_words(sim_carry_t *carry, const app__machine_t *machine, uint64_t address,
                              uint64_t count, uint64_t stride_bytes)
{
    if (!sim_carry_has(carry, machine->endpoint->node)) {
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        uint64_t word = nic_mr_read64(machine->memory, address + i * stride_bytes);
        SIM_CARRY(carry, word);
        if (!sim_carry_leaves(carry)) {
            nic_mr_write64(machine->memory, address + i * stride_bytes, word);
        }
    }
}

// -- posting

#define RECEIVES_AT_ONCE 64u

void app__post_receives(nic_qp_t *qp, const app__machine_t *machine, uint32_t count, uint64_t bytes)
{
    while (count > 0) {
        const uint32_t now = SIM_MIN(count, RECEIVES_AT_ONCE);
        nic_recv_wr_t list[RECEIVES_AT_ONCE];
        for (uint32_t i = 0; i < now; i++) {
            list[i] = (nic_recv_wr_t){
                .wr_id = (uint64_t)(uintptr_t)qp,
                .sge = {machine->address, bytes, app__machine_key(machine)},
            };
        }
        const sim_err_t error = nic_post_recv_list(qp, list, now, NULL);
        SIM_CHECKF(error == SIM_OK, "QP %u: %s", nic_qp_num(qp), sim_err_text(error));
        count -= now;
    }
}

sim_time_t app__span_measured_ps(const app_t *app, const app__span_t *span)
{
    const sim_time_t end_ps = sim_end_time_ps(net_sim(app->net));
    const sim_time_t begin_ps = app__span_begin(span);
    return end_ps >= app__span_end(span) ? span->measure_ps
           : end_ps > begin_ps           ? end_ps - begin_ps
                                         : 0;
}

double app__mops(const app_t *app, const app__span_t *span, uint64_t operations)
{
    const sim_time_t time_ps = app__span_measured_ps(app, span);
    return time_ps == 0 ? 0.0 : (double)operations * (double)SIM_PS_PER_US / (double)time_ps;
}

sim_err_t app__machines_find(const app_context_t *context, const char *attribute,
                             const char *pattern, uint64_t least, app__places_t *places,
                             sim_message_t *message)
{
    sim_err_t error = app__places_find(context, attribute, pattern, places, message);
    if (error != SIM_OK) {
        return error;
    }
    if (places->list.count != places->host_count) {
        error = sim_fail_about(message, SIM_ERR_INVALID, attribute,
                               " names hosts with several NICs, expected hosts with one NIC each");
    } else if (places->host_count < least) {
        error = sim_fail_about(message, SIM_ERR_RANGE, attribute,
                               " names %u hosts, expected at least %" PRIu64, places->host_count,
                               least);
    }
    if (error != SIM_OK) {
        app__places_fini(places);
    }
    return error;
}

sim_err_t app__server_machines(const app_context_t *context, const char *server,
                               const char *clients_on, uint32_t **interfaces, uint32_t *count,
                               sim_message_t *message)
{
    uint32_t first = 0;
    app__places_t places;
    sim_err_t error = app__interface_find(context, "server", server, &first, message);
    if (error == SIM_OK) {
        error = app__machines_find(context, "clients-on", clients_on, 1, &places, message);
    }
    if (error != SIM_OK) {
        return error;
    }
    *count = places.host_count + 1;
    *interfaces = sim_alloc_array(*count, sizeof(**interfaces));
    (*interfaces)[0] = first;
    for (uint32_t i = 0; i < places.host_count && error == SIM_OK; i++) {
        const uint32_t client = places.list.interfaces[i];
        (*interfaces)[i + 1] = client;
        if (!app__can_talk(context->net, first, client)) {
            error = app__cannot_talk(context->net, first, client, "clients-on", message);
        }
    }
    app__places_fini(&places);
    if (error != SIM_OK) {
        sim_free(*interfaces);
    }
    return error;
}
