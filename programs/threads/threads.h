// SPDX-License-Identifier: Apache-2.0
// programs/threads/threads.h - threads of the program, and how they wait for each other.
//
// Exactly one thread has the turn. It gives it away only in a call of the simulator, so what a
// thread does between two calls happens at once for the others. A thread that must wait for another
// one waits for a key, the address of what both use; who changes that wakes the key. Until the
// program starts its second thread, all of this costs nothing.
#ifndef PROGRAMS_THREADS_THREADS_H
#define PROGRAMS_THREADS_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "programs/turn.h"

// The program has started a second thread.
extern bool threads_many;

// Begins a call by which threads meet: lets the simulation come to the thread's time.
void threads_meet(void);

// Begins a call that the C library does without the kernel, as that of a lock that is free.
void threads_meet_in_memory(void);

// Does the same for a call that takes a lock. A thread that only takes locks, and is in the same
// state again and again, waits for a change of memory.
void threads_meet_at_lock(void);

// Waits until another thread wakes the key, for up to `timeout_ps`. `object` (PROGRAM_AT_...) and
// `other` (a thread's number, or PROGRAM_NO_THREAD) make messages clear. Nothing else runs between
// what the thread did last and the begin of the wait. Returns the reasons; 0: the time is over.
uint32_t threads_wait(const volatile void *key, uint32_t object, uint32_t other,
                      uint64_t timeout_ps);

// Wakes up to `count` threads that wait for the key, in the order in which they began to wait.
// Returns the number of those.
uint32_t threads_wake(const volatile void *key, uint32_t count);
// Wakes one of those that wait for a lock, which has become free.
void threads_unlock(const volatile void *lock);

// Lets threads that wait for descriptors look at them again.
void threads_touch_descriptors(void);

// Returns true if another thread has cancelled the calling one.
bool threads_is_cancelled(void);

// Ends the calling thread here if another one has cancelled it.
void threads_cancel_point(void);

// Notes the number of the first thread, which is also that of its process.
void threads_begin(uint32_t number);

// Says that the simulator refused a thread or a process, since there are too many.
void threads_say_too_many(void);

// Prepares for a second thread or process.
void threads_become_many(void);

// Forgets all other threads, in a process that was forked. The calling thread is `number`.
void threads_forked(uint32_t number);

// Lets the thread with this number look at its signals, and at whether it was cancelled.
void threads_disturb(uint32_t number);

// Returns the number of the calling thread, from 0.
uint32_t threads_own_number(void);

// Returns the number of the thread that the kernel has given this number, or PROGRAM_NO_THREAD.
uint32_t threads_number_of(int tid);

// Returns the number that the kernel has given a thread of this process that has begun, or -1.
int threads_tid_of(uint32_t number);

// Makes the system call futex() with these arguments for the program. Returns false if it passes
// through.
bool threads_futex(const long *arguments, long *result);

// Makes the system call futex() of this machine.
void threads_real_futex(int *word, int operation, int value);

// Returns the time on the clock `kind` (programs/time/clocks.h) as the program's time; NULL: never.
uint64_t threads_end_ps(int kind, const struct timespec *time);

// Returns true if the time is none that POSIX allows.
bool threads_is_no_time(const struct timespec *time);

#endif // PROGRAMS_THREADS_THREADS_H
