// SPDX-License-Identifier: Apache-2.0
// net/link/pause.c - PFC at a port: pauses that are in force, and the frames that announce them.
#include "net/link/pause.h"
#include "net/link/credits.h"
#include "net/network_internal.h"
#include "net/port_pause.h"

sim_time_t net_port_quanta_ps(const net_port_t *port, uint16_t quanta)
{
    const sim_wide_t bits = (sim_wide_t)quanta * NET_PFC_QUANTUM_BITS;
    const sim_wide_t pause_ps = bits * SIM_PS_PER_S / port->line->rate_bps;
    return pause_ps < SIM_TIME_END ? (sim_time_t)pause_ps : SIM_TIME_END - 1;
}

void net__port_set_paused(net_port_t *port)
{
    port->paused = port->rare->stopped | (port->layered ? port->rare->layer->blocked : 0);
}

void net__port_hold(net_port_t *port, uint32_t priority, sim_time_t until_ps)
{
    const uint8_t bit = (uint8_t)(1u << priority);
    port->rare->paused_until_ps[priority] = until_ps;
    if ((port->rare->stopped & bit) == 0) {
        port->counted = 1;
        port->rare->stopped |= bit;
        net__port_set_paused(port);
        port->rare->pauses[priority].pauses++;
        port->rare->pauses[priority].paused_since_ps = port->node->sim.now_ps;
        net_port_trace(port, NET_TRACE_PAUSED, NULL, priority);
    }
}

void net__port_release(net_port_t *port, uint32_t priority)
{
    const sim_time_t now_ps = port->node->sim.now_ps;
    port->rare->stopped &= (uint8_t) ~(1u << priority);
    net__port_set_paused(port);
    port->rare->pauses[priority].paused_ps += now_ps - port->rare->pauses[priority].paused_since_ps;
    net_port_trace(port, NET_TRACE_RESUMED, NULL, priority);
}

static void pause_fired(sim_node_t *node, sim_timer_t *timer);

// Arms the timer for the pause that ends first. A pause of a storm is repeated for as long as the
// storm lasts, so it does not keep the run alive, as no fault does.
static void arm_pause_timer(net_port_t *port)
{
    sim_node_t *const node = &port->node->sim;
    sim_timer_t *const timer = &port->rare->pause_timer;
    sim_time_t earliest_ps = SIM_TIME_NEVER;
    bool of_storm = false;
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        if ((port->rare->stopped & (1u << p)) && port->rare->paused_until_ps[p] < earliest_ps) {
            earliest_ps = port->rare->paused_until_ps[p];
            of_storm = (port->rare->stormed & 1u << p) != 0;
        }
    }
    if (earliest_ps == SIM_TIME_NEVER) {
        if (port->rare->port != NULL) {
            sim_timer_cancel(node, timer);
        }
        return;
    }
    if (port->rare->port == NULL) {
        port->rare->port = port;
        sim_timer_init_upkeep(timer, pause_fired);
    }
    const sim_timer_kind_t kind = of_storm ? SIM_TIMER_BACKGROUND : SIM_TIMER_UPKEEP;
    if (SIM_UNLIKELY(timer->kind != kind)) {
        sim_timer_cancel(node, timer);
        timer->kind = (uint8_t)kind;
    }
    sim_timer_arm(node, timer, earliest_ps);
}

void net__pause_expired(net_port_t *port)
{
    const sim_node_t *const node = &port->node->sim;
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        if ((port->rare->stopped & (1u << p)) && port->rare->paused_until_ps[p] <= node->now_ps) {
            net__port_release(port, p);
        }
    }
    arm_pause_timer(port);
    net_port_wake(port);
}

static void pause_fired(sim_node_t *node, sim_timer_t *timer)
{
    if (timer->kind == SIM_TIMER_UPKEEP) {
        sim_upkeep(node); // background timers are no events
    }
    net__pause_expired(SIM_CONTAINER_OF(timer, net_port_rare_t, pause_timer)->port);
}

static uint8_t pause_received(net_port_t *port, const net_packet_t *packet)
{
    const net_pfc_t *const pfc = &packet->pfc;
    const sim_time_t now_ps = port->node->sim.now_ps;
    uint8_t released = 0;
    port->counted = 1;
    sim_upkeep(&port->node->sim);
    port->rare->stormed =
        (uint8_t)((port->rare->stormed & ~pfc->classes) | (pfc->storming & pfc->classes));
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        const uint8_t bit = (uint8_t)(1u << p);
        if (!(pfc->classes & bit)) {
            continue;
        }
        if (pfc->quanta[p] == 0) {
            port->rare->pauses[p].rx_resume++;
            if (port->rare->stopped & bit) {
                net__port_release(port, p);
                released |= bit;
            }
            continue;
        }
        port->rare->pauses[p].rx_pause++;
        if (port->rare->ignores_pauses & bit) {
            continue;
        }
        net__port_hold(port, p,
                       port->node->net->link_rules.pauses_last
                           ? SIM_TIME_NEVER
                           : now_ps + net_port_quanta_ps(port, pfc->quanta[p]));
    }
    arm_pause_timer(port);
    net_port_trace(port, NET_TRACE_PFC, packet, 0);
    return released;
}

