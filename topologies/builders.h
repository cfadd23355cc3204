// SPDX-License-Identifier: Apache-2.0
// topologies/builders.h - the configurations of the built-in topologies, for programs in C.
//
// Fill one with sim_attrs_default(topo_star.attrs, &config), change what differs, and call
// topo_star.build(&plan, &config, &message). Shapes, names and port numbers:
// docs/models/topologies.md.
#ifndef TOPOLOGIES_BUILDERS_H
#define TOPOLOGIES_BUILDERS_H

#include "topologies/topology.h"

SIM_C_BEGIN

// Two hosts joined by cables, without a switch.
typedef struct topo_pair_config {
    uint64_t rate_bps;
    sim_time_t delay_ps;
    uint64_t nics_per_host; // number of cables
} topo_pair_config_t;

// Hosts around one switch.
typedef struct topo_star_config {
    uint64_t hosts;
    uint64_t rate_bps;
    sim_time_t delay_ps;
    uint64_t nics_per_host;
} topo_star_config_t;

// Two switches with hosts on both sides and one cable between them.
typedef struct topo_dumbbell_config {
    uint64_t left;
    uint64_t right;
    uint64_t host_rate_bps;
    sim_time_t host_delay_ps;
    uint64_t bottleneck_rate_bps;
    sim_time_t bottleneck_delay_ps;
    uint64_t nics_per_host;
} topo_dumbbell_config_t;

// Switches in a row, each with hosts of its own.
typedef struct topo_parking_lot_config {
    uint64_t switches;
    uint64_t hosts_per_switch;
    uint64_t host_rate_bps;
    sim_time_t host_delay_ps;
    uint64_t trunk_rate_bps;
    sim_time_t trunk_delay_ps;
    uint64_t nics_per_host;
} topo_parking_lot_config_t;

// Two tiers: every leaf has a link (or several) to every spine.
typedef struct topo_leaf_spine_config {
    uint64_t leaves;
    uint64_t spines;
    uint64_t hosts_per_leaf;
    uint64_t links_per_spine; // parallel links from each leaf to each spine
    uint64_t host_rate_bps;
    uint64_t fabric_rate_bps;
    sim_time_t delay_ps;
    sim_time_t host_delay_ps;   // SIM_AUTO: delay_ps
    sim_time_t fabric_delay_ps; // SIM_AUTO: delay_ps
    uint64_t nics_per_host;
    bool rails; // NIC n of a host is linked to leaf n of its group of leaves
} topo_leaf_spine_config_t;

// Three tiers of switches with k ports (Al-Fares, Loukissas, Vahdat, SIGCOMM 2008).
typedef struct topo_fat_tree_config {
    uint64_t k;
    uint64_t pods;           // SIM_AUTO: k
    uint64_t hosts_per_edge; // SIM_AUTO: k / 2
    uint64_t rate_bps;
    sim_time_t delay_ps;
    uint64_t nics_per_host;
} topo_fat_tree_config_t;

// The hosts of a network of GPU servers: one for each server, with all of its NICs, or one for each
// GPU, with one NIC.
typedef enum topo_hosts { TOPO_HOSTS_SERVERS, TOPO_HOSTS_GPUS } topo_hosts_t;

// GPU servers whose NICs are spread over rails: "rail-optimised", and "dual-tor" with two switches
// for each NIC. Attributes that a topology lacks have the values of its builder.
typedef struct topo_rails_config {
    uint64_t servers;
    uint64_t gpus_per_server;     // also the number of NICs of a server
    uint64_t servers_per_segment; // SIM_AUTO: all
    uint64_t spines;              // 0: none
    uint64_t links_per_spine;
    uint64_t host_rate_bps; // of each port of a NIC
    uint64_t fabric_rate_bps;
    sim_time_t delay_ps;
    topo_hosts_t hosts;
    uint64_t nvlink_rate_bps; // SIM_AUTO: servers have no NVSwitch
    sim_time_t nvlink_delay_ps;
    bool rails;      // dual-tor: each NIC of a server has switches of its own
    bool dual_plane; // dual-tor: the two sides have spines of their own
} topo_rails_config_t;

