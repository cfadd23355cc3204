// SPDX-License-Identifier: Apache-2.0
// net/network.h - a network of nodes, links, interfaces and routes: building it, asking it.
//
// Life of a network: net_create; add nodes (net_switch_create, and hosts from nic/) and links
// between them; net_build lays out the ports and computes the routes; the simulation runs;
// net_destroy.
//
// An interface is a host's end of a link. It has an IP address, and packets are addressed to it.
// Interface ids count from 0; IPv4 addresses are 10.0.0.1 + id, IPv6 addresses fd00::1 + id, which
// leaves room for 16 million interfaces without a collision. Every port has a MAC of its own.
#ifndef NET_NETWORK_H
#define NET_NETWORK_H

#include "kernel/attribute.h"
#include "net/packet.h"

SIM_C_BEGIN

typedef struct net net_t;
typedef struct net_node net_node_t;
typedef struct net_port net_port_t;
typedef struct net_log net_log_t; // net/log.h
typedef struct net_frame net_frame_t;

#define NET_NO_PORT UINT16_MAX // no port has this number or a higher one
#define NET_INTERFACES_MAX ((1u << 24) - 2)

typedef enum net_forwarding {
    NET_FORWARDING_ROUTED,   // each switch decrements TTL and rewrites MACs
    NET_FORWARDING_SWITCHED, // switches leave the frame as it is
} net_forwarding_t;

typedef enum net_model {
    NET_MODEL_PACKET,
    NET_MODEL_MESSAGE, // messages of HERD as units, and one queue a hop: net/message.h
} net_model_t;

// Where the draws of switches and links about a packet come from: a stream of the port, or a number
// that the packet carries. net/draws.h
typedef enum net_draws { NET_DRAWS_STREAM, NET_DRAWS_PACKET } net_draws_t;

// Settings of the whole network.
typedef struct net_config {
    net_model_t model;
    uint64_t message_overhead_bytes; // of each message on links, with NET_MODEL_MESSAGE
    net_forwarding_t forwarding;
    bool ipv6;
    bool tagged; // data frames carry an 802.1Q tag with the class as PCP
    uint64_t vlan_id;
    sim_time_t convergence_ps;   // time from a link change to the new routes
    uint64_t trim_dscp;          // of packets trimmed between switches (switch.mmu trimming)
    uint64_t trim_last_hop_dscp; // of packets trimmed before the receiving host
    uint64_t int_multiplier;     // factor of INT's units of bytes
    uint64_t int_reserved_hops;  // INT records for which packets have room from the start
    net_draws_t draws;           // of marks, losses and telemetry
    sim_ratio_t pint_base;       // ratio of neighbouring values of PINT's digests
    sim_time_t pint_rtt_ps;      // T of PINT's utilization
    sim_name_t balance;          // load balancer, a row of net/models.h; "": ecmp
    sim_name_t routes;           // order of routes, a row of net/models.h; "": shortest
    sim_name_t timing;           // time of frames, a row of net/models.h; "": exact
    sim_name_t framing;          // overhead of frames, a row of net/models.h; "": ethernet
} net_config_t;

// Pattern of losses, frames that they affect, and their direction: net/loss.h.
typedef enum net_loss_model {
    NET_LOSS_INDEPENDENT,
    NET_LOSS_BURSTS,         // runs of link.loss-burst frames, a fifth more or less
    NET_LOSS_HIGH_FREQUENCY, // 2 or more of link.loss-burst consecutive frames
    NET_LOSS_AMAZON,         // this and the next two: mixes of bursts, dense runs, single losses
    NET_LOSS_GOOGLE,
    NET_LOSS_MICROSOFT,
    NET_LOSS_GILBERT_ELLIOTT,
} net_loss_model_t;

typedef enum net_loss_packets { NET_LOSS_OF_ALL, NET_LOSS_OF_DATA } net_loss_packets_t;
typedef enum net_loss_direction {
    NET_LOSS_BOTH,
    NET_LOSS_FORWARD,  // frames sent by the link's first node (argument a of net_link_add)
    NET_LOSS_BACKWARD, // frames sent by the other node
} net_loss_direction_t;

