// SPDX-License-Identifier: Apache-2.0
// cli/serve/calls.c - carries out the calls of a session: lines of JSON in, lines of JSON out.
//
// Each call is an object {"call": NAME, ...} with an "id" that the answer repeats. Times are whole
// picoseconds, sizes bytes. docs/sessions.md
#include "cli/serve/serve.h"

#include "world/format.h"

#include <string.h>

#define MARKS_MAX 64u
#define SUBMIT_MAX 100000u

// -- answers

static void put_json(serve_conversation_t *conversation, json_t *object)
{
    char *const text = json_dumps(object, JSON_COMPACT);
    SIM_CHECK(text != NULL);
    serve_put(&conversation->lines, text, strlen(text));
    serve_put(&conversation->lines, "\n", 1);
    free(text);
    json_decref(object);
}

void serve_answer(serve_conversation_t *conversation, const json_t *id, json_t *answer)
{
    json_t *const object = json_object();
    if (id != NULL) {
        (void)json_object_set(object, "id", (json_t *)(uintptr_t)id);
    }
    (void)json_object_set_new(object, "ok", json_true());
    (void)json_object_update(object, answer);
    json_decref(answer);
    put_json(conversation, object);
}

void serve_refuse(serve_conversation_t *conversation,
                  const json_t *id,
                  const char *code,
                  const char *text)
{
    json_t *const object = json_object();
    if (id != NULL) {
        (void)json_object_set(object, "id", (json_t *)(uintptr_t)id);
    }
    (void)json_object_set_new(object, "ok", json_false());
    (void)json_object_set_new(object, "error", json_string(code));
    (void)json_object_set_new(object, "message", json_string(text));
    put_json(conversation, object);
}

// A call that is being carried out.
typedef struct call {
    serve_conversation_t *conversation;
    const json_t *arguments;
    const json_t *id;
} call_t;

static void refuse(const call_t *call, const char *code, const char *text)
{
    serve_refuse(call->conversation, call->id, code, text);
}

// -- arguments

// Reads a number from 0 to `most`, or takes the one that is used where the argument is missing.
// Returns false after having answered.
static bool take_number(const call_t *call,
                        const json_t *object,
                        const char *name,
                        uint64_t most,
                        const uint64_t *missing,
                        uint64_t *number)
{
    const json_t *const value = json_object_get(object, name);
    if (value == NULL && missing != NULL) {
        *number = *missing;
        return true;
    }
    if (json_is_integer(value) && json_integer_value(value) >= 0 &&
        (uint64_t)json_integer_value(value) <= most) {
        *number = (uint64_t)json_integer_value(value);
        return true;
    }
    char *const text = sim_format("%s: expected a whole number from 0 to %" PRIu64, name, most);
    refuse(call, "argument", text);
    sim_free(text);
    return false;
}

static bool take_interface(const call_t *call,
                           const json_t *object,
                           const char *name,
                           uint32_t *interface)
{
    const world_t *const world = call->conversation->world;
    const json_t *const value = json_object_get(object, name);
    const char *const text = json_string_value(value);
    if (json_is_integer(value) && json_integer_value(value) >= 0 &&
        (uint64_t)json_integer_value(value) < world->nic_count) {
        *interface = (uint32_t)json_integer_value(value);
        return true;
    }
    for (uint32_t i = 0; text != NULL && i < world->nic_count; i++) {
        // Most clients number hosts as the network does.
        const uint32_t at = (uint32_t)((call->conversation->found + i) % world->nic_count);
        if (strcmp(world_interface_name(world, at), text) == 0) {
            call->conversation->found = at;
            *interface = at;
            return true;
        }
    }
    char *const said = text != NULL
                           ? sim_format("%s: there is no host '%s'", name, text)
                           : sim_format("%s: expected the name or the number of a host", name);
    refuse(call, "argument", said);
    sim_free(said);
    return false;
}

// Reads "at": a time, or "now", which it is where it is missing.
static bool take_start(const call_t *call, const json_t *object, sim_time_t *at_ps)
{
    const json_t *const value = json_object_get(object, "at");
    const char *const text = json_string_value(value);
    const uint64_t now_ps = call->conversation->now_ps;
    if (text != NULL && strcmp(text, "now") == 0) {
        *at_ps = now_ps;
        return true;
    }
    return take_number(call, object, "at", SIM_TIME_END - 1, &now_ps, at_ps);
}

