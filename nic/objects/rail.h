// SPDX-License-Identifier: Apache-2.0
// nic/objects/rail.h - NICs of equal rails, of which the first one alone sends (nic/rails.h).
#ifndef NIC_OBJECTS_RAIL_H
#define NIC_OBJECTS_RAIL_H

#include "nic/completion_queue.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"

// A work request that was posted. All NICs of a host must post equal ones at equal times.
typedef struct nic_rail_post {
    sim_time_t time_ps;
    uint64_t remote_address;
    uint32_t qp;
    uint32_t host; // number of the receiver's node
    uint32_t length;
    uint32_t immediate;
    uint32_t rkey;
    uint32_t what; // opcode and flags
} nic_rail_post_t;

// The part of a NIC.
struct nic_rail {
    nic_t *followers; // on the same host, that do what this one does
    uint32_t count;   // of followers
    bool follows;
    bool *posted;            // of the host: something is to be compared
    const char *const *over; // why the run must begin again; NULL there: it goes on
    const char *apart;       // why the NIC does not do what the others do; NULL: it does
    nic_rail_post_t *posts;  // since they were compared
    size_t post_count;
    size_t post_capacity;
};

static inline bool nic__rail_follows(const nic_t *nic)
{
    return nic->rail != NULL && nic->rail->follows;
}

// Something happened at a queue pair of a NIC with a rail. If it leads, the same happens at the
// queue pairs of the same number of the NICs that follow.
void nic__rail_posted(nic_qp_t *qp); // the latest work request
void nic__rail_accepted(nic_t *nic, uint32_t qp_num);
void nic__rail_sent(nic_qp_t *qp, nic_wc_status_t status); // the oldest work request
void nic__rail_received(nic_qp_t *qp, const nic_wc_t *wc);
void nic__rail_written(nic_qp_t *qp);

#endif // NIC_OBJECTS_RAIL_H
