// SPDX-License-Identifier: Apache-2.0
// results/run/runner.c - one run from a scenario to its results.
#include "results/runner.h"
#include "apps/simbricks.h"
#include "results/span.h"

#include "results/file.h"
#include "results/folder.h"
#include "results/lock.h"
#include "results/manifest.h"
#include "results/run/folder_internal.h"
#include "results/run/gather_ranks.h"
#include "results/run/memory_watch.h"
#include "results/run/observe.h"
#include "results/schema.h"
#include "results/stage.h"
#include "results/summary.h"
#include "results/tables/capture_names.h"
#include "results/tables/end_rows.h"
#include "results/tables/operations.h"
#include "results/topology_json.h"
#include "topologies/inspect.h"
#include "world/advice.h"
#include "world/format.h"
#include "world/planned_transfers.h"
#include "world/ranks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct results_run {
    const results_options_t *options; // valid while it runs
    world_scenario_t *scenario;
    world_t *world;
    results_observers_t *observers;
    results_lock_t *lock; // of the folder, while files are written; NULL: none are
    char *stage;          // where files are written; NULL: none are
    char *scratch;        // parent of the stage of a rank other than 0; NULL: none
    bool begun;           // options->begin succeeded
    bool has_results;
    results_t results;
    json_t *summary;
    char *text;
    results_clock_t clock;
    bool failed; // a file
    world_error_t error;
};

static double wall_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void put_text(results_file_t *file, const void *text)
{
    results_file_put(file, text);
}

static void put_topology(results_file_t *file, const void *world)
{
    results_put_topology(file, world);
}

// Writes scenario.yaml. Its file names are relative to the scenario's own folder, in which this
// copy is not, so `folder` names it.
static sim_err_t write_scenario(const results_run_t *run, world_error_t *error)
{
    world_scenario_t *const scenario = run->scenario;
    if (run->world->file_count > 0) {
        char *const absolute = world_scenario_folder(scenario);
        sim_free(scenario->run.folder);
        scenario->run.folder = absolute;
    }
    char *const text = world_scenario_resolved(scenario);
    const sim_err_t result = results_file_write(run->stage, "scenario.yaml", put_text, text, error);
    sim_free(text);
    return result;
}

// -- before the run

static void file_failed(results_run_t *run, const world_error_t *error)
{
    if (!run->failed) {
        run->error = *error;
    }
    run->failed = true;
    if (run->options->file_failed != NULL) {
        run->options->file_failed(error->text, run->options->ctx);
    }
}

// Takes the folder of the results for this run alone, and makes the stage in it.
static sim_err_t take_folder(results_run_t *run, world_error_t *error)
{
    const char *const folder = run->options->folder;
    const char *const file = run->options->scenario_file;
    sim_err_t result = results_folder_make(folder, error);
    if (result == SIM_OK) {
        result = results_lock_take(folder, RESULTS_LOCK_OF_RUN, &run->lock, error);
    }
    if (result == SIM_OK) {
        result = results__folder_check_content(folder, file != NULL ? file : "", error);
    }
    if (result == SIM_OK) {
        result = results_stage_open(folder, run->scenario->capture_count > 0, &run->stage, error);
    }
    return result;
}

// Returns whether this process writes files and prints results.
static bool leads(const results_run_t *run)
{
    return run->options->ranks == NULL || run->options->ranks->rank == 0;
}

// Makes a folder of this rank alone, for files that its observers open and nobody reads: rank 0
// gets all records.
static sim_err_t make_scratch(results_run_t *run, world_error_t *error)
{
    const char *const temporary = getenv("TMPDIR");
    const char *const parent = temporary != NULL && temporary[0] != '\0' ? temporary : "/tmp";
    char *const name = sim_format("%s/rocesim-rank-XXXXXX", parent);
    if (mkdtemp(name) == NULL) {
        const sim_err_t result = world_fail(error, SIM_ERR_IO, WORLD_FILE(name),
                                            "cannot make the folder: %s", strerror(errno));
        sim_free(name);
        return result;
    }
    run->scratch = name;
    return results_stage_open(name, run->scenario->capture_count > 0, &run->stage, error);
}

