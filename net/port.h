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

#include <string.h>

#include "kernel/fields.h"
#include "kernel/report.h"
#include "net/network.h"

SIM_C_BEGIN

// Bytes that a DWRR class of weight 1 may send in one turn: the largest frame of MTU 4096, with all
// telemetry. Jumbo frames take several turns.
#define NET_FRAME_BYTES_QUANTUM 4400u

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

// How a port is served when the frame on its link ends.
typedef enum net_wake {
    NET_WAKE_NONE,  // not at all
    NET_WAKE_EVENT, // by a wake event of its node
    NET_WAKE_LATE,  // its node replays the departure later (net/switch/late.c,
                    // nic/host/steps.h)
} net_wake_t;

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
    sim_time_t paused_ps;       // total of the pauses that have ended
    sim_time_t paused_since_ps; // start of the current pause
} net_pause_counters_t;

// Counters of a switch's PFC watchdog for one class of a port.
typedef struct net_watchdog_counters {
    uint64_t detected; // storms that began
    uint64_t restored; // storms that ended
    uint64_t dropped;  // packets
} net_watchdog_counters_t;

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
    uint64_t ecn_marked[NET_PRIORITIES];       // packets that got CE here
    uint64_t ecn_marked_again[NET_PRIORITIES]; // packets that came with CE and would get it here
    net_watchdog_counters_t watchdog[NET_PRIORITIES];
    uint64_t trimmed[NET_PRIORITIES]; // packets that lost their payload here, by class before
    int64_t deficit_bytes[NET_PRIORITIES];
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
    NET_SPECIAL_BARE,        // nothing is added to a frame; otherwise usual
    NET_SPECIAL_CUT,         // timing cuts to whole ns; ties by insertion
    NET_SPECIAL_CUT_METERED, // like NET_SPECIAL_CUT, with telemetry
    NET_SPECIAL_CUT_BY_HASH, // timing cuts to whole ns; ties by hash; with or without telemetry
    NET_SPECIAL_LOGGED,      // like NOT, and the node notes the frame (net/log.h)
    NET_SPECIAL_LOGGED_ODD,  // like RATE or BARE, and the node notes the frame
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
    // These four are zero at most ports and are tested as one word: net__port_is_usual.
    uint8_t paused;       // classes the peer has stopped
    uint8_t special;      // net_special_t
    bool controlled;      // rare->control is not NULL
    uint8_t zero;         // always 0: fills the word
    uint8_t waiting;      // classes with packets in their queue
    uint8_t wake_pending; // net_wake_t
    bool down : 1;
    bool lossless_guaranteed : 1; // packets of a lossless class can never be dropped on arrival
    bool metered : 1;             // writes telemetry: meter is in use
    bool odd_class : 1;           // of a host that also sends in classes other than its DSCPs'
    bool down_first : 1;          // net_link_rules_t.down_first
    bool owns_line : 1;           // line and its config are this port's own copies
    bool prompt : 1;              // a listener needs each event in its turn
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
// Sets the list of PFC frames that are sent before everything else; NULL: none.
static inline void net_port_set_control(net_port_t *port, net_packet_t *packet)
{
    port->rare->control = packet;
    port->controlled = packet != NULL;
}

// Return the frame bytes that wait in all classes now, and the largest such sum so far.
uint64_t net_port_queue_bytes(const net_port_t *port);
uint64_t net_port_queue_bytes_max(const net_port_t *port);

void net__port_trace(const net_port_t *port, net_trace_point_t point, const net_packet_t *packet,
                     uint32_t detail);
static inline void net_port_trace(const net_port_t *port, net_trace_point_t point,
                                  const net_packet_t *packet, uint32_t detail)
{
    if (SIM_UNLIKELY(port->trace_points & point)) {
        net__port_trace(port, point, packet, detail);
    }
}

// For implementations of node kinds: net_node_fini frees the state of a node's ports,
// net_node_digest adds their counters to the digest.
void net_node_fini(net_node_t *node);
void net_node_digest(const net_node_t *node, sim_digest_t *digest);

// Returns the time of a frame on the link from an idle start: preamble, frame, FCS and gap.
sim_time_t net_port_frame_time_ps(const net_port_t *port, uint32_t frame_bytes);

// Takes ownership of the packet: counts the drop, calls listeners, frees the packet.
void net_port_drop(net_port_t *port, net_packet_t *packet, net_drop_reason_t reason);

// Returns how long frames of these classes have occupied the link so far, from preamble to gap.
// Divided by the elapsed time this is the utilisation. If no other class has ever sent, the frame
// on the link counts only as far as it is out; otherwise a frame counts in full from its start.
sim_time_t net_port_busy_ps(const net_port_t *port, uint8_t classes, sim_time_t time_ps);

// Returns whether a frame can start now: none is on the link, and none is chosen at this instant.
static inline bool net_port_idle(const net_port_t *port)
{
    return port->wake_pending == NET_WAKE_NONE && port->node->sim.now_ps > port->busy_until_ps;
}

