// SPDX-License-Identifier: Apache-2.0
// programs/threads/futex.c - the system call futex(), as programs make it by syscall().

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "programs/system.h"
#include "programs/threads/threads.h"
#include "programs/time/clocks.h"
#include "programs/time/moment.h"

static long fail(long error)
{
    errno = (int)error;
    return -1;
}

void threads_real_futex(int *word, int operation, int value)
{
    const int error = errno;
    (void)system_call(SYS_futex, word, operation, value, NULL, NULL, 0);
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

bool threads_futex(const long *arguments, long *result)
{
    if (!threads_many || !turn_enter("futex")) {
        return false;
    }
    *result = futex(arguments);
    return true;
}
