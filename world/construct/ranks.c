// SPDX-License-Identifier: Apache-2.0
// world/construct/ranks.c - refuses, before anything is built, what cannot run in several ranks.
#include "world/ranks.h"

#include "kernel/ranks.h"
#include "nic/carry.h"

sim_err_t world_ranks_check(const world_scenario_t *scenario, world_error_t *error)
{
    if (scenario->run.ties == WORLD_TIES_INSERTION) {
        return world_fail(error, SIM_ERR_INVALID, NULL,
                          "ties: insertion orders the events of all nodes in one sequence, which "
                          "several ranks cannot share; expected ties: hash, or one rank");
    }
    for (size_t i = 0; i < scenario->traffic_count; i++) {
        const world_traffic_t *const traffic = &scenario->traffic[i];
        if (traffic->ops->carry == NULL) {
            return world_fail(error, SIM_ERR_INVALID, &traffic->place,
                              "traffic.%s has nothing that carries its report between ranks; "
                              "expected another application, or one rank",
                              traffic->ops->name);
        }
    }
    return SIM_OK;
}

sim_err_t world_ranks_check_built(const world_t *world, world_error_t *error)
{
    for (size_t i = 0; i < world->nic_count; i++) {
        const char *why = NULL;
        if (!sim_is_here(world->sim, world->nics[i].host)) {
            continue; // that rank asks
        }
        if (!nic_can_carry(world_nic_of(world, &world->nics[i]), &why)) {
            return world_fail(error, SIM_ERR_INVALID, NULL,
                              "NIC %s has %s, which is not carried between ranks yet; expected a "
                              "NIC without it, or one rank",
                              world->nics[i].name, why);
        }
    }
    return SIM_OK;
}
