// SPDX-License-Identifier: Apache-2.0
// topologies/fabrics/circles.h - circles of links, in which packets can wait for each other.
#ifndef TOPOLOGIES_FABRICS_CIRCLES_H
#define TOPOLOGIES_FABRICS_CIRCLES_H

#include "net/network.h"

// Returns the names of switches in a circle of links in which packets
// can wait for each other and pause each other, "a, b, c, a"; NULL: there is none, or the network
// is so large that it is not looked for. The caller frees it with sim_free.
#define TOPO__CIRCLE_NODES_MAX 8u
char *topo__find_circle(const net_t *net);
// Returns the largest number of switches on a path if some switch has virtual channels, and in
// *channels the smallest number of those; else 0.
uint32_t topo__path_switches(const net_t *net, uint64_t *channels);

#endif // TOPOLOGIES_FABRICS_CIRCLES_H
