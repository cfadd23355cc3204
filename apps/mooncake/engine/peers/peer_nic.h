// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/peers/peer_nic.h - a NIC of a peer, as a NIC of an engine sees it: the
// slices that wait, and the endpoint that they use.
#ifndef APPS_MOONCAKE_ENGINE_PEERS_PEER_NIC_H
#define APPS_MOONCAKE_ENGINE_PEERS_PEER_NIC_H

#include "apps/mooncake/engine/peers/context.h"

typedef struct app__mc_endpoint app__mc_endpoint_t;

typedef struct app__mc_queue {
    app__mc_slice_t *first;
    app__mc_slice_t *last;
    uint64_t count;
} app__mc_queue_t;

struct app__mc_peer_nic {    // connection from a NIC here to a NIC there
    app__mc_stored_t stored; // first; key: peer_path
    app__mc_context_t *context;
    app__mc_worker_t *worker;
    // segment whose rails count failures; NULL: made by a peer's handshake
    app__mc_segment_t *segment;
    char *peer_path;
    uint32_t peer_device;
    app__mc_endpoint_t *endpoint; // endpoint that its slices use; NULL: none yet
    app__mc_queue_t queue;        // slices to be posted
    app__mc_waiter_t *waiters;    // callbacks that wait for a connection
    bool was_there;               // has had an endpoint
    app__mc_peer_nic_t *next_active;
    app__mc_peer_nic_t *next_wanting;
    bool is_active;
    bool wants;
};

void app__mc_peer_nics_init(app__mc_context_t *context);
void app__mc_peer_nics_fini(app__mc_context_t *context);
// Returns the peer NIC to "server@nic", creating it on first use.
app__mc_peer_nic_t *app__mc_peer_nic_of(app__mc_context_t *context, const char *peer_path);
// Detaches a peer NIC from its endpoint, which carries nothing more; waiting slices use another
// one.
void app__mc_peer_nic_detach(app__mc_peer_nic_t *peer_nic);
// Adds a peer NIC to the ring of its worker if it has slices to post and a connection; removes it.
void app__mc_peer_nic_wake(app__mc_peer_nic_t *peer_nic);
void app__mc_peer_nic_sleep(app__mc_peer_nic_t *peer_nic);
// Takes all slices that wait in the peer_nic.
app__mc_queue_t app__mc_peer_nic_empty(app__mc_peer_nic_t *peer_nic);
// Queues a peer NIC for an endpoint and wakes its worker, unless it is queued.
void app__mc_peer_nic_want(app__mc_peer_nic_t *peer_nic);
// Returns the rail between the peer NIC's two NICs; NULL: no record of the peer names them.
app__mc_rail_t *app__mc_peer_nic_rail(const app__mc_peer_nic_t *peer_nic);

#endif // APPS_MOONCAKE_ENGINE_PEERS_PEER_NIC_H
