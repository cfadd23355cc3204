// SPDX-License-Identifier: Apache-2.0
// world/faults.h - the faults of a scenario, and the times at which its links are down.
#ifndef WORLD_FAULTS_H
#define WORLD_FAULTS_H

#include "kernel/attribute.h"
#include "world/error.h"
#include "world/patterns.h"
#include "world/world.h"

SIM_C_BEGIN

// Each entry of a link's "down".
typedef struct world_down_config {
    sim_time_t at_ps;
    sim_time_t until_ps; // NEVER: stays down
} world_down_config_t;
extern const sim_attr_table_t world_down_config_attrs;

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

// -- during a run by steps (kernel/steps.h), between two steps

// Lets a part fail from now_ps on, as an entry of `faults` does: words are its keys and values
// besides `at`, such as {"part", "leaf0--spine1", "kind", "down", NULL}. A link goes down when what
// was sent on it has arrived. for_ps: how long; SIM_TIME_NEVER: until the run ends or
// world_end_fault. Sets *at_ps to its begin. After an error, which names the place, nothing
// remains.
SIM_MUST_CHECK sim_err_t world_add_fault(const world_t *world, world_scenario_t *scenario,
                                         const world_place_t *place, const char *const *words,
                                         sim_time_t now_ps, sim_time_t for_ps, sim_time_t *at_ps,
                                         world_error_t *error);
// Lets the links of a fault that has taken `part` down for ever come up again now, or 1 ps after
// they go down. SIM_ERR_UNKNOWN: there is no such fault.
SIM_MUST_CHECK sim_err_t world_end_fault(const world_t *world, world_scenario_t *scenario,
                                         const world_place_t *place, const char *part,
                                         sim_time_t now_ps, sim_time_t *at_ps,
                                         world_error_t *error);

SIM_C_END

#endif // WORLD_FAULTS_H
