// SPDX-License-Identifier: Apache-2.0
// programs/time/sleep.c - sleeps last simulated time.

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "programs/process/sanitizers.h"
#include "programs/process/signals.h"
#include "programs/system.h"
#include "programs/threads/threads.h"
#include "programs/time/clocks.h"
#include "programs/time/moment.h"

// Sleeps until `end_ps`, or until a handler of a signal ran. Returns the time that was left.
static uint64_t sleep_until(uint64_t end_ps)
{
    const uint64_t before = signals_handled;
    turn_charge_call();
    uint64_t left_ps = moment_until(end_ps);
    if (left_ps == 0) { // the program lets others run
        return (void)sched_yield(), 0;
    }
    while (left_ps != 0 && signals_handled == before) {
        (void)turn_wait(PROGRAM_ON_SIGNAL, left_ps);
        threads_cancel_point();
        left_ps = moment_until(end_ps);
    }
    turn_act();
    return signals_handled == before ? 0 : left_ps;
}

PROGRAM_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                                   struct timespec *left)
{
    const int kind = clocks_kind(clock);
    if (kind == CLOCKS_NONE || !turn_enter("clock_nanosleep")) {
        return PROGRAM_NEXT(clock_nanosleep)(clock, flags, time, left);
    }
    if (time->tv_nsec < 0 || time->tv_nsec >= 1000000000 || time->tv_sec < 0) {
        return EINVAL;
    }
    const bool absolute = (flags & TIMER_ABSTIME) != 0;
    const uint64_t end_ps =
        absolute ? clocks_to_ps(kind, time) : turn_now_ps() + moment_of_timespec(time);
    const uint64_t left_ps = sleep_until(end_ps);
    if (left_ps != 0 && !absolute && left != NULL) {
        *left = moment_timespec(left_ps);
    }
    return left_ps != 0 ? EINTR : 0;
}

PROGRAM_EXPORT int nanosleep(const struct timespec *time, struct timespec *left)
{
    if (!turn_on()) {
        return PROGRAM_NEXT(nanosleep)(time, left);
    }
    const int error = clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);
    if (error != 0) {
        errno = error;
    }
    return error == 0 ? 0 : -1;
}

PROGRAM_EXPORT int usleep(useconds_t time_us)
{
    if (!turn_enter("usleep")) {
        return PROGRAM_NEXT(usleep)(time_us);
    }
    if (sleep_until(turn_now_ps() + time_us * TURN_PS_PER_US) != 0) {
        errno = EINTR;
        return -1;
    }
    return 0;
}

PROGRAM_EXPORT unsigned int sleep(unsigned int time_s)
{
    if (!turn_enter("sleep")) {
        return PROGRAM_NEXT(sleep)(time_s);
    }
    const uint64_t left_ps = sleep_until(turn_now_ps() + time_s * TURN_PS_PER_S);
    return (unsigned int)(left_ps / TURN_PS_PER_S);
}

// -- sched_yield

#define CALLER_WORDS 64u  // of the caller's registers and stack that are compared
#define YIELDS_MAX 10000u // in a row that a program may count
#define MOVES_MAX 64u     // in a row, after which a program counts its calls

// Yields for a caller whose registers and stack begin at `state`. If they are as they were at the
// last call, only a change of memory can end the loop. Else the program may have left it and
// written, so others look, or it counts its calls, and each takes some time.
static __attribute__((used)) int yield_of(const uint64_t *state)
{
    static turn_idle_t idle = {.by_state = true};
    static uint64_t last;
    static uint32_t counted;
    static uint32_t moves; // calls in a row in another state than the one before
    uint64_t sum = 0;
    if (sanitizers_look() || !turn_enter("sched_yield")) {
        return (int)system_call(SYS_sched_yield);
    }
    for (uint32_t i = 0; i < CALLER_WORDS; i++) {
        sum = (sum ^ state[i]) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 32;
    }
    counted = idle.tries == 0 ? 0 : counted + 1;
    if (sum != last && counted < YIELDS_MAX) {
        idle.looks = UINT64_MAX; // as a program that looks at a clock
    }
    moves = sum != last ? moves + 1 : 0;
    turn_shared->acted |= moves != 0 && moves <= MOVES_MAX;
    last = sum;
    turn_charge(turn_shared->call_ps);
    (void)turn_idle_wait(&idle);
    return 0;
}

// Saves the registers that belong to the caller below its stack.
PROGRAM_EXPORT __attribute__((naked)) int sched_yield(void)
{
    __asm__ volatile("pushq %rbx\n\t"
                     "pushq %rbp\n\t"
                     "pushq %r12\n\t"
                     "pushq %r13\n\t"
                     "pushq %r14\n\t"
                     "pushq %r15\n\t"
                     "movq %rsp, %rdi\n\t"
                     "subq $8, %rsp\n\t"
                     "call yield_of\n\t"
                     "addq $8, %rsp\n\t"
                     "popq %r15\n\t"
                     "popq %r14\n\t"
                     "popq %r13\n\t"
                     "popq %r12\n\t"
                     "popq %rbp\n\t"
                     "popq %rbx\n\t"
                     "ret");
}
