// SPDX-License-Identifier: Apache-2.0
// net/port.h - one end of a link: the transmitter, its eight class queues, pause state, counters.
//
// A port belongs to one node. Sending a frame occupies the link for preamble (8 bytes), frame,
// FCS (4) and inter-frame gap (12). The peer has the packet once the last bit of the FCS arrived
// (store and forward), so the gap only delays the next frame. At a rate that is not a whole number
// of picoseconds per byte, the port carries the remainder through a busy period.
//
// An idle port sends at once and schedules only the arrival. It schedules a wake for the end of a
// frame only if a packet waits. At the instant at which a frame ends the port still counts as
// busy, so that all arrivals of that instant are queued before the next frame is chosen.
#ifndef NET_PORT_H
#define NET_PORT_H

#include "net/network.h"
#include "net/packets.h"
#include "net/port_class.h"
#include "net/trace.h"

#include <string.h>

SIM_C_BEGIN

// Bytes that a DWRR class of weight 1 may send in one turn: the largest frame of MTU 4096, with all
// telemetry. Jumbo frames take several turns.
#define NET_FRAME_BYTES_QUANTUM 4400u

// How a port is served when the frame on its link ends.
typedef enum net_wake {
    NET_WAKE_NONE,  // not at all
    NET_WAKE_EVENT, // by a wake event of its node
    NET_WAKE_LATE,  // its node replays the departure later (net/switch/late.c,
                    // nic/host/steps.h)
} net_wake_t;

// State of a switch port that writes telemetry into packets (net/telemetry.h).
typedef struct net_meter {
    uint64_t tx_bytes;    // bytes on the link so far, overhead included
    sim_time_t before_ps; // start of the previous frame
    double utilization;   // PINT's estimate U of this port
    double per_byte;      // 1 / the bytes that the link carries in PINT's T
    sim_random_t random;  // rounds digests
    const struct net_pint *pint;
    uint16_t multiplier;   // of INT's units
    uint16_t switch_id;    // NET_INT_PATH_BITS wide
    uint8_t rate_code;     // INT's code of the link's rate
    uint8_t reserved_hops; // INT records for which packets have room from the start
    uint16_t last_bytes;   // size of the previous frame; only for net_pint_ops_t that keep it
} net_meter_t;

static_assert(sizeof(net_meter_t) == SIM_CACHE_LINE, "a meter is one cache line");

// State that few ports need. It is all zeros and takes no memory until it is first written.
typedef struct net_port_rare {
    net_pause_counters_t pauses[NET_PRIORITIES];
    sim_time_t paused_until_ps[NET_PRIORITIES];
    sim_timer_t pause_timer;  // fires when a pause's time runs out
    net_port_t *port;         // owner of pause_timer; NULL: the timer was never used
    uint8_t told_stop;        // classes that the peer holds stopped once `control` is sent
    uint8_t knows_stop;       // classes that the peer holds stopped before `control` is sent
    uint8_t storms;           // classes in which this port sends a storm of pauses (net/faults.h)
    uint8_t stormed;          // classes whose pause in force is of the peer's storm
    uint8_t ignores_pauses;   // classes for which received pauses have no effect
    uint8_t discards_stopped; // classes whose waiting packets are dropped while they are stopped
    uint8_t stopped; // classes that the peer has stopped, by a pause or for want of credits
    net_layer_counters_t layer_counters;
    uint64_t ecn_marked[NET_PRIORITIES];       // packets that got CE here
    uint64_t ecn_marked_again[NET_PRIORITIES]; // packets that came with CE and would get it here
    net_watchdog_counters_t watchdog[NET_PRIORITIES];
    uint64_t trimmed[NET_PRIORITIES]; // packets that lost their payload here, by class before
    int64_t deficit_bytes[NET_PRIORITIES];
    uint64_t credit_waits;     // times that a virtual channel waited for credits
    sim_time_t credit_wait_ps; // total time of these waits
    uint64_t retries;          // damaged packets that the link sent again
    sim_time_t retry_ps;       // time that the link lost so
    uint64_t drops[NET_DROP_REASON_COUNT];
    uint64_t dropped_bytes;
    uint64_t degraded_bps; // rate during a `degraded` fault; 0: the link's own rate
    sim_random_t random;   // losses
    bool random_seeded;
    // with network.draws: packet (net/draws.h)
    sim_time_t int_phase_ps; // INT's clock at the port is behind by this much
    uint64_t draw;           // of a host's port: from which the numbers of its next packets follow
    sim_time_t draw_ps;      // when the host last sent, heard or posted something at this port

    // from here on, of this process: not carried between ranks
    struct net_tap *tap;     // notes what the port sends; NULL: nobody asks
    net_packet_t *control;   // list of PFC frames that are sent before all other packets
    struct net_loss *loss;   // net/loss/state.h; only if net_port_t.loses
    struct net_layer *layer; // net/link/layer.h; only if net_port_t.layered
    sim_time_t next_down_ps; // when the link next goes down; only if net_port_t.changes
    // Returns whether the frame that has just arrived is lost. Only some loops call it, with either
    // end of the link; only if net_port_t.loses_arrivals. Else the sender decides.
    bool (*is_lost_on_arrival)(const net_port_t *port);
    void *arrival_loss_ctx;
} net_port_rare_t;

