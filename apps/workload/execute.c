// SPDX-License-Identifier: Apache-2.0
// apps/workload/execute.c - starts the operations of a rank in their order, on its processors.
#include "apps/workload/channels.h"
#include "apps/workload/collective/collectives.h"
#include "apps/workload/collective/repeat/memo.h"
#include "apps/workload/match.h"
#include "apps/workload/op_queue.h"
#include "apps/workload/rank.h"
#include "apps/workload/workload.h"
#include "kernel/steps.h"

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
    if (rank->workload->cancelled) {
        return;
    }
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
        sim_cut_step(rank->node); // a session looks which ranks have ended
    }
}

// -- processors

static sim_time_t overheads_ps(const app__rank_t *rank, uint64_t bytes)
{
    return (bytes > 0 ? bytes - 1 : 0) * rank->workload->options.loggp.byte_overhead_ps;
}

static sim_time_t duration_ps(const app__rank_t *rank, const app__op_t *op)
{
    const app__loggp_t *const loggp = &rank->workload->options.loggp;
    switch (op->type) {
    case APP__OP_CALC:
        return app__calc_ps(op->size, &loggp->calc_scale);
    case APP__OP_SEND:
        return loggp->send_ps + overheads_ps(rank, op->size);
    default:
        return loggp->recv_ps + overheads_ps(rank, op->size);
    }
}

static bool waits_for_receive(const app__rank_t *rank, const app__op_t *send)
{
    return send->size > rank->workload->options.loggp.eager_max_bytes;
}

// Ends an operation's time on its processor. A send is handed to the NIC then, or asks first.
static void leave_cpu(app__rank_t *rank, uint32_t op)
{
    if (op == APP__NO_OP || rank->workload->cancelled) {
        return; // a message that found no receive, or nothing is to begin any more
    }
    const app__op_t *const at = &rank->ops->ops[op];
    if (at->type != APP__OP_SEND) {
        app__rank_finish(rank, op);
        return;
    }
    rank->states[op].start_ps = rank->node->now_ps;
    if (waits_for_receive(rank, at)) {
        app__rank_send(rank, op, APP__WORD_READY_TO_SEND);
    } else {
        app__rank_send(rank, op, APP__WORD_DATA);
        app__rank_finish(rank, op);
    }
}

static const app__op_t *op_of(const app__rank_t *rank, uint32_t source, uint32_t op)
{
    return &rank->workload->schedule->ranks[source].ops[op];
}

// Returns when an operation that takes so long ends: a computation ends on the grid.
static sim_time_t end_of(const app__rank_t *rank, uint32_t op, sim_time_t took_ps)
{
    const sim_time_t end_ps = rank->node->now_ps + took_ps;
    const sim_time_t grid_ps = rank->workload->options.calc_grid_ps;
    if (grid_ps == 0 || op == APP__NO_OP || rank->ops->ops[op].type != APP__OP_CALC) {
        return end_ps;
    }
    return (end_ps + grid_ps - 1) / grid_ps * grid_ps;
}

// Runs the operations of an idle processor until one takes time.
static void run_cpu(app__cpu_t *cpu)
{
    app__rank_t *const rank = cpu->rank;
    while (!cpu->busy && SIM_RING_COUNT(&cpu->queue) > 0 && !rank->workload->cancelled) {
        const app__cpu_item_t item = SIM_RING_POP(&cpu->queue);
        uint32_t op = item.op;
        sim_time_t took_ps = 0;
        if (item.source != APP__NO_OP) { // a message
            took_ps = rank->workload->options.loggp.recv_ps +
                      overheads_ps(rank, op_of(rank, item.source, op)->size);
            op = app__match_arrive(rank, item.source, op);
        } else {
            took_ps = duration_ps(rank, &rank->ops->ops[op]);
            if (rank->ops->ops[op].type != APP__OP_RECV) {
                note_start(rank, op);
            }
        }
        cpu->busy_ps += took_ps;
        if (took_ps == 0) {
            leave_cpu(rank, op);
        } else {
            cpu->busy = true;
            cpu->running = op;
            sim_timer_arm(rank->node, &cpu->timer, end_of(rank, op, took_ps));
        }
    }
}

static void cpu_fired(sim_node_t *node, sim_timer_t *timer)
{
    app__cpu_t *const cpu = SIM_CONTAINER_OF(timer, app__cpu_t, timer);
    SIM_CHECK(cpu->busy && cpu->rank->node == node);
    if (cpu->rank->workload->memo != NULL) {
        app__memo_ran(cpu->rank->workload->memo, cpu->rank);
    }
    cpu->busy = false;
    leave_cpu(cpu->rank, cpu->running);
    run_cpu(cpu);
    app__rank_pump(cpu->rank);
}

static void put_on_cpu(app__rank_t *rank, uint8_t number, uint32_t source, uint32_t op)
{
    app__cpu_t *const cpu = &rank->cpus[number];
    SIM_RING_PUSH(&cpu->queue, (app__cpu_item_t){op, source});
    run_cpu(cpu);
}

// -- messages

