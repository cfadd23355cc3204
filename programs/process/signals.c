// SPDX-License-Identifier: Apache-2.0
// programs/process/signals.c - handlers, masks and waits of signals.

#include "programs/process/signals.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "programs/parts.h"
#include "programs/process/processes.h"
#include "programs/system.h"
#include "programs/turn.h"

#define SIGNALS 65
#define HANDLER_STACK_BYTES (UINT32_C(256) << 10)

__thread uint64_t signals_handled;
__thread uint64_t signals_interrupts;

static struct sigaction actions[SIGNALS]; // as the program set them
static signals_own_fn own[SIGNALS];
static union sigval values[SIGNALS];
static bool of_timer[SIGNALS];
static siginfo_t kept[SIGNALS]; // of signals that wait for the end of a call of the library
// Handlers interrupt each other.
static __thread uint64_t deferred __attribute__((tls_model("initial-exec")));

static bool is_own(int signal)
{
    return signal == SIGSEGV || signal == SIGILL || signal == SIGTRAP || signal == SIGSYS ||
           signal == SIGNALS_SPIN;
}

static bool is_signal(int signal)
{
    return signal > 0 && signal < SIGNALS;
}

// Returns `set` without the signals that the library must always get.
static sigset_t without_own(const sigset_t *set)
{
    sigset_t allowed = *set;
    sigdelset(&allowed, SIGSEGV);
    sigdelset(&allowed, SIGILL);
    sigdelset(&allowed, SIGTRAP);
    sigdelset(&allowed, SIGSYS);
    sigdelset(&allowed, SIGNALS_SPIN);
    return allowed;
}

static int install(int signal, const struct sigaction *action)
{
    return PROGRAM_NEXT(sigaction)(signal, action, NULL);
}

// Replaces this machine's number of the sender by the one that the program knows.
static void show_sender(int signal, siginfo_t *info)
{
    if (info->si_code == PROGRAM_SIGNAL_OF_KILL) {
        info->si_code = SI_USER;
    } else if (info->si_code == SI_USER || info->si_code == SI_TKILL ||
               (signal == SIGCHLD && info->si_code > 0)) {
        info->si_pid = processes_shown(info->si_pid);
    }
}

// Runs the program's handler, or lets the signal do what it does without one.
static void run_handler(int signal, siginfo_t *info, ucontext_t *context)
{
    const struct sigaction action = actions[signal];
    if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) {
        const bool sent = info->si_code <= 0; // by kill() and the like: no instruction has failed
        if (is_own(signal) && signal != SIGNALS_SPIN && !(sent && action.sa_handler == SIG_IGN)) {
            // The instruction runs again, or the signal comes again, and the kernel does the rest.
            const struct sigaction kernels = {.sa_handler = SIG_DFL};
            (void)install(signal, &kernels);
            if (sent) {
                parts_deliver_signal(signal);
            }
        }
        return;
    }
    if (((unsigned int)action.sa_flags & SA_RESETHAND) != 0) {
        memset(&actions[signal], 0, sizeof actions[signal]);
        if (!is_own(signal)) {
            const struct sigaction kernels = {.sa_handler = SIG_DFL};
            (void)install(signal, &kernels);
        }
    }
    signals_handled++;
    if ((action.sa_flags & SA_RESTART) == 0) {
        signals_interrupts++;
    }
    if (turn_shared != NULL) {
        turn_act();
    }
    if ((action.sa_flags & SA_SIGINFO) != 0) {
        show_sender(signal, info);
        action.sa_sigaction(signal, info, context);
    } else {
        action.sa_handler(signal);
    }
}

static void enter(int signal, siginfo_t *info, void *context)
{
    const int error = errno;
    if (own[signal] != NULL && own[signal](info, context)) {
        errno = error;
        return;
    }
    if (turn_busy() && turn_is_mine() && !is_own(signal)) {
        kept[signal] = *info;
        (void)__atomic_fetch_or(&deferred, UINT64_C(1) << signal, __ATOMIC_RELAXED);
    } else {
        run_handler(signal, info, context);
    }
    errno = error;
}

// Lets the kernel call enter() for a signal, as the program's action asks.
static int install_enter(int signal, const struct sigaction *program)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
    action.sa_sigaction = enter;
    action.sa_flags |= program->sa_flags & (SA_NODEFER | SA_ONSTACK | SA_NOCLDSTOP | SA_NOCLDWAIT);
    action.sa_mask = without_own(&program->sa_mask);
    return install(signal, &action);
}

