// SPDX-License-Identifier: Apache-2.0
// cli/serve/submit.c - reads what a client submits: transfers, collectives and workloads.
#include "cli/serve/answers.h"
#include "cli/serve/calls.h"
#include "cli/serve/lines.h"
#include "cli/serve/serve.h"
#include "world/names.h"

#include "world/format.h"

#include <string.h>

#define SUBMIT_MAX 100000u
#define ALONE_MAX 1000u // estimates of transfers alone: each takes a process

// -- arguments

bool serve_take_number(const serve_call_t *call, const json_t *object, const char *name,
                       uint64_t most, const uint64_t *missing, uint64_t *number)
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
    serve_call_refuse(call, "argument", text);
    sim_free(text);
    return false;
}

bool serve_take_flag(const serve_call_t *call, const json_t *object, const char *name, bool *flag)
{
    const json_t *const value = json_object_get(object, name);
    *flag = json_is_true(value);
    if (value == NULL || json_is_boolean(value)) {
        return true;
    }
    char *const text = sim_format("%s: expected true or false", name);
    serve_call_refuse(call, "argument", text);
    sim_free(text);
    return false;
}

static bool take_interface(const serve_call_t *call, const json_t *object, const char *name,
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
    serve_call_refuse(call, "argument", said);
    sim_free(said);
    return false;
}

// Reads "at": a time, or "now", which it is where it is missing.
static bool take_start(const serve_call_t *call, const json_t *object, sim_time_t *at_ps)
{
    const json_t *const value = json_object_get(object, "at");
    const char *const text = json_string_value(value);
    const uint64_t now_ps = app_submitted_now_ps(call->conversation->session);
    if (text != NULL && strcmp(text, "now") == 0) {
        *at_ps = now_ps;
        return true;
    }
    return serve_take_number(call, object, "at", SIM_TIME_END - 1, &now_ps, at_ps);
}

static bool take_verb(const serve_call_t *call, const json_t *object, app_submitted_verb_t *verb)
{
    static const char *const names[] = {"write", "send", "read"};
    const json_t *const value = json_object_get(object, "verb");
    const char *const text = value == NULL ? names[0] : json_string_value(value);
    for (size_t i = 0; text != NULL && i < SIM_COUNT_OF(names); i++) {
        if (strcmp(text, names[i]) == 0) {
            *verb = (app_submitted_verb_t)i;
            return true;
        }
    }
    serve_call_refuse(call, "argument", "verb: expected \"write\", \"send\" or \"read\"");
    return false;
}

// Refuses an object with a member that no name in the list is.
static bool check_members(const serve_call_t *call, const json_t *object, const char *what,
                          const char *const *known, size_t count)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        size_t i = 0;
        while (i < count && strcmp(name, known[i]) != 0) {
            i++;
        }
        if (i == count) {
            char *const text = sim_format("%s: %s has no such argument", name, what);
            serve_call_refuse(call, "argument", text);
            sim_free(text);
            return false;
        }
    }
    return true;
}

static bool take_request(const serve_call_t *call, const json_t *object,
                         app_submitted_request_t *request)
{
    static const char *const known[] = {"call",  "id",    "src",     "dst",      "bytes",
                                        "at",    "after", "verb",    "priority", "source_port",
                                        "reuse", "tag",   "delivery"};
    static const uint64_t as_the_nic = SIM_AUTO;
    static const uint64_t no_port = 0;
    uint64_t port = 0;
    if (!check_members(call, object, "a transfer", known, SIM_COUNT_OF(known)) ||
        !take_interface(call, object, "src", &request->source) ||
        !take_interface(call, object, "dst", &request->destination) ||
        !serve_take_number(call, object, "bytes", APP_SUBMITTED_BYTES_MAX, NULL, &request->bytes) ||
        !take_start(call, object, &request->at_ps) || !take_verb(call, object, &request->verb) ||
        !serve_take_number(call, object, "priority", 7, &as_the_nic, &request->priority) ||
        !serve_take_number(call, object, "source_port", UINT16_MAX, &no_port, &port) ||
        !serve_take_flag(call, object, "reuse", &request->reuse) ||
        !serve_take_flag(call, object, "delivery", &request->delivery)) {
        return false;
    }
    request->source_port = (uint16_t)port;
    return true;
}

// Reads "after": the number of a transfer, or a list of numbers, into *numbers, which the caller
// frees with sim_free.
static bool take_after(const serve_call_t *call, const json_t *object,
                       app_submitted_request_t *request, uint64_t **numbers)
{
    const json_t *const value = json_object_get(object, "after");
    const size_t count = value == NULL ? 0 : json_is_array(value) ? json_array_size(value) : 1;
    *numbers = count == 0 ? NULL : sim_alloc_array(count, sizeof(**numbers));
    for (size_t i = 0; i < count; i++) {
        const json_t *const number = json_is_array(value) ? json_array_get(value, i) : value;
        if (!json_is_integer(number) || json_integer_value(number) < 0) {
            serve_call_refuse(call, "argument",
                              "after: expected the number of a transfer, or a list of numbers");
            return false;
        }
        (*numbers)[i] = (uint64_t)json_integer_value(number);
    }
    request->after = *numbers;
    request->after_count = count;
    return true;
}

// -- programs of ranks

static const char *const programs[] = {"collective", "workload", "training"};

// Returns the kind of program that an object has; NULL: it is a transfer.
static const char *program_of(const json_t *object)
{
    for (size_t i = 0; i < SIM_COUNT_OF(programs); i++) {
        if (json_object_get(object, programs[i]) != NULL) {
            return programs[i];
        }
    }
    return NULL;
}

