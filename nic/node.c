// SPDX-License-Identifier: Apache-2.0
// nic/node.c - the host as a node: how it runs events, and its life.
#include "kernel/pool.h"
#include "net/draws.h"
#include "net/frame.h"
#include "net/nodes.h"
#include "net/port_metrics.h"
#include "net/port_pause.h"
#include "net/ports.h"
#include "nic/config/parts.h"
#include "nic/host/contents.h"
#include "nic/host/cores.h"
#include "nic/host/dma.h"
#include "nic/host/listen.h"
#include "nic/host/packets.h"
#include "nic/host/steps.h"
#include "nic/iommu.h"
#include "nic/objects/calls.h"
#include "nic/objects/fields.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/queues.h"
#include "nic/objects/region.h"
#include "nic/schedule/eligible.h"
#include "nic/schedule/loopback.h"
#include "nic/schedule/planes.h"
#include "nic/transport/entry.h"
#include "nic/transport/stalled_pipeline.h"
#include "nic/verbs/hand_over.h"
#include "nic/verbs/life.h"
#include "nic/verbs/qp_check.h"

// -- events

// Receives a packet that does not go straight to the protocol.
static SIM_NOINLINE void arrive_otherwise(nic_t *nic, net_packet_t *packet)
{
    if (SIM_UNLIKELY(nic->draws)) {
        net_draws_hear(nic->port, packet);
    }
    if (SIM_UNLIKELY(nic->shifts)) {
        nic__shift_address(nic, packet);
    }
    if (nic->loop != NULL) {
        nic->loop->arrived(nic, packet);
    } else if (packet->kind == NET_PACKET_ROCE && nic->detailed && nic->device->arrive != NULL) {
        nic->device->arrive(nic, packet);
    } else if (packet->kind == NET_PACKET_ROCE) {
        if (SIM_UNLIKELY(nic->gated)) {
            nic__gate_push(nic->gate, packet);
        } else {
            nic__receive(nic, packet);
        }
        nic__trace(nic, NULL, NIC_TRACE_RECEIVE, 0, 0);
    } else {
        const uint8_t released = net_port_control_received(nic->port, packet);
        nic__consume(nic, packet);
        if (released != 0) {
            nic__kick(nic);
        }
    }
}

// Receives a packet at a port of a NIC with planes.
static SIM_NOINLINE void arrive_in_plane(nic_t *nic, net_port_t *port, net_packet_t *packet)
{
    net_port_count_rx(port, packet);
    if (SIM_UNLIKELY(nic->draws)) {
        net_draws_hear(port, packet);
    }
    if (SIM_UNLIKELY(nic->shifts)) {
        nic__shift_address(nic, packet);
    }
    if (packet->kind == NET_PACKET_ROCE) {
        nic__planes_arrived(nic, packet, (uint32_t)(port - nic->planes->ports));
        if (nic->served) {
            nic->device->arrive(nic, packet);
        } else if (nic->gated) {
            nic__gate_push(nic->gate, packet);
        } else {
            nic__receive(nic, packet);
            nic__trace(nic, NULL, NIC_TRACE_RECEIVE, 0, 0);
        }
        return;
    }
    const uint8_t released = net_port_control_received(port, packet);
    nic__consume(nic, packet);
    if (released != 0) {
        nic__kick(nic);
    }
}

static SIM_ALWAYS_INLINE void arrive(nic_t *nic, net_packet_t *packet)
{
    net_port_count_rx(nic->port, packet);
    if (SIM_LIKELY(nic->plain && packet->kind == NET_PACKET_ROCE &&
                   !nic__traced(nic, NIC_TRACE_RECEIVE))) {
        nic__receive(nic, packet);
    } else {
        arrive_otherwise(nic, packet);
    }
}

// Sends on a free port. A NIC that still reads the payload it sent continues when it has read it.
static inline void transmit(nic_t *nic)
{
    if (SIM_LIKELY(!nic->bound) || !nic__dma_holds_back(nic)) {
        nic__transmit(nic);
    }
}

