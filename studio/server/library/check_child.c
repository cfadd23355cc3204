// SPDX-License-Identifier: Apache-2.0
// studio/server/library/check_child.c - the confined process that reads one scenario and answers
// with its errors, warnings and topology, and with errors in the settings of several runs.
#include "studio/server/library/file_check.h"
#include "studio/server/library/further_errors.h"
#include "studio/server/library/order.h"
#include "studio/server/library/place.h"
#include "studio/server/library/scenario_check.h"
#include "studio/server/library/study_check.h"
#include "studio/server/network/network.h"
#include "studio/server/process/confine.h"

#include "kernel/sim.h"
#include "results/topology_json.h"
#include "world/advice.h"
#include "world/planned_transfers.h"
#include "world/world.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CPU_S 12
#define MEMORY_BYTES (UINT64_C(3) << 30)
#define WARNINGS_MAX 200u
#define SETTINGS_MAX 256u
#define BUDGET_S 0.25
#define SHARE_MIN 0.02   // of the run: where less was done, the budget is four times as large
#define SPREAD 3.0       // estimates are wrong by this factor now and then
#define BUILD_FACTOR 1.5 // processor time of a run beside the simulation, in that of its check
#define INPUT_BYTES_MAX ((size_t)64 << 20) // the scenario and the settings of all runs

// -- errors: "-:LINE:COLUMN: what is wrong", of settings "--set PATH=VALUE: what is wrong", and of
// other files with their names

// Folders that the user does not know: names of files in messages are shown without them.
static const char *hidden_folders[3] = {"", "", ""};

static double cpu_s(void)
{
    struct timespec used = {0};
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

static void hide_folders(char *text)
{
    for (size_t i = 0; i < SIM_COUNT_OF(hidden_folders); i++) {
        studio_names_shorten(text, hidden_folders[i]);
    }
}

static json_t *error_json(const char *text)
{
    int line = 0;
    int column = 0;
    int length = 0;
    char *const shown = sim_strdup(text);
    hide_folders(shown);
    // Messages without a place do not match this pattern.
    // NOLINTNEXTLINE(cert-err34-c): a place too large for int belongs to no line
    const bool placed = sscanf(shown, "-:%d:%d: %n", &line, &column, &length) == 2 && length > 0;
    json_t *const json = placed ? json_pack("{s:s, s:i, s:i}", "message", shown + length, "line",
                                            line, "column", column)
                                : json_pack("{s:s}", "message", shown);
    sim_free(shown);
    return json;
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
    hide_folders(text);
    add_lines(warnings, text);
    free(text);
    topo_lint(world->net, add_finding, warnings);
    return warnings;
}

// -- what a run would be

// The file /proc/self/status, opened before the process is confined; -1: there is none. The usage
// that getrusage knows begins with that of the server, which started this process.
static uint64_t memory_bytes(int status)
{
    char text[4096] = "";
    const ssize_t length = status < 0 ? 0 : pread(status, text, sizeof(text) - 1, 0);
    const char *const peak = length <= 0 ? NULL : strstr(text, "VmHWM:");
    return peak == NULL ? 0 : strtoull(peak + 6, NULL, 10) * 1024;
}

// Bytes of a row in result files, about as long as those of shipped scenarios.
#define FLOW_BYTES 160.0
#define FLOWS_MAX 1e5 // rows of a workload, as its flows-max is by default
#define PORT_BYTES 110.0
#define SERIES_BYTES 45.0
#define HOP_BYTES 60.0
#define FIXED_BYTES 600000.0 // of the files that each run has, most of it schema.json

static double flows_of(const world_t *world)
{
    double flows = 0;
    for (size_t i = 0; i < world->app_count; i++) {
        uint64_t done = 0;
        uint64_t planned = 0;
        const app_ops_t *const ops = world->apps[i]->ops;
        const bool is_workload =
            strcmp(ops->name, "workload") == 0 || strcmp(ops->name, "training") == 0;
        ops->progress(world->apps[i], &done, &planned);
        flows += is_workload ? SIM_MIN((double)planned, FLOWS_MAX) : (double)planned;
    }
    return flows;
}

// Estimates the bytes of a run's files: tables, and their imported form, which is smaller.
static double result_bytes(const world_t *world)
{
    const world_survey_t *const survey = world->survey;
    const world_observed_t *const observed = &survey->observed;
    const double flows = flows_of(world);
    const double rows = flows * FLOW_BYTES + 2.0 * (double)net_link_count(world->net) * PORT_BYTES +
                        observed->rows_written * SERIES_BYTES + observed->hop_rows * HOP_BYTES;
    return FIXED_BYTES + 1.4 * rows + observed->capture_bytes;
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
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:f, s:I, s:I, s:I, s:I, s:I, s:s}", "hosts",
                     (json_int_t)hosts, "interfaces", (json_int_t)world->nic_count, "switches",
                     (json_int_t)(net_node_count(world->net) - hosts), "links",
                     (json_int_t)net_link_count(world->net), "transfers",
                     (json_int_t)survey->transfers, "until_ns",
                     scenario->run.until_ps == SIM_TIME_NEVER
                         ? json_null()
                         : json_integer((json_int_t)(scenario->run.until_ps / SIM_PS_PER_NS)),
                     "packet_hops", survey->packet_hops, "memory_bytes",
                     (json_int_t)(2 * used_bytes), "result_bytes", (json_int_t)result_bytes(world),
                     "seed", (json_int_t)scenario->run.seed, "series",
                     (json_int_t)scenario->series_count, "captures",
                     (json_int_t)scenario->capture_count, "congestion_control",
                     scenario->nic_config.congestion_control);
}

