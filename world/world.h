// SPDX-License-Identifier: Apache-2.0
// world/world.h - builds a scenario in memory: simulation, network, applications.
//
// Every error of a scenario is found here, before any file is written.
#ifndef WORLD_WORLD_H
#define WORLD_WORLD_H

#include "apps/periods.h"
#include "apps/skips.h"
#include "net/nodes.h"
#include "nic/rails.h"
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
    nic_rails_t *rails;     // of which one is simulated; NULL: all are
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
    struct world_survey *survey; // world/planned_transfers.h; NULL: no applications
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
    WORLD_BUILD_APPS,    // applications without world_t.survey, which reads all planned transfers
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

// Adds a program of `traffic: programs` to a world that stands between two steps; it starts at
// start_ps. The scenario, the world's own, has the permission to start programs anywhere. After an
// error, which names the place, nothing remains.
SIM_MUST_CHECK sim_err_t world_add_program(world_t *world, world_scenario_t *scenario,
                                           const world_place_t *place, const char *host,
                                           const char *command, sim_time_t start_ps, app_t **app,
                                           world_error_t *error);

// Adds the servers of ssh that have run to the applications of a world, behind those of the
// scenario. To be called after the run.
void world_add_servers(world_t *world);

// Prints what was odd about the files of the scenario, a line each.
void world_print_notes(const world_t *world, FILE *out);

// Returns the folders that file names in the scenario start from, as absolute paths with ':'
// between them. Free them with sim_free.
char *world_scenario_folder(const world_scenario_t *scenario);
// Returns the path of an input that a scenario names, where the scenario is file_name and its
// attribute `folder` is run_folder: in the first of these folders that has the file. Free it with
// sim_free.
char *world_input_path(const char *file_name, const char *run_folder, const char *name);

SIM_C_END

#endif // WORLD_WORLD_H
