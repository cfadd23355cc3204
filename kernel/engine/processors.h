// SPDX-License-Identifier: Apache-2.0
// kernel/engine/processors.h - where threads run, and how two of them part.
//
// A scheduler moves threads that are busy or asleep. Two that wait for each other many times a
// millisecond are neither: begun on one processor they may stay there for a whole run, while
// another one is free. Only the threads themselves know that they should part.
#ifndef KERNEL_ENGINE_PROCESSORS_H
#define KERNEL_ENGINE_PROCESSORS_H

#include "kernel/base.h"

// How many processors the calling thread may run on; 0: the system does not say.
unsigned sim__processors_allowed(void);

// The number of the one it runs on now; -1: the system does not say.
int sim__processor_now(void);

// Moves the calling thread to a processor that it may run on and that is none of the `count` in
// `taken`. It may run on the same ones as before from then on. False: there is none, or the system
// would not.
bool sim__processor_leave(const int *taken, size_t count);

#endif // KERNEL_ENGINE_PROCESSORS_H
