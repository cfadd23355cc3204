// SPDX-License-Identifier: Apache-2.0
// studio/server/library/check_child.c - the confined process that reads one scenario and answers
// with its errors, warnings and topology.
#include "studio/server/library/further_errors.h"
#include "studio/server/library/order.h"
#include "studio/server/library/scenario_check.h"
#include "studio/server/process/confine.h"

#include "results/topology_json.h"
#include "world/advice.h"
#include "world/planned_transfers.h"
#include "world/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define CPU_S 12
#define MEMORY_BYTES (UINT64_C(3) << 30)
#define WARNINGS_MAX 200u
#define SETTINGS_MAX 256u
#define NODES_MAX 20000u // largest topology that the page draws

// -- errors: "FILE:LINE:COLUMN: what is wrong", and of settings "--set PATH=VALUE: what is wrong"

static json_t *error_json(const char *text)
{
    int line = 0;
    int column = 0;
    int length = 0;
    const char *const colon = strchr(text, ':');
    // Messages without a place do not match this pattern.
    // NOLINTNEXTLINE(cert-err34-c): a place too large for int belongs to no line
    if (colon != NULL && sscanf(colon, ":%d:%d: %n", &line, &column, &length) == 2 && length > 0) {
        return json_pack("{s:s, s:i, s:i}", "message", colon + length, "line", line, "column",
                         column);
    }
    return json_pack("{s:s}", "message", text);
}

static void add_lines(json_t *warnings, const char *text)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        const char *const begin =
            strncmp(text, "warning: ", 9) == 0 || strncmp(text, "note: ", 6) == 0
                ? strchr(text, ' ') + 1
                : text;
        const size_t cut = length - (size_t)(begin - text);
        if (cut > 0 && json_array_size(warnings) < WARNINGS_MAX) {
            (void)json_array_append_new(warnings, json_pack("{s:s%}", "message", begin, cut));
        }
        text += length + (text[length] == '\n');
    }
}

static void add_finding(topo_severity_t severity, const char *text, void *ctx)
{
    if (severity != TOPO_NOTE && json_array_size(ctx) < WARNINGS_MAX) {
        (void)json_array_append_new(ctx, json_pack("{s:s}", "message", text));
    }
}

static json_t *warnings_of(const world_t *world)
{
    json_t *const warnings = json_array();
    char *text = NULL;
    size_t size = 0;
    FILE *const stream = open_memstream(&text, &size);
    SIM_CHECK(stream != NULL);
    world_print_notes(world, stream);
    world_warnings_t found = {0};
    world_advise(world, &found);
    world_warnings_print(&found, stream);
    world_warnings_fini(&found);
    (void)fclose(stream);
    add_lines(warnings, text);
    free(text);
    topo_lint(world->net, add_finding, warnings);
    return warnings;
}

// -- what a run would be

static uint64_t memory_bytes(void)
{
    struct rusage usage = {0};
    (void)getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

static json_t *estimate_json(const world_t *world, uint64_t used_bytes, json_t *warnings)
{
    const world_scenario_t *const scenario = world->scenario;
    const world_survey_t *const survey = world->survey;
    size_t hosts = 0;
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        hosts += net_kind_of(world->net, i) == NET_NODE_HOST;
    }
    if (survey->late > 0) {
        char *const text = sim_format("%" PRIu64 " of %" PRIu64 " transfers start after the end of "
                                      "the run: expected a later until",
                                      survey->late, survey->transfers);
        (void)json_array_append_new(warnings, json_pack("{s:s}", "message", text));
        sim_free(text);
    }
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:f, s:f, s:I, s:I, s:I, s:I, s:s}", "hosts",
                     (json_int_t)hosts, "interfaces", (json_int_t)world->nic_count, "switches",
                     (json_int_t)(net_node_count(world->net) - hosts), "links",
                     (json_int_t)net_link_count(world->net), "transfers",
                     (json_int_t)survey->transfers, "until_ns",
                     scenario->run.until_ps == SIM_TIME_NEVER
                         ? json_null()
                         : json_integer((json_int_t)(scenario->run.until_ps / SIM_PS_PER_NS)),
                     "packet_hops", survey->packet_hops, "wall_s", survey->wall_s, "memory_bytes",
                     (json_int_t)(2 * used_bytes), "seed", (json_int_t)scenario->run.seed, "series",
                     (json_int_t)scenario->series_count, "captures",
                     (json_int_t)scenario->capture_count, "congestion_control",
                     scenario->nic_config.congestion_control);
}

// -- answering

typedef struct input {
    char *yaml; // the standard input, with a zero behind it
    size_t size;
    world_override_t overrides[SETTINGS_MAX];
    size_t count;
} input_t;

