// SPDX-License-Identifier: Apache-2.0
// apps/programs/threads/forks.c - the begin and the end of processes that were forked.
#include "apps/programs/threads/forks.h"
#include "apps/programs/guest.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define GONE_NS 20000L // between two looks at whether a process is gone
#define GONE_LOOKS 100000u

int app__fork(app__program_t *program, program_call_t *call, int *descriptor)
{
    app__process_t *const first = program->first_process;
    const int error = app__thread_create(program, call, descriptor);
    if (error != 0) {
        return error;
    }
    app__process_t *const process = sim_alloc(sizeof(*process));
    *process = (app__process_t){
        .pid = -1,
        .parent = call->status,
        .control = -1,
        .memory = first->memory,
        .shared = first->shared,
        .may_spin = first->may_spin,
        .beside = APP__NOT_PLACED,
        .spins = first->spins,
        .out = first->out,
        .err = first->err,
        .number = app__sockets_number(program->sockets, program->node),
        .next = first->next,
    };
    memcpy(process->allowed, first->allowed, sizeof(process->allowed));
    first->next = process;
    program->threads[call->handle]->process = process;
    app__segments_forked(program->segments, program->process, process);
    return 0;
}

void app__fork_done(app__program_t *program, const program_call_t *call)
{
    if (call->handle >= program->thread_count) {
        return;
    }
    app__pr_thread_t *const thread = program->threads[call->handle];
    if (thread->process == program->first_process || thread->process->pid != -1) {
        return;
    }
    thread->process->pid = call->status;
    if (call->status <= 0) {
        app__thread_stop(thread);
    } else { // not before, since handlers of pthread_atfork() let others run until now
        nic_core_start(thread->core, nic_core_now_ps(program->core));
    }
}

int app__fork_find(const app__program_t *program, program_call_t *call)
{
    const app__pr_thread_t *const thread =
        call->handle < program->thread_count ? program->threads[call->handle] : NULL;
    if (thread == NULL || thread->process->pid <= 0 || app__process_is_dead(thread->process)) {
        return ESRCH;
    }
    call->status = thread->process->pid;
    return 0;
}

// Waits until a process is dead.
static void await_death(const app__process_t *process)
{
    for (uint32_t i = 0; i < GONE_LOOKS && process->pid > 0 && !app__process_is_dead(process);
         i++) {
        (void)nanosleep(&(struct timespec){.tv_nsec = GONE_NS}, NULL);
    }
}

// Sends a signal in the name of a process of the program. Returns 0, or -1 with errno.
static int send_signal(const app__process_t *process, const program_call_t *call)
{
    siginfo_t info = {.si_signo = (int)call->count, .si_code = (int)call->flags};
    info.si_pid = (pid_t)call->handle;
    info.si_uid = getuid();
    memcpy(&info.si_value, &call->wait.key, sizeof(info.si_value));
    return (int)syscall(SYS_rt_sigqueueinfo, process->pid, info.si_signo, &info);
}

int app__fork_kill(app__program_t *program, const program_call_t *call)
{
    const int signal = (int)call->count;
    int error = ESRCH;
    for (app__process_t *process = program->first_process; process != NULL;
         process = process->next) {
        if (process->pid <= 0 || (call->status > 0 ? process->pid != call->status
                                                   : getpgid(process->pid) != -call->status)) {
            continue;
        }
        error = 0;
        if (process == program->process || process->ended) {
            continue;
        }
        const bool dies = app__process_dies_by(process, signal);
        if (send_signal(process, call) != 0 && errno != ESRCH) {
            return errno;
        }
        if (dies) {
            await_death(process);
        }
        for (uint32_t i = 0; i < program->thread_count; i++) {
            if (program->threads[i]->process == process) {
                app__threads_wake(program, &(program_call_t){.handle = i + 1});
            }
        }
    }
    return error;
}

void app__fork_end(app__pr_thread_t *thread)
{
    app__program_t *const program = thread->program;
    app__process_t *const process = thread->process;
    process->ended = true;
    app__threads_look(thread);
    await_death(process);
    // The parent's SIGCHLD comes a moment after the kernel shows the process as dead. This call
    // waits for the kernel's lock under which both are done.
    (void)kill(-program->first_process->pid, 0);
    for (size_t i = 0; i < program->thread_count; i++) {
        // This process was about to make those of its children that have no number yet.
        const app__process_t *const other = program->threads[i]->process;
        if (other == process ||
            (other->pid == -1 && program->threads[other->parent]->process == process)) {
            program->threads[i]->lingers = false;
            app__thread_stop(program->threads[i]);
        }
    }
    for (size_t i = 0; i < program->timer_count; i++) {
        if (program->timers[i]->process == process) {
            sim_timer_cancel(&program->node->sim, &program->timers[i]->timer);
        }
    }
    app__segments_leave(program->segments, process);
    app__threads_touch(program, PROGRAM_ON_SOCKET | PROGRAM_ON_SIGNAL); // by SIGCHLD
    app__threads_wake(
        program, &(program_call_t){.count = UINT32_MAX, .wait = {.key = PROGRAM_KEY_OF_PROCESSES}});
}

void app__forks_unmap(app__program_t *program)
{
    for (const app__process_t *process = program->first_process; process != NULL;
         process = process->next) {
        for (size_t i = 0; i < process->mapping_count; i++) {
            nic_memory_unmap(nic_host_memory(program->node), process->mappings[i].address,
                             process->mappings[i].length_bytes);
        }
    }
}

void app__forks_destroy(app__program_t *program)
{
    app__process_t *process = program->first_process == NULL ? NULL : program->first_process->next;
    while (process != NULL) {
        app__process_t *const next = process->next;
        for (size_t i = 0; i < process->mapping_count; i++) {
            (void)munmap(process->mappings[i].bytes, process->mappings[i].length_bytes);
        }
        sim_free(process->mappings);
        sim_free(process);
        process = next;
    }
}
