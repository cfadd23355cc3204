// SPDX-License-Identifier: Apache-2.0
// cli/serve/conversation.c - one client's session: from the scenario to its results.
#include "cli/serve/answers.h"
#include "cli/serve/calls.h"
#include "cli/serve/limits.h"
#include "cli/serve/lines.h"
#include "cli/serve/serve.h"

#include "kernel/steps.h"
#include "results/stage.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sim_err_t on_built(world_t *world, void *ctx, world_error_t *error)
{
    serve_conversation_t *const conversation = ctx;
    (void)error;
    conversation->world = world;
    world->confined = conversation->confined;
    serve_watch(conversation->limits, world->sim, conversation->lines.out);
    for (size_t i = 0; i < world->app_count; i++) {
        app_submitted_t *const session = app_submitted_of(world->apps[i]);
        conversation->session = session != NULL ? session : conversation->session;
    }
    SIM_CHECK(conversation->session != NULL);
    return SIM_OK;
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

static void refuse_reason(serve_conversation_t *conversation, const json_t *id)
{
    char *const text = serve_reason_text(conversation->limits, serve_reason());
    serve_refuse(conversation, id, "limit", text);
    sim_free(text);
}

// Reads the first call, where the server asks for a token. Returns false after having refused it.
// The world is built only for clients that have the token.
static bool check_token(serve_conversation_t *conversation)
{
    size_t size = 0;
    const char *const token = conversation->limits->token;
    const char *const line = token == NULL ? NULL : serve_line(&conversation->lines, &size);
    if (token == NULL) {
        return true;
    }
    json_t *const call = line == NULL ? NULL : json_loadb(line, size, 0, NULL);
    const char *const given = json_string_value(json_object_get(call, "token"));
    const size_t length = strlen(token);
    unsigned char differs = given == NULL || strlen(given) != length;
    for (size_t i = 0; i < length && differs == 0; i++) {
        differs |= (unsigned char)(given[i] ^ token[i]);
    }
    json_decref(call);
    if (differs != 0) {
        serve_refuse(conversation, NULL, "token",
                     "the first call was not hello with the server's token; the session ends");
        return false;
    }
    conversation->first_line = sim_strdup(line);
    return true;
}

// Answers lines until the client finishes or goes, then lets everything that was submitted end.
static sim_ended_t drive(world_t *world, void *ctx)
{
    serve_conversation_t *const conversation = ctx;
    size_t size = 0;
    const char *line = conversation->first_line;
    if (line != NULL) {
        size = strlen(line);
    } else {
        line = serve_line(&conversation->lines, &size);
    }
    while (line != NULL && serve_call(conversation, line, size)) {
        line = serve_line(&conversation->lines, &size);
    }
    if (conversation->lines.too_long) {
        serve_refuse(conversation, NULL, "limit",
                     "a line has more than 16 MiB, which is the maximum; the session ends");
    }
    if (conversation->lines.unread) {
        serve_refuse(conversation, NULL, "limit",
                     "more than 64 MiB of calls came while the client read no answer; read the "
                     "answers between; the session ends");
    }
    if (serve_reason() == SERVE_REASON_IDLE) {
        refuse_reason(conversation, NULL);
    }
    if (conversation->finished) {
        serve_flush(&conversation->lines);
        (void)app_submitted_run(conversation->session, SIM_TIME_END, false);
        if (serve_reason() != SERVE_REASON_NONE) {
            refuse_reason(conversation, conversation->finish_id);
            conversation->finished = false;
        }
    }
    if (!conversation->finished) {
        serve_flush(&conversation->lines);
        remove_folder(conversation->folder);
        _exit(CLI_EXIT_DONE); // the client has gone without its results
    }
    serve_watch_ends();
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
    sim_err_t result = world_scenario_load(NULL, args->operands[0], args->overrides,
                                           args->override_count, scenario, error);
    if (result == SIM_OK) {
        result = world_scenario_for_session(*scenario, error);
    }
    return result;
}

int serve_conversation(const cli_args_t *args, const serve_limits_t *limits, int in, int out,
                       const char *folder)
{
    serve_conversation_t conversation = {
        .lines = {.in = in, .out = out, .idle_ms = limits->idle_ms},
        .args = args,
        .limits = limits,
        .confined = args->listen != NULL && strncmp(args->listen, "127.", 4) == 0,
        .folder = folder == NULL ? NULL : sim_strdup(folder),
        .first = getpid(),
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
    serve_end_by_signals();
    serve_go_on_here();
    if (!check_token(&conversation)) {
        serve_lines_fini(&conversation.lines);
        sim_free(conversation.folder);
        return CLI_EXIT_BAD_INPUT;
    }
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
    sim_free(conversation.first_line);
    sim_free(conversation.folder);
    results_run_destroy(run);
    world_scenario_destroy(conversation.scenario);
    return result != SIM_OK ? CLI_EXIT_BAD_INPUT : whole ? CLI_EXIT_DONE : CLI_EXIT_FAILED;
}
