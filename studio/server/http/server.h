// SPDX-License-Identifier: Apache-2.0
// studio/server/http/server.h - the listening socket and the threads of its connections.
//
// libmicrohttpd speaks HTTP and TLS, a thread per connection. What it leaves to us: a connection
// whose request does not come to an end in time is shut, so that slow clients cannot hold all of
// the places there are.
#ifndef STUDIO_SERVER_HTTP_SERVER_H
#define STUDIO_SERVER_HTTP_SERVER_H

#include "studio/server/studio.h"

typedef struct studio_server studio_server_t;

// Listens. On anything but loopback only with TLS or listen_anywhere.
SIM_MUST_CHECK sim_err_t studio_server_start(studio_t *studio,
                                             studio_server_t **server,
                                             sim_message_t *message);
// "http://127.0.0.1:8080", with the port that was found.
const char *studio_server_url(const studio_server_t *server);
// Waits for the requests that are being answered; streams end.
void studio_server_stop(studio_server_t *server);

#endif // STUDIO_SERVER_HTTP_SERVER_H
