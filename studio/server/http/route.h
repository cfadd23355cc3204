// SPDX-License-Identifier: Apache-2.0
// studio/server/http/route.h - tables of routes under /api/v1, and what their handlers may call.
//
//     static int get_thing(studio_request_t *request, studio_response_t *response)
//     {
//         int64_t id;
//         if (!studio_request_number(request, "thing", &id)) {
//             return studio_response_error(response, 404, "there is no such thing");
//         }
//         return studio_response_json(response, 200, json_pack("{s:I}", "id", (json_int_t)id));
//     }
//
//     const studio_route_t studio_thing_routes[] = {
//         {"GET", "/api/v1/things/{thing}", STUDIO_ROLE_VIEWER, "One thing", parameters,
//          NULL, "{id}", get_thing, 0},
//         {0},
//     };
//
// studio/server/serve.c joins the tables of all rooms. The OpenAPI description, the check of roles
// and the tests that walk all routes read the joined table.
//
// Before it calls a handler, the server parses the target, finds the route, checks Host and Origin,
// identifies the user, and compares the role and (for sessions, except GET) the CSRF token. It
// limits the body, parses it as JSON, and refuses query parameters and body members that the route
// does not list. Each connection has its own thread, so handlers run in parallel and may take long.
#ifndef STUDIO_SERVER_HTTP_ROUTE_H
#define STUDIO_SERVER_HTTP_ROUTE_H

#include "studio/server/studio.h"

#include <jansson.h>
#include <sys/types.h>

typedef struct studio_request studio_request_t;
typedef struct studio_response studio_response_t;

// Handles a request; returns the status, which the functions below that fill the response return.
typedef int (*studio_handler_fn)(studio_request_t *request, studio_response_t *response);

typedef enum studio_where {
    STUDIO_IN_PATH,
    STUDIO_IN_QUERY,
    STUDIO_IN_BODY, // a member of the JSON object
} studio_where_t;

// One parameter of a route, for checks and for the OpenAPI description. Lists end with a row
// without a name.
typedef struct studio_parameter {
    const char *name;
    studio_where_t where;
    const char *type; // "integer", "number", "string", "boolean", "array" or "object"
    bool required;
    const char *help;
} studio_parameter_t;

typedef struct studio_route {
    const char *method;
    // "{name}" matches one segment, "{name...}" matches all remaining ones, at least one.
    const char *path;
    studio_role_t role; // the least role that may call it; NONE: without login
    const char *summary;
    const studio_parameter_t *parameters; // NULL: no parameters
    const char *body;                     // describes a body that is no plain object; NULL: none
    const char *answer;                   // describes the answer
    studio_handler_fn handler;
    size_t body_bytes_max; // largest body, in bytes; 0: STUDIO_BODY_BYTES
} studio_route_t;

// The description of a body that is a file (application/octet-stream) and no JSON. The handler of
// its route is called twice: before the body is read it calls studio_request_keep_body and returns
// 0, or it answers; afterwards studio_request_body_ctx gives it what it kept.
extern const char studio_body_file[];

#define STUDIO_BODY_BYTES ((size_t)1 << 20)

// -- asking

studio_t *studio_request_studio(const studio_request_t *request);
const studio_user_t *studio_request_user(const studio_request_t *request);
const char *studio_request_method(const studio_request_t *request);
// Returns a segment of the path by its name in the route; never NULL. "{name...}" gives several,
// joined by slashes; no part is empty, "." or "..".
const char *studio_request_path(const studio_request_t *request, const char *name);
// Reads a segment of the path as a number from 1 on; returns false if it is none.
bool studio_request_number(const studio_request_t *request, const char *name, int64_t *number);
// Returns a value of the query, or NULL if it is absent; index counts values of the same name.
const char *studio_request_query(const studio_request_t *request, const char *name);
const char *studio_request_query_at(const studio_request_t *request, const char *name,
                                    size_t index);
