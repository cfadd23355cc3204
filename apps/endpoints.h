// SPDX-License-Identifier: Apache-2.0
// apps/endpoints.h - queue pairs of applications: endpoints, and the numbers they give out.
#ifndef APPS_ENDPOINTS_H
#define APPS_ENDPOINTS_H

#include "apps/app.h"

// The verbs objects that all applications share on one NIC. They are made at planning; afterwards
// only events of the NIC's host touch them, except the keys of buffers, which never change.
typedef struct app__endpoint app__endpoint_t;

typedef struct app__range_ops app__range_ops_t;

// A passive QP: it is created when its first packet arrives.
typedef struct app__passive {
    nic_qp_t *qp; // NULL: its owner has destroyed it
    const app__range_ops_t *ops;
    void *owner; // owner of the range of QP numbers
    app__endpoint_t *endpoint;
    uint64_t left; // for the owner: receives still to be posted
    uint64_t done; // for the owner: receives completed
    uint32_t item; // for the owner: number of the item that the QP serves
} app__passive_t;

// Callbacks of the owner of a range of QP numbers. They handle packets for QPs that do not exist
// yet.
struct app__range_ops {
    // Returns the start time from which the QP number `offset` of the range is used; NEVER: packets
    // must not create this QP.
    sim_time_t (*passive_from_ps)(const void *owner, uint32_t interface, uint64_t offset);
    // Creates and connects passive->qp, and sets the owner's fields of passive.
    void (*accept)(void *owner, app__endpoint_t *endpoint, uint64_t offset,
                   app__passive_t *passive);
    // Returns whether only duplicates can still arrive for the QP. It may then be destroyed; accept
    // makes it again if needed.
    bool (*finished)(void *owner, const app__passive_t *passive);
    // Handles a completed receive; may be NULL where receives are never posted.
    void (*received)(void *owner, app__endpoint_t *endpoint, app__passive_t *passive,
                     const nic_wc_t *wc);
    // Handles a completed send; wc->wr_id is the value it was posted with.
    void (*completed)(const nic_wc_t *wc);
};

typedef struct app__range {
    const app__range_ops_t *ops;
    void *owner;
    uint64_t first; // position in the NIC's sequence of QP numbers
    uint64_t count;
    nic_mr_t *region; // of the range's buffers; NULL: none
    uint32_t key;     // of the region; 0: none
} app__range_t;

struct app__endpoint {
    net_t *net;
    nic_t *nic;
    sim_node_t *node;
    nic_pd_t *pd;
    nic_cq_t *send_cq;
    nic_cq_t *recv_cq; // NULL: no queue pair has needed it (app__recv_cq)
    uint32_t interface;
    uint64_t position;    // position of the next QP number to give out
    uint64_t kept_first;  // position of the numbers that one owner has asked for
    uint64_t kept_count;  // 0: nobody has
    app__range_t *ranges; // in the order of their numbers, unless they overlap
    size_t range_count;
    size_t range_capacity;
    size_t range_added; // index of the last one that was added
    bool overlaps;      // some range has numbers of another one
    app__passive_t **passives;
    size_t passive_count;
    size_t passive_capacity;
    size_t hand;              // index of the passive QP to check next for being finished
    struct app__gsi *gsi;     // QP 1 (apps/channel/gsi.h); NULL: none
    struct app__cma *manager; // makes QP 1 when it is needed (apps/programs/cm.h); NULL: none
    // NIC 0: drive of the host (apps/mooncake/engine/files/nvmeof.c); NULL: none
    struct app__mc_drive *drive;
};

// First member of every struct that the wr_id of a send points to.
typedef struct app__active {
    const app__range_ops_t *ops;
} app__active_t;

// Returns the sockets of the network's programs, which are made on first use.
struct app__sockets *app__runtime_sockets(app_runtime_t *runtime, sim_time_t latency_ps);
// Returns the connection managers of the network's hosts, which are made on first use.
struct app__cmas *app__runtime_managers(app_runtime_t *runtime);
struct app__files *app__runtime_files(app_runtime_t *runtime);
// Returns the place of the list of the segments of the network's hosts.
struct app__segments **app__runtime_segments(app_runtime_t *runtime);
// Returns the place of the servers of ssh; NULL in it: none were made.
struct app__servers **app__runtime_servers(app_runtime_t *runtime);
// Returns the place of the network's processes of SimBricks; NULL in it: there are none.
struct app__peers **app__runtime_peers(app_runtime_t *runtime);

// Returns the endpoint of an interface, creating it on first use.
app__endpoint_t *app__endpoint_of(app_runtime_t *runtime, uint32_t interface);

// Reserves `count` QP numbers for `owner` and returns the position of the first. `owner` must stay
// valid as long as the simulation runs. ops NULL: a packet never creates these QPs.
uint64_t app__reserve_qps(app__endpoint_t *endpoint, const app__range_ops_t *ops, void *owner,
                          uint64_t count);
// Reserves `count` QP numbers from position `first` on, or later ones if some of these are taken.
// Others get the numbers before and behind them, so theirs do not depend on it. At most one owner
// may do so at an endpoint.
uint64_t app__reserve_qps_at(app__endpoint_t *endpoint, const app__range_ops_t *ops, void *owner,
                             uint64_t first, uint64_t count);
// Gives back the ranges that an owner has reserved last, before any of their QPs exists.
void app__return_qps(app__endpoint_t *endpoint, const void *owner);
// Converts a position in the NIC's sequence of QP numbers to the QP number.
uint32_t app__qp_number(uint64_t position);

// Returns the completion queue of the endpoint's receives, which is made on first use.
nic_cq_t *app__recv_cq(app__endpoint_t *endpoint);
// Registers one memory region with the buffers of the range reserved last. Call it at planning.
void app__register_buffers(app__endpoint_t *endpoint);
// Returns the key of the region that holds the buffer of a QP number. Both ends use the same key.
uint32_t app__buffer_key(const app__endpoint_t *endpoint, uint32_t qp_num);

// Reserves `count` flow ids, unique in the run, and returns the first.
uint64_t app__reserve_flow_ids(app_runtime_t *runtime, uint64_t count);
// Gives back all ids from `first` on.
void app__return_flow_ids(app_runtime_t *runtime, uint64_t first);

// Returns the address of a QP's message buffer. Each QP number has room for one message there.
uint64_t app__address_of_qp(uint32_t qp_num);

#endif // APPS_ENDPOINTS_H