// -- the beginning of the run

typedef struct prefix {
    const world_t *world;
    double begun_s;
    double mark_s; // processor time between a quarter and half of what is used, and what was done
    double mark_share;
} prefix_t;

// Returns the share of the run that is done: a run ends at its time limit or when nothing is left,
// whichever comes first.
static double share_of(const world_t *world)
{
    const sim_time_t until_ps = world->scenario->run.until_ps;
    double share = -1;
    double done = 0;
    double planned = 0;
    for (size_t i = 0; i < world->app_count; i++) {
        uint64_t app_done = 0;
        uint64_t app_planned = 0;
        const app_t *const app = world->apps[i];
        app->ops->progress(app, &app_done, &app_planned);
        done += (double)app_done + (app->ops->under_way != NULL ? app->ops->under_way(app) : 0);
        planned += (double)app_planned;
    }
    if (planned > 0) {
        share = done / planned;
    }
    if (until_ps != SIM_TIME_NEVER && until_ps > 0) {
        share = SIM_MAX(share, (double)sim_end_time_ps(world->sim) / (double)until_ps);
    }
    return SIM_MIN(share, 1);
}

static void stop_in_time(sim_time_t window_end_ps, void *ctx)
{
    prefix_t *const prefix = ctx;
    const double used_s = cpu_s() - prefix->begun_s;
    (void)window_end_ps;
    if (used_s > SIM_MAX(4 * prefix->mark_s, BUDGET_S / 8)) {
        prefix->mark_s = used_s;
        prefix->mark_share = SIM_MAX(share_of(prefix->world), 0);
    }
    if (used_s > 4 * BUDGET_S || (used_s > BUDGET_S && share_of(prefix->world) > SHARE_MIN)) {
        sim_interrupt(prefix->world->sim);
    }
}

// Simulates the beginning of a world for a fraction of a second, and returns the processor time of
// the whole run in seconds, as if the rest went on at the last pace. A run that ends before is
// measured as a whole, and sets *whole. Below 0: nothing says which share was done. The world is of
// no other use afterwards.
static double run_beginning(world_t *world, bool *whole)
{
    prefix_t prefix = {.world = world, .begun_s = cpu_s()};
    sim_on_window(world->sim, stop_in_time, &prefix);
    const sim_ended_t ended = sim_run(world->sim);
    const double used_s = cpu_s() - prefix.begun_s;
    *whole = ended != SIM_ENDED_INTERRUPTED;
    const double share = *whole ? 1 : share_of(world);
    if (*whole) {
        return used_s;
    }
    const double newly = share - prefix.mark_share; // without what is slow at the beginning
    return newly > 0 ? used_s + (1 - share) * (used_s - prefix.mark_s) / newly : -1;
}

// -- answering

// Programs are looked at, and none is started.
static const app_programs_t looked_at = {.start = false};

// Returns why the studio cannot run a world that it can show, freed with sim_free; NULL: it can.
static char *why_not_run(const world_t *world)
{
    for (size_t i = 0; i < world->app_count; i++) {
        const char *const command = world->apps[i]->ops->machine_command;
        if (command != NULL) {
            return sim_format("the studio shows this scenario but cannot run it, since "
                              "processes of this machine take part in its traffic; the command "
                              "line runs it: `%s FILE`",
                              command);
        }
    }
    return NULL;
}

typedef struct input {
    char *yaml; // with a zero behind it
    size_t size;
    json_t *runs;     // lists of settings; NULL: one run without any
    char *folder;     // the setting of the folder where file names start
    const char *open; // folds of the network that are opened
    const char *find; // the name of a node whose folds are opened; NULL: none
    int status;       // /proc/self/status
    world_override_t overrides[SETTINGS_MAX]; // of the run that is being checked
    size_t count;
} input_t;

