// SPDX-License-Identifier: Apache-2.0
// programs/threads/futex.c - the system call futex(), as programs make it by syscall().
//
// Other system calls pass through.

#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "programs/threads/threads.h"
#include "programs/time/clocks.h"
#include "programs/time/moment.h"
#include "programs/verbs/segments.h"

#define ARGUMENTS 6

static long fail(long error)
{
    errno = (int)error;
    return -1;
}

static long call_kernel(long number, const long *arguments)
{
    register long r10 __asm__("r10") = arguments[3];
    register long r8 __asm__("r8") = arguments[4];
    register long r9 __asm__("r9") = arguments[5];
    long result = number;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(arguments[0]), "S"(arguments[1]), "d"(arguments[2]), "r"(r10), "r"(r8),
                       "r"(r9)
                     : "rcx", "r11", "memory");
    return result < 0 && result >= -4095 ? fail(-result) : result;
}

void threads_real_futex(int *word, int operation, int value)
{
    const int error = errno;
    const long arguments[ARGUMENTS] = {(long)(uintptr_t)word, operation, value};
    (void)call_kernel(SYS_futex, arguments);
    errno = error;
}

// Waits as FUTEX_WAIT does, until `end_ps`.
static long wait(const volatile uint32_t *word, uint32_t value, uint64_t end_ps)
{
    turn_charge_call();
    threads_meet();
    if (*word != value) {
        return fail(EAGAIN);
    }
    const uint64_t left_ps = moment_until(end_ps);
    const uint32_t reasons =
        left_ps == 0 ? 0 : threads_wait(word, PROGRAM_AT_FUTEX, PROGRAM_NO_THREAD, left_ps);
    threads_cancel_point();
    return (reasons & PROGRAM_ON_KEY) != 0 ? 0 : fail(reasons == 0 ? ETIMEDOUT : EINTR);
}

static long wake(const volatile uint32_t *word, uint32_t count)
{
    turn_charge_call();
    threads_meet();
    return threads_wake(word, count);
}

static long futex(const long *arguments)
{
    const volatile uint32_t *word = (const volatile uint32_t *)arguments[0];
    const struct timespec *time = (const struct timespec *)arguments[3];
    const uint32_t value = (uint32_t)arguments[2];
    const int operation = (int)arguments[1];
    const bool realtime = (operation & FUTEX_CLOCK_REALTIME) != 0;
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
        if (threads_is_no_time(time)) {
            return fail(EINVAL);
        }
        return wait(word, value,
                    time == NULL ? PROGRAM_NEVER : moment_after(moment_of_timespec(time)));
    case FUTEX_WAIT_BITSET:
        if (threads_is_no_time(time)) {
            return fail(EINVAL);
        }
        return wait(word, value, threads_end_ps(realtime ? CLOCKS_UNIX : CLOCKS_MONOTONIC, time));
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
        return wake(word, value);
    case FUTEX_CMP_REQUEUE:
        if (*word != (uint32_t)arguments[5]) {
            return fail(EAGAIN);
        }
        return wake(word, UINT32_MAX); // all look again, instead of one after the other
    case FUTEX_REQUEUE:
        return wake(word, UINT32_MAX);
    default:
        turn_fail("the program called futex() with operation %d, which is not simulated",
                  operation & FUTEX_CMD_MASK);
    }
}

PROGRAM_EXPORT long syscall(long number, ...)
{
    long arguments[ARGUMENTS];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < ARGUMENTS; i++) {
        arguments[i] = va_arg(list, long);
    }
    va_end(list);
    long result;
    if (segments_call(number, arguments, &result)) {
        return result;
    }
    return number == SYS_futex && threads_many && turn_enter("futex")
               ? futex(arguments)
               : call_kernel(number, arguments);
}
