// SPDX-License-Identifier: Apache-2.0
// world/build/skips.c - what a scenario lets the run skip (`fast-forward`).
#include "world/world_internal.h"

// Returns why nothing of the run can be skipped; NULL: each span tells.
static const char *barred(const world_t *world)
{
    const world_scenario_t *const scenario = world->scenario;
    return !scenario->fast_forward.memo                  ? "memo: off"
           : scenario->run.ties != WORLD_TIES_ROTOR      ? "ties"
           : scenario->network.draws != NET_DRAWS_PACKET ? "network.draws"
           : scenario->steps                             ? "sessions"
           : world->skips.barred != NULL                 ? world->skips.barred
           : scenario->traffic_count > 1                 ? "several traffic entries"
           : scenario->capture_count > 0                 ? "captures"
           : scenario->series_count > 0                  ? "samplers"
                                                         : NULL;
}

void world__skips_begin(world_t *world)
{
    const world_fast_forward_config_t *const config = &world->scenario->fast_forward;
    world->skips = (app_skips_t){
        .exact = config->mode == WORLD_SKIP_EXACT,
        .memo = config->memo,
        .audit = config->audit,
        .barred = barred(world),
    };
}
