// SPDX-License-Identifier: Apache-2.0
// programs/time/timerfd.c - timers that make descriptors readable: the ends of pipes.

#include "programs/time/timerfd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "programs/parts.h"
#include "programs/process/descriptors.h"
#include "programs/system.h"
#include "programs/time/clocks.h"
#include "programs/time/moment.h"

#define ID_FIRST UINT64_C(1000) // of the simulator's timers

// The state that all processes of the timer share, as they share the pipe.
typedef struct timerfd_state {
    uint64_t end_ps;
    uint64_t every_ps;
    uint64_t expirations; // since the last read
} timerfd_state_t;

static endpoint_t *timers;

// Counts what is due, and makes the descriptor readable.
static void look(endpoint_t *timer)
{
    timerfd_state_t *state = timer->state;
    const uint64_t now_ps = turn_now_ps();
    if (state->end_ps == 0 || state->end_ps > now_ps) {
        return;
    }
    const bool first = state->expirations == 0;
    if (state->every_ps == 0) {
        state->expirations++;
        state->end_ps = 0;
    } else {
        const uint64_t count = (now_ps - state->end_ps) / state->every_ps + 1;
        state->expirations += count;
        state->end_ps += count * state->every_ps;
    }
    if (first) {
        system_call(SYS_write, timer->signal_fd, "t", 1);
    }
}

void parts_deliver_timers(void)
{
    for (endpoint_t *timer = timers; timer != NULL; timer = timer->next) {
        look(timer);
    }
}

static void set(const endpoint_t *timer, uint64_t after_ps)
{
    program_call_t call = {.op = PROGRAM_TIMER,
                           .timer = {.id = timer->id,
                                     .after_ps = after_ps == 0 ? PROGRAM_NEVER : after_ps,
                                     .every_ps = timer->state->every_ps}};
    (void)turn_call(&call);
}

static void empty(endpoint_t *timer, int descriptor)
{
    char byte;
    if (timer->state->expirations != 0) {
        system_call(SYS_read, descriptor, &byte, 1);
        timer->state->expirations = 0;
    }
}

ssize_t timerfd_read(endpoint_t *timer, int descriptor, void *bytes, size_t count)
{
    if (count < sizeof timer->state->expirations) {
        errno = EINVAL;
        return -1;
    }
    turn_charge_call();
    look(timer);
    while (timer->state->expirations == 0) {
        if (endpoint_nonblocking(descriptor)) {
            (void)turn_idle_pause(&endpoint_idle);
            look(timer);
            if (timer->state->expirations == 0) {
                errno = EAGAIN;
                return -1;
            }
        } else if (endpoint_await(descriptor, POLLIN, PROGRAM_NEVER) != 0) {
            return -1;
        }
    }
    const uint64_t expirations = timer->state->expirations;
    empty(timer, descriptor);
    memcpy(bytes, &expirations, sizeof expirations);
    turn_act();
    return (ssize_t)sizeof expirations;
}

void timerfd_forget(endpoint_t *timer)
{
    endpoint_t **at = &timers;
    while (*at != NULL && *at != timer) {
        at = &(*at)->next;
    }
    if (*at != NULL) {
        *at = timer->next;
    }
    descriptors_close(timer->signal_fd);
    if (timer->state->end_ps != 0) {
        set(timer, 0);
    }
    system_call(SYS_munmap, timer->state, sizeof *timer->state);
}

PROGRAM_EXPORT int timerfd_create(int clock, int flags)
{
    static uint64_t ids;
    if (!turn_enter("timerfd_create")) {
        return PROGRAM_NEXT(timerfd_create)(clock, flags);
    }
    int ends[2];
    if (clocks_kind(clock) == CLOCKS_NONE || system_call(SYS_pipe2, ends, O_CLOEXEC) != 0) {
        errno = EINVAL;
        return -1;
    }
    const long state = system_call(SYS_mmap, NULL, sizeof(timerfd_state_t), PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    endpoint_t *timer = state == -1 ? NULL : endpoint_create(ends[0], ENDPOINT_TIMER);
    if (timer == NULL) {
        system_call(SYS_close, ends[0]);
        system_call(SYS_close, ends[1]);
        return -1;
    }
    system_call(SYS_fcntl, ends[0], F_SETFD, (flags & TFD_CLOEXEC) != 0 ? FD_CLOEXEC : 0);
    system_call(SYS_fcntl, ends[0], F_SETFL, (flags & TFD_NONBLOCK) != 0 ? O_NONBLOCK : 0);
    timer->state = (timerfd_state_t *)state;
    timer->id = ID_FIRST + ids++;
    timer->clock_kind = clocks_kind(clock);
    timer->signal_fd = descriptors_hide(ends[1]);
    timer->next = timers;
    timers = timer;
    return ends[0];
}

static endpoint_t *find(int descriptor)
{
    endpoint_t *timer = endpoint_of(descriptor);
    if (timer == NULL || timer->kind != ENDPOINT_TIMER) {
        errno = EINVAL;
        return NULL;
    }
    return timer;
}

static void show(endpoint_t *timer, struct itimerspec *value)
{
    look(timer);
    const timerfd_state_t *state = timer->state;
    value->it_value = moment_timespec(state->end_ps == 0 ? 0 : moment_until(state->end_ps));
    value->it_interval = moment_timespec(state->every_ps);
}

PROGRAM_EXPORT int timerfd_settime(int descriptor, int flags, const struct itimerspec *value,
                                   struct itimerspec *before)
{
    if (!turn_enter("timerfd_settime")) {
        return PROGRAM_NEXT(timerfd_settime)(descriptor, flags, value, before);
    }
    endpoint_t *timer = find(descriptor);
    if (timer == NULL) {
        return -1;
    }
    if (before != NULL) {
        show(timer, before);
    }
    empty(timer, descriptor);
    uint64_t after_ps = moment_of_timespec(&value->it_value);
    if (after_ps != 0 && (flags & TFD_TIMER_ABSTIME) != 0) {
        after_ps = moment_until(clocks_to_ps(timer->clock_kind, &value->it_value));
        after_ps = after_ps == 0 ? 1 : after_ps;
    }
    turn_charge_call();
    timer->state->every_ps = moment_of_timespec(&value->it_interval);
    timer->state->end_ps = after_ps == 0 ? 0 : turn_now_ps() + after_ps;
    set(timer, after_ps);
    return 0;
}

PROGRAM_EXPORT int timerfd_gettime(int descriptor, struct itimerspec *value)
{
    if (!turn_enter("timerfd_gettime")) {
        return PROGRAM_NEXT(timerfd_gettime)(descriptor, value);
    }
    endpoint_t *timer = find(descriptor);
    if (timer == NULL) {
        return -1;
    }
    show(timer, value);
    return 0;
}
