// SPDX-License-Identifier: Apache-2.0
// net/switch/late.c - the loop of a switch with net's own parts: departures are made up for.
//
// A frame that leaves a queue needs no event of its own. What a port sends next, and when, follows
// from its own queue, to which nothing comes but by an arrival for it: so its departures up to now
// are made up for when a packet arrives for the port, and those of all ports before a timer fires
// and where a window ends. They happen at their own times, only their turn comes later.
//
// What ports share is the buffer. Its use is too high as long as departures are behind, and every
// threshold that follows from it too low: so a packet that finds room would have found it anyway.
// One that does not makes all ports catch up, and is looked at again. While a peer is stopped, each
// packet that leaves may let it go on at that instant: then, and where someone listens to each
// event or links are not usual (net_node_t.one_by_one), events go one by one (switch.c).
//
// An arrival comes before a departure at the same instant, and a departure before a timer: so a
// port catches up with what is before now, and with what is at now where a timer fires.
#include "net/switch/switch_internal.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))
// What is rare, out of the loop's way: it needs all registers there are.
#define APART __attribute__((noinline))

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

APART static uint32_t choose(net_port_t *egress, uint8_t candidates)
{
    uint32_t head_bytes[NET_PRIORITIES];
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        head_bytes[p] =
            candidates & (1u << p) ? net_queue_head(egress->classes[p])->frame_bytes : 0;
    }
    return net_port_choose(egress, candidates, head_bytes);
}

// The port's next frame starts now, if it may send one. Whether it is to be served again.
static ALWAYS_INLINE bool serve(net_switch_t *sw, net_port_t *egress, sim_time_t now_ps)
{
    const bool usual = net__port_is_usual(egress);
    const uint8_t stopped = SIM_LIKELY(usual) ? 0 : egress->paused;
    const uint8_t candidates = egress->waiting & (uint8_t)~stopped;
    if (SIM_UNLIKELY(!usual && egress->controlled)) {
        net_packet_t *const control = egress->control;
        net_port_set_control(egress, NULL);
        net_port_transmit(egress, control);
        return candidates != 0;
    }
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
    if (SIM_UNLIKELY(!usual && egress->special)) {
        net__port_transmit_special(egress, queued.packet);
    } else {
        net__port_send(egress, &sw->node.sim, now_ps, queue, queued.packet, queued.frame_bytes);
    }
    sw->held_bytes -= queued.frame_bytes;
    net__release(sw, queued.ingress_port, priority, queued.frame_bytes);
    return (egress->waiting & (uint8_t)~stopped) != 0;
}

// The next departure of a port that is late. False: it was the last for now.
static ALWAYS_INLINE bool depart(net_switch_t *sw, net_port_t *port)
{
    const sim_time_t now_ps = port->busy_until_ps;
    sw->node.sim.now_ps = now_ps;
    sw->node.sim.events++;
    if (!serve(sw, port, now_ps)) {
        be_on_time(sw, port);
        return false;
    }
    return true;
}

// All its departures before end_ps.
APART static void catch_up(net_switch_t *sw, net_port_t *port, sim_time_t end_ps)
{
    while (port->busy_until_ps < end_ps && depart(sw, port)) {
    }
}

// All ports; returns when the next of those that are late is due. Time is the latest departure's,
// or what it was if that is later. They go in rounds, a departure of each: the next packet of each
// is fetched meanwhile.
APART static sim_time_t catch_up_all(net_switch_t *sw, sim_time_t end_ps)
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
                    now_ps = port->busy_until_ps > now_ps ? port->busy_until_ps : now_ps;
                    if (!depart(sw, port)) {
                        continue;
                    }
                }
                next_ps = port->busy_until_ps < next_ps ? port->busy_until_ps : next_ps;
            }
        }
    }
    node->now_ps = now_ps;
    return next_ps;
}

// From here on events go one by one: what is late becomes a wake.
APART static void wake_all(net_switch_t *sw)
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

