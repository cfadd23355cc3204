// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/peers/context.h - a NIC of an engine, and its worker threads.
#ifndef APPS_MOONCAKE_ENGINE_PEERS_CONTEXT_H
#define APPS_MOONCAKE_ENGINE_PEERS_CONTEXT_H

#include "apps/endpoints.h"
#include "apps/mooncake/engine/peers/endpoint_store.h"
#include "apps/mooncake/engine/segment.h"
#include "nic/core.h"

typedef struct app__mc_context app__mc_context_t;
typedef struct app__mc_peer_nic app__mc_peer_nic_t;

typedef struct app__mc_worker {
    app__mc_context_t *context;
    nic_core_t *core;
    app__mc_peer_nic_t *active; // ring of peer NICs with slices to post: the one served last
    uint32_t active_count;
    uint64_t posted_bytes; // payload of the slices that it posted, retries included
    uint64_t polled_bytes; // payload of the completed slices that it polled
} app__mc_worker_t;

struct app__mc_context { // a NIC of an engine
    app_mooncake_t *engine;
    uint32_t index; // of the context, and of the device in the description
    uint32_t nic_index;
    char *name; // "mlx5_0"
    char *path; // "server@mlx5_0"
    app__endpoint_t *endpoint;
    nic_cq_t *cq;
    app__mc_endpoint_store_t endpoints;
    app__mc_endpoint_store_t peer_nics; // all peer NICs; none is ever removed
    app__mc_peer_nic_t *wanting;        // queue of peer NICs with slices and no endpoint
    app__mc_peer_nic_t *wanting_last;
    app__mc_worker_t *workers;
    uint32_t worker_count;
    uint64_t outstanding; // slices on queue pairs
    uint64_t load_bytes;  // bytes queued and outstanding
    uint64_t bytes;       // bytes of completed slices
    uint64_t position;    // next QP number
    uint64_t positions_end;
    sim_list_t leaving; // endpoints no longer stored, with slices still outstanding
};

void app__mc_contexts_init(app_mooncake_t *engine);
void app__mc_contexts_fini(app_mooncake_t *engine);
// Puts a slice into the queue of its context's peer NIC to the peer's device.
void app__mc_dispatch(app__mc_context_t *context, app__mc_slice_t *slice,
                      app__mc_segment_t *segment, uint32_t peer_device);
// Fills the attributes with which a queue pair of a NIC connects to a peer's, by the engine's
// configuration.
void app__mc_qp_attr(const app__mc_context_t *context, uint32_t interface, uint32_t qp_num,
                     nic_qp_attr_t *attr);
// Takes a slice's bytes off the load of the context that it was dispatched to.
void app__mc_unload(app__mc_context_t *context, const app__mc_slice_t *slice);
// Returns the next unused queue pair number of a context.
uint32_t app__mc_next_qp_number(app__mc_context_t *context);

#endif // APPS_MOONCAKE_ENGINE_PEERS_CONTEXT_H
