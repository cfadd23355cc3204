// SPDX-License-Identifier: Apache-2.0
// programs/threads/life.c - threads begin, end, and wait for the end of others.
//
// The C library makes the thread, which waits until the simulator gives it a turn. It ends for the
// simulator after all destructors of its own variables: those of keys run in four rounds, and the
// destructor of the library's key ends the thread in the last one. The simulator gives no other
// turn before the kernel's thread is gone, so that addresses of stacks are the same in every run.

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <threads.h>
#include <unistd.h>

#include "programs/process/descriptors.h"
#include "programs/spin/loops.h"
#include "programs/system.h"
#include "programs/threads/threads.h"
#include "programs/time/clocks.h"
#include "programs/time/moment.h"

enum { NOT_READY, READY, REFUSED };

typedef struct thread {
    pthread_t id;
    uint32_t number;
    int tid;
    int control;
    uint32_t bell;
    int ready; // a futex of the machine
    bool detached;
    bool ended;
    bool joined; // a thread waits for its end
    volatile bool cancelled;
    unsigned int rounds; // of destructors, so far
    sigset_t mask;
    void *(*start)(void *);
    void *argument;
    struct thread *next;
} thread_t;

static thread_t first = {.rounds = 0};
static thread_t *threads = &first;
static uint32_t living = 1;
static pthread_key_t key;
static __thread thread_t *self __attribute__((tls_model("initial-exec"))) = &first;

static void wait_for_real(int *word)
{
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == NOT_READY) {
        threads_real_futex(word, FUTEX_WAIT_PRIVATE, NOT_READY);
    }
}

static void set_ready(thread_t *thread, int ready)
{
    __atomic_store_n(&thread->ready, ready, __ATOMIC_RELEASE);
    threads_real_futex(&thread->ready, FUTEX_WAKE_PRIVATE, 1);
}

static thread_t *find(pthread_t id)
{
    for (thread_t *thread = threads; thread != NULL; thread = thread->next) {
        if (thread->id == id) {
            return thread;
        }
    }
    return NULL;
}

static void forget(thread_t *thread)
{
    thread_t **at = &threads;
    while (*at != NULL && *at != thread) {
        at = &(*at)->next;
    }
    if (*at != NULL) {
        *at = thread->next;
    }
    if (thread != &first) {
        free(thread);
    }
}

uint32_t threads_own_number(void)
{
    return self->number;
}

uint32_t threads_number_of(int tid)
{
    for (const thread_t *thread = threads; thread != NULL; thread = thread->next) {
        if (thread->tid == tid) {
            return thread->number;
        }
    }
    return PROGRAM_NO_THREAD;
}

int threads_tid_of(uint32_t number)
{
    for (const thread_t *thread = threads; thread != NULL; thread = thread->next) {
        if (thread->number == number && !thread->ended && (thread->tid != 0 || thread == self)) {
            return thread == self ? (int)system_call(SYS_gettid) : thread->tid;
        }
    }
    return -1;
}

// -- begin and end

// The linker's names of the section of PROGRAM_NEXT.
extern turn_next_t __start_program_next[] __attribute__((visibility("hidden")));
extern turn_next_t __stop_program_next[] __attribute__((visibility("hidden")));

// Looks all functions up that the library replaces. A thread that did so later could need the
// loader's lock of another one, which waits in the constructor or destructor of a library.
static void find_all_next(void)
{
    static bool found;
    for (turn_next_t *next = __start_program_next; !found && next != __stop_program_next; next++) {
        turn_find_next(next);
    }
    found = true;
}

// Ends the thread for the simulator. The last thread of a process ends the process instead.
static void end(thread_t *thread)
{
    sigset_t all;
    if (living == 1) {
        return;
    }
    living--;
    thread->ended = true;
    (void)threads_wake(thread, UINT32_MAX);
    sigfillset(&all);
    (void)PROGRAM_NEXT(pthread_sigmask)(SIG_SETMASK, &all, NULL);
    spin_end_thread();
    const int control = thread->control;
    turn_end_thread();
    if (thread->detached) {
        forget(thread);
    }
    if (control != 0) {
        descriptors_close(control);
    }
}

// The destructor of the library's key.
static void next_round(void *argument)
{
    thread_t *thread = argument;
    if (!turn_on()) {
        return;
    }
    if (++thread->rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        (void)pthread_setspecific(key, thread);
    } else {
        end(thread);
    }
}

static void *run(void *argument)
{
    thread_t *thread = argument;
    wait_for_real(&thread->ready);
    if (thread->ready == REFUSED) {
        return NULL;
    }
    turn_begin_thread(thread->control, thread->bell);
    self = thread;
    thread->tid = (int)system_call(SYS_gettid);
    (void)pthread_setspecific(key, thread);
    spin_begin_thread();
    (void)PROGRAM_NEXT(pthread_sigmask)(SIG_SETMASK, &thread->mask, NULL);
    return thread->start(thread->argument);
}

