// SPDX-License-Identifier: Apache-2.0
// net/switch/late.c - the loop of a switch with net's own models, the buffer "standard" or
// "trimming" and a load balancer that allows it, which replays departures lazily.
//
// A departure needs no event of its own. What a port sends next, and when, depends only on its own
// queue, which changes only by arrivals for that port. So the switch replays the departures of a
// port when a packet arrives for it, and those of all ports before a timer fires and at the end of
// a window. Each departure gets its own time; only its turn comes later.
//
// Ports share the buffer. While departures are outstanding, its use is overestimated and every
// threshold underestimated, so a packet that finds room would have found it anyway. If a packet
// finds none, all ports catch up and it is tried again. While a peer is stopped, each departure may
// release it at that instant: then, and if net_node_t.one_by_one is set, events are handled one by
// one (loop.c).
//
// At one instant an arrival precedes a departure, and a departure precedes a timer. So a port
// catches up with departures before now, and including now only before a timer fires.
#include "net/log.h"
#include "net/port_control.h"
#include "net/port_queue.h"
#include "net/switch/admission.h"
#include "net/switch/chance.h"
#include "net/switch/ecmp.h"
#include "net/switch/red.h"
#include "net/switch/switch_internal.h"
#include "net/switch_checks.h"

static inline void be_late(net_switch_t *sw, net_port_t *port)
{
    if (port->wake_pending == NET_WAKE_NONE) {
        port->wake_pending = NET_WAKE_LATE;
        sw->late[port->index] = 1;
    }
}

static inline void be_on_time(net_switch_t *sw, net_port_t *port)
{
    port->wake_pending = NET_WAKE_NONE;
    sw->late[port->index] = 0;
}

static uint32_t choose(net_port_t *egress, uint8_t candidates)
{
    uint32_t head_bytes[NET_PRIORITIES];
    for (uint32_t left = candidates; left != 0; left &= left - 1) {
        const uint32_t p = (uint32_t)__builtin_ctz(left);
        head_bytes[p] = net_queue_head(egress->classes[p])->frame_bytes;
    }
    return net_port_choose(egress, candidates, head_bytes);
}

// Lets the log know whether what follows is replayed late.
static inline void note_late(net_switch_t *sw, bool late)
{
    if (sw->node.log != NULL) {
        sw->node.log->stamp = (sw->node.log->stamp & ~NET_LOG_LATE) | (late ? NET_LOG_LATE : 0);
    }
}

// Sends a packet of RoCE, which has waited, on a port that is usual but for its log.
static SIM_ALWAYS_INLINE void send_logged(net_switch_t *sw, net_port_t *egress, net_class_t *queue,
                                          const net_queued_t *queued)
{
    sim_node_t *const node = &sw->node.sim;
    const sim_time_t now_ps = node->now_ps;
    net_log_sent(sw->node.log, egress, now_ps, queued->packet, queued->frame_bytes,
                 net_log_takes(queued->marks), NET_LOG_LATE);
    net__port_send(egress, node, now_ps, queue, queued->packet, queued->frame_bytes);
}

// Sends a packet at once that has just arrived. entry: where the log noted its arrival.
static SIM_ALWAYS_INLINE void pass_logged(net_switch_t *sw, net_port_t *egress, net_class_t *queue,
                                          net_packet_t *packet, net_log_entry_t *entry)
{
    net_log_t *const log = sw->node.log;
    sim_node_t *const node = &sw->node.sim;
    const sim_time_t now_ps = node->now_ps;
    const uint32_t frame_bytes = packet->frame_bytes;
    if (SIM_UNLIKELY(!net_log_passed(log, entry, egress, packet))) {
        const bool takes = net_log_takes(packet->marks);
        net_log_sent(log, egress, now_ps, packet, frame_bytes, takes, 0);
    }
    net__port_send(egress, node, now_ps, queue, packet, frame_bytes);
}

