// SPDX-License-Identifier: Apache-2.0
// nic/transport/carry.c - carries counters of NICs and of their transports to rank 0.
#include "nic/carry.h"

#include "nic/objects/objects.h"
#include "nic/reports.h"
#include "nic/transport/entry.h"

#include <string.h>

bool nic_can_carry(const nic_t *nic, const char **why)
{
    size_t reports = 0;
    (void)nic_reports(nic, &reports);
    nic_rnic_counters_t counters;
    *why = nic->detailed && !nic_get_rnic_counters(nic, &counters) ? "a device of a program's own"
           : nic->host->config->ooo == NIC_OOO_PLACE               ? "nic.ooo: place"
           : reports > 0 ? "a report of its own (a tiered cache, or an IOMMU)"
                         : NULL;
    return *why == NULL;
}

static void leave_inside(const nic_t *nic, sim_buffer_t *bytes)
{
    struct nic_carried inside;
    memset(&inside, 0, sizeof(inside));
    const bool detailed = nic_get_rnic_counters(nic, &inside.counters);
    inside.conserved = nic_conserved(nic);
    sim_buffer_put_u32(bytes, detailed);
    if (detailed) {
        sim_buffer_put(bytes, &inside, sizeof(inside));
    }
}

static void take_inside(nic_t *nic, sim_reader_t *bytes)
{
    if (sim_reader_u32(bytes) != 0) {
        nic->carried = sim_alloc(sizeof(*nic->carried));
        sim_reader_get(bytes, nic->carried, sizeof(*nic->carried));
    }
}

void nic_carry_leave(const net_t *net, sim_buffer_t *bytes)
{
    for (uint32_t i = 0; i < net_interface_count(net); i++) {
        const nic_t *const nic = nic_of_interface(net, i);
        if (sim_node_is_here(&nic_node(nic)->sim)) {
            sim_buffer_put_u32(bytes, i);
            sim_buffer_put(bytes, &nic->counters, sizeof(nic->counters));
            nic__transports_leave(nic, bytes);
            leave_inside(nic, bytes);
        }
    }
    sim_buffer_put_u32(bytes, UINT32_MAX);
}

void nic_carry_take(net_t *net, sim_reader_t *bytes)
{
    for (uint32_t i = sim_reader_u32(bytes); i != UINT32_MAX; i = sim_reader_u32(bytes)) {
        SIM_CHECK(i < net_interface_count(net));
        nic_t *const nic = nic_of_interface(net, i);
        SIM_CHECK(!sim_node_is_here(&nic_node(nic)->sim));
        sim_reader_get(bytes, &nic->counters, sizeof(nic->counters));
        nic__transports_take(nic, bytes);
        take_inside(nic, bytes);
    }
}
