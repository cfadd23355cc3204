// SPDX-License-Identifier: Apache-2.0
// programs/spin/state.h - the state of a thread in a loop: its registers and the end of its stack.
#ifndef PROGRAMS_SPIN_STATE_H
#define PROGRAMS_SPIN_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#define STATE_STACK_BYTES 1024u // that are compared

typedef struct state {
    greg_t registers[REG_EFL + 1];
    uint8_t stack[STATE_STACK_BYTES];
    size_t stack_bytes;
} state_t;

// Notes the state of a thread whose stack begins at `stack_end`, and grows down.
void state_take(state_t *state, const greg_t *registers, uintptr_t stack_end);

// Returns true if the calling thread, with these registers, is in this state.
bool state_is(const state_t *state, const greg_t *registers);

// Returns true if this state of the calling thread comes before the other one in an order of all
// states: those of the outermost function first, and those of the lowest instruction.
bool state_precedes(const greg_t *now, const state_t *other);

// Returns a sum over the state.
uint64_t state_sum(const state_t *state);

#endif // PROGRAMS_SPIN_STATE_H
