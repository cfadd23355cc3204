// SPDX-License-Identifier: Apache-2.0
// apps/serving/lost.c - a node that loses its power, and what others then let go of
// (docs/models/serving.md).
//
// The node stops at once: its queue pairs vanish and it answers nothing. The router takes it for
// lost after `fail-detect`, which stands for missing heartbeats, and tells all other nodes. It
// places requests of the node again: those whose prompt was not computed, or that were to be
// decoded there. A decode node tells the router which requests wait for KV data of a lost node.
#include "apps/serving/serving.h"

static void failed(sim_node_t *sim_node, sim_timer_t *timer)
{
    app__serving_node_t *const node = SIM_CONTAINER_OF(timer, app__serving_node_t, fail_timer);
    node->lost = true;
    sim_timer_cancel(sim_node, &node->timer);
    app__serving_wire_crash(node);
    if (node->engine != NULL) {
        app_mooncake_crash(node->engine);
    } else {
        app__mc_station_crash(node->station);
    }
    sim_happened(sim_node, 'L', sim_node->now_ps, node->index);
}

static void detected(sim_node_t *sim_node, sim_timer_t *timer)
{
    app__serving_t *const serving = SIM_CONTAINER_OF(timer, app__serving_t, detect_timer);
    sim_progress(sim_node);
    app__serving_lose(serving, serving->fail_node);
}

void app__serving_failure_begin(app__serving_t *serving)
{
    if (serving->fail_node == UINT32_MAX) {
        return;
    }
    app__serving_node_t *const node = &serving->nodes[serving->fail_node];
    const sim_time_t at_ps = serving->config.fail_ps;
    sim_timer_init(&node->fail_timer, failed);
    sim_timer_arm(node->node, &node->fail_timer, at_ps);
    sim_timer_init(&serving->detect_timer, detected);
    sim_timer_arm(serving->router->node,
                  &serving->detect_timer,
                  at_ps + serving->config.fail_detect_ps);
}

bool app__serving_leave_if_dropped(app__serving_job_t *job)
{
    if (!job->dropped || job->under_way > 0 || job->in_step > 0) {
        return false;
    }
    job->node->serving->seats[job->number].prefill = NULL;
    app__serving_job_free(job);
    return true;
}

static void drop_jobs(app__mc_chain_t *chain, uint32_t lost)
{
    app__mc_link_t *link = chain->oldest;
    while (link != NULL) {
        app__serving_job_t *const job = SIM_CONTAINER_OF(link, app__serving_job_t, link);
        link = link->newer;
        if (job->peer != lost) {
            continue;
        }
        if (job->prefills) {
            job->dropped = true;
            (void)app__serving_leave_if_dropped(job);
        } else if (job->phase == APP__SERVING_RESERVING || job->phase == APP__SERVING_RECEIVING) {
            app__serving_job_end(job, true);
        }
    }
}

void app__serving_on_lost(app__serving_node_t *node, uint32_t lost)
{
    node->lost_peer = lost;
    drop_jobs(&node->queued, lost);
    drop_jobs(&node->running, lost);
    drop_jobs(&node->reserving, lost);
    drop_jobs(&node->others, lost);
    app__serving_grant(node);
    app__serving_step(node);
}
