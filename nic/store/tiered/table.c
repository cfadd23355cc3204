// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/table.c - page tables in L2 (docs/models/tiered-cache.md).
//
// Translations in use are in the NIC's flat cache. One that it lacks is an entry of 8 bytes of a
// page table, whose unit is a line of 64. Lines used last are in a part of L2 of their own, in
// sets, and of each set the one not used for longest gives way. It is never dirty: the NIC only
// reads it.
#include "nic/store/tiered/tiered.h"

#define TABLE_WAYS 16u

void nic__tiered_table_init(tiered_t *tiered, uint64_t seed)
{
    const uint64_t lines = tiered->config.l2_table_bytes / NIC_TABLE_LINE_BYTES;
    if (lines != 0) {
        nic_cache_init(&tiered->table, lines, TABLE_WAYS, false, seed);
    }
}

void nic__tiered_table_fini(tiered_t *tiered)
{
    nic_cache_fini(&tiered->table);
}

sim_time_t nic__tiered_read_table(tiered_t *tiered, uint64_t page)
{
    SIM_ASSERT(tiered->table.slots != NULL);
    const uint64_t line = page / NIC_TABLE_LINE_PAGES;
    if (nic_cache_insert(&tiered->table, line + 1)) {
        tiered->counters.table_hits++;
        return tiered->now_ps + nic__tiered_cxl_read(tiered, NIC_TABLE_LINE_BYTES);
    }
    tiered->counters.table_misses++;
    const sim_time_t took_ps = nic__tiered_dma_read(tiered, NIC_TABLE_LINE_BYTES);
    (void)nic__tiered_cxl_write(tiered, NIC_TABLE_LINE_BYTES); // nobody waits for the copy
    return tiered->now_ps + took_ps;
}
