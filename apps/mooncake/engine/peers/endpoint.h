// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/peers/endpoint.h - the queue pairs between a NIC here and a NIC there.
#ifndef APPS_MOONCAKE_ENGINE_PEERS_ENDPOINT_H
#define APPS_MOONCAKE_ENGINE_PEERS_ENDPOINT_H

#include "apps/mooncake/engine/control/calls.h"
#include "apps/mooncake/engine/peers/peer_nic.h"
#include "apps/mooncake_endpoints.h"

struct app__mc_endpoint {
    app__mc_stored_t stored; // first; key: its peer NIC's peer_path
    app__mc_peer_nic_t *peer_nic;
    app_mooncake_endpoint_state_t state;
    nic_qp_t **qps;
    uint32_t *posted; // per QP
    uint32_t *peer_qps;
    uint32_t qp_count;
    uint32_t outstanding;
    uint64_t carried; // slices carried so far
    sim_link_t leaving;
    bool passed; // has had its turn and may be evicted for others
    bool shaking_hands;
    bool leaves;
};

// Makes sure that waiting slices get an endpoint, a connection and a turn of the worker.
void app__mc_peer_nic_go(app__mc_peer_nic_t *peer_nic);
// Gives endpoints to peer NICs that want one, as long as there is room or another may be evicted.
void app__mc_peer_nics_serve(app__mc_context_t *context);
// Updates whether an endpoint may be evicted for others.
void app__mc_endpoint_pin(app__mc_endpoint_t *endpoint);
// Destroys an endpoint that is no longer stored, if nothing is outstanding on it.
void app__mc_endpoint_leave_if_empty(app__mc_endpoint_t *endpoint);
// Disconnects an endpoint: outstanding slices fail, queued ones take another route.
void app__mc_endpoint_disconnect(app__mc_endpoint_t *endpoint, bool failed);
// Notes that a slice is no longer outstanding on a QP.
void app__mc_endpoint_returned(app__mc_endpoint_t *endpoint, uint32_t qp);
void app__mc_endpoint_destroy(app__mc_endpoint_t *endpoint);
// Stops all endpoints of a NIC without a message to their peers.
void app__mc_endpoints_crash(app__mc_context_t *context);
void app__mc_on_handshake(app__mc_station_t *station, const app__mc_incoming_t *incoming,
                          void *ctx);

#endif // APPS_MOONCAKE_ENGINE_PEERS_ENDPOINT_H
