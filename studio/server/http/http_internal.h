// SPDX-License-Identifier: Apache-2.0
// studio/server/http/http_internal.h - a request and its answer between the parts of the server.
#ifndef STUDIO_SERVER_HTTP_HTTP_INTERNAL_H
#define STUDIO_SERVER_HTTP_HTTP_INTERNAL_H

#include "studio/server/http/route.h"
#include "studio/server/http/target.h"

#include <microhttpd.h>

#define STUDIO__NAMED_MAX 8u
#define STUDIO__HEADERS_MAX 8u
#define STUDIO__COOKIE "studio"

struct studio_response {
    int status;
    struct MHD_Response *made;
    struct {
        char *name;
        char *value;
    } headers[STUDIO__HEADERS_MAX];
    size_t header_count;
    const char *accept_range; // the request's header
    bool gzip;                // the client understands it
};

struct studio_request {
    studio_t *studio;
    struct MHD_Connection *connection;
    studio_target_t target;
    bool target_good;
    bool called; // by libmicrohttpd, with the headers
    bool begun;  // they have been looked at
    const studio_route_t *route;
    studio_user_t user;
    char *body;
    size_t body_bytes;
    size_t body_capacity;
    json_t *json;
    struct {
        char *name;
        char *text;
    } named[STUDIO__NAMED_MAX]; // segments that handlers asked for
    size_t named_count;
    char *origin;
    char address[64];
};

// Refuses headers that say in two ways what and whose the request is; a status as below.
int studio__guard_headers(studio_request_t *request, studio_response_t *response);
// Refuses names that are not this server's; a status as below.
int studio__guard_host(studio_request_t *request, studio_response_t *response);
// Says no before the body is read: fills the response and returns its status; 0: go on.
int studio__guard(studio_request_t *request, studio_response_t *response, const char *method);
// The body as JSON, if there is one; a status as above.
int studio__request_parse(studio_request_t *request, studio_response_t *response);
void studio__request_destroy(studio_request_t *request);

// Files of the page; a status.
int studio__page_answer(studio_request_t *request, studio_response_t *response);

// The headers that every answer has.
void studio__response_harden(const studio_t *studio, studio_response_t *response, bool is_page);
void studio__response_fini(studio_response_t *response);

#endif // STUDIO_SERVER_HTTP_HTTP_INTERNAL_H
