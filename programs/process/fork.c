// SPDX-License-Identifier: Apache-2.0
// programs/process/fork.c - processes that a process of the program forks, and their ends.
//
// A child is a thread of the program with memory of its own. It runs when the simulator gives it a
// turn. Numbers of processes are those of their first threads.

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "programs/parts.h"
#include "programs/process/code.h"
#include "programs/process/descriptors.h"
#include "programs/process/processes.h"
#include "programs/process/random.h"
#include "programs/process/signals.h"
#include "programs/spin/loops.h"
#include "programs/system.h"
#include "programs/threads/threads.h"
#include "programs/verbs/pages.h"

#define FIRST_PROCESS 1 // of a machine: the parent of programs

typedef struct child {
    pid_t pid; // that the program sees
    pid_t real;
    struct child *next;
} child_t;

static child_t *children;
static uint32_t own_number;
static pid_t parent;

static pid_t pid_of(uint32_t number)
{
    return random_pid() + (pid_t)number;
}

void parts_begin_process(uint32_t number, int32_t of)
{
    own_number = number;
    parent = of < 0 ? FIRST_PROCESS : pid_of((uint32_t)of);
    threads_begin(number);
}

PROGRAM_EXPORT pid_t getpid(void)
{
    return turn_on() ? pid_of(own_number) : (pid_t)system_call(SYS_getpid);
}

PROGRAM_EXPORT pid_t getppid(void)
{
    return turn_on() ? parent : (pid_t)system_call(SYS_getppid);
}

PROGRAM_EXPORT pid_t gettid(void)
{
    return turn_on() ? pid_of(threads_own_number()) : (pid_t)system_call(SYS_gettid);
}

// -- fork

// Makes the calling process a process of its own for the library, and waits for its first turn.
static void become_child(int control, const program_call_t *call, pid_t of)
{
    threads_forked(call->handle);
    system_call(SYS_dup2, control, PROGRAM_CONTROL_FD);
    descriptors_close(control);
    while (children != NULL) {
        child_t *next = children->next;
        free(children);
        children = next;
    }
    own_number = call->handle;
    parent = of;
    turn_begin_thread(PROGRAM_CONTROL_FD, call->count);
    code_forked();
    spin_forked();
}

PROGRAM_EXPORT pid_t fork(void)
{
    if (!turn_enter("fork")) {
        return PROGRAM_NEXT(fork)();
    }
    threads_become_many();
    turn_charge_call();
    threads_meet();
    turn_flush();
    program_call_t call = {.op = PROGRAM_FORK, .status = (int32_t)own_number};
    int control;
    const int error = turn_call_descriptor(&call, &control);
    if (error == EAGAIN) {
        threads_say_too_many();
    }
    child_t *child = error == 0 ? calloc(1, sizeof *child) : NULL;
    if (child == NULL || control < 0) {
        free(child);
        errno = error != 0 ? error : ENOMEM;
        return -1;
    }
    control = descriptors_hide(control);
    const pid_t own = getpid();
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    (void)PROGRAM_NEXT(pthread_sigmask)(SIG_SETMASK, &all, &before);
    pages_before_fork();
    const pid_t real = PROGRAM_NEXT(fork)();
    if (real == 0) {
        pages_forked();
        turn_tell_parent();
        free(child);
        become_child(control, &call, own);
        (void)PROGRAM_NEXT(pthread_sigmask)(SIG_SETMASK, &before, NULL);
        return 0;
    }
    const int reason = errno;
    if (real > 0) {
        turn_await_child(real);
    }
    descriptors_close(control);
    program_call_t done = {.op = PROGRAM_FORKED, .handle = call.handle, .status = real};
    (void)turn_call(&done);
    (void)PROGRAM_NEXT(pthread_sigmask)(SIG_SETMASK, &before, NULL);
    if (real < 0) {
        free(child);
        errno = reason;
        return -1;
    }
    *child = (child_t){.pid = pid_of(call.handle), .real = real, .next = children};
    children = child;
    return child->pid;
}

