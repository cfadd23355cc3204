// SPDX-License-Identifier: Apache-2.0
// studio/server/http/guard.c - decides who may ask what, before a body is read.
//
// The order of the checks matters: a client that is not logged in gets the same answer for routes
// that exist and for routes that do not.
#include "studio/server/http/cookie.h"
#include "studio/server/http/http_internal.h"
#include "studio/server/http/secrets.h"
#include "studio/server/store/reserve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_get(const char *method)
{
    return strcmp(method, "GET") == 0;
}

typedef struct headers {
    unsigned lengths;
    unsigned hosts;
    bool named_badly;
} headers_t;

static enum MHD_Result note_header(void *ctx, enum MHD_ValueKind kind, const char *name,
                                   const char *value)
{
    headers_t *const headers = ctx;
    (void)kind;
    (void)value;
    headers->lengths += strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0;
    headers->hosts += strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0;
    headers->named_badly = headers->named_badly || strpbrk(name, " \t") != NULL;
    return MHD_YES;
}

// Refuses requests whose end a proxy may see elsewhere (RFC 9112, sections 3.2, 5.1 and 6.3). The
// connection is closed, because its following bytes cannot be trusted.
int studio__guard_headers(studio_request_t *request, studio_response_t *response)
{
    headers_t headers = {0};
    (void)MHD_get_connection_values(request->connection, MHD_HEADER_KIND, note_header, &headers);
    if (headers.lengths <= 1 && headers.hosts <= 1 && !headers.named_badly) {
        return 0;
    }
    studio_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    return headers.named_badly
               ? studio_response_error(response, 400, "a header's name contains a space")
               : studio_response_error(
                     response, 400, "the header %s is given twice, expected it once",
                     headers.lengths > 1 ? MHD_HTTP_HEADER_CONTENT_LENGTH : MHD_HTTP_HEADER_HOST);
}

// Refuses foreign host names, against DNS rebinding: a page of another site whose name resolves to
// this server sends its own name in Host.
int studio__guard_host(studio_request_t *request, studio_response_t *response)
{
    const char *const host = studio_request_header(request, MHD_HTTP_HEADER_HOST);
    if (host == NULL || !studio_host_allowed(host, request->studio->options.host_names)) {
        return studio_response_error(response, 403,
                                     "the Host header names a host this server does not answer "
                                     "for; start it with --host-name NAME to allow it");
    }
    return 0;
}

// Returns whether a request comes from a page of this server. Behind a proxy that speaks TLS,
// browsers know the server by https.
static bool is_own_origin(studio_request_t *request, const char *origin)
{
    const char *const own = studio_request_origin(request);
    return strcasecmp(origin, own) == 0 ||
           (!request->studio->tls && strncasecmp(origin, "https://", 8) == 0 &&
            strcasecmp(origin + 8, own + strlen("http://")) == 0);
}

// Refuses requests that a page of another site makes a browser send.
static int check_origin(studio_request_t *request, studio_response_t *response)
{
    const char *const site = studio_request_header(request, "Sec-Fetch-Site");
    const char *const origin = studio_request_header(request, MHD_HTTP_HEADER_ORIGIN);
    const bool foreign = (site != NULL && strcmp(site, "cross-site") == 0) ||
                         (origin != NULL && !is_own_origin(request, origin));
    return foreign ? studio_response_error(response, 403,
                                           "the request comes from a page of another site")
                   : 0;
}

// Fills request->user from the token or the session cookie. Returns false if neither is valid.
static bool authenticate(studio_request_t *request)
{
    const char *const header = studio_request_header(request, MHD_HTTP_HEADER_AUTHORIZATION);
    if (header != NULL) {
        return strncasecmp(header, "Bearer ", 7) == 0 &&
               request->studio->find_token(request->studio, header + 7, &request->user);
    }
    const char *const cookie = studio_cookie_of(request);
    return cookie != NULL && request->studio->find_session(request->studio, cookie, &request->user);
}

