// SPDX-License-Identifier: Apache-2.0
// world/faults.h - the faults of a scenario, and the times at which its links are down.
#ifndef WORLD_FAULTS_H
#define WORLD_FAULTS_H

#include "kernel/attribute.h"
#include "world/error.h"
#include "world/patterns.h"

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

SIM_C_END

#endif // WORLD_FAULTS_H
