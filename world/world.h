// SPDX-License-Identifier: Apache-2.0
// world/world.h - builds a scenario in memory: simulation, network, applications.
//
// Every error of a scenario is found here, before any file is written.
#ifndef WORLD_WORLD_H
#define WORLD_WORLD_H

#include "apps/periods.h"
#include "apps/skips.h"
#include "world/parts.h"
#include "world/scenario.h"

#include <stdio.h>

SIM_C_BEGIN

// A NIC and its name in results: that of its host, with "/nic1" where the host has several.
typedef struct world_nic {
    const char *name; // the host's if it has one NIC
    uint32_t host;    // number of the node
    uint32_t index;   // among the host's
} world_nic_t;

typedef struct world {
    const world_scenario_t *scenario;
    sim_t *sim;
    net_t *net;
    app_runtime_t *runtime; // NULL: no applications
    app_t **apps;           // one per entry of traffic
    size_t app_count;
    size_t app_capacity;
    app_skips_t skips;      // of `fast-forward`
    app_periods_t *periods; // that are skipped; NULL: none are
    bool confined;          // applications read files below the scenario's folder only
    world_nic_t *nics;      // by interface
    size_t nic_count;
    char **files; // names of those that the topology and applications read
    size_t file_count;
    size_t file_capacity;
    char **notes; // what is odd about them but no error, a line each
    size_t note_count;
    size_t note_capacity;
    struct world_variants *variants;
    struct world_survey *survey; // world/survey.h; NULL: no applications
    world_parts_t *parts;        // of the ranks; NULL: one process
    struct world_stuck *stuck;   // reports of other ranks about a stall (world/explain.h), or NULL
} world_t;
typedef struct world_survey world_survey_t;

// Return a NIC, or its host, which are made if another rank runs them.
static inline nic_t *world_nic_of(const world_t *world, const world_nic_t *nic)
{
    return nic_at(net_node_at(world->net, nic->host), nic->index);
}
static inline net_node_t *world_host_of(const world_t *world, const world_nic_t *nic)
{
    return net_node_at(world->net, nic->host);
}
// Returns whether a NIC exists; one that does not has counted nothing.
static inline bool world_nic_exists(const world_t *world, const world_nic_t *nic)
{
    const net_node_t *const host = net_node_look(world->net, nic->host);
    return host != NULL && nic_exists(host);
}

typedef enum world_build {
    WORLD_BUILD_NETWORK, // for `rocesim topo`: no applications
    WORLD_BUILD_ALL,
} world_build_t;

// Builds the world of a scenario, which must outlive it. Free it with world_destroy.
SIM_MUST_CHECK sim_err_t world_create(const world_scenario_t *scenario, world_build_t build,
                                      world_t **world, world_error_t *error);
// Builds the part of a world that a rank runs (kernel/ranks.h). `ranks` is borrowed; NULL: builds
// all of it.
SIM_MUST_CHECK sim_err_t world_create_part(const world_scenario_t *scenario, world_build_t build,
                                           const sim_ranks_t *ranks, world_t **world,
                                           world_error_t *error);
void world_destroy(world_t *world);
// Adds an application to a world that stands between two steps (sim_step), as if `traffic` had one
// entry more: json is a mapping such as {"collective": {"bytes": "1MiB"}} of `size` bytes, and its
// ranks begin at start_ps, which replaces the attribute `start`. `scenario` is the world's own.
// Sets *app, which has program ops. After an error, which names `origin`, nothing remains.
SIM_MUST_CHECK sim_err_t world_submit(world_t *world, world_scenario_t *scenario,
                                      const char *origin, const char *json, size_t size,
                                      sim_time_t start_ps, app_t **app, world_error_t *error);

// Returns the name of an interface in results.
const char *world_interface_name(const world_t *world, uint32_t interface);

// Adds ", did you mean 'x'?" with the nearest name of a node of the kind (-1: any).
void world_add_nearest_node(world_error_t *error, const net_t *net, const char *pattern, int kind);

// Finds the ports that the pair matches, in order of nodes and ports. The caller frees *ports with
// sim_free. No port is an error at place, which names what was looked for.
SIM_MUST_CHECK sim_err_t world_find_ports(const world_t *world, const world_pair_t *pair,
                                          const char *pattern, const world_place_t *place,
                                          net_port_t ***ports, size_t *count, world_error_t *error);

// A file of a capture, and the ports whose frames it gets.
typedef struct world_capture_file {
    char *name; // in the folder captures/
    net_port_t *const *ports;
    size_t port_count; // >= 1
} world_capture_file_t;
typedef struct world_capture_files {
    world_capture_file_t *items;
    size_t count;
    net_port_t **ports; // of all files, file by file
} world_capture_files_t;
// Finds the files of a capture: one, or one per port for {port} in its name, one per node for
// {node} alone. Free them with world_capture_files_fini, also on failure. Fails like
// world_find_ports.
SIM_MUST_CHECK sim_err_t world_capture_files(const world_t *world, const world_capture_t *capture,
                                             world_capture_files_t *files, world_error_t *error);
void world_capture_files_fini(world_capture_files_t *files);
// Returns the name of the file that a capture named `file`, with {port} and {node}, has for the
// port of that name (net_port_name). Free it with sim_free.
char *world_capture_file_name(const char *file, const char *port);

// Prints what was odd about the files of the scenario, a line each.
void world_print_notes(const world_t *world, FILE *out);

// Returns the folder that file names in the scenario start from, as an absolute path. Free it with
// sim_free.
char *world_scenario_folder(const world_scenario_t *scenario);
// Returns the path of an input that a scenario names, where the scenario is file_name and its
// attribute `folder` is run_folder. Free it with sim_free.
char *world_input_path(const char *file_name, const char *run_folder, const char *name);

// -- configurations of nodes (variants.c)

typedef struct world_variants world_variants_t;
world_variants_t *world__variants_create(const world_scenario_t *scenario);
void world__variants_destroy(world_variants_t *variants);
const net_switch_config_t *world__variants_switch(world_variants_t *variants, const char *name);
const nic_config_t *world__variants_nic(world_variants_t *variants, const char *name);
// Keeps an error of a node that has no variant, unless there is one already.
void world__variants_keep_error(world_variants_t *variants, sim_err_t result,
                                const world_error_t *error);
// Checks the configurations that combinations of patterns made; the error names the patterns.
SIM_MUST_CHECK sim_err_t world__variants_check(const world_variants_t *variants,
                                               world_error_t *error);

SIM_C_END

#endif // WORLD_WORLD_H