// Makes the program that the object describes. Returns NULL after having refused it.
static app_t *make_program(const serve_call_t *call, const json_t *object, const char *kind,
                           sim_time_t at_ps)
{
    serve_conversation_t *const conversation = call->conversation;
    const json_t *const attributes = json_object_get(object, kind);
    app_t *app = NULL;
    world_error_t error = {.text = ""};
    if (!json_is_object(attributes)) {
        char *const text = sim_format(
            "%s: expected an object with attributes of `rocesim params traffic.%s`", kind, kind);
        serve_call_refuse(call, "argument", text);
        sim_free(text);
        return NULL;
    }
    char *const inner = json_dumps(attributes, JSON_COMPACT);
    char *const text = sim_format("{\"%s\":%s}", kind, inner);
    if (world_submit(conversation->world, conversation->scenario, "submit", text, strlen(text),
                     at_ps, &app, &error) != SIM_OK) {
        serve_call_refuse(call, "transfer", error.text);
        app = NULL;
    }
    sim_free(text);
    free(inner);
    return app;
}

static bool submit_program(const serve_call_t *call, const json_t *object, const char *kind,
                           uint64_t *number)
{
    const char *const known[] = {"call", "id", kind, "at", "per_rank", "tag"};
    serve_conversation_t *const conversation = call->conversation;
    sim_message_t message = {.text = ""};
    bool per_rank = false;
    sim_time_t at_ps = 0;
    if (!check_members(call, object, kind, known, SIM_COUNT_OF(known)) ||
        !take_start(call, object, &at_ps) ||
        !serve_take_flag(call, object, "per_rank", &per_rank)) {
        return false;
    }
    if (app_submitted_may_begin(conversation->session, at_ps, &message) != SIM_OK) {
        serve_call_refuse(call, "transfer", message.text);
        return false;
    }
    app_t *const app = make_program(call, object, kind, at_ps);
    if (app == NULL) {
        return false;
    }
    *number = app_submitted_add_program(conversation->session, app, at_ps, per_rank);
    return true;
}

// -- submit

static bool submit_request(const serve_call_t *call, const app_submitted_request_t *request,
                           uint64_t *number)
{
    sim_message_t message = {.text = ""};
    if (app_submitted_submit(call->conversation->session, request, number, &message) == SIM_OK) {
        return true;
    }
    serve_call_refuse(call, "transfer", message.text);
    return false;
}

bool serve_submit_one(const serve_call_t *call, const json_t *object, uint64_t *number)
{
    serve_conversation_t *const conversation = call->conversation;
    const char *const kind = program_of(object);
    if (kind != NULL) {
        if (!submit_program(call, object, kind, number)) {
            return false;
        }
    } else {
        app_submitted_request_t request = {.after = NULL};
        uint64_t *after = NULL;
        const bool submitted = take_request(call, object, &request) &&
                               take_after(call, object, &request, &after) &&
                               submit_request(call, &request, number);
        sim_free(after);
        if (!submitted) {
            return false;
        }
    }
    SIM_GROW(conversation->tags, conversation->tag_count, &conversation->tag_capacity);
    SIM_CHECK(conversation->tag_count == *number);
    conversation->tags[conversation->tag_count++] = json_incref(json_object_get(object, "tag"));
    return true;
}

bool serve_check_list(const serve_call_t *call, const json_t *list, bool alone)
{
    static const char *const known[] = {"call", "id", "transfers", "alone"};
    const bool estimates = strcmp(call->name, "estimate") == 0;
    const size_t count_max = alone ? ALONE_MAX : SUBMIT_MAX;
    const size_t count = json_array_size(list);
    if (!check_members(call, call->arguments, "a list", known, estimates ? 4 : 3)) {
        return false;
    }
    if (!json_is_array(list) || count > count_max) {
        char *const text =
            sim_format("transfers: expected a list of at most %zu transfers", count_max);
        serve_call_refuse(call, "argument", text);
        sim_free(text);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!json_is_object(json_array_get(list, i))) {
            serve_call_refuse(call, "argument", "transfers: expected a list of objects");
            return false;
        }
    }
    return true;
}

static bool submit_list(const serve_call_t *call, const json_t *list)
{
    const uint64_t first = call->conversation->tag_count;
    for (size_t i = 0; i < json_array_size(list); i++) {
        uint64_t number = 0;
        if (!serve_submit_one(call, json_array_get(list, i), &number)) {
            return false;
        }
        SIM_CHECK(number == first + i);
    }
    return true;
}

bool serve_submit(const serve_call_t *call)
{
    serve_conversation_t *const conversation = call->conversation;
    const json_t *const list = json_object_get(call->arguments, "transfers");
    const uint64_t first = conversation->tag_count;
    uint64_t number = 0;
    if (list == NULL) {
        if (serve_submit_one(call, call->arguments, &number)) {
            serve_begin(conversation, call->id);
            serve_field_number(conversation, "transfer", number);
            serve_end(conversation);
        }
        return true;
    }
    if (serve_check_list(call, list, false) && submit_list(call, list)) {
        serve_begin(conversation, call->id);
        serve_field_raw(conversation, "transfers", "[");
        for (uint64_t i = first; i < conversation->tag_count; i++) {
            serve_put(&conversation->lines, ",", i > first);
            serve_put_number(conversation, i);
        }
        serve_put(&conversation->lines, "]", 1);
        serve_end(conversation);
    }
    return true;
}