void signals_begin(void)
{
    for (int signal = 1; signal < SIGNALS; signal++) {
        // Descriptors and actions survive exec: ignored signals stay ignored.
        struct sigaction action;
        if (PROGRAM_NEXT(sigaction)(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN) {
            actions[signal].sa_handler = SIG_IGN;
        }
    }
}

void signals_own(int signal, signals_own_fn handler)
{
    own[signal] = handler;
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART | SA_ONSTACK};
    action.sa_sigaction = enter;
    (void)install(signal, &action);
}

// -- stacks of handlers
//
// Signals of the library come at times that depend on the machine. On the thread's own stack they
// would leave bytes there, and loops are known by their stacks.

static uint8_t first_stack[HANDLER_STACK_BYTES];
static __thread stack_t own_stack;
static __thread stack_t shown_stack = {.ss_flags = SS_DISABLE}; // as the program set it

void signals_begin_stack(bool is_first)
{
    long place = (long)(uintptr_t)first_stack;
    if (!is_first) { // programs have hooks in functions of the C library
        place = system_call(SYS_mmap, NULL, sizeof first_stack, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    if (place != -1) {
        own_stack = (stack_t){.ss_sp = (void *)place, .ss_size = sizeof first_stack};
        (void)PROGRAM_NEXT(sigaltstack)(&own_stack, NULL);
    }
}

void signals_end_stack(void)
{
    if (own_stack.ss_sp != NULL && own_stack.ss_sp != first_stack) {
        const stack_t none = {.ss_flags = SS_DISABLE};
        (void)PROGRAM_NEXT(sigaltstack)(&none, NULL);
        (void)system_call(SYS_munmap, own_stack.ss_sp, own_stack.ss_size);
        own_stack.ss_sp = NULL;
    }
}

// The program's handlers run on the library's stack, too.
PROGRAM_EXPORT int sigaltstack(const stack_t *restrict stack, stack_t *restrict before)
{
    if (!turn_on()) {
        return PROGRAM_NEXT(sigaltstack)(stack, before);
    }
    const stack_t old = shown_stack;
    if (stack != NULL) {
        shown_stack = *stack;
    }
    if (before != NULL) {
        *before = old;
    }
    return 0;
}

void signals_set_value(int signal, bool timer, union sigval value)
{
    values[signal] = value;
    of_timer[signal] = timer;
}

void parts_deliver_signal(int signal)
{
    if (of_timer[signal]) {
        siginfo_t info;
        memset(&info, 0, sizeof info);
        info.si_signo = signal;
        info.si_code = SI_TIMER;
        info.si_value = values[signal];
        system_call(SYS_rt_tgsigqueueinfo, system_call(SYS_getpid), system_call(SYS_gettid), signal,
                    &info);
    } else {
        system_call(SYS_tgkill, system_call(SYS_getpid), system_call(SYS_gettid), signal);
    }
}

void parts_deliver_deferred(void)
{
    if (__atomic_load_n(&deferred, __ATOMIC_RELAXED) == 0) {
        return;
    }
    const uint64_t due = __atomic_exchange_n(&deferred, 0, __ATOMIC_RELAXED);
    for (int signal = 1; signal < 64; signal++) {
        if ((due >> signal & 1) != 0) {
            system_call(SYS_rt_tgsigqueueinfo, system_call(SYS_getpid), system_call(SYS_gettid),
                        signal, &kept[signal]);
        }
    }
}

// -- what programs call

PROGRAM_EXPORT int sigaction(int signal, const struct sigaction *action, struct sigaction *before)
{
    if (!turn_on() || !is_signal(signal) || signal == SIGKILL || signal == SIGSTOP) {
        return PROGRAM_NEXT(sigaction)(signal, action, before);
    }
    const struct sigaction old = actions[signal];
    if (action != NULL) {
        const bool handler = action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
        actions[signal] = *action;
        if (!is_own(signal) &&
            (handler ? install_enter(signal, action) : install(signal, action)) != 0) {
            actions[signal] = old;
            return -1;
        }
    }
    if (before != NULL) {
        *before = old;
    }
    return 0;
}

// Keeps signal() as glibc has it: calls are restarted, and the handler stays.
static sighandler_t set_handler(int signal, sighandler_t handler, int flags)
{
    struct sigaction action = {.sa_flags = flags};
    struct sigaction before;
    action.sa_handler = handler;
    return sigaction(signal, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

PROGRAM_EXPORT sighandler_t signal(int number, sighandler_t handler)
{
    return turn_on() ? set_handler(number, handler, SA_RESTART)
                     : PROGRAM_NEXT(signal)(number, handler);
}

sighandler_t bsd_signal(int number, sighandler_t handler);
PROGRAM_EXPORT sighandler_t bsd_signal(int number, sighandler_t handler)
{
    return signal(number, handler);
}

sighandler_t __sysv_signal(int number, sighandler_t handler);
PROGRAM_EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler)
{
    return turn_on() ? set_handler(number, handler, (int)(SA_RESETHAND | SA_NODEFER))
                     : PROGRAM_NEXT(__sysv_signal)(number, handler);
}

PROGRAM_EXPORT int siginterrupt(int number, int interrupt)
{
    if (!turn_on() || !is_signal(number)) {
        return PROGRAM_NEXT(siginterrupt)(number, interrupt);
    }
    if (interrupt != 0) {
        actions[number].sa_flags &= ~SA_RESTART;
    } else {
        actions[number].sa_flags |= SA_RESTART;
    }
    return 0;
}

PROGRAM_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    sigset_t allowed;
    if (turn_on() && set != NULL && how != SIG_UNBLOCK) {
        allowed = without_own(set);
        set = &allowed;
    }
    return PROGRAM_NEXT(pthread_sigmask)(how, set, before);
}

PROGRAM_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    const int error = pthread_sigmask(how, set, before);
    if (error != 0) {
        errno = error;
    }
    return error == 0 ? 0 : -1;
}

PROGRAM_EXPORT int pause(void)
{
    if (!turn_enter("pause")) {
        return PROGRAM_NEXT(pause)();
    }
    const uint64_t before = signals_handled;
    while (signals_handled == before) {
        (void)turn_wait(PROGRAM_ON_SIGNAL, PROGRAM_NEVER);
    }
    errno = EINTR;
    return -1;
}

PROGRAM_EXPORT int sigsuspend(const sigset_t *set)
{
    if (!turn_enter("sigsuspend")) {
        return PROGRAM_NEXT(sigsuspend)(set);
    }
    sigset_t old;
    const uint64_t before = signals_handled;
    (void)sigprocmask(SIG_SETMASK, set, &old);
    while (signals_handled == before) {
        (void)turn_wait(PROGRAM_ON_SIGNAL, PROGRAM_NEVER);
    }
    (void)sigprocmask(SIG_SETMASK, &old, NULL);
    errno = EINTR;
    return -1;
}

// Takes a signal of `set` that is pending. Returns its number, or -1 with EAGAIN or EINTR.
static int take_signal(const sigset_t *set, siginfo_t *info, uint64_t timeout_ps)
{
    const uint64_t before = signals_handled;
    const uint64_t end_ps =
        timeout_ps == PROGRAM_NEVER ? PROGRAM_NEVER : turn_now_ps() + timeout_ps;
    for (;;) {
        const struct timespec none = {0};
        const long found = system_call(SYS_rt_sigtimedwait, set, info, &none, (size_t)8);
        if (found > 0) {
            if (info != NULL) {
                show_sender((int)found, info);
            }
            return (int)found;
        }
        if (signals_handled != before) {
            errno = EINTR;
            return -1;
        }
        const uint64_t now_ps = turn_now_ps();
        if (now_ps >= end_ps) {
            errno = EAGAIN;
            return -1;
        }
        program_call_t call = {
            .flags = PROGRAM_WAIT_TAKES_SIGNALS,
            .wait = {.mask = PROGRAM_ON_SIGNAL,
                     .timeout_ps = end_ps == PROGRAM_NEVER ? PROGRAM_NEVER : end_ps - now_ps}};
        (void)turn_wait_call(&call);
    }
}

PROGRAM_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *time)
{
    if (!turn_enter("sigtimedwait")) {
        return PROGRAM_NEXT(sigtimedwait)(set, info, time);
    }
    return take_signal(set, info,
                       time == NULL ? PROGRAM_NEVER
                                    : (uint64_t)time->tv_sec * TURN_PS_PER_S +
                                          (uint64_t)time->tv_nsec * TURN_PS_PER_NS);
}

PROGRAM_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    return turn_enter("sigwaitinfo") ? take_signal(set, info, PROGRAM_NEVER)
                                     : PROGRAM_NEXT(sigwaitinfo)(set, info);
}

PROGRAM_EXPORT int sigwait(const sigset_t *set, int *number)
{
    if (!turn_enter("sigwait")) {
        return PROGRAM_NEXT(sigwait)(set, number);
    }
    int found;
    do {
        found = take_signal(set, NULL, PROGRAM_NEVER);
    } while (found < 0 && errno == EINTR);
    *number = found;
    return 0;
}
