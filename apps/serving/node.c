// SPDX-License-Identifier: Apache-2.0
// apps/serving/node.c - messages at prefill and decode nodes, and their operations
// (docs/models/serving.md).
//
// A prefill node asks for memory at the decode node when it begins with a prompt. It sends the KV
// data that it has computed once the decode node has granted that memory, and then informs the
// decode node, which lets the request join its steps.
#include "apps/serving/node.h"

#include "apps/serving/attempt.h"
#include "apps/serving/failures.h"
#include "apps/serving/hosts/members.h"
#include "apps/serving/job.h"
#include "apps/serving/messages.h"
#include "apps/serving/transfers/cache.h"
#include "apps/serving/transfers/kv_transfer.h"

// -- operations

void app__serving_note_operation(app__serving_node_t *node, app__serving_operation_kind_t kind,
                                 sim_time_t start_ps, uint32_t peer, uint64_t bytes)
{
    if (!node->serving->config.operations) {
        return;
    }
    SIM_GROW(node->operations, node->operation_count, &node->operation_capacity);
    node->operations[node->operation_count++] = (app__serving_operation_t){
        .start_ps = start_ps,
        .end_ps = node->node->now_ps,
        .bytes = bytes,
        .peer = peer,
        .kind = (uint8_t)kind,
    };
}

// Returns the number of a node for operations: storage nodes come last.
static uint32_t number_of(const app__serving_t *serving, uint32_t index)
{
    return serving->nodes[index].place.gpus > 0
               ? app__serving_number_of(&serving->nodes[index])
               : index + serving->all_count - serving->node_count - serving->storage_count;
}

static void write_operation(const app__serving_node_t *node, uint32_t number,
                            const app__serving_operation_t *own, app_operation_fn fn, void *ctx)
{
    static const char *const names[] = {
        "prefill",        "decode",  "prefill and decode", "KV data",
        "cached KV data", "experts", "tensor parallelism", "pipeline"};
    const app_operation_t operation = {
        .rank = app__serving_number_of(node),
        .number = number,
        .interface = nic_interface(nic_at(node->station->host, 0)),
        .kind = own->kind == APP__SERVING_DID_SEND       ? "send"
                : own->kind == APP__SERVING_DID_PASS     ? "send"
                : own->kind == APP__SERVING_DID_REDUCE   ? "all-reduce"
                : own->kind == APP__SERVING_DID_READ     ? "recv"
                : own->kind == APP__SERVING_DID_EXCHANGE ? "all-to-all"
                                                         : "calc",
        .dimension = own->kind == APP__SERVING_DID_EXCHANGE ? "ep"
                     : own->kind == APP__SERVING_DID_REDUCE ? "tp"
                     : own->kind == APP__SERVING_DID_PASS   ? "pp"
                                                            : "none",
        .name = names[own->kind],
        .bytes = own->bytes,
        .peer = own->peer == UINT32_MAX ? UINT32_MAX : number_of(node->serving, own->peer),
        .start_ps = own->start_ps,
        .end_ps = own->end_ps,
    };
    fn(&operation, ctx);
}

uint64_t app__serving_operations(const app_t *app, uint64_t most, app_operation_fn fn, void *ctx)
{
    const app__serving_t *const serving = (const app__serving_t *)(const void *)app;
    const uint64_t share = most / (serving->all_count - serving->storage_count);
    uint64_t started = 0;
    for (uint32_t n = 0; n < serving->all_count; n++) {
        const app__serving_node_t *const node = &serving->nodes[n];
        started += node->operation_count;
        for (size_t i = 0; fn != NULL && i < node->operation_count && i < share; i++) {
            write_operation(node, (uint32_t)i, &node->operations[i], fn, ctx);
        }
    }
    return started;
}

// -- messages

static app__serving_attempt_t *attempt_of(const app__serving_job_t *job)
{
    return &job->node->serving->attempts[job->number];
}

void app__serving_fetched(app__serving_job_t *job, bool good)
{
    app__serving_node_t *const node = job->node;
    if (node->lost || app__serving_free_if_dropped(job)) {
        return;
    }
    const app__serving_t *const serving = node->serving;
    node->counters.fetches_failed += !good;
    job->reused = good ? job->own + job->to_fetch : job->own;
    job->computed = job->reused;
    job->part.computed = job->reused;
    if (good && job->through_decode) {
        app__serving_part_skip(&job->part, job->reused); // its decode node has that
        job->first_sent = job->reused;
    }
    serving->attempts[job->number].fetched_ps = node->node->now_ps;
    serving->attempts[job->number].reused_in_fact = job->reused;
    app__serving_job_move(job, APP__SERVING_QUEUED);
    app__serving_next_step(node);
}

