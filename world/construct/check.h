// SPDX-License-Identifier: Apache-2.0
// world/construct/check.h - checks that a scenario fits the network that was built.
#ifndef WORLD_CONSTRUCT_CHECK_H
#define WORLD_CONSTRUCT_CHECK_H

#include "world/world.h"

// Check that the patterns of the scenario match something: of links before net_build, the others
// after it.
SIM_MUST_CHECK sim_err_t world__check_links(const world_t *world, world_error_t *error);
SIM_MUST_CHECK sim_err_t world__check_hosts(const world_t *world, world_error_t *error);
SIM_MUST_CHECK sim_err_t world__check_node_overlays(const world_t *world, world_error_t *error);
SIM_MUST_CHECK sim_err_t world__check_repath(const world_t *world, world_error_t *error);
SIM_MUST_CHECK sim_err_t world__check_lint(const world_t *world, world_error_t *error);
SIM_MUST_CHECK sim_err_t world__check_series(const world_t *world, world_error_t *error);
// message_model.c: refuses what `network.model: message` cannot do.
SIM_MUST_CHECK sim_err_t world__check_messages(const world_t *world, world_error_t *error);

#endif // WORLD_CONSTRUCT_CHECK_H