static void transmit_planes(nic_t *nic, const net_port_t *woken)
{
    if (!nic->bound || !nic__dma_holds_back(nic)) {
        nic__transmit_planes(nic, woken);
    }
}

// -- the loopback

void nic__loopback_turn_fired(sim_node_t *node, sim_timer_t *timer)
{
    struct nic_loopback *const loopback = SIM_CONTAINER_OF(timer, struct nic_loopback, turn);
    nic_t *const nic = loopback->nic;
    if (loopback->ready == NULL || loopback->stopped || (nic->bound && nic__dma_holds_back(nic))) {
        return; // kicked again when that changes
    }
    if (loopback->free_ps <= node->now_ps) { // else an acknowledgement went first
        nic__transmit_looped(nic, loopback->ready, loopback->free_ps);
    }
    nic__loopback_kick(nic);
}

// Receives a packet like one of the link, but for the port.
static void receive_looped(nic_t *nic, net_packet_t *packet)
{
    if (nic->shifts) {
        nic__shift_address(nic, packet);
    }
    if (nic->served) {
        nic->device->arrive(nic, packet);
        return;
    }
    if (nic->gated) {
        nic__gate_push(nic->gate, packet);
    } else {
        nic__receive(nic, packet);
    }
    nic__trace(nic, NULL, NIC_TRACE_RECEIVE, 0, 0);
}

void nic__loopback_arrival_fired(sim_node_t *node, sim_timer_t *timer)
{
    struct nic_loopback *const loopback = SIM_CONTAINER_OF(timer, struct nic_loopback, arrival);
    net_packet_t *const packet = SIM_RING_POP(&loopback->packets).packet;
    if (SIM_RING_COUNT(&loopback->packets) != 0) {
        const nic_looped_t *const next = &SIM_RING_AT(&loopback->packets, loopback->packets.first);
        sim_timer_arm(node, timer, next->arrive_ps);
    }
    receive_looped(loopback->nic, packet);
}

// -- what is left of an event

// Completes work of an event that had to wait until nothing refers to its QPs.
static void settle(nic_host_t *host)
{
    while (host->kicked != NULL || host->notice_count != 0) {
        if (SIM_UNLIKELY(host->notice_count != 0)) {
            nic__hand_over(host);
        }
        if (host->kicked == NULL) {
            break;
        }
        nic_t *const nic = host->kicked;
        host->kicked = nic->next_kicked;
        nic->kicked &= NIC_HAS_PLANES;
        if (SIM_UNLIKELY(nic->kicked != 0)) {
            transmit_planes(nic, NULL);
        } else if (net_port_idle(nic->port)) {
            transmit(nic);
        } else {
            nic__wake(nic);
        }
    }
    if (SIM_UNLIKELY(host->dead != NULL)) {
        nic__free_dead(host);
    }
    host->unsettled = false;
}

#ifdef SIM_DEAR_CHECKS
static void check_after_event(const nic_host_t *host)
{
    SIM_CHECK(host->notice_count == 0 && host->kicked == NULL && host->dead == NULL);
    SIM_CHECK(!host->unsettled);
    for (uint32_t i = 0; i < host->nic_count; i++) {
        nic__check_after_event(&host->nics[i]);
    }
}
#endif

// Handles an arrival or a wake of a host whose NICs have planes.
static SIM_NOINLINE void handle_in_plane(nic_host_t *host, const sim_event_t *event)
{
    net_port_t *const port = &host->node.ports[event->port];
    nic_t *const nic = &host->nics[nic__index_of_port(host, event->port)];
    const bool arrival = event->kind == SIM_EVENT_ARRIVAL;
    if (!arrival) {
        port->wake_pending = NET_WAKE_NONE;
    }
    if (nic->planes == NULL && arrival) {
        arrive(nic, event->message);
    } else if (nic->planes == NULL) {
        transmit(nic);
    } else if (arrival) {
        arrive_in_plane(nic, port, event->message);
    } else {
        transmit_planes(nic, port);
    }
}

// Takes a message that is no packet. Returns false if it is one.
static bool take_message(nic_host_t *host, uint32_t port, void *message)
{
    if (port < host->node.port_count) {
        return false;
    }
    host->message_fn(&host->node, port, message, host->message_ctx);
    return true;
}