// Informs the log that all departures before this moment are noted.
static inline void note_part(net_switch_t *sw)
{
    if (sw->node.log != NULL) {
        sw->node.log->stamp += NET_LOG_PART;
    }
}

// Sends on a port whose `special` is set. The log, if there is one, learns that it is late.
static void send_late(net_switch_t *sw, net_port_t *egress, net_packet_t *packet, const bool logged)
{
    if (logged) {
        note_late(sw, true);
    }
    net_port_transmit(egress, packet);
    if (logged) {
        note_late(sw, false);
    }
}

// Sends the first packet of a class on a port that is not usual.
static SIM_ALWAYS_INLINE void send_otherwise(net_switch_t *sw, net_port_t *egress,
                                             sim_time_t now_ps, net_class_t *queue,
                                             const net_queued_t *queued, const bool logged)
{
    if (logged && egress->special == NET_SPECIAL_LOGGED) {
        // The packet's own line is not read: it has likely left the cache.
        send_logged(sw, egress, queue, queued);
    } else if (egress->special == NET_SPECIAL_NOT) {
        net__port_send(egress, &sw->node.sim, now_ps, queue, queued->packet, queued->frame_bytes);
    } else {
        send_late(sw, egress, queued->packet, logged);
    }
}

// Starts the next frame of a port from a class that is not stopped. Returns whether another such
// class waits. `usual` is net__port_is_usual; it and `logged`, here and below, which is whether the
// node has a log, are known where these functions are compiled.
static SIM_ALWAYS_INLINE bool serve_as(net_switch_t *sw, net_port_t *egress, sim_time_t now_ps,
                                       const bool usual, const bool logged)
{
    const uint8_t stopped = usual ? 0 : egress->paused;
    const uint8_t candidates = egress->waiting & (uint8_t)~stopped;
    if (SIM_UNLIKELY(candidates == 0)) {
        return false;
    }
    uint32_t priority = (uint32_t)__builtin_ctz(candidates);
    if (SIM_UNLIKELY((candidates & (candidates - 1)) != 0)) {
        priority = choose(egress, candidates);
    }
    net_class_t *const queue = egress->classes[priority];
    const net_queued_t queued = net__queue_take(egress, queue, priority);
    net__mark(sw, egress, queue, queued.packet, queued.marks, priority);
    if (usual) {
        net__port_send(egress, &sw->node.sim, now_ps, queue, queued.packet, queued.frame_bytes);
    } else {
        send_otherwise(sw, egress, now_ps, queue, &queued, logged);
    }
    sw->held_bytes -= queued.frame_bytes;
    net__release(sw, queued.ingress_port, priority, queued.frame_bytes);
    return (egress->waiting & (uint8_t)~stopped) != 0;
}

// Does the same on a port that is not usual. A PFC frame goes first.
static SIM_ALWAYS_INLINE bool serve_otherwise_as(net_switch_t *sw, net_port_t *egress,
                                                 sim_time_t now_ps, const bool logged)
{
    if (SIM_UNLIKELY(egress->controlled)) {
        const bool goes_on = (egress->waiting & (uint8_t)~egress->paused) != 0;
        send_late(sw, egress, net_port_take_control(egress), logged);
        return goes_on;
    }
    return serve_as(sw, egress, now_ps, false, logged);
}

static SIM_NOINLINE bool serve_otherwise(net_switch_t *sw, net_port_t *egress, sim_time_t now_ps)
{
    return serve_otherwise_as(sw, egress, now_ps, false);
}

// Starts the port's next frame now, if it may send one. Returns whether it has another to send.
static SIM_ALWAYS_INLINE bool serve(net_switch_t *sw, net_port_t *egress, sim_time_t now_ps,
                                    const bool logged)
{
    if (SIM_LIKELY(net__port_is_usual(egress))) {
        return serve_as(sw, egress, now_ps, true, logged);
    }
    return logged ? serve_otherwise_as(sw, egress, now_ps, true)
                  : serve_otherwise(sw, egress, now_ps);
}