static void remove_scratch(results_run_t *run)
{
    if (run->scratch != NULL) {
        results_stage_discard(run->scratch);
        sim_free(run->scratch);
        run->scratch = NULL;
    }
}

// Opens what is written while it runs. A folder that cannot be used is the scenario's giver's
// matter: nothing is run.
static sim_err_t prepare(results_run_t *run, world_error_t *error)
{
    sim_err_t result = SIM_OK;
    if (run->options->folder != NULL) {
        result = leads(run) ? take_folder(run, error) : make_scratch(run, error);
    }
    if (result != SIM_OK) {
        return result;
    }
    world_error_t other;
    if (run->stage != NULL && write_scenario(run, &other) != SIM_OK) {
        file_failed(run, &other);
    }
    if (run->stage != NULL && run->scenario->capture_count > 0 && leads(run) &&
        results_write_names(run->world, run->stage, &other) != SIM_OK) {
        file_failed(run, &other);
    }
    if (!run->failed &&
        results_observers_create(run->world, run->stage, &run->observers, &other) != SIM_OK) {
        file_failed(run, &other);
    }
    return SIM_OK;
}

// -- after it

static sim_err_t write_topology(const results_run_t *run, world_error_t *error)
{
    return results_file_write(run->stage, "topology.json", put_topology, run->world, error);
}

static sim_err_t write_schema(const results_run_t *run, world_error_t *error)
{
    char *const text = results_schema_text(run->scenario->registry);
    const sim_err_t result = results_file_write(run->stage, "schema.json", put_text, text, error);
    sim_free(text);
    return result;
}

static sim_err_t write_flows(const results_run_t *run, world_error_t *error)
{
    return run->scenario->outputs.flows
               ? results_write_flows(run->world, &run->results, run->stage, error)
               : SIM_OK;
}

static sim_err_t write_operations(const results_run_t *run, world_error_t *error)
{
    return run->scenario->outputs.operations_max > 0
               ? results_write_operations(run->world, run->stage, error)
               : SIM_OK;
}

static sim_err_t write_apps(const results_run_t *run, world_error_t *error)
{
    return results_write_apps(run->world, run->stage, error);
}

static sim_err_t write_ports(const results_run_t *run, world_error_t *error)
{
    return results_write_ports(run->world, &run->results, run->stage, error);
}

static sim_err_t write_nics(const results_run_t *run, world_error_t *error)
{
    return results_write_nics(run->world, run->stage, error);
}

static sim_err_t write_summary(const results_run_t *run, world_error_t *error)
{
    return results_file_write(run->stage, "summary.json", put_text, run->text, error);
}

static sim_err_t write_manifest(const results_run_t *run, world_error_t *error)
{
    char *const text = results_manifest_text(run->world, &run->results, run->stage, &run->clock);
    const sim_err_t result = results_file_write(run->stage, "manifest.json", put_text, text, error);
    sim_free(text);
    return result;
}

// Writes what can be written even when one file fails.
static void write_files(results_run_t *run)
{
    static const struct {
        sim_err_t (*write)(const results_run_t *run, world_error_t *error);
        bool brief; // also of brief results
    } steps[] = {{write_flows, true},   {write_operations, true}, {write_apps, true},
                 {write_ports, true},   {write_nics, true},       {write_topology, false},
                 {write_schema, false}, {write_summary, true},    {write_manifest, false}};
    world_error_t error;
    for (size_t i = 0; i < SIM_COUNT_OF(steps) && run->stage != NULL; i++) {
        if ((steps[i].brief || !run->options->brief) && steps[i].write(run, &error) != SIM_OK) {
            file_failed(run, &error);
        }
    }
    if (run->stage != NULL && !run->failed &&
        results_stage_commit(run->options->folder, &error) != SIM_OK) {
        file_failed(run, &error);
    }
}

