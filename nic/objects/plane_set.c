// SPDX-License-Identifier: Apache-2.0
// nic/objects/plane_set.c - pauses that a NIC sends from all its ports.
#include "nic/objects/plane_set.h"
#include "net/port_pause.h"

// Returns the ports of a NIC, which may have one only.
static net_port_t *ports_of(const nic_t *nic, uint32_t *count)
{
    *count = nic->planes == NULL ? 1 : nic->planes->count;
    return nic->planes == NULL ? nic->port : nic->planes->ports;
}

void nic__ports_pause(const nic_t *nic, uint8_t classes, uint16_t quanta)
{
    uint32_t count = 0;
    net_port_t *const ports = ports_of(nic, &count);
    for (uint32_t i = 0; i < count; i++) {
        net_port_pause_send(&ports[i], classes, quanta);
    }
    nic__loopback_stop(nic, quanta != 0);
}

sim_time_t nic__ports_pause_ps(const nic_t *nic, uint16_t quanta)
{
    uint32_t count = 0;
    const net_port_t *const ports = ports_of(nic, &count);
    sim_time_t least_ps = SIM_TIME_NEVER;
    for (uint32_t i = 0; i < count; i++) {
        const sim_time_t pause_ps = net_port_quanta_ps(&ports[i], quanta);
        least_ps = SIM_MIN(pause_ps, least_ps);
    }
    return least_ps;
}
