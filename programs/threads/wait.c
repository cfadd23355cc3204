// SPDX-License-Identifier: Apache-2.0
// programs/threads/wait.c - threads wait for keys, and wake those who do.

#include <stddef.h>

#include "programs/threads/shared.h"
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

// -- loops that take locks, look at memory, and do nothing else

#define LOCKS_MIN 16u          // in a row, from which the thread may be in a loop
#define STATES_EQUAL 2u        // states of the caller as at the first one, from which it is in one
#define WAIT_PS TURN_PS_PER_US // of the first wait, at most
#define DOUBLINGS 6u           // of that time, one for each wait
#define REGISTERS_BYTES 40u    // that a function saves below its frame
#define CALLER_BYTES 640u      // of those and of the caller's stack that are compared

// The locks that a thread takes in a row.
typedef struct lock_loop {
    turn_idle_t idle;
    uint32_t locks;
    uint32_t renew; // the state is noted anew at this number of locks
    uint32_t equal;
    uint32_t waits;
    uint64_t state;
} lock_loop_t;

static __thread lock_loop_t loop
    __attribute__((tls_model("initial-exec"))) = {.idle = {.by_state = true}};

// Returns a sum of the caller's registers and of its stack.
static __attribute__((noinline)) uint64_t state_of_caller(void)
{
    __builtin_unwind_init(); // registers that belong to the callers are on the stack
    const uint64_t *word =
        (const uint64_t *)((uintptr_t)__builtin_frame_address(0) - REGISTERS_BYTES);
    uint64_t sum = 0;
    for (size_t i = 0; i < CALLER_BYTES / sizeof *word; i++) {
        sum = (sum ^ word[i]) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 32;
    }
    return sum;
}

// Waits for what a look at memory may see, with a frame of its own.
static __attribute__((noinline)) void wait_since_look(uint64_t timeout_ps)
{
    program_call_t call = {.flags = PROGRAM_WAIT_SINCE_LOOK,
                           .wait = {.mask = PROGRAM_ON_POLL | PROGRAM_ON_EVENT | PROGRAM_ON_SOCKET |
                                            PROGRAM_ON_SIGNAL | PROGRAM_ON_MEMORY,
                                    .timeout_ps = timeout_ps}};
    (void)turn_wait_call(&call);
}

void threads_meet_at_lock(void)
{
    threads_meet_in_memory();
    if (!threads_many || !turn_on() || turn_busy()) {
        return;
    }
    if (turn_idle_timeout_ps(&loop.idle) == 0) { // something was done since the last lock
        loop.locks = 0;
        loop.renew = LOCKS_MIN;
        loop.equal = 0;
        loop.waits = 0;
    }
    if (++loop.locks < LOCKS_MIN) {
        return;
    }
    const uint64_t state = state_of_caller();
    if (loop.locks == loop.renew) {
        loop.renew *= 2;
        loop.state = loop.equal >= STATES_EQUAL ? loop.state : state;
        return;
    }
    if (state == loop.state && ++loop.equal >= STATES_EQUAL) {
        wait_since_look(WAIT_PS << loop.waits);
        loop.waits += loop.waits < DOUBLINGS;
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
                                    .key = shared_key(key),
                                    .object = object,
                                    .other = other}};
    uint32_t *const waits = waits_of(call.wait.key);
    turn_shared->lead_ps += turn_shared->call_ps;
    turn_calls++;
    ++*waits;
    const uint32_t reasons = turn_wait_call(&call);
    --*waits;
    if (object != PROGRAM_AT_MUTEX && object != PROGRAM_AT_SPIN_LOCK) { // a lock is no news
        turn_act();
    }
    return reasons;
}

static uint32_t wake(const volatile void *key, uint32_t object, uint32_t count)
{
    program_call_t call = {.op = PROGRAM_WAKE,
                           .count = count,
                           .wait = {.key = shared_key(key), .object = object}};
    const bool shared = (call.wait.key & PROGRAM_KEY_SHARED) != 0; // other programs may wait, too
    if (!turn_on() || (!shared && *waits_of(call.wait.key) == 0)) {
        return 0;
    }
    turn_shared->lead_ps += turn_shared->call_ps;
    (void)turn_call(&call);
    return call.count;
}

uint32_t threads_wake(const volatile void *key, uint32_t count)
{
    return wake(key, 0, count);
}

void threads_unlock(const volatile void *lock)
{
    (void)wake(lock, PROGRAM_AT_MUTEX, 1);
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
