// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/rules/adapt.c - promotion thresholds that follow the load
// (docs/models/tiered-cache.md).
#include "nic/store/tiered/rules/adapt.h"
#include "nic/store/tiered/tiered.h"
#include "nic/store/tiered/tiers/place.h"

static bool at_least(uint64_t part, uint64_t whole, sim_ratio_t ratio)
{
    return (sim_wide_t)part * ratio.den >= (sim_wide_t)whole * ratio.num;
}

static sim_time_t driver_busy_ps(const tiered_t *tiered)
{
    return tiered->driver.busy_ps[NIC_SERVER_URGENT] +
           tiered->driver.busy_ps[NIC_SERVER_BACKGROUND];
}

static tiered_busy_t busy_since(const tiered_t *tiered)
{
    const nic_cache_config_t *const config = &tiered->config;
    const sim_time_t interval_ps = config->adaptive_interval_ps;
    const sim_time_t cxl_ps = tiered->cxl.busy_ps - tiered->cxl_busy_at_adaptation_ps;
    const sim_time_t up_ps = tiered->pcie->up.busy_ps - tiered->up_busy_ps;
    const sim_time_t down_ps = tiered->pcie->down.busy_ps - tiered->down_busy_ps;
    sim_time_t driver_ps = driver_busy_ps(tiered) - tiered->driver_busy_at_adaptation_ps;
    sim_time_t cpu_ps = interval_ps;
    if (tiered->shares_core) { // then the host's processor is meant, not the driver alone
        sim_time_t busy_ps;
        cpu_ps *= nic__tiered_cores(tiered, &busy_ps);
        driver_ps = busy_ps - tiered->cores_busy_at_adaptation_ps;
    }
    return (tiered_busy_t){
        .links = at_least(nic__later(cxl_ps, nic__later(up_ps, down_ps)), interval_ps,
                          config->saturation),
        .l2 = at_least(cxl_ps, interval_ps, config->saturation),
        .driver = at_least(driver_ps, cpu_ps, config->adaptive_cpu),
    };
}

// Counts of a partition's lookups by the layer that answered them.
typedef struct met {
    uint64_t l1;
    uint64_t l2;
    uint64_t expands;
} met_t;

static met_t met_by(const tiered_counters_t *counters, uint32_t p)
{
    if (p == 0) {
        return (met_t){counters->l1_hits, counters->l2_hits,
                       counters->expands_urgent + counters->expands_background};
    }
    met_t met = {0, 0, 0};
    for (uint32_t type = 0; type < NIC_TOKEN_TYPE_COUNT; type++) {
        if (type != NIC_TOKEN_QP) {
            met.l1 += counters->types[type].l1_hits;
            met.l2 += counters->types[type].l2_hits;
            met.expands += counters->types[type].expands;
        }
    }
    return met;
}

static met_t met_since(const tiered_t *tiered, uint32_t p)
{
    const met_t now = met_by(&tiered->counters, p);
    const met_t then = met_by(&tiered->at_adaptation, p);
    return (met_t){now.l1 - then.l1, now.l2 - then.l2, now.expands - then.expands};
}

// -- the rule of the design document

static void raise(tiered_t *tiered, tiered_partition_t *part)
{
    part->promote_l1 *= part->promote_l1 < 1u << 20 ? 2 : 1;
    part->promote_l2 *= part->promote_l2 < part->promote_l2_set ? 2 : 1;
    tiered->counters.raised++;
}

// The thresholds do not fall so low that moves alone would keep the driver busy.
static void lower(tiered_t *tiered, tiered_partition_t *part)
{
    part->promote_l1 /= part->promote_l1 * 16 > part->promote_l1_set * 2 - 1 ? 2 : 1;
    part->promote_l2 /= part->promote_l2 * 4 > part->promote_l2_set * 2 - 1 ? 2 : 1;
    part->promote_l1 += part->promote_l1 == 0;
    part->promote_l2 += part->promote_l2 == 0;
    tiered->counters.lowered++;
}

static void adapt_as_documented(tiered_t *tiered, uint32_t p, const tiered_busy_t *busy)
{
    const nic_cache_config_t *const config = &tiered->config;
    tiered_partition_t *const part = &tiered->parts[p];
    const met_t met = met_since(tiered, p);
    const uint64_t all = met.l1 + met.l2 + met.expands;
    if (all == 0) {
        return;
    }
    const bool misses_l1 = !at_least(met.l1, all, config->adaptive_hits);
    const bool misses_l2 = !at_least(met.l2, met.l2 + met.expands, config->adaptive_hits);
    if (busy->links && misses_l2) {
        raise(tiered, part);
    } else if (misses_l1 && busy->driver) {
        lower(tiered, part);
    }
}

void nic__tiered_adapt(tiered_t *tiered)
{
    const tiered_busy_t busy = busy_since(tiered);
    for (uint32_t p = 0; p < 2; p++) {
        if (tiered->parts[p].shadows != NULL) {
            nic__tiered_follow(tiered, p, &busy);
        } else if (!tiered->parts[p].policy->installs_on_miss) {
            adapt_as_documented(tiered, p, &busy);
        }
    }
    tiered->at_adaptation = tiered->counters;
    tiered->cxl_busy_at_adaptation_ps = tiered->cxl.busy_ps;
    tiered->driver_busy_at_adaptation_ps = driver_busy_ps(tiered);
    (void)nic__tiered_cores(tiered, &tiered->cores_busy_at_adaptation_ps);
    tiered->up_busy_ps = tiered->pcie->up.busy_ps;
    tiered->down_busy_ps = tiered->pcie->down.busy_ps;
}
