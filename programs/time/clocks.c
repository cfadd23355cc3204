// SPDX-License-Identifier: Apache-2.0
// programs/time/clocks.c - clocks show simulated time.
//
// Processor time is the time since the program began: a program that waits for a completion polls.

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/timeb.h>
#include <sys/times.h>
#include <unistd.h>

#include "programs/time/clocks.h"
#include "programs/time/moment.h"

static uint64_t begin_ps;

void clocks_begin(void)
{
    begin_ps = turn_now_ps();
}

// Returns Unix time in ns.
static uint64_t unix_ns(uint64_t now_ps)
{
    return turn_shared->epoch_ns + now_ps / TURN_PS_PER_NS;
}

int clocks_kind(clockid_t clock)
{
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_REALTIME_ALARM:
    case CLOCK_TAI:
        return CLOCKS_UNIX;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
    case CLOCK_BOOTTIME_ALARM:
        return CLOCKS_MONOTONIC;
    case CLOCK_PROCESS_CPUTIME_ID:
    case CLOCK_THREAD_CPUTIME_ID:
        return CLOCKS_PROCESSOR;
    default:
        return clock < 0 ? CLOCKS_PROCESSOR : CLOCKS_NONE;
    }
}

// Monotonic clocks begin one hour before the simulation does: programs take 0 for "never".
#define MONOTONIC_BEGIN_PS (3600 * TURN_PS_PER_S)

// Returns the time of a clock of this kind when the program's time is `now_ps`.
static struct timespec clock_at(int kind, uint64_t now_ps)
{
    if (kind == CLOCKS_UNIX) {
        const uint64_t now_ns = unix_ns(now_ps);
        return (struct timespec){.tv_sec = (time_t)(now_ns / 1000000000u),
                                 .tv_nsec = (long)(now_ns % 1000000000u)};
    }
    return moment_timespec(kind == CLOCKS_MONOTONIC ? now_ps + MONOTONIC_BEGIN_PS
                                                    : now_ps - begin_ps);
}

uint64_t clocks_to_ps(int kind, const struct timespec *time)
{
    const uint64_t time_ps = moment_of_timespec(time);
    uint64_t begin = kind == CLOCKS_MONOTONIC ? MONOTONIC_BEGIN_PS : 0;
    if (kind == CLOCKS_UNIX) {
        // Unix time in ps does not fit into 64 bits.
        const uint64_t epoch_s = turn_shared->epoch_ns / 1000000000u;
        if ((uint64_t)time->tv_sec < epoch_s) {
            return 0;
        }
        begin = turn_shared->epoch_ns % 1000000000u * TURN_PS_PER_NS;
        const uint64_t rest_ps =
            moment_ps(time->tv_sec - (time_t)epoch_s, (uint64_t)time->tv_nsec * TURN_PS_PER_NS);
        return rest_ps > begin ? rest_ps - begin : 0;
    }
    return time_ps > begin ? time_ps - begin : 0;
}

PROGRAM_EXPORT int clock_gettime(clockid_t clock, struct timespec *time)
{
    const int kind = clocks_kind(clock);
    if (kind == CLOCKS_NONE || !turn_enter_look("clock_gettime")) {
        return PROGRAM_NEXT(clock_gettime)(clock, time);
    }
    *time = clock_at(kind, turn_look_ps());
    return 0;
}

PROGRAM_EXPORT int clock_getres(clockid_t clock, struct timespec *resolution)
{
    if (clocks_kind(clock) == CLOCKS_NONE || !turn_on()) {
        return PROGRAM_NEXT(clock_getres)(clock, resolution);
    }
    if (resolution != NULL) {
        *resolution = (struct timespec){.tv_nsec = 1};
    }
    return 0;
}

PROGRAM_EXPORT int timespec_get(struct timespec *time, int base)
{
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}

PROGRAM_EXPORT int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    if (!turn_enter_look("gettimeofday")) {
        return PROGRAM_NEXT(gettimeofday)(time, zone);
    }
    const struct timespec now = clock_at(CLOCKS_UNIX, turn_look_ps());
    *time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    if (zone != NULL) {
        memset(zone, 0, sizeof(struct timezone));
    }
    return 0;
}

PROGRAM_EXPORT time_t time(time_t *result)
{
    if (!turn_enter_look("time")) {
        return PROGRAM_NEXT(time)(result);
    }
    const time_t now = clock_at(CLOCKS_UNIX, turn_look_ps()).tv_sec;
    if (result != NULL) {
        *result = now;
    }
    return now;
}

PROGRAM_EXPORT clock_t clock(void)
{
    if (!turn_enter_look("clock")) {
        return PROGRAM_NEXT(clock)();
    }
    return (clock_t)((turn_look_ps() - begin_ps) / (TURN_PS_PER_S / CLOCKS_PER_SEC));
}

PROGRAM_EXPORT clock_t times(struct tms *result)
{
    if (!turn_enter_look("times")) {
        return PROGRAM_NEXT(times)(result);
    }
    const uint64_t now_ps = turn_look_ps();
    const uint64_t tick_ps = TURN_PS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
    if (result != NULL) {
        *result = (struct tms){.tms_utime = (clock_t)((now_ps - begin_ps) / tick_ps)};
    }
    return (clock_t)((now_ps + MONOTONIC_BEGIN_PS) / tick_ps);
}

static int resources(__rusage_who_t who, struct rusage *usage)
{
    return PROGRAM_NEXT(getrusage)(who, usage);
}

PROGRAM_EXPORT int getrusage(__rusage_who_t who, struct rusage *usage)
{
    const int error = resources(who, usage);
    if (error == 0 && turn_on() && turn_enter("getrusage")) {
        memset(usage, 0, sizeof *usage); // faults and the rest are other ones in each run
        if (who != RUSAGE_CHILDREN) {
            usage->ru_utime = moment_timeval(turn_look_ps() - begin_ps);
        }
    }
    return error;
}
