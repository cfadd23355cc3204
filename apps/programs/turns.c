// SPDX-License-Identifier: Apache-2.0
// apps/programs/turns.c - the turns of a process: its calls, what it waits for, and its end.
#include "apps/programs/turns.h"
#include "apps/programs/cm.h"
#include "apps/programs/posts.h"
#include "apps/programs/process_verbs.h"
#include "kernel/steps.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_PS_PER_MS (SIM_PS_PER_S / 1000)
#define NO_DESCRIPTOR (-1)

// -- what happens while a process waits

void app__program_notice(app__program_t *program, uint32_t reason)
{
    program->reasons |= reason;
    if (program->state == APP__PR_RUNS && program->parked) {
        nic_core_wake(program->core);
    }
}

void app__program_event(app__program_t *program, uint32_t kind, uint32_t handle)
{
    SIM_APPEND(program->events, program->event_count, program->event_capacity,
               ((program_event_t){kind, handle}));
    app__program_notice(program, PROGRAM_ON_EVENT);
}

static void wait_is_over(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    app__program_t *const program = SIM_CONTAINER_OF(timer, app__program_t, wait_timer);
    program->wait_over = true;
    nic_core_wake(program->core);
}

// -- timers of signals

static void timer_is_due(sim_node_t *node, sim_timer_t *timer)
{
    app__pr_timer_t *const due = SIM_CONTAINER_OF(timer, app__pr_timer_t, timer);
    if (due->signal > 0) {
        due->program->signals |= UINT64_C(1) << due->signal;
    }
    if (due->every_ps != 0) {
        sim_timer_arm(node, timer, node->now_ps + due->every_ps);
    }
    app__program_notice(due->program, PROGRAM_ON_SIGNAL);
}

static int set_timer(app__program_t *program, program_timer_t *wish)
{
    sim_node_t *const node = &program->node->sim;
    const sim_time_t now_ps = nic_core_now_ps(program->core);
    if (wish->signal < 0 || wish->signal > 63) {
        return EINVAL;
    }
    app__pr_timer_t *timer = NULL;
    for (size_t i = 0; i < program->timer_count && timer == NULL; i++) {
        timer = program->timers[i]->id == wish->id ? program->timers[i] : NULL;
    }
    if (timer == NULL) {
        timer = sim_alloc(sizeof(*timer));
        *timer = (app__pr_timer_t){.program = program, .id = wish->id};
        sim_timer_init(&timer->timer, timer_is_due);
        SIM_APPEND(program->timers, program->timer_count, program->timer_capacity, timer);
    }
    wish->left_ps = 0;
    if (sim_timer_armed(&timer->timer)) {
        const sim_time_t due_ps = sim_timer_time_ps(node, &timer->timer);
        wish->left_ps = SIM_MAX(due_ps, now_ps) - now_ps;
        sim_timer_cancel(node, &timer->timer);
    }
    timer->every_ps = wish->every_ps;
    timer->signal = wish->signal;
    if (wish->after_ps < SIM_TIME_END - now_ps) {
        sim_timer_arm(node, &timer->timer, now_ps + wish->after_ps);
    }
    return 0;
}

// -- answers

static void answer(app__program_t *program, int descriptor)
{
    program_shared_t *const shared = program->process->shared;
    shared->now_ps = nic_core_now_ps(program->core);
    shared->lead_ps = 0;
    shared->posts_bytes = 0;
    shared->signals = program->signals;
    program->signals = 0;
    const size_t count = SIM_MIN(program->event_count, (size_t)PROGRAM_EVENTS_MAX);
    memcpy(shared->events, program->events, count * sizeof(*shared->events));
    shared->event_count = (uint32_t)count;
    program->event_count -= count;
    memmove(program->events, program->events + count,
            program->event_count * sizeof(*program->events));
    program->parked = false;
    sim_timer_cancel(&program->node->sim, &program->wait_timer);
    sim_progress(&program->node->sim);
    app__process_answer(program->process, descriptor);
}

static uint32_t waiting_for(const app__program_t *program, const program_call_t *call)
{
    uint32_t reasons = program->reasons;
    reasons |= program->event_count != 0 ? PROGRAM_ON_EVENT : 0;
    reasons |= program->signals != 0 ? PROGRAM_ON_SIGNAL : 0;
    return reasons & call->wait.mask;
}