static bool take_verb(const call_t *call, const json_t *object, app_session_verb_t *verb)
{
    static const char *const names[] = {"write", "send", "read"};
    const json_t *const value = json_object_get(object, "verb");
    const char *const text = value == NULL ? names[0] : json_string_value(value);
    for (size_t i = 0; text != NULL && i < SIM_COUNT_OF(names); i++) {
        if (strcmp(text, names[i]) == 0) {
            *verb = (app_session_verb_t)i;
            return true;
        }
    }
    refuse(call, "argument", "verb: expected \"write\", \"send\" or \"read\"");
    return false;
}

static bool take_request(const call_t *call, const json_t *object, app_session_request_t *request)
{
    static const char *const known[] = {"call",
                                        "id",
                                        "src",
                                        "dst",
                                        "bytes",
                                        "at",
                                        "verb",
                                        "priority",
                                        "source_port",
                                        "reuse",
                                        "tag"};
    static const uint64_t as_the_nic = SIM_AUTO;
    static const uint64_t no_port = 0;
    uint64_t port = 0;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        bool good = false;
        for (size_t i = 0; i < SIM_COUNT_OF(known); i++) {
            good = good || strcmp(name, known[i]) == 0;
        }
        if (!good) {
            char *const text = sim_format("%s: a transfer has no such argument", name);
            refuse(call, "argument", text);
            sim_free(text);
            return false;
        }
    }
    if (!take_interface(call, object, "src", &request->source) ||
        !take_interface(call, object, "dst", &request->destination) ||
        !take_number(call, object, "bytes", APP_SESSION_BYTES_MAX, NULL, &request->bytes) ||
        !take_start(call, object, &request->at_ps) || !take_verb(call, object, &request->verb) ||
        !take_number(call, object, "priority", 7, &as_the_nic, &request->priority) ||
        !take_number(call, object, "source_port", UINT16_MAX, &no_port, &port)) {
        return false;
    }
    request->source_port = (uint16_t)port;
    request->reuse = json_is_true(json_object_get(object, "reuse"));
    return true;
}

// -- steps

sim_ended_t serve_step(serve_conversation_t *conversation, sim_time_t stop_ps)
{
    app_session_release(conversation->session, stop_ps);
    const sim_ended_t ended = sim_step(conversation->world->sim, stop_ps);
    conversation->now_ps = stop_ps;
    return ended;
}

static json_t *completions(serve_conversation_t *conversation)
{
    static const char *const outcomes[] = {"waiting", "running", "done", "failed", "cancelled"};
    size_t count = 0;
    const app_session_completion_t *const list = app_session_take(conversation->session, &count);
    json_t *const array = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *const object = json_object();
        (void)json_object_set_new(object, "transfer", json_integer((json_int_t)list[i].transfer));
        (void)json_object_set_new(object, "start_ps", json_integer((json_int_t)list[i].start_ps));
        (void)json_object_set_new(object, "end_ps", json_integer((json_int_t)list[i].end_ps));
        (void)json_object_set_new(object, "outcome", json_string(outcomes[list[i].outcome]));
        if (list[i].outcome == APP_SESSION_FAILED) {
            const char *const text = nic_wc_status_text(list[i].status);
            (void)json_object_set_new(object, "status", json_string(text));
        }
        json_t *const tag = conversation->tags[list[i].transfer];
        if (tag != NULL) {
            (void)json_object_set_new(object, "tag", tag);
            conversation->tags[list[i].transfer] = NULL;
        }
        (void)json_array_append_new(array, object);
    }
    return array;
}

static json_t *progress_answer(serve_conversation_t *conversation, sim_ended_t ended)
{
    json_t *const answer = json_object();
    const uint64_t open = app_session_open(conversation->session);
    (void)json_object_set_new(answer, "now_ps", json_integer((json_int_t)conversation->now_ps));
    (void)json_object_set_new(answer, "completions", completions(conversation));
    (void)json_object_set_new(answer, "open", json_integer((json_int_t)open));
    if (ended == SIM_ENDED_STALLED) {
        (void)json_object_set_new(answer, "stalled", json_true());
    }
    return answer;
}

// -- the calls; each returns false when the conversation is over

static bool call_hello(const call_t *call)
{
    const world_t *const world = call->conversation->world;
    json_t *const answer = json_object();
    json_t *const hosts = json_array();
    for (uint32_t i = 0; i < world->nic_count; i++) {
        (void)json_array_append_new(hosts, json_string(world_interface_name(world, i)));
    }
    (void)json_object_set_new(answer, "protocol", json_integer(SERVE_PROTOCOL));
    (void)json_object_set_new(answer, "hosts", hosts);
    serve_answer(call->conversation, call->id, answer);
    return true;
}