typedef struct net_link_config {
    uint64_t rate_bps;          // > 0
    uint64_t backward_bps;      // of what the other node (argument b) sends; 0, SIM_AUTO: rate_bps
    sim_time_t delay_ps;        // >= 1, one way
    sim_ratio_t loss_rate;      // share of frames lost
    sim_ratio_t bit_error_rate; // chance of each bit to be wrong; a frame with one is lost
    bool loss_own;              // loss_rate was set for this link, not for all links
    net_loss_model_t loss_model;
    net_loss_packets_t loss_packets;
    net_loss_direction_t loss_direction;
    uint64_t loss_burst;       // mean length of a loss event in frames
    sim_ratio_t loss_bad_rate; // Gilbert-Elliott: share of frames lost in the bad state
    sim_ratio_t reorder_rate;  // share of frames held back by reorder_delay_ps
    sim_time_t reorder_delay_ps;
    sim_ratio_t duplicate_rate; // share of frames that arrive twice
} net_link_config_t;

// Returns the rate of the frames that the link's second node sends.
static inline uint64_t net_link_backward_bps(const net_link_config_t *config)
{
    const bool own = config->backward_bps != 0 && config->backward_bps != SIM_AUTO;
    return own ? config->backward_bps : config->rate_bps;
}

extern const sim_attr_table_t net_config_attrs;      // "network."
extern const sim_attr_table_t net_link_config_attrs; // "link."

typedef enum net_node_kind {
    NET_NODE_SWITCH,    // made by net_switch_create
    NET_NODE_HOST,      // its ports have addresses; routes lead to it and not through it
    NET_NODE_FORWARDER, // routes lead through it: a switch that a program defines itself
} net_node_kind_t;

// Counts what became of packets, at the node where it happened. Over all nodes,
// created = delivered + dropped + in flight.
typedef struct net_tally {
    uint64_t created;
    uint64_t delivered;
    uint64_t bytes_created; // frame bytes, and the telemetry that switches added
    uint64_t bytes_delivered;
    uint64_t dropped;
    uint64_t bytes_dropped;
} net_tally_t;

// The routes of one forwarding node while all links keep their state. Owned by the network.
typedef struct net_routes net_routes_t;

// Operations of a node that forwards packets. One table per kind of node, immutable.
typedef struct net_forward_ops {
    // Makes the node use these routes from now on. They stay unchanged. net_build calls it before
    // net_node_built_fn; later an event of the node calls it after a link has changed.
    void (*set_routes)(net_node_t *node, const net_routes_t *routes);

    // Returns the port by which a packet with this flow hash from interface `source` to `interface`
    // would leave if all links were up; NULL: none. It serves paths and ideal times. Any thread may
    // call it at any time, so it must read only state that never changes. A node that decides for
    // each packet anew (spraying) returns one of its choices.
    const net_port_t *(*route)(const net_node_t *node, const net_routes_t *routes, uint32_t source,
                               uint32_t interface, uint32_t flow_hash);
} net_forward_ops_t;

// Finds the ports of equally short paths towards an interface. Returns how many, 0: there is no
// path. *ports is borrowed and valid as long as the network.
uint32_t net_routes_ports(const net_node_t *node, const net_routes_t *routes, uint32_t interface,
                          const uint32_t **ports);

// Completes a node once its ports exist (thresholds, tables). Called by net_build. If another rank
// runs the node (kernel/ranks.h), a switch gets what net_forward_ops_t.route needs and no more, and
// a host is completed by net_node_complete.
typedef void (*net_node_built_fn)(net_node_t *node);

// The common first part of every node of a network, registered with the simulation by
// net_node_init. All nodes of the simulation belong to the network, so indices are the same.
struct net_node {
    sim_node_t sim; // first

    // One cache line with the fields that each event needs.
    net_port_t *ports; // port_count of them, contiguous; valid after net_build
    sim_pool_t *packets;
    uint32_t port_count;
    bool follows_routes; // uses net_packet_t.route; set by net_node_built_fn
    bool one_by_one;     // handles each event in its turn: a listener or a special link needs it
    uint8_t route_mask;  // ANDed with a byte of net_packet_t.route; 0 after a link or route changed
    bool complete;       // net_node_built_fn was called
    bool scale_up;       // a switch that joins accelerators of a server or rack (NVSwitch)
    net_tally_t tally;
    net_log_t *log; // net/log.h; NULL: the node notes nothing

