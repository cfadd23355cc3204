// SPDX-License-Identifier: Apache-2.0
// nic/transport/gbn/placing.h - go-back-N whose receiver places packets out of order.
#ifndef NIC_TRANSPORT_GBN_PLACING_H
#define NIC_TRANSPORT_GBN_PLACING_H

#include "nic/transport/gbn/gbn_internal.h"

net_packet_t *nic__gbn_place_next(nic_t *nic, nic_qp_t *qp);
void nic__gbn_place_request(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);
void nic__gbn_place_acknowledged(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);
void nic__gbn_place_responded(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);
void nic__gbn_place_close(nic_qp_t *qp);
void nic__gbn_place_gauges(const nic_qp_t *qp, nic_transport_gauges_t *sums);

#endif // NIC_TRANSPORT_GBN_PLACING_H
