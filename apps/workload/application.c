// SPDX-License-Identifier: Apache-2.0
// apps/workload/application.c - the application `workload`: a schedule of messages and
// computations, read from a file and run by hosts. docs/models/workload.md
#include "apps/flow_file.h"
#include "apps/hosts.h"
#include "apps/workload/applications.h"
#include "apps/workload/formats/format.h"
#include "apps/workload/run_options.h"
#include "apps/workload/workload.h"

#include "apps/app_internal.h"
#include "kernel/attribute.h"

#include <string.h>

#define PREFIX "traffic.workload"

typedef enum aicb_semantics { AICB_STATED, AICB_SIMAI } aicb_semantics_t;

typedef struct workload_config {
    char *file;
    uint64_t ranks; // 0: as many as there are places
    uint64_t iterations;
    uint64_t own_operations;
    aicb_semantics_t aicb;
    app__workload_options_t options;
} workload_config_t;

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(workload_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(STRING, "file", file, "", "schedule of GOAL (text or binary), workload text of AICB or SimAI, Chakra trace, or htsim's connections (.cm)"),
    ATTR(COUNT, "ranks", ranks, "0", "0", "1000000", "number of ranks of a file that does not state it; 0: as many as NICs fit"),
    ATTR(COUNT, "iterations", iterations, "1", "1", "10000", "number of training iterations: passes over the layers of an AICB file, whose results are then means of an iteration"),
    ATTR(COUNT, "own-operations", own_operations, "16777216", "0", "268435456", "number of operations and calls of an AICB file above which equal ranks share them; it changes memory use, not results"),
    ATTR(ENUM, "aicb-semantics", aicb, "stated", "stated|simai", "meaning of an AICB file: all that it states, or what SimAI does with it, which leaves some of it out"),
    APP__WORKLOAD_ATTRS(PREFIX, workload_config_t, options),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "application", workload_config_t, attrs);

// Returns the ranks to make of a file that does not say how many it has: `ranks`, or one for each
// NIC. 0: the hosts are unknown, which placing the ranks reports.
static uint32_t ranks_to_make(const app_context_t *context, const workload_config_t *config)
{
    app__places_t places;
    sim_message_t ignored = {.text = ""};
    if (config->ranks > 0 ||
        app__places_find(context, "hosts", config->options.hosts, &places, &ignored) != SIM_OK) {
        return (uint32_t)config->ranks;
    }
    const size_t count = places.list.count;
    app__places_fini(&places);
    return count < APP__RANKS_MAX ? (uint32_t)count : APP__RANKS_MAX;
}

static sim_err_t read_schedule(const app_context_t *context, const workload_config_t *config,
                               app__schedule_t **schedule, sim_message_t *message)
{
    char *text = NULL;
    size_t size_bytes = 0;
    if (config->file[0] == '\0') {
        return sim_fail_about(message, SIM_ERR_INVALID, "file",
                              ": the file is missing, expected the name of a workload's file "
                              "(GOAL, AICB, Chakra)");
    }
    sim_err_t error = context->read_file(config->file, &text, &size_bytes, message, context->ctx);
    if (error == SIM_OK) {
        const app__workload_file_t file = {
            .name = config->file,
            .text = text,
            .size_bytes = size_bytes,
            .ranks = ranks_to_make(context, config),
            .iterations = (uint32_t)config->iterations,
            .own_operations_max = config->own_operations,
            .aicb_simai = config->aicb == AICB_SIMAI,
            .read_file = context->read_file,
            .ctx = context->ctx,
        };
        error = app__format_read(&file, schedule, message);
        if (error == SIM_OK && config->iterations > 1 &&
            app__format_of(&file) != &app__format_aicb) {
            app__schedule_destroy(*schedule);
            error =
                sim_fail_about(message, SIM_ERR_INVALID, "iterations",
                               ": %" PRIu64 ", but only workload texts of AICB have passes that "
                               "can be repeated, expected 1",
                               config->iterations);
        }
        sim_free(text);
    }
    return error;
}

// -- htsim's connection matrices

// Refuses attributes that a matrix of connections gives no meaning: all but `file`.
static sim_err_t check_matrix(const app_context_t *context, const workload_config_t *config,
                              sim_message_t *message)
{
    workload_config_t defaults;
    sim_err_t error = SIM_OK;
    if (context->program) {
        return sim_fail_about(message, SIM_ERR_INVALID, "file",
                              ": %.200s lists connections, which are no program of ranks; expected "
                              "a schedule, as a session submits it",
                              config->file);
    }
    sim_attrs_default(&attr_table, &defaults);
    for (size_t i = 0; i < attr_table.count && error == SIM_OK; i++) {
        const char *const name = attrs[i].path + strlen(PREFIX ".");
        char *const given = sim_attr_get(&attrs[i], config);
        char *const left = sim_attr_get(&attrs[i], &defaults);
        if (strcmp(name, "file") != 0 && strcmp(given, left) != 0) {
            error = sim_fail_about(message, SIM_ERR_INVALID, name,
                                   ": %.60s, but %.200s lists connections, which are flows from "
                                   "host to host; expected '%.60s' with a connection matrix",
                                   given, config->file, left);
        }
        sim_free(given);
        sim_free(left);
    }
    sim_attrs_fini(&attr_table, &defaults);
    return error;
}

// Returns whether the file is a matrix of connections. A file that cannot be read is none; reading
// it as a schedule says why.
static bool is_matrix(const app_context_t *context, const char *name)
{
    char *text = NULL;
    size_t size = 0;
    sim_message_t ignored = {.text = ""};
    if (name[0] == '\0' ||
        context->read_file(name, &text, &size, &ignored, context->ctx) != SIM_OK) {
        return false;
    }
    const app__workload_file_t file = {.name = name, .text = text, .size_bytes = size};
    const bool matrix =
        app__format_of(&file) == NULL && app_flow_file_detect(text, size) == APP_FLOW_HTSIM;
    sim_free(text);
    return matrix;
}

// Prints which parts of a file are left out.
static void print_warnings(const app_context_t *context, const app__schedule_t *schedule)
{
    static const char prefix[] = "warning: ";
    for (size_t i = 0; i < schedule->note_count && context->note != NULL; i++) {
        if (strncmp(schedule->notes[i], prefix, sizeof(prefix) - 1) == 0) {
            context->note(schedule->notes[i], context->ctx);
        }
    }
}

static sim_err_t workload_create(const app_context_t *context, const void *config_void, app_t **app,
                                 sim_message_t *message)
{
    const workload_config_t *const config = config_void;
    app__schedule_t *schedule = NULL;
    app__workload_t *workload = NULL;
    app__workload_options_t options = config->options;
    if (is_matrix(context, config->file)) {
        const sim_err_t result = check_matrix(context, config, message);
        return result == SIM_OK ? app__flows_create_from(context, config->file, app, message)
                                : result;
    }
    options.title = config->file;
    sim_err_t error = read_schedule(context, config, &schedule, message);
    if (error == SIM_OK) {
        SIM_CHECK(schedule != NULL);
        print_warnings(context, schedule);
        error =
            app__workload_create(context, &app_workload, &options, schedule, &workload, message);
    }
    if (error == SIM_OK) {
        workload->iterations = (uint32_t)config->iterations;
        *app = &workload->app;
    }
    return error;
}

const app_ops_t app_workload = {
    .name = "workload",
    .help = "a schedule of messages and computations from a file (GOAL, AICB, Chakra, .cm)",
    .attrs = &attr_table,
    .create = workload_create,
    APP__WORKLOAD_OPS,
};
