// SPDX-License-Identifier: Apache-2.0
// programs/threads/shared.h - memory that processes share at different addresses: mapped files, and
// segments of System V. An object in it is known by its file and its place there.
#ifndef PROGRAMS_THREADS_SHARED_H
#define PROGRAMS_THREADS_SHARED_H

#include <stdbool.h>
#include <stdint.h>

// Notes pages of a file that are mapped shared, from `offset` of the file on.
void shared_add(uint64_t address, uint64_t bytes, uint64_t device, uint64_t inode, uint64_t offset);

// Forgets pages that are unmapped.
void shared_remove(uint64_t address, uint64_t bytes);

// Returns the key of an object: its address, or a number with the bit PROGRAM_KEY_SHARED if it lies
// in shared memory.
uint64_t shared_key(const volatile void *object);

// Returns true if the object lies in shared memory. Then other processes may use it, and the
// calling one takes part in waiting from now on.
bool shared_object(const volatile void *object);

// Returns a function of the C library itself, past other forms of this library.
void *shared_libc(const char *name);
// Finds room for pages that begin at a multiple of `unit`. Returns its address, or 0.
uint64_t shared_find_room(uint64_t bytes, uint64_t unit);

#endif // PROGRAMS_THREADS_SHARED_H
