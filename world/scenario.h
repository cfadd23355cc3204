// SPDX-License-Identifier: Apache-2.0
// world/scenario.h - a scenario, read and checked as far as is possible without a network.
//
// docs/formats/scenario.md describes the language. world/world.h builds the network in memory and
// finds out what names and patterns mean.
#ifndef WORLD_SCENARIO_H
#define WORLD_SCENARIO_H

#include "apps/app.h"
#include "compat/hpcc/rules.h"
#include "nic/cache.h"
#include "nic/transport.h"
#include "topologies/topology.h"
#include "world/bind.h"
#include "world/patterns.h"
#include "world/registry.h"

SIM_C_BEGIN

// Version of the language of scenarios, the value of the key `format`. It is raised when a scenario
// of the version before would mean something else or be refused.
#define WORLD_SCENARIO_FORMAT 1

typedef enum world_ties { WORLD_TIES_HASH, WORLD_TIES_INSERTION, WORLD_TIES_ROTOR } world_ties_t;

// Top-level values.
typedef struct world_run_config {
    uint64_t format;
    char *name; // of the scenario: the file's, without .yaml, unless given
    char *description;
    uint64_t seed;
    uint64_t tie_seed;
    world_ties_t ties;
    sim_time_t until_ps;
    sim_time_t stall_ps; // 0: off
    uint64_t threads;
    uint64_t memory_max_bytes; // SIM_AUTO: no limit
    sim_time_t time_max_ps;    // of the machine's time; SIM_AUTO: no limit
    char *folder; // that file names in the scenario are relative to; "": the scenario's own
} world_run_config_t;

typedef enum world_skip_mode { WORLD_SKIP_OFF, WORLD_SKIP_EXACT } world_skip_mode_t;

// "fast-forward."
typedef struct world_fast_forward_config {
    world_skip_mode_t mode;
    bool memo;
    sim_ratio_t audit; // share of hits that are simulated, too
} world_fast_forward_config_t;
extern const sim_attr_table_t world_fast_forward_config_attrs;

// "outputs."
typedef struct world_outputs_config {
    bool flows;
    uint64_t events_max;
    bool cache_events;
    uint64_t series_max;
    uint64_t hops_max;
    uint64_t operations_max;
    uint64_t hottest_ports;
    sim_time_t rates_until_ps; // SIM_AUTO
} world_outputs_config_t;

typedef enum world_observe_on {
    WORLD_ON_TIME,  // a row each `every`
    WORLD_ON_CHANGE // a row per instant that left another value
} world_observe_on_t;

// Each entry of "observe".
typedef struct world_observe_config {
    char *series;
    sim_time_t start_ps;
    sim_time_t every_ps;
    world_observe_on_t on;
} world_observe_config_t;

typedef enum world_direction {
    WORLD_DIRECTION_BOTH,
    WORLD_DIRECTION_TX,
    WORLD_DIRECTION_RX
} world_direction_t;

typedef enum world_capture_times { WORLD_CAPTURE_NS, WORLD_CAPTURE_PS } world_capture_times_t;

typedef enum world_capture_trigger {
    WORLD_CAPTURE_ALWAYS,
    WORLD_CAPTURE_DROP,
    WORLD_CAPTURE_MARK,
    WORLD_CAPTURE_PAUSE,
    WORLD_CAPTURE_RETRANSMISSION,
    WORLD_CAPTURE_TRIM,
} world_capture_trigger_t;

// Each entry of "captures".
typedef struct world_capture_config {
    char *ports;
    world_direction_t direction;
    char *filter;
    uint64_t snaplen_bytes; // SIM_AUTO: whole frames
    uint64_t bytes_max;     // of the file before compression
    bool telemetry;         // kept
    char *file;
    char *fabric; // name of a pcapng file; empty: a pcap file, `file`
    world_capture_times_t times;
    world_capture_trigger_t around;
    sim_time_t before_ps;
    sim_time_t after_ps;
    uint64_t at_most;
    uint64_t ring_bytes; // 0: no ring
} world_capture_config_t;

// Each entry of a link's "down".
typedef struct world_down_config {
    sim_time_t at_ps;
    sim_time_t until_ps; // NEVER: stays down
} world_down_config_t;

