// SPDX-License-Identifier: Apache-2.0
// apps/programs/turns.c - the turns of a process: its calls, what it waits for, and its end.
#include "apps/programs/turns.h"
#include "apps/programs/cm.h"
#include "apps/programs/files.h"
#include "apps/programs/process_verbs.h"
#include "apps/programs/threads/forks.h"
#include "apps/programs/verbs/events.h"
#include "apps/programs/verbs/foresight.h"
#include "apps/programs/verbs/posts.h"
#include "apps/programs/verbs/queue_pairs.h"
#include "kernel/steps.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_PS_PER_MS (SIM_PS_PER_S / 1000)
#define NO_DESCRIPTOR (-1)
// Answers in a row without news, after which more of them are no progress of the run: a program
// that waits in vain, and has a timer, would let it go on for ever.
#define VAIN_MAX 500000u
#define DESTROY_PS (10 * SIM_PS_PER_US) // of a queue pair with unfinished sends

// -- what happens while a process waits

void app__program_notice(app__program_t *program, uint32_t reason)
{
    for (size_t i = 0; i < program->thread_count; i++) {
        app__pr_thread_t *const thread = program->threads[i];
        app__thread_notice(thread, reason);
    }
}

void app__program_completion(app__program_t *program, uint32_t handle)
{
    const app__pr_cq_t *const cq = app__program_cq(program, handle);
    app__program_event_of(cq == NULL ? program->first_process : cq->owner->process, program, 0,
                          handle);
}

void app__program_event_of(app__process_t *process, app__program_t *program, uint32_t kind,
                           uint32_t handle)
{
    SIM_APPEND(program->events, program->event_count, program->event_capacity,
               ((app__pr_event_t){{kind, handle}, process}));
    app__program_notice(program, PROGRAM_ON_EVENT);
}

// -- timers of signals