// Replays the next departure of a late port. Returns false if it was the last one for now.
static SIM_ALWAYS_INLINE bool depart(net_switch_t *sw, net_port_t *port, const bool logged)
{
    const sim_time_t now_ps = port->busy_until_ps;
    sw->node.sim.now_ps = now_ps;
    sw->node.sim.events++;
    if (!serve(sw, port, now_ps, logged)) {
        be_on_time(sw, port);
        return false;
    }
    return true;
}

// Replays a late port's departures before end_ps. At least one is due before.
static SIM_NOINLINE void catch_up(net_switch_t *sw, net_port_t *port, sim_time_t end_ps)
{
    while (depart(sw, port, false) && port->busy_until_ps < end_ps) {
    }
}

static SIM_NOINLINE void catch_up_logged(net_switch_t *sw, net_port_t *port, sim_time_t end_ps)
{
    while (depart(sw, port, true) && port->busy_until_ps < end_ps) {
    }
}

// Replays the departures of all ports before end_ps and returns when the next one is due. now_ps
// becomes the time of the latest departure if that is later. Each round replays one departure per
// port, so that the next packet of each is prefetched meanwhile.
static SIM_ALWAYS_INLINE sim_time_t catch_up_all_as(net_switch_t *sw, sim_time_t end_ps,
                                                    const bool logged)
{
    sim_node_t *const node = &sw->node.sim;
    sim_time_t now_ps = node->now_ps;
    sim_time_t next_ps = 0;
    while (next_ps < end_ps) {
        next_ps = SIM_TIME_NEVER;
        for (uint32_t p = 0; p < sw->late_ports; p += 8) {
            for (uint64_t late = net__late(sw, p); late != 0; late &= late - 1) {
                net_port_t *const port = &sw->node.ports[p + net__late_first(late)];
                if (port->busy_until_ps < end_ps) {
                    now_ps = SIM_MAX(port->busy_until_ps, now_ps);
                    if (!depart(sw, port, logged)) {
                        continue;
                    }
                }
                next_ps = SIM_MIN(port->busy_until_ps, next_ps);
            }
        }
    }
    node->now_ps = now_ps;
    return next_ps;
}

static SIM_NOINLINE sim_time_t catch_up_all_logged(net_switch_t *sw, sim_time_t end_ps)
{
    return catch_up_all_as(sw, end_ps, true);
}

static sim_time_t catch_up_all(net_switch_t *sw, sim_time_t end_ps)
{
    return SIM_UNLIKELY(sw->node.log != NULL) ? catch_up_all_logged(sw, end_ps)
                                              : catch_up_all_as(sw, end_ps, false);
}

void net__switch_catch_up(net_switch_t *sw)
{
    (void)catch_up_all(sw, sw->node.sim.now_ps);
}

void net__switch_catch_up_port(net_switch_t *sw, net_port_t *port)
{
    const sim_time_t now_ps = sw->node.sim.now_ps;
    catch_up(sw, port, now_ps); // not logged: only "ecmp" runs late with a log
    sw->node.sim.now_ps = now_ps;
}

// Turns late ports into wakes, before events are handled one by one.
static SIM_NOINLINE void wake_all(net_switch_t *sw)
{
    for (uint32_t p = 0; p < sw->late_ports; p += 8) {
        for (uint64_t late = net__late(sw, p); late != 0; late &= late - 1) {
            net_port_t *const port = &sw->node.ports[p + net__late_first(late)];
            port->wake_pending = NET_WAKE_NONE;
            net_port_wake(port);
            sw->late[port->index] = 0;
        }
    }
}

