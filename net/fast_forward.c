// SPDX-License-Identifier: Apache-2.0
// net/fast_forward.c - how a span of time that is repeated changes nodes, switches and ports.
#include "net/fast_forward.h"

#include <string.h>

#include "kernel/fast_forward_period.h"
#include "net/carry.h"
#include "net/link/port_setup.h"
#include "net/marking.h"
#include "net/network_internal.h"
#include "net/port_metrics.h"

// clang-format off
static const sim_field_t red_rows[] = {
    SIM_FIELD(net_red_t, kmin_bytes, FIXED), SIM_FIELD(net_red_t, kmax_bytes, FIXED),
    SIM_FIELD(net_red_t, slope, FIXED), SIM_FIELD(net_red_t, random.key, FIXED),
    SIM_FIELD(net_red_t, random.counter, BREAK), // draws, which never repeat in a period
    SIM_FIELD(net_red_t, pmax, FIXED), SIM_FIELD(net_red_t, by_packet, FIXED),
    SIM_FIELD(net_red_t, pad, FIXED), SIM_FIELD_REST(net_red_t, pad),
};
static const sim_fields_t red_table = SIM_FIELDS("marking of a port", sizeof(net_red_t), red_rows);

// The part of a switch that events change: what it stores. At rest it stores nothing.
#define SWITCH(member_) SIM_FIELD(net_switch_t, member_, FIXED)
static const sim_field_t switch_rows[] = {
    SWITCH(shared_bytes), SWITCH(shared_limit), SWITCH(headroom_free), SWITCH(held_bytes),
    SWITCH(calm_shared_bytes), SWITCH(calm_above_bytes), SWITCH(reserved_bytes), SWITCH(late), SWITCH(late_ports),
    SWITCH(stopped_count), SWITCH(pfc_alpha), SWITCH(lossy_alpha), SWITCH(ingress), SWITCH(red),
    SWITCH(buffer), SWITCH(marking), SWITCH(balance), SWITCH(leaf), SWITCH(ecmp_seed),
    SWITCH(marking_state), SWITCH(balance_state), SWITCH(parked_bytes), SWITCH(header_bytes),
    SIM_FIELD_BITS(net_switch_t, header_bytes, watchdog), SWITCH(watchdog),
};
// clang-format on
static const sim_fields_t switch_table = {
    .name = "buffer of a switch",
    .from = offsetof(net_switch_t, shared_bytes),
    .bytes = offsetof(net_switch_t, config) - offsetof(net_switch_t, shared_bytes),
    .rows = switch_rows,
    .row_count = SIM_COUNT_OF(switch_rows),
    .row_bytes = sizeof(sim_field_t),
};

// Points of trace at which FIXED fields change: a span in which one occurs is not repeated.
// Listeners to others hear of every packet.
#define RARE_POINTS                                                                             \
    (NET_TRACE_DROP | NET_TRACE_PAUSED | NET_TRACE_RESUMED | NET_TRACE_LINK | NET_TRACE_FAULT | \
     NET_TRACE_WATCHDOG | NET_TRACE_XOFF | NET_TRACE_XON | NET_TRACE_PFC)

static const char *refuse_port(const net_port_t *port)
{
    return port->loses                                   ? "loss-model"
           : port->layered                               ? "link-layer"
           : (port->trace_points & ~RARE_POINTS) != 0    ? "observers"
           : port->down || port->disturbed               ? "faults"
           : net__port_next_down(port) != SIM_TIME_NEVER ? "faults"
           : port->line->timing != NULL                  ? "timing"
           : port->metered && port->meter->pint != NULL  ? "pint"
                                                         : NULL;
}

// Adds a struct of a port. used_only: not if all of its bytes are 0. Two lists of the same structs
// then say that it was 0 at both times.
static void list_part(sim_state_t *state, net_port_part_t part, void *at, bool used_only)
{
    const sim_fields_t *const table = &net__port_tables[part];
    const char *const bytes = at;
    if (!used_only || bytes[0] != 0 || memcmp(bytes, bytes + 1, table->bytes - 1) != 0) {
        sim_state_add(state, table, at);
    }
}

