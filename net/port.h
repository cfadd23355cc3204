// SPDX-License-Identifier: Apache-2.0
// net/port.h - one end of a link: the transmitter, its eight class queues, pause state, counters.
//
// A port belongs to one node. Sending takes the time of the whole frame on the link: preamble (8),
// frame, FCS (4) and inter-frame gap (12 bytes); the peer has the packet when the last bit of the
// FCS arrived (store and forward), so the gap delays the next frame only. A rate that is not a
// whole number of picoseconds per byte carries its remainder through a busy period.
//
// A port that is idle sends at once and posts only the arrival. It wakes itself at the end of a
// frame only if something waits. At the very instant a frame ends the port still counts as busy,
// so that all arrivals of the instant are in the queues when the next frame is chosen.
#ifndef NET_PORT_H
#define NET_PORT_H

#include <string.h>

#include "net/network.h"

SIM_C_BEGIN

// What a DWRR class with weight 1 may send in its turn.
#define NET_FRAME_BYTES_QUANTUM 4400u

// Moments a listener can hear of.
typedef enum net_trace_point {
    NET_TRACE_TX = 1 << 0,      // first bit leaves the port
    NET_TRACE_RX = 1 << 1,      // last bit arrived at the port
    NET_TRACE_ENQUEUE = 1 << 2, // had to wait in the port's queue
    NET_TRACE_DROP = 1 << 3,    // packet dropped; detail: net_drop_reason_t
    NET_TRACE_MARK = 1 << 4,    // marked CE as it left the queue; detail: 1: it was marked before
    NET_TRACE_PAUSED = 1 << 5,  // the peer stopped a class of this port; detail: priority
    NET_TRACE_RESUMED = 1 << 6, // the peer released it, or its time ran out; detail: priority
    NET_TRACE_XOFF = 1 << 7,    // this port's node stops a class of the peer; detail: priority
    NET_TRACE_XON = 1 << 8,     // this port's node lets it go on; detail: priority
    NET_TRACE_LINK = 1 << 9,    // detail: 1 up, 0 down
    NET_TRACE_PFC = 1 << 10,    // a PFC frame from the peer took effect
    // at the egress port of a switch: the buffer of a packet sent was given back, and a pause of
    // the peer it came from was ended if that was due
    NET_TRACE_RELEASE = 1 << 11,
    NET_TRACE_FAULT = 1 << 12,    // detail: net_fault_kind_t (net/faults.h); bit 8: it is over
    NET_TRACE_WATCHDOG = 1 << 13, // a switch breaks a pause; detail: priority; bit 8: no more
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
    NET_DROP_WATCHDOG, // waited in a queue whose pause the PFC watchdog breaks by dropping
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

// Called while the node runs, by its thread. Must only read.
typedef void (*net_trace_fn)(const net_trace_t *trace, void *ctx);

// Calls fn at the points of the mask. Several listeners per port; kept until the net is destroyed.
// With ties by insertion before the run only, as all that looks at packets (sim_need_one_list).
void net_port_listen(net_port_t *port, uint32_t points, net_trace_fn fn, void *ctx);

// Whether a port will be served at the end of the frame on the link.
typedef enum net_wake {
    NET_WAKE_NONE,
    NET_WAKE_EVENT, // by a wake of its node
    NET_WAKE_LATE,  // its node makes up for it (net/switch/late.c, nic/steps_internal.h)
} net_wake_t;

// What belongs to one class of a port lies apart from the port, in arrays in which the same class
// of NET_CLASS_PORTS (NET_RECEIVED_PORTS) ports makes a page: classes that nobody uses are pages
// that nobody touches, which take no memory. port->classes[p] points to the port's own.

// A packet that waits, with what its departure needs to know of it: by then its own line has long
// left the cache, and is needed at the next node only.
typedef struct net_queued {
    net_packet_t *packet;
    uint32_t frame_bytes;  // as it joined: telemetry makes it longer as it leaves
    uint16_t ingress_port; // of a switch
    uint8_t marks;         // likewise as it joined: what changes a byte need not read it
} net_queued_t;

// One class of a port, sending: its queue and its counters, on one cache line. The queue is a ring
// that grows. One that has run empty begins anew where the ring does: a short one stays on a line.
typedef struct net_class {
    alignas(SIM_CACHE_LINE) net_queued_t *ring;
    uint32_t head;      // of the packet that is next: bytes from the ring's begin on, as the others
    uint32_t tail;      // of the place of the one that joins
    uint32_t stop;      // where the tail may not go on as it does: the end, or the head
    uint32_t end;       // of the ring; 0: there is none yet
    uint64_t bytes;     // frame bytes held
    uint64_t bytes_max; // most ever held
    uint64_t tx_packets;
    uint64_t tx_bytes; // frame bytes, without FCS
} net_class_t;

static_assert(sizeof(net_class_t) == SIM_CACHE_LINE, "a class is one cache line");
#define NET_CLASS_PORTS (SIM_PAGE_BYTES / SIM_CACHE_LINE)

// One class of a port, receiving: what came, and what the node still stores of it. A node without
// buffers of its own keeps nothing here.
typedef struct net_received {
    uint64_t packets;
    uint64_t bytes;
    uint64_t stored_bytes; // in reserved and shared buffer
    union {
        struct {
            uint64_t headroom_bytes : 63;
            uint64_t stopped : 1; // the peer was told to stop
        };
        uint64_t crowded; // not 0: either
    };
} net_received_t;
#define NET_HEADROOM_MASK (UINT64_MAX >> 1) // what headroom_bytes has room for
#define NET_RECEIVED_PORTS (2 * NET_CLASS_PORTS)
static_assert(sizeof(net_received_t) * NET_RECEIVED_PORTS == SIM_PAGE_BYTES, "a page");

typedef struct net_pause_counters {
    uint64_t tx_pause; // XOFF frames sent for this class
    uint64_t tx_resume;
    uint64_t rx_pause;
    uint64_t rx_resume;
    sim_time_t paused_ps;       // total, closed periods
    sim_time_t paused_since_ps; // of the open period
} net_pause_counters_t;

// What a switch's PFC watchdog did at a port, by class.
typedef struct net_watchdog_counters {
    uint64_t detected; // storms that began
    uint64_t restored; // and ended
    uint64_t dropped;  // packets
} net_watchdog_counters_t;

// What a switch's port writes into packets that ask for telemetry (net/telemetry.h).
typedef struct net_meter {
    uint64_t tx_bytes;    // on the link so far, overhead included
    sim_time_t before_ps; // when the frame before started
    double utilization;   // PINT's estimate U of this port
    double per_byte;      // 1 / bytes that the link carries in PINT's T
    sim_random_t random;  // rounds digests
    const struct net_pint *pint;
    uint16_t multiplier;   // of INT's units
    uint16_t switch_id;    // of NET_INT_PATH_BITS
    uint8_t rate_code;     // of the link, as INT writes it
    uint8_t reserved_hops; // packets already have room for so many records
    uint16_t last_bytes;   // of the frame before, where net_pint_ops_t keeps it
} net_meter_t;

static_assert(sizeof(net_meter_t) == SIM_CACHE_LINE, "a meter is one cache line");

// What few ports ever need: all zeros, and without memory, until something is written.
typedef struct net_port_rare {
    net_pause_counters_t pauses[NET_PRIORITIES];
    sim_time_t paused_until_ps[NET_PRIORITIES];
    sim_timer_t pause_timer;  // ends a pause whose time runs out
    net_port_t *port;         // whose timer that is
    uint8_t told_stop;        // classes the peer is stopped in, once port->control has been sent
    uint8_t knows_stop;       // the same before that frame
    uint8_t ignores_pauses;   // classes whose pauses count for nothing
    uint8_t discards_stopped; // classes that drop what waits while stopped
    uint64_t ecn_marked[NET_PRIORITIES];       // packets that got CE here
    uint64_t ecn_marked_again[NET_PRIORITIES]; // that would have, had they not come with it
    net_watchdog_counters_t watchdog[NET_PRIORITIES];
    int64_t deficit_bytes[NET_PRIORITIES];
    uint64_t drops[NET_DROP_REASON_COUNT];
    uint64_t dropped_bytes;
    uint64_t drop_countdown; // net_port_drop_next; 0: off
    uint64_t degraded_bps;   // what the link carries, of a fault; 0: all of its rate
    sim_random_t random;     // losses
    bool random_seeded;
} net_port_rare_t;

// What is special about sending on a port: each has a way of its own.
typedef enum net_special {
    NET_SPECIAL_NOT,
    NET_SPECIAL_RATE,        // an inexact rate, nothing else
    NET_SPECIAL_CUT,         // a timing that cuts ps_per_byte to ns, by insertion
    NET_SPECIAL_CUT_METERED, // the same, and telemetry
    NET_SPECIAL_CUT_BY_HASH, // the same by hash, telemetry or not
    NET_SPECIAL_OTHERWISE,   // lossy, down, metered or listened to
} net_special_t;

struct net_port {
    // the first line is all that sending on an idle port needs, besides the class
    alignas(SIM_CACHE_LINE) sim_channel_t *channel;
    sim_time_t busy_until_ps;
    sim_time_t delay_less_gap_ps; // of the link, less gap_ps; may wrap below zero
    net_node_t *node;
    net_class_t (*classes)[NET_CLASS_PORTS];        // by class
    net_received_t (*received)[NET_RECEIVED_PORTS]; // by class
    uint32_t ps_per_byte;                           // 0: not whole, or not all that there is to it
    uint16_t index;                                 // in the node
    uint16_t trace_points;                          // union over listeners
    // Most ports have none of these four, which are looked at together: net__port_is_usual.
    uint8_t paused;       // classes the peer has stopped
    uint8_t special;      // net_special_t
    bool controlled;      // control is not NULL
    uint8_t zero;         // as it says
    uint8_t waiting;      // classes with packets in their queue
    uint8_t wake_pending; // net_wake_t
    bool down : 1;
    bool lossless_guaranteed : 1; // what arrives here in a lossless class cannot be dropped
    bool metered : 1;             // writes telemetry: meter is in use
    bool odd_class : 1;           // a host's: it sends in other classes than its DSCPs say
    bool down_first : 1;          // net_link_rules_t
    bool owns_config : 1;
    uint8_t turn; // class whose DWRR turn it is

    net_packet_t *control; // a PFC frame waiting to be sent, before everything
    net_port_t *peer;
    net_port_rare_t *rare;
    net_pause_counters_t *pauses; // of rare, as the next two
    uint64_t *ecn_marked;
    uint64_t *drops;
    net_meter_t *meter;
    uint64_t several_bytes_max : 63; // most that several classes held together
    uint64_t counted : 1;            // not all is 0 in pauses, ecn_marked(_again) and drops

    // colder
    const uint32_t *quantum_bytes; // by class, of DWRR: the node's
    uint64_t rate_bps;
    uint64_t remainder; // of the division by rate_bps, within a busy period
    sim_time_t delay_ps;
    sim_time_t gap_ps;          // of NET_GAP_BYTES, rounded down
    sim_time_t next_down_ps;    // when the link will next go down
    uint32_t exact_ps_per_byte; // whatever is asked of the link; 0: not whole
    uint32_t overhead_bytes;    // of each frame, NET_LINK_OVERHEAD_BYTES as a rule
    uint32_t uid;               // in the network: names the MAC
    uint32_t interface;         // hosts; NET_INTERFACES_MAX elsewhere
    uint32_t link;
    uint8_t strict;      // classes served before the others, highest number first
    uint8_t long_queues; // classes whose ring is the port's to free
    bool disturbed;      // rare->drop_countdown or rare->degraded_bps was set, once
    // Where either is not as usual, ps_per_byte is 0 (net/models.h), but where times are cut.
    const struct net_timing_ops *timing; // NULL: exact
    const net_link_config_t *config;     // the link's; net_port_own_config
    struct net_loss *loss;               // net/loss/state.h; NULL: nothing of it is wanted
    struct net_listener *listeners;
    // Whether the frame that has just arrived is lost: asked by loops that know of it; both ends of
    // a link have the same. NULL: as a rule, the sender decides.
    bool (*is_lost_on_arrival)(const net_port_t *port);
    void *arrival_loss_ctx;
};

#define NET_SEVERAL_MASK (UINT64_MAX >> 1) // what several_bytes_max has room for

static inline bool net_port_lost_on_arrival(const net_port_t *port)
{
    return SIM_UNLIKELY(port->is_lost_on_arrival != NULL) && port->is_lost_on_arrival(port);
}

static_assert(offsetof(net_port_t, waiting) - offsetof(net_port_t, paused) == 4,
              "looked at as one");
static_assert(offsetof(net_port_t, control) == SIM_CACHE_LINE, "the hot part is one cache line");

// Nothing was ever received, queued or sent here: its counters are all 0, and of a large network in
// which few talk most need not be read. False at worst where it is so.
static inline bool net_port_untouched(const net_port_t *port)
{
    return port->busy_until_ps == 0 && port->waiting == 0 && !port->counted &&
           port->node->sim.events == 0;
}

// The port's configuration, of its own from here on, to be changed.
net_link_config_t *net_port_own_config(net_port_t *port);
// Puts a PFC frame to be sent before everything, and those behind it; NULL: none.
static inline void net_port_set_control(net_port_t *port, net_packet_t *packet)
{
    port->control = packet;
    port->controlled = packet != NULL;
}

// Frame bytes waiting in all classes, and the most that ever waited there.
uint64_t net_port_queue_bytes(const net_port_t *port);
uint64_t net_port_queue_bytes_max(const net_port_t *port);

void net__port_trace(const net_port_t *port,
                     net_trace_point_t point,
                     const net_packet_t *packet,
                     uint32_t detail);
static inline void net_port_trace(const net_port_t *port,
                                  net_trace_point_t point,
                                  const net_packet_t *packet,
                                  uint32_t detail)
{
    if (SIM_UNLIKELY(port->trace_points & point)) {
        net__port_trace(port, point, packet, detail);
    }
}

// For node kinds: frees the ports of a node; adds their counters to the digest.
void net_node_fini(net_node_t *node);
void net_node_digest(const net_node_t *node, sim_digest_t *digest);

// Time of a frame on the link with preamble, FCS and gap, from an idle start.
sim_time_t net_port_frame_time_ps(const net_port_t *port, uint32_t frame_bytes);

// Takes the packet: counts the drop, tells listeners, frees.
void net_port_drop(net_port_t *port, net_packet_t *packet, net_drop_reason_t reason);

// Time that frames of these classes have taken on the link so far, preamble to gap: the one meaning
// of utilisation is this over the time that went by. Of the frame now on the link only the part
// that is out counts, if no other class has ever sent; else a frame counts where it starts.
sim_time_t net_port_busy_ps(const net_port_t *port, uint8_t classes, sim_time_t time_ps);

// True when a frame can start now: no frame on the link, none about to be chosen at this instant.
static inline bool net_port_idle(const net_port_t *port)
{
    return port->wake_pending == NET_WAKE_NONE && port->node->sim.now_ps > port->busy_until_ps;
}

void net__port_meter(net_port_t *port, net_packet_t *packet); // telemetry.c
void net__port_transmit_special(net_port_t *port, net_packet_t *packet);
// To be called when anything changed that `special` stands for.
void net__port_update_special(net_port_t *port);

// Whether nothing is rare about the port: none of its classes is stopped, no PFC frame waits, and
// sending goes the usual way.
static inline bool net__port_is_usual(const net_port_t *port)
{
    uint32_t rare;
    memcpy(&rare, (const char *)port + offsetof(net_port_t, paused), sizeof(rare));
    return rare == 0;
}

// Sending, where `special` is not set: node is the port's, now_ps its time, queue the class.
static SIM_ALWAYS_INLINE void net__port_send(net_port_t *port,
                                             sim_node_t *node,
                                             sim_time_t now_ps,
                                             net_class_t *queue,
                                             net_packet_t *packet,
                                             uint32_t frame_bytes)
{
    SIM_ASSERT(now_ps == node->now_ps && now_ps >= port->busy_until_ps);
    const sim_time_t end_ps =
        now_ps + (uint64_t)(frame_bytes + NET_LINK_OVERHEAD_BYTES) * port->ps_per_byte;
    port->busy_until_ps = end_ps;
    queue->tx_packets++;
    queue->tx_bytes += frame_bytes;
    sim_send(node, port->channel, end_ps + port->delay_less_gap_ps, packet);
}

// Starts sending a packet (taking it). No frame may be on the link.
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

// Asks for a wake at the end of the frame on the link (or now), once.
static inline void net_port_wake(net_port_t *port)
{
    if (port->wake_pending == NET_WAKE_NONE) {
        sim_node_t *const node = &port->node->sim;
        port->wake_pending = NET_WAKE_EVENT;
        sim_wake(node,
                 port->busy_until_ps > node->now_ps ? port->busy_until_ps : node->now_ps,
                 port->index);
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

// For tests: drops the count-th RoCE packet that the port transmits from now on (1: the next).
void net_port_drop_next(net_port_t *port, uint64_t count);

// -- queues

void net__port_several_wait(net_port_t *port); // classes, after a packet was queued

void net__queue_turn(net_port_t *port, net_class_t *queue); // the tail is where it has to stop
// Copies the first packets, up to so many; returns how many.
uint32_t net_queue_peek(const net_class_t *queue, net_queued_t *first, uint32_t count_max);

static inline net_queued_t *net__queued(const net_class_t *queue, uint32_t at_bytes)
{
    return (net_queued_t *)(void *)((char *)queue->ring + at_bytes);
}

// Of a class that waits.
static inline const net_queued_t *net_queue_head(const net_class_t *queue)
{
    return net__queued(queue, queue->head);
}

// Puts a packet into the queue of a class; net__class_waits says so to the port.
static SIM_ALWAYS_INLINE void net__queue_join(net_port_t *port,
                                              net_class_t *queue,
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

// Takes the head of a class that waits.
static SIM_ALWAYS_INLINE net_queued_t net__queue_take(net_port_t *port,
                                                      net_class_t *queue,
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

// The class to serve next among `candidates` (not empty): strict classes first, highest number
// first, then deficit weighted round robin (Shreedhar and Varghese, SIGCOMM 1995).
// head_bytes[p], the frame bytes of what class p would send, is read for candidates only.
uint32_t net_port_choose(net_port_t *port, uint8_t candidates, const uint32_t *head_bytes);

// -- pause

// How long a pause of that many quanta (512 bit times) lasts on this link, rounded down.
sim_time_t net_port_quanta_ps(const net_port_t *port, uint16_t quanta);
// Time the peer has stopped a class, an open pause included.
sim_time_t net_port_paused_ps(const net_port_t *port, uint32_t priority, sim_time_t now_ps);
// Applies a PFC frame that arrived at this port; does not free it. Returns the classes that may go
// again (the node then tries to send).
uint8_t net_port_pause_received(net_port_t *port, const net_packet_t *packet);
// From now on pauses of these classes are counted and have no effect, and one that holds ends; or
// they have again, from the next on.
void net_port_ignore_pauses(net_port_t *port, uint8_t classes, bool ignore);
// Sends the peer a PFC frame for these classes (quanta 0: resume), before any data: at once where
// the port is idle, else with the next wake, which must then send and clear port->control. A frame
// still waiting takes the newest word for each class, so at most one waits.
void net_port_pause_send(net_port_t *port, uint8_t classes, uint16_t quanta);
// Puts a PFC frame of its own behind those that wait at port->control; does not start it.
void net_port_pause_queue(net_port_t *port, uint32_t priority, uint16_t quanta);

// -- metrics: what a series can sample, by name

typedef struct net_port_metric {
    const char *name; // "queue_bytes"
    const char *unit; // "bytes"
    const char *help;
    bool per_priority; // readable per class as name[p] too; without: sum over classes
    // Trace points of the port after which it may have changed. 0: a series on change has nothing
    // to go by.
    uint32_t points;
    // read gives the link's time taken so far (net_port_busy_ps); the metric is what was taken of
    // the time between two samples, at most all of it.
    bool is_load;
    uint64_t (*read)(const net_port_t *port, uint8_t classes, sim_time_t time_ps);
} net_port_metric_t;
extern const net_port_metric_t net_port_metrics[]; // ends with a NULL name
const net_port_metric_t *net_port_metric_find(const char *name);

SIM_C_END

#endif // NET_PORT_H
