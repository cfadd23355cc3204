// SPDX-License-Identifier: Apache-2.0
// studio/server/http/listen.h - opens the socket that the server listens on.
#ifndef STUDIO_SERVER_HTTP_LISTEN_H
#define STUDIO_SERVER_HTTP_LISTEN_H

#include "kernel/base.h"

typedef struct studio_listen {
    int fd;
    bool loopback;
    char host[96]; // as in a URL: "127.0.0.1", "[::1]"
    uint16_t port;
} studio_listen_t;

// Listens on "ADDRESS:PORT", "[ADDRESS]:PORT" or "localhost:PORT"; port 0 takes a free one.
// Addresses other than loopback are accepted only if anywhere is true. The message says what was
// expected.
SIM_MUST_CHECK sim_err_t studio_listen_open(const char *text, bool anywhere,
                                            studio_listen_t *listen, sim_message_t *message);

#endif // STUDIO_SERVER_HTTP_LISTEN_H