// Finds room for a packet of a class that is lossy, or marked as it joins, or both.
static ALWAYS_INLINE bool admit_odd(net_switch_t *sw,
                                    const net_port_t *ingress,
                                    net_port_t *egress,
                                    net_packet_t *packet,
                                    uint32_t priority)
{
    net_drop_reason_t reason;
    const bool admitted =
        (sw->lossless & (1u << priority)) != 0
            ? net__admit_shared(sw, ingress->received[priority], packet->frame_bytes)
            : net__admit_lossy(sw, egress, packet, &reason);
    if (admitted && (sw->marks_early & (1u << priority)) != 0) {
        net__mark_early(sw, egress, packet);
    }
    return admitted;
}

// A packet that must wait for its port. Room is found without looking at what has left meanwhile,
// and without a word to anyone if there is none: false.
static ALWAYS_INLINE bool enqueue(net_switch_t *sw,
                                  const net_port_t *ingress,
                                  net_port_t *egress,
                                  net_class_t *queue,
                                  net_packet_t *packet,
                                  uint32_t priority)
{
    const uint8_t bit = (uint8_t)(1u << priority);
    packet->ingress_port = ingress->index;
    if (SIM_LIKELY((sw->odd_classes & bit) == 0)) {
        if (SIM_UNLIKELY(
                !net__admit_shared(sw, ingress->received[priority], packet->frame_bytes))) {
            return false;
        }
    } else if (SIM_UNLIKELY(!admit_odd(sw, ingress, egress, packet, priority))) {
        return false;
    }
    sw->held_bytes += packet->frame_bytes;
    net__queue_join(egress, queue, packet); // who listens has events one by one
    // A port where just this class waits already is late, or stopped.
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

// There may be room once all ports have caught up. If not, the packet is dropped or its sender is
// stopped, as the one who comes first would be.
APART static void enqueue_crowded(net_switch_t *sw, net_port_t *egress, net_packet_t *packet)
{
    sim_node_t *const node = &sw->node.sim;
    const sim_time_t now_ps = node->now_ps;
    (void)catch_up_all(sw, now_ps);
    SIM_ASSERT(node->now_ps == now_ps);
    net__switch_enqueue(sw, egress, packet);
}

// Someone will hear of this moment, and may look at any port: all are to be where they belong.
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
    if (ingress->wake_pending == NET_WAKE_LATE) {
        catch_up(sw, ingress, now_ps);
        sw->node.sim.now_ps = now_ps;
    }
    net__switch_pause_arrived(sw, ingress, packet);
}