// Takes room for a packet of a class that is lossy, or marked as it joins, or both.
static SIM_ALWAYS_INLINE bool admit_odd(net_switch_t *sw, const net_port_t *ingress,
                                        net_port_t *egress, net_packet_t *packet, uint32_t priority,
                                        bool trims)
{
    net_drop_reason_t reason;
    const bool admitted =
        trims && net__is_limited(sw, priority) ? net__admit_limited(sw, egress, packet, &reason)
        : (sw->lossless & (1u << priority)) != 0
            ? net__admit_shared(sw, ingress->received[priority], packet->frame_bytes)
            : net__admit_lossy(sw, egress, packet, &reason);
    if (admitted && (sw->marks_early & (1u << priority)) != 0) {
        net__mark_early(sw, egress, packet);
    }
    return admitted;
}

// Queues a packet that must wait for its port. Outstanding departures are not replayed first.
// Returns false, without any effect, if there is no room.
static SIM_ALWAYS_INLINE bool enqueue(net_switch_t *sw, const net_port_t *ingress,
                                      net_port_t *egress, net_class_t *queue, net_packet_t *packet,
                                      uint32_t priority, bool trims)
{
    const uint8_t bit = (uint8_t)(1u << priority);
    packet->ingress_port = ingress->index;
    if (SIM_LIKELY((sw->odd_classes & bit) == 0)) {
        if (SIM_UNLIKELY(
                !net__admit_shared(sw, ingress->received[priority], packet->frame_bytes))) {
            return false;
        }
    } else if (SIM_UNLIKELY(!admit_odd(sw, ingress, egress, packet, priority, trims))) {
        return false;
    }
    sw->held_bytes += packet->frame_bytes;
    net__queue_join(egress, queue, packet); // no trace: with listeners events go one by one
    // If only this class waits, the port is late already, or stopped.
    if (egress->waiting != bit) {
        if (SIM_LIKELY(egress->waiting == 0)) {
            egress->waiting = bit;
        } else {
            net__class_waits(egress, priority);
        }
        if (SIM_LIKELY(!(egress->paused & bit))) {
            be_late(sw, egress);
        }
    }
    return true;
}

// Makes all ports catch up and tries again to queue a packet. If there still is no room, drops the
// packet or stops its sender, as the exact loop does.
static void enqueue_crowded(net_switch_t *sw, net_port_t *egress, net_packet_t *packet)
{
    sim_node_t *const node = &sw->node.sim;
    const sim_time_t now_ps = node->now_ps;
    (void)catch_up_all(sw, now_ps);
    SIM_ASSERT(node->now_ps == now_ps);
    net__switch_enqueue(sw, egress, packet);
}

// Trims, queues or drops a packet when its queue or the buffer is full. The use of the buffer is
// known exactly only when all ports have caught up, so they do if the packet might not fit there.
static SIM_NOINLINE void enqueue_trimming(net_switch_t *sw, net_port_t *egress,
                                          net_packet_t *packet)
{
    const sim_time_t now_ps = sw->node.sim.now_ps;
    if (!net__is_limited(sw, packet->priority) ||
        packet->frame_bytes > net_switch_shared_free(sw) ||
        (egress->trace_points & (NET_TRACE_TRIM | NET_TRACE_DROP)) != 0) {
        (void)catch_up_all(sw, now_ps);
    }
    SIM_ASSERT(sw->node.sim.now_ps == now_ps);
    net__switch_enqueue_by_tables(sw, egress, packet);
}

// Makes all ports catch up if a listener will hear of this moment, as it may look at any port.
static inline void show_all(net_switch_t *sw, const net_port_t *port, uint32_t points)
{
    if (SIM_UNLIKELY((port->trace_points & points) != 0)) {
        (void)catch_up_all(sw, sw->node.sim.now_ps);
    }
}

static void pause_arrives(net_switch_t *sw, net_port_t *ingress, net_packet_t *packet)
{
    const sim_time_t now_ps = sw->node.sim.now_ps;
    show_all(sw, ingress, NET_TRACE_PAUSED | NET_TRACE_RESUMED | NET_TRACE_PFC);
    if (ingress->wake_pending == NET_WAKE_LATE && ingress->busy_until_ps < now_ps) {
        (sw->node.log != NULL ? catch_up_logged : catch_up)(sw, ingress, now_ps);
        sw->node.sim.now_ps = now_ps;
    }
    net__switch_pause_arrived(sw, ingress, packet);
}

