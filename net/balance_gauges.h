// SPDX-License-Identifier: Apache-2.0
// net/balance_gauges.h - the state of a switch's load balancer, for reports and warnings.
#ifndef NET_BALANCE_GAUGES_H
#define NET_BALANCE_GAUGES_H

#include "net/switch.h"

SIM_C_BEGIN

// The tables of a switch's load balancer, and its work so far.
typedef struct net_balance_gauges {
    uint64_t flows;       // in tables now
    uint64_t flowlets;    // begun so far: letflow, conga
    uint64_t known_paths; // conga: number of paths with a recent report of another leaf
    uint64_t reroutes;    // conweave: moves of flows to another path so far
    uint64_t held_flows;  // conweave: flows whose packets wait for a TAIL now
    uint64_t held_bytes;  // conweave: bytes of the packets that wait
    uint64_t remembered;  // drill: ports in its memory now
} net_balance_gauges_t;
// Returns them; zeros where a balancer has no such table.
net_balance_gauges_t net_switch_balance_gauges(const net_node_t *node);
// Returns the name of a switch's load balancer. *spreads: it sends packets of one flow over several
// paths, whatever their header fields are. Call it after net_build.
const char *net_switch_balancer(const net_node_t *node, bool *spreads);
// Returns the shortest pause of a flow after which its next packet may take another path and
// overtake those before it; 0: any packet may; NEVER: packets stay in order. After net_build.
sim_time_t net_switch_path_gap_ps(const net_node_t *node);

SIM_C_END

#endif // NET_BALANCE_GAUGES_H
