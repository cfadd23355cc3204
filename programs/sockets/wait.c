// SPDX-License-Identifier: Apache-2.0
// programs/sockets/wait.c - poll(), select() and epoll_wait() wait for simulated time.
//
// The kernel says what is ready now. If nothing is, the simulator says when to ask again.

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

#include "programs/process/signals.h"
#include "programs/sockets/endpoint.h"
#include "programs/system.h"
#include "programs/threads/threads.h"
#include "programs/time/moment.h"
#include "programs/turn.h"

// Asks the kernel without waiting. Returns the number of ready descriptors, or -1.
typedef int (*ask_fn)(void *question);

static int wait_for(ask_fn ask, void *question, uint64_t timeout_ps)
{
    const uint64_t before = signals_handled;
    turn_charge_call();
    threads_meet();
    const uint64_t end_ps = moment_after(timeout_ps);
    uint64_t step_ps = 0;
    for (;;) {
        threads_cancel_point();
        const int count = ask(question);
        if (count != 0) {
            return count; // what the program does with it counts, not that it is ready
        }
        if (signals_handled != before) {
            errno = EINTR;
            return -1;
        }
        if (timeout_ps == 0) {
            return turn_idle_pause(&endpoint_idle) ? ask(question) : 0;
        }
        const uint64_t left_ps = moment_until(end_ps);
        if (left_ps == 0) {
            return 0;
        }
        (void)turn_wait(PROGRAM_ON_SOCKET | PROGRAM_ON_EVENT | PROGRAM_ON_SIGNAL,
                        endpoint_step(&step_ps, left_ps));
    }
}

// Waits with another mask of signals, if there is one.
static int wait_masked(ask_fn ask, void *question, uint64_t timeout_ps, const sigset_t *mask)
{
    sigset_t before;
    if (mask == NULL) {
        return wait_for(ask, question, timeout_ps);
    }
    (void)sigprocmask(SIG_SETMASK, mask, &before);
    const int count = wait_for(ask, question, timeout_ps);
    const int error = errno;
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return count;
}

static uint64_t timeout_of_ms(int timeout_ms)
{
    return timeout_ms < 0 ? PROGRAM_NEVER : (uint64_t)timeout_ms * (TURN_PS_PER_S / 1000);
}

static uint64_t timeout_of(const struct timespec *timeout)
{
    return timeout == NULL ? PROGRAM_NEVER : moment_of_timespec(timeout);
}

// -- poll

typedef struct poll_question {
    struct pollfd *descriptors;
    nfds_t count;
} poll_question_t;

static int ask_poll(void *question)
{
    const poll_question_t *poll = question;
    return (int)system_call(SYS_poll, poll->descriptors, poll->count, 0);
}

PROGRAM_EXPORT int poll(struct pollfd *descriptors, nfds_t count, int timeout_ms)
{
    if (!turn_enter("poll")) {
        return PROGRAM_NEXT(poll)(descriptors, count, timeout_ms);
    }
    poll_question_t question = {.descriptors = descriptors, .count = count};
    return wait_for(ask_poll, &question, timeout_of_ms(timeout_ms));
}

int __poll_chk(struct pollfd *descriptors, nfds_t count, int timeout_ms, size_t room);
PROGRAM_EXPORT int __poll_chk(struct pollfd *descriptors, nfds_t count, int timeout_ms, size_t room)
{
    return room / sizeof *descriptors < count
               ? PROGRAM_NEXT(__poll_chk)(descriptors, count, timeout_ms, room)
               : poll(descriptors, count, timeout_ms);
}

PROGRAM_EXPORT int ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *timeout,
                         const sigset_t *mask)
{
    if (!turn_enter("ppoll")) {
        return PROGRAM_NEXT(ppoll)(descriptors, count, timeout, mask);
    }
    poll_question_t question = {.descriptors = descriptors, .count = count};
    return wait_masked(ask_poll, &question, timeout_of(timeout), mask);
}

// -- select

#define SETS 3

typedef struct select_question {
    int count;
    size_t bytes;
    fd_set *sets[SETS];
    unsigned char wished[SETS][2048];
} select_question_t;

