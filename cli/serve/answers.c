// SPDX-License-Identifier: Apache-2.0
// cli/serve/answers.c - writes answers to calls, as JSON, field by field.
#include "cli/serve/answers.h"
#include "cli/serve/lines.h"
#include "cli/serve/serve.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_text(serve_conversation_t *conversation, const char *text)
{
    serve_put(&conversation->lines, text, strlen(text));
}

static void put_name(serve_conversation_t *conversation, const char *name)
{
    put_text(conversation, ",\"");
    put_text(conversation, name);
    put_text(conversation, "\":");
}

void serve_put_number(serve_conversation_t *conversation, uint64_t number)
{
    char digits[24];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    serve_put(&conversation->lines, digits + at, sizeof(digits) - at);
}

// Writes any value. The answer repeats what the client has sent, whose size is limited.
static void put_json(serve_conversation_t *conversation, const json_t *value)
{
    char text[512];
    const size_t flags = JSON_COMPACT | JSON_ENCODE_ANY;
    const size_t size = json_dumpb(value, text, sizeof(text), flags);
    if (size <= sizeof(text)) {
        serve_put(&conversation->lines, text, size);
        return;
    }
    char *const longer = json_dumps(value, flags);
    SIM_CHECK(longer != NULL);
    put_text(conversation, longer);
    free(longer);
}

static void begin(serve_conversation_t *conversation, const json_t *id, const char *outcome)
{
    put_text(conversation, "{");
    if (id != NULL) {
        put_text(conversation, "\"id\":");
        put_json(conversation, id);
        put_text(conversation, ",");
    }
    put_text(conversation, "\"ok\":");
    put_text(conversation, outcome);
}

void serve_begin(serve_conversation_t *conversation, const json_t *id)
{
    begin(conversation, id, "true");
}

void serve_field_number(serve_conversation_t *conversation, const char *name, uint64_t number)
{
    put_name(conversation, name);
    serve_put_number(conversation, number);
}

void serve_field_text(serve_conversation_t *conversation, const char *name, const char *text)
{
    json_t *const value = json_string(text);
    SIM_CHECK(value != NULL);
    serve_field_json(conversation, name, value);
    json_decref(value);
}

static void field_true(serve_conversation_t *conversation, const char *name)
{
    put_name(conversation, name);
    put_text(conversation, "true");
}

void serve_field_json(serve_conversation_t *conversation, const char *name, const json_t *value)
{
    put_name(conversation, name);
    put_json(conversation, value);
}

void serve_field_raw(serve_conversation_t *conversation, const char *name, const char *text)
{
    put_name(conversation, name);
    put_text(conversation, text);
}

void serve_end(serve_conversation_t *conversation)
{
    put_text(conversation, "}\n");
    conversation->answers++;
}

void serve_refuse(serve_conversation_t *conversation, const json_t *id, const char *code,
                  const char *text)
{
    if (conversation->refusal != NULL) {
        snprintf(conversation->refusal->code, sizeof(conversation->refusal->code), "%s", code);
        snprintf(conversation->refusal->text, sizeof(conversation->refusal->text), "%s", text);
        return;
    }
    // A message may quote a part of a file that is no UTF-8.
    json_t *const message = json_string(text);
    begin(conversation, id, "false");
    serve_field_text(conversation, "error", code);
    if (message != NULL) {
        serve_field_json(conversation, "message", message);
        json_decref(message);
    } else {
        serve_field_text(conversation, "message", "a text that is no UTF-8");
    }
    serve_end(conversation);
}

// -- completions

void serve_field_outcome(serve_conversation_t *conversation, app_submitted_outcome_t outcome,
                         nic_wc_status_t status)
{
    static const char *const outcomes[] = {"waiting", "running", "delivered",
                                           "done",    "failed",  "cancelled"};
    serve_field_text(conversation, "outcome", outcomes[outcome]);
    if (outcome == APP_SUBMITTED_FAILED) {
        serve_field_text(conversation, "status", nic_wc_status_text(status));
    }
}

void serve_field_delivered(serve_conversation_t *conversation, sim_time_t delivered_ps)
{
    if (delivered_ps != SIM_TIME_NEVER) {
        serve_field_number(conversation, "delivered_ps", delivered_ps);
    }
}

static void put_completion(serve_conversation_t *conversation,
                           const app_submitted_completion_t *completion)
{
    const bool whole = completion->rank == APP_SUBMITTED_WHOLE;
    const bool last = whole && completion->outcome != APP_SUBMITTED_DELIVERED;
    put_text(conversation, "{\"transfer\":");
    serve_put_number(conversation, completion->transfer);
    if (!whole) {
        serve_field_number(conversation, "rank", completion->rank);
    }
    serve_field_number(conversation, "start_ps", completion->start_ps);
    serve_field_number(conversation, "end_ps", completion->end_ps);
    serve_field_delivered(conversation, completion->delivered_ps);
    serve_field_outcome(conversation, completion->outcome, completion->status);
    json_t *const tag = conversation->tags[completion->transfer];
    if (tag != NULL) {
        serve_field_json(conversation, "tag", tag);
    }
    if (tag != NULL && last) {
        json_decref(tag);
        conversation->tags[completion->transfer] = NULL;
    }
    put_text(conversation, "}");
}

void serve_answer_progress(serve_conversation_t *conversation, const json_t *id, sim_ended_t ended)
{
    size_t count = 0;
    const app_submitted_completion_t *const list =
        app_submitted_take(conversation->session, &count);
    serve_begin(conversation, id);
    serve_field_number(conversation, "now_ps", app_submitted_now_ps(conversation->session));
    put_name(conversation, "completions");
    put_text(conversation, "[");
    for (size_t i = 0; i < count; i++) {
        put_text(conversation, i > 0 ? "," : "");
        put_completion(conversation, &list[i]);
    }
    put_text(conversation, "]");
    serve_field_number(conversation, "open", app_submitted_open(conversation->session));
    if (ended == SIM_ENDED_STALLED) {
        field_true(conversation, "stalled");
    }
    serve_end(conversation);
}
