// SPDX-License-Identifier: Apache-2.0
// cli/world_internal.h - what the files that build a world share.
#ifndef CLI_WORLD_INTERNAL_H
#define CLI_WORLD_INTERNAL_H

#include "cli/world.h"

// world_names.c: gives NICs their names, once the network is built.
void cli__name_nics(cli_world_t *world);
// app_context_t.hosts; ctx is the world.
SIM_MUST_CHECK sim_err_t cli__find_hosts(const char *pattern,
                                         app_hosts_t *hosts,
                                         sim_message_t *message,
                                         void *ctx);

// world_check.c: whether patterns of the scenario mean something. Link changes are made known to
// the network too, before net_build; the others come after it.
SIM_MUST_CHECK sim_err_t cli__apply_link_downs(const cli_world_t *world, cli_error_t *error);
SIM_MUST_CHECK sim_err_t cli__check_node_overlays(const cli_world_t *world, cli_error_t *error);
SIM_MUST_CHECK sim_err_t cli__check_lint(const cli_world_t *world, cli_error_t *error);
SIM_MUST_CHECK sim_err_t cli__check_series(const cli_world_t *world, cli_error_t *error);
SIM_MUST_CHECK sim_err_t cli__check_captures(const cli_world_t *world, cli_error_t *error);

#endif // CLI_WORLD_INTERNAL_H
