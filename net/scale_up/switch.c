// SPDX-License-Identifier: Apache-2.0
// net/scale_up/switch.c - the switches that join accelerators: queues, copies and sums
// (docs/models/scale-up.md).
//
// A train of a message that is spread becomes one for each receiver. Trains of messages that are
// added up pass a unit of the switch one after the other; the last one of its place in the messages
// becomes the sum, which goes to their common receiver.
#include "kernel/ring.h"
#include "kernel/timer.h"
#include "net/port_queue.h"
#include "net/scale_up/kinds.h"

#define NO_INGRESS UINT16_MAX // of a train whose room behind a link is given back elsewhere

// A train that the unit of a switch adds up.
typedef struct added {
    sim_time_t end_ps;
    net_packet_t *packet;
} added_t;

// A switch: a queue for each port and virtual channel, and a unit that adds up.
typedef struct flit_switch {
    net__flit_node_t base;   // first
    SIM_RING(added_t) added; // in the unit
    sim_timer_t timer;       // of the first of them
    sim_time_t unit_ps;      // when the unit is free
    uint64_t unit_bps;
} flit_switch_t;

static flit_switch_t *switch_of(net__flit_node_t *node)
{
    return (flit_switch_t *)(void *)node;
}

static void serve(net__flit_node_t *node, net_port_t *port)
{
    net_queued_t sent;
    if (!port->down && net__flit_send_queued(node, port, &sent)) {
        if (sent.ingress_port != NO_INGRESS) {
            net__flit_free(node, sent.ingress_port, port->turn, sent.frame_bytes);
        }
        if (port->waiting != 0) {
            net_port_wake(port);
        }
    }
}

static void forward(net__flit_node_t *node, net_packet_t *packet, uint32_t ingress)
{
    net_port_t *const egress = &node->node.ports[packet->destination];
    packet->ingress_port = (uint16_t)ingress;
    net_queue_push(egress, packet);
    net__flit_wake(node, egress);
}

// Sends a train like another one, of a message of its own.
static void forward_like(net__flit_node_t *node, const net_packet_t *packet, net_put_t *put,
                         uint32_t ingress)
{
    net_packet_t *const copy =
        net__train_new(node, put, packet->priority, packet->payload_bytes, 0);
    copy->source = packet->source;
    copy->destination = put->to;
    forward(node, copy, ingress);
}

// Sends a train to all receivers. Its room behind the link is free when the last copy has left the
// queue that it joins last.
static void spread(net__flit_node_t *node, net_port_t *ingress, net_packet_t *packet)
{
    const net_put_group_t *const group = packet->train.put->group;
    for (uint32_t i = 0; i < group->members; i++) {
        forward_like(node, packet, group->puts[i],
                     i + 1 == group->members ? ingress->index : NO_INGRESS);
    }
    net_packet_deliver_empty(&node->node, packet);
}

// -- sums

static void added(sim_node_t *sim, sim_timer_t *timer)
{
    flit_switch_t *const own = switch_of((net__flit_node_t *)(void *)sim);
    net__flit_node_t *const node = &own->base;
    net_packet_t *const packet = SIM_RING_POP(&own->added).packet;
    net_put_group_t *const group = packet->train.put->group;
    if (SIM_RING_COUNT(&own->added) > 0) {
        sim_timer_arm(sim, timer, SIM_RING_AT(&own->added, own->added.first).end_ps);
    }
    net__flit_free(node, packet->ingress_port, packet->priority, packet->frame_bytes);
    if (++group->counts[packet->train.number] == group->members) {
        forward_like(node, packet, group->puts[0], NO_INGRESS);
    }
    net_packet_deliver_empty(&node->node, packet);
}

static void add(net__flit_node_t *node, net_port_t *ingress, net_packet_t *packet)
{
    flit_switch_t *const own = switch_of(node);
    const sim_time_t now_ps = node->node.sim.now_ps;
    packet->ingress_port = ingress->index;
    own->unit_ps =
        SIM_MAX(own->unit_ps, now_ps) + packet->payload_bytes * 8 * SIM_PS_PER_S / own->unit_bps;
    if (SIM_RING_COUNT(&own->added) == 0) {
        sim_timer_arm(&node->node.sim, &own->timer, own->unit_ps);
    }
    SIM_RING_PUSH(&own->added, (added_t){own->unit_ps, packet});
}

static void take_train(net__flit_node_t *node, net_port_t *ingress, net_packet_t *packet)
{
    if (SIM_LIKELY(!packet->train.grouped)) {
        forward(node, packet, ingress->index);
    } else if (packet->train.put->kind == NET_PUT_SUM) {
        add(node, ingress, packet);
    } else {
        spread(node, ingress, packet);
    }
}

static void fini(net__flit_node_t *node)
{
    SIM_RING_FINI(&switch_of(node)->added);
}

static const net__flit_ops_t ops = {.train = take_train, .serve = serve, .fini = fini};

net__flit_node_t *net__flit_switch_create(net_t *net, uint32_t accelerators,
                                          const net_scale_up_config_t *config, const char *name)
{
    flit_switch_t *const own = sim_alloc_lines(sizeof(*own));
    const uint64_t link_bps = net_scale_up_rate_bps(config) / net_scale_up_switches(config);
    own->unit_bps = config->reduce_bps == SIM_AUTO ? accelerators * link_bps : config->reduce_bps;
    sim_timer_init(&own->timer, added);
    net__flit_node_init(net, &own->base, &ops, config, name);
    return &own->base;
}
