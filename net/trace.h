// SPDX-License-Identifier: Apache-2.0
// net/trace.h - moments at which a port calls its listeners.
#ifndef NET_TRACE_H
#define NET_TRACE_H

#include "net/node.h"

SIM_C_BEGIN

// Moments at which a port calls its listeners.
typedef enum net_trace_point {
    NET_TRACE_TX = 1 << 0,      // first bit leaves the port
    NET_TRACE_RX = 1 << 1,      // last bit arrived at the port
    NET_TRACE_ENQUEUE = 1 << 2, // packet had to wait in the port's queue
    NET_TRACE_DROP = 1 << 3,    // packet dropped; detail: net_drop_reason_t
    NET_TRACE_MARK = 1 << 4,    // packet marked CE at its departure; detail: 1: it had CE already
    NET_TRACE_PAUSED = 1 << 5,  // the peer stopped a class of this port; detail: priority
    NET_TRACE_RESUMED = 1 << 6, // the peer released it, or its time ran out; detail: priority
    NET_TRACE_XOFF = 1 << 7,    // this port's node stops a class of the peer; detail: priority
    NET_TRACE_XON = 1 << 8,     // this port's node releases that class; detail: priority
    NET_TRACE_LINK = 1 << 9,    // the link changed; detail: 1 up, 0 down
    NET_TRACE_PFC = 1 << 10,    // a PFC frame from the peer took effect
    // At the egress port of a switch: the buffer of a sent packet was freed, and the pause of the
    // peer that it came from ended if that was due.
    NET_TRACE_RELEASE = 1 << 11,
    NET_TRACE_FAULT = 1 << 12,    // detail: net_fault_kind_t (net/faults.h); bit 8: the fault ends
    NET_TRACE_WATCHDOG = 1 << 13, // the PFC watchdog overrides a pause; detail: priority; bit 8:
                                  // it stops doing so
    NET_TRACE_TRIM = 1 << 14, // a switch cut the packet to its headers; detail: 1: before the host
} net_trace_point_t;

typedef enum net_drop_reason {
    NET_DROP_EGRESS_FULL,   // lossy class over its dynamic threshold
    NET_DROP_BUFFER_FULL,   // no shared buffer left
    NET_DROP_HEADROOM_FULL, // lossless class, at the ingress port: net_port_t.lossless_guaranteed
    NET_DROP_NO_ROUTE,
    NET_DROP_TTL,
    NET_DROP_LINK_LOSS, // loss rate or bit errors
    NET_DROP_LINK_DOWN,
    NET_DROP_HOST, // no such QP or interface at the receiving host (nic_counters_t.late_answers)
    NET_DROP_WATCHDOG, // packet of a queue that the PFC watchdog empties
    NET_DROP_REASON_COUNT,
} net_drop_reason_t;
const char *net_drop_reason_name(net_drop_reason_t reason);

typedef struct net_trace {
    net_trace_point_t point;
    sim_time_t time_ps;
    const net_port_t *port;
    const net_packet_t *packet; // NULL where there is none
    uint32_t detail;
} net_trace_t;

// Called in the thread that runs the node. It may only read.
typedef void (*net_trace_fn)(const net_trace_t *trace, void *ctx);

// Registers fn for the trace points in the mask `points`. A port may have several listeners; they
// last until the net is destroyed. With ties by insertion, call it before the run only, like
// everything that observes packets (sim_need_one_list).
void net_port_listen(net_port_t *port, uint32_t points, net_trace_fn fn, void *ctx);
// Registers a listener that does not need events in their turn: it hears of departures of its node
// late (net/switch/late.c), with their own time. Points: drops, marks, pauses, changes; not TX, RX
// (net/log.h), ENQUEUE or RELEASE.
void net_port_listen_late(net_port_t *port, uint32_t points, net_trace_fn fn, void *ctx);

void net__port_trace(const net_port_t *port, net_trace_point_t point, const net_packet_t *packet,
                     uint32_t detail);

SIM_C_END

#endif // NET_TRACE_H
