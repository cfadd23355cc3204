// SPDX-License-Identifier: Apache-2.0
// net/switch/balance/conweave_order.c - "conweave" at the destination's leaf: it answers requests,
// reports marks, and holds rerouted packets until the TAIL of the old path has come. Page:
// docs/models/load-balancing.md.
#include "net/balance_gauges.h"
#include "net/frame_opcodes.h"
#include "net/switch/balance/conweave_internal.h"

#define CONTROL_CLASS 7u // strict: before all other classes
#define CONTROL_TTL 64u

#define DRAIN_PS SIM_PS_PER_US // between two looks at a buffer that had no room

// The packets of one flow that wait for a TAIL: a paused queue of the port to the host.
typedef struct net_conweave_hold {
    sim_timer_t timer; // gives up waiting
    net_switch_t *sw;
    net_port_t *egress;
    net_packet_t *first;
    net_packet_t *last;
    uint32_t source;
    uint32_t destination;
    uint16_t udp_source_port;
    uint8_t epoch;
    bool draining; // released, but the buffer had no room for all
    struct net_conweave_hold *next;
} net_conweave_hold_t;

typedef struct receiving {
    uint64_t key;
    net_conweave_hold_t *hold; // NULL: it never held a packet
    sim_time_t heard_ps;       // when the last packet of the old path came, if `heard`
    sim_time_t notified_ps;    // when the last NOTIFY left
    uint16_t sent;             // stamp of the last packet of the old path
    uint8_t epoch;             // newest epoch among the packets that came
    bool heard;                // a packet of the old path came in this epoch
    bool tailed;               // this epoch's TAIL came, or was given up
    bool notified;
} receiving_t;

// Sends a control packet to the leaf of the flow's source. It looks like a CNP without BECN; the
// header says what it is.
static void tell(net_switch_t *sw, uint32_t source, uint32_t destination, uint16_t udp_source_port,
                 const net_conweave_header_t *header)
{
    const net_t *const net = sw->node.net;
    const uint32_t bytes =
        net_frame_bytes(ROCE_CNP, 0, net->config.tagged, net->config.ipv6) + sw->header_bytes;
    net_packet_t *const packet = net_packet_new(&sw->node, bytes);
    *packet = (net_packet_t){
        .source = destination,
        .destination = source,
        .flow_hash = net_flow_hash(net, destination, source, udp_source_port),
        .frame_bytes = (uint16_t)bytes,
        .udp_source_port = udp_source_port,
        .kind = NET_PACKET_ROCE,
        .priority = CONTROL_CLASS,
        .dscp = CONTROL_CLASS << 3,
        .ttl = CONTROL_TTL,
        .opcode = ROCE_CNP,
    };
    net_packet_aside(packet)->draw = 0;
    net__conweave_put(packet, header);
    net_conweave_t *const state = sw->balance_state;
    state->planned = false;
    const uint32_t port = net_switch_route(sw, packet);
    if (port == NET_NO_PORT) {
        net_port_drop(&sw->node.ports[0], packet, NET_DROP_NO_ROUTE);
        return;
    }
    packet->ingress_port = (uint16_t)port;
    net_switch_forward(sw, &sw->node.ports[port], packet);
}

// Returns whether an epoch comes after another one, modulo 4.
static bool is_after(uint8_t epoch, uint8_t other)
{
    const unsigned ahead = (unsigned)(epoch - other) & 3;
    return ahead == 1 || ahead == 2;
}

static void clear(net_conweave_hold_t *hold, uint8_t epoch)
{
    tell(hold->sw, hold->source, hold->destination, hold->udp_source_port,
         &(net_conweave_header_t){.kind = NET_CONWEAVE_CLEAR, .epoch = epoch});
}

static bool is_free(const net_switch_t *sw)
{
    return sw->config.balance.conweave_held == NET_CONWEAVE_FREE;
}

// Releases what is held. Packets beside the buffer enter it as it has room, charged to the port
// that they came from.
static void flush(net_conweave_hold_t *hold)
{
    net_switch_t *const sw = hold->sw;
    sim_timer_cancel(&sw->node.sim, &hold->timer);
    hold->draining = false;
    while (hold->first != NULL) {
        net_packet_t *const packet = hold->first;
        if (is_free(sw) && !net_switch_try_park(sw, hold->egress, packet)) {
            hold->draining = true;
            sim_timer_arm(&sw->node.sim, &hold->timer, sw->node.sim.now_ps + DRAIN_PS);
            return;
        }
        hold->first = packet->next;
        packet->next = NULL;
        net_switch_release(sw, hold->egress, packet);
    }
    hold->last = NULL;
}