// Tries to answer the call that the process waits in. Returns false if it must wait on.
static bool try_parked(app__program_t *program)
{
    program_call_t *const call = &program->process->shared->call;
    app__program_look_at_cqs(program);
    bool done = program->wait_over;
    call->wait.reasons = waiting_for(program, call);
    call->error = 0;
    if (call->op == PROGRAM_POLL_CQ) {
        call->count = call->flags;
        call->error = app__program_verb(program, call);
        done = done || call->error != 0 || call->count != 0;
    } else if (call->op == PROGRAM_CONNECT) {
        call->error = app__socket_connected(program, call);
        done = call->error != EINPROGRESS;
    } else if (call->op == PROGRAM_CM) {
        call->error = app__cma_call(program, call);
    }
    if (!done && call->wait.reasons == 0) {
        return false;
    }
    if (call->op == PROGRAM_CONNECT && !done) {
        call->error = EINTR;
    }
    program->reasons = 0;
    answer(program, NO_DESCRIPTOR);
    return true;
}

// Lets the process wait in its call.
static void park(app__program_t *program)
{
    program_call_t *const call = &program->process->shared->call;
    const sim_time_t now_ps = nic_core_now_ps(program->core);
    program->parked = true;
    program->wait_over = false;
    if (call->op != PROGRAM_CONNECT && call->wait.timeout_ps < SIM_TIME_END - now_ps) {
        sim_timer_arm(&program->node->sim, &program->wait_timer, now_ps + call->wait.timeout_ps);
    }
}

// -- the end