extern const sim_attr_table_t world_run_config_attrs;
extern const sim_attr_table_t world_outputs_config_attrs;
extern const sim_attr_table_t world_observe_config_attrs;
extern const sim_attr_table_t world_capture_config_attrs;
extern const sim_attr_table_t world_down_config_attrs;

// The kinds of metrics that a series samples: "port[leaf0->host5].queue_bytes[3]".
typedef enum world_series_kind {
    WORLD_SERIES_PORT,   // port[A->B].METRIC or .METRIC[PRIORITY]
    WORLD_SERIES_NIC,    // nic[HOST].COUNTER, nic[HOST].cache.METRIC
    WORLD_SERIES_QP,     // qp[HOST:NUMBER].METRIC, qp[HOST->PEER].METRIC, qp[HOST->PEER:NUMBER]...
    WORLD_SERIES_SWITCH, // switch[NAME].buffer_bytes
    WORLD_SERIES_NODE,   // node[NAME].arrivals_hash
} world_series_kind_t;

typedef struct world_series {
    world_observe_config_t config;
    world_place_t place;
    world_series_kind_t kind;
    world_pair_t ports; // PORT
    char *nodes;        // NIC, QP, SWITCH: pattern of names
    char *qps;          // QP: pattern of numbers
    char *peers;        // QP: pattern of names of what they are connected to; NULL: not asked for
    uint8_t classes;    // PORT: those that are summed
    bool one_class;
    uint32_t metric;                        // index in the kind's table
    const char *cc_metric;                  // QP: instead, a number of its congestion control
    const nic_cache_metric_t *cache_metric; // NIC: instead, a number of its tiered cache
    const nic_transport_metric_t *transport_metric; // NIC: instead, one of its transports
} world_series_t;

typedef struct world_capture {
    world_capture_config_t config;
    world_place_t place;
    world_place_t filter_place;
    world_place_t file_place;
    world_pair_t ports;
} world_capture_t;

// Values of the nodes that match a pattern.
typedef struct world_node_overlay {
    const char *pattern;
    world_place_t place;
    const world_tree_t *switch_map; // NULL: none
    const world_tree_t *nic_map;
    const world_node_kind_t *own_kind; // of the switches that match; NULL: it says nothing of that
    const world_tree_t *own_map;       // attributes of own_kind; NULL: none
} world_node_overlay_t;

typedef struct world_down {
    world_down_config_t config;
    world_place_t place;
} world_down_t;

// Each entry of "faults".
typedef enum world_fault_kind {
    WORLD_FAULT_DOWN,
    WORLD_FAULT_DEGRADED, // from here on, net_fault_kind_t
    WORLD_FAULT_ERRORS,
    WORLD_FAULT_SLOW_RECEIVER,
    WORLD_FAULT_PAUSE_STORM,
} world_fault_kind_t;

typedef struct world_fault_config {
    char *part;
    world_fault_kind_t kind;
    sim_time_t at_ps;
    sim_time_t until_ps;
    sim_time_t every_ps; // NEVER: once
    uint64_t times;
    uint64_t rate_bps;
    sim_ratio_t bit_error_rate;
    sim_ratio_t loss_rate;
    uint8_t priorities;
} world_fault_config_t;
extern const sim_attr_table_t world_fault_config_attrs;

typedef struct world_fault {
    world_fault_config_t config;
    world_pair_t names; // links of the part; of all links of a node: node--*
    world_place_t place;
} world_fault_t;

// Values of the links that match a pattern.
typedef struct world_link_overlay {
    const char *pattern;
    world_pair_t names;
    world_place_t place;
    const world_tree_t *map;
    world_down_t *downs;
    size_t down_count;
    size_t down_capacity;
} world_link_overlay_t;

typedef struct world_graph_node {
    const char *name;
    net_node_kind_t kind;
    const world_node_kind_t *own_kind; // of the program, which stands as a switch; NULL: none
    world_place_t place;
} world_graph_node_t;

typedef struct world_graph_link {
    char *a;
    char *b;
    net_link_config_t config;
} world_graph_link_t;

typedef struct world_graph {
    topo_graph_t *topo;
    world_graph_node_t *nodes;
    size_t node_count;
    size_t node_capacity;
    world_graph_link_t *links;
    size_t link_count;
    size_t link_capacity;
} world_graph_t;

