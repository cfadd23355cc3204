// SPDX-License-Identifier: Apache-2.0
// apps/serving/batch.c - continuous batching: the steps of a node (docs/models/serving.md).
//
// A step gives each running request its next token, or a part of its prompt, within the token
// budget; then requests of the queue join. If memory for a token is missing, the request that was
// admitted last gives its memory up and is computed again later (the scheduler of vLLM).
#include "apps/serving/serving.h"

static app__serving_job_t *job_of(app__mc_link_t *link)
{
    return link == NULL ? NULL : SIM_CONTAINER_OF(link, app__serving_job_t, link);
}

static uint64_t left_of(const app__serving_job_t *job)
{
    return job->target - job->computed;
}

// Puts a running request back to the front of the queue, without its memory.
static void preempt(app__serving_job_t *job)
{
    app__serving_node_t *const node = job->node;
    app__mc_chain_t after = node->queued;
    node->counters.preemptions++;
    node->counters.again_tokens += job->computed;
    node->pages_free += job->pages;
    job->pages = 0;
    job->computed = 0;
    node->queued = (app__mc_chain_t){NULL, NULL};
    app__serving_job_move(job, APP__SERVING_QUEUED);
    node->queued.newest = after.newest == NULL ? node->queued.newest : after.newest;
    job->link.newer = after.oldest;
    if (after.oldest != NULL) {
        after.oldest->older = &job->link;
    }
    if (!job->prefills) {
        job->node->serving->courses[job->number].preempted++;
    }
}

