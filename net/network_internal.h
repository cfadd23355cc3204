// SPDX-License-Identifier: Apache-2.0
// net/network_internal.h - what the files of net/ share about a network.
#ifndef NET_NETWORK_INTERNAL_H
#define NET_NETWORK_INTERNAL_H

#include "net/models.h"

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

// What a node has for NET_HOPS_OF_A_PAGE leaves. Nodes that have the same share it: in a fat-tree
// there are few that differ, whatever its size.
#define NET_HOPS_OF_A_PAGE 64u
typedef struct net_hop_page {
    uint32_t users;
    net_hop_t hops[NET_HOPS_OF_A_PAGE];
} net_hop_page_t;

// Routes of one forwarding node, for one state of the links.
struct net_routes {
    net_hop_page_t **pages; // by leaf / NET_HOPS_OF_A_PAGE
    uint32_t *ports;        // ranges of ports, each in the order that net_config_t.routes gives
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
#define NET_RING_SIZES 4u
#define NET_RING_BYTES 128u
#define NET_RING_GROWTH 4u

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
    sim_pool_t *rings[NET_RING_SIZES];       // of queues, each NET_RING_GROWTH times the one before
    net_node_t **nodes;
    size_t node_count;
    size_t node_capacity;
    net_port_t *ports; // of all nodes, one after the other
    uint32_t port_count;
    net_class_t (*classes)[NET_PRIORITIES][NET_CLASS_PORTS]; // by uid, in blocks of so many ports
    net_received_t (*received)[NET_PRIORITIES][NET_RECEIVED_PORTS];
    net_port_rare_t *rare;
    net_meter_t *meters; // by port: of those that write telemetry
    char ***port_names;  // by node index, then by port; NULL: nobody has asked (port_names.c)
    net_link_t *links;
    size_t link_count;
    size_t link_capacity;
    net_link_config_t **link_configs; // that differ from the one before
    size_t link_config_count;
    size_t link_config_capacity;
    net_port_t **interfaces;
    size_t interface_count;
    net_attachment_t *attachments; // by interface
    net_node_t **leaves;
    uint32_t *leaf_of; // by node index; NO_LEAF: no hosts
    uint32_t leaf_count;
    net_hop_page_t *unreached; // of nodes that reach none of a page's leaves

    net_fixed_route_t *fixed; // in the order of the calls
    size_t fixed_count;
    size_t fixed_capacity;

    net_link_change_t *changes; // by time
    size_t change_count;
    size_t change_capacity;
    net_change_timer_t *change_timers;
    struct net_fault *faults; // link/faults.c
    size_t fault_count;
    size_t fault_capacity;
    struct net_fault_timer *fault_timers;
    size_t fault_timer_count;
    net_routes_t **routes; // [state of the links][node index]; state 0: all up
    size_t state_count;
    uint32_t telemetry;    // bit per net_telemetry_t that someone wants
    struct net_pint *pint; // NULL: nobody wants PINT
    net_loss_list_t *loss_lists;
    size_t loss_list_count;
    size_t loss_list_capacity;
    net_pint_ops_t pint_ops; // init NULL: net/telemetry.h
    net_dice_t dice;         // roll NULL: there is none
    net_link_rules_t link_rules;

    // net/models.h: rows by kind and name, and those that were chosen
    struct net_row *rows;
    size_t row_count;
    size_t row_capacity;
    net_extension_t *extensions;
    size_t extension_count;
    size_t extension_capacity;
    const net_balance_ops_t *balance;
    const net_routes_ops_t *routes_ops;
    const net_timing_ops_t *timing; // NULL: exact
    const net_framing_t *framing;
    bool built;
};

typedef struct net_row {
    const char *kind;
    const char *name;
    const void *table;
    const void *config; // NULL: it has no parameters
} net_row_t;

// How many blocks the classes of all ports take, at most: NET_CLASS_PORTS is the smaller one.
static inline size_t net__class_blocks(const net_t *net)
{
    return net->port_count / NET_CLASS_PORTS + 1;
}

// models.c
void net__register_own(net_t *net);
void net__registry_free(net_t *net);
// Finds the rows that the config names; switches' too.
SIM_MUST_CHECK sim_err_t net__choose_models(net_t *net, sim_message_t *message);
void net__extensions_before_build(net_t *net);
void net__extensions_with_ports(net_t *net);
// net/switch/setup.c: whether there are rows of the names in a switch's config.
SIM_MUST_CHECK sim_err_t net__switch_check_names(const net_node_t *node, sim_message_t *message);
extern const net_routes_ops_t net__routes_shortest; // net/route/search.c
extern const net_buffer_ops_t net__buffer_standard; // switch/buffer.c
extern const net_marking_ops_t net__marking_red;    // switch/marking.c
extern const net_balance_ops_t net__balance_ecmp;   // switch/balance.c

// net/link/changes.c: the routes of each state of the links; timers of the changes.
void net__changes_route(net_t *net);
void net__changes_schedule(net_t *net);
void net__changes_free(net_t *net);
// faults.c, likewise.
void net__faults_schedule(net_t *net);
void net__faults_free(net_t *net);
void net__set_routes(const net_t *net, net_node_t *node, size_t state);

// net/route/search.c: routes of every forwarding node, by node index, with the links as link_up
// says.
net_routes_t *net__routes_compute(const net_t *net, const bool *link_up);
// Puts a set of ports into a node's routes, or finds it there: most leaves share theirs.
net_hop_t net__routes_intern(net_routes_t *routes, const uint32_t *ports, uint32_t count);
void net__routes_free(const net_t *net, net_routes_t *routes);
static inline net_hop_t net__hop(net_hop_page_t *const *pages, uint32_t leaf)
{
    return pages[leaf / NET_HOPS_OF_A_PAGE]->hops[leaf % NET_HOPS_OF_A_PAGE];
}
void net__routes_put(net_routes_t *routes, uint32_t leaf, net_hop_t hop);

// net/route/fixed.c: before routes are computed, gives hosts of fixed routes entries of their own;
// puts fixed routes over searched ones; says of the first routes whether they lead to the hosts.
void net__fixed_prepare(net_t *net);
void net__fixed_apply(const net_t *net, const bool *link_up, net_routes_t *routes);
SIM_MUST_CHECK sim_err_t net__fixed_check(const net_t *net, sim_message_t *message);
void net__fixed_free(net_t *net);

// port_names.c
void net__port_names_free(const net_t *net, const net_node_t *node);

// net/switch/check.c: what must hold of a port between events.
void net__port_check(const net_port_t *port);

// port.c
void net__port_init(net_port_t *port, net_node_t *node, uint32_t index);
// Gives it what lies apart from it.
void net__port_place(net_port_t *port, uint32_t uid);
// The link's rate, with all that follows from it; no frame may be on the link.
void net__port_set_rate(net_port_t *port, uint64_t rate_bps);
// pause.c: those that have run out end.
void net__pause_expired(net_port_t *port);
// next_down_ps: when the link will go down the next time after this; NEVER.
void net__port_set_down(net_port_t *port, bool down, sim_time_t next_down_ps);

// net/loss/models.c: the state of a direction that loses, reorders or doubles; lists go with the
// network.
void net__loss_build(net_t *net, uint32_t link);
void net__loss_free(net_port_t *port);
void net__loss_lists_free(net_t *net);

// telemetry.c: prepares for the kinds that are wanted; makes a switch's port write them.
SIM_MUST_CHECK sim_err_t net__telemetry_build(net_t *net, sim_message_t *message);
void net__port_start_meter(net_port_t *port);

#endif // NET_NETWORK_INTERNAL_H
