// SPDX-License-Identifier: Apache-2.0
// studio/server/http/listen.c - opens the listening socket, on loopback unless an option says
// otherwise.
#include "studio/server/http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 128

typedef union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} address_t;

static sim_err_t bad(const char *text, sim_message_t *message)
{
    return sim_fail(message, SIM_ERR_INVALID,
                    "--listen %s: expected ADDRESS:PORT, such as 127.0.0.1:8080 or [::1]:8080",
                    text);
}

static bool read_port(const char *text, uint16_t *port)
{
    const size_t length = strlen(text);
    if (length == 0 || length > 5 || strspn(text, "0123456789") != length) {
        return false;
    }
    const unsigned long number = strtoul(text, NULL, 10);
    *port = (uint16_t)number;
    return number <= UINT16_MAX;
}

static sim_err_t read_address(const char *text, address_t *address, socklen_t *size, bool *loopback,
                              sim_message_t *message)
{
    char host[64];
    const char *const colon = strrchr(text, ':');
    uint16_t port = 0;
    if (colon == NULL || !read_port(colon + 1, &port) || (size_t)(colon - text) >= sizeof(host)) {
        return bad(text, message);
    }
    memcpy(host, text, (size_t)(colon - text));
    host[colon - text] = '\0';
    memset(address, 0, sizeof(*address));
    const size_t length = strlen(host);
    if (length > 2 && host[0] == '[' && host[length - 1] == ']') {
        host[length - 1] = '\0';
        address->v6.sin6_family = AF_INET6;
        address->v6.sin6_port = htons(port);
        *size = sizeof(address->v6);
        if (inet_pton(AF_INET6, host + 1, &address->v6.sin6_addr) != 1) {
            return bad(text, message);
        }
        *loopback = IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
        return SIM_OK;
    }
    address->v4.sin_family = AF_INET;
    address->v4.sin_port = htons(port);
    *size = sizeof(address->v4);
    if (inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host,
                  &address->v4.sin_addr) != 1) {
        return bad(text, message);
    }
    *loopback = ntohl(address->v4.sin_addr.s_addr) >> 24 == 127;
    return SIM_OK;
}

static void describe(const address_t *address, studio_listen_t *listen)
{
    char text[INET6_ADDRSTRLEN] = "";
    if (address->any.sa_family == AF_INET6) {
        (void)inet_ntop(AF_INET6, &address->v6.sin6_addr, text, sizeof(text));
        snprintf(listen->host, sizeof(listen->host), "[%s]", text);
        listen->port = ntohs(address->v6.sin6_port);
    } else {
        (void)inet_ntop(AF_INET, &address->v4.sin_addr, text, sizeof(text));
        snprintf(listen->host, sizeof(listen->host), "%s", text);
        listen->port = ntohs(address->v4.sin_port);
    }
}

sim_err_t studio_listen_open(const char *text, bool anywhere, studio_listen_t *opened,
                             sim_message_t *message)
{
    address_t address = {.v6 = {0}};
    socklen_t size = 0;
    const sim_err_t result = read_address(text, &address, &size, &opened->loopback, message);
    if (result != SIM_OK) {
        return result;
    }
    if (!opened->loopback && !anywhere) {
        return sim_fail(message, SIM_ERR_INVALID,
                        "--listen %s: without TLS, others on the network can read passwords; "
                        "expected 127.0.0.1, or --tls-cert FILE --tls-key FILE, or --without-tls "
                        "behind a proxy that speaks TLS",
                        text);
    }
    const int one = 1;
    opened->fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (opened->fd < 0 ||
        setsockopt(opened->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
        bind(opened->fd, &address.any, size) != 0 || listen(opened->fd, BACKLOG) != 0 ||
        getsockname(opened->fd, &address.any, &size) != 0) {
        const int reason = errno;
        if (opened->fd >= 0) {
            (void)close(opened->fd);
        }
        return sim_fail(message, SIM_ERR_IO, "--listen %s: %s", text, strerror(reason));
    }
    describe(&address, opened);
    return SIM_OK;
}