uint8_t net_port_control_received(net_port_t *port, const net_packet_t *packet)
{
    return packet->control == NET_CONTROL_PFC ? pause_received(port, packet)
                                              : net__layer_received(port, packet);
}

void net_port_ignore_pauses(net_port_t *port, uint8_t classes, bool ignore)
{
    if (!ignore) {
        port->rare->ignores_pauses &= (uint8_t)~classes;
        return;
    }
    port->rare->ignores_pauses |= classes;
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        if (classes & port->rare->stopped & (1u << p)) {
            net__port_release(port, p);
        }
    }
    arm_pause_timer(port);
    if (port->waiting & classes) {
        net_port_wake(port);
    }
}

sim_time_t net_port_paused_ps(const net_port_t *port, uint32_t priority, sim_time_t now_ps)
{
    const net_pause_counters_t *const pauses = &port->rare->pauses[priority];
    const bool open =
        (port->rare->stopped & (1u << priority)) != 0 && now_ps > pauses->paused_since_ps;
    return pauses->paused_ps + (open ? now_ps - pauses->paused_since_ps : 0);
}

static net_packet_t *new_control(net_port_t *port)
{
    const uint32_t bytes = port->node->net->framing->pause_bytes;
    net_packet_t *const packet = net_packet_new(port->node, bytes);
    *packet = (net_packet_t){
        .frame_bytes = (uint16_t)bytes,
        .kind = NET_PACKET_CONTROL,
        .priority = NET_PRIORITIES - 1,
    };
    return packet;
}

// Takes back a PFC frame that no longer says anything, as if it had never been made.
static void retract_control(net_port_t *port)
{
    net_node_t *const node = port->node;
    net_packet_t *const packet = port->rare->control;
    net_port_set_control(port, NULL);
    node->tally.created--;
    node->tally.bytes_created -= packet->frame_bytes;
    sim_pool_put(node->packets, &node->sim, packet);
}

// Writes one class's quanta into the PFC frame that waits, replacing an earlier value. A resume is
// left out if the peer does not know of the pause.
static void say(net_port_t *port, uint32_t priority, uint16_t quanta)
{
    net_pfc_t *const pfc = &port->rare->control->pfc;
    net_pause_counters_t *const pauses = &port->rare->pauses[priority];
    const uint8_t bit = (uint8_t)(1u << priority);
    port->counted = 1;
    if (pfc->classes & bit) {
        *(pfc->quanta[priority] != 0 ? &pauses->tx_pause : &pauses->tx_resume) -= 1;
    }
    pfc->classes &= (uint8_t)~bit;
    pfc->storming &= (uint8_t)~bit;
    pfc->quanta[priority] = 0;
    port->rare->told_stop &= (uint8_t)~bit;
    if (quanta != 0 || (port->rare->knows_stop & bit) != 0) {
        pfc->classes |= bit;
        pfc->quanta[priority] = quanta;
        pfc->storming |= quanta != 0 ? port->rare->storms & bit : 0;
        port->rare->told_stop |= quanta != 0 ? bit : 0;
        *(quanta != 0 ? &pauses->tx_pause : &pauses->tx_resume) += 1;
    }
    net_port_trace(port, quanta != 0 ? NET_TRACE_XOFF : NET_TRACE_XON, NULL, priority);
}

void net_port_pause_send(net_port_t *port, uint8_t classes, uint16_t quanta)
{
    if (port->layered) {
        classes &= (uint8_t)~net__credits_withhold(port, classes, quanta != 0);
    }
    if (classes == 0 || port->line->config->flow_control == NET_FLOW_CONTROL_NONE) {
        return;
    }
    if (!port->controlled || port->rare->control == NULL) {
        net_port_set_control(port, new_control(port));
        port->rare->knows_stop = port->rare->told_stop; // state after all earlier frames
    }
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        if (classes & (1u << p)) {
            say(port, p, quanta);
        }
    }
    if (port->rare->control->pfc.classes == 0) {
        retract_control(port);
        return;
    }
    if (net_port_idle(port)) {
        net_packet_t *const packet = port->rare->control;
        net_port_set_control(port, NULL);
        net_port_transmit(port, packet);
        if (port->waiting & ~port->paused) {
            net_port_wake(port);
        }
    } else {
        net_port_wake(port);
    }
}

void net_port_pause_queue(net_port_t *port, uint32_t priority, uint16_t quanta)
{
    net_packet_t *const packet = new_control(port);
    net_pause_counters_t *const pauses = &port->rare->pauses[priority];
    packet->pfc.classes = (uint8_t)(1u << priority);
    packet->pfc.quanta[priority] = quanta;
    *(quanta != 0 ? &pauses->tx_pause : &pauses->tx_resume) += 1;
    port->counted = 1;
    net_port_trace(port, quanta != 0 ? NET_TRACE_XOFF : NET_TRACE_XON, NULL, priority);
    net_packet_t **link = &port->rare->control;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = packet;
    port->controlled = true;
}