// Lets the applications write files of their own, with or without a folder of results.
static void save_apps(results_run_t *run)
{
    for (size_t i = 0; i < run->world->app_count; i++) {
        const app_t *const app = run->world->apps[i];
        sim_message_t message = {.text = ""};
        if (app->ops->save != NULL && app->ops->save(app, &message) != SIM_OK) {
            world_error_t error;
            (void)world_fail(&error, SIM_ERR_IO, NULL, "%s", message.text);
            file_failed(run, &error);
        }
    }
}

// Keeps a line of an application's report that begins with "warning: ".
static void take_line(const char *text, void *ctx)
{
    static const char mark[] = "warning: ";
    if (strncmp(text, mark, strlen(mark)) == 0) {
        const char *const begin = text + strlen(mark);
        world_warn(ctx, "application", "%.*s", (int)strcspn(begin, "\n"), begin);
    }
}

// Adds the warnings of applications about what happened, which stand in their reports.
static void add_app_warnings(results_run_t *run)
{
    for (size_t i = 0; i < run->world->app_count; i++) {
        const app_t *const app = run->world->apps[i];
        if (app->ops->print != NULL) {
            app->ops->print(app, take_line, &run->results.warnings);
        }
    }
}

// Keeps a finding about the built network.
static void take_finding(topo_severity_t severity, const char *text, void *ctx)
{
    (void)severity;
    world_warn(ctx, "virtual-channels", "%s", text);
}

// Builds the world again, without rails that follow another one: they do not do the same.
static void build_again(results_run_t *run)
{
    const results_options_t *const options = run->options;
    world_error_t error;
    if (run->begun && options->end != NULL && options->end(run->world, options->ctx, &error) != 0) {
        file_failed(run, &error);
    }
    results_t nothing = {0};
    if (results_observers_close(run->observers, &nothing, &error) != SIM_OK) {
        file_failed(run, &error);
    }
    results_fini(&nothing);
    run->observers = NULL;
    world_destroy(run->world);
    run->scenario->fast_forward.rails = false;
    sim_err_t result = world_create(run->scenario, WORLD_BUILD_ALL, &run->world, &error);
    SIM_CHECKF(result == SIM_OK, "the world cannot be built again: %s", error.text);
    run->scenario->fast_forward.rails = true;
    result = results_observers_create(run->world, run->stage, &run->observers, &error);
    if (result == SIM_OK && run->begun) {
        result = options->begin(run->world, run->stage, options->ctx, &error);
        run->begun = result == SIM_OK;
    }
    if (result != SIM_OK) {
        file_failed(run, &error);
    }
}

// Runs the world. *span and *exceeded are the run's; the caller destroys the span.
static sim_ended_t run_world(const results_run_t *run, uint64_t memory_max_bytes,
                             results_span_t **span, bool *exceeded)
{
    const results_options_t *const options = run->options;
    sim_ended_t ended = SIM_ENDED_DONE;
    if (options->started != NULL) {
        options->started(run->world, options->ctx);
    }
    *span = results_span_create(run->world);
    if (options->drive != NULL) {
        ended = options->drive(run->world, options->ctx); // its copies have no second thread
    } else {
        results_memory_watch_t *const watch =
            results__memory_watch_begin(run->world->sim, memory_max_bytes);
        ended = app_simbricks_drives(run->world->runtime) ? app_simbricks_run(run->world->runtime)
                                                          : sim_run(run->world->sim);
        *exceeded = results__memory_watch_end(watch);
    }
    if (options->ranks != NULL) {
        results__carry(run->world, *span, run->observers);
    }
    if (options->stopped != NULL) {
        options->stopped(run->world, options->ctx);
    }
    return ended;
}