// Notes that a receive has its message; a processor then handles it.
static void received(app__rank_t *rank, uint32_t op, uint8_t cpu)
{
    SIM_CHECK(!rank->states[op].arrived);
    rank->states[op].arrived = true;
    put_on_cpu(rank, cpu, APP__NO_OP, op);
}

// Returns the receive that a ready-to-send was answered for.
static uint32_t take_granted(app__rank_t *rank, uint32_t source, uint32_t op)
{
    size_t at = 0;
    while (rank->granted[at].source != source || rank->granted[at].op != op) {
        at++;
        SIM_CHECK(at < rank->granted_count);
    }
    const uint32_t receive = rank->granted[at].receive;
    rank->granted[at] = rank->granted[--rank->granted_count];
    return receive;
}

static void grant(app__rank_t *rank, uint32_t source, uint32_t op, uint32_t receive)
{
    SIM_APPEND(rank->granted, rank->granted_count, rank->granted_capacity,
               (app__granted_t){source, op, receive});
    app__rank_answer(rank, source, op);
}

void app__rank_arrived(app__rank_t *rank, uint32_t source, uint32_t op)
{
    const app__op_t *const send = op_of(rank, source, op);
    const bool spcl = rank->workload->options.loggp.semantics == APP__SEMANTICS_SPCL;
    const bool granted = waits_for_receive(rank, send);
    if (spcl && !granted) {
        put_on_cpu(rank, send->cpu, source, op); // it looks for its receive there
    } else {
        const uint32_t receive =
            granted ? take_granted(rank, source, op) : app__match_arrive(rank, source, op);
        if (receive != APP__NO_OP) {
            received(rank, receive, spcl ? send->cpu : rank->ops->ops[receive].cpu);
        }
    }
    app__rank_pump(rank);
}

void app__rank_announced(app__rank_t *rank, uint32_t source, uint32_t op)
{
    const uint32_t receive = app__match_arrive(rank, source, op);
    if (receive != APP__NO_OP) {
        grant(rank, source, op, receive);
    }
}

void app__rank_cleared(app__rank_t *rank, uint32_t op)
{
    app__rank_send(rank, op, APP__WORD_DATA);
    if (rank->workload->options.loggp.semantics == APP__SEMANTICS_SPCL) {
        app__rank_finish(rank, op);
        app__rank_pump(rank);
    }
}

void app__rank_acknowledged(app__rank_t *rank, uint32_t op)
{
    if (waits_for_receive(rank, &rank->ops->ops[op]) && !rank->states[op].finished) {
        app__rank_finish(rank, op);
        app__rank_pump(rank);
    }
}

// Posts a receive; a message may wait for it.
static void start_receive(app__rank_t *rank, uint32_t op)
{
    app__unexpected_t message;
    note_start(rank, op);
    if (!app__match_post(rank, op, &message)) {
        return;
    }
    if (waits_for_receive(rank, op_of(rank, message.source, message.op))) {
        grant(rank, message.source, message.op, op);
    } else if (rank->workload->options.loggp.semantics == APP__SEMANTICS_SPCL) {
        rank->states[op].arrived = true;
        app__rank_finish(rank, op); // the message has cost its processor when it arrived
    } else {
        received(rank, op, rank->ops->ops[op].cpu);
    }
}

// -- ranks

void app__rank_pump(app__rank_t *rank)
{
    while (rank->ready.head != APP__NO_OP && !rank->workload->cancelled) {
        const uint32_t op = app__queue_take(&rank->ready, rank->states);
        if (rank->ops->ops[op].type == APP__OP_COLL) {
            note_start(rank, op);
            app__coll_begin(rank, op);
        } else if (rank->ops->ops[op].type == APP__OP_RECV) {
            start_receive(rank, op);
        } else {
            put_on_cpu(rank, rank->ops->ops[op].cpu, APP__NO_OP, op);
        }
    }
}

static void begin(sim_node_t *node, sim_timer_t *timer)
{
    app__rank_t *const rank = SIM_CONTAINER_OF(timer, app__rank_t, begin);
    SIM_CHECK(rank->node == node);
    if (rank->workload->cancelled) {
        return;
    }
    rank->begun = true;
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
        most = SIM_MAX(rank->ops->ops[op].cpu, most);
    }
    if (rank->workload->options.loggp.semantics == APP__SEMANTICS_SPCL) {
        most = rank->workload->schedule->counts.cpu_max; // messages name processors of their sends
    }
    rank->cpu_count = most + 1;
    rank->cpus = sim_alloc_array(rank->cpu_count, sizeof(*rank->cpus));
    for (uint32_t i = 0; i < rank->cpu_count; i++) {
        sim_timer_init(&rank->cpus[i].timer, cpu_fired);
        rank->cpus[i].rank = rank;
        rank->cpus[i].running = APP__NO_OP;
    }
    app__queue_init(&rank->ready);
    app__match_init(rank);
    if (rank->ops->count > 0) {
        sim_timer_init(&rank->begin, begin);
        sim_timer_arm(rank->node, &rank->begin, start_ps);
    }
}
