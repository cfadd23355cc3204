// SPDX-License-Identifier: Apache-2.0
// nic/schedule/scan.h - a NIC that looks through its queue pairs for one to send, as some
// simulators do.
//
// The scheduler of nic/schedule/scheduler.c keeps the QPs that can send in rings. This one keeps
// all QPs with unfinished work in a list, in the order they came, and whenever the port may be free
// it looks from the one behind the last served for one that may send: O(QPs) a packet. It exists to
// agree with the HPCC project's simulator: docs/models/hpcc-compat.md.
#ifndef NIC_SCHEDULE_SCAN_H
#define NIC_SCHEDULE_SCAN_H

#include "nic/nic_internal.h"

struct nic_scan {
    nic_t *nic;
    nic_qp_t **qps; // NULL: finished
    uint32_t count;
    uint32_t capacity;
    uint32_t last;     // position served last, of the list as it was then
    uint8_t ack_class; // whose pause holds back what is in the port's queues, and whose queue it is
    sim_timer_t wake;
};

// For nic_init and nic_fini.
struct nic_scan *nic__scan_create(nic_t *nic);
void nic__scan_destroy(struct nic_scan *scan);

#endif // NIC_SCHEDULE_SCAN_H
