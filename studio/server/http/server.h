// SPDX-License-Identifier: Apache-2.0
// studio/server/http/server.h - the listening socket and the threads of its connections.
//
// libmicrohttpd speaks HTTP and TLS, with one thread per connection. This room adds a deadline: a
// connection whose request is not complete in time is closed, so that slow clients cannot occupy
// all connections.
#ifndef STUDIO_SERVER_HTTP_SERVER_H
#define STUDIO_SERVER_HTTP_SERVER_H

#include "studio/server/studio.h"

typedef struct studio_server studio_server_t;

// Starts to listen. Other addresses than loopback need TLS or listen_anywhere.
SIM_MUST_CHECK sim_err_t studio_server_start(studio_t *studio, studio_server_t **server,
                                             sim_message_t *message);
// Returns the server's URL with the actual port, such as "http://127.0.0.1:8080".
const char *studio_server_url(const studio_server_t *server);
// Stops the server: waits for requests in flight; streams end.
void studio_server_stop(studio_server_t *server);

#endif // STUDIO_SERVER_HTTP_SERVER_H
