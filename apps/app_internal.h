// SPDX-License-Identifier: Apache-2.0
// apps/app_internal.h - helpers of all kinds of applications: endpoints, QP numbers, hosts by name.
#ifndef APPS_APP_INTERNAL_H
#define APPS_APP_INTERNAL_H

#include "apps/app.h"
#include "nic/ideal.h"

extern const app_ops_t app_flows;
extern const app_ops_t app_poisson;
extern const app_ops_t app_incast;
extern const app_ops_t app_bulk;
extern const app_ops_t app_permutation;
extern const app_ops_t app_all_to_all;
extern const app_ops_t app_perftest;
extern const app_ops_t app_all_to_all_reads;
extern const app_ops_t app_verbs_rate;
extern const app_ops_t app_sequencer;
extern const app_ops_t app_herd;
extern const app_ops_t app_drtm_kv;
extern const app_ops_t app_mooncake_bench;
extern const app_ops_t app_mooncake_replay;
extern const app_ops_t app_contexts;
extern const app_ops_t app_submitted;
extern const app_ops_t app_workload;
extern const app_ops_t app_collective;
extern const app_ops_t app_training;
extern const app_ops_t app_kv_matrix;
extern const app_ops_t app_serving;

// -- flows/listed.c

// Makes the application `flows` of a file, with the defaults of its other attributes. A message
// begins with "file", or with "FILE:LINE:COLUMN: ".
SIM_MUST_CHECK sim_err_t app__flows_create_from(const app_context_t *context, const char *file,
                                                app_t **app, sim_message_t *message);

// -- runtime.c

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
    nic_cq_t *recv_cq;
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
    size_t hand;             // index of the passive QP to check next for being finished
    struct app__mc_gsi *gsi; // QP 1 (apps/mooncake/engine/files/nvme_cm.c); NULL: none
    // NIC 0: drive of the host (apps/mooncake/engine/files/nvmeof.c); NULL: none
    struct app__mc_drive *drive;
};

// First member of every struct that the wr_id of a send points to.
typedef struct app__active {
    const app__range_ops_t *ops;
} app__active_t;

// Returns the endpoint of an interface, creating it on first use.
app__endpoint_t *app__endpoint_of(app_runtime_t *runtime, uint32_t interface);

// Reserves `count` QP numbers for `owner` and returns the position of the first. `owner` must stay
// valid as long as the simulation runs.
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

// -- runtime.c

// Checks that `count` of the things that `what` names, of each_bytes each, need no more memory than
// the scenario's memory-max. SIM_ERR_RANGE: the message begins with `attribute`.
SIM_MUST_CHECK sim_err_t app__check_memory(const app_context_t *context, const char *attribute,
                                           double count, uint64_t each_bytes, const char *what,
                                           sim_message_t *message);

// -- hosts.c

// Interfaces that a pattern matched; all interfaces of one host are adjacent.
typedef struct app__places {
    app_hosts_t list;
    uint32_t host_count; // number of different hosts
} app__places_t;

// Resolves a host pattern. An error message starts with `attribute`.
SIM_MUST_CHECK sim_err_t app__places_find(const app_context_t *context, const char *attribute,
                                          const char *pattern, app__places_t *places,
                                          sim_message_t *message);
void app__places_fini(app__places_t *places);

// Checks that all hosts have the same number of NICs and returns it in `nics`: NIC n of host h is
// then list.interfaces[h * nics + n]. SIM_ERR_RANGE: there are fewer than two hosts.
SIM_MUST_CHECK sim_err_t app__places_grid(const app_context_t *context, const char *attribute,
                                          const app__places_t *places, uint32_t *nics,
                                          sim_message_t *message);

// Finds the one interface that `name` means: a host with one NIC, or NIC n of "host3:n".
SIM_MUST_CHECK sim_err_t app__interface_find(const app_context_t *context, const char *attribute,
                                             const char *name, uint32_t *interface,
                                             sim_message_t *message);

// Returns whether two interfaces belong to different hosts and have a path (links go both ways).
bool app__can_talk(const net_t *net, uint32_t a, uint32_t b);
// Returns whether two interfaces can talk. If both are the first of their hosts, as the name of a
// host gives them, and cannot, it replaces them by those that can: with the fewest hops and, among
// those, the highest rate. So hosts with links to each other can be named without their NICs.
bool app__find_talk(const net_t *net, uint32_t *a, uint32_t *b);
// Writes why two interfaces cannot talk, after the name of the attribute to blame; returns
// SIM_ERR_INVALID.
sim_err_t app__cannot_talk(const net_t *net, uint32_t a, uint32_t b, const char *blame,
                           sim_message_t *message);
// Returns the time that an acknowledgement takes from one interface to another on an idle path.
sim_time_t app__ack_ps(const net_t *net, uint32_t from, uint32_t to);
const char *app__host_name(const net_t *net, uint32_t interface);
const net_node_t *app__host(const net_t *net, uint32_t interface);

// Seeds `random` from the scenario's seed for one purpose of one application at one entity.
void app__random_init(sim_random_t *random, const app_context_t *context, uint32_t entity,
                      const char *purpose);

#endif // APPS_APP_INTERNAL_H
