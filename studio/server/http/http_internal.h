// SPDX-License-Identifier: Apache-2.0
// studio/server/http/http_internal.h - requests and responses, as the files of http/ see them.
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
    const char *accept_range; // the request's Range header, or NULL
    bool gzip;                // the client accepts gzip
};

struct studio_request {
    studio_t *studio;
    struct MHD_Connection *connection;
    studio_target_t target;
    bool target_good;
    bool called; // libmicrohttpd has delivered the headers
    bool begun;  // the guards have checked the headers
    const studio_route_t *route;
    studio_user_t user;
    char *body;
    size_t body_bytes;
    size_t body_capacity;
    int body_fd;    // file of the body, if body_end is set
    int body_error; // errno of a failed write
    void *body_ctx; // argument of body_end
    void (*body_end)(void *ctx);
    studio_response_t *early; // an answer that waits until the body has been read; NULL: none
    json_t *json;
    struct {
        char *name;
        char *text;
    } named[STUDIO__NAMED_MAX]; // path segments by their names in the route
    size_t named_count;
    char *origin;
    char address[64];
};

// Refuses headers that a proxy may read in another way. Returns 0 or the status of the answer.
int studio__guard_headers(studio_request_t *request, studio_response_t *response);
// Refuses host names that are not this server's. Returns 0 or the status of the answer.
int studio__guard_host(studio_request_t *request, studio_response_t *response);
// Checks origin, login, role and size before the body is read. Returns 0, or fills the response and
// returns its status.
// Fills request->address with the client's address.
void studio__note_address(studio_request_t *request);

int studio__guard(studio_request_t *request, studio_response_t *response, const char *method);
// Parses the body, if there is one, as JSON. Returns 0 or the status of the answer.
int studio__request_parse(studio_request_t *request, studio_response_t *response);
void studio__request_destroy(studio_request_t *request);

// Answers with a file of the page; returns the status.
int studio__page_answer(studio_request_t *request, studio_response_t *response);

// Adds the security headers that every answer has.
void studio__response_harden(const studio_t *studio, studio_response_t *response, bool is_page);
void studio__response_fini(studio_response_t *response);

#endif // STUDIO_SERVER_HTTP_HTTP_INTERNAL_H