static int check_csrf(studio_request_t *request, studio_response_t *response, const char *method)
{
    if (is_get(method) || request->user.session == 0) {
        return 0;
    }
    const char *const sent = studio_request_header(request, "X-Studio-Token");
    studio_secret_t csrf;
    studio_secret_csrf(studio_cookie_of(request), &csrf);
    if (sent == NULL || !studio_secret_equal(sent, &csrf)) {
        return studio_response_error(response, 403,
                                     "the header X-Studio-Token is missing or stale; GET "
                                     "/api/v1/me returns the current one");
    }
    return 0;
}

static int check_body(studio_request_t *request, studio_response_t *response)
{
    const char *const length = studio_request_header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
    const char *const type = studio_request_header(request, MHD_HTTP_HEADER_CONTENT_TYPE);
    if (studio_request_header(request, MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL) {
        return studio_response_error(response, 411, "a body needs the header Content-Length");
    }
    const size_t most =
        request->route->body_bytes_max == 0 ? STUDIO_BODY_BYTES : request->route->body_bytes_max;
    const unsigned long long size_bytes = length == NULL ? 0 : strtoull(length, NULL, 10);
    if (size_bytes > most) {
        return studio_response_error(response, 413,
                                     "the body is too large, expected at most %zu bytes", most);
    }
    // An HTML form of another site cannot send these types.
    const char *const wanted =
        request->route->body == studio_body_file ? "application/octet-stream" : "application/json";
    if (size_bytes > 0 && (type == NULL || strncasecmp(type, wanted, strlen(wanted)) != 0)) {
        return studio_response_error(
            response, 415, "the body has the wrong type, expected Content-Type: %s", wanted);
    }
    return 0;
}

static void find_route(studio_request_t *request, const char *method, char *allowed, size_t size)
{
    request->route = NULL;
    allowed[0] = '\0';
    for (const studio_route_t *route = request->studio->routes; route->path != NULL; route++) {
        if (!studio_target_matches(&request->target, route->path)) {
            continue;
        }
        if (strcmp(route->method, method) == 0) {
            request->route = route;
            return;
        }
        const size_t length = strlen(allowed);
        if (length + strlen(route->method) + 3 < size) {
            snprintf(allowed + length, size - length, "%s%s", length == 0 ? "" : ", ",
                     route->method);
        }
    }
}

static void name_segments(studio_request_t *request)
{
    const char *text = request->route->path;
    for (text = strchr(text, '{'); text != NULL; text = strchr(text + 1, '{')) {
        const size_t length = strcspn(text + 1, ".}");
        char *const name = sim_alloc(length + 1);
        memcpy(name, text + 1, length);
        SIM_CHECK(request->named_count < STUDIO__NAMED_MAX);
        request->named[request->named_count].text =
            studio_target_segment(&request->target, request->route->path, name);
        request->named[request->named_count].name = name;
        SIM_CHECK(request->named[request->named_count].text != NULL);
        request->named_count++;
    }
}

int studio__guard(studio_request_t *request, studio_response_t *response, const char *method)
{
    char allowed[64];
    int status = check_origin(request, response);
    if (status != 0) {
        return status;
    }
    find_route(request, method, allowed, sizeof(allowed));
    const bool is_public = request->route != NULL && request->route->role == STUDIO_ROLE_NONE;
    if (!is_public && !authenticate(request)) {
        studio_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
        return studio_response_error(response, 401, "log in first");
    }
    if (request->route == NULL && allowed[0] != '\0') {
        studio_response_header(response, MHD_HTTP_HEADER_ALLOW, allowed);
        return studio_response_error(
            response, 405, "the method is not allowed for this address, expected %s", allowed);
    }
    if (request->route == NULL) {
        return studio_response_error(response, 404, "this server has no such address");
    }
    status = is_public ? 0 : check_csrf(request, response, method);
    if (status == 0 && request->user.role < request->route->role) {
        status = studio_response_error(response, 403, "this needs at least the role %s",
                                       studio_role_name(request->route->role));
    }
    if (status == 0) {
        status = check_body(request, response);
    }
    if (status == 0 && !is_get(method)) {
        // A full disk must not refuse the login or the deletion that would end it.
        (void)studio_reserve_look(request->studio->reserve);
    }
    if (status == 0) {
        name_segments(request);
    }
    return status;
}
