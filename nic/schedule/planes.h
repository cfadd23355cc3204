// SPDX-License-Identifier: Apache-2.0
// nic/schedule/planes.h - which of a NIC's planes a packet takes.
#ifndef NIC_SCHEDULE_PLANES_H
#define NIC_SCHEDULE_PLANES_H

#include "net/link_state.h"
#include "nic/objects/plane_set.h"
#include "nic/objects/qp.h"

// Makes the planes of a NIC whose host has several ports for it; else the NIC keeps its one port.
void nic__planes_create(nic_t *nic);
void nic__planes_destroy(nic_t *nic);

// Chooses the first plane of a queue pair that is connected now, by a hash of its flow.
void nic__planes_connect(nic_qp_t *qp);
// Chooses the plane of a queue pair's packet after the one that left in `plane`.
void nic__planes_left(nic_qp_t *qp, uint32_t plane);

// Returns the queue pair of a class whose turn it is in a plane; NULL: none may leave there.
nic_qp_t *nic__planes_next(const nic_t *nic, uint32_t class, uint32_t plane);
// Returns those of the classes in which a queue pair may leave by a plane. If there are any, *next
// is the one whose turn it is in the last of them.
uint8_t nic__planes_ready(const nic_t *nic, uint32_t plane, uint32_t classes, nic_qp_t **next);
// Returns whether a plane is out for a queue pair.
static SIM_ALWAYS_INLINE bool nic__plane_is_out(const nic_qp_t *qp, uint32_t plane)
{
    const nic_t *const nic = qp->nic;
    const net_port_t *const port = &nic->planes->ports[plane];
    const net_t *const net = nic->host->node.net;
    if (port->down || (qp->ops->plane_out != NULL && qp->ops->plane_out(qp, plane))) {
        return true;
    }
    return net_changes_links(net) && qp->path.destination < net_interface_count(net) &&
           !net_leads_to(net, port, net_interface_in_plane(net, qp->path.destination, plane),
                         nic__node(nic)->now_ps);
}

// Returns the classes that have something to send in a plane and are not paused there, a bit each.
// If queue pairs are ready in some of them, *next is the one whose turn it is in the last of these
// classes.
static SIM_ALWAYS_INLINE uint8_t nic__planes_classes(const nic_t *nic, uint32_t plane,
                                                     nic_qp_t **next)
{
    const net_port_t *const port = &nic->planes->ports[plane];
    const uint32_t waiting = port->waiting & ~(uint32_t)port->paused;
    const uint32_t ready = nic->ready_classes & ~waiting & ~(uint32_t)port->paused;
    if (ready == 0) {
        return (uint8_t)waiting;
    }
    nic_qp_t *const first = nic->ready[__builtin_ctz(ready)];
    if (SIM_LIKELY((ready & (ready - 1)) == 0 && first != NULL &&
                   nic->planes->choice == NIC_PLANES_LEAST_QUEUE &&
                   !nic__plane_is_out(first, plane))) {
        *next = first;
        return (uint8_t)(waiting | ready);
    }
    return (uint8_t)(waiting | nic__planes_ready(nic, plane, ready, next));
}

// Gives a packet that leaves in a plane its addresses there, and one that arrived those of plane 0.
void nic__planes_address(const nic_t *nic, net_packet_t *packet, uint32_t plane);
void nic__planes_arrived(nic_t *nic, net_packet_t *packet, uint32_t plane);

// Sends an ACK, NAK or CNP in the plane in which the last packet arrived; if that is down, in the
// next one. Takes the packet.
void nic__planes_send(nic_t *nic, net_packet_t *packet);

#endif // NIC_SCHEDULE_PLANES_H