static inline void handle(nic_host_t *host, const sim_event_t *event)
{
    if (SIM_UNLIKELY(host->message_fn != NULL) && event->kind == SIM_EVENT_ARRIVAL &&
        take_message(host, event->port, event->message)) {
        return;
    }
    if (SIM_UNLIKELY(host->node.planes > 1) && event->kind != SIM_EVENT_TIMER) {
        handle_in_plane(host, event);
        return;
    }
    switch (event->kind) {
    case SIM_EVENT_ARRIVAL:
        host->nics[event->port].rail_events++;
        arrive(&host->nics[event->port], event->message);
        break;
    case SIM_EVENT_WAKE:
        host->nics[event->port].rail_events++;
        host->nics[event->port].port->wake_pending = false;
        transmit(&host->nics[event->port]);
        break;
    case SIM_EVENT_TIMER:
        event->timer->fn(&host->node.sim, event->timer);
        break;
    }
}

static inline void after_event(nic_host_t *host)
{
    if (host->unsettled) {
        settle(host);
    }
#ifdef SIM_DEAR_CHECKS
    check_after_event(host);
#endif
}

// Runs the next event. Returns false if none is left in this window.
static SIM_ALWAYS_INLINE bool take_event(nic_host_t *host)
{
    sim_event_t event;
    if (!sim_node_next(&host->node.sim, &event)) {
        return false;
    }
    handle(host, &event);
    after_event(host);
    return true;
}

// Takes the steps, and the moments when the port is free, in their turn among events, up to the
// next mail. In a unit of nodes that run together, what a step sends may lower run_end_ps.
static SIM_ALWAYS_INLINE void take_steps(nic_host_t *host, nic_steps_t *steps, sim_time_t mail_ps)
{
    for (;;) {
        const nic_turn_t turn = nic__turn(host, steps, SIM_MIN(mail_ps, host->node.sim.run_end_ps));
        if (turn == NIC_TURN_STEP) {
            nic__step(host, steps);
        } else if (turn == NIC_TURN_WAKE) {
            nic__port_free(host, steps);
            transmit(&host->nics[0]);
        } else {
            return;
        }
        after_event(host);
    }
}

// Runs a host whose NICs have steps.
static void run_with_steps(nic_host_t *host)
{
    sim_node_t *const node = &host->node.sim;
    nic_steps_t *const steps = host->steps;
    host->lanes = steps;
    for (;;) {
        const sim_time_t mail_ps = sim__mail_time(node); // steps do not change that
        take_steps(host, steps, mail_ps);
        if (SIM_UNLIKELY(mail_ps > node->wake_ps || mail_ps > node->timer_ps)) {
            if (!take_event(host)) {
                break;
            }
            continue;
        }
        if (mail_ps >= node->run_end_ps) {
            break;
        }
        const sim_mail_t *const mail = sim__take_mail(node, mail_ps);
        const uint32_t port = sim_mail_port(mail);
        if (SIM_UNLIKELY(host->message_fn != NULL) && take_message(host, port, mail->message)) {
            after_event(host);
            continue;
        }
        nic_t *const nic = &host->nics[nic__index_of_port(host, port)];
        net_packet_t *const packet = mail->message;
        if (SIM_UNLIKELY(nic->planes != NULL)) {
            arrive_in_plane(nic, &host->node.ports[port], packet);
        } else if (SIM_LIKELY(nic->served && packet->kind == NET_PACKET_ROCE)) {
            net_port_count_rx(nic->port, packet);
            nic->device->arrive(nic, packet);
        } else {
            arrive(nic, packet);
        }
        after_event(host);
    }
    host->lanes = NULL;
    nic__steps_rest(host);
}

