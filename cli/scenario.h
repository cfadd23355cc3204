// SPDX-License-Identifier: Apache-2.0
// cli/scenario.h - a scenario, read and checked as far as it can be without building the network.
//
// docs/formats/scenario.md is the language. What names and patterns mean is found out by
// cli/world.h, which builds the network in memory.
#ifndef CLI_SCENARIO_H
#define CLI_SCENARIO_H

#include "apps/app.h"
#include "cli/bind.h"
#include "cli/patterns.h"
#include "topologies/topology.h"

typedef enum cli_ties { CLI_TIES_HASH, CLI_TIES_INSERTION, CLI_TIES_LIST } cli_ties_t;

// Top-level values.
typedef struct cli_run_config {
    char *name; // of the scenario: the file's, without .yaml, unless given
    char *description;
    uint64_t seed;
    uint64_t tie_seed;
    uint32_t ties; // cli_ties_t
    sim_time_t until_ps;
    sim_time_t stall_ps; // 0: off
    uint64_t threads;
    char *folder; // that file names in the scenario are relative to; "": the scenario's own
} cli_run_config_t;

// "outputs."
typedef struct cli_outputs_config {
    bool flows;
    uint64_t events_max;
    uint64_t series_max;
    uint64_t hottest_ports;
} cli_outputs_config_t;

// Each entry of "observe".
typedef struct cli_observe_config {
    char *series;
    sim_time_t start_ps;
    sim_time_t every_ps;
    uint32_t on; // cli_observe_on_t
} cli_observe_config_t;

typedef enum cli_observe_on {
    CLI_ON_TIME,  // a row each `every`
    CLI_ON_CHANGE // a row per instant that left another value
} cli_observe_on_t;

typedef enum cli_direction {
    CLI_DIRECTION_BOTH,
    CLI_DIRECTION_TX,
    CLI_DIRECTION_RX
} cli_direction_t;

// Each entry of "captures".
typedef struct cli_capture_config {
    char *ports;
    uint32_t direction; // cli_direction_t
    char *filter;
    uint64_t snaplen_bytes; // SIM_AUTO: whole frames
    uint64_t bytes_max;     // of the file before compression
    bool telemetry;         // kept
    char *file;
} cli_capture_config_t;

// Each entry of a link's "down".
typedef struct cli_down_config {
    sim_time_t at_ps;
    sim_time_t until_ps; // NEVER: stays down
} cli_down_config_t;

extern const sim_attr_table_t cli_run_config_attrs;
extern const sim_attr_table_t cli_outputs_config_attrs;
extern const sim_attr_table_t cli_observe_config_attrs;
extern const sim_attr_table_t cli_capture_config_attrs;
extern const sim_attr_table_t cli_down_config_attrs;

// What a series samples: "port[leaf0->host5].queue_bytes[3]".
typedef enum cli_series_kind {
    CLI_SERIES_PORT,   // port[A->B].METRIC or .METRIC[PRIORITY]
    CLI_SERIES_NIC,    // nic[HOST].COUNTER
    CLI_SERIES_QP,     // qp[HOST:NUMBER].METRIC, qp[HOST->PEER].METRIC, qp[HOST->PEER:NUMBER]...
    CLI_SERIES_SWITCH, // switch[NAME].buffer_bytes
} cli_series_kind_t;

typedef struct cli_series {
    cli_observe_config_t config;
    cli_place_t place;
    cli_series_kind_t kind;
    cli_pair_t ports; // PORT
    char *nodes;      // NIC, QP, SWITCH: pattern of names
    char *qps;        // QP: pattern of numbers
    char *peers;      // QP: pattern of names of what they are connected to; NULL: not asked for
    uint8_t classes;  // PORT: those that are summed
    bool one_class;
    uint32_t metric;       // index in the kind's table
    const char *cc_metric; // QP: instead, a number of its congestion control
} cli_series_t;

typedef struct cli_capture {
    cli_capture_config_t config;
    cli_place_t place;
    cli_place_t filter_place;
    cli_pair_t ports;
} cli_capture_t;

// Values of the nodes that match a pattern.
typedef struct cli_node_overlay {
    const char *pattern;
    cli_place_t place;
    const cli_tree_t *switch_map; // NULL: none
    const cli_tree_t *nic_map;
} cli_node_overlay_t;

typedef struct cli_down {
    cli_down_config_t config;
    cli_place_t place;
} cli_down_t;

// Values of the links that match a pattern.
typedef struct cli_link_overlay {
    const char *pattern;
    cli_pair_t names;
    cli_place_t place;
    const cli_tree_t *map;
    cli_down_t *downs;
    size_t down_count;
    size_t down_capacity;
} cli_link_overlay_t;

typedef struct cli_graph_node {
    const char *name;
    net_node_kind_t kind;
    cli_place_t place;
} cli_graph_node_t;

typedef struct cli_graph_link {
    char *a;
    char *b;
    net_link_config_t config;
} cli_graph_link_t;

typedef struct cli_graph {
    topo_graph_t *topo;
    cli_graph_node_t *nodes;
    size_t node_count;
    size_t node_capacity;
    cli_graph_link_t *links;
    size_t link_count;
    size_t link_capacity;
} cli_graph_t;

typedef struct cli_traffic {
    const app_ops_t *ops;
    void *config;
    cli_place_t place;
    const cli_tree_t *map;
} cli_traffic_t;

