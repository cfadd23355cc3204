// SPDX-License-Identifier: Apache-2.0
// programs/time/timers.c - alarms, interval timers and POSIX timers send signals in simulated time.

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "programs/process/signals.h"
#include "programs/time/clocks.h"
#include "programs/time/moment.h"

// Numbers of timers: interval timers have 1 to 3, POSIX timers those from here on.
#define ID_FIRST 16u
#define TIMERS_MAX 64u

typedef struct posix_timer {
    bool used;
    int signal; // 0: none is sent
    int kind;   // of its clock
    uint64_t end_ps;
    uint64_t every_ps;
} posix_timer_t;

static posix_timer_t timers[TIMERS_MAX];
static struct {
    uint64_t end_ps;
    uint64_t every_ps;
} intervals[3];

static const int interval_signals[3] = {SIGALRM, SIGVTALRM, SIGPROF};

// Sets the timer `id`. after_ps 0 ends it.
static void set_timer(uint64_t id, int signal, uint64_t after_ps, uint64_t every_ps)
{
    program_call_t call = {.op = PROGRAM_TIMER,
                           .timer = {.id = id,
                                     .after_ps = after_ps == 0 ? PROGRAM_NEVER : after_ps,
                                     .every_ps = every_ps,
                                     .signal = signal}};
    turn_charge_call();
    (void)turn_call(&call);
}

// Returns the time that is left of a timer that ends at `end_ps`, and moves `end_ps` on if it
// repeats.
static uint64_t left_of(uint64_t *end_ps, uint64_t every_ps)
{
    const uint64_t now_ps = turn_now_ps();
    if (*end_ps != 0 && *end_ps <= now_ps) {
        *end_ps = every_ps == 0 ? 0 : *end_ps + ((now_ps - *end_ps) / every_ps + 1) * every_ps;
    }
    return *end_ps == 0 ? 0 : *end_ps - now_ps;
}

static void set_interval(int which, uint64_t after_ps, uint64_t every_ps)
{
    set_timer((uint64_t)which + 1, interval_signals[which], after_ps, every_ps);
    intervals[which].end_ps = after_ps == 0 ? 0 : turn_now_ps() + after_ps;
    intervals[which].every_ps = every_ps;
}

PROGRAM_EXPORT unsigned int alarm(unsigned int time_s)
{
    if (!turn_enter("alarm")) {
        return PROGRAM_NEXT(alarm)(time_s);
    }
    const uint64_t left_ps = left_of(&intervals[0].end_ps, intervals[0].every_ps);
    set_interval(0, time_s * TURN_PS_PER_S, 0);
    return (unsigned int)((left_ps + TURN_PS_PER_S - 1) / TURN_PS_PER_S);
}

PROGRAM_EXPORT useconds_t ualarm(useconds_t time_us, useconds_t every_us)
{
    if (!turn_enter("ualarm")) {
        return PROGRAM_NEXT(ualarm)(time_us, every_us);
    }
    const uint64_t left_ps = left_of(&intervals[0].end_ps, intervals[0].every_ps);
    set_interval(0, time_us * TURN_PS_PER_US, every_us * TURN_PS_PER_US);
    return (useconds_t)((left_ps + TURN_PS_PER_US - 1) / TURN_PS_PER_US);
}

static void read_interval(int which, struct itimerval *value)
{
    value->it_value = moment_timeval(left_of(&intervals[which].end_ps, intervals[which].every_ps));
    value->it_interval = moment_timeval(intervals[which].every_ps);
}

PROGRAM_EXPORT int getitimer(__itimer_which_t which, struct itimerval *value)
{
    if (!turn_enter("getitimer")) {
        return PROGRAM_NEXT(getitimer)(which, value);
    }
    if ((int)which < 0 || (int)which > 2) {
        errno = EINVAL;
        return -1;
    }
    read_interval((int)which, value);
    return 0;
}

PROGRAM_EXPORT int setitimer(__itimer_which_t which, const struct itimerval *restrict value,
                             struct itimerval *restrict before)
{
    if (!turn_enter("setitimer")) {
        return PROGRAM_NEXT(setitimer)(which, value, before);
    }
    if ((int)which < 0 || (int)which > 2) {
        errno = EINVAL;
        return -1;
    }
    if (before != NULL) {
        read_interval((int)which, before);
    }
    set_interval((int)which, moment_of_timeval(&value->it_value),
                 moment_of_timeval(&value->it_interval));
    return 0;
}

