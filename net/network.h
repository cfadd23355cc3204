// SPDX-License-Identifier: Apache-2.0
// net/network.h - a network under construction and in use: nodes, links, interfaces, routes.
//
// Life of a network: create; add nodes (net_switch_create, and hosts from nic/) and links between
// them; net_build lays out the ports and computes the routes; then the simulation runs; destroy.
//
// An interface is a host's end of a link: it has an IP address and is what packets are addressed
// to. Interface ids count from 0; IPv4 addresses are 10.0.0.1 + id, IPv6 fd00::1 + id, so there is
// room for 16 million of them without a collision. Every port has a MAC of its own.
#ifndef NET_NETWORK_H
#define NET_NETWORK_H

#include "kernel/attribute.h"
#include "net/packet.h"

SIM_C_BEGIN

typedef struct net net_t;
typedef struct net_node net_node_t;
typedef struct net_port net_port_t;
typedef struct net_frame net_frame_t;

#define NET_NO_PORT UINT16_MAX // numbers of ports are below it
#define NET_INTERFACES_MAX ((1u << 24) - 2)

typedef enum net_forwarding {
    NET_FORWARDING_ROUTED,   // each switch decrements TTL and rewrites MACs
    NET_FORWARDING_SWITCHED, // switches leave the frame as it is
} net_forwarding_t;

// One for the whole network.
typedef struct net_config {
    net_forwarding_t forwarding;
    bool ipv6;
    bool tagged; // data frames carry an 802.1Q tag with the priority as PCP
    uint64_t vlan_id;
    sim_time_t convergence_ps;  // routes follow a link change after this
    uint64_t int_multiplier;    // of INT's units
    uint64_t int_reserved_hops; // whose records packets have room for from the start
    sim_ratio_t pint_base;      // of the logarithm in PINT's digests
    sim_time_t pint_rtt_ps;     // PINT's T
    sim_name_t balance;         // of net/models.h, as the next three; "": net's own
    sim_name_t routes;
    sim_name_t timing;
    sim_name_t framing;
} net_config_t;

// How losses come, which frames they meet, and in which direction: net/loss.h.
typedef enum net_loss_model {
    NET_LOSS_INDEPENDENT,
    NET_LOSS_BURSTS,         // of link.loss-burst frames, a fifth more or less
    NET_LOSS_HIGH_FREQUENCY, // some of link.loss-burst frames in a row
    NET_LOSS_AMAZON,         // mixes of bursts, dense runs and single losses
    NET_LOSS_GOOGLE,
    NET_LOSS_MICROSOFT,
    NET_LOSS_GILBERT_ELLIOTT,
} net_loss_model_t;

typedef enum net_loss_packets { NET_LOSS_OF_ALL, NET_LOSS_OF_DATA } net_loss_packets_t;
typedef enum net_loss_direction {
    NET_LOSS_BOTH,
    NET_LOSS_FORWARD,  // what the node sends that the link was added with first
    NET_LOSS_BACKWARD, // what the other one sends
} net_loss_direction_t;

typedef struct net_link_config {
    uint64_t rate_bps;          // > 0
    sim_time_t delay_ps;        // >= 1, one way
    sim_ratio_t loss_rate;      // of frames
    sim_ratio_t bit_error_rate; // a frame with any wrong bit is lost
    bool loss_own;              // loss_rate is this link's own, not that of all links
    net_loss_model_t loss_model;
    net_loss_packets_t loss_packets;
    net_loss_direction_t loss_direction;
    uint64_t loss_burst;       // frames
    sim_ratio_t loss_bad_rate; // Gilbert-Elliott: in the bad state
    sim_ratio_t reorder_rate;  // of frames
    sim_time_t reorder_delay_ps;
    sim_ratio_t duplicate_rate; // of frames
} net_link_config_t;

extern const sim_attr_table_t net_config_attrs;      // "network."
extern const sim_attr_table_t net_link_config_attrs; // "link."

