// SPDX-License-Identifier: Apache-2.0
// apps/mooncake_endpoints.h - connections between NICs of engines of Mooncake.
#ifndef APPS_MOONCAKE_ENDPOINTS_H
#define APPS_MOONCAKE_ENDPOINTS_H

#include "apps/mooncake_engine.h"

SIM_C_BEGIN

typedef enum app_mooncake_endpoint_state {
    APP_MOONCAKE_INITIALIZING, // queue pairs exist, no peer
    APP_MOONCAKE_UNCONNECTED,  // disconnected, or a handshake is in progress
    APP_MOONCAKE_CONNECTED,
} app_mooncake_endpoint_state_t;
// Returns in `state` the state of the endpoint from a NIC of the engine to "server@nic". False:
// there has been no such endpoint.
bool app_mooncake_endpoint_state(const app_mooncake_t *engine, uint32_t nic,
                                 const char *peer_nic_path, app_mooncake_endpoint_state_t *state);
// Disconnects an endpoint, as a program's disconnect() does: slices in flight are lost and retried
// after another handshake. Returns a negative number if there is no such endpoint.
int app_mooncake_disconnect(app_mooncake_t *engine, uint32_t nic, const char *peer_nic_path);

// Connects the endpoint from a NIC of the engine to "server@nic" without waiting for a slice
// (setupConnectionsByActive). Returns 0, and fn (may be NULL) gets 0 once it is CONNECTED, perhaps
// before this function returns, or a negative number when the handshake has failed. A negative
// return: the engine is closed, has no such NIC, or the path is not "server@nic". After a failure
// or a disconnect the same call sets the connection up again.
int app_mooncake_setup_connections_by_active(app_mooncake_t *engine, uint32_t nic,
                                             const char *peer_nic_path, app_mooncake_done_fn fn,
                                             void *ctx);
// Connects an endpoint to the queue pairs that the peer described (setupConnectionsByPassive), and
// describes its own in local_desc, which the caller frees by app_mooncake_handshake_desc_fini.
// Returns 0, or a negative number: as above, the peer is unknown or the own host, or the numbers of
// queue pairs differ.
int app_mooncake_setup_connections_by_passive(app_mooncake_t *engine, uint32_t nic,
                                              const app_mooncake_handshake_desc_t *peer_desc,
                                              app_mooncake_handshake_desc_t *local_desc);
// Does what the engine does when a peer's handshake arrives (onSetupRdmaConnections): finds its NIC
// by peer_desc->peer_nic_path, and sets its connection up passively.
int app_mooncake_on_setup_rdma_connections(app_mooncake_t *engine,
                                           const app_mooncake_handshake_desc_t *peer_desc,
                                           app_mooncake_handshake_desc_t *local_desc);

SIM_C_END

#endif // APPS_MOONCAKE_ENDPOINTS_H
