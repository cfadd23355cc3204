// SPDX-License-Identifier: Apache-2.0
// studio/server/library/routes.c - routes of the library, and of checking a scenario.
#include "studio/server/files/files.h"
#include "studio/server/http/body.h"
#include "studio/server/library/file_check.h"
#include "studio/server/library/library_internal.h"
#include "studio/server/library/order.h"
#include "studio/server/library/scenario_check.h"

#include "results/schema.h"

#include <string.h>

#define FOLDS_BYTES_MAX 65536u // of the paths of opened folds

static json_t *entry_json(const studio__entry_t *entry)
{
    const char *const slash = strrchr(entry->name, '/');
    json_t *const json = json_pack("{s:s, s:s, s:s%, s:s}", "name", entry->name, "kind",
                                   entry->is_study ? "study" : "scenario", "group", entry->name,
                                   slash == NULL ? (size_t)0 : (size_t)(slash - entry->name),
                                   "question", entry->question);
    if (entry->command != NULL) {
        char *const command = sim_format("%s %s", entry->command, entry->name);
        (void)json_object_set_new(json, "command", json_string(command));
        sim_free(command);
    }
    return json;
}

static int get_library(studio_request_t *request, studio_response_t *response)
{
    const studio_library_t *const library = studio_request_studio(request)->library;
    json_t *const list = json_array();
    for (size_t i = 0; i < library->count; i++) {
        (void)json_array_append_new(list, entry_json(&library->entries[i]));
    }
    return studio_response_json(response, 200, json_pack("{s:o}", "library", list));
}

static int get_entry(studio_request_t *request, studio_response_t *response)
{
    const studio_library_t *const library = studio_request_studio(request)->library;
    const char *const name = studio_request_path(request, "name");
    const char *const kind = studio_request_query(request, "kind");
    const bool study = kind != NULL && strcmp(kind, "study") == 0;
    for (size_t i = 0; i < library->count; i++) {
        const studio__entry_t *const entry = &library->entries[i];
        if (strcmp(entry->name, name) == 0 && (kind == NULL || study == entry->is_study)) {
            json_t *const json = entry_json(entry);
            (void)json_object_set_new(json, entry->is_study ? "script" : "yaml",
                                      json_string(entry->text));
            if (entry->is_study) {
                (void)json_object_set_new(json, "parameters",
                                          studio_library_parameters(library, entry->name));
            }
            return studio_response_json(response, 200, json);
        }
    }
    return studio_response_error(response, 404,
                                 "the library has no scenario or study of this name");
}

// -- checking

// Reads the scenario, the settings of its run and where file names start; returns 0 or the status
// of the answer.
static int take_scenario(studio_request_t *request, studio_response_t *response, const char **yaml,
                         json_t **runs, studio_place_t *place)
{
    const studio_t *const studio = studio_request_studio(request);
    sim_message_t message;
    *yaml = studio_body_text(request, "yaml", STUDIO_YAML_BYTES_MAX);
    const int status = studio_take_place(request, response, place);
    if (status != 0) {
        return status;
    }
    if (*yaml == NULL && place->entry != NULL) {
        *yaml = studio_library_yaml(studio->library, place->entry);
    }
    if (*yaml == NULL) {
        return studio_response_error(response, 400,
                                     "expected yaml, a scenario of at most 512 KiB, or library");
    }
    *runs = studio_order_expand(studio_body_member(request, "set"), NULL, NULL, 1, &message);
    return *runs == NULL ? studio_response_error(response, 400, "%s", message.text) : 0;
}

