// SPDX-License-Identifier: Apache-2.0
// world/construct/fast_forward.c - what a scenario lets the run skip (`fast-forward`).
#include <string.h>

#include "world/construct/fast_forward.h"
#include "world/overlays.h"

bool world__has_programs(const world_scenario_t *scenario)
{
    for (size_t i = 0; i < scenario->traffic_count; i++) {
        if (strcmp(scenario->traffic[i].ops->name, "programs") == 0) {
            return true;
        }
    }
    return false;
}

// Returns why nothing of the run can be skipped; NULL: each span decides.
static const char *barred(const world_t *world)
{
    const world_scenario_t *const scenario = world->scenario;
    return !scenario->fast_forward.memo                       ? "memo: off"
           : scenario->run.ties != WORLD_TIES_ROTOR           ? "ties"
           : scenario->network.draws != NET_DRAWS_PACKET      ? "network.draws"
           : scenario->steps                                  ? "sessions"
           : world__has_programs(scenario)                    ? "programs"
           : world->skips.barred != NULL                      ? world->skips.barred
           : scenario->scale_up.model != NET_SCALE_UP_FORMULA ? "scale-up"
           : scenario->traffic_count > 1                      ? "several traffic entries"
           : scenario->capture_count > 0                      ? "captures"
           : scenario->series_count > 0                       ? "samplers"
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

// Returns whether the number of events of some host depends on how windows lie: detailed NICs take
// several steps at a time.
static bool has_steps(const world_scenario_t *scenario)
{
    bool steps = strcmp(scenario->nic_config.model.text, "ideal") != 0;
    for (size_t i = 0; i < scenario->node_count; i++) {
        steps = steps || scenario->nodes[i].nic_map != NULL;
    }
    return steps;
}

bool world__skips_periods(const world_scenario_t *scenario)
{
    return scenario->fast_forward.mode == WORLD_SKIP_EXACT && !scenario->steps &&
           scenario->run.ties == WORLD_TIES_ROTOR && scenario->network.draws == NET_DRAWS_PACKET &&
           scenario->scale_up.model == NET_SCALE_UP_FORMULA && !world__has_programs(scenario) &&
           !has_steps(scenario) && scenario->capture_count == 0 && scenario->series_count == 0;
}

bool world__skips_rails(const world_scenario_t *scenario)
{
    static const char *const kinds[] = {"collective", "training", "workload"};
    const char *const kind =
        scenario->traffic_count == 1 ? scenario->traffic[0].ops->name : "several";
    bool known = false;
    for (size_t i = 0; i < SIM_COUNT_OF(kinds); i++) {
        known = known || strcmp(kind, kinds[i]) == 0;
    }
    return scenario->fast_forward.rails && known && scenario->run.until_ps == SIM_TIME_NEVER;
}