// Takes a packet that does not enter the switch. Returns false if it was a pause frame, which may
// have added a wake.
static SIM_NOINLINE bool turn_away(net_switch_t *sw, net_port_t *ingress, net_packet_t *packet,
                                   net_entry_t entry)
{
    if (entry == NET_IS_PAUSE) {
        pause_arrives(sw, ingress, packet);
        return false;
    }
    show_all(sw, ingress, NET_TRACE_DROP);
    net_switch_refuse(ingress, packet, entry);
    return true;
}

// Shows a packet to the load balancer before its port is looked up. Returns false if the balancer
// took it. Sets *end_key to 0 if a timer or a wake has been added, or a peer was stopped.
static SIM_ALWAYS_INLINE bool enters(net_switch_t *sw, net_port_t *ingress, net_packet_t *packet,
                                     uint64_t *end_key)
{
    if (!sw->shows_packets || packet->kind == NET_PACKET_CONTROL) {
        return true;
    }
    const sim_node_t *const node = &sw->node.sim;
    const sim_time_t other_ps = SIM_MIN(node->wake_ps, node->timer_ps);
    const bool goes_on = sw->balance->enters(sw, ingress, packet);
    if (SIM_MIN(node->wake_ps, node->timer_ps) < other_ps || net__switch_must_be_exact(sw)) {
        *end_key = 0;
    }
    return goes_on;
}

// The arrivals of an instant, as far as they are known while somebody watches ties.
typedef struct tie {
    bool others_before;
    bool frees; // the port of the one before becomes free at this instant
} tie_t;

// Notes whether the order of arrivals of an instant matters to `packet`, which leaves by `egress`.
// If a port becomes free now, the last arrival is sent at once, and all others by a departure. So
// the order changes the number of events, unless all arrivals find such ports, or none does. It
// must not change how full a queue has been, either.
static void note_tie(net_switch_t *sw, const net_port_t *ingress, const net_port_t *egress,
                     const net_packet_t *packet, bool others_now, tie_t *tie)
{
    const bool frees =
        egress->wake_pending == NET_WAKE_NONE && sw->node.sim.now_ps == egress->busy_until_ps;
    const bool fills = egress->classes[packet->priority]->bytes_max < packet->frame_bytes;
    const bool counts = tie->others_before && tie->frees != frees;
    const bool waits = (tie->others_before || others_now) && frees;
    const bool differs =
        sw->chance != NULL && net__chance_arrival(sw, ingress->index, egress, packet, waits);
    sw->node.sim.ties_mattered = sw->node.sim.ties_mattered || counts;
    if (counts || differs || (waits && fills)) {
        sw->node.sim.ties_matter = true;
    }
    *tie = (tie_t){others_now, frees};
}