PROGRAM_EXPORT pid_t _Fork(void)
{
    return turn_on() ? fork() : PROGRAM_NEXT(_Fork)();
}

// A child of vfork() uses its parent's stack, so this function cannot stand between them.
PROGRAM_EXPORT pid_t vfork(void)
{
    return fork();
}

// Runs a command by a shell, as a process of the program.
PROGRAM_EXPORT int system(const char *command)
{
    if (!turn_enter("system")) {
        return PROGRAM_NEXT(system)(command);
    }
    if (command == NULL) {
        return 1;
    }
    const pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return pid < 0 ? -1 : status;
}

// -- the ends of children

static child_t *find(pid_t pid, bool real)
{
    child_t *child = children;
    while (child != NULL && (real ? child->real : child->pid) != pid) {
        child = child->next;
    }
    return child;
}

// Returns the number that the program sees of a child that has ended, and forgets the child.
static pid_t forget(pid_t real)
{
    child_t **at = &children;
    while (*at != NULL && (*at)->real != real) {
        at = &(*at)->next;
    }
    child_t *child = *at;
    if (child == NULL) {
        return real;
    }
    const pid_t pid = child->pid;
    *at = child->next;
    free(child);
    return pid;
}

// Waits until a process may have ended. Returns false if the call must not wait, and with EINTR if
// a handler ran since there were `before` interruptions.
static bool await_end(int options, uint64_t before)
{
    static turn_idle_t idle;
    if ((options & WNOHANG) != 0) {
        (void)turn_idle_pause(&idle);
        return false;
    }
    const volatile void *key = (const volatile void *)(uintptr_t)PROGRAM_KEY_OF_PROCESSES;
    (void)threads_wait(key, PROGRAM_AT_PROCESSES, PROGRAM_NO_THREAD, PROGRAM_NEVER);
    threads_cancel_point();
    errno = EINTR;
    return signals_interrupts == before;
}

PROGRAM_EXPORT pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
    if (!turn_enter("wait4")) {
        return PROGRAM_NEXT(wait4)(pid, status, options, usage);
    }
    const child_t *child = pid > 0 ? find(pid, false) : NULL;
    const uint64_t before = signals_interrupts;
    if (pid > 0 && child == NULL) {
        errno = ECHILD;
        return -1;
    }
    turn_charge_call();
    threads_meet();
    for (;;) {
        const pid_t found = (pid_t)system_call(SYS_wait4, child == NULL ? -1 : child->real, status,
                                               options | WNOHANG, usage);
        if (found != 0) {
            return found > 0 ? forget(found) : found;
        }
        if (!await_end(options, before)) {
            return (options & WNOHANG) != 0 ? 0 : -1;
        }
    }
}

PROGRAM_EXPORT int waitid(idtype_t kind, id_t id, siginfo_t *info, int options)
{
    if (!turn_enter("waitid")) {
        return PROGRAM_NEXT(waitid)(kind, id, info, options);
    }
    siginfo_t found = {0};
    const uint64_t before = signals_interrupts;
    const child_t *child = kind == P_PID ? find((pid_t)id, false) : NULL;
    if (kind == P_PID && child == NULL) {
        errno = ECHILD;
        return -1;
    }
    turn_charge_call();
    threads_meet();
    do {
        if (system_call(SYS_waitid, child == NULL ? P_ALL : P_PID, child == NULL ? 0 : child->real,
                        &found, options | WNOHANG, NULL) != 0) {
            return -1;
        }
    } while (found.si_pid == 0 && await_end(options, before));
    const pid_t real = found.si_pid;
    if (real == 0 && (options & WNOHANG) == 0) {
        return -1;
    }
    found.si_pid = real == 0 ? 0 : processes_shown(real);
    if (real != 0 && (options & WNOWAIT) == 0 && found.si_code != CLD_STOPPED &&
        found.si_code != CLD_CONTINUED) {
        (void)forget(real);
    }
    if (info != NULL) {
        *info = found;
    }
    return 0;
}