// Reads the standard input: the scenario, a zero byte, and the settings of the runs as JSON.
static void read_input(input_t *input)
{
    size_t capacity = 0;
    size_t length = 0;
    size_t got = 0;
    do {
        SIM_RESERVE(input->yaml, length + 65536 + 1, &capacity);
        got = fread(input->yaml + length, 1, 65536, stdin);
        length += got;
    } while (got > 0 && length < INPUT_BYTES_MAX);
    input->yaml[length] = '\0';
    input->size = strlen(input->yaml);
    if (input->size < length) {
        input->runs = json_loadb(input->yaml + input->size + 1, length - input->size - 1, 0, NULL);
    }
    input->size = SIM_MIN(input->size, STUDIO_YAML_BYTES_MAX);
}

// Selects the settings of a run.
static void select_run(input_t *input, size_t run)
{
    const json_t *const set = json_array_get(input->runs, run);
    input->overrides[0] = (world_override_t){.shown = "folder", .text = input->folder};
    input->count = 1;
    for (size_t i = 0; i < json_array_size(set) && input->count < SETTINGS_MAX; i++) {
        const char *const text = json_string_value(json_array_get(set, i));
        if (text != NULL) {
            input->overrides[input->count++] = (world_override_t){.shown = text, .text = text};
        }
    }
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

static int answer_topology(const world_t *world, const input_t *input)
{
    if (studio_network_is_large(net_node_count(world->net))) {
        studio_network_t network;
        studio_drawing_t drawing;
        studio_network_of_net(world->net, &network);
        studio_drawing_init(&drawing, &network, input->open, input->find);
        print_json(json_incref(drawing.json));
        studio_drawing_fini(&drawing);
        studio_network_fini(&network);
        return 0;
    }
    (void)fflush(stdout);
    results_file_t *const file = results_file_on(STDOUT_FILENO, "topology");
    results_put_topology(file, world);
    world_error_t error;
    return results_file_close(file, &error) == SIM_OK ? 0 : 1;
}

static void set_time(json_t *estimate, double cpu_s, double factor)
{
    (void)json_object_set_new(estimate, "cpu_s", json_real(cpu_s));
    (void)json_object_set_new(estimate, "cpu_s_min", json_real(cpu_s / factor));
    (void)json_object_set_new(estimate, "cpu_s_max", json_real(cpu_s * factor));
}

// Replaces the planned time by what the beginning of the run shows. The plans lack what is lost,
// and what applications decide as they go; the beginning of a run may be slower than the rest.
static void look_at_run(world_t *world, json_t *estimate, double built_s)
{
    const world_survey_t *const survey = world->survey;
    const bool planned = survey->untold == 0 && survey->transfers > 0;
    bool whole = false;
    const double run_s = run_beginning(world, &whole);
    if (whole || !planned) {
        set_time(estimate, built_s + run_s, whole ? 2 : SPREAD);
    } else if (run_s > 0) {
        set_time(estimate, built_s + sqrt(run_s * survey->wall_s), SPREAD);
    }
    if (run_s < 0 && !planned) {
        (void)json_object_set_new(estimate, "cpu_s", json_null());
    }
}

// Prints the answer, and prints it again after a look at the run, so that a run that fails takes
// nothing away.
static int answer_check(world_t *world, int status)
{
    json_t *const warnings = warnings_of(world);
    json_t *const estimate = estimate_json(world, memory_bytes(status), warnings);
    json_t *const answer =
        json_pack("{s:[], s:o, s:s, s:o}", "errors", "warnings", warnings, "name",
                  world->scenario->run.name, "estimate", estimate == NULL ? json_null() : estimate);
    char *const refusal = why_not_run(world);
    if (refusal != NULL) {
        (void)json_object_set_new(answer, "refusal", json_string(refusal));
        sim_free(refusal);
        print_json(answer);
        return 0;
    }
    const double built_s = BUILD_FACTOR * cpu_s();
    set_time(estimate, built_s + world->survey->wall_s, SPREAD);
    print_json(json_incref(answer));
    if (fflush(stdout) == 0) {
        look_at_run(world, estimate, built_s);
        print_json(json_incref(answer));
    }
    json_decref(answer);
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
    const sim_err_t loaded = world_scenario_load_tree(NULL, // takes the document
                                                      document, root, "-", input->overrides,
                                                      input->count, scenario, error);
    if (loaded == SIM_OK) {
        (*scenario)->programs = &looked_at;
    }
    return loaded;
}

static int build_and_answer(bool topology, const input_t *input, bool *good)
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
        status = topology ? answer_topology(world, input) : answer_check(world, input->status);
        *good = true;
    }
    world_destroy(world);
    world_scenario_destroy(scenario);
    return fflush(stdout) == 0 ? status : 1;
}