// Handles a packet that arrives now. Sets *end_key to 0 if a timer or a wake may have been added:
// the caller must then determine the next event anew. `by_table` is net_switch_t.by_table. tie is
// NULL if nobody watches ties.
static SIM_ALWAYS_INLINE void arrive(net_switch_t *sw, uint32_t port_index, net_packet_t *packet,
                                     bool others_now, bool routed, bool trust_dscp, bool trims,
                                     const bool logged, const bool by_table, tie_t *tie,
                                     uint64_t *end_key)
{
    net_port_t *const ingress = &sw->node.ports[port_index];
    const sim_time_t now_ps = sw->node.sim.now_ps;
    net_port_count_rx_only(ingress, packet);
    net_log_entry_t *const noted =
        logged ? net_log_received(sw->node.log, ingress, now_ps, packet) : NULL;
    if (by_table && !enters(sw, ingress, packet, end_key)) {
        return;
    }
    uint32_t out;
    const net_entry_t entry = net_switch_classify(
        sw, packet, by_table ? net__route_by_balance : net__route, routed, trust_dscp, &out);
    if (SIM_UNLIKELY(entry != NET_ENTERS)) {
        if (!turn_away(sw, ingress, packet, entry)) {
            *end_key = 0;
        }
        return;
    }
    net_port_t *const egress = &sw->node.ports[out];
    if (egress->wake_pending == NET_WAKE_LATE && egress->busy_until_ps < now_ps) {
        (logged ? catch_up_logged : catch_up)(sw, egress, now_ps);
        sw->node.sim.now_ps = now_ps;
    }
    if (tie != NULL) {
        note_tie(sw, ingress, egress, packet, others_now, tie);
    }
    const uint32_t priority = packet->priority;
    net_class_t *const queue = egress->classes[priority];
    const bool idle =
        egress->wake_pending == NET_WAKE_NONE &&
        (now_ps > egress->busy_until_ps || (now_ps == egress->busy_until_ps && !others_now));
    if (idle && SIM_LIKELY(net__port_is_usual(egress))) {
        net__port_send(egress, &sw->node.sim, now_ps, queue, packet, packet->frame_bytes);
    } else if (idle && !(egress->paused & (1u << priority))) {
        if (logged && egress->special == NET_SPECIAL_LOGGED) {
            pass_logged(sw, egress, queue, packet, noted);
        } else {
            net_port_transmit(egress, packet);
        }
    } else if (SIM_UNLIKELY(!enqueue(sw, ingress, egress, queue, packet, priority, trims))) {
        (trims ? enqueue_trimming : enqueue_crowded)(sw, egress, packet);
        *end_key = 0;
    }
}

// Handles arrivals up to the next wake or timer, or up to one that may change it. `routed`,
// `trust_dscp` and `trims` are arguments so that they are tested once for all packets; likewise
// `logged`, `by_table` and `tie`.
static SIM_ALWAYS_INLINE void take_all(net_switch_t *sw, bool routed, bool trust_dscp, bool trims,
                                       const bool logged, const bool by_table, tie_t *tie)
{
    sim_node_t *const node = &sw->node.sim;
    const sim_time_t start_ps = node->window_start_ps;
    const sim_time_t other_ps = SIM_MIN(node->wake_ps, node->timer_ps);
    const sim_time_t end_ps = other_ps < node->run_end_ps ? other_ps + 1 : node->run_end_ps;
    uint64_t end_key = (end_ps - start_ps) << SIM_PORT_BITS;
    const sim_mail_t *const first = node->mail;
    const sim_mail_t *mail = first;
    uint64_t digest = node->digest;
    while (mail->key < end_key) {
        const uint64_t key = mail->key;
        const sim_time_t now_ps = start_ps + (key >> SIM_PORT_BITS);
        const uint32_t port = sim_mail_port(mail);
        net_packet_t *const packet = mail->message;
        mail++;
        node->now_ps = now_ps;
        digest = sim__digest_key(digest, start_ps, key);
        const bool others_now = (mail->key ^ key) >> SIM_PORT_BITS == 0;
        arrive(sw, port, packet, others_now, routed, trust_dscp, trims, logged, by_table, tie,
               &end_key);
#ifdef SIM_DEAR_CHECKS
        net__switch_check(sw, port);
#endif
    }
    node->events += (uint64_t)(mail - first);
    node->digest = digest;
    node->mail = mail;
}

static SIM_NOINLINE void take_usual(net_switch_t *sw)
{
    take_all(sw, true, true, false, false, false, NULL);
}

static SIM_NOINLINE void take_trimming(net_switch_t *sw)
{
    take_all(sw, sw->routed, sw->trust_dscp, true, false, false, NULL);
}