static receiving_t *flow_of(net_switch_t *sw, const net_packet_t *packet)
{
    net_conweave_t *const state = sw->balance_state;
    state->received.entry_bytes = sizeof(receiving_t);
    return net__flow_entry(&state->received, net__flow_key(packet));
}

// Releases what is held because the TAIL does not come in time: it may be late or lost. The leaf
// sends CLEAR only when the TAIL comes. Until then the flow cannot move and overtake itself again.
static void gave_up(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    net_conweave_hold_t *const hold = SIM_CONTAINER_OF(timer, net_conweave_hold_t, timer);
    const net_packet_t like = {.source = hold->source,
                               .destination = hold->destination,
                               .udp_source_port = hold->udp_source_port};
    if (hold->draining) {
        flush(hold);
        return;
    }
    receiving_t *const flow = flow_of(hold->sw, &like);
    flow->tailed = flow->tailed || flow->epoch == hold->epoch;
    flush(hold);
}

static net_conweave_hold_t *hold_of(net_switch_t *sw, receiving_t *flow, const net_packet_t *packet)
{
    net_conweave_t *const state = sw->balance_state;
    if (flow->hold == NULL) {
        net_conweave_hold_t *const hold = sim_alloc(sizeof(*hold));
        sim_timer_init(&hold->timer, gave_up);
        hold->sw = sw;
        hold->egress = &sw->node.ports[sw->attachments[packet->destination].port];
        hold->source = packet->source;
        hold->destination = packet->destination;
        hold->udp_source_port = packet->udp_source_port;
        hold->next = state->holds;
        state->holds = hold;
        flow->hold = hold;
    }
    return flow->hold;
}

// Returns when waiting for the TAIL ends: when it should come, judged by the last packet of the old
// path in this epoch, and some time more. Packets of older epochs had another path.
static sim_time_t resume_ps(const net_switch_t *sw, const receiving_t *flow,
                            const net_conweave_header_t *header)
{
    const net_balance_config_t *const config = &sw->config.balance;
    const sim_time_t now_ps = sw->node.sim.now_ps;
    if (!flow->heard) {
        return now_ps + config->conweave_wait_ps + config->conweave_extra_ps;
    }
    const int16_t ahead = (int16_t)(uint16_t)(header->tailed - flow->sent);
    const sim_time_t later_ps = ahead > 0 ? (sim_time_t)ahead << NET_CONWEAVE_TIME_SHIFT : 0;
    const sim_time_t due_ps = flow->heard_ps + later_ps + config->conweave_extra_ps;
    return due_ps > now_ps ? due_ps : now_ps + 1;
}

// Does for a packet what the switch does before it looks up a port. Returns false if its TTL was
// used up and it is dropped.
static bool enter(net_switch_t *sw, const net_port_t *ingress, net_packet_t *packet)
{
    if (sw->routed && packet->ttl <= 1) {
        net_switch_refuse(&sw->node.ports[ingress->index], packet, NET_IS_EXPIRED);
        return false;
    }
    packet->ttl = (uint8_t)(packet->ttl - (sw->routed ? 1 : 0));
    packet->ingress_port = ingress->index;
    packet->priority = sw->trust_dscp ? (uint8_t)((uint32_t)packet->dscp >> 3) : packet->priority;
    return true;
}

static void append(net_conweave_hold_t *hold, net_packet_t *packet)
{
    packet->next = NULL;
    *(hold->first == NULL ? &hold->first : &hold->last->next) = packet;
    hold->last = packet;
}

// Lets a packet wait behind those of its flow that drain into the buffer. Returns false if none do.
static bool joins_drain(net_switch_t *sw, const receiving_t *flow, const net_port_t *ingress,
                        net_packet_t *packet)
{
    if (flow->hold == NULL || !flow->hold->draining) {
        return false;
    }
    if (enter(sw, ingress, packet)) {
        append(flow->hold, packet);
    }
    return true;
}