// In net/wire/telemetry.c: writes telemetry into a packet that is about to leave.
void net__port_meter(net_port_t *port, net_packet_t *packet);
// Sends in the way that port->special names. Takes the packet.
void net__port_transmit_special(net_port_t *port, net_packet_t *packet);
// Recomputes port->special. Call it after any change of what `special` depends on.
void net__port_update_special(net_port_t *port);

// Returns whether the port has no stopped class, no PFC frame to send, and special 0.
static inline bool net__port_is_usual(const net_port_t *port)
{
    uint32_t rare;
    memcpy(&rare, (const char *)port + offsetof(net_port_t, paused), sizeof(rare));
    return rare == 0;
}

// Sends a frame that occupies the link for link_bytes. node is the port's, now_ps its time, queue
// the class. The port's rate is a whole number of picoseconds per byte.
static SIM_ALWAYS_INLINE void net__port_send_bytes(net_port_t *port, sim_node_t *node,
                                                   sim_time_t now_ps, net_class_t *queue,
                                                   net_packet_t *packet, uint32_t frame_bytes,
                                                   uint32_t link_bytes)
{
    SIM_ASSERT(now_ps == node->now_ps && now_ps >= port->busy_until_ps);
    const sim_time_t end_ps = now_ps + (uint64_t)link_bytes * port->ps_per_byte;
    port->busy_until_ps = end_ps;
    queue->tx_packets++;
    queue->tx_bytes += frame_bytes;
    sim_send(node, port->channel, end_ps + port->delay_less_gap_ps, packet);
}

