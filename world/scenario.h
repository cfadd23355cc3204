// SPDX-License-Identifier: Apache-2.0
// world/scenario.h - a scenario, read and checked as far as is possible without a network.
//
// docs/formats/scenario.md describes the language. world/world.h builds the network in memory and
// finds out what names and patterns mean.
#ifndef WORLD_SCENARIO_H
#define WORLD_SCENARIO_H

#include "apps/app.h"
#include "apps/processes.h"
#include "compat/hpcc/rules.h"
#include "net/scale_up.h"
#include "topologies/topology.h"
#include "world/graph.h"
#include "world/override.h"
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
    bool rails;
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

extern const sim_attr_table_t world_run_config_attrs;
extern const sim_attr_table_t world_outputs_config_attrs;

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
    net_scale_up_config_t scale_up;
    void **network_parts; // of the registry's parts of the network: their config structs
    size_t network_part_count;
    void **own_nodes; // of the registry's kinds of nodes: their config structs
    size_t own_node_count;
    compat_hpcc_config_t hpcc;
    app_programs_config_t programs_config;
    // Permission to start the processes of `traffic: programs`, borrowed; NULL: there is none, and
    // such a scenario is refused. The caller sets it after loading.
    const app_programs_t *programs;
    struct world_fault *faults; // world/faults.h
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
    struct world_node_overlay *nodes; // world/overlays.h
    size_t node_count;
    size_t node_capacity;
    struct world_link_overlay *links; // world/overlays.h
    size_t link_count;
    size_t link_capacity;
    world_traffic_t *traffic;
    size_t traffic_count;
    size_t traffic_capacity;
    struct world_series *series; // world/series.h
    size_t series_count;
    size_t series_capacity;
    struct world_capture *captures; // world/captures.h
    size_t capture_count;
    size_t capture_capacity;
    bool steps;                   // the run goes by steps (sim_step)
    bool fails;                   // parts may fail between two steps, besides those of `faults`
    bool session_added;           // the last entry of traffic was added for a session
    world_document_t **submitted; // of entries of traffic that a session added (world_submit)
    size_t submitted_count;
    size_t submitted_capacity;
} world_scenario_t;

// Returns whether a key may stand at the top of a scenario, or is nearly one that may.
bool world_scenario_has_key(const char *key);

// Creates a scenario from its tree: root is the whole, with overrides applied and parameters
// expanded. Takes the document, also on failure. registry, here and below, holds the names that can
// be chosen and is borrowed; NULL: those of the library. Free the scenario with
// world_scenario_destroy.
SIM_MUST_CHECK sim_err_t world_scenario_create(const world_registry_t *registry,
                                               world_document_t *document, world_tree_t *root,
                                               const char *file_name, world_scenario_t **scenario,
                                               world_error_t *error);
void world_scenario_destroy(world_scenario_t *scenario);
// Lets the run go by steps (kernel/steps.h), for `what`: "a session". SIM_ERR_INVALID: the scenario
// cannot go by steps; error says why.
SIM_MUST_CHECK sim_err_t world_scenario_by_steps(world_scenario_t *scenario, const char *what,
                                                 world_error_t *error);
// Prepares a scenario for a session (apps/submitted.h): adds the application if there is none, and
// lets the run go by steps. SIM_ERR_INVALID: the scenario cannot go by steps; error says why.
SIM_MUST_CHECK sim_err_t world_scenario_for_session(world_scenario_t *scenario,
                                                    world_error_t *error);

// Reads a scenario file, applies the overrides in order, and checks it.
SIM_MUST_CHECK sim_err_t world_scenario_load(const world_registry_t *registry,
                                             const char *file_name,
                                             const world_override_t *overrides,
                                             size_t override_count, world_scenario_t **scenario,
                                             world_error_t *error);

// The needs that a scenario states, known before a plug-in is loaded.
typedef struct world_needs {
    world_plugin_file_t *plugins;
    size_t plugin_count;
    uint64_t memory_max_bytes; // as in world_run_config_t
    sim_time_t time_max_ps;
} world_needs_t;

// Reads a scenario file with its overrides, and finds and compiles its plug-ins, but loads none.
// Call world_needs_fini afterwards, also on an error.
SIM_MUST_CHECK sim_err_t world_needs_read(const char *file_name, const world_override_t *overrides,
                                          size_t override_count, world_needs_t *needs,
                                          world_error_t *error);
void world_needs_fini(world_needs_t *needs);

// Loads a scenario from a tree in memory. Takes the document.
SIM_MUST_CHECK sim_err_t world_scenario_load_tree(
    const world_registry_t *registry, world_document_t *document, world_tree_t *root,
    const char *file_name, const world_override_t *overrides, size_t override_count,
    world_scenario_t **scenario, world_error_t *error);

// Loads a scenario from `size` bytes in memory; messages name file_name.
SIM_MUST_CHECK sim_err_t world_scenario_parse(const world_registry_t *registry,
                                              const char *file_name, const char *bytes, size_t size,
                                              world_scenario_t **scenario, world_error_t *error);

// Returns the scenario as YAML with every default filled in; running it gives the same digest.
// `threads` is left out, since results do not depend on it. Free the text with sim_free.
char *world_scenario_resolved(const world_scenario_t *scenario);

SIM_C_END

#endif // WORLD_SCENARIO_H
