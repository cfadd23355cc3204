// SPDX-License-Identifier: Apache-2.0
// apps/workload/ideal.c - ranks on an ideal network: no packets, all times are known beforehand.
//
// The whole schedule is run when the application is made (loggp.h). Each rank then has one event
// at the time at which it begins and one at the time at which it has finished.
#include "apps/workload/internal.h"

static void finish(sim_node_t *node, sim_timer_t *timer)
{
    app__rank_t *const rank = SIM_CONTAINER_OF(timer, app__rank_t, begin);
    rank->left = rank->ideal->unfinished;
    rank->end_ps = node->now_ps;
    sim_progress(node);
    if (rank->left == 0) {
        sim_work_end(node, 1);
    }
}

static void begin(sim_node_t *node, sim_timer_t *timer)
{
    app__rank_t *const rank = SIM_CONTAINER_OF(timer, app__rank_t, begin);
    sim_work_begin(node, 1);
    sim_timer_init(timer, finish);
    sim_timer_arm(node, timer, node->now_ps + rank->ideal->end_ps);
}

static void set_states(app__rank_t *rank, sim_time_t start_ps)
{
    for (uint32_t op = 0; op < rank->ops->count; op++) {
        const app__loggp_op_t *const ideal = &rank->ideal->ops[op];
        app__op_state_t *const state = &rank->states[op];
        const bool sends = rank->ops->ops[op].type == APP__OP_SEND;
        const sim_time_t end_ps = sends ? ideal->arrival_ps : ideal->end_ps;
        *state = (app__op_state_t){
            .start_ps = ideal->start_ps,
            .end_ps = end_ps,
            .finished = ideal->end_ps != SIM_TIME_NEVER,
            .arrived = ideal->end_ps != SIM_TIME_NEVER,
        };
        state->start_ps += state->start_ps == SIM_TIME_NEVER ? 0 : start_ps;
        state->end_ps += state->end_ps == SIM_TIME_NEVER ? 0 : start_ps;
    }
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
        rank->cpus[0].busy_ps = rank->ideal->busy_ps;
        rank->unexpected_peak = rank->ideal->unexpected_peak;
        set_states(rank, options->start_ps);
        if (rank->left > 0) {
            sim_timer_init(&rank->begin, begin);
            sim_timer_arm(rank->node, &rank->begin, options->start_ps);
        }
    }
}
