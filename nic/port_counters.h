// SPDX-License-Identifier: Apache-2.0
// nic/port_counters.h - counters of a NIC's port by the names that Linux gives them.
#ifndef NIC_PORT_COUNTERS_H
#define NIC_PORT_COUNTERS_H

#include "nic/nic.h"

SIM_C_BEGIN

// A counter of a NIC's port, over all classes, by the name that Linux gives it.
typedef struct nic_port_counter_info {
    const char *name;
    const char *metric; // of the port (net/port_metrics.h); NULL: the counter is always 0
    uint64_t unit;      // of the counter, in units of the metric
} nic_port_counter_info_t;
// Files of an InfiniBand port in sysfs (ports/1/counters), and of a network interface (statistics).
// Both end with a NULL name.
extern const nic_port_counter_info_t nic_port_counter_infos[];
extern const nic_port_counter_info_t nic_interface_counter_infos[];
uint64_t nic_port_counter(const nic_t *nic, const nic_port_counter_info_t *counter,
                          sim_time_t now_ps);

SIM_C_END

#endif // NIC_PORT_COUNTERS_H
