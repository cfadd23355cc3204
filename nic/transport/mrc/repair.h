// SPDX-License-Identifier: Apache-2.0
// nic/transport/mrc/repair.h - the sender's repairs: what SACKs, NACKs, probes and silence mean.
#ifndef NIC_TRANSPORT_MRC_REPAIR_H
#define NIC_TRANSPORT_MRC_REPAIR_H

#include "nic/transport/mrc/mrc.h"

void nic__mrc_acknowledged(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);
void nic__mrc_responded(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);
void nic__mrc_timed_out(nic_qp_t *qp);
// Each takes in an answer, which the caller consumes.
void nic__mrc_take_sack(nic_mrc_t *mrc, const net_packet_t *packet);
void nic__mrc_take_nack(nic_mrc_t *mrc, const net_packet_t *packet);

#endif // NIC_TRANSPORT_MRC_REPAIR_H
