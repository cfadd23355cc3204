// SPDX-License-Identifier: Apache-2.0
// apps/serving/failures.c - a node that loses its power, and what others then let go of
// (docs/models/serving.md).
//
// The node stops at once: its queue pairs vanish and it answers nothing. The router takes it for
// lost after `fail-detect`, which stands for missing heartbeats, and informs all other nodes. It
// places requests of the node again: those whose prompt was not computed, or that were to be
// decoded there. A decode node reports to the router which requests wait for KV data of a lost
// node.
#include "apps/serving/failures.h"

#include "apps/hosts.h"
#include "apps/serving/hosts/members.h"
#include "apps/serving/job.h"
#include "apps/serving/router.h"
#include "apps/serving/transfers/node_channels.h"
#include "kernel/parse.h"

#include <string.h>

#define LATEST_PS (100000 * SIM_PS_PER_S) // as that of fail-at
#define AWAY_PS_MIN SIM_PS_PER_S          // messages from before are not sent again after that

static void failed(sim_node_t *sim_node, sim_timer_t *timer)
{
    app__serving_node_t *const node = SIM_CONTAINER_OF(timer, app__serving_node_t, fail_timer);
    node->lost = true;
    sim_timer_cancel(sim_node, &node->stage.timer);
    app__serving_channels_crash(node);
    if (node->engine != NULL) {
        app_mooncake_crash(node->engine);
    } else {
        app__mc_station_crash(node->station);
    }
    sim_happened(sim_node, 'L', sim_node->now_ps, node->index);
}

// Starts a node again: it has forgotten everything but the blocks of its queue pairs' numbers.
static void restored(sim_node_t *sim_node, sim_timer_t *timer)
{
    app__serving_node_t *const node = SIM_CONTAINER_OF(timer, app__serving_node_t, back_timer);
    const app__serving_t *const serving = node->serving;
    sim_progress(sim_node);
    node->restarts[node->index]++;
    for (uint32_t n = 0; n < serving->all_count; n++) {
        app__serving_channels_renew(node, n);
    }
    app__serving_node_forget(node);
    memset(node->lost_peers, 0, serving->node_count * sizeof(*node->lost_peers));
    app__mc_station_restore(node->station);
    node->lost = false;
    sim_happened(sim_node, 'B', sim_node->now_ps, node->index);
}

static void came_back(sim_node_t *sim_node, sim_timer_t *timer)
{
    app__serving_failure_t *const failure = SIM_CONTAINER_OF(timer, app__serving_failure_t, back);
    sim_progress(sim_node);
    app__serving_router_restore(failure->serving->router, failure->node);
}

static void detected(sim_node_t *sim_node, sim_timer_t *timer)
{
    app__serving_failure_t *const failure = SIM_CONTAINER_OF(timer, app__serving_failure_t, detect);
    sim_progress(sim_node);
    app__serving_router_lose(failure->serving->router,
                             failure->serving->nodes[failure->node].place.leader);
}

void app__serving_failure_begin(app__serving_t *serving)
{
    for (size_t i = 0; i < serving->failure_count; i++) {
        app__serving_failure_t *const failure = &serving->failures[i];
        app__serving_node_t *const node = &serving->nodes[failure->node];
        sim_timer_init(&node->fail_timer, failed);
        sim_timer_arm(node->node, &node->fail_timer, failure->at_ps);
        sim_timer_init(&failure->detect, detected);
        sim_timer_arm(serving->router->station->node, &failure->detect,
                      failure->at_ps + serving->config.fail_detect_ps);
        if (failure->back_ps != SIM_TIME_NEVER) {
            sim_timer_init(&node->back_timer, restored);
            sim_timer_arm(node->node, &node->back_timer, failure->back_ps);
            sim_timer_init(&failure->back, came_back);
            sim_timer_arm(serving->router->station->node, &failure->back,
                          failure->back_ps + serving->config.fail_detect_ps);
        }
    }
}

// -- the attribute fail-host

static sim_err_t add_failure(app__serving_t *serving, const net_node_t *host, sim_time_t at_ps,
                             sim_time_t back_ps, sim_message_t *message)
{
    for (size_t i = 0; i < serving->failure_count; i++) {
        if (serving->failures[i].host == host) {
            return sim_fail_about(message, SIM_ERR_INVALID, "fail-host",
                                  " names %s twice, expected each host at most once",
                                  host->sim.name);
        }
    }
    SIM_GROW(serving->failures, serving->failure_count, &serving->failure_capacity);
    serving->failures[serving->failure_count++] = (app__serving_failure_t){.serving = serving,
                                                                           .host = host,
                                                                           .at_ps = at_ps,
                                                                           .back_ps = back_ps};
    return SIM_OK;
}

// Reads the time behind a mark, which it cuts off the word. Without the mark, the time stays.
static sim_err_t read_time(char *word, char mark, sim_time_t *time_ps, sim_message_t *message)
{
    char *const at = strchr(word, mark);
    sim_message_t why = {.text = ""};
    if (at == NULL) {
        return SIM_OK;
    }
    *at = '\0';
    if (sim_parse_time(at + 1, time_ps, &why) == SIM_OK) {
        return *time_ps <= LATEST_PS
                   ? SIM_OK
                   : sim_fail_about(message, SIM_ERR_RANGE, "fail-host",
                                    ": '%s' behind '%s%c' is too long, expected at most 100000s",
                                    at + 1, word, mark);
    }
    return sim_fail_about(message, SIM_ERR_INVALID, "fail-host",
                          ": '%s' behind '%s%c' is no time, expected one such as 300ms", at + 1,
                          word, mark);
}