static bool call_now(const call_t *call)
{
    json_t *const answer = json_object();
    const json_int_t now_ps = (json_int_t)call->conversation->now_ps;
    (void)json_object_set_new(answer, "now_ps", json_integer(now_ps));
    serve_answer(call->conversation, call->id, answer);
    return true;
}

// Submits one transfer. Returns false after having refused it.
static bool submit_one(const call_t *call, const json_t *object, uint64_t *transfer)
{
    serve_conversation_t *const conversation = call->conversation;
    app_session_request_t request;
    sim_message_t message = {.text = ""};
    if (!take_request(call, object, &request)) {
        return false;
    }
    if (app_session_submit(conversation->session, &request, transfer, &message) != SIM_OK) {
        refuse(call, "transfer", message.text);
        return false;
    }
    SIM_GROW(conversation->tags, conversation->tag_count, &conversation->tag_capacity);
    SIM_CHECK(conversation->tag_count == *transfer);
    conversation->tags[conversation->tag_count++] = json_incref(json_object_get(object, "tag"));
    return true;
}

static bool call_submit(const call_t *call)
{
    const json_t *const list = json_object_get(call->arguments, "transfers");
    const size_t count = json_array_size(list);
    uint64_t transfer = 0;
    json_t *const numbers = json_array();
    bool good = true;
    if (list == NULL) {
        good = submit_one(call, call->arguments, &transfer);
    } else if (!json_is_array(list) || count > SUBMIT_MAX) {
        refuse(call, "argument", "transfers: expected a list of at most 100000 transfers");
        good = false;
    }
    for (size_t i = 0; i < count && good; i++) {
        const json_t *const object = json_array_get(list, i);
        if (!json_is_object(object)) {
            refuse(call, "argument", "transfers: expected a list of objects");
            good = false;
        } else {
            good = submit_one(call, object, &transfer);
            (void)json_array_append_new(numbers, json_integer((json_int_t)transfer));
        }
    }
    if (good) {
        json_t *const answer = json_object();
        (void)(list == NULL
                   ? json_object_set_new(answer, "transfer", json_integer((json_int_t)transfer))
                   : json_object_set(answer, "transfers", numbers));
        serve_answer(call->conversation, call->id, answer);
    }
    json_decref(numbers);
    return true;
}

static bool call_advance(const call_t *call)
{
    serve_conversation_t *const conversation = call->conversation;
    uint64_t until_ps = 0;
    if (!take_number(call, call->arguments, "until_ps", SIM_TIME_END, NULL, &until_ps)) {
        return true;
    }
    if (until_ps < conversation->now_ps) {
        refuse(call, "past", "until_ps: the time has passed");
        return true;
    }
    const sim_ended_t ended = serve_step(conversation, until_ps);
    serve_answer(conversation, call->id, progress_answer(conversation, ended));
    return true;
}

// What a copy of the session finds out about the next completion.
typedef struct found {
    sim_time_t time_ps; // of the completion; NEVER: there is none
    uint64_t stalled;
} found_t;

// Runs on, by longer and longer steps, until a transfer ends or nothing can happen any more. The
// transfer is *wanted; UINT64_MAX: any.
static void look_ahead(serve_conversation_t *conversation,
                       sim_time_t until_ps,
                       uint64_t wanted,
                       found_t *found)
{
    sim_time_t step_ps = SIM_PS_PER_US;
    *found = (found_t){SIM_TIME_NEVER, 0};
    while (conversation->now_ps < until_ps && app_session_open(conversation->session) > 0) {
        size_t count = 0;
        const sim_time_t left_ps = until_ps - conversation->now_ps;
        sim_time_t stop_ps = conversation->now_ps + (left_ps < step_ps ? left_ps : step_ps);
        const sim_ended_t ended = serve_step(conversation, stop_ps);
        const app_session_completion_t *const list =
            app_session_take(conversation->session, &count);
        for (size_t i = 0; i < count; i++) {
            if (wanted == UINT64_MAX || list[i].transfer == wanted) {
                found->time_ps = list[i].end_ps;
                return;
            }
        }
        if (ended == SIM_ENDED_STALLED) {
            found->stalled = 1;
            return;
        }
        if (ended == SIM_ENDED_DONE) {
            // Nothing happens before the next transfer begins.
            const sim_time_t start_ps = app_session_next_start_ps(conversation->session);
            if (start_ps == SIM_TIME_NEVER) {
                return;
            }
            step_ps = start_ps >= conversation->now_ps ? start_ps - conversation->now_ps + 1 : 1;
        } else if (step_ps < SIM_PS_PER_S) {
            step_ps *= 2;
        }
    }
}

static void try_next(serve_conversation_t *conversation, const void *ctx, void *result)
{
    look_ahead(conversation, *(const sim_time_t *)ctx, UINT64_MAX, result);
}

