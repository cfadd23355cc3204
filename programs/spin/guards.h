// SPDX-License-Identifier: Apache-2.0
// programs/spin/guards.h - int3 beside the path of a loop, which a thread meets when it leaves it.
//
// A thread that was woken in a loop runs at full speed. As long as it meets none of them, it does
// what it did in the iteration before, by the same instructions.
#ifndef PROGRAMS_SPIN_GUARDS_H
#define PROGRAMS_SPIN_GUARDS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#define GUARDS_LOOPS 32u // numbers of loops

// Returns true if other code needs the byte at this place as it is.
typedef bool guards_taken_fn(uintptr_t place);

// Finds the guards of a loop, whose iteration has these instructions in their order. Without
// success its thread has to be followed step by step.
void guards_learn(uint32_t loop, const uintptr_t *path, uint32_t count, guards_taken_fn *taken);

// Puts the guards of a loop into the code, and takes those of another one out. Returns false if the
// loop has none.
bool guards_plant(uint32_t loop);

// Takes all guards out of the code.
void guards_remove(void);

// Does so, and forgets them: code has changed.
void guards_forget(void);

typedef enum guards_result {
    GUARDS_NONE,   // there is no guard
    GUARDS_PASSED, // the thread is on the path of the loop, behind the guard
    GUARDS_LEFT,   // it is not, and all guards are out of the code
} guards_result_t;

// The thread has met an int3, which lies before its instruction pointer.
guards_result_t guards_meet(greg_t *registers);

#endif // PROGRAMS_SPIN_GUARDS_H
