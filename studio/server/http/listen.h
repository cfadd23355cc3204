// SPDX-License-Identifier: Apache-2.0
// studio/server/http/listen.h - the address that a server listens on.
#ifndef STUDIO_SERVER_HTTP_LISTEN_H
#define STUDIO_SERVER_HTTP_LISTEN_H

#include "kernel/base.h"

typedef struct studio_listen {
    int fd;
    bool loopback;
    char host[96]; // "127.0.0.1", "[::1]", as in a URL
    uint16_t port;
} studio_listen_t;

// text is "ADDRESS:PORT", "[ADDRESS]:PORT" or "localhost:PORT"; port 0 finds one. A refusal says
// what was expected. anywhere: an address that others reach will do.
SIM_MUST_CHECK sim_err_t studio_listen_open(const char *text,
                                            bool anywhere,
                                            studio_listen_t *listen,
                                            sim_message_t *message);

#endif // STUDIO_SERVER_HTTP_LISTEN_H