    net_node_kind_t kind;
    uint32_t planes : 8;     // of a host: consecutive ports that are one NIC's; 0, 1: each is a NIC
    uint32_t forwarder : 24; // of a node that forwards: its place among them, after net_build
    net_t *net;
    net_node_built_fn built;
    const net_forward_ops_t *forward; // NULL: a host
};

// Registers a node and leaves its ownership to `ops`: the destroy operation frees it. name is
// copied. A kind defined by a program is NET_NODE_HOST, or NET_NODE_FORWARDER, which also needs
// net_node_forward. Before net_build.
void net_node_init(net_t *net, net_node_t *node, net_node_kind_t kind, const sim_node_ops_t *ops,
                   const char *name, net_node_built_fn built);

// Says that the network's description names the switches that join accelerators
// (net_node_t.scale_up), or has none: applications then do not guess which ones they are. Before
// net_build.
void net_know_scale_up(net_t *net);
bool net_knows_scale_up(const net_t *net);

// Sets the forwarding operations. Required for every node that is no host, before net_build.
void net_node_forward(net_node_t *node, const net_forward_ops_t *ops);

// Creates an empty network; config is copied. The caller frees it with net_destroy, after
// sim_destroy of its simulation.
net_t *net_create(sim_t *sim, const net_config_t *config);
void net_destroy(net_t *net);

// Makes switches compute headroom for frames of that size, where it is more than usual: jumbo
// frames. Before net_build.
void net_allow_frames(net_t *net, uint32_t frame_bytes);

// Says that a host uses no part of net_packet_aside_t but what the opcode of its packets names,
// their contents and what net_packet_t.addressed adds. If all hosts say so, most packets go from
// rank to rank without their cold part. Once for each host, before net_build.
void net_host_is_plain(net_t *net);

// Connects the next free port of a with the next free port of b; nodes may have parallel links.
// config is copied. Returns the link's number; links count from 0 in the order of the calls.
uint32_t net_link_add(net_t *net, net_node_t *a, net_node_t *b, const net_link_config_t *config);

// Fixes the ports by which a forwarding node sends towards a host, in this order, instead of those
// of all shortest paths. It holds while all links are up; when one is down, all routes are
// searched. The host has one link, to a forwarding node. ports is copied. A later call for the same
// node and host replaces the earlier one. After net_link_add, before net_build.
void net_route_fix(net_t *net, const net_node_t *node, const net_node_t *host,
                   const uint32_t *ports, uint32_t count);

// Makes switches write this kind of telemetry into packets that ask for it. It costs memory and
// time, so call it only if somebody sends such packets. Before net_build.
void net_want_telemetry(net_t *net, net_telemetry_t kind);

// Takes both directions of a link down (up) at time_ps. Frames that have not wholly arrived when it
// goes down are lost; they count as lost when and where they were sent. Routes change
// net_config_t.convergence_ps later. Before net_build.
void net_link_change_at(net_t *net, uint32_t link, sim_time_t time_ps, bool up);

// A way to make nodes of one kind again from others like them. One table per kind, immutable.
typedef struct net_again {
    const sim_node_ops_t *ops; // operations of these nodes, which are hosts
    net_node_built_fn built;
    // Returns whether b can be made from a, but for its name, links and planes.
    bool (*alike)(const net_node_t *a, const net_node_t *b);
    // Returns a node that is made like another, not registered yet.
    net_node_t *(*make)(const net_node_t *like);
} net_again_t;
// Lets net_let_go give up nodes of that kind. ops is borrowed; later calls name the same.
void net_set_again(net_t *net, const net_again_t *ops);

// Destroys hosts that other ranks run (kernel/ranks.h) and that can be made again, so that they
// take no memory. Pointers to them become invalid. Asking for such a host makes it again. After
// sim_seat, before net_build.
void net_let_go(net_t *net);

