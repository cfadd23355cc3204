// SPDX-License-Identifier: Apache-2.0
// nic/path/reps.c - REPS: sending again along paths whose packets came back unmarked.
#include "nic/path/reps.h"

// Ends a freeze whose time is over. The paper does so with an ACK only; here the next packet does
// it, too, because no ACK comes from a ring whose paths have all failed.
static void thaw(nic_reps_t *reps, const nic_reps_config_t *config, sim_time_t now_ps)
{
    if (reps->frozen && now_ps >= reps->thaw_ps) {
        reps->frozen = false;
        reps->explore = (uint32_t)config->explore;
    }
}

uint16_t nic__reps_next_entropy(nic_reps_t *reps, const nic_reps_config_t *config,
                                sim_random_t *random, uint32_t entropies, sim_time_t now_ps)
{
    thaw(reps, config, now_ps);
    const uint32_t places = (uint32_t)config->cache;
    if (reps->explore != 0) {
        reps->explore--;
    } else if (reps->fresh != 0) {
        return reps->ring[(reps->next + places - reps->fresh--) % places];
    } else if (reps->frozen && reps->filled != 0) {
        const uint16_t entropy = reps->ring[reps->again % reps->filled];
        reps->again = (uint8_t)((reps->again + 1) % reps->filled);
        return entropy;
    }
    return (uint16_t)sim_random_below(random, entropies);
}

void nic__reps_ack(nic_reps_t *reps, const nic_reps_config_t *config, uint16_t entropy, bool marked,
                   sim_time_t now_ps)
{
    const uint8_t places = (uint8_t)config->cache;
    if (!marked && places != 0) {
        reps->ring[reps->next] = entropy;
        reps->next = (uint8_t)((reps->next + 1) % places);
        reps->filled = (uint8_t)(reps->filled + (reps->filled < places));
        reps->fresh = (uint8_t)(reps->fresh + (reps->fresh < places));
    }
    thaw(reps, config, now_ps);
}

bool nic__reps_timeout(nic_reps_t *reps, const nic_reps_config_t *config, sim_time_t now_ps)
{
    thaw(reps, config, now_ps);
    if (reps->frozen || reps->explore != 0 || config->freeze_ps == 0) {
        return false;
    }
    reps->frozen = true;
    reps->thaw_ps = now_ps + config->freeze_ps;
    return true;
}
