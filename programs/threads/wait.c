// SPDX-License-Identifier: Apache-2.0
// programs/threads/wait.c - threads wait for keys, and wake those who do.

#include <stddef.h>

#include "programs/threads/threads.h"
#include "programs/time/clocks.h"
#include "programs/time/moment.h"

bool threads_many;

void threads_meet(void)
{
    if (threads_many) {
        turn_catch_up();
    }
}

void threads_meet_in_memory(void)
{
    if (threads_many && turn_on()) {
        turn_shared->lead_ps += turn_shared->clock_ps;
        turn_calls++;
        turn_catch_up();
    }
}

// Returns the counter of waits for a key, which other keys may have, too.
static uint32_t *waits_of(uint64_t key)
{
    const uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    return &turn_shared->key_waits[hash % PROGRAM_KEYS];
}

uint32_t threads_wait(const volatile void *key, uint32_t object, uint32_t other,
                      uint64_t timeout_ps)
{
    program_call_t call = {.wait = {.mask = PROGRAM_ON_KEY | PROGRAM_ON_SIGNAL,
                                    .timeout_ps = timeout_ps,
                                    .key = (uintptr_t)key,
                                    .object = object,
                                    .other = other}};
    uint32_t *const waits = waits_of(call.wait.key);
    turn_shared->lead_ps += turn_shared->call_ps;
    turn_calls++;
    ++*waits;
    const uint32_t reasons = turn_wait_call(&call);
    --*waits;
    turn_act();
    return reasons;
}

uint32_t threads_wake(const volatile void *key, uint32_t count)
{
    program_call_t call = {.op = PROGRAM_WAKE, .count = count, .wait = {.key = (uintptr_t)key}};
    if (!turn_on() || *waits_of(call.wait.key) == 0) {
        return 0;
    }
    turn_shared->lead_ps += turn_shared->call_ps;
    (void)turn_call(&call);
    return call.count;
}

void threads_touch_descriptors(void)
{
    program_call_t call = {.op = PROGRAM_TOUCH};
    if (threads_many && turn_on() && turn_is_mine() && turn_shared->at_descriptors != 0 &&
        !turn_busy()) {
        (void)turn_call(&call);
    }
}

uint64_t threads_end_ps(int kind, const struct timespec *time)
{
    return time == NULL ? PROGRAM_NEVER : clocks_to_ps(kind, time);
}

bool threads_is_no_time(const struct timespec *time)
{
    return time != NULL && (time->tv_nsec < 0 || time->tv_nsec >= 1000000000);
}
