// SPDX-License-Identifier: Apache-2.0
// nic/path/repath.h - senders that choose their path. Page: docs/models/plb.md.
//
// PLB and FlowBender leave a congested path: they change the UDP source port of a queue pair, which
// switches hash. REPS gives each packet a port (nic/path/spray.h).
#ifndef NIC_PATH_REPATH_H
#define NIC_PATH_REPATH_H

#include "nic/objects/objects.h"
#include "nic/objects/qp.h"

// Before the queue pair and the state of its scheduler, where nic.repath is not off.
typedef struct nic_repath {
    alignas(SIM_CACHE_LINE) sim_random_t random;
    uint64_t round_psn; // the round ends when more than this is acknowledged
    uint64_t acks;      // number of ACKs in this round
    uint64_t marks;     // number of these ACKs that were marked
    uint64_t congested; // rounds in a row
    bool cnp;           // one came in this round
    bool control_hears; // the queue pair's algorithm hears ACKs
} nic_repath_t;

// Returns the bytes of state for each queue pair of the NIC; 0: it stays on its paths. And where
// these bytes are: nic_repath_t, or nic_spray_t with reps.
size_t nic__repath_bytes(const nic_t *nic);
void *nic__repath_state(const nic_qp_t *qp);

// Counts an ACK. Returns whether the algorithm wants to hear of it, too. Only where nic__repaths,
// which is true for plb and flowbender.
bool nic__repath_ack(nic_qp_t *qp, const net_packet_t *packet);

// Each does nothing where nic.repath is off. connect: the queue pair's algorithm has begun.
void nic__repath_connect(nic_qp_t *qp);
void nic__repath_cnp(nic_qp_t *qp);
void nic__repath_timeout(nic_qp_t *qp);

static inline bool nic__repaths(const nic_qp_t *qp)
{
    const nic_repath_rule_t rule = qp->nic->host->config->repath;
    return SIM_UNLIKELY(rule != NIC_REPATH_OFF) && rule != NIC_REPATH_REPS &&
           qp->type == NIC_QPT_RC;
}

#endif // NIC_PATH_REPATH_H