typedef struct world_traffic {
    const app_ops_t *ops;
    void *config;
    world_place_t place;
    const world_tree_t *map;
} world_traffic_t;

typedef struct world_scenario {
    const world_registry_t *registry;
    world_registry_t *own_registry; // NULL: the registry is another's
    const char *file_name;
    world_document_t *document;
    world_tree_t *root;
    world_run_config_t run;
    world_outputs_config_t outputs;
    world_fast_forward_config_t fast_forward;
    net_config_t network;
    void **network_parts; // of the registry's parts of the network: their config structs
    size_t network_part_count;
    void **own_nodes; // of the registry's kinds of nodes: their config structs
    size_t own_node_count;
    compat_hpcc_config_t hpcc;
    world_fault_t *faults;
    size_t fault_count;
    size_t fault_capacity;
    net_link_config_t link;
    const world_tree_t *link_map; // what the scenario says about all links; NULL: nothing
    net_switch_config_t switch_config;
    nic_config_t nic_config;
    const topo_ops_t *topology; // NULL: graph
    void *topology_config;
    world_place_t topology_place;
    const world_tree_t *topology_map;
    world_graph_t graph;
    world_node_overlay_t *nodes;
    size_t node_count;
    size_t node_capacity;
    world_link_overlay_t *links;
    size_t link_count;
    size_t link_capacity;
    world_traffic_t *traffic;
    size_t traffic_count;
    size_t traffic_capacity;
    world_series_t *series;
    size_t series_count;
    size_t series_capacity;
    world_capture_t *captures;
    size_t capture_count;
    size_t capture_capacity;
    bool steps;                   // the run goes by steps (sim_step)
    bool session_added;           // the last entry of traffic was added for a session
    world_document_t **submitted; // of entries of traffic that a session added (world_submit)
    size_t submitted_count;
    size_t submitted_capacity;
} world_scenario_t;

// Creates a scenario from its tree: root is the whole, with overrides applied and parameters
// expanded. Takes the document,
// also on failure. registry, here and below, holds the names that can be chosen and is borrowed;
// NULL: those of the library. Free the scenario with world_scenario_destroy.
SIM_MUST_CHECK sim_err_t world_scenario_create(const world_registry_t *registry,
                                               world_document_t *document, world_tree_t *root,
                                               const char *file_name, world_scenario_t **scenario,
                                               world_error_t *error);
void world_scenario_destroy(world_scenario_t *scenario);
// Prepares a scenario for a session (apps/session.h): adds the application if there is none, and
// lets the run go by steps. SIM_ERR_INVALID: the scenario cannot go by steps; error says why.
SIM_MUST_CHECK sim_err_t world_scenario_for_session(world_scenario_t *scenario,
                                                    world_error_t *error);

// A value given on the command line.
typedef struct world_override {
    const char *shown; // in messages: "--set nic.mtu=1024"
    const char *text;  // "nic.mtu=1024"
    const char *where; // before `shown` in messages: "sweep.yaml:4:12: "; NULL: nothing
} world_override_t;

// Reads a scenario file, applies the overrides in order, and checks it.
SIM_MUST_CHECK sim_err_t world_scenario_load(const world_registry_t *registry,
                                             const char *file_name,
                                             const world_override_t *overrides,
                                             size_t override_count, world_scenario_t **scenario,
                                             world_error_t *error);

// Loads a scenario from a tree in memory. Takes the document.
SIM_MUST_CHECK sim_err_t world_scenario_load_tree(
    const world_registry_t *registry, world_document_t *document, world_tree_t *root,
    const char *file_name, const world_override_t *overrides, size_t override_count,
    world_scenario_t **scenario, world_error_t *error);

// Loads a scenario from `size` bytes in memory; messages name file_name.
SIM_MUST_CHECK sim_err_t world_scenario_parse(const world_registry_t *registry,
                                              const char *file_name, const char *bytes, size_t size,
                                              world_scenario_t **scenario, world_error_t *error);

// Changes the tree by one override.
SIM_MUST_CHECK sim_err_t world_override_apply(world_document_t *document, world_tree_t *root,
                                              const world_override_t *override,
                                              world_error_t *error);

// Returns the scenario as YAML with every default filled in; running it gives the same digest.
// `threads` is left out, since results do not depend on it. Free the text with sim_free.
char *world_scenario_resolved(const world_scenario_t *scenario);