// Facts about one direction of a link that do not change during a run. All ports that are alike
// share them.
typedef struct net_line {
    uint64_t rate_bps;
    sim_time_t delay_ps;
    sim_time_t gap_ps;          // time of NET_GAP_BYTES, rounded down
    uint32_t exact_ps_per_byte; // of the rate, whatever the timing; 0: not a whole number
    uint32_t overhead_bytes;    // added to each frame; NET_LINK_OVERHEAD_BYTES as a rule
    // If a timing is set, net_port_t.ps_per_byte is 0 (net/models.h) unless the timing cuts to
    // whole ns.
    const struct net_timing_ops *timing;    // NULL: exact
    const net_link_config_t *config;        // the link's; net_port_own_config
    uint32_t quantum_bytes[NET_PRIORITIES]; // DWRR quanta by class
    struct net_line *next;                  // another one of the same config
} net_line_t;

// The function that sends on a port (net__port_transmit_special).
typedef enum net_special {
    NET_SPECIAL_NOT,         // the inlined net__port_send
    NET_SPECIAL_RATE,        // inexact rate; otherwise usual
    NET_SPECIAL_METERED,     // exact rate, telemetry; otherwise usual
    NET_SPECIAL_CUT,         // timing cuts to whole ns; ties by insertion
    NET_SPECIAL_CUT_INT,     // like NET_SPECIAL_CUT, with INT as its only telemetry
    NET_SPECIAL_CUT_METERED, // like NET_SPECIAL_CUT, with other telemetry
    NET_SPECIAL_CUT_BY_HASH, // timing cuts to whole ns; ties by hash; with or without telemetry
    NET_SPECIAL_LOGGED,      // like NOT, and the node notes the frame (net/log.h)
    NET_SPECIAL_LOGGED_ODD,  // like RATE, and the node notes the frame
    NET_SPECIAL_OTHERWISE,   // the general way: lossy, down, metered or listened to
} net_special_t;

struct net_port {
    // Sending on an idle port reads this first cache line and the class, and nothing else.
    alignas(SIM_CACHE_LINE) sim_channel_t *channel;
    sim_time_t busy_until_ps;
    sim_time_t delay_less_gap_ps; // delay of the link minus gap_ps; may wrap below zero
    net_node_t *node;
    net_class_t (*classes)[NET_CLASS_PORTS];        // by class
    net_received_t (*received)[NET_RECEIVED_PORTS]; // by class
    uint32_t ps_per_byte;  // 0: not a whole number, or the timing needs more than a product
    uint16_t index;        // in the node
    uint16_t trace_points; // union over listeners
    // The first three are zero at most ports and are tested as one word: net__port_is_usual.
    uint8_t paused;         // classes from which nothing may be sent now
    uint8_t special;        // net_special_t
    bool controlled;        // something is to be sent before all classes: net_port_take_control
    uint8_t overhead_bytes; // the line's, where ps_per_byte is not 0
    uint8_t waiting;        // classes with packets in their queue
    uint8_t wake_pending;   // net_wake_t
    bool down : 1;
    bool lossless_guaranteed : 1; // packets of a lossless class can never be dropped on arrival
    bool metered : 1;             // writes telemetry: meter is in use
    bool odd_class : 1;           // of a host that also sends in classes other than its DSCPs'
    bool down_first : 1;          // net_link_rules_t.down_first
    bool owns_line : 1;           // line and its config are this port's own copies
    bool prompt : 1;              // a listener needs each event in its turn
    bool layered : 1;             // of a link with credits or retries: rare->layer is set
    uint8_t turn;                 // class whose DWRR turn it is

    net_port_t *peer;
    net_port_rare_t *rare;
    const net_line_t *line;
    uint64_t remainder; // of the division by the line's rate, carried within a busy period
    net_meter_t *meter;
    uint64_t several_bytes_max : 63; // largest backlog while several classes waited together
    uint64_t counted : 1;    // 1: pauses, ecn_marked(_again) or drops of `rare` are not all zero
    uint32_t uid;            // number in the network; part of the MAC address
    uint32_t interface;      // of a host's port; NET_INTERFACES_MAX elsewhere
    uint32_t link;           // number of the link
    uint8_t strict;          // classes served before the others, highest number first
    uint8_t long_queues;     // classes whose ring this port frees by itself
    bool disturbed;          // rare->degraded_bps has been set, and may be read
    bool by_packet : 1;      // network.draws: packet
    bool loses : 1;          // a loss model or reordering: rare->loss is set
    bool loses_arrivals : 1; // rare->is_lost_on_arrival is set
    bool changes : 1;        // the link goes down or has done so: rare->next_down_ps is set
};

#define NET_SEVERAL_MASK (UINT64_MAX >> 1) // largest value of several_bytes_max

static inline bool net_port_lost_on_arrival(const net_port_t *port)
{
    return SIM_UNLIKELY(port->loses_arrivals) && port->rare->is_lost_on_arrival(port);
}

