// SPDX-License-Identifier: Apache-2.0
// examples/custom_middlebox.c - your own appliance by name in YAML: it inspects each packet.
//
// Shows world_registry_add_node_kind, net_forwarder_t, and a kind of node with an attribute. The
// inspector stands in a cable. It looks at the packets of each direction one after the other.
#include <stdio.h>
#include <string.h>

#include "net/forwarder.h"
#include "results/runner.h"

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

// Runs a flow of 1000 packets of 4096 bytes through the box; returns its time in us.
static double flow_us(const char *time)
{
    char text[512];
    (void)snprintf(text, sizeof(text),
                   "topology: {graph: {nodes: [{host: [a, b]}, {inspector: box}],\n"
                   "                   links: [a--box, box--b]}}\n"
                   "link: {rate: 100Gbps, delay: 1us}\n"
                   "node: {inspector: {time: %s}}\n"
                   "nic: {congestion-control: none, mtu: 4096}\n"
                   "traffic: [flows: {list: [a b 4096000 0us]}]\n",
                   time);
    world_error_t error = {.text = ""};
    world_registry_t *const registry = world_registry_create();
    world_scenario_t *scenario = NULL;
    results_run_t *run = NULL;
    double us = 0;
    const bool done =
        world_registry_add_node_kind(registry, &kind, &error) == SIM_OK &&
        world_scenario_parse(registry, "", text, strlen(text), &scenario, &error) == SIM_OK &&
        results_execute(scenario, &(results_options_t){.folder = NULL}, &run, &error) == SIM_OK &&
        results_number(run, "flows.fct_us.max", &us);
    printf("%s%.1f us with %s for each packet\n", done ? "" : error.text, us, time);
    results_run_destroy(run);
    world_scenario_destroy(scenario);
    world_registry_destroy(registry);
    return us;
}

int main(void)
{
    const double line_us = flow_us("1ns"); // 1000 frames of 4178 bytes on the wire at 100 Gbps
    const double box_us = flow_us("1us");  // 1000 packets wait for one another
    return line_us > 330 && line_us < 345 && box_us > 1000 && box_us < 1010 ? 0 : 1;
}
