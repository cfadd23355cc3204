// SPDX-License-Identifier: Apache-2.0
// topologies/topology.h - builders that wire nodes together, each a row of one table.
//
// A topology is a name, an attribute table and a build function. Builders ask the plan for the
// configuration of each node and link by name, so that patterns in a scenario can configure single
// nodes. Nodes are created in pod order (a leaf, then its hosts), which keeps neighbours close in
// memory and in the partition over threads.
#ifndef TOPOLOGIES_TOPOLOGY_H
#define TOPOLOGIES_TOPOLOGY_H

#include "net/switch.h"
#include "nic/host.h"
#include "topologies/inspect.h"

SIM_C_BEGIN

// Size of a network that is to be built.
typedef struct topo_size {
    uint64_t hosts;
    uint64_t switches;
    uint64_t links;
} topo_size_t;

// Called with one line of text for each oddity that is no error. text is valid during the call.
typedef void (*topo_note_fn)(const char *text, void *ctx);

// The callbacks by which builders ask for configurations. Pointers that they return are valid until
// the next call of the same function.
typedef struct topo_plan {
    net_t *net;
    const net_switch_config_t *(*switch_config)(const char *node_name, void *ctx);
    const nic_config_t *(*nic_config)(const char *node_name, void *ctx);
    // Creates the node that a program has in place of a switch; the simulation frees it. NULL: the
    // builder creates a switch of the library. NULL as a callback: it always does.
    net_node_t *(*own_switch)(const char *node_name, void *ctx);
    bool nic_configs_stay; // true: equal pointers from nic_config mean equal configurations
    // Called before a link joins the next free port of a with that of b. May change *config, which
    // holds the builder's choice. NULL: links stay as the builder chose them.
    void (*link_config)(const net_node_t *a, const net_node_t *b, net_link_config_t *config,
                        void *ctx);
    // Reads a whole file named in the scenario; the caller frees *text with sim_free. NULL: the
    // topology "file" fails with SIM_ERR_STATE.
    sim_err_t (*read_file)(const char *name, char **text, size_t *size, sim_message_t *message,
                           void *ctx);
    topo_note_fn note; // may be NULL
    // Decides whether a graph of this size, read from a file, may be built; fails with a message
    // otherwise. NULL: any size may be built.
    sim_err_t (*fits)(const topo_size_t *size, sim_message_t *message, void *ctx);
    void *ctx;
    // Set by builders that use other builders: the prefix of switches' names, NULL: none; the
    // number of the first host.
    const char *switch_prefix;
    uint64_t first_host;
} topo_plan_t;

typedef struct topo_ops {
    const char *name;              // "leaf-spine"
    const char *help;              // one line
    const sim_attr_table_t *attrs; // prefix "topology.<name>."
    // Fails with SIM_ERR_RANGE if values do not fit each other (odd k, no hosts). The message
    // begins with the attribute's name, or with "FILE:LINE:COLUMN: " if a file is at fault. Nothing
    // is built then.
    SIM_MUST_CHECK sim_err_t (*check)(const void *config, sim_message_t *message);
    SIM_MUST_CHECK sim_err_t (*build)(const topo_plan_t *plan, const void *config,
                                      sim_message_t *message);
    // Computes the size of a network before it is built, from a config that passed the check.
    // NULL: the size is only known when a file was read (topo_plan_t.fits).
    void (*size)(const void *config, topo_size_t *size);
} topo_ops_t;

extern const topo_ops_t *const topo_all[];     // ends with NULL
const topo_ops_t *topo_find(const char *name); // NULL: no topology has this name

// A graph given link by link, by a scenario's "graph", a file, or a program in C.
typedef struct topo_graph topo_graph_t;
topo_graph_t *topo_graph_create(void);
void topo_graph_destroy(topo_graph_t *graph);
// Adds a node. SIM_ERR_EXISTS: another node has the name; SIM_ERR_INVALID: the name is malformed.
SIM_MUST_CHECK sim_err_t topo_graph_node(topo_graph_t *graph, const char *name,
                                         net_node_kind_t kind, sim_message_t *message);
// Adds a link; config is copied. SIM_ERR_UNKNOWN: no such node (message suggests a name);
// SIM_ERR_INVALID: both ends are one node; SIM_ERR_RANGE: a node has too many links.
SIM_MUST_CHECK sim_err_t topo_graph_link(topo_graph_t *graph, const char *a, const char *b,
                                         const net_link_config_t *config, sim_message_t *message);
// Builds the nodes and links of a graph, which must have a host and no host without a link.
SIM_MUST_CHECK sim_err_t topo_graph_build(const topo_graph_t *graph, const topo_plan_t *plan,
                                          sim_message_t *message);

SIM_C_END

#endif // TOPOLOGIES_TOPOLOGY_H