// Runs the usual host, which has one port; only that port wakes it.
static void run_one_port(nic_host_t *host)
{
    sim_node_t *const node = &host->node.sim;
    for (;;) {
        const sim_time_t mail_ps = sim__mail_time(node);
        const sim_time_t timer_ps = node->timer_ps;
        if (mail_ps <= node->wake_ps && mail_ps <= timer_ps) {
            if (mail_ps >= node->run_end_ps) {
                break;
            }
            arrive(host->nics, sim__take_mail(node, mail_ps)->message);
        } else if (node->wake_ps <= timer_ps) {
            if (node->wake_ps >= node->run_end_ps) {
                break;
            }
            sim_take_only_wake(node);
            host->nics->port->wake_pending = NET_WAKE_NONE;
            transmit(host->nics);
        } else {
            if (timer_ps >= node->run_end_ps) {
                break;
            }
            sim_timer_t *const timer = sim__timer_pop(node);
            timer->fn(node, timer);
        }
        after_event(host);
    }
}

// Runs a host whose only NIC has planes.
static void run_planes(nic_host_t *host)
{
    sim_event_t event;
    while (sim_node_next(&host->node.sim, &event)) {
        net_port_t *const port = &host->node.ports[event.port];
        if (event.kind == SIM_EVENT_ARRIVAL) {
            arrive_in_plane(host->nics, port, event.message);
        } else if (event.kind == SIM_EVENT_WAKE) {
            port->wake_pending = NET_WAKE_NONE;
            transmit_planes(host->nics, port);
        } else {
            event.timer->fn(&host->node.sim, event.timer);
        }
        after_event(host);
    }
}

static void host_run(sim_node_t *node)
{
    nic_host_t *const host = (nic_host_t *)(void *)node;
    host->in_event = true;
    if (SIM_LIKELY(host->one_port)) {
        run_one_port(host);
    } else if (host->steps != NULL) {
        run_with_steps(host);
    } else if (host->nic_count == 1 && host->nics->planes != NULL && host->message_fn == NULL) {
        run_planes(host);
    } else {
        while (take_event(host)) {
        }
    }
    host->in_event = false;
}

static void host_arrive(sim_node_t *node, uint32_t port, void *message)
{
    nic_host_t *const host = (nic_host_t *)(void *)node;
    host->in_event = true;
    if (SIM_UNLIKELY(host->message_fn != NULL) && take_message(host, port, message)) {
        // it was no packet
    } else if (SIM_UNLIKELY(host->node.planes > 1)) {
        handle_in_plane(
            host, &(sim_event_t){.kind = SIM_EVENT_ARRIVAL, .port = port, .message = message});
    } else {
        arrive(&host->nics[port], message);
    }
    after_event(host);
    host->in_event = false;
}

static void host_take(sim_node_t *node, const sim_event_t *event)
{
    nic_host_t *const host = (nic_host_t *)(void *)node;
    host->in_event = true;
    handle(host, event);
    after_event(host);
    host->in_event = false;
}

// Prefetches the NICs, their ports, and the QPs used last: likely the next ones too.
static void host_warm(const sim_node_t *node, uint32_t arrivals)
{
    (void)arrivals;
    const nic_host_t *const host = (const nic_host_t *)(const void *)node;
    for (uint32_t i = 0; i < host->nic_count && i < 4; i++) {
        const net_port_t *const port = host->nics[i].port;
        __builtin_prefetch(&host->nics[i]);
        __builtin_prefetch((const char *)&host->nics[i] + SIM_CACHE_LINE);
        __builtin_prefetch((const char *)&host->nics[i] + 2 * SIM_CACHE_LINE);
        __builtin_prefetch(&host->nics[i].counters.rx_packets);
        __builtin_prefetch(&host->nics[i].queue_pushed);
        __builtin_prefetch(&host->nics[i].device);
        __builtin_prefetch(port);
        __builtin_prefetch(port->classes[host->warm_class]);
        __builtin_prefetch(port->received[host->warm_class]);
    }
    for (uint32_t line = 0; line < 4; line++) {
        __builtin_prefetch((const char *)host->sent_last + line * SIM_CACHE_LINE);
        __builtin_prefetch((const char *)host->received_last + line * SIM_CACHE_LINE);
    }
    __builtin_prefetch((const char *)host->sent_last + NIC_QP_BYTES); // its algorithm's
}