static int post_check(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    const char *yaml;
    studio_place_t place;
    json_t *runs = NULL;
    const int status = take_scenario(request, response, &yaml, &runs, &place);
    if (status != 0) {
        return status;
    }
    json_t *const checked = studio_check(studio, studio_request_user(request), STUDIO_CHECK_ALL,
                                         yaml, runs, &place, NULL);
    (void)json_object_set_new(checked, "limits",
                              json_pack("{s:I, s:I, s:I, s:I}", "wall_s",
                                        (json_int_t)studio->options.run_s_max, "memory_bytes",
                                        (json_int_t)studio->options.run_bytes_max, "result_bytes",
                                        (json_int_t)studio->options.disk_bytes_max, "runs",
                                        (json_int_t)studio->options.group_max));
    json_decref(runs);
    return studio_response_json(response, 200, checked);
}

static int post_topology(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    const char *yaml;
    studio_place_t place;
    json_t *runs = NULL;
    const int status = take_scenario(request, response, &yaml, &runs, &place);
    if (status != 0) {
        return status;
    }
    const studio_check_folds_t folds = {.open = studio_body_text(request, "open", FOLDS_BYTES_MAX),
                                        .find = studio_body_text(request, "find", FOLDS_BYTES_MAX)};
    json_t *const topology = studio_check(studio, studio_request_user(request),
                                          STUDIO_CHECK_TOPOLOGY, yaml, runs, &place, &folds);
    const bool good = json_array_size(json_object_get(topology, "errors")) == 0;
    json_decref(runs);
    return studio_response_json(response, good ? 200 : 422, topology);
}

static int post_file_check(studio_request_t *request, studio_response_t *response)
{
    const char *const path = studio_body_text(request, "path", STUDIO_FILE_PATH_BYTES_MAX);
    if (path == NULL) {
        return studio_response_error(response, 400, "path: expected the name of a file");
    }
    json_t *const checked =
        studio_file_check(studio_request_studio(request), studio_request_user(request), path);
    return checked == NULL ? studio_response_error(response, 404, "you have no such file")
                           : studio_response_json(response, 200, checked);
}

static int post_file_import(studio_request_t *request, studio_response_t *response)
{
    const char *const path = studio_body_text(request, "path", STUDIO_FILE_PATH_BYTES_MAX);
    if (path == NULL) {
        return studio_response_error(response, 400, "path: expected the name of a file");
    }
    int status;
    char *const text = studio_file_import(studio_request_studio(request),
                                          studio_request_user(request), path, &status);
    if (status == 200) {
        status = studio_response_json(response, 200, json_pack("{s:s}", "yaml", text));
    } else {
        status = studio_response_error(response, status, "%s",
                                       text == NULL ? "you have no such file" : text);
    }
    sim_free(text);
    return status;
}

static int post_file_explain(studio_request_t *request, studio_response_t *response)
{
    const char *const path = studio_body_text(request, "path", STUDIO_FILE_PATH_BYTES_MAX);
    const json_t *const counters = studio_body_member(request, "counters");
    if (path == NULL || json_array_size(counters) == 0) {
        return studio_response_error(response, 400, "path, counters: expected names of files");
    }
    int status;
    json_t *const found = studio_file_explain(
        studio_request_studio(request), studio_request_user(request), path, counters, &status);
    if (status == 200) {
        return studio_response_json(response, 200, found);
    }
    const char *const text = json_string_value(found);
    status = studio_response_error(response, status, "%s",
                                   text == NULL ? "you have no such file" : text);
    json_decref(found);
    return status;
}

// -- the attribute tables

static int get_parameters(studio_request_t *request, studio_response_t *response)
{
    (void)request;
    world_registry_t *const registry = world_registry_create();
    json_t *const parameters = results_parameters_json(registry);
    world_registry_destroy(registry);
    return studio_response_json(response, 200, json_pack("{s:o}", "parameters", parameters));
}

static int get_schema(studio_request_t *request, studio_response_t *response)
{
    (void)request;
    world_registry_t *const registry = world_registry_create();
    json_t *const schema = results_schema_json(registry);
    world_registry_destroy(registry);
    return studio_response_json(response, 200, schema);
}

