// SPDX-License-Identifier: Apache-2.0
// net/network_internal.h - the network's state and the functions that the files of net/ share.
#ifndef NET_NETWORK_INTERNAL_H
#define NET_NETWORK_INTERNAL_H

#include <pthread.h>

#include "kernel/fields.h"
#include "kernel/ranks.h"
#include "net/models.h"

#define NET_NO_LEAF UINT32_MAX
#define NET_FORWARDERS_MAX (1u << 24) // net_node_t.forwarder

// The node and port to which an interface is attached. All forwarding nodes read one array of
// these.
typedef struct net_attachment {
    uint32_t leaf; // number of the forwarding node that it is linked to; NO_LEAF: a host
    uint32_t port; // port of that node
} net_attachment_t;

// The equal-cost ports towards one leaf: a range of net_routes.ports. count 0: unreachable.
typedef struct net_hop {
    uint32_t first;
    uint16_t count;
    uint16_t base; // first port if the ports are consecutive; else HOP_SCATTERED
} net_hop_t;
#define NET_HOP_SCATTERED UINT16_MAX

// The entries of a node for NET_HOPS_OF_A_PAGE leaves. Nodes with equal entries share the page: in
// a fat-tree few pages differ, whatever its size.
#define NET_HOPS_OF_A_PAGE 64u
typedef struct net_hop_page {
    uint32_t users;
    net_hop_t hops[NET_HOPS_OF_A_PAGE];
} net_hop_page_t;

// Routes of one forwarding node, for one state of the links.
struct net_routes {
    net_hop_page_t **pages; // by leaf / NET_HOPS_OF_A_PAGE
    bool shares_pages;      // the array is that of a node before this one
    bool shares_ports;      // the array of ports is that of a node before this one
    uint32_t *ports;        // ranges of ports, each in the order that net_config_t.routes defines
    size_t port_count;
    size_t port_capacity;
    net_hop_t *sets; // distinct ranges so far; only while routes are computed
    size_t set_count;
    size_t set_capacity;
};

// The ports that net_route_fix gave a node towards a host.
typedef struct net_fixed_route {
    const net_node_t *node;
    const net_node_t *host;
    uint32_t *ports;
    uint32_t count;
} net_fixed_route_t;

#define NET_PAYLOAD_SIZES 4u
extern const uint32_t net__payload_sizes[NET_PAYLOAD_SIZES]; // bytes, rising; net/network.c
#define NET_RING_SIZES 4u
#define NET_RING_BYTES 128u
#define NET_RING_GROWTH 4u

// net/link/listeners.c
typedef struct net_listeners net_listeners_t;
// Two lists of listeners: the second has one more. Each is NULL or used here.
typedef struct net_grown_listeners {
    net_listeners_t *from;
    net_listeners_t *to;
} net_grown_listeners_t;

typedef struct net_link_change {
    uint32_t link;
    bool up;
    sim_time_t time_ps;
} net_link_change_t;

// A timer that applies link changes, or new routes, to one node.
typedef struct net_change_timer {
    sim_timer_t timer; // first
    struct net *net;
    net_node_t *node;
    size_t next; // index in net->changes of the next one to apply
} net_change_timer_t;

// A list of losses for one direction of a link. The network owns the trace.
typedef struct net_loss_list {
    uint32_t link;
    bool forward;
    struct net_loss_trace *trace;
} net_loss_list_t;

// The facts about a host that was let go. like 0: the node was never let go.
typedef struct net_gone {
    uint32_t like; // 1 + number of a host that it is made like
    uint32_t name; // place in net->gone_names
    uint16_t port_count;
    uint8_t planes;
} net_gone_t;

struct net {
    sim_t *sim;
    net_config_t config;
    uint32_t frame_bytes_max; // for which headroom is computed
    sim_pool_t *packets;
    sim_pool_t *payloads[NET_PAYLOAD_SIZES]; // by rising size
    sim_pool_t *rings[NET_RING_SIZES];       // for queues; sizes grow by NET_RING_GROWTH
    net_node_t **nodes;                      // NULL where a host was let go
    size_t node_count;
    size_t node_capacity;
    uint32_t forwarder_count;
    net_port_t *ports; // of all nodes, in node order
    uint32_t port_count;
    net_class_t (*classes)[NET_PRIORITIES][NET_CLASS_PORTS]; // by uid / NET_CLASS_PORTS
    net_received_t (*received)[NET_PRIORITIES][NET_RECEIVED_PORTS];
    net_port_rare_t *rare;
    net_meter_t *meters; // by port; only switches' ports use them
    // By port. They are apart because runs listen to all ports, and most write nothing to `rare`.
    net_listeners_t **listeners;
    net_grown_listeners_t grown_listeners[4];
    uint32_t grown_count; // so far
    char ***port_names;   // by node index, then by port; NULL: not asked for yet (port_names.c)
    net_link_ends_t *links;
    size_t link_count;
    size_t link_capacity;
    net_link_config_t **link_configs; // consecutive links with equal settings share one
    size_t link_config_count;
    size_t link_config_capacity;
    net_line_t **lines; // by number of the link's configuration: the lines of its ports
    pthread_mutex_t making_lines;
    net_port_t **interfaces;
    size_t interface_count;
    net_attachment_t *attachments; // by interface
    net_node_t **leaves;           // by leaf number
    uint32_t *leaf_of;             // by node index; NO_LEAF: the node has no hosts
    uint32_t leaf_count;
    net_hop_page_t *unreached; // the shared page of nodes that reach none of its leaves