// Lays out ports, assigns addresses, computes routes. Fails with SIM_ERR_INVALID and a message if a
// host has no link, if there is no host, if INT has no code for a link's rate, or if fixed routes
// do not lead to their host; with SIM_ERR_RANGE if there are more than NET_INTERFACES_MAX
// interfaces. Pairs of hosts without a path are no error here: see net_reachable.
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
// Answer for a node without making it, if it was let go (net_let_go). net_node_look returns NULL
// then: the node has done and counted nothing.
net_node_t *net_node_look(const net_t *net, size_t index);
// Returns a node, or if it was let go fills in `gone` with its name, number, links and planes, and
// returns that. It has no events, and serves net_port_look alone.
const net_node_t *net_node_view(const net_t *net, size_t index, net_node_t *gone);
const char *net_node_name(const net_t *net, size_t index);
net_node_kind_t net_kind_of(const net_t *net, size_t index);
uint32_t net_ports_of(const net_t *net, size_t index);
uint32_t net_planes_of(const net_t *net, size_t index);
// Returns the node, or if it was let go one that is configured like it.
const net_node_t *net_node_like(const net_t *net, size_t index);
net_node_t *net_node_find(const net_t *net, const char *name); // NULL: no node has this name
// The ends of a link by their numbers.
typedef struct net_link_ends {
    uint32_t a;
    uint32_t b;
    uint16_t a_port;
    uint16_t b_port;
    uint32_t config; // number of its configuration: net_link_config
} net_link_ends_t;

size_t net_link_count(const net_t *net);
net_link_t net_link_at(const net_t *net, size_t index);
// Return a link's ends, or its configuration, without making nodes.
net_link_ends_t net_link_ends(const net_t *net, size_t index);
const net_link_config_t *net_link_config(const net_t *net, size_t index);
size_t net_interface_count(const net_t *net);
net_port_t *net_interface_port(const net_t *net, uint32_t interface);
// Returns the host of an interface, without making its port (net_port_at).
net_node_t *net_interface_node(const net_t *net, uint32_t interface);
uint32_t net_interface_node_number(const net_t *net, uint32_t interface); // makes no host
// Writes the interface's address: the first four bytes, or all 16 if network.ipv6 is on.
void net_interface_ip(const net_t *net, uint32_t interface, uint8_t ip[16]);
// Writes the MAC address that the port has in frames.
void net_port_mac(const net_port_t *port, uint8_t mac[6]);
// Returns the port's interface id; NET_INTERFACES_MAX or above: the port is not a host's.
uint32_t net_port_interface(const net_port_t *port);
// Returns the interface of another port of the same NIC: that in plane `plane` of its planes. The
// interfaces of planes 1, 2... have numbers above those of plane 0 of all NICs.
uint32_t net_interface_in_plane(const net_t *net, uint32_t interface, uint32_t plane);
// Returns the interface in plane 0 of the NIC that an interface belongs to.
uint32_t net_interface_of_nic(const net_t *net, uint32_t interface);
// Returns whether routing, as it is at now_ps, leads from a host's port to an interface: neither of
// their links was down network.convergence ago, and there is a route. Any node may call it.
bool net_leads_to(const net_t *net, const net_port_t *port, uint32_t to, sim_time_t now_ps);
// Return a port of a node, or the port at the other end of its link. Ports of nodes that other
// ranks run exist only where they are linked to this rank's; these functions make the others. Any
// thread may call them.
net_port_t *net_port_at(const net_node_t *node, uint32_t index);
net_port_t *net_port_peer(const net_port_t *port);
// Returns whether a port exists. One that does not has counted nothing.
bool net_port_exists(const net_node_t *node, uint32_t index);
// Returns the number of a port's link, and the node at its other end, without making the port.
uint32_t net_link_of(const net_node_t *node, uint32_t index);
uint32_t net_interface_link(const net_t *net, uint32_t interface); // of its port, without making it
// Returns the number of a port in its network: net_port_t.uid.
uint32_t net_port_uid(const net_node_t *node, uint32_t index);
// Returns a port if it exists; if not, fills in `idle` as the port would be and returns that. The
// node may be one that net_node_view filled in.
const net_port_t *net_port_look(const net_node_t *node, uint32_t index, net_port_t *idle);
net_node_t *net_neighbour(const net_node_t *node, uint32_t index);
uint32_t net_neighbour_number(const net_node_t *node, uint32_t index); // makes no host
// Calls net_node_built_fn for a host that another rank runs, unless somebody has. Any thread may
// call it.
void net_node_complete(net_node_t *node);
// Returns the port's name, "leaf0->host5"; the second of parallel links has "leaf0->spine1#2". Any
// thread may call it. The string is borrowed and lives as long as the node.
const char *net_port_name(const net_port_t *port);
const char *net_port_name_at(const net_node_t *node, uint32_t index); // makes no port

