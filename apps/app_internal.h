// SPDX-License-Identifier: Apache-2.0
// apps/app_internal.h - what the kinds of applications share: endpoints, QP numbers, hosts by name.
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

// -- runtime.c

// The verbs objects that all applications use on one NIC. Made at planning, then touched by events
// of the NIC's host only, but for the keys of buffers, which never change.
typedef struct app__endpoint app__endpoint_t;

typedef struct app__range_ops app__range_ops_t;

// A QP on the passive side, made when its first packet came.
typedef struct app__passive {
    nic_qp_t *qp;
    const app__range_ops_t *ops;
    void *owner; // of the range of numbers
    app__endpoint_t *endpoint;
    uint64_t left; // the owner's: receives still to be posted
    uint64_t done; // the owner's: receives completed
    uint32_t item; // the owner's: what the QP is for
} app__passive_t;

// What someone who owns QP numbers does with packets for QPs that do not exist.
struct app__range_ops {
    // When (start time) the QP number `offset` of the range begins to be used; NEVER: it is not one
    // that a packet may create.
    sim_time_t (*passive_from_ps)(const void *owner, uint32_t interface, uint64_t offset);
    // Creates and connects the QP, passive->qp, and sets what is the owner's.
    void (*accept)(void *owner,
                   app__endpoint_t *endpoint,
                   uint64_t offset,
                   app__passive_t *passive);
    // Nothing will come for it but repetitions: it can be destroyed, and made again by accept.
    bool (*finished)(void *owner, const app__passive_t *passive);
    // A receive completed; may be NULL where receives are never posted.
    void (*received)(void *owner,
                     app__endpoint_t *endpoint,
                     app__passive_t *passive,
                     uint32_t bytes);
    // A send completed, with the wr_id it was posted with.
    void (*completed)(const nic_wc_t *wc);
};

typedef struct app__range {
    const app__range_ops_t *ops;
    void *owner;
    uint64_t first; // position in the NIC's sequence of QP numbers
    uint64_t count;
    uint32_t key; // of the region that is their buffers; 0: none
} app__range_t;

struct app__endpoint {
    net_t *net;
    nic_t *nic;
    sim_node_t *node;
    nic_pd_t *pd;
    nic_cq_t *send_cq;
    nic_cq_t *recv_cq;
    uint32_t interface;
    uint64_t position; // of the next QP number given out
    app__range_t *ranges;
    size_t range_count;
    size_t range_capacity;
    app__passive_t **passives;
    size_t passive_count;
    size_t passive_capacity;
    size_t hand; // where to look next for one that is finished
};

// What a send's wr_id points to, first member of it.
typedef struct app__active {
    const app__range_ops_t *ops;
} app__active_t;

app__endpoint_t *app__endpoint_of(app_runtime_t *runtime, uint32_t interface);

// Reserves count QP numbers for owner; returns the position of the first one.
// owner must live as long as the simulation runs.
uint64_t app__reserve_qps(app__endpoint_t *endpoint,
                          const app__range_ops_t *ops,
                          void *owner,
                          uint64_t count);
uint32_t app__qp_number(uint64_t position);

// Registers the buffers of the numbers reserved last, one region for all of them: at planning.
void app__register_buffers(app__endpoint_t *endpoint);
// The key of the region that a QP number's buffer is part of, for both ends.
uint32_t app__buffer_key(const app__endpoint_t *endpoint, uint32_t qp_num);

// Numbers flows through the run: returns the first of count ids.
uint64_t app__reserve_flow_ids(app_runtime_t *runtime, uint64_t count);

// Messages are written to and read from here on: an address with room for a message per QP.
uint64_t app__address_of_qp(uint32_t qp_num);

// -- hosts.c

// Hosts with their interfaces: those of one host lie together.
typedef struct app__places {
    app_hosts_t list;
    uint32_t host_count;
} app__places_t;

// Resolves a pattern; `attribute` starts the message.
SIM_MUST_CHECK sim_err_t app__places_find(const app_context_t *context,
                                          const char *attribute,
                                          const char *pattern,
                                          app__places_t *places,
                                          sim_message_t *message);
void app__places_fini(app__places_t *places);

// Whether all hosts have the same number of NICs, returned in nics: NIC n of host h is then
// list.interfaces[h * nics + n]. At least two hosts, else SIM_ERR_RANGE too.
SIM_MUST_CHECK sim_err_t app__places_grid(const app_context_t *context,
                                          const char *attribute,
                                          const app__places_t *places,
                                          uint32_t *nics,
                                          sim_message_t *message);

// The one interface that `name` means: of a host with one NIC, or NIC n of "host3:n".
SIM_MUST_CHECK sim_err_t app__interface_find(const app_context_t *context,
                                             const char *attribute,
                                             const char *name,
                                             uint32_t *interface,
                                             sim_message_t *message);

// Two interfaces that can talk: of different hosts, with a path (links go both ways).
bool app__can_talk(const net_t *net, uint32_t a, uint32_t b);
// What is wrong with two that cannot, after the name of the attribute to blame; SIM_ERR_INVALID.
sim_err_t app__cannot_talk(const net_t *net,
                           uint32_t a,
                           uint32_t b,
                           const char *blame,
                           sim_message_t *message);
const char *app__host_name(const net_t *net, uint32_t interface);
const net_node_t *app__host(const net_t *net, uint32_t interface);

// A scenario's seed for one purpose of one application at one entity.
void app__random_init(sim_random_t *random,
                      const app_context_t *context,
                      uint32_t entity,
                      const char *purpose);

#endif // APPS_APP_INTERNAL_H