// Sends on a port whose `special` is 0, as net__port_send_bytes.
static SIM_ALWAYS_INLINE void net__port_send(net_port_t *port, sim_node_t *node, sim_time_t now_ps,
                                             net_class_t *queue, net_packet_t *packet,
                                             uint32_t frame_bytes)
{
    const uint32_t link_bytes = frame_bytes + NET_LINK_OVERHEAD_BYTES;
    net__port_send_bytes(port, node, now_ps, queue, packet, frame_bytes, link_bytes);
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

// -- queues

// Updates several_bytes_max after a packet was queued while another class waits.
void net__port_several_wait(net_port_t *port);

// Makes room when the tail has reached `stop`: turns to the ring's begin, or grows the ring.
void net__queue_turn(net_port_t *port, net_class_t *queue);
// Copies the first entries of the queue, at most count_max; returns how many.
uint32_t net_queue_peek(const net_class_t *queue, net_queued_t *first, uint32_t count_max);

static inline net_queued_t *net__queued(const net_class_t *queue, uint32_t at_bytes)
{
    return (net_queued_t *)(void *)((char *)queue->ring + at_bytes);
}

// Returns the first entry of a class that has packets waiting.
static inline const net_queued_t *net_queue_head(const net_class_t *queue)
{
    return net__queued(queue, queue->head);
}

// Appends a packet to a class's queue. The caller then calls net__class_waits.
static SIM_ALWAYS_INLINE void net__queue_join(net_port_t *port, net_class_t *queue,
                                              net_packet_t *packet)
{
    if (SIM_UNLIKELY(queue->tail == queue->stop)) {
        net__queue_turn(port, queue);
    }
    *net__queued(queue, queue->tail) =
        (net_queued_t){packet, packet->frame_bytes, packet->ingress_port, packet->marks};
    queue->tail += (uint32_t)sizeof(net_queued_t);
    const uint64_t bytes = queue->bytes + packet->frame_bytes;
    queue->bytes = bytes;
    if (SIM_UNLIKELY(bytes > queue->bytes_max)) {
        queue->bytes_max = bytes;
    }
}

static inline void net__class_waits(net_port_t *port, uint32_t priority)
{
    port->waiting |= (uint8_t)(1u << priority);
    if (SIM_UNLIKELY((port->waiting & (port->waiting - 1)) != 0)) {
        net__port_several_wait(port);
    }
}

static inline void net_queue_push(net_port_t *port, net_packet_t *packet)
{
    net__queue_join(port, port->classes[packet->priority], packet);
    net__class_waits(port, packet->priority);
    net_port_trace(port, NET_TRACE_ENQUEUE, packet, 0);
}

// Returns the entry that joined last; NULL: the class is empty, or the entry cannot be taken back
// because the ring has turned behind it.
static inline const net_queued_t *net_queue_last(const net_class_t *queue)
{
    return queue->bytes == 0 || queue->tail == 0
               ? NULL
               : net__queued(queue, queue->tail - (uint32_t)sizeof(net_queued_t));
}

// Takes back the entry of net_queue_last. The caller owns the packet.
net_queued_t net_queue_take_last(net_port_t *port, uint32_t priority);

// Removes the first entry of a class that has packets waiting. The caller owns the packet.
static SIM_ALWAYS_INLINE net_queued_t net__queue_take(net_port_t *port, net_class_t *queue,
                                                      uint32_t priority)
{
    const net_queued_t *const head = net_queue_head(queue);
    const net_queued_t queued = *head;
    __builtin_prefetch((const char *)head + SIM_CACHE_LINE);
    queue->bytes -= queued.frame_bytes;
    queue->head += (uint32_t)sizeof(queued);
    if (queue->bytes == 0) {
        queue->head = queue->tail = 0;
        queue->stop = queue->end;
        port->waiting &= (uint8_t) ~(1u << priority);
    } else if (SIM_UNLIKELY(queue->head == queue->end)) {
        queue->head = 0;
    }
    return queued;
}

static inline net_queued_t net_queue_take(net_port_t *port, uint32_t priority)
{
    return net__queue_take(port, port->classes[priority], priority);
}

static inline net_packet_t *net_queue_pop(net_port_t *port, uint32_t priority)
{
    return net_queue_take(port, priority).packet;
}

// Returns the class to serve next among `candidates` (not 0): strict classes first, highest number
// first, then deficit weighted round robin (Shreedhar and Varghese, SIGCOMM 1995). head_bytes[p],
// the size of the frame that class p would send, is read for candidates only.
uint32_t net_port_choose(net_port_t *port, uint8_t candidates, const uint32_t *head_bytes);

// -- pause

// Returns how long a pause of `quanta` (512 bit times each) lasts on this link, rounded down.
sim_time_t net_port_quanta_ps(const net_port_t *port, uint16_t quanta);
// Returns how long the peer has stopped a class in total, the current pause included.
sim_time_t net_port_paused_ps(const net_port_t *port, uint32_t priority, sim_time_t now_ps);
// Applies a PFC frame that arrived at this port. The caller keeps the packet. Returns the classes
// that were released; the node then tries to send.
uint8_t net_port_pause_received(net_port_t *port, const net_packet_t *packet);
// ignore true: ends current pauses of these classes; later ones are counted and have no effect.
// ignore false: pauses have an effect again, from the next frame on.
void net_port_ignore_pauses(net_port_t *port, uint8_t classes, bool ignore);
// Sends the peer a PFC frame for these classes (quanta 0: resume) before any data. An idle port
// sends it at once, otherwise the next wake must send it and clear rare->control. A frame that
// still waits is updated with the newest quanta of each class, so at most one waits.
void net_port_pause_send(net_port_t *port, uint8_t classes, uint16_t quanta);
// Appends a separate PFC frame to the list rare->control. Does not start it.
void net_port_pause_queue(net_port_t *port, uint32_t priority, uint16_t quanta);

// -- fields: what a port counts and what it can be asked, a row each

// The struct that holds the field of a row: sim_field_t.part.
typedef enum net_port_part {
    NET_PORT_ITSELF,   // net_port_t
    NET_PORT_SENT,     // net_class_t of the class
    NET_PORT_RECEIVED, // net_received_t of the class
    NET_PORT_RARE,     // net_port_rare_t
    NET_PORT_METER,    // net_meter_t
    NET_PORT_PARTS,
} net_port_part_t;

// A number of a port, and a field of a port. Series sample every row that has a name. A counter has
// a group, too: ports.csv, summary.json and all that reads it show the counters by these rows. To
// add one: a field where it counts, the place that counts, and a row in net/link/port_fields.c.
typedef struct net_port_metric {
    sim_field_t field; // count 0: `read` computes the number from other fields
    const char *name;  // "queue_bytes"
    const char *unit;  // "bytes"
    const char *help;  // complete where it stands alone
    bool per_priority; // name[p] reads one class; name alone sums over classes
    // Trace points of the port after which the value may have changed. 0: a series of this metric
    // cannot be recorded on change.
    uint32_t points;
    // true: read returns the busy time so far (net_port_busy_ps), and the metric is its share of
    // the time between two samples, at most 1.
    bool is_load;
    bool digested_with_next; // the digest takes the sum of this field and that of the next row
    uint64_t (*read)(const net_port_t *port, uint8_t classes, sim_time_t time_ps); // or NULL
    const char *column;   // of ports.csv, by class: "tx_prio%u_bytes"; NULL: none by class
    const char *by_class; // its name in `classes` of summary.json; NULL: it is not there
    bool hottest;         // shown of the ports in `hottest_ports` of summary.json
    sim_total_t total;    // over all ports; no group: it is no counter
} net_port_metric_t;
// All fields of ports. Rows with a name come first; those behind them are not shown.
extern const net_port_metric_t net_port_metrics[];
#define NET_PORT_METRICS_MAX 64u // rows with a name
// The tables of the structs of a port, by net_port_part_t.
extern const sim_fields_t net__port_tables[NET_PORT_PARTS];
const net_port_metric_t *net_port_metric_find(const char *name);
// Returns the metric's value at time_ps, summed over the classes of the mask.
uint64_t net_port_metric_read(const net_port_metric_t *metric, const net_port_t *port,
                              uint8_t classes, sim_time_t time_ps);
// Reads a counter that is readable per class, for each class. Returns false and sets nothing where
// all are 0 because the port has counted nothing rare: a place that counts into net_port_rare_t
// also sets port->counted.
bool net_port_metric_read_classes(const net_port_metric_t *metric, const net_port_t *port,
                                  sim_time_t time_ps, uint64_t values[NET_PRIORITIES]);

SIM_C_END

#endif // NET_PORT_H
