// SPDX-License-Identifier: Apache-2.0
// nic/cache_metrics.h - metrics and the report of the tiered cache (docs/models/tiered-cache.md).
#ifndef NIC_CACHE_METRICS_H
#define NIC_CACHE_METRICS_H

#include "nic/cache.h"

SIM_C_BEGIN

// The report "cache" of a NIC whose policy is not flat.
extern const sim_report_table_t nic_cache_report;
// A metric of the tiered cache while it runs: series "nic[HOST].cache.NAME" (observe).
typedef struct nic_cache_metric {
    const char *name; // with the prefix "cache."
    const char *unit;
    const char *help;
    uint32_t offset;                            // place of the number in the store's state
    uint32_t bytes;                             // size of the number
    uint64_t (*read)(const nic_store_t *store); // of a number that is computed; else NULL
} nic_cache_metric_t;
extern const nic_cache_metric_t nic_cache_metrics[]; // ends with a NULL name
// Returns whether the NIC has a tiered cache.
bool nic_has_tiered_cache(const nic_t *nic);
// Returns the metric's value, 0 if the NIC has no tiered cache.
uint64_t nic_cache_metric_read(const nic_t *nic, const nic_cache_metric_t *metric);

SIM_C_END

#endif // NIC_CACHE_METRICS_H
