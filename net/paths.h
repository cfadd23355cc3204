// SPDX-License-Identifier: Apache-2.0
// net/paths.h - the paths of packets through a network while all links are up.
#ifndef NET_PATHS_H
#define NET_PATHS_H

#include "net/network.h"

SIM_C_BEGIN

// Finds the ports of equally short paths towards an interface. Returns how many, 0: there is no
// path. *ports is borrowed and valid as long as the network.
uint32_t net_routes_ports(const net_node_t *node, const net_routes_t *routes, uint32_t interface,
                          const uint32_t **ports);

// Returns whether packets can go from one interface to another while all links are up.
bool net_reachable(const net_t *net, uint32_t from, uint32_t to);

#define NET_PATH_HOPS_MAX 64u

typedef struct net_path {
    uint32_t hop_count;                         // links
    sim_time_t delay_ps;                        // sum over links
    uint64_t bottleneck_bps;                    // smallest rate
    const net_port_t *ports[NET_PATH_HOPS_MAX]; // transmitting port of each hop
} net_path_t;
// Finds the path of packets with this flow hash while all links are up. Returns false if there is
// none. Any node may call it at any time: it reads only state that never changes.
bool net_path_of(const net_t *net, uint32_t from, uint32_t to, uint32_t flow_hash,
                 net_path_t *path);

// One hop of all paths that the packets of a flow may take.
typedef struct net_stage {
    const net_port_t *port; // a transmitting port with the largest rate of the stage
    sim_time_t delay_ps;    // smallest of the stage's links
    uint64_t rate_bps;      // sum over the links
} net_stage_t;

// Finds the stages of the equally short paths that packets of a flow may take while all links are
// up. `path` is net_path_of's for the same arguments; sender_spreads: the sender spreads packets
// over paths. Switches may spread them, too. Returns the number of stages, at most
// NET_PATH_HOPS_MAX. 0: packets keep to `path`, or no other path is faster, or the paths differ in
// their number of links.
uint32_t net_stages_of(const net_t *net, const net_path_t *path, uint32_t from, uint32_t to,
                       uint32_t flow_hash, bool sender_spreads, net_stage_t *stages);

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

SIM_C_END

#endif // NET_PATHS_H
