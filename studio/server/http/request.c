// SPDX-License-Identifier: Apache-2.0
// studio/server/http/request.c - gives handlers the parts of a request.
#include "studio/server/http/http_internal.h"

#include "kernel/attribute.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define LISTED_MAX 32u

const char studio_body_file[] = "the file, as application/octet-stream";

studio_t *studio_request_studio(const studio_request_t *request)
{
    return request->studio;
}

const studio_user_t *studio_request_user(const studio_request_t *request)
{
    return &request->user;
}

const char *studio_request_method(const studio_request_t *request)
{
    return request->route->method;
}

const char *studio_request_path(const studio_request_t *request, const char *name)
{
    for (size_t i = 0; i < request->named_count; i++) {
        if (strcmp(request->named[i].name, name) == 0) {
            return request->named[i].text;
        }
    }
    SIM_CHECKF(false, "%s has no %s", request->route->path, name);
    return "";
}

// Reads decimal digits only: no sign, no space, no other base.
static bool number_of(const char *text, int64_t *number)
{
    const size_t length = strlen(text);
    if (length == 0 || length > 18 || strspn(text, "0123456789") != length) {
        return false;
    }
    *number = (int64_t)strtoll(text, NULL, 10);
    return true;
}

bool studio_request_number(const studio_request_t *request, const char *name, int64_t *number)
{
    return number_of(studio_request_path(request, name), number) && *number > 0;
}

const char *studio_request_query_at(const studio_request_t *request, const char *name, size_t index)
{
    return studio_target_value(&request->target, name, index);
}

const char *studio_request_query(const studio_request_t *request, const char *name)
{
    return studio_request_query_at(request, name, 0);
}

bool studio_request_query_number(const studio_request_t *request, const char *name,
                                 int64_t otherwise, int64_t least, int64_t most, int64_t *number)
{
    const char *const text = studio_request_query(request, name);
    *number = otherwise;
    return text == NULL || (number_of(text, number) && *number >= least && *number <= most);
}

bool studio_request_query_is(const studio_request_t *request, const char *name)
{
    const char *const text = studio_request_query(request, name);
    return text != NULL && (strcmp(text, "true") == 0 || strcmp(text, "1") == 0);
}

const json_t *studio_request_json(const studio_request_t *request)
{
    return request->json;
}

void studio_request_keep_body(studio_request_t *request, int fd, void (*end)(void *ctx), void *ctx)
{
    SIM_CHECK(request->body_end == NULL && end != NULL);
    request->body_fd = fd;
    request->body_end = end;
    request->body_ctx = ctx;
}

void *studio_request_body_ctx(const studio_request_t *request)
{
    return request->body_ctx;
}

int studio_request_body_error(const studio_request_t *request)
{
    return request->body_error;
}

uint64_t studio_request_body_bytes(const studio_request_t *request)
{
    const char *const length = studio_request_header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return length == NULL ? 0 : strtoull(length, NULL, 10);
}