// Several leaf-spines beside each other: port p of every NIC is in plane p.
typedef struct topo_multi_plane_config {
    uint64_t planes;
    uint64_t leaves; // of each plane
    uint64_t spines; // of each plane
    uint64_t hosts_per_leaf;
    uint64_t nics_per_host;
    uint64_t links_per_spine;
    uint64_t host_rate_bps; // of each port
    uint64_t fabric_rate_bps;
    sim_time_t delay_ps;
} topo_multi_plane_config_t;

// Groups of switches, joined pairwise by global links ("dragonfly" and "dragonfly-plus").
typedef struct topo_dragonfly_config {
    uint64_t groups;           // SIM_AUTO: as many as global links can join pairwise
    uint64_t switches;         // of a group; dragonfly-plus: leaves of a group
    uint64_t spines;           // dragonfly-plus: spines of a group
    uint64_t hosts_per_switch; // dragonfly-plus: on each leaf
    uint64_t global_links;     // of each switch; dragonfly-plus: of each spine
    uint64_t host_rate_bps;
    uint64_t fabric_rate_bps;
    sim_time_t delay_ps;
    sim_time_t global_delay_ps; // SIM_AUTO: delay_ps
} topo_dragonfly_config_t;

// Switches at the points of a grid of up to three dimensions: rings in each dimension ("torus"), or
// each switch linked to all others of its row ("hyperx").
typedef struct topo_grid_config {
    uint64_t x;
    uint64_t y;
    uint64_t z;
    uint64_t hosts_per_switch;
    uint64_t links; // parallel links between neighbours
    uint64_t host_rate_bps;
    uint64_t fabric_rate_bps;
    sim_time_t delay_ps;
} topo_grid_config_t;

// 2 q^2 switches of diameter 2 (Besta and Hoefler, SC 2014).
typedef struct topo_slim_fly_config {
    uint64_t q; // an odd prime
    uint64_t hosts_per_switch;
    uint64_t host_rate_bps;
    uint64_t fabric_rate_bps;
    sim_time_t delay_ps;
} topo_slim_fly_config_t;

// The borders of a WAN's sites that are joined: all pairs, or neighbours in a ring or a chain.
typedef enum topo_wan_shape { TOPO_WAN_MESH, TOPO_WAN_RING, TOPO_WAN_CHAIN } topo_wan_shape_t;

// Sites joined by long links.
typedef struct topo_wan_config {
    uint64_t sites;
    char *site;   // name of each site's topology; "": hosts on its border
    char *values; // attributes of that topology, "name=value name=value"
    uint64_t hosts;
    uint64_t host_rate_bps;
    sim_time_t host_delay_ps;
    uint64_t rate_bps;
    sim_time_t rtt_ps;
    sim_time_t delay_ps; // SIM_AUTO: half of rtt_ps
    uint64_t links;
    topo_wan_shape_t shape;
    bool direct;
    bool pfc_across;
    uint64_t border_buffer_bytes; // SIM_AUTO: bytes of one round trip over a long link
    char *loss_file;
} topo_wan_config_t;

extern const topo_ops_t topo_pair;
extern const topo_ops_t topo_star;
extern const topo_ops_t topo_dumbbell;
extern const topo_ops_t topo_parking_lot;
extern const topo_ops_t topo_leaf_spine;
extern const topo_ops_t topo_fat_tree;
extern const topo_ops_t topo_rail_optimised;
extern const topo_ops_t topo_dual_tor;
extern const topo_ops_t topo_multi_plane;
extern const topo_ops_t topo_dragonfly;
extern const topo_ops_t topo_dragonfly_plus;
extern const topo_ops_t topo_torus;
extern const topo_ops_t topo_hyperx;
extern const topo_ops_t topo_slim_fly;
extern const topo_ops_t topo_wan;

SIM_C_END

#endif // TOPOLOGIES_BUILDERS_H