static void list_port(net_port_t *port, sim_state_t *state, bool used_only)
{
    const char *const refused = refuse_port(port);
    state->refused = refused != NULL ? refused : state->refused;
    sim_state_add(state, &net__port_tables[NET_PORT_ITSELF], port);
    list_part(state, NET_PORT_RARE, port->rare, used_only);
    if (port->metered) {
        sim_state_add(state, &net__port_tables[NET_PORT_METER], port->meter);
    }
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        list_part(state, NET_PORT_SENT, port->classes[p], used_only);
        list_part(state, NET_PORT_RECEIVED, port->received[p], used_only);
    }
}

static void list_switch(net_switch_t *sw, sim_state_t *state)
{
    if (strcmp(sw->balance->name, "ecmp") != 0) {
        state->refused = "load-balancer";
    } else if (strcmp(sw->buffer->name, "standard") != 0 || !net_switch_marks_red(sw)) {
        state->refused = "switch";
    } else if (sw->watchdog != NULL) {
        state->refused = "watchdog";
    }
    sim_state_add(state, &switch_table, &sw->shared_bytes);
    for (uint32_t p = 0; sw->red != NULL && p < sw->node.port_count; p++) {
        sim_state_add(state, &red_table, &sw->red[p]);
    }
}

bool net_has_room(const net_node_t *node)
{
    if (node->kind != NET_NODE_SWITCH) {
        return node->kind == NET_NODE_HOST;
    }
    const net_switch_t *const sw = (const net_switch_t *)(const void *)node;
    uint64_t most_bytes = 0; // of all queues together, at most
    for (uint32_t p = 0; p < node->port_count; p++) {
        most_bytes += net_port_queue_bytes_max(&node->ports[p]);
    }
    return most_bytes <= sw->calm_shared_bytes && most_bytes <= sw->calm_above_bytes;
}

void net_state_list_port(net_port_t *port, sim_state_t *state)
{
    list_port(port, state, false);
}

void net_state_list_rare(net_port_t *port, sim_state_t *state)
{
    list_part(state, NET_PORT_RARE, port->rare, false);
}

bool net_same_switches(const net_node_t *a, const net_node_t *b)
{
    const net_switch_t *const left = (const net_switch_t *)(const void *)a;
    const net_switch_t *const right = (const net_switch_t *)(const void *)b;
    return a->port_count == b->port_count && left->shared_limit == right->shared_limit &&
           left->calm_shared_bytes == right->calm_shared_bytes &&
           left->calm_above_bytes == right->calm_above_bytes &&
           // NOLINTNEXTLINE: bytes of padding that differ only make switches differ
           memcmp(&left->config, &right->config, sizeof(left->config)) == 0;
}

void net_state_list_switch(net_node_t *node, sim_state_t *state)
{
    sim_state_add(state, &net__tally_fields, &node->tally);
    for (uint32_t p = 0; p < node->port_count; p++) {
        list_port(&node->ports[p], state, false);
    }
}

void net_state_list(const net_t *net, sim_state_t *state, bool used_only, bool ties_noted)
{
    if (net->change_count != 0 || net->fault_count != 0 || net->fault_timer_count != 0) {
        state->refused = "faults";
    }
    if (net->dice.roll != NULL || net->routes_ops == NULL ||
        net->config.model != NET_MODEL_PACKET) {
        state->refused = "network";
    }
    for (size_t i = 0; i < net->node_count; i++) {
        net_node_t *const node = net->nodes[i];
        if (node->follows) {
            continue;
        }
        sim_state_add(state, &net__tally_fields, &node->tally);
        sim_state_add_ties(state, &node->sim, ties_noted);
        for (uint32_t p = 0; p < node->port_count; p++) {
            if (!node->ports[p].peer->node->follows) {
                list_port(&node->ports[p], state, used_only);
            }
        }
        if (node->kind == NET_NODE_SWITCH) {
            list_switch((net_switch_t *)(void *)node, state);
        } else if (node->kind == NET_NODE_FORWARDER) {
            state->refused = "node";
        }
    }
}

uint64_t net_frames_sent(const net_t *net)
{
    uint64_t hops = 0;
    for (size_t i = 0; i < net->node_count; i++) {
        const net_node_t *const node = net->nodes[i];
        for (uint32_t p = 0; p < node->port_count; p++) {
            for (uint32_t class = 0; class < NET_PRIORITIES; class ++) {
                hops += node->ports[p].classes[class]->tx_packets;
            }
        }
    }
    return hops;
}
