// SPDX-License-Identifier: Apache-2.0
// net/network_internal.h - what the files of net/ share about a network.
#ifndef NET_NETWORK_INTERNAL_H
#define NET_NETWORK_INTERNAL_H

#include "net/port.h"

#define NET_NO_LEAF UINT32_MAX

// Where an interface is attached. Shared by all forwarding nodes.
typedef struct net_attachment {
    uint32_t leaf; // dense number of the node it hangs on; NO_LEAF: on another host
    uint32_t port; // of that node
} net_attachment_t;

// The equal-cost ports towards one leaf: a range of the switch's port list. count 0: unreachable.
typedef struct net_hop {
    uint32_t first;
    uint16_t count;
    uint16_t base; // the first of them where they are consecutive; else HOP_SCATTERED
} net_hop_t;
#define NET_HOP_SCATTERED UINT16_MAX

// Routes of one forwarding node, for one state of the links.
struct net_routes {
    net_hop_t *hops; // by leaf
    uint32_t *ports; // ranges of ports, each in the order of net_config_t.next_hops
    size_t port_count;
    size_t port_capacity;
    net_hop_t *sets; // the different ranges, while routes are computed
    size_t set_count;
    size_t set_capacity;
};

// Ports that net_route_fix gave a node towards a host.
typedef struct net_fixed_route {
    const net_node_t *node;
    const net_node_t *host;
    uint32_t *ports;
    uint32_t count;
} net_fixed_route_t;

#define NET_PAYLOAD_SIZES 3u

typedef struct net_link_change {
    uint32_t link;
    bool up;
    sim_time_t time_ps;
} net_link_change_t;

// A link change or a new set of routes, as it reaches one node.
typedef struct net_change_timer {
    sim_timer_t timer; // first
    struct net *net;
    net_node_t *node;
    size_t next; // in net->changes
} net_change_timer_t;

// A list of losses for one direction of a link.
typedef struct net_loss_list {
    uint32_t link;
    bool forward;
    struct net_loss_trace *trace;
} net_loss_list_t;

struct net {
    sim_t *sim;
    net_config_t config;
    sim_pool_t *packets;
    sim_pool_t *payloads[NET_PAYLOAD_SIZES]; // of rising size
    net_node_t **nodes;
    size_t node_count;
    size_t node_capacity;
    net_port_t *ports; // of all nodes, one after the other
    net_link_t *links;
    size_t link_count;
    size_t link_capacity;
    net_port_t **interfaces;
    size_t interface_count;
    net_attachment_t *attachments; // by interface
    net_node_t **leaves;
    uint32_t *leaf_of; // by node index; NO_LEAF: no hosts
    uint32_t leaf_count;

    net_fixed_route_t *fixed; // in the order of the calls
    size_t fixed_count;
    size_t fixed_capacity;

    net_link_change_t *changes; // by time
    size_t change_count;
    size_t change_capacity;
    net_change_timer_t *change_timers;
    net_routes_t **routes; // [state of the links][node index]; state 0: all up
    size_t state_count;
    uint32_t telemetry;                     // bit per net_telemetry_t that someone wants
    struct net_pint *pint;                  // NULL: nobody wants PINT
    struct net_draws *draws;                // net/switch/draws.h; NULL: random numbers are our own
    struct net_draws_stream **loss_streams; // of all links without a rate of their own; by link
    net_loss_list_t *loss_lists;
    size_t loss_list_count;
    size_t loss_list_capacity;
    struct sim_stream *decisions; // wait for their draws until the window is over; NULL: none do
    bool built;
};

// routing_search.c: routes of every forwarding node, by node index, with the links as link_up says.
net_routes_t *net__routes_compute(const net_t *net, const bool *link_up);
// Puts a set of ports into a node's routes, or finds it there: most leaves share theirs.
net_hop_t net__routes_intern(net_routes_t *routes, const uint32_t *ports, uint32_t count);
// routing_ordered.c: fills the hops for net_config_t.next_hops last-node-first.
void net__routes_search_ordered(const net_t *net, const bool *link_up, net_routes_t *routes);
void net__routes_free(const net_t *net, net_routes_t *routes);

// routing_fixed.c: before routes are computed, gives hosts of fixed routes entries of their own;
// puts fixed routes over searched ones; says of the first routes whether they lead to the hosts.
void net__fixed_prepare(net_t *net);
void net__fixed_apply(const net_t *net, const bool *link_up, net_routes_t *routes);
SIM_MUST_CHECK sim_err_t net__fixed_check(const net_t *net, sim_message_t *message);
void net__fixed_free(net_t *net);

// switch_check.c: what must hold of a port between events.
void net__port_check(const net_port_t *port);

// port.c
void net__port_init(net_port_t *port, net_node_t *node, uint32_t index);
// next_down_ps: when the link will go down the next time after this; NEVER.
void net__port_set_down(net_port_t *port, bool down, sim_time_t next_down_ps);

// decisions.c: makes net_t.draws, if they are wanted, and prepares for them.
void net__decisions_prepare(net_t *net);
void net__losses_prepare(net_t *net); // with ports
void net__decisions_free(net_t *net);

// loss.c: the state of a direction that loses, reorders or doubles; lists go with the network.
void net__loss_build(net_t *net, uint32_t link);
void net__loss_free(net_port_t *port);
void net__loss_lists_free(net_t *net);

// telemetry.c: prepares for the kinds that are wanted; makes a switch's port write them.
SIM_MUST_CHECK sim_err_t net__telemetry_build(net_t *net, sim_message_t *message);
void net__port_start_meter(net_port_t *port);

// routing.c: the hash of net_config_t.ecmp murmur3, seeded: of a request's flow, whose hash is its
// source port; of a packet, whose ports are the other way round in an answer.
uint32_t net__murmur3_flow(const net_t *net,
                           uint32_t seed,
                           uint32_t source,
                           uint32_t destination,
                           uint32_t flow_hash);
uint32_t net__murmur3_packet(const net_t *net, uint32_t seed, const net_packet_t *packet);

#endif // NET_NETWORK_INTERNAL_H