// The names of ports for a caller that prints those of all nodes: it keeps the names of a few nodes
// alone, and makes no node.
typedef struct net_port_labels net_port_labels_t;
net_port_labels_t *net_port_labels_create(const net_t *net);
void net_port_labels_destroy(net_port_labels_t *labels);
// Returns the name of a node's port, as net_port_name does, valid until the next call.
const char *net_port_label(net_port_labels_t *labels, size_t node, uint32_t port);

// Returns whether packets can go from one interface to another while all links are up.
bool net_reachable(const net_t *net, uint32_t from, uint32_t to);

typedef struct net_path {
    uint32_t hop_count;          // links
    sim_time_t delay_ps;         // sum over links
    uint64_t bottleneck_bps;     // smallest rate
    const net_port_t *ports[64]; // transmitting port of each hop
} net_path_t;
// Finds the path of packets with this flow hash while all links are up. Returns false if there is
// none. Any node may call it at any time: it reads only state that never changes.
bool net_path_of(const net_t *net, uint32_t from, uint32_t to, uint32_t flow_hash,
                 net_path_t *path);

// Sets choices[p] for each port p of a forwarding node that stands beside other ports of equal cost
// towards some interface, with all links up; leaves the rest as it is.
void net_routes_choices(const net_t *net, const net_node_t *node, bool *choices);
// Returns whether packets of one flow may overtake each other: switches spread flows over paths,
// links reorder, routes change during the run, or a forwarding node is a program's own.
bool net_may_reorder(const net_t *net);

// Returns net_packet_t.route for packets with this flow hash: the path they would take anyway, as
// far as nodes follow routes and the word has bytes. A node at which a link or route has changed
// ignores it and looks up the port. After net_build, from any node at any time.
uint64_t net_source_route(const net_t *net, uint32_t from, uint32_t to, uint32_t flow_hash);

// Returns the time from the first bit of the first frame at `from` to the last bit of the last
// frame at its destination, for frames sent back to back over an idle path with store and forward:
// full_count frames of full_frame_bytes, then one of last_frame_bytes (0: none). It is exact,
// except for 1 ps per hop whose rate is not a whole number of ps per byte.
sim_time_t net_path_time_ps(const net_path_t *path, uint64_t full_count, uint32_t full_frame_bytes,
                            uint32_t last_frame_bytes);

// -- packets

// Returns a packet from the network's pool, owned by the caller, and counts it as created. Only
// frame_bytes is set; the other fields hold stale values, so the caller must set all of them.
static inline net_packet_t *net_packet_new(net_node_t *node, uint32_t frame_bytes)
{
    net_packet_t *const packet = (net_packet_t *)sim_pool_get(node->packets, &node->sim);
    packet->frame_bytes = (uint16_t)frame_bytes;
    node->tally.created++;
    node->tally.bytes_created += frame_bytes;
    return packet;
}

// Returns a buffer for a payload from the network's pools, not zeroed. Its owner, a packet or a
// sender, frees it with the same size_bytes, at any node.
uint8_t *net_payload_new(const net_node_t *node, uint32_t size_bytes);
void net_payload_free(const net_node_t *node, uint8_t *payload, uint32_t size_bytes);