    net_fixed_route_t *fixed; // in the order of the calls
    size_t fixed_count;
    size_t fixed_capacity;

    net_link_change_t *changes; // ordered by time
    size_t change_count;
    size_t change_capacity;
    net_change_timer_t *change_timers;
    struct net_fault *faults; // used by net/link/faults.c, as the next five
    size_t fault_count;
    size_t fault_capacity;
    struct net_fault_timer *fault_timers;
    size_t fault_timer_count;
    net_routes_t **routes; // [state of the links][node index]; state 0: all links are up
    size_t state_count;
    uint32_t telemetry;    // a bit for each net_telemetry_t that is wanted
    struct net_pint *pint; // NULL: PINT is not wanted
    net_loss_list_t *loss_lists;
    size_t loss_list_count;
    size_t loss_list_capacity;
    net_pint_ops_t pint_ops; // init NULL: the computation of net/telemetry.h
    net_dice_t dice;         // roll NULL: there is no common source
    net_link_rules_t link_rules;

    // net/models.h: all registered rows, then the selected ones
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
    // In ranks (kernel/ranks.h): ports and NICs of other ranks are made when they are asked for.
    bool partial;
    uint32_t *port_links;  // by uid: number of the port's link
    uint32_t *first_ports; // by node: uid of its first port
    const net_again_t *again;
    net_gone_t *gone; // by node: hosts that were let go; NULL: none was
    char *gone_names;
    size_t plane0_count; // interfaces of plane 0, which come first
    pthread_mutex_t making_ports;
    pthread_mutex_t making_nodes;
    pthread_mutex_t making_hosts; // is taken while making_ports is held, too
    uint64_t loss_events_beyond;  // of links of other ranks, less their lost frames; after the run
    uint64_t in_flight_elsewhere; // packets of other ranks, after the run (net/carry.h)
    size_t plain_hosts;           // net_host_is_plain
    // used by net/carry.c
    bool carries_aside[UINT8_MAX + 1]; // by opcode: packets go with their cold part
    net_packet_t **spares;             // packets that left, for those that arrive; NULL: none yet
    size_t spare_count;
};

typedef struct net_row {
    const char *kind;
    const char *name;
    const void *table;
    const void *config; // NULL: the row has no parameters
} net_row_t;

// Returns how many blocks of NET_CLASS_PORTS ports hold all ports; NET_RECEIVED_PORTS is larger.
static inline size_t net__class_blocks(const net_t *net)
{
    return net->port_count / NET_CLASS_PORTS + 1;
}

// Returns the plane of a host's port; ports that are left over behind the planes' are in plane 0.
static inline uint32_t net__plane_of(uint32_t planes, uint32_t port_count, uint32_t port)
{
    return planes <= 1 || port >= port_count / planes * planes ? 0 : port % planes;
}

static inline const net_link_config_t *net__link_config(const net_t *net, uint32_t link)
{
    return net->link_configs[net->links[link].config];
}

// net/models.c: registration and look-up of models
void net__registry_free(net_t *net);
void net__extensions_before_build(net_t *net);
void net__extensions_with_ports(net_t *net);
// net/switch/setup.c: fails if a switch's config names a model that is not registered.
SIM_MUST_CHECK sim_err_t net__switch_check_names(const net_node_t *node, sim_message_t *message);
// net/switch/setup.c: selects the loop of a node that got a log.
void net__switch_logged(net_node_t *node);
extern const net_routes_ops_t net__routes_shortest; // net/route/search.c
extern const net_buffer_ops_t net__buffer_standard; // net/switch/buffer.c
extern const net_buffer_ops_t net__buffer_channels; // net/switch/channels.c
extern const net_buffer_ops_t net__buffer_trimming; // net/switch/trimming.c
extern const net_marking_ops_t net__marking_red;    // net/switch/marking.c
extern const net_balance_ops_t net__balance_ecmp;   // net/switch/balance/ecmp.c
// net/switch/balance/table.c: adds net's own load balancers.
void net__register_balances(net_t *net);

// net/link/changes.c: computes the routes of each state of the links; arms the timers of changes.
void net__changes_route(net_t *net);
void net__changes_schedule(net_t *net);
void net__changes_free(net_t *net);
// net/link/faults.c: arms the timers of faults.
void net__faults_schedule(net_t *net);
void net__faults_free(net_t *net);
// net/link/changes.c: gives a forwarding node the routes of one state of the links.
void net__set_routes(const net_t *net, net_node_t *node, size_t state);

