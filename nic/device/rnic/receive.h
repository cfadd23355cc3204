// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/receive.h - the receiving side of a detailed NIC.
#ifndef NIC_DEVICE_RNIC_RECEIVE_H
#define NIC_DEVICE_RNIC_RECEIVE_H

#include "nic/device/rnic/unit.h"

void nic__rnic_arrive(nic_t *nic, net_packet_t *packet);
void nic__rnic_forget_receiving(nic_rnic_t *rnic, const nic_qp_t *qp); // it is destroyed
void nic__rnic_payload(nic_t *nic, uint32_t bytes);
void nic__rnic_lands(nic_t *nic, sim_time_t time_ps);
void nic__rnic_atomic_done(nic_t *nic, uint32_t rkey); // the word is written back
void nic__rnic_set_costs(nic_rnic_t *rnic);
void nic__rx_unit_fired(sim_node_t *node, sim_timer_t *timer);
void nic__rx_unit_step(nic_step_t *step);
void nic__rnic_pause_fired(sim_node_t *node, sim_timer_t *timer);

#endif // NIC_DEVICE_RNIC_RECEIVE_H
