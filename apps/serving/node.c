// SPDX-License-Identifier: Apache-2.0
// apps/serving/node.c - requests at their prefill and decode nodes, and the messages between nodes
// (docs/models/serving.md).
//
// A prefill node asks for memory at the decode node when it begins with a prompt. It sends the KV
// data that it has computed once the decode node has granted that memory, and then tells the decode
// node, which lets the request join its steps.
#include <string.h>

#include "apps/serving/serving.h"

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

// -- jobs

static app__mc_chain_t *chain_of(app__serving_node_t *node, app__serving_phase_t phase)
{
    switch (phase) {
    case APP__SERVING_QUEUED:
        return &node->queued;
    case APP__SERVING_RUNNING:
        return &node->running;
    case APP__SERVING_RESERVING:
        return &node->reserving;
    case APP__SERVING_FETCHING:
    case APP__SERVING_SENDING:
    case APP__SERVING_RECEIVING:
        break;
    }
    return &node->others;
}

void app__serving_job_move(app__serving_job_t *job, app__serving_phase_t phase)
{
    app__serving_node_t *const node = job->node;
    app__mc_chain_remove(chain_of(node, job->phase), &job->link);
    node->running_count -= job->phase == APP__SERVING_RUNNING;
    node->running_count += phase == APP__SERVING_RUNNING;
    job->phase = phase;
    app__mc_chain_add(chain_of(node, phase), &job->link);
}

static app__serving_job_t *job_create(app__serving_node_t *node, uint32_t number,
                                      app__serving_phase_t phase)
{
    app__serving_job_t *const job = sim_alloc(sizeof(*job));
    *job = (app__serving_job_t){.node = node, .number = number, .phase = phase};
    app__mc_chain_add(chain_of(node, phase), &job->link);
    return job;
}

void app__serving_job_free(app__serving_job_t *job)
{
    app__serving_node_t *const node = job->node;
    app__mc_chain_remove(chain_of(node, job->phase), &job->link);
    node->running_count -= job->phase == APP__SERVING_RUNNING;
    node->pages_free += job->pages;
    SIM_CHECK(node->pages_free <= node->pages);
    app__serving_part_fini(&job->part);
    sim_free(job);
}

static const app__request_t *request_of(const app__serving_job_t *job)
{
    return app__serving_request(job->node->serving, job->number);
}

static app__serving_attempt_t *attempt_of(const app__serving_job_t *job)
{
    return &job->node->serving->attempts[job->number];
}

void app__serving_job_end(app__serving_job_t *job, bool failed)
{
    app__serving_node_t *const node = job->node;
    app__serving_attempt_t *const attempt = attempt_of(job);
    if (failed) {
        node->counters.failed++;
    } else {
        SIM_CHECK(job->generated == request_of(job)->output_tokens);
        attempt->end_ps = node->node->now_ps;
        attempt->tokens = job->generated;
        sim_happened(node->node, 's', node->node->now_ps, job->number);
    }
    node->serving->jobs[job->number].decode = NULL;
    const uint64_t words[3] = {failed ? 1 : 0, 0, 0};
    app__serving_send(node->serving, node->station, 0, APP__SERVING_ENDED, job->number, words);
    app__serving_job_free(job);
}

// Counts a token for the user; the request ends with its last one.
static void job_token(app__serving_job_t *job)
{
    app__serving_attempt_t *const attempt = attempt_of(job);
    job->generated++;
    if (attempt->first_ps == SIM_TIME_NEVER) {
        attempt->first_ps = job->node->node->now_ps;
    }
    if (job->generated == request_of(job)->output_tokens) {
        app__serving_job_end(job, false);
        return;
    }
    job->target++;
}

// -- sending

// Lets go of a prompt whose KV data is at the decode node, or will never be.
static void free_if_sent(app__serving_job_t *job)
{
    if (job->phase != APP__SERVING_SENDING || job->members_left > 0 ||
        !app__serving_part_ended(&job->part)) {
        return;
    }
    app__serving_node_t *const node = job->node;
    app__serving_t *const serving = node->serving;
    const uint64_t words[3] = {job->part.failed ? 1 : 0, job->target - job->first_sent, 0};
    app__serving_send(serving, node->station, 1 + job->peer, APP__SERVING_READY, job->number,
                      words);
    serving->jobs[job->number].prefill = NULL;
    app__serving_job_free(job);
    app__serving_next_step(node);
}

