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

#include "net/node.h"

SIM_C_BEGIN

#define NET_NO_PORT UINT16_MAX // no port has this number or a higher one
#define NET_INTERFACES_MAX ((1u << 24) - 2)

// Says that the network's description names the switches that join accelerators
// (net_node_t.scale_up), or has none: applications then do not guess which ones they are. Before
// net_build.
void net_know_scale_up(net_t *net);
bool net_knows_scale_up(const net_t *net);

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
// Returns the port's interface id; NET_INTERFACES_MAX or above: the port is not a host's.
uint32_t net_port_interface(const net_port_t *port);
// Returns the interface of another port of the same NIC: that in plane `plane` of its planes. The
// interfaces of planes 1, 2... have numbers above those of plane 0 of all NICs.
uint32_t net_interface_in_plane(const net_t *net, uint32_t interface, uint32_t plane);
// Returns the interface in plane 0 of the NIC that an interface belongs to.
uint32_t net_interface_of_nic(const net_t *net, uint32_t interface);

// Sums the counts of all nodes; in_flight is counted by the pool, independently of them.
void net_conservation(const net_t *net, net_tally_t *sums, uint64_t *in_flight);
// Returns the bytes of memory that the pools of packets and payloads hold, used and free.
uint64_t net_packet_memory_bytes(const net_t *net);
// Returns whether the sums agree and no lossless class with computed headroom dropped a packet. If
// not, message says what is wrong.
bool net_conservation_ok(const net_t *net, sim_message_t *message);

SIM_C_END

#endif // NET_NETWORK_H
