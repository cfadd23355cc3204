// SPDX-License-Identifier: Apache-2.0
// nic/objects/calls.h - how the protocol calls a NIC's device (nic/device.h).
#ifndef NIC_OBJECTS_CALLS_H
#define NIC_OBJECTS_CALLS_H

#include "nic/objects/notices.h"
#include "nic/objects/objects.h"
#include "nic/objects/queues.h"

// Calls an operation of the device, if it has that one.
#define NIC_DEVICE(nic_, operation, ...)                                           \
    do {                                                                           \
        if (SIM_UNLIKELY((nic_)->detailed) && (nic_)->device->operation != NULL) { \
            (nic_)->device->operation(__VA_ARGS__);                                \
        }                                                                          \
    } while (0)

void nic__device_create(nic_t *nic);
void nic__device_destroy(nic_t *nic);

// Counts a packet's payload, which goes to host memory.
static inline void nic__write_payload(nic_t *nic, uint32_t bytes)
{
    nic->counters.rx_data_bytes += bytes;
    NIC_DEVICE(nic, payload, nic, bytes);
}

// Informs the program of a WRITE that lies whole in memory.
static inline void nic__tell_write(nic_qp_t *qp)
{
    const nic_t *const nic = qp->nic;
    if (SIM_UNLIKELY(nic->detailed) && nic->device->wrote != NULL) {
        nic->device->wrote(qp, qp->rx_address, qp->rx_bytes);
    } else {
        nic__notice(nic->host,
                    &(nic_notice_t){.qp = qp, .address = qp->rx_address, .bytes = qp->rx_bytes});
    }
}

#endif // NIC_OBJECTS_CALLS_H