// Takes a packet that does not enter the switch. Returns false if it was a pause frame, which may
// have added a wake.
static APART bool turn_away(net_switch_t *sw,
                            net_port_t *ingress,
                            net_packet_t *packet,
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

// What a switch does with a packet that has arrived now. False: what comes next is to be found
// anew, since a timer or a wake may have been added.
static ALWAYS_INLINE bool arrive(net_switch_t *sw,
                                 uint32_t port_index,
                                 net_packet_t *packet,
                                 bool others_now,
                                 bool routed,
                                 bool trust_dscp)
{
    net_port_t *const ingress = &sw->node.ports[port_index];
    const sim_time_t now_ps = sw->node.sim.now_ps;
    net_port_count_rx_only(ingress, packet);
    uint32_t out;
    const net_entry_t entry = net_switch_classify(sw, packet, net__route, routed, trust_dscp, &out);
    if (SIM_UNLIKELY(entry != NET_ENTERS)) {
        return turn_away(sw, ingress, packet, entry);
    }
    net_port_t *const egress = &sw->node.ports[out];
    if (egress->wake_pending == NET_WAKE_LATE && egress->busy_until_ps < now_ps) {
        catch_up(sw, egress, now_ps);
        sw->node.sim.now_ps = now_ps;
    }
    const uint32_t priority = packet->priority;
    net_class_t *const queue = egress->classes[priority];
    const bool idle =
        egress->wake_pending == NET_WAKE_NONE &&
        (now_ps > egress->busy_until_ps || (now_ps == egress->busy_until_ps && !others_now));
    if (idle && SIM_LIKELY(net__port_is_usual(egress))) {
        net__port_send(egress, &sw->node.sim, now_ps, queue, packet, packet->frame_bytes);
    } else if (idle && !(egress->paused & (1u << priority))) {
        net_port_transmit(egress, packet);
    } else if (SIM_UNLIKELY(!enqueue(sw, ingress, egress, queue, packet, priority))) {
        enqueue_crowded(sw, egress, packet);
        return false;
    }
    return true;
}

// All arrivals up to what comes next besides them, or up to one that changes that. What a hop
// changes in a packet is asked once.
static ALWAYS_INLINE void take_all(net_switch_t *sw, bool routed, bool trust_dscp)
{
    sim_node_t *const node = &sw->node.sim;
    const sim_time_t start_ps = node->window_start_ps;
    const sim_time_t other_ps = node->wake_ps < node->timer_ps ? node->wake_ps : node->timer_ps;
    const sim_time_t end_ps = other_ps < node->run_end_ps ? other_ps + 1 : node->run_end_ps;
    const uint64_t end_key = (end_ps - start_ps) << SIM_PORT_BITS;
    const sim_mail_t *const first = node->mail;
    const sim_mail_t *mail = first;
    uint64_t digest = node->digest;
    bool goes_on = true;
    while (mail->key < end_key && goes_on) {
        const uint64_t key = mail->key;
        const sim_time_t now_ps = start_ps + (key >> SIM_PORT_BITS);
        const uint32_t port = sim_mail_port(mail);
        net_packet_t *const packet = mail->message;
        mail++;
        node->now_ps = now_ps;
        digest = sim__digest_key(digest, start_ps, key);
        goes_on =
            arrive(sw, port, packet, (mail->key ^ key) >> SIM_PORT_BITS == 0, routed, trust_dscp);
#ifdef SIM_DEAR_CHECKS
        net__switch_check(sw, port);
#endif
    }
    node->events += (uint64_t)(mail - first);
    node->digest = digest;
    node->mail = mail;
}

APART static void take_usual(net_switch_t *sw)
{
    take_all(sw, true, true);
}

APART static void take_arrivals(net_switch_t *sw)
{
    if (SIM_LIKELY(sw->routed_by_dscp)) {
        take_usual(sw);
    } else {
        take_all(sw, sw->routed, sw->trust_dscp);
    }
}

// The wake or timer that is next.
APART static void take_other(net_switch_t *sw)
{
    sim_node_t *const node = &sw->node.sim;
    sim_event_t event;
    if (node->wake_ps > node->timer_ps) {
        (void)catch_up_all(sw, node->timer_ps + 1);
    }
    SIM_CHECK(sim_node_next(node, &event) && event.kind != SIM_EVENT_ARRIVAL);
    if (event.kind == SIM_EVENT_TIMER) {
        event.timer->fn(node, event.timer);
        net_switch_event_over(sw, event.port);
        return;
    }
    net_port_t *const port = &sw->node.ports[event.port];
    port->wake_pending = NET_WAKE_NONE;
    if (serve(sw, port, node->now_ps)) {
        be_late(sw, port);
    }
}

void net__switch_run_late(sim_node_t *node)
{
    net_switch_t *const sw = (net_switch_t *)(void *)node;
    net__switch_warm_heads(sw);
    node->wake_ps =
        node->wake_first == node->wake_end ? SIM_TIME_NEVER : node->wakes[node->wake_first].time_ps;
    if (!node->alone || sim_ties_by_insertion(node)) {
        sw->node.one_by_one = true;
    }
    for (;;) {
        if (SIM_UNLIKELY(net__switch_must_be_exact(sw))) {
            wake_all(sw);
            if (!net__switch_run_exactly(sw)) {
                return;
            }
        }
        take_arrivals(sw);
        if (SIM_UNLIKELY(net__switch_must_be_exact(sw))) {
            continue;
        }
        const sim_time_t mail_ps = sim__mail_time(node);
        const sim_time_t other_ps = node->wake_ps < node->timer_ps ? node->wake_ps : node->timer_ps;
        if (mail_ps <= other_ps && mail_ps < node->run_end_ps) {
            continue;
        }
        if (other_ps >= node->run_end_ps) {
            break;
        }
        take_other(sw);
    }
    const sim_time_t next_ps = catch_up_all(sw, node->run_end_ps);
    node->wake_ps = next_ps < node->wake_ps ? next_ps : node->wake_ps;
}
