// SPDX-License-Identifier: Apache-2.0
// apps/serving/hosts/batch.c - continuous batching: the steps of a node (docs/models/serving.md).
//
// A step gives each running request its next token, or a part of its prompt, within the token
// budget; then requests of the queue join. If memory for a token is missing, the request that was
// admitted last gives its memory up and is computed again later (the scheduler of vLLM). A pipeline
// has several steps under way, with different requests or parts of prompts.
#include "apps/serving/hosts/stage.h"

#include "apps/serving/attempt.h"
#include "apps/serving/job.h"
#include "apps/serving/messages.h"
#include "apps/serving/node.h"

static uint64_t left_of(const app__serving_job_t *job)
{
    return job->target - job->computed - job->in_step;
}

// Puts a running request back to the front of the queue, without its memory.
static void preempt(app__serving_job_t *job)
{
    app__serving_node_t *const node = job->node;
    node->counters.preemptions++;
    node->counters.again_tokens += job->computed;
    node->pages_free += job->pages;
    job->pages = 0;
    job->computed = 0;
    app__serving_job_move(job, APP__SERVING_QUEUED);
    sim_list_remove(&node->queued, &job->link);
    sim_list_push_first(&node->queued, &job->link);
    if (!job->prefills) {
        job->node->serving->attempts[job->number].preempted++;
    }
}

// Returns the running request that was admitted last and is in no step under way; NULL: none is.
static app__serving_job_t *newest_idle(const app__serving_node_t *node)
{
    app__serving_job_t *job = SIM_LIST_LAST(&node->running, app__serving_job_t, link);
    while (job != NULL && job->in_step > 0) {
        job = SIM_LIST_PREVIOUS(job, app__serving_job_t, link);
    }
    return job;
}

// Takes the pages that a running request lacks, from those admitted after it where needed. False:
// the request itself had to give up its own, or waits for requests in steps under way.
static bool take_pages(app__serving_job_t *job)
{
    app__serving_node_t *const node = job->node;
    const uint64_t needed = app__serving_pages(node->serving, job->target);
    while (needed > job->pages + node->pages_free) {
        app__serving_job_t *const victim = newest_idle(node);
        if (victim == NULL || victim == job) {
            if (victim == job) {
                preempt(job);
            }
            return false;
        }
        preempt(victim);
    }
    if (needed > job->pages) {
        node->pages_free -= needed - job->pages;
        job->pages = needed;
    }
    return true;
}

static void mark_begin(app__serving_job_t *job)
{
    app__serving_t *const serving = job->node->serving;
    app__serving_attempt_t *const attempt = &serving->attempts[job->number];
    const sim_time_t now_ps = job->node->node->now_ps;
    if (job->node->decodes) {
        attempt->joined_ps = attempt->joined_ps == SIM_TIME_NEVER ? now_ps : attempt->joined_ps;
    } else if (attempt->began_ps == SIM_TIME_NEVER) {
        attempt->began_ps = now_ps;
        if (job->prefills) {
            const uint64_t words[3] = {job->node->index, 0, 0};
            app__serving_send(serving, job->node->station, 1 + job->peer, APP__SERVING_RESERVE,
                              job->number, words);
        }
    }
}

static void add_to_step(app__serving_job_t *job, uint64_t tokens, app__step_load_t *load)
{
    app__serving_step_t *const step = job->node->forming;
    const uint64_t before = job->computed + job->in_step;
    mark_begin(job);
    SIM_GROW(step->shares, step->share_count, &step->share_capacity);
    step->shares[step->share_count++] = (app__serving_share_t){
        .job = job,
        .number = job->number,
        .peer = job->peer,
        .before = before,
        .tokens = tokens,
        .sends = job->prefills,
        .granted = job->part.granted,
    };
    if (job->prefills && !job->members_know) {
        job->members_know = true;
        job->members_left = job->node->place.host_count - 1;
    }
    job->in_step += tokens;
    load->tokens += tokens;
    load->sequences++;
    load->pairs += tokens * before + tokens * (tokens + 1) / 2;
    load->context += before + tokens;
}

// Returns the requests that a step takes at most: where a pipeline has several steps under way,
// each takes an equal share.
static uint64_t sequences_max(const app__serving_node_t *node)
{
    const uint64_t batch = node->serving->config.batch;
    const uint64_t steps = app__serving_steps_max(node);
    if (steps == 1) {
        return batch;
    }
    uint64_t queued = 0;
    for (const sim_link_t *link = node->queued.first; link != NULL; link = link->next) {
        queued++;
    }
    const uint64_t all = node->running_count + queued;
    const uint64_t share = (SIM_MIN(all, batch) + steps - 1) / steps;
    return share > 0 ? share : 1;
}

static void serve_running(app__serving_node_t *node, uint64_t *budget, app__step_load_t *load)
{
    const uint64_t most = sequences_max(node);
    app__serving_job_t *next = SIM_LIST_FIRST(&node->running, app__serving_job_t, link);
    while (next != NULL && *budget > 0 && load->sequences < most) {
        app__serving_job_t *const job = next;
        const uint64_t left = left_of(job);
        if (left == 0) {
            next = SIM_LIST_NEXT(job, app__serving_job_t, link); // it waits for the end of a step
            continue;
        }
        if (!take_pages(job)) {
            return; // the newest one; all others have their turn
        }
        const uint64_t tokens = SIM_MIN(left, *budget);
        add_to_step(job, tokens, load);
        *budget -= tokens;
        next = SIM_LIST_NEXT(job, app__serving_job_t, link);
    }
}

