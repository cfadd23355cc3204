// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/memory.c - how much memory the tables inside a NIC take, before they are made.
#include "nic/detail.h"
#include "nic/host.h"
#include "nic/store/flat/set_cache.h"

#include <string.h>

#define TABLE_LINE_BYTES 64u // of a page table in L2
#define L1_ENTRY_BYTES 64u   // of a place in L1: the token, what it holds, its rank

uint64_t nic_detail_memory_bytes(const nic_config_t *config)
{
    if (config->custom_device != NULL || strcmp(config->model.text, NIC_DETAILED.text) != 0) {
        return 0;
    }
    nic_detail_t detail;
    nic_detail_resolve(config, &detail);
    const uint64_t slots = detail.context_entries + detail.uc_context_entries +
                           detail.translation_entries + detail.wqe_entries + detail.cq_entries +
                           detail.key_entries;
    uint64_t bytes = slots * sizeof(nic_cache_slot_t);
    const nic_cache_config_t *const cache = &config->cache;
    if (strcmp(cache->policy, "flat") != 0) {
        const uint64_t lines = cache->l2_table_bytes / TABLE_LINE_BYTES;
        bytes += (cache->l1_entries + cache->l1_other_entries) * L1_ENTRY_BYTES;
        bytes += lines * sizeof(nic_cache_slot_t);
    }
    return bytes;
}
