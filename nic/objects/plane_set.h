// SPDX-License-Identifier: Apache-2.0
// nic/objects/plane_set.h - the ports of a NIC that has one in each of several planes.
//
// The NIC has one set of queue pairs. Their packets leave by any of its ports, with the addresses
// of that plane; a packet that arrives gets the addresses of plane 0. Page: docs/models/planes.md.
#ifndef NIC_OBJECTS_PLANE_SET_H
#define NIC_OBJECTS_PLANE_SET_H

#include "nic/objects/objects.h"

struct nic_planes {
    net_port_t *ports; // `count` consecutive ports
    uint32_t count;    // >= 2
    uint32_t answers;  // plane in which the last packet arrived, and in which answers leave
    nic_plane_choice_t choice;
};

// Returns the sum of the rates of a NIC's ports.
static inline uint64_t nic__planes_rate_bps(const nic_t *nic)
{
    uint64_t rate_bps = 0;
    for (uint32_t i = 0; i < nic->planes->count; i++) {
        rate_bps += nic->planes->ports[i].line->rate_bps;
    }
    return rate_bps;
}

// Returns the largest rate of one queue pair: that of one port if all its packets leave by it.
static inline uint64_t nic__line_bps(const nic_t *nic)
{
    return nic->planes == NULL || nic->planes->choice == NIC_PLANES_HASH
               ? nic->port->line->rate_bps
               : nic__planes_rate_bps(nic);
}

// Asks the peers of all ports of a NIC, or of its only one, to stop these classes for the time, or
// to go on (0). So does the NIC's loopback, with all classes.
void nic__ports_pause(const nic_t *nic, uint8_t classes, uint16_t quanta);
// Returns how long that time is on the fastest of these ports.
sim_time_t nic__ports_pause_ps(const nic_t *nic, uint16_t quanta);

// Stops the queue pairs that wait for the NIC's loopback (nic/schedule/loopback.c), if it has one,
// or lets them go on.
void nic__loopback_stop(const nic_t *nic, bool stopped);

#endif // NIC_OBJECTS_PLANE_SET_H
