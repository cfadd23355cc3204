// SPDX-License-Identifier: Apache-2.0
// kernel/digits.h - numbers for people: significant digits, and never an exponent.
#ifndef KERNEL_DIGITS_H
#define KERNEL_DIGITS_H

#include "kernel/base.h"

SIM_C_BEGIN

typedef struct sim_digits {
    char text[48];
} sim_digits_t;

// Formats a number with `digits` significant digits and returns buffer->text: with three digits,
// 17891 is "17900" and 0.000123456 is "0.000123". Zeros at the end of a fraction are left out. A
// number that is not finite is "-"; one of 10^18 and more has an exponent.
const char *sim_digits(sim_digits_t *buffer, double value, int digits);

SIM_C_END

// Calls sim_digits with a buffer that lives as long as the block around the call.
#define SIM_DIGITS(value, digits) sim_digits(&(sim_digits_t){{0}}, value, digits)

#endif // KERNEL_DIGITS_H
