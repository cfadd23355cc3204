// SPDX-License-Identifier: Apache-2.0
// nic/objects/carried.h - what another rank reported about a NIC (nic/carry.h).
#ifndef NIC_OBJECTS_CARRIED_H
#define NIC_OBJECTS_CARRIED_H

#include "nic/counters.h"

// The figures of a NIC that another rank ran (nic/carry.h).
struct nic_carried {
    nic_rnic_counters_t counters; // if it is detailed
    bool detailed;
    bool conserved;
    uint64_t *cache_metrics; // as nic_cache_metrics lists them; NULL: no tiered cache
    void **reports;          // recordings of its reports, in their order
};

#endif // NIC_OBJECTS_CARRIED_H
