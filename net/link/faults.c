// SPDX-License-Identifier: Apache-2.0
// net/link/faults.c - links that slow down or err, NICs that receive slowly or storm with pauses.
//
// Each fault has a background timer at each port that it changes, in the port's own node, so no
// node writes into another. A slow receiver has a buffer that fills with arriving bytes and drains
// at its rate; every few microseconds it decides whether to pause or release its peer. A storm
// repeats its pause before the peer's clock runs out.
#include "net/faults.h"

#include "kernel/order/fifo.h"
#include "kernel/steps.h"
#include "net/link/fault_timers.h"
#include "net/network_internal.h"
#include "net/port_pause.h"
#include "net/ranks.h"

#define LOOK_PS (2 * SIM_PS_PER_US)
#define STOP_BYTES 65536u // backlog of a slow receiver that pauses its peer; half of it releases
#define QUANTA 65535u

typedef struct net_fault_timer {
    sim_timer_t timer; // first
    net_fault_t fault;
    net_port_t *port;
    bool begun;
    bool stopped;
    uint64_t received_bytes; // port's count at the last look
    uint64_t held_bytes;
    sim_ratio_t bit_error_rate; // the link's own, to be restored
    sim_ratio_t loss_rate;
} fault_timer_t;

const char *net_fault_name(net_fault_kind_t kind)
{
    static const char *const names[] = {
        [NET_FAULT_DEGRADED] = "degraded",
        [NET_FAULT_ERRORS] = "bit-errors",
        [NET_FAULT_SLOW_RECEIVER] = "slow-receiver",
        [NET_FAULT_PAUSE_STORM] = "pause-storm",
    };
    SIM_CHECK((size_t)kind < SIM_COUNT_OF(names));
    return names[kind];
}

static void tell(const fault_timer_t *state, bool over)
{
    net_port_trace(state->port, NET_TRACE_FAULT, NULL,
                   (uint32_t)state->fault.kind | (uint32_t)over << 8);
}

// -- faults of a link

static void change_link(fault_timer_t *state, bool on)
{
    net_port_t *const port = state->port;
    if (state->fault.kind == NET_FAULT_DEGRADED) {
        const bool slower = state->fault.rate_bps < port->line->rate_bps;
        port->rare->degraded_bps = on && slower ? state->fault.rate_bps : 0;
        port->disturbed = true;
    } else {
        net_link_config_t *const config = net_port_own_config(port);
        if (on) {
            state->bit_error_rate = config->bit_error_rate;
            state->loss_rate = config->loss_rate;
        }
        config->bit_error_rate = on ? state->fault.bit_error_rate : state->bit_error_rate;
        config->loss_rate = on ? state->fault.loss_rate : state->loss_rate;
    }
    net__port_update_special(port);
}

// -- faults of a NIC

static void stop(fault_timer_t *state, bool stop)
{
    if (state->fault.kind == NET_FAULT_PAUSE_STORM) {
        net_port_rare_t *const rare = state->port->rare;
        rare->storms = stop ? rare->storms | state->fault.priorities
                            : rare->storms & (uint8_t)~state->fault.priorities;
    }
    if (stop || state->stopped) {
        net_port_pause_send(state->port, state->fault.priorities, stop ? QUANTA : 0);
    }
    state->stopped = stop;
}

static uint64_t received_bytes(const fault_timer_t *state)
{
    uint64_t bytes = 0;
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        bytes += state->fault.priorities >> p & 1u ? state->port->received[p]->bytes : 0;
    }
    return bytes;
}

// Updates a slow receiver's backlog since the last look; pauses or releases the peer.
static void look(fault_timer_t *state)
{
    const uint64_t received = received_bytes(state);
    const uint64_t drained = state->fault.rate_bps / 8 * LOOK_PS / SIM_PS_PER_S;
    state->held_bytes += received - state->received_bytes;
    state->held_bytes -= SIM_MIN(drained, state->held_bytes);
    state->received_bytes = received;
    if (state->held_bytes >= STOP_BYTES && !state->stopped) {
        stop(state, true);
    } else if (state->held_bytes < STOP_BYTES / 2 && state->stopped) {
        stop(state, false);
    }
}

