// SPDX-License-Identifier: Apache-2.0
// nic/nic.h - the objects of a NIC, and the host that it belongs to.
#ifndef NIC_NIC_H
#define NIC_NIC_H

#include "net/node.h"

SIM_C_BEGIN

typedef struct nic nic_t;
typedef struct nic_pd nic_pd_t;
typedef struct nic_mr nic_mr_t;
typedef struct nic_cq nic_cq_t;
typedef struct nic_qp nic_qp_t;
typedef struct nic_srq nic_srq_t;
typedef struct nic_transport_ops nic_transport_ops_t; // nic/transport.h
typedef struct nic_device_ops nic_device_ops_t;       // nic/device.h
typedef struct nic_scheduler_ops nic_scheduler_ops_t; // nic/scheduler.h

// Returns the host of a NIC; nic/host.h makes hosts. A host has a NIC per network port, in order of
// its links.
net_node_t *nic_node(const nic_t *nic);
uint32_t nic_interface(const nic_t *nic); // the NIC's address
// Returns true if packets of this NIC come to an interface. What is for the NIC itself passes its
// loopback (nic/schedule/loopback.h), or a switch sends it back.
bool nic_reaches(const nic_t *nic, uint32_t interface);

SIM_C_END

#endif // NIC_NIC_H
