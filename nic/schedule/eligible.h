// SPDX-License-Identifier: Apache-2.0
// nic/schedule/eligible.h - when queue pairs get their turn to send (nic/scheduler.h).
//
// This part keeps the queue pairs that could send. It sends no data by itself: when the port is
// free, nic/transport/transmit.c draws a packet from the queue pair whose turn it is.
#ifndef NIC_SCHEDULE_ELIGIBLE_H
#define NIC_SCHEDULE_ELIGIBLE_H

#include "nic/objects/objects.h"
#include "nic/objects/qp.h"

// -- eligible.c

// Looks at the NIC's port when this event is over, or when the port is free: something may be ready
// to be sent.
void nic__kick(nic_t *nic);
// Gives the QP its turn, if it is able to send.
void nic__schedule(nic_qp_t *qp);
// Takes its turn away.
void nic__unschedule(nic_qp_t *qp);
// Lets the QP wait until its rate allows the next packet.
void nic__wait_for_pace(nic_qp_t *qp);
// Applies a new rate: what is left of the QP's wait passes at that rate.
void nic__repace(nic_qp_t *qp);
// Sends an ACK, NAK or CNP, now or when the port is free. Takes the packet.
void nic__send(nic_t *nic, net_packet_t *packet);
void nic__pace_fired(sim_node_t *node, sim_timer_t *timer); // a sim_timer_fn

// Returns the classes that have something to send and are not paused, a bit each.
static inline uint8_t nic__sending_classes(const nic_t *nic)
{
    return (uint8_t)((nic->port->waiting | nic->ready_classes) & ~nic->port->paused);
}

// Returns true if something could leave as soon as the port is free.
static inline bool nic__something_waits(const nic_t *nic)
{
    return nic__sending_classes(nic) != 0 || nic->port->controlled;
}

// Hands a packet that was built before to the port, which is free.
static inline void nic__transmit_built(nic_t *nic, net_packet_t *packet)
{
    nic->counters.tx_packets++;
    net_port_transmit(nic->port, packet);
}

// -- schedulers.c

void nic__scheduler_create(nic_t *nic);
void nic__scheduler_destroy(nic_t *nic);
// Informs the scheduler that a QP stops or drains.
void nic__scheduler_forget(nic_qp_t *qp);
void nic__scheduler_reset(nic_qp_t *qp);

// Returns the size of what lies before a queue pair: the scheduler's state, then the device's.
static inline size_t nic__bytes_before_qp(const nic_t *nic)
{
    return nic->scheduler->qp_state_bytes + nic->device->qp_state_bytes;
}

#endif // NIC_SCHEDULE_ELIGIBLE_H
