// SPDX-License-Identifier: Apache-2.0
// apps/serving/job.c - requests at their prefill and decode nodes (docs/models/serving.md).
#include "apps/serving/job.h"

#include "apps/serving/attempt.h"
#include "apps/serving/hosts/members.h"
#include "apps/serving/messages.h"
#include "apps/serving/node.h"
#include "apps/serving/transfers/cache.h"

static sim_list_t *list_of(app__serving_node_t *node, app__serving_phase_t phase)
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
    sim_list_remove(list_of(node, job->phase), &job->link);
    node->running_count -= job->phase == APP__SERVING_RUNNING;
    node->running_count += phase == APP__SERVING_RUNNING;
    job->phase = phase;
    sim_list_push_last(list_of(node, phase), &job->link);
}

app__serving_job_t *app__serving_job_create(app__serving_node_t *node, uint32_t number,
                                            app__serving_phase_t phase)
{
    app__serving_job_t *const job = sim_alloc(sizeof(*job));
    *job = (app__serving_job_t){.node = node, .number = number, .phase = phase};
    sim_list_push_last(list_of(node, phase), &job->link);
    return job;
}

void app__serving_job_free(app__serving_job_t *job)
{
    app__serving_node_t *const node = job->node;
    sim_list_remove(list_of(node, job->phase), &job->link);
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

void app__serving_job_token(app__serving_job_t *job)
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

bool app__serving_free_if_dropped(app__serving_job_t *job)
{
    if (!job->dropped || job->under_way > 0 || job->part.under_way > 0 || job->in_step > 0) {
        return false;
    }
    if (job->members_left > 0) {
        app__serving_send_to_members(job->node, APP__SERVING_PART_DROP, job->number, 0);
    }
    job->node->serving->jobs[job->number].prefill = NULL;
    app__serving_job_free(job);
    return true;
}

void app__serving_free_if_sent(app__serving_job_t *job)
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
        app__serving_free_if_sent(job);
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
    app__serving_free_if_sent(job);
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
    app__serving_job_token(job);
}

static void free_jobs(sim_list_t *list, app__serving_jobs_t *jobs)
{
    app__serving_job_t *job = NULL;
    while ((job = SIM_LIST_POP(list, app__serving_job_t, link)) != NULL) {
        if (job->prefills) {
            jobs[job->number].prefill = NULL;
        } else {
            jobs[job->number].decode = NULL;
        }
        app__serving_part_fini(&job->part);
        sim_free(job);
    }
}

void app__serving_jobs_free(app__serving_node_t *node)
{
    app__serving_jobs_t *const jobs = node->serving->jobs;
    free_jobs(&node->queued, jobs);
    free_jobs(&node->running, jobs);
    free_jobs(&node->reserving, jobs);
    free_jobs(&node->others, jobs);
}