static_assert(offsetof(net_port_t, waiting) - offsetof(net_port_t, paused) == 4,
              "looked at as one");
static_assert(offsetof(net_port_t, peer) == SIM_CACHE_LINE, "the hot part is one cache line");
static_assert(sizeof(net_port_t) == 2 * SIM_CACHE_LINE, "networks have millions of ports");

// Returns true only if the port never received, queued or sent anything, so its counters are all
// zero. Large idle networks need not read them then. It may return false for an untouched port.
static inline bool net_port_untouched(const net_port_t *port)
{
    return port->busy_until_ps == 0 && port->waiting == 0 && !port->counted &&
           port->node->sim.events == 0;
}

// Returns the port's configuration for writing, after copying it from the link's on first use. The
// port frees it.
net_link_config_t *net_port_own_config(net_port_t *port);
// Sets the port's DWRR quanta by class, which are copied. While the network is built.
void net_port_set_quanta(net_port_t *port, const uint32_t quantum_bytes[NET_PRIORITIES]);
static inline void net_port_trace(const net_port_t *port, net_trace_point_t point,
                                  const net_packet_t *packet, uint32_t detail)
{
    if (SIM_UNLIKELY(port->trace_points & point)) {
        net__port_trace(port, point, packet, detail);
    }
}

// Frees the state of a node's ports. For implementations of node kinds.
void net_node_fini(net_node_t *node);

// Returns the time of a frame on the link from an idle start: preamble, frame, FCS and gap.
sim_time_t net_port_frame_time_ps(const net_port_t *port, uint32_t frame_bytes);

// Takes ownership of the packet: counts the drop, calls listeners, frees the packet.
void net_port_drop(net_port_t *port, net_packet_t *packet, net_drop_reason_t reason);

// Returns whether a frame can start now: none is on the link, and none is chosen at this instant.
static inline bool net_port_idle(const net_port_t *port)
{
    return port->wake_pending == NET_WAKE_NONE && port->node->sim.now_ps > port->busy_until_ps;
}

// Sends in the way that port->special names. Takes the packet.
void net__port_transmit_special(net_port_t *port, net_packet_t *packet);
void net__port_transmit_int(net_port_t *port, net_packet_t *packet); // NET_SPECIAL_CUT_INT
// Recomputes port->special. Call it after any change of what `special` depends on.
void net__port_update_special(net_port_t *port);

// Returns whether the port has no stopped class, no PFC frame to send, and special 0.
static inline bool net__port_is_usual(const net_port_t *port)
{
    const uint8_t masks[sizeof(uint32_t)] = {UINT8_MAX, UINT8_MAX, UINT8_MAX, 0};
    uint32_t rare;
    uint32_t mask;
    memcpy(&rare, (const char *)port + offsetof(net_port_t, paused), sizeof(rare));
    memcpy(&mask, masks, sizeof(mask));
    return (rare & mask) == 0;
}

// Sends on a port whose `special` is 0: its rate is a whole number of picoseconds per byte. node is
// the port's, now_ps its time, queue the class.
static SIM_ALWAYS_INLINE void net__port_send(net_port_t *port, sim_node_t *node, sim_time_t now_ps,
                                             net_class_t *queue, net_packet_t *packet,
                                             uint32_t frame_bytes)
{
    const uint32_t link_bytes = frame_bytes + port->overhead_bytes;
    SIM_ASSERT(now_ps == node->now_ps && now_ps >= port->busy_until_ps);
    const sim_time_t end_ps = now_ps + (uint64_t)link_bytes * port->ps_per_byte;
    port->busy_until_ps = end_ps;
    queue->tx_packets++;
    queue->tx_bytes += frame_bytes;
    sim_send(node, port->channel, end_ps + port->delay_less_gap_ps, packet);
}

// Starts sending a packet and takes ownership of it. No frame may be on the link.
static SIM_ALWAYS_INLINE void net_port_transmit(net_port_t *port, net_packet_t *packet)
{
    if (SIM_UNLIKELY(port->special)) {
        net__port_transmit_special(port, packet);
        return;
    }
    sim_node_t *const node = &port->node->sim;
    net_class_t *const queue = port->classes[packet->priority];
    net__port_send(port, node, node->now_ps, queue, packet, packet->frame_bytes);
}

// Schedules one wake for the end of the frame on the link, or for now. Does nothing if the port is
// already going to be served.
static inline void net_port_wake(net_port_t *port)
{
    if (port->wake_pending == NET_WAKE_NONE) {
        sim_node_t *const node = &port->node->sim;
        port->wake_pending = NET_WAKE_EVENT;
        sim_wake(node, SIM_MAX(port->busy_until_ps, node->now_ps), port->index);
    }
}

static inline void net_port_count_rx_only(net_port_t *port, const net_packet_t *packet)
{
    net_received_t *const received = port->received[packet->priority];
    received->packets++;
    received->bytes += packet->frame_bytes;
}

static inline void net_port_count_rx(net_port_t *port, const net_packet_t *packet)
{
    net_port_count_rx_only(port, packet);
    net_port_trace(port, NET_TRACE_RX, packet, 0);
}

SIM_C_END

#endif // NET_PORT_H
