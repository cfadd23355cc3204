// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/driver/server.h - the host's driver as a server with two classes of requests:
// urgent ones overtake background ones, and nothing interrupts a request in service
// (docs/models/tiered-cache.md).
//
// An urgent request waits for the request in service and for earlier urgent ones, so its end is
// known when it arrives. A background request starts when the server is free and no urgent one
// waits: its start is known only when it happens. nic_server_next returns the starts in their
// order.
#ifndef NIC_STORE_TIERED_DRIVER_SERVER_H
#define NIC_STORE_TIERED_DRIVER_SERVER_H

#include "nic/store/tiered/histogram.h"

SIM_C_BEGIN

typedef enum nic_server_class {
    NIC_SERVER_URGENT,
    NIC_SERVER_BACKGROUND,
    NIC_SERVER_CLASS_COUNT
} nic_server_class_t;

typedef struct nic_server_request {
    sim_time_t arrives_ps;
    sim_time_t work_ps;
    uint32_t tag; // the caller's
    bool gone;    // it was taken out
} nic_server_request_t;

typedef struct nic_server {
    sim_time_t free_ps;          // end of everything that has started or is urgent
    nic_server_request_t *queue; // ring of background requests, the first to start at `first`
    size_t first;
    size_t count; // with those that are gone
    size_t capacity;
    uint64_t waiting; // without those that are gone
    uint64_t waiting_max;
    // Statistics, by class.
    uint64_t requests[NIC_SERVER_CLASS_COUNT];
    sim_time_t busy_ps[NIC_SERVER_CLASS_COUNT];
    sim_time_t waited_ps[NIC_SERVER_CLASS_COUNT];
    nic_histogram_t waits[NIC_SERVER_CLASS_COUNT];
} nic_server_t;

void nic_server_fini(nic_server_t *server);
void nic_server_clear_statistics(nic_server_t *server);
// Serves an urgent request. All starts up to now_ps must have been taken by nic_server_next.
// Returns how long it waits before its service starts.
sim_time_t nic_server_urgent(nic_server_t *server, sim_time_t now_ps, sim_time_t work_ps);
// Queues a background request. Arrivals must be in the order of time.
void nic_server_put(nic_server_t *server, sim_time_t now_ps, sim_time_t work_ps, uint32_t tag);
// Returns when the next background request starts if no urgent one comes before; SIM_TIME_NEVER:
// none waits.
sim_time_t nic_server_next_ps(const nic_server_t *server);
// Starts the next background request at nic_server_next_ps. Returns its tag.
uint32_t nic_server_next(nic_server_t *server);
// Takes the background request `tag` out of the queue. Returns false if it is not there. O(n).
bool nic_server_take(nic_server_t *server, uint32_t tag);
// Returns the earliest time at which the waiting request `tag` can end its service. O(n).
sim_time_t nic_server_least_end_ps(const nic_server_t *server, uint32_t tag);

SIM_C_END

#endif // NIC_STORE_TIERED_DRIVER_SERVER_H
