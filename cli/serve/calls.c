// SPDX-License-Identifier: Apache-2.0
// cli/serve/calls.c - carries out the calls of a session: lines of JSON in, lines of JSON out.
//
// Each call is an object {"call": NAME, ...} with an "id" that the answer repeats. Times are whole
// picoseconds, sizes bytes. docs/sessions.md
#include "cli/serve/calls.h"
#include "cli/serve/answers.h"
#include "cli/serve/limits.h"
#include "cli/serve/next_completion.h"
#include "cli/serve/serve.h"
#include "cli/serve/snapshot.h"
#include "world/names.h"

#include "world/format.h"

#include <string.h>

#define MARKS_MAX 64u
#define SLACK_PS_MIN (100 * SIM_PS_PER_NS) // smaller steps take longer than an exact answer

typedef serve_call_t call_t;

void serve_call_refuse(const serve_call_t *call, const char *code, const char *text)
{
    serve_refuse(call->conversation, call->id, code, text);
}

static void refuse(const call_t *call, const char *code, const char *text)
{
    serve_call_refuse(call, code, text);
}

// -- steps

sim_ended_t serve_step(serve_conversation_t *conversation, sim_time_t stop_ps)
{
    app_submitted_release(conversation->session, stop_ps);
    const sim_ended_t ended = sim_step(conversation->world->sim, stop_ps);
    conversation->now_ps = stop_ps;
    return ended;
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

static bool call_now(const call_t *call)
{
    serve_begin(call->conversation, call->id);
    serve_field_number(call->conversation, "now_ps", call->conversation->now_ps);
    serve_end(call->conversation);
    return true;
}

static bool call_advance(const call_t *call)
{
    serve_conversation_t *const conversation = call->conversation;
    uint64_t until_ps = 0;
    if (!serve_take_number(call, call->arguments, "until_ps", SIM_TIME_END, NULL, &until_ps)) {
        return true;
    }
    if (until_ps < conversation->now_ps) {
        refuse(call, "past", "until_ps: the time has passed");
        return true;
    }
    const sim_ended_t ended = serve_step(conversation, until_ps);
    if (serve_reason() == SERVE_REASON_NONE) {
        serve_answer_progress(conversation, call->id, ended);
    }
    return true;
}

// Says why a copy came to no end, unless the session has to end: then serve_call says why.
static void refuse_try(const call_t *call, const char *text)
{
    if (serve_reason() == SERVE_REASON_NONE) {
        refuse(call, "system", text);
    }
}

static bool call_next_completion(const call_t *call)
{
    static const uint64_t never = SIM_TIME_END - 1;
    static const uint64_t none_ps = 0;
    serve_conversation_t *const conversation = call->conversation;
    const json_t *const arguments = call->arguments;
    uint64_t until_ps = 0;
    uint64_t slack_ps = 0;
    sim_ended_t ended = SIM_ENDED_DONE;
    if (!serve_take_number(call, arguments, "until_ps", SIM_TIME_END - 1, &never, &until_ps) ||
        !serve_take_number(call, arguments, "slack_ps", SIM_PS_PER_S, &none_ps, &slack_ps)) {
        return true;
    }
    if (until_ps < conversation->now_ps) {
        refuse(call, "past", "until_ps: the time has passed");
        return true;
    }
    const bool stays = json_object_get(arguments, "until_ps") == NULL;
    if (slack_ps >= SLACK_PS_MIN) {
        ended = serve_go_on(conversation, until_ps, slack_ps);
    } else if (app_submitted_open(conversation->session) > 0 &&
               app_submitted_ended(conversation->session) == 0 &&
               !serve_next(conversation, until_ps, stays, &ended)) {
        refuse_try(call, "the system gives no process or no memory for a look ahead");
        return true;
    }
    if (serve_reason() == SERVE_REASON_NONE) {
        serve_answer_progress(conversation, call->id, ended);
    }
    return true;
}

static bool call_cancel(const call_t *call)
{
    uint64_t transfer = 0;
    if (!serve_take_number(call, call->arguments, "transfer", INT64_MAX, NULL, &transfer)) {
        return true;
    }
    serve_changed(call->conversation);
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

// The result of an estimate.
typedef struct estimate {
    serve_found_t found;
    sim_time_t at_ps;
    serve_refusal_t refusal;
} estimate_t;

// Submits on a copy of the session and looks when that ends.
static void try_submit(serve_conversation_t *conversation, const void *ctx, void *result)
{
    const call_t *const call = ctx;
    estimate_t *const estimate = result;
    uint64_t number = 0;
    memset(estimate, 0, sizeof(*estimate));
    conversation->refusal = &estimate->refusal;
    if (serve_submit_one(call, call->arguments, &number, &estimate->at_ps)) {
        const serve_ask_t ask = {SIM_TIME_END - 1, number, 1};
        serve_look_ahead(conversation, &ask, &estimate->found);
    }
}

static bool call_estimate(const call_t *call)
{
    serve_conversation_t *const conversation = call->conversation;
    estimate_t estimate;
    if (!serve_try(conversation, try_submit, call, &estimate, sizeof(estimate))) {
        refuse_try(call, "the system gives no process or no memory for an estimate");
        return true;
    }
    if (estimate.refusal.code[0] != '\0') {
        refuse(call, estimate.refusal.code, estimate.refusal.text);
        return true;
    }
    if (estimate.found.count == 0) {
        refuse(call, "transfer", "the transfer would not come to an end, or cannot begin");
        return true;
    }
    serve_begin(conversation, call->id);
    serve_field_number(conversation, "end_ps", estimate.found.times_ps[0]);
    serve_field_number(conversation, "took_ps", estimate.found.times_ps[0] - estimate.at_ps);
    serve_field_outcome(conversation, estimate.found.outcome, estimate.found.status);
    serve_end(conversation);
    return true;
}

static bool call_mark(const call_t *call)
{
    bool back = false;
    if (call->conversation->marks >= MARKS_MAX) {
        refuse(call, "mark", "64 marks are kept, which is the maximum number; come back first");
        return true;
    }
    if (!serve_mark(call->conversation, &back)) {
        refuse(call, "system", "the system gives no process for a mark");
        return true;
    }
    // The answer to "back" has the id of that call, which the child has answered.
    if (!back) {
        serve_begin(call->conversation, call->id);
        serve_field_number(call->conversation, "marks", call->conversation->marks);
        serve_field_number(call->conversation, "now_ps", call->conversation->now_ps);
        serve_end(call->conversation);
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
    serve_begin(conversation, call->id);
    serve_field_number(conversation, "marks", conversation->marks - 1);
    serve_end(conversation);
    serve_back(conversation);
    return false;
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
    {"estimate", call_estimate},
    {"mark", call_mark},
    {"back", call_back},
    {"finish", call_finish},
};

static bool dispatch(const call_t *call)
{
    const char *const name = json_string_value(json_object_get(call->arguments, "call"));
    for (size_t i = 0; name != NULL && i < SIM_COUNT_OF(calls); i++) {
        if (strcmp(name, calls[i].name) == 0) {
            return calls[i].fn(call);
        }
    }
    refuse(call, "call",
           "call: expected hello, now, submit, advance, next_completion, cancel, estimate, mark, "
           "back or finish");
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
    const call_t call = {conversation, arguments, json_object_get(arguments, "id")};
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
