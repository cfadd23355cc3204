// SPDX-License-Identifier: Apache-2.0
// cli/serve/conversation.c - one client's session: from the scenario to its results.
#include "cli/serve/serve.h"

#include "results/stage.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void on_built(world_t *world, void *ctx)
{
    serve_conversation_t *const conversation = ctx;
    conversation->world = world;
    for (size_t i = 0; i < world->app_count; i++) {
        app_session_t *const session = app_session_of(world->apps[i]);
        conversation->session = session != NULL ? session : conversation->session;
    }
    SIM_CHECK(conversation->session != NULL);
}

// Removes what a session without results has made in its folder, and the folder if nothing else is
// in it. The lock is the process's own, which ends.
static void remove_folder(const char *folder)
{
    static const char *const names[] = {"/.unfinished/.lock", "/.unfinished", ""};
    if (folder == NULL) {
        return;
    }
    results_stage_discard(folder);
    for (size_t i = 0; i < SIM_COUNT_OF(names); i++) {
        char *const name = sim_format("%s%s", folder, names[i]);
        (void)remove(name);
        sim_free(name);
    }
}

// Answers lines until the client finishes or goes, then lets everything that was submitted end.
static sim_ended_t drive(world_t *world, void *ctx)
{
    serve_conversation_t *const conversation = ctx;
    size_t size = 0;
    const char *line = serve_line(&conversation->lines, &size);
    while (line != NULL && serve_call(conversation, line, size)) {
        line = serve_line(&conversation->lines, &size);
    }
    if (conversation->lines.too_long) {
        serve_refuse(conversation, NULL, "json", "a line has more than 16 MiB");
    }
    if (!conversation->finished) {
        serve_flush(&conversation->lines);
        remove_folder(conversation->folder);
        _exit(CLI_EXIT_DONE); // the client has gone without its results
    }
    (void)serve_step(conversation, SIM_TIME_END);
    return sim_last_step(world->sim);
}

static void put_results(serve_conversation_t *conversation, results_run_t *run)
{
    serve_begin(conversation, conversation->finish_id);
    serve_field_json(conversation, "summary", results_json(run));
    if (conversation->folder != NULL) {
        serve_field_text(conversation, "folder", conversation->folder);
        serve_field_raw(conversation, "whole", results_files_whole(run) ? "true" : "false");
    }
    serve_end(conversation);
}

static sim_err_t load(const cli_args_t *args, world_scenario_t **scenario, world_error_t *error)
{
    sim_err_t result = world_scenario_load(NULL,
                                           args->operands[0],
                                           args->overrides,
                                           args->override_count,
                                           scenario,
                                           error);
    if (result == SIM_OK) {
        result = world_scenario_for_session(*scenario, error);
    }
    return result;
}

int serve_conversation(const cli_args_t *args, int in, int out, const char *folder)
{
    serve_conversation_t conversation = {
        .lines = {.in = in, .out = out},
        .args = args,
        .folder = folder == NULL ? NULL : sim_strdup(folder),
        .handover = -1,
    };
    const results_options_t options = {
        .folder = folder,
        .scenario_file = args->operands[0],
        .drive = drive,
        .built = on_built,
        .ctx = &conversation,
    };
    results_run_t *run = NULL;
    world_error_t error = {.text = ""};
    sim_err_t result = load(args, &conversation.scenario, &error);
    if (result == SIM_OK) {
        result = results_execute(conversation.scenario, &options, &run, &error);
    }
    if (result != SIM_OK) {
        serve_refuse(&conversation, NULL, "scenario", error.text);
    } else {
        put_results(&conversation, run);
    }
    const bool whole = result == SIM_OK && results_files_whole(run);
    serve_lines_fini(&conversation.lines);
    for (size_t i = 0; i < conversation.tag_count; i++) {
        json_decref(conversation.tags[i]);
    }
    sim_free(conversation.tags);
    json_decref(conversation.finish_id);
    sim_free(conversation.folder);
    results_run_destroy(run);
    world_scenario_destroy(conversation.scenario);
    return result != SIM_OK ? CLI_EXIT_BAD_INPUT : whole ? CLI_EXIT_DONE : CLI_EXIT_FAILED;
}