void nic_host_on_message(net_node_t *node, nic_message_fn fn, void *ctx)
{
    nic_host_t *const host = nic__host_of(node);
    SIM_CHECK(fn != NULL && host->message_fn == NULL);
    host->message_fn = fn;
    host->message_ctx = ctx;
    const sim_time_t wake_ps = node->sim.wake_ps;
    if (host->one_port && wake_ps != SIM_TIME_NEVER) {
        // Something is posted already: its wake becomes one of several.
        node->sim.wake_ps = SIM_TIME_NEVER;
        sim_wake(&node->sim, wake_ps, 0);
    }
    host->one_port = false; // the loop for it expects packets only
}

// -- digest

static void digest_qp(const nic_qp_t *qp, void *ctx)
{
    sim_digest_t *const digest = ctx;
    sim_fields_digest(&nic__qp_fields, qp, digest);
    sim_digest_add(digest, nic__cc_const(qp)->rate_bps);
}

static void host_digest(const sim_node_t *node, sim_digest_t *digest)
{
    const nic_host_t *const host = (const nic_host_t *)(const void *)node;
    net_node_digest(&host->node, digest);
    for (uint32_t i = 0; i < host->nic_count; i++) {
        const nic_t *const nic = &host->nics[i];
        sim_fields_digest(&nic__counter_fields, &nic->counters, digest);
        nic_for_each_qp(nic, digest_qp, digest);
        if (nic->device->digest != NULL) {
            nic->device->digest(nic, digest);
        }
    }
}

// -- life

static void nic_init(nic_t *nic)
{
    nic_host_t *const host = nic->host;
    net_port_t *const port = nic->port;
    const nic_config_t *const config = host->config;
    nic->interface = net_port_interface(port);
    nic->overhead_bytes = (uint16_t)port->line->overhead_bytes;
    nic__frames_create(nic);
    nic__scheduler_create(nic);
    nic->cnp_priority = (uint8_t)config->cnp_priority;
    nic->cnp_dscp =
        (uint8_t)(config->cnp_dscp == SIM_AUTO ? config->cnp_priority * 8 : config->cnp_dscp);
    nic->ack_interval = (uint16_t)config->ack_interval;
    nic->next_qp_num = ROCE_QPN_FIRST;
    nic->mr_free = 1;
    nic->contents = host->memory.page_count != 0 || nic->bound || nic_iommu_translates(nic);
    nic->cc_ops = nic__config_cc(config, &nic->cc_config);
    SIM_CHECKF(nic->cc_ops != NULL, "no algorithm \"%s\"", config->congestion_control);
    SIM_CHECK(nic->cc_ops->name != NULL && nic->cc_ops->state_bytes >= sizeof(nic_cc_t));
    nic->state_at = (uint32_t)nic__state_offset(nic);
    nic__device_create(nic);
    if (nic->detailed) {
        sim_expect_timers(&host->node.sim);
    }
    nic->draws = net_get_config(host->node.net)->draws == NET_DRAWS_PACKET;
    // not asked for by NICs with planes
    nic->plain = nic->loop == NULL && !nic->detailed && !nic->draws;
    nic->served = nic->loop == NULL && nic->detailed && nic->device->arrive != NULL && !nic->draws;
    nic->odd_answers = nic->loop != NULL || net_answers_differ(host->node.net) ||
                       config->repath == NIC_REPATH_REPS || nic->cc_ops->hears_hosts;
    nic->transport = nic__config_transport(config);
    SIM_CHECKF(nic->transport != NULL, "no transport \"%s\"", config->transport);

    uint32_t quantum_bytes[NET_PRIORITIES];
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        quantum_bytes[p] = nic->header_bytes + (uint32_t)config->mtu_bytes;
    }
    for (uint32_t plane = 0; plane < (nic->planes == NULL ? 1 : nic->planes->count); plane++) {
        port[plane].strict = (uint8_t)(1u << config->cnp_priority);
        net_port_set_quanta(&port[plane], quantum_bytes);
    }
}

static void accelerator_arrived(net_node_t *host, uint32_t port, void *message, void *ctx)
{
    (void)port;
    (void)ctx;
    net_put_arrived(host, message);
}