// Gives a packet with a payload a buffer for its bytes; the caller fills it. The packet owns it.
uint8_t *net_packet_add_contents(net_node_t *node, net_packet_t *packet);
// Frees that buffer; the payload counts as zeros again.
void net_packet_drop_contents(net_node_t *node, net_packet_t *packet);
// Returns the payload's bytes; NULL: they are all zeros.
// NULL: zeros.
static inline const uint8_t *net_packet_contents(const net_packet_t *packet)
{
    return packet->contents ? net_packet_aside(packet)->payload : NULL;
}
// Cuts a packet to frame_bytes, or to its headers if they are longer. The rest counts as dropped.
void net_packet_trim(net_node_t *node, net_packet_t *packet, uint32_t frame_bytes);
// Returns whether a request has lost its payload on the way, as its DSCP shows.
static inline bool net_packet_trimmed(const net_config_t *config, const net_packet_t *packet)
{
    return (packet->dscp == config->trim_dscp || packet->dscp == config->trim_last_hop_dscp) &&
           packet->payload_bytes == 0;
}
// Returns whether a packet has a payload, and is of a protocol whose receivers understand packets
// without it: Ultra Ethernet or MRC.
static inline bool net_packet_trimmable(const net_packet_t *packet)
{
    return packet->opcode >= ROCE_MRC && packet->payload_bytes != 0 &&
           packet->kind == NET_PACKET_ROCE;
}

// Makes a frame longer on its way, because telemetry was added.
static inline void net_packet_grow(net_node_t *node, net_packet_t *packet, uint32_t more_bytes)
{
    packet->frame_bytes = (uint16_t)(packet->frame_bytes + more_bytes);
    node->tally.bytes_created += more_bytes;
}

// Makes a frame shorter: a header was taken off.
static inline void net_packet_shrink(net_node_t *node, net_packet_t *packet, uint32_t less_bytes)
{
    packet->frame_bytes = (uint16_t)(packet->frame_bytes - less_bytes);
    node->tally.bytes_created -= less_bytes; // may wrap; the sum over nodes is right
}

// Takes a packet at its destination, counts it as delivered and frees it. It must have no contents.
static inline void net_packet_deliver_empty(net_node_t *node, net_packet_t *packet)
{
    SIM_ASSERT(!packet->contents);
    node->tally.delivered++;
    node->tally.bytes_delivered += packet->frame_bytes;
    sim_pool_put(node->packets, &node->sim, packet);
}

// Takes a packet at its destination, counts it as delivered and frees it with its contents.
// (net_port_drop takes packets that do not reach theirs.)
static inline void net_packet_deliver(net_node_t *node, net_packet_t *packet)
{
    if (SIM_UNLIKELY(packet->contents)) {
        net_packet_drop_contents(node, packet);
    }
    net_packet_deliver_empty(node, packet);
}

// Sums the counts of all nodes; in_flight is counted by the pool, independently of them.
void net_conservation(const net_t *net, net_tally_t *sums, uint64_t *in_flight);
// Returns the bytes of memory that the pools of packets and payloads hold, used and free.
uint64_t net_packet_memory_bytes(const net_t *net);
// Returns whether the sums agree and no lossless class with computed headroom dropped a packet. If
// not, message says what is wrong.
bool net_conservation_ok(const net_t *net, sim_message_t *message);

// Returns the hash of (source, destination, UDP source port) that ECMP uses.
uint32_t net_flow_hash(const net_t *net, uint32_t source, uint32_t destination,
                       uint16_t source_port);

// Like net_flow_hash, with a further port chosen by the program: load balancers other than ECMP may
// include it in the hash; 0: none.
uint32_t net_flow_hash_with(const net_t *net, uint32_t source, uint32_t destination,
                            uint16_t source_port, uint16_t hashed_port);
// Returns the hash to ask net_source_route with for answers (ACKs, CNPs, READ responses) of a queue
// pair whose packets carry flow_hash (net_balance_ops_t.answer_hash).
uint32_t net_answer_hash(const net_t *net, uint32_t flow_hash);
// Returns whether net_answer_hash may differ from its argument.
bool net_answers_differ(const net_t *net);

// Fills in the frame that the packet is on the wire when `port` sends it. frame->payload points
// into the packet and is valid as long as the packet.
void net_packet_frame(const net_port_t *port, const net_packet_t *packet, net_frame_t *frame);

SIM_C_END

#endif // NET_NETWORK_H