// -- over time

static sim_time_t next_look(const fault_timer_t *state, sim_time_t now_ps)
{
    sim_time_t next_ps = SIM_TIME_NEVER;
    if (state->fault.kind == NET_FAULT_SLOW_RECEIVER) {
        next_ps = now_ps + LOOK_PS;
    } else if (state->fault.kind == NET_FAULT_PAUSE_STORM) {
        next_ps = now_ps + net_port_quanta_ps(state->port, QUANTA) / 2;
    }
    return SIM_MIN(next_ps, state->fault.until_ps);
}

static void begin_or_go_on(fault_timer_t *state)
{
    const bool begins = !state->begun;
    state->begun = true;
    if (begins) {
        tell(state, false);
    }
    switch (state->fault.kind) {
    case NET_FAULT_DEGRADED:
    case NET_FAULT_ERRORS:
        change_link(state, true);
        break;
    case NET_FAULT_SLOW_RECEIVER:
        state->received_bytes = begins ? received_bytes(state) : state->received_bytes;
        look(state);
        break;
    case NET_FAULT_PAUSE_STORM:
        stop(state, true);
        break;
    }
}

static void end(fault_timer_t *state)
{
    if (state->fault.kind == NET_FAULT_DEGRADED || state->fault.kind == NET_FAULT_ERRORS) {
        change_link(state, false);
    } else {
        stop(state, false);
    }
    tell(state, true);
}

static void fired(sim_node_t *node, sim_timer_t *timer)
{
    fault_timer_t *const state = SIM_CONTAINER_OF(timer, fault_timer_t, timer);
    if (state->begun && node->now_ps >= state->fault.until_ps) {
        end(state);
        return;
    }
    begin_or_go_on(state);
    const sim_time_t next_ps = next_look(state, node->now_ps);
    if (next_ps != SIM_TIME_NEVER) {
        sim_timer_arm(node, &state->timer, next_ps);
    }
}

static void schedule_at(net_t *net, const net_fault_t *fault, net_port_t *port)
{
    if (!net__port_made(port)) {
        return; // other ranks run both ends
    }
    fault_timer_t *const state = sim_alloc(sizeof(*state));
    SIM_APPEND(net->fault_timers, net->fault_timer_count, net->fault_timer_capacity, state);
    *state = (fault_timer_t){.fault = *fault, .port = port};
    sim_timer_init_background(&state->timer, fired);
    if (sim_node_is_here(&port->node->sim)) {
        sim_timer_arm(&port->node->sim, &state->timer, fault->at_ps);
        sim_touch(&port->node->sim);
    }
    port->lossless_guaranteed = false;
    port->peer->lossless_guaranteed = false;
}

static void schedule(net_t *net, const net_fault_t *fault)
{
    const net_link_t link = net_link_at(net, fault->link);
    const bool of_node =
        fault->kind == NET_FAULT_SLOW_RECEIVER || fault->kind == NET_FAULT_PAUSE_STORM;
    if (!of_node || fault->node == link.a) {
        schedule_at(net, fault, &link.a->ports[link.a_port]);
    }
    if (!of_node || fault->node == link.b) {
        schedule_at(net, fault, &link.b->ports[link.b_port]);
    }
}

void net__faults_schedule(net_t *net)
{
    if (net->fault_count > 0) {
        sim_need_one_list(net->sim); // faults drop packets, as in net__port_update_special
    }
    for (size_t i = 0; i < net->fault_count; i++) {
        schedule(net, &net->faults[i]);
    }
}

void net_fault_at(net_t *net, const net_fault_t *fault)
{
    SIM_CHECK(!net->built || sim_options(net->sim)->steps);
    SIM_CHECK(fault->link < net->link_count && fault->until_ps > fault->at_ps);
    if (net->built) {
        schedule(net, fault);
        return;
    }
    SIM_APPEND(net->faults, net->fault_count, net->fault_capacity, *fault);
}

void net__faults_free(net_t *net)
{
    sim_free_each(net->fault_timers, net->fault_timer_count);
    sim_free((void *)net->fault_timers);
    sim_free(net->faults);
}