static void simulate(results_run_t *run)
{
    const results_options_t *const options = run->options;
    SIM_CHECK(!run->has_results && run->world != NULL);
    world_warnings_t warnings = {0};
    world_survey_warn(run->world, &warnings);
    world_advise(run->world, &warnings);
    if (leads(run)) {
        topo_lint_channels(run->world->net, take_finding, &warnings);
    }
    if (options->warned != NULL) {
        options->warned(&warnings, options->ctx);
    }
    results_span_t *span = NULL;
    const double start_s = wall_s();
    run->clock.begun = time(NULL);
    const uint64_t memory_max_bytes =
        options->limited ? SIM_AUTO : run->world->scenario->run.memory_max_bytes;
    bool exceeded = false;
    sim_ended_t ended = run_world(run, memory_max_bytes, &span, &exceeded);
    nic_rails_t *const rails = run->world->rails;
    const char *const apart =
        rails == NULL ? NULL : nic_rails_apart(rails, ended != SIM_ENDED_INTERRUPTED);
    if (apart != NULL) {
        results_span_destroy(span);
        build_again(run);
        app_skips_refuse(&run->world->skips, apart);
        ended = run_world(run, memory_max_bytes, &span, &exceeded);
    } else if (rails != NULL) {
        run->world->skips.hops_skipped += nic_rails_settle(rails, &run->world->skips.rails);
    }
    if (!leads(run)) {
        results_span_destroy(span);
        world_warnings_fini(&warnings);
        return;
    }
    results_init(&run->results, run->world, ended, span);
    run->has_results = true;
    run->results.warnings = warnings;
    add_app_warnings(run);
    const uint64_t left_out = results_operations_left_out(run->world);
    if (left_out > 0) {
        world_warn(&run->results.warnings, "operations",
                   "operations.csv leaves out %" PRIu64
                   " operation%s, the last of each rank (outputs.operations-max)",
                   left_out, sim_plural(left_out));
    }
    results__remark(run->world, &run->results);
    if (exceeded) {
        world_text_t limit;
        world_warn(&run->results.warnings, "memory-max",
                   "the run was stopped because it took more than memory-max (%s): packets, "
                   "events, flows and records together; expected less traffic at once, a higher "
                   "memory-max, or --yes",
                   world_format_bytes(&limit, memory_max_bytes));
    }
    run->results.wall_s = wall_s() - start_s;
    run->clock.ended = time(NULL);
}

static void finish(results_run_t *run)
{
    const results_options_t *const options = run->options;
    world_error_t error;
    if (run->observers != NULL &&
        results_observers_close(run->observers, &run->results, &error) != SIM_OK) {
        file_failed(run, &error);
    }
    run->observers = NULL;
    run->summary = results_summary_json(run->world, &run->results);
    run->text = results_summary_text(run->summary);
    if (run->begun && options->end != NULL &&
        options->end(run->world, options->ctx, &error) != SIM_OK) {
        file_failed(run, &error);
    }
    save_apps(run);
    write_files(run);
}

sim_err_t results_together(const sim_ranks_t *ranks, sim_err_t result, world_error_t *error)
{
    unsigned worst = 0;
    if (ranks == NULL || results__ranks_agree(ranks, result == SIM_OK, &worst)) {
        return result;
    }
    if (ranks->rank != worst) {
        error->text[0] = '\0';
        return result == SIM_OK ? SIM_ERR_STATE : result;
    }
    if (worst > 0) {
        char *const text = sim_strdup(error->text);
        (void)world_fail(error, result, NULL, "rank %u: %s", worst, text);
        sim_free(text);
    }
    return result;
}

// Builds the world, in ranks as a part of them.
static sim_err_t build(results_run_t *run, world_error_t *error)
{
    const results_options_t *const options = run->options;
    sim_err_t result = SIM_OK;
    if (options->ranks != NULL) {
        result = world_ranks_check(run->scenario, error);
    }
    if (result == SIM_OK) {
        result =
            world_create_part(run->scenario, WORLD_BUILD_ALL, options->ranks, &run->world, error);
    }
    if (result == SIM_OK) {
        result = world_survey_check(run->world, error);
    }
    if (result == SIM_OK && options->ranks != NULL) {
        result = world_ranks_check_built(run->world, error);
    }
    return result;
}

