// SPDX-License-Identifier: Apache-2.0
// apps/workload/execute.c - starts the operations of a rank in their order, on its processors.
#include "apps/workload/internal.h"

// Puts operations that wait for one operation less into the queue of those that are ready.
static void release(app__rank_t *rank, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t op = rank->ops->next[first + i];
        SIM_CHECK(rank->states[op].left > 0);
        if (--rank->states[op].left == 0) {
            app__queue_put(&rank->ready, rank->states, op);
        }
    }
}

static void note_start(app__rank_t *rank, uint32_t op)
{
    const app__op_t *const at = &rank->ops->ops[op];
    rank->states[op].start_ps = rank->node->now_ps;
    release(rank, at->irequired_first, at->irequired_count);
}

void app__rank_finish(app__rank_t *rank, uint32_t op)
{
    const app__op_t *const at = &rank->ops->ops[op];
    app__op_state_t *const state = &rank->states[op];
    SIM_CHECK(!state->finished && rank->left > 0);
    state->finished = true;
    if (at->type != APP__OP_SEND) {
        state->end_ps = rank->node->now_ps;
    }
    release(rank, at->required_first, at->required_count);
    sim_progress(rank->node);
    if (--rank->left == 0) {
        rank->end_ps = rank->node->now_ps;
        sim_work_end(rank->node, 1);
    }
}

// -- processors

static sim_time_t duration_ps(const app__rank_t *rank, const app__op_t *op)
{
    const app__workload_t *const workload = rank->workload;
    switch (op->type) {
    case APP__OP_CALC:
        return app__calc_ps(op->size, &workload->options.loggp.calc_scale);
    case APP__OP_SEND:
        return workload->options.loggp.send_ps;
    default:
        return workload->options.loggp.recv_ps;
    }
}

// Ends an operation's time on its processor. A send is handed to the NIC then.
static void leave_cpu(app__rank_t *rank, uint32_t op)
{
    if (rank->ops->ops[op].type == APP__OP_SEND) {
        rank->states[op].start_ps = rank->node->now_ps;
        app__links_send(rank, op);
    }
    app__rank_finish(rank, op);
}

// Runs the operations of an idle processor until one takes time.
static void run_cpu(app__cpu_t *cpu)
{
    app__rank_t *const rank = cpu->rank;
    while (cpu->running == APP__NO_OP && cpu->queue.head != APP__NO_OP) {
        const uint32_t op = app__queue_take(&cpu->queue, rank->states);
        const sim_time_t took_ps = duration_ps(rank, &rank->ops->ops[op]);
        if (rank->ops->ops[op].type != APP__OP_RECV) {
            note_start(rank, op);
        }
        cpu->busy_ps += took_ps;
        if (took_ps == 0) {
            leave_cpu(rank, op);
        } else {
            cpu->running = op;
            sim_timer_arm(rank->node, &cpu->timer, rank->node->now_ps + took_ps);
        }
    }
}

static void cpu_fired(sim_node_t *node, sim_timer_t *timer)
{
    app__cpu_t *const cpu = SIM_CONTAINER_OF(timer, app__cpu_t, timer);
    const uint32_t op = cpu->running;
    SIM_CHECK(op != APP__NO_OP && cpu->rank->node == node);
    cpu->running = APP__NO_OP;
    leave_cpu(cpu->rank, op);
    run_cpu(cpu);
    app__rank_pump(cpu->rank);
}

static void put_on_cpu(app__rank_t *rank, uint32_t op)
{
    app__cpu_t *const cpu = &rank->cpus[rank->ops->ops[op].cpu];
    app__queue_put(&cpu->queue, rank->states, op);
    run_cpu(cpu);
}

void app__rank_received(app__rank_t *rank, uint32_t op)
{
    SIM_CHECK(!rank->states[op].arrived);
    rank->states[op].arrived = true;
    put_on_cpu(rank, op);
}

// -- ranks

void app__rank_pump(app__rank_t *rank)
{
    while (rank->ready.head != APP__NO_OP) {
        const uint32_t op = app__queue_take(&rank->ready, rank->states);
        if (rank->ops->ops[op].type == APP__OP_COLL) {
            note_start(rank, op);
            app__coll_begin(rank, op);
        } else if (rank->ops->ops[op].type == APP__OP_RECV) {
            note_start(rank, op);
            if (app__match_post(rank, op)) {
                app__rank_received(rank, op);
            }
        } else {
            put_on_cpu(rank, op);
        }
    }
}

static void begin(sim_node_t *node, sim_timer_t *timer)
{
    app__rank_t *const rank = SIM_CONTAINER_OF(timer, app__rank_t, begin);
    SIM_CHECK(rank->node == node);
    for (uint32_t op = 0; op < rank->ops->count; op++) {
        if (rank->states[op].left == 0) {
            app__queue_put(&rank->ready, rank->states, op);
        }
    }
    if (rank->left > 0) {
        sim_work_begin(node, 1);
    }
    app__rank_pump(rank);
}

void app__rank_begin(app__rank_t *rank, sim_time_t start_ps)
{
    uint32_t most = 0;
    rank->states = sim_alloc_array((size_t)rank->ops->count + 1, sizeof(*rank->states));
    rank->left = rank->ops->count;
    rank->end_ps = start_ps;
    for (uint32_t op = 0; op < rank->ops->count; op++) {
        rank->states[op] = (app__op_state_t){
            .left = rank->ops->ops[op].needs,
            .start_ps = SIM_TIME_NEVER,
            .end_ps = SIM_TIME_NEVER,
        };
        most = rank->ops->ops[op].cpu > most ? rank->ops->ops[op].cpu : most;
    }
    rank->cpu_count = most + 1;
    rank->cpus = sim_alloc_array(rank->cpu_count, sizeof(*rank->cpus));
    for (uint32_t i = 0; i < rank->cpu_count; i++) {
        sim_timer_init(&rank->cpus[i].timer, cpu_fired);
        rank->cpus[i].rank = rank;
        rank->cpus[i].running = APP__NO_OP;
        app__queue_init(&rank->cpus[i].queue);
    }
    app__queue_init(&rank->ready);
    app__match_init(rank);
    if (rank->ops->count > 0) {
        sim_timer_init(&rank->begin, begin);
        sim_timer_arm(rank->node, &rank->begin, start_ps);
    }
}
