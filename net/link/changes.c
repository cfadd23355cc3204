// SPDX-License-Identifier: Apache-2.0
// net/link/changes.c - links that go down and up over time, and the routes that follow.
#include <string.h>

#include "kernel/steps.h"
#include "net/fixed_routes_internal.h"
#include "net/link/changes.h"
#include "net/link/layer.h"
#include "net/link/pause.h"
#include "net/link_state.h"
#include "net/network_internal.h"
#include "net/paths.h"
#include "net/ranks.h"
#include "net/routes_internal.h"

void net__changes_free(net_t *net)
{
    sim_free(net->change_timers);
    sim_free(net->changes);
}

void net__set_routes(const net_t *net, net_node_t *node, size_t state)
{
    if (node->forward != NULL && net->routes[state] != NULL) {
        node->forward->set_routes(node, &net->routes[state][node->forwarder]);
    }
}

// Returns the routes of every forwarding node, by node index, for the links that are up.
static net_routes_t *compute(const net_t *net, const bool *link_up)
{
    net_routes_t *const routes = net__routes_create(net);
    net->routes_ops->search(net, link_up, routes);
    net__fixed_apply(net, link_up, routes);
    net__routes_finish(net, routes);
    return routes;
}

// Computes the routes of each state that follows from the change number `first` on.
static void route_from(const net_t *net, size_t first)
{
    bool *const up = sim_alloc_array(net->link_count + 1, sizeof(*up));
    memset(up, true, net->link_count);
    for (size_t i = 0; i < net->change_count; i++) {
        up[net->changes[i].link] = net->changes[i].up;
        const bool last =
            i + 1 == net->change_count || net->changes[i + 1].time_ps != net->changes[i].time_ps;
        if (i >= first) {
            net->routes[i + 1] = last ? compute(net, up) : NULL;
        }
    }
    sim_free(up);
}

// Computes the routes of each state of the links: state 0 before all changes, state s + 1 after
// the first s + 1 changes. Of several changes at one instant (a switch that goes down) only the
// last has routes.
void net__changes_route(net_t *net)
{
    bool *const up = sim_alloc_array(net->link_count + 1, sizeof(*up));
    memset(up, true, net->link_count);
    net->state_count = net->change_count + 1;
    net->routes = sim_alloc_array(net->state_count, sizeof(*net->routes));
    net->unreached = sim_alloc(sizeof(*net->unreached));
    net->unreached->users = 1; // the network
    for (uint32_t leaf = 0; leaf < NET_HOPS_OF_A_PAGE; leaf++) {
        net->unreached->hops[leaf].base = NET_HOP_SCATTERED;
    }
    net->routes[0] = compute(net, up);
    sim_free(up);
    route_from(net, 0);
}

// Arms a node's timer for its next change. The ends of a link notice a change at once; all routes
// follow later. So each node walks the list of changes twice, by an even-numbered timer for its
// ports and by an odd-numbered one for its routes.
static void arm_next(net_change_timer_t *change, bool routes)
{
    const net_t *const net = change->net;
    if (change->next < net->change_count) {
        sim_timer_arm(&change->node->sim, &change->timer,
                      net->changes[change->next].time_ps +
                          (routes ? net->config.convergence_ps : 0));
    }
}

// Returns when a link next goes down, looking from the change with index `from` on.
static sim_time_t next_down(const net_t *net, uint32_t link, size_t from)
{
    for (size_t i = from; i < net->change_count; i++) {
        if (net->changes[i].link == link && !net->changes[i].up) {
            return net->changes[i].time_ps;
        }
    }
    return SIM_TIME_NEVER;
}

// Returns whether a link is up after the first `state` changes.
static bool up_in(const net_t *net, uint32_t link, size_t state)
{
    while (state > 0 && net->changes[state - 1].link != link) {
        state--;
    }
    return state == 0 || net->changes[state - 1].up;
}

bool net_changes_links(const net_t *net)
{
    return net->change_count != 0;
}

bool net_leads_to(const net_t *net, const net_port_t *port, uint32_t to, sim_time_t now_ps)
{
    size_t state = 0;
    while (state < net->change_count &&
           net->changes[state].time_ps + net->config.convergence_ps <= now_ps) {
        state++;
    }
    const net_node_t *const leaf = net_neighbour(port->node, port->index);
    if (!up_in(net, port->link, state) || !up_in(net, net_interface_port(net, to)->link, state)) {
        return false;
    }
    if (state == 0 || leaf->forward == NULL) {
        return true; // planes are not tried for hosts that never had a path
    }
    const uint32_t *ports;
    return net_routes_ports(leaf, &net->routes[state][leaf->forwarder], to, &ports) > 0;
}

// Takes the port down or up. next_down_ps: when the link next goes down after this, or
// SIM_TIME_NEVER.
static void set_down(net_port_t *port, bool down, sim_time_t next_down_ps)
{
    const bool changed = port->down != down;
    port->rare->next_down_ps = next_down_ps;
    port->changes = true;
    port->down = down;
    if (down) {
        port->node->route_mask = 0;
    }
    net__port_update_special(port);
    if (!changed) {
        return;
    }
    net_port_trace(port, NET_TRACE_LINK, NULL, down ? 0 : 1);
    if (down && port->paused != 0 && port->rare->stopped != 0) {
        // A link that goes down forgets its pauses, because nobody could release them.
        for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
            port->rare->paused_until_ps[p] = 0;
        }
        net__pause_expired(port);
    }
    if (port->layered) {
        net__layer_link_changed(port);
    }
    if (!down && port->line->config->flits) {
        net_port_wake(port); // a link of accelerators kept what waited for it
    }
}