// -- POSIX timers. A timer_t is the index in the table, plus 1.

static posix_timer_t *find_timer(timer_t id)
{
    const uintptr_t index = (uintptr_t)id - 1;
    if (index >= TIMERS_MAX || !timers[index].used) {
        errno = EINVAL;
        return NULL;
    }
    return &timers[index];
}

static uint64_t id_of(const posix_timer_t *timer)
{
    return ID_FIRST + (uint64_t)(timer - timers);
}

PROGRAM_EXPORT int timer_create(clockid_t clock, struct sigevent *restrict event,
                                timer_t *restrict id)
{
    if (!turn_enter("timer_create")) {
        return PROGRAM_NEXT(timer_create)(clock, event, id);
    }
    uintptr_t index = 0;
    while (index < TIMERS_MAX && timers[index].used) {
        index++;
    }
    if (index == TIMERS_MAX) {
        errno = EAGAIN;
        return -1;
    }
    if (event != NULL && event->sigev_notify == SIGEV_THREAD) {
        turn_say("rocesim: timers that call a function in a thread of their own are not simulated");
        errno = ENOTSUP;
        return -1;
    }
    if (clocks_kind(clock) == CLOCKS_NONE) {
        errno = EINVAL;
        return -1;
    }
    union sigval value = {.sival_ptr = NULL};
    value.sival_int = (int)index;
    timers[index] = (posix_timer_t){.used = true, .signal = SIGALRM, .kind = clocks_kind(clock)};
    if (event != NULL) {
        timers[index].signal = event->sigev_notify == SIGEV_NONE ? 0 : event->sigev_signo;
        value = event->sigev_value;
    }
    if (timers[index].signal != 0) {
        signals_set_value(timers[index].signal, true, value);
    }
    *id = (void *)(index + 1);
    return 0;
}

PROGRAM_EXPORT int timer_settime(timer_t id, int flags, const struct itimerspec *restrict value,
                                 struct itimerspec *restrict before)
{
    if (!turn_enter("timer_settime")) {
        return PROGRAM_NEXT(timer_settime)(id, flags, value, before);
    }
    posix_timer_t *timer = find_timer(id);
    if (timer == NULL) {
        return -1;
    }
    if (before != NULL) {
        before->it_value = moment_timespec(left_of(&timer->end_ps, timer->every_ps));
        before->it_interval = moment_timespec(timer->every_ps);
    }
    uint64_t after_ps = moment_of_timespec(&value->it_value);
    if (after_ps != 0 && (flags & TIMER_ABSTIME) != 0) {
        after_ps = moment_until(clocks_to_ps(timer->kind, &value->it_value));
        after_ps = after_ps == 0 ? 1 : after_ps;
    }
    timer->every_ps = moment_of_timespec(&value->it_interval);
    timer->end_ps = after_ps == 0 ? 0 : turn_now_ps() + after_ps;
    if (timer->signal != 0) {
        set_timer(id_of(timer), timer->signal, after_ps, timer->every_ps);
    }
    return 0;
}

PROGRAM_EXPORT int timer_gettime(timer_t id, struct itimerspec *value)
{
    if (!turn_enter("timer_gettime")) {
        return PROGRAM_NEXT(timer_gettime)(id, value);
    }
    posix_timer_t *timer = find_timer(id);
    if (timer == NULL) {
        return -1;
    }
    value->it_value = moment_timespec(left_of(&timer->end_ps, timer->every_ps));
    value->it_interval = moment_timespec(timer->every_ps);
    return 0;
}

PROGRAM_EXPORT int timer_getoverrun(timer_t id)
{
    if (!turn_on()) {
        return PROGRAM_NEXT(timer_getoverrun)(id);
    }
    return find_timer(id) == NULL ? -1 : 0;
}

PROGRAM_EXPORT int timer_delete(timer_t id)
{
    if (!turn_enter("timer_delete")) {
        return PROGRAM_NEXT(timer_delete)(id);
    }
    posix_timer_t *timer = find_timer(id);
    if (timer == NULL) {
        return -1;
    }
    if (timer->signal != 0) {
        set_timer(id_of(timer), timer->signal, 0, 0);
    }
    timer->used = false;
    return 0;
}
