// SPDX-License-Identifier: Apache-2.0
// cli/serve/calls.c - carries out the calls of a session: lines of JSON in, lines of JSON out.
//
// Each call is an object {"call": NAME, ...} with an "id" that the answer repeats. Times are whole
// picoseconds, sizes bytes. docs/sessions.md
#include "cli/serve/calls.h"
#include "cli/serve/answers.h"
#include "cli/serve/estimate.h"
#include "cli/serve/limits.h"
#include "cli/serve/serve.h"
#include "cli/serve/snapshot.h"
#include "world/names.h"

#include "world/format.h"

#include <string.h>

typedef serve_call_t call_t;

void serve_call_refuse(const serve_call_t *call, const char *code, const char *text)
{
    serve_refuse(call->conversation, call->id, code, text);
}

static void refuse(const call_t *call, const char *code, const char *text)
{
    serve_call_refuse(call, code, text);
}

// -- the calls; each returns false when the conversation is over

static bool call_hello(const call_t *call)
{
    serve_conversation_t *const conversation = call->conversation;
    const world_t *const world = conversation->world;
    json_t *const hosts = json_array();
    for (uint32_t i = 0; i < world->nic_count; i++) {
        (void)json_array_append_new(hosts, json_string(world_interface_name(world, i)));
    }
    serve_begin(conversation, call->id);
    serve_field_number(conversation, "protocol", SERVE_PROTOCOL);
    serve_field_text(conversation, "version", ROCESIM_VERSION);
    serve_field_json(conversation, "hosts", hosts);
    serve_end(conversation);
    json_decref(hosts);
    return true;
}

static sim_time_t now_ps(const call_t *call)
{
    return app_submitted_now_ps(call->conversation->session);
}

static bool call_now(const call_t *call)
{
    serve_begin(call->conversation, call->id);
    serve_field_number(call->conversation, "now_ps", now_ps(call));
    serve_end(call->conversation);
    return true;
}

// Runs on (app_submitted_run). Answers to the calls before do not wait for that.
static sim_ended_t run_on(const call_t *call, sim_time_t until_ps, bool to_completion)
{
    serve_flush(&call->conversation->lines);
    return app_submitted_run(call->conversation->session, until_ps, to_completion);
}

// Answers with what has ended, unless the session has to end: then serve_call says why.
static void answer_progress(const call_t *call, sim_ended_t ended)
{
    if (serve_reason() == SERVE_REASON_NONE) {
        serve_answer_progress(call->conversation, call->id, ended);
    }
}

static bool call_advance(const call_t *call)
{
    uint64_t until_ps = 0;
    if (!serve_take_number(call, call->arguments, "until_ps", SIM_TIME_END, NULL, &until_ps)) {
        return true;
    }
    if (until_ps < now_ps(call)) {
        refuse(call, "past", "until_ps: the time has passed");
        return true;
    }
    answer_progress(call, run_on(call, until_ps, false));
    return true;
}

static bool call_next_completion(const call_t *call)
{
    static const uint64_t never = SIM_TIME_END - 1;
    static const uint64_t none_ps = 0;
    app_submitted_t *const session = call->conversation->session;
    uint64_t until_ps = 0;
    uint64_t slack_ps = 0; // of clients that do not need the exact time, which costs nothing more
    sim_ended_t ended = SIM_ENDED_UNTIL;
    if (!serve_take_number(call, call->arguments, "until_ps", never, &never, &until_ps) ||
        !serve_take_number(call, call->arguments, "slack_ps", SIM_PS_PER_S, &none_ps, &slack_ps)) {
        return true;
    }
    if (until_ps < now_ps(call)) {
        refuse(call, "past", "until_ps: the time has passed");
        return true;
    }
    if (app_submitted_open(session) > 0 && app_submitted_ended(session) == 0) {
        ended = run_on(call, until_ps, true);
    }
    if (ended == SIM_ENDED_DONE && app_submitted_ended(session) == 0) {
        // Nothing is left to happen, though transfers are open.
        if (json_object_get(call->arguments, "until_ps") != NULL) {
            (void)run_on(call, until_ps, false);
        }
        ended = SIM_ENDED_STALLED;
    }
    answer_progress(call, ended);
    return true;
}

