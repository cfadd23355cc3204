// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/config.c - rules between the attributes of the tiered cache
// (docs/models/tiered-cache.md).
#include "nic/cache.h"

sim_err_t nic_cache_check(const nic_cache_config_t *config, sim_message_t *message)
{
    if (!config->compression && config->l1_entries < 9) {
        return sim_fail_about(message, SIM_ERR_RANGE, "nic.cache.l1.entries",
                              ": %" PRIu64
                              ", expected 9 at least, which a context that is not compressed takes",
                              config->l1_entries);
    }
    if (config->pinned >= config->l1_entries / (config->compression ? 1 : 9)) {
        return sim_fail_about(message, SIM_ERR_RANGE, "nic.cache.pinned",
                              ": %" PRIu64 ", expected fewer than L1 holds", config->pinned);
    }
    if (config->l2_shared && config->l2_bytes == 0) {
        return sim_fail_about(message, SIM_ERR_RANGE, "nic.cache.l2.shared",
                              ": true, expected false where there is no L2 (l2.bytes: 0)");
    }
    const uint64_t context_entries = config->compression ? 1 : 9;
    if (config->wqes == NIC_CACHE_WQES_IN_L1 &&
        config->l1_entries <
            NIC_CACHE_WQE_ENTRIES + context_entries + config->pinned * context_entries) {
        return sim_fail_about(message, SIM_ERR_RANGE, "nic.cache.l1.entries",
                              ": %" PRIu64 ", expected room for a WQE, which takes %u entries "
                              "(l1.wqes), beside a context and pinned ones",
                              config->l1_entries, NIC_CACHE_WQE_ENTRIES);
    }
    if (config->handles != 0 && config->directory == NIC_CACHE_DIRECTORY_SRAM) {
        return sim_fail_about(message, SIM_ERR_RANGE, "nic.cache.handles",
                              ": %" PRIu64 ", expected 0 with directory: sram, where the NIC has "
                              "every entry",
                              config->handles);
    }
    if (config->staged == NIC_CACHE_TOKENS && config->adaptive &&
        config->adaptive_rule == NIC_CACHE_RULE_SHADOW) {
        return sim_fail_about(message, SIM_ERR_RANGE, "nic.cache.l1.staged",
                              ": tokens, expected copies with adaptive.rule: shadow, which decides "
                              "for each missing token whether it goes to L1");
    }
    if (config->batch_max < config->batch_threshold) {
        return sim_fail_about(message, SIM_ERR_RANGE, "nic.cache.batch.max",
                              ": %" PRIu64 ", expected batch.threshold, %" PRIu64 ", at least",
                              config->batch_max, config->batch_threshold);
    }
    if (config->l2_table_bytes != 0 && config->l2_bytes == 0) {
        return sim_fail_about(message, SIM_ERR_RANGE, "nic.cache.l2.page-table",
                              ": %" PRIu64 " bytes, expected 0 where there is no L2 (l2.bytes: 0)",
                              config->l2_table_bytes);
    }
    if (config->l2_table_bytes % NIC_TABLE_LINE_BYTES != 0) {
        return sim_fail_about(message, SIM_ERR_RANGE, "nic.cache.l2.page-table",
                              ": %" PRIu64 " bytes, expected lines of %u bytes",
                              config->l2_table_bytes, NIC_TABLE_LINE_BYTES);
    }
    return SIM_OK;
}