// clang-format off
static const studio_parameter_t entry_parameters[] = {
    {"kind", STUDIO_IN_QUERY, "string", false, "selects the scenario or the study, where both have this name"},
    {0},
};
static const studio_parameter_t check_parameters[] = {
    {"yaml", STUDIO_IN_BODY, "string", false, "the scenario as YAML, at most 512 KiB"},
    {"set", STUDIO_IN_BODY, "array", false, "settings of the scenario: [\"path=value\"...]"},
    {"library", STUDIO_IN_BODY, "string", false, "name of a library scenario; with yaml: relative file names start in its folder, then in the user's own files"},
    {"folder", STUDIO_IN_BODY, "string", false, "folder of the user's own files where relative file names start; without library and folder: all of them"},
    {"open", STUDIO_IN_BODY, "string", false, "paths of the folds to open in a large topology, separated by commas"},
    {"find", STUDIO_IN_BODY, "string", false, "name of a node whose folds are opened in a large topology"},
    {0},
};
static const studio_parameter_t file_check_parameters[] = {
    {"path", STUDIO_IN_BODY, "string", true, "name of an own file, with its folders"},
    {0},
};

static const studio_parameter_t file_explain_parameters[] = {
    {"path", STUDIO_IN_BODY, "string", true, "own file of links, or files of switches that `rocesim import` reads"},
    {"counters", STUDIO_IN_BODY, "array", true, "own files or folders of counters, in the order of their times"},
    {0},
};

const studio_route_t studio_library_routes[] = {
    {"GET", "/api/v1/library", STUDIO_ROLE_VIEWER, "Lists the shipped scenarios and studies", NULL, NULL,
     "{library: [{name, kind, group, question, command?}]}; command: the scenario runs on the command line only, by this command", get_library, 0},
    {"GET", "/api/v1/library/{name...}", STUDIO_ROLE_VIEWER, "Returns one scenario or study of the library", entry_parameters, NULL,
     "{name, kind, group, question, command?, yaml or script and parameters}", get_entry, 0},
    {"POST", "/api/v1/check", STUDIO_ROLE_VIEWER, "Checks a scenario: its errors, warnings and size",
     check_parameters, NULL, "{errors: [{message, line?, column?}], warnings: [{message}], name?, estimate?, refusal?, limits}; refusal: why the studio shows the scenario but cannot run it",
     post_check, (size_t)1 << 20},
    {"POST", "/api/v1/files/check", STUDIO_ROLE_USER, "Says what `rocesim check` finds in an own file", file_check_parameters, NULL,
     "{path, kind, good, text}; kind: scenario, workload, requests, fabric, counters, capture or other; good is null for kinds that it does not check",
     post_file_check, 4096},
    {"POST", "/api/v1/files/import", STUDIO_ROLE_USER, "Makes a scenario of files of a real fabric, as `rocesim import` does", file_check_parameters, NULL,
     "{yaml}; 422: the error; 503: too many checks at once", post_file_import, 4096},
    {"POST", "/api/v1/files/explain", STUDIO_ROLE_USER, "Explains counters of a real network, as `rocesim explain --counters` does", file_explain_parameters, NULL,
     "{causes, limits, notes}; 422: the error; 503: too many checks at once", post_file_explain, 65536},
    {"POST", "/api/v1/topology", STUDIO_ROLE_VIEWER, "Returns the network that a scenario builds", check_parameters, NULL,
     "{nodes, interfaces, links}, as topology.json; from 3001 nodes on {nodes: [{name, kind, tier, hosts, switches, in, fold?}], links: [{..., count}], folded}; 422 {errors}", post_topology, (size_t)1 << 20},
    {"GET", "/api/v1/parameters", STUDIO_ROLE_VIEWER, "Lists all attributes: type, unit, range, default, help", NULL,
     NULL, "{parameters: [...]}, as `rocesim params --json`", get_parameters, 0},
    {"GET", "/api/v1/schema", STUDIO_ROLE_VIEWER, "Returns attributes, columns, and fields of the summary", NULL, NULL,
     "as `rocesim schema`", get_schema, 0},
    {0},
};
// clang-format on