// Admits requests of the queue while there are room, memory and budget. One that lacks memory holds
// up those behind it, but for those that have theirs: else it could wait for memory that they hold.
static void serve_queue(app__serving_node_t *node, uint64_t *budget, app__step_load_t *load)
{
    const app__serving_config_t *const config = &node->serving->config;
    const bool joins = !config->chunked && load->tokens > 0; // the step of running requests
    const uint64_t most = sequences_max(node);
    app__serving_job_t *next = SIM_LIST_FIRST(&node->queued, app__serving_job_t, link);
    bool lacks_memory = false;
    while (next != NULL && *budget > 0 && node->running_count < config->batch &&
           load->sequences < most) {
        app__serving_job_t *const job = next;
        const uint64_t needed = app__serving_pages(node->serving, job->target);
        next = SIM_LIST_NEXT(job, app__serving_job_t, link);
        lacks_memory = lacks_memory || needed > job->pages + node->pages_free;
        if (lacks_memory && needed > job->pages) {
            continue;
        }
        uint64_t tokens = left_of(job);
        if (joins && tokens > 1) {
            return; // it waits for a step of its own
        }
        if (tokens > *budget && !config->chunked && load->tokens > 0) {
            return; // a whole prompt above the budget has a step of its own
        }
        if (tokens > *budget && config->chunked) {
            tokens = *budget;
        }
        if (needed > job->pages) {
            node->pages_free -= needed - job->pages;
            job->pages = needed;
        }
        app__serving_job_move(job, APP__SERVING_RUNNING);
        add_to_step(job, tokens, load);
        *budget -= SIM_MIN(tokens, *budget);
    }
}

static app__serving_operation_kind_t kind_of(const app__serving_step_t *step)
{
    bool prompts = false;
    bool tokens = false;
    for (size_t i = 0; i < step->share_count; i++) {
        const app__serving_job_t *const job = step->shares[i].job;
        const bool whole = step->shares[i].tokens > 1 || job->prefills || job->generated == 0;
        prompts = prompts || whole;
        tokens = tokens || !whole;
    }
    return prompts && tokens ? APP__SERVING_DID_BOTH
           : prompts         ? APP__SERVING_DID_PREFILL
                             : APP__SERVING_DID_DECODE;
}

// Gives requests their shares of a step.
static app__step_load_t form(app__serving_node_t *node)
{
    const app__serving_t *const serving = node->serving;
    app__step_load_t load = {0};
    uint64_t budget = serving->config.token_budget;
    const app__serving_job_t *const front = SIM_LIST_FIRST(&node->queued, app__serving_job_t, link);
    if (!serving->config.chunked && front != NULL && left_of(front) > 1) {
        // Prompts come first, in a step of their own. One token more can join any step.
        serve_queue(node, &budget, &load);
    }
    if (load.tokens == 0) {
        serve_running(node, &budget, &load);
        serve_queue(node, &budget, &load);
    }
    return load;
}

static void count_step(app__serving_node_t *node, const app__step_load_t *load)
{
    app__serving_counters_t *const counters = &node->counters;
    const uint64_t used = node->pages - node->pages_free;
    counters->steps++;
    counters->batch_sum += load->sequences;
    counters->batch_max = SIM_MAX(load->sequences, counters->batch_max);
    counters->pages_max = SIM_MAX(used, counters->pages_max);
}

void app__serving_next_step(app__serving_node_t *node)
{
    if (node->stage.now != NULL || node->ending ||
        node->step_count >= app__serving_steps_max(node)) {
        return;
    }
    app__serving_step_t *const step = sim_alloc(sizeof(*step));
    *step = (app__serving_step_t){.id = node->next_step_id};
    node->forming = step;
    const app__step_load_t load = form(node);
    node->forming = NULL;
    if (load.tokens == 0) {
        app__serving_step_free(step);
        return;
    }
    step->began_ps = node->node->now_ps;
    step->step_ps = app__served_step_ps(&node->serving->served, &node->gpus, &load);
    step->tokens = load.tokens;
    step->kind = (uint8_t)kind_of(step);
    node->next_step_id++;
    node->flight_began_ps = node->step_count == 0 ? step->began_ps : node->flight_began_ps;
    node->step_count++;
    sim_list_push_last(&node->stage.steps, &step->link);
    count_step(node, &load);
    app__serving_step_begin(node, step);
}

// Informs a request that a step with a share of it has ended.
static void end_share(app__serving_node_t *node, const app__serving_share_t *share)
{
    app__serving_job_t *const job = share->job;
    if (job->computed < app__serving_request(node->serving, job->number)->prompt_tokens) {
        node->counters.prefill_tokens += share->tokens;
    } else {
        node->counters.decode_tokens += share->tokens;
    }
    job->computed += share->tokens;
    job->in_step -= share->tokens;
    if (!app__serving_free_if_dropped(job)) {
        app__serving_job_stepped(job);
    }
}

void app__serving_step_end(app__serving_node_t *node, app__serving_step_t *step)
{
    sim_list_remove(&node->stage.steps, &step->link);
    node->step_count--;
    node->counters.latency_ps += node->node->now_ps - step->began_ps;
    if (node->step_count == 0) {
        node->counters.flight_ps += node->node->now_ps - node->flight_began_ps;
    }
    node->ending = true;
    for (size_t i = 0; i < step->share_count; i++) {
        end_share(node, &step->shares[i]);
    }
    node->ending = false;
    app__serving_step_free(step);
    app__serving_grant(node);
    app__serving_next_step(node);
}

void app__serving_step_done(app__serving_node_t *node, uint64_t id)
{
    // Steps end in the order in which they began.
    app__serving_step_t *const step = SIM_LIST_FIRST(&node->stage.steps, app__serving_step_t, link);
    SIM_CHECK(step != NULL && step->id == id);
    app__serving_step_end(node, step);
}
