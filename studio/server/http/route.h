// SPDX-License-Identifier: Apache-2.0
// studio/server/http/route.h - what a room of the studio offers under /api/v1: a table of routes,
// and what
// their handlers may ask and answer.
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
// studio/server/serve.c joins the tables; the OpenAPI description, the check of roles and the
// tests that
// walk all routes come from the joined one.
//
// Before a handler is called the server has: parsed the target, found the route, checked the Host
// and the Origin, found out who asks, compared the role, compared the CSRF token (sessions,
// anything but GET), limited the body and parsed it as JSON, and refused parameters of the query
// and members of the body that the route does not list. Handlers of different connections run at
// the same time, each in a thread of its own, and may take as long as they need.
#ifndef STUDIO_SERVER_HTTP_ROUTE_H
#define STUDIO_SERVER_HTTP_ROUTE_H

#include "studio/server/studio.h"

#include <jansson.h>
#include <sys/types.h>

typedef struct studio_request studio_request_t;
typedef struct studio_response studio_response_t;

// Returns the status, which the functions that fill the response do as well.
typedef int (*studio_handler_fn)(studio_request_t *request, studio_response_t *response);

typedef enum studio_where {
    STUDIO_IN_PATH,
    STUDIO_IN_QUERY,
    STUDIO_IN_BODY, // a member of the JSON object
} studio_where_t;

// For the OpenAPI description. Lists end with a row without a name.
typedef struct studio_parameter {
    const char *name;
    studio_where_t where;
    const char *type; // "integer", "number", "string", "boolean", "array", "object"
    bool required;
    const char *help;
} studio_parameter_t;

typedef struct studio_route {
    const char *method;
    // "{name}" is one segment, "{name...}" all that are left, at least one.
    const char *path;
    studio_role_t role; // the least; NONE only for the login call
    const char *summary;
    const studio_parameter_t *parameters; // NULL: none
    const char *body;                     // description of a body that is no object; NULL: none
    const char *answer;                   // description
    studio_handler_fn handler;
    size_t body_bytes_max; // 0: STUDIO_BODY_BYTES
} studio_route_t;

#define STUDIO_BODY_BYTES ((size_t)1 << 20)

// -- asking

studio_t *studio_request_studio(const studio_request_t *request);
const studio_user_t *studio_request_user(const studio_request_t *request);
const char *studio_request_method(const studio_request_t *request);
// A segment of the path by its name in the route ("{name...}": with slashes; no segment of it is
// empty, "." or ".."); never NULL.
const char *studio_request_path(const studio_request_t *request, const char *name);
// The same as a number from 1 on; false: it is none.
bool studio_request_number(const studio_request_t *request, const char *name, int64_t *number);
// A value of the query; NULL: not given. index counts values of the same name.
const char *studio_request_query(const studio_request_t *request, const char *name);
const char *studio_request_query_at(const studio_request_t *request,
                                    const char *name,
                                    size_t index);
// A number of the query, limited to least..most; false: given, and no such number.
bool studio_request_query_number(const studio_request_t *request,
                                 const char *name,
                                 int64_t otherwise,
                                 int64_t least,
                                 int64_t most,
                                 int64_t *number);
// Whether a boolean of the query is given and true.
bool studio_request_query_is(const studio_request_t *request, const char *name);
// The body, an object or array; NULL: none was sent.
const json_t *studio_request_json(const studio_request_t *request);
// A header; NULL: not sent.
const char *studio_request_header(const studio_request_t *request, const char *name);
// "http://127.0.0.1:8080", as the client wrote it; for links. Valid during the request.
const char *studio_request_origin(studio_request_t *request);
// Address of the client, for the audit.
const char *studio_request_address(const studio_request_t *request);
// The client is gone, or the server ends: what takes long looks now and then and gives up.
bool studio_request_cancelled(const studio_request_t *request);

// -- answering: each is called once, last, and returns the status

int studio_response_status(const studio_response_t *response);

// Takes the reference; NULL (json_pack failed) is an error of the server.
int studio_response_json(studio_response_t *response, int status, json_t *json);
// {"error": {"message": ...}}
int studio_response_error(studio_response_t *response, int status, const char *format, ...)
    SIM_PRINTF(3, 4);
// The same with "where" {line, column}; expected may be NULL.
int studio_response_error_at(studio_response_t *response,
                             int status,
                             int line,
                             int column,
                             const char *expected,
                             const char *message);
// What the database could not do: 507 where the disk is full, else 500.
int studio_response_store_failed(studio_response_t *response, studio_t *studio);
int studio_response_none(studio_response_t *response); // 204
// Copied.
int studio_response_bytes(studio_response_t *response,
                          int status,
                          const char *type,
                          const void *bytes,
                          size_t size_bytes);
// Takes the descriptor; answers ranges. name: to be saved under; NULL: shown.
int studio_response_file(studio_response_t *response, const char *type, int fd, const char *name);
// Fills buffer and returns how many bytes, 0 at the end, -1 to break the connection off. May wait.
// Called in the thread of the connection; end is called once, also when the client is gone.
typedef ssize_t (*studio_stream_fn)(void *ctx, char *buffer, size_t size_bytes);
typedef void (*studio_stream_end_fn)(void *ctx);
int studio_response_stream(studio_response_t *response,
                           int status,
                           const char *type,
                           studio_stream_fn fill,
                           studio_stream_end_fn end,
                           void *ctx);
// A further header, before one of the above. Both are copied.
void studio_response_header(studio_response_t *response, const char *name, const char *value);

// -- tables that studio/server/serve.c joins

extern const studio_route_t studio_account_routes[];
extern const studio_route_t studio_user_routes[];
extern const studio_route_t studio_document_routes[];
extern const studio_route_t studio_server_routes[];
extern const studio_route_t studio_library_routes[];
extern const studio_route_t studio_run_routes[];
extern const studio_route_t studio_run_file_routes[];
extern const studio_route_t studio_data_routes[];

#endif // STUDIO_SERVER_HTTP_ROUTE_H
