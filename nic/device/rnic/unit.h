// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/unit.h - the processing units of a detailed NIC.
#ifndef NIC_DEVICE_RNIC_UNIT_H
#define NIC_DEVICE_RNIC_UNIT_H

#include "nic/device/rnic/items.h"
#include "nic/device/rnic/store_kinds.h"

// A processing unit of the sending side. The fields of every step come first.
typedef struct nic_tx_unit {
    _Alignas(SIM_CACHE_LINE) nic_step_t step;
    nic_t *nic;
    nic_item_t *head;
    sim_time_t here_ps; // the WQE being served is on the NIC
    bool busy;
    bool carries; // that WQE has a payload to be read

    nic_item_t *tail;
    sim_timer_t timer; // where the step has no lane, or its time is not known
} nic_tx_unit_t;

// A processing unit of the receiving side.
typedef struct nic_rx_unit {
    _Alignas(SIM_CACHE_LINE) nic_step_t step;
    nic_t *nic;
    net_packet_t *head;
    nic_qp_t *qp; // of the packet being served; NULL: none, or gone
    bool busy;
    uint8_t kind; // of that packet

    sim_time_t here_ps; // the WQE that it answers is on the NIC
    net_packet_t *tail;
    sim_timer_t timer;
} nic_rx_unit_t;

void nic__units_create(nic_rnic_t *rnic);
void nic__tx_unit_push(nic_item_t *item, nic_qp_t *qp);
void nic__rnic_wqes_arrive(nic_item_t *item, nic_qp_t *qp);
// Arms the timer for the end of the service, or for the store's answer if the service waits for it.
static inline void nic__unit_arm(nic_t *nic, nic_lane_index_t lane, nic_step_t *step,
                                 sim_timer_t *timer, sim_time_t end_ps)
{
    if (SIM_UNLIKELY(nic__rnic(nic)->waits)) {
        nic__store_wait(nic__rnic(nic), timer, end_ps);
    } else if (!nic__device_step_at(nic, lane, step, end_ps)) {
        sim_timer_arm(nic__device_node(nic), timer, end_ps);
    }
}

void nic__rnic_take_coming(nic_t *nic);

#endif // NIC_DEVICE_RNIC_UNIT_H