static void ports_change(sim_node_t *sim_node, sim_timer_t *timer)
{
    net_change_timer_t *const change = SIM_CONTAINER_OF(timer, net_change_timer_t, timer);
    const net_link_change_t *const what = &change->net->changes[change->next++];
    const net_link_ends_t ends = change->net->links[what->link];
    const uint32_t number = sim_node->index;
    if (ends.a == number || ends.b == number) {
        const uint32_t index = ends.a == number ? ends.a_port : ends.b_port;
        net_port_t *const port = &change->node->ports[index];
        set_down(port, !what->up, next_down(change->net, what->link, change->next));
    }
    arm_next(change, false);
}

static void routes_change(sim_node_t *sim_node, sim_timer_t *timer)
{
    net_change_timer_t *const change = SIM_CONTAINER_OF(timer, net_change_timer_t, timer);
    (void)sim_node;
    net__set_routes(change->net, change->node, ++change->next);
    arm_next(change, true);
}

// Makes the timers of all nodes, which are not armed yet.
static void make_timers(net_t *net)
{
    net->change_timers = sim_alloc_array(net->node_count * 2, sizeof(*net->change_timers));
    for (size_t i = 0; i < net->node_count * 2; i++) {
        net_change_timer_t *const change = &net->change_timers[i];
        change->net = net;
        change->node = net->nodes[i / 2];
        sim_timer_init_background(&change->timer, i % 2 == 1 ? routes_change : ports_change);
    }
}

static void arm_all(net_t *net)
{
    for (size_t i = 0; i < net->node_count * 2; i++) {
        if (sim_is_here(net->sim, i / 2)) {
            arm_next(&net->change_timers[i], i % 2 == 1);
        }
    }
}

// Notes at a port when its link next goes down.
static void expect(net_port_t *port, sim_time_t down_ps)
{
    if (net__port_made(port)) {
        set_down(port, port->down, down_ps);
        port->lossless_guaranteed = false; // going down makes a link forget its pauses
    }
}

void net__changes_schedule(net_t *net)
{
    if (net->change_count == 0) {
        return;
    }
    for (size_t i = 0; i < net->change_count; i++) {
        const net_link_ends_t link = net->links[net->changes[i].link];
        const sim_time_t down_ps = next_down(net, net->changes[i].link, 0);
        expect(net__port_of(net, link.a, link.a_port), down_ps);
        expect(net__port_of(net, link.b, link.b_port), down_ps);
    }
    make_timers(net);
    arm_all(net);
}

// -- during a run by steps

sim_time_t net_link_quiet_ps(const net_t *net, uint32_t link, sim_time_t now_ps)
{
    const net_link_ends_t ends = net->links[link];
    const net_port_t *const ports[2] = {net__port_of(net, ends.a, ends.a_port),
                                        net__port_of(net, ends.b, ends.b_port)};
    sim_time_t quiet_ps = now_ps;
    for (int e = 0; e < 2; e++) {
        if (ports[e]->busy_until_ps != 0) {
            const sim_time_t arrived_ps =
                ports[e]->busy_until_ps + ports[e]->delay_less_gap_ps + ports[e]->down_first;
            quiet_ps = SIM_MAX(arrived_ps, quiet_ps);
        }
    }
    return quiet_ps;
}

// Computes the routes of the states from the change number `first` on, which was inserted. No node
// has come to one of them.
static void route_again(net_t *net, size_t first)
{
    for (size_t state = first + 1; state < net->state_count; state++) {
        net__routes_free(net, net->routes[state]);
    }
    net->state_count = net->change_count + 1;
    net->routes = sim_realloc_array(net->routes, net->state_count, sizeof(*net->routes));
    route_from(net, first);
}

static void insert_during_run(net_t *net, size_t index)
{
    const uint32_t link = net->changes[index].link;
    const net_link_ends_t ends = net->links[link];
    route_again(net, index);
    if (net->change_timers == NULL) {
        make_timers(net);
    }
    for (size_t i = 0; i < net->node_count * 2; i++) {
        SIM_CHECK(net->change_timers[i].next <= index);
        sim_timer_cancel(&net->change_timers[i].node->sim, &net->change_timers[i].timer);
    }
    arm_all(net);
    for (size_t i = 0; i < net->node_count; i++) {
        sim_touch(&net->nodes[i]->sim);
    }
    const sim_time_t down_ps = next_down(net, link, net->change_timers[(size_t)ends.a * 2].next);
    expect(net__port_of(net, ends.a, ends.a_port), down_ps);
    expect(net__port_of(net, ends.b, ends.b_port), down_ps);
}

void net_link_change_at(net_t *net, uint32_t link, sim_time_t time_ps, bool up)
{
    SIM_CHECK(!net->built || sim_options(net->sim)->steps);
    SIM_CHECK(link < net->link_count);
    SIM_GROW(net->changes, net->change_count, &net->change_capacity);
    size_t i = net->change_count++;
    while (i > 0 && net->changes[i - 1].time_ps > time_ps) {
        net->changes[i] = net->changes[i - 1];
        i--;
    }
    net->changes[i] = (net_link_change_t){link, up, time_ps};
    if (net->built) {
        insert_during_run(net, i);
    }
}
