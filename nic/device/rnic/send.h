// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/send.h - the sending side of a detailed NIC.
#ifndef NIC_DEVICE_RNIC_SEND_H
#define NIC_DEVICE_RNIC_SEND_H

#include "nic/device/rnic/unit.h"

// Every event of the NIC calls nic__rnic_begin first. A WQE written by MMIO schedules no event:
// WQEs arrive in order and have no visible effect for a while. So the next event processes all WQEs
// whose arrival time has passed.
static inline bool nic__rnic_has_coming(const nic_t *nic) // some that may have arrived
{
    return nic__rnic(nic)->pcie.coming_ps <= nic__device_now_ps(nic);
}
static inline void nic__rnic_begin(nic_t *nic)
{
    nic_rnic_t *const rnic = nic__rnic(nic);
    const sim_time_t now_ps = nic__device_now_ps(nic);
    if (SIM_UNLIKELY(rnic->pcie.coming_ps <= now_ps)) {
        nic__rnic_take_coming(nic);
    }
    rnic->at_ps = now_ps;
}
// The times of a service: when the unit has done the first part, and when the WQE has arrived.
typedef struct nic_service {
    sim_time_t end_ps;
    sim_time_t here_ps;
} nic_service_t;
void nic__rnic_sent(nic_t *nic, nic_qp_t *qp, bool response);
void nic__rnic_forget_early(nic_qp_t *qp);
void nic__rnic_flushed(nic_qp_t *qp); // its send queue is empty
// Updates what the protocol may send, after sq_send or sq_done has moved.
static inline void nic__rnic_gate(nic_qp_t *qp)
{
    // A late ACK may move sq_send past a WQE that is being sent again.
    nic__device_gate(qp, (int32_t)(nic__rnic_qp(qp)->sq_ready - nic__device_sending(qp)) > 0);
}
// Makes a WQE ready: it has passed the NIC and may be sent.
static inline void nic__rnic_make_ready(nic_qp_t *qp)
{
    nic__rnic_qp(qp)->sq_ready++;
    nic__rnic_gate(qp);
    nic_device_schedule(qp);
}
void nic__rnic_moved(nic_qp_t *qp);
void nic__rnic_rewound(nic_qp_t *qp); // back
void nic__rnic_respond(nic_qp_t *qp, uint64_t address, uint32_t bytes, bool atomic);
void nic__rnic_answer(nic_qp_t *qp, net_packet_t *packet);

#endif // NIC_DEVICE_RNIC_SEND_H
