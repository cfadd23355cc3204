// SPDX-License-Identifier: Apache-2.0
// programs/threads/holders.h - who holds read-write locks and spin locks, which do not know it.
#ifndef PROGRAMS_THREADS_HOLDERS_H
#define PROGRAMS_THREADS_HOLDERS_H

#include <stdint.h>

// Notes that the calling thread holds a lock, or holds it no more.
void holders_add(const volatile void *lock);
void holders_remove(const volatile void *lock);

// Returns the number of a thread that holds the lock, or PROGRAM_NO_THREAD. It only makes messages
// clear.
uint32_t holders_of(const volatile void *lock);

#endif // PROGRAMS_THREADS_HOLDERS_H
