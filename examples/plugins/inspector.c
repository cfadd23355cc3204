// SPDX-License-Identifier: Apache-2.0
// examples/plugins/inspector.c - your own appliance by name in YAML: it inspects each packet.
//
// The inspector stands in a cable. It looks at the packets of each direction one after the other.
// inspector.yaml has one between two hosts:
//     rocesim run inspector.yaml --set node.inspector.time=1us
#include "net/forwarder.h"
#include "world/plugin.h"

typedef struct lane { // the packets of one direction
    sim_timer_t done;
    net_packet_t *first;
    net_packet_t *last;
    net_port_t *out;
} lane_t;
typedef struct inspector {
    net_forwarder_t base; // first
    sim_time_t time_ps;
    lane_t lanes[2]; // by the port of arrival
} inspector_t;

static void inspected(sim_node_t *node, sim_timer_t *timer)
{
    lane_t *const lane = SIM_CONTAINER_OF(timer, lane_t, done);
    net_packet_t *const packet = lane->first;
    lane->first = packet->next;
    if (lane->first != NULL) {
        sim_timer_arm(node, timer, node->now_ps + ((inspector_t *)(void *)node)->time_ps);
    }
    net_forwarder_send(lane->out, packet);
}

static void take(net_forwarder_t *base, net_port_t *ingress, net_packet_t *packet)
{
    inspector_t *const inspector = (inspector_t *)(void *)base;
    lane_t *const lane = &inspector->lanes[ingress->index];
    packet->next = NULL;
    if (lane->first == NULL) {
        lane->first = packet;
        sim_timer_arm(&base->node.sim, &lane->done, base->node.sim.now_ps + inspector->time_ps);
    } else {
        lane->last->next = packet;
    }
    lane->last = packet;
}

static void built(net_forwarder_t *base)
{
    SIM_CHECKF(base->node.port_count == 2, "%s: expected two links", base->node.sim.name);
    for (uint32_t i = 0; i < 2; i++) {
        lane_t *const lane = &((inspector_t *)(void *)base)->lanes[i];
        lane->out = &base->node.ports[1 - i];
        sim_timer_init(&lane->done, inspected);
    }
}

static const net_forwarder_ops_t ops = {.packet = take, .built = built};

typedef struct config {
    sim_time_t time_ps;
} config_t;
static const sim_attr_t attrs[] = {
    SIM_ATTR("node.inspector.time", TIME, config_t, time_ps, .default_text = "100ns",
             .min_text = "1ns", .help = "time for which the inspector looks at a packet"),
};
static const sim_attr_table_t table = {"node.inspector", "node", sizeof(config_t), attrs, 1};

static net_node_t *create(net_t *net, const char *name, const void *config)
{
    inspector_t *const inspector = sim_alloc_lines(sizeof(*inspector)); // the simulation frees it
    inspector->time_ps = ((const config_t *)config)->time_ps;
    net_forwarder_init(net, &inspector->base, &ops, name);
    return &inspector->base.node;
}

static const world_node_kind_t kind = {"inspector", "looks at packets", &table, .create = create};

WORLD_PLUGIN
{
    return world_registry_add_node_kind(registry, &kind, error);
}