static void on_job(app__serving_node_t *node, uint32_t number, const uint64_t words[3])
{
    app__serving_t *const serving = node->serving;
    app__serving_job_t *const job = app__serving_job_create(node, number, APP__SERVING_FETCHING);
    job->peer = (uint32_t)words[0];
    job->through_decode = (words[0] & APP__SERVING_THROUGH_DECODE) != 0;
    job->own = words[1] & UINT32_MAX;
    job->to_fetch = words[1] >> 32;
    job->source = (uint32_t)words[2];
    job->prefills = job->peer != node->index;
    job->target = app__serving_request(serving, number)->prompt_tokens;
    serving->attempts[number].queued_ps = node->node->now_ps;
    if (job->prefills) {
        serving->jobs[number].prefill = job;
        app__serving_part_init(&job->part, node, number, job->peer);
        job->part.job = job;
    } else {
        serving->jobs[number].decode = job;
    }
    if (job->to_fetch > 0) {
        app__serving_fetch(job);
    } else {
        app__serving_fetched(job, true);
    }
}

void app__serving_grant(app__serving_node_t *node)
{
    app__serving_t *const serving = node->serving;
    const app__serving_job_t *const first = SIM_LIST_FIRST(&node->queued, app__serving_job_t, link);
    if (first != NULL && first->pages == 0) {
        return; // a request that gave its memory up comes first
    }
    app__serving_job_t *job = NULL;
    while ((job = SIM_LIST_FIRST(&node->reserving, app__serving_job_t, link)) != NULL) {
        const uint64_t needed = app__serving_pages(serving, job->target);
        if (needed > node->pages_free) {
            return;
        }
        node->pages_free -= needed;
        job->pages = needed;
        attempt_of(job)->gave_ps = node->node->now_ps;
        app__serving_job_move(job, APP__SERVING_RECEIVING);
        app__serving_send(serving, node->station, 1 + job->peer, APP__SERVING_GRANT, job->number,
                          NULL);
    }
}

static void on_reserve(app__serving_node_t *node, uint32_t number, uint32_t prefill)
{
    const app__serving_t *const serving = node->serving;
    app__serving_job_t *const job = app__serving_job_create(node, number, APP__SERVING_RESERVING);
    const uint64_t prompt = app__serving_request(serving, number)->prompt_tokens;
    job->peer = prefill;
    // The first step computes the KV data of the first token, or once more that of the prompt's
    // last one.
    job->target = serving->config.first == APP__SERVING_FIRST_STEP ? prompt : prompt + 1;
    node->serving->jobs[number].decode = job;
    attempt_of(job)->reserved_ps = node->node->now_ps;
    app__serving_grant(node);
}

static void on_grant(app__serving_node_t *node, uint32_t number)
{
    app__serving_job_t *const job = node->serving->jobs[number].prefill;
    if (job == NULL) {
        return; // it was dropped, since its decode node was taken for lost
    }
    job->part.granted = true;
    if (job->members_know) {
        app__serving_send_to_members(node, APP__SERVING_PART_GO, number, 0);
    }
    app__serving_part_send(&job->part);
    app__serving_free_if_sent(job);
}

// Takes a request whose KV data is there, `tokens` of them from its prefill node.
static void on_ready(app__serving_node_t *node, uint32_t number, bool failed, uint64_t tokens)
{
    app__serving_t *const serving = node->serving;
    app__serving_job_t *const job = serving->jobs[number].decode;
    if (job == NULL) {
        return; // it was dropped, since its prefill node was taken for lost
    }
    SIM_CHECK(job->phase == APP__SERVING_RECEIVING || failed);
    if (failed) {
        app__serving_job_end(job, true);
        app__serving_grant(node);
        app__serving_next_step(node);
        return;
    }
    attempt_of(job)->ready_ps = node->node->now_ps;
    job->computed = job->target - 1;
    node->counters.received_bytes +=
        app__serving_unit_bytes(serving, tokens * serving->served.sizes.layers) * serving->flows;
    app__serving_job_move(job, APP__SERVING_QUEUED);
    if (serving->config.first != APP__SERVING_FIRST_STEP) {
        job->target--; // the first token needs no step
        app__serving_job_token(job);
    }
    app__serving_grant(node);
    app__serving_next_step(node);
}