// Looks at a NIC again that has read the payload it sent last.
static void read_over(nic_t *nic)
{
    nic__kick(nic);
    nic__loopback_kick(nic);
}

static void host_built(net_node_t *node)
{
    nic_host_t *const host = nic__host_of(node);
    host->nic_count = nic_count(node);
    host->nics = sim_lines_take(node->sim.worker, host->nic_count * sizeof(*host->nics));
    for (uint32_t i = node->port_count; i-- > 0;) {
        nic_t *const nic = &host->nics[nic__index_of_port(host, i)];
        nic->host = host;
        nic->port = net_port_at(node, i); // the first of its planes
    }
    nic__fabric_build(host, read_over); // before devices, which ask it where they are
    nic__iommu_build(host);
    nic__cores_set_clock(host);
    for (uint32_t i = 0; i < host->nic_count; i++) {
        nic_init(&host->nics[i]);
    }
    if (net_accelerator_count(node) > 0) {
        host->message_fn = accelerator_arrived;
    }
    host->one_port = node->port_count == 1 && host->steps == NULL && host->message_fn == NULL &&
                     !sim_ties_by_insertion(&node->sim);
    host->one_stepping = node->port_count == 1 && host->steps != NULL;
}

static void close_qp(const nic_qp_t *qp, void *ctx)
{
    (void)ctx;
    nic__transport_close((nic_qp_t *)(uintptr_t)qp);
}

static void free_qp(const nic_qp_t *qp, void *ctx)
{
    (void)ctx;
    nic__qp_free((nic_qp_t *)(uintptr_t)qp);
}

static void nic_fini(nic_t *nic)
{
    nic_for_each_qp(nic, close_qp, NULL);
    nic__transports_free(nic);
    nic__loopback_close(nic);
    nic__carried_free(nic);
    nic_for_each_qp(nic, free_qp, NULL);
    for (uint32_t i = 0; i < nic->qp_page_count; i++) {
        sim_free(nic->qp_pages[i]);
    }
    sim_free(nic->qp_pages);
    sim_free(nic->qp_gone);
    for (uint32_t i = 0; i < nic->mr_count; i++) {
        sim_free(nic->mrs[i]);
    }
    sim_free(nic->mrs);
    while (nic->pds != NULL) {
        nic_pd_t *const pd = nic->pds;
        nic->pds = pd->next;
        sim_free(pd);
    }
    while (nic->cqs != NULL) {
        nic_cq_t *const cq = nic->cqs;
        nic->cqs = cq->next;
        sim_free(cq->ring);
        sim_free(cq->seen_ps);
        sim_lines_give(nic__node(nic)->worker, cq, sizeof(*cq));
    }
    nic__srqs_free(nic);
    sim_free(nic->cnp_slots);
    sim_free(nic->reports);
    nic__scheduler_destroy(nic);
    nic__trace_forget(nic, NULL);
    nic__device_destroy(nic);
}

typedef struct shared_config {
    nic_config_t config; // first
    size_t users;
} shared_config_t;

static void give_config(const nic_config_t *config)
{
    shared_config_t *const shared = (shared_config_t *)(uintptr_t)config;
    if (--shared->users == 0) {
        nic_config_fini(&shared->config);
        sim_free(shared);
    }
}

static void host_destroy(sim_node_t *node)
{
    nic_host_t *const host = (nic_host_t *)(void *)node;
    host->ending = true;
    if (host->nics != NULL) { // not after a failed net_build
        nic__free_dead(host);
        for (uint32_t i = 0; i < host->nic_count; i++) {
            nic_fini(&host->nics[i]);
        }
        sim_lines_give(node->worker, host->nics, host->nic_count * sizeof(*host->nics));
    }
    nic__cores_free(host);
    nic__memory_fini(&host->memory);
    nic__fabric_destroy(host);
    nic__iommu_destroy(host);
    nic__steps_destroy(host);
    sim_free(host->notices);
    give_config(host->config);
    net_scale_up_free(&host->node);
    net_node_fini(&host->node);
    sim_lines_give(node->worker, host, sizeof(*host));
}

