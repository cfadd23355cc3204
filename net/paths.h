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
