// SPDX-License-Identifier: Apache-2.0
// net/link/listeners.c - who hears of what happens at ports.
//
// Observers listen at all ports of a network, which are millions in a large one. Ports with the
// same listeners share one list of them.
#include "net/link/listeners.h"
#include "net/link/layer.h"
#include "net/log.h"
#include "net/network_internal.h"

#include <string.h>

typedef struct net_listener {
    uint32_t points;
    net_trace_fn fn;
    void *ctx;
} net_listener_t;

// In the order of the calls. A list that has several users stays as it is.
struct net_listeners {
    uint32_t users;
    uint32_t count;
    uint32_t arrivals;      // those that hear of NET_TRACE_RX
    uint32_t last_arrivals; // index of the last of them
    net_listener_t items[];
};

static net_listeners_t **listeners_of(const net_port_t *port)
{
    return &port->node->net->listeners[port->uid];
}

static net_listeners_t *use(net_listeners_t *list)
{
    if (list != NULL) {
        list->users++;
    }
    return list;
}

static void leave(net_listeners_t *list)
{
    if (list != NULL && --list->users == 0) {
        sim_free(list);
    }
}

static net_listeners_t *longer(const net_listeners_t *list, net_listener_t last)
{
    const uint32_t count = list == NULL ? 0 : list->count;
    net_listeners_t *const made = sim_alloc(sizeof(*made) + (count + 1) * sizeof(made->items[0]));
    made->arrivals = list == NULL ? 0 : list->arrivals;
    made->last_arrivals = list == NULL ? 0 : list->last_arrivals;
    for (uint32_t i = 0; i < count; i++) {
        made->items[i] = list->items[i];
    }
    made->items[count] = last;
    made->count = count + 1;
    if ((last.points & NET_TRACE_RX) != 0) {
        made->arrivals++;
        made->last_arrivals = count;
    }
    return made;
}

// Returns the list with one more listener: the one that another port got a moment ago, if any.
static net_listeners_t *with(net_t *net, net_listeners_t *list, net_listener_t last)
{
    for (size_t i = 0; i < SIM_COUNT_OF(net->grown_listeners); i++) {
        const net_grown_listeners_t *const grown = &net->grown_listeners[i];
        if (grown->to == NULL || grown->from != list) {
            continue;
        }
        const net_listener_t *const theirs = &grown->to->items[grown->to->count - 1];
        if (theirs->points == last.points && theirs->fn == last.fn && theirs->ctx == last.ctx) {
            return grown->to;
        }
    }
    net_grown_listeners_t *const oldest =
        &net->grown_listeners[net->grown_count++ % SIM_COUNT_OF(net->grown_listeners)];
    leave(oldest->from);
    leave(oldest->to);
    *oldest = (net_grown_listeners_t){use(list), use(longer(list, last))};
    return oldest->to;
}

static void listen(net_port_t *port, uint32_t points, net_trace_fn fn, void *ctx)
{
    net_listeners_t **const list = listeners_of(port);
    net_listeners_t *const before = *list;
    *list = use(with(port->node->net, before, (net_listener_t){points, fn, ctx}));
    leave(before);
    port->trace_points |= (uint16_t)points;
    net__port_update_special(port);
}

void net_port_listen(net_port_t *port, uint32_t points, net_trace_fn fn, void *ctx)
{
    const uint32_t every_event =
        NET_TRACE_TX | NET_TRACE_RX | NET_TRACE_ENQUEUE | NET_TRACE_MARK | NET_TRACE_RELEASE;
    port->prompt |= (points & every_event) != 0;
    listen(port, points, fn, ctx);
}

void net_port_listen_late(net_port_t *port, uint32_t points, net_trace_fn fn, void *ctx)
{
    SIM_CHECK((points & (NET_TRACE_TX | NET_TRACE_RX)) == 0);
    listen(port, points, fn, ctx);
}

// Informs the link's layer and the log of an arrival. Returns whether listeners hear of it.
static SIM_NOINLINE bool arrives(const net_port_t *port, const net_packet_t *packet)
{
    if (port->layered) {
        if (packet->kind == NET_PACKET_CONTROL && packet->control > NET_CONTROL_CC_UPDATE) {
            return false; // no frame that a host or a switch sees
        }
        net__layer_arrived(port, packet);
    }
    if (port->node->log != NULL) {
        port->node->log->received(port->node->log, port, packet);
        return port->prompt;
    }
    return true;
}

void net__port_trace(const net_port_t *port, net_trace_point_t point, const net_packet_t *packet,
                     uint32_t detail)
{
    if (point == NET_TRACE_RX && SIM_UNLIKELY(port->layered || port->node->log != NULL) &&
        !arrives(port, packet)) {
        return;
    }
    const net_trace_t trace = {point, port->node->sim.now_ps, port, packet, detail};
    const net_listeners_t *const list = *listeners_of(port);
    if (point == NET_TRACE_RX && list != NULL && list->arrivals == 1) {
        const net_listener_t *const only = &list->items[list->last_arrivals];
        only->fn(&trace, only->ctx);
        return;
    }
    for (uint32_t i = 0; list != NULL && i < list->count; i++) {
        if (list->items[i].points & point) {
            list->items[i].fn(&trace, list->items[i].ctx);
        }
    }
}

void net__listeners_leave(const net_port_t *port)
{
    if (port->trace_points != 0) {
        leave(*listeners_of(port));
    }
}

void net__listeners_free(net_t *net)
{
    for (size_t i = 0; i < SIM_COUNT_OF(net->grown_listeners); i++) {
        leave(net->grown_listeners[i].from);
        leave(net->grown_listeners[i].to);
    }
    sim_free_sparse(net->listeners, sizeof(net_listeners_t *) * (net->port_count + 1));
}
