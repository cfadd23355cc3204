// SPDX-License-Identifier: Apache-2.0
// nic/transport/carry.c - sends results of NICs, their transports and their hosts to rank 0.
#include "nic/carry.h"
#include "nic/objects/carried.h"

#include "net/nodes.h"
#include "nic/cache.h"
#include "nic/cache_metrics.h"
#include "nic/host/dma.h"
#include "nic/objects/fields.h"
#include "nic/objects/objects.h"
#include "nic/reports.h"
#include "nic/transport/entry.h"

#include <string.h>

bool nic_can_carry(const nic_t *nic, const char **why)
{
    size_t count = 0;
    const nic_report_t *const reports = nic_reports(nic, &count);
    nic_rnic_counters_t counters;
    bool can = true;
    for (size_t i = 0; i < count; i++) {
        can = can && sim_report_can_carry(reports[i].part.table);
    }
    *why = nic->detailed && !nic_get_rnic_counters(nic, &counters) ? "a device of a program's own"
           : !nic__transports_can_carry(nic) ? "a transport of a program's own"
           : !can                            ? "a report with parts that are known at run time"
                                             : NULL;
    return *why == NULL;
}

static size_t metric_count(void)
{
    size_t count = 0;
    while (nic_cache_metrics[count].name != NULL) {
        count++;
    }
    return count;
}

static void carry_cache(nic_t *nic, sim_carry_t *carry)
{
    const size_t count = metric_count();
    if (!nic_has_tiered_cache(nic)) {
        return;
    }
    uint64_t *const values = sim_alloc_array(count, sizeof(*values));
    for (size_t i = 0; i < count && sim_carry_leaves(carry); i++) {
        values[i] = nic_cache_metric_read(nic, &nic_cache_metrics[i]);
    }
    sim_carry(carry, values, count * sizeof(*values));
    if (sim_carry_leaves(carry)) {
        sim_free(values);
    } else {
        nic->carried->cache_metrics = values;
    }
}

static void carry_inside(nic_t *nic, sim_carry_t *carry)
{
    struct nic_carried inside;
    memset(&inside, 0, sizeof(inside));
    if (sim_carry_leaves(carry)) {
        inside.detailed = nic_get_rnic_counters(nic, &inside.counters);
        inside.conserved = nic_conserved(nic);
    }
    SIM_CARRY(carry, inside);
    if (!sim_carry_leaves(carry)) {
        nic->carried = sim_alloc(sizeof(*nic->carried));
        *nic->carried = inside;
        nic->carried->reports = sim_alloc_array(nic->report_count + 1, sizeof(void *));
    }
    carry_cache(nic, carry);
    for (size_t i = 0; i < nic->report_count; i++) {
        void *const recording = sim_report_carry(&nic->reports[i].part, carry);
        if (recording != NULL) {
            nic->carried->reports[i] = recording;
        }
    }
}

const nic_rnic_counters_t *nic_carried_rnic_counters(const nic_t *nic)
{
    return nic->carried != NULL && nic->carried->detailed ? &nic->carried->counters : NULL;
}

const uint64_t *nic_carried_cache_metrics(const nic_t *nic)
{
    return nic->carried == NULL ? NULL : nic->carried->cache_metrics;
}

void nic__carried_free(nic_t *nic)
{
    struct nic_carried *const carried = nic->carried;
    if (carried == NULL) {
        return;
    }
    sim_free_each(carried->reports, nic->report_count);
    SIM_FREE_ALL(carried->reports, carried->cache_metrics, carried);
}

// Returns whether a NIC reports nothing at this interface that a new one would not report. A NIC
// with planes has an interface for each, and reports everything at its first one.
static bool is_idle(const nic_t *nic, uint32_t interface)
{
    static const nic_counters_t nothing;
    if (nic->interface != interface) {
        return true;
    }
    return !nic->detailed && nic->shares == NULL && nic->report_count == 0 &&
           nic->host->fabric == NULL && memcmp(&nic->counters, &nothing, sizeof(nothing)) == 0;
}

void nic_carry(net_t *net, sim_carry_t *carry)
{
    sim_flat_fields_t counters = sim_fields_flatten(&nic__counter_fields, SIM_CARRIED_FIELDS);
    for (uint32_t i = 0; i < net_interface_count(net); i++) {
        if (!sim_carry_has_number(carry, net_sim(net), net_interface_node_number(net, i))) {
            continue;
        }
        bool idle = sim_carry_leaves(carry) && is_idle(nic_of_interface(net, i), i);
        SIM_CARRY(carry, idle);
        if (idle) {
            continue; // rank 0 need not make it
        }
        nic_t *const nic = nic_of_interface(net, i);
        sim_fields_carry(&counters, &nic->counters, carry);
        nic__transports_carry(nic, carry);
        carry_inside(nic, carry);
        if (nic == &nic->host->nics[0]) {
            nic__fabric_carry(nic->host, carry);
        }
    }
    sim_flat_fields_fini(&counters);
}
