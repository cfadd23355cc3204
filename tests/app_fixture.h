// SPDX-License-Identifier: Apache-2.0
// tests/app_fixture.h - worlds for the tests of topologies/ and apps/: a network and its programs.
//
//     world_t world;
//     world_init(&world);                    // then change world.options, .nic, .net_config...
//     world_build(&world, "star", "hosts=4; rate=100Gbps");
//     app_t *const app = world_app(&world, "incast", "to=host0; senders=3");
//     world_run(&world);
//     world_flows(&world, app);              // world.flows, world.flow_count
//     world_fini(&world);                    // checks conservation if the world was run
//
// Settings are `attribute=value` separated by `;`, with the last part of the attribute's path. Host
// patterns are a name, `*`, a name's beginning and `*`, or several of these separated by `|`.
#ifndef TESTS_APP_FIXTURE_H
#define TESTS_APP_FIXTURE_H

#include "apps/app.h"
#include "topologies/builders.h"

#define WORLD_APPS_MAX 8

typedef struct world {
    sim_options_t options;
    net_config_t net_config;
    net_switch_config_t switch_config;
    nic_config_t nic;
    // Functions that may change the configuration of one host or link; NULL: all are alike.
    void (*tweak_nic)(const char *name, nic_config_t *config);
    void (*tweak_link)(const char *a, const char *b, net_link_config_t *config);
    const char *file_text; // what any file of an application contains; NULL: there is none

    sim_t *sim;
    net_t *net;
    app_runtime_t *runtime;
    nic_config_t nic_now;
    app_t *apps[WORLD_APPS_MAX];
    uint32_t app_count;
    sim_ended_t ended;
    bool ran;

    app_flow_result_t *flows; // of the last world_flows
    size_t flow_count;
    size_t flow_capacity;
} world_t;

void world_init(world_t *world);
void world_build(world_t *world, const char *topology, const char *settings);
// Builds a world whose topology may be refused. Returns SIM_OK, or the error of check or build.
sim_err_t world_try_build(world_t *world, const char *topology, const char *settings,
                          sim_message_t *message);
// Steps of world_build for graphs.
void world_begin(world_t *world);
topo_plan_t world_plan(world_t *world);
void world_complete(world_t *world);

app_t *world_app(world_t *world, const char *kind, const char *settings);
sim_err_t world_try_app(world_t *world, const char *kind, const char *settings, app_t **app,
                        sim_message_t *message);
void world_run(world_t *world);
// Fills world->flows; each transfer must have completed unless the world says otherwise.
void world_flows(world_t *world, const app_t *app);
double world_value(const app_t *app, const char *name);
void world_fini(world_t *world);

// Sets attributes of a config that has its defaults.
sim_err_t world_set(const sim_attr_table_t *table, void *config, const char *settings,
                    sim_message_t *message);

// Returns the interface number of the host's NIC `nic`.
uint32_t world_interface(const world_t *world, const char *host, uint32_t nic);

#endif // TESTS_APP_FIXTURE_H
