// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/post.h - work requests that programs post to a detailed NIC.
#ifndef NIC_DEVICE_RNIC_POST_H
#define NIC_DEVICE_RNIC_POST_H

#include "nic/device/rnic/items.h"

void nic__rnic_post(nic_qp_t *qp, uint32_t count, bool doorbell); // the last `count` WQEs
void nic__rnic_post_receive(nic_t *nic, uint32_t count);
// Returns the time that the lines of a WQE take on PCIe if a core writes them. The sending side
// begins with the first line and is busy for at least this time.
sim_time_t nic__rnic_lines_ps(const nic_rnic_t *rnic, const nic_qp_t *qp, const nic_wqe_t *wqe);
void nic__rnic_look_for_coming(nic_rnic_t *rnic); // at the first WQE that comes by MMIO
void nic__rnic_doorbell_arrives(nic_item_t *item, const nic_qp_t *qp);

// Rings the Doorbell of WQEs that a core, a GPU or its proxy has written.
void nic__rnic_posted(nic_item_t *item);
// Returns the time from a completion in memory until a GPU that posts knows of it.
sim_time_t nic__rnic_notice_ps(const nic_rnic_t *rnic, bool received);

#endif // NIC_DEVICE_RNIC_POST_H
