// SPDX-License-Identifier: Apache-2.0
// studio/server/http/openapi.c - describes the joined table of routes as OpenAPI 3.0.
#include "studio/server/http/http_internal.h"

#include <string.h>
#include <strings.h>

static json_t *schema(const char *type)
{
    return strcmp(type, "array") == 0 ? json_pack("{s:s, s:{}}", "type", type, "items")
                                      : json_pack("{s:s}", "type", type);
}

static json_t *describe_parameter(const studio_parameter_t *parameter)
{
    return json_pack("{s:s, s:s, s:b, s:s, s:o}", "name", parameter->name, "in",
                     parameter->where == STUDIO_IN_PATH ? "path" : "query", "required",
                     parameter->required || parameter->where == STUDIO_IN_PATH, "description",
                     parameter->help, "schema", schema(parameter->type));
}

static void describe_parameters(const studio_route_t *route, json_t *list, json_t *members,
                                json_t *required)
{
    for (const studio_parameter_t *p = route->parameters; p != NULL && p->name != NULL; p++) {
        if (p->where != STUDIO_IN_BODY) {
            (void)json_array_append_new(list, describe_parameter(p));
            continue;
        }
        json_t *const member = schema(p->type);
        (void)json_object_set_new(member, "description", json_string(p->help));
        (void)json_object_set_new(members, p->name, member);
        if (p->required) {
            (void)json_array_append_new(required, json_string(p->name));
        }
    }
}

// Adds the path segments that no parameter of the route describes.
static void add_path_names(const studio_route_t *route, json_t *list)
{
    for (const char *at = strchr(route->path, '{'); at != NULL; at = strchr(at + 1, '{')) {
        const size_t length = strcspn(at + 1, ".}");
        bool known = false;
        for (const studio_parameter_t *p = route->parameters; p != NULL && p->name != NULL; p++) {
            known = known || (p->where == STUDIO_IN_PATH && strlen(p->name) == length &&
                              memcmp(p->name, at + 1, length) == 0);
        }
        if (!known) {
            (void)json_array_append_new(list, json_pack("{s:s%, s:s, s:b, s:{s:s}}", "name", at + 1,
                                                        length, "in", "path", "required", 1,
                                                        "schema", "type", "string"));
        }
    }
}

static json_t *describe_body(const studio_route_t *route, json_t *members, json_t *required)
{
    json_t *body = schema("object");
    (void)json_object_set(body, "properties", members);
    if (json_array_size(required) > 0) {
        (void)json_object_set(body, "required", required);
    }
    if (route->body != NULL) {
        (void)json_object_set_new(body, "description", json_string(route->body));
    }
    return json_pack("{s:{s:{s:o}}}", "content", "application/json", "schema", body);
}

static json_t *describe(const studio_route_t *route)
{
    json_t *const list = json_array();
    json_t *const members = json_object();
    json_t *const required = json_array();
    describe_parameters(route, list, members, required);
    add_path_names(route, list);
    json_t *const json = json_pack(
        "{s:s, s:o, s:s, s:{s:{s:s}, s:{s:s}}, s:o}", "summary", route->summary, "parameters", list,
        "x-least-role", studio_role_name(route->role), "responses", "200", "description",
        route->answer == NULL ? "done" : route->answer, "default", "description",
        "{error: {message, where?: {line, column}, expected?}}", "security",
        route->role == STUDIO_ROLE_NONE ? json_array()
                                        : json_pack("[{s:[]}, {s:[]}]", "token", "session"));
    if (json_object_size(members) > 0 || route->body != NULL) {
        (void)json_object_set_new(json, "requestBody", describe_body(route, members, required));
    }
    json_decref(members);
    json_decref(required);
    return json;
}

static int get_openapi(studio_request_t *request, studio_response_t *response)
{
    json_t *const paths = json_object();
    for (const studio_route_t *route = studio_request_studio(request)->routes; route->path != NULL;
         route++) {
        char method[16] = "";
        for (size_t i = 0; route->method[i] != '\0' && i + 1 < sizeof(method); i++) {
            method[i] = (char)(route->method[i] | 0x20);
        }
        char *const name = sim_strdup(route->path);
        char *const rest = strstr(name, "...}");
        if (rest != NULL) {
            memmove(rest, rest + 3, strlen(rest + 3) + 1);
        }
        json_t *path = json_object_get(paths, name);
        if (path == NULL) {
            path = json_object();
            (void)json_object_set_new(paths, name, path);
        }
        sim_free(name);
        (void)json_object_set_new(path, method, describe(route));
    }
    return studio_response_json(
        response, 200,
        json_pack(
            "{s:s, s:{s:s, s:s, s:s}, s:{s:{s:{s:s, s:s}, s:{s:s, s:s, s:s}}}, s:o}", "openapi",
            "3.0.3", "info", "title", "rocesim studio", "version", ROCESIM_VERSION, "description",
            "docs/studio.md explains this interface. With a session, every method but GET needs "
            "the header X-Studio-Token, whose value GET /api/v1/me returns.",
            "components", "securitySchemes", "token", "type", "http", "scheme", "bearer", "session",
            "type", "apiKey", "in", "cookie", "name", STUDIO__COOKIE, "paths", paths));
}

const studio_route_t studio_server_routes[] = {
    {"GET", "/api/v1/openapi.json", STUDIO_ROLE_VIEWER, "Returns this OpenAPI description", NULL,
     NULL, "OpenAPI 3.0", get_openapi, 0},
    {0},
};