// -- the settings of the other runs

// Prints the error of a run, with its settings if that is not plain.
static void print_run_error(const input_t *input, size_t run, const world_error_t *error)
{
    json_t *const json = error_json(error->text);
    if (json != NULL) {
        (void)json_object_set(json, "set", json_array_get(input->runs, run));
        print_json(json_pack("{s:[o], s:[]}", "errors", json, "warnings"));
    }
}

// Reads a run, and builds it too if build is true. Returns false after printing its error.
static bool check_run(input_t *input, size_t run, bool build)
{
    world_scenario_t *scenario = NULL;
    world_t *world = NULL;
    world_error_t error;
    select_run(input, run);
    sim_err_t result = load(input, &scenario, &error);
    if (result == SIM_OK && build) {
        result = world_create(scenario, WORLD_BUILD_ALL, &world, &error);
    }
    if (result != SIM_OK) {
        print_run_error(input, run, &error);
    }
    world_destroy(world);
    world_scenario_destroy(scenario);
    return result == SIM_OK;
}

// Adds the settings of a run to those that were seen; returns whether one of them is new.
static bool note_settings(json_t *seen, const json_t *set)
{
    bool is_new = false;
    for (size_t i = 0; i < json_array_size(set); i++) {
        const char *const text = json_string_value(json_array_get(set, i));
        // Seeds change nothing that a check can see.
        if (text != NULL && strncmp(text, "seed=", 5) != 0 && json_object_get(seen, text) == NULL) {
            is_new = json_object_set_new(seen, text, json_true()) == 0;
        }
    }
    return is_new;
}

// Reads all runs, and then builds those with a new value. A run is only begun if it will end before
// the limit of processor time, unless it takes three times as long as the longest before it.
static void check_others(input_t *input, double built_s)
{
    const size_t count = json_array_size(input->runs);
    json_t *const seen = json_object();
    bool good = true;
    (void)note_settings(seen, json_array_get(input->runs, 0));
    for (size_t i = 1; good && i < count && cpu_s() < CPU_S / 2.0; i++) {
        good = check_run(input, i, false);
    }
    for (size_t i = 1; good && i < count; i++) {
        const double begun_s = cpu_s();
        if (!note_settings(seen, json_array_get(input->runs, i))) {
            continue;
        }
        if (begun_s + 3 * built_s > CPU_S - 1.0) {
            break;
        }
        good = check_run(input, i, true);
        built_s = SIM_MAX(built_s, cpu_s() - begun_s);
    }
    json_decref(seen);
}

int studio_check_main(const char *const *arguments)
{
    if (arguments[0] != NULL && strcmp(arguments[0], "file") == 0) {
        return studio_file_check_main(arguments + 1);
    }
    if (arguments[0] != NULL && strcmp(arguments[0], "study") == 0) {
        return studio_study_check_main(arguments + 1);
    }
    for (size_t i = 0; i < 6; i++) {
        if (arguments[i] == NULL) {
            return 2;
        }
    }
    const char *const files[] = {arguments[2], NULL};
    const studio_confine_t confine = {
        .readable = arguments[1][0] == '\0' ? NULL : arguments[1],
        .also_readable = arguments[2][0] == '\0' ? NULL : files,
        .memory_bytes = MEMORY_BYTES,
        .file_bytes = 0,
        .cpu_s = CPU_S,
    };
    input_t input = {.status = open("/proc/self/status", O_RDONLY | O_CLOEXEC),
                     .open = arguments[4],
                     .find = arguments[5][0] == '\0' ? NULL : arguments[5]};
    if (chdir("/") != 0 || !studio_confine(&confine)) {
        return 1;
    }
    // Who has no files of their own gets a folder that does not exist.
    hidden_folders[0] = arguments[3][0] == '\0' ? "/nowhere" : arguments[3];
    hidden_folders[1] = arguments[2];
    hidden_folders[2] = arguments[1];
    input.folder = sim_format("folder=%s", hidden_folders[0]);
    read_input(&input);
    select_run(&input, 0);
    bool good = false;
    const double begun_s = cpu_s();
    const bool topology = strcmp(arguments[0], "topology") == 0;
    const int status = build_and_answer(topology, &input, &good);
    if (good && !topology) {
        check_others(&input, cpu_s() - begun_s);
        (void)fflush(stdout);
    }
    json_decref(input.runs);
    sim_free(input.yaml);
    sim_free(input.folder);
    return status;
}