static bool call_cancel(const call_t *call)
{
    uint64_t transfer = 0;
    if (!serve_take_number(call, call->arguments, "transfer", INT64_MAX, NULL, &transfer)) {
        return true;
    }
    const sim_err_t error = app_submitted_cancel(call->conversation->session, transfer);
    if (error == SIM_OK) {
        serve_begin(call->conversation, call->id);
        serve_end(call->conversation);
    } else {
        refuse(call, "transfer",
               error == SIM_ERR_STATE ? "transfer: it has ended, or was cancelled before"
                                      : "transfer: there is no such transfer");
    }
    return true;
}

static void answer_marks(const call_t *call, unsigned marks, sim_time_t at_ps)
{
    serve_begin(call->conversation, call->id);
    serve_field_number(call->conversation, "marks", marks);
    serve_field_number(call->conversation, "now_ps", at_ps);
    serve_end(call->conversation);
}

static bool call_mark(const call_t *call)
{
    bool back = false;
    if (call->conversation->marks >= SERVE_MARKS_MAX) {
        refuse(
            call, "mark",
            "64 marks are kept, which is the maximum number; come back to one or drop one first");
        return true;
    }
    if (!serve_mark(call->conversation, &back)) {
        refuse(call, "system", "the system gives no process for a mark");
        return true;
    }
    // The answer to "back" has the id of that call, which the child has answered.
    if (!back) {
        answer_marks(call, call->conversation->marks, now_ps(call));
    }
    return true;
}

static bool call_back(const call_t *call)
{
    serve_conversation_t *const conversation = call->conversation;
    if (conversation->marks == 0) {
        refuse(call, "mark", "there is no mark to come back to");
        return true;
    }
    const unsigned left = conversation->marks - 1;
    answer_marks(call, left, conversation->marked_ps[left]);
    serve_back(conversation);
    return false;
}

static bool call_drop(const call_t *call)
{
    serve_conversation_t *const conversation = call->conversation;
    if (conversation->marks == 0) {
        refuse(call, "mark", "there is no mark to drop");
        return true;
    }
    serve_drop(conversation);
    answer_marks(call, conversation->marks, now_ps(call));
    return true;
}

static bool call_finish(const call_t *call)
{
    call->conversation->finished = true;
    call->conversation->finish_id = json_incref((json_t *)(uintptr_t)call->id);
    return false;
}

typedef struct known_call {
    const char *name;
    bool (*fn)(const call_t *call);
} known_call_t;

static const known_call_t calls[] = {
    {"hello", call_hello},
    {"now", call_now},
    {"submit", serve_submit},
    {"advance", call_advance},
    {"next_completion", call_next_completion},
    {"cancel", call_cancel},
    {"estimate", serve_estimate},
    {"mark", call_mark},
    {"back", call_back},
    {"drop", call_drop},
    {"finish", call_finish},
};

static bool dispatch(const call_t *call)
{
    for (size_t i = 0; call->name != NULL && i < SIM_COUNT_OF(calls); i++) {
        if (strcmp(call->name, calls[i].name) == 0) {
            return calls[i].fn(call);
        }
    }
    refuse(call, "call",
           "call: expected hello, now, submit, advance, next_completion, cancel, estimate, mark, "
           "back, drop or finish");
    return true;
}

bool serve_call(serve_conversation_t *conversation, const char *line, size_t size)
{
    json_error_t wrong;
    json_t *const arguments = json_loadb(line, size, JSON_REJECT_DUPLICATES, &wrong);
    if (!json_is_object(arguments)) {
        char *const text = arguments == NULL ? sim_format("column %d: %s", wrong.column, wrong.text)
                                             : sim_strdup("expected an object");
        serve_refuse(conversation, NULL, "json", text);
        sim_free(text);
        json_decref(arguments);
        return true;
    }
    const call_t call = {
        .conversation = conversation,
        .name = json_string_value(json_object_get(arguments, "call")),
        .arguments = arguments,
        .id = json_object_get(arguments, "id"),
    };
    const uint64_t answers = conversation->answers;
    bool goes_on = true;
    serve_call_begins();
    if (serve_look() == SERVE_REASON_NONE) {
        goes_on = dispatch(&call);
    }
    // A call that was answered before the limit was found has its answer; the next one is refused.
    if (serve_reason() != SERVE_REASON_NONE && conversation->answers == answers) {
        char *const text = serve_reason_text(conversation->limits, serve_reason());
        refuse(&call, "limit", text);
        sim_free(text);
        goes_on = false;
    }
    json_decref(arguments);
    return goes_on;
}