PROGRAM_EXPORT pid_t wait3(int *status, int options, struct rusage *usage)
{
    return wait4(-1, status, options, usage);
}

PROGRAM_EXPORT pid_t waitpid(pid_t pid, int *status, int options)
{
    return wait4(pid, status, options, NULL);
}

PROGRAM_EXPORT pid_t wait(int *status)
{
    return wait4(-1, status, 0, NULL);
}

// -- other processes: those of this machine, with the numbers that the program sees

pid_t processes_shown(pid_t real)
{
    const child_t *child = find(real, true);
    return child != NULL                             ? child->pid
           : real == (pid_t)system_call(SYS_getppid) ? getppid()
           : real == (pid_t)system_call(SYS_getpid)  ? getpid()
                                                     : 0;
}

pid_t processes_real(pid_t pid)
{
    const child_t *child = pid > 0 ? find(pid, false) : NULL;
    if (child != NULL) {
        return child->real;
    }
    if (pid == 0 || pid == getpid()) {
        return (pid_t)system_call(SYS_getpid);
    }
    program_call_t call = {.op = PROGRAM_PROCESS, .handle = (uint32_t)(pid - pid_of(0))};
    return pid >= pid_of(0) && turn_is_mine() && turn_call(&call) == 0 ? call.status : -1;
}

pid_t processes_real_thread(pid_t tid)
{
    return tid < pid_of(0) ? -1 : threads_tid_of((uint32_t)(tid - pid_of(0)));
}

pid_t processes_shown_thread(pid_t real)
{
    const uint32_t number =
        real == (pid_t)system_call(SYS_gettid) ? threads_own_number() : threads_number_of(real);
    return number == PROGRAM_NO_THREAD ? -1 : pid_of(number);
}

pid_t processes_next(pid_t pid)
{
    static pid_t reals[PROGRAM_BELLS]; // by number: threads have those of their processes
    const pid_t first = pid_of(0);
    for (pid = pid < first ? first : pid; pid < first + (pid_t)PROGRAM_BELLS; pid++) {
        const pid_t number = pid - first;
        bool is_thread = false;
        reals[number] = processes_real(pid);
        for (pid_t i = 0; i < number; i++) {
            is_thread = is_thread || reals[i] == reals[number];
        }
        if (reals[number] >= 0 && !is_thread) {
            return pid;
        }
    }
    return -1;
}

// -- the memory of other processes

typedef ssize_t (*copy_fn)(pid_t pid, const struct iovec *own, unsigned long own_count,
                           const struct iovec *other, unsigned long other_count,
                           unsigned long flags);

// Copies by `copy`, which is one of the two functions below of the C library.
static ssize_t copy_memory(copy_fn copy, pid_t pid, const struct iovec *own,
                           unsigned long own_count, const struct iovec *other,
                           unsigned long other_count, unsigned long flags)
{
    turn_charge_call();
    threads_meet();
    const pid_t real = processes_real(pid);
    if (real < 0) {
        errno = ESRCH;
        return -1;
    }
    turn_act();
    return copy(real, own, own_count, other, other_count, flags);
}

PROGRAM_EXPORT ssize_t process_vm_readv(pid_t pid, const struct iovec *own, unsigned long own_count,
                                        const struct iovec *other, unsigned long other_count,
                                        unsigned long flags)
{
    copy_fn copy = PROGRAM_NEXT(process_vm_readv);
    return turn_enter("process_vm_readv")
               ? copy_memory(copy, pid, own, own_count, other, other_count, flags)
               : copy(pid, own, own_count, other, other_count, flags);
}

PROGRAM_EXPORT ssize_t process_vm_writev(pid_t pid, const struct iovec *own,
                                         unsigned long own_count, const struct iovec *other,
                                         unsigned long other_count, unsigned long flags)
{
    copy_fn copy = PROGRAM_NEXT(process_vm_writev);
    return turn_enter("process_vm_writev")
               ? copy_memory(copy, pid, own, own_count, other, other_count, flags)
               : copy(pid, own, own_count, other, other_count, flags);
}

