// SPDX-License-Identifier: Apache-2.0
// nic/path/spray.h - RoCE packets that each take a path of their own: nic.repath reps.
//
// The entropy is the UDP source port. A receiver answers each packet by the port that it came with,
// so an ACK shows the sender which entropy arrived; its BECN shows whether it was marked. Page:
// docs/models/reps.md.
#ifndef NIC_PATH_SPRAY_H
#define NIC_PATH_SPRAY_H

#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/path/reps.h"

// Before the queue pair and the state of its scheduler, where nic.repath is reps.
typedef struct nic_spray {
    alignas(SIM_CACHE_LINE) sim_random_t random;
    nic_reps_t reps;
    uint16_t echo_port; // of the packet that arrived last, until it is answered
    bool echo;          // it was not answered yet
    bool echo_marked;
} nic_spray_t;

// Returns whether the packets of a queue pair take paths of their own.
static inline bool nic__sprays(const nic_qp_t *qp)
{
    return qp->nic->host->config->repath == NIC_REPATH_REPS && qp->type == NIC_QPT_RC;
}

// Begins, for a queue pair that is connected. Lets it ask for an ACK of each packet.
void nic__spray_connect(nic_qp_t *qp);
// Gives a packet that leaves now its entropy. request: it will be answered with it.
void nic__spray_packet(nic_qp_t *qp, net_packet_t *packet, bool request);
// Notes a sprayed packet that arrived: one to be answered, or the answer to one.
void nic__spray_arrived(nic_qp_t *qp, const net_packet_t *packet);
// Lets an answer return the entropy of the packet that arrived last.
void nic__spray_answer(const nic_qp_t *qp, net_packet_t *answer);
void nic__spray_timeout(nic_qp_t *qp);

#endif // NIC_PATH_SPRAY_H
