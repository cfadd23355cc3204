// SPDX-License-Identifier: Apache-2.0
// programs/bell.h - bells: where the simulator and the threads of a program wait for each other.
//
// A bell is a futex in shared memory with one waiter at a time. Who waits looks at it for some time
// first, if the simulator says so (apps/programs/exchange.c): on a machine with an idle processor
// that is cheaper than two changes of processes.
//
// No ring is lost: who rings writes RUNG, and wakes if the word was SLEEPS; who waits sleeps only
// while the word is SLEEPS, which it writes in the place of SILENT alone, and the kernel compares
// the word again. All is sequentially consistent, so what lies in shared memory before a ring is
// seen after it. Each sleep has an end, at which the waiter looks whether the other side still
// lives; a bell that a dead waiter left asleep costs its next owner nothing but a wake. The two
// sides ring in turns, but for the last answer of a thread: nobody waits for what it does then, and
// its bell is given to no other thread before it is gone (free_bell() in threads/cores.c).
#ifndef PROGRAMS_BELL_H
#define PROGRAMS_BELL_H

#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PROGRAM_BELL_OF_SIMULATOR 0u // index in program_shared_t.bells

enum { PROGRAM_BELL_SILENT, PROGRAM_BELL_RUNG, PROGRAM_BELL_SLEEPS };

// Makes a system call itself, since syscall() is simulated in a program. Returns true if its time
// is over.
static inline bool program_system(long number, uint32_t *word, long operation, long value,
                                  const struct timespec *timeout)
{
#if defined(__x86_64__)
    register long r10 __asm__("r10") = (long)timeout;
    long result = number;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(word), "S"(operation), "d"(value), "r"(r10)
                     : "rcx", "r11", "memory");
    return result == -ETIMEDOUT;
#else
    return syscall(number, word, operation, value, timeout, NULL, 0) < 0 && errno == ETIMEDOUT;
#endif
}

static inline bool program_futex(uint32_t *word, long operation, long value,
                                 const struct timespec *timeout)
{
    return program_system(SYS_futex, word, operation, value, timeout);
}

// Rings a bell. Returns true if its waiter slept.
static inline bool program_bell_ring(uint32_t *bell)
{
    if (__atomic_exchange_n(bell, PROGRAM_BELL_RUNG, __ATOMIC_SEQ_CST) != PROGRAM_BELL_SLEEPS) {
        return false;
    }
    (void)program_futex(bell, FUTEX_WAKE, 1, NULL);
    return true;
}

// Returns whether a bell was rung since the last time, and silences it.
static inline bool program_bell_take(uint32_t *bell)
{
    uint32_t rung = PROGRAM_BELL_RUNG;
    return __atomic_compare_exchange_n(bell, &rung, PROGRAM_BELL_SILENT, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

// Looks at a bell for a number of times, which may be 0. Returns as program_bell_take() does.
static inline bool program_bell_look(uint32_t *bell, uint32_t looks)
{
    for (uint32_t i = 0; i < looks; i++) {
        if (__atomic_load_n(bell, __ATOMIC_RELAXED) == PROGRAM_BELL_RUNG) {
            return program_bell_take(bell);
        }
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    return program_bell_take(bell);
}

// Sleeps until a bell is rung, a signal comes, or the time is over, which is added to `waited_ms`
// then. Returns as program_bell_take() does.
static inline bool program_bell_sleep(uint32_t *bell, uint32_t timeout_ms, uint64_t *waited_ms)
{
    uint32_t silent = PROGRAM_BELL_SILENT;
    const struct timespec timeout = {.tv_sec = timeout_ms / 1000,
                                     .tv_nsec = (long)(timeout_ms % 1000) * 1000000};
    if ((__atomic_compare_exchange_n(bell, &silent, PROGRAM_BELL_SLEEPS, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST) ||
         silent == PROGRAM_BELL_SLEEPS) &&
        program_futex(bell, FUTEX_WAIT, PROGRAM_BELL_SLEEPS, &timeout)) {
        *waited_ms += timeout_ms;
    }
    return program_bell_take(bell);
}

#endif // PROGRAMS_BELL_H