static bool hold_back(net_switch_t *sw, receiving_t *flow, const net_port_t *ingress,
                      net_packet_t *packet, const net_conweave_header_t *header)
{
    net_conweave_hold_t *const hold = hold_of(sw, flow, packet);
    if (hold->first != NULL && is_after(header->epoch, hold->epoch)) {
        flush(hold);
    }
    if (joins_drain(sw, flow, ingress, packet) || !enter(sw, ingress, packet) ||
        (!is_free(sw) && !net_switch_park(sw, hold->egress, packet))) {
        return false;
    }
    append(hold, packet);
    if (!sim_timer_armed(&hold->timer)) {
        hold->epoch = header->epoch;
        sim_timer_arm(&sw->node.sim, &hold->timer, resume_ps(sw, flow, header));
    }
    return false;
}

static void notify(net_switch_t *sw, receiving_t *flow, const net_packet_t *packet,
                   const net_conweave_header_t *header)
{
    const sim_time_t now_ps = sw->node.sim.now_ps;
    if (flow->notified && now_ps - flow->notified_ps < sw->config.balance.conweave_busy_ps / 2) {
        return;
    }
    flow->notified = true;
    flow->notified_ps = now_ps;
    tell(sw, packet->source, packet->destination, packet->udp_source_port,
         &(net_conweave_header_t){.kind = NET_CONWEAVE_NOTIFY, .path = header->path});
}

// Sends the packet to its host now. A TAIL goes before the packets that wait for it.
static bool pass_tail(net_switch_t *sw, receiving_t *flow, const net_port_t *ingress,
                      net_packet_t *packet, uint8_t epoch)
{
    net_conweave_hold_t *const hold = hold_of(sw, flow, packet);
    flow->tailed = true;
    if (!joins_drain(sw, flow, ingress, packet) && enter(sw, ingress, packet)) {
        net_switch_forward(sw, hold->egress, packet);
    }
    flush(hold);
    clear(hold, epoch);
    return false;
}

// Returns whether a packet's epoch is the newest one of its flow; a newer one begins.
static bool is_current(receiving_t *flow, uint8_t epoch)
{
    if (is_after(epoch, flow->epoch)) {
        flow->epoch = epoch;
        flow->heard = false;
        flow->tailed = false;
    }
    return epoch == flow->epoch;
}

bool net__conweave_arrives(net_switch_t *sw, const net_port_t *ingress, net_packet_t *packet)
{
    const net_conweave_header_t header = net__conweave_get(packet);
    receiving_t *const flow = flow_of(sw, packet);
    if (header.kind == NET_CONWEAVE_REQUEST) {
        tell(sw, packet->source, packet->destination, packet->udp_source_port,
             &(net_conweave_header_t){.kind = NET_CONWEAVE_REPLY, .epoch = header.epoch});
    }
    if (!is_current(flow, header.epoch)) {
        return !joins_drain(sw, flow, ingress, packet);
    }
    if (packet->ecn == NET_ECN_CE) {
        notify(sw, flow, packet, &header);
    }
    if (header.rerouted) {
        return flow->tailed ? !joins_drain(sw, flow, ingress, packet)
                            : hold_back(sw, flow, ingress, packet, &header);
    }
    flow->heard = true;
    flow->heard_ps = sw->node.sim.now_ps;
    flow->sent = header.sent;
    if (header.tail) {
        return pass_tail(sw, flow, ingress, packet, header.epoch);
    }
    if (joins_drain(sw, flow, ingress, packet)) {
        return false;
    }
    if (flow->hold != NULL && flow->hold->first != NULL) {
        if (is_after(header.epoch, flow->hold->epoch)) {
            flush(flow->hold); // the source has given up that epoch
        } else {
            // The old path is slower than it was: wait longer.
            const net_conweave_header_t held = net__conweave_get(flow->hold->first);
            sim_timer_cancel(&sw->node.sim, &flow->hold->timer);
            sim_timer_arm(&sw->node.sim, &flow->hold->timer, resume_ps(sw, flow, &held));
        }
    }
    return true;
}

void net__conweave_gauges(const net_switch_t *sw, net_balance_gauges_t *gauges)
{
    const net_conweave_t *const state = sw->balance_state;
    gauges->flows = state->sent.count + state->received.count;
    gauges->reroutes = state->reroutes;
    for (const net_conweave_hold_t *hold = state->holds; hold != NULL; hold = hold->next) {
        gauges->held_flows += hold->first != NULL;
        for (const net_packet_t *packet = hold->first; packet != NULL; packet = packet->next) {
            gauges->held_bytes += packet->frame_bytes;
        }
    }
}

void net__conweave_holds_free(net_conweave_t *state)
{
    while (state->holds != NULL) {
        net_conweave_hold_t *const hold = state->holds;
        state->holds = hold->next;
        sim_free(hold);
    }
}