void app__serving_job_sent(app__serving_job_t *job)
{
    if (!app__serving_free_if_dropped(job)) {
        free_if_sent(job);
    }
}

void app__serving_member_sent(app__serving_node_t *node, uint32_t number, bool failed)
{
    app__serving_job_t *const job = node->serving->jobs[number].prefill;
    if (job != NULL) {
        SIM_CHECK(job->members_left > 0);
        job->members_left--;
        job->part.failed = job->part.failed || failed;
        app__serving_job_sent(job);
    }
}

app__serving_part_t *app__serving_part_of_job(app__serving_job_t *job)
{
    return &job->part;
}

static void prompt_stepped(app__serving_job_t *job)
{
    app__serving_t *const serving = job->node->serving;
    app__serving_node_t *const node = job->node;
    if (job->computed == job->target) {
        app__serving_attempt_t *const attempt = attempt_of(job);
        attempt->computed_ps = node->node->now_ps;
        if (serving->config.first == APP__SERVING_FIRST_PREFILL) {
            attempt->prefill_first_ps = node->node->now_ps;
        }
        app__serving_job_move(job, APP__SERVING_SENDING);
        app__serving_send(serving, node->station, 0, APP__SERVING_COMPUTED, job->number, NULL);
        app__serving_store(job);
    }
    app__serving_part_send(&job->part);
    free_if_sent(job);
}

void app__serving_job_stepped(app__serving_job_t *job)
{
    if (job->prefills) {
        prompt_stepped(job);
        return;
    }
    if (job->computed < job->target) {
        return;
    }
    app__serving_attempt_t *const attempt = attempt_of(job);
    if (!job->node->decodes && attempt->computed_ps == SIM_TIME_NEVER) {
        attempt->computed_ps = job->node->node->now_ps;
        app__serving_send(job->node->serving, job->node->station, 0, APP__SERVING_COMPUTED,
                          job->number, NULL);
        app__serving_store(job);
    }
    job_token(job);
}

// -- messages

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
    app__serving_job_t *const job = job_create(node, number, APP__SERVING_FETCHING);
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
    app__mc_link_t *const first = node->queued.oldest;
    if (first != NULL && SIM_CONTAINER_OF(first, app__serving_job_t, link)->pages == 0) {
        return; // a request that gave its memory up comes first
    }
    while (node->reserving.oldest != NULL) {
        app__serving_job_t *const job =
            SIM_CONTAINER_OF(node->reserving.oldest, app__serving_job_t, link);
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
    app__serving_job_t *const job = job_create(node, number, APP__SERVING_RESERVING);
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
    free_if_sent(job);
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
        job_token(job);
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

static void free_jobs(app__mc_chain_t *chain, app__serving_jobs_t *jobs)
{
    app__mc_link_t *link = chain->oldest;
    while (link != NULL) {
        app__mc_link_t *const next = link->newer;
        app__serving_job_t *const job = SIM_CONTAINER_OF(link, app__serving_job_t, link);
        if (job->prefills) {
            jobs[job->number].prefill = NULL;
        } else {
            jobs[job->number].decode = NULL;
        }
        app__serving_part_fini(&job->part);
        sim_free(job);
        link = next;
    }
    *chain = (app__mc_chain_t){NULL, NULL};
}

void app__serving_node_forget(app__serving_node_t *node)
{
    app__serving_jobs_t *const jobs = node->serving->jobs;
    free_jobs(&node->queued, jobs);
    free_jobs(&node->running, jobs);
    free_jobs(&node->reserving, jobs);
    free_jobs(&node->others, jobs);
    app__serving_moves_fini(node);
    app__serving_proxy_fetches_fini(node);
    app__serving_stage_fini(node);
    app__serving_parts_fini(node);
    node->pages_free = node->pages;
    node->running_count = 0;
    node->step_count = 0;
    node->step = NULL;
}

void app__serving_node_fini(app__serving_node_t *node)
{
    app__serving_node_forget(node);
    app__serving_links_fini(node);
    sim_free(node->lost_peers);
    sim_free(node->restarts);
    sim_free(node->written_to);
    sim_free(node->read_from);
    sim_free(node->nic_sent);
    sim_free(node->nic_received);
    sim_free(node->operations);
}