void threads_become_many(void)
{
    static bool prepared;
    threads_many = true;
    turn_shared->many = 1;
    if (!prepared) {
        prepared = true;
        first.id = pthread_self();
        first.tid = (int)system_call(SYS_gettid);
        (void)pthread_key_create(&key, next_round);
        (void)pthread_setspecific(key, &first);
    }
}

void threads_begin(uint32_t number)
{
    first.number = number;
    threads_many = turn_shared->many != 0;
}

void threads_forked(uint32_t number)
{
    while (threads != NULL) {
        thread_t *next = threads->next;
        if (threads->control != 0) {
            descriptors_close(threads->control);
        }
        if (threads != self && threads != &first) {
            free(threads);
        }
        threads = next;
    }
    threads = self;
    living = 1;
    self->next = NULL;
    self->control = 0;
    self->number = number;
    self->tid = (int)system_call(SYS_gettid);
}

void threads_say_too_many(void)
{
    turn_say("rocesim: the program has %u threads and processes; it can start no more",
             PROGRAM_BELLS - 1);
}

// Asks the simulator for a core. Returns 0 or an errno value.
static int ask_for_core(thread_t *thread)
{
    program_call_t call = {.op = PROGRAM_THREAD};
    int descriptor;
    turn_charge_call();
    threads_meet();
    const int error = turn_call_descriptor(&call, &descriptor);
    if (error == EAGAIN) {
        threads_say_too_many();
    }
    if (error != 0 || descriptor < 0) {
        return error != 0 ? error : EAGAIN;
    }
    thread->control = descriptors_hide(descriptor);
    thread->number = call.handle;
    thread->bell = call.count;
    return 0;
}

PROGRAM_EXPORT int pthread_create(pthread_t *restrict id, const pthread_attr_t *restrict attributes,
                                  void *(*start)(void *), void *restrict argument)
{
    find_all_next();
    if (!turn_enter("pthread_create")) {
        return PROGRAM_NEXT(pthread_create)(id, attributes, start, argument);
    }
    thread_t *thread = calloc(1, sizeof *thread);
    if (thread == NULL) {
        return EAGAIN;
    }
    threads_become_many();
    int detached = PTHREAD_CREATE_JOINABLE;
    if (attributes != NULL) {
        (void)pthread_attr_getdetachstate(attributes, &detached);
    }
    thread->start = start;
    thread->argument = argument;
    thread->detached = detached == PTHREAD_CREATE_DETACHED;
    // The new thread handles no signal before it has a turn.
    sigset_t all;
    sigfillset(&all);
    (void)PROGRAM_NEXT(pthread_sigmask)(SIG_SETMASK, &all, &thread->mask);
    int error = PROGRAM_NEXT(pthread_create)(&thread->id, attributes, run, thread);
    (void)PROGRAM_NEXT(pthread_sigmask)(SIG_SETMASK, &thread->mask, NULL);
    if (error != 0) {
        free(thread);
        return error;
    }
    error = ask_for_core(thread);
    if (error != 0) {
        const pthread_t refused = thread->id;
        const bool joinable = !thread->detached;
        set_ready(thread, REFUSED);
        if (joinable) {
            (void)PROGRAM_NEXT(pthread_join)(refused, NULL);
            free(thread);
        }
        return error;
    }
    living++;
    thread->next = threads;
    threads = thread;
    *id = thread->id;
    set_ready(thread, READY);
    return 0;
}

// -- joining

static int join(pthread_t id, void **value, uint64_t end_ps)
{
    thread_t *thread = find(id);
    if (thread == NULL) {
        return ESRCH;
    }
    if (thread == self) {
        return EDEADLK;
    }
    if (thread->detached || thread->joined) {
        return EINVAL;
    }
    turn_charge_call();
    threads_meet();
    while (!thread->ended) {
        const uint64_t left_ps = moment_until(end_ps);
        if (left_ps == 0) {
            return ETIMEDOUT;
        }
        thread->joined = true;
        (void)threads_wait(thread, PROGRAM_AT_END, thread->number, left_ps);
        thread->joined = false;
        threads_cancel_point();
    }
    forget(thread);
    return PROGRAM_NEXT(pthread_join)(id, value);
}

PROGRAM_EXPORT int pthread_join(pthread_t id, void **value)
{
    return turn_enter("pthread_join") ? join(id, value, PROGRAM_NEVER)
                                      : PROGRAM_NEXT(pthread_join)(id, value);
}

PROGRAM_EXPORT int pthread_tryjoin_np(pthread_t id, void **value)
{
    if (!turn_enter("pthread_tryjoin_np")) {
        return PROGRAM_NEXT(pthread_tryjoin_np)(id, value);
    }
    const int error = join(id, value, 0);
    return error == ETIMEDOUT ? EBUSY : error;
}

