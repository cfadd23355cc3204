// SPDX-License-Identifier: Apache-2.0
// programs/time/detour.h - jumps in the place of instructions that read the time stamp counter, and
// of some in loops that wait.
#ifndef PROGRAMS_TIME_DETOUR_H
#define PROGRAMS_TIME_DETOUR_H

#include <stdbool.h>
#include <stdint.h>

#define DETOUR_MAX 32u // bytes that a jump replaces

// Notes where the code of the program is. Jumps are written into that code only.
void detour_begin(void);

// Finds the code again, when a library was loaded.
void detour_find_code(void);

// Replaces the instruction of `length` bytes at `code`, which reads the counter, and some that
// follow by a jump, so that it raises no signal any more. Returns false if that is not possible, or
// was not at an earlier time. May be called in a handler of a signal.
bool detour_make(const uint8_t *code, unsigned length);

// Returns what the instruction reads. The jumps lead here.
uint64_t detour_read(void);

// A jump in the place of instructions in a loop.
typedef struct detour_loop {
    unsigned length; // 0: there is none
    uint8_t before[DETOUR_MAX];
    uint8_t after[DETOUR_MAX];
    uintptr_t back; // where the function that the jump leads to returns; it knows the loop by that
    uintptr_t past; // what was there, behind the call
} detour_loop_t;

// Prepares a jump at `code` that calls detour_pass() and then does what is there. The caller writes
// `after` over `before`. Returns false if that is not possible. May be called in a handler of a
// signal.
bool detour_make_loop(const uint8_t *code, detour_loop_t *loop);

#define DETOUR_REGISTERS 19u // those of gregset_t from R8 to EFL, and detour_loop_t.back

// The jumps in loops lead here, with the program's registers. RIP is not set, and RSP is what the
// function has to add DETOUR_BELOW to.
void detour_pass(long long *registers, const void *vectors);
#define DETOUR_BELOW 152

#endif // PROGRAMS_TIME_DETOUR_H