// Reads the standard input, at most as much as an order may contain.
static void read_input(input_t *input)
{
    input->yaml = sim_alloc(STUDIO_YAML_BYTES_MAX + 1);
    input->size = fread(input->yaml, 1, STUDIO_YAML_BYTES_MAX, stdin);
}

static void print_json(json_t *json)
{
    (void)json_dumpf(json, stdout, JSON_COMPACT);
    json_decref(json);
}

static void add_further(const char *text, void *ctx)
{
    json_t *const json = error_json(text);
    if (json != NULL) {
        (void)json_object_set_new(json, "after", json_true());
        (void)json_array_append_new(ctx, json);
    }
}

static int answer_error(const input_t *input, const world_error_t *error)
{
    json_t *const first = error_json(error->text);
    json_t *const errors =
        json_pack("[o]", first == NULL ? json_pack("{s:s}", "message",
                                                   "the scenario has an error without a message")
                                       : first);
    const bool is_all = studio__further_errors(input->yaml, input->size, input->overrides,
                                               input->count, error->text, add_further, errors);
    print_json(json_pack("{s:o, s:[], s:b}", "errors", errors, "warnings", "all", is_all));
    return 0;
}

static int answer_topology(const world_t *world)
{
    if (net_node_count(world->net) > NODES_MAX) {
        print_json(json_pack("{s:[{s:s}], s:[]}", "errors", "message",
                             "the network has more nodes than the page can draw", "warnings"));
        return 0;
    }
    (void)fflush(stdout);
    results_file_t *const file = results_file_on(STDOUT_FILENO, "topology");
    results_put_topology(file, world);
    world_error_t error;
    return results_file_close(file, &error) == SIM_OK ? 0 : 1;
}

static int answer_check(const world_t *world)
{
    json_t *const warnings = warnings_of(world);
    json_t *const estimate = estimate_json(world, memory_bytes(), warnings);
    print_json(json_pack("{s:[], s:o, s:s, s:o}", "errors", "warnings", warnings, "name",
                         world->scenario->run.name, "estimate",
                         estimate == NULL ? json_null() : estimate));
    return 0;
}

static sim_err_t load(const input_t *input, world_scenario_t **scenario, world_error_t *error)
{
    world_document_t *const document = world_document_create();
    world_tree_t *root = NULL;
    const sim_err_t result =
        world_yaml_parse(document, "-", true, input->yaml, input->size, &root, error);
    if (result != SIM_OK) {
        world_document_destroy(document);
        return result;
    }
    return world_scenario_load_tree(NULL, // takes the document
                                    document, root, "-", input->overrides, input->count, scenario,
                                    error);
}

static int build_and_answer(bool topology, const input_t *input)
{
    world_scenario_t *scenario = NULL;
    world_t *world = NULL;
    world_error_t error;
    int status = 0;
    if (load(input, &scenario, &error) != SIM_OK) {
        status = answer_error(input, &error);
    } else if (world_create(scenario, topology ? WORLD_BUILD_NETWORK : WORLD_BUILD_ALL, &world,
                            &error) != SIM_OK) {
        status = answer_error(input, &error);
    } else {
        status = topology ? answer_topology(world) : answer_check(world);
    }
    world_destroy(world);
    world_scenario_destroy(scenario);
    return fflush(stdout) == 0 ? status : 1;
}

int studio_check_main(const char *const *arguments)
{
    input_t input = {.count = 0};
    if (arguments[0] == NULL || arguments[1] == NULL || arguments[2] == NULL) {
        return 2;
    }
    const studio_confine_t confine = {
        .readable = arguments[1][0] == '\0' ? NULL : arguments[1],
        .memory_bytes = MEMORY_BYTES,
        .file_bytes = 0,
        .cpu_s = CPU_S,
    };
    if (chdir("/") != 0 || !studio_confine(&confine)) {
        return 1;
    }
    // Relative file names are allowed in scenarios of the library only; a user's scenario gets a
    // folder that does not exist.
    char *const folder =
        sim_format("folder=%s", arguments[2][0] == '\0' ? "/nowhere" : arguments[2]);
    input.overrides[input.count++] = (world_override_t){.shown = "folder", .text = folder};
    for (const char *const *text = arguments + 3; *text != NULL && input.count < SETTINGS_MAX;
         text++) {
        input.overrides[input.count++] = (world_override_t){.shown = *text, .text = *text};
    }
    read_input(&input);
    const int status = build_and_answer(strcmp(arguments[0], "topology") == 0, &input);
    sim_free(input.yaml);
    sim_free(folder);
    return status;
}
