// SPDX-License-Identifier: Apache-2.0
// programs/spin/iterations.h - how long a loop that counts goes on if no memory changes.
//
// One iteration is executed on values that are linear in the number of the iteration. Where that
// is possible, the state after any number of iterations is known without executing them.
#ifndef PROGRAMS_SPIN_ITERATIONS_H
#define PROGRAMS_SPIN_ITERATIONS_H

#include <stdbool.h>
#include <stdint.h>

#define ITERATION_CODES_MAX 40u // instructions of a loop
#define ITERATION_CELLS 12u     // places in memory that a loop uses
#define ITERATION_REGISTERS 16u // the first ones of gregset_t: R8 to RSP
#define ITERATION_NONE 255u     // no register

typedef enum iteration_op {
    ITERATION_NOP,
    ITERATION_MOVE,      // with zeros before it
    ITERATION_MOVE_SIGN, // with the sign before it
    ITERATION_LEA,
    ITERATION_ADD,
    ITERATION_SUB,
    ITERATION_CMP,
    ITERATION_AND,
    ITERATION_OR,
    ITERATION_XOR,
    ITERATION_TEST,
    ITERATION_JUMP,
    ITERATION_JUMP_IF,
    ITERATION_MOVE_IF,
    ITERATION_SET_IF,           // 1 or 0
    ITERATION_EXCHANGE,         // xchg
    ITERATION_COMPARE_EXCHANGE, // cmpxchg
} iteration_op_t;

typedef enum iteration_kind {
    ITERATION_REGISTER,
    ITERATION_MEMORY,
    ITERATION_VALUE
} iteration_kind_t;

typedef struct iteration_operand {
    iteration_kind_t kind;
    uint8_t bytes;
    uint8_t base;   // or the register itself
    uint8_t index;  // of an address
    uint8_t scale;  // of the index
    uint64_t value; // or the distance of an address
} iteration_operand_t;

typedef struct iteration_code {
    iteration_op_t op;
    bool keeps_carry;  // inc, dec
    uint8_t condition; // of a jump, or for the others with _IF
    uint8_t target;    // of a jump: index of an instruction; ITERATION_NONE: leaves the loop
    iteration_operand_t to;
    iteration_operand_t from;
} iteration_code_t;

// A number that is `value` + k * `slope` in iteration k.
typedef struct iteration_number {
    uint64_t value;
    uint64_t slope;
} iteration_number_t;

// A place in memory.
typedef struct iteration_cell {
    uint64_t address;
    uint8_t bytes;
    bool written;
    uint64_t before; // its value before the first iteration
    iteration_number_t number;
} iteration_cell_t;

typedef struct iteration_state {
    iteration_number_t registers[ITERATION_REGISTERS];
    iteration_cell_t cells[ITERATION_CELLS];
    uint32_t cell_count;
} iteration_state_t;

typedef enum iteration_result {
    ITERATION_GOES_ON, // *forecast is valid
    ITERATION_LEAVES,  // the loop ends in one of the next two iterations
    ITERATION_UNKNOWN, // the loop does something else
} iteration_result_t;

typedef struct iteration_forecast {
    iteration_state_t next; // after the first iteration, with the slopes of the next ones
    uint64_t count;         // iterations that are alike, at least 1
    bool looks;             // at memory that the loop does not write
} iteration_forecast_t;

// Looks ahead from the first instruction of the loop, with these registers. The last instruction is
// the jump back. Reads the memory that the loop reads.
iteration_result_t iteration_foresee(const iteration_code_t *codes, uint32_t count,
                                     const long long *registers, iteration_forecast_t *forecast);

// Returns ITERATION_GOES_ON if iterations lead to the same state, so that only others can end the
// loop; ITERATION_LEAVES if the thread leaves the loop.
iteration_result_t iteration_repeats(const iteration_code_t *codes, uint32_t count,
                                     const long long *registers);

// Sets the registers and the memory to the state after `count` iterations, 1 to forecast->count.
// Memory that changed meanwhile stays as it is.
void iteration_advance(const iteration_forecast_t *forecast, uint64_t count, long long *registers);

// Returns true if the registers and the memory that the loop writes are those after `count`
// iterations, at least 1.
bool iteration_has_come(const iteration_forecast_t *forecast, uint64_t count,
                        const long long *registers);

// Returns true if a conditional jump with this code (the low 4 bits of its opcode) jumps.
bool iteration_jumps(unsigned code, uint64_t flags);

// Returns true if one of these instructions is a jump to an address in a register or in memory,
// other than that of a library's function. Interpreters have some.
bool iteration_branches(const uintptr_t *instructions, uint32_t count);

#endif // PROGRAMS_SPIN_ITERATIONS_H
