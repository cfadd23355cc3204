// SPDX-License-Identifier: Apache-2.0
// net/port_class.h - the state of one class of a port: queue, received frames, pauses.
#ifndef NET_PORT_CLASS_H
#define NET_PORT_CLASS_H

#include "net/node.h"

SIM_C_BEGIN

// The per-class state of ports lies in arrays apart from the ports. One page of such an array holds
// the same class of NET_CLASS_PORTS (NET_RECEIVED_PORTS) ports. Pages of classes that nobody uses
// are never touched and take no memory. port->classes[p] points to the port's own entry.

// A queued packet with the fields that its departure needs. The packet's own cache line is likely
// evicted by then, and only the next node needs it.
typedef struct net_queued {
    net_packet_t *packet;
    uint32_t frame_bytes;  // at enqueue: telemetry makes the frame longer at its departure
    uint16_t ingress_port; // of a switch
    uint8_t marks;         // as they were at enqueue: marking need not read the packet
} net_queued_t;

// One class of a sending port: its queue and its counters on one cache line. The queue is a ring
// that grows. A queue that runs empty restarts at the ring's begin, so a short queue stays on one
// line.
typedef struct net_class {
    alignas(SIM_CACHE_LINE) net_queued_t *ring;
    uint32_t head;      // byte offset in the ring of the next packet to leave
    uint32_t tail;      // byte offset at which the next packet joins
    uint32_t stop;      // byte offset at which tail must turn around or grow: the end, or the head
    uint32_t end;       // bytes of the ring; 0: not allocated yet
    uint64_t bytes;     // frame bytes that wait
    uint64_t bytes_max; // largest value of `bytes` so far
    uint64_t tx_packets;
    uint64_t tx_bytes; // frame bytes, without FCS
} net_class_t;

static_assert(sizeof(net_class_t) == SIM_CACHE_LINE, "a class is one cache line");
#define NET_CLASS_PORTS (SIM_PAGE_BYTES / SIM_CACHE_LINE)

// One class of a receiving port: frames received so far, and the bytes of them that the node still
// stores. Nodes without a buffer of their own leave the latter zero.
typedef struct net_received {
    uint64_t packets;
    uint64_t bytes;
    uint64_t stored_bytes; // in the reserved and the shared buffer
    union {
        struct {
            uint64_t headroom_bytes : 63;
            uint64_t stopped : 1; // the peer must not send
        };
        uint64_t crowded; // not 0: headroom is in use, or the peer is stopped
    };
} net_received_t;
#define NET_HEADROOM_MASK (UINT64_MAX >> 1) // largest value of headroom_bytes
#define NET_RECEIVED_PORTS (2 * NET_CLASS_PORTS)
static_assert(sizeof(net_received_t) * NET_RECEIVED_PORTS == SIM_PAGE_BYTES, "a page");

typedef struct net_pause_counters {
    uint64_t tx_pause; // XOFF frames sent for this class
    uint64_t tx_resume;
    uint64_t rx_pause;
    uint64_t rx_resume;
    uint64_t pauses;            // times that the peer stopped the class
    sim_time_t paused_ps;       // total of the pauses that have ended
    sim_time_t paused_since_ps; // start of the current pause
} net_pause_counters_t;

// Counters of a port's link layer (docs/models/link-layer.md).
typedef struct net_layer_counters {
    uint64_t cf_tx; // CF_Updates
    uint64_t cf_rx;
    uint64_t cc_tx; // CC_Updates
    uint64_t cc_rx;
    uint64_t credits_used_max;  // of all classes of the port, at one time
    uint64_t credits_recovered; // of frames that were lost on their way here
    uint64_t sets_lost;         // control ordered sets that the link lost
    uint64_t llr_damaged;       // frames that were damaged, and that the link repeated
    uint64_t llr_replays;
    uint64_t llr_acks; // sent
    uint64_t llr_nacks;
} net_layer_counters_t;

// Counters of a switch's PFC watchdog for one class of a port.
typedef struct net_watchdog_counters {
    uint64_t detected; // storms that began
    uint64_t restored; // storms that ended
    uint64_t dropped;  // packets
} net_watchdog_counters_t;

SIM_C_END

#endif // NET_PORT_CLASS_H
