// SPDX-License-Identifier: Apache-2.0
// net/fast_forward.c - how a span of time that is repeated changes nodes, switches and ports.
#include "net/fast_forward.h"

#include <string.h>

#include "net/network_internal.h"
#include "net/switch_model.h"

// clang-format off
#define TALLY(member_) SIM_FIELD(net_tally_t, member_, COUNT)
static const sim_field_t tally_fields[] = {
    TALLY(created), TALLY(delivered), TALLY(bytes_created), TALLY(bytes_delivered),
    TALLY(dropped), TALLY(bytes_dropped),
};
static const sim_fields_t tally_type =
    SIM_FIELDS("packets of a node", sizeof(net_tally_t), tally_fields);

#define PORT(member_, kind_) SIM_FIELD(net_port_t, member_, kind_)
static const sim_field_t port_fields[] = {
    PORT(busy_until_ps, UNTIL),
    PORT(turn, STATE),
    {offsetof(net_port_t, meter) + sizeof(net_meter_t *), sizeof(uint64_t),
     SIM_REPEAT_MOST_AND_FLAG}, // several_bytes_max and counted
    PORT(remainder, LAST), // of a busy period
};
static const sim_fields_t port_type =
    SIM_FIELDS("port", sizeof(net_port_t), port_fields);

#define CLASS(member_, kind_) SIM_FIELD(net_class_t, member_, kind_)
static const sim_field_t class_fields[] = {
    CLASS(ring, IGNORE), CLASS(head, IGNORE), CLASS(tail, IGNORE), CLASS(stop, IGNORE),
    CLASS(end, IGNORE), CLASS(bytes_max, MOST), CLASS(tx_packets, COUNT), CLASS(tx_bytes, COUNT),
};
static const sim_fields_t class_type =
    SIM_FIELDS("queue of a port", sizeof(net_class_t), class_fields);

static const sim_field_t received_fields[] = {
    SIM_FIELD(net_received_t, packets, COUNT),
    SIM_FIELD(net_received_t, bytes, COUNT),
};
static const sim_fields_t received_type =
    SIM_FIELDS("received class of a port", sizeof(net_received_t), received_fields);

#define RARE(member_, kind_) SIM_FIELD(net_port_rare_t, member_, kind_)
#define EACH(array_, kind_)                                                \
    RARE(array_[0], kind_), RARE(array_[1], kind_), RARE(array_[2], kind_), \
    RARE(array_[3], kind_), RARE(array_[4], kind_), RARE(array_[5], kind_), \
    RARE(array_[6], kind_), RARE(array_[7], kind_)
static_assert(NET_PRIORITIES == 8, "a row for each");
// Pauses have no rows: a span with pauses is not repeated.
static const sim_field_t rare_fields[] = {
    EACH(ecn_marked, COUNT), EACH(ecn_marked_again, COUNT), EACH(deficit_bytes, STATE),
    RARE(int_phase_ps, UNTIL), RARE(draw, NUMBER), RARE(draw_ps, UNTIL),
};
static const sim_fields_t rare_type =
    SIM_FIELDS("pauses or drops at a port", sizeof(net_port_rare_t), rare_fields);

static const sim_field_t meter_fields[] = {
    SIM_FIELD(net_meter_t, tx_bytes, COUNT),
};
static const sim_fields_t meter_type =
    SIM_FIELDS("INT of a port", sizeof(net_meter_t), meter_fields);

static const sim_field_t red_fields[] = {
    SIM_FIELD(net_red_t, random.counter, BREAK), // draws, which never repeat in a period
};
static const sim_fields_t red_type =
    SIM_FIELDS("marking of a port", sizeof(net_red_t), red_fields);
// clang-format on

// The part of a node that its ties change.
#define TIES_AT offsetof(sim_node_t, ties)
static const sim_field_t ties_fields[] = {
    {0, sizeof(uint64_t), SIM_REPEAT_LAST},
    {offsetof(sim_node_t, tied_ps) - TIES_AT, sizeof(sim_time_t), SIM_REPEAT_UNTIL},
};
static const sim_fields_t ties_type = SIM_FIELDS(
    "ties of a node", offsetof(sim_node_t, tied_ps) + sizeof(sim_time_t) - TIES_AT, ties_fields);

// The part of a switch that events change: what it stores. At rest it stores nothing.
#define STORE_AT offsetof(net_switch_t, shared_bytes)
static const sim_fields_t store_type = {"buffer of a switch",
                                        offsetof(net_switch_t, config) - STORE_AT, NULL, 0};

// Points of trace that have no rows above: a span in which one occurs is not repeated. Listeners to
// others get every packet.
#define RARE_POINTS                                                                             \
    (NET_TRACE_DROP | NET_TRACE_PAUSED | NET_TRACE_RESUMED | NET_TRACE_LINK | NET_TRACE_FAULT | \
     NET_TRACE_WATCHDOG | NET_TRACE_XOFF | NET_TRACE_XON | NET_TRACE_PFC)

static const char *refuse_port(const net_port_t *port)
{
    return port->loses                                   ? "loss-model"
           : (port->trace_points & ~RARE_POINTS) != 0    ? "observers"
           : port->down || port->disturbed               ? "faults"
           : net__port_next_down(port) != SIM_TIME_NEVER ? "faults"
           : port->line->timing != NULL                  ? "timing"
           : port->metered && port->meter->pint != NULL  ? "pint"
                                                         : NULL;
}

static void list_port(net_port_t *port, sim_state_t *list)
{
    const char *const refused = refuse_port(port);
    list->refused = refused != NULL ? refused : list->refused;
    sim_state_add(list, &port_type, port);
    sim_state_add(list, &rare_type, port->rare);
    if (port->metered) {
        sim_state_add(list, &meter_type, port->meter);
    }
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        sim_state_add(list, &class_type, port->classes[p]);
        sim_state_add(list, &received_type, port->received[p]);
    }
}

static void list_switch(net_switch_t *sw, sim_state_t *list)
{
    if (strcmp(sw->balance->name, "ecmp") != 0) {
        list->refused = "load-balancer";
    } else if (strcmp(sw->buffer->name, "standard") != 0 || !net_switch_marks_red(sw)) {
        list->refused = "switch";
    } else if (sw->watchdog != NULL) {
        list->refused = "watchdog";
    }
    sim_state_add(list, &store_type, &sw->shared_bytes);
    for (uint32_t p = 0; sw->red != NULL && p < sw->node.port_count; p++) {
        sim_state_add(list, &red_type, &sw->red[p]);
    }
}

void net_state_list(const net_t *net, sim_state_t *list)
{
    if (net->change_count != 0 || net->fault_count != 0 || net->fault_timer_count != 0) {
        list->refused = "faults";
    }
    if (net->dice.roll != NULL || net->routes_ops == NULL ||
        net->config.model != NET_MODEL_PACKET) {
        list->refused = "network";
    }
    for (size_t i = 0; i < net->node_count; i++) {
        net_node_t *const node = net->nodes[i];
        sim_state_add(list, &tally_type, &node->tally);
        sim_state_add(list, &ties_type, &node->sim.ties);
        for (uint32_t p = 0; p < node->port_count; p++) {
            list_port(&node->ports[p], list);
        }
        if (node->kind == NET_NODE_SWITCH) {
            list_switch((net_switch_t *)(void *)node, list);
        } else if (node->kind == NET_NODE_FORWARDER) {
            list->refused = "node";
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
