// SPDX-License-Identifier: Apache-2.0
// cli/serve/estimate.c - finds out, on a copy of the session, how long transfers would take.
#include "cli/serve/estimate.h"

#include "cli/serve/answers.h"
#include "cli/serve/calls.h"
#include "cli/serve/limits.h"
#include "cli/serve/serve.h"
#include "cli/serve/snapshot.h"

#include <string.h>

// How one transfer would end.
typedef struct estimate {
    sim_time_t start_ps;
    sim_time_t end_ps; // SIM_TIME_NEVER: it would not end
    sim_time_t delivered_ps;
    app_submitted_outcome_t outcome;
    nic_wc_status_t status;
} estimate_t;

// The result of an estimate in a copy of the process.
typedef struct finding {
    serve_refusal_t refusal;
    estimate_t transfers[]; // in the order of the list
} finding_t;

// Transfers that begin together.
typedef struct question {
    const serve_call_t *call;
    const json_t *list; // NULL: the call's own object
    size_t first;       // in the list
    size_t count;
} question_t;

static void note_ends(const app_submitted_completion_t *ended, size_t count, uint64_t first,
                      size_t asked, finding_t *finding, size_t *left)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t place = ended[i].transfer - first;
        if (ended[i].transfer >= first && place < asked && ended[i].rank == APP_SUBMITTED_WHOLE &&
            ended[i].outcome != APP_SUBMITTED_DELIVERED) {
            finding->transfers[place] =
                (estimate_t){ended[i].start_ps, ended[i].end_ps, ended[i].delivered_ps,
                             ended[i].outcome, ended[i].status};
            (*left)--;
        }
    }
}

// Submits the transfers on a copy of the session, and runs until all of them have ended or nothing
// more ends.
static void find_out(serve_conversation_t *conversation, const void *ctx, void *result)
{
    const question_t *const question = ctx;
    finding_t *const finding = result;
    app_submitted_t *const session = conversation->session;
    const uint64_t first = conversation->tag_count;
    size_t left = question->count;
    size_t ended = 0;
    conversation->refusal = &finding->refusal;
    for (size_t i = 0; i < question->count; i++) {
        uint64_t number = 0;
        const json_t *const object = question->list == NULL
                                         ? question->call->arguments
                                         : json_array_get(question->list, question->first + i);
        finding->transfers[i].end_ps = SIM_TIME_NEVER;
        if (!serve_submit_one(question->call, object, &number)) {
            return;
        }
    }
    do {
        (void)app_submitted_run(session, SIM_TIME_END - 1, true);
        const app_submitted_completion_t *const list = app_submitted_take(session, &ended);
        note_ends(list, ended, first, question->count, finding, &left);
    } while (left > 0 && ended > 0);
}

// Fills finding->transfers. Returns false after having refused the call.
static bool ask(const question_t *question, finding_t *finding)
{
    const serve_call_t *const call = question->call;
    const size_t size = sizeof(*finding) + question->count * sizeof(finding->transfers[0]);
    memset(finding, 0, size);
    if (!serve_try(call->conversation, find_out, question, finding, size)) {
        if (serve_reason() == SERVE_REASON_NONE) { // else serve_call says why
            serve_call_refuse(call, "system",
                              "the system gives no process or no memory for an estimate");
        }
        return false;
    }
    if (finding->refusal.code[0] != '\0') {
        serve_call_refuse(call, finding->refusal.code, finding->refusal.text);
        return false;
    }
    for (size_t i = 0; i < question->count; i++) {
        if (finding->transfers[i].end_ps == SIM_TIME_NEVER) {
            char *const place = question->list == NULL
                                    ? sim_strdup("the transfer")
                                    : sim_format("transfers[%zu]", question->first + i);
            char *const text = sim_format("%s would not come to an end, or cannot begin", place);
            serve_call_refuse(call, "transfer", text);
            sim_free(text);
            sim_free(place);
            return false;
        }
    }
    return true;
}

static void put_estimate(serve_conversation_t *conversation, const estimate_t *estimate)
{
    serve_field_number(conversation, "end_ps", estimate->end_ps);
    serve_field_number(conversation, "took_ps", estimate->end_ps - estimate->start_ps);
    serve_field_delivered(conversation, estimate->delivered_ps);
    serve_field_outcome(conversation, estimate->outcome, estimate->status);
}

static finding_t *make_finding(size_t count)
{
    return sim_alloc_array(1, sizeof(finding_t) + count * sizeof(estimate_t));
}

static void estimate_one(const serve_call_t *call)
{
    const question_t question = {.call = call, .count = 1};
    finding_t *const finding = make_finding(1);
    if (ask(&question, finding)) {
        serve_begin(call->conversation, call->id);
        put_estimate(call->conversation, &finding->transfers[0]);
        serve_end(call->conversation);
    }
    sim_free(finding);
}

// Estimates a list: all of its transfers on one copy, or each of them alone, on a copy of its own.
static void estimate_list(const serve_call_t *call, const json_t *list, bool alone)
{
    serve_conversation_t *const conversation = call->conversation;
    const size_t count = json_array_size(list);
    const size_t step = alone || count == 0 ? 1 : count;
    estimate_t *const all = sim_alloc_array(count + 1, sizeof(*all));
    finding_t *const finding = make_finding(step);
    bool known = true;
    for (size_t i = 0; known && i < count; i += step) {
        const question_t question = {.call = call, .list = list, .first = i, .count = step};
        known = ask(&question, finding);
        memcpy(&all[i], finding->transfers, step * sizeof(*all));
    }
    if (known) {
        serve_begin(conversation, call->id);
        serve_field_raw(conversation, "estimates", "[");
        for (size_t i = 0; i < count; i++) {
            static const char opening[] = ",{\"start_ps\":";
            const size_t skipped = i == 0; // the comma
            serve_put(&conversation->lines, opening + skipped, sizeof(opening) - 1 - skipped);
            serve_put_number(conversation, all[i].start_ps);
            put_estimate(conversation, &all[i]);
            serve_put(&conversation->lines, "}", 1);
        }
        serve_put(&conversation->lines, "]", 1);
        serve_end(conversation);
    }
    sim_free(finding);
    sim_free(all);
}

bool serve_estimate(const serve_call_t *call)
{
    const json_t *list = json_object_get(call->arguments, "transfers");
    bool alone = false;
    if (list == NULL) {
        estimate_one(call);
    } else if (serve_take_flag(call, call->arguments, "alone", &alone) &&
               serve_check_list(call, list, alone)) {
        estimate_list(call, list, alone);
    }
    return true;
}