static void on_message(app__mc_station_t *station, const app__mc_incoming_t *incoming, void *ctx)
{
    app__serving_node_t *const node = ctx;
    app__mc_answer(station, incoming->peer, incoming->id, SIM_OK, "", 0);
    const uint64_t kind = app__mc_get64(incoming->body);
    if (node->lost) {
        return; // the router has taken it for lost, since other hosts of it cannot be reached
    }
    if (kind == APP__SERVING_INSIDE) {
        sim_progress(node->node);
        app__serving_inside_arrived(node, incoming->peer - 1, incoming->body, incoming->size);
        return;
    }
    SIM_CHECK(incoming->size == APP__SERVING_MESSAGE_BYTES);
    const uint32_t number = (uint32_t)app__mc_get64(incoming->body + 8);
    const uint64_t words[3] = {app__mc_get64(incoming->body + 16),
                               app__mc_get64(incoming->body + 24),
                               app__mc_get64(incoming->body + 32)};
    SIM_CHECK(number < node->serving->attempts_max * node->serving->requests.count);
    if (kind == APP__SERVING_LOST) {
        app__serving_on_lost(node, (uint32_t)words[0], (uint32_t)words[1]);
        return;
    }
    if (kind == APP__SERVING_BACK) {
        app__serving_on_back(node, (uint32_t)words[0], (uint32_t)words[1]);
        return;
    }
    if (kind == APP__SERVING_GIVEN_UP) {
        app__serving_on_given_up(node, number);
        return;
    }
    app__serving_jobs_t *const jobs = &node->serving->jobs[number];
    const bool by_prefill =
        kind == APP__SERVING_JOB || kind == APP__SERVING_GRANT || kind == APP__SERVING_FETCHED;
    uint16_t *const seen = by_prefill ? &jobs->seen_by_prefill : &jobs->seen_by_decode;
    if (*seen & 1u << kind) {
        return; // a message that arrived twice
    }
    *seen |= (uint16_t)(1u << kind);
    sim_progress(node->node);
    switch (kind) {
    case APP__SERVING_JOB:
        on_job(node, number, words);
        break;
    case APP__SERVING_RESERVE:
        on_reserve(node, number, (uint32_t)words[0]);
        break;
    case APP__SERVING_GRANT:
        on_grant(node, number);
        break;
    case APP__SERVING_READY:
        on_ready(node, number, words[0] != 0, words[1]);
        break;
    case APP__SERVING_FETCH:
        app__serving_on_fetch(node, number, words[0], (uint32_t)words[1]);
        break;
    case APP__SERVING_FETCHED:
        if (jobs->prefill != NULL) {
            app__serving_fetch_from_decode(jobs->prefill, words[0] == 0);
        }
        break;
    default:
        SIM_CHECKF(false, "message %" PRIu64, kind);
    }
}

void app__serving_node_init(app__serving_node_t *node)
{
    node->pages_free = node->pages;
    node->lost_peers = sim_alloc_array(node->serving->node_count, sizeof(*node->lost_peers));
    node->restarts = sim_alloc_array(node->serving->all_count, sizeof(*node->restarts));
    node->written_to = sim_alloc_array(node->serving->nic_count, sizeof(*node->written_to));
    node->read_from = sim_alloc_array(node->serving->nic_count, sizeof(*node->read_from));
    node->nic_sent = sim_alloc_array(node->nics, sizeof(*node->nic_sent));
    node->nic_received = sim_alloc_array(node->nics, sizeof(*node->nic_received));
    app__serving_stage_init(node);
    app__serving_links_init(node);
    app__mc_handle(node->station, APP__MC_PROGRAM, on_message, node);
}

void app__serving_node_forget(app__serving_node_t *node)
{
    app__serving_jobs_free(node);
    app__serving_moves_fini(node);
    app__serving_proxy_fetches_fini(node);
    app__serving_stage_fini(node);
    app__serving_parts_fini(node);
    node->pages_free = node->pages;
    node->running_count = 0;
    node->step_count = 0;
}

void app__serving_node_fini(app__serving_node_t *node)
{
    app__serving_node_forget(node);
    app__serving_links_fini(node);
    SIM_FREE_ALL(node->lost_peers, node->restarts, node->written_to, node->read_from,
                 node->nic_sent, node->nic_received, node->operations);
}