// Checks that a node which comes back after `away_ps` can do so.
static sim_err_t check_back(const app__serving_t *serving, const char *word, sim_time_t away_ps,
                            sim_message_t *message)
{
    const sim_time_t least_ps = serving->config.fail_detect_ps + AWAY_PS_MIN;
    if (away_ps < least_ps) {
        return sim_fail_about(
            message, SIM_ERR_RANGE, "fail-host",
            ": %s comes back after %.6g s, expected at least %.6g s (fail-detect and "
            "1 s)",
            word, (double)away_ps / 1e12, (double)least_ps / 1e12);
    }
    if (serving->config.transport == APP__SERVING_MOONCAKE ||
        app__serving_member_count(serving) > 0) {
        return sim_fail_about(message, SIM_ERR_INVALID, "fail-host",
                              ": %s cannot come back with Mooncake's engine or with several hosts "
                              "in a node, expected `transport: write`, pp and tp-hosts of 1",
                              word);
    }
    return SIM_OK;
}

// Adds the failures of a word: a host or a pattern, @TIME, and + with the time until it is back.
static sim_err_t add_word(app__serving_t *serving, const app_context_t *context, char *word,
                          sim_message_t *message)
{
    sim_time_t at_ps = serving->config.fail_ps;
    sim_time_t away_ps = SIM_TIME_NEVER;
    sim_err_t error = read_time(word, '+', &away_ps, message);
    if (error == SIM_OK) {
        error = read_time(word, '@', &at_ps, message);
    }
    if (error == SIM_OK && away_ps != SIM_TIME_NEVER) {
        error = check_back(serving, word, away_ps, message);
    }
    if (error != SIM_OK) {
        return error;
    }
    app__places_t places;
    error = app__places_find(context, "fail-host", word, &places, message);
    if (error != SIM_OK) {
        return error;
    }
    const sim_time_t back_ps = away_ps == SIM_TIME_NEVER ? SIM_TIME_NEVER : at_ps + away_ps;
    const net_node_t *last = NULL;
    for (size_t i = 0; error == SIM_OK && i < places.list.count; i++) {
        const net_node_t *const host = app__host(context->net, places.list.interfaces[i]);
        error = host == last ? SIM_OK : add_failure(serving, host, at_ps, back_ps, message);
        last = host;
    }
    app__places_fini(&places);
    return error;
}

sim_err_t app__serving_failures_read(app__serving_t *serving, const app_context_t *context,
                                     const char *text, sim_message_t *message)
{
    sim_err_t error = SIM_OK;
    char *const copy = sim_strdup(text);
    char *rest = copy + strspn(copy, " ");
    while (error == SIM_OK && *rest != '\0') {
        char *const end = rest + strcspn(rest, " ");
        char *const next = end + strspn(end, " ");
        *end = '\0';
        error = add_word(serving, context, rest, message);
        rest = next;
    }
    sim_free(copy);
    return error;
}

sim_err_t app__serving_failures_find(app__serving_t *serving, sim_message_t *message)
{
    const uint32_t leader = serving->node_count - 1;
    const uint32_t last =
        app__serving_host_of(serving, leader, serving->nodes[leader].place.host_count - 1);
    for (size_t i = 0; i < serving->failure_count; i++) {
        app__serving_failure_t *const failure = &serving->failures[i];
        while (failure->node < serving->all_count &&
               serving->nodes[failure->node].station->host != failure->host) {
            failure->node++;
        }
        if (failure->node == serving->all_count || serving->nodes[failure->node].place.gpus == 0) {
            return sim_fail_about(message, SIM_ERR_UNKNOWN, "fail-host",
                                  ": '%s' is no host of a prefill or decode node, expected one of "
                                  "%s to %s",
                                  failure->host->sim.name,
                                  serving->nodes[0].station->host->sim.name,
                                  serving->nodes[last].station->host->sim.name);
        }
    }
    return SIM_OK;
}

// -- what others let go of

static void drop_jobs(sim_list_t *list, uint32_t lost)
{
    app__serving_job_t *next = SIM_LIST_FIRST(list, app__serving_job_t, link);
    while (next != NULL) {
        app__serving_job_t *const job = next;
        next = SIM_LIST_NEXT(job, app__serving_job_t, link);
        if (job->peer != lost) {
            continue;
        }
        if (job->prefills) {
            job->dropped = true;
            job->part.dropped = true;
            (void)app__serving_free_if_dropped(job);
        } else if (job->phase == APP__SERVING_RESERVING || job->phase == APP__SERVING_RECEIVING) {
            app__serving_job_end(job, true);
        }
    }
}

bool app__serving_comes_back(const app__serving_t *serving)
{
    for (size_t i = 0; i < serving->failure_count; i++) {
        if (serving->failures[i].back_ps != SIM_TIME_NEVER) {
            return true;
        }
    }
    return false;
}

void app__serving_on_back(app__serving_node_t *node, uint32_t back, uint32_t restarts)
{
    if (back != node->index && restarts > node->restarts[back]) {
        node->restarts[back] = restarts;
        node->lost_peers[back] = false;
        app__serving_channels_renew(node, back);
    }
}

void app__serving_on_lost(app__serving_node_t *node, uint32_t lost, uint32_t restarts)
{
    if (restarts < node->restarts[lost]) {
        return; // the message came late: the node is back
    }
    if (lost == node->index) {
        node->lost = true; // another host of it is lost: it cannot work any more
        sim_timer_cancel(node->node, &node->stage.timer);
        return;
    }
    node->lost_peers[lost] = true;
    app__serving_send_to_members(node, APP__SERVING_PEER_LOST, lost, 0);
    drop_jobs(&node->queued, lost);
    drop_jobs(&node->running, lost);
    drop_jobs(&node->reserving, lost);
    drop_jobs(&node->others, lost);
    app__serving_grant(node);
    app__serving_next_step(node);
}
