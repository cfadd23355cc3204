// SPDX-License-Identifier: Apache-2.0
// programs/spin/state.c - the state of a thread in a loop.

#include "programs/spin/state.h"

#include <string.h>

#define TRAP_FLAG ((greg_t)0x100)
#define RESUME_FLAG ((greg_t)0x10000)

static greg_t flags_of(const greg_t *registers)
{
    return registers[REG_EFL] & ~(TRAP_FLAG | RESUME_FLAG);
}

static size_t stack_bytes_at(uintptr_t pointer, uintptr_t end)
{
    if (pointer > end || end - pointer > (UINT64_C(1) << 30)) {
        return 0; // another stack, whose size is not known
    }
    return end - pointer < STATE_STACK_BYTES ? end - pointer : STATE_STACK_BYTES;
}

// Copies a part of the thread's stack. A sanitizer has its own memcpy() and memcmp(), which would
// report the bytes between two variables.
static void copy_stack(uint8_t *to, const greg_t *registers, size_t bytes)
{
    const void *from = (const void *)(uintptr_t)registers[REG_RSP];
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

static uint64_t word_at(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word); // no call
    return word;
}

// Returns how the end of the thread's stack differs from that of a state, as memcmp() does.
static int compare_stack(const greg_t *registers, const state_t *state)
{
    const uint8_t *at = (const uint8_t *)(uintptr_t)registers[REG_RSP];
    size_t equal = 0;
    while (equal + sizeof(uint64_t) <= state->stack_bytes &&
           word_at(at + equal) == word_at(state->stack + equal)) {
        equal += sizeof(uint64_t);
    }
    for (size_t i = equal; i < state->stack_bytes; i++) {
        if (at[i] != state->stack[i]) {
            return at[i] < state->stack[i] ? -1 : 1;
        }
    }
    return 0;
}

void state_take(state_t *state, const greg_t *registers, uintptr_t stack_end)
{
    memcpy(state->registers, registers, sizeof state->registers);
    state->stack_bytes = stack_bytes_at((uintptr_t)registers[REG_RSP], stack_end);
    copy_stack(state->stack, registers, state->stack_bytes);
}

bool state_is(const state_t *state, const greg_t *now)
{
    const greg_t *then = state->registers;
    // The general registers and the instruction pointer come first in the array.
    return memcmp(now, then, (REG_RIP + 1) * sizeof *now) == 0 && flags_of(now) == flags_of(then) &&
           compare_stack(now, state) == 0;
}

bool state_precedes(const greg_t *now, const state_t *other)
{
    const greg_t *then = other->registers;
    if (now[REG_RSP] != then[REG_RSP]) {
        return now[REG_RSP] > then[REG_RSP];
    }
    if (now[REG_RIP] != then[REG_RIP]) {
        return now[REG_RIP] < then[REG_RIP];
    }
    const int order = memcmp(now, then, REG_RIP * sizeof *now);
    return order != 0                        ? order < 0
           : flags_of(now) != flags_of(then) ? flags_of(now) < flags_of(then)
                                             : compare_stack(now, other) < 0;
}

uint64_t state_sum(const state_t *state)
{
    uint64_t sum = state->stack_bytes;
    for (size_t i = 0; i <= REG_RIP; i++) {
        sum = (sum ^ (uint64_t)state->registers[i]) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 32;
    }
    for (size_t i = 0; i + sizeof(uint64_t) <= state->stack_bytes; i += sizeof(uint64_t)) {
        sum = (sum ^ word_at(state->stack + i)) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 32;
    }
    return sum;
}
