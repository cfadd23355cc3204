// SPDX-License-Identifier: Apache-2.0
// cli/live/live.h - shows the counters of a running simulation to tools for real networks.
//
// A run that asks for it publishes its counters a few times a second, between windows: as files
// like those of /sys (sysfs.c), as OpenMetrics over HTTP (metrics.c), in a database like SONiC's
// (redis.c), and as captures that an extcap program reads (frames.c). It only reads the simulation.
// A run that asks for nothing has no observer. docs/live.md
#ifndef CLI_LIVE_LIVE_H
#define CLI_LIVE_LIVE_H

#include "cli/args.h"
#include "world/error.h"
#include "world/world.h"

typedef struct cli_live cli_live_t;

// Refuses wrong values of --live (sysfs:DIR, http:PORT, redis:PORT[@SWITCH], extcap:DIR) and --pace
// for the world that was built. Nothing is opened.
SIM_MUST_CHECK sim_err_t cli_live_check(const cli_args_t *args, const world_t *world,
                                        world_error_t *error);
// Opens what --live asks for, right before the run. The values were checked. *live is NULL without
// --live and --pace.
SIM_MUST_CHECK sim_err_t cli_live_begin(const cli_args_t *args, const world_t *world,
                                        cli_live_t **live, world_error_t *error);
// Publishes the last counters, and closes everything. NULL is allowed.
void cli_live_end(cli_live_t *live);

#endif // CLI_LIVE_LIVE_H
