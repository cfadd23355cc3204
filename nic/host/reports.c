// SPDX-License-Identifier: Apache-2.0
// nic/host/reports.c - the reports of a NIC's parts.
#include "nic/reports.h"
#include "nic/cache.h"
#include "nic/cache_metrics.h"
#include "nic/iommu.h"
#include "nic/objects/objects.h"

#include <string.h>

void nic_add_report(nic_t *nic, const char *name, const sim_report_table_t *table,
                    const void *object)
{
    SIM_CHECK(table != NULL && object != NULL);
    for (size_t i = 0; i < nic->report_count; i++) {
        SIM_CHECKF(strcmp(nic->reports[i].name, name) != 0, "%s reports twice", name);
    }
    SIM_APPEND(nic->reports, nic->report_count, nic->report_capacity,
               (nic_report_t){name, {table, object}});
}

const nic_report_t *nic_reports(const nic_t *nic, size_t *count)
{
    *count = nic->report_count;
    return nic->reports;
}

const nic_report_info_t nic_report_infos[] = {
    {"cache", "NICs with a tiered cache (nic.cache.policy)", &nic_cache_report},
    {"iommu", "NICs whose host has an IOMMU that translates (nic.host.iommu.use)",
     &nic_iommu_report},
    {NULL, NULL, NULL},
};