static int ask_select(void *question)
{
    const select_question_t *select = question;
    const struct timespec none = {0};
    struct timespec timeout = none;
    for (int i = 0; i < SETS; i++) {
        if (select->sets[i] != NULL) {
            memcpy(select->sets[i], select->wished[i], select->bytes);
        }
    }
    return (int)system_call(SYS_pselect6, select->count, select->sets[0], select->sets[1],
                            select->sets[2], &timeout, NULL);
}

static int wait_select(int count, fd_set *readable, fd_set *writable, fd_set *exceptional,
                       uint64_t timeout_ps, const sigset_t *mask)
{
    select_question_t question = {.count = count, .sets = {readable, writable, exceptional}};
    question.bytes = ((size_t)(count < 0 ? 0 : count) + 63) / 64 * 8;
    if (count < 0 || question.bytes > sizeof question.wished[0]) {
        errno = EINVAL;
        return -1;
    }
    for (int i = 0; i < SETS; i++) {
        if (question.sets[i] != NULL) {
            memcpy(question.wished[i], question.sets[i], question.bytes);
        }
    }
    return wait_masked(ask_select, &question, timeout_ps, mask);
}

PROGRAM_EXPORT int select(int count, fd_set *restrict readable, fd_set *restrict writable,
                          fd_set *restrict exceptional, struct timeval *restrict timeout)
{
    if (!turn_enter("select")) {
        return PROGRAM_NEXT(select)(count, readable, writable, exceptional, timeout);
    }
    const uint64_t timeout_ps = timeout == NULL ? PROGRAM_NEVER : moment_of_timeval(timeout);
    const uint64_t end_ps = moment_after(timeout_ps);
    const int ready = wait_select(count, readable, writable, exceptional, timeout_ps, NULL);
    if (timeout != NULL && ready >= 0) {
        *timeout = moment_timeval(moment_until(end_ps)); // Linux shows the time that is left
    }
    return ready;
}

PROGRAM_EXPORT int pselect(int count, fd_set *restrict readable, fd_set *restrict writable,
                           fd_set *restrict exceptional, const struct timespec *restrict timeout,
                           const sigset_t *restrict mask)
{
    if (!turn_enter("pselect")) {
        return PROGRAM_NEXT(pselect)(count, readable, writable, exceptional, timeout, mask);
    }
    return wait_select(count, readable, writable, exceptional, timeout_of(timeout), mask);
}

// -- epoll

typedef struct epoll_question {
    int descriptor;
    struct epoll_event *events;
    int count;
} epoll_question_t;

static int ask_epoll(void *question)
{
    const epoll_question_t *epoll = question;
    return (int)system_call(SYS_epoll_pwait, epoll->descriptor, epoll->events, epoll->count, 0,
                            NULL, (size_t)8);
}

PROGRAM_EXPORT int epoll_pwait(int descriptor, struct epoll_event *events, int count,
                               int timeout_ms, const sigset_t *mask)
{
    if (!turn_enter("epoll_wait")) {
        return PROGRAM_NEXT(epoll_pwait)(descriptor, events, count, timeout_ms, mask);
    }
    epoll_question_t question = {.descriptor = descriptor, .events = events, .count = count};
    return wait_masked(ask_epoll, &question, timeout_of_ms(timeout_ms), mask);
}

PROGRAM_EXPORT int epoll_ctl(int descriptor, int operation, int other, struct epoll_event *event)
{
    const int error = PROGRAM_NEXT(epoll_ctl)(descriptor, operation, other, event);
    threads_touch_descriptors();
    return error;
}

PROGRAM_EXPORT int epoll_wait(int descriptor, struct epoll_event *events, int count, int timeout_ms)
{
    return epoll_pwait(descriptor, events, count, timeout_ms, NULL);
}

PROGRAM_EXPORT int epoll_pwait2(int descriptor, struct epoll_event *events, int count,
                                const struct timespec *timeout, const sigset_t *mask)
{
    if (!turn_enter("epoll_pwait2")) {
        return PROGRAM_NEXT(epoll_pwait2)(descriptor, events, count, timeout, mask);
    }
    epoll_question_t question = {.descriptor = descriptor, .events = events, .count = count};
    return wait_masked(ask_epoll, &question, timeout_of(timeout), mask);
}
