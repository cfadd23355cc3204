// SPDX-License-Identifier: Apache-2.0
// apps/workload/ideal/network.c - ranks on an ideal network: no packets, all times are known
// beforehand.
//
// The whole schedule is run when the application is made (loggp.h). Each rank then has an event at
// each time at which one of its operations starts or ends, so that a run can end at any time.
#include "apps/workload/op_queue.h"
#include "apps/workload/rank.h"
#include "apps/workload/run_options.h"
#include "apps/workload/workload.h"
#include "kernel/steps.h"

#include <stdlib.h>

typedef enum change { CHANGE_START, CHANGE_ARRIVAL, CHANGE_END, CHANGE_LAST } change_t;

// An event of a rank and its time.
struct app__moment {
    sim_time_t time_ps; // from the start of the ranks
    uint32_t op;
    change_t change; // CHANGE_LAST: the last processor of the rank is free
};

static int compare_moments(const void *a, const void *b)
{
    const app__moment_t *const one = a;
    const app__moment_t *const two = b;
    return 4 * SIM_COMPARE(one->time_ps, two->time_ps) + 2 * SIM_COMPARE(one->change, two->change) +
           SIM_COMPARE(one->op, two->op);
}

static void change(app__rank_t *rank, const app__moment_t *moment, sim_time_t now_ps)
{
    app__op_state_t *const state = &rank->states[moment->op];
    const bool sends =
        moment->change != CHANGE_LAST && rank->ops->ops[moment->op].type == APP__OP_SEND;
    switch (moment->change) {
    case CHANGE_START:
        state->start_ps = now_ps;
        break;
    case CHANGE_ARRIVAL: // of a send: its flow ends
        state->end_ps = now_ps;
        break;
    case CHANGE_END:
        state->end_ps = sends ? state->end_ps : now_ps;
        state->finished = true;
        state->arrived = true;
        SIM_CHECK(rank->left > 0);
        rank->left--;
        break;
    case CHANGE_LAST:
        rank->end_ps = now_ps;
        rank->cpus[0].busy_ps = rank->ideal->busy_ps;
        if (rank->left == 0) {
            sim_work_end(rank->node, 1);
        }
    }
}

// Takes what happens now, and waits for the next time.
static void take_moments(sim_node_t *node, sim_timer_t *timer)
{
    app__rank_t *const rank = SIM_CONTAINER_OF(timer, app__rank_t, begin);
    const sim_time_t start_ps = rank->workload->options.start_ps;
    const sim_time_t now_ps = node->now_ps;
    if (rank->workload->cancelled) {
        return;
    }
    while (rank->moment_at < rank->moment_count &&
           start_ps + rank->moments[rank->moment_at].time_ps <= now_ps) {
        change(rank, &rank->moments[rank->moment_at++], now_ps);
    }
    sim_progress(node);
    if (rank->moment_at < rank->moment_count) {
        sim_timer_arm(node, timer, start_ps + rank->moments[rank->moment_at].time_ps);
    } else {
        sim_cut_step(node); // the rank has ended
    }
}

static void begin(sim_node_t *node, sim_timer_t *timer)
{
    app__rank_t *const rank = SIM_CONTAINER_OF(timer, app__rank_t, begin);
    if (rank->workload->cancelled) {
        return;
    }
    rank->begun = true;
    sim_work_begin(node, 1);
    sim_timer_init(timer, take_moments);
    take_moments(node, timer);
}

static void add(app__rank_t *rank, sim_time_t time_ps, uint32_t op, change_t kind)
{
    if (time_ps != SIM_TIME_NEVER) {
        rank->moments[rank->moment_count++] = (app__moment_t){time_ps, op, kind};
    }
}

static void plan(app__rank_t *rank)
{
    const uint32_t count = rank->ops->count;
    rank->moments = sim_alloc_array(3 * (size_t)count + 1, sizeof(*rank->moments));
    for (uint32_t op = 0; op < count; op++) {
        const app__loggp_op_t *const ideal = &rank->ideal->ops[op];
        rank->states[op] = (app__op_state_t){.start_ps = SIM_TIME_NEVER, .end_ps = SIM_TIME_NEVER};
        add(rank, ideal->start_ps, op, CHANGE_START);
        add(rank, ideal->arrival_ps, op, CHANGE_ARRIVAL);
        add(rank, ideal->end_ps, op, CHANGE_END);
    }
    add(rank, rank->ideal->end_ps, 0, CHANGE_LAST);
    qsort(rank->moments, rank->moment_count, sizeof(*rank->moments), compare_moments);
}

void app__ideal_begin(app__workload_t *workload)
{
    const app__workload_options_t *const options = &workload->options;
    app__loggp_run(workload->schedule, &options->loggp, &workload->ideal);
    for (uint32_t r = 0; r < workload->schedule->rank_count; r++) {
        app__rank_t *const rank = &workload->ranks[r];
        rank->ideal = &workload->ideal.ranks[r];
        rank->states = sim_alloc_array((size_t)rank->ops->count + 1, sizeof(*rank->states));
        rank->left = rank->ops->count;
        rank->end_ps = options->start_ps;
        rank->cpu_count = (uint32_t)workload->schedule->counts.cpu_max + 1;
        rank->cpus = sim_alloc_array(rank->cpu_count, sizeof(*rank->cpus));
        rank->match.peak = rank->ideal->unexpected_peak;
        if (rank->left > 0) {
            plan(rank);
            sim_timer_init(&rank->begin, begin);
            sim_timer_arm(rank->node, &rank->begin, options->start_ps);
        }
    }
}
