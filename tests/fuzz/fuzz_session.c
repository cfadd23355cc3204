// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/fuzz/fuzz_session.c - any bytes as lines to a session: each gets one answer, in JSON.
//
// Calls that need another process (mark, back, estimate, an exact next_completion), finish, and
// what asks for much memory are left out. The network is a star that runs 20 us.
#include "cli/serve/calls.h"
#include "cli/serve/limits.h"
#include "cli/serve/lines.h"
#include "tests/fuzz/fuzz.h"

#include "cli/serve/serve.h"
#include "world/world.h"

#include <string.h>

static const char scenario_text[] = "until: 20us\n"
                                    "topology: {star: {hosts: 4, delay: 500ns}}\n"
                                    "nic: {congestion-control: none, mtu: 4096}\n";

// Returns whether a line is left out.
static bool is_left_out(const char *line, size_t size)
{
    static const char *const words[] = {"mark",   "back",     "estimate", "finish",
                                        "repeat", "training", "channels", "per-node"};
    char *const text = sim_alloc_array(size + 1, 1);
    memcpy(text, line, size);
    bool found = strstr(text, "next_completion") != NULL && strstr(text, "slack_ps") == NULL;
    for (size_t i = 0; i < SIM_COUNT_OF(words); i++) {
        found = found || strstr(text, words[i]) != NULL;
    }
    // An escape may hide a word.
    found = found || strstr(text, "\\u") != NULL || strlen(text) != size;
    sim_free(text);
    return found;
}

// Carries out a line and checks that it has one answer.
static bool carry_out(serve_conversation_t *conversation, const char *line, size_t size)
{
    serve_lines_t *const lines = &conversation->lines;
    const uint64_t before = conversation->answers;
    lines->output_count = 0;
    lines->broken = false;
    const bool goes_on = serve_call(conversation, line, size);
    SIM_CHECKF(conversation->answers == before + 1, "%" PRIu64 " answers",
               conversation->answers - before);
    if (!lines->broken) { // a long answer has been written, which fails
        SIM_CHECK(lines->output_count > 0 && lines->output[lines->output_count - 1] == '\n');
        json_t *const answer = json_loadb(lines->output, lines->output_count, 0, NULL);
        SIM_CHECKF(json_is_boolean(json_object_get(answer, "ok")), "%.*s", (int)lines->output_count,
                   lines->output);
        json_decref(answer);
    }
    return goes_on;
}

static void talk(serve_conversation_t *conversation, const char *text, size_t size)
{
    bool goes_on = true;
    for (size_t at = 0; at < size && goes_on;) {
        const char *const end = memchr(text + at, '\n', size - at);
        const size_t length = end == NULL ? size - at : (size_t)(end - (text + at));
        if (!is_left_out(text + at, length)) {
            goes_on = carry_out(conversation, text + at, length);
        }
        at += length + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const serve_limits_t no_limits;
    serve_conversation_t conversation = {
        .lines = {.in = -1, .out = -1},
        .limits = &no_limits,
        .confined = true,
    };
    world_error_t error;
    sim_err_t result = world_scenario_parse(NULL, "star.yaml", scenario_text, strlen(scenario_text),
                                            &conversation.scenario, &error);
    SIM_CHECKF(result == SIM_OK, "%s", error.text);
    result = world_scenario_for_session(conversation.scenario, &error);
    SIM_CHECKF(result == SIM_OK, "%s", error.text);
    result = world_create(conversation.scenario, WORLD_BUILD_ALL, &conversation.world, &error);
    SIM_CHECKF(result == SIM_OK, "%s", error.text);
    conversation.world->confined = true;
    conversation.session = app_submitted_of(conversation.world->apps[0]);
    if (size > 0) {
        talk(&conversation, (const char *)data, size);
    }
    conversation.lines.output_count = 0;
    serve_lines_fini(&conversation.lines);
    for (size_t i = 0; i < conversation.tag_count; i++) {
        json_decref(conversation.tags[i]);
    }
    sim_free(conversation.tags);
    world_destroy(conversation.world);
    world_scenario_destroy(conversation.scenario);
    return 0;
}