// A switch with a log does not trim (net_node_keeps_packets).
static SIM_NOINLINE void take_logged(net_switch_t *sw)
{
    if (sw->routed && sw->trust_dscp) {
        take_all(sw, true, true, false, true, false, NULL);
    } else {
        take_all(sw, sw->routed, sw->trust_dscp, false, true, false, NULL);
    }
}

static SIM_NOINLINE void take_balanced(net_switch_t *sw)
{
    if (SIM_LIKELY(sw->routed && sw->trust_dscp && sw->limited_classes == 0)) {
        take_all(sw, true, true, false, false, true, NULL);
    } else {
        take_all(sw, sw->routed, sw->trust_dscp, sw->limited_classes != 0, false, true, NULL);
    }
}

// Handles arrivals while somebody watches ties, whose order matters to balancers and logs.
static SIM_NOINLINE void take_watched(net_switch_t *sw)
{
    tie_t tie = {0};
    take_all(sw, sw->routed, sw->trust_dscp, sw->limited_classes != 0, false, false, &tie);
}

static SIM_NOINLINE void take_arrivals(net_switch_t *sw)
{
    if (SIM_UNLIKELY(sw->node.sim.ties_watched) && !sw->by_table && sw->node.log == NULL) {
        take_watched(sw);
    } else if (SIM_LIKELY(sw->routed_by_dscp)) {
        take_usual(sw);
    } else if (sw->by_table) {
        take_balanced(sw);
    } else if (sw->node.log != NULL) {
        take_logged(sw);
    } else if (sw->limited_classes != 0) {
        take_trimming(sw);
    } else {
        take_all(sw, sw->routed, sw->trust_dscp, false, false, false, NULL);
    }
}

// Handles the next wake or timer.
static SIM_NOINLINE void take_other(net_switch_t *sw)
{
    sim_node_t *const node = &sw->node.sim;
    sim_event_t event;
    if (node->wake_ps > node->timer_ps) {
        (void)catch_up_all(sw, node->timer_ps + 1);
    }
    SIM_CHECK(sim_node_next(node, &event) && event.kind != SIM_EVENT_ARRIVAL);
    if (event.kind == SIM_EVENT_TIMER) {
        note_part(sw);
        event.timer->fn(node, event.timer);
        net_switch_event_over(sw, event.port);
        return;
    }
    net_port_t *const port = &sw->node.ports[event.port];
    port->wake_pending = NET_WAKE_NONE;
    const bool goes_on = sw->node.log != NULL ? serve(sw, port, node->now_ps, true)
                                              : serve(sw, port, node->now_ps, false);
    if (goes_on) {
        be_late(sw, port);
    }
}

void net__switch_run_late(sim_node_t *node)
{
    net_switch_t *const sw = (net_switch_t *)(void *)node;
    net__switch_warm_heads(sw);
    node->wake_ps =
        node->wake_first == node->wake_end ? SIM_TIME_NEVER : node->wakes[node->wake_first].time_ps;
    if (!node->alone || sim_ties_by_insertion(node) || (sw->node.log != NULL && sw->by_table)) {
        sw->node.one_by_one = true;
    }
    for (;;) {
        if (SIM_UNLIKELY(net__switch_must_be_exact(sw))) {
            wake_all(sw);
            note_part(sw);
            if (!net__switch_run_exactly(sw)) {
                return;
            }
        }
        take_arrivals(sw);
        if (SIM_UNLIKELY(net__switch_must_be_exact(sw))) {
            continue;
        }
        const sim_time_t mail_ps = sim__mail_time(node);
        const sim_time_t other_ps = SIM_MIN(node->wake_ps, node->timer_ps);
        if (mail_ps <= other_ps && mail_ps < node->run_end_ps) {
            continue;
        }
        if (other_ps >= node->run_end_ps) {
            break;
        }
        take_other(sw);
    }
    const sim_time_t next_ps = catch_up_all(sw, node->run_end_ps);
    node->wake_ps = SIM_MIN(next_ps, node->wake_ps);
}
