// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/tiers/wqes.c - WQEs as entries of L1 (docs/models/tiered-cache.md).
#include "nic/store/tiered/tiers/wqes.h"
#include "nic/store/tiered/cost.h"
#include "nic/store/tiered/tiered.h"
#include "nic/store/tiered/tiers/place.h"

#define WQE_UNITS                                                                \
    ((TIERED_ENTRY_BARE_BYTES + TIERED_WQE_BYTES + sizeof(nic_l1_entry_t) - 1) / \
     (uint32_t)sizeof(nic_l1_entry_t))
static_assert(WQE_UNITS == NIC_CACHE_WQE_ENTRIES, "the attribute's text and check say so");

// The handle by which policies know WQEs has a type of its own.
#define WQE_TYPE ((nic_token_type_t)NIC_TOKEN_TYPE_COUNT)

static uint64_t name_of(uint64_t key)
{
    return nic_directory_name((nic_token_type_t)0, key);
}

void nic__tiered_wqes_init(tiered_t *tiered)
{
    if (tiered->config.wqes == NIC_CACHE_WQES_IN_L1) {
        tiered->wqes.slots = sim_alloc(sizeof(*tiered->wqes.slots));
        nic_directory_init(tiered->wqes.slots, (sim_ratio_t){1, 2});
        tiered->wqes.keys = sim_alloc_array(tiered->parts[0].slots, sizeof(*tiered->wqes.keys));
        tiered->store.more_kinds |= 1u << NIC_STORE_WQE;
    }
}

void nic__tiered_wqes_fini(tiered_t *tiered)
{
    if (tiered->wqes.slots != NULL) {
        nic_directory_fini(tiered->wqes.slots);
    }
    sim_free(tiered->wqes.slots);
    sim_free(tiered->wqes.keys);
}

void nic__tiered_put_wqe(tiered_t *tiered, uint64_t key)
{
    tiered_partition_t *const part = &tiered->parts[0];
    if (nic_directory_find(tiered->wqes.slots, name_of(key), NULL) != NIC_DIRECTORY_NONE) {
        return; // it arrives once more, to be sent again
    }
    const uint32_t slot = nic__tiered_take_slot(tiered, part, WQE_UNITS);
    part->held[slot] = TIERED_WQE;
    part->wqes++;
    tiered->counters.wqes_peak = SIM_MAX(part->wqes, tiered->counters.wqes_peak);
    part->entries[slot] = (nic_l1_entry_t){
        .token_id = nic_handle(WQE_TYPE, slot),
        .freq = 1,
        .last_access_ps = tiered->now_ps,
    };
    tiered->wqes.keys[slot] = key;
    (void)nic_directory_put(tiered->wqes.slots, name_of(key), slot);
    part->policy->insert(part->ranks, slot, nic_handle(WQE_TYPE, slot), 1);
}

// Takes the WQE in a slot out of L1.
static void take_out(tiered_t *tiered, uint32_t slot)
{
    tiered_partition_t *const part = &tiered->parts[0];
    SIM_CHECK(part->held[slot] == TIERED_WQE);
    part->policy->remove(part->ranks, slot);
    nic_directory_remove(tiered->wqes.slots, name_of(tiered->wqes.keys[slot]));
    nic__tiered_give_slot(part, slot, WQE_UNITS);
    part->wqes--;
}

void nic__tiered_drop_wqe(tiered_t *tiered, uint64_t key)
{
    const uint32_t slot = nic_directory_find(tiered->wqes.slots, name_of(key), NULL);
    if (slot != NIC_DIRECTORY_NONE) {
        take_out(tiered, slot);
    }
}

void nic__tiered_evict_wqe(tiered_t *tiered, uint32_t slot)
{
    tiered->counters.wqe_evictions++;
    take_out(tiered, slot);
    if (tiered->has_l2) {
        (void)nic__tiered_cxl_write(tiered, TIERED_WQE_BYTES); // nobody waits for it
    }
}

sim_time_t nic__tiered_read_wqe(tiered_t *tiered)
{
    tiered->counters.wqe_reads++;
    return tiered->now_ps + (tiered->has_l2 ? nic__tiered_cxl_read(tiered, TIERED_WQE_BYTES)
                                            : nic__tiered_dma_read(tiered, TIERED_WQE_BYTES));
}

sim_time_t nic__tiered_look_up_wqe(tiered_t *tiered, uint64_t key)
{
    const tiered_partition_t *const part = &tiered->parts[0];
    const uint32_t slot = nic_directory_find(tiered->wqes.slots, name_of(key), NULL);
    if (slot == NIC_DIRECTORY_NONE) {
        const sim_time_t here_ps = nic__tiered_read_wqe(tiered);
        nic__tiered_put_wqe(tiered, key);
        return here_ps + tiered->config.l1_latency_ps;
    }
    nic_l1_entry_t *const entry = &part->entries[slot];
    entry->freq++;
    entry->last_access_ps = tiered->now_ps;
    tiered->counters.wqe_hits++;
    part->policy->use(part->ranks, slot, entry->freq);
    return tiered->now_ps + tiered->config.l1_latency_ps;
}

bool nic__tiered_wqes_check(const tiered_t *tiered)
{
    const tiered_partition_t *const part = &tiered->parts[0];
    uint32_t held = 0;
    if (tiered->wqes.slots == NULL) {
        return true;
    }
    for (uint32_t slot = 0; slot < part->slots; slot++) {
        if (part->held[slot] != TIERED_WQE) {
            continue;
        }
        held++;
        if (nic_directory_find(tiered->wqes.slots, name_of(tiered->wqes.keys[slot]), NULL) !=
            slot) {
            return false;
        }
    }
    return held == part->wqes && held == tiered->wqes.slots->used;
}