// Reads a number of the query from least to most; *number is otherwise if it is absent. Returns
// false if it is given and is no such number.
bool studio_request_query_number(const studio_request_t *request, const char *name,
                                 int64_t otherwise, int64_t least, int64_t most, int64_t *number);
// Returns whether a boolean of the query is given and true.
bool studio_request_query_is(const studio_request_t *request, const char *name);
// Returns the body, an object or array; NULL if none was sent.
const json_t *studio_request_json(const studio_request_t *request);
// Writes the body into the file instead of memory. end is called once with ctx when the request is
// over, also if the client is gone.
void studio_request_keep_body(studio_request_t *request, int fd, void (*end)(void *ctx), void *ctx);
// Returns that ctx; NULL if there is none.
void *studio_request_body_ctx(const studio_request_t *request);
// Returns the errno of the first write of the body that failed; 0: it is complete.
int studio_request_body_error(const studio_request_t *request);
// Returns the length of the body in bytes as the client announced it.
uint64_t studio_request_body_bytes(const studio_request_t *request);
// Returns a header, or NULL if it was not sent.
const char *studio_request_header(const studio_request_t *request, const char *name);
// Returns the server's address as the client wrote it, "http://127.0.0.1:8080", to build links. The
// text is valid during the request.
const char *studio_request_origin(studio_request_t *request);
// Returns the client's IP address, for the audit.
const char *studio_request_address(const studio_request_t *request);
// Returns whether the client is gone or the server stops. Long work checks it now and then and
// gives up.
bool studio_request_cancelled(const studio_request_t *request);

// -- answering: each is called once, last, and returns the status

int studio_response_status(const studio_response_t *response);

// Answers with JSON and takes the reference; NULL (json_pack failed) is an error of the server.
int studio_response_json(studio_response_t *response, int status, json_t *json);
// Answers with {"error": {"message": ...}}.
int studio_response_error(studio_response_t *response, int status, const char *format, ...)
    SIM_PRINTF(3, 4);
// Answers with an error that has "where": {line, column} as well; expected may be NULL. line 0: no
// place.
int studio_response_error_at(studio_response_t *response, int status, int line, int column,
                             const char *expected, const char *message);
// Answers that the database failed: status 507 if the disk is full, else 500.
int studio_response_store_failed(studio_response_t *response, studio_t *studio);
// Answers with status 507 if the disk is full, and returns it; otherwise returns 0. For requests
// that need disk space.
int studio_response_disk_full(studio_response_t *response, studio_t *studio);
int studio_response_none(studio_response_t *response); // status 204, no content
// Answers with a copy of bytes.
int studio_response_bytes(studio_response_t *response, int status, const char *type,
                          const void *bytes, size_t size_bytes);
// Answers with a file, or ranges of it; takes the descriptor. name: the browser saves the file
// under it; NULL: the browser shows the file.
int studio_response_file(studio_response_t *response, const char *type, int fd, const char *name);
// Fills buffer; returns the number of bytes, 0 at the end, -1 to break the connection off. It runs
// in the connection's thread and may wait. The end function is called once, also if the client is
// gone.
typedef ssize_t (*studio_stream_fn)(void *ctx, char *buffer, size_t size_bytes);
typedef void (*studio_stream_end_fn)(void *ctx);
int studio_response_stream(studio_response_t *response, int status, const char *type,
                           studio_stream_fn fill, studio_stream_end_fn end, void *ctx);
// Adds a header; call it before the function that answers. Both texts are copied.
void studio_response_header(studio_response_t *response, const char *name, const char *value);

// -- tables that studio/server/serve.c joins

extern const studio_route_t studio_account_routes[];
extern const studio_route_t studio_user_routes[];
extern const studio_route_t studio_document_routes[];
extern const studio_route_t studio_own_file_routes[];
extern const studio_route_t studio_server_routes[];
extern const studio_route_t studio_library_routes[];
extern const studio_route_t studio_run_routes[];
extern const studio_route_t studio_run_file_routes[];
extern const studio_route_t studio_data_routes[];

#endif // STUDIO_SERVER_HTTP_ROUTE_H
