// SPDX-License-Identifier: Apache-2.0
// studio/server/http/address.c - finds the address of a request's client, also behind a proxy.
#include "studio/server/http/http_internal.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define FORWARDED_BYTES_MAX 2000u

// Returns whether the list, separated by commas, has the address.
static bool has_address(const char *list, const char *address)
{
    const size_t length = strlen(address);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, address, length) == 0 && (at[length] == ',' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

static bool is_address(const char *text)
{
    struct in6_addr binary;
    return inet_pton(AF_INET, text, &binary) == 1 || inet_pton(AF_INET6, text, &binary) == 1;
}

// Takes the client's address from X-Forwarded-For: the last one that no trusted proxy has. Clients
// can write anything before it.
static void take_forwarded(studio_request_t *request, const char *trusted)
{
    const char *const header = studio_request_header(request, "X-Forwarded-For");
    char text[FORWARDED_BYTES_MAX + 1];
    if (header == NULL || strlen(header) > FORWARDED_BYTES_MAX) {
        return;
    }
    memcpy(text, header, strlen(header) + 1);
    for (char *last = text; last != NULL;) {
        char *const comma = strrchr(text, ',');
        last = comma == NULL ? text : comma + 1;
        last += strspn(last, " \t");
        last[strcspn(last, " \t")] = '\0';
        if (!is_address(last)) {
            return;
        }
        snprintf(request->address, sizeof(request->address), "%s", last);
        if (comma == NULL || !has_address(trusted, last)) {
            return;
        }
        *comma = '\0';
    }
}

void studio__note_address(studio_request_t *request)
{
    const char *const trusted = request->studio->options.trusted_proxy;
    const union MHD_ConnectionInfo *const info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *const address = info == NULL ? NULL : info->client_addr;
    if (address != NULL && address->sa_family == AF_INET) {
        const struct sockaddr_in *const v4 = (const void *)address;
        (void)inet_ntop(AF_INET, &v4->sin_addr, request->address, sizeof(request->address));
    } else if (address != NULL && address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *const v6 = (const void *)address;
        (void)inet_ntop(AF_INET6, &v6->sin6_addr, request->address, sizeof(request->address));
    }
    if (trusted != NULL && has_address(trusted, request->address)) {
        take_forwarded(request, trusted);
    }
}
