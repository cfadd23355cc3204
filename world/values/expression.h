// SPDX-License-Identifier: Apache-2.0
// world/values/expression.h - computes the expressions of a scenario: $(gpus / per_node), $(2 *
// bytes).
//
// Numbers are exact fractions; a quotient may leave a rest until the end, where only whole numbers
// are accepted. A number may carry a unit: bytes, a time or a rate.
#ifndef WORLD_VALUES_EXPRESSION_H
#define WORLD_VALUES_EXPRESSION_H

#include "world/error.h"

SIM_C_BEGIN

typedef enum world_unit {
    WORLD_UNIT_NONE,
    WORLD_UNIT_BYTES,
    WORLD_UNIT_TIME, // picoseconds
    WORLD_UNIT_RATE, // bit/s
} world_unit_t;

// num / den in base units of `unit`. den is positive; the two have no common factor.
typedef struct world_number {
    world_unit_t unit;
    int64_t num;
    int64_t den;
} world_number_t;

// Reads "64", "0.5", "64KiB", "10us" or "400Gbps". Returns false if text is none of these.
bool world_number_read(const char *text, world_number_t *number);
// Returns a whole number as an attribute accepts it: "64", "65536B", "10ps", "5bps". Free the text
// with sim_free.
char *world_number_text(const world_number_t *number);

// Finds the value of a name, or of "ranks(NAME)" and the like: a number about the file that the
// parameter NAME names (world/values/file_number.h). Fails with a message of its own.
typedef sim_err_t (*world_name_value_fn)(const char *name, const world_place_t *place,
                                         world_number_t *number, world_error_t *error, void *ctx);

// Computes an expression: numbers, names, + - * /, parentheses, min(a, b, ...), max(a, b, ...),
// ceil(x), floor(x), root(x, n), the smallest whole number whose n-th power is at least x, and
// numbers about files such as ranks(name). The result is whole. place is where the expression was
// written. Errors: a syntax error, different units, a division by zero, a rest, a number beyond 63
// bits, and those of value_of.
SIM_MUST_CHECK sim_err_t world_expression_value(const char *text, const world_place_t *place,
                                                world_name_value_fn value_of, void *ctx,
                                                world_number_t *number, world_error_t *error);

SIM_C_END

#endif // WORLD_VALUES_EXPRESSION_H
