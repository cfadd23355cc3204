// SPDX-License-Identifier: Apache-2.0
// programs/time/moment.h - times in picoseconds and in the structs of libc.
#ifndef PROGRAMS_TIME_MOMENT_H
#define PROGRAMS_TIME_MOMENT_H

#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#include "programs/turn.h"

static inline struct timespec moment_timespec(uint64_t time_ps)
{
    return (struct timespec){.tv_sec = (time_t)(time_ps / TURN_PS_PER_S),
                             .tv_nsec = (long)(time_ps % TURN_PS_PER_S / TURN_PS_PER_NS)};
}

static inline struct timeval moment_timeval(uint64_t time_ps)
{
    return (struct timeval){.tv_sec = (time_t)(time_ps / TURN_PS_PER_S),
                            .tv_usec = (suseconds_t)(time_ps % TURN_PS_PER_S / TURN_PS_PER_US)};
}

// Returns a duration in ps; the longest that fits instead of a longer one, 0 instead of a negative.
static inline uint64_t moment_ps(time_t seconds, uint64_t rest_ps)
{
    const uint64_t most_s = UINT64_MAX / 2 / TURN_PS_PER_S;
    if (seconds < 0) {
        return 0;
    }
    return ((uint64_t)seconds < most_s ? (uint64_t)seconds : most_s) * TURN_PS_PER_S + rest_ps;
}

static inline uint64_t moment_of_timespec(const struct timespec *time)
{
    return moment_ps(time->tv_sec, (uint64_t)time->tv_nsec * TURN_PS_PER_NS);
}

static inline uint64_t moment_of_timeval(const struct timeval *time)
{
    return moment_ps(time->tv_sec, (uint64_t)time->tv_usec * TURN_PS_PER_US);
}

// Returns how long it is from the program's time until `end_ps`, 0 if that is over, and
// PROGRAM_NEVER if it never comes.
static inline uint64_t moment_until(uint64_t end_ps)
{
    const uint64_t now_ps = turn_now_ps();
    return end_ps == PROGRAM_NEVER ? PROGRAM_NEVER : end_ps > now_ps ? end_ps - now_ps : 0;
}

// Returns the program's time after a duration.
static inline uint64_t moment_after(uint64_t duration_ps)
{
    return duration_ps == PROGRAM_NEVER ? PROGRAM_NEVER : turn_now_ps() + duration_ps;
}

#endif // PROGRAMS_TIME_MOMENT_H
