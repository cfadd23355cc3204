// SPDX-License-Identifier: Apache-2.0
// topologies/topology.h - builders that wire nodes together, each a row of one table.
//
// A topology is a name, an attribute table and a build function. Builders ask the plan for each
// node's and link's configuration by name, so that patterns in the scenario can give any node
// values of its own. Nodes are created in pod order (a leaf, then its hosts), which keeps
// neighbours near each other in memory and in the partition over threads.
#ifndef TOPOLOGIES_TOPOLOGY_H
#define TOPOLOGIES_TOPOLOGY_H

#include "net/switch.h"
#include "nic/host.h"

SIM_C_BEGIN

// How large a network will be.
typedef struct topo_size {
    uint64_t hosts;
    uint64_t switches;
    uint64_t links;
} topo_size_t;

// Hears of what is odd but no error, one line of text each.
typedef void (*topo_note_fn)(const char *text, void *ctx);

// What builders need from whoever wrote the scenario. Pointers returned are valid until the next
// call of the same function.
typedef struct topo_plan {
    net_t *net;
    const net_switch_config_t *(*switch_config)(const char *node_name, void *ctx);
    const nic_config_t *(*nic_config)(const char *node_name, void *ctx);
    bool nic_configs_stay; // what it returned is not changed: one pointer, one configuration
    // Last word on a link that is about to join two nodes, from the next port of each: may change
    // *config (the builder's choice).
    void (*link_config)(const net_node_t *a,
                        const net_node_t *b,
                        net_link_config_t *config,
                        void *ctx);
    // Reads a whole file named in the scenario; the caller frees *text with sim_free. May be NULL:
    // the topology "file" is refused then.
    sim_err_t (
        *read_file)(const char *name, char **text, size_t *size, sim_message_t *message, void *ctx);
    topo_note_fn note; // may be NULL
    // Whether a graph of that size, read from somewhere, is to be built; a refusal leaves a
    // message. NULL: any is.
    sim_err_t (*fits)(const topo_size_t *size, sim_message_t *message, void *ctx);
    void *ctx;
    // For builders of builders: what the names of switches begin with, NULL: nothing; the number of
    // the first host.
    const char *switch_prefix;
    uint64_t first_host;
} topo_plan_t;

typedef struct topo_ops {
    const char *name;              // "leaf-spine"
    const char *help;              // one line
    const sim_attr_table_t *attrs; // prefix "topology.<name>."
    // Values that do not fit each other (odd k, no hosts) are SIM_ERR_RANGE with a message that
    // starts with the attribute's name, or with "FILE:LINE:COLUMN: " where a file is at fault.
    // Nothing is built then.
    SIM_MUST_CHECK sim_err_t (*check)(const void *config, sim_message_t *message);
    SIM_MUST_CHECK sim_err_t (*build)(const topo_plan_t *plan,
                                      const void *config,
                                      sim_message_t *message);
    // Of a config that passed the check, before anything is built; NULL: known only when a file was
    // read (topo_plan_t.fits).
    void (*size)(const void *config, topo_size_t *size);
} topo_ops_t;

extern const topo_ops_t *const topo_all[];     // ends with NULL
const topo_ops_t *topo_find(const char *name); // NULL: unknown

// A graph given link by link (the scenario's "graph", or a file): also the way for C programs.
typedef struct topo_graph topo_graph_t;
topo_graph_t *topo_graph_create(void);
void topo_graph_destroy(topo_graph_t *graph);
// SIM_ERR_EXISTS: the name is taken.
SIM_MUST_CHECK sim_err_t topo_graph_node(topo_graph_t *graph,
                                         const char *name,
                                         net_node_kind_t kind,
                                         sim_message_t *message);
// SIM_ERR_UNKNOWN: no such node (message has a did-you-mean); SIM_ERR_INVALID: a link to itself.
SIM_MUST_CHECK sim_err_t topo_graph_link(topo_graph_t *graph,
                                         const char *a,
                                         const char *b,
                                         const net_link_config_t *config,
                                         sim_message_t *message);
SIM_MUST_CHECK sim_err_t topo_graph_build(const topo_graph_t *graph,
                                          const topo_plan_t *plan,
                                          sim_message_t *message);

// What is odd about a built network. Calls fn once per finding, in a fixed order.
typedef enum topo_severity { TOPO_NOTE, TOPO_WARNING, TOPO_ERROR } topo_severity_t;
typedef void (*topo_finding_fn)(topo_severity_t severity, const char *text, void *ctx);
// Unconnected nodes, parallel links of different rates, unreachable pairs (counted, an example
// named), switches whose buffer cannot hold their headroom, over-subscription by tier. Only the
// buffers are an error: a class meant to be lossless may drop. Cost: O(links log links).
void topo_lint(const net_t *net, topo_finding_fn fn, void *ctx);

// The network in Graphviz DOT, hosts and switches by tier, rates and delays on the edges.
// More than TOPO_DOT_HOSTS_MAX hosts with the same links are drawn as one node, "32 hosts".
#define TOPO_DOT_HOSTS_MAX 16u
void topo_write_dot(const net_t *net, void (*write)(const char *text, void *ctx), void *ctx);
// The same with the caller's limit; UINT32_MAX draws every host.
void topo_write_dot_hosts(const net_t *net,
                          uint32_t hosts_max,
                          void (*write)(const char *text, void *ctx),
                          void *ctx);

SIM_C_END

#endif // TOPOLOGIES_TOPOLOGY_H