typedef enum net_node_kind {
    NET_NODE_SWITCH,    // of net_switch_create
    NET_NODE_HOST,      // its ports have addresses, routes lead to it and not through it
    NET_NODE_FORWARDER, // routes lead through it: a switch of a program's own
} net_node_kind_t;

// Everything that can become of a packet, counted where it happens.
// created = delivered + dropped + in flight.
typedef struct net_tally {
    uint64_t created;
    uint64_t delivered;
    uint64_t bytes_created; // frame bytes, and what telemetry adds on the way
    uint64_t bytes_delivered;
    uint64_t dropped;
    uint64_t bytes_dropped;
} net_tally_t;

// The routes of one forwarding node while the links are in one state; of the network.
typedef struct net_routes net_routes_t;

// What routes lead through. One table per kind, immutable.
typedef struct net_forward_ops {
    // From now on the node sends by these routes, which stay as they are. Called by net_build,
    // before net_node_built_fn, and in an event of the node when a link's change reaches it.
    void (*set_routes)(net_node_t *node, const net_routes_t *routes);

    // The port that a packet with this flow hash from interface `source` to `interface` would leave
    // by, as if all links were up; NULL: none. For paths and ideal times: may be called at any
    // time, from any thread, and must read only what does not change. A node that chooses otherwise
    // for each packet (spraying) answers with one port that it might take.
    const net_port_t *(*route)(const net_node_t *node,
                               const net_routes_t *routes,
                               uint32_t source,
                               uint32_t interface,
                               uint32_t flow_hash);
} net_forward_ops_t;

// The ports of equally short paths towards an interface; returns how many, 0: there is no path.
// Valid as long as the network.
uint32_t net_routes_ports(const net_node_t *node,
                          const net_routes_t *routes,
                          uint32_t interface,
                          const uint32_t **ports);

// Does what a node kind needs once ports exist (thresholds, tables). Called by net_build.
typedef void (*net_node_built_fn)(net_node_t *node);

// What every node of a network starts with. Registered with the simulation by net_node_init. A
// network's nodes are all nodes of its simulation: indices are the same.
struct net_node {
    sim_node_t sim; // first

    // a line of what each event needs
    net_port_t *ports; // port_count of them, contiguous; valid after net_build
    sim_pool_t *packets;
    uint32_t port_count;
    bool follows_routes; // of packets, net_packet_t.route; set by net_node_built_fn
    bool one_by_one;     // every event in its turn: someone listens to each, or links are not usual
    uint8_t route_mask;  // of a byte of theirs: 0 as soon as a link here or a route has changed
    net_tally_t tally;

    net_node_kind_t kind;
    net_t *net;
    net_node_built_fn built;
    const net_forward_ops_t *forward; // NULL: hosts
};

// Registers a node, whose memory its kind's destroy operation frees. A kind of a program's own is
// NET_NODE_HOST, or NET_NODE_FORWARDER, which then needs net_node_forward.
void net_node_init(net_t *net,
                   net_node_t *node,
                   net_node_kind_t kind,
                   const sim_node_ops_t *ops,
                   const char *name,
                   net_node_built_fn built);

// Says how the node forwards. For every node that is no host, before net_build.
void net_node_forward(net_node_t *node, const net_forward_ops_t *ops);

// config is copied. Free with net_destroy, after sim_destroy of its simulation.
net_t *net_create(sim_t *sim, const net_config_t *config);
void net_destroy(net_t *net);

// Connects the next free port of a and of b; either may be the other's peer several times.
// Links are numbered in order of adding, from 0. Returns the link's number.
uint32_t net_link_add(net_t *net, net_node_t *a, net_node_t *b, const net_link_config_t *config);