static bool call_next_completion(const call_t *call)
{
    static const uint64_t never = SIM_TIME_END - 1;
    serve_conversation_t *const conversation = call->conversation;
    uint64_t until_ps = 0;
    found_t found;
    if (!take_number(call, call->arguments, "until_ps", SIM_TIME_END - 1, &never, &until_ps)) {
        return true;
    }
    if (until_ps < conversation->now_ps) {
        refuse(call, "past", "until_ps: the time has passed");
        return true;
    }
    if (app_session_open(conversation->session) == 0) {
        serve_answer(conversation, call->id, progress_answer(conversation, SIM_ENDED_DONE));
        return true;
    }
    if (!serve_try(conversation, try_next, &until_ps, &found, sizeof(found))) {
        refuse(call, "system", "the system gives no process or no memory for a look ahead");
        return true;
    }
    const bool none = found.time_ps == SIM_TIME_NEVER;
    sim_ended_t ended = found.stalled ? SIM_ENDED_STALLED : SIM_ENDED_DONE;
    if (!none) {
        ended = serve_step(conversation, found.time_ps + 1);
    } else if (json_object_get(call->arguments, "until_ps") != NULL && !found.stalled) {
        ended = serve_step(conversation, until_ps);
    }
    serve_answer(conversation, call->id, progress_answer(conversation, ended));
    return true;
}

static bool call_cancel(const call_t *call)
{
    uint64_t transfer = 0;
    if (!take_number(call, call->arguments, "transfer", INT64_MAX, NULL, &transfer)) {
        return true;
    }
    const sim_err_t error = app_session_cancel(call->conversation->session, transfer);
    if (error == SIM_OK) {
        serve_answer(call->conversation, call->id, json_object());
    } else {
        refuse(call,
               "transfer",
               error == SIM_ERR_STATE ? "transfer: it has ended, or was cancelled before"
                                      : "transfer: there is no such transfer");
    }
    return true;
}

typedef struct estimate {
    app_session_request_t request;
} estimate_t;

static void try_transfer(serve_conversation_t *conversation, const void *ctx, void *result)
{
    const estimate_t *const estimate = ctx;
    found_t *const found = result;
    uint64_t transfer = 0;
    sim_message_t message;
    *found = (found_t){SIM_TIME_NEVER, 0};
    if (app_session_submit(conversation->session, &estimate->request, &transfer, &message) ==
        SIM_OK) {
        look_ahead(conversation, SIM_TIME_END - 1, transfer, found);
    }
}

static bool call_estimate(const call_t *call)
{
    estimate_t estimate;
    found_t found;
    if (!take_request(call, call->arguments, &estimate.request)) {
        return true;
    }
    if (!serve_try(call->conversation, try_transfer, &estimate, &found, sizeof(found))) {
        refuse(call, "system", "the system gives no process or no memory for an estimate");
        return true;
    }
    if (found.time_ps == SIM_TIME_NEVER) {
        refuse(call, "transfer", "the transfer would not come to an end, or cannot begin");
        return true;
    }
    json_t *const answer = json_object();
    const sim_time_t took_ps = found.time_ps - estimate.request.at_ps;
    (void)json_object_set_new(answer, "end_ps", json_integer((json_int_t)found.time_ps));
    (void)json_object_set_new(answer, "took_ps", json_integer((json_int_t)took_ps));
    serve_answer(call->conversation, call->id, answer);
    return true;
}

static bool call_mark(const call_t *call)
{
    bool back = false;
    if (call->conversation->marks >= MARKS_MAX) {
        refuse(call, "mark", "64 marks are kept, which is the most; come back first");
        return true;
    }
    if (!serve_mark(call->conversation, &back)) {
        refuse(call, "system", "the system gives no process for a mark");
        return true;
    }
    json_t *const answer = json_object();
    const serve_conversation_t *const conversation = call->conversation;
    (void)json_object_set_new(answer, "marks", json_integer(conversation->marks));
    (void)json_object_set_new(answer, "now_ps", json_integer((json_int_t)conversation->now_ps));
    // The answer to "back" has the id of that call, which the child has answered.
    if (!back) {
        serve_answer(call->conversation, call->id, answer);
    } else {
        json_decref(answer);
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
    json_t *const answer = json_object();
    (void)json_object_set_new(answer, "marks", json_integer(conversation->marks - 1));
    serve_answer(conversation, call->id, answer);
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
    {"submit", call_submit},
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
    refuse(call,
           "call",
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
    const bool goes_on = dispatch(&call);
    json_decref(arguments);
    return goes_on;
}