const char *studio_request_header(const studio_request_t *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

const char *studio_request_origin(studio_request_t *request)
{
    if (request->origin == NULL) {
        const char *const host = studio_request_header(request, MHD_HTTP_HEADER_HOST);
        request->origin = sim_format("%s://%s", request->studio->tls ? "https" : "http",
                                     host == NULL ? "" : host);
    }
    return request->origin;
}

const char *studio_request_address(const studio_request_t *request)
{
    return request->address;
}

bool studio_request_cancelled(const studio_request_t *request)
{
    if (atomic_load(&request->studio->stopping)) {
        return true;
    }
    const union MHD_ConnectionInfo *const info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    char byte;
    if (info == NULL) {
        return false;
    }
    const ssize_t size = recv(info->connect_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return size == 0 || (size < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

// Returns the parameter of the route with this name. If there is none, answers with an error that
// suggests a similar name (`seeds` for `seed`), and returns NULL.
static const studio_parameter_t *find_listed(const studio_request_t *request, studio_where_t where,
                                             const char *name, studio_response_t *response)
{
    const char *names[LISTED_MAX];
    size_t count = 0;
    const studio_parameter_t *p = request->route->parameters;
    for (; p != NULL && p->name != NULL; p++) {
        if (p->where == where && strcmp(p->name, name) == 0) {
            return p;
        }
        if (p->where == where && count < LISTED_MAX) {
            names[count++] = p->name;
        }
    }
    const char *const near = sim_nearest_name(name, names, count);
    (void)studio_response_error(response, 400, "unknown %s '%.64s'%s%s%s (openapi.json lists them)",
                                where == STUDIO_IN_BODY ? "member" : "parameter", name,
                                near == NULL ? "" : ", did you mean '", near == NULL ? "" : near,
                                near == NULL ? "" : "'?");
    return NULL;
}

// Returns whether a text, boolean or number has its type; handlers would take a wrong type for an
// absent member. Handlers check the types of integers, lists and objects themselves.
static bool has_type(const json_t *value, const char *type)
{
    return json_is_null(value) || (strcmp(type, "string") == 0    ? json_is_string(value)
                                   : strcmp(type, "boolean") == 0 ? json_is_boolean(value)
                                   : strcmp(type, "number") == 0  ? json_is_number(value)
                                                                  : true);
}

static int check_members(const studio_request_t *request, studio_response_t *response)
{
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach(request->json, name, value)
    {
        if (request->route->body != NULL) {
            continue;
        }
        const studio_parameter_t *const parameter =
            find_listed(request, STUDIO_IN_BODY, name, response);
        if (parameter == NULL) {
            return studio_response_status(response);
        }
        if (!has_type(value, parameter->type)) {
            return studio_response_error(response, 400, "%s: expected a %s", name, parameter->type);
        }
    }
    return 0;
}

static int check_query(const studio_request_t *request, studio_response_t *response)
{
    static const char *const truths[] = {"true", "false", "1", "0"};
    for (size_t i = 0; i < request->target.value_count; i++) {
        const studio_value_t *const value = &request->target.values[i];
        const studio_parameter_t *const parameter =
            find_listed(request, STUDIO_IN_QUERY, value->name, response);
        if (parameter == NULL) {
            return studio_response_status(response);
        }
        bool good = strcmp(parameter->type, "boolean") != 0;
        for (size_t t = 0; t < SIM_COUNT_OF(truths) && !good; t++) {
            good = strcmp(value->text, truths[t]) == 0;
        }
        if (!good) {
            return studio_response_error(response, 400, "%s: expected true or false", value->name);
        }
        char *end = NULL;
        if (strcmp(parameter->type, "number") == 0 &&
            (!isfinite(strtod(value->text, &end)) || end == value->text || *end != '\0')) {
            return studio_response_error(response, 400, "%s: expected a number", value->name);
        }
    }
    return 0;
}

int studio__request_parse(studio_request_t *request, studio_response_t *response)
{
    const int status = check_query(request, response);
    if (status != 0 || request->body_bytes == 0 || request->route->body == studio_body_file) {
        return status;
    }
    json_error_t error;
    request->json = json_loadb(request->body, request->body_bytes, JSON_REJECT_DUPLICATES, &error);
    if (request->json == NULL) {
        return studio_response_error_at(response, 400, error.line, error.column, "JSON",
                                        "the body is no JSON");
    }
    sim_free(request->body);
    request->body = NULL;
    return check_members(request, response);
}

void studio__request_destroy(studio_request_t *request)
{
    studio_target_fini(&request->target);
    for (size_t i = 0; i < request->named_count; i++) {
        sim_free(request->named[i].name);
        sim_free(request->named[i].text);
    }
    if (request->body_end != NULL) {
        request->body_end(request->body_ctx);
    }
    if (request->early != NULL) {
        studio__response_fini(request->early);
        sim_free(request->early);
    }
    json_decref(request->json);
    SIM_FREE_ALL(request->body, request->origin, request);
}