// Fixes the ports by which a forwarding node sends towards a host, in this order, instead of those
// of all shortest paths. It holds while all links are up: when one is down, all routes are
// searched. The host has one link, to a forwarding node; ports are copied; of several calls for
// the same two the last one counts. Before net_build, after net_link_add.
void net_route_fix(net_t *net,
                   const net_node_t *node,
                   const net_node_t *host,
                   const uint32_t *ports,
                   uint32_t count);

// Makes switches write this kind of telemetry, for someone who will send packets that ask for it.
// Before net_build; costs memory and time, so not without need.
void net_want_telemetry(net_t *net, net_telemetry_t kind);

// Takes both directions of a link down (up) at time_ps. Frames that have not wholly arrived when it
// goes down are lost (and counted where and when they were sent); routes change
// net_config_t.convergence_ps later. Before net_build.
void net_link_change_at(net_t *net, uint32_t link, sim_time_t time_ps, bool up);

// Lays out ports, gives addresses, computes routes. SIM_ERR_INVALID with a message when a host has
// no link, when there is nothing to simulate, when INT has no code for a link's rate, or when fixed
// routes do not lead to their host. Pairs without a path are no error here: see net_reachable.
SIM_MUST_CHECK sim_err_t net_build(net_t *net, sim_message_t *message);

// -- inspection (after net_build)

typedef struct net_link {
    net_node_t *a;
    net_node_t *b;
    uint32_t a_port;
    uint32_t b_port;
    const net_link_config_t *config; // shared by links that are alike
} net_link_t;

sim_t *net_sim(const net_t *net);
const net_config_t *net_get_config(const net_t *net);
size_t net_node_count(const net_t *net);
net_node_t *net_node_at(const net_t *net, size_t index);
net_node_t *net_node_find(const net_t *net, const char *name); // NULL: none
size_t net_link_count(const net_t *net);
const net_link_t *net_link_at(const net_t *net, size_t index);
size_t net_interface_count(const net_t *net);
net_port_t *net_interface_port(const net_t *net, uint32_t interface);
// Its address in frames: the first four bytes, or all where network.ipv6 is on.
void net_interface_ip(const net_t *net, uint32_t interface, uint8_t ip[16]);
// The port's MAC address in frames.
void net_port_mac(const net_port_t *port, uint8_t mac[6]);
// NET_INTERFACES_MAX and above: the port is not a host's.
uint32_t net_port_interface(const net_port_t *port);
// Made when it is first asked for, by any thread; valid as long as the node.
// "leaf0->host5": unique unless two nodes have parallel links, then "leaf0->spine1#2".
const char *net_port_name(const net_port_t *port);

// Whether packets can go from one interface to another, with all links up.
bool net_reachable(const net_t *net, uint32_t from, uint32_t to);

typedef struct net_path {
    uint32_t hop_count;          // links
    sim_time_t delay_ps;         // sum over links
    uint64_t bottleneck_bps;     // smallest rate
    const net_port_t *ports[64]; // transmitting port of each hop
} net_path_t;
// The path that a packet with this flow hash takes while all links are up. May be asked at any time
// from any node: it reads nothing that changes. False: none.
bool net_path_of(const net_t *net,
                 uint32_t from,
                 uint32_t to,
                 uint32_t flow_hash,
                 net_path_t *path);

// For net_packet_t.route, of packets with this flow hash: as far as nodes follow it and as it has
// bytes. That is the path they would take anyway: a node where anything has changed since the
// network was built looks it up again. May be asked like net_path_of; after net_build.
uint64_t net_source_route(const net_t *net, uint32_t from, uint32_t to, uint32_t flow_hash);

// Exact time from the first bit of the first frame leaving `from` until the last bit of the last
// frame is received, for frames sent back to back over an idle path, store and forward.
// full_count frames of full_frame_bytes, then one of last_frame_bytes (0: none). Where a rate of
// the path is not whole ps per byte, each hop may add or take 1 ps.
sim_time_t net_path_time_ps(const net_path_t *path,
                            uint64_t full_count,
                            uint32_t full_frame_bytes,
                            uint32_t last_frame_bytes);