static void timer_is_due(sim_node_t *node, sim_timer_t *timer)
{
    app__pr_timer_t *const due = SIM_CONTAINER_OF(timer, app__pr_timer_t, timer);
    if (due->signal > 0) {
        due->process->signals |= UINT64_C(1) << due->signal;
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
        app__pr_timer_t *const some = program->timers[i];
        timer = some->id == wish->id && some->process == program->process ? some : NULL;
    }
    if (timer == NULL) {
        timer = sim_alloc(sizeof(*timer));
        *timer = (app__pr_timer_t){.program = program, .process = program->process, .id = wish->id};
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

// Returns when the next timer of a signal of the process is due, or the kill of its program.
static sim_time_t next_signal_ps(const app__program_t *program, const app__process_t *process)
{
    sim_time_t next_ps = sim_timer_armed(&program->kill_timer)
                             ? sim_timer_time_ps(&program->node->sim, &program->kill_timer)
                             : PROGRAM_NEVER;
    for (size_t i = 0; i < program->timer_count; i++) {
        const app__pr_timer_t *const timer = program->timers[i];
        if (timer->process == process && timer->signal > 0 && sim_timer_armed(&timer->timer)) {
            next_ps = SIM_MIN(next_ps, sim_timer_time_ps(&program->node->sim, &timer->timer));
        }
    }
    return next_ps;
}

// -- answers

// Puts the events of the thread's process into its answer.
static void give_events(const app__pr_thread_t *thread)
{
    app__program_t *const program = thread->program;
    program_shared_t *const shared = program->process->shared;
    size_t kept = 0;
    shared->event_count = 0;
    for (size_t i = 0; i < program->event_count; i++) {
        const app__pr_event_t *const event = &program->events[i];
        if (event->process == thread->process && shared->event_count < PROGRAM_EVENTS_MAX) {
            shared->events[shared->event_count++] = event->event;
        } else {
            program->events[kept++] = *event;
        }
    }
    program->event_count = kept;
}

// Returns true if the answer tells the program more than that a time is over, or that there is no
// connection yet.
static bool is_news(const program_call_t *call)
{
    const uint32_t news =
        PROGRAM_ON_POLL | PROGRAM_ON_EVENT | PROGRAM_ON_SOCKET | PROGRAM_ON_MEMORY | PROGRAM_ON_KEY;
    switch (call->op) {
    case PROGRAM_WAIT:
        return (call->wait.reasons & news) != 0;
    case PROGRAM_POLL_CQ:
        return (call->wait.reasons & news) != 0 || call->count != 0;
    case PROGRAM_YIELD:
    case PROGRAM_FLUSH:
    case PROGRAM_TIMER:
    case PROGRAM_TOUCH:
    case PROGRAM_SOCKET:
        return false;
    case PROGRAM_WAKE:
        return call->count != 0;
    case PROGRAM_ACCEPT:
    case PROGRAM_CONNECT:
        return call->error == 0;
    default:
        return true;
    }
}

static void answer(app__pr_thread_t *thread, int descriptor)
{
    app__program_t *const program = thread->program;
    program_shared_t *const shared = program->process->shared;
    if (app__foresight_next(thread)) {
        thread->parked = false;
        thread->called = true;
        sim_timer_cancel(&program->node->sim, &thread->wait_timer);
        sim_progress(&program->node->sim);
        return;
    }
    if (thread->parked) {
        shared->call = thread->call;
    }
    program->posts_done_bytes = 0;
    shared->now_ps = nic_core_now_ps(program->core);
    shared->signal_ps = next_signal_ps(program, thread->process);
    shared->lead_ps = 0;
    shared->posts_bytes = 0;
    shared->alone = app__thread_is_alone(thread);
    shared->watched = program->node->sim.watched;
    shared->at_descriptors = app__threads_at_descriptors(thread);
    shared->signals = 0;
    if (thread->process->signals != 0 && app__thread_takes_signals(thread)) {
        shared->signals = thread->process->signals;
        thread->process->signals = 0;
    }
    give_events(thread);
    shared->quiet = program->event_count == 0 && app__program_is_quiet(program);
    app__foresight_tell(thread);
    thread->parked = false;
    sim_timer_cancel(&program->node->sim, &thread->wait_timer);
    program->vain = is_news(&shared->call) ? 0 : SIM_MIN(program->vain + 1, VAIN_MAX);
    if (program->vain < VAIN_MAX) {
        sim_progress(&program->node->sim);
    }
    app__process_answer(thread->process, thread->bell, thread->control, descriptor);
}

static uint32_t waiting_for(const app__pr_thread_t *thread, const program_call_t *call)
{
    const app__program_t *const program = thread->program;
    uint32_t reasons = thread->reasons;
    for (size_t i = 0; i < program->event_count; i++) {
        reasons |= program->events[i].process == thread->process ? PROGRAM_ON_EVENT : 0;
    }
    if (thread->process->signals != 0 && app__thread_takes_signals(thread)) {
        reasons |= PROGRAM_ON_SIGNAL;
    }
    return reasons & app__thread_mask(call);
}

// Begins a turn of a thread that has waited.
static void begin_turn(app__pr_thread_t *thread, uint32_t reasons)
{
    if (thread->call.op != PROGRAM_YIELD) {
        thread->depth = reasons == PROGRAM_ON_TURN ? thread->next_depth : 0;
        thread->acted = false;
    }
    if (thread->call.op == PROGRAM_WAIT && (thread->call.flags & PROGRAM_WAIT_SINCE_LOOK) != 0) {
        thread->missed = 0;
        thread->missed_depth = 0;
    }
    if ((thread->later_reasons & PROGRAM_ON_TURN) == 0) {
        thread->next_depth = 0;
    }
    thread->reasons = 0;
}

// Returns true if a poll returns at once although it found nothing: another queue of the thread has
// completions, and a program that polls several may come to that one after many polls of this one.
static bool passes(app__pr_thread_t *thread, const program_call_t *call)
{
    if (call->count != 0 || !app__program_has_unpolled(thread)) {
        thread->passed = 0;
        return false;
    }
    if (thread->passed == PROGRAM_POLLS_IN_A_ROW) {
        return false;
    }
    thread->passed++;
    return true;
}

// Tries to answer the call that the process waits in. Returns false if it must wait on.
static bool try_parked(app__pr_thread_t *thread)
{
    app__program_t *const program = thread->program;
    program_call_t *const call = &thread->call;
    app__program_look_at_cqs(program);
    bool done = thread->wait_over;
    call->wait.reasons = waiting_for(thread, call);
    call->error = 0;
    if (call->op == PROGRAM_POLL_CQ) {
        call->count = call->flags;
        call->error = app__program_verb(program, call);
        done = done || call->error != 0 || call->count != 0 || passes(thread, call);
    } else if ((call->op == PROGRAM_DESTROY_QP || call->op == PROGRAM_MODIFY_QP) && done) {
        call->error = app__program_verb(program, call);
    } else if (call->op == PROGRAM_CONNECT) {
        call->error = app__socket_connected(program, call);
        done = call->error != EINPROGRESS;
    } else if (call->op == PROGRAM_CM) {
        program->process->shared->cm = thread->cm;
        call->error = app__cma_call(program, call);
    }
    if (!done && call->wait.reasons == 0) {
        return false;
    }
    if (call->op == PROGRAM_CONNECT && !done) {
        call->error = EINPROGRESS; // the library waits on, unless a handler of a signal ran
    }
    begin_turn(thread, call->wait.reasons);
    thread->polled = call->op == PROGRAM_POLL_CQ;
    answer(thread, NO_DESCRIPTOR);
    return true;
}

// Lets the thread wait in its call.
static void park(app__pr_thread_t *thread)
{
    app__program_t *const program = thread->program;
    const program_call_t *const call = &program->process->shared->call;
    const sim_time_t now_ps = nic_core_now_ps(thread->core);
    app__threads_look(thread);
    thread->call = *call;
    thread->parked = true;
    thread->wait_over = false;
    thread->order = program->waits++;
    app__thread_look_for_circle(thread);
    if (call->op != PROGRAM_CONNECT && call->wait.timeout_ps < SIM_TIME_END - now_ps) {
        sim_timer_arm(&program->node->sim, &thread->wait_timer, now_ps + call->wait.timeout_ps);
    }
}

// Ends the wait of a thread that looks at memory if something came since its look.
static void notice_missed(app__pr_thread_t *thread)
{
    if ((thread->call.flags & PROGRAM_WAIT_SINCE_LOOK) != 0 &&
        (thread->missed & app__thread_mask(&thread->call)) != 0) {
        thread->next_depth = thread->missed_depth;
        app__thread_notice(thread, thread->missed);
    }
}

// -- the end

static void note_end(app__program_t *program, const char *fault)
{
    const int status = program->status;
    const bool hello = program->process != NULL && program->process->hello;
    if (fault == NULL && program->process != NULL &&
        program->process->shared->sanitized == PROGRAM_SANITIZED_WRONGLY) {
        fault = "the program was compiled with ThreadSanitizer, or with LeakSanitizer alone, which "
                "cannot be simulated since threads take turns; AddressSanitizer, which finds "
                "leaks, too, and UndefinedBehaviorSanitizer can";
    }
    if (fault == NULL && !hello && WIFEXITED(status)) {
        fault = "the program ended without having loaded the library of simulated verbs; programs "
                "that are linked statically, or that change their user, cannot be simulated";
    }
    if (fault == NULL && WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ) {
        fault = "the program was killed because it wrote a file longer than programs.output-max";
    }
    if (fault == NULL && WIFEXITED(status) && WEXITSTATUS(status) == PROGRAM_STATUS_LOST) {
        fault = "the library of simulated verbs ended the program: the last line that it printed "
                "says why, or the program closed the descriptors of the library";
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
    const bool begun = program->first_process != NULL;
    program->process = program->first_process;
    program->state = APP__PR_ENDED;
    program->ended_ps = begun ? nic_core_now_ps(program->core) : SIM_TIME_NEVER;
    if (begun) {
        program->process->shared->killed = fault != NULL;
        program->status = app__process_end(program->process, fault != NULL);
    }
    note_end(program, fault);
    sim_timer_cancel(node, &program->signal_timer);
    sim_timer_cancel(node, &program->kill_timer);
    if (program->stuck != NULL) {
        sim_timer_cancel(node, &program->stuck_timer);
    }
    for (size_t i = 0; i < program->timer_count; i++) {
        sim_timer_cancel(node, &program->timers[i]->timer);
    }
    app__sockets_close_all(program);
    app__cma_end(program);
    app__program_free_verbs(program);
    for (app__process_t *process = program->first_process; process != NULL;
         process = process->next) {
        app__segments_leave(program->segments, process);
    }
    app__threads_stop(program);
    sim_happened(node, 'P', node->now_ps, (uint64_t)program->status << 32 | program->calls);
    sim_work_end(node, program->serves ? 0 : 1);
    sim_progress(node);
    sim_cut_step(node);
}

// -- calls

// Lets the thread wait until the host has come to its time: the next step answers it.
static void park_until_now(app__pr_thread_t *thread, program_call_t *call)
{
    call->wait = (program_wait_t){.mask = 0, .timeout_ps = PROGRAM_NEVER};
    park(thread);
    thread->wait_over = true;
    if (call->op == PROGRAM_CM) {
        thread->cm = thread->program->process->shared->cm;
    }
}

// Lets the thread wait before its call ends a queue pair that still sends: what a program posted
// leaves, as it does while an adapter works on the command. Returns false if there is nothing to
// wait for.
static bool park_until_sent(app__pr_thread_t *thread, program_call_t *call)
{
    if (!app__program_ends_sends(thread->program, call)) {
        return false;
    }
    call->wait = (program_wait_t){.mask = 0, .timeout_ps = DESTROY_PS};
    park(thread);
    return true;
}

// Returns true if the thread's time is ahead of its host's.
static bool is_ahead(const app__pr_thread_t *thread)
{
    return nic_core_now_ps(thread->core) != thread->program->node->sim.now_ps;
}

// Polls a completion queue. Returns false if the thread waits for a completion now.
static bool poll_or_park(app__pr_thread_t *thread, program_call_t *call)
{
    app__program_t *const program = thread->program;
    program->polls++;
    call->flags = SIM_MIN(call->count, PROGRAM_POLL_MAX);
    call->count = call->flags;
    if (program->detailed && is_ahead(thread)) {
        // The poll begins when the host has come to the thread's time.
        if (call->wait.mask != 0) {
            park(thread);
        } else {
            park_until_now(thread, call);
        }
        return false;
    }
    call->error = app__program_verb(program, call);
    if (!passes(thread, call) && call->error == 0 && call->count == 0 && call->wait.mask != 0 &&
        waiting_for(thread, call) == 0) {
        park(thread);
        return false;
    }
    call->wait.reasons = waiting_for(thread, call);
    thread->acted = thread->acted || call->count != 0;
    thread->polled = true;
    thread->reasons = 0;
    return true;
}

// Works on a call that is answered at once. Returns an errno value.
static int do_call(app__program_t *program, program_call_t *call, int *descriptor)
{
    switch (call->op) {
    case PROGRAM_HELLO:
        program->process->hello = true;
        call->handle = program->thread->number;
        call->status = program->process->parent;
        app__threads_stop_others(program->thread);
        app__segments_leave(program->segments, program->process);
        return 0;
    case PROGRAM_FLUSH:
        return 0;
    case PROGRAM_FILES:
        return app__files_call(program);
    case PROGRAM_SHARE:
        app__segments_share(program);
        return 0;
    case PROGRAM_SEGMENT_GET:
    case PROGRAM_SEGMENT_ATTACH:
    case PROGRAM_SEGMENT_DETACH:
    case PROGRAM_SEGMENT_STATUS:
    case PROGRAM_SEGMENT_MODE:
    case PROGRAM_SEGMENT_REMOVE:
    case PROGRAM_SEGMENT_FILE:
        return app__segment_call(program, call, descriptor);
    case PROGRAM_TIMER:
        return set_timer(program, &call->timer);
    case PROGRAM_THREAD:
        return app__thread_create(program, call, descriptor);
    case PROGRAM_FORK:
        return app__fork(program, call, descriptor);
    case PROGRAM_FORKED:
        app__fork_done(program, call);
        return 0;
    case PROGRAM_PROCESS:
        return app__fork_find(program, call);
    case PROGRAM_KILL:
        return app__fork_kill(program, call);
    case PROGRAM_WAKE:
        app__threads_wake(program, call);
        return 0;
    case PROGRAM_TOUCH:
        app__threads_touch(program, PROGRAM_ON_SOCKET);
        return 0;
    case PROGRAM_SOCKET:
    case PROGRAM_BIND:
    case PROGRAM_LISTEN:
    case PROGRAM_CONNECT:
    case PROGRAM_ACCEPT:
    case PROGRAM_NAMES:
        return app__socket_call(program, call, descriptor);
    default:
        return app__program_verb(program, call);
    }
}

// Ends the process of a thread, and the program with its first one.
static void end_process(app__pr_thread_t *thread)
{
    if (thread->process == thread->program->first_process) {
        app__program_end(thread->program, NULL);
    } else {
        app__fork_end(thread);
    }
}

// Works on the call that has come. Returns false if the thread waits now, or is gone.
static bool take_call(app__pr_thread_t *thread)
{
    app__program_t *const program = thread->program;
    program_shared_t *const shared = program->process->shared;
    program_call_t *const call = &shared->call;
    int descriptor = NO_DESCRIPTOR;
    if (thread->polled && program->detailed && program->thread_count == 1 && is_ahead(thread) &&
        (call->op == PROGRAM_POLL_CQ || call->op == PROGRAM_FLUSH)) {
        thread->called = true; // a poll ends a step
        return false;
    }
    const bool aside = (call->op == PROGRAM_FLUSH && call->flags != 0) ||
                       (call->op == PROGRAM_FILES && (call->flags & PROGRAM_FILES_ASIDE) != 0);
    program->calls += shared->put_off + !aside;
    shared->put_off = 0;
    thread->acted = thread->acted || shared->acted != 0 ||
                    (call->op != PROGRAM_WAIT && call->op != PROGRAM_POLL_CQ &&
                     call->op != PROGRAM_YIELD && call->op != PROGRAM_FLUSH && !aside);
    shared->acted = 0;
    app__program_post_all(program);
    if ((shared->sockets_written != 0 || call->op == PROGRAM_WAIT || call->op == PROGRAM_BYE) &&
        !app__foresight_repeats(program)) {
        shared->sockets_written = 0;
        app__sockets_look(program);
    }
    call->error = 0;
    switch (call->op) {
    case PROGRAM_BYE:
        answer(thread, NO_DESCRIPTOR);
        end_process(thread);
        return false;
    case PROGRAM_THREAD_END: {
        const int tid = call->status;
        answer(thread, NO_DESCRIPTOR);
        app__thread_end(thread, tid);
        return false;
    }
    case PROGRAM_YIELD:
    case PROGRAM_CM: // messages of the connection manager leave at the time of the call
        park_until_now(thread, call);
        return false;
    case PROGRAM_WAIT:
        app__program_look_at_cqs(program);
        if ((call->wait.mask & PROGRAM_ON_EVENT) != 0 && call->wait.timeout_ps == PROGRAM_NEVER) {
            app__program_ring_unpolled(program);
        }
        park(thread);
        notice_missed(thread);
        return false;
    case PROGRAM_POLL_CQ:
        if (!poll_or_park(thread, call)) {
            return false;
        }
        break;
    default:
        if (park_until_sent(thread, call)) {
            return false;
        }
        call->error = do_call(program, call, &descriptor);
        if (call->op == PROGRAM_CONNECT && call->error == EINPROGRESS) {
            call->wait = (program_wait_t){.mask = PROGRAM_ON_SIGNAL, .timeout_ps = PROGRAM_NEVER};
            park(thread);
            return false;
        }
        break;
    }
    answer(thread, descriptor);
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
    const uint64_t most_bytes = program->config->memory_max_bytes;
    if (program->stopped == NULL && most_bytes != 0 && program->process->shared->sanitized != 0 &&
        app__process_used_bytes(program->process) > most_bytes) {
        program->stopped = "the program uses more memory than programs.memory-max allows";
    }
    return program->stopped != NULL;
}

// Ends a program whose thread made no call for too long, and says what the thread did.
static void end_late(app__program_t *program, uint64_t patience_ms)
{
    const char *const name = app__process_awaits(program->process);
    char *const text =
        name != NULL
            ? sim_format("the program waits in the system call %s() of this machine, which is not "
                         "simulated there, and was ended",
                         name)
            : sim_format("the program made no call for %" PRIu64 " s of real time and was ended "
                         "(programs.patience)%s",
                         patience_ms / 1000,
                         program->process->shared->undecoded != 0
                             ? "; without libcapstone.so.4, loops that count are not known"
                             : "");
    app__program_end(program, text);
    sim_free(text);
}

static void run_process(app__pr_thread_t *thread)
{
    app__program_t *const program = thread->program;
    const uint64_t patience_ms = program->config->patience_ps / PATIENCE_PS_PER_MS;
    for (;;) {
        app__turn_t turn = APP__TURN_CALL;
        if (program->mistaken) {
            app__program_end(program, "the program wrote into the memory of the library, or the "
                                      "simulator foresaw what did not come");
            return;
        }
        if (!thread->called) {
            turn = app__process_wait(program->process, patience_ms, has_to_end, program);
            if (turn == APP__TURN_CALL || turn == APP__TURN_GONE) {
                turn = app__foresight_begin(thread, turn);
            }
        } else {
            turn = app__foresight_turn(thread);
        }
        thread->called = false;
        switch (turn) {
        case APP__TURN_CALL:
            if (!take_call(thread)) {
                return;
            }
            break;
        case APP__TURN_GONE:
            end_process(thread);
            return;
        case APP__TURN_STOPPED:
            app__program_end(program, program->stopped);
            return;
        case APP__TURN_LATE:
            end_late(program, patience_ms);
            return;
        }
    }
}

static bool begin(app__program_t *program)
{
    sim_message_t message;
    sim_work_begin(&program->node->sim, program->serves ? 0 : 1);
    program->begun_ps = nic_core_now_ps(program->core);
    if (app__program_start(program, &message) != SIM_OK) {
        app__program_end(program, message.text);
        return false;
    }
    program->state = APP__PR_RUNS;
    if (program->serves) {
        app__program_listen(program); // a host without commands has nobody to tell
    }
    program->thread->process = program->process;
    program->thread->control = program->process->control;
    program->process->control = -1;
    return true;
}

bool app__program_take_turn(nic_core_t *core, void *ctx)
{
    (void)core;
    app__pr_thread_t *const thread = ctx;
    app__program_t *const program = thread->program;
    if (program->state == APP__PR_ENDED || thread->ended) {
        return false;
    }
    thread->polled = false;
    program->thread = thread;
    program->core = thread->core;
    program->process = thread->process;
    if (program->state == APP__PR_WAITS_FOR_START) {
        if (!begin(program)) {
            return false;
        }
    } else if (thread->begins) {
        begin_turn(thread, 0);
        answer(thread, NO_DESCRIPTOR);
    } else if (thread->parked && !try_parked(thread)) {
        program->process = program->first_process;
        return false;
    }
    thread->begins = false;
    run_process(thread);
    program->process = program->first_process;
    return !thread->ended;
}
