// SPDX-License-Identifier: Apache-2.0
// topologies/fabrics/racks.h - racks of hosts under leaf switches and spines.
#ifndef TOPOLOGIES_FABRICS_RACKS_H
#define TOPOLOGIES_FABRICS_RACKS_H

#include "topologies/builder_internal.h"

// Racks of hosts whose NICs have a leaf switch each (rails), one for
// each of their ports (sides), or both, under spines.
typedef struct topo__racks {
    const char *name;       // what the first count is called in messages: "servers", "leaves"
    const char *count_name; // what the hosts of a segment are called: "servers-per-segment"
    uint64_t hosts;         // servers, each with `nics` NICs
    uint64_t hosts_of_segment;
    uint64_t nics;
    uint64_t sides;   // ports of each NIC, each to a leaf of its own
    bool rails;       // each NIC of a host has leaves of its own
    bool planes;      // each side has spines of its own
    bool plane_names; // switches are named plane<side>-leaf<n>, plane<side>-spine<n>
    bool single;      // each NIC has a host of its own: a GPU
    uint64_t spines;  // of each plane, or of the network
    uint64_t links_per_spine;
    topo__cable_t host_cable;
    topo__cable_t fabric_cable;
    topo__cable_t nvlink; // from each host to its server's NVSwitch; count 0: there is none
} topo__racks_t;
SIM_MUST_CHECK sim_err_t topo__racks_check(const topo__racks_t *racks, sim_message_t *message);
void topo__racks_size(const topo__racks_t *racks, topo_size_t *size);
// Builds racks that passed the check.
void topo__racks_build(const topo_plan_t *plan, const topo__racks_t *racks);

#endif // TOPOLOGIES_FABRICS_RACKS_H