// Takes the pages that a running request lacks, from those admitted after it where needed. False:
// the request itself had to give up its own.
static bool take_pages(app__serving_job_t *job)
{
    app__serving_node_t *const node = job->node;
    const uint64_t needed = app__serving_pages(node->serving, job->target);
    while (needed > job->pages + node->pages_free) {
        app__serving_job_t *const victim = job_of(node->running.newest);
        preempt(victim);
        if (victim == job) {
            return false;
        }
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
    app__serving_course_t *const course = &serving->courses[job->number];
    const sim_time_t now_ps = job->node->node->now_ps;
    if (job->node->decodes) {
        course->joined_ps = course->joined_ps == SIM_TIME_NEVER ? now_ps : course->joined_ps;
    } else if (course->began_ps == SIM_TIME_NEVER) {
        course->began_ps = now_ps;
        if (job->prefills) {
            const uint64_t words[3] = {job->node->index, 0, 0};
            app__serving_tell(serving,
                              job->node->station,
                              1 + job->peer,
                              APP__SERVING_RESERVE,
                              job->number,
                              words);
            if (serving->config.kv != APP__SERVING_WHOLE) {
                job->produced = job->computed * serving->served.sizes.layers; // from a cache
            }
        }
    }
}

static void add_to_step(app__serving_job_t *job, uint64_t tokens, app__step_load_t *load)
{
    mark_begin(job);
    job->in_step = tokens;
    load->tokens += tokens;
    load->sequences++;
    load->pairs += tokens * job->computed + tokens * (tokens + 1) / 2;
    load->context += job->computed + tokens;
}

static void serve_running(app__serving_node_t *node, uint64_t *budget, app__step_load_t *load)
{
    app__mc_link_t *link = node->running.oldest;
    while (link != NULL && *budget > 0) {
        app__serving_job_t *const job = job_of(link);
        if (!take_pages(job)) {
            return; // the newest one; all others have their turn
        }
        const uint64_t left = left_of(job);
        const uint64_t tokens = left < *budget ? left : *budget;
        add_to_step(job, tokens, load);
        *budget -= tokens;
        link = job->link.newer;
    }
}

// Admits requests of the queue while there are room, memory and budget. One that lacks memory holds
// up those behind it, but for those that have theirs: else it could wait for memory that they hold.
static void serve_queue(app__serving_node_t *node, uint64_t *budget, app__step_load_t *load)
{
    const app__serving_config_t *const config = &node->serving->config;
    const bool joins = !config->chunked && load->tokens > 0; // the step of running requests
    app__mc_link_t *link = node->queued.oldest;
    bool lacks_memory = false;
    while (link != NULL && *budget > 0 && node->running_count < config->batch) {
        app__serving_job_t *const job = job_of(link);
        const uint64_t needed = app__serving_pages(node->serving, job->target);
        link = job->link.newer;
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
        *budget -= tokens < *budget ? tokens : *budget;
    }
}

static app__serving_operation_kind_t kind_of(const app__serving_node_t *node)
{
    bool prompts = false;
    bool tokens = false;
    for (app__mc_link_t *link = node->running.oldest; link != NULL; link = link->newer) {
        const app__serving_job_t *const job = job_of(link);
        const bool whole = job->in_step > 1 || job->prefills || job->generated == 0;
        prompts = prompts || (job->in_step > 0 && whole);
        tokens = tokens || (job->in_step > 0 && !whole);
    }
    return prompts && tokens ? APP__SERVING_DID_BOTH
           : prompts         ? APP__SERVING_DID_PREFILL
                             : APP__SERVING_DID_DECODE;
}

static void arm(app__serving_node_t *node)
{
    const sim_time_t part_ps =
        (sim_time_t)((sim_wide_t)node->step_ps * (node->group + 1) / node->groups);
    sim_timer_arm(node->node, &node->timer, node->step_began_ps + part_ps + node->waited_ps);
}

static bool sends(const app__serving_node_t *node)
{
    for (app__mc_link_t *link = node->running.oldest; link != NULL; link = link->newer) {
        const app__serving_job_t *const job = job_of(link);
        if (job->prefills && job->in_step > 0) {
            return true;
        }
    }
    return false;
}

void app__serving_step(app__serving_node_t *node)
{
    if (node->stepping) {
        return;
    }
    const app__serving_t *const serving = node->serving;
    app__step_load_t load = {0};
    uint64_t budget = serving->config.token_budget;
    app__mc_link_t *const front = node->queued.oldest;
    if (!serving->config.chunked && front != NULL && left_of(job_of(front)) > 1) {
        // Prompts come first, in a step of their own. One token more can join any step.
        serve_queue(node, &budget, &load);
    }
    if (load.tokens == 0) {
        serve_running(node, &budget, &load);
        serve_queue(node, &budget, &load);
    }
    if (load.tokens == 0) {
        return;
    }
    node->stepping = true;
    node->step_began_ps = node->node->now_ps;
    node->step_ps = app__served_step_ps(&serving->served, &node->gpus, &load);
    node->step_kind = kind_of(node);
    node->group = 0;
    const bool by_layer = serving->config.kv == APP__SERVING_LAYER && sends(node);
    node->groups = by_layer || app__serving_spreads(node) ? serving->layer_groups : 1;
    node->by_layer = by_layer;
    node->step_tokens = load.tokens;
    node->waited_ps = 0;
    app__serving_counters_t *const counters = &node->counters;
    counters->steps++;
    counters->batch_sum += load.sequences;
    counters->batch_max =
        load.sequences > counters->batch_max ? load.sequences : counters->batch_max;
    const uint64_t used = node->pages - node->pages_free;
    counters->pages_max = used > counters->pages_max ? used : counters->pages_max;
    arm(node);
}

// Sends the KV data of the layers that are computed by now.
static void send_layers(app__serving_node_t *node)
{
    const app__serving_t *const serving = node->serving;
    const uint64_t layers = serving->served.sizes.layers;
    const uint64_t done = layers * node->group / node->groups;
    app__mc_link_t *link = node->running.oldest;
    while (link != NULL) {
        app__serving_job_t *const job = job_of(link);
        link = link->newer;
        if (job->prefills && job->in_step > 0) {
            job->produced = job->computed * layers + job->in_step * done;
            app__serving_job_send(job);
        }
    }
}

static void end_step(app__serving_node_t *node)
{
    const app__serving_t *const serving = node->serving;
    app__serving_counters_t *const counters = &node->counters;
    counters->busy_ps += node->node->now_ps - node->step_began_ps;
    app__serving_note_operation(node, node->step_kind, node->step_began_ps, UINT32_MAX, 0);
    app__mc_link_t *link = node->running.oldest;
    while (link != NULL) {
        app__serving_job_t *const job = job_of(link);
        link = link->newer;
        if (job->in_step == 0) {
            continue;
        }
        if (job->computed < app__serving_request(serving, job->number)->prompt_tokens) {
            counters->prefill_tokens += job->in_step;
        } else {
            counters->decode_tokens += job->in_step;
        }
        job->computed += job->in_step;
        job->in_step = 0;
        if (app__serving_leave_if_dropped(job)) {
            continue;
        }
        app__serving_job_stepped(job);
    }
    node->stepping = false;
    app__serving_grant(node);
    app__serving_step(node);
}

static void fired(sim_node_t *sim_node, sim_timer_t *timer)
{
    app__serving_node_t *const node = SIM_CONTAINER_OF(timer, app__serving_node_t, timer);
    sim_progress(sim_node);
    node->group++;
    if (app__serving_spreads(node)) {
        app__serving_exchange(node);
    } else {
        app__serving_exchanged(node);
    }
}

void app__serving_exchanged(app__serving_node_t *node)
{
    if (node->group == node->groups) {
        end_step(node);
        return;
    }
    if (node->by_layer) {
        send_layers(node);
    }
    arm(node);
}

void app__serving_batch_init(app__serving_node_t *node)
{
    sim_timer_init(&node->timer, fired);
}