static void note_end(app__program_t *program, const char *fault)
{
    const int status = program->status;
    const bool hello = program->process != NULL && program->process->hello;
    if (fault == NULL && !hello && WIFEXITED(status)) {
        fault = "the program ended without having loaded the library of simulated verbs; programs "
                "that are linked statically, or that change their user, cannot be simulated";
    }
    program->ends_badly = fault != NULL;
    if (fault != NULL) {
        (void)sim_fail(&program->end, SIM_ERR_STATE, "%s", fault);
    } else if (WIFSIGNALED(status)) {
        (void)sim_fail(&program->end, SIM_ERR_STATE, "the program was killed by signal %d (%s)",
                       WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else {
        (void)sim_fail(&program->end, SIM_ERR_STATE, "the program ended with status %d",
                       WEXITSTATUS(status));
    }
}

void app__program_end(app__program_t *program, const char *fault)
{
    if (program->state == APP__PR_ENDED) {
        return;
    }
    sim_node_t *const node = &program->node->sim;
    const bool begun = program->process != NULL;
    program->state = APP__PR_ENDED;
    program->parked = false;
    program->ended_ps = begun ? nic_core_now_ps(program->core) : SIM_TIME_NEVER;
    if (begun) {
        program->process->shared->killed = fault != NULL;
        program->status = app__process_end(program->process, fault != NULL);
    }
    note_end(program, fault);
    sim_timer_cancel(node, &program->wait_timer);
    sim_timer_cancel(node, &program->signal_timer);
    for (size_t i = 0; i < program->timer_count; i++) {
        sim_timer_cancel(node, &program->timers[i]->timer);
    }
    app__sockets_close_all(program);
    app__cma_end(program);
    app__program_free_verbs(program);
    nic_core_stop(program->core);
    sim_happened(node, 'P', node->now_ps, (uint64_t)program->status << 32 | program->calls);
    sim_work_end(node, 1);
    sim_progress(node);
    sim_cut_step(node);
}

void app__program_init_timers(app__program_t *program)
{
    sim_timer_init(&program->wait_timer, wait_is_over);
}

// -- calls

// Works on the call that has come. Returns false if the process waits now, or is gone.
static bool take_call(app__program_t *program)
{
    program_shared_t *const shared = program->process->shared;
    program_call_t *const call = &shared->call;
    int descriptor = NO_DESCRIPTOR;
    program->calls++;
    app__program_post_all(program);
    if (shared->sockets_written != 0 || call->op == PROGRAM_WAIT || call->op == PROGRAM_BYE) {
        shared->sockets_written = 0;
        app__sockets_look(program);
    }
    call->error = 0;
    switch (call->op) {
    case PROGRAM_HELLO:
        program->process->hello = true;
        break;
    case PROGRAM_FLUSH:
        break;
    case PROGRAM_BYE:
        answer(program, NO_DESCRIPTOR);
        app__program_end(program, NULL);
        return false;
    case PROGRAM_YIELD:
    case PROGRAM_CM:
        // Answered by the step that follows this one, when the host has come to its time. So
        // messages of the connection manager leave at the time of the call.
        call->wait = (program_wait_t){.mask = 0, .timeout_ps = 0};
        program->parked = program->wait_over = true;
        return false;
    case PROGRAM_WAIT:
        app__program_look_at_cqs(program);
        park(program);
        return false;
    case PROGRAM_TIMER:
        call->error = set_timer(program, &call->timer);
        break;
    case PROGRAM_POLL_CQ:
        program->polls++;
        call->flags = SIM_MIN(call->count, PROGRAM_POLL_MAX);
        call->count = call->flags;
        call->error = app__program_verb(program, call);
        if (call->error == 0 && call->count == 0 && call->wait.mask != 0 &&
            waiting_for(program, call) == 0) {
            park(program);
            return false;
        }
        call->wait.reasons = waiting_for(program, call);
        program->reasons = 0;
        break;
    case PROGRAM_SOCKET:
    case PROGRAM_BIND:
    case PROGRAM_LISTEN:
    case PROGRAM_ACCEPT:
    case PROGRAM_NAMES:
        call->error = app__socket_call(program, call, &descriptor);
        break;
    case PROGRAM_CONNECT:
        call->error = app__socket_call(program, call, &descriptor);
        if (call->error == EINPROGRESS) {
            call->wait = (program_wait_t){.mask = PROGRAM_ON_SIGNAL, .timeout_ps = PROGRAM_NEVER};
            park(program);
            return false;
        }
        break;
    default:
        call->error = app__program_verb(program, call);
        break;
    }
    answer(program, descriptor);
    if (descriptor >= 0) {
        close(descriptor);
    }
    return true;
}

// Asks the caller of the run whether a program that computes has to end, and keeps why.
static bool has_to_end(void *ctx)
{
    app__program_t *const program = ctx;
    const app_programs_t *const permission = program->permission;
    program->stopped =
        permission->ends == NULL ? NULL : permission->ends(&program->app, permission->ctx);
    return program->stopped != NULL;
}

static void run_process(app__program_t *program)
{
    const uint64_t patience_ms = program->config->patience_ps / PATIENCE_PS_PER_MS;
    for (;;) {
        switch (app__process_wait(program->process, patience_ms, has_to_end, program)) {
        case APP__TURN_CALL:
            if (!take_call(program)) {
                return;
            }
            break;
        case APP__TURN_GONE:
            app__program_end(program, NULL);
            return;
        case APP__TURN_STOPPED:
            app__program_end(program, program->stopped);
            return;
        case APP__TURN_LATE: {
            char *const text =
                sim_format("the program made no call for %" PRIu64 " s of real time and was ended "
                           "(programs.patience)",
                           patience_ms / 1000);
            app__program_end(program, text);
            sim_free(text);
            return;
        }
        }
    }
}

static bool begin(app__program_t *program)
{
    sim_message_t message;
    sim_work_begin(&program->node->sim, 1);
    program->begun_ps = nic_core_now_ps(program->core);
    if (app__program_start(program, &message) != SIM_OK) {
        app__program_end(program, message.text);
        return false;
    }
    program->state = APP__PR_RUNS;
    return true;
}

bool app__program_take_turn(nic_core_t *core, void *ctx)
{
    (void)core;
    app__program_t *const program = ctx;
    if (program->state == APP__PR_ENDED) {
        return false;
    }
    if (program->state == APP__PR_WAITS_FOR_START) {
        if (!begin(program)) {
            return false;
        }
    } else if (program->parked && !try_parked(program)) {
        return false;
    }
    run_process(program);
    return program->state != APP__PR_ENDED;
}