typedef struct cli_scenario {
    const char *file_name;
    cli_document_t *document;
    cli_tree_t *root;
    cli_run_config_t run;
    cli_outputs_config_t outputs;
    net_config_t network;
    net_link_config_t link;
    const cli_tree_t *link_map; // what the scenario says about all links; NULL: nothing
    net_switch_config_t switch_config;
    nic_config_t nic_config;
    const topo_ops_t *topology; // NULL: graph
    void *topology_config;
    cli_place_t topology_place;
    const cli_tree_t *topology_map;
    cli_graph_t graph;
    cli_node_overlay_t *nodes;
    size_t node_count;
    size_t node_capacity;
    cli_link_overlay_t *links;
    size_t link_count;
    size_t link_capacity;
    cli_traffic_t *traffic;
    size_t traffic_count;
    size_t traffic_capacity;
    cli_series_t *series;
    size_t series_count;
    size_t series_capacity;
    cli_capture_t *captures;
    size_t capture_count;
    size_t capture_capacity;
} cli_scenario_t;

// Takes the document, also on failure. root is the whole scenario, overrides applied.
// Free with cli_scenario_destroy.
SIM_MUST_CHECK sim_err_t cli_scenario_create(cli_document_t *document,
                                             cli_tree_t *root,
                                             const char *file_name,
                                             cli_scenario_t **scenario,
                                             cli_error_t *error);
void cli_scenario_destroy(cli_scenario_t *scenario);

// A value given on the command line.
typedef struct cli_override {
    const char *shown; // in messages: "--set nic.mtu=1024"
    const char *text;  // "nic.mtu=1024"
} cli_override_t;

// Reads a file, applies the overrides in order, checks.
SIM_MUST_CHECK sim_err_t cli_scenario_load(const char *file_name,
                                           const cli_override_t *overrides,
                                           size_t override_count,
                                           cli_scenario_t **scenario,
                                           cli_error_t *error);

// The same of a tree in memory: takes the document.
SIM_MUST_CHECK sim_err_t cli_scenario_load_tree(cli_document_t *document,
                                                cli_tree_t *root,
                                                const char *file_name,
                                                const cli_override_t *overrides,
                                                size_t override_count,
                                                cli_scenario_t **scenario,
                                                cli_error_t *error);

// The same of size bytes in memory; file_name stands in messages.
SIM_MUST_CHECK sim_err_t cli_scenario_parse(const char *file_name,
                                            const char *bytes,
                                            size_t size,
                                            cli_scenario_t **scenario,
                                            cli_error_t *error);

// Changes the tree as one override says.
SIM_MUST_CHECK sim_err_t cli_override_apply(cli_document_t *document,
                                            cli_tree_t *root,
                                            const cli_override_t *override,
                                            cli_error_t *error);

// The scenario as YAML with every default filled in; running it gives the same digest. Threads are
// left out: they are no part of a result. Free with sim_free.
char *cli_scenario_resolved(const cli_scenario_t *scenario);

// A tree as YAML in block style; free with sim_free.
char *cli_yaml_text(const cli_tree_t *tree);

// -- steps of cli_scenario_create in files of their own

// override.c: checks `parameters`; what they stand for is looked up by each --set.
SIM_MUST_CHECK sim_err_t cli__take_parameters(cli_scenario_t *scenario,
                                              const cli_tree_t *value,
                                              cli_error_t *error);
SIM_MUST_CHECK sim_err_t cli__take_topology(cli_scenario_t *scenario,
                                            const cli_tree_t *map,
                                            cli_error_t *error);
SIM_MUST_CHECK sim_err_t cli__take_nodes(cli_scenario_t *scenario,
                                         const cli_tree_t *map,
                                         cli_error_t *error);
SIM_MUST_CHECK sim_err_t cli__take_links(cli_scenario_t *scenario,
                                         const cli_tree_t *map,
                                         cli_error_t *error);
SIM_MUST_CHECK sim_err_t cli__take_observe(cli_scenario_t *scenario,
                                           const cli_tree_t *list,
                                           cli_error_t *error);
SIM_MUST_CHECK sim_err_t cli__take_captures(cli_scenario_t *scenario,
                                            const cli_tree_t *list,
                                            cli_error_t *error);
// The one key and value of a map that must have one, as topology and traffic entries; what names
// it for messages, names are those accepted.
SIM_MUST_CHECK sim_err_t cli__take_choice(const cli_tree_t *map,
                                          const char *what,
                                          const char *const *names,
                                          size_t name_count,
                                          const cli_tree_entry_t **entry,
                                          cli_error_t *error);
void cli__graph_fini(cli_graph_t *graph);
// Values of a switch that do not fit each other; the message begins with an attribute.
SIM_MUST_CHECK sim_err_t cli__check_switch(const net_switch_config_t *config,
                                           sim_message_t *message);

// Metrics of switches that series can sample; ends with a NULL name.
typedef struct cli_switch_metric {
    const char *name;
    const char *unit;
    const char *help;
    uint64_t (*read)(const net_node_t *node);
    uint32_t points; // of its ports, after which it may have changed
} cli_switch_metric_t;
extern const cli_switch_metric_t cli_switch_metrics[];

// Names of what the congestion controls tell about queue pairs that nic_qp_metrics does not have,
// each once. Returns how many of them (at most count_max).
size_t cli_cc_metric_names(const char **names, size_t count_max);

#endif // CLI_SCENARIO_H