static const sim_node_ops_t host_ops = {
    .keeps_order = true,
    .kind = nic__host_kind,
    .run = host_run,
    .arrive = host_arrive,
    .take = host_take,
    .warm = host_warm,
    .digest = host_digest,
    .destroy = host_destroy,
};

static const nic_config_t *share(const nic_config_t *config)
{
    ((shared_config_t *)(uintptr_t)config)->users++;
    return config;
}

// Returns the configuration of the host created before, if it is equal, so that both share it.
static const nic_config_t *take_config(const net_t *net, const nic_config_t *config)
{
    size_t before = net_node_count(net);
    while (before > 0 && net_node_at(net, before - 1)->sim.ops != &host_ops) {
        before--;
    }
    if (before > 0) {
        const nic_config_t *const shared = nic__host_of(net_node_at(net, before - 1))->config;
        if (nic_config_equal(shared, config)) {
            return share(shared);
        }
    }
    shared_config_t *const own = sim_alloc(sizeof(*own));
    nic_config_copy(&own->config, config);
    own->users = 1;
    return &own->config;
}

// Takes the reference to the config.
static nic_host_t *make(const sim_t *sim, const nic_config_t *config)
{
    nic_host_t *const host = sim_lines_take(sim_builder(sim), sizeof(*host));
    host->config = config;
    host->warm_class = config->priority & (NET_PRIORITIES - 1);
    return host;
}

// -- a host that was let go, and is made again

static bool alike(const net_node_t *a, const net_node_t *b)
{
    return ((const nic_host_t *)(const void *)a)->config ==
           ((const nic_host_t *)(const void *)b)->config;
}

static net_node_t *make_like(const net_node_t *like)
{
    return &make(like->sim.sim, share(((const nic_host_t *)(const void *)like)->config))->node;
}

static const net_again_t host_again = {
    .ops = &host_ops,
    .built = host_built,
    .alike = alike,
    .make = make_like,
};

// Returns whether packets of this host have nothing in their cold part that their opcodes do not
// name.
static bool is_plain(const nic_config_t *config, const nic_cc_ops_t *cc)
{
    const void *part;
    return nic__config_transport(config) == &nic_transport_gbn && config->ooo == NIC_OOO_OFF &&
           nic__config_device(config, &part) == &nic_device_ideal && cc != NULL && !cc->hears_hosts;
}

// Takes the reference to the config.
static net_node_t *create(net_t *net, const char *name, const nic_config_t *config)
{
    nic_host_t *const host = make(net_sim(net), config);
    net_set_again(net, &host_again);
    const void *cc_config;
    const nic_cc_ops_t *const ops = nic__config_cc(config, &cc_config);
    if (ops != NULL && ops->telemetry != NET_TELEMETRY_NONE) {
        net_want_telemetry(net, ops->telemetry);
    }
    if (is_plain(config, ops)) {
        net_host_is_plain(net);
    }
    net_allow_frames(net,
                     (uint32_t)config->mtu_bytes + NET_FRAME_BYTES_MAX - ROCE_MTU_STANDARD_MAX);
    net_node_init(net, &host->node, NET_NODE_HOST, &host_ops, name, host_built);
    return &host->node;
}

net_node_t *nic_host_create(net_t *net, const char *name, const nic_config_t *config)
{
    return create(net, name, take_config(net, config));
}

net_node_t *nic_host_create_like(net_t *net, const char *name, net_node_t *host)
{
    return create(net, name, share(nic__host_of(host)->config));
}

void nic_host_set_planes(net_node_t *host, uint32_t planes)
{
    SIM_CHECK(planes >= 1 && planes <= UINT8_MAX);
    if (nic__host_of(host)->config->planes != NIC_PLANES_OFF) {
        host->planes = (uint8_t)planes;
    }
}

// -- requests for unknown QPs

void nic_on_unknown_qp(nic_t *nic, nic_accept_fn fn, void *ctx)
{
    nic->accept = fn;
    nic->accept_ctx = ctx;
}
