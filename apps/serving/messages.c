// SPDX-License-Identifier: Apache-2.0
// apps/serving/messages.c - messages between the router and the nodes, which are sent until they
// are answered, and requests about which a message does not get through (docs/models/serving.md).
// The router takes a node for lost to which its own messages do not get through.
#include "apps/serving/messages.h"

#include "apps/serving/job.h"
#include "apps/serving/node.h"
#include "apps/serving/router.h"

// A lost message costs a request TIMEOUT_PS. After so many messages it fails: after 30 s.
#define TIMEOUT_PS (100 * SIM_PS_PER_MS)
#define RETRIES 4u // of one call
#define CALLS 60u

typedef struct message {
    app__serving_t *serving;
    app__mc_station_t *from;
    uint32_t peer;
    app__serving_kind_t kind;
    uint32_t number;
    uint32_t calls;
    uint64_t words[3];
} message_t;

static void call(const message_t *message);

// -- messages that do not get through

static bool is_lost(const message_t *message)
{
    const app__serving_t *const serving = message->serving;
    const uint32_t from = message->from->index;
    if (message->from->crashed || message->peer == 0) {
        return message->from->crashed;
    }
    if (message->peer > serving->node_count) {
        return false; // a storage node
    }
    const bool *const lost =
        from == 0 ? serving->router->lost : serving->nodes[from - 1].lost_peers;
    return lost[message->peer - 1];
}

static void give_up(const message_t *message)
{
    app__serving_t *const serving = message->serving;
    const uint64_t words[3] = {1, 1, 0};
    switch (message->kind) {
    case APP__SERVING_JOB:
    case APP__SERVING_LOST:
    case APP__SERVING_BACK:
    case APP__SERVING_GIVEN_UP:
        app__serving_router_lose(serving->router, message->peer - 1);
        break;
    case APP__SERVING_RESERVE:
    case APP__SERVING_GRANT:
    case APP__SERVING_READY:
    case APP__SERVING_FETCH:
    case APP__SERVING_FETCHED:
        app__serving_send(serving, message->from, 0, APP__SERVING_ENDED, message->number, words);
        break;
    case APP__SERVING_ENDED:
        serving->nodes[message->from->index - 1].counters.unreported++;
        break;
    case APP__SERVING_COMPUTED:
    case APP__SERVING_BROKEN:
    case APP__SERVING_INSIDE:
        break;
    }
}

static void answered(int32_t status, const char *body, size_t size, void *ctx)
{
    (void)body;
    (void)size;
    message_t message = *(const message_t *)ctx;
    if (status == SIM_OK || is_lost(&message)) {
        return;
    }
    if (++message.calls < CALLS) {
        call(&message);
    } else {
        give_up(&message);
    }
}

static void call(const message_t *message)
{
    char body[APP__SERVING_MESSAGE_BYTES];
    app__mc_put64(body, message->kind);
    app__mc_put64(body + 8, message->number);
    for (uint32_t w = 0; w < 3; w++) {
        app__mc_put64(body + 16 + 8u * w, message->words[w]);
    }
    message_t *const copy = sim_alloc(sizeof(*copy));
    *copy = *message;
    const app__mc_message_t sent = {APP__MC_PROGRAM, "serving", body, sizeof(body)};
    app__mc_ask(message->from, message->peer, &sent, TIMEOUT_PS, RETRIES, answered, copy, true);
}

void app__serving_send(const app__serving_t *serving, app__mc_station_t *from, uint32_t peer,
                       app__serving_kind_t kind, uint32_t number, const uint64_t words[3])
{
    message_t message = {
        .serving = serving->nodes[0].serving,
        .from = from,
        .peer = peer,
        .kind = kind,
        .number = number,
    };
    for (uint32_t w = 0; w < 3 && words != NULL; w++) {
        message.words[w] = words[w];
    }
    call(&message);
}

// -- requests that the router has given up

void app__serving_on_given_up(app__serving_node_t *node, uint32_t number)
{
    app__serving_jobs_t *const jobs = &node->serving->jobs[number];
    // Messages about it that arrive later count as seen.
    if (node->index < node->serving->prefill_count) {
        jobs->seen_by_prefill = UINT16_MAX;
        if (jobs->prefill != NULL) {
            jobs->prefill->dropped = true;
            jobs->prefill->part.dropped = true;
            (void)app__serving_free_if_dropped(jobs->prefill);
        }
    }
    if (node->decodes) {
        app__serving_job_t *const job = jobs->decode;
        jobs->seen_by_decode = UINT16_MAX;
        if (job != NULL &&
            (job->phase == APP__SERVING_RESERVING || job->phase == APP__SERVING_RECEIVING)) {
            app__serving_job_free(job);
            jobs->decode = NULL;
        }
    }
    app__serving_grant(node);
    app__serving_next_step(node);
}
