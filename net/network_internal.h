// SPDX-License-Identifier: Apache-2.0
// net/network_internal.h - the network's state and the functions that the files of net/ share.
#ifndef NET_NETWORK_INTERNAL_H
#define NET_NETWORK_INTERNAL_H

#include <pthread.h>

#include "kernel/ranks.h"
#include "net/extensions.h"
#include "net/link/listeners.h"
#include "net/nodes.h"

#define NET_NO_LEAF UINT32_MAX
#define NET_FORWARDERS_MAX (1u << 24) // net_node_t.forwarder

#define NET_PAYLOAD_SIZES 4u
extern const uint32_t net__payload_sizes[NET_PAYLOAD_SIZES]; // bytes, rising; net/network.c
#define NET_RING_SIZES 4u
#define NET_RING_BYTES 128u
#define NET_RING_GROWTH 4u

// The node and port to which an interface is attached. All forwarding nodes read one array of
// these.
typedef struct net_attachment {
    uint32_t leaf; // number of the forwarding node that it is linked to; NO_LEAF: a host
    uint32_t port; // port of that node
} net_attachment_t;

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
    struct net_hop_page *unreached; // the shared page of nodes that reach none of its leaves

    struct net_fixed_route *fixed; // in the order of the calls
    size_t fixed_count;
    size_t fixed_capacity;

    struct net_link_change *changes; // ordered by time
    size_t change_count;
    size_t change_capacity;
    struct net_change_timer *change_timers;
    struct net_fault *faults; // used by net/link/faults.c, as the next six
    size_t fault_count;
    size_t fault_capacity;
    struct net_fault_timer **fault_timers;
    size_t fault_timer_count;
    size_t fault_timer_capacity;
    net_routes_t **routes; // [state of the links][node index]; state 0: all links are up
    size_t state_count;
    uint32_t telemetry;    // a bit for each net_telemetry_t that is wanted
    struct net_pint *pint; // NULL: PINT is not wanted
    struct net_loss_list *loss_lists;
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
    bool links_alike; // all links between switches have one rate and one delay
    // In ranks (kernel/ranks.h): ports and NICs of other ranks are made when they are asked for.
    bool partial;
    uint32_t *port_links;  // by uid: number of the port's link
    uint32_t *first_ports; // by node: uid of its first port
    const net_again_t *again;
    bool knows_scale_up;
    struct net_gone *gone; // by node: hosts that were let go; NULL: none was
    char *gone_names;
    size_t plane0_count;  // interfaces of plane 0, which come first
    uint32_t even_planes; // planes of each NIC, if all NICs have equally many and several; else 0
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

// net/route/stages.c: returns whether all links between switches have one rate and one delay.
bool net__links_alike(const net_t *net);

// net/network.c: sets the fields of a registered node that all kinds share.
void net__node_fill(net_t *net, net_node_t *node, net_node_kind_t kind, net_node_built_fn built);

// Returns how many packets exist.
static inline uint64_t net__packets_live(const net_t *net)
{
    return sim_pool_live(net->packets) - net->spare_count;
}

#endif // NET_NETWORK_INTERNAL_H