// net/route/entries.c: create makes routes without entries for all forwarding nodes, by node index;
// finish frees the memory that only adding entries needs.
net_routes_t *net__routes_create(const net_t *net);
void net__routes_finish(const net_t *net, net_routes_t *routes);
void net__routes_free(const net_t *net, net_routes_t *routes);
// Returns the range that holds these ports, adding it if no recent range is equal.
net_hop_t net__routes_intern(net_routes_t *routes, const uint32_t *ports, uint32_t count);
// Drops one user of a page and frees it after the last.
void net__hop_page_release(net_hop_page_t *page);
static inline net_hop_t net__hop(net_hop_page_t *const *pages, uint32_t leaf)
{
    return pages[leaf / NET_HOPS_OF_A_PAGE]->hops[leaf % NET_HOPS_OF_A_PAGE];
}
// Sets a node's entry for a leaf; the node gets a page of its own if it shared it.
void net__routes_put(net_routes_t *routes, uint32_t leaf, net_hop_t hop);

// net/route/fixed.c: prepare gives hosts with fixed routes leaf numbers of their own, before routes
// are computed; apply writes fixed routes over searched ones; check fails if they miss a host.
void net__fixed_prepare(net_t *net);
void net__fixed_apply(const net_t *net, const bool *link_up, net_routes_t *routes);
SIM_MUST_CHECK sim_err_t net__fixed_check(const net_t *net, sim_message_t *message);
void net__fixed_free(net_t *net);

// net/port_names.c
void net__port_names_free(const net_t *net, const net_node_t *node);

// net/switch/check.c: SIM_CHECKs the invariants of a port between two events.
void net__port_check(const net_port_t *port);

// net/gone.c: frees what is known of hosts that were let go.
void net__gone_free(net_t *net);

// -- carry.c

extern const sim_fields_t net__tally_fields; // of net_tally_t

// Finds which packets go to other ranks with their cold part, when all nodes are built.
void net__carry_build(net_t *net);
// net/network.c: sets the fields of a registered node that all kinds share.
void net__node_fill(net_t *net, net_node_t *node, net_node_kind_t kind, net_node_built_fn built);

// net/parts.c: makes the ports of this rank's nodes and those linked to them; frees what only ranks
// need. In one process all ports are made.
void net__parts_make_ports(net_t *net);
void net__parts_free(net_t *net);
// Returns how many packets exist.
static inline uint64_t net__packets_live(const net_t *net)
{
    return sim_pool_live(net->packets) - net->spare_count;
}

static inline bool net__port_made(const net_port_t *port)
{
    return __atomic_load_n(&port->node, __ATOMIC_ACQUIRE) != NULL;
}
// Makes the port, if nobody has, without a channel, and returns it.
net_port_t *net__port_make(net_t *net, net_port_t *port);
// Returns the address of a port, which need not have been made. After net__parts_make_ports.
net_port_t *net__port_of(const net_t *net, uint32_t node, uint32_t index);

// net/link/port.c
void net__port_init(net_port_t *port, net_node_t *node, uint32_t index);
// Points the port to its entries in the network's arrays (classes, received, rare, meters).
void net__port_place(net_port_t *port, uint32_t uid);
// Makes the port an end of a link and gives it its line.
void net__port_join(net_port_t *port, uint32_t link, bool is_a);
// Sets all fields that follow from the port's line. No frame may be on the link.
void net__port_set_speed(net_port_t *port);
void net__lines_free(net_t *net);
// Returns when the port's link next goes down.
static inline sim_time_t net__port_next_down(const net_port_t *port)
{
    return SIM_UNLIKELY(port->changes) ? port->rare->next_down_ps : SIM_TIME_NEVER;
}
// net/link/listeners.c: of a port that ends, and of a network whose ports have ended.
void net__listeners_leave(const net_port_t *port);
void net__listeners_free(net_t *net);
// net/link/pause.c: ends the pauses whose time has run out.
void net__pause_expired(net_port_t *port);

// net/loss/models.c: build makes the state of both directions of a link that loses, reorders or
// duplicates frames; free releases one direction's, lists_free all loss lists.
void net__loss_build(net_t *net, uint32_t link);
// Takes the losses out of a port's configuration if they are not those of its direction.
void net__loss_direct(net_port_t *port, bool forward);
void net__loss_free(net_port_t *port);
void net__loss_lists_free(net_t *net);

// net/wire/telemetry.c: build prepares the wanted kinds; start makes a switch's port write them.
SIM_MUST_CHECK sim_err_t net__telemetry_build(net_t *net, sim_message_t *message);
void net__port_start_meter(net_port_t *port);

#endif // NET_NETWORK_INTERNAL_H
