// SPDX-License-Identifier: Apache-2.0
// topologies/topology_file.h - topologies read from the files of other simulators.
//
// Formats: docs/formats/peers.md. In every format hosts are named host<number>, and HPCC-family
// switches switch<number>, with the file's numbers, so that flow files and patterns find them.
#ifndef TOPOLOGIES_TOPOLOGY_FILE_H
#define TOPOLOGIES_TOPOLOGY_FILE_H

#include "topologies/topology.h"

SIM_C_BEGIN

typedef enum topo_file_format {
    TOPO_FILE_AUTO,  // by the first word
    TOPO_FILE_HPCC,  // HPCC's ns-3 simulator and its forks: ConWeave, SimAI
    TOPO_FILE_HTSIM, // htsim's .topo of fat-trees
} topo_file_format_t;

typedef struct topo_file_node {
    char *name;
    net_node_kind_t kind;
    uint32_t number; // number in the file; if the format has none, a count by kind of node
    bool nvswitch;   // a switch of SimAI's that joins the GPUs of a server
} topo_file_node_t;

typedef struct topo_file_link {
    uint32_t a; // index in topo_file_t.nodes
    uint32_t b;
    uint64_t rate_bps;
    sim_time_t delay_ps;
    sim_ratio_t loss_rate;
} topo_file_link_t;

typedef struct topo_file {
    topo_file_node_t *nodes; // in a file of the HPCC family, a node's index is its number
    size_t node_count;
    size_t node_capacity;
    topo_file_link_t *links; // in the order of the file, which is the order of ports
    size_t link_count;
    size_t link_capacity;
    bool names_nvswitches; // the format says which nodes are NVSwitches: SimAI's
} topo_file_t;

// Reads size_bytes of text. On failure message begins with "NAME:LINE:COLUMN: ", and *file is not
// set. note (may be NULL) is called for oddities that are no error, with their place. The caller
// frees *file with topo_file_destroy.
SIM_MUST_CHECK sim_err_t topo_file_parse(topo_file_format_t format, const char *name,
                                         const char *text, size_t size_bytes, topo_note_fn note,
                                         void *ctx, topo_file_t **file, sim_message_t *message);
void topo_file_destroy(topo_file_t *file);

// The path from the file's first host to the farthest host, in links.
typedef struct topo_file_path {
    uint32_t links;
    sim_time_t delay_ps; // one way
    uint64_t host_bps;   // rate of the first host's first link
} topo_file_path_t;

// Returns all zeros if the file has no two hosts that are joined.
topo_file_path_t topo_file_longest_path(const topo_file_t *file);

// "topology.file."
typedef struct topo_file_config {
    char *path;
    topo_file_format_t format;
    sim_ratio_t loss_rate; // for links to which the file gives no loss rate
    char *routes;          // name of a file of next hops; "": none
} topo_file_config_t;

extern const topo_ops_t topo_file;

SIM_C_END

#endif // TOPOLOGIES_TOPOLOGY_FILE_H