// -- packets

// A packet of this network's pool, owned by the caller; counts as created. Only frame_bytes is set:
// what else a former user left is still there, so that whoever makes one sets all of it.
static inline net_packet_t *net_packet_new(net_node_t *node, uint32_t frame_bytes)
{
    net_packet_t *const packet = (net_packet_t *)sim_pool_get(node->packets, &node->sim);
    packet->frame_bytes = (uint16_t)frame_bytes;
    node->tally.created++;
    node->tally.bytes_created += frame_bytes;
    return packet;
}

// Bytes of the network's pools, not zeroed: for payloads, one packet's or one kept by its sender.
// Given back with the same size_bytes, by any node.
uint8_t *net_payload_new(const net_node_t *node, uint32_t size_bytes);
void net_payload_free(const net_node_t *node, uint8_t *payload, uint32_t size_bytes);

// Room for the contents of a packet's payload, to be filled by the caller. It goes with the packet.
uint8_t *net_packet_add_contents(net_node_t *node, net_packet_t *packet);
void net_packet_drop_contents(net_node_t *node, net_packet_t *packet);
// NULL: zeros.
static inline const uint8_t *net_packet_contents(const net_packet_t *packet)
{
    return packet->contents ? net_packet_aside(packet)->payload : NULL;
}

// Makes a frame longer on its way: telemetry.
static inline void net_packet_grow(net_node_t *node, net_packet_t *packet, uint32_t more_bytes)
{
    packet->frame_bytes = (uint16_t)(packet->frame_bytes + more_bytes);
    node->tally.bytes_created += more_bytes;
}

// Takes a packet that has reached the end it was made for, and has no contents (any more).
static inline void net_packet_deliver_empty(net_node_t *node, net_packet_t *packet)
{
    SIM_ASSERT(!packet->contents);
    node->tally.delivered++;
    node->tally.bytes_delivered += packet->frame_bytes;
    sim_pool_put(node->packets, &node->sim, packet);
}

// Takes a packet that has reached the end it was made for. (net_port_drop takes those that do not.)
static inline void net_packet_deliver(net_node_t *node, net_packet_t *packet)
{
    if (SIM_UNLIKELY(packet->contents)) {
        net_packet_drop_contents(node, packet);
    }
    net_packet_deliver_empty(node, packet);
}

// Sums over all nodes; in_flight is counted by the pool, independently of the tally.
void net_conservation(const net_t *net, net_tally_t *sums, uint64_t *in_flight);
// Memory that packets and payloads hold.
uint64_t net_packet_memory_bytes(const net_t *net);
// True when the sums agree and no lossless class with the computed headroom dropped; else message
// says what does not.
bool net_conservation_ok(const net_t *net, sim_message_t *message);

// The 5-tuple hash of (source, destination, UDP source port) that ECMP uses.
uint32_t net_flow_hash(const net_t *net,
                       uint32_t source,
                       uint32_t destination,
                       uint16_t source_port);

// The same with a port of the program's own, which load balancers other than ECMP may take in.
uint32_t net_flow_hash_with(const net_t *net,
                            uint32_t source,
                            uint32_t destination,
                            uint16_t source_port,
                            uint16_t hashed_port);
// What net_source_route is to be asked with for answers of a queue pair with this hash, which go
// the way of other packets that carry it as a rule (net_balance_ops_t.answer_hash).
uint32_t net_answer_hash(const net_t *net, uint32_t flow_hash);
bool net_answers_differ(const net_t *net); // it may be another

// The frame a packet is on the wire when `port` sends it. Its payload is the packet's own: valid as
// long as that is.
void net_packet_frame(const net_port_t *port, const net_packet_t *packet, net_frame_t *frame);

SIM_C_END

#endif // NET_NETWORK_H