// -- groups

// Returns the number that the program sees of a group or session, which is that of its first
// process.
static pid_t shown_of(pid_t real)
{
    const pid_t shown = processes_shown(real);
    return shown == 0 ? pid_of(0) : shown;
}

PROGRAM_EXPORT int setpgid(pid_t pid, pid_t group)
{
    if (!turn_on()) {
        return PROGRAM_NEXT(setpgid)(pid, group);
    }
    const pid_t real = processes_real(pid);
    const pid_t real_group = group == 0 ? real : processes_real(group);
    if (real < 0 || real_group < 0) {
        errno = ESRCH;
        return -1;
    }
    return (int)system_call(SYS_setpgid, real, real_group);
}

// Returns the group or the session of a process, by the system call that asks for it.
static pid_t shown_by(long number, pid_t pid)
{
    const pid_t real = processes_real(pid);
    const pid_t found = real < 0 ? (errno = ESRCH, -1) : (pid_t)system_call(number, real);
    return found < 0 ? -1 : shown_of(found);
}

PROGRAM_EXPORT pid_t getpgid(pid_t pid)
{
    return turn_on() ? shown_by(SYS_getpgid, pid) : PROGRAM_NEXT(getpgid)(pid);
}

PROGRAM_EXPORT pid_t getsid(pid_t pid)
{
    return turn_on() ? shown_by(SYS_getsid, pid) : PROGRAM_NEXT(getsid)(pid);
}

PROGRAM_EXPORT pid_t getpgrp(void)
{
    return turn_on() ? getpgid(0) : (pid_t)system_call(SYS_getpgrp);
}

PROGRAM_EXPORT pid_t setsid(void)
{
    const pid_t session = (pid_t)system_call(SYS_setsid);
    return turn_on() && session > 0 ? getpid() : session;
}

// Sends a signal to a process or, with a negative number, to the group of one. A signal to the own
// process alone does not pass through the simulator.
static int send_signal(pid_t pid, int number, int code, union sigval value)
{
    const pid_t to = pid < 0 ? -pid : pid;
    const bool own_group = pid == 0 || (pid < -1 && to == getpgid(0));
    const pid_t real = own_group   ? (pid_t)system_call(SYS_getpgid, 0)
                       : pid != -1 ? processes_real(to)
                                   : -1;
    if (real < 0) {
        errno = ESRCH;
        return -1;
    }
    program_call_t call = {.op = PROGRAM_KILL,
                           .handle = (uint32_t)getpid(),
                           .flags = (uint32_t)code,
                           .status = pid <= 0 ? -real : real,
                           .count = (uint32_t)number};
    memcpy(&call.wait.key, &value, sizeof value);
    if (number == 0 || !turn_is_mine()) {
        return (int)system_call(SYS_kill, call.status, number);
    }
    siginfo_t info = {.si_signo = number, .si_code = code};
    info.si_pid = getpid();
    info.si_value = value;
    if (pid == getpid()) {
        return (int)system_call(SYS_rt_sigqueueinfo, call.status, number, &info);
    }
    turn_charge_call();
    const int error = turn_call(&call);
    if (error != 0) {
        errno = error;
        return -1;
    }
    return own_group ? (int)system_call(SYS_rt_sigqueueinfo, system_call(SYS_getpid), number, &info)
                     : 0;
}

PROGRAM_EXPORT int kill(pid_t pid, int number)
{
    return turn_on() ? send_signal(pid, number, PROGRAM_SIGNAL_OF_KILL, (union sigval){0})
                     : (int)system_call(SYS_kill, pid, number);
}

PROGRAM_EXPORT int killpg(pid_t group, int number)
{
    return turn_on() ? kill(-group, number) : PROGRAM_NEXT(killpg)(group, number);
}

PROGRAM_EXPORT int sigqueue(pid_t pid, int number, const union sigval value)
{
    return turn_on() ? send_signal(pid, number, SI_QUEUE, value)
                     : PROGRAM_NEXT(sigqueue)(pid, number, value);
}