sim_err_t results_execute(world_scenario_t *scenario, const results_options_t *options,
                          results_run_t **run, world_error_t *error)
{
    results_run_t *const made = sim_alloc(sizeof(*made));
    made->options = options;
    made->scenario = scenario;
    sim_err_t result = SIM_OK;
    if (options->folder != NULL && leads(made)) {
        const char *const file = options->scenario_file;
        result = results_folder_check(options->folder, file != NULL ? file : "", error);
    }
    if (result == SIM_OK) {
        result = build(made, error);
    }
    result = results_together(options->ranks, result, error);
    if (result == SIM_OK && options->ranks != NULL) {
        result = results__same_inputs(options->ranks, made->world, options->folder != NULL, error);
        result = results_together(options->ranks, result, error);
    }
    if (result == SIM_OK && options->built != NULL) {
        result = options->built(made->world, options->ctx, error);
        result = results_together(options->ranks, result, error);
    }
    if (result == SIM_OK) {
        result = results_together(options->ranks, prepare(made, error), error);
    }
    if (result == SIM_OK && options->ranks != NULL) {
        unsigned worst = 0;
        made->failed = !results__ranks_agree(options->ranks, !made->failed, &worst);
    }
    if (result == SIM_OK && !made->failed && options->begin != NULL) {
        world_error_t other;
        made->begun = options->begin(made->world, made->stage, options->ctx, &other) == SIM_OK;
        if (!made->begun) {
            file_failed(made, &other);
        }
    }
    if (result == SIM_OK && !made->failed) {
        simulate(made);
        if (leads(made)) {
            finish(made);
        }
    }
    made->options = NULL;
    results_lock_release(made->lock);
    made->lock = NULL;
    if (result != SIM_OK) {
        results_run_destroy(made);
        return result;
    }
    *run = made;
    return SIM_OK;
}

void results_run_destroy(results_run_t *run)
{
    if (run == NULL) {
        return;
    }
    if (run->observers != NULL) {
        world_error_t ignored;
        results_t results = {0};
        const sim_err_t closed = results_observers_close(run->observers, &results, &ignored);
        (void)closed;
        results_fini(&results);
    }
    if (run->has_results) {
        results_fini(&run->results);
    }
    json_decref(run->summary);
    sim_free(run->text);
    remove_scratch(run);
    sim_free(run->stage);
    world_destroy(run->world);
    sim_free(run);
}

// -- looking

const world_t *results_world(const results_run_t *run)
{
    return run->world;
}

results_t *results_of(results_run_t *run)
{
    return run->has_results ? &run->results : NULL;
}

const json_t *results_json(const results_run_t *run)
{
    return run->summary;
}

const char *results_text(const results_run_t *run)
{
    return run->text;
}

bool results_files_whole(const results_run_t *run)
{
    return !run->failed;
}

const char *results_error(const results_run_t *run)
{
    return run->failed ? run->error.text : "";
}

// Returns the element of a list by its number, or by its name, as comparisons write it.
static const json_t *element_at(const json_t *list, const char *text, size_t size)
{
    static const char *const names[] = {"size", "name", "kind", "port"};
    char *end = NULL;
    const unsigned long index = strtoul(text, &end, 10);
    if (size > 0 && end == text + size && text[0] >= '0' && text[0] <= '9') {
        return json_array_get(list, index);
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *const element = json_array_get(list, i);
        for (size_t n = 0; n < SIM_COUNT_OF(names); n++) {
            const char *const name = json_string_value(json_object_get(element, names[n]));
            if (name != NULL && strlen(name) == size && memcmp(name, text, size) == 0) {
                return element;
            }
        }
    }
    return NULL;
}

const json_t *results_json_at(const json_t *object, const char *path)
{
    while (object != NULL && *path != '\0') {
        if (*path == '[') {
            const size_t size = strcspn(path + 1, "]");
            if (path[1 + size] != ']') {
                return NULL;
            }
            object = element_at(object, path + 1, size);
            path += size + 2;
        } else {
            const size_t size = strcspn(path, ".[");
            char *const key = sim_format("%.*s", (int)size, path);
            object = json_object_get(object, key);
            sim_free(key);
            path += size;
        }
        path += *path == '.';
    }
    return object;
}

bool results_number(const results_run_t *run, const char *path, double *number)
{
    const json_t *const value = results_json_at(run->summary, path);
    if (!json_is_number(value)) {
        return false;
    }
    *number = json_number_value(value);
    return true;
}