// Returns a tree as YAML in block style. Free the text with sim_free.
char *world_yaml_text(const world_tree_t *tree);

// -- steps of world_scenario_create in files of their own

// override.c: checks `parameters`; each --set looks up what they stand for.
// Merges a mapping into the one at a path, or sets another value there. path is a scalar.
SIM_MUST_CHECK sim_err_t world__merge_value(world_document_t *document, world_tree_t *root,
                                            const world_tree_t *path, world_tree_t *value,
                                            world_error_t *error);
// Sets a value at a path, or at the paths that a parameter's name stands for; a parameter of the
// long form takes the value.
SIM_MUST_CHECK sim_err_t world__override_value(world_document_t *document, world_tree_t *root,
                                               const char *path, world_tree_t *value,
                                               world_error_t *error);
SIM_MUST_CHECK sim_err_t world__take_parameters(world_scenario_t *scenario,
                                                const world_tree_t *value, world_error_t *error);
SIM_MUST_CHECK sim_err_t world__take_topology(world_scenario_t *scenario, const world_tree_t *map,
                                              world_error_t *error);
// own_nodes.c: the section `node`, and the config structs of a registry's own kinds of nodes.
SIM_MUST_CHECK sim_err_t world__take_own_nodes(world_scenario_t *scenario, const world_tree_t *map,
                                               world_error_t *error);
void world__own_nodes_init(world_scenario_t *scenario);
void world__own_nodes_fini(world_scenario_t *scenario);
// Returns the kind of a node: that of the graph, or of the last pattern that matches; NULL: it is a
// switch of the library or a host.
const world_node_kind_t *world__own_node_kind(const world_scenario_t *scenario, const char *name);
// Creates the program's own node that has this name in the scenario; NULL: it is a switch of the
// library. A configuration that fails its check sets *result and error, and gives NULL, too.
net_node_t *world__own_node_create(const world_scenario_t *scenario, net_t *net, const char *name,
                                   sim_err_t *result, world_error_t *error);
SIM_MUST_CHECK sim_err_t world__take_nodes(world_scenario_t *scenario, const world_tree_t *map,
                                           world_error_t *error);
SIM_MUST_CHECK sim_err_t world__take_faults(world_scenario_t *scenario, const world_tree_t *list,
                                            world_error_t *error);
void world__faults_fini(world_scenario_t *scenario);
SIM_MUST_CHECK sim_err_t world__take_links(world_scenario_t *scenario, const world_tree_t *map,
                                           world_error_t *error);
SIM_MUST_CHECK sim_err_t world__take_observe(world_scenario_t *scenario, const world_tree_t *list,
                                             world_error_t *error);
SIM_MUST_CHECK sim_err_t world__take_captures(world_scenario_t *scenario, const world_tree_t *list,
                                              world_error_t *error);
// captures.c: the name of a capture without one ("leaf0-host5.pcap.gz" for leaf0->host5, to be
// freed with sim_free); whether a name has braces, and whether only {port} and {node} are in them.
#define WORLD__CAPTURE_NAME_MAX 200u
char *world__capture_default_name(const char *ports);
bool world__capture_is_pattern(const char *file);
bool world__capture_pattern_ok(const char *file);
// Returns the only entry of a map that must have one, such as a topology or a traffic entry. `what`
// names the map in messages, `names` are the accepted keys.
SIM_MUST_CHECK sim_err_t world__take_choice(const world_tree_t *map, const char *what,
                                            const char *const *names, size_t name_count,
                                            const world_tree_entry_t **entry, world_error_t *error);
void world__graph_fini(world_graph_t *graph);

// Metrics of nodes that series can sample; each table ends with a NULL name.
typedef struct world_switch_metric {
    const char *name;
    const char *unit;
    const char *help;
    uint64_t (*read)(const net_node_t *node);
    uint32_t points; // of its ports, after which it may have changed
} world_switch_metric_t;
extern const world_switch_metric_t world_switch_metrics[];
extern const world_switch_metric_t world_node_metrics[]; // of hosts, too

// Lists, each once, the names of the metrics of congestion controls that nic_qp_metrics does not
// have. Returns how many they are, at most count_max.
size_t world_cc_metric_names(const world_registry_t *registry, const char **names,
                             size_t count_max);

SIM_C_END

#endif // WORLD_SCENARIO_H
