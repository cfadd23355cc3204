// SPDX-License-Identifier: Apache-2.0
// cli/world.h - a scenario made real in memory: simulation, network, applications.
//
// Everything that can be wrong with a scenario is found here, before any file is written.
#ifndef CLI_WORLD_H
#define CLI_WORLD_H

#include "cli/scenario.h"

#include <stdio.h>

// A NIC and what results call it: its host's name, with "/nic1" where the host has several.
typedef struct cli_nic {
    nic_t *nic;
    const net_node_t *host;
    char *name;
} cli_nic_t;

typedef struct cli_world {
    const cli_scenario_t *scenario;
    sim_t *sim;
    net_t *net;
    app_runtime_t *runtime; // NULL: no applications
    app_t **apps;           // one per entry of traffic
    size_t app_count;
    cli_nic_t *nics; // by interface
    size_t nic_count;
    char **files; // names of those that the topology and applications read
    size_t file_count;
    size_t file_capacity;
    char **notes; // what is odd about them but no error, a line each
    size_t note_count;
    size_t note_capacity;
    struct cli_variants *variants;
} cli_world_t;

typedef enum cli_build {
    CLI_BUILD_NETWORK, // for `rocesim topo`: no applications
    CLI_BUILD_ALL,
} cli_build_t;

// Builds. The scenario must outlive the world. Free with cli_world_destroy.
SIM_MUST_CHECK sim_err_t cli_world_create(const cli_scenario_t *scenario,
                                          cli_build_t build,
                                          cli_world_t **world,
                                          cli_error_t *error);
void cli_world_destroy(cli_world_t *world);

// Name of an interface in results.
const char *cli_interface_name(const cli_world_t *world, uint32_t interface);

// Adds ", did you mean 'x'?" with the nearest name of a node of the kind (-1: any).
void cli_add_nearest_node(cli_error_t *error, const net_t *net, const char *pattern, int kind);

// Ports that the pair matches, in order of nodes and ports; the caller frees *ports with sim_free.
// None is an error at place, which names what was looked for.
SIM_MUST_CHECK sim_err_t cli_find_ports(const cli_world_t *world,
                                        const cli_pair_t *pair,
                                        const char *pattern,
                                        const cli_place_t *place,
                                        net_port_t ***ports,
                                        size_t *count,
                                        cli_error_t *error);

// Prints what was odd about the files of the scenario, a line each.
void cli_world_print_notes(const cli_world_t *world, FILE *out);

// The folder that file names in the scenario start from, as an absolute path; free with sim_free.
char *cli_scenario_folder(const cli_scenario_t *scenario);

// -- configurations of nodes (variants.c)

typedef struct cli_variants cli_variants_t;
cli_variants_t *cli__variants_create(const cli_scenario_t *scenario);
void cli__variants_destroy(cli_variants_t *variants);
const net_switch_config_t *cli__variants_switch(cli_variants_t *variants, const char *name);
const nic_config_t *cli__variants_nic(cli_variants_t *variants, const char *name);
// What a combination of patterns made wrong, if anything.
SIM_MUST_CHECK sim_err_t cli__variants_check(const cli_variants_t *variants, cli_error_t *error);

#endif // CLI_WORLD_H
