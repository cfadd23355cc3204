// SPDX-License-Identifier: Apache-2.0
// nic/schedule/loopback.h - packets of a NIC to itself, which never reach its port.
//
// A queue pair whose peer is on the same NIC is no matter of the port: pauses and failures of the
// link do not concern it, and no capture shows its packets. The loopback carries one packet after
// the other at a rate of its own. The queue pairs that could send through it take turns, whatever
// their class; acknowledgements go first. Each packet comes back NIC_LOOPBACK_DELAY_PS after its
// last bit, and is received like one of the link. Page: docs/models/programs.md.
//
// A NIC has a loopback from the first queue pair or datagram on that needs it. From then on its
// scheduler is called through its table (nic_t.ring is false), so that usual NICs pay nothing.
#ifndef NIC_SCHEDULE_LOOPBACK_H
#define NIC_SCHEDULE_LOOPBACK_H

#include "nic/objects/objects.h"
#include "nic/objects/qp.h"

#include "kernel/ring.h"

// Time of a packet's way back within the NIC, an assumption.
#define NIC_LOOPBACK_DELAY_PS (100 * SIM_PS_PER_NS)

// The value of nic_qp_t.plane while a queue pair waits for its turn in the loopback.
#define NIC_PLANE_LOOPBACK UINT8_MAX

typedef struct nic_looped {
    net_packet_t *packet;
    sim_time_t arrive_ps;
} nic_looped_t;

struct nic_loopback {
    nic_t *nic;
    uint64_t rate_bps;
    uint64_t remainder;  // of the division by the rate, carried within a busy period
    sim_time_t free_ps;  // the last packet is through
    nic_qp_t *ready;     // ring of queue pairs: whose turn it is; NULL: none
    bool stopped;        // the receiving side takes no more
    sim_timer_t turn;    // fires when the next queue pair may send
    sim_timer_t arrival; // fires when the first packet of `packets` comes back
    SIM_RING(nic_looped_t) packets;
};

// Returns whether the NIC can send to itself: it has one port, a schedule of rocesim, and the
// transport go-back-N.
bool nic__may_loop(const nic_t *nic);
// Gives a NIC that may loop its loopback, unless it has one.
void nic__loopback_open(nic_t *nic);
void nic__loopback_close(nic_t *nic);

// Returns whether the next packet of a queue pair goes through the loopback.
static inline bool nic__loops(const nic_qp_t *qp)
{
    if (qp->nic->loopback == NULL) {
        return false;
    }
    if (qp->transport != ROCE_UD) {
        return qp->path.destination == qp->nic->interface;
    }
    return qp->sq_send != qp->sq_posted &&
           nic__wqe(qp, qp->sq_send)->remote_address >> 32 == qp->nic->interface;
}

// Lets a queue pair that can send wait for its turn, leave, or go behind the others.
void nic__loopback_join(nic_qp_t *qp);
void nic__loopback_leave(nic_qp_t *qp);
// Takes a packet, behind all others. Returns when it is through.
sim_time_t nic__loopback_carry(nic_t *nic, net_packet_t *packet);
// Looks at the queue pairs when the loopback is free.
void nic__loopback_kick(const nic_t *nic);

// -- nic/node.c: each a sim_timer_fn

void nic__loopback_turn_fired(sim_node_t *node, sim_timer_t *timer);
void nic__loopback_arrival_fired(sim_node_t *node, sim_timer_t *timer);

#endif // NIC_SCHEDULE_LOOPBACK_H
