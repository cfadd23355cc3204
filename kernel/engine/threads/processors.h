// SPDX-License-Identifier: Apache-2.0
// kernel/engine/threads/processors.h - which processor a thread runs on, and how two threads part.
//
// A scheduler moves threads that are busy or asleep. Two threads that wait for each other many
// times a millisecond are neither. If they begin on one processor they may stay there for a whole
// run, while another one is free. Only the threads themselves know that they should part.
#ifndef KERNEL_ENGINE_THREADS_PROCESSORS_H
#define KERNEL_ENGINE_THREADS_PROCESSORS_H

#include "kernel/base.h"

// Returns how many processors the calling thread may run on; 0: unknown.
unsigned sim__processors_allowed(void);

// Returns the number of the processor the calling thread runs on; -1: unknown.
int sim__processor_now(void);

// Moves the calling thread to an allowed processor that is none of the `count` in `taken`. Later
// the system may move it to any processor that was allowed before. False: there is no such
// processor, or the system refused.
bool sim__processor_leave(const int *taken, size_t count);

#endif // KERNEL_ENGINE_THREADS_PROCESSORS_H