PROGRAM_EXPORT int pthread_clockjoin_np(pthread_t id, void **value, clockid_t clock,
                                        const struct timespec *time)
{
    if (!turn_enter("pthread_clockjoin_np")) {
        return PROGRAM_NEXT(pthread_clockjoin_np)(id, value, clock, time);
    }
    return threads_is_no_time(time) ? EINVAL
                                    : join(id, value, threads_end_ps(clocks_kind(clock), time));
}

PROGRAM_EXPORT int pthread_timedjoin_np(pthread_t id, void **value, const struct timespec *time)
{
    return turn_on() ? pthread_clockjoin_np(id, value, CLOCK_REALTIME, time)
                     : PROGRAM_NEXT(pthread_timedjoin_np)(id, value, time);
}

PROGRAM_EXPORT int pthread_detach(pthread_t id)
{
    if (turn_enter("pthread_detach")) {
        thread_t *thread = find(id);
        if (thread != NULL && thread->ended) {
            forget(thread);
        } else if (thread != NULL) {
            thread->detached = true;
        }
    }
    return PROGRAM_NEXT(pthread_detach)(id);
}

// -- threads of C11

typedef struct c11_start {
    thrd_start_t start;
    void *argument;
} c11_start_t;

static void *run_c11(void *argument)
{
    const c11_start_t begin = *(c11_start_t *)argument;
    free(argument);
    return (void *)(intptr_t)begin.start(begin.argument);
}

PROGRAM_EXPORT int thrd_create(thrd_t *id, thrd_start_t start, void *argument)
{
    if (!turn_on()) {
        return PROGRAM_NEXT(thrd_create)(id, start, argument);
    }
    c11_start_t *begin = malloc(sizeof *begin);
    if (begin == NULL) {
        return thrd_nomem;
    }
    *begin = (c11_start_t){.start = start, .argument = argument};
    const int error = pthread_create(id, NULL, run_c11, begin);
    if (error != 0) {
        free(begin);
    }
    return error == 0 ? thrd_success : error == ENOMEM ? thrd_nomem : thrd_error;
}

PROGRAM_EXPORT int thrd_join(thrd_t id, int *result)
{
    void *value = NULL;
    const int error = pthread_join(id, &value);
    if (error == 0 && result != NULL) {
        *result = (int)(intptr_t)value;
    }
    return error == 0 ? thrd_success : thrd_error;
}

PROGRAM_EXPORT int thrd_detach(thrd_t id)
{
    return pthread_detach(id) == 0 ? thrd_success : thrd_error;
}

PROGRAM_EXPORT int thrd_sleep(const struct timespec *time, struct timespec *left)
{
    const int error = clock_nanosleep(CLOCK_REALTIME, 0, time, left);
    return error == 0 ? 0 : error == EINTR ? -1 : -2;
}

PROGRAM_EXPORT void thrd_yield(void)
{
    (void)sched_yield();
}

// -- cancelling and signals

void threads_disturb(uint32_t number)
{
    program_call_t call = {.op = PROGRAM_WAKE, .handle = number + 1};
    turn_charge_call();
    (void)turn_call(&call);
}

PROGRAM_EXPORT int pthread_cancel(pthread_t id)
{
    const int error = PROGRAM_NEXT(pthread_cancel)(id);
    thread_t *thread = error == 0 && turn_enter("pthread_cancel") ? find(id) : NULL;
    if (thread != NULL) {
        thread->cancelled = true;
        threads_disturb(thread->number);
    }
    return error;
}

bool threads_is_cancelled(void)
{
    return self->cancelled;
}

void threads_cancel_point(void)
{
    if (self->cancelled && !turn_busy()) {
        pthread_testcancel();
    }
}

PROGRAM_EXPORT int pthread_kill(pthread_t id, int number)
{
    const int error = PROGRAM_NEXT(pthread_kill)(id, number);
    const thread_t *thread =
        error == 0 && number != 0 && turn_enter("pthread_kill") ? find(id) : NULL;
    if (thread != NULL && thread != self) {
        threads_disturb(thread->number);
    }
    return error;
}

PROGRAM_EXPORT int tgkill(pid_t pid, pid_t tid, int number)
{
    if (!turn_on()) {
        return PROGRAM_NEXT(tgkill)(pid, tid, number);
    }
    const uint32_t wanted = self->number + (uint32_t)(tid - gettid());
    for (thread_t *thread = threads; thread != NULL && pid == getpid(); thread = thread->next) {
        if (thread->number == wanted && !thread->ended) {
            const pthread_t id = thread->id != 0 ? thread->id : pthread_self(); // it is alone
            const int error = pthread_kill(id, number);
            errno = error != 0 ? error : errno;
            return error == 0 ? 0 : -1;
        }
    }
    errno = ESRCH;
    return -1;
}
