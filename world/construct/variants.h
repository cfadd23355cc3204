// SPDX-License-Identifier: Apache-2.0
// world/construct/variants.h - the configurations of nodes.
#ifndef WORLD_CONSTRUCT_VARIANTS_H
#define WORLD_CONSTRUCT_VARIANTS_H

#include "world/scenario.h"

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

#endif // WORLD_CONSTRUCT_VARIANTS_H
